// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Cassandra's protocol against any bytes.

use std::sync::Arc;
use std::time::Duration;

use super::{Input, feed_both};
use crate::cql::Cql;
use crate::protocol::{Front, Protocol};

/// A connection whose handshake is over.
fn ready(version: u8) -> Cql {
    let mut cql = Cql::new(Arc::from(vec!["x-deadline".to_string()]));
    cql.received(&[version, 0, 0, 0, 1, 0, 0, 0, 0]).expect("STARTUP");
    cql.sent(&[version | 0x80, 0, 0, 0, 2, 0, 0, 0, 0]).expect("READY");
    cql
}

/// Both directions in any order, after a handshake in the version that the first byte chooses: whole pieces and single bytes lead to the same
/// state. What is found at the front of a buffer ends where reading it ends, and the answer to it is whole.
pub fn cql(data: &[u8]) {
    let mut input = Input(data);
    let version = 3 + input.byte().unwrap_or(0) % 3;
    let (mut whole, mut single) = (ready(version), ready(version));
    while let (Some(what), Some(length)) = (input.byte(), input.byte()) {
        let piece = input.piece(usize::from(length) * 2);
        if what % 3 == 2 {
            front(version, piece);
            continue;
        }
        let (one, other) = feed_both(&mut whole, &mut single, what % 3 == 1, piece);
        assert_eq!(one, other);
        if one.is_err() {
            return;
        }
    }
}

fn front(version: u8, buffer: &[u8]) {
    let cql = ready(version);
    let Front::Request { length, .. } = cql.front(buffer) else { return };
    assert!(length > 0 && length <= buffer.len());
    let request = &buffer[..length];
    let mut reading = ready(version);
    for (i, byte) in request.iter().enumerate() {
        reading.received(std::slice::from_ref(byte)).expect("the front was understood");
        assert_eq!(reading.is_idle(), i + 1 == length, "after {i} of {length} bytes");
    }
    assert_eq!(cql.front(&buffer[..length - 1]), Front::Incomplete);
    let mut answer = Vec::new();
    cql.busy(request, Duration::from_millis(7), &mut answer);
    assert!(!answer.is_empty());
    reading.sent(&answer).expect("the answer is one");
    assert!(reading.is_idle());
}
