// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One connection: what the application and the gate may do to it, and in which order.
//!
//! Everything here happens under the connection's lock. The invariants, by name:
//!
//! * **W** (whole): the gate takes whole requests only, and of each exactly the bytes that it answers; what the protocol counts as a request
//!   is a header block in HTTP/2, and what follows on its stream is taken, too, wherever it comes.
//! * **I** (idle): it does so only when nothing is begun in either direction: no request without its answer, no write in progress, no
//!   event told to the application that it has not read after.
//! * **S** (seen): the kernel's counts of bytes read and written are those that have been seen here; otherwise the
//!   connection becomes opaque.
//! * **O** (opaque): a connection that is opaque stays so, and the gate neither reads from it nor writes to it, but the rest of an answer, and
//!   to end it; what is still to come of requests that it has answered (HTTP/2) it withholds from the application, as long as it can follow
//!   what the application reads.
//! * **A** (answer first): no byte of the application's follows a busy answer that is not wholly written.
//!
//! The application's bytes are never kept: what the gate does not answer stays in the kernel. A request that it has answered may go on after the
//! pause (HTTP/2): then the application reads through [`Connection::read`].

use std::io;
use std::ops::Range;
use std::time::Duration;

use crate::kernel::Totals;
use crate::protocol::{Front, Opaque, Pass, Protocol};

/// [`Connection::read`] looks at so many bytes at least.
const SMALL: usize = 16;

/// So many bytes are looked at, at first. What does not fit is looked at again, in twice as many.
const FIRST_LOOK: usize = 17 * 1024;

/// So often the receive buffer is looked at in one look: other connections are to be looked at, and the application must have the lock.
const MOST_PEEKS: usize = 8;

/// So many bytes are looked at in vain, at one incomplete request after the other looks: who sends it byte by byte is not looked at with each. Then
/// it is the application's.
const MOST_IN_VAIN: usize = 1024 * 1024;

/// As [`Connection::needs`]: however much comes, what waits at the front is the application's.
const LEFT: usize = usize::MAX;

/// A read of the application's takes what belongs to answered requests so often, and so many bytes of it: its thread has other connections.
const MOST_TAKES: usize = 64;
const MOST_TAKEN: usize = 256 * 1024;

/// So much of the connection's window, a quarter of what it has at first, may be owed for good.
const MOST_OWED: u64 = 16 * 1024;

/// The kernel's side of a connection, as the gate uses it; never blocks.
pub trait Wire {
    /// Copies the front of the receive buffer without taking it; 0 at its end.
    ///
    /// # Errors
    /// `WouldBlock` when it is empty.
    fn peek(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes what fits at once.
    ///
    /// # Errors
    /// `WouldBlock` when nothing fits.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// How many bytes lie in the receive buffer; `None` if one side has closed its direction, or the connection is broken.
    ///
    /// # Errors
    /// Not a TCP socket.
    fn unread(&mut self) -> io::Result<Option<usize>>;

    /// Takes `length` bytes that were peeked.
    ///
    /// # Errors
    /// Fewer were there: a defect.
    fn consume(&mut self, length: usize) -> io::Result<()>;

    /// From now on the application's selectors are told of bytes only when there are so many, or an end; now, if there are.
    fn tell_from(&mut self, bytes: usize);

    /// Ends the connection in both directions.
    fn shut_down(&mut self);

    /// The kernel's counts; `None` if they would not hold still.
    ///
    /// # Errors
    /// Not the TCP socket that it was.
    fn totals(&mut self) -> io::Result<Option<Totals>>;
}

/// What the gate's policy says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Answer busy; the pause is expected to go on for so long.
    Answer(Duration),
    /// Only count the requests that this would have answered, and leave them to the application.
    Count,
    /// Leave it to the application: the pause will be over in time.
    Keep,
}

