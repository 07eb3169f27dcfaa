// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a server answers to a client that does nothing wrong.

mod common;

use common::{Answer, MB, Peer, page, server};
use lull_far_protocol::golden::frame;
use lull_far_protocol::{ChannelKind, Discard, ErrorCode, Fetch, HEADER_LEN, Header, Message, PAGE_SIZE, WriteAck, crc32c_of};
use proptest::prelude::*;
use std::time::{Duration, Instant};

fn bytes_of(answer: Answer) -> Vec<u8> {
    let Answer::Frame(header, payload) = answer else { panic!("closed") };
    let mut bytes = lull_far_protocol::seal(header.op, header.sequence, header.region, &[&payload]).to_vec();
    bytes.extend_from_slice(&payload);
    bytes
}

#[test]
fn golden_requests_have_golden_answers() {
    let server = server(|_| {});
    let mut peers: Vec<Peer> = ["hello-control", "hello-fetch", "hello-write"]
        .into_iter()
        .map(|name| {
            let mut peer = Peer::raw(server.address);
            peer.send(&frame(name));
            let Answer::Frame(header, payload) = peer.answer() else { panic!("closed") };
            assert!(matches!(Message::decode(&header, &payload), Ok(Message::HelloAck(_))));
            // All that does not depend on the server.
            let golden = frame("hello-ack");
            assert_eq!(payload[..16], golden[HEADER_LEN..HEADER_LEN + 16]);
            peer
        })
        .collect();
    let conversation = [
        (0, "region-map", Some("region-mapped")),
        (2, "write", Some("write-ack")),
        (2, "fence", Some("fence-ack")),
        (1, "fetch", Some("data")),
        (2, "discard", Some("discard-ack")),
        (0, "heartbeat", None),
        (0, "region-unmap", Some("region-unmapped")),
        (0, "bye", Some("bye")),
    ];
    for (peer, request, answer) in conversation {
        peers[peer].send(&frame(request));
        let got = bytes_of(peers[peer].answer());
        match answer {
            Some(answer) => assert!(got == frame(answer), "{request} is not answered by {answer}"),
            None => assert!(matches!(Header::decode(got.first_chunk().unwrap()), Ok(h) if h.op.name() == "HEARTBEAT_ACK")),
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(Vec<u64>, u64),
    Fetch(u64, u32),
    Discard(u64, u64),
}

const PAGES: u64 = 600;

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (prop::collection::btree_set(0..PAGES, 1..8), any::<u64>())
            .prop_map(|(numbers, seed)| Step::Write(numbers.into_iter().collect(), seed)),
        (0..PAGES, 1..=256_u32).prop_map(|(first, count)| Step::Fetch(first, count.min((PAGES - first) as u32))),
        (0..PAGES, 1..=PAGES).prop_map(|(first, count)| Step::Discard(first, count.min(PAGES - first))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_region_is_an_array_of_pages(steps in prop::collection::vec(step(), 1..40)) {
        let server = server(|_| {});
        let [_control, mut fetch, mut write] = Peer::client(server.address, 1, 9, PAGES);
        let mut model = vec![0; PAGES as usize * PAGE_SIZE];
        for step in steps {
            match step {
                Step::Write(numbers, seed) => {
                    let bytes: Vec<u8> = (0..numbers.len() as u64).flat_map(|i| page(seed ^ i)).collect();
                    for (&number, page) in numbers.iter().zip(bytes.chunks(PAGE_SIZE)) {
                        model[number as usize * PAGE_SIZE..][..PAGE_SIZE].copy_from_slice(page);
                    }
                    let want = WriteAck { count: numbers.len() as u32, content_crc: crc32c_of(&[&bytes]) };
                    prop_assert_eq!(write.write(9, &numbers, &bytes).message(), format!("{:?}", Message::WriteAck(want)));
                }
                Step::Fetch(first, count) => {
                    let want = &model[first as usize * PAGE_SIZE..][..count as usize * PAGE_SIZE];
                    prop_assert!(fetch.fetch(9, first, count) == want);
                }
                Step::Discard(first, count) => {
                    model[first as usize * PAGE_SIZE..][..count as usize * PAGE_SIZE].fill(0);
                    let run = Discard { first, count };
                    prop_assert_eq!(write.ask(&Message::Discard(run), 9).message(), format!("{:?}", Message::DiscardAck(run)));
                }
            }
        }
        for first in (0..PAGES).step_by(200) {
            prop_assert!(fetch.fetch(9, first, 200) == model[first as usize * PAGE_SIZE..][..200 * PAGE_SIZE]);
        }
    }
}

#[test]
fn clients_do_not_see_each_other() {
    let server = server(|_| {});
    let [_c1, mut fetch1, mut write1] = Peer::client(server.address, 1, 7, 4);
    let [_c2, mut fetch2, mut write2] = Peer::client(server.address, 2, 7, 4);
    assert!(matches!(write1.write(7, &[2], &page(1)), Answer::Frame(..)));
    assert!(matches!(write2.write(7, &[2], &page(2)), Answer::Frame(..)));
    assert!(fetch1.fetch(7, 2, 1) == page(1));
    assert!(fetch2.fetch(7, 2, 1) == page(2));
    let mut stranger = Peer::hello(server.address, 3, ChannelKind::Fetch, 1);
    let run = Fetch { first: 2, count: 1 };
    stranger.ask(&Message::Fetch(run), 7).error(ErrorCode::UnknownRegion);
}

#[test]
fn memory_comes_back_as_zeros() {
    let server = server(|_| {});
    for round in 1..4 {
        let pages = 8 * MB / PAGE_SIZE as u64;
        let [mut control, mut fetch, mut write] = Peer::client(server.address, round, 1, pages);
        assert!(fetch.fetch(1, pages - 256, 256).iter().all(|&byte| byte == 0), "another client's page");
        assert!(matches!(write.write(1, &[pages - 1], &page(3)), Answer::Frame(..)));
        assert_eq!(control.ask(&Message::Bye, 0).message(), "Bye");
        // The other connections hold nothing back.
        write.write(1, &[0], &page(3)).error(ErrorCode::UnknownRegion);
    }
}

/// Threads of a program that ends may run until it is gone.
#[test]
fn a_client_that_leaves_has_its_memory_until_its_last_connection_closes() {
    let server = server(|_| {});
    let all = 8 * MB / PAGE_SIZE as u64;
    let [mut control, mut fetch, mut write] = Peer::client(server.address, 1, 1, all);
    assert!(matches!(write.write(1, &[all - 1], &page(3)), Answer::Frame(..)));
    assert_eq!(control.ask(&Message::Leave, 0).message(), "Leave");
    drop(control);
    drop(write);
    assert!(fetch.fetch(1, all - 1, 1) == page(3));
    assert_eq!(server.used(), 8 * MB);
    drop(fetch);
    for _ in 0..1000 {
        if server.used() == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.used(), 0, "within the 30 s of --linger");
    Peer::client(server.address, 2, 1, all);
}

#[test]
fn an_unmapped_region_is_gone_and_its_memory_is_there_for_others() {
    let server = server(|_| {});
    let all = 8 * MB / PAGE_SIZE as u64;
    let [mut control, mut fetch, mut write] = Peer::client(server.address, 1, 1, all);
    assert!(matches!(write.write(1, &[all - 1], &page(3)), Answer::Frame(..)));
    let [mut other, _, mut fetch_other] =
        [ChannelKind::Control, ChannelKind::Write, ChannelKind::Fetch].map(|kind| Peer::hello(server.address, 2, kind, 1));
    // Only one's own.
    other.ask(&Message::RegionUnmap, 1).error(ErrorCode::UnknownRegion);
    other.ask(&Message::RegionMap { pages: all }, 1).error(ErrorCode::Full);
    assert_eq!(control.ask(&Message::RegionUnmap, 1).message(), "RegionUnmapped");
    control.ask(&Message::RegionUnmap, 1).error(ErrorCode::UnknownRegion);
    fetch.ask(&Message::Fetch(Fetch { first: 0, count: 1 }), 1).error(ErrorCode::UnknownRegion);
    other.map(1, all);
    assert!(fetch_other.fetch(1, all - 1, 1).iter().all(|&byte| byte == 0), "another client's page");
}

/// To make it zero takes long: nobody waits for that.
#[test]
fn memory_that_was_given_back_is_made_zero_beside() {
    let megabytes = 512;
    let server = server(|config| config.memory = megabytes * MB);
    let pages = megabytes * MB / PAGE_SIZE as u64;
    let mut control = Peer::hello(server.address, 1, ChannelKind::Control, 1);
    control.map(1, pages);
    let mut refusals = 0;
    for _ in 0..5 {
        assert_eq!(control.ask(&Message::RegionUnmap, 1).message(), "RegionUnmapped");
        let answer = control.ask(&Message::RegionMap { pages }, 1);
        if answer.message() != format!("{:?}", Message::RegionMapped { pages }) {
            answer.error(ErrorCode::NotYet);
            refusals += 1;
            control.map(1, pages);
        }
    }
    assert!(refusals > 0, "512 MB cannot be made zero between two requests");
}

#[test]
fn a_server_gives_a_region_only_when_all_of_its_memory_is_there() {
    let megabytes = 512;
    let server = server(|config| config.memory = megabytes * MB);
    let mut control = Peer::hello(server.address, 1, ChannelKind::Control, 1);
    let pages = megabytes * MB / PAGE_SIZE as u64;
    control.ask(&Message::RegionMap { pages: pages + 1 }, 1).error(ErrorCode::Full);
    loop {
        let answer = control.ask(&Message::RegionMap { pages }, 1);
        let committed = server.committed();
        if answer.message() == format!("{:?}", Message::RegionMapped { pages }) {
            assert_eq!(committed, megabytes * MB);
            break;
        }
        let text = answer.error(ErrorCode::NotYet);
        assert!(
            text.starts_with(&format!("region 1 of {pages} pages: "))
                && text.ends_with(" bytes of 536870912 free ones have memory and are zero yet"),
            "{text}"
        );
    }
}

#[test]
fn a_full_server_says_so_and_goes_on() {
    let server = server(|_| {});
    let [mut control, ..] = Peer::client(server.address, 1, 1, 7 * MB / PAGE_SIZE as u64);
    let text = control.ask(&Message::RegionMap { pages: 257 }, 2).error(ErrorCode::Full);
    assert_eq!(text, "region 2 of 257 pages does not fit into 1048576 free bytes of 8388608");
    control.ask(&Message::RegionMap { pages: u64::MAX / 4096 }, 2).error(ErrorCode::Full);
    assert!(matches!(control.ask(&Message::RegionMap { pages: 256 }, 2), Answer::Frame(h, _) if h.op.name() == "REGION_MAPPED"));
    // The same again is the same region; another size is not.
    assert!(matches!(control.ask(&Message::RegionMap { pages: 256 }, 2), Answer::Frame(h, _) if h.op.name() == "REGION_MAPPED"));
    control.ask(&Message::RegionMap { pages: 255 }, 2).error(ErrorCode::RegionExists);
    control.ask(&Message::RegionMap { pages: 1 }, 3).error(ErrorCode::Full);
}

#[test]
fn regions_outlive_connections_for_the_linger_time_only() {
    let server = server(|config| config.linger = Duration::from_millis(700));
    let [control, fetch, mut write] = Peer::client(server.address, 1, 1, 2048);
    assert!(matches!(write.write(1, &[5], &page(5)), Answer::Frame(..)));
    drop((control, fetch, write));
    // Back in time: everything is there.
    let mut fetch = Peer::hello(server.address, 1, ChannelKind::Fetch, 2);
    assert!(fetch.fetch(1, 5, 1) == page(5));
    // A connection keeps them, however long.
    std::thread::sleep(Duration::from_millis(1100));
    assert!(fetch.fetch(1, 5, 1) == page(5));
    drop(fetch);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut other = Peer::hello(server.address, 2, ChannelKind::Control, 1);
        let answer = other.ask(&Message::RegionMap { pages: 2048 }, 1);
        if matches!(&answer, Answer::Frame(h, _) if h.op.name() == "REGION_MAPPED") {
            break;
        }
        // Freed, and then made zero.
        answer.error_among(&[ErrorCode::Full, ErrorCode::NotYet]);
        other.ask(&Message::Bye, 0);
        assert!(Instant::now() < deadline, "the regions were never freed");
        std::thread::sleep(Duration::from_millis(50));
    }
    Peer::hello(server.address, 1, ChannelKind::Fetch, 1)
        .ask(&Message::Fetch(Fetch { first: 5, count: 1 }), 1)
        .error(ErrorCode::UnknownRegion);
}

#[test]
fn requests_may_be_sent_before_the_answers_are_read() {
    let server = server(|_| {});
    let [_control, mut fetch, mut write] = Peer::client(server.address, 1, 1, 64);
    let mut frames = Vec::new();
    for number in 0..64 {
        frames.extend(write.write_frame(1, &[number], &page(number)));
    }
    frames.extend(write.frame(&Message::Fence, 0));
    write.send(&frames);
    for sequence in 2..66 {
        assert!(matches!(write.answer(), Answer::Frame(h, _) if h.op.name() == "WRITE_ACK" && h.sequence == sequence));
    }
    assert_eq!(write.answer().message(), "FenceAck");
    let mut frames = Vec::new();
    for number in 0..64 {
        frames.extend(fetch.frame(&Message::Fetch(Fetch { first: number, count: 1 }), 1));
    }
    fetch.send(&frames);
    for number in 0..64 {
        let Answer::Frame(_, payload) = fetch.answer() else { panic!("closed") };
        assert!(payload[16..] == page(number));
    }
}

/// The server reads more than a header at once: where one frame ends and the next begins must not depend on how they arrive.
#[test]
fn frames_may_arrive_in_any_pieces() {
    let server = server(|_| {});
    let [mut control, mut fetch, mut write] = Peer::client(server.address, 1, 1, 16);
    let numbers: Vec<u64> = (0..4).collect();
    let pages: Vec<u8> = (0..4).flat_map(page).collect();
    for piece in (1..=66).chain([usize::MAX]) {
        let send = |peer: &mut Peer, bytes: &[u8]| {
            for part in bytes.chunks(piece) {
                peer.send(part);
                if piece % 16 == 1 {
                    std::thread::sleep(std::time::Duration::from_micros(50));
                }
            }
        };
        // Without a payload, with one of 8 bytes, without.
        let mut frames = Vec::new();
        for message in [Message::Heartbeat, Message::Heartbeat, Message::RegionMap { pages: 16 }, Message::Heartbeat] {
            frames.extend(control.frame(&message, 1));
        }
        send(&mut control, &frames);
        for want in ["HeartbeatAck", "HeartbeatAck", "RegionMapped", "HeartbeatAck"] {
            let got = control.answer().message();
            assert!(got.starts_with(want), "{got} instead of {want}, in pieces of {piece}");
        }
        // With one of 16 bytes.
        let runs = [Fetch { first: 3, count: 1 }, Fetch { first: 0, count: 2 }];
        let frames: Vec<u8> = runs.iter().flat_map(|&run| fetch.frame(&Message::Fetch(run), 1)).collect();
        send(&mut fetch, &frames);
        for run in runs {
            let Answer::Frame(header, payload) = fetch.answer() else { panic!("closed") };
            assert!(matches!(Message::decode(&header, &payload), Ok(Message::Data(data)) if data.run == run), "in pieces of {piece}");
        }
        // With more than that, which is too long for small pieces each time.
        if piece > 32 {
            let mut frames = write.frame(&Message::Fence, 1);
            frames.extend(write.write_frame(1, &numbers, &pages));
            frames.extend(write.frame(&Message::Fence, 1));
            send(&mut write, &frames);
            for want in ["FenceAck", "WriteAck", "FenceAck"] {
                let got = write.answer().message();
                assert!(got.starts_with(want), "{got} instead of {want}, in pieces of {piece}");
            }
            assert!(fetch.fetch(1, 0, 4) == pages);
        }
    }
}
