// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The operations, their numbers, and the longest payload of each.

use crate::message::{CHALLENGE_LEN, DISCARD_LEN, FETCH_LEN, HELLO_ACK_LEN, HELLO_LEN, PROVE_LEN, PROVED_LEN, WRITE_FIXED_LEN};
use crate::{MAX_ERROR_TEXT, MAX_PAGES_PER_FRAME, PAGE_SIZE};

/// The most elements of the vector of one frame for tracing.
pub const MAX_TRACE_VECTOR: usize = 16_384;

/// The longest payload of an operation for tracing: a GHOST with that many.
pub const MAX_TRACE_PAYLOAD: usize = 16 + 16 * MAX_TRACE_VECTOR;

macro_rules! ops {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $wire:literal, $max:expr;)*) => {
        /// What a frame asks for or answers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op { $($(#[$doc])* $name = $number,)* }

        impl Op {
            /// All operations, in the order of their numbers.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];

            /// The operation of a number, if it is one of this version.
            #[must_use]
            pub const fn from_number(number: u8) -> Option<Op> {
                match number { $($number => Some(Op::$name),)* _ => None }
            }

            /// The name that the document uses.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Op::$name => $wire,)* }
            }

            /// The longest payload in bytes. A header that says more is refused before anything is read or allocated.
            #[must_use]
            pub const fn max_payload(self) -> usize {
                match self { $(Op::$name => $max,)* }
            }
        }
    };
}

ops! {
    /// Client: the first frame of a connection.
    Hello = 1, "HELLO", HELLO_LEN;
    /// Server: the version and the limits that hold on this connection.
    HelloAck = 2, "HELLO_ACK", HELLO_ACK_LEN;
    /// Client: reserve memory for a region.
    RegionMap = 3, "REGION_MAP", 8;
    /// Server: the memory is reserved; it reads as zeros.
    RegionMapped = 4, "REGION_MAPPED", 8;
    /// Client: send a run of pages.
    Fetch = 5, "FETCH", FETCH_LEN;
    /// Server: the pages.
    Data = 6, "DATA", FETCH_LEN + MAX_PAGES_PER_FRAME * PAGE_SIZE;
    /// Client: replace pages.
    Write = 7, "WRITE", WRITE_FIXED_LEN + MAX_PAGES_PER_FRAME * (8 + PAGE_SIZE);
    /// Server: all pages of the WRITE are replaced; the checksum of what is there now.
    WriteAck = 8, "WRITE_ACK", 8;
    /// Client: answer when everything sent before on this connection has been done.
    Fence = 9, "FENCE", 0;
    /// Server: it has.
    FenceAck = 10, "FENCE_ACK", 0;
    /// Client: a run of pages is no longer needed; it reads as zeros from now on.
    Discard = 11, "DISCARD", DISCARD_LEN;
    /// Server: the run reads as zeros.
    DiscardAck = 12, "DISCARD_ACK", DISCARD_LEN;
    /// Client: is the server there, and is it the one that has the pages?
    Heartbeat = 13, "HEARTBEAT", 0;
    /// Server: it is.
    HeartbeatAck = 14, "HEARTBEAT_ACK", 24;
    /// Either: what was wrong.
    Error = 15, "ERROR", 4 + MAX_ERROR_TEXT;
    /// Client: give back all regions of this client, I am leaving. Server: done.
    Bye = 16, "BYE", 0;
    /// Client: give back the memory of one region.
    RegionUnmap = 17, "REGION_UNMAP", 0;
    /// Server: the region is gone.
    RegionUnmapped = 18, "REGION_UNMAPPED", 0;
    /// Server: in answer to a HELLO with [`crate::FEATURE_KEY`]: what the client must prove its key with.
    Challenge = 19, "CHALLENGE", CHALLENGE_LEN;
    /// Client: the proof.
    Prove = 20, "PROVE", PROVE_LEN;
    /// Server: its own proof, and what a HELLO_ACK says.
    Proved = 21, "PROVED", PROVED_LEN;
    /// Client: give back all regions of this client with its last connection, I end. Server: it will.
    Leave = 22, "LEAVE", 0;
    /// Client: layouts of classes.
    Layout = 32, "LAYOUT", MAX_TRACE_PAYLOAD;
    /// Server: there are objects of classes whose layouts it has not.
    NeedLayout = 33, "NEED_LAYOUT", 8 + 4 * MAX_TRACE_VECTOR;
    /// Client: trace the heap of which the region is this server's part.
    TraceStart = 34, "TRACE_START", 64 + 255 * 24;
    /// Client: objects to trace from.
    TraceRoots = 35, "TRACE_ROOTS", 8 + 8 * MAX_TRACE_VECTOR;
    /// Another server: references to what this one has.
    Ghost = 37, "GHOST", MAX_TRACE_PAYLOAD;
    /// Server: they are taken.
    GhostAck = 38, "GHOST_ACK", 16;
    /// Client: is there anything left to do?
    Poll = 39, "POLL", 8;
    /// Server: counters of the cycle.
    Status = 40, "STATUS", 32;
    /// Client: the cycle is over, or abandoned.
    TraceEnd = 41, "TRACE_END", 0;
    /// Server: words of marks.
    Bitmap = 42, "BITMAP", 16 + 8 * MAX_TRACE_VECTOR;
    /// Server: what it has done in the cycle.
    LiveStats = 43, "LIVE_STATS", 48;
    /// Server: references that were reached and not followed.
    Discovered = 44, "DISCOVERED", 16 + 8 * MAX_TRACE_VECTOR;
    /// Client: send words of marks.
    ReadBitmap = 48, "READ_BITMAP", 16;
    /// Client: send references that were reached and not followed.
    ReadDiscovered = 49, "READ_DISCOVERED", 16;
    /// Client: words of bits of what is old: nothing else is traced, but for roots.
    TraceOld = 50, "TRACE_OLD", 16 + 8 * MAX_TRACE_VECTOR;
    /// Client: send words of bits of lines.
    ReadLines = 51, "READ_LINES", 16;
    /// Server: words of bits of lines in which objects were reached.
    Lines = 52, "LINES", 16 + 8 * MAX_TRACE_VECTOR;
    /// Client: send words of live words.
    ReadLive = 53, "READ_LIVE", 16;
    /// Server: how many words of what was reached are in each block, four blocks in a word.
    Live = 54, "LIVE", 16 + 8 * MAX_TRACE_VECTOR;
}

impl Op {
    /// Whether it is one for tracing.
    #[must_use]
    pub const fn is_for_tracing(self) -> bool {
        self as u8 >= 32
    }
}

/// Numbers that are kept for what is not written yet. A frame with one of them is refused as an unknown operation.
pub const RESERVED_OPS: &[(u8, &str)] = &[(36, "TRACE_SATB"), (45, "EVACUATE"), (46, "EVACUATED"), (47, "EVACUATE_FAILED")];
