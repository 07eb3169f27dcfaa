// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How many more pages local memory may take: invariant **L**. Room is taken before a page gets memory, and given back after
//! its memory was freed. The reserve is for faults; read-ahead leaves it alone.

use crate::sync::{AtomicI64, Ordering};

/// The room that there is.
#[derive(Debug)]
pub struct Room {
    total: i64,
    /// Pages that may still come. Never below zero.
    free: AtomicI64,
}

impl Room {
    /// Room for so many pages.
    pub fn new(pages: u64) -> Room {
        let total = i64::try_from(pages).unwrap_or(i64::MAX);
        Room { total, free: AtomicI64::new(total) }
    }

    /// Takes room for one page, if that leaves `reserve` pages.
    pub fn take(&self, reserve: i64) -> bool {
        let mut free = self.free.load(Ordering::Relaxed);
        while free > reserve {
            // Acquire: the memory that was given back is free before ours is taken.
            match self.free.compare_exchange_weak(free, free - 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => free = now,
            }
        }
        false
    }

    /// Gives room back, after the memory was freed.
    pub fn give(&self, pages: u64) {
        let before = self.free.fetch_add(pages as i64, Ordering::Release);
        debug_assert!(before + pages as i64 <= self.total, "more room than there is");
    }

    /// Pages that may still come.
    pub fn free(&self) -> i64 {
        self.free.load(Ordering::SeqCst)
    }

    /// Pages that are there or about to be.
    pub fn used(&self) -> u64 {
        (self.total - self.free()) as u64
    }

    /// The bound.
    pub fn total(&self) -> u64 {
        self.total as u64
    }

    /// Below this the evictor starts: 1/32 of all.
    pub fn low(&self) -> i64 {
        self.total / 32
    }

    /// Up to this it works: 1/16 of all.
    pub fn high(&self) -> i64 {
        self.total / 16
    }

    /// What read-ahead leaves for faults: 1/64 of all.
    pub fn reserve(&self) -> i64 {
        self.total / 64
    }
}
