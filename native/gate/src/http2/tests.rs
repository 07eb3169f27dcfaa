// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HTTP/2 by examples, and a whole connection against a model: a client with several streams, a strict server that reads through the
//! filter, and the gate, in any order over a wire that cuts and refuses.

use super::frame::write;
use super::*;
use crate::connection::fake_wire::FakeWire;
use crate::connection::{Connection, Decision, Outcome, Wire};
use crate::kernel::Totals;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const REMAINING: Duration = Duration::from_micros(7100);
const DEFAULT: Duration = Duration::from_millis(50);

fn connection() -> Http2 {
    Http2::new(Arc::from(vec!["x-deadline".to_string()]), DEFAULT)
}

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(kind, flags, stream, payload, &mut bytes);
    bytes
}

/// What the application writes first: one entry, and a table's size to be replaced.
fn server_settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100, 0, 1, 0, 0, 16, 0])
}

/// `:method: POST`, a path, a content type, fields.
pub(super) fn block(content_type: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = vec![0x83];
    hpack::write(4, b"/service/Method", &mut block);
    hpack::write(CONTENT_TYPE, content_type.as_bytes(), &mut block);
    fields.iter().for_each(|(name, value)| hpack::write_named(name.as_bytes(), value.as_bytes(), &mut block));
    block
}

/// A connection on which a first request was answered by the application, so that the gate may answer the next: streams from 3 on.
pub(super) fn ready() -> Http2 {
    let mut http = connection();
    http.received(PREFACE).unwrap();
    http.received(&frame(SETTINGS, 0, 0, &[])).unwrap();
    assert!(!http.is_idle());
    let (length, settings) = http.instead(&server_settings()).unwrap();
    assert_eq!((length, settings), (server_settings().len(), frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100, 0, 1, 0, 0, 0, 0])));
    http.sent(&server_settings()).unwrap();
    assert!(!http.replaces());
    http.sent(&frame(SETTINGS, ACK, 0, &[])).unwrap();
    http.received(&frame(SETTINGS, ACK, 0, &[])).unwrap();
    let mut first = vec![0x20];
    first.extend(block("application/grpc", &[]));
    http.received(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &first)).unwrap();
    http.sent(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x88])).unwrap();
    assert!(http.is_idle());
    http
}

/// The frames of whole bytes.
pub(super) fn frames(mut bytes: &[u8]) -> Vec<(Frame, Vec<u8>)> {
    let mut frames = Vec::new();
    while !bytes.is_empty() {
        let frame = Frame::of(bytes).expect("a whole header");
        frames.push((frame, bytes[HEADER..frame.whole()].to_vec()));
        bytes = &bytes[frame.whole()..];
    }
    frames
}

/// The fields of the gate's own blocks, which have no Huffman code.
fn texts(block: &[u8]) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    hpack::read(block, |part| {
        fields.push(match part {
            Part::Literal(Name::Of(index), value) => (index.to_string(), String::from_utf8(value.decode().unwrap()).unwrap()),
            Part::Literal(Name::Literal(name), value) => {
                (String::from_utf8(name.decode().unwrap()).unwrap(), String::from_utf8(value.decode().unwrap()).unwrap())
            }
            Part::Indexed(index) => (index.to_string(), String::new()),
            Part::Size(_) => panic!("changes the client's table"),
        });
        Ok(())
    })
    .unwrap();
    fields
}

fn owned(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect()
}

#[test]
fn a_call_of_grpc_is_unavailable() {
    let http = ready();
    let request = frame(HEADERS, END_HEADERS, 3, &block("application/grpc+proto", &[("grpc-timeout", "20m")]));
    let mut buffer = request.clone();
    buffer.extend(frame(DATA, END_STREAM, 3, b"message"));
    assert_eq!(http.front(&buffer), Front::Request { length: request.len(), deadline: Some(Duration::from_millis(20)) });
    for end in 0..request.len() {
        assert_eq!(http.front(&request[..end]), Front::Incomplete);
    }
    let mut answer = b"old".to_vec();
    http.busy(&request, REMAINING, &mut answer);
    let answer = frames(&answer);
    assert_eq!((answer[0].0.kind, answer[0].0.flags, answer[0].0.stream), (HEADERS, END_HEADERS | END_STREAM, 3));
    let expected = owned(&[
        ("8", ""),
        ("31", "application/grpc"),
        ("grpc-status", "14"),
        ("grpc-message", "the JVM is stopped for about 8 ms more"),
        ("grpc-retry-pushback-ms", "0"),
        ("busy-until", "8"),
    ]);
    assert_eq!(texts(&answer[0].1), expected);
    // The rest of the request is taken, and no RST_STREAM makes the client forget its answer.
    assert_eq!(answer.len(), 1);
}

/// Where in a request a pause may find it. At its head, however much of its body has come: it is answered. Of one whose head the application has
/// read the rest is the application's, in the middle and at the end.
#[test]
fn a_request_is_answered_at_its_head_or_not_at_all() {
    let head = |stream: u32, flags: u8| frame(HEADERS, END_HEADERS | flags, stream, &block("application/json", &[]));
    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, 3, &block("x", &[]));
    for rest in [frame(DATA, 0, 3, &[7; 1000]), frame(DATA, END_STREAM, 3, b"the end"), frame(DATA, END_STREAM, 3, b""), trailers] {
        let at_its_head = [head(3, 0), rest.clone()].concat();
        assert_eq!(ready().front(&at_its_head), Front::Request { length: head(3, 0).len(), deadline: None });
        let mut http = ready();
        http.received(&head(3, 0)).unwrap();
        assert_eq!(http.front(&rest), Front::Leave);
        // What is behind it waits for it.
        assert_eq!(http.front(&[rest, head(5, END_STREAM)].concat()), Front::Leave);
    }
    assert_eq!(ready().front(&head(3, END_STREAM)), Front::Request { length: head(3, END_STREAM).len(), deadline: None });
}

