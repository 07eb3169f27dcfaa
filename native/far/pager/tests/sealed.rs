// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Servers that want to read pages, change them, or give others than they were given.

#[path = "common/between.rs"]
mod between;
mod common;

use between::{between, pass_on, read_frame, write_frame};
use common::{Outcome, Process, Run, Running, skipped};
use lull_far_protocol::{ChannelKind, Fetch, Header, Message, PAGE_SIZE};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const PAGES: u64 = 4 * 1024;

fn command(servers: &str, pattern: &str, operations: u64, replicas: u32, seal: bool) -> Command {
    let run = Run { servers, local_pages: 1024, pages: PAGES, pattern, threads: 2, operations, mode: 0, replicas, timeout_ms: 5000 };
    let mut command = run.command();
    if seal {
        command.env("LULL_FAR_SEAL", "1");
    }
    command
}

fn run(servers: &str, pattern: &str, operations: u64, replicas: u32, seal: bool) -> Running {
    Running::start(command(servers, pattern, operations, replicas, seal))
}

/// What a hostile server makes of a page that it is asked for, if anything: the pages that it has given before, the place, the content.
type Harm = fn(&HashMap<(u32, u64), Vec<u8>>, (u32, u64), &mut [u8]) -> bool;

/// A server that gives the first page of an answer as `harm` makes it, with a right checksum. Counts how often.
fn hostile(to: SocketAddr, harm: Harm) -> (SocketAddr, &'static AtomicU64) {
    let harmed: &'static AtomicU64 = Box::leak(Box::default());
    let given = Mutex::new(HashMap::new());
    let answers = move |kind, from: &mut std::net::TcpStream, to: &mut std::net::TcpStream| {
        if kind != ChannelKind::Fetch {
            return pass_on(from, to);
        }
        loop {
            let (header, payload) = read_frame(from)?;
            let (header, payload) = change(harm, &given, harmed, header, payload);
            write_frame(to, &header, &payload)?;
        }
    };
    (between(to, answers).address, harmed)
}

fn change(
    harm: Harm,
    given: &Mutex<HashMap<(u32, u64), Vec<u8>>>,
    harmed: &AtomicU64,
    header: Header,
    mut payload: Vec<u8>,
) -> (Header, Vec<u8>) {
    let Ok(Message::Data(data)) = Message::decode(&header, &payload) else { return (header, payload) };
    let Fetch { first, .. } = data.run;
    let at = payload.len() - data.bytes.len();
    let mut given = given.lock().unwrap();
    let place = (header.region, first);
    let page = payload[at..at + PAGE_SIZE].to_vec();
    if harm(&given, place, &mut payload[at..at + PAGE_SIZE]) {
        harmed.fetch_add(1, Ordering::Relaxed);
    }
    given.entry(place).or_insert(page);
    (header, payload)
}

/// The page as it was when it was given first.
fn old(given: &HashMap<(u32, u64), Vec<u8>>, place: (u32, u64), content: &mut [u8]) -> bool {
    let Some(before) = given.get(&place).filter(|before| before[..] != *content) else { return false };
    content.copy_from_slice(before);
    true
}

fn changed(given: &HashMap<(u32, u64), Vec<u8>>, _: (u32, u64), content: &mut [u8]) -> bool {
    let harms = given.len() > 10;
    content[2000] ^= u8::from(harms) << 4;
    harms
}

fn another(given: &HashMap<(u32, u64), Vec<u8>>, place: (u32, u64), content: &mut [u8]) -> bool {
    let Some((_, other)) = given.iter().find(|(other, _)| **other != place) else { return false };
    content.copy_from_slice(other);
    true
}

#[test]
fn a_server_that_gives_other_pages_than_it_was_given_ends_the_program_with_its_name() {
    if skipped(0, "hostile servers") {
        return;
    }
    let server = Process::start("127.0.0.1:0");
    for (what, harm) in [("old", old as Harm), ("changed", changed), ("another", another)] {
        let (address, harmed) = hostile(server.1, harm);
        let Outcome { code, stderr, .. } = run(&address.to_string(), "random", 1 << 40, 0, true).finish();
        assert_eq!(code, Some(86), "{what}: {stderr}");
        let want = format!("lull-far: memory server {address} gives page ");
        assert!(stderr.starts_with(&want) && stderr.contains(" not as it was written last"), "{what}: {stderr}");
        assert!(!stderr.contains("should be"), "{what}: a wrong word was read: {stderr}");
        assert!(harmed.load(Ordering::Relaxed) > 0, "{what}: nothing was done");
    }
    // Pages that are not sealed are believed: the program reads what the server likes.
    let (address, _) = hostile(server.1, old);
    let Outcome { code, stderr, .. } = run(&address.to_string(), "random", 8000, 0, false).finish();
    assert!(code == Some(1) && stderr.contains("should be"), "{stderr}");
}

