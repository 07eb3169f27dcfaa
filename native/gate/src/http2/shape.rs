// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a server must refuse (RFC 9113): requests that are malformed, which are left to it, for it knows what to say; and frames on streams that the
//! gate has answered, which it never sees, so that the gate ends the connection in its place. What is not here is let pass: an answer to it harms
//! nobody, for the request is not processed.

use super::frame::{DATA, END_STREAM, Frame, HEADERS, PRIORITY, RST_STREAM, WINDOW_UPDATE, window};

/// Of GOAWAY.
pub(super) const PROTOCOL_ERROR: u32 = 1;
const FRAME_SIZE_ERROR: u32 = 6;

/// Entries of HPACK's static table up to here are pseudo fields of requests; behind them are those of answers.
const LAST_OF_REQUEST: u64 = 7;
const LAST_PSEUDO: u64 = 14;
const TRANSFER_ENCODING: u64 = 57;

/// A request's fields, one after the other.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// `:authority`, `:method`, `:path`, `:scheme` have been.
    seen: [bool; 4],
    /// Another field has been.
    regular: bool,
    pub(super) malformed: bool,
}

impl Shape {
    /// A field whose name is that of an entry of the static table; its value, if it has one of its own.
    pub(super) fn entry(&mut self, index: u64, value: Option<&[u8]>) {
        match index {
            1 => self.pseudo(0),
            2..=3 => self.pseudo(1),
            4..=5 => {
                self.pseudo(2);
                self.malformed |= value.is_some_and(<[u8]>::is_empty);
            }
            6..=LAST_OF_REQUEST => self.pseudo(3),
            ..=LAST_PSEUDO => self.malformed = true,
            _ => {
                self.regular = true;
                self.malformed |= index == TRANSFER_ENCODING;
            }
        }
    }

    /// A field whose name is written out.
    pub(super) fn named(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b":authority" => self.entry(1, None),
            b":method" => self.entry(2, None),
            b":path" => self.entry(4, Some(value)),
            b":scheme" => self.entry(6, None),
            // Of a tunnel, which is the application's anyway.
            b":protocol" => {}
            _ => {
                self.regular = true;
                self.malformed |= name.is_empty() || name.iter().any(|byte| byte.is_ascii_uppercase() || *byte == b':');
                self.malformed |= matches!(name, b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade");
                self.malformed |= name == b"te" && value != b"trailers";
            }
        }
    }

    fn pseudo(&mut self, which: usize) {
        self.malformed |= self.regular || std::mem::replace(&mut self.seen[which], true);
    }
}

/// What is wrong with a frame of an answered stream, as GOAWAY has it; `is_first`: it begins the request. `payload` is all of it, or nothing of one
/// that came in pieces and is not kept.
pub(super) fn wrong(frame: Frame, payload: &[u8], is_first: bool, most: usize) -> Option<u32> {
    let whole = payload.len() == frame.length;
    match frame.kind {
        _ if frame.length > most => Some(FRAME_SIZE_ERROR),
        RST_STREAM | WINDOW_UPDATE if frame.length != 4 => Some(FRAME_SIZE_ERROR),
        PRIORITY if frame.length != 5 => Some(FRAME_SIZE_ERROR),
        WINDOW_UPDATE if whole && window(payload) == 0 => Some(PROTOCOL_ERROR),
        DATA if whole && frame.padding(payload).is_none() => Some(PROTOCOL_ERROR),
        // Trailers that do not end it.
        HEADERS if !is_first && !frame.has(END_STREAM) => Some(PROTOCOL_ERROR),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn malformed(fields: &[(&str, &str)]) -> bool {
        let mut shape = Shape::default();
        fields.iter().for_each(|(name, value)| shape.named(name.as_bytes(), value.as_bytes()));
        shape.malformed
    }

    #[test]
    fn malformed_requests() {
        let right = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a"), ("te", "trailers"), ("x-y", "Z: z")];
        assert!(!malformed(&right));
        for field in [
            ("X", "y"),
            ("x:y", "z"),
            ("", "y"),
            (":x", "y"),
            (":status", "200"),
            (":path", "/"),
            ("te", "gzip"),
            ("connection", "close"),
            ("upgrade", "h2c"),
            ("transfer-encoding", "chunked"),
            ("keep-alive", "1"),
            ("proxy-connection", "1"),
        ] {
            assert!(malformed(&[&right[..], &[field]].concat()), "{field:?}");
        }
        for pseudo in 0..4 {
            assert!(malformed(&[&right[..4], &right[pseudo..=pseudo]].concat()), "{:?} twice", right[pseudo]);
            assert!(malformed(&[&right[4..], &right[pseudo..=pseudo]].concat()), "{:?} behind others", right[pseudo]);
        }
        assert!(malformed(&[(":path", "")]));
        // By the static table.
        for (index, value, expected) in [
            (8, None, true),
            (14, None, true),
            (57, Some(&b""[..]), true),
            (15, None, false),
            (61, None, false),
            (4, Some(&b""[..]), true),
            (5, None, false),
        ] {
            let mut shape = Shape::default();
            shape.entry(index, value);
            assert_eq!(shape.malformed, expected, "{index}");
        }
    }

    #[test]
    fn frames_that_end_a_connection() {
        let frame = |kind, flags, length| Frame { length, kind, flags, stream: 3 };
        const PADDED: u8 = 8;
        for (frame, payload, is_first, expected) in [
            (frame(DATA, 0, 16_384), &[][..], false, None),
            (frame(DATA, 0, 16_385), &[], false, Some(FRAME_SIZE_ERROR)),
            (frame(DATA, 0, 3), b"\x09xx", false, None),
            (frame(DATA, PADDED, 3), b"\x02xx", false, None),
            (frame(DATA, PADDED, 3), b"\x03xx", false, Some(PROTOCOL_ERROR)),
            (frame(DATA, PADDED, 0), b"", false, Some(PROTOCOL_ERROR)),
            (frame(RST_STREAM, 0, 4), &[0; 4], false, None),
            (frame(RST_STREAM, 0, 3), &[0; 3], false, Some(FRAME_SIZE_ERROR)),
            (frame(PRIORITY, 0, 5), &[0; 5], false, None),
            (frame(PRIORITY, 0, 4), &[0; 4], false, Some(FRAME_SIZE_ERROR)),
            (frame(WINDOW_UPDATE, 0, 4), &[0, 0, 0, 1], false, None),
            (frame(WINDOW_UPDATE, 0, 4), &[0x80, 0, 0, 0], false, Some(PROTOCOL_ERROR)),
            (frame(WINDOW_UPDATE, 0, 3), &[0; 3], false, Some(FRAME_SIZE_ERROR)),
            (frame(HEADERS, 0, 1), b"x", true, None),
            (frame(HEADERS, END_STREAM, 1), b"x", false, None),
            (frame(HEADERS, 0, 1), b"x", false, Some(PROTOCOL_ERROR)),
            (frame(0x55, 0, 9), b"", false, None),
        ] {
            assert_eq!(wrong(frame, payload, is_first, 16_384), expected, "{frame:?} {payload:?}");
        }
    }
}
