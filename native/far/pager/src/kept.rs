// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Pages that are dirty although the kernel says that they are not: who counts writes has write-protected them again.
//!
//! A bit is set for a mapped page, by who protects it again, and by who maps a dirty page write-protected. It is taken by
//! the evictor when nobody can write to the page any more. Relaxed: setting and taking exclude each other, by the claim of
//! the page, or by the lock of `dirty.rs`, and either orders them.

use crate::sync::{AtomicU64, Ordering};

/// A word for 64 pages.
#[derive(Debug)]
pub struct Kept<W>(W);

impl<W: AsRef<[AtomicU64]>> Kept<W> {
    /// With a word of zeros for each 64 pages.
    pub fn new(words: W) -> Kept<W> {
        Kept(words)
    }

    fn at(&self, page: u32) -> (&AtomicU64, u64) {
        (&self.0.as_ref()[page as usize / 64], 1 << (page % 64))
    }

    /// A page is dirty, and is to be write-protected.
    pub fn set(&self, page: u32) {
        let (word, bit) = self.at(page);
        word.fetch_or(bit, Ordering::Relaxed);
    }

    /// Whether it was set. It is not any more.
    pub fn take(&self, page: u32) -> bool {
        let (word, bit) = self.at(page);
        // Most are not: no write for them.
        word.load(Ordering::Relaxed) & bit != 0 && word.fetch_and(!bit, Ordering::Relaxed) & bit != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_taken_once_and_is_of_its_page_alone() {
        let kept = Kept::new([AtomicU64::new(0), AtomicU64::new(0)]);
        for page in [0, 1, 63, 64, 127] {
            kept.set(page);
        }
        let taken: Vec<u32> = (0..128).filter(|&page| kept.take(page)).collect();
        assert_eq!(taken, [0, 1, 63, 64, 127]);
        assert!((0..128).all(|page| !kept.take(page)));
    }
}
