// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One client of the TLS that the gate serves: its connection, which is encrypted, and one to the application, which is not.
//!
//! The relay looks at no request. What comes of the client goes to the application's port, where [`crate::connection`] follows it like any other
//! connection's; what is written there, by the application or by the gate in its place, goes to the client. The invariants, by name:
//!
//! * **R** (relayed): each byte of the one is written to the other once, in order, or the connection ends.
//! * **B** (bounded): of each direction, no more is read before what was read is written. So a relay holds one read's bytes of each, and
//!   what of a record is not yet complete.
//! * **E** (ends): an end is passed on as an end, behind all bytes before it; what breaks, breaks: a client is told by `close_notify` that
//!   all has come only if the application has ended its side, and an application sees an end only if its client has ended its own. That is by
//!   `close_notify`, or by TCP alone: many clients say no more. A record that is wrong, or a client's reset, breaks the application's connection.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};

use crate::tls::kernel;

/// So many bytes are read at once: a record's.
pub const READ: usize = 16 * 1024;

/// So often both sides are read in one turn: others have a turn, too.
const MOST_ROUNDS: usize = 16;

/// For who speaks plain HTTP. A client that has sent more than is read may not see it.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 54\r\nConnection: close\r\n\r\n\
    This port speaks TLS: the request is to be for https.\n";

/// Where what clients send goes, by what the handshake says that they speak. At least one is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Targets {
    /// The application's port of HTTP/1.1.
    pub http1: Option<u16>,
    /// The application's port of HTTP/2.
    pub http2: Option<u16>,
}

/// Names of protocols in the handshake (RFC 7301).
const H2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

impl Targets {
    /// What is offered, the better one first.
    pub fn alpn(&self) -> Vec<Vec<u8>> {
        [self.http2.map(|_| H2.to_vec()), self.http1.map(|_| HTTP1.to_vec())].into_iter().flatten().collect()
    }

    /// The application's, all of them.
    pub fn ports(&self) -> impl Iterator<Item = u16> + use<> {
        [self.http1, self.http2].into_iter().flatten()
    }

    /// The port for who has chosen that, or has not been able to choose: HTTP/1.1, if there is that.
    pub fn port(&self, chosen: Option<&[u8]>) -> Option<u16> {
        if chosen == Some(H2) { self.http2 } else { self.http1.or(self.http2) }
    }
}

/// What the kernel says of the two connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ready {
    /// The client's can be read.
    pub from_client: bool,
    /// The application's can be read.
    pub from_application: bool,
}

/// What is waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// Bytes of the client.
    pub from_client: bool,
    /// Room for bytes to the client.
    pub to_client: bool,
    /// Bytes of the application.
    pub from_application: bool,
    /// Room for bytes to the application, or that the connection is made.
    pub to_application: bool,
}

/// Why a relay is over.
#[derive(Debug)]
pub enum Over {
    /// Both sides have ended, or one of them has broken.
    Ended,
    /// The application's port is not to be had.
    Unreachable(u16, io::Error),
}

/// How far the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing is known of it, and it has so long.
    Handshake,
    /// That has failed, and it is told so.
    Failed,
    /// It is relayed.
    Open,
    /// It has been told the end, and is read until its own, for what it has sent meanwhile would have the kernel drop what it is told.
    Ending,
}

impl Stage {
    /// Whether it has not shown that it is in earnest.
    pub fn is_unknown(self) -> bool {
        matches!(self, Stage::Handshake | Stage::Failed)
    }

    /// Whether nothing of the application's comes any more.
    fn is_over(self) -> bool {
        matches!(self, Stage::Failed | Stage::Ending)
    }
}

/// One client.
pub struct Relay {
    client: TcpStream,
    peer: SocketAddr,
    tls: ServerConnection,
    application: Option<TcpStream>,
    /// Until the connection to the application is made.
    is_connecting: bool,
    port: u16,
    stage: Stage,
    /// Whether any byte has come.
    has_begun: bool,
    /// Why the handshake failed, until somebody has asked.
    failure: Option<String>,
    /// What the client has sent and the application has not had, from `up_begin` on.
    up: Vec<u8>,
    up_begin: usize,
    /// For the client, and not encrypted.
    plain: &'static [u8],
    /// A write has found the application's connection broken: the kernel says so once, and to a read behind it that there was an end.
    application_broke: bool,
    /// The client has ended its side; the application has been told.
    client_ended: bool,
    application_told: bool,
    /// The client has been told the end.
    client_told: bool,
    /// So many bytes the client's connection has taken.
    taken: u64,
}

