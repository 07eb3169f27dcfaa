// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where the objects that were reached lie: in which lines, and how much of each block. A collector that frees lines need not look at an
//! object for that.
//!
//! Of the whole heap, at each server: an object lies across the ends of parts. The client puts together what the servers say.

/// Bytes of a line.
pub const LINE: u64 = 256;

/// Bytes of a block.
pub const BLOCK: u64 = 32 << 10;

/// Bytes of a word of the heap, in which live memory is counted.
const WORD: u64 = 8;

/// Words of a block.
const WORDS_PER_BLOCK: u16 = (BLOCK / WORD) as u16;

/// What one server has found.
#[derive(Debug)]
pub struct Extents {
    /// A bit for each line of the heap: an object lies there.
    lines: Vec<u64>,
    /// Of each block of the heap the words of such objects, four blocks in a word, the lowest first; no more than a block has.
    live: Vec<u64>,
    /// Bytes of the heap that no object of this server has been found to have yet. None belongs to two objects: without this bound layouts
    /// that lie about sizes would make work without end.
    left: u64,
}

/// More was found than the heap has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch;

impl Extents {
    /// Nothing, in a heap of so many bytes.
    #[must_use]
    pub fn new(heap: u64) -> Extents {
        let words = |count: u64, per_word: u64| vec![0; count.div_ceil(per_word) as usize];
        Extents { lines: words(heap.div_ceil(LINE), 64), live: words(heap.div_ceil(BLOCK), 4), left: heap }
    }

    /// What [`Extents::bytes`] will say of a heap of so many bytes.
    #[must_use]
    pub fn bytes_for(heap: u64) -> u64 {
        8 * (heap.div_ceil(LINE).div_ceil(64) + heap.div_ceil(BLOCK).div_ceil(4))
    }

    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        8 * (self.lines.len() + self.live.len()) as u64
    }

    /// An object was reached that has so many bytes, at least 8, from an offset in the heap on. It lies in the heap as a whole.
    ///
    /// # Errors
    /// If all objects together have more than the heap.
    pub fn note(&mut self, offset: u64, bytes: u64) -> Result<(), TooMuch> {
        self.left = self.left.checked_sub(bytes).ok_or(TooMuch)?;
        let end = offset + bytes;
        for line in offset / LINE..=(end - 1) / LINE {
            self.lines[(line / 64) as usize] |= 1 << (line % 64);
        }
        for block in offset / BLOCK..=(end - 1) / BLOCK {
            let words = (end.min((block + 1) * BLOCK) - offset.max(block * BLOCK)) / WORD;
            let (word, shift) = (&mut self.live[(block / 4) as usize], block % 4 * 16);
            let live = (*word >> shift) as u16;
            // No more than there are: who counts lies about nothing else by it.
            let more = live.saturating_add(words as u16).min(WORDS_PER_BLOCK) - live.min(WORDS_PER_BLOCK);
            *word += u64::from(more) << shift;
        }
        Ok(())
    }

    /// The bits of lines.
    #[must_use]
    pub fn lines(&self) -> &[u64] {
        &self.lines
    }

    /// The words of blocks.
    #[must_use]
    pub fn live(&self) -> &[u64] {
        &self.live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(extents: &Extents, block: usize) -> u64 {
        extents.live()[block / 4] >> (block % 4 * 16) & 0xFFFF
    }

    #[test]
    fn an_object_is_in_each_line_and_block_that_it_reaches() {
        let mut extents = Extents::new(8 * BLOCK);
        extents.note(LINE - 8, 16).unwrap();
        assert_eq!((extents.lines()[0], live(&extents, 0)), (0b11, 2));
        // From the last word of a block over a whole one into the first of the next.
        extents.note(2 * BLOCK - 8, BLOCK + 16).unwrap();
        assert_eq!([1, 2, 3, 4].map(|block| live(&extents, block)), [1, u64::from(WORDS_PER_BLOCK), 1, 0]);
        let per_block = (BLOCK / LINE) as usize;
        let is_set = |line: usize| extents.lines()[line / 64] >> (line % 64) & 1 == 1;
        assert!((2 * per_block - 1..=3 * per_block).all(is_set) && !is_set(2 * per_block - 2) && !is_set(3 * per_block + 1));
        assert_eq!(extents.bytes(), Extents::bytes_for(8 * BLOCK));
    }

    #[test]
    fn no_more_is_found_than_there_is() {
        let mut extents = Extents::new(2 * BLOCK);
        assert_eq!(extents.note(0, BLOCK), Ok(()));
        // The same place twice is a lie, but no block has more words than it has.
        assert_eq!(extents.note(8, BLOCK - 8), Ok(()));
        assert_eq!(live(&extents, 0), u64::from(WORDS_PER_BLOCK));
        assert_eq!(live(&extents, 1), 0);
        assert_eq!(extents.note(0, 16), Err(TooMuch));
        assert_eq!(extents.note(0, 8), Ok(()));
    }
}
