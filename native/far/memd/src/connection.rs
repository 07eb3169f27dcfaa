// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One connection, from HELLO to its end, in a thread of its own. A frame is read whole, checked, carried out, answered;
//! then the next. Memory is taken for a payload only after its header has passed all checks, and after it is known that this
//! kind of connection may have such frames: a connection for control never takes more than 256 KB, and one of somebody who is not known
//! yet no more than 80 bytes.
//!
//! Where the server has keys, nothing that a HELLO says counts before the client has proved that it has one of them. What comes then is
//! encrypted, and looked at only when it is proven that it is what the client has sent next; so is what goes.

use std::cell::Cell;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use lull_far_auth::{Frames, Share, proof};
use lull_far_protocol::{
    ChannelKind, DecodeError, ErrorCode, FEATURE_KEY, FETCH_LEN, HEADER_LEN, Header, Heartbeat, Hello, HelloAck, MAX_PAGES_PER_FRAME,
    Message, Op, PAGE_SIZE, PAGE_SIZE_LOG2, Prove, TAG_LEN, VERSION_ENCRYPTED, VERSION_PLAIN, crc32c_of, seal_with,
};
use tracing::{debug, info, warn};

use crate::identity::Identity;
use crate::listen::Visitor;
use crate::metrics::Metrics;
use crate::requests::Tracing;
use crate::shared::Shared;
use crate::store::{Refusal, Session, refuse};
use crate::transport::{End, Transport};

/// Serves a connection until it ends, and says how it ended. `stranger` is its place among those who are not known.
pub fn serve(shared: &Arc<Shared>, stream: &TcpStream, peer: Visitor, stranger: u64) {
    let log = Log { shared, peer, is_known: Cell::new(false) };
    let outcome = Transport::new(stream, shared.config.frame_timeout).map_err(End::Io).and_then(|transport| {
        let transport = transport.awake(shared.config.awake, &shared.live.awake);
        let mut connection = Connection { shared, transport, log: &log, stranger, frames: None, payload: Vec::new(), answer: Vec::new() };
        connection.run(stream)
    });
    match outcome {
        Ok(()) | Err(End::Closed) => debug!(%peer, "closed"),
        Err(End::Cut { got, want }) => {
            Metrics::add(&shared.metrics.cut, 1);
            if let Some(left_out) = log.next() {
                warn!(%peer, left_out, got, want, "the connection ended within a frame, which is dropped");
            }
        }
        Err(End::Slow { got, want }) => {
            if let Some(left_out) = log.next() {
                warn!(%peer, left_out, got, want, "a frame took longer than --frame-timeout");
            }
        }
        Err(End::Io(error)) => {
            if let Some(left_out) = log.next() {
                warn!(%peer, left_out, %error, "the connection broke");
            }
        }
        Err(End::Idle) => info!(%peer, "nothing came over it, and the client has no memory here"),
        Err(End::Stopped | End::Frame(..)) => debug!(%peer, "closed by the server"),
    }
    // What the peer has sent and nobody has read would turn the close into a reset, and the last answer would be lost.
    let _ = stream.shutdown(Shutdown::Write);
    let mut rest = [0; 4096];
    for _ in 0..16 {
        match std::io::Read::read(&mut &*stream, &mut rest) {
            Ok(1..) => {}
            _ => break,
        }
    }
}

/// What the server's log says of a connection: of who is not known, some lines a second for all of them.
struct Log<'a> {
    shared: &'a Shared,
    peer: Visitor,
    is_known: Cell<bool>,
}

impl Log<'_> {
    /// Whether it has a line now; then with how many about those who are not known were left out before, if any were.
    fn next(&self) -> Option<Option<u64>> {
        if self.is_known.get() {
            return Some(None);
        }
        self.shared.few_lines.next(Instant::now()).map(|left_out| (left_out > 0).then_some(left_out))
    }
}

struct Connection<'a> {
    shared: &'a Arc<Shared>,
    transport: Transport<'a>,
    log: &'a Log<'a>,
    stranger: u64,
    /// What encrypts and proves, from the end of the handshake on.
    frames: Option<Box<Frames>>,
    payload: Vec<u8>,
    answer: Vec<u8>,
}

/// What a request comes to.
enum Next {
    /// The answer is in `answer`; go on.
    Answer,
    /// The same, and then close.
    AnswerAndClose,
}

/// How the client is known, and what the server must prove in its turn.
type Known<'a> = (&'a Arc<Identity>, Option<(proof::Server, Prove)>);

/// A client's session, and what encrypts and proves its frames, if anything does.
type Welcome = (Session, Option<Box<Frames>>);

