// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pages that are mapped, in the order in which they were: any thread puts in, from its signal handler too; the evictor
//! takes out.
//!
//! There is room for every page, and a page is in it once at most (it is put in when it becomes Mapped, and ceases to be
//! Mapped only by being taken out, or for ever): so to put in never fails, waits or allocates. A cell that was claimed and is
//! not filled yet, because its thread was interrupted, makes the queue look empty from there on until it is.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// A place for one page. All zeros is an empty cell of lap 0.
#[derive(Debug)]
#[repr(C)]
pub struct Cell {
    /// Twice the lap if it is empty for that lap, one more if it is full. Written by the thread that has claimed the position,
    /// and then by the evictor, in turns.
    turn: AtomicU32,
    value: AtomicU32,
}

impl Default for Cell {
    /// An empty cell.
    fn default() -> Cell {
        Cell { turn: AtomicU32::new(0), value: AtomicU32::new(0) }
    }
}

/// The queue. Its cells are a power of two.
#[derive(Debug)]
pub struct Queue<C> {
    cells: C,
    /// Next position to put in.
    tail: AtomicU64,
    /// Next position to take out; written by the evictor only.
    head: AtomicU64,
}

impl<C: AsRef<[Cell]>> Queue<C> {
    /// An empty queue.
    ///
    /// # Panics
    /// If the number of cells is not a power of two.
    pub fn new(cells: C) -> Queue<C> {
        assert!(cells.as_ref().len().is_power_of_two());
        Queue { cells, tail: AtomicU64::new(0), head: AtomicU64::new(0) }
    }

    fn at(&self, position: u64) -> (&Cell, u32) {
        let cells = self.cells.as_ref();
        let mask = cells.len() as u64 - 1;
        (&cells[(position & mask) as usize], ((position >> cells.len().trailing_zeros()) as u32).wrapping_mul(2))
    }

    /// Puts a page in.
    pub fn put(&self, page: u32) {
        let (cell, empty) = self.at(self.tail.fetch_add(1, Ordering::Relaxed));
        debug_assert!(cell.turn.load(Ordering::Acquire) == empty, "more in the queue than there are pages");
        cell.value.store(page, Ordering::Relaxed);
        cell.turn.store(empty.wrapping_add(1), Ordering::Release);
    }

    /// How many are in it, or about to be.
    pub fn queued(&self) -> u64 {
        self.tail.load(Ordering::Relaxed).saturating_sub(self.head.load(Ordering::Relaxed))
    }

    /// Takes the oldest out. Called by one thread at a time.
    pub fn take(&self) -> Option<u32> {
        let position = self.head.load(Ordering::Relaxed);
        let (cell, empty) = self.at(position);
        if cell.turn.load(Ordering::Acquire) != empty.wrapping_add(1) {
            return None;
        }
        let page = cell.value.load(Ordering::Relaxed);
        cell.turn.store(empty.wrapping_add(2), Ordering::Release);
        self.head.store(position + 1, Ordering::Relaxed);
        Some(page)
    }
}
