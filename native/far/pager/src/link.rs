// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One memory server as the pager sees it: its identity, the connections that faults fetch through, whether it is lost.
//!
//! A fetch connection is Broken, Ready, Ahead or Taken. Whoever takes it (one exchange) holds it: its socket, sequence number and
//! buffer are his until he lets it go ([`Held`]). Broken ones are repaired by the keeper thread, so that the fault path
//! opens no socket.
//!
//! Over a connection that is Ahead pages come that nobody needs yet, which are Coming. Nobody holds it, so nobody waits for it to be
//! let go: who needs one of these pages, or a connection while none is Ready, takes it and sees to the pages.

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
const AHEAD: u32 = 3;

/// How long a single send or receive may stand still before the connection counts as broken.
pub const STILL: Duration = Duration::from_secs(2);

/// How long a server may take for its first answer of all.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

/// How long a fault waits awake for its answer, in nanoseconds, where answers come that fast: some times what a server needs that is
/// awake, too, and what waking up takes.
const AWAKE: u64 = 50_000;

/// How long to sleep at most before looking again, in nanoseconds. Not a timeout: what is waited for wakes us.
const LOOK_AGAIN: u64 = 100_000_000;

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
    /// Of one that is Ahead: the first of the pages that are Coming, and how many in the lowest 8 bits. For those who look for
    /// one; who has taken it looks inside.
    ahead: AtomicU64,
    inside: UnsafeCell<FetchInside>,
}

#[derive(Debug)]
struct FetchInside {
    stream: Option<TcpStream>,
    sequence: u64,
    awake: Awake,
    /// What comes next is not the beginning of an answer that we know the request of.
    broken: bool,
    /// What comes next if nothing is asked for by who holds the connection.
    ahead: Option<Ahead>,
    answer: Box<[u8]>,
}

/// A FETCH that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    region: u32,
    run: Fetch,
    sequence: u64,
}

/// Pages that are Coming: their request, and the number of the first among all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The first.
    pub page: u32,
    request: Request,
}

impl Ahead {
    /// How many.
    pub fn pages(&self) -> usize {
        self.request.run.count as usize
    }

    // The lowest 8 bits have room for as many as a window has.
    const fn word(&self) -> u64 {
        const { assert!(LONGEST <= 0xFF) };
        (self.page as u64) << 8 | self.request.run.count as u64
    }
}

/// Whether a page is one of those that a word names.
fn names(word: u64, page: u32) -> bool {
    u64::from(page).checked_sub(word >> 8).is_some_and(|distance| distance < word & 0xFF)
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
            ahead: AtomicU64::new(0),
            inside: UnsafeCell::new(FetchInside::new(None, 0)),
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
            // The latter two: it did not arrive as it was sent.
            Ok(Message::Error { code: ErrorCode::TooManyConnections | ErrorCode::BadFrame | ErrorCode::Crc, text }) => {
                Err(broken("refused", &text))
            }
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
                inside.broken = false;
                Ok(())
            }
            Err(error) => Err(error),
        };
        connection.state.store(if end.is_ok() { READY } else { BROKEN }, Ordering::Release);
        self.changed.wake();
        end
    }

    /// Fault path: a connection, also one that is Ahead, whose pages whoever gets it sees to first. Waits for one, for so long at most.
    pub fn hold(&self, wait: u64) -> Option<Held<'_>> {
        let mut deadline = None;
        loop {
            if self.lost() {
                return None;
            }
            if let Some(held) = self.hold_ready().or_else(|| self.hold_from(AHEAD, |_| true)) {
                return Some(held);
            }
            let now = syscall::now();
            let deadline = *deadline.get_or_insert(now + wait);
            if now >= deadline {
                return None;
            }
            let none = || self.fetch.iter().all(|connection| !matches!(connection.state.load(Ordering::SeqCst), READY | AHEAD));
            self.changed.wait((deadline - now).min(LOOK_AGAIN), none);
        }
    }

    /// Fault path: a connection that is Ready now.
    pub fn hold_ready(&self) -> Option<Held<'_>> {
        self.hold_from(READY, |_| true)
    }

    /// The connection over which a page is Coming, and what comes over it; none if somebody else holds it, or nothing does. Of a lost
    /// server, too: its pages must not stay Coming.
    pub fn hold_ahead(&self, page: u32) -> Option<(Held<'_>, Ahead)> {
        let mut held = self.hold_from(AHEAD, |connection| names(connection.ahead.load(Ordering::Relaxed), page))?;
        // What was looked at before may have been of the time before another thread took it and let it go.
        held.inside().ahead.take_if(|ahead| names(ahead.word(), page)).map(|ahead| (held, ahead))
    }

    /// Waits until the pages that come with this one are seen to by who holds their connection, or may be by us; may return early.
    pub fn wait_for_ahead(&self, page: u32, coming: impl Fn() -> bool) {
        self.changed.wait(LOOK_AGAIN, || coming() && !self.ahead_words().any(|word| names(word, page)));
    }

    /// The first page of each run that comes and nobody has asked for yet.
    pub fn ahead_pages(&self) -> impl Iterator<Item = u32> {
        self.ahead_words().map(|word| (word >> 8) as u32)
    }

    fn ahead_words(&self) -> impl Iterator<Item = u64> {
        let ahead = |connection: &&FetchConnection| connection.state.load(Ordering::SeqCst) == AHEAD;
        self.fetch.iter().filter(ahead).map(|connection| connection.ahead.load(Ordering::Relaxed))
    }

    fn hold_from(&self, from: u32, wanted: impl Fn(&FetchConnection) -> bool) -> Option<Held<'_>> {
        let free = |connection: &&FetchConnection| connection.state.load(Ordering::Acquire) == from;
        let connection = self.fetch.iter().find(|connection| free(connection) && wanted(connection) && connection.take(from))?;
        Some(Held { server: self, connection })
    }
}

