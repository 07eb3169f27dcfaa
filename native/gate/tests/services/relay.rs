// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Stands between a client of HTTP/2 and a server under the gate, and passes each request on in a pause: its head alone, half of its body with it,
//! or all of it. What is behind that goes on when the request has been answered, or the pause was too short for an answer. The first request of a
//! connection, which is always the application's, is passed on as it comes.
//!
//! Clients that give their bodies in parts wait for a file to be one byte longer: it is so with each request that went on.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use super::framing2::{CONTINUATION, DATA, END_STREAM, HEADERS, first};
use super::h2spec::Pauses;

/// How much of a request has come to the server when it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    Head,
    Middle,
    End,
}

impl Moment {
    pub const ALL: [Moment; 3] = [Moment::Head, Moment::Middle, Moment::End];

    pub fn name(self) -> &'static str {
        ["head", "middle", "end"][self as usize]
    }
}

const PREFACE: usize = 24;
/// Nothing more of the half of a body comes after so long.
const QUIET: Duration = Duration::from_millis(60);
/// An answer that is not there so long after the pause's end is the application's.
const LATE: Duration = Duration::from_millis(30);

/// What all connections have in common.
#[derive(Clone)]
pub struct Relay {
    pub server: u16,
    pub moment: Moment,
    pub pauses: Pauses,
    /// The file that gets longer.
    pub answers: PathBuf,
    /// Certificate and key, for a client that speaks HTTP/2 by TLS only.
    pub tls: Option<(&'static str, &'static str)>,
}

impl Relay {
    /// Begins, and gives the port.
    pub fn start(self) -> Result<u16, String> {
        File::create(&self.answers).map_err(|e| e.to_string())?;
        let config = self.tls.map(|(certificate, key)| tls(certificate, key)).transpose()?;
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        let port = listener.local_addr().map_err(|e| e.to_string())?.port();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (relay, config) = (self.clone(), config.clone());
                std::thread::spawn(move || {
                    let tls = config.map(|config| ServerConnection::new(config).expect("a configuration that was built"));
                    // Both streams end here, and with them the connections.
                    let _ = Connection::new(&relay, client, tls).and_then(|mut connection| connection.run());
                });
            }
        });
        Ok(port)
    }
}

fn tls(certificate: &str, key: &str) -> Result<Arc<ServerConfig>, String> {
    let certificate = CertificateDer::from_pem_file(certificate).map_err(|e| e.to_string())?;
    let key = PrivateKeyDer::from_pem_file(key).map_err(|e| e.to_string())?;
    let config = ServerConfig::builder_with_provider(rustls::crypto::ring::default_provider().into()).with_safe_default_protocol_versions();
    let config = config.map_err(|e| e.to_string())?.with_no_client_auth().with_single_cert(vec![certificate], key);
    let mut config = config.map_err(|e| e.to_string())?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config))
}

/// A request that is not yet the server's.
struct Held {
    stream: u32,
    /// What is passed on in the pause.
    part: Vec<u8>,
    /// What has come behind it.
    rest: Vec<u8>,
    /// The part is whole.
    is_ready: bool,
    has_data: bool,
    last: Instant,
    /// Since when the server has the part, and since when the pause is over.
    passed: bool,
    ended: Option<Instant>,
    answered: bool,
}

struct Connection<'a> {
    relay: &'a Relay,
    client: TcpStream,
    tls: Option<ServerConnection>,
    server: TcpStream,
    from_client: Vec<u8>,
    from_server: Vec<u8>,
    preface: usize,
    /// The first request's stream.
    first: Option<u32>,
    held: Option<Held>,
    over: bool,
}

impl<'a> Connection<'a> {
    fn new(relay: &'a Relay, client: TcpStream, tls: Option<ServerConnection>) -> std::io::Result<Connection<'a>> {
        let server = TcpStream::connect(("127.0.0.1", relay.server))?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
        }
        let buffers = (Vec::new(), Vec::new());
        Ok(Connection {
            relay,
            client,
            tls,
            server,
            from_client: buffers.0,
            from_server: buffers.1,
            preface: PREFACE,
            first: None,
            held: None,
            over: false,
        })
    }

    fn run(&mut self) -> std::io::Result<()> {
        while !self.over {
            let mut polled =
                [&self.client, &self.server].map(|stream| libc::pollfd { fd: stream.as_raw_fd(), events: libc::POLLIN, revents: 0 });
            // SAFETY: both are there.
            unsafe { libc::poll(polled.as_mut_ptr(), 2, if self.held.is_some() { 1 } else { -1 }) };
            self.read_client()?;
            self.pass_frames()?;
            self.read_server()?;
            self.step()?;
        }
        Ok(())
    }