#[test]
fn another_request_gets_503() {
    let http = ready();
    for content_type in ["application/json", "application/grpc-web"] {
        let request = frame(HEADERS, END_HEADERS | END_STREAM, 3, &block(content_type, &[("x-deadline", "250"), ("grpc-timeout", "1m")]));
        assert_eq!(http.front(&request), Front::Request { length: request.len(), deadline: Some(Duration::from_millis(250)) });
        let mut answer = Vec::new();
        http.busy(&request, REMAINING, &mut answer);
        let answer = frames(&answer);
        assert_eq!(texts(&answer[0].1), owned(&[("8", "503"), ("28", "0"), ("53", "1"), ("busy-until", "8")]));
        assert_eq!(answer.len(), 1);
        let mut answer = Vec::new();
        ready().with_retry_after(false).busy(&request, REMAINING, &mut answer);
        assert_eq!(texts(&frames(&answer)[0].1), owned(&[("8", "503"), ("28", "0"), ("busy-until", "8")]));
    }
}

#[test]
fn a_request_in_short() {
    let described = |block: &[u8]| {
        let described = ready().describe(&frame(HEADERS, END_HEADERS, 3, block));
        (String::from_utf8(described.line).unwrap(), String::from_utf8(described.agent).unwrap())
    };
    assert_eq!(described(&block("x", &[("user-agent", "me")])), ("POST /service/Method HTTP/2.0".to_string(), "me".to_string()));
    assert_eq!(described(&[0x82, 0x84]), ("GET / HTTP/2.0".to_string(), String::new()));
    let mut other = Vec::new();
    hpack::write(2, b"DELETE", &mut other);
    hpack::write(58, b"curl", &mut other);
    hpack::write_named(b":path", b"/a", &mut other);
    assert_eq!(described(&other), ("DELETE /a HTTP/2.0".to_string(), "curl".to_string()));
    assert_eq!(described(b"\xff"), ("  HTTP/2.0".to_string(), String::new()));
}

#[test]
fn deadlines_of_grpc() {
    for (text, expected) in [("1H", 3_600_000_000), ("2M", 120_000_000), ("3S", 3_000_000), ("4m", 4_000), ("5u", 5)] {
        assert_eq!(grpc_timeout(text.as_bytes()), Some(Duration::from_micros(expected)));
    }
    assert_eq!(grpc_timeout(b"99999999n"), Some(Duration::from_nanos(99_999_999)));
    for text in ["", "5", "m", "+5m", "999999999m", "5x", "-1S"] {
        assert_eq!(grpc_timeout(text.as_bytes()), None, "{text}");
    }
    // How long the call may take is not how long its client wants to wait here.
    let request = frame(HEADERS, END_HEADERS, 3, &block("application/grpc", &[("grpc-timeout", "10S")]));
    assert_eq!(ready().front(&request), Front::Request { length: request.len(), deadline: Some(DEFAULT) });
}

/// As of HTTP/1.1, whose test has the same list.
#[test]
fn deadlines() {
    for (fields, deadline) in [
        (&[("x-deadline", "250")][..], Some(250)),
        (&[("x-deadline", "4294967296")], Some(4_294_967_296)),
        (&[("x-deadline", "+5")], None),
        (&[("x-deadline", "7"), ("x-deadline", "soon")], Some(7)),
        (&[("prefer", "wait=2")], Some(2000)),
        (&[("prefer", "respond-async, wait=10")], Some(10_000)),
        (&[("prefer", "wait=2"), ("x-deadline", "7")], Some(7)),
        (&[("x-deadline", "7"), ("prefer", "wait=2")], Some(7)),
        (&[("prefer", "wait=999999999999999999")], None),
        (&[("grpc-timeout", "20m"), ("prefer", "wait=2")], Some(2000)),
        (&[("grpc-timeout", "20m"), ("grpc-timeout", "soon")], Some(20)),
        (&[("other", "5")], None),
    ] {
        let request = frame(HEADERS, END_HEADERS, 3, &block("application/grpc", fields));
        let expected = Front::Request { length: request.len(), deadline: deadline.map(Duration::from_millis) };
        assert_eq!(ready().front(&request), expected, "{fields:?}");
    }
}

#[test]
fn blocks_in_several_frames_padded_and_with_priority() {
    let http = ready();
    let block = block("application/grpc", &[]);
    let (one, other) = block.split_at(7);
    let mut payload = vec![3, 0, 0, 0, 0, 9];
    payload.extend(one);
    payload.extend([0; 3]);
    let mut request = frame(HEADERS, 0x28, 5, &payload);
    request.extend(frame(CONTINUATION, END_HEADERS, 5, other));
    assert_eq!(http.front(&request), Front::Request { length: request.len(), deadline: None });
    assert_eq!(http.front(&request[..request.len() - 1]), Front::Incomplete);
    let mut stranger = frame(HEADERS, 0, 5, one);
    stranger.extend(frame(CONTINUATION, END_HEADERS, 7, other));
    assert!(matches!(http.front(&stranger), Front::Unknown(_)));
}

#[test]
fn only_where_there_is_no_table() {
    let request = frame(HEADERS, END_HEADERS | END_STREAM, 3, &block("application/grpc", &[]));
    // The client has not said that it has obeyed.
    let mut http = connection();
    http.received(PREFACE).unwrap();
    http.sent(&server_settings()).unwrap();
    http.received(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &block("application/grpc", &[]))).unwrap();
    http.sent(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x88])).unwrap();
    assert_eq!((http.is_idle(), http.front(&request)), (true, Front::Leave));
    // It has, and takes it back.
    let mut http = ready();
    assert!(matches!(http.front(&request), Front::Request { .. }));
    let mut resizing = vec![0x20, 0x3f, 0xe1, 0x1f];
    resizing.extend(block("application/grpc", &[]));
    assert_eq!(http.front(&frame(HEADERS, END_HEADERS, 3, &resizing)), Front::Leave);
    http.received(&frame(HEADERS, END_HEADERS, 3, &resizing)).unwrap();
    assert_eq!(http.front(&frame(HEADERS, END_HEADERS, 5, &block("application/grpc", &[]))), Front::Leave);
    // The application takes it back.
    assert!(ready().sent(&frame(SETTINGS, 0, 0, &[0, 1, 0, 0, 16, 0])).is_err());
    // A table of which the gate knows nothing.
    assert!(matches!(ready().front(&frame(HEADERS, END_HEADERS, 3, &[0xbe])), Front::Unknown(_)));
    assert!(ready().received(&frame(HEADERS, END_HEADERS, 3, &[0xbe])).is_err());
}