/// What came of a look at a connection in a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The receive buffer is empty now.
    Empty,
    /// A request has begun to come: look again when more has.
    Incomplete,
    /// A whole request waits, by decision: look again, for decisions change.
    Kept,
    /// Something is under way that only the application can end.
    NotIdle,
    /// The kernel had no room, or its counts would not hold still: look again soon.
    Again,
    /// What waits is for the application alone.
    Left,
    /// The connection is opaque.
    Opaque,
}

/// What was found at the front of a receive buffer, and is to be taken at once.
#[derive(Default)]
struct Batch {
    /// Bytes to take.
    length: usize,
    answer: Vec<u8>,
    /// Of each answer: how many requests it is for, and where these are.
    answered: Vec<(u64, Range<usize>)>,
}

/// Why a batch ends where it does.
enum End {
    /// There is no more.
    All,
    /// A request is incomplete: so many bytes make it more.
    Incomplete(usize),
    /// By decision.
    Kept,
    /// What follows is the application's.
    Left,
    Unknown(&'static str),
    /// Of what was taken, something was not the gate's to take.
    Lost,
}

/// The state of one connection of protocol `P`.
#[derive(Debug)]
pub struct Connection<P> {
    protocol: P,
    /// Bytes that the application has read and the gate has taken.
    taken: u64,
    /// Bytes that the application and the gate have written, from the kernel's count at the begin on.
    written: u64,
    /// Writes of the application that are in the kernel now.
    writing: u32,
    /// What is still to be written of a busy answer (invariant A).
    unsent: Vec<u8>,
    /// With fewer unread bytes than this, the front of the receive buffer is incomplete; or [`LEFT`]. Until something is taken or written.
    needs: usize,
    /// Bytes of an incomplete request that were looked at since.
    in_vain: usize,
    /// Selectors are not told of fewer bytes than make a frame's header.
    waits_for_header: bool,
    opaque: Option<Opaque>,
    /// Opaque, for what the application has written; what it reads is followed nevertheless, for the rest of answered requests.
    withholds: bool,
    /// The application has not been told yet: it has had the bytes before it.
    error: Option<io::Error>,
}

impl<P: Protocol> Connection<P> {
    /// A connection of which nothing has been read or written; `totals` are the kernel's counts.
    pub fn new(protocol: P, totals: Totals) -> Self {
        Connection {
            protocol,
            taken: totals.taken,
            written: totals.written,
            writing: 0,
            unsent: Vec::new(),
            needs: 0,
            in_vain: 0,
            waits_for_header: false,
            opaque: None,
            withholds: false,
            error: None,
        }
    }

    /// Why it is opaque, if it is.
    pub fn opaque(&self) -> Option<Opaque> {
        self.opaque
    }

    /// Makes it opaque; the first reason stays.
    pub fn make_opaque(&mut self, reason: Opaque) {
        let could_follow = self.opaque.is_none() || self.withholds;
        self.withholds = could_follow && matches!(reason, Opaque::Response(_) | Opaque::ConcurrentWrites) && self.protocol.filters();
        self.opaque.get_or_insert(reason);
        if reason == Opaque::AnotherSocket {
            // Nobody waits for the rest, least of all there.
            self.unsent.clear();
        }
    }

    /// Whether the gate must still come between the application and its socket.
    pub fn is_live(&self) -> bool {
        self.opaque.is_none() || self.withholds || self.has_unsent()
    }

    /// Selectors are told of each byte again.
    fn tell_all(&mut self, wire: &mut impl Wire) {
        if std::mem::take(&mut self.waits_for_header) {
            wire.tell_from(1);
        }
    }

    /// To be called after anything that can have made it opaque: where the application does not read by [`Connection::read`] any more,
    /// nothing is waited for.
    pub fn tell_all_if_unfiltered(&mut self, wire: &mut impl Wire) {
        if self.waits_for_header && !self.filters() {
            self.tell_all(wire);
        }
    }

    /// The application has read `bytes`, perhaps in several parts; called once for each.
    pub fn received(&mut self, bytes: &[u8]) {
        self.taken += bytes.len() as u64;
        self.look_anew();
        if (self.opaque.is_none() || self.withholds)
            && let Err(reason) = self.protocol.received(bytes)
        {
            self.make_opaque(reason);
        }
    }

