// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The client with servers that are not right, or heaps that are not: it says what is wrong, ends, and leaves nothing behind.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use lull_far_heap::cycle::Servers;
use lull_far_heap::export::Export;
use lull_far_heap::made::{BASE, Made};
use lull_far_heap::server::Server;
use lull_far_protocol::{ErrorCode, HEADER_LEN, Header, HelloAck, Message, Op, PAGE_SIZE};
use lull_far_trace::wire;
use lull_memd::Config;

const WAIT: Duration = Duration::from_secs(20);
const MEMORY: u64 = 32 << 20;

fn right_server() -> SocketAddr {
    let peers = vec!["127.0.0.1".parse().unwrap()];
    lull_memd::Server::start(Config { peers, ..Config::new("127.0.0.1:0".parse().unwrap(), MEMORY) }).unwrap().address
}

fn write(made: &Made, name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("lull-{name}-{}", std::process::id()));
    made.write(&path).unwrap();
    path
}

/// An exported heap, whose file is gone already.
fn exported(made: &Made, name: &str) -> Export {
    let path = write(made, name);
    let export = Export::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    export
}

fn frame(stream: &mut TcpStream) -> Option<(Header, Vec<u8>)> {
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head).ok()?;
    let header = Header::decode(&head).ok()?;
    let mut bytes = head.to_vec();
    bytes.resize(HEADER_LEN + header.len as usize, 0);
    stream.read_exact(&mut bytes[HEADER_LEN..]).ok()?;
    Some((header, bytes))
}

/// Passes requests on, and answers those of one operation with whole vectors, for longer than any heap here has elements.
fn relay(mut client: TcpStream, mut server: TcpStream, read: Op, vector: Op) -> Option<()> {
    loop {
        let (header, request) = frame(&mut client)?;
        let mut answer = Vec::new();
        if header.op == read {
            let (first, _) = wire::decode_counted(&request[HEADER_LEN..]).ok().filter(|&(first, _)| first < 1 << 20)?;
            let payload = wire::encode_elements(first, &[0; wire::MOST]);
            Message::Trace { op: vector, payload: &payload }.encode(header.sequence, header.region, &mut answer);
        } else {
            server.write_all(&request).ok()?;
            answer = frame(&mut server)?.1;
        }
        client.write_all(&answer).ok()?;
    }
}

#[test]
fn vectors_without_end_are_refused() {
    let export = exported(&Made::new(3, 500), "endless");
    for (read, vector) in [(Op::ReadBitmap, Op::Bitmap), (Op::ReadDiscovered, Op::Discovered)] {
        let right = right_server();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let there = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(right).unwrap());
                std::thread::spawn(move || relay(client, server, read, vector));
            }
        });
        let mut servers = Servers::load(&[there], &export, 4096, WAIT).unwrap();
        let text = servers.trace(&export).unwrap_err();
        assert!(text.contains(&format!("it answers {} with more than the ", read.name())), "{text}");
    }
}

#[test]
fn an_error_about_the_connection_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        frame(&mut client).unwrap();
        let mut answer = Vec::new();
        Message::Error { code: ErrorCode::TooManyConnections, text: "there are 9" }.encode(0, 0, &mut answer);
        client.write_all(&answer).unwrap();
    });
    let text = Server::connect(there, [1; 16], WAIT).unwrap_err();
    thread.join().unwrap();
    assert!(text.ends_with("HELLO was refused: TOO_MANY_CONNECTIONS: there are 9"), "{text}");
}

#[test]
fn a_failure_leaves_no_memory_taken() {
    let mut made = Made::new(9, 2_000);
    let class = ((made.roots[0] - BASE) / 4) as usize + 2;
    made.words[class] = 0x7777;
    let path = write(&made, "left");
    let address = right_server();
    let output = Command::new(env!("CARGO_BIN_EXE_lull-far-trace")).arg("--servers").arg(address.to_string()).arg(&path).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("has an object of the class 0x7777"), "{text}");
    all_memory_is_there(address);
}

/// Two servers, of which the second has no memory left, or is not there.
#[test]
fn a_failure_while_loading_leaves_no_memory_taken() {
    let export = exported(&Made::new(9, 2_000), "loading");
    let full = right_server();
    let mut other = Server::connect(full, [2; 16], WAIT).unwrap();
    other.map(MEMORY / PAGE_SIZE as u64, WAIT).unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (second, want) in [(full, "FULL"), (closed, "cannot connect")] {
        let first = right_server();
        let text = Servers::load(&[first, second], &export, 4096, WAIT).unwrap_err();
        assert!(text.contains(want) && text.contains(&second.to_string()), "{text}");
        all_memory_is_there(first);
    }
}

/// A server that has once not answered in time is not waited for again.
#[test]
fn a_server_that_hangs_is_not_asked_twice() {
    let export = exported(&Made::new(9, 2_000), "hangs");
    let (first, listener) = (right_server(), TcpListener::bind("127.0.0.1:0").unwrap());
    let second = listener.local_addr().unwrap();
    // It answers HELLO, and nothing else: it is asked for REGION_MAP, and not for BYE.
    let ack = HelloAck { version: 1, page_size_log2: 12, max_pages: 256, features: 0, session: [8; 16], capacity: MEMORY, free: MEMORY };
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        let mut connections: Vec<TcpStream> = (0..2)
            .map(|_| {
                let (mut stream, _) = listener.accept().unwrap();
                let (header, _) = frame(&mut stream).unwrap();
                let mut answer = Vec::new();
                Message::HelloAck(ack).encode(header.sequence, 0, &mut answer);
                stream.write_all(&answer).unwrap();
                stream
            })
            .collect();
        for stream in &mut connections {
            while let Some((header, _)) = frame(stream) {
                asked.push(header.op);
            }
        }
        asked
    });
    let text = Servers::load(&[first, second], &export, 4096, Duration::from_millis(300)).unwrap_err();
    assert!(text.contains("REGION_MAP was not answered in time"), "{text}");
    assert_eq!(thread.join().unwrap(), [Op::RegionMap]);
    all_memory_is_there(first);
}

/// All memory of the server, long before it would miss a client.
fn all_memory_is_there(address: SocketAddr) {
    let mut next = Server::connect(address, [1; 16], WAIT).unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    while let Err(text) = next.map(MEMORY / PAGE_SIZE as u64, WAIT) {
        assert!(Instant::now() < end, "{text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