#[test]
fn settings_of_the_client_are_first_obeyed() {
    let request = frame(HEADERS, END_HEADERS | END_STREAM, 3, &block("application/grpc", &[]));
    let mut http = ready();
    http.received(&frame(SETTINGS, 0, 0, &[0, 1, 0, 0, 0, 0])).unwrap();
    assert_eq!(http.front(&request), Front::Leave);
    http.sent(&frame(HEADERS, END_HEADERS, 1, &[0x88])).unwrap();
    assert_eq!(http.front(&request), Front::Leave);
    http.sent(&frame(SETTINGS, ACK, 0, &[])).unwrap();
    assert_eq!(http.front(&request), Front::Leave);
    http.sent(&frame(HEADERS, END_HEADERS, 1, &[0x20, 0x88])).unwrap();
    assert!(matches!(http.front(&request), Front::Request { .. }));
}

#[test]
fn what_is_the_applications() {
    let mut http = ready();
    let mut connect = Vec::new();
    hpack::write(2, b"CONNECT", &mut connect);
    for bytes in [
        frame(SETTINGS, ACK, 0, &[]),
        frame(SETTINGS, 0, 0, &[]),
        frame(PING, ACK, 0, &[7; 8]),
        frame(PING, 0, 0, &[7; 7]),
        frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 9]),
        frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 9]),
        frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]),
        frame(DATA, 0, 1, b"more"),
        frame(GOAWAY, 0, 0, &[0; 8]),
        frame(0x55, 0, 0, b"unknown"),
        frame(2, 0, 9, &[0; 5]),
        // Trailers; a stream of the server's; a tunnel.
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &block("x", &[])),
        frame(HEADERS, END_HEADERS, 4, &block("x", &[])),
        frame(HEADERS, END_HEADERS, 3, &connect),
    ] {
        assert_eq!(http.front(&bytes), Front::Leave, "{bytes:?}");
    }
    // Inside a block of the application's, nothing may be written.
    http.sent(&frame(HEADERS, 0, 1, &[0x88])).unwrap();
    assert!(!http.is_idle());
    http.sent(&frame(CONTINUATION, END_HEADERS, 1, &[0x88])).unwrap();
    assert!(http.is_idle());
    // One of both ends the connection.
    http.sent(&frame(GOAWAY, 0, 0, &[0; 8])).unwrap();
    assert_eq!(http.front(&frame(HEADERS, END_HEADERS, 3, &block("x", &[]))), Front::Leave);
}

#[test]
fn what_a_server_must_refuse_is_left_to_it() {
    const HEAD: &[u8] = &[0x82, 0x86, 0x84];
    let mut http = ready();
    let request = |more: &[u8]| frame(HEADERS, END_HEADERS | END_STREAM, 3, &[HEAD, more].concat());
    assert!(matches!(http.front(&request(b"\x00\x01x\x01Y")), Front::Request { .. }));
    // An upper-case name; a method once more; a field of answers; what is about the connection.
    for more in [&b"\x00\x01X\x01y"[..], b"\x83", b"\x88", b"\x00\x02te\x04gzip", b"\x00\x0aconnection\x05close"] {
        assert_eq!(http.front(&request(more)), Front::Leave, "{}", more.escape_ascii());
    }
    // A value that is padded by zeros.
    assert!(matches!(http.front(&request(b"\x00\x01x\x81\x18")), Front::Unknown(_)));
    for (on, left) in [(3, true), (1, false)] {
        let depends = frame(HEADERS, END_HEADERS | END_STREAM | 0x20, 3, &[&[0, 0, 0, on, 9], HEAD].concat());
        assert_eq!(http.front(&depends) == Front::Leave, left);
    }
    // Longer than the server permits; and as it has permitted.
    let mut more = Vec::new();
    hpack::write_named(b"x", &[b'x'; 17_000], &mut more);
    assert_eq!(http.front(&request(&more)), Front::Leave);
    http.sent(&frame(SETTINGS, 0, 0, &[0, 5, 0, 0, 0x80, 0])).unwrap();
    assert!(matches!(http.front(&request(&more)), Front::Request { .. }));
}

/// Of frames that the server never sees, nobody else can say so.
#[test]
fn frames_against_the_protocol_on_an_answered_stream_end_the_connection() {
    for (bytes, code) in [
        (frame(RST_STREAM, 0, 3, &[0; 3]), 6),
        (frame(WINDOW_UPDATE, 0, 3, &[0; 5]), 6),
        (frame(DATA, 0, 3, &[0; 16_385]), 6),
        (frame(DATA, 8, 3, b"\x09ab"), 1),
        (frame(WINDOW_UPDATE, 0, 3, &[0; 4]), 1),
        (frame(HEADERS, END_HEADERS, 3, &[0x83]), 1),
    ] {
        let mut http = ready();
        http.taken(&frame(HEADERS, END_HEADERS, 3, &block("x", &[])));
        // In a pause, and when the application reads.
        for in_pause in [true, false] {
            let (mut connection, mut wire) = on_wire(http.clone());
            wire.received.extend(&bytes);
            if in_pause {
                let outcome = connection.look(&mut wire, &mut vec![0; 20_000], |_| panic!("asked"), |_, _, _| panic!("answered"));
                assert_eq!(outcome, Outcome::Opaque);
            } else {
                assert_eq!(read_to_the_end(&mut connection, &mut wire, 1000), 0);
            }
            assert!(wire.closing, "{} {in_pause}", bytes[..9].escape_ascii());
            let said = frames(&wire.sent).pop().map(|(frame, payload)| (frame.kind, payload));
            assert_eq!(said, Some((GOAWAY, vec![0, 0, 0, 3, 0, 0, 0, code])));
        }
    }
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"PRI * HTTP/2.0\r\n\r\nXX", &[0x16, 3, 1]] {
        assert!(connection().received(bytes).is_err());
    }
    assert!(connection().sent(&frame(HEADERS, END_HEADERS, 1, &[0x88])).is_err());
    assert!(connection().sent(&frame(SETTINGS, ACK, 0, &[])).is_err());
    assert_eq!(connection().instead(&frame(SETTINGS, ACK, 0, &[])), None);
    assert_eq!(connection().instead(&server_settings()[..20]), None);
    assert!(ready().received(&frame(CONTINUATION, END_HEADERS, 1, &[0x88])).is_err());
    assert!(ready().received(&frame(HEADERS, END_HEADERS, 2, &[0x88])).is_err());
    let mut http = ready();
    http.received(&frame(HEADERS, 0, 3, &[0x88])).unwrap();
    assert!(http.received(&frame(DATA, 0, 3, &[])).is_err());
    assert!(ready().received(&frame(PUSH_PROMISE, END_HEADERS, 3, &[0; 4])).is_err());
}

