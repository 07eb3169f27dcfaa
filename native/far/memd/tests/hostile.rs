// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Peers that send anything: frames in any order, with any fields, with wrong lengths, checksums and numbers, in pieces, and bytes
//! that are no frames. Whatever comes, the server answers each in time or closes, its other client's pages are what they were,
//! and the memory of the peer comes back.

mod common;

use common::{MB, Peer, page, server};
use lull_far_protocol::{ChannelKind, HEADER_LEN, Message, Op, PAGE_SIZE, encode_write, seal};
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What a hostile peer sends next.
#[derive(Clone, Debug)]
enum Piece {
    /// A right HELLO of some client, but not of the one who is to be left alone.
    Hello(u8, u8, u64),
    /// A frame with right checksums around any payload, `ahead` of the sequence number that is due.
    Sealed(u8, u32, Vec<u8>, u64),
    /// A WRITE of right form.
    Write(u32, u64),
    /// A right frame with one bit flipped.
    Flipped(u8, u32, Vec<u8>, prop::sample::Index),
    /// A header that promises so much, and nothing behind it.
    Promise(u8, u32),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Fields near the numbers that mean something: sizes, counts, and what would overflow.
fn field() -> impl Strategy<Value = u64> {
    prop_oneof![0..4_u64, 250..260_u64, Just(u64::MAX), Just(u64::MAX / 4096), Just(1 << 52), any::<u64>()]
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        prop::collection::vec(field(), 1..6).prop_map(|fields| fields.iter().flat_map(|field| field.to_le_bytes()).collect()),
        prop::collection::vec(any::<u8>(), 0..100),
    ]
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => (2..5_u8, 0..4_u8, 1..4_u64).prop_map(|(client, kind, generation)| Piece::Hello(client, kind, generation)),
        8 => (0..50_u8, 0..3_u32, payload(), prop_oneof![9 => Just(0), 1 => any::<u64>()]).prop_map(|(o, r, p, a)| Piece::Sealed(o, r, p, a)),
        2 => (0..3_u32, field()).prop_map(|(region, number)| Piece::Write(region, number)),
        1 => (0..20_u8, 0..3_u32, payload(), any::<prop::sample::Index>()).prop_map(|(o, r, p, at)| Piece::Flipped(o, r, p, at)),
        1 => (0..20_u8, prop_oneof![0..4096_u32, any::<u32>()]).prop_map(|(op, length)| Piece::Promise(op, length)),
        1 => prop::collection::vec(any::<u8>(), 0..200).prop_map(Piece::Bytes),
    ]
}

/// A frame with right checksums, whatever its operation.
fn sealed(op: u8, sequence: u64, region: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = seal(Op::Bye, sequence, region, &[payload]).to_vec();
    frame[6] = op;
    let crc = lull_far_protocol::crc32c_of(&[&frame[..28]]);
    frame[28..].copy_from_slice(&crc.to_le_bytes());
    frame.extend_from_slice(payload);
    frame
}

