// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One JVM under the policy: what an interval was, and what follows from it.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use lull_stall::monotonic_ns;

use crate::attach::Attach;
use crate::cgroup::{Group, Version};
use crate::levers::{Lever, Settings};
use crate::memory::{Memory, Room};
use crate::perf_data::PerfData;
use crate::policy::{Action, Decision, Policy, Sample};
use crate::stalls::{Reading, Stalls};
use crate::threads::Threads;

/// Live data of a collector that does not say them: the least that was in use in so many intervals.
const INTERVALS_OF_LIVE: usize = 16;

/// A JVM that is controlled.
#[derive(Debug)]
pub struct Controller {
    attach: Attach,
    data: PerfData,
    lever: Lever,
    was: Settings,
    memory: Memory,
    threads: Threads,
    stalls: Stalls,
    policy: Policy,
    /// Decisions are made, and nothing is done.
    dry: bool,
    last: Counters,
    last_stalls: Option<Reading>,
    used: VecDeque<u64>,
    pulled: bool,
}

/// Since the JVM's start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    /// Nanoseconds in which mutators were stopped.
    stopped: u64,
    collections: u64,
}

/// What came of an interval.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the policy was told.
    pub sample: Sample,
    /// What it said.
    pub decision: Decision,
    /// What the memory limit leaves.
    pub room: Room,
    /// Why there is no reading of the sensor's, if there is none.
    pub unmeasured: Option<String>,
}

impl Controller {
    /// An error says why this JVM cannot be controlled.
    pub fn new(pid: u32, stalls: Stalls, dry: bool) -> Result<Self, String> {
        let data = PerfData::open(pid)?;
        let attach = Attach::to(pid)?;
        let lever = Lever::find(&attach)?;
        let processors = match attach.number("ActiveProcessorCount")? {
            Some(told) if (1..=1024).contains(&told) => told as u32,
            _ => processors_of(pid)?,
        };
        let mut controller = Self {
            was: Settings::of(&attach)?,
            memory: Memory::of(pid)?,
            threads: Threads::of(pid),
            policy: Policy::new(processors),
            last: Counters::default(),
            last_stalls: None,
            used: VecDeque::new(),
            pulled: false,
            attach,
            data,
            lever,
            stalls,
            dry,
        };
        controller.last = controller.counters()?;
        controller.last_stalls = controller.stalls.read().ok();
        Ok(controller)
    }

    /// Words for the log: what is controlled, by which lever, and what will not work well.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{:?}, heap of {} to {} MB; memory: {}",
            self.lever.collector(),
            self.lever.least >> 20,
            self.lever.most >> 20,
            self.memory.describe()
        )];
        lines.extend(self.lever.warnings(&self.attach));
        lines
    }

    fn counters(&self) -> Result<Counters, String> {
        let get = |name: &str| self.data.get(name).ok_or(format!("the JVM has no counter {name}"));
        let frequency = get("sun.os.hrt.frequency")?.max(1) as f64;
        Ok(Counters {
            stopped: (get("sun.rt.safepointTime")? as f64 * 1e9 / frequency) as u64,
            collections: self.data.sum("sun.gc.collector.", ".invocations") as u64,
        })
    }

    /// Words for the log, if another limit binds the process than at the last call.
    pub fn moved(&mut self) -> Option<String> {
        self.memory.moved()
    }

    /// An interval has ended.
    pub fn interval(&mut self) -> Result<Outcome, String> {
        let now = self.counters()?;
        let heap = self.lever.heap(&self.data);
        self.used.push_back(heap.used);
        if self.used.len() > INTERVALS_OF_LIVE {
            self.used.pop_front();
        }
        let live = heap.old.unwrap_or_else(|| self.used.iter().copied().min().unwrap_or(0)).min(heap.capacity);
        let room = self.memory.room(heap.capacity).ok_or("what memory the process may have cannot be read")?;
        let times = self.threads.since_last();
        let (stalls, unmeasured) = match self.stalls.read() {
            Ok(reading) => (Some(reading), None),
            Err(reason) => (None, Some(reason)),
        };
        // A sensor that has begun anew counts from 0.
        let known = self.last_stalls.zip(stalls).filter(|(last, now)| now.stalled >= last.stalled);
        let read = known.and_then(|(last, now)| now.read_bytes?.checked_sub(last.read_bytes?));
        let sample = Sample {
            now: monotonic_ns(),
            pause: now.stopped.saturating_sub(self.last.stopped),
            concurrent: times.concurrent,
            waiting: times.waiting,
            running: times.running,
            stalled: known.map_or(0, |(last, now)| now.stalled - last.stalled),
            read_bytes: read.unwrap_or(0),
            // No counter of a stock JVM says.
            allocated: 0,
            allocated_known: false,
            collections: (now.collections - self.last.collections) as u32,
            stalled_known: known.is_some(),
            read_known: read.is_some(),
            capacity: heap.capacity as usize,
            live: live as usize,
            reserve: self.lever.reserve(live) as usize,
            least: self.lever.least as usize,
            most: self.lever.most as usize,
            available: room.available as usize,
            released: room.released as usize,
        };
        (self.last, self.last_stalls) = (now, stalls);
        let decision = self.policy.interval(&sample);
        Ok(Outcome { sample, decision, room, unmeasured })
    }

    /// Does what was decided. What that was, in words.
    pub fn act(&mut self, outcome: &Outcome) -> Result<String, String> {
        if outcome.decision.action() == Action::Hold {
            return Ok("nothing".to_owned());
        }
        if self.dry {
            return Ok("nothing: a dry run".to_owned());
        }
        self.pulled = true;
        self.lever.pull(&self.attach, outcome.decision.target as u64, outcome.sample.live as u64)
    }

    /// Gives the JVM its own settings back.
    pub fn release(&mut self) -> Result<(), String> {
        if std::mem::take(&mut self.pulled) { self.lever.release(&self.attach, &self.was) } else { Ok(()) }
    }
}