    /// The application is about to write. Only after this may it, and only if `unsent` is empty.
    pub fn write_begins(&mut self) {
        if self.writing > 0 {
            self.make_opaque(Opaque::ConcurrentWrites);
        }
        self.writing += 1;
    }

    /// A part of what the application has written, in order, before [`Connection::write_ends`].
    pub fn sent(&mut self, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        self.look_anew();
        if self.opaque.is_none()
            && let Err(reason) = self.protocol.sent(bytes)
        {
            self.make_opaque(reason);
        }
    }

    /// The application's write is over.
    pub fn write_ends(&mut self) {
        self.writing = self.writing.saturating_sub(1);
    }

    /// Whether a busy answer is not wholly written.
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Writes more of it; true when nothing is left. Of a connection that is broken, nothing is.
    pub fn flush(&mut self, wire: &mut impl Wire) -> bool {
        while !self.unsent.is_empty() {
            match wire.send(&self.unsent) {
                Ok(n) => {
                    self.written += n as u64;
                    self.unsent.drain(..n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
                Err(_) => self.unsent.clear(),
            }
        }
        true
    }

    /// A look at the connection in a pause: answers all requests at the front that `decide` wants answered. `buffer` is
    /// scratch memory; a request that does not fit into it is left to the application. `answered` is told of how many requests each answer is for,
    /// or would have been, and which these are.
    ///
    /// All requests that have come cost the same few system calls together: a question whether there is anything, a copy of it, the counts of
    /// invariant S, one write, one read.
    pub fn look(
        &mut self,
        wire: &mut impl Wire,
        buffer: &mut [u8],
        mut decide: impl FnMut(Option<Duration>) -> Decision,
        mut answered: impl FnMut(u64, &P, &[u8]),
    ) -> Outcome {
        let mut size = FIRST_LOOK.min(buffer.len());
        for _ in 0..MOST_PEEKS {
            if let Some(outcome) = self.is_to_look(wire) {
                return outcome;
            }
            let most = size.max(self.needs).min(buffer.len());
            let length = match wire.peek(&mut buffer[..most]) {
                // The client has closed its side, or the connection is broken.
                Ok(0) => return Outcome::Left,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Outcome::Empty,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Outcome::Again,
                Err(_) => return Outcome::Left,
            };
            let is_all = length < most;
            let (batch, end, before) = self.batch(&buffer[..length], &mut decide, &mut answered);
            if batch.length > 0
                && let Some(outcome) = self.carry_out(wire, batch, before, buffer, &mut answered)
            {
                return outcome;
            }
            match end {
                End::All if is_all => return if self.has_unsent() { Outcome::Again } else { Outcome::Empty },
                // There may be more than was looked at.
                End::All => {}
                End::Incomplete(needs) if needs > buffer.len() => return self.leave(),
                End::Incomplete(needs) if is_all => {
                    self.in_vain += length;
                    if self.in_vain > MOST_IN_VAIN {
                        return self.leave();
                    }
                    self.needs = needs;
                    return Outcome::Incomplete;
                }
                End::Incomplete(needs) => size = size.max(needs).max(2 * length).min(buffer.len()),
                End::Kept => return Outcome::Kept,
                End::Left => return self.leave(),
                End::Unknown(reason) => {
                    self.make_opaque(Opaque::Request(reason));
                    return Outcome::Opaque;
                }
                // Carried out, it has ended the connection.
                End::Lost => return Outcome::Opaque,
            }
        }
        Outcome::Again
    }

    /// Whether there is anything to look at, and it may be; gives what to do if not.
    fn is_to_look(&mut self, wire: &mut impl Wire) -> Option<Outcome> {
        if self.opaque.is_some() {
            return Some(Outcome::Opaque);
        }
        if !self.flush(wire) {
            return Some(Outcome::Again);
        }
        if self.writing > 0 || !self.protocol.is_idle() {
            return Some(Outcome::NotIdle);
        }
        match wire.unread() {
            // Also because to peek at a connection that was reset would take the error that the application is to have.
            Ok(None) => Some(Outcome::Left),
            Ok(Some(0)) => Some(Outcome::Empty),
            Ok(Some(_)) if self.needs == LEFT => Some(Outcome::Left),
            Ok(Some(n)) if n < self.needs => Some(Outcome::Incomplete),
            Ok(Some(_)) => None,
            Err(_) => {
                self.make_opaque(Opaque::AnotherSocket);
                Some(Outcome::Opaque)
            }
        }
    }

    /// What is to be taken at the front of `bytes`, why no more, and what the protocol was before it counted that as taken.
    fn batch(
        &mut self,
        bytes: &[u8],
        decide: &mut impl FnMut(Option<Duration>) -> Decision,
        answered: &mut impl FnMut(u64, &P, &[u8]),
    ) -> (Batch, End, P) {
        let before = self.protocol.clone();
        let mut batch = Batch::default();
        let mut answer = Vec::new();
        let end = loop {
            let rest = &bytes[batch.length..];
            if rest.is_empty() {
                break End::All;
            }
            let length = match self.protocol.front(rest) {
                Front::Aside { length } => length,
                Front::Request { length, deadline } => {
                    let remaining = match decide(deadline) {
                        Decision::Keep => break End::Kept,
                        Decision::Count => {
                            let requests = self.protocol.busy(&rest[..length], Duration::ZERO, &mut answer);
                            answered(requests, &self.protocol, &rest[..length]);
                            break End::Kept;
                        }
                        Decision::Answer(remaining) => remaining,
                    };
                    let requests = self.protocol.busy(&rest[..length], remaining, &mut answer);
                    batch.answer.extend_from_slice(&answer);
                    batch.answered.push((requests, batch.length..batch.length + length));
                    length
                }
                Front::Incomplete => break End::Incomplete(self.protocol.needs(rest)),
                Front::Leave => break End::Left,
                Front::Unknown(reason) => break End::Unknown(reason),
            };
            self.protocol.taken(&rest[..length]);
            batch.length += length;
            if self.protocol.has_lost() || self.protocol.is_overrun() {
                break End::Lost;
            }
        };
        (batch, end, before)
    }

    /// Writes the batch's answer and takes its bytes, or neither: then the protocol is what it was `before`. Gives what to do if it cannot go on.
    fn carry_out(
        &mut self,
        wire: &mut impl Wire,
        batch: Batch,
        before: P,
        buffer: &[u8],
        answered: &mut impl FnMut(u64, &P, &[u8]),
    ) -> Option<Outcome> {
        let sent = match self.check(wire) {
            Some(outcome) => Err(outcome),
            None if batch.answer.is_empty() => Ok(0),
            None => wire.send(&batch.answer).map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Outcome::Again,
                _ => Outcome::Left,
            }),
        };
        match sent {
            // Nothing was written, nothing taken: still the application's.
            Err(outcome) => {
                self.protocol = before;
                return Some(outcome);
            }
            Ok(sent) => {
                self.written += sent as u64;
                self.unsent = batch.answer;
                self.unsent.drain(..sent);
            }
        }
        // The client has it, whatever comes of the rest.
        batch.answered.into_iter().for_each(|(requests, at)| answered(requests, &self.protocol, &buffer[at]));
        if !self.consume(wire, batch.length) || !self.may_go_on(wire) {
            return Some(Outcome::Opaque);
        }
        // Behind the rest of the answer, if there is one: it may become opaque before that is written, and then nothing more could be.
        self.protocol.owed(&mut self.unsent);
        self.flush(wire);
        None
    }

