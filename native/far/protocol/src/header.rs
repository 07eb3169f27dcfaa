// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The header of a frame: its layout, and the two checksums.
//!
//! ```text
//!  0  magic "LulF"         8  sequence            20  payload length
//!  4  version  (u16)      16  region (u32)        24  CRC32C of the payload
//!  6  operation (u8)                              28  CRC32C of the bytes 0 to 27
//!  7  zero (u8)
//! ```
//!
//! The header's checksum covers the payload's, so that a header and a payload of two frames never match. It is checked before
//! any other field is believed.
//!
//! In [`VERSION_ENCRYPTED`] the payload's checksum is zero: behind the payload, which is encrypted, are [`crate::TAG_LEN`] bytes that prove it and
//! the header. The length is that of the payload alone.

use crate::{DecodeError, HEADER_LEN, MAGIC, Op, VERSION_ENCRYPTED, VERSION_PLAIN, crc32c_of};

/// The header of a frame whose magic, checksum, version, operation and length have been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The version that the frame is written in.
    pub version: u16,
    /// What the frame is.
    pub op: Op,
    /// Client: 1 for the HELLO and one more for each further frame of the connection. Server: that of the frame it answers, 0
    /// if it answers none.
    pub sequence: u64,
    /// The region that the frame is about; 0 where it is about none.
    pub region: u32,
    /// Bytes of the payload that follows.
    pub len: u32,
    /// CRC32C of the payload; zero in [`VERSION_ENCRYPTED`].
    pub payload_crc: u32,
}

impl Header {
    /// Decodes the bytes of a header of [`VERSION_PLAIN`].
    ///
    /// # Errors
    /// As [`Header::decode_of`].
    pub fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Header, DecodeError> {
        Header::decode_of(bytes, VERSION_PLAIN)
    }

    /// Decodes the bytes of a header of the version that the connection speaks, and of no other: where frames are proven, one that has no proof
    /// is none.
    ///
    /// # Errors
    /// All that can be wrong without the payload. After [`DecodeError::Magic`] and [`DecodeError::HeaderCrc`] the rest of
    /// the stream means nothing any more.
    pub fn decode_of(bytes: &[u8; HEADER_LEN], want: u16) -> Result<Header, DecodeError> {
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if magic != MAGIC {
            return Err(DecodeError::Magic(magic));
        }
        if crc32c_of(&[&bytes[..28]]) != u32_at(bytes, 28) {
            return Err(DecodeError::HeaderCrc);
        }
        let version = u16::from_le_bytes([bytes[4], bytes[5]]);
        if version != want {
            return Err(DecodeError::Version { got: version, want });
        }
        let op = Op::from_number(bytes[6]).ok_or(DecodeError::UnknownOperation(bytes[6]))?;
        if bytes[7] != 0 {
            return Err(DecodeError::Field { op: op.name(), field: "header byte 7", value: bytes[7].into() });
        }
        let len = u32_at(bytes, 20);
        if len as usize > op.max_payload() {
            return Err(DecodeError::TooLong { op: op.name(), len, max: op.max_payload() });
        }
        let payload_crc = u32_at(bytes, 24);
        if version == VERSION_ENCRYPTED && payload_crc != 0 {
            return Err(DecodeError::Field { op: op.name(), field: "payload checksum", value: payload_crc.into() });
        }
        let sequence = u64::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]]);
        Ok(Header { version, op, sequence, region: u32_at(bytes, 16), len, payload_crc })
    }

    /// The sequence number of a header that [`Header::decode`] refused, if its checksum was right: an ERROR can say which
    /// frame it answers.
    #[must_use]
    pub fn sequence_of(bytes: &[u8; HEADER_LEN]) -> Option<u64> {
        if bytes[..4] != MAGIC || crc32c_of(&[&bytes[..28]]) != u32_at(bytes, 28) {
            return None;
        }
        Some(u64::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]]))
    }

    /// The bytes of the header: those that it was decoded from, and no others.
    #[must_use]
    pub fn bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&self.version.to_le_bytes());
        bytes[6] = self.op as u8;
        bytes[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.region.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.len.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.payload_crc.to_le_bytes());
        let crc = crc32c_of(&[&bytes[..28]]);
        bytes[28..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The same frame as it would be without encryption: of a payload that was decrypted and proven, for who decodes plain ones.
    #[must_use]
    pub fn as_plain(&self, payload: &[u8]) -> Header {
        Header { version: VERSION_PLAIN, payload_crc: crc32c_of(&[payload]), ..*self }
    }

    /// Checks that a payload is the one that this header was written for.
    ///
    /// # Errors
    /// [`DecodeError::Length`] and [`DecodeError::PayloadCrc`].
    pub fn check(&self, payload: &[u8]) -> Result<(), DecodeError> {
        if payload.len() != self.len as usize {
            return Err(DecodeError::Length { what: self.op.name(), got: payload.len(), want: self.len as usize });
        }
        if crc32c_of(&[payload]) != self.payload_crc {
            return Err(DecodeError::PayloadCrc);
        }
        Ok(())
    }
}

/// The header for a payload that lies in several pieces. Neither allocates nor copies the payload.
///
/// The caller keeps to [`Op::max_payload`]; a longer payload is refused by the other side.
#[must_use]
pub fn seal(op: Op, sequence: u64, region: u32, payload: &[&[u8]]) -> [u8; HEADER_LEN] {
    let len: usize = payload.iter().map(|part| part.len()).sum();
    seal_with(op, sequence, region, len, crc32c_of(payload))
}

/// The same for a payload whose length and CRC32C are known already.
#[must_use]
pub fn seal_with(op: Op, sequence: u64, region: u32, len: usize, payload_crc: u32) -> [u8; HEADER_LEN] {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    Header { version: VERSION_PLAIN, op, sequence, region, len, payload_crc }.bytes()
}

fn u32_at(bytes: &[u8; HEADER_LEN], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
