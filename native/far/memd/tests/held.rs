// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a cycle that is over still holds while another server of it hangs.

mod common;

use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

use common::{Answer, MB, Peer, server};
use lull_far_protocol::{ChannelKind, HEADER_LEN, Message, Op};
use lull_far_trace::geometry::Geometry;
use lull_far_trace::layout::{Kind, Layout};
use lull_far_trace::wire::{self, Start};

const BASE: u64 = 0x8000_0000;
const PART: u64 = 4096;
const PAGES: u64 = 2 * MB / PART;

/// The other server has sent a part of its answer: who waits for the rest does so for as long as a frame may take.
#[test]
fn a_server_that_hangs_does_not_keep_the_memory_of_a_client_that_has_left() {
    let here = server(|config| {
        config.memory = 2 * MB;
        config.frame_timeout = Duration::from_secs(60);
    })
    .address;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let there: SocketAddr = listener.local_addr().unwrap();
    let mut control = Peer::hello(here, 1, ChannelKind::Control, 1);
    map_all(&mut control);
    // An object that is an array of one reference, to the other server's part.
    let mut page = vec![0; PART as usize];
    for (at, word) in [(8, 0x1000_u32), (12, 1), (16, ((BASE + PART) >> 3) as u32)] {
        page[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    let mut write = Peer::hello(here, 1, ChannelKind::Write, 1);
    assert!(matches!(write.write(1, &[0], &page), Answer::Frame(..)));
    let geometry = Geometry { base: BASE, bytes: 2 * PART, part: PART, narrow_base: 0, narrow_shift: 3, servers: 2 };
    let start = Start { cycle: 1, geometry, me: 0, ticket: [7; 16], servers: vec![here, there] };
    let layout = Layout { klass: 0x1000, kind: Kind::ObjArray { base: 16 }, bytes: 16, blocks: Vec::new() };
    for (op, payload) in
        [(Op::TraceStart, start.encode()), (Op::Layout, wire::encode_layouts(&[layout])), (Op::TraceRoots, wire::encode_roots(&[BASE]))]
    {
        let answer = control.ask(&Message::Trace { op, payload: &payload }, 1);
        assert!(matches!(answer, Answer::Frame(header, _) if header.op == Op::Status), "{}", op.name());
    }
    let (mut stream, _) = listener.accept().unwrap();
    std::io::Read::read_exact(&mut stream, &mut [0; HEADER_LEN + 40]).unwrap();
    std::io::Write::write_all(&mut stream, b"LULL").unwrap();
    control.ask(&Message::Bye, 0);
    let mut next = Peer::hello(here, 2, ChannelKind::Control, 1);
    map_all(&mut next);
    drop(stream);
}

/// Maps all memory of the server, as soon as it is there.
fn map_all(control: &mut Peer) {
    let end = Instant::now() + Duration::from_secs(10);
    while !control.ask(&Message::RegionMap { pages: PAGES }, 1).message().starts_with("RegionMapped") {
        assert!(Instant::now() < end, "the memory did not come back");
        std::thread::sleep(Duration::from_millis(5));
    }
}
