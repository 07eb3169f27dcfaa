// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Bytes in and out of a socket, with a time by which a whole frame must have passed: a peer that sends one byte a second
//! is as slow as one that sends none.

use std::cell::Cell;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use crate::listen::is_unix;
use lull_far_protocol::{Awake, DecodeError, FETCH_LEN, HEADER_LEN, Header, TAG_LEN, VERSION_ENCRYPTED, VERSION_PLAIN};

/// What is asked for at once behind a header that is waited for: all of a FETCH, for which somebody waits. Of other frames the rest is read
/// when it is known how much it is.
const BEHIND: usize = FETCH_LEN + TAG_LEN;

/// A connection over which nothing has come for so long is asked whether the other side is still there; so often, and so many times, until
/// it counts as broken: after 30 s in all, or what [`Transport::new`] makes of [`UNACKNOWLEDGED`] if that is longer, for the kernel takes
/// that limit for this one, too. A pager says something each second.
const SILENT_BEFORE_PROBE: Duration = Duration::from_secs(15);
const BETWEEN_PROBES: Duration = Duration::from_secs(5);
const PROBES: u32 = 3;

/// The same of a connection over which something was sent and not acknowledged, which nobody asks about: the kernel would send it again
/// for a quarter of an hour.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// How often a waiting thread looks whether it should stop.
pub const POLL: Duration = Duration::from_millis(100);

/// Why there is no further frame.
#[derive(Debug)]
pub enum End {
    /// The peer closed the connection between two frames.
    Closed,
    /// It closed it within a frame.
    Cut {
        /// Bytes of the frame's part that had come.
        got: usize,
        /// Bytes that should have come.
        want: usize,
    },
    /// A frame took longer than it may.
    Slow {
        /// Bytes of the frame's part that had passed.
        got: usize,
        /// Bytes that should have passed.
        want: usize,
    },
    /// The server is being stopped.
    Stopped,
    /// Nothing has come for long, and nothing would be lost.
    Idle,
    /// The header is not one. The bytes are for the answer's sequence number.
    Frame(DecodeError, [u8; HEADER_LEN]),
    /// The connection broke.
    Io(io::Error),
}

/// A socket with blocking reads and writes that wake up now and then.
#[derive(Debug)]
pub struct Transport<'a> {
    stream: &'a TcpStream,
    frame_timeout: Duration,
    awake: Option<(Cell<Awake>, &'a AtomicUsize)>,
    /// What was read behind a header, and how much of it there is: it comes first.
    rest: Cell<([u8; BEHIND], usize)>,
    /// Of the frames that come.
    version: Cell<u16>,
}

