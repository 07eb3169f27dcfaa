// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the threads of a JVM did in an interval: mutators, and those that collect beside them. HotSpot's threads say by their names what
//! they are for.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};

/// Who a thread works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Mutator,
    /// Collects while mutators run.
    Concurrent,
    /// The VM's own, or of a collection that stops mutators anyway.
    Other,
}

/// Names as the kernel keeps them: 15 bytes at most. What a collector's own threads do is no work of the program, or a heap that makes them work
/// more would seem to be worth it.
const CONCURRENT: [&str; 13] = [
    "G1 Conc#",
    "G1 Main Marker",
    "G1 Refine#",
    "G1 Service",
    "ZWorker",
    "ZDriver",
    "ZDirector",
    "ZUncommitter",
    "ZStat",
    "Shenandoah ",
    "Lull Mark",
    "Lull Control",
    "StringDedup",
];
const OTHER: [&str; 14] = [
    "GC Thread#",
    "Lull Worker#",
    "RuntimeWorker#",
    "VM Thread",
    "VM Periodic Tas",
    "C1 CompilerThre",
    "C2 CompilerThre",
    "Common-Cleaner",
    "Signal Dispatch",
    "Service Thread",
    "Monitor Deflati",
    "Notification Th",
    "Attach Listener",
    "DestroyJavaVM",
];

fn role(name: &str) -> Role {
    let begins = |prefix: &&str| name.starts_with(*prefix);
    if CONCURRENT.iter().any(begins) {
        Role::Concurrent
    } else if OTHER.iter().any(begins) {
        Role::Other
    } else {
        Role::Mutator
    }
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Processor time of mutators.
    pub running: u64,
    /// Mutators were ready, without a processor.
    pub waiting: u64,
    /// Processor time of concurrent collection.
    pub concurrent: u64,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    /// Nothing as long as its name could not be read.
    role: Option<Role>,
    running: u64,
    waiting: u64,
}

/// The threads of one JVM.
#[derive(Debug)]
pub struct Threads {
    pid: u32,
    seen: HashMap<u32, Thread>,
}

impl Threads {
    /// From now on.
    pub fn of(pid: u32) -> Self {
        let mut threads = Self { pid, seen: HashMap::new() };
        threads.since_last();
        threads
    }

    /// What they did since the last call. A thread that has ended since counts up to that call.
    pub fn since_last(&mut self) -> Times {
        let directory = format!("/proc/{}/task", self.pid);
        // A part of the list would be as if the other threads had ended.
        let names =
            fs::read_dir(&directory).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>());
        let Ok(names) = names else { return Times::default() };
        let tids = names.iter().filter_map(|name| name.to_str()?.parse().ok());
        self.count(tids, |tid, file| fs::read_to_string(format!("{directory}/{tid}/{file}")))
    }

    fn count(&mut self, tids: impl Iterator<Item = u32>, read: impl Fn(u32, &str) -> io::Result<String>) -> Times {
        let mut times = Times::default();
        let mut now = HashMap::with_capacity(self.seen.len());
        for tid in tids {
            let last = self.seen.get(&tid).copied();
            // Nanoseconds on a processor, nanoseconds of waiting for one, time slices.
            let text = match read(tid, "schedstat") {
                Ok(text) => text,
                // It lives (there may be no descriptor left): with nothing known of it, its whole life would count the next time.
                Err(error) if !ended(&error) => {
                    now.extend(last.map(|last| (tid, last)));
                    continue;
                }
                Err(_) => continue,
            };
            let mut numbers = text.split_whitespace().map_while(|word| word.parse::<u64>().ok());
            let (Some(running), Some(waiting)) = (numbers.next(), numbers.next()) else { continue };
            // A thread is named by itself, right after it has begun.
            let role = last.and_then(|last| last.role).or_else(|| read(tid, "comm").ok().map(|name| role(&name)));
            let (ran, waited): (u64, u64) = last.map_or((0, 0), |last| (last.running, last.waiting));
            // Before the first call they count for nothing, but threads that are new since have all from the interval.
            let (more_running, more_waiting) = (running.saturating_sub(ran), waiting.saturating_sub(waited));
            match role {
                Some(Role::Mutator) => {
                    times.running += more_running;
                    times.waiting += more_waiting;
                }
                Some(Role::Concurrent) => times.concurrent += more_running,
                Some(Role::Other) | None => {}
            }
            now.insert(tid, Thread { role, running, waiting });
        }
        self.seen = now;
        times
    }
}

