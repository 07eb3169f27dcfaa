// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sends what is dirty, and leaves it local: servers that trace have to hold what the program has written before they began.
//!
//! When it is over, servers hold of each page that was wanted what it was at some moment since it began, or what it became later. Pages that
//! are written to meanwhile are dirty again, and are not waited for.
//!
//! Everything happens under the lock of the channels for writes, some pages at a time: the evictor unmaps nothing meanwhile, or it would take a
//! page for clean that was write-protected here and not acknowledged yet (**A**).

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::PAGE_SIZE;
use crate::kernel::WrittenRun;
use crate::last_words::fatal;
use crate::life;
use crate::link::Channel;
use crate::page::Kind;
use crate::pager::{Error, Pager};
use crate::send::{BATCH, Sender, runs};

/// How long to wait for who puts a page in.
const A_MOMENT: Duration = Duration::from_micros(50);

/// Who cleans, with room for what that takes.
struct Cleaner {
    pager: &'static Pager,
    sender: Sender,
    found: Vec<WrittenRun>,
    written: Vec<bool>,
}

/// What is dirty of some pages.
#[derive(Default)]
struct Dirty {
    /// Mapped, and write-protected since.
    protected: Vec<u32>,
    /// Mapped, and written to again, or out of the page table by the kernel's doing: whatever it is, the servers get it.
    other: Vec<u32>,
    /// Unmapped, and Writing since.
    unmapped: Vec<u32>,
}

impl Pager {
    /// Sends what is dirty of some of a range's pages: `wanted` has a byte for each block of so many, from this block on, which is 0 if nobody
    /// needs it. Returns how many pages were sent.
    ///
    /// # Errors
    /// If there is no such range, or who counts writes protects pages, too.
    pub fn clean(&'static self, start: usize, first_block: u64, wanted: &[u8], pages_each: u32) -> Result<u64, Error> {
        self.check_process()?;
        let bad = |text: String| Err(Error::Options(text));
        if self.dirty.is_some() {
            return bad("who counts writes (lull-far run --dirty) write-protects pages as well".to_owned());
        }
        let range = match self.range_at(start) {
            Some(range) if range.base == start => range,
            _ => return bad(format!("{start:#x} is not where a range of far memory begins")),
        };
        let of_block = |block: u64| block.saturating_mul(pages_each.into()).min(range.pages.into()) as u32;
        let (begin, end) = (of_block(first_block), of_block(first_block.saturating_add(wanted.len() as u64)));
        let is_wanted = |page: u32| wanted[((page - begin) / pages_each) as usize] != 0;
        let mut cleaner = Cleaner {
            pager: self,
            sender: Sender::new(self),
            found: vec![WrittenRun::default(); BATCH],
            written: Vec::with_capacity(BATCH),
        };
        let mut sent = 0;
        for first in (begin..end).step_by(BATCH) {
            let pages: Vec<u32> =
                (first..end.min(first + BATCH as u32)).filter(|&page| is_wanted(page)).map(|page| range.first + page).collect();
            // Of most pages of a large heap there is nothing here: no lock for them.
            let is_here =
                |page: &u32| matches!(self.local.page(*page).seen().kind(), Kind::Mapped | Kind::Dirty | Kind::Writing | Kind::Busy);
            while pages.iter().any(is_here) && !self.stopping.load(Ordering::Relaxed) {
                let mut working = self.evicting.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(count) = cleaner.step(&pages, &mut working) {
                    sent += count;
                    drop(working);
                    // Who waits for room waits for the evictor, and it for the lock.
                    if self.local.room.free() < self.local.room.low() {
                        std::thread::sleep(A_MOMENT);
                    }
                    break;
                }
                drop(working);
                std::thread::sleep(A_MOMENT);
            }
        }
        Ok(sent)
    }
}

impl Cleaner {
    /// Sends what is dirty of these pages, which ascend. None if one of them is Busy: to be tried again.
    fn step(&mut self, pages: &[u32], write: &mut [Channel]) -> Option<u64> {
        let pager = self.pager;
        let seen: Vec<_> = pages.iter().map(|&page| (page, pager.local.page(page).seen())).collect();
        // Whoever has it may be putting it in, dirty. What is Coming comes clean; what is Absent is where it should be.
        if seen.iter().any(|(_, seen)| seen.kind() == Kind::Busy) {
            return None;
        }
        let of = |kind: Kind| seen.iter().filter(move |(_, seen)| seen.kind() == kind);
        let mut dirty = self.take_mapped(of(Kind::Mapped).map(|&(page, _)| page));
        // One that a fault takes now was Dirty a moment ago, and is mapped again: the next try finds it so.
        let unmapped: Vec<_> = of(Kind::Dirty).collect();
        dirty.unmapped =
            unmapped.iter().filter(|(page, seen)| pager.local.page(*page).begin_writing(*seen)).map(|&&(page, _)| page).collect();
        let is_complete = dirty.unmapped.len() == unmapped.len();
        let mut all: Vec<u32> = [&dirty.protected, &dirty.other, &dirty.unmapped].into_iter().flatten().copied().collect();
        all.sort_unstable();
        if !all.is_empty() {
            self.sender.send(&all, write);
        }
        dirty.protected.iter().for_each(|&page| {
            while !life::cleaned(pager, page, Kind::Mapped) {
                std::thread::yield_now();
            }
        });
        // One that a fault has taken is Mapped and dirty, as it was.
        dirty.unmapped.iter().for_each(|&page| {
            life::cleaned(pager, page, Kind::Writing);
        });
        is_complete.then_some(all.len() as u64)
    }

    /// Protects mapped pages that were written to.
    fn take_mapped(&mut self, pages: impl Iterator<Item = u32>) -> Dirty {
        let pager = self.pager;
        let mut dirty = Dirty::default();
        for (first, span) in runs(pager, pages) {
            let (mut at, end) = (span.address, span.address + span.bytes());
            while at < end {
                let (found, next) = match pager.kernel.take_written(at, end, &mut self.found) {
                    Ok(found) => found,
                    Err(error) => fatal(format_args!("cannot look for pages that were written to: error {}", error.0)),
                };
                for run in &self.found[..found] {
                    let page = first + ((run.start as usize - span.address) / PAGE_SIZE) as u32;
                    dirty.protected.extend((page..).take((run.end - run.start) as usize / PAGE_SIZE));
                }
                at = next;
            }
            self.written.clear();
            pager.kernel.written(span, &mut self.written);
            let other = (first..).zip(&self.written).filter(|&(page, &written)| written && dirty.protected.binary_search(&page).is_err());
            dirty.other.extend(other.map(|(page, _)| page).collect::<Vec<_>>());
        }
        dirty
    }
}