    /// Invariant S, at the last moment before anything is done; gives what to do if it does not hold.
    fn check(&mut self, wire: &mut impl Wire) -> Option<Outcome> {
        match wire.totals() {
            Ok(Some(totals)) if !totals.established => Some(Outcome::Left),
            Ok(Some(totals)) if totals.taken != self.taken || totals.written != self.written => {
                self.make_opaque(Opaque::UnseenBytes);
                Some(Outcome::Opaque)
            }
            Ok(Some(_)) => None,
            Ok(None) => Some(Outcome::Again),
            Err(_) => {
                self.make_opaque(Opaque::AnotherSocket);
                Some(Outcome::Opaque)
            }
        }
    }

    /// Takes bytes that were peeked, for the gate.
    fn consume(&mut self, wire: &mut impl Wire, length: usize) -> bool {
        if wire.consume(length).is_err() {
            // Cannot be: the bytes were seen, and nobody else reads.
            self.make_opaque(Opaque::Defect);
            return false;
        }
        self.taken += length as u64;
        self.look_anew();
        true
    }

    /// What is known of the front of the receive buffer holds no more: it has moved, or what may be answered is another thing.
    fn look_anew(&mut self) {
        (self.needs, self.in_vain) = (0, 0);
    }

    /// What waits at the front is the application's: how much more comes does not matter.
    fn leave(&mut self) -> Outcome {
        self.needs = LEFT;
        Outcome::Left
    }