impl<'s> Connection<'s> {
    fn run(&mut self, stream: &TcpStream) -> Result<(), End> {
        let Some((session, mut sequence)) = self.greet(stream)? else { return Ok(()) };
        // Ends with this connection.
        let mut tracing = Tracing::new(self.shared, &session);
        let shared = self.shared;
        let watched = session.kind != ChannelKind::Peer;
        let stop = || match shared.phase.stopped() {
            true => Some(End::Stopped),
            false => (watched && session.client.is_idle(shared.config.idle())).then_some(End::Idle),
        };
        loop {
            // Who asks all the time gives nobody a moment in which nothing comes.
            if self.shared.phase.stopped() {
                return Err(self.explain(End::Stopped));
            }
            let header = match self.transport.header(None, stop) {
                Ok(header) => header,
                // A connection that was taken over is made to end; say why.
                Err(End::Closed | End::Cut { .. }) if session.check_current().is_err() => {
                    let refusal = refuse!(StaleChannel, "a newer connection has taken the channel over");
                    return self.refuse(0, 0, &refusal);
                }
                Err(end) => return Err(self.explain(end)),
            };
            sequence += 1;
            let next = match self.request(&session, &mut tracing, header, sequence)? {
                Ok(next) => next,
                Err(refusal) => {
                    let goes_on = refusal.goes_on();
                    // What a header says that is not proven is not repeated.
                    let (sequence, region) = if refusal.code == ErrorCode::NotProven { (0, 0) } else { (header.sequence, header.region) };
                    self.refuse(sequence, region, &refusal)?;
                    if !goes_on {
                        return Ok(());
                    }
                    continue;
                }
            };
            self.send()?;
            Metrics::add(&self.shared.metrics.bytes_sent, self.answer.len());
            if matches!(next, Next::AnswerAndClose) {
                return Ok(());
            }
        }
    }

    /// HELLO, and the proofs of both sides. None if it was refused; else the number of the last frame of the client, too.
    fn greet(&mut self, stream: &TcpStream) -> Result<Option<(Session, u64)>, End> {
        let shared = self.shared;
        let hello = match self.said(Op::Hello, 1)? {
            Ok(Message::Hello(hello)) => hello,
            other => return self.turn_down(1, other.map(drop)),
        };
        let checked = check(&hello).and_then(|()| self.check_key(&hello));
        let version = match checked.and_then(|keyed| agreed(&hello, keyed, shared.config.plain_frames)) {
            Ok(version) => version,
            Err(refusal) => return self.turn_down(1, Err(refusal)),
        };
        let (identity, proving) = match self.identify(&hello)? {
            Ok(known) => known,
            Err((sequence, refusal)) => return self.turn_down(sequence, Err(refusal)),
        };
        let sequence = if proving.is_some() { 2 } else { 1 };
        // From here on it is none of those who are pushed out. If that has happened, it is too late.
        if !self.shared.live.strangers.leave(self.stranger) {
            return Err(End::Closed);
        }
        self.log.is_known.set(true);
        match self.welcome(&hello, version, identity, proving, stream) {
            Ok((session, frames)) => {
                self.send()?;
                if frames.is_some() {
                    Metrics::add(&shared.metrics.encrypted, 1);
                    self.transport.expect_encrypted();
                    self.frames = frames;
                }
                info!(peer = %self.log.peer, key = &identity.name[..], client = %hex(&session.client.id), kind = hello.kind.name(),
                    channel = hello.channel, generation = hello.generation, version, "connected");
                Ok(Some((session, sequence)))
            }
            Err(refusal) => self.turn_down(sequence, Err(refusal)),
        }
    }

    fn turn_down<T>(&mut self, sequence: u64, why: Result<(), Refusal>) -> Result<Option<T>, End> {
        let refusal = why.err().unwrap_or_else(|| refuse!(Internal, "a frame became another one"));
        self.refuse(sequence, 0, &refusal)?;
        Ok(None)
    }

