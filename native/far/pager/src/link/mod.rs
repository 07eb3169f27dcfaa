// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One memory server as the pager sees it: its identity, how it is greeted, whether it is lost. The connections to it: `fetch` are those
//! that faults fetch through, `channel` those of threads that may wait. What a server owes an answer to, and for how long, is in `owed`.
//!
//! Who has a key proves it, and has the server prove it, when a connection is opened: by threads that may wait and allocate, never in the
//! fault path.

mod channel;
mod connect;
mod fetch;
mod owed;
#[cfg(test)]
mod tests;

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lull_far_auth::{Frames, Key, Share, client_number, proof};
use lull_far_protocol::{
    ChannelKind, ErrorCode, Hello, HelloAck, MAX_PAGES_PER_FRAME, Message, Op, PAGE_SIZE_LOG2, Proved, VERSION_ENCRYPTED, VERSION_PLAIN,
};

pub use channel::{Asked, Channel, Payload};
pub use connect::Address;
#[cfg(fuzzing)]
pub use fetch::fuzzing;
pub use fetch::{Ahead, FetchError, Held};

use crate::descriptors::Own;
use crate::last_words::say;
use crate::syscall;
use crate::wait::Event;
use channel::{receive_at_most, send_parts};
use fetch::FetchConnection;
use owed::Owed;

/// Pages are fetched from the server and written to it.
const LIVE: u8 = 0;
/// Neither.
const LOST: u8 = 1;
/// They are written to it only: it came back, and gets the copies that it should have.
const FILLING: u8 = 2;

/// Fetch connections to each server: as many faults are served by it at once.
pub const FETCH_CONNECTIONS: usize = 4;

/// How long a single send or receive may stand still before the connection counts as broken.
pub const STILL: Duration = Duration::from_secs(2);

/// Between two tries to greet a server for the first time.
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

/// What is said of harmed frames is said once in so many nanoseconds.
const BETWEEN_LINES: u64 = 1_000_000_000;

/// What a client proves, and how it speaks then.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    /// What the servers must have, too.
    pub key: Option<Key>,
    /// With a key, frames that are neither encrypted nor proven all the same.
    pub plain_frames: bool,
}

/// What was done to the frames of an encrypted connection on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// One is not what the server has sent next.
    NotProven,
    /// The connection ended within one.
    Cut,
}

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

/// Where a server may be.
#[derive(Debug)]
struct Place {
    /// As the user wrote it, for messages.
    name: String,
    address: Address,
    /// Our number there, which no other server knows.
    client: [u8; 16],
    /// Who is there has given a page that is not what it was given last: nobody there is ever taken in again. Set by who holds a connection to
    /// it, or takes servers in; never cleared.
    disbelieved: AtomicBool,
}

impl Place {
    fn new(name: &str, address: Address, client: [u8; 16]) -> Place {
        Place { name: name.to_owned(), address, client, disbelieved: AtomicBool::new(false) }
    }
}

/// A memory server.
#[derive(Debug)]
pub struct Server {
    /// Where it may be: its own place, then those of the spare servers.
    places: Vec<Place>,
    /// At which of them it is. Written by the thread that takes lost servers in, while nobody has a connection to it.
    at: AtomicUsize,
    credentials: Credentials,
    /// For how long a whole answer may be under way.
    patience: Duration,
    /// Of the first HELLO_ACK. Another one later means that the pages are gone.
    session: Mutex<Option<[u8; 16]>>,
    fetch: [FetchConnection; FETCH_CONNECTIONS],
    /// Whether pages are fetched from it and written to it: [`LIVE`], [`LOST`], [`FILLING`]. Whoever makes it LOST does so from any state;
    /// the thread that makes lost copies again takes it from there through FILLING back to LIVE.
    state: AtomicU8,
    /// When the server last answered anything, by [`syscall::now`].
    heard: AtomicU64,
    /// Since when it has answered no FETCH.
    owed: Owed,
    /// How often frames were harmed, and when that was said last, by [`syscall::now`].
    harmed: AtomicU64,
    harm_said: AtomicU64,
    /// A connection became Ready, or the server was lost.
    changed: Event,
    /// A connection became Broken: wakes the keeper, which all servers share.
    broken: Arc<Event>,
}