/// A fetch connection of the thread that has this. Async-signal-safe. When it is dropped, the connection is let go, and who waits for
/// it woken.
#[derive(Debug)]
pub struct Held<'a> {
    server: &'a Server,
    connection: &'a FetchConnection,
}

impl Held<'_> {
    fn inside(&mut self) -> &mut FetchInside {
        // SAFETY: the state is TAKEN, by us.
        unsafe { &mut *self.connection.inside.get() }
    }

    /// Whether it is one to this server.
    pub fn is_to(&self, server: &Server) -> bool {
        std::ptr::eq(self.server, server)
    }

    /// Sends a FETCH.
    ///
    /// # Errors
    /// [`FetchError::Broken`].
    pub fn ask(&mut self, region: u32, run: Fetch) -> Result<Request, FetchError> {
        self.inside().ask(region, run)
    }

    /// Sends a FETCH whose answer is left to others, for the pages from this one on, which are Coming. One for each connection, and the
    /// last that is asked for while it is held.
    ///
    /// # Errors
    /// [`FetchError::Broken`]; the pages are still the caller's.
    pub fn ask_ahead(&mut self, page: u32, region: u32, run: Fetch) -> Result<(), FetchError> {
        let request = self.ask(region, run)?;
        debug_assert!(self.inside().ahead.is_none());
        self.inside().ahead = Some(Ahead { page, request });
        Ok(())
    }

    /// What was left to others, if anything was: now it is the caller's to see to.
    pub fn take_ahead(&mut self) -> Option<Ahead> {
        self.inside().ahead.take()
    }

    /// The answer to a request; answers come in the order of the requests. Returns what [`Held::pages`] needs.
    ///
    /// # Errors
    /// [`FetchError`]. After [`FetchError::Checksum`] the connection can be used further; after others no answer comes any more, and
    /// what was asked for ahead must be taken.
    pub fn answer(&mut self, request: &Request) -> Result<usize, FetchError> {
        if self.server.lost() {
            self.inside().broken = true;
        }
        let result = self.inside().answer(request);
        if result.is_ok() {
            self.server.hear();
        }
        result
    }

    /// The same for pages that were asked for ahead.
    ///
    /// # Errors
    /// As [`Held::answer`].
    pub fn answer_ahead(&mut self, ahead: &Ahead) -> Result<usize, FetchError> {
        self.answer(&ahead.request)
    }

    /// The pages of the last answer.
    pub fn pages(&mut self, length: usize) -> &[u8] {
        self.inside().pages(length)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let FetchInside { broken, ahead, .. } = *self.inside();
        debug_assert!(!broken || ahead.is_none(), "pages that stay Coming");
        if let Some(ahead) = ahead {
            // Before the state, which releases it.
            self.connection.ahead.store(ahead.word(), Ordering::Relaxed);
        }
        let state = match (broken, ahead) {
            (true, _) => BROKEN,
            (false, Some(_)) => AHEAD,
            (false, None) => READY,
        };
        self.connection.state.store(state, Ordering::Release);
        if broken {
            self.server.broken.wake();
        }
        self.server.changed.wake();
    }
}

impl FetchInside {
    fn new(stream: Option<TcpStream>, sequence: u64) -> FetchInside {
        let answer = vec![0; ANSWER_BYTES].into_boxed_slice();
        FetchInside { stream, sequence, awake: Awake::new(AWAKE), broken: false, ahead: None, answer }
    }

