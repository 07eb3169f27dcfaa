// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The segments in which version 5 carries messages ("Frames" in its specification, section 2): three bytes, least significant first, of which
//! 17 bits are the payload's length and one says that only whole messages are in it; a CRC-24 of them; the payload; a CRC-32 of it.

const HEADER: usize = 6;
const TRAILER: usize = 4;
const LENGTH_BITS: u32 = 17;
/// The longest payload.
const MOST_PAYLOAD: usize = (1 << LENGTH_BITS) - 1;

fn crc24(bytes: &[u8]) -> u32 {
    let shift = |crc: u32, _| if crc & 0x80_0000 == 0 { crc << 1 } else { (crc << 1) ^ 0x197_4f0b };
    bytes.iter().fold(0x87_5060, |crc, &byte| (0..8).fold(crc ^ u32::from(byte) << 16, shift) & 0xff_ffff)
}

fn crc32(payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    // So that the checksum of nothing is not zero.
    crc.update(&[0xfa, 0x2d, 0x55, 0xca]);
    crc.update(payload);
    crc.finalize()
}

/// The payload's length, and whether the segment holds whole messages only.
fn parse(header: &[u8; HEADER]) -> Result<(usize, bool), &'static str> {
    let &[a, b, c, x, y, z] = header;
    if crc24(&[a, b, c]) != u32::from_le_bytes([x, y, z, 0]) {
        return Err("a segment whose header has another checksum");
    }
    let bits = u32::from_le_bytes([a, b, c, 0]);
    Ok((bits as usize & MOST_PAYLOAD, bits >> LENGTH_BITS & 1 == 1))
}

/// Where a direction stands that carries segments. Of payloads, only the first bytes of messages that need several segments are looked at.
#[derive(Debug, Clone, Default)]
pub(super) struct Segments {
    header: Vec<u8>,
    /// Bytes of payload and trailer that are still to come.
    left: usize,
    /// A message in several segments that is under way.
    message: Option<InParts>,
}

/// A message in several segments.
#[derive(Debug, Clone)]
enum InParts {
    /// Its header, as far as it has come. It is in the first segment.
    Header(Vec<u8>),
    /// Bytes of it that later segments bring.
    Left(usize),
}

impl Segments {
    /// Between two messages: not between the parts of one, where the other side would take whatever comes for a part.
    pub(super) fn is_boundary(&self) -> bool {
        self.header.is_empty() && self.left == 0 && self.message.is_none()
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), &'static str> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let (now, rest) = bytes.split_at(self.left.min(bytes.len()));
                self.payload(now)?;
                self.left -= now.len();
                bytes = rest;
                continue;
            }
            let (now, rest) = bytes.split_at((HEADER - self.header.len()).min(bytes.len()));
            self.header.extend_from_slice(now);
            bytes = rest;
            if let Some(header) = self.header.first_chunk() {
                let (length, whole) = parse(header)?;
                self.message = match (self.message.take(), whole) {
                    (None, true) => None,
                    (None, false) if length < super::HEADER => return Err("a part of a message that is shorter than its header"),
                    (None, false) => Some(InParts::Header(Vec::new())),
                    // With its last part it is over, once that has come; nothing else may be in a segment of parts.
                    (Some(InParts::Left(left)), false) if length < left => Some(InParts::Left(left - length)),
                    (Some(InParts::Left(left)), false) if length == left => None,
                    _ => return Err("parts of a message that do not make it up"),
                };
                self.left = length + TRAILER;
                self.header.clear();
            }
        }
        Ok(())
    }

    /// Looks for the header of a message in several segments.
    fn payload(&mut self, bytes: &[u8]) -> Result<(), &'static str> {
        let Some(InParts::Header(begun)) = &mut self.message else { return Ok(()) };
        let needed = super::HEADER - begun.len();
        begun.extend_from_slice(&bytes[..needed.min(bytes.len())]);
        if let Some(header) = super::Header::of(begun) {
            let length = super::HEADER + header?.length;
            // What of this segment's payload has come before these bytes, and will after.
            let here = begun.len() - needed.min(bytes.len()) + self.left - TRAILER;
            if length <= here {
                return Err("a message in one segment that says it is in several");
            }
            self.message = Some(InParts::Left(length - here));
        }
        Ok(())
    }
}

