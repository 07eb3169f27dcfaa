// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Waiting for a page that is Busy, for room, for a connection: words to sleep at, without locks.
//!
//! A thread that waits announces itself, reads the word, looks again whether it has to wait, and sleeps only if the word is
//! still the same. A thread that changes something changes it first, then the word, and wakes if somebody has announced
//! himself. Both orders are sequentially consistent, so that one of them sees the other.

use std::sync::atomic::{AtomicU32, Ordering, fence};

use crate::syscall::{futex_wait, futex_wake_all};

/// A word to sleep at.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Event {
    word: AtomicU32,
    waiters: AtomicU32,
}

impl Event {
    /// Sleeps until somebody calls [`Event::wake`], if `must_wait` still holds; for so long at most. May return early.
    pub fn wait(&self, nanoseconds: u64, must_wait: impl FnOnce() -> bool) {
        self.waiters.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let value = self.word.load(Ordering::SeqCst);
        if must_wait() {
            futex_wait(self.word.as_ptr(), value, nanoseconds);
        }
        self.waiters.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes all, after the change they wait for was made.
    pub fn wake(&self) {
        fence(Ordering::SeqCst);
        self.wake_after_fence();
    }

    fn wake_after_fence(&self) {
        if self.waiters.load(Ordering::SeqCst) != 0 {
            self.word.fetch_add(1, Ordering::SeqCst);
            futex_wake_all(self.word.as_ptr());
        }
    }
}

/// Events for many pages: pages that share one are woken for nothing now and then.
#[derive(Debug)]
pub struct Events([Event; 64]);

impl Events {
    /// Nobody waits.
    pub fn new() -> Events {
        Events(std::array::from_fn(|_| Event::default()))
    }

    /// Wakes all who wait for one of so many pages, from `first` on, after the change they wait for was made.
    pub fn wake_run(&self, first: u32, pages: usize) {
        // One for all: each page was changed before it, and is looked at after it.
        fence(Ordering::SeqCst);
        (first..).take(pages.min(self.0.len())).for_each(|page| self.of(page).wake_after_fence());
    }

    /// That of a page.
    pub fn of(&self, page: u32) -> &Event {
        &self.0[page as usize % 64]
    }
}
