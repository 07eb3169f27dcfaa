// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Serving a fault, in the thread that has it: what `life.rs` has done, and in which order, is done here to the machine.
//!
//! Why this may run in a signal handler that interrupted anything, the C library's allocator or a lock included:
//! * It calls the kernel through `syscall.rs` only, and of the C library at most `memcpy` and `memset`; no allocation, no `errno`,
//!   no thread-local variable.
//! * It takes no lock. What it waits for: (1) a page that another thread has made Busy; (2) room; (3) a fetch
//!   connection. Who holds one of them never touches paged memory until he lets it go, so he never waits for a
//!   fault: (1) and (3) are held within this file by threads with all signals blocked, that wait for nothing but (3), a
//!   server, or the kernel; and by the pager's own threads, which use no paged memory at all; (2) is made by the
//!   evictor, which waits for servers only. Room is waited for *before* a page is made Busy, so there is no cycle.
//!   Who holds (3) waits for the server and the kernel only.
//! * A page that is Coming is waited for only while somebody holds the connection over which it comes. A thread that has asked for pages
//!   ahead lets the connection go, and owes nobody anything: who needs a page of them takes the connection, as does who needs a
//!   connection and finds no other. The room that such pages take is bounded by a share of its own, so that there is always some to
//!   wait for.
//! * Each wait for a server ends: with its answer, with another server's that has the page, or with the end of the process.
//! * All signals that can be blocked are blocked meanwhile, so that no handler of the program runs while we hold something.
//! * It does not panic: what it cannot explain ends the process (`last_words.rs`), before anybody can read the page.

use core::sync::atomic::Ordering;

use lull_far_protocol::Fetch;

use crate::kernel::Span;
use crate::last_words::fatal;
use crate::life::{self, Local};
use crate::link::{Ahead, FetchError, Held, Server};
use crate::page::{Claim, Kind, Page};
use crate::pager::Pager;
use crate::queue::Cell;
use crate::ranges::Range;
use crate::stream::{AHEAD_FROM, LONGEST};
use crate::syscall::{self, Errno};
use crate::{PAGE_SIZE, ZERO_PAGE};

/// How long to sleep at most before looking again. Not a timeout: what is waited for wakes us.
const LOOK_AGAIN: u64 = 100_000_000;

/// How long a thread that reads ahead waits for room for all of it.
const PATIENCE: u64 = 2_000_000;

/// Serves a fault at an address. False if it is not ours.
pub fn serve(pager: &Pager, address: usize, write: bool, thread: usize) -> bool {
    let Some(range) = pager.ranges.at(address, &pager.local) else { return false };
    let page = range.first + ((address - range.base) / PAGE_SIZE) as u32;
    if let Some(record) = &pager.record {
        record.note(page);
    }
    life::serve(&mut Serving { pager, range, write, thread, spins: 0, window: None, patient: true }, page)
}

/// A fault, in the thread that has it.
struct Serving<'p> {
    pager: &'p Pager,
    range: &'static Range,
    write: bool,
    thread: usize,
    /// How often it was looked whether the page is Busy still.
    spins: u32,
    /// How many pages to fetch, once that was asked.
    window: Option<usize>,
    /// Whether it was never waited for more room.
    patient: bool,
}

impl Serving<'_> {
    fn window(&mut self, page: u32) -> usize {
        let (streams, thread) = (&self.pager.streams, self.thread);
        *self.window.get_or_insert_with(|| streams.window(thread, page))
    }

    fn has_room_for(&self, window: usize) -> bool {
        let room = &self.pager.local.room;
        room.free() >= room.reserve() + window as i64
    }

    fn address(&self, page: u32) -> usize {
        self.range.span(page, 1).address
    }
}

