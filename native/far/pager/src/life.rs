// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The life of a page, step by step: who claims it when, in which order its room, its state and the queue change, and who is told.
//!
//! What is done to its memory, its page table entry and the servers between these steps is for a [`World`] and a [`Fault`]: the machine
//! (`fault.rs`, `evict.rs`), or a model. So the model whose interleavings are enumerated (`tests/interleavings.rs`) runs these very steps.
//!
//! A fault has three: **claim** the page, **fill** it or find it local, **install** it. The evictor has two: what was mapped longest is
//! unmapped, and what was unmapped longest leaves. All of it may run in a signal handler: no lock, no allocation.

use crate::page::{Claim, Kind, Page, Seen};
use crate::queue::{Cell, Queue};
use crate::room::Room;

/// What is local. The fault path and the evictor write all of it; who gives up a range makes pages Gone, and gives their room back.
#[derive(Debug)]
pub struct Local<P, C> {
    /// The state of each page. Ranges get numbers in order; a number is never used again.
    pub pages: P,
    /// Pages that are Mapped, the oldest first.
    pub mapped: Queue<C>,
    /// How many more pages may be local.
    pub room: Room,
    /// How many more pages may be Coming: each has room, too, and stays so until somebody sees to it.
    pub ahead: Room,
}

impl<P: AsRef<[Page]>, C: AsRef<[Cell]>> Local<P, C> {
    /// The state of a page.
    pub fn page(&self, page: u32) -> &Page {
        &self.pages.as_ref()[page as usize]
    }
}

/// Where pages live, and who waits for them.
pub trait World {
    /// The states.
    type Pages: AsRef<[Page]>;
    /// Places of the queue.
    type Cells: AsRef<[Cell]>;

    /// What is local.
    fn local(&self) -> &Local<Self::Pages, Self::Cells>;

    /// Wakes who waits for one of so many pages, from this one on, after they were changed.
    fn wake(&self, page: u32, count: usize);

    /// Wakes who waits for room, after it was given.
    fn wake_for_room(&self);
}

/// A fault of a thread, and what it does to the page.
pub trait Fault<'w> {
    /// Where the page lives.
    type World: World + 'w;

    /// The same.
    fn world(&self) -> &'w Self::World;

    /// Whether a clean page is to be mapped write-protected.
    fn protects(&self) -> bool;

    /// Whether a page that is dirty, and claimed, is remembered as such, so that it may be write-protected, too.
    fn keeps_dirty(&self, page: u32) -> bool;

    /// Maps a page, which is claimed and in local memory.
    fn map(&self, page: u32, protect: bool);

    /// Maps a page, which is claimed and was Mapped, unless it is in the page table. Not protected: whether it was written to is not known any
    /// more.
    fn map_again(&self, page: u32);

    /// Puts a page, which is absent and claimed, into local memory, for which there is room; and installs it, perhaps with others behind it.
    fn fill(&mut self, page: u32, claim: Claim<'w>);

    /// Sleeps for as long as the page is Busy, or less.
    fn wait_while_busy(&mut self, page: u32);

    /// Sleeps until there is room, or less.
    fn wait_for_room(&self);

    /// Whether the thread would rather wait for more room than there is, than get this page alone, which a server has or nobody. It waits once.
    fn wants_more_room(&mut self, page: u32, has_copy: bool) -> bool;

    /// Sleeps until there is more room, or for a while.
    fn wait_for_more_room(&self);

    /// Puts the pages in that come with this one, or gives them up. False if another thread is at it, after some sleep.
    fn take_ahead(&mut self, page: u32) -> bool;
}

/// Serves a fault on a page. False if its range is gone.
pub fn serve<'w, F: Fault<'w>>(fault: &mut F, page: u32) -> bool {
    loop {
        let seen = fault.world().local().page(page).seen();
        let done = match seen.kind() {
            Kind::Gone => return false,
            Kind::Busy => {
                fault.wait_while_busy(page);
                false
            }
            // It has come clean. If this is a write, the kernel drops the protection when it is made again.
            Kind::Coming => fault.take_ahead(page) && fault.world().local().page(page).seen().kind() == Kind::Mapped,
            Kind::Mapped => map_again(fault, page, seen),
            Kind::Clean | Kind::Dirty | Kind::Writing => second_chance(fault, page, seen),
            Kind::Absent => come(fault, page, seen),
        };
        if done {
            return true;
        }
    }
}

