// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a server does when a client is cut off, broken, slow, or lies. After each, the pages are what they were, and another
//! client is served as before.

mod common;

use common::{Answer, MB, Peer, hello, page, server};
use lull_far_protocol::{
    ChannelKind, Discard, ErrorCode, Fetch, HEADER_LEN, Hello, Message, Op, PAGE_SIZE, RESERVED_OPS, VERSION_MAX, crc32c_of, seal,
};
use lull_memd::Server;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

/// A server with a client 1 whose region 1 has 16 pages with known contents, and what must hold afterwards.
struct Fixture {
    server: Server,
    peers: [Peer; 3],
}

impl Fixture {
    fn new() -> Fixture {
        Fixture::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut lull_memd::Config)) -> Fixture {
        let server = server(change);
        let mut peers = Peer::client(server.address, 1, 1, 16);
        assert!(matches!(peers[2].write(1, &numbers(), &pages()), Answer::Frame(..)));
        Fixture { server, peers }
    }

    /// A new write connection of the same client.
    fn writer(&self, generation: u64) -> Peer {
        Peer::hello(self.server.address, 1, ChannelKind::Write, generation)
    }

    fn nothing_has_changed(&mut self) {
        assert!(self.peers[1].fetch(1, 0, 16) == pages(), "a page has changed");
        let [mut control, ..] = Peer::client(self.server.address, 200, 1, 1);
        assert_eq!(control.ask(&Message::Bye, 0).message(), "Bye");
    }
}

fn numbers() -> Vec<u64> {
    (0..16).collect()
}

fn pages() -> Vec<u8> {
    (0..16).flat_map(page).collect()
}

fn other_pages() -> Vec<u8> {
    (100..116).flat_map(page).collect()
}

#[test]
fn a_frame_that_is_cut_off_anywhere_is_dropped_whole() {
    let mut fixture = Fixture::new();
    let length = HEADER_LEN + 8 + 16 * (8 + PAGE_SIZE);
    for (round, cut) in [0, 1, 31, 32, 33, 40, 168, 169, 4264, length - 4096, length - 1].into_iter().enumerate() {
        let mut writer = fixture.writer(2 + round as u64);
        let frame = writer.write_frame(1, &numbers(), &other_pages());
        assert_eq!(frame.len(), length);
        writer.send(&frame[..cut]);
        writer.stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(writer.answer(), Answer::Closed, "cut at {cut}");
        fixture.nothing_has_changed();
    }
}

#[test]
fn a_reset_within_a_frame_drops_it_whole() {
    let mut fixture = Fixture::new();
    for round in 0..8 {
        let mut writer = fixture.writer(2 + round);
        let fence = writer.frame(&Message::Fence, 0);
        let frame = writer.write_frame(1, &numbers(), &other_pages());
        writer.send(&fence);
        // An answer that has come and is not read makes the close a reset.
        writer.stream.peek(&mut [0]).unwrap();
        writer.send(&frame[..frame.len() - 1]);
        drop(writer);
        fixture.nothing_has_changed();
    }
}

#[test]
fn a_payload_with_a_wrong_checksum_changes_nothing_and_may_be_sent_again() {
    let mut fixture = Fixture::new();
    for bit in [0, 7, 64, 8 * 40, 8 * 5000] {
        let mut frame = fixture.peers[2].write_frame(1, &numbers(), &other_pages());
        frame[HEADER_LEN + bit / 8] ^= 1 << (bit % 8);
        fixture.peers[2].send(&frame);
        let text = fixture.peers[2].answer().error(ErrorCode::Crc);
        assert_eq!(text, "the checksum of a payload is wrong");
        fixture.nothing_has_changed();
    }
    assert!(matches!(fixture.peers[2].write(1, &numbers(), &other_pages()), Answer::Frame(h, _) if h.op == Op::WriteAck));
    assert!(fixture.peers[1].fetch(1, 0, 16) == other_pages());
}

