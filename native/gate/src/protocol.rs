// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the gate must know of a protocol: where messages begin and end, and how to say *busy*.
//!
//! An implementation sees the bytes of one connection as the application reads and writes them. It may give up at any byte: the
//! connection is then left alone for ever. It must never guess.

use std::time::Duration;

/// Why a connection is not the gate's any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opaque {
    /// The application read what is not of the protocol, or of a part of it that the gate does not know.
    Request(&'static str),
    /// The application wrote such, or an answer whose end the gate cannot see.
    Response(&'static str),
    /// Bytes were read or written that the gate has not seen.
    UnseenBytes,
    /// Two threads wrote at once, so that the order of the bytes is not known.
    ConcurrentWrites,
    /// The descriptor is another socket than it was.
    AnotherSocket,
    /// A defect of the gate was met.
    Defect,
}

impl Opaque {
    /// All reasons that the metrics know, in a fixed order.
    pub const LABELS: [&'static str; 6] = ["request", "response", "unseen_bytes", "concurrent_writes", "another_socket", "defect"];

    /// Index into [`Opaque::LABELS`].
    pub fn index(self) -> usize {
        match self {
            Opaque::Request(_) => 0,
            Opaque::Response(_) => 1,
            Opaque::UnseenBytes => 2,
            Opaque::ConcurrentWrites => 3,
            Opaque::AnotherSocket => 4,
            Opaque::Defect => 5,
        }
    }
}

/// What lies at the front of the receive buffer, seen without taking it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Front {
    /// Not yet a whole request.
    Incomplete,
    /// A request of this many bytes that may be answered by the gate.
    Request {
        /// From its first byte to its last.
        length: usize,
        /// How long its client will wait, if it says so.
        deadline: Option<Duration>,
    },
    /// Something only the application can answer.
    Leave,
    /// Not of the protocol.
    Unknown(&'static str),
}

/// One connection's protocol.
pub trait Protocol: Send {
    /// The application has read these bytes.
    ///
    /// # Errors
    /// The connection must be left alone from now on.
    fn received(&mut self, bytes: &[u8]) -> Result<(), Opaque>;

    /// The application has written these bytes.
    ///
    /// # Errors
    /// The connection must be left alone from now on.
    fn sent(&mut self, bytes: &[u8]) -> Result<(), Opaque>;

    /// Whether what comes next is a request's first byte, and a whole answer to it may be sent: nothing is begun and unfinished in either
    /// direction, and if answers come in the order of their requests, none is outstanding.
    fn is_idle(&self) -> bool;

    /// What a receive buffer begins with; only asked when idle. Leaves the state as it is.
    fn front(&self, buffer: &[u8]) -> Front;

    /// Writes the answer *busy* to `request`, what [`Protocol::front`] has found, into `answer`; the pause is expected to last
    /// `remaining` more. The answer leaves the connection idle.
    fn busy(&self, request: &[u8], remaining: Duration, answer: &mut Vec<u8>);
}
