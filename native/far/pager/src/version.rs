// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What is kept of a page that has left sealed: how often it was sealed, and the tag of the last time.
//!
//! Who writes it: the evictor, under the lock of the channels for writes, while the page is Writing. Who reads it: whoever fetches the page,
//! which he has made Busy, or Coming, from Absent, and only the evictor makes it that, afterwards; and who copies it to a server that comes
//! back, under that lock. Each of them acquires what the evictor has released, so the words are relaxed. `tests/interleavings.rs` tries it.

use crate::sync::{AtomicU64, Ordering};

/// All zeros: a page that was never sealed.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Version {
    number: AtomicU64,
    tag: [AtomicU64; 2],
}

impl Version {
    /// Evictor: the number of the next sealing. Counts though nothing may come of it: no number is used twice.
    pub fn next(&self) -> u64 {
        let number = self.number.load(Ordering::Relaxed) + 1;
        self.number.store(number, Ordering::Relaxed);
        number
    }

    /// Evictor: the tag that came of it.
    pub fn set_tag(&self, tag: [u8; 16]) {
        for (word, bytes) in self.tag.iter().zip(tag.as_chunks::<8>().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// Number and tag of the last sealing; none if there was none.
    pub fn last(&self) -> Option<(u64, [u8; 16])> {
        let number = self.number.load(Ordering::Relaxed);
        let mut tag = [0; 16];
        for (bytes, word) in tag.as_chunks_mut::<8>().0.iter_mut().zip(&self.tag) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        (number > 0).then_some((number, tag))
    }
}
