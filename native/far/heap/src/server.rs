// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One memory server, seen by the client that has it trace: a control connection, and one to write pages.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use lull_far_auth::{Frames, Key, Share, proof};
use lull_far_protocol::{
    ChannelKind, ErrorCode, HEADER_LEN, Header, Hello, Message, Op, PAGE_SIZE, TAG_LEN, VERSION_ENCRYPTED, VERSION_PLAIN, crc32c_of,
    encode_write,
};

/// A connection of one kind.
#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    sequence: u64,
    /// What encrypts and proves, from the end of the handshake on.
    frames: Option<Box<Frames>>,
    /// It was of no use once: nothing more is asked.
    lost: bool,
}

/// A memory server.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    control: Connection,
    write: Connection,
}

/// The region that a client has at each server.
pub const REGION: u32 = 1;

/// An answer.
type Answer = (Header, Vec<u8>);

impl Server {
    /// Connects. A server that does not answer for `timeout` is an error, now and later.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn connect(address: SocketAddr, client: [u8; 16], timeout: Duration) -> Result<Server, String> {
        Server::connect_with_key(address, client, timeout, None)
    }

    /// The same with a key that the server must have, too.
    ///
    /// # Errors
    /// As [`Server::connect`].
    pub fn connect_with_key(address: SocketAddr, client: [u8; 16], timeout: Duration, key: Option<&Key>) -> Result<Server, String> {
        let connect = |kind| Connection::open(address, client, kind, timeout, key);
        let both = connect(ChannelKind::Control).and_then(|control| Ok((control, connect(ChannelKind::Write)?)));
        let (control, write) = both.map_err(|error| format!("memory server {address}: {error}"))?;
        Ok(Server { address, control, write })
    }

    fn named<T>(&self, result: Result<T, String>) -> Result<T, String> {
        result.map_err(|error| format!("memory server {}: {error}", self.address))
    }

    /// Reserves memory for the region. A server that has just started may not have it yet, and is asked again until `wait` is over.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn map(&mut self, pages: u64, wait: Duration) -> Result<(), String> {
        let end = Instant::now() + wait;
        let message = Message::RegionMap { pages };
        loop {
            let answer = self.control.ask(&message, REGION);
            let (header, payload) = self.named(answer)?;
            match Message::decode(&header, &payload) {
                Ok(Message::RegionMapped { .. }) => return Ok(()),
                Ok(Message::Error { code: ErrorCode::NotYet, .. }) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
                other => return self.named(Err(unexpected(&message, &other))),
            }
        }
    }

    /// Writes pages, whose numbers ascend.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn write(&mut self, numbers: &[u64], bytes: &[u8]) -> Result<(), String> {
        debug_assert_eq!(numbers.len() * PAGE_SIZE, bytes.len());
        self.write.sequence += 1;
        let mut frame = Vec::new();
        encode_write(self.write.sequence, REGION, numbers, bytes, &mut frame);
        let answer = self.write.exchange(&mut frame, Op::Write);
        let (header, payload) = self.named(answer)?;
        match Message::decode(&header, &payload) {
            Ok(Message::WriteAck(ack)) if ack.content_crc == crc32c_of(&[bytes]) => Ok(()),
            Ok(Message::Error { code, text }) => self.named(Err(format!("WRITE was refused: {}: {text}", code.name()))),
            Ok(other) => self.named(Err(format!("WRITE was answered by {}", other.op().name()))),
            Err(error) => self.named(Err(format!("the answer to WRITE: {error}"))),
        }
    }

    /// One request about tracing. Returns the operation and the payload of the answer, which is one of those wanted.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn trace(&mut self, op: Op, payload: &[u8], want: &[Op]) -> Result<(Op, Vec<u8>), String> {
        let message = Message::Trace { op, payload };
        let answer = self.control.ask(&message, REGION);
        let (header, payload) = self.named(answer)?;
        match Message::decode(&header, &payload) {
            Ok(Message::Trace { op, .. }) if want.contains(&op) => Ok((op, payload)),
            other => self.named(Err(unexpected(&message, &other))),
        }
    }

    /// Gives the memory back. Waits for no server that did not answer before.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn leave(mut self) -> Result<(), String> {
        if self.control.lost || self.write.lost {
            return self.named(Err("it did not answer before, and keeps what it has until it misses us".to_owned()));
        }
        let answer = self.control.ask(&Message::Bye, 0);
        self.named(answer).map(drop)
    }
}

