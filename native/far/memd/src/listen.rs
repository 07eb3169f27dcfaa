// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where a server listens, and who comes there: at an IP address, or at a Unix socket, whose file only the server's own user may use.
//!
//! Connections are [`TcpStream`]s whichever they are: the type stands for a stream socket, of which the server uses what all have.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

/// What a Unix socket's path begins with, among addresses.
const UNIX: &str = "unix:";

/// An address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Port 0: the kernel chooses.
    Ip(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// Whether nobody comes from elsewhere: of a Unix socket nobody but the server's own user, and root.
    #[must_use]
    pub fn is_local(&self) -> bool {
        match self {
            Listen::Ip(address) => address.ip().to_canonical().is_loopback(),
            Listen::Unix(_) => true,
        }
    }
}

impl From<SocketAddr> for Listen {
    fn from(address: SocketAddr) -> Listen {
        Listen::Ip(address)
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Ip(address) => address.fmt(f),
            Listen::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Listen, String> {
        let help = "say address:port, as 0.0.0.0:7070, or unix:PATH, as unix:/run/lull/memd.sock";
        match text.strip_prefix(UNIX) {
            Some(path) if path.starts_with('/') => Ok(Listen::Unix(path.into())),
            Some(path) => Err(format!("{path:?} is no path from the root; {help}")),
            None => {
                let mut all = text.to_socket_addrs().map_err(|error| format!("{error}; {help}"))?;
                all.next().map(Listen::Ip).ok_or_else(|| "the name has no address".to_owned())
            }
        }
    }
}

/// Who has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visitor {
    /// From this address.
    Ip(SocketAddr),
    /// A program of this user, by a Unix socket.
    User(u32),
}

impl fmt::Display for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Visitor::Ip(address) => address.fmt(f),
            Visitor::User(user) => write!(f, "user {user}"),
        }
    }
}

/// A socket that listens, and does not wait.
#[derive(Debug)]
pub enum Listener {
    /// At an IP address.
    Ip(TcpListener),
    /// At a Unix socket.
    Unix(UnixListener, SocketFile),
}

impl Listener {
    /// Listens.
    ///
    /// # Errors
    /// As the system; a Unix socket's path that somebody listens at, or that is something else.
    pub fn bind(at: &Listen) -> io::Result<Listener> {
        match at {
            Listen::Ip(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Listener::Ip(listener))
            }
            Listen::Unix(path) => {
                remove_stale(path)?;
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
                // The kernel gives the file the socket's mode: there is no moment in which others may use it, whatever the umask.
                rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
                rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
                let file = SocketFile::of(path)?;
                rustix::net::listen(&socket, 1024)?;
                Ok(Listener::Unix(socket.into(), file))
            }
        }
    }

    /// Where it listens: with the port that the kernel has chosen.
    ///
    /// # Errors
    /// As the system.
    pub fn address(&self) -> io::Result<Listen> {
        match self {
            Listener::Ip(listener) => listener.local_addr().map(Listen::Ip),
            Listener::Unix(_, file) => Ok(Listen::Unix(file.path.clone())),
        }
    }

    /// The next connection.
    ///
    /// # Errors
    /// As the system; `WouldBlock` if there is none.
    pub fn accept(&self) -> io::Result<(TcpStream, Visitor)> {
        match self {
            Listener::Ip(listener) => listener.accept().map(|(stream, peer)| (stream, Visitor::Ip(peer))),
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                let user = sockopt::socket_peercred(&stream)?.uid.as_raw();
                Ok((TcpStream::from(OwnedFd::from(stream)), Visitor::User(user)))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Ip(listener) => listener.as_fd(),
            Listener::Unix(listener, _) => listener.as_fd(),
        }
    }
}

/// Takes a Unix socket's file away that a server has left behind which nobody listens at any more: it was killed.
fn remove_stale(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is something that is no socket: name another path"));
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::ErrorKind::AddrInUse.into()),
    }
}

/// The file of a Unix socket that is this server's. Taken away when nobody listens any more, unless another server has put its own there.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    /// Device and number.
    identity: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> io::Result<SocketFile> {
        let found = std::fs::symlink_metadata(path)?;
        Ok(SocketFile { path: path.to_owned(), identity: (found.dev(), found.ino()) })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if std::fs::symlink_metadata(&self.path).is_ok_and(|found| (found.dev(), found.ino()) == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Of a stream socket: whether it is a Unix socket, which has none of TCP's options.
///
/// # Errors
/// As the system.
pub fn is_unix(stream: &TcpStream) -> io::Result<bool> {
    Ok(sockopt::socket_domain(stream)? == AddressFamily::UNIX)
}
