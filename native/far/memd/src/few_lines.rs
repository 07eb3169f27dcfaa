// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Lines of the log that anybody can cause who reaches the port: some in each second, so that nobody fills a disk, or hides what others do behind
//! them. What is left out is counted in the next line that is not; the metrics count all of it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many lines in a second.
const LINES: u32 = 10;
const SECOND: Duration = Duration::from_secs(1);

/// Written by all threads that would say something of who is not known.
#[derive(Debug, Default)]
pub struct FewLines(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    /// Since when `said` counts.
    since: Option<Instant>,
    said: u32,
    left_out: u64,
}

impl Lines {
    fn next(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= SECOND) {
            (self.since, self.said) = (Some(now), 0);
        }
        if self.said >= LINES {
            self.left_out += 1;
            return None;
        }
        self.said += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

impl FewLines {
    /// Whether a line may be said now; then with how many were left out since the last one.
    pub fn next(&self, now: Instant) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_has_few_lines_and_the_next_one_says_how_many_were_left_out() {
        let (lines, begin) = (FewLines::default(), Instant::now());
        let at = |milliseconds| lines.next(begin + Duration::from_millis(milliseconds));
        for _ in 0..LINES {
            assert_eq!(at(0), Some(0));
        }
        assert!((0..1000).all(|milliseconds| at(milliseconds).is_none()));
        assert_eq!((at(1000), at(1000)), (Some(1000), Some(0)));
        // Who asks with an older time, as another thread may, begins no new second.
        assert_eq!((at(10), at(1999)), (Some(0), Some(0)));
        assert_eq!((0..100).filter(|_| at(1999).is_some()).count() as u32, LINES - 4);
        assert_eq!(at(2000), Some(100 - u64::from(LINES - 4)));
    }
}