/// Somebody was faster; or the kernel has taken the page out of the page table, to swap it out. It is in the queue already.
fn map_again<'w, F: Fault<'w>>(fault: &F, page: u32, seen: Seen) -> bool {
    let world = fault.world();
    let Some(claim) = world.local().page(page).claim(seen) else { return false };
    fault.map_again(page);
    claim.mapped();
    world.wake(page, 1);
    true
}

/// The page is local still.
fn second_chance<'w, F: Fault<'w>>(fault: &F, page: u32, seen: Seen) -> bool {
    let world = fault.world();
    let Some(claim) = world.local().page(page).claim(seen) else { return false };
    // Protected only if it is clean and stays so, or is remembered: else a later unmapping would find the marker of a clean page.
    let protect = fault.protects() && (seen.kind() == Kind::Clean || fault.keeps_dirty(page));
    fault.map(page, protect);
    install(world, page, claim);
    true
}

/// The page is not local. Room for it is waited for before it is claimed, so that nobody who holds a page waits for room.
fn come<'w, F: Fault<'w>>(fault: &mut F, page: u32, seen: Seen) -> bool {
    let world = fault.world();
    if !world.local().room.take(0) {
        fault.wait_for_room();
        return false;
    }
    // A thread that goes through memory in order takes all that it can use at once, or the evictor's next step leaves it to fetch page by page.
    if fault.wants_more_room(page, seen.has_copy()) {
        give_room(world, 1);
        fault.wait_for_more_room();
        return false;
    }
    let Some(claim) = world.local().page(page).claim(seen) else {
        give_room(world, 1);
        return false;
    };
    fault.fill(page, claim);
    true
}

/// Ends a claim of a page that was put into the page table.
pub fn install(world: &impl World, page: u32, claim: Claim<'_>) {
    queue(world, page, claim);
    world.wake(page, 1);
}

/// The same of pages that follow each other.
pub fn install_all<'a>(world: &impl World, page: u32, claims: impl Iterator<Item = Claim<'a>>) {
    let mut count = 0;
    for (page, claim) in (page..).zip(claims) {
        queue(world, page, claim);
        count += 1;
    }
    world.wake(page, count);
}

/// First Mapped, then in the queue: who finds it there takes it.
fn queue(world: &impl World, page: u32, claim: Claim<'_>) {
    claim.mapped();
    world.local().mapped.put(page);
}

/// Gives room back, after the memory was freed, and tells who waits for it.
pub fn give_room(world: &impl World, pages: u64) {
    world.local().room.give(pages);
    world.wake_for_room();
}

/// Makes absent pages Coming, up to the first that is not as absent as it should be. Returns how many.
pub fn make_coming(world: &impl World, page: u32, window: usize) -> usize {
    let local = world.local();
    let share = local.ahead.take_up_to(window as u64, 0);
    let room = local.room.take_up_to(share, local.room.reserve());
    let mut count = 0;
    // Half a window is not worth a fault of its own: with the next one there is room for all of it.
    if room > window as u64 / 2 {
        for state in &local.pages.as_ref()[page as usize..][..room as usize] {
            let seen = state.seen();
            if seen.kind() != Kind::Absent || !seen.has_copy() {
                break;
            }
            let Some(claim) = state.claim(seen) else { break };
            claim.coming();
            count += 1;
        }
    }
    if count < room {
        give_room(world, room - count);
    }
    local.ahead.give(share - count);
    count as usize
}

/// Ends that pages are Coming, by the thread that holds their connection: they are mapped, or stay absent.
///
/// # Errors
/// The page that was not Coming, which **E** excludes.
pub fn end_coming(world: &impl World, page: u32, count: usize, mapped: bool) -> Result<(), u32> {
    let local = world.local();
    for page in (page..).take(count) {
        if !local.page(page).came(mapped) {
            return Err(page);
        }
        if mapped {
            local.mapped.put(page);
        }
    }
    if !mapped {
        give_room(world, count as u64);
    }
    local.ahead.give(count as u64);
    Ok(())
}

/// What the evictor has found at the head of the queue.
#[derive(Debug)]
pub enum Oldest<'a> {
    /// The queue is empty.
    Nothing,
    /// A page whose range is gone.
    Gone,
    /// A page that a thread is mapping again: it is in the queue once more.
    Busy,
    /// A page that stays, for its owner's sake: as well.
    Passed,
    /// A page, and the right to change it.
    Claimed(u32, Claim<'a>),
}

