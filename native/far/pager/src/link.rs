// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One memory server as the pager sees it: its identity, the connections that faults fetch through, whether it is lost.
//!
//! A fetch connection is Broken, Ready or Taken. Whoever takes it (one exchange) owns its socket, sequence number and
//! buffer until he makes it Ready or Broken again. Broken ones are repaired by the keeper thread, so that the fault path
//! opens no socket.

use std::cell::UnsafeCell;
use std::io::{IoSlice, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lull_far_protocol::{
    Awake, ChannelKind, DecodeError, ErrorCode, FETCH_LEN, Fetch, HEADER_LEN, Header, Hello, HelloAck, MAX_PAGES_PER_FRAME, Message, Op,
    PAGE_SIZE_LOG2, VERSION_MAX, VERSION_MIN, seal_with,
};

use crate::PAGE_SIZE;
use crate::stream::LONGEST;
use crate::syscall;
use crate::wait::Event;

/// Fetch connections to each server: as many faults are served by it at once.
pub const FETCH_CONNECTIONS: usize = 4;

const ANSWER_BYTES: usize = HEADER_LEN + FETCH_LEN + LONGEST * PAGE_SIZE;

const BROKEN: u32 = 0;
const READY: u32 = 1;
const TAKEN: u32 = 2;

/// How long a single send or receive may stand still before the connection counts as broken.
pub const STILL: Duration = Duration::from_secs(2);

/// How long a server may take for its first answer of all.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

/// How long a fault waits awake for its answer, in nanoseconds, where answers come that fast: some times what a server needs that is
/// awake, too, and what waking up takes.
const AWAKE: u64 = 50_000;

/// What went wrong with a server.
#[derive(Debug)]
pub enum LinkError {
    /// Bytes did not come or go; another connection may do.
    Broken(String),
    /// The server said why it does not, or is not the one that has our pages; trying again does not help.
    Refused(String),
}

impl std::fmt::Display for LinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LinkError::Broken(text) | LinkError::Refused(text) => f.write_str(text),
        }
    }
}

/// Why a fetch brought no pages. Without text: made in the fault path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// No connection is Ready, or it broke.
    Broken,
    /// Pages came with a wrong checksum, twice.
    Checksum,
    /// The server answered with an error.
    Refused(ErrorCode),
}

/// A memory server.
#[derive(Debug)]
pub struct Server {
    /// As the user wrote it, for messages.
    pub name: String,
    address: SocketAddr,
    client: [u8; 16],
    /// Of the first HELLO_ACK. Another one later means that the pages are gone.
    session: Mutex<Option<[u8; 16]>>,
    fetch: [FetchConnection; FETCH_CONNECTIONS],
    /// Set once, never cleared. After it nothing is fetched from the server, nor written to it.
    lost: AtomicBool,
    /// When the server last answered anything, by [`syscall::now`].
    heard: AtomicU64,
    /// A connection became Ready, or the server was lost.
    changed: Event,
    /// A connection became Broken: wakes the keeper, which all servers share.
    broken: Arc<Event>,
}

#[derive(Debug)]
struct FetchConnection {
    state: AtomicU32,
    /// Grows with each connection; used by the keeper only.
    generation: AtomicU64,
    inside: UnsafeCell<FetchInside>,
}

#[derive(Debug)]
struct FetchInside {
    stream: Option<TcpStream>,
    sequence: u64,
    awake: Awake,
    answer: Box<[u8]>,
}

// SAFETY: `inside` is touched only by the thread that has made the state TAKEN; the exchanges of the state acquire and release.
unsafe impl Sync for FetchConnection {}