#[test]
fn frames_of_answered_streams_are_taken() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &block("application/grpc", &[])));
    assert!(http.filters());
    let data = frame(DATA, 0, 3, &[7; 1000]);
    assert_eq!(http.front(&data), Front::Aside { length: data.len() });
    assert_eq!(http.front(&data[..500]), Front::Incomplete);
    // What comes behind for the application is delivered up to there, and in which pieces it comes does not matter.
    let mut bytes = frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]);
    bytes.extend(&data);
    assert_eq!(http.pass(&bytes), Pass::Deliver(13));
    assert_eq!(http.pass(&bytes[..5]), Pass::Wait);
    assert_eq!(http.pass(&bytes[..10]), Pass::Deliver(10));
    assert_eq!(http.pass(&data[..8]), Pass::Wait);
    assert_eq!(http.pass(&data[..300]), Pass::Take(300));
    http.taken(&data[..300]);
    assert!(!http.is_idle());
    assert_eq!(http.pass(&data[300..]), Pass::Take(709));
    http.taken(&data[300..]);
    assert!(http.is_idle());
    // Many frames at once; a PING on such a stream gets no answer.
    let mut many = frame(PING, 0, 3, b"12345678");
    many.extend(frame(DATA, 0, 3, &[]).repeat(50));
    let all = many.len();
    many.extend(frame(HEADERS, END_HEADERS, 5, &[0x88]));
    assert_eq!(http.pass(&many), Pass::Take(all));
    http.taken(&many[..all]);
    http.taken(&frame(PING, 0, 0, b"12345678"));
    let mut owed = Vec::new();
    http.owed(&mut owed);
    let mut expected = frame(PING, ACK, 0, b"12345678");
    expected.extend(frame(WINDOW_UPDATE, 0, 0, &1000u32.to_be_bytes()));
    assert_eq!(owed, expected);
    http.owed(&mut owed);
    assert_eq!(owed, expected);
    // Streams next to each other are one range, those of the application between them none.
    http.taken(&frame(HEADERS, END_HEADERS, 5, &[0x88]));
    http.received(&frame(HEADERS, END_HEADERS, 7, &[0x88])).unwrap();
    http.taken(&frame(HEADERS, END_HEADERS, 9, &[0x88]));
    assert_eq!(http.answered, [3..=5, 9..=9]);
    assert!(!http.is_answered(7) && !http.is_answered(0));
}

/// Streams that the server has opened lie between those that the gate has answered.
#[test]
fn streams_of_the_server_are_the_applications() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS | END_STREAM, 3, &[0x88]));
    http.taken(&frame(HEADERS, END_HEADERS | END_STREAM, 5, &[0x88]));
    assert_eq!(http.answered, [3..=5]);
    let update = frame(WINDOW_UPDATE, 0, 4, &[0, 0, 0, 1]);
    assert_eq!(http.front(&update), Front::Leave);
    assert_eq!(http.pass(&update), Pass::Deliver(update.len()));
    assert_eq!(http.pass(&frame(WINDOW_UPDATE, 0, 5, &[0, 0, 0, 1])), Pass::Take(13));
}

pub(super) fn on_wire(http: Http2) -> (Connection<Http2>, FakeWire) {
    let totals = Totals { established: true, taken: 0, written: 0, unacknowledged: 0 };
    (Connection::new(http, totals), FakeWire { room: 1_000_000, ..FakeWire::default() })
}

/// What is taken when the gate may not write any more cannot be given back: the client would wait for it for ever.
#[test]
fn a_window_that_cannot_be_given_back_ends_the_connection() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
    let (mut connection, mut wire) = on_wire(http);
    connection.make_opaque(Opaque::Response("written by a function that the gate does not follow"));
    assert!(connection.filters());
    for taken in [8_000, 8_000] {
        wire.received.extend(&frame(DATA, 0, 3, &vec![0; taken]));
        assert!(connection.read(&mut wire, &mut [0; 10_000]).is_err());
        connection.pay(&mut wire);
        assert!(!wire.closing);
    }
    wire.received.extend(&frame(DATA, 0, 3, &[0; 1_000]));
    assert!(connection.read(&mut wire, &mut [0; 10_000]).is_err());
    connection.pay(&mut wire);
    assert!(wire.closing && wire.sent.is_empty() && !connection.filters());
}

/// A block of no more than 64 KB in a frame of more, by its padding: what is taken is followed by its frames.
#[test]
fn a_frame_that_could_not_be_followed_is_not_answered() {
    let mut block = block("x", &[]);
    hpack::write_named(b"x", &vec![b'x'; MOST_BLOCK - 100 - block.len()], &mut block);
    assert!(block.len() <= MOST_BLOCK && block.len() + 256 > MOST_BLOCK);
    for (padding, expected) in [(0, Outcome::Empty), (255, Outcome::Left)] {
        let mut payload = vec![padding];
        payload.extend(&block);
        payload.extend(vec![0; usize::from(padding)]);
        let request = frame(HEADERS, END_HEADERS | END_STREAM | 0x8, 3, &payload);
        assert_eq!(request.len() - HEADER > MOST_BLOCK, padding > 0);
        let mut http = ready();
        // The application permits as long ones.
        http.sent(&frame(SETTINGS, 0, 0, &[0, 5, 0, 2, 0, 0])).unwrap();
        let (mut connection, mut wire) = on_wire(http);
        wire.received.extend(&request);
        let outcome = connection.look(&mut wire, &mut vec![0; 100_000], |_| Decision::Answer(REMAINING), |_, _, _| ());
        assert_eq!((outcome, connection.opaque(), wire.closing), (expected, None, false));
    }
}

