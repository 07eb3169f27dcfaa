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
        }
    }

    /// Counters of one's own, of collectors without names.
    #[cfg(test)]
    pub(crate) fn of(invocations: Vec<Counter>, used: Vec<Counter>) -> VmCounters {
        VmCounters { names: vec![""; invocations.len()], invocations, used }
    }

    /// What the length of a pause depends on: bytes that the last collection left.
    pub fn feature(&self) -> f64 {
        self.used.iter().map(|c| c.get() as f64).sum()
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