/// Evictor: takes the page that was mapped longest, unless it `stays`.
pub fn take_oldest<W: World>(world: &W, stays: impl FnOnce(u32) -> bool) -> Oldest<'_> {
    let local = world.local();
    let Some(page) = local.mapped.take() else { return Oldest::Nothing };
    let state = local.page(page);
    let seen = state.seen();
    if seen.kind() == Kind::Mapped && stays(page) {
        local.mapped.put(page);
        return Oldest::Passed;
    }
    match state.claim(seen) {
        Some(claim) => {
            debug_assert!(seen.kind() == Kind::Mapped);
            Oldest::Claimed(page, claim)
        }
        None if seen.kind() == Kind::Gone => Oldest::Gone,
        None => {
            local.mapped.put(page);
            Oldest::Busy
        }
    }
}

/// Evictor: the page was unmapped, and is known to be dirty or clean.
pub fn unmapped(world: &impl World, page: u32, claim: Claim<'_>, dirty: bool) {
    claim.unmapped(dirty);
    world.wake(page, 1);
}

/// How a page leaves.
#[derive(Debug)]
pub enum Leaving<'a> {
    /// At once.
    Clean(Claim<'a>),
    /// When the servers have acknowledged its content, which may be read now; then by [`acknowledged`].
    Dirty,
    /// At once, by [`dropped`]: what is in it is of no use.
    Unused(Claim<'a>),
    /// Not: a fault was faster, or its range is gone.
    Not,
}

/// Evictor: the right to free a page that was unmapped before, if it is `unused`. That is asked when it is known that nobody can reach it; who maps
/// it before it is claimed has taken it from us.
pub fn take_unused<W: World>(world: &W, page: u32, unused: impl FnOnce(u32) -> bool) -> Option<Claim<'_>> {
    let state = world.local().page(page);
    let seen = state.seen();
    if matches!(seen.kind(), Kind::Clean | Kind::Dirty) && unused(page) { state.claim(seen) } else { None }
}

/// Evictor: begins to reclaim a page that was unmapped before.
pub fn begin_to_leave<W: World>(world: &W, page: u32, unused: impl FnOnce(u32) -> bool) -> Leaving<'_> {
    if let Some(claim) = take_unused(world, page, unused) {
        return Leaving::Unused(claim);
    }
    let state = world.local().page(page);
    let seen = state.seen();
    match seen.kind() {
        Kind::Clean => state.claim(seen).map_or(Leaving::Not, Leaving::Clean),
        Kind::Dirty if state.begin_writing(seen) => Leaving::Dirty,
        _ => Leaving::Not,
    }
}

/// Evictor: the right to free a page whose content the servers have acknowledged. None if a fault has taken it: it stays, dirty.
pub fn acknowledged<W: World>(world: &W, page: u32) -> Option<Claim<'_>> {
    world.local().page(page).claim_written()
}

/// Who cleans, and keeps the evictor away: servers have acknowledged what a page was that is of this kind, Mapped and write-protected since, or
/// Writing. It stays local. False if it is of another kind now: a page that was Writing has been mapped again, and stays dirty; one that was
/// Mapped is being mapped again, and will be so soon.
pub fn cleaned(world: &impl World, page: u32, kind: Kind) -> bool {
    let state = world.local().page(page);
    let seen = state.seen();
    if seen.kind() != kind {
        return seen.kind() == Kind::Gone;
    }
    if kind == Kind::Mapped && seen.has_copy() {
        return true;
    }
    let Some(claim) = state.claim(seen) else { return false };
    claim.cleaned();
    world.wake(page, 1);
    true
}

/// Evictor: the memory of these pages was freed.
pub fn left<'a>(world: &impl World, pages: impl Iterator<Item = (u32, Claim<'a>)>) {
    freed(world, pages, Claim::absent);
}

/// Evictor: the same of pages that are of no use.
pub fn dropped<'a>(world: &impl World, pages: impl Iterator<Item = (u32, Claim<'a>)>) {
    freed(world, pages, Claim::dropped);
}

fn freed<'a>(world: &impl World, pages: impl Iterator<Item = (u32, Claim<'a>)>, end: impl Fn(Claim<'a>)) {
    let mut count = 0;
    for (page, claim) in pages {
        end(claim);
        world.wake(page, 1);
        count += 1;
    }
    give_room(world, count);
}

/// Who owns a page: what is in it is of no use, and nobody has begun to use it again. If it has left, it is not fetched when that is done. Returns
/// whether that spares a fetch.
pub fn forget(world: &impl World, page: u32) -> bool {
    let state = world.local().page(page);
    let seen = state.seen();
    if seen.kind() != Kind::Absent || !seen.has_copy() {
        return false;
    }
    let Some(claim) = state.claim(seen) else { return false };
    claim.dropped();
    world.wake(page, 1);
    true
}
