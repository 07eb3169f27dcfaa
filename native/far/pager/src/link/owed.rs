// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Since when a server owes pages. One that opens connections and answers heartbeats, and gives no page, is never silent: it would never be
//! lost, and each fault would wait for it anew. Async-signal-safe: the fault path tells what has come and what has not.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A run of requests that were not answered: for how long, and when the last has failed; 0: the last was answered. Of threads that write at once
/// the time of one may be lost, and the next one's is counted. Relaxed: nothing else depends on them.
#[derive(Debug)]
pub(super) struct Owed {
    waited: AtomicU64,
    last: AtomicU64,
    /// Nanoseconds for which a run may go on.
    limit: u64,
    /// What a failure counts at most: no thread waits for longer. A program that stood meanwhile has not waited.
    most: u64,
}

impl Owed {
    pub(super) fn new(limit: Duration, most: Duration) -> Owed {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        Owed { waited: AtomicU64::new(0), last: AtomicU64::new(0), limit: nanoseconds(limit), most: nanoseconds(most) }
    }

    /// A request was answered.
    pub(super) fn answered(&self) {
        // Seldom anything else than zero: a line that all threads read stays in their caches.
        if self.waited.load(Ordering::Relaxed) != 0 {
            self.waited.store(0, Ordering::Relaxed);
        }
    }

    /// A request that was made at one time has failed by another. True if none has been answered for longer than may be.
    pub(super) fn failed(&self, asked: u64, now: u64) -> bool {
        let (waited, last) = (self.waited.load(Ordering::Relaxed), self.last.swap(now, Ordering::Relaxed));
        // Nobody has asked for long: what has failed then says nothing about what would have come meanwhile.
        let goes_on = waited != 0 && asked.saturating_sub(last) <= self.limit;
        // Of requests that fail side by side each moment counts once.
        let from = if goes_on { last } else { asked };
        let counted = now.saturating_sub(from).min(self.most).max(1);
        let waited = if goes_on { waited + counted } else { counted };
        self.waited.store(waited, Ordering::Relaxed);
        goes_on && waited > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_answers_nothing_for_too_long_is_found_out() {
        let owed = Owed::new(Duration::from_nanos(100), Duration::from_nanos(60));
        assert!(!owed.failed(1000, 1060));
        assert!(!owed.failed(1061, 1100));
        assert!(owed.failed(1061, 1101));
        // One answer, and it begins anew.
        owed.answered();
        assert!(!owed.failed(1102, 1160) && !owed.failed(1160, 1200) && owed.failed(1201, 1203));
        // Two failures with nothing between that was asked for are no run.
        owed.answered();
        assert!(!owed.failed(2000, 2050) && !owed.failed(9000, 9050) && !owed.failed(9051, 9100) && owed.failed(9100, 9101));
    }

    #[test]
    fn a_program_that_stood_has_not_waited() {
        let owed = Owed::new(Duration::from_nanos(100), Duration::from_nanos(60));
        // All that were under way fail when it goes on, their connections are gone.
        assert!(!owed.failed(1000, 9000) && !owed.failed(1010, 9001) && !owed.failed(1020, 9002));
        // They ask again, in vain.
        assert!(!owed.failed(9002, 9030) && owed.failed(9031, 9060));
    }
}
