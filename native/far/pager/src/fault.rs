// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Serving a fault, in the thread that has it.
//!
//! Why this may run in a signal handler that interrupted anything, the C library's allocator or a lock included:
//! * It calls the kernel through `syscall.rs` only, and of the C library at most `memcpy` and `memset`; no allocation, no `errno`,
//!   no thread-local variable.
//! * It takes no lock. What it waits for: (1) a page that another thread has made Busy; (2) room; (3) a fetch
//!   connection. Who holds one of them never touches paged memory until he lets it go, so he never waits for a
//!   fault: (1) and (3) are held within this file by threads with all signals blocked, that wait for nothing but (3), a
//!   server, or the kernel; and by the pager's own threads, which use no paged memory at all; (2) is made by the
//!   evictor, which waits for servers only. Room is waited for *before* a page is made Busy, so there is no cycle.
//! * Each wait for a server ends: with its answer, with another server's that has the page, or with the end of the process.
//! * All signals that can be blocked are blocked meanwhile, so that no handler of the program runs while we hold something.
//! * It does not panic: what it cannot explain ends the process (`last_words.rs`), before anybody can read the page.

use core::sync::atomic::Ordering;

use lull_far_protocol::Fetch;

use crate::kernel::Span;
use crate::last_words::fatal;
use crate::link::FetchError;
use crate::page::{Claim, Kind};
use crate::pager::{Pager, Range};
use crate::stream::LONGEST;
use crate::syscall::{self, Errno};
use crate::{PAGE_SIZE, ZERO_PAGE};

/// How long to sleep at most before looking again. Not a timeout: what is waited for wakes us.
const LOOK_AGAIN: u64 = 100_000_000;

/// How long a thread that reads ahead waits for room for all of it.
const PATIENCE: u64 = 2_000_000;

/// Serves a fault at an address. False if it is not ours.
pub fn serve(pager: &Pager, address: usize, write: bool, thread: usize) -> bool {
    let Some(range) = pager.range_at(address) else { return false };
    let page = range.first + ((address - range.base) / PAGE_SIZE) as u32;
    if let Some(record) = &pager.record {
        record.note(page);
    }
    let state = &pager.pages[page as usize];
    let mut spins = 0;
    let mut stream = None;
    let mut patient = true;
    loop {
        let seen = state.seen();
        match seen.kind() {
            // Somebody was faster; or the kernel has taken the page out of the page table, to swap it out. It is in the
            // queue already. Not protected: whether it was written to is not known any more.
            Kind::Mapped => {
                let Some(claim) = state.claim(seen) else { continue };
                match pager.kernel.map_in(range.span(page, 1).address, false) {
                    Ok(()) => {}
                    Err(Errno(libc::EEXIST)) => pager.kernel.wake(range.span(page, 1).address),
                    Err(error) => unexplained("map a page that was mapped", range, page, error),
                }
                claim.mapped();
                pager.page_events.of(page).wake();
                return true;
            }
            Kind::Gone => return false,
            Kind::Busy => {
                spins += 1;
                if spins < 64 {
                    core::hint::spin_loop();
                } else {
                    pager.page_events.of(page).wait(LOOK_AGAIN, || state.seen().kind() == Kind::Busy);
                }
            }
            Kind::Clean | Kind::Dirty | Kind::Writing => {
                let Some(claim) = state.claim(seen) else { continue };
                // Protected only if it is clean and stays so: else a later unmapping would find the marker of a clean page.
                let protect = seen.kind() == Kind::Clean && !write;
                if let Err(error) = pager.kernel.map_in(range.span(page, 1).address, protect) {
                    unexplained("map a page again", range, page, error);
                }
                pager.counters.second_chances.fetch_add(1, Ordering::Relaxed);
                finish(pager, page, claim);
                return true;
            }
            Kind::Absent => {
                if !pager.room.take(0) {
                    pager.evictor.wake();
                    pager.page_events.of(ROOM).wait(LOOK_AGAIN, || pager.room.free() <= 0);
                    continue;
                }
                // A thread that goes through memory in order takes all that it can use at once, or the evictor's next step leaves
                // it to fetch page by page. It waits for room once, and not while it holds a page.
                let window = *stream.get_or_insert_with(|| pager.streams.window(thread, page));
                let enough = || pager.room.free() >= pager.room.reserve() + window as i64;
                if window > 1 && patient && seen.has_copy() && !enough() {
                    patient = false;
                    give_room(pager, 1);
                    pager.evictor.wake();
                    pager.page_events.of(ROOM).wait(PATIENCE, || !enough());
                    continue;
                }
                let Some(claim) = state.claim(seen) else {
                    give_room(pager, 1);
                    continue;
                };
                if seen.has_copy() {
                    fetch(pager, range, page, claim, write, window);
                } else {
                    if let Err(error) = pager.kernel.copy_in(range.span(page, 1), &ZERO_PAGE.0, !write) {
                        unexplained("map a page of zeros", range, page, error);
                    }
                    pager.counters.zero_faults.fetch_add(1, Ordering::Relaxed);
                    finish(pager, page, claim);
                }
                if pager.room.free() < pager.room.low() {
                    pager.evictor.wake();
                }
                return true;
            }
        }
    }
}

