// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Makes lost copies again: a thread that takes a lost server in when it answers again, or a spare one in its place ([`crate::spare`]), and copies
//! to it, page by page, what it should have from the other server that has it. With a replica only.
//!
//! Whoever comes back may be empty, or may have pages of before, which are old: its regions are made anew in any case. From then on it is
//! *filling*: each page that is written goes to it, too, and none is fetched from it. A page is copied under the lock that the evictor holds
//! while it writes, so that what is copied is not older than what was written meanwhile. Pages that no server has are zeros on both.
//!
//! The copies go over the channel of the evictor's writes, or what was written over another one could arrive after them. No more than half
//! of the time is spent with them: the evictor has the other half.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lull_far_protocol::{ChannelKind, ErrorCode, Fetch, Message, Op};

use crate::PAGE_SIZE;
use crate::last_words::say;
use crate::layout::Place;
use crate::link::{Channel, FETCH_CONNECTIONS, LinkError, Payload, Server};
use crate::page::Kind;
use crate::pager::{Pager, twin};
use crate::ranges::Range;
use crate::retry::{self, Retry};
use crate::spare::Places;
use crate::syscall;
use crate::write::WriteRequest;

/// Pages copied at once. The evictor waits for no longer than that takes.
const BATCH: u64 = 64;

/// How long to wait until the keeper has seen what is wrong with a server.
const A_WHILE: Duration = Duration::from_millis(50);

/// The thread.
pub fn run(pager: &'static Pager) {
    let number = FETCH_CONNECTIONS as u16;
    let mut fetch: Vec<Channel> = pager.servers.iter().map(|_| Channel::numbered(ChannelKind::Fetch, number)).collect();
    let mut retries: Vec<Retry> = pager.servers.iter().map(|_| Retry::default()).collect();
    let mut places = Places::new(pager.servers.len(), pager.options.spares.len());
    while !pager.stopping.load(Ordering::Relaxed) {
        for (index, retry) in retries.iter_mut().enumerate() {
            if !pager.servers[index].takes_writes() && retry.is_due(syscall::now()) {
                try_one(pager, index, retry, &mut fetch, &mut places);
            }
        }
        std::thread::sleep(Duration::from_nanos(retry::INTERVAL));
    }
}

/// Takes a lost server in, if it is there, and gives it its copies. If it is not, it is looked for elsewhere the next time.
fn try_one(pager: &Pager, index: usize, retry: &mut Retry, fetch: &mut [Channel], places: &mut Places) {
    let server = &pager.servers[index];
    let begin = syscall::now();
    match open(pager, index).and_then(|opened| admit(pager, index, opened)) {
        Ok(()) => {}
        Err(Why::NotYet) => return retry.failed(begin, syscall::now(), false),
        Err(why) => {
            if let Why::Failed(error) = why
                && retry.is_new(&error.to_string())
            {
                match server.instead_of() {
                    None => say(format_args!("{error}; it is lost, and tried again")),
                    Some(lost) => say(format_args!("{error}; it does not take the place of memory server {lost}")),
                }
            }
            if let Some(place) = places.next(index, |place| server.believes(place)) {
                server.move_to(place);
            }
            return retry.failed(begin, syscall::now(), false);
        }
    }
    fetch[index].close();
    match server.instead_of() {
        None => say(format_args!("memory server {} is there again; it gets copies of its pages", server.name())),
        Some(lost) => {
            say(format_args!("memory server {} takes the place of memory server {lost}; it gets copies of its pages", server.name()));
        }
    }
    match fill(pager, index, fetch, std::thread::sleep) {
        Some(pages) if server.end_filling() => {
            *retry = Retry::default();
            say(format_args!("memory server {} has all copies again, {pages} pages; any one server may be lost", server.name()));
        }
        // Who has the other copies is lost: the keeper ends the program. Or the program ends.
        _ if server.takes_writes() => {}
        _ => {
            retry.failed(begin, syscall::now(), true);
            say(format_args!("memory server {} is lost again before it had all copies", server.name()));
        }
    }
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a lost server is not taken in.
#[derive(Debug)]
enum Why {
    /// It will be soon: a thread still has a connection, or the server has not all of its memory yet.
    NotYet,
    /// Who is there is not believed any more.
    Liar,
    /// Something is wrong.
    Failed(LinkError),
}

impl From<LinkError> for Why {
    fn from(error: LinkError) -> Why {
        Why::Failed(error)
    }
}

/// Connections to a server that has been lost. The lock: no range is mapped meanwhile.
struct OpenedAgain<'a> {
    control: Channel,
    write: Channel,
    /// Whose regions were made.
    ranges: Vec<&'static Range>,
    _mapping: std::sync::MutexGuard<'a, ()>,
}