impl<'a> Transport<'a> {
    /// Prepares a socket.
    ///
    /// # Errors
    /// If the socket is gone already.
    pub fn new(stream: &'a TcpStream, frame_timeout: Duration) -> io::Result<Transport<'a>> {
        stream.set_read_timeout(Some(POLL))?;
        stream.set_write_timeout(Some(POLL))?;
        if !is_unix(stream)? {
            Transport::set_up_tcp(stream, frame_timeout)?;
        }
        Ok(Transport { stream, frame_timeout, awake: None, rest: Cell::new(([0; BEHIND], 0)), version: Cell::new(VERSION_PLAIN) })
    }

    /// Of a program on this machine the kernel says when it is gone; of another machine it must be asked.
    fn set_up_tcp(stream: &TcpStream, frame_timeout: Duration) -> io::Result<()> {
        stream.set_nodelay(true)?;
        // A peer whose host is gone says nothing, for ever: its memory would never be given back.
        sockopt::set_socket_keepalive(stream, true)?;
        sockopt::set_tcp_keepidle(stream, SILENT_BEFORE_PROBE)?;
        sockopt::set_tcp_keepintvl(stream, BETWEEN_PROBES)?;
        sockopt::set_tcp_keepcnt(stream, PROBES)?;
        // No less than a frame may take: the kernel also gives up a peer that reads nothing for so long, though it acknowledges each time
        // that it is asked whether it has room.
        let unacknowledged = UNACKNOWLEDGED.max(frame_timeout).as_millis();
        sockopt::set_tcp_user_timeout(stream, u32::try_from(unacknowledged).unwrap_or(u32::MAX))?;
        Ok(())
    }

    /// Waits awake for headers, for so long at most, where they follow each other that fast. `places` is how many more threads may do
    /// so at once.
    #[must_use]
    pub fn awake(self, limit: Duration, places: &'a AtomicUsize) -> Transport<'a> {
        let nanoseconds = limit.as_nanos().try_into().unwrap_or(u64::MAX);
        Transport { awake: Some((Cell::new(Awake::new(nanoseconds)), places)), ..self }
    }

    /// From now on frames of [`VERSION_ENCRYPTED`] come, and no others.
    pub fn expect_encrypted(&self) {
        self.version.set(VERSION_ENCRYPTED);
    }

    /// Reads a header. Waits for its first byte until `idle` is over or `stop` says why not; the rest must come in time.
    ///
    /// # Errors
    /// [`End`].
    pub fn header(&self, idle: Option<Duration>, stop: impl Fn() -> Option<End>) -> Result<Header, End> {
        let version = self.version.get();
        let mut bytes = [0; HEADER_LEN + BEHIND];
        let bytes = &mut bytes[..HEADER_LEN + if version == VERSION_ENCRYPTED { BEHIND } else { FETCH_LEN }];
        let begin = Instant::now();
        let mut got = self.take_rest(bytes);
        let mut deadline = if got > 0 { Some(begin + self.frame_timeout) } else { idle.map(|idle| begin + idle) };
        let mut first = if got > 0 { None } else { self.first(bytes, begin) };
        while got < HEADER_LEN {
            match first.take().unwrap_or_else(|| self.some(&mut bytes[got..])) {
                Ok(0) if got == 0 => return Err(End::Closed),
                Ok(0) => return Err(End::Cut { got, want: HEADER_LEN }),
                Ok(count) => {
                    if got == 0 {
                        let now = Instant::now();
                        deadline = Some(now + self.frame_timeout);
                        self.learn(now - begin);
                    }
                    got += count;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if got == 0
                        && let Some(end) = stop()
                    {
                        return Err(end);
                    }
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        return Err(End::Slow { got, want: HEADER_LEN });
                    }
                }
                Err(error) => return Err(End::Io(error)),
            }
        }
        let (head, rest) = bytes.split_at(HEADER_LEN);
        self.keep_rest(&rest[..got - HEADER_LEN]);
        let head: [u8; HEADER_LEN] = std::array::from_fn(|at| head[at]);
        Header::decode_of(&head, version).map_err(|error| End::Frame(error, head))
    }

    /// What was read already. `bytes` has room for it.
    fn take_rest(&self, bytes: &mut [u8]) -> usize {
        let (rest, length) = self.rest.get();
        let taken = length.min(bytes.len());
        bytes[..taken].copy_from_slice(&rest[..taken]);
        self.keep_rest(&rest[taken..length]);
        taken
    }

    fn keep_rest(&self, bytes: &[u8]) {
        let mut rest = [0; BEHIND];
        rest[..bytes.len()].copy_from_slice(bytes);
        self.rest.set((rest, bytes.len()));
    }

    /// Reads a payload of exactly the buffer's length.
    ///
    /// # Errors
    /// [`End`].
    pub fn payload(&self, bytes: &mut [u8]) -> Result<(), End> {
        let mut got = self.take_rest(bytes);
        if got == bytes.len() {
            return Ok(());
        }
        let deadline = Instant::now() + self.frame_timeout;
        while got < bytes.len() {
            match self.some(&mut bytes[got..]) {
                Ok(0) => return Err(End::Cut { got, want: bytes.len() }),
                Ok(count) => got += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(End::Io(error)),
            }
            if got < bytes.len() && Instant::now() >= deadline {
                return Err(End::Slow { got, want: bytes.len() });
            }
        }
        Ok(())
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// [`End::Slow`] if the peer does not take it in time, [`End::Io`].
    pub fn send(&self, bytes: &[u8]) -> Result<(), End> {
        let deadline = Instant::now() + self.frame_timeout;
        let mut sent = 0;
        while sent < bytes.len() {
            match self.stream().write(&bytes[sent..]) {
                Ok(count) => sent += count,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) => return Err(End::Io(error)),
            }
            if sent < bytes.len() && Instant::now() >= deadline {
                return Err(End::Slow { got: sent, want: bytes.len() });
            }
        }
        Ok(())
    }

    /// What can be read without sleeping, as long as it is worth to stay awake.
    fn first(&self, bytes: &mut [u8], begin: Instant) -> Option<io::Result<usize>> {
        let (awake, places) = self.awake.as_ref()?;
        let patience = Duration::from_nanos(awake.get().patience());
        // Only a count: what is read is not ordered by it.
        if patience.is_zero() || places.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1)).is_err() {
            return None;
        }
        let got = loop {
            match rustix::net::recv(self.stream, &mut *bytes, rustix::net::RecvFlags::DONTWAIT) {
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                other => break Some(other.map(|(count, _)| count).map_err(io::Error::from)),
            }
            if begin.elapsed() >= patience {
                break None;
            }
            // Whoever has work goes first: the client, if it is on this machine.
            std::thread::yield_now();
        };
        places.fetch_add(1, Ordering::Relaxed);
        got
    }

    fn learn(&self, waited: Duration) {
        if let Some((awake, _)) = &self.awake {
            let mut now = awake.get();
            now.waited(waited.as_nanos().try_into().unwrap_or(u64::MAX));
            awake.set(now);
        }
    }

    fn some(&self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream().read(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::TimedOut => return Err(ErrorKind::WouldBlock.into()),
                other => return other,
            }
        }
    }

    fn stream(&self) -> &'a TcpStream {
        self.stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_peer_whose_host_is_gone_is_noticed_whatever_is_under_way() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        for (frame_timeout, unacknowledged) in [(10, 30_000), (60, 60_000)] {
            Transport::new(&stream, Duration::from_secs(frame_timeout)).unwrap();
            assert!(sockopt::socket_keepalive(&stream).unwrap());
            assert_eq!(sockopt::tcp_keepidle(&stream).unwrap() + PROBES * sockopt::tcp_keepintvl(&stream).unwrap(), UNACKNOWLEDGED);
            assert_eq!(sockopt::tcp_user_timeout(&stream).unwrap(), unacknowledged);
        }
    }
}
