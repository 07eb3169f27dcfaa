// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The sensor of the heap budget: how long the threads of a process have been stalled on I/O, in a file that a JVM maps.
//!
//! `include/lull_stall.h` is the file's format, `docs/reference/heap-budget.md` says what each source sees and what it does not.

mod bpf;
mod estimates;
pub mod layout;
pub mod map_file;
mod pidfd;
mod proc;
mod sensor;

pub use pidfd::PidFd;
pub use sensor::Sensor;

use layout::{Counts, Row};

/// Where the numbers come from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Source {
    /// eBPF on sched_switch.
    Bpf = 1,
    /// The kernel's delay accounting, thread by thread.
    Delayacct = 2,
    /// Bytes that the process read x what a byte took.
    Reads = 3,
    /// Pressure stall information of its cgroup.
    Psi = 4,
    /// Major faults x what a read took.
    Faults = 5,
}

impl Source {
    /// All of them, best first.
    pub const ALL: [Self; 5] = [Self::Bpf, Self::Delayacct, Self::Reads, Self::Psi, Self::Faults];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bpf => "bpf",
            Self::Delayacct => "delayacct",
            Self::Reads => "reads",
            Self::Psi => "psi",
            Self::Faults => "faults",
        }
    }
}

/// The process whose threads are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// As this process sees it.
    pub pid: u32,
    /// Clock ticks from the boot to its start, so that another process with this id is not taken for it.
    pub start: u64,
}

impl Target {
    /// An error says that there is no such process.
    pub fn find(pid: u32) -> Result<Self, String> {
        let stat = procfs::process::Process::new(pid as i32).and_then(|process| process.stat());
        Ok(Self { pid, start: stat.map_err(|error| format!("process {pid}: {error}"))?.starttime })
    }
}

/// What has been counted up to now.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Of the whole process, threads that have ended too.
    pub total: Counts,
    /// Bytes read from devices.
    pub read_bytes: u64,
    /// Faults that waited for a device.
    pub major_faults: u64,
    /// Of each thread, if the source sees them.
    pub rows: Vec<Row>,
    /// Some threads could not be counted.
    pub rows_full: bool,
}

/// CLOCK_MONOTONIC.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid clock and a valid place for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