/// Connects to a lost server, and makes its regions anew. Holds no lock that the evictor or the keeper needs while it waits for the server.
fn open(pager: &Pager, index: usize) -> Result<OpenedAgain<'_>, Why> {
    let server = &pager.servers[index];
    if !server.forget() {
        return Err(Why::NotYet);
    }
    if !server.is_believed() {
        return Err(Why::Liar);
    }
    // Nobody else uses those of a lost server. Higher generations than before: nothing that was sent earlier can arrive any more.
    let mut control = std::mem::replace(&mut lock(&pager.control)[index], Channel::new(ChannelKind::Control));
    let mut write = std::mem::replace(&mut lock(&pager.evicting)[index], Channel::new(ChannelKind::Write));
    let opened = open_both(pager, index, &mut control, &mut write);
    let mapping = lock(&pager.mapping);
    let ranges: Vec<&'static Range> = pager.mapped_ranges().collect();
    let made = opened.and_then(|()| ranges.iter().try_for_each(|range| remake(server, index, range, &mut control)));
    if let Err(why) = made {
        control.close();
        write.close();
        drop(put_back(pager, index, control, write));
        return Err(why);
    }
    Ok(OpenedAgain { control, write, ranges, _mapping: mapping })
}

fn open_both(pager: &Pager, index: usize, control: &mut Channel, write: &mut Channel) -> Result<(), Why> {
    let server = &pager.servers[index];
    control.open(server)?;
    // Whoever answers there now may be the one that has the other copies.
    if let Some(twin) = twin(&pager.servers, index) {
        return Err(LinkError::Refused(format!("memory server {} is memory server {} by another name", server.name(), twin.name())).into());
    }
    Ok(write.open(server)?)
}

/// Under the lock of the channels for writes, which it returns: no write is under way then that they should have carried.
fn put_back(pager: &Pager, index: usize, control: Channel, write: Channel) -> std::sync::MutexGuard<'_, Vec<Channel>> {
    let mut writing = lock(&pager.evicting);
    writing[index] = write;
    lock(&pager.control)[index] = control;
    writing
}

/// From now on it gets what is written.
fn admit(pager: &Pager, index: usize, opened: OpenedAgain<'_>) -> Result<(), Why> {
    let server = &pager.servers[index];
    let OpenedAgain { control, write, ranges, _mapping } = opened;
    let writing = put_back(pager, index, control, write);
    server.begin_filling();
    // Who unmaps a range frees its regions under that lock, at servers that take writes: either he finds this one, or its pages are Gone now.
    let gone = |range: &&&Range| pager.local.page(range.first).seen().kind() == Kind::Gone;
    ranges.iter().filter(gone).for_each(|range| pager.free_regions_at(index, &range.layout));
    drop(writing);
    Ok(())
}

/// The regions of a range at a server, without what was in them.
fn remake(server: &Server, index: usize, range: &Range, control: &mut Channel) -> Result<(), Why> {
    for copy in 0..=range.layout.replicas {
        let (region, pages) = (range.layout.region(copy), range.layout.region_pages(index, copy));
        if pages == 0 {
            continue;
        }
        let refused = |op: &str, text: &dyn std::fmt::Display| {
            Why::Failed(LinkError::Refused(format!("memory server {}: {op} of region {region}: {text}", server.name())))
        };
        let (header, payload) = control.ask(server, Op::RegionUnmap, region, Payload::of(&[]))?;
        match Message::decode(&header, &payload) {
            Ok(Message::RegionUnmapped | Message::Error { code: ErrorCode::UnknownRegion, .. }) => {}
            other => return Err(refused("REGION_UNMAP", &told(other))),
        }
        // One that has just started has not all of its memory yet: it is asked again later.
        let (header, payload) = control.ask(server, Op::RegionMap, region, Payload::of(&[&pages.to_le_bytes()]))?;
        match Message::decode(&header, &payload) {
            Ok(Message::RegionMapped { pages: got }) if got == pages => {}
            Ok(Message::Error { code: ErrorCode::NotYet, .. }) => return Err(Why::NotYet),
            other => return Err(refused("REGION_MAP", &told(other))),
        }
    }
    Ok(())
}

/// An answer that is not the right one, in words.
fn told(answer: Result<Message<'_>, lull_far_protocol::DecodeError>) -> String {
    match answer {
        Ok(Message::Error { code, text }) => format!("{}: {text}", code.name()),
        Ok(other) => format!("it answers with {}", other.op().name()),
        Err(error) => error.to_string(),
    }
}

