// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The protocols that the agent knows, as one type: what a connection speaks follows from the port that it was accepted at.

use std::time::Duration;

use crate::cql::Cql;
use crate::http1::Http1;
use crate::http2::Http2;
use crate::protocol::{Described, Front, Opaque, Pass, Protocol};
use crate::resp::Resp;

/// A connection's protocol.
#[derive(Debug, Clone)]
pub enum Spoken {
    /// HTTP/1.1.
    Http1(Http1),
    /// HTTP/2. Boxed, for it is much larger than the others.
    Http2(Box<Http2>),
    /// Cassandra's.
    Cql(Cql),
    /// Redis'.
    Resp(Resp),
}

macro_rules! each {
    ($self:expr, $protocol:ident => $call:expr) => {
        match $self {
            Spoken::Http1($protocol) => $call,
            Spoken::Http2($protocol) => $call,
            Spoken::Cql($protocol) => $call,
            Spoken::Resp($protocol) => $call,
        }
    };
}

impl Protocol for Spoken {
    fn received(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        each!(self, protocol => protocol.received(bytes))
    }

    fn sent(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        each!(self, protocol => protocol.sent(bytes))
    }

    fn is_idle(&self) -> bool {
        each!(self, protocol => protocol.is_idle())
    }

    fn front(&self, buffer: &[u8]) -> Front {
        each!(self, protocol => protocol.front(buffer))
    }

    fn busy(&self, request: &[u8], remaining: Duration, answer: &mut Vec<u8>) -> u64 {
        each!(self, protocol => protocol.busy(request, remaining, answer))
    }

    fn describe(&self, request: &[u8]) -> Described {
        each!(self, protocol => protocol.describe(request))
    }

    fn taken(&mut self, bytes: &[u8]) {
        each!(self, protocol => protocol.taken(bytes));
    }

    fn owed(&mut self, to: &mut Vec<u8>) {
        each!(self, protocol => protocol.owed(to));
    }

    fn has_lost(&self) -> bool {
        each!(self, protocol => protocol.has_lost())
    }

    fn is_overrun(&self) -> bool {
        each!(self, protocol => protocol.is_overrun())
    }

    fn goodbye(&self, to: &mut Vec<u8>) {
        each!(self, protocol => protocol.goodbye(to));
    }

    fn needs(&self, buffer: &[u8]) -> usize {
        each!(self, protocol => protocol.needs(buffer))
    }

    fn owed_bytes(&self) -> u64 {
        each!(self, protocol => protocol.owed_bytes())
    }

    fn replaces(&self) -> bool {
        each!(self, protocol => protocol.replaces())
    }

    fn instead(&mut self, bytes: &[u8]) -> Option<(usize, Vec<u8>)> {
        each!(self, protocol => protocol.instead(bytes))
    }

    fn filters(&self) -> bool {
        each!(self, protocol => protocol.filters())
    }

    fn pass(&self, bytes: &[u8]) -> Pass {
        each!(self, protocol => protocol.pass(bytes))
    }
}
