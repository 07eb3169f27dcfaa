// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The decoder against arbitrary bytes: as they are, and with the checksums made right, so that the fields behind them are
//! reached. What is decoded must encode to the same bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lull_far_protocol::{HEADER_LEN, Header, Message, Op, seal};

fn check(frame: &[u8]) {
    let Some(head) = frame.first_chunk::<HEADER_LEN>() else { return };
    let Ok(header) = Header::decode(head) else { return };
    let payload = &frame[HEADER_LEN..];
    let payload = &payload[..payload.len().min(header.len as usize)];
    if let Ok(message) = Message::decode(&header, payload) {
        let mut again = Vec::new();
        message.encode(header.sequence, header.region, &mut again);
        assert!(again == frame[..again.len()], "one message has two forms");
    }
}

fuzz_target!(|bytes: &[u8]| {
    check(bytes);
    if let Some((&number, payload)) = bytes.split_first()
        && let Some(op) = Op::from_number(number)
    {
        let mut frame = seal(op, 1, 2, &[payload]).to_vec();
        frame.extend_from_slice(payload);
        check(&frame);
    }
});
