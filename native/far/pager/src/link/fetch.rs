// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The connections that faults fetch through, to one memory server.
//!
//! A fetch connection is Broken, Ready, Ahead or Taken. Whoever takes it (one exchange) holds it: its socket, sequence number and
//! buffer are his until he lets it go ([`Held`]). Broken ones are repaired by the keeper thread, so that the fault path
//! opens no socket.
//!
//! Over a connection that is Ahead pages come that nobody needs yet, which are Coming. Nobody holds it, so nobody waits for it to be
//! let go: who needs one of these pages, or a connection while none is Ready, takes it and sees to the pages.

use std::cell::UnsafeCell;
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use lull_far_auth::Frames;
use lull_far_protocol::{
    Awake, DecodeError, ErrorCode, FETCH_LEN, Fetch, HEADER_LEN, Header, Message, Op, TAG_LEN, VERSION_ENCRYPTED, VERSION_PLAIN,
};

use super::{Harm, LinkError, Opened, Server};
use crate::PAGE_SIZE;
use crate::descriptors::Own;
use crate::stream::LONGEST;
use crate::syscall::{self, Errno};

const ANSWER_BYTES: usize = HEADER_LEN + FETCH_LEN + LONGEST * PAGE_SIZE + TAG_LEN;

const BROKEN: u32 = 0;
const READY: u32 = 1;
const TAKEN: u32 = 2;
const AHEAD: u32 = 3;

/// How long a fault waits awake for its answer, in nanoseconds, where answers come that fast: some times what a server needs that is
/// awake, too, and what waking up takes.
const AWAKE: u64 = 50_000;

/// How long to sleep at most before looking again, in nanoseconds. Not a timeout: what is waited for wakes us.
const LOOK_AGAIN: u64 = 100_000_000;

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

/// One connection; see above for its states.
#[derive(Debug)]
pub(super) struct FetchConnection {
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
    stream: Option<Own<TcpStream>>,
    /// What encrypts and proves what passes, if anything does.
    frames: Option<Box<Frames>>,
    sequence: u64,
    awake: Awake,
    /// When the last answer began to come.
    heard: u64,
    /// What comes next is not the beginning of an answer that we know the request of.
    broken: bool,
    /// Why it is, if the frames were harmed on the way; until that was told.
    harm: Option<Harm>,
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
    /// Broken.
    pub(super) fn new() -> FetchConnection {
        FetchConnection {
            state: AtomicU32::new(BROKEN),
            generation: AtomicU64::new(0),
            ahead: AtomicU64::new(0),
            inside: UnsafeCell::new(FetchInside::new(None, 0)),
        }
    }

