// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One connection, from HELLO to its end, in a thread of its own. A frame is read whole, checked, carried out, answered;
//! then the next. Memory is taken for a payload only after its header has passed all checks, and after it is known that this
//! kind of connection may have such frames: a connection for control never takes more than 256 KB.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use lull_far_protocol::{
    DecodeError, ErrorCode, FETCH_LEN, HEADER_LEN, Header, Heartbeat, Hello, HelloAck, MAX_PAGES_PER_FRAME, Message, Op, PAGE_SIZE,
    PAGE_SIZE_LOG2, VERSION_MAX, VERSION_MIN, seal,
};
use tracing::{debug, info, warn};

use crate::metrics::Metrics;
use crate::requests::Tracing;
use crate::server::Shared;
use crate::store::{Refusal, Session, refuse};
use crate::transport::{End, Transport};

/// Serves a connection until it ends, and says how it ended.
pub fn serve(shared: &Arc<Shared>, stream: &TcpStream, peer: SocketAddr) {
    let outcome = Transport::new(stream, shared.config.frame_timeout).map_err(End::Io).and_then(|transport| {
        let transport = transport.awake(shared.config.awake, &shared.awake_places);
        let mut connection = Connection { shared, transport, peer, payload: Vec::new(), answer: Vec::new() };
        connection.run(stream)
    });
    match outcome {
        Ok(()) | Err(End::Closed) => debug!(%peer, "closed"),
        Err(End::Cut { got, want }) => warn!(%peer, got, want, "the connection ended within a frame, which is dropped"),
        Err(End::Slow { got, want }) => warn!(%peer, got, want, "a frame took longer than --frame-timeout"),
        Err(End::Io(error)) => warn!(%peer, %error, "the connection broke"),
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

struct Connection<'a> {
    shared: &'a Arc<Shared>,
    transport: Transport<'a>,
    peer: SocketAddr,
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

impl Connection<'_> {
    fn run(&mut self, stream: &TcpStream) -> Result<(), End> {
        let Some(session) = self.greet(stream)? else { return Ok(()) };
        // Ends with this connection.
        let mut tracing = Tracing::new(self.shared, &session);
        let mut sequence = 1;
        loop {
            // Who asks all the time gives nobody a moment in which nothing comes.
            if self.shared.stopped() {
                return Err(self.explain(End::Stopped));
            }
            let header = match self.transport.header(None, || self.shared.stopped()) {
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
                    self.refuse(header.sequence, header.region, &refusal)?;
                    if !goes_on {
                        return Ok(());
                    }
                    continue;
                }
            };
            self.transport.send(&self.answer)?;
            Metrics::add(&self.shared.metrics.bytes_sent, self.answer.len());
            if matches!(next, Next::AnswerAndClose) {
                return Ok(());
            }
        }
    }

    /// HELLO. None if it was refused.
    fn greet(&mut self, stream: &TcpStream) -> Result<Option<Session>, End> {
        let header = match self.transport.header(Some(self.shared.config.frame_timeout), || self.shared.stopped()) {
            Ok(header) => header,
            Err(end) => return Err(self.explain(end)),
        };
        let refusal = if header.op != Op::Hello {
            refuse!(BadRequest, "the first frame is {}; it must be HELLO", header.op.name())
        } else if header.sequence != 1 {
            refuse!(BadSequence, "HELLO has the sequence number {}; it must be 1", header.sequence)
        } else {
            self.read(&header)?;
            match Message::decode(&header, &self.payload) {
                Ok(Message::Hello(hello)) => match self.welcome(&hello, stream) {
                    Ok(session) => {
                        self.transport.send(&self.answer)?;
                        info!(peer = %self.peer, client = %hex(&hello.client), kind = hello.kind.name(), channel = hello.channel,
                            generation = hello.generation, "connected");
                        return Ok(Some(session));
                    }
                    Err(refusal) => refusal,
                },
                Ok(other) => refuse!(Internal, "a HELLO became {}", other.op().name()),
                Err(error) => refusal_of(&error),
            }
        };
        self.refuse(header.sequence, header.region, &refusal)?;
        Ok(None)
    }

    fn welcome(&mut self, hello: &Hello, stream: &TcpStream) -> Result<Session, Refusal> {
        if hello.version_min > VERSION_MAX || hello.version_max < VERSION_MIN || hello.version_min > hello.version_max {
            let (min, max) = (hello.version_min, hello.version_max);
            return Err(refuse!(Version, "the client speaks the versions {min} to {max}, this server {VERSION_MIN} to {VERSION_MAX}"));
        }
        if hello.page_size_log2 != PAGE_SIZE_LOG2 {
            return Err(refuse!(Version, "the client's pages have 2^{} bytes, this server's 2^{PAGE_SIZE_LOG2}", hello.page_size_log2));
        }
        if hello.features != 0 {
            return Err(refuse!(Version, "the client needs the features {:#x}, this server has none", hello.features));
        }
        let store = &self.shared.store;
        let session = store.connect(hello, stream.try_clone().ok(), !self.shared.stopping())?;
        self.answer.clear();
        let ack = HelloAck {
            version: hello.version_max.min(VERSION_MAX),
            page_size_log2: PAGE_SIZE_LOG2,
            max_pages: MAX_PAGES_PER_FRAME as u32,
            features: 0,
            session: self.shared.session,
            capacity: store.arena.capacity(),
            free: store.arena.free(),
        };
        Message::HelloAck(ack).encode(1, 0, &mut self.answer);
        Ok(session)
    }

    /// Reads a request's payload, carries it out, and puts the answer into `answer`.
    fn request(
        &mut self,
        session: &Session,
        tracing: &mut Tracing<'_>,
        header: Header,
        sequence: u64,
    ) -> Result<Result<Next, Refusal>, End> {
        let (op, region) = (header.op, header.region);
        if header.sequence != sequence {
            return Ok(Err(refuse!(BadSequence, "{} has the sequence number {}, not {sequence}", op.name(), header.sequence)));
        }
        if !session.kind.allows(op) {
            return Ok(Err(refuse!(BadRequest, "{} is not allowed on a {} connection", op.name(), session.kind.name())));
        }
        self.read(&header)?;
        let Connection { shared, payload, answer, .. } = self;
        let message = match Message::decode(&header, payload) {
            Ok(message) => message,
            Err(error) => return Ok(Err(refusal_of(&error))),
        };
        let metrics = &shared.metrics;
        metrics.frame(op);
        // The pages of the next FETCH go over those of the last: zeros before them would take as long as the pages.
        if op != Op::Fetch {
            answer.clear();
        }
        let mut next = Next::Answer;
        let done = match message {
            Message::Fetch(run) => {
                let count = run.count as usize;
                answer.resize(HEADER_LEN + FETCH_LEN + count * PAGE_SIZE, 0);
                answer[HEADER_LEN..HEADER_LEN + FETCH_LEN].copy_from_slice(&run.payload());
                session.fetch(region, run, &mut answer[HEADER_LEN + FETCH_LEN..]).map(|()| {
                    Metrics::add(&metrics.pages_fetched, count);
                    let head = seal(Op::Data, sequence, region, &[&answer[HEADER_LEN..]]);
                    answer[..HEADER_LEN].copy_from_slice(&head);
                })
            }
            Message::Write(write) => session.write(region, &write).map(|ack| {
                Metrics::add(&metrics.pages_written, write.count());
                Message::WriteAck(ack).encode(sequence, region, answer);
            }),
            Message::Discard(run) => session.discard(region, run).map(|()| Message::DiscardAck(run).encode(sequence, region, answer)),
            Message::Fence => session.check_current().map(|()| Message::FenceAck.encode(sequence, region, answer)),
            Message::RegionMap { .. } if shared.stopping() => {
                Err(refuse!(ShuttingDown, "the server is being stopped and takes no new regions"))
            }
            Message::RegionMap { pages } => session.map(&shared.store, region, pages).map(|()| {
                info!(client = %hex(&session.client.id), region, pages, "region mapped");
                Message::RegionMapped { pages }.encode(sequence, region, answer);
            }),
            Message::RegionUnmap => session.unmap(region).map(|()| {
                info!(client = %hex(&session.client.id), region, "region unmapped");
                Message::RegionUnmapped.encode(sequence, region, answer);
            }),
            Message::Trace { op, payload } => tracing.request(region, op, payload).map(|(op, payload)| {
                Message::Trace { op, payload: &payload }.encode(sequence, region, answer);
            }),
            Message::Heartbeat => {
                let arena = &shared.store.arena;
                let state = Heartbeat { capacity: arena.capacity(), free: arena.free(), stopping: shared.stopping() };
                Message::HeartbeatAck(state).encode(sequence, region, answer);
                Ok(())
            }
            Message::Bye => {
                shared.store.leave(&session.client);
                info!(client = %hex(&session.client.id), "the client has left");
                Message::Bye.encode(sequence, region, answer);
                next = Next::AnswerAndClose;
                Ok(())
            }
            other => Err(refuse!(BadRequest, "{} is not for a server", other.op().name())),
        };
        Ok(done.map(|()| next))
    }

    /// Reads the payload of a header that has passed its checks. Who decodes it compares the checksum.
    fn read(&mut self, header: &Header) -> Result<(), End> {
        self.payload.resize(header.len as usize, 0);
        if let Err(end) = self.transport.payload(&mut self.payload) {
            return Err(self.explain(end));
        }
        Metrics::add(&self.shared.metrics.bytes_received, HEADER_LEN + self.payload.len());
        Ok(())
    }

    /// Tells the peer why its connection ends, if it can be told, and returns the reason.
    fn explain(&mut self, end: End) -> End {
        let (sequence, refusal) = match &end {
            End::Slow { got, want } => {
                let seconds = self.shared.config.frame_timeout.as_secs_f64();
                (0, refuse!(Timeout, "{got} of {want} bytes came within {seconds} s"))
            }
            End::Stopped => (0, refuse!(ShuttingDown, "the server has been stopped")),
            End::Frame(error, bytes) => (Header::sequence_of(bytes).unwrap_or(0), refusal_of(error)),
            End::Closed | End::Cut { .. } | End::Io(_) => return end,
        };
        let _ = self.refuse(sequence, 0, &refusal);
        end
    }

    fn refuse(&mut self, sequence: u64, region: u32, refusal: &Refusal) -> Result<(), End> {
        self.shared.metrics.error(refusal.code);
        warn!(peer = %self.peer, code = refusal.code.name(), region, sequence, "{}", refusal.text);
        self.answer.clear();
        Message::Error { code: refusal.code, text: &refusal.text }.encode(sequence, region, &mut self.answer);
        self.transport.send(&self.answer)
    }
}

/// Refuses a connection before it has said anything.
pub fn turn_away(shared: &Shared, stream: &TcpStream, peer: SocketAddr, code: ErrorCode, text: &str) {
    shared.metrics.error(code);
    warn!(%peer, code = code.name(), "{text}");
    let mut bytes = Vec::new();
    Message::Error { code, text }.encode(0, 0, &mut bytes);
    // One short frame into an empty socket buffer: does not wait.
    let _ = stream.set_nonblocking(true);
    let _ = std::io::Write::write(&mut &*stream, &bytes);
    let _ = stream.shutdown(Shutdown::Write);
}

fn refusal_of(error: &DecodeError) -> Refusal {
    Refusal { code: error.code(), text: error.to_string() }
}

/// The first bytes of a client's number: enough to tell clients apart in a log.
fn hex(id: &[u8; 16]) -> String {
    id[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}