impl FetchConnection {
    fn take(&self, from: u32) -> bool {
        self.state.compare_exchange(from, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

impl Server {
    /// Connects for the first time. `broken` is what the keeper sleeps at.
    ///
    /// # Errors
    /// Why not: the address, the version, a refusal.
    pub fn connect(name: &str, address: SocketAddr, client: [u8; 16], broken: Arc<Event>) -> Result<Server, LinkError> {
        let connection = || FetchConnection {
            state: AtomicU32::new(BROKEN),
            generation: AtomicU64::new(0),
            inside: UnsafeCell::new(FetchInside {
                stream: None,
                sequence: 0,
                awake: Awake::new(AWAKE),
                answer: vec![0; ANSWER_BYTES].into_boxed_slice(),
            }),
        };
        let server = Server {
            name: name.to_owned(),
            address,
            client,
            session: Mutex::new(None),
            fetch: std::array::from_fn(|_| connection()),
            lost: AtomicBool::new(false),
            heard: AtomicU64::new(syscall::now()),
            changed: Event::default(),
            broken,
        };
        for index in 0..FETCH_CONNECTIONS {
            server.repair(index)?;
        }
        Ok(server)
    }

    /// Whether its pages are out of reach for good.
    pub fn lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// Nothing is asked of the server any more.
    pub fn give_up(&self) {
        self.lost.store(true, Ordering::Release);
        self.changed.wake();
    }

    /// Nanoseconds since the server answered.
    pub fn silent_for(&self) -> u64 {
        syscall::now().saturating_sub(self.heard.load(Ordering::Relaxed))
    }

    fn hear(&self) {
        self.heard.store(syscall::now(), Ordering::Relaxed);
    }

    /// Opens a connection and says HELLO.
    ///
    /// # Errors
    /// [`LinkError::Refused`] also if the server's session is not the one of the first connection.
    pub fn open(&self, kind: ChannelKind, channel: u16, generation: u64) -> Result<(TcpStream, HelloAck), LinkError> {
        let name = &self.name;
        let broken = |what: &str, error: &dyn std::fmt::Display| LinkError::Broken(format!("memory server {name}: {what}: {error}"));
        let mut stream = TcpStream::connect_timeout(&self.address, STILL).map_err(|e| broken("cannot connect", &e))?;
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(STILL)))
            .and_then(|()| stream.set_write_timeout(Some(STILL)))
            .map_err(|e| broken("cannot set up the connection", &e))?;
        let hello = Hello {
            version_min: VERSION_MIN,
            version_max: VERSION_MAX,
            page_size_log2: PAGE_SIZE_LOG2,
            kind,
            channel,
            generation,
            features: 0,
            client: self.client,
        };
        let mut bytes = Vec::new();
        Message::Hello(hello).encode(1, 0, &mut bytes);
        stream.write_all(&bytes).map_err(|e| broken("HELLO", &e))?;
        // Nobody waits for a page yet when a server is greeted for the first time: a busy one gets the time it needs.
        let greeted = self.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_some();
        stream.set_read_timeout(Some(if greeted { STILL } else { FIRST_ANSWER })).map_err(|e| broken("HELLO", &e))?;
        let (header, payload) = receive(&mut stream).map_err(|e| broken("HELLO", &e))?;
        stream.set_read_timeout(Some(STILL)).map_err(|e| broken("HELLO", &e))?;
        match Message::decode(&header, &payload) {
            Ok(Message::HelloAck(ack)) if ack.version == VERSION_MAX && ack.page_size_log2 == PAGE_SIZE_LOG2 && header.sequence == 1 => {
                if (ack.max_pages as usize) < MAX_PAGES_PER_FRAME {
                    let text = format!("memory server {name} takes {} pages at once; {MAX_PAGES_PER_FRAME} are needed", ack.max_pages);
                    return Err(LinkError::Refused(text));
                }
                let mut session = self.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if *session.get_or_insert(ack.session) != ack.session {
                    return Err(LinkError::Refused(format!("memory server {name} was restarted: what it held is gone")));
                }
                self.hear();
                Ok((stream, ack))
            }
            Ok(Message::Error { code: ErrorCode::TooManyConnections, text }) => Err(broken("refused", &text)),
            Ok(Message::Error { code, text }) => Err(LinkError::Refused(format!("memory server {name}: {}: {text}", code.name()))),
            Ok(other) => Err(LinkError::Refused(format!("memory server {name} answers HELLO with {other:?}"))),
            Err(error) => Err(broken("HELLO", &error)),
        }
    }

    /// Keeper: makes a Broken connection Ready.
    ///
    /// # Errors
    /// As [`Server::open`]; it stays Broken.
    pub fn repair(&self, index: usize) -> Result<(), LinkError> {
        let connection = &self.fetch[index];
        if !connection.take(BROKEN) {
            return Ok(());
        }
        let generation = connection.generation.fetch_add(1, Ordering::Relaxed) + 1;
        let opened = self.open(ChannelKind::Fetch, index as u16, generation);
        let end = match opened {
            Ok((stream, _)) => {
                // SAFETY: the state is TAKEN, by us.
                let inside = unsafe { &mut *connection.inside.get() };
                inside.stream = Some(stream);
                inside.sequence = 1;
                Ok(())
            }
            Err(error) => Err(error),
        };
        connection.state.store(if end.is_ok() { READY } else { BROKEN }, Ordering::Release);
        self.changed.wake();
        end
    }

    /// Fault path: fetches a run of pages and hands them to `use_pages` while the connection is held. Waits for a connection,
    /// for so long at most.
    ///
    /// # Errors
    /// [`FetchError`]; `use_pages` was not called.
    pub fn fetch<R>(&self, region: u32, run: Fetch, wait: u64, use_pages: impl FnOnce(&[u8]) -> R) -> Result<R, FetchError> {
        let deadline = syscall::now() + wait;
        let connection = loop {
            if self.lost() {
                return Err(FetchError::Broken);
            }
            if let Some(connection) = self.fetch.iter().find(|connection| connection.take(READY)) {
                break connection;
            }
            let now = syscall::now();
            if now >= deadline {
                return Err(FetchError::Broken);
            }
            let none = || self.fetch.iter().all(|connection| connection.state.load(Ordering::SeqCst) != READY);
            self.changed.wait((deadline - now).min(100_000_000), none);
        };
        // SAFETY: the state is TAKEN, by us.
        let inside = unsafe { &mut *connection.inside.get() };
        let mut result = inside.fetch(region, run);
        if result == Err(FetchError::Checksum) {
            result = inside.fetch(region, run);
        }
        let outcome = match result {
            Ok(length) => {
                self.hear();
                let value = use_pages(&inside.answer[HEADER_LEN + FETCH_LEN..length]);
                connection.state.store(READY, Ordering::Release);
                Ok(value)
            }
            Err(error) => {
                connection.state.store(BROKEN, Ordering::Release);
                self.broken.wake();
                Err(error)
            }
        };
        self.changed.wake();
        outcome
    }
}

impl FetchInside {
    /// One request and its answer; where the pages end in `answer`. Async-signal-safe.
    fn fetch(&mut self, region: u32, run: Fetch) -> Result<usize, FetchError> {
        let Some(stream) = &self.stream else { return Err(FetchError::Broken) };
        let fd = stream.as_raw_fd();
        self.sequence += 1;
        syscall::send_all(fd, &run.frame(self.sequence, region)).map_err(|_| FetchError::Broken)?;
        let (head, rest) = self.answer.split_at_mut(HEADER_LEN);
        let begin = syscall::now();
        if self.awake.patience() > 0 {
            syscall::await_readable(fd, self.awake.patience());
        }
        syscall::receive_all(fd, head).map_err(|_| FetchError::Broken)?;
        self.awake.waited(syscall::now() - begin);
        let head: &[u8; HEADER_LEN] = head.first_chunk().ok_or(FetchError::Broken)?;
        let header = Header::decode(head).map_err(|_| FetchError::Broken)?;
        let length = header.len as usize;
        if length > rest.len() || header.sequence != self.sequence {
            return Err(FetchError::Broken);
        }
        syscall::receive_all(fd, &mut rest[..length]).map_err(|_| FetchError::Broken)?;
        match Message::decode(&header, &rest[..length]) {
            Ok(Message::Data(data)) if data.run == run && header.region == region => Ok(HEADER_LEN + length),
            Ok(Message::Error { code: ErrorCode::Crc, .. }) | Err(DecodeError::PayloadCrc) => Err(FetchError::Checksum),
            Ok(Message::Error { code: ErrorCode::StaleChannel | ErrorCode::Timeout, .. }) => Err(FetchError::Broken),
            Ok(Message::Error { code, .. }) => Err(FetchError::Refused(code)),
            _ => Err(FetchError::Broken),
        }
    }
}

/// Sends a header and the pieces of its payload, without putting them together.
fn send_parts(stream: &mut TcpStream, head: &[u8], parts: &[&[u8]]) -> std::io::Result<()> {
    let mut slices: Vec<IoSlice<'_>> = std::iter::once(head).chain(parts.iter().copied()).map(IoSlice::new).collect();
    let mut rest = &mut slices[..];
    // Empty pieces would make a write of nothing look like an end.
    IoSlice::advance_slices(&mut rest, 0);
    while !rest.is_empty() {
        match stream.write_vectored(rest) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(count) => IoSlice::advance_slices(&mut rest, count),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads a frame. Not for the fault path.
///
/// # Errors
/// As the socket, and for what is no frame.
pub fn receive(stream: &mut TcpStream) -> std::io::Result<(Header, Vec<u8>)> {
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head)?;
    let header = Header::decode(&head).map_err(std::io::Error::other)?;
    let mut payload = vec![0; header.len as usize];
    stream.read_exact(&mut payload)?;
    Ok((header, payload))
}

/// A connection for requests of threads that may wait, allocate, and open it anew: control and writing.
#[derive(Debug)]
pub struct Channel {
    kind: ChannelKind,
    generation: u64,
    sequence: u64,
    stream: Option<TcpStream>,
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
        Channel { kind, generation: 0, sequence: 0, stream: None }
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
        if self.stream.is_none() {
            self.generation += 1;
            self.stream = Some(server.open(self.kind, 0, self.generation)?.0);
            self.sequence = 1;
        }
        self.sequence += 1;
        let length = payload.parts.iter().map(|part| part.len()).sum();
        let head = seal_with(op, self.sequence, region, length, payload.crc);
        let Some(stream) = &mut self.stream else { return Err(LinkError::Broken("no connection".to_owned())) };
        if let Err(error) = send_parts(stream, &head, payload.parts) {
            self.stream = None;
            return Err(LinkError::Broken(format!("memory server {}: {}: {error}", server.name, op.name())));
        }
        Ok(Asked { op, region, generation: self.generation, sequence: self.sequence })
    }

    /// The answer to a request.
    ///
    /// # Errors
    /// As [`Channel::ask`].
    pub fn finish(&mut self, server: &Server, asked: &Asked) -> Result<(Header, Vec<u8>), LinkError> {
        let name = &server.name;
        let stream = self.stream.as_mut().filter(|_| asked.generation == self.generation);
        // It was closed by a request that came after.
        let Some(stream) = stream else { return Err(LinkError::Broken(format!("memory server {name}: the connection was closed"))) };
        match receive(stream) {
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
                Err(LinkError::Broken(format!("memory server {name}: {}: {error}", asked.op.name())))
            }
        }
    }

