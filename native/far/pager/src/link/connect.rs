// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Connecting with a limit. The standard library's way has a socket that nobody knows to be the pager's until it is connected: a program
//! that closes all descriptors meanwhile would close it, and what it opens then would get what is for the server.
//!
//! A server of this machine may be at a Unix socket. Its connection is a [`TcpStream`], too: the type stands for a stream socket.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::descriptors::Own;

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// On some machine.
    Ip(SocketAddr),
    /// On this one, at the path of a Unix socket.
    Unix(PathBuf),
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Address {
        Address::Ip(address)
    }
}

impl Address {
    /// Where others may connect, too.
    pub fn of_network(&self) -> Option<SocketAddr> {
        match self {
            Address::Ip(address) => Some(*address),
            Address::Unix(_) => None,
        }
    }

    fn family(&self) -> i32 {
        match self {
            Address::Ip(SocketAddr::V4(_)) => libc::AF_INET,
            Address::Ip(SocketAddr::V6(_)) => libc::AF_INET6,
            Address::Unix(_) => libc::AF_UNIX,
        }
    }

    /// The options that a connection needs, for small frames to pass at once.
    pub fn set_up(&self, stream: &TcpStream) -> io::Result<()> {
        match self {
            Address::Ip(_) => stream.set_nodelay(true),
            Address::Unix(_) => Ok(()),
        }
    }

    /// Whether who is there is taken for a server that proves nothing: in a directory that others write to, anybody may have taken the path.
    ///
    /// # Errors
    /// Whose program it is.
    pub fn check_unproven(&self, stream: &TcpStream) -> Result<(), String> {
        if matches!(self, Address::Ip(_)) {
            return Ok(());
        }
        // SAFETY: it only answers.
        let own = unsafe { libc::geteuid() };
        match user_of(stream) {
            Some(user) if may_serve(user, own) => Ok(()),
            Some(user) => {
                Err(format!("the program there is user {user}'s, and not root's or this user's ({own}); use a key, or its own user"))
            }
            None => Err("the kernel does not say whose program is there; use a key".to_owned()),
        }
    }
}

/// Who listens there, when it began to.
fn user_of(stream: &TcpStream) -> Option<u32> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the kernel writes one structure.
    let result =
        unsafe { libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut found).cast(), &raw mut length) };
    (result == 0 && length as usize == size_of::<libc::ucred>()).then_some(found.uid)
}

/// A server that needs no key is root's, or the program's own user's; whom root asks root has chosen.
fn may_serve(server: u32, own: u32) -> bool {
    own == 0 || server == 0 || server == own
}

/// Connects within so much time. Longer than that nothing is waited for with which the socket sends.
pub fn connect(address: &Address, limit: Duration) -> io::Result<Own<TcpStream>> {
    let begin = Instant::now();
    let family = address.family();
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
            // The last: of a Unix socket whose queue is full.
            Some(libc::EINTR | libc::EINPROGRESS | libc::EALREADY | libc::EAGAIN) => return Err(ErrorKind::TimedOut.into()),
            _ => return Err(error),
        }
    }
    Ok(stream)
}

fn connect_once(fd: RawFd, address: &Address) -> io::Result<()> {
    let result = match address {
        Address::Ip(SocketAddr::V4(to)) => {
            let sin_addr = libc::in_addr { s_addr: u32::from_ne_bytes(to.ip().octets()) };
            let name = libc::sockaddr_in { sin_family: libc::AF_INET as u16, sin_port: to.port().to_be(), sin_addr, sin_zero: [0; 8] };
            // SAFETY: the kernel reads the structure.
            unsafe { libc::connect(fd, (&raw const name).cast(), size_of_val(&name) as u32) }
        }
        Address::Ip(SocketAddr::V6(to)) => {
            let name = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as u16,
                sin6_port: to.port().to_be(),
                sin6_flowinfo: to.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: to.ip().octets() },
                sin6_scope_id: to.scope_id(),
            };
            // SAFETY: as above.
            unsafe { libc::connect(fd, (&raw const name).cast(), size_of_val(&name) as u32) }
        }
        Address::Unix(path) => {
            let name = unix_name(path)?;
            // SAFETY: as above.
            unsafe { libc::connect(fd, (&raw const name).cast(), size_of_val(&name) as u32) }
        }
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// With a byte of 0 behind it.
fn unix_name(path: &Path) -> io::Result<libc::sockaddr_un> {
    let mut name = libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= name.sun_path.len() || bytes.contains(&0) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the path of a Unix socket has 107 bytes at most"));
    }
    for (to, &from) in name.sun_path.iter_mut().zip(bytes) {
        *to = from as libc::c_char;
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_server_of_this_machine_may_be_at_a_unix_socket() {
        let path = std::env::temp_dir().join(format!("lull-far-connect-{}", std::process::id()));
        let address = Address::Unix(path.clone());
        let limit = Duration::from_secs(10);
        assert_eq!(connect(&address, limit).unwrap_err().kind(), ErrorKind::NotFound);
        let listener = UnixListener::bind(&path).unwrap();
        let mut stream = connect(&address, limit).unwrap();
        assert!(crate::descriptors::is_own(stream.as_raw_fd()));
        assert_eq!(address.check_unproven(&stream), Ok(()));
        let (mut other, _) = listener.accept().unwrap();
        other.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        drop(listener);
        assert_eq!(connect(&address, limit).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        std::fs::remove_file(path).unwrap();
        let long = Address::Unix("/".repeat(108).into());
        assert!(connect(&long, limit).unwrap_err().to_string().contains("107 bytes"));
    }

    #[test]
    fn without_a_key_a_program_of_another_user_is_no_server() {
        for (server, own, may) in [(0, 1000, true), (1000, 1000, true), (1001, 1000, false), (1001, 0, true)] {
            assert_eq!(may_serve(server, own), may, "{server} for {own}");
        }
    }

    #[test]
    fn a_connection_is_the_pagers_own() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(host) else {
                // A machine may be without the newer protocol.
                assert_ne!(host, "127.0.0.1:0");
                continue;
            };
            let address = listener.local_addr().unwrap();
            let mut stream = connect(&address.into(), Duration::from_secs(10)).unwrap();
            assert!(crate::descriptors::is_own(stream.as_raw_fd()));
            assert_eq!(stream.peer_addr().unwrap(), address);
            let (mut other, _) = listener.accept().unwrap();
            other.write_all(b"x").unwrap();
            let mut bytes = [0];
            stream.read_exact(&mut bytes).unwrap();
            drop(listener);
            assert_eq!(connect(&address.into(), Duration::from_secs(10)).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        }
    }

    #[test]
    fn who_does_not_answer_is_not_waited_for() {
        // As full as its queue can be: the kernel drops what comes then.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // SAFETY: a number only.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let address = listener.local_addr().unwrap().into();
        let limit = Duration::from_millis(100);
        let tries: Vec<_> = (0..4).map(|_| connect(&address, limit)).collect();
        let error = tries.into_iter().find_map(Result::err).unwrap();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
