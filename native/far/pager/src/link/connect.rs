// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Connecting with a limit. The standard library's way has a socket that nobody knows to be the pager's until it is connected: a program
//! that closes all descriptors meanwhile would close it, and what it opens then would get what is for the server.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use crate::descriptors::Own;

/// Connects within so much time. Longer than that nothing is waited for with which the socket sends.
pub fn connect(address: &SocketAddr, limit: Duration) -> io::Result<Own<TcpStream>> {
    let begin = Instant::now();
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: a new descriptor.
    let fd = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    let stream: Own<TcpStream> = Own::opened(unsafe { OwnedFd::from_raw_fd(fd) })?;
    stream.set_write_timeout(Some(limit))?;
    // A signal of the program ends the wait, and not what is under way.
    while let Err(error) = connect_once(stream.as_raw_fd(), address) {
        match error.raw_os_error() {
            Some(libc::EINTR) if begin.elapsed() < limit => {}
            Some(libc::EINTR | libc::EINPROGRESS | libc::EALREADY) => return Err(ErrorKind::TimedOut.into()),
            _ => return Err(error),
        }
    }
    Ok(stream)
}

fn connect_once(fd: RawFd, address: &SocketAddr) -> io::Result<()> {
    let port = address.port().to_be();
    let result = match address {
        SocketAddr::V4(to) => {
            let sin_addr = libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) };
            let name = libc::sockaddr_in { sin_family: libc::AF_INET as u16, sin_port: port, sin_addr, sin_zero: [0; 8] };
            // SAFETY: the kernel reads the structure.
            unsafe { libc::connect(fd, (&raw const name).cast(), size_of_val(&name) as u32) }
        }
        SocketAddr::V6(to) => {
            let name = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as u16,
                sin6_port: port,
                sin6_flowinfo: to.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: to.ip().octets() },
                sin6_scope_id: to.scope_id(),
            };
            // SAFETY: as above.
            unsafe { libc::connect(fd, (&raw const name).cast(), size_of_val(&name) as u32) }
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_connection_is_the_pagers_own() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(host) else {
                // A machine may be without the newer protocol.
                assert_ne!(host, "127.0.0.1:0");
                continue;
            };
            let address = listener.local_addr().unwrap();
            let mut stream = connect(&address, Duration::from_secs(10)).unwrap();
            assert!(crate::descriptors::is_own(stream.as_raw_fd()));
            assert_eq!(stream.peer_addr().unwrap(), address);
            let (mut other, _) = listener.accept().unwrap();
            other.write_all(b"x").unwrap();
            let mut bytes = [0];
            stream.read_exact(&mut bytes).unwrap();
            drop(listener);
            assert_eq!(connect(&address, Duration::from_secs(10)).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        }
    }

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        // As full as its queue can be: the kernel drops what comes then.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // SAFETY: a number only.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let address = listener.local_addr().unwrap();
        let limit = Duration::from_millis(100);
        let tries: Vec<_> = (0..4).map(|_| connect(&address, limit)).collect();
        let error = tries.into_iter().find_map(Result::err).unwrap();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
