// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Short pages over HTTP/1.1, for metrics and health checks, by one thread. Nobody waits for anybody else: a visitor that says nothing, or
//! reads nothing, has a place and a time, and whoever comes when all places are taken gets the place of who has had one longest.
//!
//! Each connection is for one request without a body, and closed behind its answer.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Visitors at once.
const PLACES: usize = 64;

/// A request has come, and its answer gone, within this.
const LIMIT: Duration = Duration::from_secs(2);

/// A longer head is none.
const LONGEST: usize = 4096;

/// A visitor.
struct Visitor {
    stream: TcpStream,
    /// When its place is taken away.
    deadline: Instant,
    head: Vec<u8>,
    answer: Vec<u8>,
    sent: usize,
}

/// What becomes of a visitor.
#[derive(PartialEq, Eq)]
enum Next {
    Stays,
    Goes,
}

/// Serves until `stop` says so, which is asked each `look`, if there is one. `answer` makes the whole answer to a head, which ends with its
/// empty line; none: the connection is closed.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(
    listener: &TcpListener,
    look: Option<Duration>,
    stop: impl Fn() -> bool,
    answer: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> io::Result<()> {
    serve_within(LIMIT, listener, look, stop, answer)
}

fn serve_within(
    limit: Duration,
    listener: &TcpListener,
    look: Option<Duration>,
    stop: impl Fn() -> bool,
    mut answer: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut visitors: Vec<Visitor> = Vec::new();
    while !stop() {
        let ready = wait(listener, &visitors, look);
        let now = Instant::now();
        let mut at = 0;
        visitors.retain_mut(|visitor| {
            at += 1;
            let next = if ready.get(at).copied().unwrap_or(false) { visitor.go_on(&mut answer) } else { Next::Stays };
            next == Next::Stays && now < visitor.deadline
        });
        if ready.first().copied().unwrap_or(false) {
            welcome(listener, &mut visitors, now + limit);
        }
    }
    Ok(())
}

/// Waits until something can be done: for the listener, and for each visitor.
fn wait(listener: &TcpListener, visitors: &[Visitor], look: Option<Duration>) -> Vec<bool> {
    let entry = |fd, events| libc::pollfd { fd, events, revents: 0 };
    let of = |visitor: &Visitor| entry(visitor.stream.as_raw_fd(), if visitor.answer.is_empty() { libc::POLLIN } else { libc::POLLOUT });
    let mut entries: Vec<libc::pollfd> =
        std::iter::once(entry(listener.as_raw_fd(), libc::POLLIN)).chain(visitors.iter().map(of)).collect();
    let now = Instant::now();
    let first = visitors.iter().map(|visitor| visitor.deadline.saturating_duration_since(now)).chain(look).min();
    // Rounded up, so that a deadline is over when its time has come.
    let milliseconds = first.map_or(-1, |wait| i32::try_from(wait.as_millis() + 1).unwrap_or(i32::MAX));
    // SAFETY: as many entries as are said; the kernel writes into them only.
    let count = unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, milliseconds) };
    if count < 0 {
        // A signal, or no memory.
        std::thread::sleep(Duration::from_millis(1));
        return vec![false; entries.len()];
    }
    entries.iter().map(|entry| entry.revents != 0).collect()
}