    /// Closes the connection; the next request opens another.
    pub fn close(&mut self) {
        self.stream = None;
    }
}

/// What of this file a fuzzer needs.
#[cfg(fuzzing)]
pub mod fuzzing {
    use super::*;

    /// A fetch connection after its HELLO.
    pub struct FetchAnswer(FetchInside);

    impl FetchAnswer {
        /// Over a socket.
        pub fn new(stream: TcpStream) -> FetchAnswer {
            FetchAnswer(FetchInside {
                stream: Some(stream),
                sequence: 1,
                awake: Awake::new(AWAKE),
                answer: vec![0; ANSWER_BYTES].into_boxed_slice(),
            })
        }

        /// The pages of a run, as the fault path would use them.
        pub fn fetch(&mut self, region: u32, run: Fetch) -> Option<&[u8]> {
            let length = self.0.fetch(region, run).ok()?;
            Some(&self.0.answer[HEADER_LEN + FETCH_LEN..length])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lull_far_protocol::golden::{frame, page};
    use lull_far_protocol::{Write as WritePages, crc32c_of};
    use std::net::TcpListener;

    /// A server that expects golden requests, and gives golden answers.
    fn golden_server(connections: Vec<Vec<(&'static str, &'static str)>>) -> (SocketAddr, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            for conversation in connections {
                let (mut stream, _) = listener.accept().unwrap();
                for (request, answer) in conversation {
                    let want = frame(request);
                    let mut got = vec![0; want.len()];
                    stream.read_exact(&mut got).unwrap();
                    assert!(got == want, "not the golden {request}");
                    stream.write_all(&frame(answer)).unwrap();
                }
            }
        });
        (address, thread)
    }