    /// The same, of what the protocol has not yet counted.
    fn take(&mut self, wire: &mut impl Wire, bytes: &[u8]) -> bool {
        if !self.consume(wire, bytes.len()) {
            return false;
        }
        self.protocol.taken(bytes);
        self.may_go_on(wire)
    }

    /// Whether both sides understand what follows what was taken, and the client keeps to what it may send. If not, the connection ends.
    fn may_go_on(&mut self, wire: &mut impl Wire) -> bool {
        let reason = if self.protocol.has_lost() {
            "frames of an answered request that end the connection: against the protocol, or fields that say how the next ones are to be read"
        } else if self.opaque.is_none() && self.writing == 0 && self.protocol.is_overrun() {
            // Of what the application has written all is known: nothing gives the client more room.
            "more of an answered request than its client may send"
        } else {
            return true;
        };
        if self.opaque.is_none() && self.writing == 0 && self.flush(wire) {
            let mut goodbye = Vec::new();
            self.protocol.goodbye(&mut goodbye);
            self.written += wire.send(&goodbye).unwrap_or(0) as u64;
        }
        self.make_opaque(Opaque::Request(reason));
        self.end(wire);
        false
    }

    /// A connection that can go on for neither the gate nor the application. A client that waits for ever, or is misunderstood, is worse off than
    /// one that connects anew.
    fn end(&mut self, wire: &mut impl Wire) {
        self.withholds = false;
        self.unsent.clear();
        wire.shut_down();
        // Nothing comes after this. What has come would be read without what was taken before it.
        let mut buffer = [0; 4096];
        while let Ok(n) = wire.peek(&mut buffer)
            && n > 0
            && wire.consume(n).is_ok()
        {
            self.taken += n as u64;
        }
    }

    /// Writes what the gate owes on account of what it has taken, unless the application is writing, or the client does not read: what is owed
    /// is a sum until then, and no heap of frames.
    pub fn pay(&mut self, wire: &mut impl Wire) {
        // Also of what is opaque: the application may have nothing to write that would do it.
        let is_flushed = self.flush(wire);
        if self.opaque.is_some() {
            // Nobody knows where a frame of the gate's might stand.
            if self.withholds && self.protocol.owed_bytes() > MOST_OWED {
                self.end(wire);
            }
        } else if is_flushed && self.writing == 0 {
            self.protocol.owed(&mut self.unsent);
            self.flush(wire);
        }
    }

    /// Whether the application must read by [`Connection::read`].
    pub fn filters(&self) -> bool {
        (self.opaque.is_none() || self.withholds) && self.protocol.filters()
    }