#[test]
fn a_header_with_a_flipped_bit_closes_the_connection() {
    let mut fixture = Fixture::new();
    for (round, bit) in (0..HEADER_LEN * 8).step_by(11).enumerate() {
        let mut writer = fixture.writer(2 + round as u64);
        let mut frame = writer.write_frame(1, &[0], &page(99));
        frame[bit / 8] ^= 1 << (bit % 8);
        writer.send(&frame);
        writer.refused(ErrorCode::BadFrame);
    }
    fixture.nothing_has_changed();
}

#[test]
fn other_versions_page_sizes_and_features_are_refused_by_name() {
    let mut fixture = Fixture::new();
    let good = hello(9, ChannelKind::Control, 1);
    let cases = [
        (Hello { version_min: 2, version_max: 3, ..good }, "the client speaks the versions 2 to 3, this server 1"),
        (Hello { version_min: 0, version_max: 0, ..good }, "the client speaks the versions 0 to 0, this server 1"),
        (Hello { version_min: 2, version_max: 1, ..good }, "the client speaks the versions 2 to 1, this server 1"),
        (Hello { page_size_log2: 16, ..good }, "the client's pages have 2^16 bytes, this server's 2^12"),
        (Hello { features: 6, ..good }, "the client needs the features 0x6, this server has 0x1 only"),
    ];
    for (hello, want) in cases {
        let (mut peer, answer) = Peer::try_hello(fixture.server.address, hello);
        assert_eq!(answer.error(ErrorCode::Version), want);
        assert_eq!(peer.answer(), Answer::Closed);
    }
    // A client that also speaks newer versions gets the common one.
    let (_peer, answer) = Peer::try_hello(fixture.server.address, Hello { version_max: 7, ..good });
    assert!(answer.message().starts_with("HelloAck(HelloAck { version: 1,"), "{}", answer.message());
    // A frame of another version after a HELLO of this one.
    let mut writer = fixture.writer(2);
    let mut frame = writer.write_frame(1, &[0], &page(99));
    frame[4] = VERSION_MAX as u8 + 1;
    let crc = crc32c_of(&[&frame[..28]]);
    frame[28..32].copy_from_slice(&crc.to_le_bytes());
    writer.send(&frame);
    writer.refused(ErrorCode::Version);
    fixture.nothing_has_changed();
}

#[test]
fn a_length_that_lies_is_refused_before_the_payload() {
    let mut fixture = Fixture::new();
    let before = resident();
    for (round, length) in [1 << 20, (8 + 256 * (8 + PAGE_SIZE)) as u32 + 1, u32::MAX].into_iter().enumerate() {
        let op = if round == 0 { Op::Fence } else { Op::Write };
        let mut writer = fixture.writer(2 + round as u64);
        writer.sequence += 1;
        let mut head = seal(op, writer.sequence, 1, &[]);
        head[20..24].copy_from_slice(&length.to_le_bytes());
        let crc = crc32c_of(&[&head[..28]]);
        head[28..].copy_from_slice(&crc.to_le_bytes());
        writer.send(&head);
        // Nothing else was sent: an answer shows that the server does not wait for the payload.
        writer.refused(ErrorCode::TooLong);
    }
    assert!(resident() < before + (64 << 20), "memory was taken for a length");
    // A length that is allowed, with a count that does not fit to it.
    for (round, count) in [0, 1, 3, 257, u32::MAX].into_iter().enumerate() {
        let mut writer = fixture.writer(10 + round as u64);
        let mut payload = vec![0; 8 + 2 * (8 + PAGE_SIZE)];
        payload[..4].copy_from_slice(&count.to_le_bytes());
        payload[16] = 1;
        let mut frame = seal(Op::Write, 2, 1, &[&payload]).to_vec();
        frame.extend_from_slice(&payload);
        writer.send(&frame);
        writer.refused(ErrorCode::BadRequest);
    }
    fixture.nothing_has_changed();
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * PAGE_SIZE as u64
}