    /// One of the frames before the client is known: this operation, this number. Has no borrowed part, so that the buffer is free again.
    fn said(&mut self, op: Op, sequence: u64) -> Result<Result<Message<'static>, Refusal>, End> {
        let shared = self.shared;
        let stop = || shared.phase.stopped().then_some(End::Stopped);
        let header = match self.transport.header(Some(shared.config.frame_timeout), stop) {
            Ok(header) => header,
            Err(end) => return Err(self.explain(end)),
        };
        if header.op != op {
            let which = if op == Op::Hello { "first frame" } else { "frame after CHALLENGE" };
            return Ok(Err(refuse!(BadRequest, "the {which} is {}; it must be {}", header.op.name(), op.name())));
        }
        if header.sequence != sequence {
            let name = op.name();
            return Ok(Err(refuse!(BadSequence, "{name} has the sequence number {}; it must be {sequence}", header.sequence)));
        }
        if let Err(refusal) = self.read(&header)? {
            return Ok(Err(refusal));
        }
        Ok(match Message::decode(&header, &self.payload) {
            Ok(Message::Hello(hello)) => Ok(Message::Hello(hello)),
            Ok(Message::Prove(prove)) => Ok(Message::Prove(prove)),
            Ok(other) => Err(refuse!(Internal, "{} became {}", op.name(), other.op().name())),
            Err(error) => Err(refusal_of(&error)),
        })
    }

    /// Whether both sides have a key, or neither has one.
    fn check_key(&self, hello: &Hello) -> Result<bool, Refusal> {
        match (hello.features & FEATURE_KEY != 0, self.shared.identities.of_everybody().is_none()) {
            (true, false) => Err(refuse!(
                NotAuthenticated,
                "the client has a key, and this server none: start the server with --key FILE, or the client without it"
            )),
            (false, true) => {
                Err(refuse!(NotAuthenticated, "this server serves only who has one of its keys: start the client with --key FILE"))
            }
            (_, keyed) => Ok(keyed),
        }
    }

    /// Whose connection it is. A refusal comes with the number of the frame that it answers.
    fn identify(&mut self, hello: &Hello) -> Result<Result<Known<'s>, (u64, Refusal)>, End> {
        let identities = &self.shared.identities;
        if let Some(everybody) = identities.of_everybody() {
            return Ok(Ok((everybody, None)));
        }
        let server = match draw() {
            Ok(share) => proof::Server::new(hello, share),
            Err(error) => return Ok(Err((1, refuse!(Internal, "the system has no random numbers: {error}")))),
        };
        self.answer.clear();
        Message::Challenge(server.challenge()).encode(1, 0, &mut self.answer);
        self.transport.send(&self.answer)?;
        let prove = match self.said(Op::Prove, 2)? {
            Ok(Message::Prove(prove)) => prove,
            Ok(other) => return Ok(Err((2, refuse!(Internal, "PROVE became {}", other.op().name())))),
            Err(refusal) => return Ok(Err((2, refusal))),
        };
        let proved = identities.with_key(&prove.key).filter(|(_, key)| server.is_proved(key, &prove));
        // The same words whether the key is known or not.
        let refusal = || (2, refuse!(NotAuthenticated, "the client's key is none of this server's: give both sides the same one"));
        Ok(proved.map(|(identity, _)| (identity, Some((server, prove)))).ok_or_else(refusal))
    }

    fn welcome(
        &mut self,
        hello: &Hello,
        version: u16,
        identity: &Arc<Identity>,
        proving: Option<(proof::Server, Prove)>,
        stream: &TcpStream,
    ) -> Result<Welcome, Refusal> {
        let store = &self.shared.store;
        let session = store.connect(identity, hello, stream.try_clone().ok(), !self.shared.phase.stopping())?;
        self.answer.clear();
        let ack = HelloAck {
            version,
            page_size_log2: PAGE_SIZE_LOG2,
            max_pages: MAX_PAGES_PER_FRAME as u32,
            features: hello.features,
            session: self.shared.session,
            capacity: store.arena.capacity(),
            free: store.arena.free(),
        };
        let (Some(key), Some((server, prove))) = (&identity.key, proving) else {
            Message::HelloAck(ack).encode(1, 0, &mut self.answer);
            return Ok((session, None));
        };
        let proved = server.prove(key, &prove, ack);
        Message::Proved(proved).encode(2, 0, &mut self.answer);
        Ok((session, (version == VERSION_ENCRYPTED).then(|| Box::new(server.frames(key, &prove, &proved)))))
    }

    /// Reads a request's payload, carries it out, and puts the answer into `answer`.
    fn request(
        &mut self,
        session: &Session,
        tracing: &mut Tracing<'_>,
        header: Header,
        sequence: u64,
    ) -> Result<Result<Next, Refusal>, End> {
        let (op, region, encrypted) = (header.op, header.region, self.frames.is_some());
        let in_sequence = || match header.sequence == sequence {
            true => Ok(()),
            false => Err(refuse!(BadSequence, "{} has the sequence number {}, not {sequence}", op.name(), header.sequence)),
        };
        // Where frames are proven, a number that is not proven says nothing.
        if let (false, Err(refusal)) = (encrypted, in_sequence()) {
            return Ok(Err(refusal));
        }
        if !session.kind.allows(op) {
            return Ok(Err(refuse!(BadRequest, "{} is not allowed on a {} connection", op.name(), session.kind.name())));
        }
        if let Err(refusal) = self.read(&header)?.and_then(|()| in_sequence()) {
            return Ok(Err(refusal));
        }
        if session.kind == ChannelKind::Control {
            session.client.hear();
        }
        let Connection { shared, payload, answer, .. } = self;
        let decode = if encrypted { Message::decode_proven } else { Message::decode };
        let message = match decode(&header, payload) {
            Ok(message) => message,
            Err(error) => return Ok(Err(refusal_of(&error))),
        };
        shared.metrics.frame(op);
        // The pages of the next FETCH go over those of the last: zeros before them would take as long as the pages.
        if op != Op::Fetch {
            answer.clear();
        }
        let is_last = matches!(message, Message::Bye);
        let done = match message {
            Message::Trace { op, payload } => tracing.request(region, op, payload).map(|(op, payload)| {
                Message::Trace { op, payload: &payload }.encode(sequence, region, answer);
            }),
            message => carry_out(shared, session, (sequence, region), message, encrypted, answer),
        };
        Ok(done.map(|()| if is_last { Next::AnswerAndClose } else { Next::Answer }))
    }

    /// Reads the payload of a header that has passed its checks, and decrypts and proves it. Who decodes a plain one compares the checksum.
    fn read(&mut self, header: &Header) -> Result<Result<(), Refusal>, End> {
        let tag = if self.frames.is_some() { TAG_LEN } else { 0 };
        self.payload.resize(header.len as usize + tag, 0);
        if let Err(end) = self.transport.payload(&mut self.payload) {
            return Err(self.explain(end));
        }
        Metrics::add(&self.shared.metrics.bytes_received, HEADER_LEN + self.payload.len());
        let Some(frames) = &mut self.frames else { return Ok(Ok(())) };
        let proven = frames.decrypt(header, &mut self.payload).map(|length| self.payload.truncate(length));
        Ok(proven.map_err(|_| {
            refuse!(
                NotProven,
                "the frame that says to be {} {} is not the one that the client has sent next: it was changed, left out, repeated or put in another \
                 place on the way",
                header.op.name(),
                header.sequence
            )
        }))
    }

    /// Sends the answer, encrypted where the connection is.
    fn send(&mut self) -> Result<(), End> {
        if let Some(frames) = &mut self.frames {
            frames.encrypt_frame(&mut self.answer).map_err(|error| End::Io(io::Error::other(error)))?;
        }
        self.transport.send(&self.answer)
    }

    /// Tells the peer why its connection ends, if it can be told, and returns the reason.
    fn explain(&mut self, end: End) -> End {
        let (sequence, refusal) = match &end {
            End::Slow { got, want } => {
                let seconds = self.shared.config.frame_timeout.as_secs_f64();
                (0, refuse!(Timeout, "{got} of {want} bytes came within {seconds} s"))
            }
            End::Stopped => (0, refuse!(ShuttingDown, "the server has been stopped")),
            End::Idle => {
                let seconds = self.shared.config.idle().as_secs_f64();
                (0, refuse!(Timeout, "the client has no memory here, and has asked for nothing for {seconds} s"))
            }
            End::Frame(error, bytes) => (Header::sequence_of(bytes).unwrap_or(0), refusal_of(error)),
            End::Closed | End::Cut { .. } | End::Io(_) => return end,
        };
        let _ = self.refuse(sequence, 0, &refusal);
        end
    }

    fn refuse(&mut self, sequence: u64, region: u32, refusal: &Refusal) -> Result<(), End> {
        self.shared.metrics.error(refusal.code);
        if let Some(left_out) = self.log.next() {
            warn!(peer = %self.log.peer, left_out, code = refusal.code.name(), region, sequence, "{}", refusal.text);
        }
        self.answer.clear();
        Message::Error { code: refusal.code, text: &refusal.text }.encode(sequence, region, &mut self.answer);
        self.send()
    }
}