impl Server {
    /// Connects for the first time, to a name and its address. `secret` is ours alone; `broken` is what the keeper sleeps at.
    ///
    /// # Errors
    /// Why not: the address, the version, the key, a refusal; or nobody has answered in time.
    pub fn connect(
        (name, address): (&str, impl Into<Address>),
        secret: &[u8; 32],
        credentials: Credentials,
        timeout: Duration,
        broken: Arc<Event>,
    ) -> Result<Server, LinkError> {
        let server = Server::new(name, address, client_number(secret, name), credentials, timeout, broken);
        server.greet(timeout)?;
        Ok(server)
    }

    /// Opens all connections for the first time. Nobody waits for a page yet: a busy server gets all the time that it may be silent for, and one
    /// that refuses a connection, or breaks it, is tried again until that is over.
    fn greet(&self, timeout: Duration) -> Result<(), LinkError> {
        let end = Instant::now() + timeout;
        let (mut index, mut tries) = (0, 0);
        while index < FETCH_CONNECTIONS {
            // Half of what is left for one try: another connection may fare better.
            let patience = (end.saturating_duration_since(Instant::now()) / 2).max(BETWEEN_TRIES);
            let patience = Patience { connect: patience.min(STILL), still: patience, whole: patience };
            let kind = ChannelKind::Fetch;
            let opened = self.fetch[index].renew(|generation| self.open_within(patience, (kind, index as u16, generation)));
            match opened {
                Ok(()) => index += 1,
                Err(LinkError::Broken(text)) => {
                    tries += 1;
                    let seconds = timeout.as_secs_f64();
                    if Instant::now() + BETWEEN_TRIES >= end {
                        return Err(LinkError::Broken(format!(
                            "{text}; waited {seconds} s (--server-timeout) for its first answers, in {tries} tries: is it there, and not too busy?"
                        )));
                    }
                    if tries == 1 {
                        say(format_args!("{text}; tried again until {seconds} s are over (--server-timeout)"));
                    }
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(refused) => return Err(refused),
            }
        }
        self.changed.wake();
        Ok(())
    }

    /// Not connected.
    fn new(
        name: &str,
        address: impl Into<Address>,
        client: [u8; 16],
        credentials: Credentials,
        timeout: Duration,
        broken: Arc<Event>,
    ) -> Server {
        let patience = (timeout / 2).max(STILL);
        Server {
            places: vec![Place::new(name, address.into(), client)],
            at: AtomicUsize::new(0),
            credentials,
            patience,
            session: Mutex::new(None),
            fetch: std::array::from_fn(|_| FetchConnection::new()),
            state: AtomicU8::new(LIVE),
            heard: AtomicU64::new(syscall::now()),
            owed: Owed::new(timeout, patience),
            harmed: AtomicU64::new(0),
            harm_said: AtomicU64::new(0),
            changed: Event::default(),
            broken,
        }
    }

    /// It may be there, too, if it is lost.
    pub fn add_place(&mut self, (name, address): (&str, impl Into<Address>), secret: &[u8; 32]) {
        self.places.push(Place::new(name, address.into(), client_number(secret, name)));
    }

    fn place(&self) -> &Place {
        &self.places[self.at.load(Ordering::Acquire)]
    }

    /// What the place is called where it is.
    pub fn name(&self) -> &str {
        &self.place().name
    }

    /// Where it is, for other servers; none if it is at a Unix socket.
    pub fn address(&self) -> Option<SocketAddr> {
        self.place().address.of_network()
    }

    /// Whose place it has taken, if it is at none of its own.
    pub fn instead_of(&self) -> Option<&str> {
        (self.at.load(Ordering::Acquire) != 0).then_some(&self.places[0].name[..])
    }

    /// Whether who is at one of its places is believed.
    pub fn believes(&self, place: usize) -> bool {
        !self.places[place].disbelieved.load(Ordering::Relaxed)
    }

    /// Where it is, and whether who is there is believed.
    pub fn is_believed(&self) -> bool {
        !self.place().disbelieved.load(Ordering::Relaxed)
    }

    /// It is looked for at another of its places. By the thread that takes lost servers in, after [`Server::forget`]: nobody has a connection
    /// to it, and nobody opens one.
    pub fn move_to(&self, place: usize) {
        debug_assert!(!self.takes_writes() && self.fetch.iter().all(FetchConnection::is_broken));
        self.at.store(place, Ordering::Release);
    }

    /// Whether no page may be fetched from it: it is out of reach, or has not all of them again yet.
    pub fn lost(&self) -> bool {
        self.state.load(Ordering::Acquire) != LIVE
    }

    /// Whether pages are written to it, and regions are made and freed there.
    pub fn takes_writes(&self) -> bool {
        self.state.load(Ordering::Acquire) != LOST
    }

    /// Nothing is asked of the server any more, until it is taken in again.
    pub fn give_up(&self) {
        self.state.store(LOST, Ordering::Release);
        self.changed.wake();
    }

    /// Fault path, with a connection held; or by the thread that takes servers in: the same, for ever.
    pub fn disbelieve(&self) {
        self.place().disbelieved.store(true, Ordering::Relaxed);
        self.give_up();
    }

    /// Forgets a lost server's connections and who it was: whoever answers now may be empty. False if a thread still has a connection; it
    /// lets it go soon. No page can come over an old one afterwards, and nobody can come to disbelieve it: each thread's release of a
    /// connection is acquired here.
    pub fn forget(&self) -> bool {
        self.fetch.iter().for_each(FetchConnection::forget);
        if !self.fetch.iter().all(FetchConnection::is_broken) {
            return false;
        }
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = None;
        true
    }

    /// A lost server has its regions again, without their pages: it gets what is written from now on. Under the lock of the channels for
    /// writes, so that no write is under way that it does not get.
    pub fn begin_filling(&self) {
        self.hear();
        let _ = self.state.compare_exchange(LOST, FILLING, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// It has all pages. False if it was lost meanwhile.
    pub fn end_filling(&self) -> bool {
        self.owed.answered();
        let live = self.state.compare_exchange(FILLING, LIVE, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        self.changed.wake();
        live
    }

    /// How long an answer is waited for at most.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Nanoseconds since the server answered.
    pub fn silent_for(&self) -> u64 {
        syscall::now().saturating_sub(self.heard.load(Ordering::Relaxed))
    }

    /// Fault path, and whoever else has an encrypted connection: its frames were harmed, and it is given up. Counts that, and says so.
    pub(super) fn harmed(&self, harm: Harm) {
        self.harmed.fetch_add(1, Ordering::Relaxed);
        let (said, now) = (self.harm_said.load(Ordering::Relaxed), syscall::now());
        let is_due = said == 0 || now.saturating_sub(said) > BETWEEN_LINES;
        // Of threads that have come here at once, one says it.
        if !is_due || self.harm_said.compare_exchange(said, now, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let what = match harm {
            Harm::NotProven => {
                "NOT_PROVEN: a frame is not the one that it sent next: it was changed, left out, repeated or put in another place on the way"
            }
            Harm::Cut => "the connection ended within a frame",
        };
        say(format_args!("memory server {}: {what}; the connection is given up, and nothing of it was used", self.name()));
    }

    /// How often that has happened.
    pub fn harmed_frames(&self) -> u64 {
        self.harmed.load(Ordering::Relaxed)
    }

    fn hear(&self) {
        self.heard.store(syscall::now(), Ordering::Relaxed);
    }

    /// Opens a connection and says HELLO; proves the key, and has the server prove it, if there is one.
    ///
    /// # Errors
    /// [`LinkError::Refused`] also if the server's session is not the one of the first connection.
    pub fn open(&self, kind: ChannelKind, channel: u16, generation: u64) -> Result<Opened, LinkError> {
        self.open_within(Patience { connect: STILL, still: STILL, whole: self.patience }, (kind, channel, generation))
    }

    fn open_within(&self, patience: Patience, (kind, channel, generation): (ChannelKind, u16, u64)) -> Result<Opened, LinkError> {
        let broken = |what: &str, error: &dyn std::fmt::Display| self.broken(what, error);
        let begin = Instant::now();
        let address = &self.place().address;
        let mut stream = connect::connect(address, patience.connect).map_err(|e| broken("cannot connect", &e))?;
        if self.credentials.key.is_none() {
            address.check_unproven(&stream).map_err(|text| LinkError::Refused(format!("memory server {}: {text}", self.name())))?;
        }
        address
            .set_up(&stream)
            .and_then(|()| stream.set_read_timeout(Some(patience.still)))
            .and_then(|()| stream.set_write_timeout(Some(STILL)))
            .map_err(|e| broken("cannot set up the connection", &e))?;
        let hello = Hello::new(kind, channel, generation, self.place().client);
        let mut greeting = Greeting { server: self, stream: &mut stream, sequence: 0, deadline: begin + patience.whole };
        let (ack, frames) = match &self.credentials.key {
            None => (greeting.without_key(hello)?, None),
            Some(key) => greeting.with_key(hello.with_key(self.version()), key)?,
        };
        let sequence = greeting.sequence;
        stream.set_read_timeout(Some(STILL)).map_err(|e| broken("HELLO", &e))?;
        let is_first = !self.is_greeted();
        self.check(&ack)?;
        // Later handshakes are no sign of life: who harms all that follows them lets them pass, and the server would never be silent.
        if is_first {
            self.hear();
        }
        Ok(Opened { stream, frames, sequence })
    }

    /// What is spoken behind the handshake.
    fn version(&self) -> u16 {
        if self.credentials.key.is_some() && !self.credentials.plain_frames { VERSION_ENCRYPTED } else { VERSION_PLAIN }
    }

    fn broken(&self, what: &str, error: &dyn std::fmt::Display) -> LinkError {
        LinkError::Broken(format!("memory server {}: {what}: {error}", self.name()))
    }

    /// The process that it is, once it was greeted. Of two servers the same only if they are one.
    pub fn session(&self) -> Option<[u8; 16]> {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was there, and was the right one, before.
    fn is_greeted(&self) -> bool {
        self.session().is_some()
    }

    fn check(&self, ack: &HelloAck) -> Result<(), LinkError> {
        let name = self.name();
        if ack.version != self.version() || ack.page_size_log2 != PAGE_SIZE_LOG2 {
            return Err(LinkError::Refused(format!("memory server {name} answers HELLO with {ack:?}")));
        }
        if (ack.max_pages as usize) < MAX_PAGES_PER_FRAME {
            let text = format!("memory server {name} takes {} pages at once; {MAX_PAGES_PER_FRAME} are needed", ack.max_pages);
            return Err(LinkError::Refused(text));
        }
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if *session.get_or_insert(ack.session) != ack.session {
            return Err(LinkError::Refused(format!("memory server {name} was restarted: what it held is gone")));
        }
        Ok(())
    }

    /// Keeper: makes a Broken connection Ready.
    ///
    /// # Errors
    /// As [`Server::open`]; it stays Broken.
    pub fn repair(&self, index: usize) -> Result<(), LinkError> {
        let opened = self.fetch[index].renew(|generation| self.open(ChannelKind::Fetch, index as u16, generation));
        self.changed.wake();
        opened
    }
}

/// A connection that was opened.
#[derive(Debug)]
pub struct Opened {
    /// Its socket.
    pub stream: Own<TcpStream>,
    /// What encrypts and proves what passes, if anything does.
    pub frames: Option<Box<Frames>>,
    /// The number of the last frame that we have sent.
    pub sequence: u64,
}

/// How long is waited while a connection is opened: until it is made, for each piece of an answer, for all together.
#[derive(Clone, Copy)]
struct Patience {
    connect: Duration,
    still: Duration,
    whole: Duration,
}

/// The first frames of a connection.
struct Greeting<'a> {
    server: &'a Server,
    stream: &'a mut TcpStream,
    sequence: u64,
    deadline: Instant,
}

impl Greeting<'_> {
    fn without_key(&mut self, hello: Hello) -> Result<HelloAck, LinkError> {
        let answer = |message: &Message<'_>| match message {
            Message::HelloAck(ack) => Some(*ack),
            _ => None,
        };
        self.ask(&Message::Hello(hello), answer)
    }

    fn with_key(&mut self, hello: Hello, key: &Key) -> Result<(HelloAck, Option<Box<Frames>>), LinkError> {
        let challenge = self.ask(&Message::Hello(hello), |message| match message {
            Message::Challenge(nonce) => Some(*nonce),
            _ => None,
        })?;
        let share = Share::draw(fill).map_err(|error| self.server.broken("random numbers", &error))?;
        let client = proof::Client::new(key, &hello, challenge, share);
        let proved: Proved = self.ask(&Message::Prove(client.prove()), |message| match message {
            Message::Proved(proved) => Some(*proved),
            _ => None,
        })?;
        if !client.is_proved(&proved) {
            return Err(self.stranger("it has another key, or is not the server at all"));
        }
        let encrypted = hello.version_max == VERSION_ENCRYPTED;
        Ok((proved.ack, encrypted.then(|| Box::new(client.frames(&proved)))))
    }

    /// Who has not proved that it is the server says nothing that counts: the right one may still be there, and is waited for.
    fn stranger(&self, why: &str) -> LinkError {
        let text = format!("memory server {}: {why}", self.server.name());
        if self.server.credentials.key.is_some() && self.server.is_greeted() { LinkError::Broken(text) } else { LinkError::Refused(text) }
    }

    fn ask<T>(&mut self, message: &Message<'_>, right: impl FnOnce(&Message<'_>) -> Option<T>) -> Result<T, LinkError> {
        self.sequence += 1;
        let name = message.op().name();
        let mut bytes = Vec::new();
        message.encode(self.sequence, 0, &mut bytes);
        let broken = |what: &str, error: &dyn std::fmt::Display| self.server.broken(what, error);
        let begin = Instant::now();
        // The kernel's words for it do not say that somebody was waited for.
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                broken(name, &format_args!("no answer for {:.1} s", begin.elapsed().as_secs_f64()))
            }
            _ => broken(name, &error),
        };
        send_parts(self.stream, &bytes, &[], self.deadline).map_err(failed)?;
        // Nobody knows yet who it is: no frame of the greeting is longer than an error.
        let (header, payload) = receive_at_most(Op::Error.max_payload(), self.stream, None, self.deadline).map_err(failed)?;
        match Message::decode(&header, &payload) {
            // BAD_FRAME and CRC: it did not arrive as it was sent. TIMEOUT: the program stood before it had sent all.
            Ok(Message::Error {
                code: ErrorCode::TooManyConnections | ErrorCode::BadFrame | ErrorCode::Crc | ErrorCode::Timeout,
                text,
            }) => Err(broken("refused", &text)),
            Ok(Message::Error { code, text }) => Err(self.stranger(&format!("{}: {text}", code.name()))),
            Ok(answer) => {
                let found = right(&answer).filter(|_| header.sequence == self.sequence);
                found.ok_or_else(|| self.stranger(&format!("it answers {name} with {}", answer.op().name())))
            }
            Err(error) => Err(broken(name, &error)),
        }
    }
}

/// Random bytes of the kernel.
///
/// # Errors
/// As the system call.
pub fn random() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    fill(&mut bytes).map(|()| bytes)
}

fn fill(bytes: &mut [u8; 32]) -> io::Result<()> {
    // SAFETY: the kernel writes 32 bytes.
    if unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) } == 32 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