impl<'p> life::Fault<'p> for Serving<'p> {
    type World = Pager;

    fn world(&self) -> &'p Pager {
        self.pager
    }

    /// The kernel drops the protection at the write, which takes another fault of its own: not worth it for a write, unless these are counted.
    fn protects(&self) -> bool {
        !self.write || self.pager.dirty.is_some()
    }

    fn keeps_dirty(&self, page: u32) -> bool {
        if let Some(dirty) = &self.pager.dirty {
            dirty.keep(page);
        }
        self.pager.dirty.is_some()
    }

    fn map(&self, page: u32, protect: bool) {
        if let Err(error) = self.pager.kernel.map_in(self.address(page), protect) {
            unexplained("map a page again", self.range, page, error);
        }
        self.pager.counters.second_chances.fetch_add(1, Ordering::Relaxed);
    }

    fn map_again(&self, page: u32) {
        match self.pager.kernel.map_in(self.address(page), false) {
            Ok(()) => {}
            Err(Errno(libc::EEXIST)) => self.pager.kernel.wake(self.address(page)),
            Err(error) => unexplained("map a page that was mapped", self.range, page, error),
        }
    }

    fn fill(&mut self, page: u32, claim: Claim<'p>) {
        if claim.was().has_copy() {
            let window = self.window(page);
            fetch(self, page, claim, window);
        } else {
            if let Err(error) = self.pager.kernel.copy_in(self.range.span(page, 1), &ZERO_PAGE.0, self.protects()) {
                unexplained("map a page of zeros", self.range, page, error);
            }
            self.pager.counters.zero_faults.fetch_add(1, Ordering::Relaxed);
            life::install(self.pager, page, claim);
        }
        wake_evictor(self.pager);
    }

    fn wait_while_busy(&mut self, page: u32) {
        self.spins += 1;
        if self.spins < 64 {
            core::hint::spin_loop();
        } else {
            let state = self.pager.local.page(page);
            self.pager.page_events.of(page).wait(LOOK_AGAIN, || state.seen().kind() == Kind::Busy);
        }
    }

    fn wait_for_room(&self) {
        self.pager.evictor.wake();
        self.pager.page_events.of(ROOM).wait(LOOK_AGAIN, || self.pager.local.room.free() <= 0);
    }

    fn wants_more_room(&mut self, page: u32, has_copy: bool) -> bool {
        // Also of a page that no server has: it is a step of a thread that goes through memory in order.
        let window = self.window(page);
        let wants = window > 1 && self.patient && has_copy && !self.has_room_for(window);
        self.patient &= !wants;
        wants
    }

    fn wait_for_more_room(&self) {
        self.pager.evictor.wake();
        let window = self.window.unwrap_or(1);
        self.pager.page_events.of(ROOM).wait(PATIENCE, || !self.has_room_for(window));
    }

    fn take_ahead(&mut self, page: u32) -> bool {
        let window = self.window(page);
        let taken = take_ahead(self.pager, self.range, page, window);
        if !taken {
            let state = self.pager.local.page(page);
            server_ahead(self.pager, self.range, page).wait_for_ahead(page, || state.seen().kind() == Kind::Coming);
        }
        taken
    }
}

fn wake_evictor(pager: &Pager) {
    if pager.local.room.free() < pager.local.room.low() {
        pager.evictor.wake();
    }
}

/// The event that threads without room sleep at: that of a page which is not special otherwise.
const ROOM: u32 = 63;

impl life::World for Pager {
    type Pages = &'static [Page];
    type Cells = &'static [Cell];

    fn local(&self) -> &Local<&'static [Page], &'static [Cell]> {
        &self.local
    }

    fn wake(&self, page: u32, count: usize) {
        self.page_events.wake_run(page, count);
    }

    fn wake_for_room(&self) {
        self.page_events.of(ROOM).wake();
    }
}

/// Claims pages behind one that is claimed, as absent as it, and no more than there is room for beyond the reserve. Returns how many, with it.
fn claim_run<'p>(pager: &'p Pager, page: u32, claims: &mut [Option<Claim<'p>>]) -> usize {
    let local = &pager.local;
    let room = 1 + local.room.take_up_to(claims.len() as u64 - 1, local.room.reserve()) as usize;
    let mut count = 1;
    while count < room {
        let state = local.page(page + count as u32);
        let seen = state.seen();
        if seen.kind() != Kind::Absent || !seen.has_copy() {
            break;
        }
        claims[count] = state.claim(seen);
        if claims[count].is_none() {
            break;
        }
        count += 1;
    }
    if count < room {
        life::give_room(pager, (room - count) as u64);
    }
    count
}

