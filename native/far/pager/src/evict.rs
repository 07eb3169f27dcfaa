// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The evictor: one thread that makes room.
//!
//! Two queues, as in VMS: what is mapped, oldest first, and what was unmapped and is still in local memory. A page that
//! is used while it is in the second goes back into the first without a byte over the network; that is the only sign of use
//! there is, as nobody keeps accessed bits for us. What reaches the end of the second was not used for as long as it took
//! to get there, and leaves: at once if it is clean, after the servers' acknowledgement if it is dirty (invariant **A**).
//!
//! Who owns a page may know better (`owner.rs`): what is young is passed over while there is anything else (`passing.rs`), and what is of no
//! use is dropped without being sent (invariant **U**), as soon as nobody can reach it.
//!
//! This thread touches no paged memory: it reads pages from the memory file.

use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lull_far_protocol::MAX_PAGES_PER_FRAME;

use crate::dirty::DirtyPages;
use crate::kernel::{self, Span};
use crate::last_words::fatal;
use crate::life::{self, Leaving, Oldest};
use crate::link::Channel;
use crate::page::{Claim, Kind};
use crate::pager::Pager;
use crate::passing::{Passing, Use};
use crate::send::{Sender, runs};

/// Pages in one step: the cost of a flush of other processors' translations is shared by so many.
const BATCH: usize = MAX_PAGES_PER_FRAME;

/// Pages that one step passes over at most: others wait for its lock.
const MOST_PASSED: usize = 16 * BATCH;