fn bytes_of(pieces: &[Piece]) -> Vec<u8> {
    let mut all = Vec::new();
    for (number, piece) in pieces.iter().enumerate() {
        let sequence = number as u64 + 1;
        match piece {
            Piece::Hello(client, kind, generation) => {
                let kind = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write, ChannelKind::Peer][usize::from(*kind)];
                Message::Hello(common::hello(*client, kind, *generation)).encode(sequence, 0, &mut all);
            }
            Piece::Sealed(op, region, payload, ahead) => all.extend(sealed(*op, sequence.wrapping_add(*ahead), *region, payload)),
            Piece::Write(region, number) => encode_write(sequence, *region, &[*number], &page(7), &mut all),
            Piece::Flipped(op, region, payload, at) => {
                let mut frame = sealed(*op, sequence, *region, payload);
                let bit = at.index(frame.len() * 8);
                frame[bit / 8] ^= 1 << (bit % 8);
                all.extend(frame);
            }
            Piece::Promise(op, length) => {
                let mut frame = sealed(*op, sequence, 0, &[]);
                frame[20..24].copy_from_slice(&length.to_le_bytes());
                let crc = lull_far_protocol::crc32c_of(&[&frame[..28]]);
                frame[28..].copy_from_slice(&crc.to_le_bytes());
                all.extend(frame);
            }
            Piece::Bytes(bytes) => all.extend(bytes),
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn anything_may_be_sent(connections in prop::collection::vec((prop::collection::vec(piece(), 1..12), 1..5000_usize), 1..4)) {
        let server = server(|config| {
            // Regions of the hostile peers come back soon.
            config.linger = Duration::from_millis(1);
            config.memory = 4 * MB;
        });
        let [mut control, mut fetch, mut write] = Peer::client(server.address, 1, 1, 256);
        let contents: Vec<u8> = (0..16).flat_map(page).collect();
        write.write(1, &(0..16).collect::<Vec<u64>>(), &contents);
        for (pieces, cut) in &connections {
            let mut peer = Peer::raw(server.address);
            let bytes = bytes_of(pieces);
            for part in bytes.chunks(*cut) {
                // It may have closed after an earlier one.
                if peer.stream.write_all(part).is_err() {
                    break;
                }
            }
            let _ = peer.stream.shutdown(Shutdown::Write);
            // All answers are whole frames of the protocol; then it closes.
            let mut answers = Vec::new();
            let ended = peer.stream.read_to_end(&mut answers);
            if ended.is_ok() {
                let mut rest = &answers[..];
                while !rest.is_empty() {
                    let header = lull_far_protocol::Header::decode(rest.first_chunk().unwrap()).unwrap();
                    let end = HEADER_LEN + header.len as usize;
                    Message::decode(&header, &rest[HEADER_LEN..end]).unwrap();
                    rest = &rest[end..];
                }
            } else {
                // A reset, because the server had not read all. Never a time-out.
                prop_assert_eq!(ended.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
            }
            prop_assert!(fetch.fetch(1, 0, 16) == contents, "a page of another client has changed");
        }
        // All but our own megabyte is there again, when the peers have been gone for a while.
        let pages = 3 * MB / PAGE_SIZE as u64;
        let mapped = (0..200).any(|_| {
            let answer = control.ask(&Message::RegionMap { pages }, 2).message();
            std::thread::sleep(Duration::from_millis(20));
            answer == format!("{:?}", Message::RegionMapped { pages })
        });
        prop_assert!(mapped, "memory of a peer that is gone did not come back");
        prop_assert!(fetch.fetch(2, pages - 1, 1).iter().all(|&byte| byte == 0));
        prop_assert!(fetch.fetch(1, 0, 16) == contents);
    }
}

/// A server as a process, with its keys.
struct Process(std::process::Child, std::net::SocketAddr);

impl Process {
    fn start(lines: &str) -> Process {
        use std::io::BufRead;
        use std::os::unix::fs::OpenOptionsExt;
        let path = std::env::temp_dir().join(format!("lull-memd-hostile-{}", std::process::id()));
        let mut file = std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lull-memd"));
        command.args([
            "--listen",
            "127.0.0.1:0",
            "--memory",
            "16m",
            "--linger",
            "1",
            "--frame-timeout",
            "1",
            "--max-connections",
            "64",
            "--key",
        ]);
        command.arg(&path).stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        std::fs::remove_file(path).unwrap();
        let address = line.strip_prefix("listening at ").unwrap_or_else(|| panic!("{line:?}")).trim().parse().unwrap();
        Process(child, address)
    }

    /// The most memory that it ever had, in bytes.
    fn most_resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One hostile client. Whether it has proved the other key, and had answers.
fn attack(to: std::net::SocketAddr, seed: u64, held: &mut Vec<Peer>) -> bool {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &std::array::from_fn::<u8, 32, _>(|i| (seed >> (8 * (i % 8))) as u8 ^ i as u8));
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut some = || prop::collection::vec(piece(), 1..12).new_tree(&mut runner).unwrap().current();
    // From another address than who proves itself: whoever comes from there has most places, and gives them up first.
    let stranger = || {
        let stream = common::connect_from([127, 0, 0, 2], to);
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Peer { stream, sequence: 0, frames: None }
    };
    match seed % 4 {
        // Of no key.
        0 => ends(stranger(), &bytes_of(&some())),
        // The same behind a HELLO that is not proven.
        1 => {
            let mut peer = stranger();
            let hello = common::hello(2, ChannelKind::Control, seed).with_key(lull_far_protocol::VERSION_ENCRYPTED);
            let bytes = [peer.frame(&Message::Hello(hello), 0), bytes_of(&some())].concat();
            ends(peer, &bytes);
        }
        // Says a part of something, and no more: it is let go by --frame-timeout, or for those who come later.
        2 => {
            let mut peer = stranger();
            let _ = peer.stream.write_all(&[0x4c; 3]);
            held.push(peer);
            if held.len() > 300 {
                held.remove(0);
            }
        }
        _ => return proven(to, seed, &some()),
    }
    false
}

/// Proves a key, and sends frames of any kind, each of which is right as an encrypted one. Whether there were answers.
fn proven(to: std::net::SocketAddr, seed: u64, pieces: &[Piece]) -> bool {
    let kind = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write, ChannelKind::Peer][seed as usize / 4 % 4];
    let (mut peer, _) = Peer::try_key(to, &lull_far_auth::Key::new([2; 32]), common::hello(2 + (seed % 3) as u8, kind, seed));
    if peer.frames.is_none() {
        return false; // it has what it is granted
    }
    let mut answered = false;
    for piece in pieces {
        let mut frame = bytes_of(std::slice::from_ref(piece));
        if frame.len() >= HEADER_LEN {
            // Numbered as it should be.
            peer.sequence += 1;
            frame[8..16].copy_from_slice(&peer.sequence.to_le_bytes());
            let crc = lull_far_protocol::crc32c_of(&[&frame[..28]]);
            frame[28..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
            // What is no frame goes as it is, and is the last.
            let _ = peer.frames.as_mut().unwrap().encrypt_frame(&mut frame);
        }
        if peer.stream.write_all(&frame).is_err() || !matches!(peer.stream.read(&mut [0; 1 << 16]), Ok(1..)) {
            break;
        }
        answered = true;
    }
    ends(peer, &[]);
    answered
}

/// Says this, and no more, and reads to the end, which must come: a read has a limit.
fn ends(mut peer: Peer, bytes: &[u8]) {
    let _ = peer.stream.write_all(bytes);
    let _ = peer.stream.shutdown(Shutdown::Write);
    if let Err(error) = peer.stream.read_to_end(&mut Vec::new()) {
        assert!(matches!(error.kind(), std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe), "{error}");
    }
}

/// Ends the hostile clients, also when the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Hostile clients without a key, and with another one, while a client works. It has each answer, and each page as it was written last; the server's
/// memory is bounded. `LULL_FAR_HOSTILE_SECONDS`: for so long, else a number of times.
#[test]
fn whatever_hostile_clients_do_another_one_has_its_pages() {
    const TIMES: u64 = 400;
    const PAGES: u64 = 64;
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is '{text}'")));
    let seconds = number("LULL_FAR_HOSTILE_SECONDS").map(Duration::from_secs);
    let server = Process::start(&format!("one {}\ntwo {} memory=4m connections=16\n", "01".repeat(32), "02".repeat(32)));
    let honest = |kind| Peer::with_key(server.1, &lull_far_auth::Key::new([1; 32]), common::hello(1, kind, 1));
    let [mut control, mut fetch, mut write] = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write].map(honest);
    control.map(1, PAGES);
    let (times, answered, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let begin = std::time::Instant::now();
    let mut versions = vec![0_u64; PAGES as usize];
    std::thread::scope(|scope| {
        let _over = Over(&over);
        for _ in 0..3 {
            scope.spawn(|| {
                let mut held = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let seed = times.fetch_add(1, Ordering::Relaxed);
                    answered.fetch_add(attack(server.1, seed, &mut held).into(), Ordering::Relaxed);
                }
            });
        }
        let mut round = 0;
        while seconds.map_or(times.load(Ordering::Relaxed) < TIMES, |seconds| begin.elapsed() < seconds) {
            round += 1;
            let at = round * 7 % PAGES;
            versions[at as usize] = round;
            write.write(1, &[at], &page(round));
            let other = round * 13 % PAGES;
            let want = versions[other as usize];
            let want = if want == 0 { vec![0; PAGE_SIZE] } else { page(want) };
            assert!(fetch.fetch(1, other, 1) == want, "a page is not as it was written last, in round {round}");
            if round % 50 == 0 {
                assert!(control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
            }
        }
    });
    let (times, answered, most) = (times.load(Ordering::Relaxed), answered.load(Ordering::Relaxed), server.most_resident());
    println!("hostile clients: {times} connections, of which {answered} were answered behind a proof; {} MB at most", most >> 20);
    assert!(answered > 0, "none of {times} hostile clients has come in");
    // The regions, a megabyte for each connection, and the program.
    assert!(most < (16 + 64 + 32) * MB, "the server has taken {most} bytes");
}
