// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How many pages to fetch at a fault: more, the longer a thread has been going through memory in order. A thread that
//! jumps gets one page, because pages that nobody asked for push out pages that somebody will (a fixed window of 8 made random
//! access 2 to 3 times slower).

use crate::sync::{AtomicU64, Ordering};

/// The longest read-ahead, in pages: 128 KB. Twice as long was no faster over TCP: with more time between two requests the server's
/// thread sleeps, and to wake it up costs what is saved.
pub const LONGEST: usize = 32;

/// Up to so many pages a window is whatever the size of local memory; longer ones are at most 1/64 of it.
const ALWAYS: usize = 16;

/// From this window on, in pages, the next one is asked for before anybody needs it. A thread with a shorter one may be about to jump.
pub const AHEAD_FROM: usize = 8;

/// How many pages a thread may skip and still go through memory in order: pages that are local, or were never written.
const SKIP: u64 = 4;

/// Parts of memory, of 4 MB: a thread may go through several at once.
const PART_LOG2: u32 = 10;

/// What threads have done lately. A word for each of some (thread, 4 MB of memory); threads that share one disturb each
/// other's guesses, nothing else. Relaxed: each word stands for itself.
#[derive(Debug)]
pub struct Streams {
    /// The longest window, 1 to [`LONGEST`].
    longest: u64,
    /// The page of the last fault, and the window that it got in the lowest 8 bits.
    words: [AtomicU64; 128],
}

impl Streams {
    /// Nobody has done anything. `longest`: the longest window that is wanted; `local`: the pages of local memory.
    pub fn new(longest: usize, local: u64) -> Streams {
        let most = usize::try_from(local / 64).unwrap_or(LONGEST).clamp(ALWAYS, LONGEST);
        Streams { longest: longest.clamp(1, most) as u64, words: std::array::from_fn(|_| AtomicU64::new(u64::MAX)) }
    }

    /// A thread has a fault at this page: how many pages to fetch from it on, 1 to [`LONGEST`].
    pub fn window(&self, thread: usize, page: u32) -> usize {
        let word_of = |part: u64| {
            let mixed = (thread as u64 ^ part << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            &self.words[(mixed >> 57) as usize]
        };
        let page = u64::from(page);
        let (part, offset) = (page >> PART_LOG2, page % (1 << PART_LOG2));
        let grown = |last: u64| {
            let (before, window) = (last >> 8, last & 0xFF);
            let in_order = page > before && page <= before + window + SKIP;
            in_order.then(|| (window * 2).min(self.longest))
        };
        let word = word_of(part);
        // Whoever begins with a part may come from the one before it.
        let comes = part > 0 && offset <= self.longest + SKIP;
        let window = grown(word.load(Ordering::Relaxed))
            .or_else(|| if comes { grown(word_of(part - 1).load(Ordering::Relaxed)) } else { None })
            .unwrap_or(1);
        word.store(page << 8 | window, Ordering::Relaxed);
        window as usize
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stream_grows_and_a_jump_ends_it() {
        let streams = Streams::new(16, 1 << 20);
        let mut page = 5;
        let mut windows = Vec::new();
        for _ in 0..7 {
            let window = streams.window(1, page);
            windows.push(window);
            page += window as u32;
        }
        assert_eq!(windows, [1, 2, 4, 8, 16, 16, 16]);
        // Two of the next were local.
        assert_eq!(streams.window(1, page + 2), 16);
        // Another thread, another place, backwards.
        assert_eq!(streams.window(2, page), 1);
        assert_eq!(streams.window(1, page + 900), 1);
        assert_eq!(streams.window(1, page), 1);
    }

    #[test]
    fn a_stream_goes_on_in_the_next_part() {
        let streams = Streams::new(LONGEST, 1 << 20);
        let mut page = 5;
        for fault in 0..200 {
            let window = streams.window(1, page);
            assert_eq!(window, LONGEST.min(1 << fault.min(10)), "at page {page}");
            page += window as u32;
        }
        assert!(page > 5 << PART_LOG2);
        // Who jumps to the beginning of a part does not come from there, nor does another thread.
        assert_eq!(streams.window(1, 9 << PART_LOG2), 1);
        assert_eq!(streams.window(2, page), 1);
    }

    #[test]
    fn a_bound_is_kept() {
        for longest in 1..=LONGEST {
            let streams = Streams::new(longest, 1 << 20);
            let most = (5..100).map(|page| streams.window(1, page)).max();
            assert_eq!(most, Some(longest));
        }
    }

    #[test]
    fn a_small_local_memory_has_short_windows() {
        for (local, longest) in [(0, 16), (1024, 16), (1983, 30), (2048, 32), (4096, 32), (u64::MAX, 32)] {
            let streams = Streams::new(LONGEST, local);
            assert_eq!((5..100).map(|page| streams.window(1, page)).max(), Some(longest));
            assert_eq!(Streams::new(4, local).longest, 4);
        }
    }

    #[test]
    fn random_access_fetches_one_page() {
        let streams = Streams::new(LONGEST, 1 << 20);
        let mut page = 1_u32;
        let total: usize = (0..10_000)
            .map(|_| {
                page = page.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                streams.window(1, page >> 16)
            })
            .sum();
        assert!(total < 10_200, "{total}");
    }
}
