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