#[test]
fn unknown_and_reserved_operations_are_refused() {
    let mut fixture = Fixture::new();
    let mut generation = 1;
    for number in RESERVED_OPS.iter().map(|(number, _)| *number).chain([0, 23, 31, 255]) {
        generation += 1;
        let mut writer = fixture.writer(generation);
        let mut head = seal(Op::Fence, 2, 0, &[]);
        head[6] = number;
        let crc = crc32c_of(&[&head[..28]]);
        head[28..].copy_from_slice(&crc.to_le_bytes());
        writer.send(&head);
        assert_eq!(writer.refused(ErrorCode::UnknownOperation), format!("{number} is the number of no operation"));
    }
    fixture.nothing_has_changed();
}

#[test]
fn operations_are_refused_on_the_wrong_kind_of_connection() {
    let mut fixture = Fixture::new();
    let run = Fetch { first: 0, count: 1 };
    let requests = [
        (Message::RegionMap { pages: 1 }, ChannelKind::Control),
        (Message::Heartbeat, ChannelKind::Control),
        (Message::Bye, ChannelKind::Control),
        (Message::Fetch(run), ChannelKind::Fetch),
        (Message::Discard(Discard { first: 0, count: 1 }), ChannelKind::Write),
        (Message::Fence, ChannelKind::Write),
        (Message::FenceAck, ChannelKind::Write),
        (Message::Hello(hello(1, ChannelKind::Write, 1)), ChannelKind::Write),
    ];
    let mut generation = 1;
    for kind in [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write] {
        for (request, right) in &requests {
            if kind == *right && !matches!(request, Message::FenceAck | Message::Hello(_)) {
                continue;
            }
            generation += 1;
            let mut peer = Peer::hello(fixture.server.address, 1, kind, generation);
            let frame = peer.frame(request, 1);
            peer.send(&frame);
            peer.refused(ErrorCode::BadRequest);
        }
    }
    fixture.peers[1] = Peer::hello(fixture.server.address, 1, ChannelKind::Fetch, 1000);
    fixture.nothing_has_changed();
}

#[test]
fn the_first_frame_must_be_a_hello() {
    let mut fixture = Fixture::new();
    let mut peer = Peer::raw(fixture.server.address);
    let frame = peer.frame(&Message::Heartbeat, 0);
    peer.send(&frame);
    assert_eq!(peer.refused(ErrorCode::BadRequest), "the first frame is HEARTBEAT; it must be HELLO");
    for bytes in [&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[0; 64], &[0xFF; 64]] {
        let mut peer = Peer::raw(fixture.server.address);
        peer.send(bytes);
        peer.refused(ErrorCode::BadFrame);
    }
    fixture.nothing_has_changed();
}

#[test]
fn sequence_numbers_have_no_gaps_and_no_repetitions() {
    let mut fixture = Fixture::new();
    for (generation, sequence) in [(2, 1), (3, 3), (4, 0), (5, u64::MAX)] {
        let mut writer = fixture.writer(generation);
        writer.sequence = sequence - u64::from(sequence != 0);
        let mut frame = writer.write_frame(1, &[0], &page(99));
        if sequence == 0 {
            let head = seal(Op::Write, 0, 1, &[&frame[HEADER_LEN..]]);
            frame[..HEADER_LEN].copy_from_slice(&head);
        }
        writer.send(&frame);
        writer.refused(ErrorCode::BadSequence);
    }
    fixture.nothing_has_changed();
}

#[test]
fn pages_out_of_range_are_refused_and_none_of_the_frame_is_applied() {
    let mut fixture = Fixture::new();
    let mut writer = fixture.writer(2);
    let frame = writer.write_frame(1, &[0, 1, 16], &other_pages()[..3 * PAGE_SIZE]);
    writer.send(&frame);
    assert_eq!(writer.refused(ErrorCode::OutOfRange), "pages 16 and 1 from there on are not in region 1, which has 16");
    for (generation, run) in [(3, Discard { first: 15, count: 2 }), (4, Discard { first: 0, count: 1 << 50 })] {
        let mut writer = fixture.writer(generation);
        let frame = writer.frame(&Message::Discard(run), 1);
        writer.send(&frame);
        writer.refused(ErrorCode::OutOfRange);
    }
    let mut fetcher = Peer::hello(fixture.server.address, 1, ChannelKind::Fetch, 2);
    let frame = fetcher.frame(&Message::Fetch(Fetch { first: 15, count: 2 }), 1);
    fetcher.send(&frame);
    fetcher.refused(ErrorCode::OutOfRange);
    fixture.peers[1] = Peer::hello(fixture.server.address, 1, ChannelKind::Fetch, 3);
    fixture.nothing_has_changed();
}

