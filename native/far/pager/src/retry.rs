// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! When a lost server is tried again, and what is said of why it is not taken in. Pure: times are arguments, in nanoseconds.
//!
//! One that is not there costs nothing, and is tried often, so that it is taken in soon when it comes back. One that takes connections, or
//! copies, and then hangs holds up who waits for it, the evictor at the worst: each time that it does so in a row, it is left alone for
//! twice as long as before.

/// Between two looks whether a lost server answers.
pub const INTERVAL: u64 = 500_000_000;

/// The longest pause between two tries.
const LONGEST: u64 = 64_000_000_000;

/// A try that takes longer counts, whatever came of it: longer than to find that nobody is there.
const LONG: u64 = 3_000_000_000;

/// The tries of one server since it was lost.
#[derive(Debug, Default)]
pub struct Retry {
    /// In a row, that have held anybody up.
    costly: u32,
    /// When the next one may be.
    due: u64,
    /// What was said of them, without numbers, which differ each time.
    said: Vec<String>,
}

impl Retry {
    /// Whether it is time.
    pub fn is_due(&self, now: u64) -> bool {
        now >= self.due
    }

    /// A try from `begin` to `end` was in vain. `filling`: it had been given pages already.
    pub fn failed(&mut self, begin: u64, end: u64, filling: bool) {
        if filling || end - begin > LONG {
            self.costly += 1;
        }
        // Shifted by no more than makes the longest.
        self.due = end + (INTERVAL << self.costly.min(16)).min(LONGEST);
    }

    /// Whether a reason has not been given yet since the server was taken in last.
    pub fn is_new(&mut self, reason: &str) -> bool {
        let reason: String = reason.chars().filter(|digit| !digit.is_ascii_digit()).collect();
        let new = !self.said.contains(&reason);
        if new {
            self.said.push(reason);
        }
        new
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// How many tries there are in an hour, each of which takes so long.
    fn tries(each: u64, filling: bool) -> u64 {
        let (mut retry, mut now, mut count) = (Retry::default(), 0, 0);
        while now < 3600 * SECOND {
            if retry.is_due(now) {
                count += 1;
                retry.failed(now, now + each, filling);
                now += each;
            }
            now += INTERVAL;
        }
        count
    }

    #[test]
    fn a_server_that_hangs_is_tried_seldom_and_one_that_is_not_there_often() {
        assert_eq!(tries(0, false), 7200);
        assert!(tries(2 * SECOND, false) > 1000, "nobody waits for it");
        // Doubling for a while, then once in a minute.
        for (each, filling) in [(2 * SECOND, true), (10 * SECOND, false), (0, true)] {
            let count = tries(each, filling);
            assert!((45..=65).contains(&count), "{count} tries of {each} ns");
        }
    }

    #[test]
    fn the_pauses_double() {
        let mut retry = Retry::default();
        let mut pauses = Vec::new();
        for now in (0..).map(|round| round * 1000 * SECOND).take(20) {
            assert!(retry.is_due(now));
            retry.failed(now, now, true);
            pauses.push((retry.due - now) / SECOND);
        }
        assert_eq!(pauses[..8], [1, 2, 4, 8, 16, 32, 64, 64]);
        assert_eq!(pauses[19], 64);
    }

    #[test]
    fn a_reason_is_given_once() {
        let mut retry = Retry::default();
        assert!(retry.is_new("FULL: 17 free bytes of 4096"));
        assert!(!retry.is_new("FULL: 18 free bytes of 4096"));
        assert!(retry.is_new("it has another key"));
        assert!(!retry.is_new("FULL: 0 free bytes of 4096") && !retry.is_new("it has another key"));
        assert!(Retry::default().is_new("FULL: 17 free bytes of 4096"));
    }
}
