// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pager's side of the wire, against golden frames and against servers that answer wrongly.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use lull_far_protocol::golden::{frame, page};
use lull_far_protocol::{FETCH_LEN, Fetch, HEADER_LEN, Write as WritePages, crc32c_of, seal_with};

use super::channel::receive;
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
    Server::new("golden", address, std::array::from_fn(|i| i as u8), Credentials::default(), Duration::from_secs(10), Arc::default())
}

fn later() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// The signal is the program's, in whose thread this may be: who does not handle it would end by it.
#[test]
fn to_send_to_who_is_gone_is_an_error_and_no_signal() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    drop(listener.accept().unwrap());
    // SAFETY: masks of this thread, and what waits for it. A signal that is blocked waits, also where it would be ignored.
    unsafe {
        let mut pipe: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut pipe, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const pipe, std::ptr::null_mut());
    }
    let failed = (0..1000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        super::channel::send_parts(&mut stream, b"head", &[b"", b"parts"], later()).err()
    });
    let kind = failed.unwrap().kind();
    assert!(matches!(kind, std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe), "{kind}");
    assert_eq!(super::channel::send_parts(&mut stream, b"head", &[], later()).unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    // SAFETY: as above.
    let waits = unsafe {
        let mut waiting: libc::sigset_t = std::mem::zeroed();
        libc::sigpending(&raw mut waiting);
        libc::sigismember(&raw const waiting, libc::SIGPIPE)
    };
    assert_eq!(waits, 0);
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
            let (header, payload) = receive(&mut stream, None, later()).unwrap();
            let Ok(Message::Hello(hello)) = Message::decode(&header, &payload) else { panic!("no HELLO") };
            let server = proof::Server::new(&hello, Share::of([number as u8; 32]));
            let mut bytes = Vec::new();
            Message::Challenge(server.challenge()).encode(1, 0, &mut bytes);
            stream.write_all(&bytes).unwrap();
            let (header, payload) = receive(&mut stream, None, later()).unwrap();
            let Ok(Message::Prove(prove)) = Message::decode(&header, &payload) else { panic!("no PROVE") };
            let ack = HelloAck {
                version: hello.version_max,
                page_size_log2: PAGE_SIZE_LOG2,
                max_pages: MAX_PAGES_PER_FRAME as u32,
                features: hello.features,
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

/// A server whose frames are encrypted, with so many connections, each of which has so many requests to fetch. What is sent as the answer to each,
/// by its number on the connection, is what `way` makes of the right one.
fn encrypting_server(
    connections: usize,
    requests: u64,
    way: impl Fn(u64, Vec<u8>) -> Vec<u8> + Send + 'static,
) -> (Server, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let key = || Key::new([1; 32]);
    let thread = std::thread::spawn(move || {
        for _ in 0..connections {
            let (mut stream, _) = listener.accept().unwrap();
            let mut frames = greet_with(&mut stream, &key());
            for number in 1..=requests {
                let Ok((header, payload)) = receive(&mut stream, Some(&mut frames), later()) else { break };
                let Ok(Message::Fetch(run)) = Message::decode(&header, &payload) else { panic!("no FETCH") };
                let bytes: Vec<u8> = (run.first..).take(run.count as usize).flat_map(page).collect();
                let mut answer = Vec::new();
                Message::Data(lull_far_protocol::RunOfPages { run, bytes: &bytes }).encode(header.sequence, header.region, &mut answer);
                frames.encrypt_frame(&mut answer).unwrap();
                let _ = stream.write_all(&way(number, answer));
            }
        }
    });
    (with_key(address, key()), thread)
}

/// The handshake of a server.
fn greet_with(stream: &mut TcpStream, key: &Key) -> Frames {
    let (header, payload) = receive(stream, None, later()).unwrap();
    let Ok(Message::Hello(hello)) = Message::decode(&header, &payload) else { panic!("no HELLO") };
    let server = proof::Server::new(&hello, Share::of([7; 32]));
    let mut bytes = Vec::new();
    Message::Challenge(server.challenge()).encode(1, 0, &mut bytes);
    stream.write_all(&bytes).unwrap();
    let (header, payload) = receive(stream, None, later()).unwrap();
    let Ok(Message::Prove(prove)) = Message::decode(&header, &payload) else { panic!("no PROVE") };
    let ack = HelloAck {
        version: hello.version_max,
        page_size_log2: PAGE_SIZE_LOG2,
        max_pages: MAX_PAGES_PER_FRAME as u32,
        features: hello.features,
        session: [9; 16],
        capacity: 0,
        free: 0,
    };
    let proved = server.prove(key, &prove, ack);
    bytes.clear();
    Message::Proved(proved).encode(2, 0, &mut bytes);
    stream.write_all(&bytes).unwrap();
    server.frames(key, &prove, &proved)
}

#[test]
fn what_is_done_to_answers_on_the_way_is_noticed_in_the_fault_path() {
    type Way = fn(u64, Vec<u8>) -> Vec<u8>;
    fn flip(mut bytes: Vec<u8>, at: usize) -> Vec<u8> {
        bytes[at] ^= 1;
        bytes
    }
    // What is done to it, and how much is counted.
    let ways: [(&str, Way, u64); 7] = [
        ("as it was sent", |_, bytes| bytes, 0),
        ("a bit of a page", |number, bytes| if number == 2 { flip(bytes, HEADER_LEN + 500) } else { bytes }, 1),
        (
            "a bit of the proof",
            |number, bytes| {
                if number == 2 {
                    let last = bytes.len() - 1;
                    flip(bytes, last)
                } else {
                    bytes
                }
            },
            1,
        ),
        ("a bit of the header", |number, bytes| if number == 2 { flip(bytes, 17) } else { bytes }, 1),
        (
            "cut",
            |number, mut bytes| {
                bytes.truncate(if number == 2 { 600 } else { usize::MAX });
                bytes
            },
            1,
        ),
        ("repeated", |number, bytes| if number == 1 { [&bytes[..], &bytes].concat() } else { bytes }, 1),
        ("not there", |number, bytes| if number == 1 { Vec::new() } else { bytes }, 1),
    ];
    for (what, way, harmed) in ways {
        let (server, thread) = encrypting_server(1, 2, way);
        server.repair(0).unwrap();
        let mut held = server.hold(0).unwrap();
        let first = held.ask(5, run(3, 1)).unwrap();
        held.ask_ahead(104, 5, run(4, 1)).unwrap();
        thread.join().unwrap();
        let got = held.answer(&first).map(|length| held.pages(length) == page(3));
        let ahead = held.take_ahead().unwrap();
        let next = held.answer_ahead(&ahead).map(|length| held.pages(length) == page(4));
        // One that was left out is noticed by the next.
        match what {
            "as it was sent" => assert_eq!((got, next), (Ok(true), Ok(true))),
            "not there" => assert_eq!((got, next), (Err(FetchError::Broken), Err(FetchError::Broken))),
            _ => assert_eq!((got, next), (Ok(true), Err(FetchError::Broken)), "{what}"),
        }
        drop(held);
        assert_eq!(server.harmed_frames(), harmed, "{what}");
        assert_eq!(server.hold_ready().is_some(), what == "as it was sent", "{what}");
    }
}

/// A connection whose key has encrypted much is renewed, without an answer being lost.
#[test]
fn a_worn_connection_is_renewed_before_its_key_is_used_up() {
    let (server, thread) = encrypting_server(2, 1, |_, bytes| bytes);
    server.repair(0).unwrap();
    let mut held = server.hold(0).unwrap();
    held.wear(1 << 32);
    let asked = held.ask(5, run(3, 1)).unwrap();
    assert_eq!(held.answer(&asked).map(|length| held.pages(length) == page(3)), Ok(true));
    drop(held);
    assert!(server.hold_ready().is_none() && !server.lost());
    server.repair(0).unwrap();
    let mut held = server.hold_ready().unwrap();
    let asked = held.ask(5, run(4, 1)).unwrap();
    assert_eq!(held.answer(&asked).map(|length| held.pages(length) == page(4)), Ok(true));
    drop(held);
    assert!(server.hold_ready().is_some());
    thread.join().unwrap();
}

/// The same of one for requests, while no request waits for its answer.
#[test]
fn a_worn_channel_is_renewed_between_two_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        for requests in [2, 1] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut frames = greet_with(&mut stream, &Key::new([1; 32]));
            for _ in 0..requests {
                let (header, payload) = receive(&mut stream, Some(&mut frames), later()).unwrap();
                assert_eq!((header.op, payload), (Op::Fence, Vec::new()));
                let mut answer = Vec::new();
                Message::FenceAck.encode(header.sequence, header.region, &mut answer);
                frames.encrypt_frame(&mut answer).unwrap();
                stream.write_all(&answer).unwrap();
            }
        }
    });
    let server = with_key(address, Key::new([1; 32]));
    let mut write = Channel::new(ChannelKind::Write);
    let first = write.begin(&server, Op::Fence, 0, Payload::of(&[])).unwrap();
    write.wear(1 << 32);
    // Two are under way at once: the first's answer would be lost.
    let second = write.begin(&server, Op::Fence, 0, Payload::of(&[])).unwrap();
    for asked in [first, second] {
        assert_eq!(write.finish(&server, &asked).unwrap().0.op, Op::FenceAck);
    }
    assert_eq!(write.ask(&server, Op::Fence, 0, Payload::of(&[])).unwrap().0.op, Op::FenceAck);
    thread.join().unwrap();
}

