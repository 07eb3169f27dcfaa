// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A connection for requests of threads that may wait, allocate, and open it anew: control and writing.

use std::io::{IoSlice, Read};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use lull_far_auth::{Frames, NotProven};
use lull_far_protocol::{
    ChannelKind, DecodeError, HEADER_LEN, Header, MAX_PAYLOAD, Message, Op, TAG_LEN, VERSION_ENCRYPTED, VERSION_PLAIN, seal_with,
};

use super::{Harm, LinkError, Server};
use crate::descriptors::Own;
use crate::syscall::{self, Errno};

/// A connection for requests of threads that may wait, allocate, and open it anew: control and writing.
#[derive(Debug)]
pub struct Channel {
    kind: ChannelKind,
    number: u16,
    generation: u64,
    sequence: u64,
    stream: Option<Own<TcpStream>>,
    /// What encrypts and proves what passes, if anything does.
    frames: Option<Box<Frames>>,
    /// Requests without an answer.
    unanswered: u32,
    /// A payload that is encrypted: its pieces are the caller's.
    encrypted: Vec<u8>,
}

/// A payload in pieces, with its checksum.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// The pieces, 1000 at most.
    pub parts: &'a [&'a [u8]],
    /// CRC32C of them all.
    pub crc: u32,
}

impl<'a> Payload<'a> {
    /// Of pieces that nobody has a checksum of.
    pub fn of(parts: &'a [&'a [u8]]) -> Payload<'a> {
        Payload { parts, crc: lull_far_protocol::crc32c_of(parts) }
    }
}

/// A request that was sent and not answered.
#[derive(Debug)]
#[must_use = "the next answer would be taken for another request's"]
pub struct Asked {
    op: Op,
    region: u32,
    generation: u64,
    sequence: u64,
}

impl Channel {
    /// Not connected yet.
    pub fn new(kind: ChannelKind) -> Channel {
        Channel::numbered(kind, 0)
    }

    /// The same with another number than 0.
    pub fn numbered(kind: ChannelKind, number: u16) -> Channel {
        Channel { kind, number, generation: 0, sequence: 0, stream: None, frames: None, unanswered: 0, encrypted: Vec::new() }
    }

    /// Opens a connection, which takes the channel over from all before it.
    ///
    /// # Errors
    /// As [`Server::open`].
    pub fn open(&mut self, server: &Server) -> Result<(), LinkError> {
        self.generation += 1;
        self.stream = None;
        let opened = server.open(self.kind, self.number, self.generation)?;
        self.stream = Some(opened.stream);
        self.frames = opened.frames;
        self.unanswered = 0;
        self.sequence = opened.sequence;
        Ok(())
    }

    /// One request and its answer, on a connection that is opened if there is none.
    ///
    /// # Errors
    /// After any error the connection is closed; the request may have been carried out or not, and may be repeated: the
    /// next connection's higher generation makes sure that the first one cannot arrive later.
    pub fn ask(&mut self, server: &Server, op: Op, region: u32, payload: Payload<'_>) -> Result<(Header, Vec<u8>), LinkError> {
        let asked = self.begin(server, op, region, payload)?;
        self.finish(server, &asked)
    }