    fn ask(&mut self, region: u32, run: Fetch) -> Result<Request, FetchError> {
        let Some(stream) = self.stream.as_ref().filter(|_| !self.broken) else { return Err(FetchError::Broken) };
        self.sequence += 1;
        let request = Request { region, run, sequence: self.sequence };
        if syscall::send_all(stream.as_raw_fd(), &run.frame(self.sequence, region)).is_err() {
            self.broken = true;
            return Err(FetchError::Broken);
        }
        Ok(request)
    }

    /// Where the pages end in `answer`.
    fn answer(&mut self, request: &Request) -> Result<usize, FetchError> {
        let result = if self.broken { Err(FetchError::Broken) } else { self.receive(request) };
        self.broken |= !matches!(result, Ok(_) | Err(FetchError::Checksum));
        result
    }

    fn receive(&mut self, request: &Request) -> Result<usize, FetchError> {
        let Some(stream) = &self.stream else { return Err(FetchError::Broken) };
        let fd = stream.as_raw_fd();
        // Asked for at once is as much as a right answer has: what comes behind it may be another's. The header says how much there is.
        let mut length = HEADER_LEN + FETCH_LEN + request.run.count as usize * PAGE_SIZE;
        let mut header = None;
        let mut got = 0;
        let begin = syscall::now();
        while got < length {
            let Some(rest) = self.answer.get_mut(got..length) else { return Err(FetchError::Broken) };
            let count = syscall::receive_some(fd, rest, self.awake.patience()).map_err(|_| FetchError::Broken)?;
            if got == 0 {
                self.awake.waited(syscall::now() - begin);
            }
            got += count;
            if header.is_none()
                && let Some(head) = self.answer[..got].first_chunk::<HEADER_LEN>()
            {
                let decoded = Header::decode(head).map_err(|_| FetchError::Broken)?;
                length = HEADER_LEN + decoded.len as usize;
                // More than it has is there already: that of the next answer.
                if decoded.sequence != request.sequence || got > length {
                    return Err(FetchError::Broken);
                }
                header = Some(decoded);
            }
        }
        let Some(header) = header else { return Err(FetchError::Broken) };
        match Message::decode(&header, &self.answer[HEADER_LEN..length]) {
            Ok(Message::Data(data)) if data.run == request.run && header.region == request.region => Ok(length),
            Ok(Message::Error { code: ErrorCode::Crc, .. }) | Err(DecodeError::PayloadCrc) => Err(FetchError::Checksum),
            Ok(Message::Error { code: ErrorCode::StaleChannel | ErrorCode::Timeout, .. }) => Err(FetchError::Broken),
            Ok(Message::Error { code, .. }) => Err(FetchError::Refused(code)),
            _ => Err(FetchError::Broken),
        }
    }

    fn pages(&self, length: usize) -> &[u8] {
        &self.answer[HEADER_LEN + FETCH_LEN..length]
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
            FetchAnswer(FetchInside::new(Some(stream), 1))
        }