/// Short, and long enough for a peer that is only on a busy machine.
const SLOW: Duration = Duration::from_secs(3);

#[test]
fn a_client_that_sends_byte_by_byte_is_dropped() {
    let mut fixture = Fixture::with(|config| config.frame_timeout = SLOW);
    for (generation, prefix) in [(2, 1), (3, HEADER_LEN + 100)] {
        let mut writer = fixture.writer(generation);
        let frame = writer.write_frame(1, &numbers(), &other_pages());
        writer.send(&frame[..prefix]);
        // Each byte comes well within the time for a frame; the frame, of 65,000, does not.
        let mut rest = frame[prefix..].iter();
        writer.stream.set_nonblocking(true).unwrap();
        while writer.stream.peek(&mut [0]).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            let byte = rest.next().expect("the whole frame was taken");
            let _ = writer.stream.write(&[*byte]);
            std::thread::sleep(Duration::from_millis(20));
        }
        writer.stream.set_nonblocking(false).unwrap();
        writer.answer().error(ErrorCode::Timeout);
    }
    // Nor may it keep a connection open without saying who it is.
    let mut silent = Peer::raw(fixture.server.address);
    silent.refused(ErrorCode::Timeout);
    // A client that says nothing between two frames is welcome to.
    fixture.nothing_has_changed();
}