/// A server that is not there yet, one that hangs at first, and one that closes: each is tried again, as long as it may be silent. What was waited
/// for is in the message.
#[test]
fn a_server_is_greeted_for_as_long_as_it_may_be_silent() {
    let connect = |address: SocketAddr, milliseconds: u64| {
        let timeout = Duration::from_millis(milliseconds);
        Server::connect(("golden", address), &[1; 32], Credentials::default(), timeout, Arc::default())
    };
    let greet = |stream: &mut TcpStream| {
        receive(stream, None, later()).unwrap();
        stream.write_all(&frame("hello-ack")).unwrap();
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        // Closed without a word; silent; then as it should be.
        drop(listener.accept().unwrap());
        let silent = listener.accept().unwrap();
        let mut served = Vec::new();
        for _ in 0..FETCH_CONNECTIONS {
            let (mut stream, _) = listener.accept().unwrap();
            greet(&mut stream);
            served.push(stream);
        }
        (silent, served)
    });
    let server = connect(address, 6000).unwrap();
    assert!(server.hold_ready().is_some());
    drop(thread.join().unwrap());
    // Nobody is there, and nobody comes.
    let begin = Instant::now();
    let error = connect(address, 600).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("memory server golden: cannot connect: ")
            && text.contains("; waited 0.6 s (--server-timeout) for its first answers, in "),
        "{text}"
    );
    assert!(begin.elapsed() >= Duration::from_millis(400) && !text.contains(" in 1 tries"), "{text}");
    // One that takes connections, and says nothing.
    let hangs = TcpListener::bind("127.0.0.1:0").unwrap();
    let text = connect(hangs.local_addr().unwrap(), 500).unwrap_err().to_string();
    assert!(text.contains("HELLO: no answer for 0.") && text.contains("waited 0.5 s (--server-timeout)"), "{text}");
    // What no second try would change is said at once.
    let (address, thread) = golden_server(vec![vec![("hello-fetch", "error")]]);
    let server =
        Server::new("golden", address, std::array::from_fn(|i| i as u8), Credentials::default(), Duration::from_secs(60), Arc::default());
    let error = server.greet(Duration::from_secs(60)).unwrap_err();
    assert!(matches!(&error, LinkError::Refused(text) if text.ends_with("FULL: no memory left")), "{error:?}");
    thread.join().unwrap();
}

