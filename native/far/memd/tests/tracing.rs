// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Tracing over real sockets, with a client and with other servers that lie, hang, or are killed: what was wrong is said by name, and
//! the server goes on. That right servers mark what is right is tested in heap/tests.

mod common;
#[path = "../../pager/tests/common/man.rs"]
mod man;

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Answer, MB, Peer, hello, metric, server};
use lull_far_heap::compare::compare;
use lull_far_heap::cycle::Servers;
use lull_far_heap::export::Export;
use lull_far_heap::made::Made;
use lull_far_protocol::{ChannelKind, ErrorCode, HEADER_LEN, Hello, Message, Op, PAGE_SIZE};
use lull_far_trace::geometry::Geometry;
use lull_far_trace::layout::{Block, Kind, Layout};
use lull_far_trace::termination::Status;
use lull_far_trace::tracer::Task;
use lull_far_trace::wire::{self, Start};

const BASE: u64 = 0x8000_0000;
const KLASS: u32 = 0x1000;
const PART: u64 = 4096;
/// Of all cycles, in place of what a client draws.
const TICKET: u8 = 0x71;

/// A request about tracing.
type Request = (Op, Vec<u8>);

/// Two references from the twelfth byte on.
fn layout() -> Layout {
    Layout { klass: KLASS, kind: Kind::Instance, bytes: 24, blocks: vec![Block { offset: 12, count: 2 }] }
}

/// A heap of two parts, on one server or on two.
fn start(cycle: u64, me: u8, servers: &[SocketAddr]) -> Start {
    let geometry = Geometry { base: BASE, bytes: 2 * PART, part: PART, narrow_base: 0, narrow_shift: 3, servers: servers.len() as u8 };
    Start { cycle, geometry, me, ticket: [TICKET; 16], servers: servers.to_vec() }
}

fn narrow(object: u64) -> [u8; 4] {
    ((object >> 3) as u32).to_le_bytes()
}

/// A page whose first object refers to two others.
fn page_of_one(first: u64, second: u64) -> Vec<u8> {
    let mut page = vec![0; PAGE_SIZE];
    page[8..12].copy_from_slice(&KLASS.to_le_bytes());
    page[12..16].copy_from_slice(&narrow(first));
    page[16..20].copy_from_slice(&narrow(second));
    page
}

/// A control connection that has a region with these pages.
struct Client {
    control: Peer,
    _write: Peer,
}

impl Client {
    fn new(address: SocketAddr, id: u8, pages: &[Vec<u8>]) -> Client {
        Client::of([ChannelKind::Control, ChannelKind::Write].map(|kind| Peer::hello(address, id, kind, 1)), pages)
    }

    /// The next that shows the key of client 1.
    fn with_key(address: SocketAddr, key: &lull_far_auth::Key, pages: &[Vec<u8>]) -> Client {
        static GENERATION: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        let generation = GENERATION.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let kinds = [ChannelKind::Control, ChannelKind::Write];
        Client::of(kinds.map(|kind| Peer::with_key(address, key, common::hello(1, kind, generation))), pages)
    }

    fn of([mut control, mut write]: [Peer; 2], pages: &[Vec<u8>]) -> Client {
        let mapped = control.ask(&Message::RegionMap { pages: pages.len() as u64 }, 1).message();
        assert!(mapped.starts_with("RegionMapped"), "{mapped}");
        let numbers: Vec<u64> = (0..pages.len() as u64).collect();
        assert!(matches!(write.write(1, &numbers, &pages.concat()), Answer::Frame(..)));
        Client { control, _write: write }
    }

    fn ask(&mut self, op: Op, payload: &[u8]) -> Answer {
        self.control.ask(&Message::Trace { op, payload }, 1)
    }

    /// The payload of an answer, which must be of that operation.
    fn get(&mut self, op: Op, payload: &[u8], want: Op) -> Vec<u8> {
        match self.ask(op, payload) {
            Answer::Frame(header, payload) if header.op == want => payload,
            other => panic!("{} was answered by {}", op.name(), other.message()),
        }
    }

    fn start(&mut self, start: &Start) {
        let status = self.get(Op::TraceStart, &start.encode(), Op::Status);
        assert_eq!(wire::decode_status(&status), Ok((0, Status { idle: true, ..Status::default() })));
    }

    /// Polls until the answer is not what it was.
    fn poll_until(&mut self, end: impl Fn(&Answer) -> bool) -> Answer {
        let deadline = Instant::now() + Duration::from_secs(20);
        for round in 1.. {
            let answer = self.ask(Op::Poll, &wire::encode_poll(round));
            if end(&answer) {
                return answer;
            }
            assert!(Instant::now() < deadline, "still {}", answer.message());
            std::thread::sleep(Duration::from_millis(1));
        }
        unreachable!()
    }

    fn failure(&mut self) -> String {
        self.poll_until(|answer| matches!(answer, Answer::Frame(header, _) if header.op == Op::Error)).error(ErrorCode::TraceFailed)
    }