#[test]
fn a_client_that_never_reads_is_dropped_and_others_are_served() {
    let mut fixture = Fixture::with(|config| {
        config.frame_timeout = SLOW;
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let metrics = fixture.server.metrics_address.unwrap();
    let open = || common::metric(metrics, "lull_memd_connections");
    let mut hung = Peer::raw(fixture.server.address);
    hung.ask(&Message::Hello(Hello { channel: 1, ..hello(1, ChannelKind::Fetch, 1) }), 0);
    assert_eq!(open(), 4);
    // Answers of 64 KB each, 128 MB in all: more than any socket buffers hold, so that the server has to wait.
    let requests: Vec<u8> = (0..2000).flat_map(|_| hung.frame(&Message::Fetch(Fetch { first: 0, count: 16 }), 1)).collect();
    hung.send(&requests);
    let deadline = Instant::now() + Duration::from_secs(60);
    while open() == 4 {
        assert!(fixture.peers[1].fetch(1, 0, 16) == pages());
        assert!(Instant::now() < deadline, "a client that does not read keeps its connection");
    }
    let mut bytes = vec![0; 1 << 20];
    let mut total = 0;
    while let Ok(count @ 1..) = hung.stream.read(&mut bytes) {
        total += count;
    }
    assert!(total < 2000 * 16 * PAGE_SIZE, "all requests were answered");
    fixture.nothing_has_changed();
}

#[test]
fn nothing_of_a_replaced_connection_is_applied() {
    let mut fixture = Fixture::new();
    let mut old = fixture.writer(2);
    let frame = old.write_frame(1, &numbers(), &other_pages());
    old.send(&frame[..frame.len() - 1]);
    let mut new = fixture.writer(3);
    // The last byte of the old frame comes after the new connection was accepted.
    let _ = old.stream.write_all(&frame[frame.len() - 1..]);
    match old.answer() {
        Answer::Closed => {}
        answer => drop(answer.error(ErrorCode::StaleChannel)),
    }
    fixture.nothing_has_changed();
    assert!(matches!(new.write(1, &numbers(), &other_pages()), Answer::Frame(h, _) if h.op == Op::WriteAck));
    // An older generation, or the same, does not take it over again.
    for generation in [1, 2, 3] {
        let (mut peer, answer) = Peer::try_hello(fixture.server.address, hello(1, ChannelKind::Write, generation));
        answer.error(ErrorCode::StaleChannel);
        assert_eq!(peer.answer(), Answer::Closed);
    }
    assert!(matches!(new.write(1, &numbers(), &pages()), Answer::Frame(h, _) if h.op == Op::WriteAck));
    fixture.nothing_has_changed();
}

#[test]
fn an_old_connection_full_of_writes_never_undoes_a_new_one() {
    let mut fixture = Fixture::new();
    for round in 0..60 {
        let mut old = fixture.writer(2 + 2 * round);
        old.stream.set_nonblocking(true).unwrap();
        // As many writes as the socket takes, without waiting for an answer.
        for _ in 0..40 {
            let frame = old.write_frame(1, &numbers(), &other_pages());
            if old.stream.write(&frame).is_ok_and(|count| count == frame.len()) {
                continue;
            }
            break;
        }
        let mut new = fixture.writer(3 + 2 * round);
        assert!(matches!(new.write(1, &numbers(), &pages()), Answer::Frame(h, _) if h.op == Op::WriteAck));
        for _ in 0..3 {
            fixture.nothing_has_changed();
        }
    }
}

#[test]
fn too_many_connections_are_turned_away_with_a_reason() {
    let mut fixture = Fixture::with(|config| config.max_connections = 6);
    let more: Vec<Peer> = (2..5).map(|i| Peer::hello(fixture.server.address, i, ChannelKind::Control, 1)).collect();
    let (mut one_too_many, answer) = Peer::try_hello(fixture.server.address, hello(9, ChannelKind::Control, 1));
    let text = answer.error(ErrorCode::TooManyConnections);
    assert_eq!(one_too_many.answer(), Answer::Closed);
    assert_eq!(text, "6 connections are open, which is as many as --max-connections allows");
    assert!(fixture.peers[1].fetch(1, 0, 16) == pages());
    drop(more);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let (_peer, answer) = Peer::try_hello(fixture.server.address, hello(9, ChannelKind::Control, 1));
        if answer.message().starts_with("HelloAck") {
            break;
        }
        assert!(Instant::now() < deadline, "a closed connection still counts");
    }
}

#[test]
fn a_server_that_stops_serves_those_who_are_there() {
    let Fixture { server, mut peers } = Fixture::with(|config| config.drain = Duration::from_secs(60));
    let address = server.address;
    let handle = server.handle();
    handle.stop();
    let (mut late, answer) = Peer::try_hello(address, hello(5, ChannelKind::Control, 1));
    answer.error(ErrorCode::ShuttingDown);
    assert_eq!(late.answer(), Answer::Closed);
    assert!(peers[0].ask(&Message::Heartbeat, 0).message().ends_with("stopping: true })"));
    assert!(peers[1].fetch(1, 0, 16) == pages());
    // A client that lost a connection comes back.
    let mut again = Peer::hello(address, 1, ChannelKind::Write, 2);
    assert!(matches!(again.write(1, &[3], &page(33)), Answer::Frame(h, _) if h.op == Op::WriteAck));
    assert!(peers[1].fetch(1, 3, 1) == page(33));
    // When the last has left, it ends, with nothing lost.
    assert_eq!(peers[0].ask(&Message::Bye, 0).message(), "Bye");
    assert_eq!(server.wait(), 0);
    drop(peers);
}

#[test]
fn a_server_that_must_stop_says_what_is_lost() {
    let Fixture { server, mut peers } = Fixture::with(|config| config.drain = Duration::from_millis(200));
    server.handle().stop();
    assert_eq!(server.wait(), MB);
    peers[1].refused(ErrorCode::ShuttingDown);
}

/// Who asks for one thing after the other gives the server no moment in which nothing comes.
#[test]
fn a_busy_connection_ends_when_the_server_does() {
    let Fixture { server, mut peers } = Fixture::with(|_| {});
    server.handle().stop_now();
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let answer = peers[0].ask(&Message::Heartbeat, 0);
        if !answer.message().starts_with("HeartbeatAck") {
            answer.error(ErrorCode::ShuttingDown);
            break;
        }
        assert!(Instant::now() < deadline, "it is still served");
    }
}
