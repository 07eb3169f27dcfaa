// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pager's side of the wire, against golden frames and against servers that answer wrongly.

use std::io::{Read, Write};
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
    Server::new("golden", address, std::array::from_fn(|i| i as u8), None, Duration::from_secs(10), Arc::default())
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(20)
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

/// A server that expects a right proof, and answers with `prove` of its own key.
fn keyed_server(key: Key, connections: usize, change: fn(&mut Vec<u8>)) -> (SocketAddr, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        for number in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            let (header, payload) = receive(&mut stream, later()).unwrap();
            let Ok(Message::Hello(hello)) = Message::decode(&header, &payload) else { panic!("no HELLO") };
            let challenge = [number as u8; 32];
            let mut bytes = Vec::new();
            Message::Challenge(challenge).encode(1, 0, &mut bytes);
            stream.write_all(&bytes).unwrap();
            let (header, payload) = receive(&mut stream, later()).unwrap();
            let Ok(Message::Prove(prove)) = Message::decode(&header, &payload) else { panic!("no PROVE") };
            let server = proof::Server::new(&hello, challenge);
            let ack = HelloAck {
                version: VERSION_MAX,
                page_size_log2: PAGE_SIZE_LOG2,
                max_pages: MAX_PAGES_PER_FRAME as u32,
                features: FEATURE_KEY,
                session: [9; 16],
                capacity: 0,
                free: 0,
            };
            bytes.clear();
            Message::Proved(server.prove(&key, &prove, ack)).encode(2, 0, &mut bytes);
            change(&mut bytes);
            stream.write_all(&bytes).unwrap();
            // Until the pager closes it, as it does with one that has proved nothing.
            let _ = stream.read(&mut [0; 64]);
        }
    });
    (address, thread)
}

fn with_key(address: SocketAddr, key: Option<Key>) -> Server {
    Server::new("golden", address, [1; 16], key, Duration::from_secs(10), Arc::default())
}

#[test]
fn a_server_that_has_not_the_key_is_none() {
    let key = |byte| Key::new([byte; 32]);
    let (address, thread) = keyed_server(key(1), 1, |_| {});
    let server = with_key(address, Some(key(1)));
    let opened = server.open(ChannelKind::Fetch, 0, 1).unwrap();
    assert_eq!(opened.sequence, 2);
    drop(opened);
    thread.join().unwrap();
    // Another key; and a right one, whose answer was changed on the way.
    let changed = |bytes: &mut Vec<u8>| {
        bytes[HEADER_LEN + 32 + 16] ^= 1;
        let crc = crc32c_of(&[&bytes[HEADER_LEN..]]);
        bytes[24..28].copy_from_slice(&crc.to_le_bytes());
        let crc = crc32c_of(&[&bytes[..28]]);
        bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    };
    for (theirs, change) in [(2, (|_| {}) as fn(&mut Vec<u8>)), (1, changed)] {
        let (address, thread) = keyed_server(key(theirs), 1, change);
        let error = with_key(address, Some(key(1))).open(ChannelKind::Fetch, 0, 1).unwrap_err();
        let want = "memory server golden: it has another key, or is not the server at all";
        assert!(matches!(&error, LinkError::Refused(text) if text == want), "{error:?}");
        thread.join().unwrap();
    }
    // One that asks for no key is not the one that has it.
    let (address, thread) = golden_server(vec![vec![("hello-key", "hello-ack")]]);
    let server = Server::new("golden", address, std::array::from_fn(|i| i as u8), Some(key(1)), Duration::from_secs(10), Arc::default());
    let error = server.open(ChannelKind::Control, 0, 1).unwrap_err();
    assert!(matches!(&error, LinkError::Refused(text) if text.ends_with("it answers HELLO with HELLO_ACK")), "{error:?}");
    thread.join().unwrap();
}

/// Whoever takes the address over while the server is away is no reason to give up: the right one may come back.
#[test]
fn an_impostor_in_the_place_of_a_known_server_is_waited_out() {
    let key = || Key::new([1; 32]);
    let (address, thread) = keyed_server(key(), 1, |_| {});
    let server = with_key(address, Some(key()));
    drop(server.open(ChannelKind::Fetch, 0, 1).unwrap());
    thread.join().unwrap();
    let listener = TcpListener::bind(address).unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        receive(&mut stream, later()).unwrap();
        let mut bytes = Vec::new();
        Message::Error { code: ErrorCode::ShuttingDown, text: "go away" }.encode(1, 0, &mut bytes);
        stream.write_all(&bytes).unwrap();
    });
    let error = server.open(ChannelKind::Fetch, 0, 2).unwrap_err();
    assert!(matches!(&error, LinkError::Broken(text) if text.ends_with("SHUTTING_DOWN: go away")), "{error:?}");
    assert!(!server.lost());
    thread.join().unwrap();
}

/// Bytes that come one by one, each in time, are no answer: neither the fault path nor another thread waits for the last of them.
#[test]
fn an_answer_that_comes_byte_by_byte_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (given_up, watched) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (seen, sent) = (Arc::clone(&given_up), Arc::clone(&watched));
    let thread = std::thread::spawn(move || {
        for (number, answer) in ["data", "heartbeat-ack"].into_iter().enumerate() {
            let (mut stream, _) = listener.accept().unwrap();
            receive(&mut stream, later()).unwrap();
            stream.write_all(&frame("hello-ack")).unwrap();
            receive(&mut stream, later()).unwrap();
            // Fast enough for whoever waits for a byte; the last would come in minutes.
            for byte in frame(answer) {
                if stream.write_all(&[byte]).is_err() || seen.load(Ordering::Relaxed) > number as u64 {
                    break;
                }
                sent.store(number as u64, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    });
    let server = Server::new("golden", address, std::array::from_fn(|i| i as u8), None, Duration::from_secs(3), Arc::default());
    server.repair(0).unwrap();
    assert_eq!(fetch(&server, 3), Err(FetchError::Broken));
    given_up.store(1, Ordering::Relaxed);
    let mut control = Channel::new(ChannelKind::Control);
    let error = control.ask(&server, Op::Heartbeat, 0, Payload::of(&[])).unwrap_err();
    // Without a deadline it would come, and be of another number.
    assert!(error.to_string().ends_with("HEARTBEAT: timed out"), "{error:?}");
    given_up.store(2, Ordering::Relaxed);
    thread.join().unwrap();
    assert_eq!(watched.load(Ordering::Relaxed), 1);
}

/// A connection that is there again is no reason to fetch what is not there yet.
#[test]
fn nothing_is_fetched_from_a_server_that_is_being_filled() {
    let (server, thread) = one_connection(0, |_, _| {});
    assert!(server.hold_ready().is_some());
    server.give_up();
    assert!(server.hold_ready().is_none() && server.hold(0).is_none() && !server.takes_writes());
    server.begin_filling();
    assert!(server.hold_ready().is_none() && server.hold(0).is_none() && server.takes_writes());
    // It was let go as it was.
    assert!(server.end_filling() && server.hold_ready().is_some());
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
        receive(&mut stream, later()).unwrap();
        stream.write_all(&frame("hello-ack")).unwrap();
        for number in 1..=requests {
            let (header, payload) = receive(&mut stream, later()).unwrap();
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