/// Who is not known yet has no memory taken for it: no payload of the greeting is longer than an error's, and one that says so is not waited for.
#[test]
fn an_answer_to_hello_is_short_or_the_connection_ends() {
    for key in [None, Some(Key::new([1; 32]))] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            receive(&mut stream, None, later()).unwrap();
            // A megabyte of pages, of which nothing comes.
            stream.write_all(&seal_with(Op::Data, 1, 0, Op::Data.max_payload(), 0)).unwrap();
            stream.read(&mut [0]).unwrap()
        });
        let server =
            Server::new("golden", address, [1; 16], Credentials { key, plain_frames: false }, Duration::from_secs(60), Arc::default());
        let error = server.open(ChannelKind::Fetch, 0, 1).unwrap_err();
        let text = "it answers with DATA of 1048592 bytes, where 516 are the most";
        assert!(matches!(&error, LinkError::Broken(said) if said.contains(text)), "{error:?}");
        assert_eq!(thread.join().unwrap(), 0, "the connection is still open");
    }
}

fn with(key: Key) -> Credentials {
    Credentials { key: Some(key), plain_frames: false }
}

fn with_key(address: SocketAddr, key: Key) -> Server {
    Server::new("golden", address, [1; 16], with(key), Duration::from_secs(10), Arc::default())
}

#[test]
fn a_server_that_has_not_the_key_is_none() {
    let key = |byte| Key::new([byte; 32]);
    let (address, thread) = keyed_server(key(1), 1, |_| {});
    let server = with_key(address, key(1));
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
        let error = with_key(address, key(1)).open(ChannelKind::Fetch, 0, 1).unwrap_err();
        let want = "memory server golden: it has another key, or is not the server at all";
        assert!(matches!(&error, LinkError::Refused(text) if text == want), "{error:?}");
        thread.join().unwrap();
    }
    // One that asks for no key is not the one that has it.
    let (address, thread) = golden_server(vec![vec![("hello-key", "hello-ack")]]);
    let server = Server::new("golden", address, std::array::from_fn(|i| i as u8), with(key(1)), Duration::from_secs(10), Arc::default());
    let error = server.open(ChannelKind::Control, 0, 1).unwrap_err();
    assert!(matches!(&error, LinkError::Refused(text) if text.ends_with("it answers HELLO with HELLO_ACK")), "{error:?}");
    thread.join().unwrap();
}

/// Whoever takes the address over while the server is away is no reason to give up: the right one may come back.
#[test]
fn an_impostor_in_the_place_of_a_known_server_is_waited_out() {
    let key = || Key::new([1; 32]);
    let (address, thread) = keyed_server(key(), 1, |_| {});
    let server = with_key(address, key());
    drop(server.open(ChannelKind::Fetch, 0, 1).unwrap());
    thread.join().unwrap();
    let listener = TcpListener::bind(address).unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        receive(&mut stream, None, later()).unwrap();
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
            receive(&mut stream, None, later()).unwrap();
            stream.write_all(&frame("hello-ack")).unwrap();
            receive(&mut stream, None, later()).unwrap();
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
    let server =
        Server::new("golden", address, std::array::from_fn(|i| i as u8), Credentials::default(), Duration::from_secs(3), Arc::default());
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
        receive(&mut stream, None, later()).unwrap();
        stream.write_all(&frame("hello-ack")).unwrap();
        for number in 1..=requests {
            let (header, payload) = receive(&mut stream, None, later()).unwrap();
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