/// A page of zeros but for one word, as the program has them, is seen on the way, and in the server, only if it is not sealed.
#[test]
fn nobody_on_the_way_reads_a_page() {
    if skipped(0, "who listens") {
        return;
    }
    let server = Process::start("127.0.0.1:0");
    for seal in [false, true] {
        let readable: &'static AtomicU64 = Box::leak(Box::default());
        let seen: &'static AtomicU64 = Box::leak(Box::default());
        let listening = between(server.1, move |kind, from, to| {
            if kind != ChannelKind::Fetch {
                return pass_on(from, to);
            }
            loop {
                let (header, payload) = read_frame(from)?;
                seen.fetch_add(1, Ordering::Relaxed);
                let is_readable = payload.chunks_exact(64).any(|bytes| bytes == [0; 64]);
                readable.fetch_add(is_readable.into(), Ordering::Relaxed);
                write_frame(to, &header, &payload)?;
            }
        });
        run(&listening.address.to_string(), "shared", 6000, 0, seal).finish().is_right(PAGES);
        let (seen, readable) = (seen.load(Ordering::Relaxed), readable.load(Ordering::Relaxed));
        assert!(seen > 100 && readable == if seal { 0 } else { seen }, "{readable} of {seen} answers can be read, sealed: {seal}");
    }
}

/// Copies that are made again are sealed as they were.
#[test]
fn sealed_pages_survive_the_loss_of_either_server() {
    if skipped(0, "sealed pages and lost servers") {
        return;
    }
    let mut servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
    let names = servers.each_ref().map(|server| server.1.to_string());
    let mut workload = run(&names.join(","), "random", 1 << 40, 1, true);
    servers[0].kill();
    workload.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", names[0]));
    servers[0] = Process::start(&names[0]);
    workload.wait_until_it_says(&format!("memory server {} has all copies again", names[0]));
    servers[1].kill();
    workload.wait_until_it_says("is lost; its pages are on one server only");
    workload.stop();
    workload.finish().is_right(PAGES);
}

/// The other one has the right page; the liar is asked for nothing any more, also when it answers again. Both lie: the program ends.
#[test]
fn with_a_replica_a_server_that_lies_is_left() {
    if skipped(0, "a hostile server beside an honest one") {
        return;
    }
    let servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
    let (liar, harmed) = hostile(servers[0].1, old);
    let mut workload = run(&format!("{liar},{}", servers[1].1), "random", 1 << 40, 1, true);
    workload.wait_until_it_says("not as it was written last: it is changed, old, or another one; it is asked for nothing any more");
    workload.wait_until_it_says(&format!("memory server {liar} is lost; its pages are on one server only"));
    // It would be taken in within half a second.
    std::thread::sleep(Duration::from_millis(1500));
    workload.stop();
    let outcome = workload.finish();
    assert!(!outcome.stderr.contains("is there again"), "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with(&format!("lull-far: memory server {liar} gives page ")), "{}", outcome.stderr);
    assert!(harmed.load(Ordering::Relaxed) > 0, "nothing was done");
    outcome.is_right(PAGES);
    let liars = servers.each_ref().map(|server| hostile(server.1, changed).0);
    let Outcome { code, stderr, .. } = run(&liars.map(|liar| liar.to_string()).join(","), "random", 1 << 40, 1, true).finish();
    assert!(code == Some(86) && liars.iter().all(|liar| stderr.contains(&format!("memory server {liar} gives page "))), "{stderr}");
    assert!(!stderr.contains("should be"), "a wrong word was read: {stderr}");
}

/// A spare server takes the place of one that lies, which is never taken in again; then the other one may be lost.
#[test]
fn a_spare_server_takes_the_place_of_one_that_lies() {
    if skipped(0, "a hostile server and a spare one") {
        return;
    }
    let mut servers = [(); 3].map(|()| Process::start("127.0.0.1:0"));
    let (liar, _) = hostile(servers[0].1, old);
    let mut command = command(&format!("{liar},{}", servers[1].1), "random", 1 << 40, 1, true);
    command.env("LULL_FAR_SPARES", servers[2].1.to_string());
    let mut workload = Running::start(command);
    workload.wait_until_it_says("not as it was written last");
    workload.wait_until_it_says(&format!("memory server {} takes the place of memory server {liar}", servers[2].1));
    workload.wait_until_it_says(&format!("memory server {} has all copies again", servers[2].1));
    servers[1].kill();
    workload.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", servers[1].1));
    workload.stop();
    workload.finish().is_right(PAGES);
}