/// A whole segment at the front of a buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    /// With header and trailer.
    pub(super) length: usize,
    /// Whole messages; `None` if they are not whole, or damaged.
    pub(super) payload: Option<&'a [u8]>,
}

/// What is at the front of `buffer`; `None` if it is not a whole segment.
pub(super) fn front(buffer: &[u8]) -> Result<Option<Segment<'_>>, &'static str> {
    let Some(header) = buffer.first_chunk() else { return Ok(None) };
    let (length, whole) = parse(header)?;
    let Some((payload, trailer)) = buffer[HEADER..].split_at_checked(length) else { return Ok(None) };
    let Some(trailer) = trailer.first_chunk::<TRAILER>() else { return Ok(None) };
    let intact = crc32(payload) == u32::from_le_bytes(*trailer);
    Ok(Some(Segment { length: HEADER + length + TRAILER, payload: (whole && intact).then_some(payload) }))
}

/// Appends a segment that holds whole messages; they are not longer than [`MOST_PAYLOAD`].
pub(super) fn write(messages: &[u8], to: &mut Vec<u8>) {
    debug_assert!(messages.len() <= MOST_PAYLOAD);
    let bits = (messages.len() as u32 | 1 << LENGTH_BITS).to_le_bytes();
    to.extend_from_slice(&bits[..3]);
    to.extend_from_slice(&crc24(&bits[..3]).to_le_bytes()[..3]);
    to.extend_from_slice(messages);
    to.extend_from_slice(&crc32(messages).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        for length in [0, 1, 300, MOST_PAYLOAD] {
            let messages = vec![7; length];
            let mut bytes = Vec::new();
            write(&messages, &mut bytes);
            let end = bytes.len();
            bytes.push(9);
            assert_eq!(front(&bytes), Ok(Some(Segment { length: end, payload: Some(&messages) })));
            assert_eq!(front(&bytes[..end - 1]), Ok(None));
            let mut segments = Segments::default();
            segments.feed(&bytes[..end]).unwrap();
            assert!(segments.is_boundary());
            segments.feed(&bytes[end..]).unwrap();
            assert!(!segments.is_boundary());
        }
    }

    fn part(payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let bits = (payload.len() as u32).to_le_bytes();
        bytes.extend_from_slice(&bits[..3]);
        bytes.extend_from_slice(&crc24(&bits[..3]).to_le_bytes()[..3]);
        bytes.extend_from_slice(payload);
        bytes.extend_from_slice(&crc32(payload).to_le_bytes());
        bytes
    }

    #[test]
    fn a_message_in_parts_is_over_with_its_last_one() {
        let mut message = vec![5, 0, 0, 1, 7];
        message.extend(991u32.to_be_bytes());
        message.resize(1000, 3);
        for bytewise in [false, true] {
            let mut segments = Segments::default();
            for (i, payload) in message.chunks(300).enumerate() {
                let bytes = part(payload);
                for piece in bytes.chunks(if bytewise { 1 } else { bytes.len() }) {
                    assert!(i == 0 || !segments.is_boundary());
                    segments.feed(piece).unwrap();
                }
                assert_eq!(segments.is_boundary(), i == 3, "after part {i}");
            }
        }
        // What is whole comes in no part, and nothing whole between parts.
        assert!(Segments::default().feed(&part(&message)).is_err());
        let mut segments = Segments::default();
        segments.feed(&part(&message[..300])).unwrap();
        let mut whole = Vec::new();
        write(b"x", &mut whole);
        assert!(segments.feed(&whole).is_err());
    }

    #[test]
    fn damage_is_seen() {
        let mut bytes = Vec::new();
        write(b"message", &mut bytes);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            match front(&damaged) {
                Ok(Some(segment)) => assert_eq!(segment.payload, None, "at {at}"),
                Ok(None) => panic!("at {at}"),
                Err(_) => assert!(at < HEADER),
            }
        }
    }
}