/// Fetches a page that servers have, and some behind it if the thread goes through memory in order.
fn fetch<'p>(fault: &Serving<'p>, page: u32, claim: Claim<'p>, window: usize) {
    let Serving { pager, range, .. } = *fault;
    let index = u64::from(page - range.first);
    let most = window.min(range.layout.run(index) as usize);
    let mut claims: [Option<Claim<'_>>; LONGEST] = [const { None }; LONGEST];
    claims[0] = Some(claim);
    let count = claim_run(pager, page, &mut claims[..most]);
    let span = range.span(page, count);
    // A write makes its own page dirty; those behind it are clean.
    let use_pages = |bytes: &[u8]| {
        let first = Span { pages: 1, ..span };
        let protect = life::Fault::protects(fault);
        if protect || count == 1 {
            return pager.kernel.copy_in(span, bytes, protect);
        }
        pager.kernel.copy_in(first, &bytes[..PAGE_SIZE], false)?;
        pager.kernel.copy_in(span.skip(1), &bytes[PAGE_SIZE..], true)
    };
    // While the server is at it. For one page the evictor is not woken before it has come: it could get the server's processor.
    let meanwhile = |held: &mut Held<'_>| {
        if count == most {
            ask_ahead(pager, range, page + count as u32, window, held);
        }
        if count > 1 {
            wake_evictor(pager);
        }
    };
    if let Err(error) = from_servers(pager, range, index, count as u32, meanwhile, use_pages) {
        unexplained("map a page that was fetched", range, page, error);
    }
    pager.counters.fetch_faults.fetch_add(1, Ordering::Relaxed);
    pager.counters.pages_fetched.fetch_add(count as u64, Ordering::Relaxed);
    // Not by value: the stack has room for one such array.
    life::install_all(pager, page, claims.iter_mut().take(count).filter_map(Option::take));
}

/// Gets pages from the first server that gives them. Does not return without. `meanwhile` is called once at most, between a request to
/// the first server and its answer.
fn from_servers(
    pager: &Pager,
    range: &Range,
    index: u64,
    count: u32,
    meanwhile: impl FnOnce(&mut Held<'_>),
    use_pages: impl Fn(&[u8]) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let timeout = pager.options.server_timeout.as_nanos() as u64;
    let mut meanwhile = Some(meanwhile);
    let mut failing_since = None;
    loop {
        let (mut reachable, mut busy) = (false, false);
        for copy in 0..=range.layout.replicas {
            let place = range.layout.place(index, copy);
            let server = &pager.servers[place.server];
            if server.lost() {
                continue;
            }
            let run = Fetch { first: place.page, count };
            // A second server is asked soon; a single one is waited for.
            let wait = if range.layout.replicas > 0 { timeout / 50 } else { timeout / 5 };
            let Some(mut held) = server.hold(wait) else {
                // Others have all its connections, each for no longer than a failure takes.
                (reachable, busy) = (true, true);
                continue;
            };
            match exchange(pager, &mut held, place.region, run, if copy == 0 { meanwhile.take() } else { None }) {
                Ok(length) => {
                    let Some(pages) = pager.opened(range.first + index as u32, place, held.pages(length)) else { continue };
                    pager.counters.replica_fetches.fetch_add(u64::from(copy > 0), Ordering::Relaxed);
                    return use_pages(pages);
                }
                Err(FetchError::Broken) => reachable = true,
                Err(FetchError::Checksum) => fatal(format_args!(
                    "memory server {}: pages of region {} from {} on came with a wrong checksum, twice",
                    server.name(),
                    place.region,
                    place.page
                )),
                Err(FetchError::Refused(code)) => {
                    crate::last_words::say(format_args!(
                        "memory server {} refuses region {} page {}: {}",
                        server.name(),
                        place.region,
                        place.page,
                        code.name()
                    ));
                    server.give_up();
                }
            }
        }
        if busy {
            continue;
        }
        let now = syscall::now();
        if !reachable || now - *failing_since.get_or_insert(now) > timeout.saturating_mul(2) {
            let place = range.layout.place(index, 0);
            fatal(format_args!(
                "memory server {} is lost, and nobody else has page {} of region {}; the program cannot go on",
                pager.servers[place.server].name(),
                place.page,
                place.region
            ));
        }
    }
}

/// One request and its answer, sent again once if that came with a wrong checksum. What comes first over the connection is seen to first.
fn exchange(
    pager: &Pager,
    held: &mut Held<'_>,
    region: u32,
    run: Fetch,
    meanwhile: Option<impl FnOnce(&mut Held<'_>)>,
) -> Result<usize, FetchError> {
    take_what_comes(pager, held);
    let request = held.ask(region, run)?;
    if let Some(meanwhile) = meanwhile {
        meanwhile(held);
    }
    let mut result = held.answer(&request);
    if result == Err(FetchError::Checksum) {
        take_what_comes(pager, held);
        result = held.ask(region, run).and_then(|request| held.answer(&request));
    }
    if result.is_err() {
        // No answer comes any more, so this gives them up.
        take_what_comes(pager, held);
    }
    result
}

/// The server that pages are asked for ahead of.
fn server_ahead<'a>(pager: &'a Pager, range: &Range, page: u32) -> &'a Server {
    &pager.servers[range.layout.place((page - range.first).into(), 0).server]
}

