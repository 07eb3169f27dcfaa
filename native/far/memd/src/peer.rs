// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sends another server what is its to trace. One connection for each cycle and direction, opened when there is something to send. A
//! server that does not answer in time, or answers anything but GHOST_ACK, ends the cycle; nothing is sent a second time.

use std::net::TcpStream;
use std::time::Duration;

use lull_far_auth::{Frames, proof};
use lull_far_protocol::{ChannelKind, Header, Hello, Message, Op, TAG_LEN, VERSION_ENCRYPTED, VERSION_PLAIN};
use lull_far_trace::wire;
use tracing::warn;

use crate::connection::draw;
use crate::cycle::Cycle;
use crate::transport::{End, Transport};

/// Sends until the cycle is over. `plain_frames`: neither encrypted nor proven, where there is a key.
///
/// # Errors
/// Why the other server is of no use: for the client to read. What the network says about who cannot be reached is for this server's log
/// only, or a client could look by it for what is there.
pub fn send_all(cycle: &Cycle, to: usize, timeout: Duration, plain_frames: bool) -> Result<(), String> {
    let Some(mut tasks) = cycle.next_for(to) else { return Ok(()) };
    let address = cycle.start.servers[to];
    let failed = |text: &dyn std::fmt::Display| format!("server {to} at {address}: {text}");
    let stream = TcpStream::connect_timeout(&address, timeout).map_err(|error| {
        warn!(server = to, %address, %error, "another server cannot be reached");
        failed(&"it cannot be reached")
    })?;
    let transport = Transport::new(&stream, timeout).map_err(|error| failed(&broken(&error)))?;
    let mut link = Link { cycle, transport, timeout, sequence: 0, frames: None };
    link.greet(plain_frames).map_err(|text| failed(&text))?;
    loop {
        let payload = wire::encode_tasks(cycle.number(), &tasks);
        let ack = wire::encode_counted(cycle.number(), tasks.len() as u32);
        let ghost = Message::Trace { op: Op::Ghost, payload: &payload };
        link.ask(&ghost, |answer| *answer == Message::Trace { op: Op::GhostAck, payload: &ack }).map_err(|text| failed(&text))?;
        match cycle.next_for(to) {
            Some(next) => tasks = next,
            None => return Ok(()),
        }
    }
}

struct Link<'a> {
    cycle: &'a Cycle,
    transport: Transport<'a>,
    timeout: Duration,
    sequence: u64,
    /// What encrypts and proves, from the end of the handshake on.
    frames: Option<Box<Frames>>,
}

impl Link<'_> {
    /// HELLO with the cycle's ticket, which is all that the other server is told of the client, and with the client's key if it has one, which the other server must have, too.
    fn greet(&mut self, plain_frames: bool) -> Result<(), String> {
        let cycle = self.cycle;
        let hello = Hello::new(ChannelKind::Peer, cycle.start.me.into(), cycle.number(), cycle.start.ticket);
        let Some(key) = &cycle.identity.key else {
            return self.ask(&Message::Hello(hello), |answer| matches!(answer, Message::HelloAck(_)));
        };
        let hello = hello.with_key(if plain_frames { VERSION_PLAIN } else { VERSION_ENCRYPTED });
        let mut challenge = None;
        self.ask(&Message::Hello(hello), |answer| {
            if let Message::Challenge(nonce) = answer {
                challenge = Some(*nonce);
            }
            challenge.is_some()
        })?;
        let share = draw().map_err(|error| format!("random numbers: {error}"))?;
        let client = proof::Client::new(key, &hello, challenge.unwrap_or_default(), share);
        let mut right = None;
        self.ask(&Message::Prove(client.prove()), |answer| {
            right = match answer {
                Message::Proved(proved) if client.is_proved(proved) && proved.ack.version == hello.version_max => Some(*proved),
                _ => None,
            };
            right.is_some()
        })?;
        if !plain_frames {
            self.frames = right.map(|proved| Box::new(client.frames(&proved)));
            self.transport.expect_encrypted();
        }
        Ok(())
    }

    fn ask(&mut self, message: &Message<'_>, right: impl FnOnce(&Message<'_>) -> bool) -> Result<(), String> {
        self.sequence += 1;
        let name = message.op().name();
        let mut bytes = Vec::new();
        message.encode(self.sequence, 0, &mut bytes);
        if let Some(frames) = &mut self.frames {
            frames.encrypt_frame(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
        }
        self.transport.send(&bytes).map_err(|end| ended(name, &end))?;
        let stop = || self.cycle.over().then_some(End::Stopped);
        let header = self.transport.header(Some(self.timeout), stop).map_err(|end| ended(name, &end))?;
        // None of its answers is longer than an error; nothing longer is read, whoever it is.
        if header.len as usize > Op::Error.max_payload() {
            return Err(format!("{name} was answered by {} with {} bytes", header.op.name(), header.len));
        }
        bytes.resize(header.len as usize + if self.frames.is_some() { TAG_LEN } else { 0 }, 0);
        self.transport.payload(&mut bytes).map_err(|end| ended(&format!("the answer to {name}"), &end))?;
        let Some(frames) = &mut self.frames else { return self.check(&header, &bytes, name, right) };
        let length = frames.decrypt(&header, &mut bytes).map_err(|error| format!("the answer to {name}: {error}"))?;
        self.check(&header.as_plain(&bytes[..length]), &bytes[..length], name, right)
    }

    fn check(&self, header: &Header, payload: &[u8], name: &str, right: impl FnOnce(&Message<'_>) -> bool) -> Result<(), String> {
        match Message::decode(header, payload) {
            Ok(Message::Error { code, text }) => Err(format!("{name} was refused: {}: {text}", code.name())),
            Ok(answer) if header.sequence == self.sequence && right(&answer) => Ok(()),
            Ok(Message::Proved(_)) => Err("it has not proved that it has the key".to_owned()),
            Ok(answer) => Err(format!("{name} was answered by {}, of the frame {}", answer.op().name(), header.sequence)),
            Err(error) => Err(format!("the answer to {name}: {error}")),
        }
    }
}

/// How a step has ended, for the client.
fn ended(step: &str, end: &End) -> String {
    let how = match end {
        End::Closed => "the connection was closed".to_owned(),
        End::Cut { got, want } => format!("the connection ended after {got} of {want} bytes"),
        End::Slow { got, want } => format!("only {got} of {want} bytes passed in time"),
        End::Stopped | End::Idle => "the cycle is over".to_owned(),
        End::Frame(error, _) => error.to_string(),
        End::Io(error) => broken(error).to_owned(),
    };
    format!("{step}: {how}")
}

/// What the network says is for this server's log only.
fn broken(error: &std::io::Error) -> &'static str {
    warn!(%error, "the connection to another server broke");
    "the connection broke"
}
