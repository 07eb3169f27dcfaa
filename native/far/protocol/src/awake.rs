// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Whether a thread that waits for the other side's next frame should stay awake. To wake up a thread takes the kernel, and a virtual
//! machine's host, many times as long as a frame needs on the wire.

/// Hits up to which the past is remembered.
const MOST: u8 = 8;

/// From so many on, the next wait is expected to be short.
const ENOUGH: u8 = 4;

/// What is known of one connection's waits: a plain value, for the thread that waits there.
#[derive(Clone, Copy, Debug)]
pub struct Awake {
    limit: u64,
    hits: u8,
}

impl Awake {
    /// `limit`: nanoseconds for which a thread stays awake at most; 0: it never does. Begins with the hope that waits are short.
    #[must_use]
    pub const fn new(limit: u64) -> Awake {
        Awake { limit, hits: ENOUGH }
    }

    /// For how long to stay awake, in nanoseconds, before the thread sleeps; 0 where waits have been long of late.
    #[must_use]
    pub const fn patience(&self) -> u64 {
        if self.hits >= ENOUGH { self.limit } else { 0 }
    }

    /// A wait is over, after so many nanoseconds. One that was slept through may have been half as long: the rest was waking up.
    pub const fn waited(&mut self, nanoseconds: u64) {
        let short = if self.hits >= ENOUGH { self.limit } else { self.limit.saturating_mul(2) };
        self.hits = if nanoseconds > short {
            self.hits.saturating_sub(1)
        } else if self.hits < MOST {
            self.hits + 1
        } else {
            MOST
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waits_are_slept_through_and_short_ones_end_that() {
        let mut awake = Awake::new(1000);
        assert_eq!(awake.patience(), 1000);
        for _ in 0..100 {
            awake.waited(999);
        }
        // One long wait among short ones changes nothing.
        awake.waited(1_000_000);
        assert_eq!(awake.patience(), 1000);
        for _ in 0..100 {
            awake.waited(1_000_000);
        }
        assert_eq!(awake.patience(), 0);
        // Now it takes a while, for the sleeper adds the time of waking up.
        for wait in [1900, 1800, 1700] {
            awake.waited(wait);
            assert_eq!(awake.patience(), 0);
        }
        awake.waited(1900);
        assert_eq!(awake.patience(), 1000);
    }

    #[test]
    fn none_is_none() {
        let mut awake = Awake::new(0);
        for _ in 0..100 {
            awake.waited(1);
            assert_eq!(awake.patience(), 0);
        }
        assert_eq!(Awake::new(u64::MAX).patience(), u64::MAX);
    }
}
