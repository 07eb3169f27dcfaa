// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The golden frames for tracing, which another program has written from the document: each says what it should, and is encoded to the
//! same bytes.

use lull_far_protocol::golden::frame;
use lull_far_protocol::{HEADER_LEN, Header, Message, Op};
use lull_far_trace::geometry::Geometry;
use lull_far_trace::layout::{Block, Kind, Layout};
use lull_far_trace::termination::Status;
use lull_far_trace::tracer::{Counts, Task};
use lull_far_trace::wire;

/// The payload of a golden frame, of that operation.
fn payload(name: &str) -> (Op, Vec<u8>) {
    let bytes = frame(name);
    let header = Header::decode(bytes.first_chunk().unwrap()).unwrap();
    match Message::decode(&header, &bytes[HEADER_LEN..]).unwrap() {
        Message::Trace { op, payload } => (op, payload.to_vec()),
        other => panic!("{name} is {other:?}"),
    }
}

#[test]
fn layouts() {
    let block = |offset, count| Block { offset, count };
    let want = vec![
        Layout { klass: 10, kind: Kind::Instance, bytes: 24, blocks: vec![block(12, 2)] },
        Layout { klass: 11, kind: Kind::Reference { referent: 12 }, bytes: 32, blocks: vec![block(16, 2)] },
        Layout {
            klass: 12,
            kind: Kind::Mirror { count: 40, statics: 112, words: 44 },
            bytes: 112,
            blocks: vec![block(12, 1), block(48, 3)],
        },
        Layout { klass: 13, kind: Kind::ObjArray { base: 16 }, bytes: 16, blocks: Vec::new() },
        Layout { klass: 14, kind: Kind::TypeArray { shift: 0 }, bytes: 16, blocks: Vec::new() },
    ];
    let (op, bytes) = payload("layout");
    assert_eq!((op, wire::decode_layouts(&bytes)), (Op::Layout, Ok(want.clone())));
    assert_eq!(wire::encode_layouts(&want), bytes);
    let (op, bytes) = payload("need-layout");
    assert_eq!((op, wire::decode_missing(&bytes)), (Op::NeedLayout, Ok(vec![11, 12])));
    assert_eq!(wire::encode_missing(&[11, 12]), bytes);
}

#[test]
fn the_start_and_the_end_of_a_cycle() {
    let geometry = Geometry { base: 0x8000_0000, bytes: 1 << 20, part: 4 << 20, narrow_base: 0, narrow_shift: 3, servers: 2 };
    let servers = vec!["10.0.0.1:7070".parse().unwrap(), "[fd00::2]:7070".parse().unwrap()];
    let want = wire::Start { cycle: 3, geometry, me: 1, ticket: std::array::from_fn(|i| 0x70 + i as u8), servers };
    let (op, bytes) = payload("trace-start");
    assert_eq!((op, wire::Start::decode(&bytes)), (Op::TraceStart, Ok(want.clone())));
    assert_eq!(want.encode(), bytes);
    let (op, bytes) = payload("trace-roots");
    assert_eq!((op, wire::decode_roots(&bytes)), (Op::TraceRoots, Ok(vec![0x8000_0010, 0x8000_0020])));
    assert_eq!(wire::encode_roots(&[0x8000_0010, 0x8000_0020]), bytes);
    let (op, bytes) = payload("live-stats");
    let counts = Counts { marked: 100, followed: 200, sent: 5, received: 6 };
    assert_eq!((op, wire::decode_counts(&bytes)), (Op::LiveStats, Ok((3, counts, 1000))));
    assert_eq!(wire::encode_counts(3, counts, 1000), bytes);
    assert_eq!(payload("trace-end"), (Op::TraceEnd, Vec::new()));
}

#[test]
fn what_servers_send_each_other() {
    let want = [Task::Object(0x8000_0100), Task::Slots(0x8000_0200, 7), Task::Statics(0x8000_0300, 12)];
    let (op, bytes) = payload("ghost");
    assert_eq!((op, wire::decode_tasks(&bytes)), (Op::Ghost, Ok((3, want.to_vec()))));
    assert_eq!(wire::encode_tasks(3, &want), bytes);
    let (op, bytes) = payload("ghost-ack");
    assert_eq!((op, wire::decode_counted(&bytes)), (Op::GhostAck, Ok((3, 3))));
    assert_eq!(wire::encode_counted(3, 3), bytes);
}

#[test]
fn polls_and_results() {
    let (op, bytes) = payload("poll");
    assert_eq!((op, wire::decode_poll(&bytes)), (Op::Poll, Ok(9)));
    assert_eq!(wire::encode_poll(9), bytes);
    let status = Status { idle: true, sent: 5, received: 6 };
    let (op, bytes) = payload("status");
    assert_eq!((op, wire::decode_status(&bytes)), (Op::Status, Ok((9, status))));
    assert_eq!(wire::encode_status(9, status), bytes);
    for (name, op, first) in [
        ("read-bitmap", Op::ReadBitmap, 64),
        ("read-discovered", Op::ReadDiscovered, 0),
        ("read-lines", Op::ReadLines, 64),
        ("read-live", Op::ReadLive, 64),
    ] {
        let (got, bytes) = payload(name);
        assert_eq!((got, wire::decode_counted(&bytes)), (op, Ok((first, 2))));
        assert_eq!(wire::encode_counted(first, 2), bytes);
    }
    for (name, op, first, elements) in [
        ("bitmap", Op::Bitmap, 64, [1, 1 << 63]),
        ("discovered", Op::Discovered, 0, [0x8000_0100, 0x8000_0200]),
        ("trace-old", Op::TraceOld, 64, [1, 1 << 63]),
        ("lines", Op::Lines, 64, [1, 1 << 63]),
        ("live", Op::Live, 64, [4096, 7 << 48]),
    ] {
        let (got, bytes) = payload(name);
        assert_eq!((got, wire::decode_elements(&bytes)), (op, Ok((first, elements.to_vec()))));
        assert_eq!(wire::encode_elements(first, &elements), bytes);
    }
}
