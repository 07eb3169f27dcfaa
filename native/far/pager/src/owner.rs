// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the owner of a range knows of its pages, and the pager does not: a collector says which of them are young, which are of no use to
//! anybody, and which the kernel was given.
//!
//! Written once by who attaches; the evictor asks, and nobody on the fault path. An answer is a hint for all kinds but
//! [`Use::Unused`]. That one is exact: **the page is of no use at the moment of the answer**, and whoever gives it a use says so to
//! the owner's function first. The evictor asks when the program cannot reach the page. A use that is given later is one whose first
//! access has a fault, which waits for the evictor, or takes the page from it before it is dropped.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::PAGE_SIZE;
use crate::kernel;
use crate::life;
use crate::page::Kind;
use crate::pager::{Error, Pager};
use crate::passing::Use;

/// The function of an owner: what a page of his is. It may be called by a thread of the pager at any time, for as long as the process lives,
/// and must not use paged memory.
pub type UseFunction = extern "C" fn(page: *const std::ffi::c_void) -> u32;

/// What has come of it, counted. Independent of each other: relaxed.
#[derive(Debug, Default)]
pub struct OwnerCounters {
    /// Pages that left local memory without being sent, because they were of no use.
    pub dropped_unused: AtomicU64,
    /// Pages that had left, and that nobody needs to fetch any more.
    pub forgotten: AtomicU64,
    /// How often a young page was passed over, so that another one left.
    pub young_passed: AtomicU64,
    /// Of the pages that were sent: those that were young.
    pub young_written: AtomicU64,
    /// Pages that were held, and left nevertheless: there was no other.
    pub held_left: AtomicU64,
}

/// The owner, if there is one.
#[derive(Debug)]
pub struct Owner {
    /// Written by who attaches, before `function`.
    start: AtomicUsize,
    end: AtomicUsize,
    /// 0: nobody has attached.
    function: AtomicUsize,
    /// How often each page is held: written by who holds and releases.
    held: &'static [AtomicU32],
    /// Whether any page ever was: until then nobody looks.
    holds: AtomicBool,
    /// Held by the evictor from before it looks whether pages are held until they are in no page table.
    unmapping: Mutex<()>,
    /// Set by the owner, taken by the evictor.
    trim: AtomicBool,
    /// What has come of it.
    pub counters: OwnerCounters,
}

impl Owner {
    /// Nobody, of so many pages.
    ///
    /// # Errors
    /// As `mmap`.
    pub fn new(pages: usize) -> std::io::Result<Owner> {
        // SAFETY: a zero is a page that nobody holds.
        let held = unsafe { kernel::table::<AtomicU32>(pages) }?;
        Ok(Owner {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            function: AtomicUsize::new(0),
            held,
            holds: AtomicBool::new(false),
            unmapping: Mutex::new(()),
            trim: AtomicBool::new(false),
            counters: OwnerCounters::default(),
        })
    }

    /// Evictor: what a page is, by its number and its address.
    pub fn use_of(&self, page: u32, address: usize) -> Use {
        if self.holds.load(Ordering::Acquire) && self.held[page as usize].load(Ordering::SeqCst) > 0 {
            return Use::Held;
        }
        let function = self.function.load(Ordering::Acquire);
        if function == 0 || address < self.start.load(Ordering::Relaxed) || address >= self.end.load(Ordering::Relaxed) {
            return Use::Other;
        }
        // SAFETY: only `attach` stores it, from such a function.
        let function: UseFunction = unsafe { std::mem::transmute(function) };
        Use::of(function(std::ptr::with_exposed_provenance(address)))
    }

    /// Evictor: nobody holds a page between its look and the unmapping.
    pub fn unmapping(&self) -> MutexGuard<'_, ()> {
        self.unmapping.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Evictor: whether it is to look at all that is local.
    pub fn wants_trim(&self) -> bool {
        self.trim.load(Ordering::Acquire)
    }

    /// Evictor: the same; it is about to.
    pub fn take_trim(&self) -> bool {
        self.trim.swap(false, Ordering::AcqRel)
    }
}

impl Pager {
    /// A program says that it knows what the pages of a part of a range are.
    ///
    /// # Errors
    /// If that is no part of a range, somebody has said so before, or nobody is to be asked.
    pub fn attach(&self, start: usize, bytes: usize, function: UseFunction) -> Result<(), Error> {
        static ONE: Mutex<()> = Mutex::new(());
        self.check_process()?;
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let bad = |text: String| Err(Error::Options(text));
        if !self.options.asks_owner {
            return bad("the pager asks nobody what pages are (lull-far run --no-owner)".to_owned());
        }
        let end = start.checked_add(bytes).filter(|_| bytes > 0 && start.is_multiple_of(PAGE_SIZE) && bytes.is_multiple_of(PAGE_SIZE));
        let range = self.range_at(start);
        if range.zip(end).is_none_or(|(range, end)| end > range.base + range.bytes()) {
            return bad(format!("{bytes} bytes at {start:#x} are not whole pages of one range of far memory"));
        }
        if self.owner.function.load(Ordering::Relaxed) != 0 {
            return bad("somebody has attached already: one owner is possible".to_owned());
        }
        self.owner.start.store(start, Ordering::Relaxed);
        self.owner.end.store(start + bytes, Ordering::Relaxed);
        // Release: who sees it sees the addresses.
        self.owner.function.store(function as *const () as usize, Ordering::Release);
        Ok(())
    }

