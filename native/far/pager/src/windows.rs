// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How many different pages were written to in windows of three lengths. No clock and no kernel: who knows of a write says
//! so, and says when a tick is over, and how long it was. Windows of a length follow each other without a gap.

/// How long the windows are at least, in microseconds: 10 ms, 100 ms and 1 s. The first ends with each tick.
pub const LENGTHS: [u64; 3] = [10_000, 100_000, 1_000_000];

/// A window that is not over.
#[derive(Clone, Copy, Debug)]
struct Window {
    /// Its number, from 1 on.
    number: u32,
    /// Pages that are counted.
    pages: u32,
    /// Microseconds of the ticks of it that are over.
    length: u64,
}

/// What is counted.
#[derive(Debug)]
pub struct Windows {
    /// By page and length: the number of the last window in which it was counted.
    last: Vec<[u32; LENGTHS.len()]>,
    now: [Window; LENGTHS.len()],
}

impl Windows {
    /// For pages with numbers below this. Memory is taken for pages that are written to only.
    #[must_use]
    pub fn new(pages: usize) -> Windows {
        let first = Window { number: 1, pages: 0, length: 0 };
        Windows { last: vec![[0; LENGTHS.len()]; pages], now: [first; LENGTHS.len()] }
    }

    /// A page was written to. It is counted once in each window, however often this is said.
    pub fn note(&mut self, page: u32) {
        for (last, window) in self.last[page as usize].iter_mut().zip(&mut self.now) {
            if *last != window.number {
                *last = window.number;
                window.pages += 1;
            }
        }
    }

    /// A tick of so many microseconds is over. Returns the pages of each window that has ended with it.
    pub fn tick(&mut self, length: u64) -> [Option<u32>; LENGTHS.len()] {
        let mut ended = [None; LENGTHS.len()];
        for (number, (window, end)) in self.now.iter_mut().zip(&mut ended).enumerate() {
            window.length += length;
            if number == 0 || window.length >= LENGTHS[number] {
                *end = Some(window.pages);
                *window = Window { number: window.number + 1, pages: 0, length: 0 };
            }
        }
        ended
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_page_counts_once_in_each_window() {
        let mut windows = Windows::new(300);
        let mut seen = Vec::new();
        for tick in 0..200 {
            // Page 0 in each tick, twice; each other tick a page of its own; page 299 in the 151st.
            windows.note(0);
            windows.note(0);
            if tick % 2 == 1 {
                windows.note(tick);
            }
            if tick == 150 {
                windows.note(299);
            }
            seen.push(windows.tick(10_000));
        }
        let of = |length: usize| seen.iter().filter_map(|ended| ended[length]).collect::<Vec<_>>();
        let shortest: Vec<u32> = (0..200).map(|tick| 1 + u32::from(tick % 2 == 1 || tick == 150)).collect();
        assert_eq!(of(0), shortest);
        let tenths: Vec<u32> = (0..20).map(|window| 6 + u32::from(window == 15)).collect();
        assert_eq!(of(1), tenths);
        assert_eq!(of(2), [51, 52]);
        // The longer ones end with the last of their ticks.
        assert_eq!(seen[8], [Some(1), None, None]);
        assert_eq!(seen[99], [Some(2), Some(6), Some(51)]);
    }

    #[test]
    fn a_window_without_writes_has_none() {
        let mut windows = Windows::new(1);
        assert_eq!(windows.tick(9_000), [Some(0), None, None]);
        windows.note(0);
        assert_eq!((windows.tick(10_000), windows.tick(10_000)), ([Some(1), None, None], [Some(0), None, None]));
    }

    /// On a busy machine ticks are long, and longer windows have fewer of them.
    #[test]
    fn a_window_ends_with_the_tick_in_which_it_is_long_enough() {
        let mut windows = Windows::new(10);
        let ended: Vec<_> = [60_000, 30_000, 9_999, 1, 950_000]
            .into_iter()
            .zip(0..)
            .map(|(length, page)| {
                windows.note(page);
                windows.tick(length)
            })
            .collect();
        let none = [Some(1), None, None];
        assert_eq!(ended, [none, none, none, [Some(1), Some(4), None], [Some(1), Some(1), Some(5)]]);
    }
}