/// A page, and the right to change it.
type Claimed = (u32, Claim<'static>);

/// The thread.
pub fn run(pager: &'static Pager) {
    let mut evictor = Evictor::new(pager);
    let room = &pager.local.room;
    while !pager.stopping.load(Ordering::Relaxed) {
        if pager.owner.take_trim() {
            evictor.trim();
        }
        if room.free() >= room.low() {
            pager.evictor.wait(1_000_000_000, || room.free() >= room.low() && !pager.owner.wants_trim());
            continue;
        }
        while room.free() < room.high() {
            // Held for one step, so that `leave` knows that none is under way.
            let mut working = pager.evicting.lock().unwrap_or_else(PoisonError::into_inner);
            if pager.stopping.load(Ordering::Relaxed) {
                return;
            }
            let done = evictor.step(&mut working);
            drop(working);
            if !done {
                // All that is local is Busy or just put in: wait for the threads that do so.
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }
}

struct Evictor {
    pager: &'static Pager,
    /// Numbers of pages that were unmapped, oldest first. Some of them may be in use again.
    unmapped: VecDeque<u32>,
    /// Pages ever put into it.
    unmapped_total: u64,
    /// Pages that left local memory.
    reclaimed_total: u64,
    passing: Passing,
    /// Sends the dirty pages of a step.
    sender: Sender,
    vectors: Vec<libc::iovec>,
    written: Vec<bool>,
}

impl Evictor {
    fn new(pager: &'static Pager) -> Evictor {
        Evictor {
            pager,
            unmapped: VecDeque::with_capacity(pager.local.room.total() as usize * 2),
            unmapped_total: 0,
            reclaimed_total: 0,
            passing: Passing::default(),
            sender: Sender::new(pager),
            vectors: Vec::with_capacity(BATCH),
            written: Vec::with_capacity(BATCH),
        }
    }

    /// Reclaims some, unmaps some. False if there was nothing to do either to.
    fn step(&mut self, write: &mut [Channel]) -> bool {
        // A quarter of local memory waits for its second chance. Fewer: closer to first in, first out. More: more minor faults.
        let quarter = self.pager.local.room.total() / 4;
        // First what makes room. What is unmapped then is there for the next step: nobody who waits for room waits for that, too.
        let reclaimed = if self.waiting() >= quarter { self.reclaim(write) } else { 0 };
        let (unmapped, looks_on) = if self.waiting() < quarter { self.unmap() } else { (0, false) };
        if reclaimed > 0 || (unmapped == BATCH || looks_on) && self.pager.local.room.free() > 0 {
            return true;
        }
        unmapped + self.reclaim(write) > 0 || looks_on
    }

    /// How many pages wait for their second chance. An estimate: pages of ranges that are gone are in the numbers, and not in the queue for
    /// long.
    fn waiting(&self) -> u64 {
        let chances = self.pager.counters.second_chances.load(Ordering::Relaxed);
        self.unmapped_total.saturating_sub(self.reclaimed_total + chances).min(self.unmapped.len() as u64)
    }

    /// Takes the oldest mapped pages out of the page table, but for those that stay for their owner's sake. Returns how many, and whether it has
    /// passed over so many that it is to be called again for the rest.
    fn unmap(&mut self) -> (usize, bool) {
        let pager = self.pager;
        let _looking = pager.owner.unmapping();
        let mut claims: Vec<Claimed> = Vec::with_capacity(BATCH);
        let (mut busy, mut passed, mut young, mut held) = (0, 0, 0, 0);
        while claims.len() < BATCH && busy < BATCH && passed < MOST_PASSED {
            let mut page_use = Use::Other;
            let queued = pager.local.mapped.queued();
            let stays = |page| {
                page_use = pager.use_of(page);
                self.passing.passes(page_use, queued)
            };
            match life::take_oldest(pager, stays) {
                Oldest::Claimed(page, claim) => {
                    claims.push((page, claim));
                    held += u64::from(page_use == Use::Held);
                }
                Oldest::Gone => {}
                Oldest::Busy => busy += 1,
                Oldest::Passed => {
                    passed += 1;
                    young += u64::from(page_use == Use::Young);
                }
                Oldest::Nothing => break,
            }
        }
        pager.owner.counters.young_passed.fetch_add(young, Ordering::Relaxed);
        pager.owner.counters.held_left.fetch_add(held, Ordering::Relaxed);
        (self.unmap_claimed(claims), passed == MOST_PASSED)
    }

    /// The same of pages that are claimed. What is of no use is dropped: asked now that nobody can reach it.
    fn unmap_claimed(&mut self, mut claims: Vec<Claimed>) -> usize {
        claims.sort_unstable_by_key(|(page, _)| *page);
        let spans: Vec<Span> = runs(self.pager, claims.iter().map(|(page, _)| *page)).into_iter().map(|(_, span)| span).collect();
        let held = self.pager.dirty.as_ref().map(DirtyPages::hold);
        if let Err(error) = self.pager.kernel.unmap(&spans, &mut self.vectors) {
            fatal(format_args!("cannot unmap pages: error {}", error.0));
        }
        self.written.clear();
        for span in &spans {
            self.pager.kernel.written(*span, &mut self.written);
        }
        if let Some(mut held) = held {
            held.unmapped(claims.iter().map(|(page, _)| *page), &mut self.written);
        }
        let count = claims.len();
        let mut unused: Vec<Claimed> = Vec::new();
        for ((page, claim), &dirty) in claims.into_iter().zip(&self.written) {
            if self.pager.use_of(page) == Use::Unused {
                unused.push((page, claim));
                continue;
            }
            life::unmapped(self.pager, page, claim, dirty);
            if self.unmapped.len() == self.unmapped.capacity() {
                let local = &self.pager.local;
                self.unmapped.retain(|&page| matches!(local.page(page).seen().kind(), Kind::Clean | Kind::Dirty));
            }
            self.unmapped.push_back(page);
        }
        self.unmapped_total += (count - unused.len()) as u64;
        self.drop_unused(unused);
        count
    }

    /// Frees the local memory of the pages that were unmapped first.
    fn reclaim(&mut self, write: &mut [Channel]) -> usize {
        let pager = self.pager;
        let mut clean: Vec<Claimed> = Vec::with_capacity(BATCH);
        let mut unused: Vec<Claimed> = Vec::new();
        let mut dirty: Vec<u32> = Vec::with_capacity(BATCH);
        while clean.len() + dirty.len() + unused.len() < BATCH {
            let Some(page) = self.unmapped.pop_front() else { break };
            match life::begin_to_leave(pager, page, |page| pager.use_of(page) == Use::Unused) {
                Leaving::Clean(claim) => clean.push((page, claim)),
                Leaving::Dirty => dirty.push(page),
                Leaving::Unused(claim) => unused.push((page, claim)),
                Leaving::Not => {}
            }
        }
        pager.counters.pages_dropped_clean.fetch_add(clean.len() as u64, Ordering::Relaxed);
        let mut count = clean.len() + unused.len();
        self.drop_unused(unused);
        self.free(clean);
        if !dirty.is_empty() {
            dirty.sort_unstable();
            self.sender.send(&dirty, write);
            // Those that a fault took meanwhile stay, dirty.
            let written: Vec<_> = dirty.into_iter().filter_map(|page| life::acknowledged(pager, page).map(|claim| (page, claim))).collect();
            count += written.len();
            self.free(written);
        }
        self.reclaimed_total += count as u64;
        count
    }

    /// Looks at all that is local, and drops what is of no use.
    fn trim(&mut self) {
        let pager = self.pager;
        let mut left = pager.local.mapped.queued();
        while left > 0 {
            let _working = pager.evicting.lock().unwrap_or_else(PoisonError::into_inner);
            if pager.stopping.load(Ordering::Relaxed) {
                return;
            }
            let _looking = pager.owner.unmapping();
            let mut claims: Vec<Claimed> = Vec::with_capacity(BATCH);
            let end = left.saturating_sub(MOST_PASSED as u64);
            while left > end && claims.len() < BATCH {
                left -= 1;
                match life::take_oldest(pager, |page| pager.use_of(page) != Use::Unused) {
                    Oldest::Claimed(page, claim) => claims.push((page, claim)),
                    Oldest::Nothing => left = end,
                    Oldest::Gone | Oldest::Busy | Oldest::Passed => {}
                }
            }
            self.unmap_claimed(claims);
        }
        let mut unused: Vec<Claimed> = Vec::new();
        self.unmapped.retain(|&page| {
            let claim = life::take_unused(pager, page, |page| pager.use_of(page) == Use::Unused);
            claim.map(|claim| unused.push((page, claim))).is_none()
        });
        self.reclaimed_total += unused.len() as u64;
        self.drop_unused(unused);
    }

    /// Gives memory back to the system, then room to those who wait for it.
    fn free(&mut self, claims: Vec<Claimed>) {
        let claims = self.free_memory(claims);
        life::left(self.pager, claims.into_iter());
    }

    /// The same of pages that are of no use.
    fn drop_unused(&mut self, claims: Vec<Claimed>) {
        self.pager.owner.counters.dropped_unused.fetch_add(claims.len() as u64, Ordering::Relaxed);
        let claims = self.free_memory(claims);
        life::dropped(self.pager, claims.into_iter());
    }

    fn free_memory(&self, mut claims: Vec<Claimed>) -> Vec<Claimed> {
        claims.sort_unstable_by_key(|(page, _)| *page);
        for (page, span) in runs(self.pager, claims.iter().map(|(page, _)| *page)) {
            let file = &self.pager.ranges.of(page).file;
            if let Err(error) = kernel::free(file.as_raw_fd(), span) {
                fatal(format_args!("cannot free pages: error {}", error.0));
            }
        }
        claims
    }
}
