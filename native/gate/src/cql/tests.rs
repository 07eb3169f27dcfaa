// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

use super::*;
use crate::connection::{Connection, Decision, Outcome, fake_wire::FakeWire};
use crate::kernel::Totals;
use proptest::prelude::*;

#[test]
fn a_request_in_short() {
    let query = message(4, 0, 7, QUERY, b"SELECT secret");
    assert_eq!(ready(4).describe(&query).line, b"CQL QUERY");
    let batch = message(5, 0, 7, BATCH, b"");
    assert_eq!(ready(5).describe(&segment(&[batch, message(5, 0, 8, EXECUTE, b"")])).line, b"CQL BATCH");
}

fn connection() -> Cql {
    Cql::new(Arc::from(vec!["x-deadline".to_string()]))
}

fn message(version: u8, flags: u8, stream: u16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![version, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.push(opcode);
    bytes.extend((body.len() as u32).to_be_bytes());
    bytes.extend(body);
    bytes
}

fn startup(version: u8) -> Vec<u8> {
    message(version, 0, 0, STARTUP, b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0")
}

/// A connection whose handshake is over.
fn ready(version: u8) -> Cql {
    let mut cql = connection();
    cql.received(&startup(version)).unwrap();
    cql.sent(&message(version | FROM_SERVER, 0, 0, READY, b"")).unwrap();
    assert!(cql.is_idle());
    cql
}

fn segment(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    segment::write(&messages.concat(), &mut bytes);
    bytes
}

/// A custom payload with a deadline, before a query's text.
fn with_deadline(digits: &str) -> Vec<u8> {
    let mut body = vec![0, 2, 0, 1, b'a', 0xff, 0xff, 0xff, 0xff, 0, 10];
    body.extend(b"X-Deadline");
    body.extend((digits.len() as u32).to_be_bytes());
    body.extend(digits.as_bytes());
    body.extend(b"SELECT");
    body
}

/// The streams that an answer's messages tell OVERLOADED.
fn told(mut bytes: &[u8], version: u8) -> Vec<u16> {
    let mut streams = Vec::new();
    while !bytes.is_empty() {
        let header = Header::of(bytes).unwrap().unwrap();
        assert_eq!((header.version, header.flags, header.opcode), (version | FROM_SERVER, 0, ERROR));
        assert_eq!(bytes[HEADER..HEADER + 4], OVERLOADED.to_be_bytes());
        let (text, rest) = string(&bytes[HEADER + 4..HEADER + header.length]).unwrap();
        assert!(text.starts_with(b"the JVM is stopped for about 8 ms more") && rest.is_empty());
        streams.push(u16::from_be_bytes(header.stream));
        bytes = &bytes[HEADER + header.length..];
    }
    streams
}

const REMAINING: Duration = Duration::from_micros(7100);

#[test]
fn requests_are_answered_by_their_streams_while_others_are_outstanding() {
    for version in [3, 4] {
        let mut cql = ready(version);
        cql.received(&message(version, 0, 1, QUERY, b"an earlier one")).unwrap();
        assert!(cql.is_idle());
        for opcode in [QUERY, PREPARE, EXECUTE, BATCH] {
            let request = message(version, COMPRESSED, 300, opcode, b"\xff\xffwhatever");
            let mut buffer = request.clone();
            buffer.extend(b"\x04");
            assert_eq!(cql.front(&buffer), Front::Request { length: request.len(), deadline: None });
            assert_eq!(cql.front(&request[..request.len() - 1]), Front::Incomplete);
            assert_eq!(cql.front(&request[..HEADER - 1]), Front::Incomplete);
            let mut answer = b"old".to_vec();
            assert_eq!(cql.busy(&request, REMAINING, &mut answer), 1);
            assert_eq!(told(&answer, version), [300]);
            cql.sent(&answer).unwrap();
            assert!(cql.is_idle());
        }
        cql.sent(&message(version | FROM_SERVER, 0, 1, 8, b"rows")[..12]).unwrap();
        assert!(!cql.is_idle());
    }
}

#[test]
fn the_handshake_and_events_are_the_applications() {
    let mut cql = connection();
    assert_eq!(cql.front(&startup(4)), Front::Leave);
    cql.received(&startup(4)).unwrap();
    assert_eq!(cql.front(&message(4, 0, 1, QUERY, b"x")), Front::Leave);
    cql.sent(&message(0x84, 0, 0, AUTHENTICATE, b"")).unwrap();
    assert_eq!(cql.front(&message(4, 0, 1, QUERY, b"x")), Front::Leave);
    cql.received(&message(4, 0, 0, 0x0f, b"name and password")).unwrap();
    cql.sent(&message(0x84, 0, 0, AUTH_SUCCESS, b"")).unwrap();
    assert!(matches!(cql.front(&message(4, 0, 1, QUERY, b"x")), Front::Request { .. }));
    for opcode in [STARTUP, 5, 0x0b, 0x0f, 0x55] {
        assert_eq!(cql.front(&message(4, 0, 1, opcode, b"x")), Front::Leave);
    }
    // An event that nobody asked for.
    cql.sent(&message(0x84, 0, 0xffff, 0x0c, b"TOPOLOGY_CHANGE")).unwrap();
    assert!(cql.is_idle());
}

#[test]
fn deadlines_of_custom_payloads() {
    let cql = ready(4);
    for (flags, digits, deadline) in [
        (CUSTOM_PAYLOAD, "250", Some(250)),
        (CUSTOM_PAYLOAD, "4294967296", Some(4_294_967_296)),
        (CUSTOM_PAYLOAD, "soon", None),
        (CUSTOM_PAYLOAD, "+5", None),
        (0, "250", None),
        (CUSTOM_PAYLOAD | COMPRESSED, "250", None),
    ] {
        let request = message(4, flags, 2, QUERY, &with_deadline(digits));
        let expected = Front::Request { length: request.len(), deadline: deadline.map(Duration::from_millis) };
        assert_eq!(cql.front(&request), expected, "{flags} {digits}");
    }
    // A payload that is shorter than it says.
    assert!(matches!(cql.front(&message(4, CUSTOM_PAYLOAD, 2, QUERY, b"\x00\x09\x00")), Front::Request { deadline: None, .. }));
}

/// Nothing is written and nothing taken, and each message of a segment is a request.
#[test]
fn a_dry_run_counts_the_messages_of_a_segment() {
    let totals = Totals { established: true, taken: 0, written: 0, unacknowledged: 0 };
    let mut connection = Connection::new(ready(5), totals);
    let request = segment(&[message(5, 0, 3, QUERY, b"x"), message(5, 0, 9, QUERY, b"y"), message(5, 0, 4, EXECUTE, b"z")]);
    let mut wire = FakeWire { received: request.iter().copied().collect(), room: 1000, ..FakeWire::default() };
    let mut counted = 0;
    let outcome = connection.look(&mut wire, &mut [0; 4096], |_| Decision::Count, |requests, _, _| counted += requests);
    assert_eq!((outcome, counted), (Outcome::Kept, 3));
    assert!(wire.received == request && wire.sent.is_empty() && !connection.has_unsent());
}

#[test]
fn segments_of_version_5() {
    let mut cql = ready(5);
    let query = |stream, digits: &str| message(5, CUSTOM_PAYLOAD, stream, QUERY, &with_deadline(digits));
    let request = segment(&[query(3, "20"), query(9, "30")]);
    assert_eq!(cql.front(&request), Front::Request { length: request.len(), deadline: Some(Duration::from_millis(30)) });
    assert_eq!(cql.front(&request[..request.len() - 1]), Front::Incomplete);
    let mut answer = Vec::new();
    assert_eq!(cql.busy(&request, REMAINING, &mut answer), 2);
    let inside = segment::front(&answer).unwrap().unwrap();
    assert_eq!((inside.length, told(inside.payload.unwrap(), 5)), (answer.len(), vec![3, 9]));
    cql.sent(&answer).unwrap();
    assert!(cql.is_idle());
    // One that is not to be answered keeps all of its segment.
    assert_eq!(cql.front(&segment(&[query(3, "20"), message(5, 0, 4, 5, b"")])), Front::Leave);
    assert!(matches!(cql.front(&segment(&[query(3, "20"), message(5, 0, 4, QUERY, b"x")])), Front::Request { deadline: None, .. }));
    let mut damaged = request.clone();
    damaged[20] ^= 1;
    assert_eq!(cql.front(&damaged), Front::Leave);
    damaged[0] ^= 1;
    assert!(matches!(cql.front(&damaged), Front::Unknown(_)));
    // The application's own go on.
    cql.received(&request).unwrap();
    cql.sent(&segment(&[message(0x85, 0, 3, 8, b"rows")])).unwrap();
    assert!(cql.is_idle());
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for bytes in
        [&b"GET / HTTP/1.1\r\n"[..], &message(2, 0, 0, STARTUP, b""), &message(6, 0, 0, STARTUP, b""), &[0x16, 3, 1, 2, 0, 1, 0, 0, 1]]
    {
        assert!(connection().received(bytes).is_err(), "{bytes:?}");
    }
    let mut cql = ready(4);
    assert!(matches!(cql.front(&message(3, 0, 1, QUERY, b"x")), Front::Unknown(_)));
    assert!(cql.sent(&message(0x83, 0, 1, READY, b"")).is_err());
    // Compressed segments.
    let mut cql = connection();
    cql.received(&message(5, 0, 0, STARTUP, b"\x00\x01\x00\x0bCOMPRESSION\x00\x03lz4")).unwrap();
    assert!(cql.sent(&message(0x85, 0, 0, READY, b"")).is_err());
}

proptest! {
    /// In any pieces: idle exactly between messages.
    #[test]
    fn idle_between_messages(version in 3u8..=5, lengths in proptest::collection::vec(0usize..40, 1..6), cut in 1usize..20) {
        let mut cql = ready(version);
        for (i, length) in lengths.into_iter().enumerate() {
            let request = message(version, 0, i as u16, QUERY, &vec![1; length]);
            let answer = message(version | FROM_SERVER, 0, i as u16, 8, &vec![2; length]);
            let framed = |message: Vec<u8>| if version == 5 { segment(&[message]) } else { message };
            let (request, answer) = (framed(request), framed(answer));
            let mut seen = 0;
            for piece in request.chunks(cut) {
                cql.received(piece).unwrap();
                seen += piece.len();
                prop_assert_eq!(cql.is_idle(), seen == request.len());
            }
            let mut seen = 0;
            for piece in answer.chunks(cut) {
                cql.sent(piece).unwrap();
                seen += piece.len();
                prop_assert_eq!(cql.is_idle(), seen == answer.len());
            }
        }
    }
}