impl Relay {
    /// A client that was just accepted.
    ///
    /// # Errors
    /// What rustls says of its own configuration.
    pub fn new(client: TcpStream, peer: SocketAddr, config: Arc<ServerConfig>) -> Result<Relay, rustls::Error> {
        let tls = ServerConnection::new(config)?;
        Ok(Relay {
            client,
            peer,
            tls,
            application: None,
            is_connecting: false,
            port: 0,
            stage: Stage::Handshake,
            has_begun: false,
            failure: None,
            up: Vec::new(),
            up_begin: 0,
            plain: &[],
            application_broke: false,
            client_ended: false,
            application_told: false,
            client_told: false,
            taken: 0,
        })
    }

    /// The client's connection.
    pub fn client(&self) -> &TcpStream {
        &self.client
    }

    /// The application's, if there is one.
    pub fn application(&self) -> Option<&TcpStream> {
        self.application.as_ref()
    }

    /// Who the client is.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// How far it is.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Why the handshake has failed, once.
    pub fn take_failure(&mut self) -> Option<String> {
        self.failure.take()
    }

    /// Whether something has been read and not written (invariant B).
    pub fn holds(&self) -> bool {
        self.tls.wants_write() || !self.plain.is_empty() || (self.has_up() && self.stage == Stage::Open)
    }

    /// Whether there is something for the client that it does not take. The application is not read meanwhile, so that its end is not seen.
    pub fn is_blocked(&self) -> bool {
        self.tls.wants_write()
    }

    /// Whether the client has been told that nothing more comes, behind all that there was for it.
    pub fn is_told(&self) -> bool {
        self.client_told
    }

