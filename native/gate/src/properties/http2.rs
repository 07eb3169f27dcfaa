// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HTTP/2 against any bytes, on a connection that the gate may answer on.

use std::sync::Arc;
use std::time::Duration;

use super::{Input, feed_both};
use crate::connection::fake_wire::FakeWire;
use crate::connection::{Connection, Decision, Wire};
use crate::http2::Http2;
use crate::kernel::Totals;
use crate::protocol::{Front, Pass, Protocol};

/// Longer inputs say nothing that shorter ones do not.
const MOST_BYTES: usize = 16 * 1024;

fn new() -> Http2 {
    Http2::new(Arc::from(vec!["x-deadline".to_string()]), Duration::from_millis(50))
}

/// A connection on which the application has answered a first request.
fn ready() -> Http2 {
    let mut http = new();
    http.received(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("the preface");
    http.sent(b"\0\0\0\x04\0\0\0\0\0").expect("SETTINGS");
    // A table's size of 0, `:method: GET`; `:status: 200`.
    http.received(b"\0\0\x02\x01\x05\0\0\0\x01\x20\x82").expect("a request");
    http.sent(b"\0\0\x01\x01\x05\0\0\0\x01\x88").expect("an answer");
    http
}

/// Both directions in any order: whole pieces and single bytes lead to the same state. What is found at the front of a buffer ends where reading
/// it ends, whatever follows, and the answer to it is whole.
pub fn http2(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    let mut input = Input(data);
    let begin = if input.byte().unwrap_or(0) % 4 == 3 { new } else { ready };
    let (mut whole, mut single) = (begin(), begin());
    while let (Some(what), Some(length)) = (input.byte(), input.byte()) {
        let piece = input.piece(length.into());
        if what % 3 == 2 {
            front(piece);
            continue;
        }
        let (one, other) = feed_both(&mut whole, &mut single, what % 3 == 1, piece);
        assert_eq!(one, other);
        if one.is_err() {
            return;
        }
        assert!(!whole.filters() && matches!(whole.pass(b"any bytes"), Pass::Deliver(_) | Pass::Wait));
    }
}

fn front(buffer: &[u8]) {
    let http = ready();
    let Front::Request { length, .. } = http.front(buffer) else { return };
    assert!(length > 0 && length <= buffer.len());
    let request = &buffer[..length];
    let mut reading = ready();
    for (i, byte) in request.iter().enumerate() {
        reading.received(std::slice::from_ref(byte)).expect("the front was understood");
        assert!(i + 1 < length || reading.is_idle());
    }
    for cut in [0, length / 2, length - 1] {
        assert_eq!(http.front(&buffer[..cut]), Front::Incomplete, "of {cut} of {length} bytes");
    }
    let mut answer = Vec::new();
    http.busy(request, Duration::from_millis(7), &mut answer);
    assert!(!answer.is_empty());
    reading.sent(&answer).expect("the answer is one");
    assert!(reading.is_idle());
}

fn application_reads(connection: &mut Connection<Http2>, wire: &mut FakeWire, length: usize, read: &mut Vec<u8>) {
    let mut buffer = vec![0; length];
    let n = if connection.filters() {
        let n = connection.read(wire, &mut buffer).unwrap_or(0);
        connection.pay(wire);
        n
    } else {
        let n = wire.peek(&mut buffer).unwrap_or(0);
        wire.consume(n).expect("it was peeked");
        connection.received(&buffer[..n]);
        n
    };
    read.extend_from_slice(&buffer[..n]);
}

/// A whole frame, or a part of one that the next goes on with.
fn application_writes(connection: &mut Connection<Http2>, wire: &mut FakeWire, length: usize) {
    let frame = b"\0\0\x01\x01\x05\0\0\0\x01\x88";
    if connection.flush(wire) {
        connection.write_begins();
        let n = wire.send(&frame[..length % 11]).unwrap_or(0);
        connection.sent(&frame[..n]);
        connection.write_ends();
        connection.pay(wire);
    }
}

/// In a pause: answers so many requests at most. Returns how many.
fn gate_looks(connection: &mut Connection<Http2>, wire: &mut FakeWire, mut wanted: usize) -> u64 {
    let mut answered = 0;
    let decide = |_| {
        if wanted == 0 {
            return Decision::Keep;
        }
        wanted -= 1;
        Decision::Answer(Duration::from_millis(7))
    };
    connection.look(wire, &mut [0; 300], decide, |requests, _, _| answered += requests);
    answered
}

/// A connection on which the client sends whatever it likes, and the application reads and writes: no byte is lost or moved but those of streams
/// that the gate has answered, and what the gate writes stands between the application's frames.
pub fn connection(data: &[u8]) {
    if data.len() > MOST_BYTES {
        return;
    }
    let mut connection = Connection::new(ready(), Totals { established: true, taken: 0, written: 0, unacknowledged: 0 });
    let mut wire = FakeWire { room: 1000, ..FakeWire::default() };
    let (mut came, mut read, mut answers) = (Vec::new(), Vec::new(), 0);
    let mut input = Input(data);
    while let (Some(what), Some(length)) = (input.byte(), input.byte()) {
        let length = usize::from(length);
        match what % 6 {
            0 | 1 => {
                let piece = input.piece(length);
                came.extend_from_slice(piece);
                wire.received.extend(piece);
            }
            2 if length > 0 => application_reads(&mut connection, &mut wire, length, &mut read),
            3 => application_writes(&mut connection, &mut wire, length),
            4 => {
                let was_opaque = connection.opaque().is_some();
                let answered = gate_looks(&mut connection, &mut wire, length % 4);
                assert!(!was_opaque || answered == 0);
                answers += answered;
            }
            _ => {
                wire.room = length * 16;
                wire.restless = length == 7;
                wire.closing |= length == 8;
            }
        }
    }
    wire.room = usize::MAX;
    connection.flush(&mut wire);
    // What has been read is what has come, without some of it, in order.
    read.extend(wire.received.drain(..));
    let mut rest = came.iter();
    assert!(read.iter().all(|byte| rest.any(|other| other == byte)), "a byte that nobody sent, or another order");
    if answers == 0 && read.len() < came.len() {
        // Only PING is answered without a request.
        assert_eq!((came.len() - read.len()) % 17, 0);
    }
}
