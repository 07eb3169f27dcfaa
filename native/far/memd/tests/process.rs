// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The server as a process: its command line, signals, log and metrics.

mod common;

use common::{Answer, Peer, get, hello, metric, page};
use lull_far_protocol::{ChannelKind, ErrorCode, Message};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lull-memd"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts a server, and reads from its first line where it listens.
fn start(args: &[&str]) -> (Child, SocketAddr) {
    start_it(command(args))
}

fn start_it(mut command: Command) -> (Child, SocketAddr) {
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("listening at ").unwrap_or_else(|| panic!("{line:?}")).trim().parse().unwrap();
    (child, address)
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap().success());
}

fn refused(args: &[&str]) -> String {
    let Output { status, stderr, stdout } = command(args).output().unwrap();
    assert!(!status.success() && stdout.is_empty(), "{args:?} was accepted");
    String::from_utf8(stderr).unwrap()
}

#[test]
fn sigterm_without_clients_ends_well() {
    let (mut child, address) = start(&["--listen", "127.0.0.1:0", "--memory", "1m"]);
    // A client that has no memory here does not hold it up.
    let _idle = Peer::hello(address, 1, ChannelKind::Control, 1);
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn sigterm_with_clients_waits_and_then_says_what_was_lost() {
    let (mut child, address) = start(&["--listen", "127.0.0.1:0", "--memory", "2m", "--drain", "3600", "--log", "json"]);
    let [mut control, mut fetch, mut write] = Peer::client(address, 1, 1, 4);
    assert!(matches!(write.write(1, &[1], &page(1)), Answer::Frame(..)));
    signal(&child, "TERM");
    while !control.ask(&Message::Heartbeat, 0).message().ends_with("stopping: true })") {}
    assert!(fetch.fetch(1, 1, 1) == page(1));
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "TERM");
    fetch.refused(ErrorCode::ShuttingDown);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{log}");
    assert!(log.contains("it is lost\",\"bytes\":1048576"), "{log}");
}

/// A server goes on whoever reads its log: it says something of each client, and of each signal.
#[test]
fn a_server_whose_log_nobody_reads_serves_and_stops() {
    let (mut child, address) = start(&["--listen", "127.0.0.1:0", "--memory", "2m"]);
    drop((child.stdout.take(), child.stderr.take()));
    for client in 1..4 {
        let [mut control, mut fetch, _write] = Peer::client(address, client, 1, 4);
        assert!(fetch.fetch(1, 1, 1) == vec![0; 4096]);
        assert_eq!(control.ask(&Message::Bye, 0).message(), "Bye");
    }
    signal(&child, "TERM");
    // One that cannot stop is waited for no longer than a test may take.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if std::time::Instant::now() > end => panic!("it does not stop: {:?}", child.kill()),
            None => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    assert_eq!(status.code(), Some(0));
}