    /// What is in these bytes is of no use any more, and whoever writes there next has not begun: pages of them that have left are zeros
    /// when they are used again, and are not fetched. What is local stays as it is. Pages of which they are a part stay, too.
    pub fn forget(&self, start: usize, bytes: usize) {
        let mut forgotten = 0;
        for page in self.whole_pages(start, bytes) {
            forgotten += u64::from(life::forget(self, page));
        }
        if forgotten > 0 {
            self.owner.counters.forgotten.fetch_add(forgotten, Ordering::Relaxed);
        }
    }

    /// The evictor looks at all that is local, and drops what is of no use: the program has less than it had.
    pub fn trim(&self) {
        self.owner.trim.store(true, Ordering::Release);
        self.evictor.wake();
    }

    /// The kernel is about to be given these addresses: their pages come, and stay for as long as anything else can leave, until they are
    /// released as often. Returns when they are there. Only of use where system calls cannot wait for pages.
    pub fn hold(&self, start: usize, bytes: usize) {
        for page in self.touched_pages(start, bytes) {
            self.owner.held[page as usize].fetch_add(1, Ordering::SeqCst);
        }
        self.owner.holds.store(true, Ordering::SeqCst);
        // An evictor that has not seen it has unmapped what it wanted when this is over; the next one sees it.
        drop(self.owner.unmapping());
        let end = start.saturating_add(bytes);
        let mut at = start;
        while at < end {
            // SAFETY: the caller's memory. In the fault mode of this thread's own faults, it is served before this returns.
            unsafe { std::ptr::with_exposed_provenance::<u8>(at).read_volatile() };
            at = (at / PAGE_SIZE + 1) * PAGE_SIZE;
        }
    }

    /// No longer.
    pub fn release(&self, start: usize, bytes: usize) {
        for page in self.touched_pages(start, bytes) {
            let before = self.owner.held[page as usize].fetch_sub(1, Ordering::SeqCst);
            debug_assert!(before > 0, "page {page} was not held");
        }
    }

    /// Pages of who has attached that are on servers, and not here. Looks at each; others change them meanwhile.
    #[must_use]
    pub fn remote_pages(&self) -> u64 {
        if self.owner.function.load(Ordering::Acquire) == 0 {
            return 0;
        }
        let (start, end) = (self.owner.start.load(Ordering::Relaxed), self.owner.end.load(Ordering::Relaxed));
        let is_remote = |page: &u32| {
            let seen = self.local.page(*page).seen();
            seen.has_copy() && matches!(seen.kind(), Kind::Absent | Kind::Coming)
        };
        self.whole_pages(start, end - start).filter(is_remote).count() as u64
    }

    /// The pages that lie in these bytes as a whole, of one range.
    fn whole_pages(&self, start: usize, bytes: usize) -> std::ops::Range<u32> {
        let first = start.next_multiple_of(PAGE_SIZE);
        let end = start.saturating_add(bytes) / PAGE_SIZE * PAGE_SIZE;
        self.pages_between(first, end)
    }

    /// The pages that have any of them.
    fn touched_pages(&self, start: usize, bytes: usize) -> std::ops::Range<u32> {
        let end = if bytes == 0 { start } else { start.saturating_add(bytes).next_multiple_of(PAGE_SIZE) };
        self.pages_between(start / PAGE_SIZE * PAGE_SIZE, end)
    }

    fn pages_between(&self, first: usize, end: usize) -> std::ops::Range<u32> {
        let Some(range) = self.range_at(first).filter(|_| first < end) else { return 0..0 };
        let end = end.min(range.base + range.bytes());
        let number = |address: usize| range.first + ((address - range.base) / PAGE_SIZE) as u32;
        number(first)..number(end)
    }

    /// Evictor: what a page is.
    pub(crate) fn use_of(&self, page: u32) -> Use {
        self.owner.use_of(page, self.ranges.of(page).span(page, 1).address)
    }

    /// Whether the kernel, too, waits for pages.
    #[must_use]
    pub fn system_calls_wait(&self) -> bool {
        self.mode() == crate::FaultMode::Handlers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn unused(_: *const std::ffi::c_void) -> u32 {
        Use::Unused as u32
    }

    #[test]
    fn only_pages_of_the_owner_are_asked_for_and_held_ones_come_first() {
        let owner = Owner::new(4).unwrap();
        assert_eq!(owner.use_of(1, 2 * PAGE_SIZE), Use::Other, "nobody has attached");
        owner.start.store(PAGE_SIZE, Ordering::Relaxed);
        owner.end.store(3 * PAGE_SIZE, Ordering::Relaxed);
        owner.function.store(unused as *const () as usize, Ordering::Release);
        let uses: Vec<Use> = (0..4).map(|page| owner.use_of(page, page as usize * PAGE_SIZE)).collect();
        assert_eq!(uses, [Use::Other, Use::Unused, Use::Unused, Use::Other]);
        owner.held[2].fetch_add(1, Ordering::SeqCst);
        owner.holds.store(true, Ordering::SeqCst);
        assert_eq!((owner.use_of(1, PAGE_SIZE), owner.use_of(2, 2 * PAGE_SIZE)), (Use::Unused, Use::Held));
    }

    #[test]
    fn it_is_trimmed_once_for_each_time_that_was_asked() {
        let owner = Owner::new(1).unwrap();
        assert!(!owner.wants_trim() && !owner.take_trim());
        owner.trim.store(true, Ordering::Release);
        assert!(owner.wants_trim() && owner.take_trim() && !owner.wants_trim());
    }
}
