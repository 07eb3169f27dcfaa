// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Frames of who has a key, and what somebody on the way may do to them: the server notices, says so by name, and ends the connection, and
//! nothing has changed. What a pager does with a server's frames is tested in pager/tests/encrypted.rs.

mod common;

use std::io::Read;
use std::time::Duration;

use common::{Answer, Peer, hello, metric, page, server};
use lull_far_auth::{Key, file::parse};
use lull_far_protocol::{ChannelKind, ErrorCode, Fetch, HEADER_LEN, Message, TAG_LEN, crc32c_of};
use lull_memd::Server;

/// A server, and a client with a region of four pages, the second of which was written to.
struct Fixture {
    server: Server,
    control: Peer,
    generation: u64,
}

fn key() -> Key {
    Key::new([1; 32])
}

impl Fixture {
    fn new() -> Fixture {
        let server = server(|config| {
            config.keys = parse(&format!("one {}", "01".repeat(32))).unwrap();
            config.metrics = Some("127.0.0.1:0".parse().unwrap());
            config.frame_timeout = Duration::from_secs(2);
        });
        let mut control = Peer::with_key(server.address, &key(), hello(1, ChannelKind::Control, 1));
        control.map(1, 4);
        let mut fixture = Fixture { server, control, generation: 1 };
        let mut write = fixture.open(ChannelKind::Write);
        assert!(write.write(1, &[1], &page(7)).message().starts_with("WriteAck("));
        fixture
    }

    fn open(&mut self, kind: ChannelKind) -> Peer {
        self.generation += 1;
        Peer::with_key(self.server.address, &key(), hello(1, kind, self.generation))
    }

    fn metric(&self, name: &str) -> u64 {
        metric(self.server.metrics_address.unwrap(), name)
    }

    fn not_proven(&self) -> u64 {
        self.metric("lull_memd_errors_total{code=\"NOT_PROVEN\"}")
    }

