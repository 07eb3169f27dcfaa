// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One memory server as the pager sees it: its identity, how it is greeted, whether it is lost. The connections to it: `fetch` are those
//! that faults fetch through, `channel` those of threads that may wait.

mod channel;
mod connect;
mod fetch;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lull_far_protocol::{ChannelKind, ErrorCode, Hello, HelloAck, MAX_PAGES_PER_FRAME, Message, PAGE_SIZE_LOG2, VERSION_MAX};

pub use channel::{Asked, Channel, Payload};
#[cfg(fuzzing)]
pub use fetch::fuzzing;
pub use fetch::{Ahead, FetchError, Held};

use crate::descriptors::Own;
use crate::syscall;
use crate::wait::Event;
use channel::receive;
use fetch::FetchConnection;

/// Fetch connections to each server: as many faults are served by it at once.
pub const FETCH_CONNECTIONS: usize = 4;

/// How long a single send or receive may stand still before the connection counts as broken.
pub const STILL: Duration = Duration::from_secs(2);

/// How long a server may take for its first answer of all.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

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

impl Server {
    /// Connects for the first time. `broken` is what the keeper sleeps at.
    ///
    /// # Errors
    /// Why not: the address, the version, a refusal.
    pub fn connect(name: &str, address: SocketAddr, client: [u8; 16], broken: Arc<Event>) -> Result<Server, LinkError> {
        let server = Server {
            name: name.to_owned(),
            address,
            client,
            session: Mutex::new(None),
            fetch: std::array::from_fn(|_| FetchConnection::new()),
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
    pub fn open(&self, kind: ChannelKind, channel: u16, generation: u64) -> Result<(Own<TcpStream>, HelloAck), LinkError> {
        let name = &self.name;
        let broken = |what: &str, error: &dyn std::fmt::Display| LinkError::Broken(format!("memory server {name}: {what}: {error}"));
        let mut stream = connect::connect(&self.address, STILL).map_err(|e| broken("cannot connect", &e))?;
        stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(STILL)))
            .and_then(|()| stream.set_write_timeout(Some(STILL)))
            .map_err(|e| broken("cannot set up the connection", &e))?;
        let hello = Hello::new(kind, channel, generation, self.client);
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
        let opened =
            self.fetch[index].renew(|generation| self.open(ChannelKind::Fetch, index as u16, generation).map(|(stream, _)| stream));
        self.changed.wake();
        opened
    }
}
