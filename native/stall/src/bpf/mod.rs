// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The source that sees each sleep: eBPF on sched_switch.

pub mod assembler;
mod kernel;
mod offsets;
mod program;

use std::collections::HashMap;
use std::mem::offset_of;
use std::os::fd::OwnedFd;

use self::offsets::Offsets;
use self::program::{Slot, Totals};
use crate::layout::{Counts, Row};
use crate::map_file::ROW_CAPACITY;
use crate::{Sample, Target, proc};

/// The pid namespace of the machine has this number in every kernel (include/linux/proc_ns.h).
const INITIAL_PID_NAMESPACE: &str = "pid:[4026531836]";

/// How often threads that have ended are looked for, in samples.
const SWEEP: u64 = 16;

/// The program, attached. It is taken away when this is dropped.
#[derive(Debug)]
pub struct BpfSource {
    threads: kernel::HashMap<Slot>,
    totals: kernel::SharedValue,
    _program: OwnedFd,
    _link: OwnedFd,
    /// What threads call themselves, by the ids that the kernel knows them by.
    names: HashMap<u32, u32>,
    samples: u64,
}

impl BpfSource {
    /// An error says why this machine does not permit it, and what would help.
    pub fn attach(target: &Target) -> Result<Self, String> {
        let namespace = std::fs::read_link("/proc/self/ns/pid").map_err(|error| format!("/proc/self/ns/pid: {error}"))?;
        if namespace.to_str() != Some(INITIAL_PID_NAMESPACE) {
            return Err(format!(
                "the sensor is in the pid namespace {}, and eBPF knows threads by the ids of the machine's; run it on the host",
                namespace.display()
            ));
        }
        let offsets = Offsets::of_this_kernel()?;
        let refused = |error: std::io::Error| {
            let help =
                if error.kind() == std::io::ErrorKind::PermissionDenied { " (it needs root, or CAP_BPF and CAP_PERFMON)" } else { "" };
            format!("bpf(2): {error}{help}")
        };
        let threads = kernel::HashMap::create("lull_threads", ROW_CAPACITY).map_err(refused)?;
        let totals = kernel::SharedValue::create("lull_totals", size_of::<Totals>()).map_err(refused)?;
        let code = program::program(&offsets, target.pid, threads.fd(), totals.fd());
        let program = kernel::load_tracing("lull_stall", &code, offsets.sched_switch)?;
        let link = kernel::attach_tracing(&program).map_err(refused)?;
        Ok(Self { threads, totals, _program: program, _link: link, names: HashMap::new(), samples: 0 })
    }

    /// What has been counted since the start.
    pub fn sample(&mut self, target: &Target, sample: &mut Sample) -> Result<(), String> {
        let total = |offset| self.totals.word(offset);
        sample.total = Counts {
            io_ns: total(offset_of!(Totals, io_ns)),
            io_sleeps: total(offset_of!(Totals, sleeps)),
            refault_ns: total(offset_of!(Totals, refault_ns)),
            blocked_ns: total(offset_of!(Totals, blocked_ns)),
            async_ns: total(offset_of!(Totals, async_ns)),
            runqueue_ns: total(offset_of!(Totals, run_delay_ns)),
        };
        sample.rows_full = total(offset_of!(Totals, without_slot)) > 0;
        let names = &mut self.names;
        sample.rows.clear();
        for (host_tid, slot) in self.threads.read().map_err(|error| format!("bpf(BPF_MAP_LOOKUP_BATCH): {error}"))? {
            let tid = *names.entry(host_tid).or_insert_with(|| proc::own_tid(target.pid, host_tid).unwrap_or(host_tid));
            let counts = Counts {
                io_ns: slot.io_ns,
                io_sleeps: slot.sleeps.into(),
                refault_ns: slot.refault_ns,
                blocked_ns: slot.blocked_ns,
                async_ns: slot.async_ns,
                // As the kernel counts it since the thread's start, and lull_stall.h says so: a sum of its own would cost each switch more.
                runqueue_ns: slot.run_delay_ns,
            };
            sample.rows.push(Row { host_tid, tid, counts });
        }
        self.samples += 1;
        if self.samples.is_multiple_of(SWEEP)
            && let Some(alive) = proc::threads(target.pid)
        {
            for row in sample.rows.extract_if(.., |row| !alive.contains(&row.host_tid)) {
                self.threads.remove(row.host_tid);
                names.remove(&row.host_tid);
            }
        }
        Ok(())
    }

    /// How many threads it can follow at once.
    pub fn capacity(&self) -> usize {
        self.threads.entries()
    }
}