/// Carries out a request of a client, and puts the answer, of that sequence number and region, into `answer`. One that is to be encrypted has no
/// checksum of its pages.
fn carry_out(
    shared: &Shared,
    session: &Session,
    (sequence, region): (u64, u32),
    message: Message<'_>,
    encrypted: bool,
    answer: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let metrics = &shared.metrics;
    match message {
        Message::Fetch(run) => {
            let count = run.count as usize;
            answer.resize(HEADER_LEN + FETCH_LEN + count * PAGE_SIZE, 0);
            answer[HEADER_LEN..HEADER_LEN + FETCH_LEN].copy_from_slice(&run.payload());
            session.fetch(region, run, &mut answer[HEADER_LEN + FETCH_LEN..])?;
            Metrics::add(&metrics.pages_fetched, count);
            let payload = &answer[HEADER_LEN..];
            let crc = if encrypted { 0 } else { crc32c_of(&[payload]) };
            let head = seal_with(Op::Data, sequence, region, payload.len(), crc);
            answer[..HEADER_LEN].copy_from_slice(&head);
        }
        Message::Write(write) => {
            let ack = session.write(region, &write)?;
            Metrics::add(&metrics.pages_written, write.count());
            Message::WriteAck(ack).encode(sequence, region, answer);
        }
        Message::Discard(run) => {
            session.discard(region, run)?;
            Message::DiscardAck(run).encode(sequence, region, answer);
        }
        Message::Fence => {
            session.check_current()?;
            Message::FenceAck.encode(sequence, region, answer);
        }
        Message::RegionMap { .. } if shared.phase.stopping() => {
            return Err(refuse!(ShuttingDown, "the server is being stopped and takes no new regions"));
        }
        Message::RegionMap { pages } => {
            session.map(&shared.store, region, pages)?;
            info!(client = %hex(&session.client.id), region, pages, "region mapped");
            Message::RegionMapped { pages }.encode(sequence, region, answer);
        }
        Message::RegionUnmap => {
            session.unmap(region)?;
            info!(client = %hex(&session.client.id), region, "region unmapped");
            Message::RegionUnmapped.encode(sequence, region, answer);
        }
        Message::Heartbeat => {
            let arena = &shared.store.arena;
            let state = Heartbeat { capacity: arena.capacity(), free: arena.free(), stopping: shared.phase.stopping() };
            Message::HeartbeatAck(state).encode(sequence, region, answer);
        }
        Message::Bye => {
            shared.store.leave(&session.client);
            info!(client = %hex(&session.client.id), "the client has left");
            Message::Bye.encode(sequence, region, answer);
        }
        Message::Leave => {
            session.client.leave_with_the_last_connection();
            info!(client = %hex(&session.client.id), "the client ends: its regions are given back with its last connection");
            Message::Leave.encode(sequence, region, answer);
        }
        other => return Err(refuse!(BadRequest, "{} is not for a server", other.op().name())),
    }
    Ok(())
}

