// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The lines before a body: where they end, and what of them frames the message (RFC 9112 sections 2 to 6).

use super::body::Body;
use crate::deadline::{digits, preferred_ms};
use crate::options::is_token;

/// Longer heads are not followed.
const MOST_BYTES: usize = 64 * 1024;

/// What of a method changes where an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Head,
    Other,
}

/// A request's first lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestHead<'a> {
    pub(super) method: Method,
    pub(super) target: &'a [u8],
    /// Who asks, as it says itself.
    pub(super) agent: Option<&'a [u8]>,
    pub(super) body: Body,
    /// It asks for more than one answer: to close, to upgrade, to be told to continue.
    pub(super) only_application: bool,
    /// It waits for an answer before it sends its body.
    pub(super) expects: bool,
    pub(super) deadline_ms: Option<u64>,
}

/// A response's first lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResponseHead {
    /// Another answer to the same request follows.
    pub(super) interim: bool,
    pub(super) body: Body,
}

/// The end of the lines at the front of `bytes`: the index behind the empty line. The first `searched` bytes are known
/// not to hold it.
pub(super) fn find_end(bytes: &[u8], searched: usize) -> Result<Option<usize>, &'static str> {
    let mut at = searched.saturating_sub(3);
    while let Some(offset) = bytes[at..].iter().position(|&b| b == b'\n') {
        let lf = at + offset;
        if lf == 0 || bytes[lf - 1] != b'\r' {
            return Err("a line that ends without a carriage return");
        }
        // An empty line at the very front is no head; servers skip it, and that is for them to do.
        if lf == 1 {
            return Err("an empty line before a message");
        }
        if lf >= 3 && &bytes[lf - 3..lf - 1] == b"\r\n" {
            return Ok(Some(lf + 1));
        }
        at = lf + 1;
    }
    if bytes.len() > MOST_BYTES { Err("lines without an end") } else { Ok(None) }
}

/// The bytes of a head that has come in part. Empty as long as heads come whole, which they mostly do.
#[derive(Debug, Clone, Default)]
pub(super) struct Carry(Vec<u8>);

impl Carry {
    /// Takes more bytes. With the head's last one, gives what `parse` makes of it, and how many of `bytes` were of it.
    pub(super) fn take<T>(
        &mut self,
        bytes: &[u8],
        parse: impl FnOnce(&[u8]) -> Result<T, &'static str>,
    ) -> Result<Option<(T, usize)>, &'static str> {
        if self.0.is_empty() {
            return match find_end(bytes, 0)? {
                Some(end) => Ok(Some((parse(&bytes[..end])?, end))),
                None => {
                    self.0.extend_from_slice(bytes);
                    Ok(None)
                }
            };
        }
        let before = self.0.len();
        // A body may follow in the same buffer; of it no more is copied than a head may have.
        self.0.extend_from_slice(&bytes[..bytes.len().min(MOST_BYTES + 1)]);
        match find_end(&self.0, before)? {
            Some(end) => Ok(Some((parse(&self.0[..end])?, end - before))),
            None => Ok(None),
        }
    }
}

/// What the header lines say of the framing.
#[derive(Default)]
struct Fields<'a> {
    agent: Option<&'a [u8]>,
    length: Option<u64>,
    chunked: bool,
    expects: bool,
    upgrade: bool,
    close: bool,
    deadline_ms: Option<u64>,
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|&b| b == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

impl<'a> Fields<'a> {
    /// `lines` is what follows the first line, with the empty line at its end.
    fn parse(mut lines: &'a [u8], deadline_headers: &[String]) -> Result<Fields<'a>, &'static str> {
        let mut fields = Fields::default();
        loop {
            // find_end() has seen that each line ends with both.
            let end = lines.iter().position(|&b| b == b'\r').ok_or("a line without an end")?;
            if lines.get(end + 1) != Some(&b'\n') {
                return Err("a carriage return inside a line");
            }
            let line = &lines[..end];
            lines = &lines[end + 2..];
            if line.is_empty() {
                return if lines.is_empty() { Ok(fields) } else { Err("an empty line among the headers") };
            }
            let colon = line.iter().position(|&b| !is_token(b)).ok_or("a header without a colon")?;
            if colon == 0 || line[colon] != b':' {
                return Err("a header's name of another form");
            }
            fields.field(&line[..colon], &line[colon + 1..], deadline_headers)?;
        }
    }