    /// What the application reads, without what belongs to requests that the gate has answered. As much as there is and `buffer` holds: who
    /// gets less than that may rely on it that there is no more, or that its selector tells of the rest.
    ///
    /// # Errors
    /// `WouldBlock` if there is nothing for the application; as of [`Wire::peek`] otherwise.
    pub fn read(&mut self, wire: &mut impl Wire, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let mut filled = 0;
        let (mut takes, mut taken) = (0, 0);
        self.tell_all(wire);
        // A frame's header may be longer than what is left of the buffer.
        let mut small = [0; SMALL];
        while filled < buffer.len() {
            let room = &mut buffer[filled..];
            let is_small = room.len() < SMALL;
            let seen = if is_small { &mut small[..] } else { &mut room[..] };
            let n = match wire.peek(seen) {
                Ok(n) if n > 0 => n,
                Ok(_) if filled > 0 => break,
                Err(error) if filled > 0 => {
                    // The kernel tells of it once.
                    self.error =
                        Some(error).filter(|error| !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted));
                    break;
                }
                other => return other,
            };
            let is_all = n < seen.len();
            let pass = self.pass(wire, &seen[..n]);
            match pass {
                Pass::Deliver(length) => {
                    let length = length.min(room.len());
                    if is_small {
                        room[..length].copy_from_slice(&small[..length]);
                    }
                    wire.consume(length)?;
                    self.received(&buffer[filled..filled + length]);
                    filled += length;
                    if is_all && length == n {
                        break;
                    }
                }
                Pass::Take(length) => {
                    let bytes = seen[..length].to_vec();
                    if !self.take(wire, &bytes) {
                        if filled > 0 {
                            break;
                        }
                        // An end, if it was one.
                        let is_end = self.protocol.has_lost() || self.protocol.is_overrun();
                        return if is_end { Ok(0) } else { some_or(0, io::ErrorKind::Other) };
                    }
                    (takes, taken) = (takes + 1, taken + length);
                    if takes == MOST_TAKES || taken >= MOST_TAKEN {
                        // Who is told of changes only has to be told of what is left.
                        wire.tell_from(1);
                        return some_or(filled, io::ErrorKind::WouldBlock);
                    }
                }
                Pass::Wait => {
                    // What there is stays in the kernel, and would be told of for ever.
                    self.waits_for_header = true;
                    wire.tell_from(n + 1);
                    return some_or(filled, io::ErrorKind::WouldBlock);
                }
            }
        }
        Ok(filled)
    }

    /// What is to be done with what the application would read next.
    fn pass(&mut self, wire: &mut impl Wire, seen: &[u8]) -> Pass {
        let pass = if self.filters() { self.protocol.pass(seen) } else { Pass::Deliver(seen.len()) };
        match pass {
            // Perhaps nothing more will come.
            Pass::Wait if !wire.totals().is_ok_and(|totals| totals.is_none_or(|totals| totals.established)) => {
                self.make_opaque(Opaque::Request("an end inside a frame"));
                Pass::Deliver(seen.len())
            }
            pass => pass,
        }
    }

    /// Whether what the application is about to write may have to be replaced.
    pub fn replaces(&self) -> bool {
        self.opaque.is_none() && self.protocol.replaces()
    }

    /// Writes something else in the place of the first of the bytes that the application is about to write, if the protocol says so; gives
    /// how many those are. Only if nothing is unsent.
    pub fn replace(&mut self, wire: &mut impl Wire, bytes: &[u8]) -> Option<usize> {
        if self.opaque.is_some() || self.writing > 0 {
            return None;
        }
        let (length, other) = self.protocol.instead(bytes)?;
        let sent = wire.send(&other).ok()?;
        self.written += sent as u64;
        self.unsent.extend_from_slice(&other[sent..]);
        if let Err(reason) = self.protocol.sent(&bytes[..length]) {
            self.make_opaque(reason);
        }
        Some(length)
    }
}

/// What was read, or why nothing was.
fn some_or(filled: usize, why: io::ErrorKind) -> io::Result<usize> {
    if filled > 0 { Ok(filled) } else { Err(why.into()) }
}

#[cfg(any(test, fuzzing))]
pub(crate) mod fake_wire;
#[cfg(test)]
mod tests;
