// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! System calls for TLS that the standard library does not have: sockets that are bound before they listen, and connect without waiting; epoll;
//! a counter that wakes.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// How many clients may wait to be accepted; the kernel may have a lower bound.
const BACKLOG: i32 = 1024;

/// A client that is silent for so many seconds is asked by the kernel whether it is there, so often, and so many times.
const SILENT_S: i32 = 60;
const PROBE_S: i32 = 10;
const PROBES: i32 = 6;

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// An address as the kernel has it, and its length.
fn raw(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: plain data.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let at = &raw mut storage;
    let length = match address {
        SocketAddr::V4(v4) => {
            // SAFETY: a storage has room for each kind of address, and its alignment.
            let to = unsafe { &mut *at.cast::<libc::sockaddr_in>() };
            to.sin_family = libc::AF_INET as libc::sa_family_t;
            to.sin_port = v4.port().to_be();
            to.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
            size_of::<libc::sockaddr_in>()
        }
        SocketAddr::V6(v6) => {
            // SAFETY: the same.
            let to = unsafe { &mut *at.cast::<libc::sockaddr_in6>() };
            to.sin6_family = libc::AF_INET6 as libc::sa_family_t;
            to.sin6_port = v6.port().to_be();
            to.sin6_addr.s6_addr = v6.ip().octets();
            to.sin6_scope_id = v6.scope_id();
            size_of::<libc::sockaddr_in6>()
        }
    };
    (storage, length as libc::socklen_t)
}

fn socket(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: no pointer is passed.
    let fd = checked(unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) })?;
    // SAFETY: just made, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A socket at an address that nobody can connect to before [`listen`], and which does not wait for who does.
///
/// # Errors
/// The address cannot be had.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    let (storage, length) = raw(address);
    let one: libc::c_int = 1;
    // SAFETY: an int, and an address, of the lengths that are said.
    unsafe {
        let (fd, size) = (socket.as_raw_fd(), size_of::<libc::c_int>() as libc::socklen_t);
        // As servers do, for connections of one that has ended.
        checked(libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, (&raw const one).cast(), size))?;
        checked(libc::bind(fd, (&raw const storage).cast(), length))?;
    }
    Ok(TcpListener::from(socket))
}

/// What a client's connection is before it is used: it does not wait, does not hold small writes back, and ends when the client's host is gone and
/// says nothing. To the application each client is on this host: what it sets for that on its own connection finds nothing out.
///
/// # Errors
/// The client has gone meanwhile.
pub fn prepare(client: &TcpStream) -> io::Result<()> {
    client.set_nonblocking(true)?;
    client.set_nodelay(true)?;
    let set = |level, option, value: libc::c_int| {
        // SAFETY: an int, of the length that is said.
        checked(unsafe {
            libc::setsockopt(client.as_raw_fd(), level, option, (&raw const value).cast(), size_of::<libc::c_int>() as libc::socklen_t)
        })
        .map(drop)
    };
    set(libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1)?;
    set(libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, SILENT_S)?;
    set(libc::IPPROTO_TCP, libc::TCP_KEEPINTVL, PROBE_S)?;
    set(libc::IPPROTO_TCP, libc::TCP_KEEPCNT, PROBES)
}

/// Ends a connection by a reset: the other side sees it break.
pub fn break_off(stream: TcpStream) {
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: one linger. If it cannot be set, the connection ends in order.
    unsafe {
        let size = size_of::<libc::linger>() as libc::socklen_t;
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, (&raw const at_once).cast(), size);
    }
    drop(stream);
}

/// How many descriptors this process may have; as many as can be where the kernel does not tell.
pub fn most_descriptors() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: one structure, which the kernel fills.
    let is_told = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0;
    if is_told { usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX) } else { usize::MAX }
}

/// From now on clients can connect.
///
/// # Errors
/// Another one listens there.
pub fn listen(socket: &TcpListener) -> io::Result<()> {
    // SAFETY: no pointer is passed.
    checked(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) }).map(drop)
}

/// From now on nobody can, until [`listen`] again: the address is kept. Who was not yet accepted is let go.
pub fn stop_listening(socket: &TcpListener) {
    // SAFETY: no pointer is passed.
    unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RD) };
}

/// A connection that is being made, without delays of small writes.
///
/// # Errors
/// It cannot even begin.
pub fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = socket(address)?;
    let (storage, length) = raw(address);
    // SAFETY: an address of the length that is said.
    match checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const storage).cast(), length) }) {
        Ok(_) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) => return Err(error),
    }
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Whether it is made.
///
/// # Errors
/// It cannot be.
pub fn connected(stream: &TcpStream) -> io::Result<bool> {
    match stream.take_error()? {
        Some(error) => Err(error),
        None => match stream.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        },
    }
}

