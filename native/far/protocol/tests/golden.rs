// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The golden frames were written from the document by another program (`golden/make.py`). Each must decode to what it says
//! there, and encode to the same bytes.

use lull_far_protocol::golden::{NAMES, frame, page};
use lull_far_protocol::{
    ChannelKind, Discard, ErrorCode, FEATURE_KEY, Fetch, HEADER_LEN, Header, Heartbeat, Hello, HelloAck, Message, Op, PAGE_SIZE, Prove,
    Proved, RunOfPages, VERSION_ENCRYPTED, WriteAck, crc32c_of, encode_write,
};

fn pages() -> Vec<u8> {
    [page(3), page(4)].concat()
}

fn expected<'a>(name: &str, pages: &'a [u8]) -> Option<Message<'a>> {
    let hello = |kind| Hello {
        version_min: 1,
        version_max: 1,
        page_size_log2: 12,
        kind,
        channel: 0,
        generation: 1,
        features: 0,
        client: std::array::from_fn(|i| i as u8),
    };
    let ack = |features| HelloAck {
        version: 1,
        page_size_log2: 12,
        max_pages: 256,
        features,
        session: std::array::from_fn(|i| 16 + i as u8),
        capacity: 1 << 30,
        free: 1 << 29,
    };
    let run = Fetch { first: 3, count: 2 };
    Some(match name {
        "hello-control" => Message::Hello(hello(ChannelKind::Control)),
        "hello-fetch" => Message::Hello(hello(ChannelKind::Fetch)),
        "hello-write" => Message::Hello(hello(ChannelKind::Write)),
        "hello-peer" => Message::Hello(hello(ChannelKind::Peer)),
        "hello-ack" => Message::HelloAck(ack(0)),
        "hello-key" => Message::Hello(hello(ChannelKind::Control).with_key(VERSION_ENCRYPTED)),
        // What the shares and proofs are is another crate's business: auth/tests/golden.rs.
        "challenge" | "prove" | "proved" => {
            let bytes = frame(name);
            let payload = &bytes[HEADER_LEN..];
            let sixteen = |at: usize| std::array::from_fn(|i| payload[at + i]);
            let thirty_two = |at: usize| std::array::from_fn(|i| payload[at + i]);
            match name {
                "challenge" => Message::Challenge(thirty_two(0)),
                "prove" => Message::Prove(Prove { key: sixteen(0), nonce: thirty_two(16), proof: thirty_two(48) }),
                _ => {
                    let ack = HelloAck { version: VERSION_ENCRYPTED, ..ack(FEATURE_KEY) };
                    Message::Proved(Proved { proof: thirty_two(0), ack })
                }
            }
        }
        "region-map" => Message::RegionMap { pages: 16 },
        "region-mapped" => Message::RegionMapped { pages: 16 },
        "write-ack" => Message::WriteAck(WriteAck { count: 2, content_crc: crc32c_of(&[pages]) }),
        "fetch" => Message::Fetch(run),
        "data" => Message::Data(RunOfPages { run, bytes: pages }),
        "fence" => Message::Fence,
        "fence-ack" => Message::FenceAck,
        "discard" => Message::Discard(Discard { first: 3, count: 1 }),
        "discard-ack" => Message::DiscardAck(Discard { first: 3, count: 1 }),
        "heartbeat" => Message::Heartbeat,
        "heartbeat-ack" => Message::HeartbeatAck(Heartbeat { capacity: 1 << 30, free: 1 << 29, stopping: false }),
        "error" => Message::Error { code: ErrorCode::Full, text: "no memory left" },
        "region-unmap" => Message::RegionUnmap,
        "region-unmapped" => Message::RegionUnmapped,
        "bye" => Message::Bye,
        "leave" => Message::Leave,
        _ => return None,
    })
}

#[test]
fn golden_frames_decode_and_encode() {
    let pages = pages();
    let mut ops = std::collections::BTreeSet::new();
    for &name in NAMES {
        let bytes = frame(name);
        let header = Header::decode(bytes.first_chunk::<HEADER_LEN>().unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let message = Message::decode(&header, &bytes[HEADER_LEN..]).unwrap_or_else(|e| panic!("{name}: {e}"));
        ops.insert(header.op as u8);
        let mut again = Vec::new();
        if name == "write" {
            let Message::Write(write) = message else { panic!("{name} is {message:?}") };
            let want: Vec<_> = [3, 4].into_iter().zip(pages.chunks(PAGE_SIZE)).collect();
            assert_eq!(write.pages().collect::<Vec<_>>(), want);
            encode_write(header.sequence, header.region, &[3, 4], &pages, &mut again);
        } else if let Message::Trace { op, .. } = message {
            // What the fields say is another crate's business: trace/tests/golden.rs.
            assert_eq!(op.name().to_lowercase().replace('_', "-"), name);
            message.encode(header.sequence, header.region, &mut again);
        } else {
            let want = expected(name, &pages).unwrap_or_else(|| panic!("{name} has no expectation"));
            assert_eq!(message, want, "{name}");
            want.encode(header.sequence, header.region, &mut again);
        }
        assert!(again == bytes, "{name} is encoded differently");
    }
    assert_eq!(ops.len(), Op::ALL.len(), "an operation has no golden frame");
}

#[test]
fn the_frame_of_a_fetch_needs_no_allocation() {
    assert_eq!(Fetch { first: 3, count: 2 }.frame(2, 5).as_slice(), frame("fetch"));
}
