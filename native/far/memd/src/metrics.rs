// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Counters of what has happened. Nothing depends on them.

use std::sync::atomic::{AtomicU64, Ordering};

use lull_far_protocol::{ErrorCode, Op};

/// What has happened since the server started. All counters are independent of each other: relaxed.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Connections accepted.
    pub accepted: AtomicU64,
    /// Connections that were closed because others came before anybody knew whose they are.
    pub strangers_dropped: AtomicU64,
    /// Connections that ended within a frame.
    pub cut: AtomicU64,
    /// Connections whose frames are encrypted and proven.
    pub encrypted: AtomicU64,
    /// Pages sent in DATA.
    pub pages_fetched: AtomicU64,
    /// Pages replaced by WRITE.
    pub pages_written: AtomicU64,
    /// Bytes of whole frames received.
    pub bytes_received: AtomicU64,
    /// Bytes of answers sent.
    pub bytes_sent: AtomicU64,
    /// Cycles of tracing begun.
    pub cycles: AtomicU64,
    /// Those of them that failed.
    pub cycles_failed: AtomicU64,
    /// Objects marked in cycles that were ended by their client.
    pub objects_marked: AtomicU64,
    /// References that other servers have sent.
    pub ghosts_received: AtomicU64,
    /// By number, which is below 64.
    frames: [[AtomicU64; 32]; 2],
    errors: [AtomicU64; ErrorCode::ALL.len() + 1],
}

impl Metrics {
    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Counts a request that passed all checks.
    pub fn frame(&self, op: Op) {
        self.frames_of(op).fetch_add(1, Ordering::Relaxed);
    }

    fn frames_of(&self, op: Op) -> &AtomicU64 {
        &self.frames[op as usize / 32][op as usize % 32]
    }

    /// Counts an ERROR that was sent.
    pub fn error(&self, code: ErrorCode) {
        self.errors[code as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often each has come that has.
    pub fn frames(&self) -> impl Iterator<Item = (Op, u64)> {
        Op::ALL.iter().map(|&op| (op, self.frames_of(op).load(Ordering::Relaxed))).filter(|(_, count)| *count > 0)
    }

    /// All errors, also those that were never sent.
    pub fn errors(&self) -> impl Iterator<Item = (ErrorCode, u64)> {
        ErrorCode::ALL.iter().map(|&code| (code, self.errors[code as usize].load(Ordering::Relaxed)))
    }
}
