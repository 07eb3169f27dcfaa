// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What can be done from outside to the heap of each collector, and what cannot.

use crate::attach::{Attach, Failure};
use crate::perf_data::PerfData;

/// Collectors that have a lever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    /// Manageable free ratios, and a concurrent collection that applies them.
    G1,
    /// SoftMaxHeapSize.
    Z,
    /// SoftMaxHeapSize.
    Shenandoah,
    /// SoftMaxHeapSize.
    Lull,
}

/// Sizes in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap {
    /// Committed.
    pub capacity: u64,
    /// In use, as of the last collection.
    pub used: u64,
    /// Of what is in use, what is not eden, where that is known.
    pub old: Option<u64>,
}

/// The heap of one JVM.
#[derive(Debug)]
pub struct Lever {
    collector: Collector,
    /// -Xms and -Xmx.
    pub least: u64,
    /// -Xmx
    pub most: u64,
}

/// ZGC gives memory back after this many seconds; its default is far longer than a program's phases.
const LONGEST_UNCOMMIT_DELAY: u64 = 10;

impl Lever {
    /// An error says why this JVM has none, and what would give it one.
    pub fn find(attach: &Attach) -> Result<Self, String> {
        if attach.is_on("UseHeapBudget")? {
            return Err(
                "the JVM was started with -XX:+UseHeapBudget and sizes its heap by itself: a second controller would be in its way"
                    .to_owned(),
            );
        }
        let collectors = [
            ("UseG1GC", Collector::G1),
            ("UseZGC", Collector::Z),
            ("UseShenandoahGC", Collector::Shenandoah),
            ("UseLullGC", Collector::Lull),
        ];
        let mut found = None;
        for (flag, collector) in collectors {
            if found.is_none() && attach.is_on(flag)? {
                found = Some(collector);
            }
        }
        let collector = found.ok_or(
            "the JVM's collector has no lever: Serial, Parallel and Epsilon cannot be told a size while they run; use G1, ZGC, Shenandoah or Lull",
        )?;
        let size = |name: &str| attach.number(name)?.ok_or(format!("the JVM does not say {name}"));
        // Older JVMs have no MinHeapSize.
        let least = attach.number("MinHeapSize")?.filter(|bytes| *bytes > 0).map_or_else(|| size("InitialHeapSize"), Ok)?;
        let lever = Self { collector, least, most: size("MaxHeapSize")? };
        if collector == Collector::G1 && !attach.is_on("ExplicitGCInvokesConcurrent")? {
            return Err("G1 resizes its heap in a collection that is asked for, and without -XX:+ExplicitGCInvokesConcurrent each of them would stop the program: start it with that flag".to_owned());
        }
        if collector == Collector::Z && attach.flag("ZUncommit")?.as_deref() == Some("false") {
            return Err("ZGC was started with -XX:-ZUncommit: it gives nothing back".to_owned());
        }
        Ok(lever)
    }

    /// Whose heap it is.
    pub fn collector(&self) -> Collector {
        self.collector
    }