impl Connection {
    fn open(address: SocketAddr, client: [u8; 16], kind: ChannelKind, timeout: Duration, key: Option<&Key>) -> Result<Connection, String> {
        let stream = TcpStream::connect_timeout(&address, timeout).map_err(|error| format!("cannot connect: {error}"))?;
        let setup = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(timeout)))
            .and_then(|()| stream.set_write_timeout(Some(timeout)));
        setup.map_err(|error| format!("cannot set up the connection: {error}"))?;
        let mut connection = Connection { stream, sequence: 0, frames: None, lost: false };
        let hello = Hello::new(kind, 0, 1, client);
        let hello = if key.is_some() { hello.with_key(VERSION_ENCRYPTED) } else { hello };
        let (header, payload) = connection.ask(&Message::Hello(hello), 0)?;
        match (key, Message::decode(&header, &payload)) {
            (None, Ok(Message::HelloAck(_))) => Ok(connection),
            (Some(key), Ok(Message::Challenge(challenge))) => connection.prove(key, &hello, challenge),
            (_, other) => Err(unexpected(&Message::Hello(hello), &other)),
        }
    }

    /// Proves our key, and has the server prove its own.
    fn prove(mut self, key: &Key, hello: &Hello, challenge: [u8; 32]) -> Result<Connection, String> {
        let share = Share::draw(|bytes| rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map(drop))
            .map_err(|error| format!("no random numbers: {error}"))?;
        let client = proof::Client::new(key, hello, challenge, share);
        let prove = Message::Prove(client.prove());
        let (header, payload) = self.ask(&prove, 0)?;
        match Message::decode(&header, &payload) {
            Ok(Message::Proved(proved)) if client.is_proved(&proved) && proved.ack.version == VERSION_ENCRYPTED => {
                self.frames = Some(Box::new(client.frames(&proved)));
                Ok(self)
            }
            Ok(Message::Proved(_)) => Err("it has another key, or is not the server at all".to_owned()),
            other => Err(unexpected(&prove, &other)),
        }
    }

    fn ask(&mut self, message: &Message<'_>, region: u32) -> Result<Answer, String> {
        self.sequence += 1;
        let mut frame = Vec::new();
        message.encode(self.sequence, region, &mut frame);
        self.exchange(&mut frame, message.op())
    }

    fn exchange(&mut self, frame: &mut Vec<u8>, op: Op) -> Result<Answer, String> {
        let answer = self.one(frame, op);
        self.lost |= answer.is_err();
        answer
    }

    fn one(&mut self, frame: &mut Vec<u8>, op: Op) -> Result<Answer, String> {
        let name = op.name();
        let lost = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut => format!("{name} was not answered in time"),
            std::io::ErrorKind::UnexpectedEof => format!("the connection was closed in the place of an answer to {name}"),
            _ => format!("{name}: {error}"),
        };
        if let Some(frames) = &mut self.frames {
            frames.encrypt_frame(frame).map_err(|error| format!("{name}: {error}"))?;
        }
        self.stream.write_all(frame).map_err(lost)?;
        let mut head = [0; HEADER_LEN];
        self.stream.read_exact(&mut head).map_err(lost)?;
        let (version, tag) = if self.frames.is_some() { (VERSION_ENCRYPTED, TAG_LEN) } else { (VERSION_PLAIN, 0) };
        let header = Header::decode_of(&head, version).map_err(|error| format!("the answer to {name}: {error}"))?;
        let mut payload = vec![0; header.len as usize + tag];
        self.stream.read_exact(&mut payload).map_err(lost)?;
        let header = match &mut self.frames {
            None => header,
            Some(frames) => {
                let length = frames.decrypt(&header, &mut payload).map_err(|error| format!("the answer to {name}: {error}"))?;
                payload.truncate(length);
                header.as_plain(&payload)
            }
        };
        // An error about the connection answers no frame: its text says more.
        if header.sequence != self.sequence && !(header.op == Op::Error && header.sequence == 0) {
            return Err(format!("the answer to {name}, frame {}, says that it answers frame {}", self.sequence, header.sequence));
        }
        Ok((header, payload))
    }
}

fn unexpected(asked: &Message<'_>, answer: &Result<Message<'_>, lull_far_protocol::DecodeError>) -> String {
    let name = asked.op().name();
    match answer {
        Ok(Message::Error { code, text }) => format!("{name} was refused: {}: {text}", code.name()),
        Ok(other) => format!("{name} was answered by {}", other.op().name()),
        Err(error) => format!("the answer to {name}: {error}"),
    }
}
