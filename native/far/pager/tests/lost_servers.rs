// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Servers that are killed, restarted, full, or of another kind; connections that break and flip bits.

#[path = "common/between.rs"]
mod between;
mod common;

use between::{Between, between, pass_on, read_frame, write_frame};
use common::{Outcome, Process, Run, Running, server, skipped};
use lull_far_protocol::{ChannelKind, HEADER_LEN, Message, WriteAck};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const PAGES: u64 = 8 * 1024;

fn run(servers: &str, operations: u64, replicas: u32, timeout_ms: u32) -> Running {
    run_pattern("random", servers, operations, replicas, timeout_ms)
}

fn run_pattern(pattern: &str, servers: &str, operations: u64, replicas: u32, timeout_ms: u32) -> Running {
    let run = Run { servers, local_pages: 2048, pages: PAGES, pattern, threads: 2, operations, mode: 0, replicas, timeout_ms };
    run.start()
}

#[test]
fn a_killed_server_without_a_replica_ends_the_program_with_its_name() {
    if skipped(0, "a killed server") {
        return;
    }
    let mut first = Process::start("127.0.0.1:0");
    let second = Process::start("127.0.0.1:0");
    let workload = run(&format!("{},{}", first.1, second.1), 1 << 40, 0, 1500);
    std::thread::sleep(Duration::from_millis(500));
    first.kill();
    let Outcome { code, stderr, stdout, .. } = workload.finish();
    assert_eq!(code, Some(86), "{stderr}");
    assert!(stderr.contains(&format!("memory server {} is lost, and nobody else has ", first.1)), "{stderr}");
    assert!(!stderr.contains("should be") && stdout.is_empty(), "a wrong page was read: {stderr}");
}

#[test]
fn a_restarted_server_is_a_lost_one() {
    if skipped(0, "a restarted server") {
        return;
    }
    let mut server = Process::start("127.0.0.1:0");
    let name = server.1.to_string();
    let workload = run(&name, 1 << 40, 0, 60_000);
    std::thread::sleep(Duration::from_millis(500));
    server.kill();
    let again = Process::start(&name);
    let Outcome { code, stderr, .. } = workload.finish();
    assert_eq!(code, Some(86), "{stderr}");
    assert!(stderr.contains("was restarted: what it held is gone"), "{stderr}");
    assert!(!stderr.contains("should be"), "a wrong page was read: {stderr}");
    drop(again);
}

