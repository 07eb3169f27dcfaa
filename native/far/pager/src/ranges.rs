// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The ranges of mapped memory, and which one an address or a page lies in. Added to by who maps, one at a time; read by everybody, the
//! fault path too, without a lock.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::PAGE_SIZE;
use crate::descriptors::Own;
use crate::kernel::Span;
use crate::layout::Layout;
use crate::life::Local;
use crate::page::{Kind, Page};
use crate::queue::Cell;

/// The most ranges over the life of a pager.
pub const MAX_RANGES: usize = 64;

/// A range of mapped memory.
#[derive(Debug)]
pub struct Range {
    /// Its first address.
    pub base: usize,
    /// Its pages.
    pub pages: u32,
    /// The number of its first page among all pages.
    pub first: u32,
    /// Where its pages are.
    pub layout: Layout,
    /// The memory file.
    pub file: Own<OwnedFd>,
}

impl Range {
    /// Where a run of pages is, by their numbers among all.
    pub fn span(&self, page: u32, pages: usize) -> Span {
        let index = (page - self.first) as usize;
        Span { address: self.base + index * PAGE_SIZE, offset: (index * PAGE_SIZE) as u64, pages }
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.pages as usize * PAGE_SIZE
    }
}

/// All ranges that ever were.
#[derive(Debug)]
pub struct Ranges {
    /// Set once and never cleared: a range that is unmapped keeps its entry, its pages are Gone.
    entries: [AtomicPtr<Range>; MAX_RANGES],
    count: AtomicUsize,
    /// The number that the next page gets.
    next_page: AtomicU64,
}

/// What a range that is mapped next will have.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// Its number.
    pub number: usize,
    /// That of its first page.
    pub first: u64,
}

impl Ranges {
    /// None.
    pub fn new() -> Ranges {
        Ranges {
            entries: [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_RANGES],
            count: AtomicUsize::new(0),
            next_page: AtomicU64::new(0),
        }
    }

    /// Who maps, one at a time: what comes next.
    pub fn next(&self) -> Next {
        Next { number: self.count.load(Ordering::Relaxed), first: self.next_page.load(Ordering::Relaxed) }
    }

    /// Who maps, one at a time: one more, which has what came next, and less than [`MAX_RANGES`] are there.
    pub fn add(&self, range: &'static Range) {
        let Next { number, first } = self.next();
        self.next_page.store(first + u64::from(range.pages), Ordering::Relaxed);
        self.entries[number].store(std::ptr::from_ref(range).cast_mut(), Ordering::Release);
        // Release: whoever sees the count sees the entry.
        self.count.store(number + 1, Ordering::Release);
    }

    /// The range that an address lies in, if it is mapped. Fault path.
    pub fn at(&self, address: usize, local: &Local<&'static [Page], &'static [Cell]>) -> Option<&'static Range> {
        self.within(address, 1, local).next()
    }

    /// The ranges that have any of these bytes and are mapped.
    pub fn within(
        &self,
        address: usize,
        bytes: usize,
        local: &Local<&'static [Page], &'static [Cell]>,
    ) -> impl Iterator<Item = &'static Range> {
        let end = address.saturating_add(bytes);
        (0..self.count.load(Ordering::Acquire))
            .map(|index| self.range(index))
            .filter(move |range| bytes > 0 && address < range.base + range.bytes() && range.base < end)
            // The addresses of a range that is gone may be somebody else's.
            .filter(|range| local.page(range.first).seen().kind() != Kind::Gone)
    }

    /// The range that a page lies in.
    pub fn of(&self, page: u32) -> &'static Range {
        let count = self.count.load(Ordering::Acquire);
        let mut low = 0;
        let mut high = count;
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.range(middle).first <= page { low = middle } else { high = middle }
        }
        self.range(low)
    }

    /// Whether anything was ever mapped.
    pub fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    fn range(&self, index: usize) -> &'static Range {
        // SAFETY: entries below the count were set before it, to references that live for ever.
        unsafe { &*self.entries[index].load(Ordering::Acquire) }
    }
}