    fn take(&self, from: u32) -> bool {
        self.state.compare_exchange(from, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    pub(super) fn is_broken(&self) -> bool {
        self.state.load(Ordering::Acquire) == BROKEN
    }

    /// Breaks one that nobody holds, of a lost server. One that is Ahead is seen to first by the keeper.
    pub(super) fn forget(&self) {
        if self.take(READY) {
            // SAFETY: the state is TAKEN, by us.
            unsafe { &mut *self.inside.get() }.stream = None;
            self.state.store(BROKEN, Ordering::Release);
        }
    }

    /// Makes a Broken one Ready, over what `open` makes of its next generation; another stays as it is.
    ///
    /// # Errors
    /// Those of `open`; it stays Broken.
    pub(super) fn renew(&self, open: impl FnOnce(u64) -> Result<Opened, LinkError>) -> Result<(), LinkError> {
        if !self.take(BROKEN) {
            return Ok(());
        }
        let generation = self.generation.fetch_add(1, Ordering::Relaxed) + 1;
        let opened = open(generation).map(|Opened { stream, frames, sequence }| {
            // SAFETY: the state is TAKEN, by us.
            let inside = unsafe { &mut *self.inside.get() };
            inside.stream = Some(stream);
            inside.frames = frames;
            inside.sequence = sequence;
            inside.broken = false;
        });
        self.state.store(if opened.is_ok() { READY } else { BROKEN }, Ordering::Release);
        opened
    }
}

impl Server {
    /// Fault path: a connection, also one that is Ahead, whose pages whoever gets it sees to first. Waits for one, for so long at most.
    pub fn hold(&self, wait: u64) -> Option<Held<'_>> {
        let mut deadline = None;
        loop {
            if self.lost() {
                return None;
            }
            if let Some(held) = self.hold_ready().or_else(|| self.hold_from(AHEAD, |_| true)) {
                return self.unless_lost(held);
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
        self.hold_from(READY, |_| true).and_then(|held| self.unless_lost(held))
    }

    /// Looks once more, with the connection taken: before that the server may have been lost, and taken in again without its pages. Now it
    /// cannot be taken in until the connection is let go.
    fn unless_lost<'a>(&self, held: Held<'a>) -> Option<Held<'a>> {
        if self.lost() { None } else { Some(held) }
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
        let begin = syscall::now();
        let patience = self.server.patience.as_nanos() as u64;
        let result = self.inside().answer(request, begin, patience);
        if let Some(harm) = self.inside().harm.take() {
            self.server.harmed(harm);
        }
        if result.is_ok() {
            self.server.heard.store(self.inside().heard, Ordering::Relaxed);
            self.server.owed.answered();
        } else if result == Err(FetchError::Broken) && self.server.owed.failed(begin, syscall::now()) {
            // It may say HELLO and answer heartbeats: it is of no use.
            self.server.give_up();
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

    /// As if so many blocks had been encrypted.
    #[cfg(test)]
    pub(super) fn wear(&mut self, blocks: u64) {
        self.inside().frames.as_mut().unwrap().wear(blocks);
    }

    /// Leaves to others what was taken, as it was.
    #[cfg(test)]
    pub(super) fn leave_ahead(&mut self, ahead: Ahead) {
        self.inside().ahead = Some(ahead);
    }

    /// The pages of the last answer, to be opened where they are.
    pub fn pages(&mut self, length: usize) -> &mut [u8] {
        self.inside().pages(length)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let FetchInside { broken, ahead, ref frames, .. } = *self.inside();
        debug_assert!(!broken || ahead.is_none(), "pages that stay Coming");
        // One whose key has encrypted much is renewed while nothing comes over it.
        let broken = broken || (ahead.is_none() && frames.as_ref().is_some_and(|frames| frames.is_worn()));
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
    fn new(stream: Option<Own<TcpStream>>, sequence: u64) -> FetchInside {
        let answer = vec![0; ANSWER_BYTES].into_boxed_slice();
        let awake = Awake::new(AWAKE);
        FetchInside { stream, frames: None, sequence, awake, heard: 0, broken: false, harm: None, ahead: None, answer }
    }

    fn ask(&mut self, region: u32, run: Fetch) -> Result<Request, FetchError> {
        let Some(stream) = self.stream.as_ref().filter(|_| !self.broken) else { return Err(FetchError::Broken) };
        self.sequence += 1;
        let request = Request { region, run, sequence: self.sequence };
        let fd = stream.as_raw_fd();
        let is_sent = match &mut self.frames {
            None => syscall::send_all(fd, &run.frame(self.sequence, region)).is_ok(),
            Some(frames) => encrypted(frames, self.sequence, region, run).is_some_and(|frame| syscall::send_all(fd, &frame).is_ok()),
        };
        if !is_sent {
            self.broken = true;
            return Err(FetchError::Broken);
        }
        Ok(request)
    }

    /// Where the pages end in `answer`.
    fn answer(&mut self, request: &Request, begin: u64, patience: u64) -> Result<usize, FetchError> {
        let result = if self.broken { Err(FetchError::Broken) } else { self.receive(request, begin, patience) };
        self.broken |= !matches!(result, Ok(_) | Err(FetchError::Checksum));
        result
    }

    /// All of the answer must be there so many nanoseconds after `begin`: a server that gives a byte now and then would hold a thread for
    /// ever, in its signal handler.
    fn receive(&mut self, request: &Request, begin: u64, patience: u64) -> Result<usize, FetchError> {
        let Some(stream) = &self.stream else { return Err(FetchError::Broken) };
        let fd = stream.as_raw_fd();
        // Asked for at once is as much as a right answer has: what comes behind it may be another's. The header says how much there is.
        let (version, tag) = if self.frames.is_some() { (VERSION_ENCRYPTED, TAG_LEN) } else { (VERSION_PLAIN, 0) };
        let mut length = HEADER_LEN + FETCH_LEN + request.run.count as usize * PAGE_SIZE + tag;
        let mut header = None;
        let mut got = 0;
        while got < length {
            // Behind the first piece only: most answers come in one, and to look at the clock is a system call.
            if got > 0 && syscall::now() - begin > patience {
                return Err(FetchError::Broken);
            }
            let Some(rest) = self.answer.get_mut(got..length) else { return Err(FetchError::Broken) };
            let count = match syscall::receive_some(fd, rest, self.awake.patience()) {
                Ok(count) => count,
                Err(error) => {
                    self.harm = (got > 0 && tag > 0 && error == Errno(libc::ECONNRESET)).then_some(Harm::Cut);
                    return Err(FetchError::Broken);
                }
            };
            if got == 0 {
                self.heard = syscall::now();
                self.awake.waited(self.heard - begin);
            }
            got += count;
            if header.is_none()
                && let Some(head) = self.answer[..got].first_chunk::<HEADER_LEN>()
            {
                let Ok(decoded) = Header::decode_of(head, version) else {
                    self.harm = (tag > 0).then_some(Harm::NotProven);
                    return Err(FetchError::Broken);
                };
                length = HEADER_LEN + decoded.len as usize + tag;
                // More than it has is there already: that of the next answer. What a number says that is not proven is looked at behind the proof.
                if (decoded.sequence != request.sequence && tag == 0) || got > length {
                    return Err(FetchError::Broken);
                }
                header = Some(decoded);
            }
        }
        let Some(header) = header else { return Err(FetchError::Broken) };
        let Some(behind) = self.answer.get_mut(HEADER_LEN..length) else { return Err(FetchError::Broken) };
        let message = match &mut self.frames {
            None => Message::decode(&header, behind),
            Some(frames) => {
                let Ok(payload) = frames.decrypt(&header, behind) else {
                    self.harm = Some(Harm::NotProven);
                    return Err(FetchError::Broken);
                };
                length -= tag;
                Message::decode_proven(&header, &behind[..payload])
            }
        };
        if header.sequence != request.sequence {
            return Err(FetchError::Broken);
        }
        match message {
            Ok(Message::Data(data)) if data.run == request.run && header.region == request.region => Ok(length),
            Ok(Message::Error { code: ErrorCode::Crc, .. }) | Err(DecodeError::PayloadCrc) => Err(FetchError::Checksum),
            Ok(Message::Error { code: ErrorCode::StaleChannel | ErrorCode::Timeout, .. }) => Err(FetchError::Broken),
            Ok(Message::Error { code, .. }) => Err(FetchError::Refused(code)),
            _ => Err(FetchError::Broken),
        }
    }

    fn pages(&mut self, length: usize) -> &mut [u8] {
        &mut self.answer[HEADER_LEN + FETCH_LEN..length]
    }
}

/// A FETCH as it is sent over an encrypted connection. None if the connection's key is used up.
fn encrypted(frames: &mut Frames, sequence: u64, region: u32, run: Fetch) -> Option<[u8; HEADER_LEN + FETCH_LEN + TAG_LEN]> {
    let mut payload = run.payload();
    let (head, tag) = frames.encrypt(Op::Fetch, sequence, region, &mut payload).ok()?;
    let mut frame = [0; HEADER_LEN + FETCH_LEN + TAG_LEN];
    frame[..HEADER_LEN].copy_from_slice(&head);
    frame[HEADER_LEN..HEADER_LEN + FETCH_LEN].copy_from_slice(&payload);
    frame[HEADER_LEN + FETCH_LEN..].copy_from_slice(&tag);
    Some(frame)
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
            FetchAnswer(FetchInside::new(Some(Own::new(stream)), 1))
        }

        /// The same over an encrypted connection.
        pub fn encrypted(stream: TcpStream, frames: Frames) -> FetchAnswer {
            let mut inside = FetchInside::new(Some(Own::new(stream)), 2);
            inside.frames = Some(Box::new(frames));
            FetchAnswer(inside)
        }

        /// The pages of a run, as the fault path would use them.
        pub fn fetch(&mut self, region: u32, run: Fetch) -> Option<&[u8]> {
            let request = self.0.ask(region, run).ok()?;
            let length = self.0.answer(&request, syscall::now(), u64::MAX).ok()?;
            Some(self.0.pages(length))
        }
    }
}