fn signal(server: &Process, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &server.0.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_server_that_hangs_for_a_while_is_waited_for() {
    if skipped(0, "a server that hangs for a while") {
        return;
    }
    let servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
    let workload = run(&format!("{},{}", servers[0].1, servers[1].1), 40_000, 0, 120_000);
    std::thread::sleep(Duration::from_millis(300));
    signal(&servers[0], "STOP");
    // Longer than a connection may stand still, so that all are opened anew, while the server still has what came before.
    std::thread::sleep(Duration::from_secs(6));
    signal(&servers[0], "CONT");
    let outcome = workload.finish();
    outcome.is_right(PAGES);
    assert!(outcome.stderr.contains("; threads that need it wait"), "{}", outcome.stderr);
}

/// A program that stood for longer than a server may be silent, and finds all its connections ended, as behind a balancer or by another machine's
/// network: the server was there all the time. What is asked first then fails, in several threads at once.
#[test]
fn a_program_that_stood_finds_its_servers_again() {
    if skipped(0, "a program that stood") {
        return;
    }
    for replicas in [0, 1] {
        let servers = [server(64), server(64)];
        let between = servers.each_ref().map(|server| between(server.address, |_, from, to| pass_on(from, to)));
        let names = between.each_ref().map(|between| between.address.to_string()).join(",");
        let workload = run(&names, 1 << 40, replicas, 6000);
        for _ in 0..2 {
            std::thread::sleep(Duration::from_secs(1));
            workload.signal("STOP");
            between.iter().for_each(Between::cut);
            std::thread::sleep(Duration::from_secs(8));
            workload.signal("CONT");
        }
        std::thread::sleep(Duration::from_secs(1));
        workload.stop();
        let outcome = workload.finish();
        outcome.is_right(PAGES);
        assert!(!outcome.stderr.contains(" is lost"), "{}", outcome.stderr);
    }
}

#[test]
fn a_server_that_hangs_for_good_is_lost() {
    if skipped(0, "a server that hangs for good") {
        return;
    }
    let server = Process::start("127.0.0.1:0");
    let workload = run(&server.1.to_string(), 1 << 40, 0, 3000);
    std::thread::sleep(Duration::from_millis(300));
    signal(&server, "STOP");
    let Outcome { code, stderr, .. } = workload.finish();
    assert_eq!(code, Some(86), "{stderr}");
    assert!(stderr.contains(&format!("memory server {} is lost, and nobody else has ", server.1)), "{stderr}");
}

#[test]
fn with_a_replica_either_server_may_be_killed() {
    if skipped(0, "a killed server with a replica") {
        return;
    }
    for (victim, pattern) in [(0, "random"), (1, "random"), (0, "sequential"), (1, "together")] {
        let mut servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
        let names = format!("{},{}", servers[0].1, servers[1].1);
        // Which go through memory in order go through it faster.
        let workload = run_pattern(pattern, &names, if pattern == "random" { 60_000 } else { 400_000 }, 1, 1500);
        std::thread::sleep(Duration::from_millis(400));
        servers[victim].kill();
        let outcome = workload.finish();
        outcome.is_right(PAGES);
        assert!(outcome.stderr.contains("its pages are on one server only from now on"), "{}", outcome.stderr);
        eprintln!("server {victim} killed, {pattern}: {}", outcome.stdout.trim());
    }
}

/// A server that is lost and comes back, empty, gets all copies again, while the program goes on; then the other one may be lost. And again.
#[test]
fn lost_copies_are_made_again_and_a_second_loss_loses_nothing() {
    if skipped(0, "copies that are made again") {
        return;
    }
    let mut servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
    let names = servers.each_ref().map(|server| server.1.to_string());
    for pattern in ["settled", "random"] {
        copies_are_made_again(&mut servers, &names, pattern);
    }
}

/// A lost server does not come back: a spare one takes its place, at another address, with all copies; then any one may be lost, and again. Also
/// with sealed pages; and a spare one that is not there, or is one of the others by another name, is passed over.
#[test]
fn a_spare_server_takes_a_lost_ones_place_and_a_second_loss_loses_nothing() {
    if skipped(0, "spare servers") {
        return;
    }
    for (pattern, seal) in [("settled", false), ("random", true)] {
        let mut servers = [(); 4].map(|()| Process::start("127.0.0.1:0"));
        let names = servers.each_ref().map(|server| server.1.to_string());
        // Nobody listens at the first.
        let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let other_name = format!("localhost:{}", servers[1].1.port());
        let run = Run {
            servers: &names[..2].join(","),
            local_pages: 2048,
            pages: PAGES,
            pattern,
            threads: 2,
            operations: 1 << 40,
            mode: 0,
            replicas: 1,
            timeout_ms: 1500,
        };
        let mut command = run.command();
        command.env("LULL_FAR_SPARES", format!("{gone},{other_name},{},{}", names[2], names[3]));
        if seal {
            command.env("LULL_FAR_SEAL", "1");
        }
        let mut workload = Running::start(command);
        if pattern == "settled" {
            workload.wait_until_it_says("settled");
        }
        for (victim, spare) in [(0, 2), (1, 3)] {
            servers[victim].kill();
            workload.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", names[victim]));
            workload.wait_until_it_says(&format!("memory server {} takes the place of memory server {}", names[spare], names[victim]));
            workload.wait_until_it_says(&format!("memory server {} has all copies again", names[spare]));
        }
        // There is no spare one left: who comes back at its own address is taken in there.
        servers[2].kill();
        workload.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", names[2]));
        servers[0] = Process::start(&names[0]);
        workload.wait_until_it_says(&format!("memory server {} is there again", names[0]));
        workload.wait_until_it_says(&format!("memory server {} has all copies again", names[0]));
        servers[3].kill();
        workload.wait_until_it_says("is lost; its pages are on one server only");
        workload.stop();
        let outcome = workload.finish();
        outcome.is_right(PAGES);
        let (missing, twin) = (format!("memory server {gone}: "), format!("memory server {other_name} is memory server {}", names[1]));
        assert!(outcome.stderr.contains(&missing) && outcome.stderr.contains(&twin), "{}", outcome.stderr);
    }
}

/// With pages that are never written again, which only copies can bring back; and with such as are written all the time.
fn copies_are_made_again(servers: &mut [Process; 2], names: &[String; 2], pattern: &str) {
    let mut workload = run_pattern(pattern, &names.join(","), 1 << 40, 1, 1500);
    if pattern == "settled" {
        workload.wait_until_it_says("settled");
    }
    for victim in [0, 1, 0] {
        let name = &names[victim];
        servers[victim].kill();
        workload.wait_until_it_says(&format!("memory server {name} is lost; its pages are on one server only from now on"));
        servers[victim] = Process::start(name);
        workload.wait_until_it_says(&format!("memory server {name} has all copies again"));
    }
    servers[1].kill();
    workload.wait_until_it_says("is lost; its pages are on one server only");
    workload.stop();
    workload.finish().is_right(PAGES);
    servers[1] = Process::start(&names[1]);
}

/// One that hung, was given up, and has pages of before: they are old.
#[test]
fn a_server_that_comes_back_with_old_pages_gets_new_ones() {
    if skipped(0, "a server with old pages") {
        return;
    }
    let mut servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
    let names = servers.each_ref().map(|server| server.1.to_string());
    // Pages that are written all the time: old ones are not the new ones.
    let mut workload = run_pattern("random", &names.join(","), 1 << 40, 1, 1500);
    signal(&servers[1], "STOP");
    workload.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", names[1]));
    std::thread::sleep(Duration::from_millis(500));
    signal(&servers[1], "CONT");
    workload.wait_until_it_says(&format!("memory server {} has all copies again", names[1]));
    servers[0].kill();
    workload.wait_until_it_says("is lost; its pages are on one server only");
    workload.stop();
    workload.finish().is_right(PAGES);
}

/// One that takes its copies and says each time that it has something else is given up, and the program goes on with the other one.
#[test]
fn a_filling_server_with_wrong_checksums_is_left_alone() {
    if skipped(0, "a filling server with wrong checksums") {
        return;
    }
    let (first, mut second) = (Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0"));
    let lies = Arc::new(AtomicBool::new(false));
    let lying = {
        let lies = Arc::clone(&lies);
        between(second.1, move |_, from, to| {
            loop {
                let (header, mut payload) = read_frame(from)?;
                if let Ok(Message::WriteAck(WriteAck { count, content_crc })) = Message::decode(&header, &payload)
                    && lies.load(Ordering::Relaxed)
                {
                    payload.clear();
                    Message::WriteAck(WriteAck { count, content_crc: content_crc ^ 1 }).encode(
                        header.sequence,
                        header.region,
                        &mut payload,
                    );
                    payload.drain(..HEADER_LEN);
                }
                write_frame(to, &header, &payload)?;
            }
        })
    };
    let mut workload = run(&format!("{},{}", first.1, lying.address), 1 << 40, 1, 1500);
    second.kill();
    workload.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", lying.address));
    lies.store(true, Ordering::Relaxed);
    second = Process::start(&second.1.to_string());
    workload.wait_until_it_says("wrong checksum, twice");
    workload.wait_until_it_says(&format!("memory server {} is lost again before it had all copies", lying.address));
    lies.store(false, Ordering::Relaxed);
    workload.wait_until_it_says(&format!("memory server {} has all copies again", lying.address));
    workload.stop();
    workload.finish().is_right(PAGES);
    drop(second);
}

/// One that takes its regions and then no page holds the evictor for a moment, and not until it is lost by --server-timeout.
#[test]
fn a_filling_server_that_hangs_is_not_waited_for() {
    if skipped(0, "a filling server that hangs") {
        return;
    }
    let (first, mut second) = (Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0"));
    let hangs = Arc::new(AtomicBool::new(false));
    let hanging = {
        let hangs = Arc::clone(&hangs);
        between(second.1, move |kind, from, to| {
            if kind == ChannelKind::Write && hangs.load(Ordering::Relaxed) {
                return std::io::copy(from, &mut std::io::sink()).map(drop);
            }
            pass_on(from, to)
        })
    };
    // An hour: that it was restarted is what tells that it is lost.
    let mut workload = run(&format!("{},{}", first.1, hanging.address), 1 << 40, 1, 3_600_000);
    workload.end_after(Duration::from_secs(300));
    second.kill();
    hangs.store(true, Ordering::Relaxed);
    second = Process::start(&second.1.to_string());
    for _ in 0..2 {
        workload.wait_until_it_says(&format!("memory server {} is lost again before it had all copies", hanging.address));
    }
    hangs.store(false, Ordering::Relaxed);
    workload.wait_until_it_says(&format!("memory server {} has all copies again", hanging.address));
    workload.stop();
    workload.finish().is_right(PAGES);
    drop(second);
}

/// Why a lost server is not taken in is said, once: it is the one that has the other copies; it has no room.
#[test]
fn why_a_server_is_not_taken_in_is_said() {
    if skipped(0, "why a server is not taken in") {
        return;
    }
    let (first, mut second) = (Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0"));
    let small = server(8);
    let before = between(second.1, |_, from, to| pass_on(from, to));
    let mut workload = run(&format!("{},{}", first.1, before.address), 1 << 40, 1, 1500);
    workload.end_after(Duration::from_secs(300));
    let tried = |count: u64| {
        let until = before.controls.load(Ordering::Relaxed) + count;
        while before.controls.load(Ordering::Relaxed) < until {
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    second.kill();
    workload.wait_until_it_says("its pages are on one server only from now on");
    let twin = format!("memory server {} is memory server {} by another name; it is lost, and tried again", before.address, first.1);
    *before.to.lock().unwrap() = first.1;
    workload.wait_until_it_says(&twin);
    *before.to.lock().unwrap() = small.address;
    let full = format!("memory server {}: REGION_MAP of region 1: FULL: ", before.address);
    workload.wait_until_it_says(&full);
    tried(3);
    second = Process::start(&second.1.to_string());
    *before.to.lock().unwrap() = second.1;
    workload.wait_until_it_says(&format!("memory server {} has all copies again", before.address));
    workload.stop();
    let outcome = workload.finish();
    outcome.is_right(PAGES);
    assert_eq!((outcome.stderr.matches(&twin).count(), outcome.stderr.matches(&full).count()), (1, 1), "{}", outcome.stderr);
    drop(second);
}

#[test]
fn a_server_without_room_is_named_before_anything_is_mapped() {
    if skipped(0, "a full server") {
        return;
    }
    let server = server(8);
    let name = server.address.to_string();
    let run = Run {
        servers: &name,
        local_pages: 2048,
        pages: PAGES,
        pattern: "random",
        threads: 1,
        operations: 1,
        mode: 0,
        replicas: 0,
        timeout_ms: 0,
    };
    let output = run.command().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, format!("memory server {name}: FULL: region 1 of 8192 pages does not fit into 8388608 free bytes of 8388608\n"));
}

#[test]
fn a_server_of_another_version_is_refused_at_the_start() {
    if skipped(0, "another version") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let name = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 72];
        stream.read_exact(&mut hello).unwrap();
        let text = "the client speaks the versions 1 to 1, this server 2 to 3";
        let mut frame = Vec::new();
        lull_far_protocol::Message::Error { code: lull_far_protocol::ErrorCode::Version, text }.encode(1, 0, &mut frame);
        stream.write_all(&frame).unwrap();
    });
    let run = Run {
        servers: &name,
        local_pages: 2048,
        pages: 16,
        pattern: "random",
        threads: 1,
        operations: 1,
        mode: 0,
        replicas: 0,
        timeout_ms: 0,
    };
    let output = run.command().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, format!("memory server {name}: VERSION: the client speaks the versions 1 to 1, this server 2 to 3\n"));
    server.join().unwrap();
}

/// Passes bytes on, and now and then flips a bit or cuts the connection: one of `seldom` times; of answers only, or of requests, too.
fn unreliable(to: SocketAddr, harm: Arc<AtomicU64>, seldom: u64, answers_only: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let Ok(client) = client else { return };
            let Ok(server) = TcpStream::connect(to) else { continue };
            let _ = client.set_nodelay(true);
            let _ = server.set_nodelay(true);
            for (from, to, salt) in [(&client, &server, 1), (&server, &client, 2)] {
                let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let harm = Arc::clone(&harm);
                std::thread::spawn(move || {
                    let mut state = (number as u64 * 2 + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
                    let mut bytes = [0; 16384];
                    while let Ok(count @ 1..) = from.read(&mut bytes) {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let random = state >> 33;
                        // The greeting passes; a pager that cannot start is another test.
                        let may = salt == 2 || !answers_only;
                        let harmed = may && random.is_multiple_of(seldom) && harm.load(Ordering::Relaxed) > 0;
                        if harmed {
                            harm.fetch_add(1, Ordering::Relaxed);
                            if random.is_multiple_of(2 * seldom) {
                                bytes[(random >> 12) as usize % count] ^= 1 << (random % 8);
                            } else {
                                // A part of it, and then nothing more.
                                let _ = to.write_all(&bytes[..count / 2]);
                                break;
                            }
                        }
                        if to.write_all(&bytes[..count]).is_err() {
                            break;
                        }
                    }
                    let _ = from.shutdown(Shutdown::Both);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    address
}

#[test]
fn connections_that_break_and_flip_bits_lose_nothing() {
    if skipped(0, "unreliable connections") {
        return;
    }
    // Frames of those who go through memory in order are longer: harmed as often, each piece of them, some would be harmed twice, and
    // the pager is right to end the program then.
    for (pattern, operations, seldom) in [("random", 15_000, 400), ("sequential", 80_000, 1600), ("together", 80_000, 1600)] {
        let servers = [server(32), server(32)];
        let harm = Arc::new(AtomicU64::new(0));
        let names: Vec<String> =
            servers.iter().map(|server| unreliable(server.address, Arc::clone(&harm), seldom, pattern != "random").to_string()).collect();
        let workload = run_pattern(pattern, &names.join(","), operations, 0, 30_000);
        harm.store(1, Ordering::Relaxed);
        let outcome = workload.finish();
        let harm = harm.load(Ordering::Relaxed) - 1;
        eprintln!("{pattern}: {harm} times harmed: {}", outcome.stdout.trim());
        assert!(harm > 5, "only {harm} times harmed");
        outcome.is_right(PAGES);
    }
}

/// This one greets and answers heartbeats as ever, and gives pages byte by byte, each in time.
fn byte_by_byte(to: SocketAddr) -> SocketAddr {
    let slow = |kind, from: &mut TcpStream, to: &mut TcpStream| {
        if kind != ChannelKind::Fetch {
            return pass_on(from, to);
        }
        let mut byte = [0];
        while from.read(&mut byte)? > 0 {
            to.write_all(&byte)?;
            std::thread::sleep(Duration::from_millis(500));
        }
        Ok(())
    };
    between(to, slow).address
}

/// This one answers, and takes no page: connections for writes are closed at once.
fn without_writes(to: SocketAddr) -> SocketAddr {
    between(to, |kind, from, to| if kind == ChannelKind::Write { Ok(()) } else { pass_on(from, to) }).address
}

/// An answer has a deadline as a whole: the other server is asked, and one that never gives a page is lost though it answers all else.
#[test]
fn a_server_that_gives_pages_byte_by_byte_is_lost() {
    if skipped(0, "a server that gives pages byte by byte") {
        return;
    }
    let servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
    let slow = byte_by_byte(servers[0].1);
    let Outcome { code, stderr, .. } = run(&slow.to_string(), 1 << 40, 0, 3000).finish();
    assert_eq!(code, Some(86), "{stderr}");
    assert!(stderr.contains(&format!("memory server {slow} is lost")) && !stderr.contains("should be"), "{stderr}");
    let outcome = run(&format!("{slow},{}", servers[1].1), 40_000, 1, 3000).finish();
    outcome.is_right(PAGES);
    assert!(outcome.stderr.contains(&format!("memory server {slow} is lost; its pages are on one server only")), "{}", outcome.stderr);
}

/// A server with a key serves who has it; who has another one, or none, is told at the start.
#[test]
fn with_a_key_on_both_sides_a_program_runs_and_with_one_on_one_side_it_does_not_start() {
    if skipped(0, "keys") {
        return;
    }
    let file = |name: &str, digit: &str| {
        use std::os::unix::fs::OpenOptionsExt;
        let path = common::built().join(format!("far-key-{name}-{}", std::process::id()));
        let mut file = std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        writeln!(file, "{name} {}", digit.repeat(64)).unwrap();
        path
    };
    let (right, other) = (file("right", "a"), file("other", "b"));
    let servers: Vec<Process> = (0..2)
        .map(|_| {
            Process::start_with("127.0.0.1:0", |command| {
                command.arg("--key").arg(&right);
            })
        })
        .collect();
    let open = Process::start("127.0.0.1:0");
    let names = format!("{},{}", servers[0].1, servers[1].1);
    let command = |names: &str, key: Option<&std::path::PathBuf>| {
        let (servers, pattern) = (names, "random");
        let run =
            Run { servers, local_pages: 2048, pages: PAGES, pattern, threads: 2, operations: 20_000, mode: 0, replicas: 0, timeout_ms: 0 };
        let mut command = run.command();
        key.map(|key| command.env("LULL_FAR_KEY", key));
        command
    };
    Running::start(command(&names, Some(&right))).finish().is_right(PAGES);
    for (names, key, want) in [
        (names.clone(), Some(&other), "NOT_AUTHENTICATED: the client's key is none of this server's: give both sides the same one"),
        (names.clone(), None, "NOT_AUTHENTICATED: this server serves only who has one of its keys: start the client with --key FILE"),
        (
            open.1.to_string(),
            Some(&right),
            "NOT_AUTHENTICATED: the client has a key, and this server none: start the server with --key FILE",
        ),
    ] {
        let output = command(&names, key).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && text.contains(want), "{text}");
    }
    for path in [right, other] {
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_server_that_answers_and_takes_no_page_is_lost() {
    if skipped(0, "a server that takes no page") {
        return;
    }
    let servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
    let deaf = without_writes(servers[0].1);
    let Outcome { code, stderr, .. } = run(&deaf.to_string(), 1 << 40, 0, 500).finish();
    assert_eq!(code, Some(86), "{stderr}");
    assert!(stderr.contains(&format!("memory server {deaf} is lost")) && !stderr.contains("should be"), "{stderr}");
    // The other one has everything.
    let outcome = run(&format!("{deaf},{}", servers[1].1), 40_000, 1, 500).finish();
    outcome.is_right(PAGES);
}
