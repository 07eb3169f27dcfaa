// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The state of a page, one byte, and who may change it from what to what.
//!
//! ```text
//!                 fault                         evictor                      evictor
//!   Absent ────► Busy ────► Mapped ────► Busy ────► Unmapped(clean) ────► Busy ────► Absent
//!                             ▲                     Unmapped(dirty) ────► Writing
//!                             │  fault: second chance     │                  │ acknowledged
//!                             └──────── Busy ◄────────────┴──────────────────┤
//!                                                                            └► Busy ────► Absent
//!
//!   Absent ────► Busy ────► Coming ────► Mapped       read ahead; back to Absent if it was for nothing
//!
//!   Mapped ────► Busy ────► Mapped                    sent and left local, as is what is dirty: who has servers trace (`clean.rs`)
//!   Unmapped(dirty) ────► Writing ────► Busy ────► Unmapped(clean)
//! ```
//!
//! **E (exclusive)**: only the thread that made a page Busy may change it from Busy, and nobody else touches its memory,
//! its place in the page table or its copies meanwhile. The same holds of a page that is Coming, for the thread that holds the
//! connection over which its content comes (`link.rs`); when nobody does, nobody changes it. **A (acknowledged)**: a page becomes Absent only if the server's
//! copy is its content: it was clean when it was unmapped, and nobody could have written to it since; or it was Writing from
//! before its content was read until after the servers acknowledged just that content. A fault takes a page out of Writing,
//! so that the evictor's exchange at the end fails and the page stays, dirty. **U (unused)**: or its content is of no use to anybody,
//! as its owner has said while nobody could reach it (`owner.rs`); then it is as if servers did not hold it, whatever they have.
//!
//! The bit [`COPY`] says that servers hold the page; a clean page without it is one of zeros that was never written.

use crate::sync::{AtomicU8, Ordering};

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Not in local memory. The initial state.
    Absent = 0,
    /// In local memory, and the program can reach it.
    Mapped = 1,
    /// In local memory, nobody can reach it. Content equals the servers' copy.
    Clean = 2,
    /// As Clean, with content that no server has.
    Dirty = 3,
    /// As Dirty, and the evictor is sending the content.
    Writing = 4,
    /// One thread is changing the page.
    Busy = 5,
    /// Its range was unmapped. For ever.
    Gone = 6,
    /// Not in local memory. A server was asked for it before anybody needed it; there is room for it.
    Coming = 7,
}

const KIND: u8 = 7;
/// Servers hold the page.
const COPY: u8 = 8;

/// What a page was when somebody looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(u8);

impl Seen {
    /// What it was.
    pub fn kind(self) -> Kind {
        match self.0 & KIND {
            0 => Kind::Absent,
            1 => Kind::Mapped,
            2 => Kind::Clean,
            3 => Kind::Dirty,
            4 => Kind::Writing,
            5 => Kind::Busy,
            6 => Kind::Gone,
            _ => Kind::Coming,
        }
    }

    /// Whether servers hold it.
    pub fn has_copy(self) -> bool {
        self.0 & COPY != 0
    }
}

/// A page's state. A page of zeros of the memory that it lies in is Absent, without a copy.
#[derive(Debug)]
#[repr(transparent)]
pub struct Page(AtomicU8);

/// The right to change a page, from a successful [`Page::claim`]. What it was is remembered.
#[derive(Debug)]
#[must_use = "a page that stays Busy stops every thread that needs it"]
pub struct Claim<'a> {
    page: &'a Page,
    was: Seen,
}

impl Default for Page {
    /// An absent page.
    fn default() -> Page {
        Page(AtomicU8::new(0))
    }
}

impl Page {
    /// What it is now. Acquires what the thread that made it so did before.
    pub fn seen(&self) -> Seen {
        Seen(self.0.load(Ordering::Acquire))
    }