    fn server(address: SocketAddr) -> Server {
        Server {
            name: "golden".to_owned(),
            address,
            client: std::array::from_fn(|i| i as u8),
            session: Mutex::new(None),
            fetch: std::array::from_fn(|_| FetchConnection {
                state: AtomicU32::new(BROKEN),
                generation: AtomicU64::new(0),
                inside: UnsafeCell::new(FetchInside {
                    stream: None,
                    sequence: 0,
                    awake: Awake::new(AWAKE),
                    answer: vec![0; ANSWER_BYTES].into_boxed_slice(),
                }),
            }),
            lost: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            changed: Event::default(),
            broken: Arc::default(),
        }
    }

    #[test]
    fn the_pager_speaks_in_golden_frames() {
        let (address, thread) = golden_server(vec![
            vec![
                ("hello-control", "hello-ack"),
                ("region-map", "region-mapped"),
                ("heartbeat", "heartbeat-ack"),
                ("region-unmap", "region-unmapped"),
                ("bye", "bye"),
            ],
            vec![("hello-write", "hello-ack"), ("write", "write-ack")],
            vec![("hello-fetch", "hello-ack"), ("fetch", "data")],
        ]);
        let server = server(address);
        let mut control = Channel::new(ChannelKind::Control);
        let (header, _) = control.ask(&server, Op::RegionMap, 5, Payload::of(&[&16_u64.to_le_bytes()])).unwrap();
        assert_eq!(header.op, Op::RegionMapped);
        assert_eq!(control.ask(&server, Op::Heartbeat, 0, Payload::of(&[])).unwrap().0.op, Op::HeartbeatAck);
        assert_eq!(control.ask(&server, Op::RegionUnmap, 5, Payload::of(&[])).unwrap().0.op, Op::RegionUnmapped);
        assert_eq!(control.ask(&server, Op::Bye, 0, Payload::of(&[])).unwrap().0.op, Op::Bye);
        let pages = [page(3), page(4)].concat();
        let numbers: Vec<u8> = [3_u64, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
        let mut write = Channel::new(ChannelKind::Write);
        let (header, payload) = write.ask(&server, Op::Write, 5, Payload::of(&[&WritePages::fixed(2), &numbers, &pages])).unwrap();
        let ack = Message::decode(&header, &payload).unwrap();
        assert_eq!(ack, Message::WriteAck(lull_far_protocol::WriteAck { count: 2, content_crc: crc32c_of(&[&pages]) }));
        server.repair(0).unwrap();
        let same = server.fetch(5, Fetch { first: 3, count: 2 }, 1_000_000_000, |bytes| bytes == pages);
        assert_eq!(same, Ok(true));
        thread.join().unwrap();
    }

    /// Answers that are not what was asked for are never used.
    #[test]
    fn an_answer_to_another_question_is_refused() {
        for wrong in ["fence-ack", "write-ack", "discard-ack", "region-mapped", "error", "hello-ack"] {
            let (address, thread) = golden_server(vec![vec![("hello-fetch", "hello-ack"), ("fetch", wrong)]]);
            let server = server(address);
            server.repair(0).unwrap();
            let result = server.fetch(5, Fetch { first: 3, count: 2 }, 1_000_000_000, |_| panic!("used {wrong}"));
            assert!(result.is_err());
            thread.join().unwrap();
        }
        // The right answer to a request for other pages.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; HEADER_LEN + 40];
            stream.read_exact(&mut bytes).unwrap();
            stream.write_all(&frame("hello-ack")).unwrap();
            stream.read_exact(&mut bytes[..HEADER_LEN + FETCH_LEN]).unwrap();
            stream.write_all(&frame("data")).unwrap();
        });
        let server = server(address);
        server.repair(0).unwrap();
        assert_eq!(server.fetch(5, Fetch { first: 4, count: 2 }, 1_000_000_000, |_| panic!("used")), Err::<(), _>(FetchError::Broken));
        thread.join().unwrap();
    }
}
