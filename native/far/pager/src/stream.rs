// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How many pages to fetch at a fault: more, the longer a thread has been going through memory in order. A thread that
//! jumps gets one page, because pages that nobody asked for push out pages that somebody will (a fixed window of 8 made random
//! access 2 to 3 times slower).

use crate::sync::{AtomicU64, Ordering};

/// The longest read-ahead, in pages: 64 KB. Longer was slower over TCP.
pub const LONGEST: usize = 16;

/// How many pages a thread may skip and still go through memory in order: pages that are local, or were never written.
const SKIP: u64 = 4;

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
    /// Nobody has done anything.
    pub fn new(longest: usize) -> Streams {
        Streams { longest: longest.clamp(1, LONGEST) as u64, words: std::array::from_fn(|_| AtomicU64::new(u64::MAX)) }
    }

    /// A thread has a fault at this page: how many pages to fetch from it on, 1 to [`LONGEST`].
    pub fn window(&self, thread: usize, page: u32) -> usize {
        let mixed = (thread as u64 ^ u64::from(page >> 10) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let word = &self.words[(mixed >> 57) as usize];
        let last = word.load(Ordering::Relaxed);
        let page = u64::from(page);
        let (before, window) = (last >> 8, last & 0xFF);
        let in_order = page > before && page <= before + window + SKIP;
        let window = if in_order { (window * 2).min(self.longest) } else { 1 };
        word.store(page << 8 | window, Ordering::Relaxed);
        window as usize
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stream_grows_and_a_jump_ends_it() {
        let streams = Streams::new(LONGEST);
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
    fn a_bound_is_kept() {
        for longest in 1..=LONGEST {
            let streams = Streams::new(longest);
            let most = (5..100).map(|page| streams.window(1, page)).max();
            assert_eq!(most, Some(longest));
        }
    }

    #[test]
    fn random_access_fetches_one_page() {
        let streams = Streams::new(LONGEST);
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
