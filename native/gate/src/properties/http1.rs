// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HTTP/1.1 against any bytes, and against another parser.

use std::sync::Arc;
use std::time::Duration;

use super::{Input, feed_both};
use crate::connection::fake_wire::FakeWire;
use crate::connection::{Connection, Decision, Outcome, Wire};
use crate::http1::Http1;
use crate::kernel::Totals;
use crate::protocol::{Front, Protocol};

/// Longer inputs say nothing that shorter ones do not, and heads of 64 KB end otherwise in pieces than whole.
const MOST_BYTES: usize = 16 * 1024;

fn http1() -> Http1 {
    Http1::new(Arc::from(vec!["x-deadline".to_string()]))
}

/// What another parser takes the first request to end at; `None` if it is not whole, or not one.
fn end_by_httparse(bytes: &[u8]) -> Option<usize> {
    let mut fields = [httparse::EMPTY_HEADER; 256];
    let mut request = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(head)) = request.parse(bytes) else { return None };
    let value = |name: &str| request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value);
    if value("transfer-encoding").is_none() {
        let length = value("content-length").map_or(0, |text| std::str::from_utf8(text).unwrap().parse::<usize>().unwrap());
        return (bytes.len() - head >= length).then_some(head + length);
    }
    let mut at = head;
    loop {
        let Ok(httparse::Status::Complete((used, size))) = httparse::parse_chunk_size(&bytes[at..]) else { return None };
        at += used;
        if size == 0 {
            break;
        }
        at += usize::try_from(size).ok()?;
        if bytes.get(at..at + 2)? != b"\r\n" {
            return None;
        }
        at += 2;
    }
    let mut trailers = [httparse::EMPTY_HEADER; 256];
    match httparse::parse_headers(&bytes[at..], &mut trailers) {
        Ok(httparse::Status::Complete((used, _))) => Some(at + used),
        _ => None,
    }
}

/// How many of `bytes` it took until the connection was between two requests; `None` if it never was.
fn end_by_reading(bytes: &[u8]) -> Option<usize> {
    let mut http = http1();
    for (i, byte) in bytes.iter().enumerate() {
        http.received(std::slice::from_ref(byte)).ok()?;
        if http.is_between_requests() {
            return Some(i + 1);
        }
    }
    None
}

/// The front of a receive buffer: a request is found where it ends by two other ways, whatever follows it, and not before it is whole.
pub fn request(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    let http = http1();
    let Front::Request { length, .. } = http.front(data) else {
        assert!(http.is_idle());
        return;
    };
    assert!(length > 0 && length <= data.len());
    assert_eq!(end_by_reading(data), Some(length), "by reading");
    assert_eq!(end_by_httparse(data), Some(length), "by httparse");
    for cut in [0, length / 2, length - 1] {
        assert_eq!(http.front(&data[..cut]), Front::Incomplete, "of {cut} of {length} bytes");
    }
    assert_eq!(http.front(&data[..length]), http.front(data));
}

/// Both directions in any order: whole pieces and single bytes lead to the same state.
pub fn exchange(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    let (mut whole, mut single) = (http1(), http1());
    let mut input = Input(data);
    while let (Some(direction), Some(length)) = (input.byte(), input.byte()) {
        let piece = input.piece(length.into());
        let (one, other) = feed_both(&mut whole, &mut single, direction % 2 == 1, piece);
        // Of two things that are wrong, one may be met first.
        assert_eq!(one.is_err(), other.is_err(), "{one:?}, {other:?}");
        if one.is_err() {
            return;
        }
    }
}

/// A connection on which the client and the application send whatever they like: what the gate takes are whole requests, what it leaves
/// reaches the application in order, and its answers stand between the application's writes, whole.
pub fn connection(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    let mut connection = Connection::new(http1(), Totals { established: true, taken: 0, written: 0, unacknowledged: 0 });
    let mut wire = FakeWire { room: 1000, ..FakeWire::default() };
    let mut expected = Vec::new();
    let mut busy = Vec::new();
    http1().busy(b"", Duration::from_millis(7), &mut busy);
    let mut input = Input(data);
    while let (Some(what), Some(length)) = (input.byte(), input.byte()) {
        let length = usize::from(length);
        match what % 6 {
            // Most of the input is what the client sends.
            0 | 1 => wire.received.extend(input.piece(length)),
            2 => {
                let bytes: Vec<u8> = wire.received.drain(..length.min(wire.received.len())).collect();
                wire.totals.0 += bytes.len() as u64;
                connection.received(&bytes);
            }
            3 => {
                if connection.flush(&mut wire) {
                    connection.write_begins();
                    let piece = input.piece(length);
                    let n = wire.send(piece).unwrap_or(0);
                    connection.sent(&piece[..n]);
                    expected.extend_from_slice(&piece[..n]);
                    connection.write_ends();
                }
            }
            4 => {
                let before: Vec<u8> = wire.received.iter().copied().collect();
                let was_opaque = connection.opaque().is_some();
                let (mut wanted, mut answers) = (length % 4, 0);
                let decide = |_| {
                    if wanted == 0 {
                        return Decision::Keep;
                    }
                    wanted -= 1;
                    Decision::Answer(Duration::from_millis(7))
                };
                let outcome = connection.look(&mut wire, &mut [0; 300], decide, |_, _, _| answers += 1);
                let mut taken = &before[..before.len() - wire.received.len()];
                assert!(before.ends_with(wire.received.make_contiguous()), "bytes were reordered");
                assert!(answers == 0 || !was_opaque);
                for _ in 0..answers {
                    let end = end_by_httparse(taken).expect("what is taken is a request");
                    taken = &taken[end..];
                    expected.extend_from_slice(&busy);
                }
                assert!(taken.is_empty(), "{} bytes were taken without an answer", taken.len());
                assert!(outcome != Outcome::Empty || wire.received.is_empty());
            }
            _ => {
                wire.room = length * 16;
                wire.restless = length == 7;
                wire.closing |= length == 8;
            }
        }
    }
    wire.room = usize::MAX;
    assert!(connection.flush(&mut wire));
    assert_eq!(wire.sent, expected);
}
