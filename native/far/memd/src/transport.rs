// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Bytes in and out of a socket, with a time by which a whole frame must have passed: a peer that sends one byte a second
//! is as slow as one that sends none.

use std::cell::Cell;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use lull_far_protocol::{Awake, DecodeError, HEADER_LEN, Header};

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
}

impl<'a> Transport<'a> {
    /// Prepares a socket.
    ///
    /// # Errors
    /// If the socket is gone already.
    pub fn new(stream: &'a TcpStream, frame_timeout: Duration) -> io::Result<Transport<'a>> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL))?;
        stream.set_write_timeout(Some(POLL))?;
        Ok(Transport { stream, frame_timeout, awake: None })
    }

    /// Waits awake for headers, for so long at most, where they follow each other that fast. `places` is how many more threads may do
    /// so at once.
    #[must_use]
    pub fn awake(self, limit: Duration, places: &'a AtomicUsize) -> Transport<'a> {
        let nanoseconds = limit.as_nanos().try_into().unwrap_or(u64::MAX);
        Transport { awake: Some((Cell::new(Awake::new(nanoseconds)), places)), ..self }
    }

    /// Reads a header. Waits for its first byte until `idle` is over or `stop` says so; the rest must come in time.
    ///
    /// # Errors
    /// [`End`].
    pub fn header(&self, idle: Option<Duration>, stop: impl Fn() -> bool) -> Result<Header, End> {
        let mut bytes = [0; HEADER_LEN];
        let mut got = 0;
        let begin = Instant::now();
        let mut deadline = idle.map(|idle| begin + idle);
        let mut first = self.first(&mut bytes, begin);
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
                    if got == 0 && stop() {
                        return Err(End::Stopped);
                    }
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        return Err(End::Slow { got, want: HEADER_LEN });
                    }
                }
                Err(error) => return Err(End::Io(error)),
            }
        }
        Header::decode(&bytes).map_err(|error| End::Frame(error, bytes))
    }

    /// Reads a payload of exactly the buffer's length.
    ///
    /// # Errors
    /// [`End`].
    pub fn payload(&self, bytes: &mut [u8]) -> Result<(), End> {
        let deadline = Instant::now() + self.frame_timeout;
        let mut got = 0;
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
