// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Frames (RFC 9113, section 4): a header of nine bytes, and a payload.

pub(super) const HEADER: usize = 9;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

/// Of SETTINGS and PING.
pub(super) const ACK: u8 = 0x1;
pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
/// Of HEADERS.
const DEPENDS: u8 = 0x20;

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    /// Of the payload.
    pub(super) length: usize,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
}

impl Frame {
    pub(super) fn parse(bytes: &[u8; HEADER]) -> Frame {
        let &[a, b, c, kind, flags, s0, s1, s2, s3] = bytes;
        // The stream's first bit means nothing.
        Frame { length: u32::from_be_bytes([0, a, b, c]) as usize, kind, flags, stream: u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff }
    }

    /// Of the front of `bytes`; `None` if there are too few.
    pub(super) fn of(bytes: &[u8]) -> Option<Frame> {
        bytes.first_chunk().map(Frame::parse)
    }

    /// With its header.
    pub(super) fn whole(self) -> usize {
        HEADER + self.length
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Bytes of padding at the end of DATA or HEADERS, and what is in front of them and behind their number; `None` if there are not so many.
    fn unpadded(self, payload: &[u8]) -> Option<(usize, &[u8])> {
        if !self.has(PADDED) {
            return Some((0, payload));
        }
        let (padding, rest) = payload.split_first()?;
        let padding = usize::from(*padding);
        rest.get(..rest.len().checked_sub(padding)?).map(|rest| (padding, rest))
    }

    /// Bytes of padding at the end of DATA or HEADERS; `None` if there are not so many.
    pub(super) fn padding(self, payload: &[u8]) -> Option<usize> {
        self.unpadded(payload).map(|(padding, _)| padding)
    }

    /// The part of a header block in the payload of HEADERS or CONTINUATION.
    pub(super) fn fragment(self, payload: &[u8]) -> Result<&[u8], &'static str> {
        const SHORT: &str = "a HEADERS frame that is shorter than what it must have";
        if self.kind != HEADERS {
            return Ok(payload);
        }
        let (_, rest) = self.unpadded(payload).ok_or(SHORT)?;
        if self.has(DEPENDS) { rest.get(5..).ok_or(SHORT) } else { Ok(rest) }
    }

    /// Whether HEADERS say that the stream depends on itself.
    pub(super) fn depends_on_itself(self, payload: &[u8]) -> bool {
        let at = usize::from(self.has(PADDED));
        let stream = payload.get(at..).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_be_bytes(*bytes) & 0x7fff_ffff);
        self.kind == HEADERS && self.has(DEPENDS) && stream == Some(self.stream)
    }
}

/// The entries of a SETTINGS frame.
pub(super) fn settings(payload: &[u8]) -> impl Iterator<Item = (u16, u32)> {
    payload.as_chunks::<6>().0.iter().map(|&[n0, n1, a, b, c, d]| (u16::from_be_bytes([n0, n1]), u32::from_be_bytes([a, b, c, d])))
}

/// What a WINDOW_UPDATE says; 0 if it is none.
pub(super) fn window(payload: &[u8]) -> u32 {
    payload.try_into().map_or(0, |bytes| u32::from_be_bytes(bytes) & 0x7fff_ffff)
}

/// Appends a frame.
pub(super) fn write(kind: u8, flags: u8, stream: u32, payload: &[u8], to: &mut Vec<u8>) {
    to.extend(&(payload.len() as u32).to_be_bytes()[1..]);
    to.extend([kind, flags]);
    to.extend(stream.to_be_bytes());
    to.extend(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let mut bytes = Vec::new();
        write(HEADERS, END_HEADERS, 0x7fff_ffff, &[7; 300], &mut bytes);
        assert_eq!(Frame::of(&bytes), Some(Frame { length: 300, kind: HEADERS, flags: END_HEADERS, stream: 0x7fff_ffff }));
        assert_eq!((Frame::of(&bytes).unwrap().whole(), Frame::of(&bytes[..8])), (bytes.len(), None));
        bytes[5] |= 0x80;
        assert_eq!(Frame::of(&bytes).unwrap().stream, 0x7fff_ffff);
    }

    #[test]
    fn a_stream_that_depends_on_itself() {
        let frame = |flags| Frame { length: 0, kind: HEADERS, flags, stream: 3 };
        assert!(
            frame(DEPENDS).depends_on_itself(b"\x80\x00\x00\x03\x07")
                && frame(DEPENDS | PADDED).depends_on_itself(b"\x00\x00\x00\x00\x03\x07")
        );
        assert!(!frame(0).depends_on_itself(b"\x00\x00\x00\x03\x07") && !frame(DEPENDS).depends_on_itself(b"\x00\x00\x00\x01\x07"));
    }

    #[test]
    fn padding_and_priority_are_no_part_of_the_block() {
        let frame = |flags| Frame { length: 0, kind: HEADERS, flags, stream: 1 };
        assert_eq!(frame(0).fragment(b"block"), Ok(&b"block"[..]));
        assert_eq!(frame(PADDED).fragment(b"\x02block\x00\x00"), Ok(&b"block"[..]));
        assert_eq!(frame(DEPENDS).fragment(b"\x00\x00\x00\x01\x07block"), Ok(&b"block"[..]));
        assert_eq!(frame(PADDED | DEPENDS).fragment(b"\x01\x00\x00\x00\x01\x07block\x00"), Ok(&b"block"[..]));
        assert!(
            frame(PADDED).fragment(b"").is_err() && frame(PADDED).fragment(b"\x03ab").is_err() && frame(DEPENDS).fragment(b"abcd").is_err()
        );
        assert_eq!(Frame { length: 0, kind: CONTINUATION, flags: PADDED, stream: 1 }.fragment(b"\x02block"), Ok(&b"\x02block"[..]));
    }
}
