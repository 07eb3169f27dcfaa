// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What can be wrong with a frame, and how one side tells the other.

use core::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $wire:literal;)*) => {
        /// The code of an ERROR frame. Its number never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u16)]
        pub enum ErrorCode { $($(#[$doc])* $name = $number,)* }

        impl ErrorCode {
            /// All codes, in the order of their numbers.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$name,)*];

            /// The code of a number, if this version knows it.
            #[must_use]
            pub const fn from_number(number: u16) -> Option<ErrorCode> {
                match number { $($number => Some(ErrorCode::$name),)* _ => None }
            }

            /// The name that the document, the logs and the metrics use.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$name => $wire,)* }
            }
        }
    };
}

codes! {
    /// No common version, page size or feature. The connection is closed.
    Version = 1, "VERSION";
    /// The magic or the header's checksum is wrong, so that nobody knows where the next frame starts. Closed.
    BadFrame = 2, "BAD_FRAME";
    /// The payload's checksum is wrong. The frame was dropped whole, nothing has changed, and the connection goes on: the
    /// sender may send the same again, once.
    Crc = 3, "CRC";
    /// The frame is whole, and what it says is not allowed. Closed.
    BadRequest = 4, "BAD_REQUEST";
    /// A page that the region does not have. Closed.
    OutOfRange = 5, "OUT_OF_RANGE";
    /// A number of no operation of this version. Closed.
    UnknownOperation = 6, "UNKNOWN_OPERATION";
    /// A payload longer than its operation may have. Closed, without reading it.
    TooLong = 7, "TOO_LONG";
    /// The sequence number is not the one after the last. Closed.
    BadSequence = 8, "BAD_SEQUENCE";
    /// The server has not enough memory left for the region. The connection goes on.
    Full = 9, "FULL";
    /// The region is there already with another size. The connection goes on.
    RegionExists = 10, "REGION_EXISTS";
    /// This server has no such region of this client. The connection goes on.
    UnknownRegion = 11, "UNKNOWN_REGION";
    /// A newer connection of the same channel has taken over. Closed; nothing that arrives here is applied any more.
    StaleChannel = 12, "STALE_CHANNEL";
    /// The server has as many connections as it allows. Closed.
    TooManyConnections = 13, "TOO_MANY_CONNECTIONS";
    /// The server is being stopped. Closed, or the request refused.
    ShuttingDown = 14, "SHUTTING_DOWN";
    /// A frame took longer than the server waits. Closed.
    Timeout = 15, "TIMEOUT";
    /// The server found itself in a state that it cannot explain. Closed.
    Internal = 16, "INTERNAL";
    /// The server has room for the region, and has not yet got all of its memory from its kernel: it has just started. The
    /// connection goes on; ask again.
    NotYet = 17, "NOT_YET";
    /// The cycle is worth nothing: the heap, a layout or another server is not what it should be. The connection goes on;
    /// all that can be done with the cycle is to end it.
    TraceFailed = 18, "TRACE_FAILED";
    /// There is no such cycle of this client here. The connection goes on.
    NoTrace = 19, "NO_TRACE";
    /// The server serves only who has one of its keys. Closed.
    NotAuthenticated = 20, "NOT_AUTHENTICATED";
    /// A frame of an encrypted connection is not the one that the other side has sent next: it was changed, left out, repeated, or put in another
    /// place on the way. Closed.
    NotProven = 21, "NOT_PROVEN";
}

/// Why bytes are not a frame of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Fewer bytes than needed, or more than announced.
    Length {
        /// What was decoded.
        what: &'static str,
        /// Bytes there.
        got: usize,
        /// Bytes that should be there.
        want: usize,
    },
    /// The first four bytes are not [`crate::MAGIC`].
    Magic([u8; 4]),
    /// The header's checksum does not match.
    HeaderCrc,
    /// The payload's checksum does not match.
    PayloadCrc,
    /// The frame is of a version that is not the connection's.
    Version {
        /// Its version.
        got: u16,
        /// The connection's.
        want: u16,
    },
    /// The number of no operation.
    UnknownOperation(u8),
    /// The payload is longer than its operation may have.
    TooLong {
        /// The operation.
        op: &'static str,
        /// Bytes announced.
        len: u32,
        /// Bytes allowed.
        max: usize,
    },
    /// A field holds what it must not.
    Field {
        /// The operation.
        op: &'static str,
        /// The field.
        field: &'static str,
        /// What it holds, as far as 64 bits can say it.
        value: u64,
    },
}

impl DecodeError {
    /// The code to answer with.
    #[must_use]
    pub const fn code(&self) -> ErrorCode {
        match self {
            DecodeError::Magic(_) | DecodeError::HeaderCrc => ErrorCode::BadFrame,
            DecodeError::PayloadCrc => ErrorCode::Crc,
            DecodeError::Version { .. } => ErrorCode::Version,
            DecodeError::UnknownOperation(_) => ErrorCode::UnknownOperation,
            DecodeError::TooLong { .. } => ErrorCode::TooLong,
            DecodeError::Length { .. } | DecodeError::Field { .. } => ErrorCode::BadRequest,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Length { what, got, want } => write!(f, "{what} has {got} bytes and should have {want}"),
            DecodeError::Magic(bytes) => {
                write!(f, "a frame starts with {bytes:02x?} and should start with {:02x?}", crate::MAGIC)
            }
            DecodeError::HeaderCrc => f.write_str("the checksum of a header is wrong"),
            DecodeError::PayloadCrc => f.write_str("the checksum of a payload is wrong"),
            DecodeError::Version { got, want } => write!(f, "a frame is of version {got}; this connection speaks {want}"),
            DecodeError::UnknownOperation(number) => write!(f, "{number} is the number of no operation"),
            DecodeError::TooLong { op, len, max } => write!(f, "a payload of {op} has {len} bytes and may have {max}"),
            DecodeError::Field { op, field, value } => write!(f, "{op}: the field {field} must not be {value}"),
        }
    }
}

impl core::error::Error for DecodeError {}