/// How much the application reads, so much at once, until there is no more or it goes on without the gate, for which nothing is left then.
fn read_to_the_end(connection: &mut Connection<Http2>, wire: &mut FakeWire, size: usize) -> usize {
    let mut read = 0;
    loop {
        match connection.read(wire, &mut vec![0; size]) {
            Ok(0) => return read,
            Ok(n) => read += n,
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                return read;
            }
        }
        if !connection.filters() {
            assert_eq!(wire.peek(&mut [0; 10]).unwrap(), 0);
            return read;
        }
    }
}

/// Trailers of an answered stream that the application would have to read for the sake of its table, in whatever pieces they come.
#[test]
fn trailers_that_change_a_table_end_the_connection() {
    let literal = b"\x40\x01a\x01b";
    let resizing = [&b"\x3f\xe1\x1f"[..], literal].concat();
    let trailers = |block: &[u8]| {
        let (front, rest) = block.split_at(block.len() / 2);
        let frames = [frame(HEADERS, END_STREAM, 3, front), frame(CONTINUATION, END_HEADERS, 3, rest)];
        frames.concat()
    };
    let busy = || {
        let mut http = ready();
        http.taken(&frame(HEADERS, END_HEADERS, 3, &block("x", &[])));
        http
    };
    let given_back = frame(SETTINGS, 0, 0, &[0, 1, 0, 0, 16, 0]);
    let request = frame(HEADERS, END_HEADERS | END_STREAM, 5, &block("x", &[]));
    for (name, block, by_application, by_client, ends) in [
        ("no table", &literal[..], false, false, false),
        ("the application has given it back and the client has not taken it", literal, true, false, false),
        ("the application has given it back, and the client takes it here", &resizing, true, false, true),
        ("the client takes it here, unasked", &resizing, false, false, true),
        ("the client has taken it before", literal, false, true, true),
        ("damaged", b"\xbe\x88", false, false, true),
    ] {
        for size in [1, 7, 1000] {
            let (mut connection, mut wire) = on_wire(busy());
            if by_application {
                connection.write_begins();
                connection.sent(&given_back);
                connection.write_ends();
                wire.totals.1 += given_back.len() as u64;
                assert!(connection.opaque().is_some() && connection.filters());
            }
            let mut expected = 0;
            if by_client {
                let first = frame(HEADERS, END_HEADERS | END_STREAM, 5, &[&resizing[..3], &[0x88]].concat());
                expected += first.len();
                wire.received.extend(first);
            }
            wire.received.extend(trailers(block));
            if !ends {
                expected += request.len();
            }
            wire.received.extend(&request);
            let read = read_to_the_end(&mut connection, &mut wire, size);
            assert_eq!((read, wire.closing, connection.filters()), (expected, ends, !ends), "{name}, {size} at once");
        }
        // In a pause.
        let (mut connection, mut wire) = on_wire(busy());
        wire.received.extend(trailers(block));
        if !by_application && !by_client {
            let outcome = connection.look(&mut wire, &mut [0; 500], |_| panic!("asked"), |_, _, _| panic!("answered"));
            assert_eq!((outcome == Outcome::Opaque, wire.closing), (ends, ends), "{name}");
        }
    }
}

/// The kernel tells of a reset once: to the application.
#[test]
fn a_reset_is_the_applications() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
    let (mut connection, mut wire) = on_wire(http);
    let update = frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]);
    let bytes = [update.clone(), frame(DATA, 0, 3, &[7; 20])].concat();
    wire.received.extend(&bytes);
    wire.reset = true;
    assert_eq!(connection.look(&mut wire, &mut [0; 200], |_| panic!("asked"), |_, _, _| panic!("answered")), Outcome::Left);
    assert!(wire.reset);
    let mut buffer = vec![0; bytes.len()];
    assert_eq!(connection.read(&mut wire, &mut buffer).unwrap(), update.len());
    assert!(!wire.reset);
    assert_eq!(connection.read(&mut wire, &mut buffer).unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(connection.read(&mut wire, &mut buffer).unwrap(), 0);
}

/// A client with a body of 1 MB that obeys its windows, as they are while some of it comes in the pause and the rest after it: it is never told to
/// stop, and comes to its end. One that never ends is told to.
#[test]
fn a_body_that_is_larger_than_its_window_comes_to_its_end() {
    for (in_pause, length, stops) in [(1 << 20, 1 << 20, 0), (0, 1 << 20, 0), (300_000, 1 << 20, 0), (0, 8 << 20, 1), (8 << 20, 8 << 20, 1)]
    {
        let (mut connection, mut wire) = on_wire(ready());
        wire.room = usize::MAX;
        let request = frame(HEADERS, END_HEADERS, 3, &block("x", &[]));
        wire.received.extend(&request);
        let answer = |_| Decision::Answer(REMAINING);
        assert_eq!(connection.look(&mut wire, &mut vec![0; 100_000], answer, |_, _, _| ()), Outcome::Empty);
        let (mut windows, mut sent, mut stopped, mut read) = ([65_535i64; 2], 0, 0, 0);
        while sent < length {
            for (frame, payload) in frames(&std::mem::take(&mut wire.sent)) {
                match frame.kind {
                    HEADERS => assert!(frame.has(END_STREAM) && sent == 0),
                    WINDOW_UPDATE if frame.stream == 0 => windows[0] += i64::from(u32::from_be_bytes(payload[..].try_into().unwrap())),
                    WINDOW_UPDATE => windows[1] += i64::from(u32::from_be_bytes(payload[..].try_into().unwrap())),
                    RST_STREAM => stopped += 1,
                    kind => panic!("a frame of kind {kind}"),
                }
            }
            let bytes = windows.iter().copied().min().unwrap().min(16_384).min((length - sent) as i64) as usize;
            if bytes == 0 || stopped > 0 {
                break;
            }
            sent += bytes;
            windows.iter_mut().for_each(|window| *window -= bytes as i64);
            wire.received.extend(&frame(DATA, if sent == length { END_STREAM } else { 0 }, 3, &vec![7; bytes]));
            if sent <= in_pause {
                assert_eq!(connection.look(&mut wire, &mut vec![0; 100_000], |_| panic!("asked"), |_, _, _| ()), Outcome::Empty);
            } else {
                read += connection.read(&mut wire, &mut [0; 5000]).unwrap_or(0);
                connection.pay(&mut wire);
            }
        }
        assert_eq!((sent == length, stopped, read, connection.opaque()), (stops == 0, stops, 0, None), "{in_pause} of {length}");
    }
}