    /// The client is still served, and its pages are what they were.
    fn nothing_has_changed(&mut self) {
        assert!(self.control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck("));
        let mut fetch = self.open(ChannelKind::Fetch);
        let want = [vec![0; 4096], page(7), vec![0; 2 * 4096]].concat();
        assert!(fetch.fetch(1, 0, 4) == want, "a page has changed");
    }
}

/// The header's checksum made right again, as somebody on the way would.
fn with_right_checksum(mut frame: Vec<u8>) -> Vec<u8> {
    let crc = crc32c_of(&[&frame[..28]]);
    frame[28..32].copy_from_slice(&crc.to_le_bytes());
    frame
}

/// What is sent in the place of two right frames that write.
type Harm = fn(&[Vec<u8>; 2]) -> Vec<Vec<u8>>;

#[test]
fn what_is_done_to_frames_on_the_way_is_noticed_by_the_server() {
    let mut fixture = Fixture::new();
    // How many are answered before it is noticed.
    let harms: [(&str, Harm, usize); 9] = [
        ("a bit of the payload", |[first, _]| vec![flip(first, (HEADER_LEN + 100) * 8)], 0),
        ("a bit of a page's number", |[first, _]| vec![flip(first, (HEADER_LEN + 8) * 8)], 0),
        ("a bit of the proof", |[first, _]| vec![flip(first, (first.len() - 1) * 8)], 0),
        ("another region", |[first, _]| vec![with_right_checksum(flip(first, 16 * 8 + 1))], 0),
        ("another number", |[first, _]| vec![with_right_checksum(flip(first, 8 * 8 + 4))], 0),
        ("left out", |[_, second]| vec![second.clone()], 0),
        ("in another order", |[first, second]| vec![second.clone(), first.clone()], 0),
        ("repeated", |[first, _]| vec![first.clone(), first.clone()], 1),
        ("a repeated one in the place of the next", |[first, second]| vec![first.clone(), renumbered(first, second)], 1),
    ];
    for (what, harm, answered) in harms {
        let before = fixture.not_proven();
        let mut write = fixture.open(ChannelKind::Write);
        // As the page is already, so that what is answered changes nothing.
        let frames = [write.write_frame(1, &[1], &page(7)), write.write_frame(1, &[0], &page(9))];
        harm(&frames).iter().for_each(|frame| write.send(frame));
        for _ in 0..answered {
            assert!(write.answer().message().starts_with("WriteAck("), "{what}");
        }
        let text = write.refused(ErrorCode::NotProven);
        assert!(text.contains("is not the one that the client has sent next"), "{what}: {text}");
        assert_eq!(fixture.not_proven(), before + 1, "{what}");
    }
    fixture.nothing_has_changed();
}

fn flip(frame: &[u8], bit: usize) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[bit / 8] ^= 1 << (bit % 8);
    frame
}

/// The first frame with the number of the second.
fn renumbered(first: &[u8], second: &[u8]) -> Vec<u8> {
    let mut frame = first.to_vec();
    frame[8..16].copy_from_slice(&second[8..16]);
    with_right_checksum(frame)
}

/// What is not of this connection, and this direction, is none of its frames, however right it was elsewhere.
#[test]
fn frames_of_elsewhere_are_not_taken() {
    let mut fixture = Fixture::new();
    let before = fixture.not_proven();
    // Of the other direction: the answer to FETCH, as it came. Its operation is none of a client's; as that of one it is not proven, either.
    let mut fetch = fixture.open(ChannelKind::Fetch);
    let request = fetch.frame(&Message::Fetch(Fetch { first: 1, count: 1 }), 1);
    fetch.send(&request);
    let mut answer = vec![0; HEADER_LEN + 16 + 4096 + TAG_LEN];
    fetch.stream.read_exact(&mut answer).unwrap();
    fetch.send(&answer);
    // What it says now is behind the one that was not decrypted here.
    let mut rest = Vec::new();
    fetch.stream.read_to_end(&mut rest).unwrap();
    assert!(!rest.is_empty());
    assert_eq!(fixture.metric("lull_memd_errors_total{code=\"BAD_REQUEST\"}"), 1);
    let mut control = fixture.open(ChannelKind::Control);
    let request = control.frame(&Message::Heartbeat, 0);
    control.send(&request);
    let mut answer = vec![0; HEADER_LEN + 24 + TAG_LEN];
    control.stream.read_exact(&mut answer).unwrap();
    // As a REGION_MAP, of a number that fits, and as long.
    let mut back = answer[..HEADER_LEN].to_vec();
    back[6] = 3;
    back[8] = 4;
    back[20] = 8;
    let back = [with_right_checksum(back), answer[HEADER_LEN..HEADER_LEN + 8 + TAG_LEN].to_vec()].concat();
    control.send(&back);
    let mut rest = Vec::new();
    control.stream.read_to_end(&mut rest).unwrap();
    assert_eq!(fixture.not_proven(), before + 1);
    // Of another connection of the same client.
    let (mut one, mut other) = (fixture.open(ChannelKind::Write), fixture.open(ChannelKind::Fetch));
    let frame = other.frame(&Message::Fetch(Fetch { first: 0, count: 1 }), 1);
    assert_eq!((one.sequence, other.sequence), (2, 3));
    let mut again = fixture.open(ChannelKind::Fetch);
    again.send(&frame);
    again.refused(ErrorCode::NotProven);
    // One that was never encrypted.
    let mut plain = Vec::new();
    Message::Fence.encode(3, 0, &mut plain);
    one.send(&plain);
    let text = one.refused(ErrorCode::Version);
    assert_eq!(text, "a frame is of version 1; this connection speaks 3");
    // The new control connection has taken the channel over.
    fixture.control = fixture.open(ChannelKind::Control);
    fixture.nothing_has_changed();
}

/// A part of a frame is nothing, whether the connection ends behind it or stays.
#[test]
fn a_frame_that_is_cut_is_nothing() {
    let mut fixture = Fixture::new();
    let cut = fixture.metric("lull_memd_cut_frames_total");
    for (ends, length) in [(true, HEADER_LEN + 50), (true, 10), (true, HEADER_LEN + 8 + 8 + 4096 + TAG_LEN - 1), (false, HEADER_LEN + 50)] {
        let mut write = fixture.open(ChannelKind::Write);
        let frame = write.write_frame(1, &[0], &page(9));
        write.send(&frame[..length]);
        if ends {
            write.stream.shutdown(std::net::Shutdown::Write).unwrap();
            assert_eq!(write.answer(), Answer::Closed);
        } else {
            write.refused(ErrorCode::Timeout);
        }
    }
    assert_eq!(fixture.metric("lull_memd_cut_frames_total"), cut + 3);
    fixture.nothing_has_changed();
}

/// Nothing of a page, nor of where it belongs, can be read on the way.
#[test]
fn nothing_of_a_page_is_on_the_way() {
    let mut fixture = Fixture::new();
    let mut write = fixture.open(ChannelKind::Write);
    let frame = write.write_frame(1, &[1, 3], &[page(7), vec![0; 4096]].concat());
    let is_there = |part: &[u8]| frame.windows(part.len()).any(|bytes| bytes == part);
    assert!(!is_there(&page(7)[..8]) && !is_there(&[0; 16]));
    assert_eq!(frame[24..28], [0; 4], "a checksum of the content tells equal ones");
    write.send(&frame);
    assert!(write.answer().message().starts_with("WriteAck("));
    assert!(fixture.metric("lull_memd_encrypted_connections_total") >= 3);
}