/// Writes what fits, without a signal if nobody reads.
///
/// # Errors
/// `WouldBlock`, or it is broken.
pub fn send(to: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: the kernel reads as much as there is.
    let n = unsafe { libc::send(to.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

/// The same for who writes several buffers at once.
pub struct Sender<'a>(pub &'a TcpStream);

impl io::Write for Sender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        send(self.0, bytes)
    }

    fn write_vectored(&mut self, buffers: &[io::IoSlice<'_>]) -> io::Result<usize> {
        // SAFETY: plain data.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        // An IoSlice is an iovec, and of no more than so many a call takes (IOV_MAX).
        message.msg_iov = buffers.as_ptr().cast_mut().cast();
        message.msg_iovlen = buffers.len().min(1024) as _;
        // SAFETY: the kernel reads the buffers, which outlive the call.
        let n = unsafe { libc::sendmsg(self.0.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT) };
        usize::try_from(n).map_err(|_| io::Error::last_os_error())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An epoll set; level-triggered.
#[derive(Debug)]
pub struct Epoll(OwnedFd);

/// Something can be read, or the end has come.
pub const IN: u32 = libc::EPOLLIN as u32;
/// Something can be written.
pub const OUT: u32 = libc::EPOLLOUT as u32;
/// Of several sets that watch a descriptor, not all are woken.
pub const EXCLUSIVE: u32 = libc::EPOLLEXCLUSIVE as u32;

impl Epoll {
    /// An empty one.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: no pointer is passed; the descriptor is new.
        Ok(Epoll(unsafe { OwnedFd::from_raw_fd(checked(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) }))
    }

    /// Watches `fd` for `now` instead of `before`; for nothing, an error is not told, either.
    ///
    /// # Errors
    /// The kernel has no memory.
    pub fn set(&self, fd: RawFd, before: u32, now: u32, key: u64) -> io::Result<()> {
        let operation = match (before, now) {
            (before, now) if before == now => return Ok(()),
            (_, 0) => libc::EPOLL_CTL_DEL,
            (0, _) => libc::EPOLL_CTL_ADD,
            _ => libc::EPOLL_CTL_MOD,
        };
        let mut event = libc::epoll_event { events: now, u64: key };
        // SAFETY: one valid event.
        checked(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &raw mut event) }).map(drop)
    }

    /// Waits for something, for `ms` at most (-1: for ever): how many of `events` are filled.
    pub fn wait(&self, events: &mut [libc::epoll_event], ms: i32) -> usize {
        let most = i32::try_from(events.len()).unwrap_or(i32::MAX);
        // SAFETY: the kernel writes as many events as there is room for.
        let n = unsafe { libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), most, ms) };
        usize::try_from(n).unwrap_or(0)
    }
}

/// A descriptor that can be read once it was raised, until it is put down.
#[derive(Debug)]
pub struct Bell(OwnedFd);

impl Bell {
    /// Not raised.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Bell> {
        // SAFETY: no pointer is passed; the descriptor is new.
        Ok(Bell(unsafe { OwnedFd::from_raw_fd(checked(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?) }))
    }

    /// For those who watch it.
    pub fn raise(&self) {
        let one = 1u64;
        // SAFETY: eight bytes.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// What is raised behind this is seen anew.
    pub fn put_down(&self) {
        let mut raised = 0u64;
        // SAFETY: eight bytes.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut raised).cast(), 8) };
    }

    /// To watch.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn option(stream: &TcpStream, level: i32, option: i32) -> i32 {
        let (mut value, mut size) = (0, size_of::<libc::c_int>() as libc::socklen_t);
        // SAFETY: an int, of the length that is said.
        checked(unsafe { libc::getsockopt(stream.as_raw_fd(), level, option, (&raw mut value).cast(), &raw mut size) }).unwrap();
        value
    }

    #[test]
    fn a_client_whose_host_is_gone_is_noticed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(option(&client, libc::SOL_SOCKET, libc::SO_KEEPALIVE), 0);
        prepare(&client).unwrap();
        assert_eq!(option(&client, libc::SOL_SOCKET, libc::SO_KEEPALIVE), 1);
        let of = |name| option(&client, libc::IPPROTO_TCP, name);
        assert_eq!([of(libc::TCP_KEEPIDLE), of(libc::TCP_KEEPINTVL), of(libc::TCP_KEEPCNT)], [60, 10, 6]);
        assert_eq!((&client).read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