/// However this program ends, a panic included, nobody would change the JVM's settings any more.
impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.release();
    }
}

/// Those that the process may run on, or as many as the quotas of its cgroups come to.
fn processors_of(pid: u32) -> Result<u32, String> {
    // SAFETY: a set of bits that the call fills.
    let permitted = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(pid as libc::pid_t, size_of::<libc::cpu_set_t>(), &mut set) == 0 {
            libc::CPU_COUNT(&set).max(1) as u32
        } else {
            1
        }
    };
    Ok(Group::of(pid, "cpu")?.and_then(|group| smallest_quota(&group)).map_or(permitted, |quota| quota.min(permitted)))
}

/// In processors, rounded up as HotSpot does. Each of the groups around a process may have a quota.
fn smallest_quota(group: &Group) -> Option<u32> {
    let numbers = |directory: &Path, file: &str| {
        let text = fs::read_to_string(directory.join(file)).unwrap_or_default();
        text.split_whitespace().map_while(|word| word.parse::<u64>().ok()).collect::<Vec<_>>()
    };
    let quotas = group.around().filter_map(|directory| {
        // No quota is "max", or -1. Both numbers are microseconds.
        let found = match group.version {
            Version::One => [numbers(directory, "cpu.cfs_quota_us"), numbers(directory, "cpu.cfs_period_us")].concat(),
            Version::Two => numbers(directory, "cpu.max"),
        };
        match found[..] {
            [quota, period] if period > 0 => Some(quota.div_ceil(period).max(1)),
            _ => None,
        }
    });
    quotas.min().map(|processors| processors.min(u32::MAX.into()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_quota_bounds_the_processors() {
        let root = std::env::temp_dir().join(format!("lull-budget-quota-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b")).unwrap();
        let write = |file: &str, text: &str| fs::write(root.join(file), text).unwrap();
        let quota = |version| smallest_quota(&Group::at(version, &root, "a/b"));
        assert_eq!(quota(Version::Two), None);
        write("a/cpu.max", "250000 100000\n");
        write("a/b/cpu.max", "max 100000\n");
        assert_eq!(quota(Version::Two), Some(3));
        write("a/b/cpu.max", "10000 100000\n");
        assert_eq!((quota(Version::Two), quota(Version::One)), (Some(1), None));
        // Version 1 has two files.
        for (group, quota) in [("", "-1\n"), ("a/", "400000\n"), ("a/b/", "-1\n")] {
            write(&format!("{group}cpu.cfs_quota_us"), quota);
            write(&format!("{group}cpu.cfs_period_us"), "100000\n");
        }
        assert_eq!(quota(Version::One), Some(4));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn this_process_has_a_processor() {
        assert!(processors_of(std::process::id()).unwrap() > 0);
    }
}
