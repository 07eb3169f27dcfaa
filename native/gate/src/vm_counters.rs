// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The VM's counters by which the gate knows what sort of pause it has seen, and how long it may be.

use crate::perf_memory::{Counter, PerfMemory};

/// What of the VM's counters tells pauses apart, and what they depend on.
pub struct VmCounters {
    /// Invocations of each collector: young, full, and what else it has.
    invocations: Vec<Counter>,
    /// What the VM calls these collectors; kept for ever, so that they can be told anywhere.
    names: Vec<&'static str>,
    /// Bytes that the last collection left, but for those of eden.
    used: Vec<Counter>,
    /// Lull says so, no other collector.
    work: Option<Work>,
}

/// What the running pause, or the last one, has to do; in bytes to trace.
pub struct Work {
    /// As it was expected when the pause began.
    pub expected: Counter,
    /// The same, corrected in its course.
    pub all: Counter,
    /// What of it is done: all between pauses.
    pub done: Counter,
}

impl Work {
    fn of(memory: &PerfMemory) -> Option<Work> {
        let counter = |name: &str| memory.counter(&format!("sun.gc.lull.pause.{name}"));
        Some(Work { expected: counter("expected")?, all: counter("work")?, done: counter("done")? })
    }
}

impl VmCounters {
    /// Looks the counters up.
    pub fn new(memory: &PerfMemory) -> VmCounters {
        let (names, invocations) = memory
            .counters("sun.gc.collector.", ".invocations")
            .into_iter()
            .map(|(name, counter)| {
                let name = memory.text(&name.replace(".invocations", ".name")).unwrap_or(name);
                let name: &'static str = Box::<str>::leak(name.into());
                (name, counter)
            })
            .unzip();
        VmCounters {
            invocations,
            names,
            used: memory
                .counters("sun.gc.generation.", ".used")
                .into_iter()
                .filter(|(name, _)| *name != "sun.gc.generation.0.space.0.used")
                .map(|(_, c)| c)
                .collect(),
            work: Work::of(memory),
        }
    }

    /// Counters of one's own, of collectors without names.
    #[cfg(test)]
    pub(crate) fn of(invocations: Vec<Counter>, used: Vec<Counter>) -> VmCounters {
        VmCounters { names: vec![""; invocations.len()], invocations, used, work: None }
    }

    /// The same, of a VM that says how much there is to do, and done.
    #[cfg(test)]
    pub(crate) fn of_work(work: Work) -> VmCounters {
        VmCounters { work: Some(work), ..VmCounters::of(Vec::new(), Vec::new()) }
    }

    /// What the length of the next pause depends on: bytes that the last collection left.
    pub fn feature(&self) -> f64 {
        self.used.iter().map(|c| c.get() as f64).sum()
    }

    /// What that of the running pause depends on, where the VM says so: what it was expected to have to do.
    pub fn expected_work(&self) -> Option<f64> {
        self.work.as_ref().map(|work| work.expected.get() as f64)
    }

    /// What part of that is done, from 0 to less than 1; 0 where the VM does not say so, or the pause has not begun to count.
    pub fn part_done(&self) -> f64 {
        let Some(work) = &self.work else { return 0.0 };
        let (done, all) = (work.done.get(), work.all.get());
        if (0..all).contains(&done) { done as f64 / all as f64 } else { 0.0 }
    }

    /// How many collections each collector has begun, in place of what was there.
    pub fn read(&self, invocations: &mut Vec<i64>) {
        invocations.clear();
        invocations.extend(self.invocations.iter().map(|c| c.get()));
    }

    /// The last collector, in the counters' order, that has begun a collection since these were read.
    pub fn changed_since(&self, before: &[i64]) -> Option<usize> {
        self.invocations.iter().zip(before).rposition(|(now, before)| now.get() != *before)
    }

    /// What the VM calls that collector.
    pub fn name(&self, collector: usize) -> &'static str {
        self.names[collector]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf_memory::tests::memory_of;

    #[test]
    fn a_vm_with_lull_says_how_much_is_done() {
        let names = ["expected", "work", "done"].map(|name| format!("sun.gc.lull.pause.{name}"));
        let values = [100i64, 80, 20].map(i64::to_ne_bytes);
        let mut entries: Vec<(&str, u8, &[u8])> =
            names.iter().zip(&values).map(|(name, value)| (name.as_str(), b'J', &value[..])).collect();
        entries.push(("sun.gc.collector.0.name", b'B', b"Lull\0"));
        let memory = memory_of(&entries);
        let counters = VmCounters::new(&memory);
        assert_eq!((counters.expected_work(), counters.part_done()), (Some(100.0), 0.25));
        entries.remove(2);
        let memory = memory_of(&entries);
        let counters = VmCounters::new(&memory);
        assert_eq!((counters.expected_work(), counters.part_done()), (None, 0.0));
    }

    #[test]
    fn between_pauses_no_part_is_done() {
        for (all, done, part) in [(80, 80, 0.0), (0, 0, 0.0), (80, 90, 0.0), (80, 79, 79.0 / 80.0), (80, -1, 0.0)] {
            let [all, done] = [all, done].map(|value| Counter::of(Box::leak(Box::new(std::sync::atomic::AtomicI64::new(value)))));
            assert_eq!(VmCounters::of_work(Work { expected: all, all, done }).part_done(), part);
        }
    }
}