    /// Traces on this server alone, from the first object, to the end.
    fn trace(&mut self, cycle: u64, address: SocketAddr) -> u64 {
        self.start(&start(cycle, 0, &[address]));
        self.get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
        self.get(Op::Layout, &wire::encode_layouts(&[layout()]), Op::Status);
        let idle = |answer: &Answer| match answer {
            Answer::Frame(header, payload) if header.op == Op::Status => wire::decode_status(payload).unwrap().1.idle,
            _ => false,
        };
        self.poll_until(idle);
        let (_, words) = wire::decode_elements(&self.get(Op::ReadBitmap, &wire::encode_counted(0, 16), Op::Bitmap)).unwrap();
        assert_eq!(words.len(), 16);
        // The class word of the object at the start is the second of its 8 bytes.
        assert_eq!(words[0] & 2, 2);
        let (ended, counts, _) = wire::decode_counts(&self.get(Op::TraceEnd, &[], Op::LiveStats)).unwrap();
        assert_eq!((ended, counts.marked), (cycle, words.iter().map(|word| u64::from(word.count_ones())).sum()));
        counts.marked
    }
}

/// A server with a client whose heap has two objects that refer to each other.
fn fixture() -> (SocketAddr, Client) {
    let address = server(|_| {}).address;
    let pages = [page_of_one(BASE + PART, BASE), page_of_one(BASE, 0)];
    (address, Client::new(address, 1, &pages))
}

#[test]
fn a_cycle_asks_for_what_it_needs() {
    let (address, mut client) = fixture();
    client.start(&start(1, 0, &[address]));
    client.get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
    let missing = client.poll_until(|answer| matches!(answer, Answer::Frame(header, _) if header.op == Op::NeedLayout));
    let Answer::Frame(_, payload) = missing else { unreachable!() };
    assert_eq!(wire::decode_missing(&payload), Ok(vec![KLASS]));
    // What it has marked cannot be read before it is done.
    client.ask(Op::ReadBitmap, &wire::encode_counted(0, 16)).error(ErrorCode::BadRequest);
    assert_eq!(client.control.answer(), Answer::Closed);
    // The cycle has ended with its connection; the region is still there.
    client.control = Peer::hello(address, 1, ChannelKind::Control, 2);
    // What another server has sent for a cycle may still come: its number is not used again.
    let text = client.ask(Op::TraceStart, &start(1, 0, &[address]).encode()).error(ErrorCode::BadRequest);
    assert!(text.contains("cycle 1 is not after 1, the last that was begun"), "{text}");
    client.control = Peer::hello(address, 1, ChannelKind::Control, 3);
    assert_eq!(client.trace(2, address), 2);
    assert_eq!(client.trace(3, address), 2);
}

#[test]
fn a_cycle_that_is_over_takes_nothing() {
    let (address, mut client) = fixture();
    client.start(&start(1, 0, &[address]));
    let (mut second, _) = Peer::try_hello(address, Hello { channel: 1, ..hello(1, ChannelKind::Control, 1) });
    let begun = second.ask(&Message::Trace { op: Op::TraceStart, payload: &start(2, 0, &[address]).encode() }, 1);
    assert!(matches!(begun, Answer::Frame(header, _) if header.op == Op::Status));
    let asked =
        [(Op::TraceRoots, wire::encode_roots(&[BASE])), (Op::Layout, wire::encode_layouts(&[layout()])), (Op::Poll, wire::encode_poll(1))];
    for (op, payload) in asked {
        assert_eq!(client.ask(op, &payload).error(ErrorCode::NoTrace), "cycle 1 is over", "{}", op.name());
    }
    client.get(Op::TraceEnd, &[], Op::LiveStats);
    assert_eq!(client.trace(3, address), 2);
}