/// So that nothing comes on a stream of which it is no longer known that the gate has answered.
#[test]
fn a_body_that_goes_on_for_many_pauses_is_stopped() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
    let mut owed = Vec::new();
    for pause in 1..MOST_RANGES as u32 {
        let stream = 4 * pause + 3;
        http.received(&frame(HEADERS, END_HEADERS | END_STREAM, stream - 2, &[0x88])).unwrap();
        http.taken(&frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0x88]));
        http.owed(&mut owed);
        assert!(http.is_answered(3));
        assert_eq!(owed.is_empty(), pause < MOST_RANGES as u32 / 2, "{pause}");
    }
    assert_eq!(owed, frame(RST_STREAM, 0, 3, &[0; 4]));
}

/// Nobody else bounds what a client sends on a stream of which the application knows nothing.
#[test]
fn a_client_that_sends_more_than_its_windows_allow_is_ended() {
    for in_pause in [true, false] {
        let mut http = ready();
        http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
        let (mut connection, mut wire) = on_wire(http);
        let data = frame(DATA, 0, 3, &[7; 16_000]);
        let mut sent = 0;
        while !wire.closing && sent < 64 << 20 {
            wire.room = 1000;
            wire.received.extend(&data);
            sent += data.len() as u64;
            if in_pause {
                connection.look(&mut wire, &mut [0; 20_000], |_| panic!("asked"), |_, _, _| panic!("answered"));
            } else {
                let read = connection.read(&mut wire, &mut [0; 4000]);
                assert!(read.is_err() || wire.closing);
                connection.pay(&mut wire);
            }
        }
        // What it is let send, a window, and the frame that was too much.
        let most = uploads::MOST_BODY + 2 * u64::from(uploads::LEAST_WINDOW);
        assert!(sent > uploads::MOST_BODY && sent < most, "{sent} bytes, in a pause: {in_pause}");
        let last = frames(&wire.sent).pop().unwrap();
        assert_eq!((last.0.kind, &last.1[..]), (GOAWAY, &[0, 0, 0, 3, 0, 0, 0, 3][..]));
    }
    // It is told why, if it can be.
    let (mut connection, mut wire) = on_wire(ready());
    wire.received.extend(frame(HEADERS, END_HEADERS | END_STREAM, 3, &block("x", &[])));
    wire.received.extend(frame(DATA, 0, 3, b"behind the end"));
    let outcome = connection.look(&mut wire, &mut [0; 500], |_| Decision::Answer(REMAINING), |_, _, _| ());
    assert_eq!((outcome, wire.closing, connection.filters()), (Outcome::Opaque, true, false));
    let sent = frames(&wire.sent);
    assert_eq!((sent[0].0.kind, sent[1].0.kind, &sent[1].1[..]), (HEADERS, GOAWAY, &[0, 0, 0, 3, 0, 0, 0, 3][..]));
    assert_eq!((connection.read(&mut wire, &mut [0; 10]).unwrap(), sent.len()), (0, 2));
}

/// While the application's own room for the client is on its way, the gate cannot tell.
#[test]
fn room_that_is_being_written_is_not_overrun() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
    http.taken(&frame(HEADERS, END_HEADERS, 5, &[0x88]));
    let (mut connection, mut wire) = on_wire(http);
    wire.room = 0;
    connection.write_begins();
    for stream in [3, 5] {
        (0..3).for_each(|_| wire.received.extend(frame(DATA, 0, stream, &[7; 16_000])));
    }
    assert!(connection.read(&mut wire, &mut [0; 4000]).is_err() && !wire.closing);
    connection.sent(&frame(WINDOW_UPDATE, 0, 0, &100_000u32.to_be_bytes()));
    connection.write_ends();
    wire.received.extend(frame(DATA, 0, 5, &[7; 100]));
    assert!(connection.read(&mut wire, &mut [0; 4000]).is_err() && !wire.closing);
}

/// An event loop that reads has other connections, too.
#[test]
fn a_read_leaves_what_it_has_not_dropped_to_the_next() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
    let (mut connection, mut wire) = on_wire(http);
    let update = frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]);
    wire.received.extend(frame(DATA, 0, 3, &[]).repeat(100_000));
    wire.received.extend(&update);
    let mut reads = 0;
    loop {
        let before = (wire.calls, wire.received.len());
        wire.told_from = 0;
        let read = connection.read(&mut wire, &mut [0; 90]);
        reads += 1;
        assert!(wire.calls - before.0 <= 4 * 64 && wire.received.len() < before.1);
        match read {
            Ok(n) => {
                assert_eq!((n, wire.received.len()), (update.len(), 0));
                break;
            }
            // An event loop that is told of changes only is told of the rest.
            Err(error) => assert_eq!((error.kind(), wire.told_from), (std::io::ErrorKind::WouldBlock, 1)),
        }
    }
    assert!(reads > 100, "{reads}");
}

#[test]
fn a_window_is_not_more_than_there_can_be() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS | END_STREAM, 3, &[0x88]));
    let length = 0x00ff_ffff;
    let mut header = frame(DATA, 0, 3, &[]);
    header[..3].copy_from_slice(&[0xff; 3]);
    for _ in 0..300 {
        http.taken(&header);
        http.taken(&vec![0; length]);
    }
    let mut owed = Vec::new();
    http.owed(&mut owed);
    assert_eq!(owed, frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes()));
}

/// A client that does not read cannot make the gate keep more and more.
#[test]
fn what_is_owed_waits_until_the_client_reads() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
    let mut connection = Connection::new(http, Totals { established: true, taken: 0, written: 0, unacknowledged: 0 });
    let mut wire = FakeWire::default();
    for _ in 0..100 {
        wire.received.extend(&frame(DATA, 0, 3, b"abc"));
        assert!(connection.read(&mut wire, &mut [0; 100]).is_err());
        connection.pay(&mut wire);
    }
    wire.room = 1000;
    connection.pay(&mut wire);
    let first = frame(WINDOW_UPDATE, 0, 0, &3u32.to_be_bytes());
    let rest = frame(WINDOW_UPDATE, 0, 0, &297u32.to_be_bytes());
    assert_eq!(wire.sent, [first, rest].concat());
}