        /// The pages of a run, as the fault path would use them.
        pub fn fetch(&mut self, region: u32, run: Fetch) -> Option<&[u8]> {
            let request = self.0.ask(region, run).ok()?;
            let length = self.0.answer(&request).ok()?;
            Some(self.0.pages(length))
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
                ahead: AtomicU64::new(0),
                inside: UnsafeCell::new(FetchInside::new(None, 0)),
            }),
            lost: AtomicBool::new(false),
            heard: AtomicU64::new(0),
            changed: Event::default(),
            broken: Arc::default(),
        }
    }

    /// Two pages of region 5.
    fn fetch(server: &Server, first: u64) -> Result<Vec<u8>, FetchError> {
        let mut held = server.hold(1_000_000_000).ok_or(FetchError::Broken)?;
        let request = held.ask(5, Fetch { first, count: 2 })?;
        let length = held.answer(&request)?;
        Ok(held.pages(length).to_vec())
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
        assert_eq!(fetch(&server, 3), Ok(pages));
        thread.join().unwrap();
    }

    /// Answers that are not what was asked for are never used.
    #[test]
    fn an_answer_to_another_question_is_refused() {
        for wrong in ["fence-ack", "write-ack", "discard-ack", "region-mapped", "error", "hello-ack"] {
            let (address, thread) = golden_server(vec![vec![("hello-fetch", "hello-ack"), ("fetch", wrong)]]);
            let server = server(address);
            server.repair(0).unwrap();
            assert!(fetch(&server, 3).is_err(), "used {wrong}");
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
        assert_eq!(fetch(&server, 4), Err(FetchError::Broken));
        thread.join().unwrap();
    }

    /// A server with one fetch connection whose answers to the requests, by their number, are what `answer` makes of the right ones.
    fn one_connection(requests: u64, answer: impl Fn(u64, &mut Vec<u8>) + Send + 'static) -> (Server, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            receive(&mut stream).unwrap();
            stream.write_all(&frame("hello-ack")).unwrap();
            for number in 1..=requests {
                let (header, payload) = receive(&mut stream).unwrap();
                let Ok(Message::Fetch(run)) = Message::decode(&header, &payload) else { panic!("no FETCH") };
                let bytes: Vec<u8> = (run.first..).take(run.count as usize).flat_map(page).collect();
                let mut bytes_sent = Vec::new();
                Message::Data(lull_far_protocol::RunOfPages { run, bytes: &bytes }).encode(header.sequence, header.region, &mut bytes_sent);
                answer(number, &mut bytes_sent);
                stream.write_all(&bytes_sent).unwrap();
            }
        });
        let server = server(address);
        server.repair(0).unwrap();
        (server, thread)
    }

    fn run(first: u64, count: u32) -> Fetch {
        Fetch { first, count }
    }

    #[test]
    fn what_is_asked_for_ahead_is_found_by_who_needs_it() {
        let (server, thread) = one_connection(3, |_, _| {});
        let mut held = server.hold(0).unwrap();
        let first = held.ask(5, run(3, 2)).unwrap();
        held.ask_ahead(105, 5, run(5, 3)).unwrap();
        assert!(server.hold(0).is_none() && server.hold_ahead(105).is_none(), "somebody holds it");
        let length = held.answer(&first).unwrap();
        assert!(held.pages(length) == [page(3), page(4)].concat());
        drop(held);
        assert_eq!(server.ahead_pages().collect::<Vec<_>>(), [105]);
        assert!(server.hold_ready().is_none() && server.hold_ahead(104).is_none() && server.hold_ahead(108).is_none());
        for needed in 105..108 {
            let (mut held, ahead) = server.hold_ahead(needed).unwrap();
            assert_eq!((ahead.page, ahead.pages()), (105, 3));
            // Let go as it was.
            held.inside().ahead = Some(ahead);
        }
        // Who needs a connection gets it, too.
        let mut held = server.hold(0).unwrap();
        let ahead = held.take_ahead().unwrap();
        held.ask_ahead(108, 5, run(8, 1)).unwrap();
        let length = held.answer_ahead(&ahead).unwrap();
        assert!(held.pages(length) == [page(5), page(6), page(7)].concat());
        drop(held);
        let (mut held, ahead) = server.hold_ahead(108).unwrap();
        assert_eq!(held.answer_ahead(&ahead).map(|length| held.pages(length) == page(8)), Ok(true));
        drop(held);
        assert!(server.hold_ready().is_some());
        thread.join().unwrap();
    }

    /// A wrong checksum costs one answer, anything else the connection.
    #[test]
    fn an_answer_that_is_none_costs_what_was_asked_behind_it() {
        type Harm = fn(u64, &mut Vec<u8>);
        let harms: [(Harm, FetchError); 4] = [
            (|number, bytes| bytes[HEADER_LEN + 100] ^= u8::from(number == 1), FetchError::Checksum),
            (|number, bytes| bytes[3] ^= u8::from(number == 1), FetchError::Broken),
            (|number, bytes| bytes.truncate(if number == 1 { 0 } else { usize::MAX }), FetchError::Broken),
            (
                |number, bytes| {
                    if number == 1 {
                        bytes.clear();
                        Message::Error { code: ErrorCode::UnknownRegion, text: "" }.encode(2, 5, bytes);
                    }
                },
                FetchError::Refused(ErrorCode::UnknownRegion),
            ),
        ];
        for (harm, want) in harms {
            let (server, thread) = one_connection(2, harm);
            let mut held = server.hold(0).unwrap();
            let first = held.ask(5, run(3, 1)).unwrap();
            held.ask_ahead(104, 5, run(4, 1)).unwrap();
            // Both answers may be there at once, and then the end of a short one is not found.
            thread.join().unwrap();
            let got = held.answer(&first);
            let usable = got == Err(FetchError::Checksum);
            assert!(got == Err(want) || got == Err(FetchError::Broken) && want != FetchError::Checksum, "{got:?}, not {want:?}");
            let ahead = held.take_ahead().unwrap();
            let second = held.answer_ahead(&ahead).map(|length| held.pages(length) == page(4));
            assert_eq!(second, if usable { Ok(true) } else { Err(FetchError::Broken) });
            drop(held);
            assert_eq!(server.hold_ready().is_some(), usable);
        }
    }
}