#[test]
fn what_a_client_must_not_say_about_tracing() {
    let address = server(|config| config.memory = 64 * MB).address;
    let right = start(1, 0, &[address]);
    let with = |change: fn(&mut Start)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        (Op::TraceStart, wrong.encode())
    };
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 1].to_vec();
    let counted = |count: u32| [&count.to_le_bytes()[..], &[0; 12]].concat();
    let closed: Vec<(&str, Request, &str)> = vec![
        ("longer heap", with(|start| start.geometry.bytes = 3 * PART), "the heap has 12288 bytes at server 0, and region 1 has 8192"),
        ("endless heap", with(|start| start.geometry.bytes = u64::MAX - 7), "the field heap is impossible"),
        ("a heap beyond all regions", with(|start| start.geometry.bytes = 1 << 60), "bytes at server 0, and region 1 has 8192"),
        ("part of no power of two", with(|start| start.geometry.part = 12288), "the field heap is impossible"),
        ("small part", with(|start| start.geometry.part = 8), "the field heap is impossible"),
        ("not one of the servers", with(|start| start.me = 1), "the field heap is impossible"),
        ("cycle 0", with(|start| start.cycle = 0), "the field cycle is impossible"),
        ("no ticket", with(|start| start.ticket = [0; 16]), "the field ticket is impossible"),
        ("no port", with(|start| start.servers[0].set_port(0)), "the field port is impossible"),
        ("cut", (Op::TraceStart, cut(right.encode())), "too short or too long"),
        ("a root beside the heap", (Op::TraceRoots, wire::encode_roots(&[BASE + 2 * PART])), "is no object of this server"),
        ("a root within a word", (Op::TraceRoots, wire::encode_roots(&[BASE + 4])), "is no object of this server"),
        ("more roots than there are", (Op::TraceRoots, counted(100)), "too short or too long"),
        ("more roots than there may be", (Op::TraceRoots, counted(u32::MAX)), "the field count is impossible"),
        ("more layouts than there are", (Op::Layout, counted(100)), "too short or too long"),
        ("impossible layout", (Op::Layout, wire::encode_layouts(&[Layout { bytes: 12, ..layout() }])), "the field size is impossible"),
        ("too many words", (Op::ReadBitmap, wire::encode_counted(0, 20_000)), "the field count is impossible"),
        ("words behind the end", (Op::ReadBitmap, wire::encode_counted(17, 1)), "READ_BITMAP: from 17 on, of 16"),
        ("references behind the end", (Op::ReadDiscovered, wire::encode_counted(1, 1)), "READ_DISCOVERED: from 1 on, of 0"),
        ("another server's", (Op::Ghost, wire::encode_tasks(1, &[])), "GHOST is not allowed on a control connection"),
        ("an answer", (Op::Status, wire::encode_status(0, Status::default())), "STATUS is not allowed on a control connection"),
        ("the cycle again", (Op::TraceStart, right.encode()), "cycle 1 is not after 1"),
    ];
    let pages = [page_of_one(0, 0), page_of_one(0, 0)];
    for (number, (name, (op, payload), want)) in closed.iter().enumerate() {
        let mut client = Client::new(address, 10 + number as u8, &pages);
        if *op != Op::TraceStart || want.contains("not after") {
            client.start(&right);
        }
        let answer = client.ask(*op, payload);
        let text = answer.error(ErrorCode::BadRequest);
        assert!(text.contains(want), "{name}: {text}");
        assert_eq!(client.control.answer(), Answer::Closed, "{name}");
    }
    // What it may say again in another way.
    let mut client = Client::new(address, 1, &pages);
    client.ask(Op::Poll, &wire::encode_poll(1)).error(ErrorCode::NoTrace);
    client.ask(Op::TraceEnd, &[]).error(ErrorCode::NoTrace);
    let frame = client.control.frame(&Message::Trace { op: Op::TraceStart, payload: &right.encode() }, 9);
    client.control.send(&frame);
    client.control.answer().error(ErrorCode::UnknownRegion);
    assert_eq!(client.trace(1, address), 1);
}

#[test]
fn what_another_server_must_not_say() {
    let (address, mut client) = fixture();
    // Nobody else is there: the second server of this cycle is the test.
    let other: SocketAddr = "127.0.0.1:1".parse().unwrap();
    client.start(&start(5, 0, &[address, other]));
    // Not even with the client's own number.
    for ticket in [77, 1] {
        let (_, unknown) = Peer::try_hello(address, hello(ticket, ChannelKind::Peer, 5));
        unknown.error(ErrorCode::NoTrace);
    }
    let ghost = |peer: &mut Peer, cycle: u64, tasks: &[Task]| {
        peer.ask(&Message::Trace { op: Op::Ghost, payload: &wire::encode_tasks(cycle, tasks) }, 0)
    };
    for (generation, task, want) in [
        (1, Task::Object(BASE + PART), "0x80001000 is no object of this server"),
        (2, Task::Object(u64::MAX - 7), "is no object of this server"),
        (3, Task::Slots(BASE + PART - 4, 2), "2 references at 0x80000ffc are not in one part of this server"),
        (4, Task::Statics(BASE + 3, KLASS), "has no static fields here"),
    ] {
        let mut peer = Peer::hello(address, TICKET, ChannelKind::Peer, generation);
        let text = ghost(&mut peer, 5, &[Task::Object(BASE), task]).error(ErrorCode::BadRequest);
        assert!(text.contains(want), "{text}");
        assert_eq!(peer.answer(), Answer::Closed);
    }
    let mut peer = Peer::hello(address, TICKET, ChannelKind::Peer, 5);
    ghost(&mut peer, 4, &[Task::Object(BASE)]).error(ErrorCode::NoTrace);
    let Answer::Frame(header, payload) = ghost(&mut peer, 5, &[Task::Object(BASE)]) else { panic!("closed") };
    assert_eq!((header.op, wire::decode_counted(&payload)), (Op::GhostAck, Ok((5, 1))));
    // The same references again and again: more than there are.
    for _ in 0..3 {
        ghost(&mut peer, 5, &[Task::Slots(BASE + 2048, 512)]);
    }
    let text = client.failure();
    assert!(text.contains("cycle 5: more references were sent here than there are"), "{text}");
    ghost(&mut peer, 5, &[Task::Object(BASE)]).error(ErrorCode::TraceFailed);
    client.get(Op::TraceEnd, &[], Op::LiveStats);
    ghost(&mut peer, 5, &[Task::Object(BASE)]).error(ErrorCode::NoTrace);
    // On a connection of another kind.
    let mut fetch = Peer::hello(address, 1, ChannelKind::Fetch, 1);
    ghost(&mut fetch, 5, &[]).error(ErrorCode::BadRequest);
    // A ticket is of one cycle: neither who has one still, nor who shows it now, is of another.
    Peer::try_hello(address, hello(TICKET, ChannelKind::Peer, 6)).1.error(ErrorCode::NoTrace);
    client.start(&Start { ticket: [TICKET + 1; 16], ..start(6, 0, &[address, other]) });
    ghost(&mut peer, 6, &[Task::Object(BASE)]).error(ErrorCode::NoTrace);
    Peer::try_hello(address, hello(TICKET, ChannelKind::Peer, 6)).1.error(ErrorCode::NoTrace);
    let mut right = Peer::hello(address, TICKET + 1, ChannelKind::Peer, 6);
    assert!(ghost(&mut right, 6, &[Task::Object(BASE)]).message().contains("GhostAck"));
    client.get(Op::TraceEnd, &[], Op::LiveStats);
    assert_eq!(client.trace(7, address), 2);
}