    /// Sends a request. Answers are to be taken in the order of the requests, by [`Channel::finish`].
    ///
    /// # Errors
    /// As [`Channel::ask`]; requests that were begun before it will not be answered.
    pub fn begin(&mut self, server: &Server, op: Op, region: u32, payload: Payload<'_>) -> Result<Asked, LinkError> {
        if !self.is_open() {
            self.open(server)?;
        }
        self.sequence += 1;
        let length = payload.parts.iter().map(|part| part.len()).sum();
        let head = seal_with(op, self.sequence, region, length, payload.crc);
        let Some(stream) = &mut self.stream else { return Err(LinkError::Broken("no connection".to_owned())) };
        let sent = match &mut self.frames {
            None => send_parts(stream, &head, payload.parts, deadline(server)),
            Some(frames) => {
                self.encrypted.clear();
                payload.parts.iter().for_each(|part| self.encrypted.extend_from_slice(part));
                let ends = frames.encrypt(op, self.sequence, region, &mut self.encrypted).map_err(std::io::Error::other);
                ends.and_then(|(head, tag)| send_parts(stream, &head, &[&self.encrypted, &tag], deadline(server)))
            }
        };
        self.unanswered += 1;
        if let Err(error) = sent {
            self.stream = None;
            return Err(LinkError::Broken(format!("memory server {}: {}: {error}", server.name(), op.name())));
        }
        Ok(Asked { op, region, generation: self.generation, sequence: self.sequence })
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// As [`Channel::ask`].
    pub fn finish(&mut self, server: &Server, asked: &Asked) -> Result<(Header, Vec<u8>), LinkError> {
        self.receive(server, asked, deadline(server))
    }

    /// The same, of somebody who does not wait for longer.
    ///
    /// # Errors
    /// As [`Channel::ask`].
    pub fn finish_by(&mut self, server: &Server, asked: &Asked, deadline: Instant) -> Result<(Header, Vec<u8>), LinkError> {
        if let Some(stream) = &self.stream {
            let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            stream.set_read_timeout(Some(left)).map_err(|error| LinkError::Broken(format!("memory server {}: {error}", server.name())))?;
        }
        self.receive(server, asked, deadline)
    }

    /// Whether the next request needs no other connection.
    pub fn is_open(&self) -> bool {
        self.stream.is_some() && !self.is_worn()
    }

    /// A key that has encrypted much is renewed while nobody waits for an answer.
    fn is_worn(&self) -> bool {
        self.unanswered == 0 && self.frames.as_ref().is_some_and(|frames| frames.is_worn())
    }

    fn receive(&mut self, server: &Server, asked: &Asked, deadline: Instant) -> Result<(Header, Vec<u8>), LinkError> {
        let name = server.name();
        let stream = self.stream.as_mut().filter(|_| asked.generation == self.generation);
        // It was closed by a request that came after.
        let Some(stream) = stream else { return Err(LinkError::Broken(format!("memory server {name}: the connection was closed"))) };
        self.unanswered = self.unanswered.saturating_sub(1);
        match receive(stream, self.frames.as_deref_mut(), deadline) {
            Ok((header, payload)) if header.sequence == asked.sequence && header.region == asked.region => {
                server.hear();
                Ok((header, payload))
            }
            Ok((header, payload)) => {
                self.stream = None;
                // An error about the connection answers no request.
                if let Ok(Message::Error { code, text }) = Message::decode(&header, &payload) {
                    return Err(LinkError::Broken(format!("memory server {name}: {}: {text}", code.name())));
                }
                Err(LinkError::Broken(format!("memory server {name} answers request {} of {}", header.sequence, asked.sequence)))
            }
            Err(error) => {
                self.stream = None;
                if let Some(harm) = harm_of(&error).filter(|_| self.frames.is_some()) {
                    server.harmed(harm);
                }
                Err(LinkError::Broken(format!("memory server {name}: {}: {error}", asked.op.name())))
            }
        }
    }

    /// As if so many blocks had been encrypted.
    #[cfg(test)]
    pub(super) fn wear(&mut self, blocks: u64) {
        self.frames.as_mut().unwrap().wear(blocks);
    }

    /// Closes the connection; the next request opens another.
    pub fn close(&mut self) {
        self.stream = None;
    }
}

/// By when what is begun now must be over: a server that takes or gives a byte now and then is as slow as one that hangs.
fn deadline(server: &Server) -> Instant {
    Instant::now() + server.patience
}

/// Sends a header and the pieces of its payload, without putting them together. Perhaps in a thread of the program, as at its end: a server that
/// is gone must not raise a signal there.
pub(super) fn send_parts(stream: &mut TcpStream, head: &[u8], parts: &[&[u8]], deadline: Instant) -> std::io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = std::iter::once(head).chain(parts.iter().copied()).map(IoSlice::new).collect();
    let mut rest = &mut slices[..];
    // Empty pieces would make a write of nothing look like an end.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match syscall::send_some(stream.as_raw_fd(), rest) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(Errno(libc::EINTR)) => {}
            Err(Errno(number)) => return Err(std::io::Error::from_raw_os_error(number)),
        }
        if !rest.is_empty() && Instant::now() >= deadline {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}

/// What was done to the frames that an error speaks of.
fn harm_of(error: &std::io::Error) -> Option<Harm> {
    match error.get_ref() {
        Some(inner) if inner.is::<NotProven>() || inner.is::<DecodeError>() => Some(Harm::NotProven),
        Some(inner) if inner.is::<Cut>() => Some(Harm::Cut),
        _ => None,
    }
}

/// Reads a frame, and decrypts it if there is what does so; it is then as a plain one. Not for the fault path.
///
/// # Errors
/// As the socket, and for what is no frame, not proven, or not whole by the deadline.
pub fn receive(stream: &mut TcpStream, frames: Option<&mut Frames>, deadline: Instant) -> std::io::Result<(Header, Vec<u8>)> {
    receive_at_most(MAX_PAYLOAD, stream, frames, deadline)
}

/// The same of a frame whose payload has `most` bytes at most: memory is taken for no more.
///
/// # Errors
/// As [`receive`]; and for a longer one.
pub fn receive_at_most(
    most: usize,
    stream: &mut TcpStream,
    frames: Option<&mut Frames>,
    deadline: Instant,
) -> std::io::Result<(Header, Vec<u8>)> {
    let (version, tag) = if frames.is_some() { (VERSION_ENCRYPTED, TAG_LEN) } else { (VERSION_PLAIN, 0) };
    let mut head = [0; HEADER_LEN];
    read_exact(stream, &mut head, 0, deadline)?;
    let header = Header::decode_of(&head, version).map_err(std::io::Error::other)?;
    if header.len as usize > most {
        let (op, len) = (header.op.name(), header.len);
        return Err(std::io::Error::other(format!("it answers with {op} of {len} bytes, where {most} are the most")));
    }
    let mut payload = vec![0; header.len as usize + tag];
    read_exact(stream, &mut payload, HEADER_LEN, deadline)?;
    let Some(frames) = frames else { return Ok((header, payload)) };
    let length = frames.decrypt(&header, &mut payload).map_err(std::io::Error::other)?;
    payload.truncate(length);
    Ok((header.as_plain(&payload), payload))
}

/// A connection that has ended within a frame.
#[derive(Debug)]
struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the connection ended within a frame")
    }
}

impl std::error::Error for Cut {}

/// The socket's own limit is for one piece. `before`: bytes of the frame that have come already.
fn read_exact(stream: &mut TcpStream, bytes: &mut [u8], before: usize, deadline: Instant) -> std::io::Result<()> {
    let mut got = 0;
    while got < bytes.len() {
        match stream.read(&mut bytes[got..]) {
            Ok(0) if got + before > 0 => return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, Cut)),
            Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => got += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if got < bytes.len() && Instant::now() >= deadline {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
    }
    Ok(())
}