    fn field(&mut self, name: &[u8], value: &'a [u8], deadline_headers: &[String]) -> Result<(), &'static str> {
        if value.iter().any(|&b| b < b' ' && b != b'\t' || b == 0x7f) {
            return Err("a control character in a header");
        }
        let value = value.trim_ascii();
        // By length first: most headers are none of these.
        match name.len() {
            6 if name.eq_ignore_ascii_case(b"expect") => self.expects = true,
            6 if name.eq_ignore_ascii_case(b"prefer") => self.deadline_ms = self.deadline_ms.or(preferred_ms(value)),
            7 if name.eq_ignore_ascii_case(b"upgrade") => self.upgrade = true,
            10 if name.eq_ignore_ascii_case(b"connection") => {
                self.close |= has_token(value, b"close");
                self.upgrade |= has_token(value, b"upgrade");
            }
            10 if name.eq_ignore_ascii_case(b"user-agent") => self.agent = self.agent.or(Some(value)),
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                if self.length.is_some() {
                    return Err("two lengths of one body");
                }
                self.length = Some(digits(value).ok_or("a length that is no number")?);
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                    return Err("a transfer encoding other than chunked");
                }
                self.chunked = true;
            }
            _ => {}
        }
        if deadline_headers.iter().any(|header| name.eq_ignore_ascii_case(header.as_bytes())) {
            // What a client says exactly counts before a preference. What is no number says nothing.
            if let Some(ms) = digits(value) {
                self.deadline_ms = Some(ms);
            }
        }
        Ok(())
    }

    fn body(&self) -> Result<Option<Body>, &'static str> {
        match (self.length, self.chunked) {
            (Some(_), true) => Err("a length and a transfer encoding"),
            (Some(length), false) => Ok(Some(Body::Length(length))),
            (None, true) => Ok(Some(Body::CHUNKED)),
            (None, false) => Ok(None),
        }
    }
}

fn first_line(head: &[u8]) -> Result<(&[u8], &[u8]), &'static str> {
    let end = head.iter().position(|&b| b == b'\r').ok_or("a line without an end")?;
    if head.get(end + 1) != Some(&b'\n') {
        return Err("a carriage return inside a line");
    }
    Ok((&head[..end], &head[end + 2..]))
}

impl<'a> RequestHead<'a> {
    /// `head` ends with the empty line.
    pub(super) fn parse(head: &'a [u8], deadline_headers: &[String]) -> Result<RequestHead<'a>, &'static str> {
        let (line, rest) = first_line(head)?;
        let mut parts = line.split(|&b| b == b' ');
        let (method, target, version) = (parts.next(), parts.next(), parts.next());
        let (Some(method), Some(target), Some(b"HTTP/1.1"), None) = (method, target, version, parts.next()) else {
            return Err("a request that is not HTTP/1.1");
        };
        if method.is_empty() || !method.iter().all(|&b| is_token(b)) {
            return Err("a method of another form");
        }
        if target.is_empty() || !target.iter().all(|b| b.is_ascii_graphic()) {
            return Err("a target of another form");
        }
        if method == b"CONNECT" {
            return Err("a tunnel");
        }
        let fields = Fields::parse(rest, deadline_headers)?;
        Ok(RequestHead {
            method: if method == b"HEAD" { Method::Head } else { Method::Other },
            target,
            agent: fields.agent,
            body: fields.body()?.unwrap_or(Body::Length(0)),
            only_application: fields.expects || fields.upgrade || fields.close,
            expects: fields.expects,
            deadline_ms: fields.deadline_ms,
        })
    }
}

impl ResponseHead {
    /// `head` ends with the empty line; `method` is that of the request which it answers.
    pub(super) fn parse(head: &[u8], method: Method) -> Result<ResponseHead, &'static str> {
        let (line, rest) = first_line(head)?;
        let status = match line.strip_prefix(b"HTTP/1.1 ") {
            Some([a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', end @ ..]) if end.is_empty() || end[0] == b' ' => {
                u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0')
            }
            _ => return Err("an answer that is not HTTP/1.1"),
        };
        if status == 101 {
            return Err("another protocol from here on");
        }
        let fields = Fields::parse(rest, &[])?;
        if fields.close {
            return Err("the last answer of a connection");
        }
        let body = fields.body()?;
        let body = match (status, method, body) {
            (100..=199 | 204 | 304, _, _) | (_, Method::Head, _) => Body::Length(0),
            (_, _, Some(body)) => body,
            (_, _, None) => return Err("an answer that ends with its connection"),
        };
        Ok(ResponseHead { interim: status < 200, body })
    }
}