/// The other server is a listener of the test, which does as it is told.
fn with_other_server(timeout: Duration, other: impl FnOnce(TcpListener) + Send + 'static) -> String {
    let server = server(|config| {
        config.frame_timeout = timeout;
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = listener.local_addr().unwrap();
    // Its part refers to an object of the other.
    let mut client = Client::new(server.address, 1, &[page_of_one(BASE + PART, 0), page_of_one(BASE + PART, 0)]);
    let thread = std::thread::spawn(move || other(listener));
    client.start(&start(1, 0, &[server.address, there]));
    client.get(Op::Layout, &wire::encode_layouts(&[layout()]), Op::Status);
    client.get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
    let text = client.failure();
    assert!(text.starts_with(&format!("cycle 1: server 1 at {there}: ")), "{text}");
    assert_eq!(metric(server.metrics_address.unwrap(), "lull_memd_trace_failed_total"), 1);
    thread.join().unwrap();
    client.get(Op::TraceEnd, &[], Op::LiveStats);
    // It goes on alone.
    assert_eq!(client.trace(2, server.address), 2);
    text
}

/// A connection whose HELLO was read, and an answer that fits nothing.
fn accept_hello(listener: &TcpListener) -> (TcpStream, Vec<u8>) {
    let (mut stream, _) = listener.accept().unwrap();
    std::io::Read::read_exact(&mut stream, &mut [0; HEADER_LEN + 40]).unwrap();
    let mut answer = Vec::new();
    Message::FenceAck.encode(1, 0, &mut answer);
    (stream, answer)
}

/// A client cannot have a server connect to whom it likes.
#[test]
fn nobody_is_connected_to_whom_the_options_do_not_name() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = listener.local_addr().unwrap();
    for peers in [&[][..], &["127.0.0.2", "10.0.0.0/8"]] {
        let server = server(|config| config.peers = peers.iter().map(|network| network.parse().unwrap()).collect());
        let mut client = Client::new(server.address, 1, &[page_of_one(BASE + PART, 0), page_of_one(0, 0)]);
        let text = client.ask(Op::TraceStart, &start(1, 0, &[server.address, there]).encode()).error(ErrorCode::BadRequest);
        assert_eq!(text, "server 1 is none that --peers of this server names");
        // Alone it traces.
        let mut client = Client::new(server.address, 2, &[page_of_one(0, 0), page_of_one(0, 0)]);
        assert_eq!(client.trace(1, server.address), 1);
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "a server has connected");
}

/// Servers show each other the client's key, and believe nobody who has none.
#[test]
fn servers_prove_themselves_to_each_other() {
    let key = |byte| lull_far_auth::Key::new([byte; 32]);
    let keyed = |lines: &str| server(|config| config.keys = lull_far_auth::file::parse(lines).unwrap());
    let line = |name: &str, byte: &str| format!("{name} {}\n", byte.repeat(32));
    let first = keyed(&line("one", "01"));
    for (lines, right) in [(line("two", "02") + &line("other-name", "01"), true), (line("one", "03"), false)] {
        let second = keyed(&lines);
        let addresses = [first.address, second.address];
        let cycle = if right { 1 } else { 2 };
        let shown = [key(1), key(if right { 1 } else { 3 })];
        let pages = [[page_of_one(BASE + PART, 0), page_of_one(0, 0)], [page_of_one(0, 0), page_of_one(0, 0)]];
        let mut clients: Vec<Client> = (0..2).map(|at| Client::with_key(addresses[at], &shown[at], &pages[at])).collect();
        (0..2).for_each(|at| clients[at].start(&start(cycle, at as u8, &addresses)));
        clients.iter_mut().for_each(|client| drop(client.get(Op::Layout, &wire::encode_layouts(&[layout()]), Op::Status)));
        clients[0].get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
        if right {
            let received = |answer: &Answer| match answer {
                Answer::Frame(header, payload) if header.op == Op::Status => wire::decode_status(payload).unwrap().1.received == 1,
                other => panic!("{}", other.message()),
            };
            clients[1].poll_until(received);
        } else {
            let text = clients[0].failure();
            assert!(text.contains("PROVE was refused: NOT_AUTHENTICATED: "), "{text}");
        }
    }
    // One that only pretends to have the key.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        for (length, answer) in [(40, "challenge"), (80, "proved")] {
            std::io::Read::read_exact(&mut stream, &mut vec![0; HEADER_LEN + length]).unwrap();
            std::io::Write::write_all(&mut stream, &lull_far_protocol::golden::frame(answer)).unwrap();
        }
        // Nothing of the heap is sent to it.
        assert_eq!(std::io::Read::read(&mut stream, &mut [0]).unwrap(), 0);
    });
    let mut client = Client::with_key(first.address, &key(1), &[page_of_one(BASE + PART, 0), page_of_one(0, 0)]);
    client.start(&start(3, 0, &[first.address, there]));
    client.get(Op::Layout, &wire::encode_layouts(&[layout()]), Op::Status);
    client.get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
    let text = client.failure();
    assert!(text.contains("it has not proved that it has the key") || text.contains("the answer to PROVE"), "{text}");
    thread.join().unwrap();
}