#[test]
fn who_closes_inside_a_frame_is_not_waited_for() {
    let mut http = ready();
    http.taken(&frame(HEADERS, END_HEADERS, 3, &[0x88]));
    let mut connection = Connection::new(http, Totals { established: true, taken: 0, written: 0, unacknowledged: 0 });
    let mut wire = FakeWire { room: 1000, ..FakeWire::default() };
    // The rest of a header is under way.
    wire.received.extend(&frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]));
    wire.received.extend(&frame(DATA, 0, 3, b"abc")[..4]);
    let mut buffer = [0; 100];
    assert_eq!(connection.read(&mut wire, &mut buffer).unwrap(), 13);
    assert_eq!(connection.read(&mut wire, &mut buffer).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(connection.opaque(), None);
    // Nor is a selector told of these four again.
    assert_eq!(wire.told_from, 5);
    // It is not: the bytes are the application's.
    wire.closing = true;
    assert_eq!(connection.read(&mut wire, &mut buffer).unwrap(), 4);
    assert_eq!(connection.read(&mut wire, &mut buffer).unwrap(), 0);
    assert!(connection.opaque().is_some() && !connection.filters());
    assert_eq!(wire.told_from, 1);
}

/// What a client does.
#[derive(Debug, Clone)]
enum Step {
    /// Begins a request; with a body of so many bytes, or none.
    Request(Option<usize>),
    /// Sends more of the body of one of the streams that are open, and ends it or not.
    Body(usize, usize, bool),
    /// Gives one of its streams up.
    Reset(usize),
    /// Connection window, as after many answers.
    Window,
    Ping,
    /// So many bytes of what it has sent arrive.
    Arrive(usize),
    /// The application reads with a buffer of this size.
    Read(usize),
    /// The application writes at most so many bytes.
    Write(usize),
    /// The gate looks, wanting to answer so many.
    Look(usize),
    Room(usize),
    Restless(bool),
    /// Two threads of the application write at once.
    Tangle,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => prop_oneof![Just(None), (0usize..300).prop_map(Some)].prop_map(Step::Request),
        3 => (any::<usize>(), 0usize..200, any::<bool>()).prop_map(|(which, length, end)| Step::Body(which, length, end)),
        1 => any::<usize>().prop_map(Step::Reset),
        1 => Just(Step::Window),
        1 => Just(Step::Ping),
        6 => prop_oneof![1usize..30, 30usize..900].prop_map(Step::Arrive),
        5 => prop_oneof![1usize..20, 20usize..600].prop_map(Step::Read),
        3 => (1usize..200).prop_map(Step::Write),
        6 => (0usize..5).prop_map(Step::Look),
        1 => prop_oneof![Just(0usize), 1usize..150, Just(100_000)].prop_map(Step::Room),
        1 => any::<bool>().prop_map(Step::Restless),
    ]
}

/// The gate gives up what the application writes, at some time.
fn tangled(steps: Vec<Step>, at: Option<usize>) -> Vec<Step> {
    let mut steps = steps;
    if let Some(at) = at.filter(|at| *at <= steps.len()) {
        steps.insert(at, Step::Tangle);
    }
    steps
}

struct Model {
    connection: Connection<Http2>,
    wire: FakeWire,
    coming: Vec<u8>,
    next_stream: u32,
    /// Streams on which the client may still send.
    open: Vec<u32>,
    /// Body bytes that the client has sent, by stream; pings.
    bodies: BTreeMap<u32, usize>,
    pings: u64,
    /// What the application has read and not yet made into frames.
    read: Vec<u8>,
    to_write: Vec<u8>,
    /// Streams whose HEADERS the application has read; those that have ended; body bytes it has read; its pings.
    seen: BTreeSet<u32>,
    bodies_seen: BTreeMap<u32, usize>,
    pings_seen: u64,
    busy: u64,
    is_tangled: bool,
}

impl Model {
    fn new() -> Model {
        let wire = FakeWire { room: 100_000, ..FakeWire::default() };
        let connection = Connection::new(ready(), Totals { established: true, taken: 0, written: 0, unacknowledged: 0 });
        Model {
            connection,
            wire,
            coming: Vec::new(),
            next_stream: 3,
            open: Vec::new(),
            bodies: BTreeMap::new(),
            pings: 0,
            read: Vec::new(),
            to_write: Vec::new(),
            seen: BTreeSet::new(),
            bodies_seen: BTreeMap::new(),
            pings_seen: 0,
            busy: 0,
            is_tangled: false,
        }
    }

