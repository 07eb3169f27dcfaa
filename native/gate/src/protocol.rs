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
    /// So many bytes that the gate takes whatever comes of requests: they belong to one that it has answered, or ask for an answer that
    /// needs no application. [`Protocol::taken`] is told of them.
    Aside {
        /// From the first to the last.
        length: usize,
    },
    /// Something only the application can answer.
    Leave,
    /// Not of the protocol.
    Unknown(&'static str),
}

/// What is to become of the front of what the application would read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// So many bytes are the application's.
    Deliver(usize),
    /// So many bytes belong to requests that the gate has answered: it takes them. [`Protocol::taken`] is told of them.
    Take(usize),
    /// There are too few bytes to say.
    Wait,
}

/// A request in short, for who reads what the gate has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// As the first line of HTTP/1.1.
    pub line: Vec<u8>,
    /// `User-Agent`, if there is one.
    pub agent: Vec<u8>,
}

/// One connection's protocol. A clone is what it was, if what was to be done with it could not be.
pub trait Protocol: Send + Clone {
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
    /// `remaining` more. The answer leaves the connection idle. Returns how many requests it answers: several may come as one.
    fn busy(&self, request: &[u8], remaining: Duration, answer: &mut Vec<u8>) -> u64;

    /// What `request` is, which [`Protocol::front`] has found.
    fn describe(&self, request: &[u8]) -> Described;

    /// The gate has taken these bytes: a request that it has answered, or what [`Front::Aside`] or [`Pass::Take`] has told it to.
    fn taken(&mut self, _bytes: &[u8]) {}

    /// Appends what the gate has to write on account of what it has taken, if it may follow what the application has written. It is then no
    /// longer owed.
    fn owed(&mut self, _to: &mut Vec<u8>) {}

    /// Whether something was taken that the application must know to understand what follows, and cannot be told: the connection must end.
    fn has_lost(&self) -> bool {
        false
    }

    /// Whether the client has sent more than it may of what the gate takes: the connection must end. It may be of the moment as long as the
    /// application is writing, which gives the client room.
    fn is_overrun(&self) -> bool {
        false
    }

    /// Appends what the client is to be told before the connection is ended for such a reason.
    fn goodbye(&self, _to: &mut Vec<u8>) {}

    /// How many bytes there must be, at least, for [`Protocol::front`] to find more in what is incomplete in `buffer`.
    fn needs(&self, buffer: &[u8]) -> usize {
        buffer.len() + 1
    }

    /// How much of the client's room to send the gate has taken and not given back.
    fn owed_bytes(&self) -> u64 {
        0
    }

    /// Whether [`Protocol::instead`] wants to see what the application is about to write.
    fn replaces(&self) -> bool {
        false
    }

    /// The application is about to write `bytes`: how many of them are to be replaced, and by what.
    fn instead(&mut self, _bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        None
    }

    /// Whether what the application would read has to be looked at by [`Protocol::pass`] before it does.
    fn filters(&self) -> bool {
        false
    }

    /// What is to become of the front of `bytes`, of which there is one at least.
    fn pass(&self, bytes: &[u8]) -> Pass {
        Pass::Deliver(bytes.len())
    }
}
