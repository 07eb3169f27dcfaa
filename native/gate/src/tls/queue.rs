// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who must be done by when: connections that all have the same time for something, in the order in which they began.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Connections by a key that is never used twice.
#[derive(Debug)]
pub struct Queue<K> {
    patience: Duration,
    items: VecDeque<(Instant, K)>,
}

impl<K: Copy> Queue<K> {
    /// Nobody yet; each will have so long.
    pub fn new(patience: Duration) -> Queue<K> {
        Queue { patience, items: VecDeque::new() }
    }

    /// One begins now.
    pub fn begin(&mut self, now: Instant, key: K) {
        self.items.push_back((now + self.patience, key));
    }

    /// The oldest whose time is over and that still `waits`. Who does not wait any more is forgotten.
    pub fn overdue(&mut self, now: Instant, waits: impl Fn(K) -> bool) -> Option<K> {
        self.forget(&waits);
        self.items.pop_front_if(|(end, _)| *end <= now).map(|(_, key)| key)
    }

    /// The oldest that still `waits`, whatever its time.
    pub fn oldest(&mut self, waits: impl Fn(K) -> bool) -> Option<K> {
        self.forget(&waits);
        self.items.pop_front().map(|(_, key)| key)
    }

    /// Those at the front that do not wait any more. Behind one that does there may be others, until its time is over.
    fn forget(&mut self, waits: &impl Fn(K) -> bool) {
        while self.items.pop_front_if(|(_, key)| !waits(*key)).is_some() {}
    }

    /// When somebody's time may be over next.
    pub fn next(&self) -> Option<Instant> {
        self.items.front().map(|(end, _)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_comes_first_and_who_is_done_is_forgotten() {
        let begin = Instant::now();
        let at = |s| begin + Duration::from_secs(s);
        let mut queue = Queue::new(Duration::from_secs(10));
        assert_eq!((queue.next(), queue.oldest(|_| true)), (None, None));
        for key in 0..5 {
            queue.begin(at(key), key);
        }
        assert_eq!(queue.overdue(at(9), |_| true), None);
        assert_eq!(queue.overdue(at(11), |key| key != 0), Some(1));
        assert_eq!(queue.overdue(at(11), |_| true), None);
        assert_eq!(queue.next(), Some(at(12)));
        assert_eq!(queue.oldest(|key| key != 2), Some(3));
        assert_eq!(queue.overdue(at(100), |_| false), None);
        assert_eq!(queue.next(), None);
    }
}
