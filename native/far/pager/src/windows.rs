// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How many different pages were written to in windows of three lengths. No clock and no kernel: who knows of a write says
//! so, and says when a tick is over. Windows of a length follow each other without a gap.

/// How long the windows are, in ticks: 10 ms, 100 ms and 1 s.
pub const TICKS: [u32; 3] = [1, 10, 100];

/// What is counted.
#[derive(Debug)]
pub struct Windows {
    /// By page and length: the number of the last window in which it was counted. Windows count from 1.
    last: Vec<[u32; TICKS.len()]>,
    /// Ticks that are over.
    ticks: u32,
    /// Of the windows that are not over.
    counts: [u32; TICKS.len()],
}

impl Windows {
    /// For pages with numbers below this. Memory is taken for pages that are written to only.
    #[must_use]
    pub fn new(pages: usize) -> Windows {
        Windows { last: vec![[0; TICKS.len()]; pages], ticks: 0, counts: [0; TICKS.len()] }
    }

    /// A page was written to. It is counted once in each window, however often this is said.
    pub fn note(&mut self, page: u32) {
        for ((last, count), ticks) in self.last[page as usize].iter_mut().zip(&mut self.counts).zip(TICKS) {
            let now = self.ticks / ticks + 1;
            if *last != now {
                *last = now;
                *count += 1;
            }
        }
    }

    /// A tick is over. Returns the pages of each window that has ended with it.
    pub fn tick(&mut self) -> [Option<u32>; TICKS.len()] {
        self.ticks += 1;
        let mut ended = [None; TICKS.len()];
        for ((count, end), ticks) in self.counts.iter_mut().zip(&mut ended).zip(TICKS) {
            if self.ticks.is_multiple_of(ticks) {
                *end = Some(std::mem::take(count));
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
            seen.push(windows.tick());
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
        assert_eq!(windows.tick(), [Some(0), None, None]);
        windows.note(0);
        assert_eq!((windows.tick(), windows.tick()), ([Some(1), None, None], [Some(0), None, None]));
    }
}