/// Copies all that the server should have, [`BATCH`] pages at most in a step, after each of which it rests for as long as that took: network and
/// servers have the other half of the time for who waits for a page. How many pages; none if it is lost.
fn fill(pager: &Pager, index: usize, fetch: &mut [Channel], mut rest: impl FnMut(Duration)) -> Option<u64> {
    let mut copied = 0;
    for range in pager.mapped_ranges() {
        let mut page = 0;
        while page < u64::from(range.pages) {
            let count = range.layout.run(page).min(BATCH);
            let copy = (0..=range.layout.replicas).find(|&copy| range.layout.place(page, copy).server == index);
            if let Some(copy) = copy {
                let begin = Instant::now();
                let places = (range.layout.place(page, 1 - copy), range.layout.place(page, copy));
                copied += copy_run(pager, range, page, count, places, fetch)?;
                rest(begin.elapsed());
            }
            page += count;
        }
    }
    Some(copied)
}

/// Copies a run of a range's pages from one place to another. How many; none if the server is lost, or the program ends.
fn copy_run(pager: &Pager, range: &Range, first: u64, count: u64, (from, to): (Place, Place), fetch: &mut [Channel]) -> Option<u64> {
    let there = |offset: u64| {
        let seen = pager.local.page((u64::from(range.first) + first + offset) as u32).seen();
        seen.has_copy() && seen.kind() != Kind::Gone
    };
    loop {
        let mut writing = lock(&pager.evicting);
        // A source that is lost may have missed what only the filling server has acknowledged: what it has is old. Under the lock no write
        // comes between this look and the copy. The keeper ends the program, for nobody has all pages.
        let may_copy = pager.servers[to.server].takes_writes() && !pager.servers[from.server].lost();
        if !may_copy || pager.stopping.load(Ordering::Relaxed) {
            return None;
        }
        let group: Vec<(Place, usize)> =
            (0..count).filter(|&offset| there(offset)).map(|offset| (Place { page: to.page + offset, ..to }, offset as usize)).collect();
        if group.is_empty() {
            return Some(0);
        }
        if let Some(contents) = read(&pager.servers[from.server], &mut fetch[from.server], from, count as u32) {
            for (_, offset) in &group {
                let offset = *offset as u64;
                // What is wrong is this server's fault, and would be the other one's later. A copy: it goes on as it is. The keeper ends the
                // program then: nobody else has all pages.
                let page = (u64::from(range.first) + first + offset) as u32;
                let mut content = contents[offset as usize * PAGE_SIZE..][..PAGE_SIZE].to_vec();
                pager.opened(page, Place { page: from.page + offset, ..from }, &mut content)?;
            }
            let request = WriteRequest::new(&group, &contents);
            let begun = request.begin(pager, &mut writing[to.server]);
            pager.counters.pages_copied.fetch_add(group.len() as u64, Ordering::Relaxed);
            return request.finish(pager, &mut writing[to.server], begun).then_some(group.len() as u64);
        }
        // The keeper sees to it: it ends the program if that server is lost, too.
        drop(writing);
        std::thread::sleep(A_WHILE);
    }
}

