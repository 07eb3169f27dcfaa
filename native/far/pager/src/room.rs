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
        self.take_up_to(1, reserve) == 1
    }

    /// Takes room for so many pages, or for as many as leave `reserve` pages. Returns how many.
    pub fn take_up_to(&self, pages: u64, reserve: i64) -> u64 {
        let mut free = self.free.load(Ordering::Relaxed);
        loop {
            let take = (free - reserve).clamp(0, pages as i64);
            if take == 0 {
                return 0;
            }
            // Acquire: the memory that was given back is free before ours is taken.
            match self.free.compare_exchange_weak(free, free - take, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return take as u64,
                Err(now) => free = now,
            }
        }
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_taken_than_leaves_the_reserve() {
        let room = Room::new(10);
        assert_eq!(room.take_up_to(0, 0), 0);
        assert_eq!(room.take_up_to(4, 2), 4);
        assert_eq!(room.take_up_to(100, 2), 4);
        assert_eq!((room.free(), room.take_up_to(1, 2), room.take(2)), (2, 0, false));
        assert!(room.take(1) && room.take(0) && !room.take(0));
        room.give(10);
        assert_eq!((room.free(), room.take_up_to(u64::MAX >> 1, 0)), (10, 10));
        assert_eq!(room.used(), 10);
    }
}
