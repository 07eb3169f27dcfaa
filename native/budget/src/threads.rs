// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the threads of a JVM did in an interval: mutators, and those that collect beside them. HotSpot's threads say by their names what
//! they are for.

use std::collections::HashMap;
use std::fs;

/// Who a thread works for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Mutator,
    /// Collects while mutators run.
    Concurrent,
    /// The VM's own, or of a collection that stops mutators anyway.
    Other,
}

/// Names as the kernel keeps them: 15 bytes at most.
const CONCURRENT: [&str; 9] =
    ["G1 Conc#", "G1 Main Marker", "G1 Refine#", "G1 Service", "ZWorker", "ZDriver", "ZDirector", "Shenandoah GC", "Shenandoah Ctrl"];
const OTHER: [&str; 13] = [
    "GC Thread#",
    "Lull Worker#",
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
    role: Role,
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
        let mut times = Times::default();
        let mut now = HashMap::with_capacity(self.seen.len());
        let Ok(entries) = fs::read_dir(format!("/proc/{}/task", self.pid)) else { return times };
        for tid in entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok()) {
            // Nanoseconds on a processor, nanoseconds of waiting for one, time slices.
            let Ok(text) = fs::read_to_string(format!("/proc/{}/task/{tid}/schedstat", self.pid)) else { continue };
            let mut numbers = text.split_whitespace().map_while(|word| word.parse::<u64>().ok());
            let (Some(running), Some(waiting)) = (numbers.next(), numbers.next()) else { continue };
            let last = self.seen.get(&tid);
            // A thread is named by itself, right after it has begun.
            let role = match last {
                Some(last) => last.role,
                None => fs::read_to_string(format!("/proc/{}/task/{tid}/comm", self.pid)).map_or(Role::Mutator, |name| role(&name)),
            };
            let (ran, waited): (u64, u64) = last.map_or((0, 0), |last| (last.running, last.waiting));
            // Before the first call they count for nothing, but threads that are new since have all from the interval.
            let (more_running, more_waiting) = (running.saturating_sub(ran), waiting.saturating_sub(waited));
            match role {
                Role::Mutator => {
                    times.running += more_running;
                    times.waiting += more_waiting;
                }
                Role::Concurrent => times.concurrent += more_running,
                Role::Other => {}
            }
            now.insert(tid, Thread { role, running, waiting });
        }
        self.seen = now;
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_threads_are_for() {
        for (name, expected) in [
            ("G1 Conc#0\n", Role::Concurrent),
            ("ZWorkerYoung#1\n", Role::Concurrent),
            ("GC Thread#1\n", Role::Other),
            ("Lull Worker#0\n", Role::Other),
            ("C2 CompilerThre\n", Role::Other),
            ("http-nio-8080-e\n", Role::Mutator),
            ("main\n", Role::Mutator),
        ] {
            assert_eq!(role(name), expected, "{name}");
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
}