    /// All that the client has sent by now.
    fn read_client(&mut self) -> std::io::Result<()> {
        let Some(tls) = &mut self.tls else {
            self.over |= read(&mut self.client, &mut self.from_client)?;
            return Ok(());
        };
        loop {
            match tls.read_tls(&mut self.client) {
                Ok(0) => {
                    self.over = true;
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            tls.process_new_packets().map_err(std::io::Error::other)?;
            match tls.reader().read_to_end(&mut self.from_client) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        self.flush_tls()
    }

    fn flush_tls(&mut self) -> std::io::Result<()> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        while tls.wants_write() {
            match tls.write_tls(&mut self.client) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait_to_write(&self.client),
                other => drop(other?),
            }
        }
        Ok(())
    }

    /// What the client has sent goes to the server, or is held.
    fn pass_frames(&mut self) -> std::io::Result<()> {
        if self.preface > 0 {
            let count = self.preface.min(self.from_client.len());
            write(&mut self.server, &self.from_client[..count])?;
            self.from_client.drain(..count);
            self.preface -= count;
        }
        while let Some((kind, flags, stream, whole)) = first(&self.from_client) {
            let whole = whole.to_vec();
            self.from_client.drain(..whole.len());
            if kind == HEADERS && self.first.is_none() {
                self.first = Some(stream);
            }
            let is_new = kind == HEADERS && Some(stream) != self.first && self.held.as_ref().is_none_or(|held| held.stream != stream);
            if is_new {
                // There is one request at a time: that before it was given up.
                self.release()?;
                self.held = Some(Held {
                    stream,
                    part: vec![],
                    rest: vec![],
                    is_ready: false,
                    has_data: false,
                    last: Instant::now(),
                    passed: false,
                    ended: None,
                    answered: false,
                });
            }
            match &mut self.held {
                Some(held) if held.stream == stream => held.take(self.relay.moment, kind, flags, &whole),
                _ => write(&mut self.server, &whole)?,
            }
        }
        Ok(())
    }

    /// What the server says is passed on; the end of an answer is noticed.
    fn read_server(&mut self) -> std::io::Result<()> {
        self.over |= read(&mut self.server, &mut self.from_server)?;
        let mut whole = 0;
        while let Some((kind, _, stream, frame)) = first(&self.from_server[whole..]) {
            whole += frame.len();
            if let Some(held) = &mut self.held {
                held.answered |= kind == HEADERS && stream == held.stream;
            }
        }
        let bytes: Vec<u8> = self.from_server.drain(..whole).collect();
        match &mut self.tls {
            None => write(&mut self.client, &bytes)?,
            Some(tls) => {
                tls.writer().write_all(&bytes)?;
                self.flush_tls()?;
            }
        }
        Ok(())
    }

    /// Passes the part on, or lets the rest go.
    fn step(&mut self) -> std::io::Result<()> {
        let Some(held) = &mut self.held else { return Ok(()) };
        held.is_ready |= self.relay.moment == Moment::Middle && held.has_data && held.last.elapsed() > QUIET;
        let stopped = self.relay.pauses.is_stopped();
        if !held.passed {
            if held.is_ready && stopped {
                held.passed = true;
                write(&mut self.server, &held.part)?;
            }
            return Ok(());
        }
        if !stopped {
            held.ended.get_or_insert_with(Instant::now);
        }
        if held.answered || held.ended.is_some_and(|ended| ended.elapsed() > LATE) {
            self.release()?;
        }
        Ok(())
    }

    fn release(&mut self) -> std::io::Result<()> {
        let Some(held) = self.held.take() else { return Ok(()) };
        File::options().append(true).open(&self.relay.answers)?.write_all(b".")?;
        // Its frames are as those of any other stream from now on.
        self.first = Some(held.stream);
        if !held.passed {
            write(&mut self.server, &held.part)?;
        }
        write(&mut self.server, &held.rest)
    }
}

impl Held {
    fn take(&mut self, moment: Moment, kind: u8, flags: u8, frame: &[u8]) {
        self.last = Instant::now();
        let is_part = !self.is_ready || kind == CONTINUATION;
        if is_part && !(moment == Moment::Head && kind == DATA) {
            self.part.extend(frame)
        } else {
            self.rest.extend(frame)
        }
        self.has_data |= kind == DATA;
        let ends = flags & END_STREAM != 0 && matches!(kind, HEADERS | DATA);
        let has_head = matches!(kind, HEADERS | CONTINUATION) && flags & super::framing2::END_HEADERS != 0;
        self.is_ready |= ends || (moment == Moment::Head && has_head);
    }
}

/// All that is there; whether the stream has ended.
fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut buffer = [0; 64 << 10];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// All of it, however long that takes.
fn write(stream: &mut TcpStream, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait_to_write(stream),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn wait_to_write(stream: &TcpStream) {
    let mut polled = libc::pollfd { fd: stream.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: it is there.
    unsafe { libc::poll(&raw mut polled, 1, 100) };
}