/// What servers say to each other in the name of who has a key: somebody between them ends the cycle, and it is said which server has seen what.
#[test]
fn frames_between_servers_are_proven() {
    let key = lull_far_auth::Key::new([1; 32]);
    let keyed = || {
        server(|config| {
            config.keys = lull_far_auth::file::parse(&format!("one {}", "01".repeat(32))).unwrap();
            config.metrics = Some("127.0.0.1:0".parse().unwrap());
        })
    };
    let [first, second] = [keyed(), keyed()];
    let pages = [[page_of_one(BASE + PART, 0), page_of_one(0, 0)], [page_of_one(0, 0), page_of_one(0, 0)]];
    let not_proven = || metric(second.metrics_address.unwrap(), "lull_memd_errors_total{code=\"NOT_PROVEN\"}");
    for (cycle, to_client, want, at_the_second) in
        [(1, true, "the answer to GHOST: NOT_PROVEN: ", 0), (2, false, "GHOST was refused: NOT_PROVEN: ", 1)]
    {
        let man = man::between(second.address, man::Plan { harm: man::Harm::Flip, to_client, at: 0, frames: 1 });
        let addresses = [first.address, man.address];
        let places = [first.address, second.address];
        let mut clients: Vec<Client> = (0..2).map(|at| Client::with_key(places[at], &key, &pages[at])).collect();
        (0..2).for_each(|at| clients[at].start(&start(cycle, at as u8, &addresses)));
        clients.iter_mut().for_each(|client| drop(client.get(Op::Layout, &wire::encode_layouts(&[layout()]), Op::Status)));
        clients[0].get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
        let text = clients[0].failure();
        assert!(text.contains(want), "{text}");
        assert_eq!(not_proven(), at_the_second);
    }
}

