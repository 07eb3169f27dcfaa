// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pager's side of the wire, against golden frames and against servers that answer wrongly.

use std::io::Read;
use std::net::TcpListener;

use lull_far_protocol::golden::{frame, page};
use lull_far_protocol::{FETCH_LEN, Fetch, HEADER_LEN, Op, Write as WritePages, crc32c_of};

use super::*;

/// A server that expects golden requests, and gives golden answers.
fn golden_server(connections: Vec<Vec<(&'static str, &'static str)>>) -> (SocketAddr, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        for conversation in connections {
            let (mut stream, _) = listener.accept().unwrap();
            for (request, answer) in conversation {
                let want = frame(request);
                let mut got = vec![0; want.len()];
                stream.read_exact(&mut got).unwrap();
                assert!(got == want, "not the golden {request}");
                stream.write_all(&frame(answer)).unwrap();
            }
        }
    });
    (address, thread)
}

fn server(address: SocketAddr) -> Server {
    Server {
        name: "golden".to_owned(),
        address,
        client: std::array::from_fn(|i| i as u8),
        session: Mutex::new(None),
        fetch: std::array::from_fn(|_| FetchConnection::new()),
        lost: AtomicBool::new(false),
        heard: AtomicU64::new(0),
        changed: Event::default(),
        broken: Arc::default(),
    }
}

/// Two pages of region 5.
fn fetch(server: &Server, first: u64) -> Result<Vec<u8>, FetchError> {
    let mut held = server.hold(1_000_000_000).ok_or(FetchError::Broken)?;
    let request = held.ask(5, Fetch { first, count: 2 })?;
    let length = held.answer(&request)?;
    Ok(held.pages(length).to_vec())
}

#[test]
fn the_pager_speaks_in_golden_frames() {
    let (address, thread) = golden_server(vec![
        vec![
            ("hello-control", "hello-ack"),
            ("region-map", "region-mapped"),
            ("heartbeat", "heartbeat-ack"),
            ("region-unmap", "region-unmapped"),
            ("bye", "bye"),
        ],
        vec![("hello-write", "hello-ack"), ("write", "write-ack")],
        vec![("hello-fetch", "hello-ack"), ("fetch", "data")],
    ]);
    let server = server(address);
    let mut control = Channel::new(ChannelKind::Control);
    let (header, _) = control.ask(&server, Op::RegionMap, 5, Payload::of(&[&16_u64.to_le_bytes()])).unwrap();
    assert_eq!(header.op, Op::RegionMapped);
    assert_eq!(control.ask(&server, Op::Heartbeat, 0, Payload::of(&[])).unwrap().0.op, Op::HeartbeatAck);
    assert_eq!(control.ask(&server, Op::RegionUnmap, 5, Payload::of(&[])).unwrap().0.op, Op::RegionUnmapped);
    assert_eq!(control.ask(&server, Op::Bye, 0, Payload::of(&[])).unwrap().0.op, Op::Bye);
    let pages = [page(3), page(4)].concat();
    let numbers: Vec<u8> = [3_u64, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut write = Channel::new(ChannelKind::Write);
    let (header, payload) = write.ask(&server, Op::Write, 5, Payload::of(&[&WritePages::fixed(2), &numbers, &pages])).unwrap();
    let ack = Message::decode(&header, &payload).unwrap();
    assert_eq!(ack, Message::WriteAck(lull_far_protocol::WriteAck { count: 2, content_crc: crc32c_of(&[&pages]) }));
    server.repair(0).unwrap();
    assert_eq!(fetch(&server, 3), Ok(pages));
    thread.join().unwrap();
}

/// Answers that are not what was asked for are never used.
#[test]
fn an_answer_to_another_question_is_refused() {
    for wrong in ["fence-ack", "write-ack", "discard-ack", "region-mapped", "error", "hello-ack"] {
        let (address, thread) = golden_server(vec![vec![("hello-fetch", "hello-ack"), ("fetch", wrong)]]);
        let server = server(address);
        server.repair(0).unwrap();
        assert!(fetch(&server, 3).is_err(), "used {wrong}");
        thread.join().unwrap();
    }
    // The right answer to a request for other pages.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; HEADER_LEN + 40];
        stream.read_exact(&mut bytes).unwrap();
        stream.write_all(&frame("hello-ack")).unwrap();
        stream.read_exact(&mut bytes[..HEADER_LEN + FETCH_LEN]).unwrap();
        stream.write_all(&frame("data")).unwrap();
    });
    let server = server(address);
    server.repair(0).unwrap();
    assert_eq!(fetch(&server, 4), Err(FetchError::Broken));
    thread.join().unwrap();
}

