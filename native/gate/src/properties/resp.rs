// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Redis' protocol against any bytes.

use std::time::Duration;

use super::{Input, feed_both};
use crate::protocol::{Front, Protocol};
use crate::resp::Resp;

/// Both directions in any order: whole pieces and single bytes lead to the same state. What is found at the front of a buffer ends where
/// reading it ends, and the answer to it is whole.
pub fn resp(data: &[u8]) {
    let mut input = Input(data);
    let (mut whole, mut single) = (Resp::default(), Resp::default());
    while let (Some(what), Some(length)) = (input.byte(), input.byte()) {
        let piece = input.piece(usize::from(length) * 2);
        if what % 3 == 2 {
            front(piece);
            continue;
        }
        // What is wrong may show earlier in single bytes than in a piece, or another defect first; but both see one.
        let (one, other) = feed_both(&mut whole, &mut single, what % 3 == 1, piece);
        assert_eq!(one.is_err(), other.is_err());
        if one.is_err() {
            return;
        }
        assert_eq!(whole.front(GET), single.front(GET));
    }
}

/// Is answered, unless a transaction has begun.
const GET: &[u8] = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n";

fn front(buffer: &[u8]) {
    let resp = Resp::default();
    let Front::Request { length, .. } = resp.front(buffer) else { return };
    assert!(length > 0 && length <= buffer.len());
    let request = &buffer[..length];
    let mut reading = Resp::default();
    assert!(reading.is_idle());
    for byte in request {
        reading.received(std::slice::from_ref(byte)).expect("the front was understood");
        assert!(!reading.is_idle());
    }
    let mut answer = Vec::new();
    let n = resp.busy(request, Duration::from_millis(7), &mut answer);
    assert!(n > 0);
    // Each answer is to one command, and all commands are whole.
    for (i, line) in answer.split_inclusive(|byte| *byte == b'\n').enumerate() {
        assert!((i as u64) < n && !reading.is_idle());
        reading.sent(line).expect("the answer is one");
    }
    assert!(reading.is_idle());
}