/// All cycles of a key together have what it is granted, whatever its heaps look like: more is refused by name, and the client, and others, go on.
#[test]
fn one_key_traces_with_no_more_than_it_is_granted() {
    let key = |byte| lull_far_auth::Key::new([byte; 32]);
    let line = |name: &str, byte: u8, grants: &str| format!("{name} {} {grants}\n", format!("{byte:02x}").repeat(32));
    let lines =
        line("one", 1, "cycles=1") + &line("two", 2, "trace-threads=2") + &line("three", 3, "trace-memory=200") + &line("four", 4, "");
    let server = server(|config| {
        config.keys = lull_far_auth::file::parse(&lines).unwrap();
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let of = |name: &str, what: &str| metric(server.metrics_address.unwrap(), &format!("lull_memd_key_{what}{{key=\"{name}\"}}"));
    let pages = [page_of_one(BASE, 0), page_of_one(0, 0)];
    let client = |byte: u8| Client::with_key(server.address, &key(byte), &pages);
    let here = |cycle| start(cycle, 0, &[server.address]);
    let refused = |client: &mut Client, start: &Start| client.ask(Op::TraceStart, &start.encode()).error(ErrorCode::Full);
    // Two clients of one key: the second may begin when the first has ended.
    let kinds = [ChannelKind::Control, ChannelKind::Write];
    let mut first = client(1);
    let mut second = Client::of(kinds.map(|kind| Peer::with_key(server.address, &key(1), hello(99, kind, 1))), &pages);
    first.start(&here(1));
    assert_eq!(of("one", "cycles"), 1);
    assert!(refused(&mut second, &here(1)).contains("the key one is granted 1 cycles of tracing at once"));
    first.get(Op::TraceEnd, &[], Op::LiveStats);
    second.start(&here(1));
    // One thread traces, and one for each other server sends.
    let mut threads = client(2);
    let three = [server.address, "127.0.0.1:1".parse().unwrap(), "127.0.0.1:2".parse().unwrap()];
    assert!(refused(&mut threads, &start(1, 0, &three)).contains("the key two is granted 2 threads to trace with"));
    assert_eq!((of("two", "trace_threads"), of("two", "cycles")), (0, 0));
    threads.start(&start(2, 0, &three[..2]));
    assert_eq!(of("two", "trace_threads"), 2);
    // A bit for each 8 bytes fits; what is left to be looked at does not.
    let mut memory = client(3);
    memory.start(&here(1));
    memory.get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
    let text = memory.failure();
    assert!(text.contains("the key three is granted 200 bytes of memory to trace with"), "{text}");
    // Others do.
    let mut other = client(4);
    assert_eq!(other.trace(1, server.address), 1);
    let deadline = Instant::now() + Duration::from_secs(20);
    while of("four", "trace_bytes") + of("four", "trace_threads") + of("four", "cycles") > 0 {
        assert!(Instant::now() < deadline, "what it took is not given back");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn another_server_that_is_not_there() {
    let text = with_other_server(Duration::from_secs(20), drop);
    assert!(text.ends_with(": it cannot be reached") || text.contains("HELLO: "), "{text}");
    assert!(!text.contains("os error"), "what the network says is not for the client: {text}");
}

/// It goes away with a HELLO that it has not read: a reset.
#[test]
fn another_server_that_resets() {
    let text = with_other_server(Duration::from_secs(20), |listener| {
        let (stream, _) = listener.accept().unwrap();
        assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
    });
    assert!(text.ends_with("HELLO: the connection broke"), "{text}");
}

#[test]
fn another_server_that_hangs() {
    let (tell, told) = std::sync::mpsc::channel::<()>();
    // It does not even accept: the kernel does that for it.
    let text = with_other_server(Duration::from_millis(300), move |listener| {
        let _ = told.recv_timeout(Duration::from_secs(2));
        drop(listener);
    });
    drop(tell);
    assert!(text.contains("HELLO: only 0 of 32 bytes passed in time"), "{text}");
}

#[test]
fn another_server_that_dies_within_its_answer() {
    let text = with_other_server(Duration::from_secs(20), |listener| {
        let (mut stream, answer) = accept_hello(&listener);
        stream.write_all(&answer[..10]).unwrap();
    });
    assert!(text.contains("HELLO: the connection ended after 10 of 32 bytes"), "{text}");
}

#[test]
fn another_server_that_answers_something_else() {
    let text = with_other_server(Duration::from_secs(20), |listener| {
        let (mut stream, answer) = accept_hello(&listener);
        stream.write_all(&answer).unwrap();
        let _ = std::io::Read::read(&mut stream, &mut [0]);
    });
    assert!(text.contains("HELLO was answered by FENCE_ACK"), "{text}");
}

/// It says in a header that has nothing wrong that a megabyte comes, and sends none: nobody waits for it, and no memory is there for it.
#[test]
fn another_server_whose_answer_is_long() {
    let most = Op::Data.max_payload();
    let text = with_other_server(Duration::from_millis(300), move |listener| {
        let (mut stream, _) = accept_hello(&listener);
        stream.write_all(&lull_far_protocol::seal_with(Op::Data, 1, 0, most, 0)).unwrap();
        // Its end comes without a word.
        assert_eq!(std::io::Read::read(&mut stream, &mut [0]).unwrap_or_default(), 0);
    });
    assert!(text.ends_with(&format!("HELLO was answered by DATA with {most} bytes")), "{text}");
}

/// A server that has sent a part of an answer is waited for as long as a frame may take, also after the cycle. A client that begins one cycle
/// after the other with such a server is refused when there are as many who wait as there may be connections.
#[test]
fn threads_that_wait_for_a_server_that_hangs_are_bounded() {
    const MOST: u64 = 8;
    let server = server(|config| {
        config.frame_timeout = Duration::from_secs(60);
        config.max_connections = MOST as usize;
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let (metrics, listener) = (server.metrics_address.unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let there = listener.local_addr().unwrap();
    let pages = [page_of_one(BASE + PART, 0), page_of_one(BASE + PART, 0)];
    let mut client = Client::new(server.address, 1, &pages);
    let mut hanging = Vec::new();
    for cycle in 1..=MOST {
        client.start(&start(cycle, 0, &[server.address, there]));
        client.get(Op::Layout, &wire::encode_layouts(&[layout()]), Op::Status);
        client.get(Op::TraceRoots, &wire::encode_roots(&[BASE]), Op::Status);
        let (mut stream, answer) = accept_hello(&listener);
        stream.write_all(&answer[..4]).unwrap();
        hanging.push(stream);
        // It is in the middle of the answer when the cycle ends.
        std::thread::sleep(Duration::from_millis(200));
        client.get(Op::TraceEnd, &[], Op::LiveStats);
        assert_eq!(metric(metrics, "lull_memd_trace_senders"), cycle);
    }
    let text = client.ask(Op::TraceStart, &start(MOST + 1, 0, &[server.address, there]).encode()).error(ErrorCode::TooManyConnections);
    assert!(text.starts_with("8 threads send to other servers; with 1 more they would be more than the 8"), "{text}");
    // Alone it still traces, and with others, too, when those who wait have given up.
    let mut next = Client::new(server.address, 2, &pages);
    assert_eq!(next.trace(1, server.address), 2);
    drop(hanging);
    let end = Instant::now() + Duration::from_secs(20);
    while metric(metrics, "lull_memd_trace_senders") > 0 {
        assert!(Instant::now() < end, "they still wait");
        std::thread::sleep(Duration::from_millis(5));
    }
    next.start(&start(2, 0, &[server.address, there]));
}

#[test]
fn what_was_traced_for_a_client_that_is_gone_is_freed() {
    let server = server(|config| {
        config.linger = Duration::from_millis(1);
        config.memory = 2 * MB;
    });
    for id in 1..20 {
        let pages = 256;
        let mut control = Peer::hello(server.address, id, ChannelKind::Control, 1);
        let end = Instant::now() + Duration::from_secs(20);
        // All memory of the server, when the last client's has come back.
        while control.ask(&Message::RegionMap { pages: 2 * pages }, 1).message()
            != format!("{:?}", Message::RegionMapped { pages: 2 * pages })
        {
            assert!(Instant::now() < end, "the memory of client {} did not come back", id - 1);
            std::thread::sleep(Duration::from_millis(5));
        }
        let start = start(1, 0, &[server.address, "127.0.0.1:1".parse().unwrap()]);
        control.ask(&Message::Trace { op: Op::TraceStart, payload: &start.encode() }, 1);
        // Another server's connection does not keep a client alive.
        std::mem::forget(Peer::hello(server.address, TICKET, ChannelKind::Peer, 1));
    }
}

/// A server as a process, which is killed at the end.
struct Process(Child, SocketAddr);

impl Process {
    fn start() -> Process {
        Process::with(&["--memory", "16m", "--frame-timeout", "3", "--peers", "127.0.0.1"])
    }

    fn with(arguments: &[&str]) -> Process {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lull-memd"))
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
        let address = line.strip_prefix("listening at ").unwrap_or_else(|| panic!("{line:?}")).trim().parse().unwrap();
        Process(child, address)
    }

    /// Bytes of memory: what it has now, and the most that it ever had.
    fn resident(&self) -> [u64; 2] {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        ["VmRSS:", "VmHWM:"].map(|name| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
        })
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([&format!("-{name}"), &self.0.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Each object of a heap of the smallest ones is a root, and all wait for their layout, so that everything is to be done at once. The memory of
/// the process itself is looked at, not what it counts: a key that is granted less than that takes it takes no more than it is granted, but for
/// what is on its way.
#[test]
fn a_heap_of_the_smallest_objects_is_traced_with_the_memory_that_is_granted() {
    use std::os::unix::fs::OpenOptionsExt;
    const PAGES: usize = 4096;
    const SMALLEST: usize = 16;
    const BYTES: u64 = (PAGES * PAGE_SIZE) as u64;
    const GRANT: u64 = 8 * MB;
    const ON_ITS_WAY: u64 = 3 * MB;
    let path = std::env::temp_dir().join(format!("lull-traced-{}", std::process::id()));
    let mut file = std::fs::File::options().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    let line = |name: &str, byte: u8, grants: &str| format!("{name} {} {grants}\n", format!("{byte:02x}").repeat(32));
    file.write_all((line("bounded", 1, &format!("trace-memory={GRANT}")) + &line("free", 2, "")).as_bytes()).unwrap();
    // Each refers to the next one.
    let page = |number: usize| {
        let mut page = vec![0; PAGE_SIZE];
        for (object, bytes) in page.chunks_exact_mut(SMALLEST).enumerate() {
            let next = ((number * PAGE_SIZE + (object + 1) * SMALLEST) as u64 % BYTES) + BASE;
            bytes[8..12].copy_from_slice(&KLASS.to_le_bytes());
            bytes[12..16].copy_from_slice(&narrow(next));
        }
        page
    };
    for (byte, is_bounded) in [(1, true), (2, false)] {
        let process = Process::with(&["--memory", "32m", "--key", path.to_str().unwrap()]);
        let key = lull_far_auth::Key::new([byte; 32]);
        let [mut control, mut write] =
            [ChannelKind::Control, ChannelKind::Write].map(|kind| Peer::with_key(process.1, &key, hello(1, kind, 1)));
        control.map(1, PAGES as u64);
        for first in (0..PAGES).step_by(256) {
            let pages: Vec<u8> = (first..first + 256).flat_map(page).collect();
            let numbers: Vec<u64> = (first as u64..first as u64 + 256).collect();
            assert!(matches!(write.write(1, &numbers, &pages), Answer::Frame(..)));
        }
        let mut client = Client { control, _write: write };
        let before = process.resident()[0];
        let geometry = Geometry { base: BASE, bytes: BYTES, part: BYTES, narrow_base: 0, narrow_shift: 3, servers: 1 };
        client.start(&Start { cycle: 1, geometry, me: 0, ticket: [TICKET; 16], servers: vec![process.1] });
        let all: Vec<u64> = (0..BYTES).step_by(SMALLEST).map(|offset| BASE + offset).collect();
        let refused = all.chunks(16_000).any(|roots| match client.ask(Op::TraceRoots, &wire::encode_roots(roots)) {
            Answer::Frame(header, _) if header.op == Op::Status => false,
            answer => {
                assert!(answer.error(ErrorCode::TraceFailed).contains(&format!("is granted {GRANT} bytes of memory to trace with")));
                true
            }
        });
        let taken = process.resident()[1] - before;
        assert_eq!(refused, is_bounded, "{taken} bytes were taken");
        if is_bounded {
            assert!(taken > GRANT / 4 && taken <= GRANT + ON_ITS_WAY, "{taken} bytes were taken, {GRANT} are granted");
            continue;
        }
        assert!(taken > GRANT + ON_ITS_WAY, "{taken} bytes are what it takes: the bound says nothing");
        let layout = Layout { klass: KLASS, kind: Kind::Instance, bytes: 16, blocks: vec![Block { offset: 12, count: 1 }] };
        client.get(Op::Layout, &wire::encode_layouts(&[layout]), Op::Status);
        client.poll_until(|answer| match answer {
            Answer::Frame(header, payload) if header.op == Op::Status => wire::decode_status(payload).unwrap().1.idle,
            _ => false,
        });
        let (_, counts, _) = wire::decode_counts(&client.get(Op::TraceEnd, &[], Op::LiveStats)).unwrap();
        assert_eq!(counts.marked, BYTES / SMALLEST as u64);
    }
    std::fs::remove_file(path).unwrap();
}

/// Three servers are in the middle of a cycle: all wait for layouts. One is killed, or stopped. The others say which one is missing, or
/// the client notices by itself; and they trace the next heap.
#[test]
fn a_server_is_killed_or_hangs_in_the_middle() {
    let made = Made::new(11, 4_000);
    let path = std::env::temp_dir().join(format!("lull-killed-{}", std::process::id()));
    made.write(&path).unwrap();
    let export = Export::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    for signal in ["KILL", "STOP"] {
        let processes = [Process::start(), Process::start(), Process::start()];
        let addresses: Vec<SocketAddr> = processes.iter().map(|process| process.1).collect();
        let mut servers = Servers::load(&addresses, &export, PART, Duration::from_secs(3)).unwrap();
        servers.start(&export.roots).unwrap();
        let end = Instant::now() + Duration::from_secs(20);
        while servers.poll(1).unwrap().missing.len() < 3 {
            assert!(Instant::now() < end, "not all servers have a root");
        }
        processes[2].signal(signal);
        // The other two go on, and cannot send what is the third's.
        for server in 0..2 {
            servers.teach(server, &export.layouts).unwrap();
        }
        let named = format!("server 2 at {}: ", addresses[2]);
        for server in 0..2 {
            let text = loop {
                match servers.poll_one(server, 1) {
                    Ok(_) => assert!(Instant::now() < end, "server {server} has not noticed"),
                    Err(text) => break text,
                }
            };
            assert!(text.contains("TRACE_FAILED: cycle 1: ") && text.contains(&named), "{signal}: {text}");
        }
        let text = servers.poll(2).unwrap_err();
        assert!(text.contains("TRACE_FAILED"), "{text}");
        // The client itself sees it, too.
        let text = servers.poll_one(2, 2).unwrap_err();
        let want = if signal == "KILL" { "POLL" } else { "POLL was not answered in time" };
        assert!(
            text.starts_with(&format!("memory server {}: {want}", addresses[2])) || text.contains("the place of an answer to POLL"),
            "{text}"
        );
        drop(servers);
        let mut servers = Servers::load(&addresses[..2], &export, PART, Duration::from_secs(20)).unwrap();
        let traced = servers.trace(&export).unwrap();
        assert_eq!(compare(&export, &servers.geometry, &traced).unwrap().objects, made.marked());
    }
}