    /// Makes a page Busy that is still what was seen. Never from Busy, Coming or Gone.
    pub fn claim(&self, seen: Seen) -> Option<Claim<'_>> {
        if matches!(seen.kind(), Kind::Busy | Kind::Coming | Kind::Gone) {
            return None;
        }
        let busy = Kind::Busy as u8 | seen.0 & COPY;
        self.0.compare_exchange(seen.0, busy, Ordering::Acquire, Ordering::Relaxed).ok()?;
        Some(Claim { page: self, was: seen })
    }

    /// Evictor: announces that the content of a dirty page is about to be read and sent. The page stays open to faults.
    pub fn begin_writing(&self, seen: Seen) -> bool {
        debug_assert!(seen.kind() == Kind::Dirty);
        let writing = Kind::Writing as u8 | seen.0 & COPY;
        // Acquire: the content is read after this, and no write of the program is possible between, or the exchange at
        // the end fails.
        self.0.compare_exchange(seen.0, writing, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Evictor: takes a page whose content was acknowledged. None if a fault was faster.
    pub fn claim_written(&self) -> Option<Claim<'_>> {
        let seen = self.seen();
        if seen.kind() == Kind::Writing { self.claim(seen) } else { None }
    }

    /// Ends Coming, of the thread that holds the connection: its content came, and the program can reach it now; or it stays
    /// Absent. False if the page was not Coming, which **E** excludes.
    #[must_use]
    pub fn came(&self, mapped: bool) -> bool {
        let end = if mapped { Kind::Mapped } else { Kind::Absent };
        // Release: as at the end of a claim.
        self.0.compare_exchange(Kind::Coming as u8 | COPY, end as u8 | COPY, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

impl Claim<'_> {
    /// What the page was before.
    pub fn was(&self) -> Seen {
        self.was
    }

    /// The program can reach it now.
    pub fn mapped(self) {
        self.end(Kind::Mapped, self.was.has_copy());
    }

    /// The program cannot reach it any more; its page table entry told whether it was written to.
    pub fn unmapped(self, dirty: bool) {
        self.end(if dirty { Kind::Dirty } else { Kind::Clean }, self.was.has_copy());
    }

    /// It stays where it was, and servers hold what it was when it was write-protected, or began to be Writing.
    pub fn cleaned(self) {
        let unmapped = self.was.kind() == Kind::Writing;
        debug_assert!(unmapped || self.was.kind() == Kind::Mapped);
        self.end(if unmapped { Kind::Clean } else { Kind::Mapped }, true);
    }

    /// Its local memory is free. Of a page that was clean, or was acknowledged.
    pub fn absent(self) {
        let acknowledged = self.was.kind() == Kind::Writing;
        debug_assert!(acknowledged || self.was.kind() == Kind::Clean);
        self.end(Kind::Absent, acknowledged || self.was.has_copy());
    }

    /// Its local memory is free, if it had any, and what it held is of no use: a page of zeros from now on. Of a page that nobody can reach.
    pub fn dropped(self) {
        self.end(Kind::Absent, false);
    }

    /// A server is about to be asked for it. Of a page that was Absent and that servers hold.
    pub fn coming(self) {
        debug_assert!(self.was.kind() == Kind::Absent && self.was.has_copy());
        self.end(Kind::Coming, true);
    }

    /// The range is unmapped.
    pub fn gone(self) {
        self.end(Kind::Gone, false);
    }

    /// Release: what was done to the page is seen by whoever claims it next.
    fn end(&self, kind: Kind, copy: bool) {
        self.page.0.store(kind as u8 | if copy { COPY } else { 0 }, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A page that servers hold and that is not here.
    fn absent() -> Page {
        Page(AtomicU8::new(Kind::Absent as u8 | COPY))
    }

    #[test]
    fn every_kind_is_seen_as_it_is() {
        use Kind::{Absent, Busy, Clean, Coming, Dirty, Gone, Mapped, Writing};
        for kind in [Absent, Mapped, Clean, Dirty, Writing, Busy, Gone, Coming] {
            for copy in [0, COPY] {
                let seen = Page(AtomicU8::new(kind as u8 | copy)).seen();
                assert_eq!((seen.kind(), seen.has_copy()), (kind, copy == COPY));
            }
        }
    }

    #[test]
    fn what_is_dropped_is_a_page_of_zeros_whatever_servers_have() {
        for kind in [Kind::Absent, Kind::Mapped, Kind::Clean, Kind::Dirty] {
            for copy in [0, COPY] {
                let page = Page(AtomicU8::new(kind as u8 | copy));
                page.claim(page.seen()).unwrap().dropped();
                assert_eq!((page.seen().kind(), page.seen().has_copy()), (Kind::Absent, false));
            }
        }
    }

    #[test]
    fn nobody_claims_a_page_that_is_coming() {
        for mapped in [true, false] {
            let page = absent();
            assert!(!page.came(mapped), "it was not coming");
            page.claim(page.seen()).unwrap().coming();
            assert!(page.seen().has_copy() && page.claim(page.seen()).is_none() && page.claim_written().is_none());
            assert!(page.came(mapped));
            assert_eq!(page.seen().kind(), if mapped { Kind::Mapped } else { Kind::Absent });
            assert!(page.seen().has_copy() && !page.came(mapped));
        }
    }
}