/// Whether both sides can speak to each other at all.
fn check(hello: &Hello) -> Result<(), Refusal> {
    if hello.page_size_log2 != PAGE_SIZE_LOG2 {
        return Err(refuse!(Version, "the client's pages have 2^{} bytes, this server's 2^{PAGE_SIZE_LOG2}", hello.page_size_log2));
    }
    if hello.features & !FEATURE_KEY != 0 {
        return Err(refuse!(Version, "the client needs the features {:#x}, this server has {FEATURE_KEY:#x} only", hello.features));
    }
    Ok(())
}

/// What a side draws for a connection.
///
/// # Errors
/// The system has no random numbers.
pub fn draw() -> rustix::io::Result<Share> {
    Share::draw(|bytes| rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map(drop))
}

/// The version that the connection speaks behind the handshake: the newest that both sides take from who is known like this.
fn agreed(hello: &Hello, keyed: bool, plain_frames: bool) -> Result<u16, Refusal> {
    let (ours, which): (&[u16], _) = match (keyed, plain_frames) {
        (true, false) => (&[VERSION_ENCRYPTED], "3"),
        (true, true) => (&[VERSION_ENCRYPTED, VERSION_PLAIN], "3 and 1"),
        (false, _) => (&[VERSION_PLAIN], "1"),
    };
    let (min, max) = (hello.version_min, hello.version_max);
    if let Some(version) = ours.iter().find(|version| (min..=max).contains(*version)) {
        return Ok(*version);
    }
    let why = match (keyed && max < VERSION_ENCRYPTED, plain_frames) {
        (false, _) => "",
        (true, true) => " with who has a key: take a newer client",
        (true, false) => " with who has a key, whose frames are encrypted: take a newer client, or start the server with --plain-frames",
    };
    Err(refuse!(Version, "the client speaks the versions {min} to {max}, this server {which}{why}"))
}

fn refusal_of(error: &DecodeError) -> Refusal {
    Refusal { code: error.code(), text: error.to_string() }
}

/// The first bytes of a client's number: enough to tell clients apart in a log.
fn hex(id: &[u8; 16]) -> String {
    id[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}