    /// What will not work as well as it could, for the log.
    pub fn warnings(&self, attach: &Attach) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.least * 2 > self.most {
            warnings.push(format!(
                "-Xms is {} MB of -Xmx {} MB: the heap never becomes smaller than that; leave out -Xms",
                self.least >> 20,
                self.most >> 20
            ));
        }
        match self.collector {
            Collector::G1 => warnings.push(
                "G1 can be shrunk from outside, and not held there: it grows back when it thinks that collections are too frequent"
                    .to_owned(),
            ),
            Collector::Z => {
                if let Ok(Some(delay)) = attach.number("ZUncommitDelay")
                    && delay > LONGEST_UNCOMMIT_DELAY
                {
                    warnings.push(format!("ZGC gives memory back after {delay} s: start it with -XX:ZUncommitDelay=1"));
                }
            }
            Collector::Shenandoah => warnings.push(
                "Shenandoah collects back to back under a soft maximum near its live data: twice these is the least that is asked for"
                    .to_owned(),
            ),
            Collector::Lull => {}
        }
        warnings
    }

    /// What the collector needs beyond live data, as far as that can be known from outside.
    pub fn reserve(&self, live: u64) -> u64 {
        match self.collector {
            Collector::G1 | Collector::Lull => (live / 4).max(32 << 20),
            // Allocation goes on during a whole collection.
            Collector::Z => (live / 2).max(64 << 20),
            Collector::Shenandoah => live.max(64 << 20),
        }
    }

    /// As the counters say.
    pub fn heap(&self, data: &PerfData) -> Heap {
        // Collectors without generations have only the second.
        let generation = |number: u32| data.get(&format!("sun.gc.generation.{number}.capacity")).unwrap_or(0);
        let capacity = generation(0) + generation(1);
        let space = |generation: u32| data.sum(&format!("sun.gc.generation.{generation}.space."), ".used");
        let (young, old) = (space(0), space(1));
        let survivors =
            || data.get("sun.gc.generation.0.space.1.used").unwrap_or(0) + data.get("sun.gc.generation.0.space.2.used").unwrap_or(0);
        // Lull brings its counters up to date between collections, too: what is new since the last one is none of live data.
        let used = if self.collector == Collector::Lull { old } else { young + old };
        Heap { capacity: capacity as u64, used: used as u64, old: (self.collector == Collector::G1).then(|| (old + survivors()) as u64) }
    }

    /// Asks for that capacity; `live` is what is in use after collections. What was done, in words.
    pub fn pull(&self, attach: &Attach, target: u64, live: u64) -> Result<String, String> {
        if self.collector != Collector::G1 {
            let target = target.clamp(self.least, self.most);
            attach.set_flag("SoftMaxHeapSize", target)?;
            return Ok(format!("SoftMaxHeapSize={} MB", target >> 20));
        }
        let (low, high) = free_ratios(live, target);
        // Neither may pass the other on the way.
        if attach.number("MaxHeapFreeRatio")?.is_some_and(|now| now < low) {
            attach.set_flag("MaxHeapFreeRatio", high)?;
            attach.set_flag("MinHeapFreeRatio", low)?;
        } else {
            attach.set_flag("MinHeapFreeRatio", low)?;
            attach.set_flag("MaxHeapFreeRatio", high)?;
        }
        let ended = match attach.collect() {
            // It goes on, and resizes the heap at its end.
            Err(Failure::Late(_)) => ", which is still under way",
            collected => collected.map(|()| "")?,
        };
        Ok(format!("MinHeapFreeRatio={low} MaxHeapFreeRatio={high} and a concurrent collection{ended}"))
    }

    /// Leaves the JVM as it was found.
    pub fn release(&self, attach: &Attach, was: &Settings) -> Result<(), String> {
        let flags = if self.collector == Collector::G1 {
            // Neither may pass the other on the way.
            &[("MinHeapFreeRatio", was.max_free.and(Some(0))), ("MaxHeapFreeRatio", was.max_free), ("MinHeapFreeRatio", was.min_free)][..]
        } else {
            &[("SoftMaxHeapSize", was.soft_max)]
        };
        // After a failure, too: a JVM that answers late does the rest when it can.
        let mut released = Ok(());
        for (flag, value) in flags {
            if let Some(value) = value {
                released = released.and(attach.set_flag(flag, *value));
            }
        }
        Ok(released?)
    }
}

/// The flags before the controller's first step.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    soft_max: Option<u64>,
    min_free: Option<u64>,
    max_free: Option<u64>,
}

impl Settings {
    /// As they are now, those that the JVM has. What is not known could not be given back: a JVM that does not say it is an error.
    pub fn of(attach: &Attach) -> Result<Self, String> {
        Ok(Self {
            soft_max: attach.number("SoftMaxHeapSize")?,
            min_free: attach.number("MinHeapFreeRatio")?,
            max_free: attach.number("MaxHeapFreeRatio")?,
        })
    }
}