/// Pages of a server, one behind the other.
fn read(server: &Server, channel: &mut Channel, place: Place, count: u32) -> Option<Vec<u8>> {
    let run = Fetch { first: place.page, count };
    let (header, payload) = channel.ask(server, Op::Fetch, place.region, Payload::of(&[&run.payload()])).ok()?;
    match Message::decode(&header, &payload) {
        Ok(Message::Data(data)) if data.run == run => Some(data.bytes.to_vec()),
        _ => {
            channel.close();
            None
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::kernel::{FaultMode, Kernel};
    use crate::options::Options;
    use lull_memd::{Config, Server as MemoryServer};

    const PAGES: usize = 64;

    /// Two servers, and a pager without its threads, with a range of some pages; none if this machine does not permit it.
    pub fn pager() -> Option<(Vec<MemoryServer>, &'static Pager, &'static Range)> {
        if let Err(error) = Kernel::open(FaultMode::InThread) {
            eprintln!("SKIPPED a test of copies: {error}");
            return None;
        }
        let config = Config::new("127.0.0.1:0".parse().unwrap(), 8 << 20);
        let servers: Vec<MemoryServer> = (0..2).map(|_| MemoryServer::start(config.clone()).unwrap()).collect();
        let names = servers.iter().map(|server| server.address.to_string()).collect();
        let options = Options { replicas: 1, ..Options::new(names, 4 << 20, 1 << 20) };
        let pager = Pager::connect(options).unwrap();
        let range = pager.map(PAGES * crate::PAGE_SIZE, None).unwrap();
        Some((servers, pager, range))
    }

    /// Writes all pages to one server, and to it only.
    fn write(pager: &Pager, range: &Range, server: usize, byte: u8) {
        let copy = (0..2).find(|&copy| range.layout.place(0, copy).server == server).unwrap();
        let contents = vec![byte; BATCH as usize * crate::PAGE_SIZE];
        let pages: Vec<u64> = (0..range.pages.into()).collect();
        for pages in pages.chunks(BATCH as usize) {
            let group: Vec<(Place, usize)> = pages.iter().map(|&page| (range.layout.place(page, copy), 0)).collect();
            let request = WriteRequest::new(&group, &contents);
            let mut writing = lock(&pager.evicting);
            let begun = request.begin(pager, &mut writing[server]);
            assert!(request.finish(pager, &mut writing[server], begun));
        }
    }

    /// That servers hold all pages.
    fn has_copies(pager: &Pager, range: &Range) {
        for page in &pager.local.pages[range.first as usize..][..range.pages as usize] {
            page.claim(page.seen()).unwrap().unmapped(true);
            assert!(page.begin_writing(page.seen()));
            page.claim_written().unwrap().absent();
        }
    }

    fn first_byte(pager: &Pager, range: &Range, server: usize, channel: u16) -> u8 {
        let copy = (0..2).find(|&copy| range.layout.place(0, copy).server == server).unwrap();
        let mut channel = Channel::numbered(ChannelKind::Fetch, channel);
        read(&pager.servers[server], &mut channel, range.layout.place(0, copy), 1).unwrap()[0]
    }

    /// Both copies are on the way: one server fills, and the other, which has been lost meanwhile, still answers, with what is old by now.
    #[test]
    fn nothing_is_copied_from_a_server_that_is_lost() {
        let Some((_servers, pager, range)) = pager() else { return };
        has_copies(pager, range);
        let mut fetch: Vec<Channel> = (0..2).map(|_| Channel::numbered(ChannelKind::Fetch, 8)).collect();
        write(pager, range, 1, 1);
        pager.servers[0].give_up();
        pager.servers[0].begin_filling();
        assert_eq!(fill(pager, 0, &mut fetch, |_| ()), Some(PAGES as u64));
        assert_eq!(first_byte(pager, range, 0, 9), 1);
        // Only the filling one has acknowledged what is new.
        write(pager, range, 0, 2);
        pager.servers[1].give_up();
        assert_eq!(fill(pager, 0, &mut fetch, |_| ()), None);
        assert_eq!(first_byte(pager, range, 0, 10), 2, "an old page went over a new one");
    }

    /// Copies leave room for who waits for a page: they come in small steps, after each of which the thread rests for as long as it took.
    #[test]
    fn lost_copies_are_made_again_in_small_steps_with_a_rest_after_each() {
        const MORE: u64 = 150;
        let Some((_servers, pager, _range)) = pager() else { return };
        let range = pager.map(MORE as usize * crate::PAGE_SIZE, None).unwrap();
        has_copies(pager, range);
        write(pager, range, 1, 1);
        pager.servers[0].give_up();
        pager.servers[0].begin_filling();
        let mut fetch: Vec<Channel> = (0..2).map(|_| Channel::numbered(ChannelKind::Fetch, 8)).collect();
        let copied = || pager.counters.pages_copied.load(Ordering::Relaxed);
        let (begin, mut last, mut steps, mut rests) = (Instant::now(), copied(), Vec::new(), Duration::ZERO);
        let rest = |time: Duration| {
            assert!(time > Duration::ZERO);
            rests += time;
            steps.push(copied() - last);
            last = copied();
        };
        assert_eq!(fill(pager, 0, &mut fetch, rest), Some(MORE));
        let took = begin.elapsed();
        // The first step is of the range without pages.
        assert_eq!(steps, [0, 64, 64, 22]);
        // A rest is as long as its step, and no step is counted twice.
        assert!(rests <= took, "{rests:?} of {took:?}");
    }

    /// A range that is unmapped while the regions of a lost server are made anew gives them back.
    #[test]
    fn a_server_that_comes_back_keeps_no_region_of_a_range_that_is_gone() {
        let Some((servers, pager, range)) = pager() else { return };
        let of_client = |server: usize| servers[server].used();
        assert!(of_client(0) > 0 && of_client(1) > 0);
        pager.servers[0].give_up();
        let opened = open(pager, 0).unwrap();
        pager.unmap(range.base).unwrap();
        assert!(of_client(0) > 0 && of_client(1) == 0);
        admit(pager, 0, opened).unwrap();
        assert_eq!(of_client(0), 0);
    }

    /// The one that has the other copies, reached where the lost one was, is not the lost one.
    #[test]
    fn one_server_is_not_taken_for_two() {
        let Some((servers, _, _)) = pager() else { return };
        let port = servers[0].address.port();
        let names = vec![format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        let options = Options { replicas: 1, ..Options::new(names, 4 << 20, 1 << 20) };
        let text = Pager::connect(options).map(drop).unwrap_err().to_string();
        let want = format!("memory servers 127.0.0.1:{port} and localhost:{port} are one server: name each server once");
        assert_eq!(text, want);
    }
}
