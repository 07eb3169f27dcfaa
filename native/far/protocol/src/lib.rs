// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The wire protocol between the pager and the memory servers (`docs/reference/far-memory-protocol.md`).
//!
//! This crate knows bytes only: it opens no socket, allocates nothing when it decodes, and does not panic on any input. A
//! frame is a header of [`HEADER_LEN`] bytes ([`Header`]) and a payload ([`Message`]). A reader takes the header, decodes it,
//! and only then knows a length that it may trust: the header has a checksum of its own, and each operation has a greatest
//! payload ([`Op::max_payload`]).
//!
//! Beside bytes there is only [`Awake`], by which both sides wait for them.
//!
//! What is decoded borrows from the buffer that was read into, so that the pager can decode in a signal handler.

#![no_std]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

extern crate alloc;

mod awake;
mod error;
#[cfg(feature = "golden")]
pub mod golden;
mod header;
mod message;
mod op;

pub use awake::Awake;
pub use error::{DecodeError, ErrorCode};
pub use header::{Header, seal, seal_with};
pub use message::{
    CHALLENGE_LEN, ChannelKind, DISCARD_LEN, Discard, FETCH_LEN, Fetch, HELLO_ACK_LEN, HELLO_LEN, Heartbeat, Hello, HelloAck, Message,
    PROVE_LEN, PROVED_LEN, PagesOf, Prove, Proved, RunOfPages, WRITE_FIXED_LEN, Write, WriteAck, encode_write,
};
pub use op::{MAX_TRACE_PAYLOAD, MAX_TRACE_VECTOR, Op, RESERVED_OPS};

/// The first bytes of every frame.
pub const MAGIC: [u8; 4] = *b"LulF";

/// The version whose frames are as they are, with checksums. All frames of a handshake are of it.
pub const VERSION_PLAIN: u16 = 1;

/// The version whose frames are encrypted, and proven to be what the other side has sent next: behind the handshake of who has a key. Version 2
/// was the same without what both sides draw for a connection; nobody speaks it any more.
pub const VERSION_ENCRYPTED: u16 = 3;

/// The oldest version of the protocol that this crate speaks.
pub const VERSION_MIN: u16 = VERSION_PLAIN;

/// The newest version of the protocol that this crate speaks.
pub const VERSION_MAX: u16 = VERSION_ENCRYPTED;

/// Bytes of what proves a frame of [`VERSION_ENCRYPTED`], behind its payload.
pub const TAG_LEN: usize = 16;

/// The feature of a HELLO by which a client says that it has a key: both sides prove theirs before anything else is said.
pub const FEATURE_KEY: u64 = 1;

/// Bytes of a header, in every version.
pub const HEADER_LEN: usize = 32;

/// Bytes of a page. HELLO says its logarithm, and a server refuses another.
pub const PAGE_SIZE: usize = 4096;

/// The logarithm of [`PAGE_SIZE`].
pub const PAGE_SIZE_LOG2: u8 = 12;

/// The most pages that one FETCH, DATA or WRITE may name: 1 MB.
pub const MAX_PAGES_PER_FRAME: usize = 256;

/// The longest text of an ERROR, in bytes.
pub const MAX_ERROR_TEXT: usize = 512;

/// The longest payload of any operation: that of a WRITE.
pub const MAX_PAYLOAD: usize = WRITE_FIXED_LEN + MAX_PAGES_PER_FRAME * (8 + PAGE_SIZE);

/// CRC32C (Castagnoli) of several pieces of memory, as if they stood one after the other.
#[must_use]
pub fn crc32c_of(parts: &[&[u8]]) -> u32 {
    parts.iter().fold(0, |crc, part| crc32c::crc32c_append(crc, part))
}

/// The CRC32C of two pieces of memory one after the other, from those of each; `second_len` is the second's length in bytes.
#[must_use]
pub fn crc32c_join(first: u32, second: u32, second_len: usize) -> u32 {
    crc32c::crc32c_combine(first, second, second_len)
}

/// Continues a CRC32C over more bytes; 0 is that of none.
#[must_use]
pub fn crc32c_append(crc: u32, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc, bytes)
}