/// The percentages of free memory, at least and at most, that lead to that capacity.
fn free_ratios(live: u64, target: u64) -> (u64, u64) {
    let free = 100.0 * (1.0 - live as f64 / target.max(1) as f64);
    let high = (free.round() as u64).clamp(5, 95);
    (high.saturating_sub(5).max(1), high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// A JVM with a G1 that gives no answer to one command.
    struct Fake {
        socket: PathBuf,
        attach: Attach,
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl Fake {
        fn silent_at(test: &str, silent: &'static str) -> Self {
            let socket = std::env::temp_dir().join(format!("lull-budget-levers-{test}-{}", std::process::id()));
            let listener = UnixListener::bind(&socket).unwrap();
            let asked = Arc::new(Mutex::new(Vec::new()));
            let shared = Arc::clone(&asked);
            std::thread::spawn(move || {
                let mut unanswered = Vec::new();
                for mut stream in listener.incoming().flatten() {
                    let mut request = BufReader::new(stream.try_clone().unwrap()).split(0).skip(1);
                    let words = [(); 4].map(|()| String::from_utf8(request.next().unwrap().unwrap()).unwrap());
                    let command = words.join(" ").trim().to_owned();
                    shared.lock().unwrap().push(command.clone());
                    if command == silent {
                        unanswered.push(stream);
                    } else {
                        stream.write_all(format!("0\n-XX:{}=30\n", words[1]).as_bytes()).unwrap();
                    }
                }
            });
            Self { attach: Attach::at(socket.clone(), Duration::from_secs(2)), socket, asked }
        }
    }

    impl Drop for Fake {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.socket);
        }
    }

    const G1: Lever = Lever { collector: Collector::G1, least: 1 << 20, most: 1 << 30 };

    #[test]
    fn a_collection_that_takes_longer_than_one_waits_is_no_failure() {
        let jvm = Fake::silent_at("collection", "jcmd GC.run");
        let done = G1.pull(&jvm.attach, 600 << 20, 300 << 20).unwrap();
        assert_eq!(done, "MinHeapFreeRatio=45 MaxHeapFreeRatio=50 and a concurrent collection, which is still under way");
        // A flag that is not set is one.
        let jvm = Fake::silent_at("flag", "setflag MinHeapFreeRatio 45");
        assert!(G1.pull(&jvm.attach, 600 << 20, 300 << 20).unwrap_err().contains("has not answered"));
    }

    #[test]
    fn settings_that_are_not_known_are_an_error_and_not_a_guess() {
        let jvm = Fake::silent_at("settings", "printflag SoftMaxHeapSize");
        assert!(Settings::of(&jvm.attach).unwrap_err().contains("has not answered"));
        // A JVM that is too busy to say its collector is not one without a lever.
        let jvm = Fake::silent_at("find", "printflag UseG1GC");
        assert!(Lever::find(&jvm.attach).unwrap_err().contains("has not answered"));
    }

    #[test]
    fn all_settings_are_given_back_though_one_is_late() {
        let jvm = Fake::silent_at("release", "setflag MaxHeapFreeRatio 70");
        let was = Settings { soft_max: None, min_free: Some(40), max_free: Some(70) };
        assert!(G1.release(&jvm.attach, &was).unwrap_err().contains("MaxHeapFreeRatio 70: the JVM has not answered"));
        assert_eq!(
            jvm.asked.lock().unwrap().as_slice(),
            ["setflag MinHeapFreeRatio 0", "setflag MaxHeapFreeRatio 70", "setflag MinHeapFreeRatio 40"]
        );
        let lever = Lever { collector: Collector::Z, ..G1 };
        assert_eq!(lever.release(&jvm.attach, &was), Ok(()));
        assert_eq!(jvm.asked.lock().unwrap().len(), 3);
    }

    #[test]
    fn ratios_lead_to_the_target() {
        assert_eq!(free_ratios(300, 600), (45, 50));
        assert_eq!(free_ratios(300, 300), (1, 5));
        assert_eq!(free_ratios(600, 300), (1, 5));
        assert_eq!(free_ratios(1, 1 << 30), (90, 95));
        for target in (100..2000).step_by(50) {
            let (low, high) = free_ratios(100, target);
            assert!(low <= high && high <= 100);
            let reached = 100.0 / (1.0 - high as f64 / 100.0);
            assert!(reached >= 0.88 * target as f64 || high == 95, "{target} {reached}");
        }
    }
}