/// Asks for pages that nobody needs yet, from this one on, over the connection that is held if it is to their server. Does not wait
/// for anything: if there is no room, or no connection, nobody asks.
fn ask_ahead(pager: &Pager, range: &Range, page: u32, window: usize, held: &mut Held<'_>) {
    let index = page - range.first;
    if window < AHEAD_FROM || index >= range.pages {
        return;
    }
    let server = server_ahead(pager, range, page);
    let ask = |held: &mut Held<'_>| {
        let count = life::make_coming(pager, page, window.min(range.layout.run(index.into()) as usize));
        if count > 0 {
            let place = range.layout.place(index.into(), 0);
            if held.ask_ahead(page, place.region, Fetch { first: place.page, count: count as u32 }).is_err() {
                end_coming(pager, page, count, false);
            }
        }
    };
    if held.is_to(server) {
        ask(held);
    } else if !server.lost()
        && let Some(mut other) = server.hold_ready()
    {
        ask(&mut other);
    }
}

/// Ends that pages are Coming, by the thread that holds their connection: they are mapped, or stay absent.
fn end_coming(pager: &Pager, page: u32, count: usize, mapped: bool) {
    if let Err(page) = life::end_coming(pager, page, count, mapped) {
        fatal(format_args!("page {page} is not coming, and should be"));
    }
}

/// Puts pages in that were asked for ahead. If they do not come as they should they stay absent, and who needs them asks again.
fn take_in(pager: &Pager, held: &mut Held<'_>, ahead: &Ahead) -> bool {
    let (page, count) = (ahead.page, ahead.pages());
    let range = pager.ranges.of(page);
    let place = range.layout.place((page - range.first).into(), 0);
    let contents = held.answer_ahead(ahead).ok().and_then(|length| pager.opened(page, place, held.pages(length)));
    if let Some(contents) = contents {
        if let Err(error) = pager.kernel.copy_in(range.span(page, count), contents, true) {
            unexplained("map a page that was read ahead", range, page, error);
        }
        pager.counters.pages_fetched.fetch_add(count as u64, Ordering::Relaxed);
    }
    let came = contents.is_some();
    end_coming(pager, page, count, came);
    came
}

/// Sees to what was asked for ahead over a connection, so that what is asked for next is answered next.
fn take_what_comes(pager: &Pager, held: &mut Held<'_>) {
    if let Some(ahead) = held.take_ahead() {
        take_in(pager, held, &ahead);
    }
}

/// Puts in the pages that come with this one, while the next ones are under way already. False if another thread is at it.
fn take_ahead(pager: &Pager, range: &Range, page: u32, window: usize) -> bool {
    let Some((mut held, ahead)) = server_ahead(pager, range, page).hold_ahead(page) else { return false };
    ask_ahead(pager, range, ahead.page + ahead.pages() as u32, window, &mut held);
    wake_evictor(pager);
    let came = take_in(pager, &mut held, &ahead);
    pager.counters.fetch_faults.fetch_add(came.into(), Ordering::Relaxed);
    if !came {
        take_what_comes(pager, &mut held);
    }
    true
}

/// Keeper, and who unmaps a range: no page that comes with this one stays Coming. False if another thread is at it.
pub fn give_up_ahead(pager: &Pager, page: u32) -> bool {
    let Some((mut held, ahead)) = server_ahead(pager, pager.ranges.of(page), page).hold_ahead(page) else { return false };
    // The answer has to be taken from the connection; nobody has asked for the pages.
    let _ = held.answer_ahead(&ahead);
    end_coming(pager, ahead.page, ahead.pages(), false);
    true
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