    /// What the application makes of what it has read: a strict server, which knows each stream.
    fn process(&mut self) {
        while let Some(frame) = Frame::of(&self.read).filter(|frame| self.read.len() >= frame.whole()) {
            let payload: Vec<u8> = self.read.drain(..frame.whole()).skip(HEADER).collect();
            match frame.kind {
                HEADERS => {
                    assert!(self.seen.last().is_none_or(|last| *last < frame.stream), "streams in order");
                    self.seen.insert(frame.stream);
                    // Its answer, in two frames that nothing may come between.
                    write(HEADERS, 0, frame.stream, &[0x88], &mut self.to_write);
                    write(CONTINUATION, END_HEADERS, frame.stream, &[0x88], &mut self.to_write);
                }
                DATA => {
                    assert!(self.seen.contains(&frame.stream), "DATA of a stream that it has never seen");
                    *self.bodies_seen.entry(frame.stream).or_default() += payload.len();
                }
                RST_STREAM => assert!(self.seen.contains(&frame.stream), "the end of a stream that it has never seen"),
                PING => {
                    self.pings_seen += 1;
                    write(PING, ACK, 0, &payload, &mut self.to_write);
                }
                WINDOW_UPDATE => assert_eq!(frame.stream, 0),
                kind => panic!("a frame of kind {kind} that nobody sent"),
            }
        }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Request(body) => {
                let stream = self.next_stream;
                self.next_stream += 2;
                let flags = if body.is_none() { END_HEADERS | END_STREAM } else { END_HEADERS };
                write(HEADERS, flags, stream, &block("application/grpc", &[("grpc-timeout", "1m")]), &mut self.coming);
                if let Some(length) = body {
                    self.open.push(stream);
                    self.data(stream, length, false);
                }
            }
            Step::Body(which, length, end) if !self.open.is_empty() => {
                let at = which % self.open.len();
                self.data(self.open[at], length, end);
                if end {
                    self.open.swap_remove(at);
                }
            }
            Step::Reset(which) if !self.open.is_empty() => {
                let stream = self.open.swap_remove(which % self.open.len());
                write(RST_STREAM, 0, stream, &[0, 0, 0, 8], &mut self.coming);
            }
            Step::Body(..) | Step::Reset(_) => {}
            Step::Window => write(WINDOW_UPDATE, 0, 0, &[0, 0, 1, 0], &mut self.coming),
            Step::Ping => {
                self.pings += 1;
                write(PING, 0, 0, &self.pings.to_be_bytes(), &mut self.coming);
            }
            Step::Arrive(n) => {
                let n = n.min(self.coming.len());
                self.wire.received.extend(self.coming.drain(..n));
            }
            Step::Read(n) => self.application_reads(n),
            Step::Write(n) => self.application_writes(n),
            Step::Look(n) => self.gate_looks(n),
            Step::Room(n) => self.wire.room = n,
            Step::Restless(restless) => self.wire.restless = restless,
            Step::Tangle => {
                self.connection.make_opaque(Opaque::ConcurrentWrites);
                self.is_tangled = true;
            }
        }
    }

    fn application_reads(&mut self, n: usize) {
        let mut buffer = vec![0; n];
        let n = if self.connection.filters() {
            let n = self.connection.read(&mut self.wire, &mut buffer).unwrap_or(0);
            self.connection.pay(&mut self.wire);
            n
        } else {
            let n = self.wire.peek(&mut buffer).unwrap_or(0);
            self.wire.consume(n).unwrap();
            self.connection.received(&buffer[..n]);
            n
        };
        self.read.extend(&buffer[..n]);
        self.process();
    }

    fn application_writes(&mut self, n: usize) {
        let n = n.min(self.to_write.len());
        if n == 0 || !self.connection.flush(&mut self.wire) {
            return;
        }
        self.connection.write_begins();
        let n = self.wire.send(&self.to_write[..n]).unwrap_or(0);
        self.connection.sent(&self.to_write[..n]);
        self.to_write.drain(..n);
        self.connection.write_ends();
        self.connection.pay(&mut self.wire);
    }

    /// In a pause: answers so many requests at most.
    fn gate_looks(&mut self, n: usize) {
        let (mut wanted, mut answered) = (n, 0);
        let decide = |deadline| {
            assert_eq!(deadline, Some(Duration::from_millis(1)));
            if wanted == 0 {
                return Decision::Keep;
            }
            wanted -= 1;
            Decision::Answer(REMAINING)
        };
        let outcome = self.connection.look(&mut self.wire, &mut [0; 500], decide, |_, _, _| answered += 1);
        assert_eq!(outcome == Outcome::Opaque, self.is_tangled, "{:?}", self.connection.opaque());
        assert!(answered == 0 || !self.is_tangled);
        self.busy += answered;
    }

    fn data(&mut self, stream: u32, length: usize, end: bool) {
        *self.bodies.entry(stream).or_default() += length;
        write(DATA, if end { END_STREAM } else { 0 }, stream, &vec![9; length], &mut self.coming);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Each stream is the application's, with all that was sent on it, or the gate's, with nothing; each has one answer, each ping one, and the
    /// window gets back what the gate has taken, no more and no less; the latter only as long as the gate can follow what the application writes.
    #[test]
    fn each_stream_is_of_one_side(steps in proptest::collection::vec(step(), 0..150), at in proptest::option::of(0usize..150)) {
        let steps = tangled(steps, at);
        let mut model = Model::new();
        for step in &steps {
            model.take(step);
        }
        model.wire.restless = false;
        model.wire.room = 10_000_000;
        for _ in 0..3 {
            for step in [Step::Arrive(1_000_000), Step::Read(1_000_000), Step::Write(1_000_000)] {
                model.take(&step);
            }
        }
        model.connection.pay(&mut model.wire);
        prop_assert_eq!(model.connection.opaque().is_some(), model.is_tangled);
        prop_assert!(model.wire.received.is_empty() && model.read.is_empty());

        let sent: BTreeSet<u32> = (3..model.next_stream).step_by(2).collect();
        let (mut busy, mut answered) = (BTreeSet::new(), BTreeSet::new());
        let (mut pongs, mut given_back, mut block_of) = (0, 0, None);
        for (frame, payload) in frames(&model.wire.sent) {
            prop_assert!(block_of.is_none() || frame.kind == CONTINUATION, "a frame inside a header block");
            match frame.kind {
                HEADERS if frame.has(END_HEADERS) => prop_assert!(busy.insert(frame.stream), "told twice"),
                HEADERS => block_of = Some(frame.stream),
                CONTINUATION => {
                    prop_assert_eq!(block_of.take(), Some(frame.stream));
                    prop_assert!(answered.insert(frame.stream), "answered twice");
                }
                PING => {
                    pongs += 1;
                    prop_assert!(frame.has(ACK) && payload.len() == 8);
                }
                WINDOW_UPDATE if frame.stream == 0 => given_back += u32::from_be_bytes(payload[..].try_into().unwrap()),
                kind => prop_assert!(false, "a frame of kind {}", kind),
            }
        }
        prop_assert_eq!(busy.len() as u64, model.busy);
        prop_assert_eq!(&answered, &model.seen);
        prop_assert!(busy.is_disjoint(&answered));
        prop_assert_eq!(busy.union(&answered).copied().collect::<BTreeSet<_>>(), sent);
        prop_assert_eq!(pongs, model.pings);
        let taken: usize = busy.iter().filter_map(|stream| model.bodies.get(stream)).sum();
        prop_assert!(given_back as usize == taken || model.is_tangled && (given_back as usize) < taken);
        for stream in &answered {
            prop_assert_eq!(model.bodies_seen.get(stream), model.bodies.get(stream));
        }
    }
}