/// Where no descriptor is left nobody new is served, and those who are there are; when some are free again, others are.
#[test]
fn a_server_without_descriptors_serves_those_who_are_there() {
    use std::os::unix::process::CommandExt;
    let mut command = command(&["--listen", "127.0.0.1:0", "--memory", "2m"]);
    // SAFETY: one system call of numbers.
    unsafe {
        command.pre_exec(|| {
            let limit = libc::rlimit { rlim_cur: 24, rlim_max: 24 };
            if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
    let (mut child, address) = start_it(command);
    let [mut control, mut fetch, mut write] = Peer::client(address, 1, 1, 4);
    let crowd: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(log.any(|line| line.contains("cannot accept a connection") || line.contains("no descriptor")), "it has enough of them");
    // What it says of that must not fill the pipe.
    let log = std::thread::spawn(move || log.count());
    for number in 0..50 {
        assert!(matches!(write.write(1, &[number % 4], &page(number)), Answer::Frame(..)));
        assert!(fetch.fetch(1, number % 4, 1) == page(number));
        assert!(control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
    }
    drop(crowd);
    // Who comes before the server has seen that they left is not served yet.
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut next = loop {
        match Peer::try_hello(address, hello(2, ChannelKind::Control, 1)) {
            (peer, Answer::Frame(header, payload)) => {
                assert!(matches!(Message::decode(&header, &payload), Ok(Message::HelloAck(_))), "{header:?}");
                break peer;
            }
            (_, Answer::Closed) => assert!(Instant::now() < deadline, "nobody is served any more"),
        }
    };
    assert!(next.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(log.join().unwrap() < 1000, "it says the same again and again");
}

/// However much memory it has to get, it listens before: all that comes before its first line is the first few megabytes.
#[test]
fn a_server_listens_before_it_has_all_of_its_memory() {
    let (mut child, address) = start(&["--listen", "127.0.0.1:0", "--memory", "256m", "--log", "json"]);
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(log.next().unwrap().contains("\"message\":\"listening\""));
    let second = log.next().unwrap();
    assert!(second.contains("\"message\":\"all memory is committed\",\"bytes\":268435456"), "{second}");
    let mut control = Peer::hello(address, 1, ChannelKind::Control, 1);
    let pages = (256 << 20) / 4096;
    assert_eq!(control.ask(&Message::RegionMap { pages }, 1).message(), format!("{:?}", Message::RegionMapped { pages }));
    signal(&child, "TERM");
    signal(&child, "TERM");
    // The rest of the log, so that the server is not kept from writing it.
    assert!(log.any(|line| line.contains("it is lost")));
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[test]
fn what_cannot_be_committed_is_refused_with_the_numbers() {
    let text = refused(&["--listen", "127.0.0.1:0", "--memory", "900t"]);
    assert!(text.contains("cannot commit 989560464998400 bytes of memory: the machine has "), "{text}");
    let text = refused(&["--listen", "127.0.0.1:0", "--memory", "4k"]);
    assert!(text.contains("--memory is 4096 bytes; it must be 1048576 (1m) or more"), "{text}");
}

#[test]
fn bad_arguments_are_refused_by_name() {
    for (args, want) in [
        (&["--listen", "127.0.0.1:0", "--memory", "lots"][..], "say a number of bytes, or one with k, m, g or t"),
        (&["--listen", "127.0.0.1", "--memory", "1m"], "say address:port"),
        (&["--listen", "127.0.0.1:0"], "--memory <SIZE>"),
        (&["--listen", "127.0.0.1:0", "--memory", "1m", "--peers", "10.0.0.0/33"], "say an address, or one with its bits"),
        (&["--listen", "127.0.0.1:0", "--memory", "1m", "--linger", "0"], "0 is not in 1..=86400"),
        (&["--listen", "127.0.0.1:0", "--memory", "1m", "--frame-timeout", "3601"], "3601 is not in 1..=3600"),
        (&["--listen", "127.0.0.1:0", "--memory", "1m", "--max-connections", "0"], "0 is not in 1..=65536"),
    ] {
        let text = refused(args);
        assert!(text.contains(want), "{args:?}: {text}");
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let text = refused(&["--listen", &address, "--memory", "1m"]);
    assert!(text.contains(&format!("cannot listen at {address}: ")), "{text}");
}

/// Protected mode: who gives no key serves this machine only.
#[test]
fn without_a_key_a_server_listens_on_this_machine_only() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7070", "[::ffff:192.0.2.1]:7070"] {
        let text = refused(&["--listen", address, "--memory", "1m"]);
        assert!(text.contains("without a key: whoever reaches it could read and change the memory of programs. Give --key FILE"), "{text}");
    }
    for more in [&["--listen", "127.0.0.2:0"][..], &["--listen", "[::ffff:127.0.0.1]:0"], &["--listen", "0.0.0.0:0", "--insecure"]] {
        let (mut child, _) = start(&[more, &["--memory", "1m"]].concat());
        signal(&child, "TERM");
        assert_eq!(child.wait().unwrap().code(), Some(0), "{more:?}");
    }
}

#[test]
fn a_server_with_a_key_listens_anywhere_and_takes_care_of_its_file() {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::temp_dir().join(format!("lull-memd-key-{}", std::process::id()));
    let name = path.to_str().unwrap();
    std::fs::write(&path, format!("one {} memory=1m\n", "01".repeat(32))).unwrap();
    let arguments = ["--listen", "0.0.0.0:0", "--memory", "2m", "--key", name];
    for (mode, want) in [(0o644, "has the mode 0644"), (0o620, "has the mode 0620")] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let text = refused(&arguments);
        assert!(text.contains(want) && text.contains("chmod 600") && !text.contains("0101"), "{text}");
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (mut child, address) = start(&arguments);
    let here = (std::net::Ipv4Addr::LOCALHOST, address.port()).into();
    Peer::with_key(here, &lull_far_auth::Key::new([1; 32]), common::hello(1, ChannelKind::Control, 1));
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let text = refused(&[&arguments[..], &["--insecure"]].concat());
    assert!(text.contains("cannot be used with"), "{text}");
    std::fs::write(&path, format!("one {} threads=1\n", "01".repeat(32))).unwrap();
    assert!(refused(&arguments).contains("trace-memory=SIZE and trace-threads=N can be granted"));
    std::fs::remove_file(&path).unwrap();
    assert!(refused(&arguments).contains("cannot be read"));
}

#[test]
fn metrics_count_what_has_happened() {
    let mut server_config = lull_memd::Config::new("127.0.0.1:0".parse().unwrap(), 4 << 20);
    server_config.metrics = Some("127.0.0.1:0".parse().unwrap());
    let server = lull_memd::Server::start(server_config).unwrap();
    let metrics = server.metrics_address.unwrap();
    let [_control, mut fetch, mut write] = Peer::client(server.address, 1, 1, 300);
    for number in 0..5 {
        assert!(matches!(write.write(1, &[number, number + 1], &[page(1), page(2)].concat()), Answer::Frame(..)));
    }
    fetch.fetch(1, 0, 200);
    fetch.ask(&Message::Fetch(lull_far_protocol::Fetch { first: 0, count: 1 }), 8).error(ErrorCode::UnknownRegion);
    let page = get(metrics, "GET /metrics HTTP/1.1\r\nHost: localhost:1\r\n\r\n");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    for line in [
        "lull_memd_capacity_bytes 4194304",
        "lull_memd_committed_bytes 4194304",
        "lull_memd_free_bytes 2097152",
        "lull_memd_clients 1",
        "lull_memd_regions 1",
        "lull_memd_connections 3",
        "lull_memd_pages_fetched_total 200",
        "lull_memd_pages_written_total 10",
        "lull_memd_requests_total{op=\"WRITE\"} 5",
        "lull_memd_requests_total{op=\"FETCH\"} 2",
        "lull_memd_errors_total{code=\"UNKNOWN_REGION\"} 1",
        "lull_memd_errors_total{code=\"CRC\"} 0",
    ] {
        assert!(page.lines().any(|l| l == line), "{line} is not in\n{page}");
    }
    assert!(get(metrics, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    // Nor for a page of the web that a browser here was made to take for ours.
    assert_eq!(get(metrics, "GET /metrics HTTP/1.1\r\nHost: attacker.example\r\n\r\n"), "");
    // Hostile requests end; the page is there afterwards.
    assert_eq!(get(metrics, &"x".repeat(5000)), "");
    assert!(get(metrics, "GET /metrics HTTP/1.0\r\n\r\n").contains("lull_memd_stopping 0"));
}

/// In OpenMetrics' words, where a counter's family has its name without `_total`: parsers of that format refuse two of one name.
#[test]
fn no_two_metrics_are_of_one_family() {
    let server = common::server(|config| config.metrics = Some("127.0.0.1:0".parse().unwrap()));
    let page = get(server.metrics_address.unwrap(), "GET /metrics HTTP/1.0\r\n\r\n");
    let families: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .map(|(name, kind)| {
            assert_eq!(name.ends_with("_total"), kind == "counter", "{name} is a {kind}");
            name.strip_suffix("_total").unwrap_or(name)
        })
        .collect();
    assert!(families.len() > 20, "{page}");
    for (i, family) in families.iter().enumerate() {
        assert!(!families[..i].contains(family), "{family} is there twice");
    }
}

/// A file with the key of ones.
fn key_file(name: &str) -> std::path::PathBuf {
    use std::os::unix::fs::OpenOptionsExt;
    let path = std::env::temp_dir().join(format!("lull-memd-{name}-{}", std::process::id()));
    let mut file = std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
    writeln!(file, "one {}", "01".repeat(32)).unwrap();
    path
}

/// Lines about those who are not known are few in each second, whatever they do; the next one says how many were left out, and the metrics count
/// all. Of who is known there is a line for each.
#[test]
fn strangers_write_few_lines_into_the_log() {
    const CROWD: u64 = 2000;
    let path = key_file("strangers");
    let metrics = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (mut child, address) =
        start(&["--listen", "127.0.0.1:0", "--memory", "1m", "--key", path.to_str().unwrap(), "--metrics", &metrics, "--log", "json"]);
    std::fs::remove_file(path).unwrap();
    let mut log = child.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).map(|_| text)
    });
    let begin = Instant::now();
    for number in 0..CROWD {
        let mut peer = Peer::raw(address);
        match number % 4 {
            // Refused, in three ways; and one that ends within its first frame.
            0 => drop(peer.ask(&Message::Hello(hello(1, ChannelKind::Control, 1)), 0)),
            1 => drop(peer.ask(&Message::Heartbeat, 0)),
            2 => peer.send(&[0; 64]),
            _ => peer.send(&[0; 5]),
        }
    }
    // All of them have been: one who is refused after them has its answer.
    let refused = || metric(metrics.parse().unwrap(), "lull_memd_errors_total{code=\"NOT_AUTHENTICATED\"}");
    while refused() < CROWD / 4 {
        std::thread::sleep(Duration::from_millis(10));
    }
    // The next second's first line says how many the others had left out.
    std::thread::sleep(Duration::from_millis(1100));
    Peer::try_hello(address, hello(1, ChannelKind::Control, 1)).1.error(ErrorCode::NotAuthenticated);
    let seconds = begin.elapsed().as_secs();
    for generation in 1..=30 {
        Peer::with_key(address, &lull_far_auth::Key::new([1; 32]), hello(1, ChannelKind::Control, generation));
    }
    signal(&child, "TERM");
    child.wait().unwrap();
    let log = reader.join().unwrap().unwrap();
    let lines = |level: &str| log.lines().filter(|line| line.contains(&format!("\"level\":\"{level}\""))).count() as u64;
    let said = lines("WARN");
    // A second begins with its first line: there are no more of them than have begun.
    assert!(said >= 10 && said <= 10 * (seconds + 2), "{said} lines about {CROWD} strangers in {seconds} s: {log}");
    let left_out: u64 =
        log.lines().filter_map(|line| line.split_once("\"left_out\":")?.1.split(['}', ',']).next()?.parse::<u64>().ok()).sum();
    assert!(said + left_out > CROWD / 2, "{said} said, {left_out} left out: {log}");
    assert_eq!(log.lines().filter(|line| line.contains("\"message\":\"connected\"")).count(), 30, "{log}");
}

/// However fast they come, so many threads serve those who are not known: those who were pushed out are waited for before others come.
#[test]
fn a_flood_of_strangers_has_few_threads() {
    const CROWD: usize = 3000;
    let path = key_file("flood");
    let (mut child, address) = start(&["--listen", "127.0.0.1:0", "--memory", "1m", "--key", path.to_str().unwrap()]);
    std::fs::remove_file(path).unwrap();
    drop(child.stderr.take());
    let threads = || std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().count();
    let alone = threads();
    let mut most = 0;
    let mut held = std::collections::VecDeque::new();
    let hello =
        Peer::raw(address).frame(&Message::Hello(hello(1, ChannelKind::Control, 1).with_key(lull_far_protocol::VERSION_ENCRYPTED)), 0);
    for number in 0..CROWD {
        let mut stream = TcpStream::connect(address).unwrap();
        // It may have been pushed out already.
        let _ = stream.write_all(&hello);
        held.push_back(stream);
        if held.len() > 500 {
            held.pop_front();
        }
        if number % 10 == 0 {
            most = most.max(threads());
        }
    }
    // 64 with a place, 64 who were pushed out, what each server has, and a few that are just ending.
    assert!(most > alone + 32 && most <= alone + 128 + 16, "{most} threads at once, {alone} of them the server's own");
    signal(&child, "TERM");
    child.wait().unwrap();
}

/// Who does not prove a key is told a challenge and a refusal, whatever is said in one go, and then the connection ends.
#[test]
fn a_stranger_is_answered_twice_at_most() {
    let path = key_file("twice");
    let (mut child, address) = start(&["--listen", "127.0.0.1:0", "--memory", "1m", "--key", path.to_str().unwrap()]);
    std::fs::remove_file(path).unwrap();
    let mut peer = Peer::raw(address);
    let frames: Vec<u8> = (0..100)
        .flat_map(|number| {
            peer.sequence = number;
            peer.frame(&Message::Hello(hello(1, ChannelKind::Control, 1).with_key(lull_far_protocol::VERSION_ENCRYPTED)), 0)
        })
        .collect();
    peer.send(&frames);
    assert!(peer.answer().message().starts_with("Challenge("));
    assert_eq!(peer.refused(ErrorCode::BadRequest), "the frame after CHALLENGE is HELLO; it must be PROVE");
    signal(&child, "TERM");
    child.wait().unwrap();
}
