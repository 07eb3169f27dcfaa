// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Makes lost copies again: a thread that takes a lost server in when it answers again, and copies to it, page by page, what it should have
//! from the other server that has it. With a replica only.
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

use crate::last_words::say;
use crate::layout::Place;
use crate::link::{Channel, FETCH_CONNECTIONS, LinkError, Payload, Server};
use crate::page::Kind;
use crate::pager::{Pager, Range};
use crate::write::WriteRequest;

/// Between two looks whether a lost server answers.
const INTERVAL: Duration = Duration::from_millis(500);

/// Pages copied at once. The evictor waits for no longer than that takes.
const BATCH: u64 = 64;

/// The thread.
pub fn run(pager: &'static Pager) {
    let number = FETCH_CONNECTIONS as u16;
    let mut fetch: Vec<Channel> = pager.servers.iter().map(|_| Channel::numbered(ChannelKind::Fetch, number)).collect();
    while !pager.stopping.load(Ordering::Relaxed) {
        for (index, server) in pager.servers.iter().enumerate() {
            if server.takes_writes() || take_in(pager, index).is_err() {
                continue;
            }
            fetch[index].close();
            say(format_args!("memory server {} is there again; it gets copies of its pages", server.name));
            match fill(pager, index, &mut fetch) {
                Some(pages) if server.end_filling() => {
                    say(format_args!("memory server {} has all copies again, {pages} pages; any one server may be lost", server.name));
                }
                _ => say(format_args!("memory server {} is lost again before it had all copies", server.name)),
            }
        }
        std::thread::sleep(INTERVAL);
    }
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Connects to a lost server, and makes its regions anew. Holds no lock that the evictor or the keeper needs while it waits for the server.
fn take_in(pager: &Pager, index: usize) -> Result<(), LinkError> {
    let server = &pager.servers[index];
    if !server.forget() {
        return Err(LinkError::Broken("a thread still has a connection".to_owned()));
    }
    // Nobody else uses those of a lost server. Higher generations than before: nothing that was sent earlier can arrive any more.
    let mut control = std::mem::replace(&mut lock(&pager.control)[index], Channel::new(ChannelKind::Control));
    let mut write = std::mem::replace(&mut lock(&pager.evicting)[index], Channel::new(ChannelKind::Write));
    let opened = control.open(server).and_then(|()| write.open(server));
    let one_at_a_time = lock(&pager.mapping);
    let made = opened.and_then(|()| pager.ranges().try_for_each(|range| remake(server, index, range, &mut control)));
    if made.is_err() {
        control.close();
        write.close();
    }
    let mut writing = lock(&pager.evicting);
    writing[index] = write;
    lock(&pager.control)[index] = control;
    if made.is_ok() {
        server.begin_filling();
    }
    drop(writing);
    drop(one_at_a_time);
    made
}

/// The regions of a range at a server, without what was in them.
fn remake(server: &Server, index: usize, range: &Range, control: &mut Channel) -> Result<(), LinkError> {
    for copy in 0..=range.layout.replicas {
        let (region, pages) = (range.layout.region(copy), range.layout.region_pages(index, copy));
        if pages == 0 {
            continue;
        }
        let wrong = |what: &str| LinkError::Broken(format!("memory server {}: {what} of region {region}", server.name));
        let (header, payload) = control.ask(server, Op::RegionUnmap, region, Payload::of(&[]))?;
        match Message::decode(&header, &payload) {
            Ok(Message::RegionUnmapped | Message::Error { code: ErrorCode::UnknownRegion, .. }) => {}
            _ => return Err(wrong("REGION_UNMAP")),
        }
        // One that has just started has not all of its memory yet: it is asked again later.
        let (header, payload) = control.ask(server, Op::RegionMap, region, Payload::of(&[&pages.to_le_bytes()]))?;
        match Message::decode(&header, &payload) {
            Ok(Message::RegionMapped { pages: got }) if got == pages => {}
            _ => return Err(wrong("REGION_MAP")),
        }
    }
    Ok(())
}

/// Copies all that the server should have. How many pages; none if it is lost.
fn fill(pager: &Pager, index: usize, fetch: &mut [Channel]) -> Option<u64> {
    let mut copied = 0;
    for range in pager.ranges() {
        let mut page = 0;
        while page < u64::from(range.pages) {
            let count = range.layout.run(page).min(BATCH);
            let copy = (0..=range.layout.replicas).find(|&copy| range.layout.place(page, copy).server == index);
            if let Some(copy) = copy {
                let begin = Instant::now();
                let places = (range.layout.place(page, 1 - copy), range.layout.place(page, copy));
                copied += copy_run(pager, range, page, count, places, fetch)?;
                std::thread::sleep(begin.elapsed());
            }
            page += count;
        }
    }
    Some(copied)
}

/// Copies a run of a range's pages from one place to another. How many; none if the server is lost, or the program ends.
fn copy_run(pager: &Pager, range: &Range, first: u64, count: u64, (from, to): (Place, Place), fetch: &mut [Channel]) -> Option<u64> {
    let there = |offset: u64| {
        let seen = pager.pages[(u64::from(range.first) + first + offset) as usize].seen();
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
            let request = WriteRequest::new(&group, &contents);
            let begun = request.begin(pager, &mut writing[to.server]);
            return request.finish(pager, &mut writing[to.server], begun).then_some(group.len() as u64);
        }
        // The keeper sees to it: it ends the program if that server is lost, too.
        drop(writing);
        std::thread::sleep(INTERVAL / 10);
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
