// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! DATA without an end on streams that the gate has answered, in live event loops: such a connection ends once more has come than its windows
//! allow, and other connections of the same loops are served on.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::framing2::{ACK, END_HEADERS, END_STREAM, GOAWAY, HEADER, HEADERS, SETTINGS, block, first, frame};
use super::server::Server;
use super::{PARALLEL, Setting};

const DATA: u8 = 0;
const RST_STREAM: u8 = 3;
const FLOW_CONTROL_ERROR: u32 = 3;
/// GET and POST by their places in the static table.
const GET: u8 = 0x82;
const POST: u8 = 0x83;
/// The table's new size, 0 (RFC 7541, 6.3).
const NO_TABLE: u8 = 0x20;
/// Services by their event loops.
pub const MODES: [&str; 3] = ["h2-nio", "grpc-nio", "grpc-epoll"];
/// Two event loops, some of whose clients flood.
const FLOODS: usize = 4;
const OTHERS: usize = 4;
/// What a client may get rid of: the windows, what the gate lets in of a body, and all buffers between. A service that takes all takes more.
const MOST: u64 = 64 << 20;
const PATIENCE: Duration = Duration::from_secs(120);

/// What has come of a stream.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Busy,
    /// By the service, whatever it says.
    Answered,
    NotYet,
}

struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    next: u32,
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

impl Client {
    /// A connection with a first request, which is the service's to answer.
    fn connect(port: u16) -> Result<Client, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(text)?;
        stream.set_nodelay(true).map_err(text)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(text)?;
        let mut client = Client { stream, received: Vec::new(), next: 1 };
        client.stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").map_err(text)?;
        client.stream.write_all(&frame(SETTINGS, 0, 0, &[])).map_err(text)?;
        client.request()?;
        Ok(client)
    }

    fn begin(&mut self, method: u8, flags: u8) -> Result<u32, String> {
        let stream = self.next;
        self.next += 2;
        // The table has no size, as the gate has demanded: a client says so.
        let fields = [&[NO_TABLE][..], &block(method, &format!("/{stream}"))].concat();
        self.stream.write_all(&frame(HEADERS, END_HEADERS | flags, stream, &fields)).map_err(text)?;
        Ok(stream)
    }

    /// A whole request, until it is answered by whomever.
    fn request(&mut self) -> Result<End, String> {
        let stream = self.begin(GET, END_STREAM)?;
        match self.end(stream, PATIENCE)? {
            End::NotYet => Err(format!("stream {stream} has no answer")),
            end => Ok(end),
        }
    }

    /// What comes of a stream within so long.
    fn end(&mut self, stream: u32, within: Duration) -> Result<End, String> {
        let give_up = Instant::now() + within;
        let mut busy = false;
        loop {
            while let Some((kind, flags, of, whole)) =
                first(&self.received).map(|(kind, flags, of, whole)| (kind, flags, of, whole.to_vec()))
            {
                self.received.drain(..whole.len());
                if kind == SETTINGS && flags & ACK == 0 {
                    self.stream.write_all(&frame(SETTINGS, ACK, 0, &[])).map_err(text)?;
                }
                if kind == GOAWAY {
                    return Err(format!("the connection ends: {whole:?}"));
                }
                busy |= kind == HEADERS && of == stream && whole.windows(10).any(|part| part == b"busy-until");
                if of == stream && (kind == RST_STREAM || (kind <= HEADERS && flags & END_STREAM != 0)) {
                    return Ok(if busy { End::Busy } else { End::Answered });
                }
            }
            let left = give_up.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(End::NotYet);
            }
            self.stream.set_read_timeout(Some(left)).map_err(text)?;
            let mut buffer = [0; 16384];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(format!("the connection has ended before stream {stream} has")),
                Ok(n) => self.received.extend_from_slice(&buffer[..n]),
                Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {}
                Err(error) => return Err(format!("stream {stream}: {error}")),
            }
        }
    }

    /// A stream that was told busy, and whose body has not ended.
    fn answered(&mut self) -> Result<u32, String> {
        let give_up = Instant::now() + PATIENCE;
        while Instant::now() < give_up {
            let stream = self.begin(POST, 0)?;
            match self.end(stream, Duration::from_millis(20))? {
                End::Busy => return Ok(stream),
                End::Answered => {}
                End::NotYet => {
                    self.stream.write_all(&frame(DATA, END_STREAM, stream, b"hello")).map_err(text)?;
                    self.end(stream, PATIENCE)?;
                }
            }
        }
        Err("no request was told busy".to_string())
    }

    /// Sends on such a stream until the connection ends. How many bytes went away, and the reason that was given, if that came before the end.
    fn flood(&mut self, stream: u32) -> Result<(u64, Option<u32>), String> {
        let piece = frame(DATA, 0, stream, &[0; 16384]);
        self.stream.set_nonblocking(true).map_err(text)?;
        let (mut sent, mut from, mut moved) = (0, 0, Instant::now());
        let mut buffer = [0; 16384];
        while sent < MOST && moved.elapsed() < PATIENCE {
            match self.stream.write(&piece[from..]) {
                Ok(n) => {
                    (sent, from, moved) = (sent + n as u64, (from + n) % piece.len(), Instant::now());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
                Err(_) => break,
            }
            match self.stream.read(&mut buffer) {
                Ok(n) if n > 0 => self.received.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                _ => break,
            }
        }
        if sent >= MOST || moved.elapsed() >= PATIENCE {
            return Err(format!("{sent} bytes went away on an answered stream, and the connection goes on"));
        }
        while let Some((kind, _, _, whole)) = first(&self.received) {
            if kind == GOAWAY {
                let code = whole[HEADER + 4..HEADER + 8].try_into().map_or(0, u32::from_be_bytes);
                return Ok((sent, Some(code)));
            }
            let length = whole.len();
            self.received.drain(..length);
        }
        Ok((sent, None))
    }
}

