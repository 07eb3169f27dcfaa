// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who may use a server, and how much of it one of them may take.

mod common;

use common::{Answer, MB, Peer, hello, page, server};
use lull_far_auth::file::parse;
use lull_far_auth::{Entry, Key, Share, proof};
use lull_far_protocol::{ChannelKind, ErrorCode, Hello, Message, PAGE_SIZE, Prove, VERSION_ENCRYPTED, VERSION_PLAIN};
use lull_memd::Server;
use std::io::Read;
use std::net::TcpStream;
use std::time::{Duration, Instant};

const PAGES_OF_A_MEGABYTE: u64 = MB / PAGE_SIZE as u64;

fn hex(byte: u8) -> String {
    format!("{byte:02x}").repeat(32)
}

fn key(byte: u8) -> Key {
    Key::new([byte; 32])
}

/// A server with these lines in its file of keys.
fn keyed(lines: &str, change: impl FnOnce(&mut lull_memd::Config)) -> Server {
    let keys: Vec<Entry> = parse(lines).unwrap();
    server(|config| {
        config.keys = keys;
        change(config);
    })
}

fn one_key() -> Server {
    keyed(&format!("one {}", hex(1)), |_| {})
}

#[test]
fn who_has_no_key_or_another_one_is_refused_by_name() {
    let server = one_key();
    let control = hello(1, ChannelKind::Control, 1);
    let (mut peer, answer) = Peer::try_hello(server.address, control);
    let text = answer.error(ErrorCode::NotAuthenticated);
    assert_eq!(text, "this server serves only who has one of its keys: start the client with --key FILE");
    assert_eq!(peer.answer(), Answer::Closed);
    let (mut peer, answer) = Peer::try_key(server.address, &key(2), control);
    let text = answer.error(ErrorCode::NotAuthenticated);
    assert_eq!(text, "the client's key is none of this server's: give both sides the same one");
    assert_eq!(peer.answer(), Answer::Closed);
    // The number of the right key is no secret: it proves nothing.
    let (mut peer, answer) = Peer::try_hello(server.address, control.with_key(VERSION_ENCRYPTED));
    assert!(answer.message().starts_with("Challenge("));
    let prove = Prove { key: key(1).id(), nonce: [0; 32], proof: [0; 32] };
    peer.ask(&Message::Prove(prove), 0).error(ErrorCode::NotAuthenticated);
    assert_eq!(peer.answer(), Answer::Closed);
    // Nor can the proof be left out.
    let (mut peer, _) = Peer::try_hello(server.address, control.with_key(VERSION_ENCRYPTED));
    let text = peer.ask(&Message::RegionMap { pages: 1 }, 1).error(ErrorCode::BadRequest);
    assert_eq!(text, "the frame after CHALLENGE is REGION_MAP; it must be PROVE");
    assert_eq!(peer.answer(), Answer::Closed);
    let mut right = Peer::with_key(server.address, &key(1), control);
    right.map(1, 1);
}

#[test]
fn a_client_with_a_key_is_told_if_the_server_has_none() {
    let server = server(|_| {});
    let (mut peer, answer) = Peer::try_key(server.address, &key(1), hello(1, ChannelKind::Control, 1));
    let text = answer.error(ErrorCode::NotAuthenticated);
    assert_eq!(text, "the client has a key, and this server none: start the server with --key FILE, or the client without it");
    assert_eq!(peer.answer(), Answer::Closed);
}

