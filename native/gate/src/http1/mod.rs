// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HTTP/1.1 (RFC 9112): the framing of requests and responses, and the busy answer.
//!
//! Stricter than servers are: what two implementations might read differently (bare line feeds, folded lines, two lengths, ...)
//! makes the connection opaque, for a disagreement about where a request ends would be a wrong answer.

mod body;
mod head;
mod leave;

use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use crate::protocol::{Described, Front, Opaque, Protocol};
use body::{Body, Progress};
use head::{Carry, Method, RequestHead, ResponseHead};

pub use leave::Leave;

/// Requests that may be unanswered on one connection before the gate gives up on it.
const MOST_OUTSTANDING: usize = 1024;

/// Where one direction of a connection stands.
#[derive(Debug, Clone, Default)]
enum Direction {
    /// Between two messages.
    #[default]
    Boundary,
    /// In a message's first lines, of which these have come.
    Head(Carry),
    /// In its body.
    Body(Body),
}

impl Direction {
    fn is_boundary(&self) -> bool {
        matches!(self, Direction::Boundary)
    }

    /// Goes through `bytes`; `head` is called with each message's whole head and says what body follows.
    fn feed(&mut self, mut bytes: &[u8], mut head: impl FnMut(&[u8]) -> Result<Body, &'static str>) -> Result<(), &'static str> {
        while !bytes.is_empty() {
            match self {
                Direction::Boundary => *self = Direction::Head(Carry::default()),
                Direction::Head(carry) => {
                    let Some((body, used)) = carry.take(bytes, &mut head)? else { return Ok(()) };
                    bytes = &bytes[used..];
                    *self = if body.is_empty() { Direction::Boundary } else { Direction::Body(body) };
                }
                Direction::Body(body) => match body.feed(bytes)? {
                    Progress::Done(used) => {
                        bytes = &bytes[used..];
                        *self = Direction::Boundary;
                    }
                    Progress::More => return Ok(()),
                },
            }
        }
        Ok(())
    }
}

/// One connection that speaks HTTP/1.1.
#[derive(Debug, Clone)]
pub struct Http1 {
    deadline_headers: Arc<[String]>,
    leave: Option<Arc<Leave>>,
    /// Answers have `Retry-After`.
    retry_after: bool,
    request: Direction,
    response: Direction,
    /// Methods of the requests whose head was read and whose final answer's head was not written.
    outstanding: VecDeque<Method>,
    /// The client of the request that was read last may keep its body back until it has an answer.
    may_keep_body: bool,
}

impl Http1 {
    /// A connection of which no byte has been seen. `deadline_headers` are lower case.
    pub fn new(deadline_headers: Arc<[String]>) -> Self {
        Http1 {
            deadline_headers,
            leave: None,
            retry_after: true,
            request: Direction::Boundary,
            response: Direction::Boundary,
            outstanding: VecDeque::new(),
            may_keep_body: false,
        }
    }

    /// Leaves some requests to the application.
    #[must_use]
    pub fn leaving(self, leave: Arc<Leave>) -> Self {
        Http1 { leave: Some(leave), ..self }
    }

    /// Whether answers have `Retry-After`.
    #[must_use]
    pub fn with_retry_after(self, retry_after: bool) -> Self {
        Http1 { retry_after, ..self }
    }

    /// Whether the last byte read was a request's last.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn is_between_requests(&self) -> bool {
        self.request.is_boundary()
    }
}

impl Protocol for Http1 {
    fn received(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        let Http1 { request, outstanding, may_keep_body, .. } = self;
        request
            .feed(bytes, |head| {
                let head = RequestHead::parse(head, &[])?;
                if outstanding.len() >= MOST_OUTSTANDING {
                    return Err("too many requests without an answer");
                }
                outstanding.push_back(head.method);
                *may_keep_body = head.expects;
                Ok(head.body)
            })
            .map_err(Opaque::Request)
    }

    fn sent(&mut self, bytes: &[u8]) -> Result<(), Opaque> {
        let Http1 { request, response, outstanding, may_keep_body, .. } = self;
        response
            .feed(bytes, |head| {
                let method = *outstanding.front().ok_or("an answer without a request")?;
                let head = ResponseHead::parse(head, method)?;
                if !head.interim {
                    outstanding.pop_front();
                    // What comes next may be its body, or another request: that depends on how both read it.
                    if *may_keep_body && outstanding.is_empty() && matches!(request, Direction::Body(_)) {
                        return Err("a final answer to a request whose body may never come");
                    }
                }
                Ok(head.body)
            })
            .map_err(Opaque::Response)
    }

    fn is_idle(&self) -> bool {
        self.request.is_boundary() && self.response.is_boundary() && self.outstanding.is_empty()
    }

    fn front(&self, buffer: &[u8]) -> Front {
        let end = match head::find_end(buffer, 0) {
            Ok(Some(end)) => end,
            Ok(None) => return Front::Incomplete,
            Err(reason) => return Front::Unknown(reason),
        };
        let head = match RequestHead::parse(&buffer[..end], &self.deadline_headers) {
            Ok(head) => head,
            Err(reason) => return Front::Unknown(reason),
        };
        if head.only_application || self.leave.as_ref().is_some_and(|leave| leave.is(head.target, head.agent)) {
            return Front::Leave;
        }
        let mut body = head.body;
        let length = if body.is_empty() {
            end
        } else {
            match body.feed(&buffer[end..]) {
                Ok(Progress::Done(used)) => end + used,
                Ok(Progress::More) => return Front::Incomplete,
                Err(reason) => return Front::Unknown(reason),
            }
        };
        Front::Request { length, deadline: head.deadline_ms.map(Duration::from_millis) }
    }

    fn needs(&self, buffer: &[u8]) -> usize {
        // With a body whose length is said, all of it.
        let Ok(Some(end)) = head::find_end(buffer, 0) else { return buffer.len() + 1 };
        let length = RequestHead::parse(&buffer[..end], &[]).ok().and_then(|head| head.body.length());
        length.map_or(buffer.len() + 1, |length| end.saturating_add(length))
    }

    fn busy(&self, _request: &[u8], remaining: Duration, answer: &mut Vec<u8>) -> u64 {
        answer.clear();
        let ms = remaining.as_micros().div_ceil(1000);
        answer.extend_from_slice(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n");
        if self.retry_after {
            write!(answer, "Retry-After: {}\r\n", ms.div_ceil(1000)).expect("a vector takes all");
        }
        write!(answer, "Busy-Until: {ms}\r\n\r\n").expect("a vector takes all");
        1
    }

    fn describe(&self, request: &[u8]) -> Described {
        let line = request.split(|&byte| byte == b'\r').next().unwrap_or_default().to_vec();
        let head = head::find_end(request, 0).ok().flatten().and_then(|end| RequestHead::parse(&request[..end], &[]).ok());
        Described { line, agent: head.and_then(|head| head.agent).unwrap_or_default().to_vec() }
    }
}

#[cfg(test)]
mod tests;