    /// How many bytes the client's connection has taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    fn has_up(&self) -> bool {
        self.up_begin < self.up.len()
    }

    /// Does what can be done now. `scratch` is [`READ`] bytes long.
    ///
    /// # Errors
    /// Why it is over.
    pub fn turn(&mut self, mut ready: Ready, targets: Targets, scratch: &mut [u8]) -> Result<Waits, Over> {
        for _ in 0..MOST_ROUNDS {
            let mut progress = self.read_client(&mut ready, scratch)?;
            if self.stage == Stage::Handshake && !self.tls.is_handshaking() {
                self.connect(targets)?;
                progress = true;
            }
            progress |= self.write_application()?;
            progress |= self.read_application(&mut ready, scratch)?;
            progress |= self.write_client()?;
            // The client may have ended long before, and have no room yet for the last that it is told; or the application none for its last.
            if self.stage.is_over() && self.client_ended && self.client_told && !self.has_up() {
                return Err(Over::Ended);
            }
            if !progress {
                break;
            }
        }
        Ok(self.waits())
    }

    /// What a turn has to wait for.
    fn waits(&self) -> Waits {
        let can_read_application = self.stage == Stage::Open && !self.is_connecting && self.application.is_some();
        Waits {
            from_client: !self.client_ended && !self.has_up(),
            to_client: self.tls.wants_write() || !self.plain.is_empty(),
            from_application: can_read_application && !self.tls.wants_write(),
            to_application: self.application.is_some() && (self.has_up() || self.is_connecting),
        }
    }

    fn read_client(&mut self, ready: &mut Ready, scratch: &mut [u8]) -> Result<bool, Over> {
        if !ready.from_client || self.client_ended || self.has_up() {
            return Ok(false);
        }
        let length = match read(&mut self.client, scratch, &mut ready.from_client) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(false),
            Err(_) => return Err(self.broken()),
        };
        let bytes = &scratch[..length];
        if length == 0 {
            if self.stage == Stage::Handshake {
                return Err(Over::Ended);
            }
            self.client_ended = true;
        } else if self.stage.is_over() && self.application.is_none() {
            // Nobody is to have it.
        } else if !std::mem::replace(&mut self.has_begun, true) && bytes[0].is_ascii_uppercase() {
            // A record begins with its type, 22; a request with its method.
            self.plain = PLAIN;
            self.fail("a request without TLS".to_string());
        } else if let Err(error) = self.decrypt(bytes) {
            // What the client is told of it, rustls has written; behind that nothing comes.
            self.fail(error.to_string());
        }
        Ok(true)
    }

    /// The client cannot go on; the application sees its connection break.
    fn fail(&mut self, reason: String) {
        let is_unknown = self.stage == Stage::Handshake;
        self.failure = is_unknown.then_some(reason);
        self.break_application();
        self.up.clear();
        self.up_begin = 0;
        self.stage = if is_unknown { Stage::Failed } else { Stage::Ending };
    }

    /// The client has broken its connection.
    fn broken(&mut self) -> Over {
        self.break_application();
        Over::Ended
    }

    /// The application's connection breaks, if it is there: what has come over it is not taken for all that there was to come.
    pub fn break_application(&mut self) {
        if let Some(application) = self.application.take() {
            kernel::break_off(application);
        }
    }

    /// All of `bytes`, so that no more than one record is kept by rustls, and no plain text.
    fn decrypt(&mut self, mut bytes: &[u8]) -> Result<(), rustls::Error> {
        while !bytes.is_empty() && !self.client_ended {
            // What it reads of is memory: it fails for a message that is too long only.
            let taken = self.tls.read_tls(&mut bytes).map_err(|error| rustls::Error::General(error.to_string()))?;
            let state = self.tls.process_new_packets()?;
            let length = state.plaintext_bytes_to_read();
            if length > 0 {
                let begin = self.up.len();
                self.up.resize(begin + length, 0);
                self.tls.reader().read_exact(&mut self.up[begin..]).map_err(|error| rustls::Error::General(error.to_string()))?;
            }
            // What comes behind the client's end is nothing.
            self.client_ended = state.peer_has_closed() || taken == 0;
        }
        Ok(())
    }

    /// To the application's port of what the client speaks.
    fn connect(&mut self, targets: Targets) -> Result<(), Over> {
        let port = targets.port(self.tls.alpn_protocol()).ok_or(Over::Ended)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        self.application = Some(kernel::connect(address).map_err(|error| Over::Unreachable(port, error))?);
        (self.port, self.is_connecting, self.stage) = (port, true, Stage::Open);
        Ok(())
    }

    /// Whether the connection to the application is made; an application that listens on IPv6 only is found, too.
    fn is_connected(&mut self) -> Result<bool, Over> {
        let Some(application) = &self.application else { return Ok(false) };
        let was_v4 = application.local_addr().is_ok_and(|address| address.is_ipv4());
        match kernel::connected(application) {
            Ok(is) => self.is_connecting = !is,
            Err(_) if was_v4 => {
                let address = SocketAddr::from((Ipv6Addr::LOCALHOST, self.port));
                self.application = Some(kernel::connect(address).map_err(|error| Over::Unreachable(self.port, error))?);
            }
            Err(error) => return Err(Over::Unreachable(self.port, error)),
        }
        Ok(!self.is_connecting)
    }

    fn write_application(&mut self) -> Result<bool, Over> {
        if self.is_connecting && !self.is_connected()? {
            return Ok(false);
        }
        let Some(application) = &mut self.application else { return Ok(false) };
        let mut progress = false;
        while self.up_begin < self.up.len() {
            match kernel::send(application, &self.up[self.up_begin..]) {
                Ok(n) => {
                    self.up_begin += n;
                    progress = true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(progress),
                // It reads no more, but what it has written may still be there. Behind an end that came before there is EPIPE.
                Err(error) => {
                    self.application_broke |= error.kind() != io::ErrorKind::BrokenPipe;
                    self.up_begin = self.up.len();
                }
            }
        }
        self.up.clear();
        self.up_begin = 0;
        // A client that has sent much once does not hold the memory for it.
        self.up.shrink_to(READ);
        if self.client_ended && !self.application_told {
            self.application_told = true;
            let _ = application.shutdown(Shutdown::Write);
        }
        Ok(progress)
    }

    fn read_application(&mut self, ready: &mut Ready, scratch: &mut [u8]) -> Result<bool, Over> {
        if !ready.from_application || self.is_connecting || self.stage != Stage::Open || self.tls.wants_write() {
            return Ok(false);
        }
        let Some(application) = &mut self.application else { return Ok(false) };
        // An application that breaks its connection breaks the client's (invariant E).
        let Some(length) = read(application, scratch, &mut ready.from_application).map_err(|_| Over::Ended)? else { return Ok(false) };
        if length == 0 {
            if self.application_broke {
                return Err(Over::Ended);
            }
            self.tls.send_close_notify();
            self.stage = Stage::Ending;
        } else {
            // One read's bytes always fit, for there is nothing before them.
            self.tls.writer().write_all(&scratch[..length]).map_err(|_| Over::Ended)?;
        }
        Ok(true)
    }

    fn write_client(&mut self) -> Result<bool, Over> {
        if !self.plain.is_empty() {
            match kernel::send(&self.client, self.plain) {
                Ok(n) => self.plain = &self.plain[n..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(self.broken()),
            }
        }
        let mut progress = false;
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut kernel::Sender(&self.client)) {
                Ok(n) => {
                    self.taken += n as u64;
                    progress = true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(progress),
                Err(_) => return Err(self.broken()),
            }
        }
        if self.stage.is_over() && !self.client_told {
            self.client_told = true;
            let _ = self.client.shutdown(Shutdown::Write);
        }
        Ok(progress)
    }
}

/// A read that does not block: `None` if there is nothing, which `ready` then says, too; also if there was less than fits.
fn read(from: &mut TcpStream, scratch: &mut [u8], ready: &mut bool) -> io::Result<Option<usize>> {
    match from.read(scratch) {
        Ok(n) => {
            *ready = n == 0 || n == scratch.len();
            Ok(Some(n))
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            *ready = false;
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