/// A client of before frames were encrypted, and one that wants plain frames, are told what both speak.
#[test]
fn versions_of_both_sides_are_named_where_they_do_not_fit() {
    let server = one_key();
    let old = hello(1, ChannelKind::Control, 1).with_key(VERSION_PLAIN);
    let (mut peer, answer) = Peer::try_key_of(server.address, &key(1), old);
    let want = "the client speaks the versions 1 to 1, this server 3 with who has a key, whose frames are encrypted: take a newer client, \
                or start the server with --plain-frames";
    assert_eq!(answer.error(ErrorCode::Version), want);
    assert_eq!(peer.answer(), Answer::Closed);
    // What a server of before says to a client of now: as one without a key does to somebody without one.
    let open = common::server(|_| {});
    let new = Hello { version_min: VERSION_ENCRYPTED, version_max: VERSION_ENCRYPTED, ..hello(1, ChannelKind::Control, 1) };
    let (_, answer) = Peer::try_hello(open.address, new);
    assert_eq!(answer.error(ErrorCode::Version), "the client speaks the versions 3 to 3, this server 1");
    // Where it is permitted, a client has what it wants, and the better of what it can.
    let permits = keyed(&format!("one {}", hex(1)), |config| config.plain_frames = true);
    for (version_min, version_max, speaks) in
        [(VERSION_PLAIN, VERSION_PLAIN, VERSION_PLAIN), (VERSION_PLAIN, 9, VERSION_ENCRYPTED), (2, VERSION_ENCRYPTED, VERSION_ENCRYPTED)]
    {
        let hello = Hello { version_min, version_max, ..hello(u8::try_from(version_max).unwrap(), ChannelKind::Control, 1).with_key(1) };
        let (mut peer, answer) = Peer::try_key_of(permits.address, &key(1), hello);
        assert!(answer.message().contains(&format!("version: {speaks},")), "{}", answer.message());
        assert_eq!(peer.frames.is_some(), speaks == VERSION_ENCRYPTED);
        assert!(peer.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
    }
}

/// Who encrypts without what both sides draw for a connection is refused by name, also where plain frames are permitted; and each connection has
/// another challenge.
#[test]
fn a_peer_without_forward_secrecy_is_refused_by_name() {
    let old = Hello { version_min: 2, version_max: 2, ..hello(1, ChannelKind::Control, 1).with_key(2) };
    let encrypted = "3 with who has a key, whose frames are encrypted: take a newer client, or start the server with --plain-frames";
    for (plain, speaks) in [(false, encrypted), (true, "3 and 1 with who has a key: take a newer client")] {
        let server = keyed(&format!("one {}", hex(1)), |config| config.plain_frames = plain);
        let (mut peer, answer) = Peer::try_hello(server.address, old);
        assert_eq!(answer.error(ErrorCode::Version), format!("the client speaks the versions 2 to 2, this server {speaks}"));
        assert_eq!(peer.answer(), Answer::Closed);
    }
}

/// What was seen on one connection is of no use on another one.
#[test]
fn a_proof_cannot_be_used_again() {
    let server = one_key();
    let control = hello(1, ChannelKind::Control, 1).with_key(VERSION_ENCRYPTED);
    let challenge_of = |answer: &Answer| {
        let Answer::Frame(header, payload) = answer else { panic!("closed") };
        let Ok(Message::Challenge(challenge)) = Message::decode(header, payload) else { panic!("no CHALLENGE") };
        challenge
    };
    let (mut first, answer) = Peer::try_hello(server.address, control);
    let key = key(1);
    let seen = proof::Client::new(&key, &control, challenge_of(&answer), Share::of([7; 32])).prove();
    let (mut second, answer_to_second) = Peer::try_hello(server.address, control);
    assert_ne!(challenge_of(&answer), challenge_of(&answer_to_second));
    second.ask(&Message::Prove(seen), 0).error(ErrorCode::NotAuthenticated);
    // It is right where it belongs.
    assert!(first.ask(&Message::Prove(seen), 0).message().starts_with("Proved("));
}

/// Who knows a client's number, and not the key, neither reads its pages nor locks it out.
#[test]
fn a_generation_counts_only_after_the_proof() {
    let server = one_key();
    let of = |kind, generation| hello(1, kind, generation);
    let mut control = Peer::with_key(server.address, &key(1), of(ChannelKind::Control, 1));
    control.map(1, 4);
    let mut write = Peer::with_key(server.address, &key(1), of(ChannelKind::Write, 1));
    assert!(matches!(write.write(1, &[2], &page(2)), Answer::Frame(..)));
    for kind in [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write] {
        Peer::try_hello(server.address, of(kind, u64::MAX)).1.error(ErrorCode::NotAuthenticated);
        Peer::try_key(server.address, &key(2), of(kind, u64::MAX)).1.error(ErrorCode::NotAuthenticated);
    }
    assert!(matches!(write.write(1, &[3], &page(3)), Answer::Frame(h, _) if h.op.name() == "WRITE_ACK"));
    let mut write = Peer::with_key(server.address, &key(1), of(ChannelKind::Write, 2));
    assert!(matches!(write.write(1, &[1], &page(1)), Answer::Frame(h, _) if h.op.name() == "WRITE_ACK"));
    let mut fetch = Peer::with_key(server.address, &key(1), of(ChannelKind::Fetch, 1));
    assert!(fetch.fetch(1, 1, 3) == [page(1), page(2), page(3)].concat());
}

/// Two keys are two clients, also with the same number.
#[test]
fn another_key_has_none_of_a_clients_regions() {
    let server = keyed(&format!("one {}\ntwo {}", hex(1), hex(2)), |_| {});
    let mut control = Peer::with_key(server.address, &key(1), hello(1, ChannelKind::Control, 1));
    control.map(1, 4);
    let mut other = Peer::with_key(server.address, &key(2), hello(1, ChannelKind::Control, u64::MAX));
    other.ask(&Message::RegionUnmap, 1).error(ErrorCode::UnknownRegion);
    assert_eq!(other.ask(&Message::Bye, 0).message(), "Bye");
    assert!(control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
    assert_eq!(control.ask(&Message::RegionUnmap, 1).message(), "RegionUnmapped");
}

#[test]
fn one_key_gets_no_more_memory_than_it_is_granted_and_others_go_on() {
    let server = keyed(&format!("one {} memory=2m\ntwo {}", hex(1), hex(2)), |_| {});
    let mut clients = [1, 2].map(|client| Peer::with_key(server.address, &key(1), hello(client, ChannelKind::Control, 1)));
    clients[0].map(1, PAGES_OF_A_MEGABYTE);
    // All clients of a key together.
    let text = clients[1].ask(&Message::RegionMap { pages: PAGES_OF_A_MEGABYTE + 1 }, 1).error(ErrorCode::Full);
    assert_eq!(text, "region 1 of 257 pages: the key one has 1048576 bytes of the 2097152 that it is granted");
    clients[1].ask(&Message::RegionMap { pages: u64::MAX / 4096 }, 1).error(ErrorCode::Full);
    clients[1].map(1, 1);
    clients[0].ask(&Message::RegionMap { pages: 1 }, 2).error(ErrorCode::Full);
    let mut other = Peer::with_key(server.address, &key(2), hello(1, ChannelKind::Control, 1));
    other.map(1, 5 * PAGES_OF_A_MEGABYTE);
    // What is given back may be had again.
    assert_eq!(clients[1].ask(&Message::RegionUnmap, 1).message(), "RegionUnmapped");
    clients[0].map(2, 1);
}

#[test]
fn one_key_gets_no_more_connections_than_it_is_granted() {
    let server = keyed(&format!("one {} connections=3\ntwo {}", hex(1), hex(2)), |_| {});
    let of = |client, generation| hello(client, ChannelKind::Control, generation);
    let all: Vec<Peer> = (1..4).map(|client| Peer::with_key(server.address, &key(1), of(client, 1))).collect();
    let text = Peer::try_key(server.address, &key(1), of(4, 1)).1.error(ErrorCode::TooManyConnections);
    assert_eq!(text, "the key one has 3 connections, as many as it is granted");
    drop(Peer::with_key(server.address, &key(2), of(4, 1)));
    drop(all);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !Peer::try_key(server.address, &key(1), of(5, 1)).1.message().starts_with("Proved(") {
        assert!(Instant::now() < deadline, "a closed connection still counts");
    }
}

/// Strangers that say nothing, however many, keep nobody out who is known, and take no more than their places.
#[test]
fn a_client_comes_back_past_a_thousand_silent_connections() {
    let server = keyed(&format!("one {}", hex(1)), |config| {
        config.max_connections = 20;
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let mut control = Peer::with_key(server.address, &key(1), hello(1, ChannelKind::Control, 1));
    control.map(1, 4);
    let silent: Vec<TcpStream> = (0..1000).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    for generation in 2..6 {
        control = Peer::with_key(server.address, &key(1), hello(1, ChannelKind::Control, generation));
    }
    assert!(control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
    let metric = |name| common::metric(server.metrics_address.unwrap(), name);
    // Each was taken out of the queue before the client was.
    assert!(metric("lull_memd_strangers_dropped_total") >= 1000 - 64);
    // The first of them have been closed, and their threads end.
    let mut first = &silent[0];
    first.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = first.read(&mut [0; 1024]);
    let deadline = Instant::now() + Duration::from_secs(20);
    while metric("lull_memd_connections") > 64 + 6 {
        assert!(Instant::now() < deadline, "connections that were closed are still there");
        std::thread::sleep(Duration::from_millis(10));
    }
    // And a server in which everybody is a stranger until HELLO is the same.
    drop(silent);
}

/// Who takes all places of strangers, over and over, while a client is in the middle of its handshake: that one is known in the end.
#[test]
fn a_flood_from_one_address_keeps_out_nobody_from_another() {
    let server = one_key();
    let control = hello(1, ChannelKind::Control, 1).with_key(VERSION_ENCRYPTED);
    let (mut client, answer) = Peer::try_hello(server.address, control);
    let Answer::Frame(header, payload) = answer else { panic!("closed") };
    let Ok(Message::Challenge(challenge)) = Message::decode(&header, &payload) else { panic!("no CHALLENGE") };
    let mut flood: Vec<TcpStream> = (0..500).map(|_| common::connect_from([127, 0, 0, 2], server.address)).collect();
    // All of them were taken out of the queue before this one, whose answer says so.
    flood.push(Peer::try_hello(server.address, Hello { client: [2; 16], ..control }).0.stream);
    let key = key(1);
    let prove = proof::Client::new(&key, &control, challenge, Share::of([7; 32])).prove();
    assert!(client.ask(&Message::Prove(prove), 0).message().starts_with("Proved("));
}

/// Who has memory here can come back when those who have none have taken all places that they may.
#[test]
fn places_are_kept_for_clients_that_have_memory() {
    let server = server(|config| config.max_connections = 20);
    let [control, _fetch, _write] = Peer::client(server.address, 1, 1, 4);
    let mut others: Vec<Peer> = Vec::new();
    let text = loop {
        let (peer, answer) = Peer::try_hello(server.address, hello(100 + others.len() as u8, ChannelKind::Control, 1));
        if !answer.message().starts_with("HelloAck") {
            break answer.error(ErrorCode::TooManyConnections);
        }
        others.push(peer);
    };
    let want = "18 connections are open; the rest of --max-connections is kept for clients that have memory here";
    assert_eq!((others.len(), &text[..]), (15, want));
    drop(control);
    let mut again = Peer::hello(server.address, 1, ChannelKind::Control, 2);
    assert_eq!(again.ask(&Message::RegionUnmap, 1).message(), "RegionUnmapped");
}

/// A path has dropped everything, and the server has not noticed yet: the client's old connections do not keep it out, whatever is full.
#[test]
fn a_client_comes_back_before_its_old_connections_have_ended() {
    let server = keyed(&format!("one {} connections=3", hex(1)), |config| config.max_connections = 3);
    let all = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write];
    let mut open: Vec<Peer> = all.map(|kind| Peer::with_key(server.address, &key(1), hello(1, kind, 1))).into();
    open[0].map(1, 4);
    for generation in 2..6 {
        let mut again: Vec<Peer> = all.map(|kind| Peer::with_key(server.address, &key(1), hello(1, kind, generation))).into();
        again[1].fetch(1, 0, 4);
        open.append(&mut again);
    }
    // A fourth at once is more than it may have.
    let other = Hello { channel: 1, ..hello(1, ChannelKind::Fetch, 1) };
    Peer::try_key(server.address, &key(1), other).1.error(ErrorCode::TooManyConnections);
}

/// A client that asks, takes no answer, and takes its own channel over, again and again, keeps none of the threads that write to it.
#[test]
fn connections_that_take_no_answer_end_when_they_are_taken_over() {
    let server = server(|config| {
        config.frame_timeout = Duration::from_secs(3600);
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let [_control, _fetch, _write] = Peer::client(server.address, 1, 1, 64);
    let metric = |name| common::metric(server.metrics_address.unwrap(), name);
    let mut deaf = Vec::new();
    for generation in 2..9 {
        let mut peer = retry(server.address, hello(1, ChannelKind::Fetch, generation));
        let run = lull_far_protocol::Fetch { first: 0, count: 64 };
        // More than the buffers of both ends have room for.
        let frames: Vec<u8> = (0..64).flat_map(|_| peer.frame(&Message::Fetch(run), 1)).collect();
        peer.send(&frames);
        deaf.push(peer);
        // Until its thread stands still, though it tries again now and then.
        let (mut same, mut answered) = (0, 0);
        while same < 6 {
            std::thread::sleep(Duration::from_millis(50));
            let before = std::mem::replace(&mut answered, metric("lull_memd_pages_fetched_total"));
            same = if answered == before { same + 1 } else { 0 };
        }
    }
    let connections = || metric("lull_memd_connections");
    let deadline = Instant::now() + Duration::from_secs(20);
    // Control, write, the last one, the one before it.
    while connections() > 4 {
        assert!(Instant::now() < deadline, "{} connections are open", connections());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A connection, as soon as older ones have ended.
fn retry(address: std::net::SocketAddr, hello: Hello) -> Peer {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let (peer, answer) = Peer::try_hello(address, hello);
        if answer.message().starts_with("HelloAck") {
            return peer;
        }
        let text = answer.error(ErrorCode::TooManyConnections);
        assert!(Instant::now() < deadline, "{text}");
    }
}

#[test]
fn numbers_of_channels_are_bounded() {
    let server = server(|_| {});
    let of = |channel, generation| Hello { channel, ..hello(1, ChannelKind::Fetch, generation) };
    assert!(Peer::try_hello(server.address, of(15, 1)).1.message().starts_with("HelloAck"));
    let text = Peer::try_hello(server.address, of(16, 1)).1.error(ErrorCode::BadRequest);
    assert_eq!(text, "the number of the fetch channel is 16; it must be below 16");
    let peer = Hello { channel: 255, ..hello(1, ChannelKind::Peer, 1) };
    Peer::try_hello(server.address, peer).1.error(ErrorCode::BadRequest);
}

/// A client that has no memory is forgotten with its last connection: there are never more of them than connections.
#[test]
fn clients_without_memory_do_not_linger() {
    let server = server(|config| {
        config.linger = Duration::from_secs(3600);
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let clients = || common::metric(server.metrics_address.unwrap(), "lull_memd_clients");
    for client in 1..=200 {
        drop(Peer::hello(server.address, client, ChannelKind::Control, 1));
    }
    let with_memory = Peer::client(server.address, 250, 1, 1);
    drop(with_memory);
    let deadline = Instant::now() + Duration::from_secs(20);
    while clients() > 1 {
        assert!(Instant::now() < deadline, "{} clients are still known", clients());
        std::thread::sleep(Duration::from_millis(10));
    }
    // The one with memory is.
    let mut again = Peer::hello(server.address, 250, ChannelKind::Control, 2);
    assert_eq!(again.ask(&Message::RegionUnmap, 1).message(), "RegionUnmapped");
    assert_eq!(clients(), 1);
}

/// Who only said who it is may not keep its connections for ever; who has memory may be as silent as it likes.
#[test]
fn silent_clients_without_memory_lose_their_connections() {
    let server = server(|config| (config.linger, config.frame_timeout) = (Duration::from_millis(1), Duration::from_millis(700)));
    let [mut control, mut fetch, _write] = Peer::client(server.address, 1, 1, 4);
    let mut idle = Peer::hello(server.address, 2, ChannelKind::Fetch, 1);
    let text = idle.refused(ErrorCode::Timeout);
    assert_eq!(text, "the client has no memory here, and has asked for nothing for 0.7 s");
    fetch.fetch(1, 0, 1);
    // A heartbeat on one connection keeps all of the client's.
    let mut beating = Peer::hello(server.address, 3, ChannelKind::Control, 1);
    let mut kept = Peer::hello(server.address, 3, ChannelKind::Fetch, 1);
    for _ in 0..30 {
        std::thread::sleep(Duration::from_millis(50));
        beating.ask(&Message::Heartbeat, 0);
    }
    let run = lull_far_protocol::Fetch { first: 0, count: 1 };
    kept.ask(&Message::Fetch(run), 1).error(ErrorCode::UnknownRegion);
    assert!(control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
}
