// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A range of far memory whose pages all have known contents.

use std::sync::atomic::{AtomicU64, Ordering};

use lull_far::{Options, PAGE_SIZE, Pager, signal};

use crate::Far;

/// The range.
pub struct Memory {
    /// The pager of this process.
    pub pager: &'static Pager,
    base: *mut u8,
    pages: usize,
}

impl Memory {
    /// Starts the pager, maps the range, and writes to each page once, in order.
    pub fn new(far: &Far) -> Result<Memory, String> {
        let local = u64::from(far.pages) * u64::from(far.local) / 100;
        Memory::map(start(far, local, far.pages.into())?, far.pages as usize)
    }

    /// The same, with room for twice as many pages as there are, and none of them local.
    pub fn all_away(far: &Far) -> Result<Memory, String> {
        let pages = far.pages as usize;
        let pager = start(far, 2 * u64::from(far.pages), 5 * u64::from(far.pages))?;
        let memory = Memory::map(pager, pages)?;
        // Others come, which are more than there is room for, and go.
        let others = Memory::map(pager, 4 * pages)?;
        pager.unmap(others.base.expose_provenance()).map_err(|error| error.to_string())?;
        // Its end would be the pager's.
        std::mem::forget(others);
        Ok(memory)
    }

    fn map(pager: &'static Pager, pages: usize) -> Result<Memory, String> {
        let range = pager.map(pages * PAGE_SIZE, None).map_err(|error| error.to_string())?;
        let memory = Memory { pager, base: std::ptr::with_exposed_provenance_mut(range.base), pages };
        (0..memory.pages).for_each(|page| memory.write(page));
        Ok(memory)
    }

    /// How many pages.
    pub fn pages(&self) -> usize {
        self.pages
    }

    fn word(&self, page: usize) -> *mut u64 {
        assert!(page < self.pages);
        // SAFETY: within the range.
        unsafe { self.base.add(page * PAGE_SIZE).cast() }
    }

    /// Makes a page dirty.
    pub fn write(&self, page: usize) {
        self.write_for(page, 0);
    }

    /// Makes a page dirty for the n-th time.
    pub fn write_for(&self, page: usize, time: u32) {
        // SAFETY: within the range; one thread.
        unsafe { self.word(page).write_volatile(contents(page, time)) };
    }

    /// Reads a page, and ends the program if it is not what was written.
    pub fn read(&self, page: usize) {
        self.read_of(page, 0);
    }

    /// Reads a page that was written for the n-th time.
    pub fn read_of(&self, page: usize, time: u32) {
        // SAFETY: within the range.
        let there = unsafe { self.word(page).read_volatile() };
        assert_eq!(there, contents(page, time), "page {page} is wrong");
    }

    /// A counter now.
    pub fn count(&self, counter: impl Fn(&lull_far::pager::Counters) -> &AtomicU64) -> u64 {
        counter(&self.pager.counters).load(Ordering::Relaxed)
    }
}

/// Starts the pager, with room for so many pages, for as many as are mapped in all.
fn start(far: &Far, local: u64, mapped: u64) -> Result<&'static Pager, String> {
    let mut options = Options::new(far.servers.clone(), local * PAGE_SIZE as u64, mapped * PAGE_SIZE as u64);
    options.read_ahead = far.read_ahead as usize;
    options.seal = far.seal;
    options.plain_frames = far.plain_frames;
    options.key = far.key.as_deref().map(|path| lull_far_auth::file::read_one(path).map_err(|error| error.to_string())).transpose()?;
    let pager = Pager::start(options).map_err(|error| error.to_string())?;
    signal::install(pager);
    Ok(pager)
}

/// The first word of a page that was written for the n-th time.
fn contents(page: usize, time: u32) -> u64 {
    u64::from(time) << 32 | (page as u64 ^ 0x55)
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.pager.leave();
    }
}

/// Random numbers, the same in each run.
pub struct Random(pub u64);

impl Random {
    /// The next, below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    /// All numbers below `count`, in any order.
    pub fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).rev().for_each(|last| order.swap(last, self.below(last + 1)));
        order
    }

    /// The next, from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ x >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