/// The thread has, and so its files are gone.
fn ended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As JDK 25.0.3's have it, of G1, ZGC, Shenandoah and Lull, with string deduplication.
    #[test]
    fn names_say_what_threads_are_for() {
        let concurrent = "G1 Conc#0;G1 Main Marker;G1 Refine#0;G1 Service;ZDirector;ZDriverMajor;ZDriverMinor;ZStat;ZUncommitter#0;\
            ZWorkerOld#0;ZWorkerYoung#1;Shenandoah Cont;Shenandoah GC T;Lull Control;Lull Mark;Lull Marker#0;StringDedupThre";
        let other = "GC Thread#1;Lull Worker#0;RuntimeWorker#1;VM Periodic Tas;VM Thread;C1 CompilerThre;C2 CompilerThre;Monitor Deflati;\
            Notification Th;Service Thread;Signal Dispatch;Common-Cleaner";
        let mutators = "java;main;http-nio-8080-e;ForkJoinPool-1-;Lullaby;ZooKeeper";
        for (names, expected) in [(concurrent, Role::Concurrent), (other, Role::Other), (mutators, Role::Mutator)] {
            for name in names.split(';') {
                assert_eq!(role(&format!("{name}\n")), expected, "{name}");
            }
        }
    }

    #[test]
    fn a_busy_thread_has_run() {
        let mut threads = Threads::of(std::process::id());
        let until = lull_stall::monotonic_ns() + 20_000_000;
        let mut rounds = 0_u64;
        while lull_stall::monotonic_ns() < until {
            rounds += 1;
        }
        let times = threads.since_last();
        assert!(rounds > 0 && times.running > 0 && times.concurrent == 0, "{times:?}");
    }

    #[test]
    fn a_thread_that_cannot_be_looked_at_is_not_new_the_next_time() {
        let mut threads = Threads { pid: 0, seen: HashMap::new() };
        let seen = |running: u64| move |_, file: &str| Ok(if file == "comm" { "main\n".to_owned() } else { format!("{running} 0 1\n") });
        let error = |number| move |_, _: &str| Err(io::Error::from_raw_os_error(number));
        threads.count([7].into_iter(), seen(1000));
        assert_eq!(threads.count([7].into_iter(), seen(1100)).running, 100);
        assert_eq!(threads.count([7].into_iter(), error(libc::EMFILE)).running, 0);
        assert_eq!(threads.count([7].into_iter(), seen(1150)).running, 50);
        // One that has ended leaves its number to another.
        assert_eq!(threads.count([7].into_iter(), error(libc::ESRCH)).running, 0);
        assert_eq!(threads.count([7].into_iter(), seen(30)).running, 30);
    }

    #[test]
    fn a_thread_whose_name_cannot_be_read_counts_for_nothing_until_it_can() {
        let mut threads = Threads { pid: 0, seen: HashMap::new() };
        let seen = |running: u64, name: Option<&'static str>| {
            move |_, file: &str| match (file, name) {
                ("schedstat", _) => Ok(format!("{running} 0 1\n")),
                (_, Some(name)) => Ok(name.to_owned()),
                (_, None) => Err(io::Error::from_raw_os_error(libc::EMFILE)),
            }
        };
        assert_eq!(threads.count([7].into_iter(), seen(10, None)), Times::default());
        assert_eq!(threads.count([7].into_iter(), seen(15, Some("ZWorkerYoung#1"))), Times { concurrent: 5, ..Times::default() });
        assert_eq!(threads.count([7].into_iter(), seen(16, None)).concurrent, 1);
    }
}