/// A server with one fetch connection whose answers to the requests, by their number, are what `answer` makes of the right ones.
fn one_connection(requests: u64, answer: impl Fn(u64, &mut Vec<u8>) + Send + 'static) -> (Server, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        receive(&mut stream).unwrap();
        stream.write_all(&frame("hello-ack")).unwrap();
        for number in 1..=requests {
            let (header, payload) = receive(&mut stream).unwrap();
            let Ok(Message::Fetch(run)) = Message::decode(&header, &payload) else { panic!("no FETCH") };
            let bytes: Vec<u8> = (run.first..).take(run.count as usize).flat_map(page).collect();
            let mut bytes_sent = Vec::new();
            Message::Data(lull_far_protocol::RunOfPages { run, bytes: &bytes }).encode(header.sequence, header.region, &mut bytes_sent);
            answer(number, &mut bytes_sent);
            stream.write_all(&bytes_sent).unwrap();
        }
    });
    let server = server(address);
    server.repair(0).unwrap();
    (server, thread)
}

fn run(first: u64, count: u32) -> Fetch {
    Fetch { first, count }
}

#[test]
fn what_is_asked_for_ahead_is_found_by_who_needs_it() {
    let (server, thread) = one_connection(3, |_, _| {});
    let mut held = server.hold(0).unwrap();
    let first = held.ask(5, run(3, 2)).unwrap();
    held.ask_ahead(105, 5, run(5, 3)).unwrap();
    assert!(server.hold(0).is_none() && server.hold_ahead(105).is_none(), "somebody holds it");
    let length = held.answer(&first).unwrap();
    assert!(held.pages(length) == [page(3), page(4)].concat());
    drop(held);
    assert_eq!(server.ahead_pages().collect::<Vec<_>>(), [105]);
    assert!(server.hold_ready().is_none() && server.hold_ahead(104).is_none() && server.hold_ahead(108).is_none());
    for needed in 105..108 {
        let (mut held, ahead) = server.hold_ahead(needed).unwrap();
        assert_eq!((ahead.page, ahead.pages()), (105, 3));
        // Let go as it was.
        held.leave_ahead(ahead);
    }
    // Who needs a connection gets it, too.
    let mut held = server.hold(0).unwrap();
    let ahead = held.take_ahead().unwrap();
    held.ask_ahead(108, 5, run(8, 1)).unwrap();
    let length = held.answer_ahead(&ahead).unwrap();
    assert!(held.pages(length) == [page(5), page(6), page(7)].concat());
    drop(held);
    let (mut held, ahead) = server.hold_ahead(108).unwrap();
    assert_eq!(held.answer_ahead(&ahead).map(|length| held.pages(length) == page(8)), Ok(true));
    drop(held);
    assert!(server.hold_ready().is_some());
    thread.join().unwrap();
}

/// A wrong checksum costs one answer, anything else the connection.
#[test]
fn an_answer_that_is_none_costs_what_was_asked_behind_it() {
    type Harm = fn(u64, &mut Vec<u8>);
    let harms: [(Harm, FetchError); 4] = [
        (|number, bytes| bytes[HEADER_LEN + 100] ^= u8::from(number == 1), FetchError::Checksum),
        (|number, bytes| bytes[3] ^= u8::from(number == 1), FetchError::Broken),
        (|number, bytes| bytes.truncate(if number == 1 { 0 } else { usize::MAX }), FetchError::Broken),
        (
            |number, bytes| {
                if number == 1 {
                    bytes.clear();
                    Message::Error { code: ErrorCode::UnknownRegion, text: "" }.encode(2, 5, bytes);
                }
            },
            FetchError::Refused(ErrorCode::UnknownRegion),
        ),
    ];
    for (harm, want) in harms {
        let (server, thread) = one_connection(2, harm);
        let mut held = server.hold(0).unwrap();
        let first = held.ask(5, run(3, 1)).unwrap();
        held.ask_ahead(104, 5, run(4, 1)).unwrap();
        // Both answers may be there at once, and then the end of a short one is not found.
        thread.join().unwrap();
        let got = held.answer(&first);
        let usable = got == Err(FetchError::Checksum);
        assert!(got == Err(want) || got == Err(FetchError::Broken) && want != FetchError::Checksum, "{got:?}, not {want:?}");
        let ahead = held.take_ahead().unwrap();
        let second = held.answer_ahead(&ahead).map(|length| held.pages(length) == page(4));
        assert_eq!(second, if usable { Ok(true) } else { Err(FetchError::Broken) });
        drop(held);
        assert_eq!(server.hold_ready().is_some(), usable);
    }
}