fn welcome(listener: &TcpListener, visitors: &mut Vec<Visitor>, deadline: Instant) {
    // As many as there are places, so that those who are there have their turn, too.
    for _ in 0..PLACES {
        match listener.accept() {
            Ok((stream, _)) if stream.set_nonblocking(true).is_ok() => {
                if visitors.len() >= PLACES {
                    visitors.remove(0);
                }
                visitors.push(Visitor { stream, deadline, head: Vec::new(), answer: Vec::new(), sent: 0 });
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return,
            Err(_) => {
                // Out of descriptors, mostly, and the listener stays ready: not as fast as the processor can.
                std::thread::sleep(Duration::from_millis(10));
                return;
            }
        }
    }
}

impl Visitor {
    fn go_on(&mut self, answer: &mut impl FnMut(&[u8]) -> Option<Vec<u8>>) -> Next {
        if self.answer.is_empty() {
            match self.hear() {
                Ok(None) => return Next::Stays,
                Ok(Some(end)) => match answer(&self.head[..end]) {
                    Some(text) if !text.is_empty() => self.answer = text,
                    _ => return Next::Goes,
                },
                Err(_) => return Next::Goes,
            }
        }
        match self.say() {
            Ok(false) => Next::Stays,
            _ => Next::Goes,
        }
    }

    /// Where the head ends, when all of it has come.
    fn hear(&mut self) -> io::Result<Option<usize>> {
        let mut buffer = [0; LONGEST];
        match self.stream.read(&mut buffer[..LONGEST - self.head.len()]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => self.head.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(None),
            Err(error) => return Err(error),
        }
        match end_of_head(&self.head) {
            None if self.head.len() == LONGEST => Err(ErrorKind::InvalidData.into()),
            end => Ok(end),
        }
    }

    /// Whether all has been said.
    fn say(&mut self) -> io::Result<bool> {
        while self.sent < self.answer.len() {
            match self.stream.write(&self.answer[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        let _ = self.stream.shutdown(Shutdown::Write);
        Ok(true)
    }
}

fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4)
}

/// The first line of a head: method and target.
#[must_use]
pub fn first_line(head: &[u8]) -> (&[u8], &[u8]) {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ');
    (words.next().unwrap_or_default(), words.next().unwrap_or_default())
}

/// Whether a request to an address that only this machine can reach names this machine as who it asks: else a browser here was made to believe
/// that somebody else's name leads here (DNS rebinding), and that one's page would read the answer.
#[must_use]
pub fn names_this_machine(head: &[u8]) -> bool {
    let mut hosts = head.split(|&byte| byte == b'\n').skip(1).filter_map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        line[..colon].eq_ignore_ascii_case(b"host").then(|| line[colon + 1..].trim_ascii())
    });
    match (hosts.next(), hosts.next()) {
        // HTTP/1.0: no browser.
        (None, _) => true,
        (Some(host), None) => std::str::from_utf8(host).is_ok_and(is_this_machine),
        _ => false,
    }
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Longer than a test on a busy machine.
    const LONG: Duration = Duration::from_secs(60);

    struct Served {
        address: SocketAddr,
        asked: Arc<AtomicUsize>,
        enough: Arc<AtomicBool>,
    }

    fn served(length: usize, limit: Duration) -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, enough) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let served = Served { address, asked: Arc::clone(&asked), enough: Arc::clone(&enough) };
        std::thread::spawn(move || {
            let stop = || enough.load(Ordering::Relaxed);
            serve_within(limit, &listener, Some(Duration::from_millis(50)), stop, |head| {
                asked.fetch_add(1, Ordering::Relaxed);
                (first_line(head).1 == b"/page").then(|| vec![b'x'; length])
            })
        });
        served
    }

    impl Drop for Served {
        fn drop(&mut self) {
            self.enough.store(true, Ordering::Relaxed);
        }
    }

    fn connect(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    fn ask(address: SocketAddr, target: &str) -> Vec<u8> {
        let mut stream = connect(address);
        write!(stream, "GET {target} HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }

    /// The silent ones keep their connections until others need their places: who asks is answered before the first of them is given up.
    #[test]
    fn who_asks_does_not_wait_for_who_says_nothing() {
        let served = served(100, LONG);
        let silent: Vec<TcpStream> = (0..2 * PLACES).map(|_| connect(served.address)).collect();
        let mut half = connect(served.address);
        half.write_all(b"GET /pa").unwrap();
        assert_eq!(ask(served.address, "/page"), [b'x'; 100]);
        // The last of the silent ones still has its place, so that nobody's time was waited for.
        let last = &silent[2 * PLACES - 1];
        last.set_nonblocking(true).unwrap();
        assert_eq!((&*last).read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        // What comes in pieces is a request, too.
        half.write_all(b"ge HTTP/1.1\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        half.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, [b'x'; 100]);
        // The first were pushed out.
        assert_eq!((&silent[0]).read(&mut [0]).unwrap_or(0), 0);
        assert_eq!(ask(served.address, "/other"), b"");
    }

    #[test]
    fn who_does_not_read_keeps_nobody_waiting() {
        let served = served(32 << 20, LONG);
        let mut deaf = connect(served.address);
        deaf.write_all(b"GET /page HTTP/1.0\r\n\r\n").unwrap();
        while served.asked.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(ask(served.address, "/page").len(), 32 << 20);
    }

    #[test]
    fn a_head_without_an_end_is_closed() {
        let served = served(1, Duration::from_millis(200));
        let mut stream = connect(served.address);
        let _ = stream.write_all(&[b'x'; LONGEST + 1]);
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
        // Nor is one that never comes.
        assert_eq!(connect(served.address).read(&mut [0]).unwrap_or(0), 0);
        assert_eq!(served.asked.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        for (host, own) in [
            ("127.0.0.1:9404", true),
            ("localhost", true),
            ("LocalHost:80", true),
            ("[::1]:80", true),
            ("10.0.0.1", true),
            ("attacker.example", false),
            ("localhost.attacker.example:80", false),
            ("127.0.0.1.attacker.example", false),
            ("", false),
        ] {
            assert_eq!(names_this_machine(format!("GET / HTTP/1.1\r\nHOST: {host}\r\n\r\n").as_bytes()), own, "{host}");
        }
        assert!(names_this_machine(b"GET / HTTP/1.0\r\n\r\n"));
        assert!(!names_this_machine(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: a.example\r\n\r\n"));
        assert_eq!(first_line(b"HEAD /health?x HTTP/1.1\r\nA: b\r\n\r\n"), (&b"HEAD"[..], &b"/health?x"[..]));
    }
}