/// Requests on one connection until told to stop; `served` counts them.
fn serve(port: u16, stop: &AtomicBool, served: &AtomicU64) -> Result<(), String> {
    let mut client = Client::connect(port)?;
    while !stop.load(Ordering::Relaxed) {
        client.request()?;
        served.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// One of [`MODES`].
pub fn flood(setting: &Setting, mode: &str) -> Result<String, String> {
    let mut server = Server::start_with(&setting.jdk, PARALLEL, "h2-port", "deadline=1", &[mode, "150", "300"])?;
    let (stop, served) = (&AtomicBool::new(false), [const { AtomicU64::new(0) }; OTHERS]);
    let port = server.port;
    let floods = || -> Result<Vec<(u64, Option<u32>)>, String> {
        let mut ends = Vec::new();
        for _ in 0..FLOODS {
            let mut client = Client::connect(port)?;
            let stream = client.answered()?;
            let before: Vec<u64> = served.iter().map(|served| served.load(Ordering::Relaxed)).collect();
            ends.push(client.flood(stream)?);
            // Each of the others is answered behind it.
            let give_up = Instant::now() + PATIENCE;
            while served.iter().zip(&before).any(|(served, before)| served.load(Ordering::Relaxed) < before + 2) {
                if Instant::now() > give_up {
                    return Err("another connection is not answered any more".to_string());
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Ok(ends)
    };
    let ends = std::thread::scope(|scope| {
        let others: Vec<_> = served.iter().map(|served| scope.spawn(move || serve(port, stop, served))).collect();
        let ends = floods();
        stop.store(true, Ordering::Relaxed);
        for other in others {
            other.join().unwrap_or(Err("a panic".to_string())).map_err(|error| format!("another connection: {error}"))?;
        }
        ends
    })?;
    server.stop()?;
    if let Some((sent, Some(code))) = ends.iter().find(|(_, code)| code.is_some_and(|code| code != FLOW_CONTROL_ERROR)) {
        return Err(format!("after {sent} bytes the connection ended by {code}"));
    }
    // Its end may reach a client that still sends before the reason does.
    let told = ends.iter().filter(|(_, code)| code.is_some()).count();
    let most = ends.iter().map(|(sent, _)| sent).max().copied().unwrap_or(0);
    let served: u64 = served.iter().map(|served| served.load(Ordering::Relaxed)).sum();
    Ok(format!("{FLOODS} floods ended after {most} bytes at most, {told} of them with the reason; {served} requests of others answered"))
}