/// The event that threads without room sleep at: that of a page which is not special otherwise.
pub const ROOM: u32 = 63;

/// Gives room back and tells who waits for it.
pub fn give_room(pager: &Pager, pages: u64) {
    pager.room.give(pages);
    pager.page_events.of(ROOM).wake();
}

fn finish(pager: &Pager, page: u32, claim: Claim<'_>) {
    claim.mapped();
    pager.mapped.put(page);
    pager.page_events.of(page).wake();
}

/// Fetches a page that servers have, and some behind it if the thread goes through memory in order.
fn fetch(pager: &Pager, range: &Range, page: u32, claim: Claim<'_>, write: bool, window: usize) {
    let index = u64::from(page - range.first);
    let window = window.min(range.layout.run(index) as usize);
    let mut claims: [Option<Claim<'_>>; LONGEST] = [const { None }; LONGEST];
    claims[0] = Some(claim);
    let mut count = 1;
    // Only pages that are as absent as the first, and only while there is more room than the reserve.
    while count < window {
        let state = &pager.pages[page as usize + count];
        let seen = state.seen();
        if seen.kind() != Kind::Absent || !seen.has_copy() || !pager.room.take(pager.room.reserve()) {
            break;
        }
        claims[count] = state.claim(seen);
        if claims[count].is_none() {
            give_room(pager, 1);
            break;
        }
        count += 1;
    }
    let span = range.span(page, count);
    // A write makes its own page dirty; those behind it are clean.
    let use_pages = |bytes: &[u8]| {
        let first = Span { pages: 1, ..span };
        pager.kernel.copy_in(first, &bytes[..PAGE_SIZE], !write)?;
        if count > 1 { pager.kernel.copy_in(span.skip(1), &bytes[PAGE_SIZE..], true) } else { Ok(()) }
    };
    if let Err(error) = from_servers(pager, range, index, count as u32, use_pages) {
        unexplained("map a page that was fetched", range, page, error);
    }
    pager.counters.fetch_faults.fetch_add(1, Ordering::Relaxed);
    pager.counters.pages_fetched.fetch_add(count as u64, Ordering::Relaxed);
    for (number, claim) in claims.iter_mut().take(count).enumerate() {
        if let Some(claim) = claim.take() {
            finish(pager, page + number as u32, claim);
        }
    }
}

/// Gets pages from the first server that gives them. Does not return without.
fn from_servers(pager: &Pager, range: &Range, index: u64, count: u32, use_pages: impl Fn(&[u8]) -> Result<(), Errno>) -> Result<(), Errno> {
    let timeout = pager.options.server_timeout.as_nanos() as u64;
    let started = syscall::now();
    loop {
        let mut reachable = false;
        for copy in 0..=range.layout.replicas {
            let place = range.layout.place(index, copy);
            let server = &pager.servers[place.server];
            if server.lost() {
                continue;
            }
            let run = Fetch { first: place.page, count };
            // A second server is asked soon; a single one is waited for.
            let wait = if range.layout.replicas > 0 { timeout / 50 } else { timeout / 5 };
            match server.fetch(place.region, run, wait, &use_pages) {
                Ok(result) => {
                    pager.counters.replica_fetches.fetch_add(u64::from(copy > 0), Ordering::Relaxed);
                    return result;
                }
                Err(FetchError::Broken) => reachable = true,
                Err(FetchError::Checksum) => fatal(format_args!(
                    "memory server {}: pages of region {} from {} on came with a wrong checksum, twice",
                    server.name, place.region, place.page
                )),
                Err(FetchError::Refused(code)) => {
                    crate::last_words::say(format_args!(
                        "memory server {} refuses region {} page {}: {}",
                        server.name,
                        place.region,
                        place.page,
                        code.name()
                    ));
                    server.give_up();
                }
            }
        }
        if !reachable || syscall::now() - started > timeout.saturating_mul(2) {
            let place = range.layout.place(index, 0);
            fatal(format_args!(
                "memory server {} is lost, and nobody else has page {} of region {}; the program cannot go on",
                pager.servers[place.server].name, place.page, place.region
            ));
        }
    }
}

fn unexplained(what: &str, range: &Range, page: u32, error: Errno) -> ! {
    let hint = if error.0 == libc::ENOMEM || error.0 == libc::ENOSPC { " (no local memory left)" } else { "" };
    fatal(format_args!("cannot {what}: page {} of the range at {:#x}: error {}{hint}", page - range.first, range.base, error.0))
}

/// Serves faults that the kernel tells of: the other mode.
pub fn handle_messages(pager: &Pager) {
    while !pager.stopping.load(Ordering::Relaxed) {
        if let Some(fault) = pager.kernel.next_fault(1000) {
            serve(pager, fault.address, fault.write, fault.thread);
        }
    }
}
