// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The gate's side of the kernel: a watched connection's socket, and the epoll set of all of them.

use std::io;

use crate::connection::Wire;
use crate::kernel::{self, Totals};

/// A TCP socket's descriptor as the kernel's side of a connection.
pub struct SocketWire {
    fd: i32,
    inode: u64,
}

impl SocketWire {
    /// The socket `fd`, which has this inode as long as it is the same.
    pub fn new(fd: i32, inode: u64) -> SocketWire {
        SocketWire { fd, inode }
    }
}

fn count(n: isize) -> io::Result<usize> {
    usize::try_from(n).map_err(|_| io::Error::last_os_error())
}

impl Wire for SocketWire {
    fn peek(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the kernel writes as much as the buffer holds.
        count(unsafe { libc::recv(self.fd, buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_PEEK | libc::MSG_DONTWAIT) })
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the kernel reads as much as there is.
        count(unsafe { libc::send(self.fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) })
    }

    fn unread(&mut self) -> io::Result<Option<usize>> {
        if !kernel::is_established(self.fd)? {
            return Ok(None);
        }
        kernel::unread(self.fd).map(|n| usize::try_from(n).ok())
    }

    fn consume(&mut self, length: usize) -> io::Result<()> {
        let mut left = length;
        while left > 0 {
            // SAFETY: with MSG_TRUNC, TCP drops the bytes and writes nowhere (tcp(7)).
            let n = unsafe { libc::recv(self.fd, std::ptr::null_mut(), left, libc::MSG_TRUNC | libc::MSG_DONTWAIT) };
            match count(n) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => left -= n.min(left),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn tell_from(&mut self, bytes: usize) {
        let bytes = i32::try_from(bytes).unwrap_or(1);
        // SAFETY: the kernel reads one int.
        unsafe { libc::setsockopt(self.fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, (&raw const bytes).cast(), size_of::<i32>() as u32) };
    }

    fn shut_down(&mut self) {
        // SAFETY: no pointer is passed.
        unsafe { libc::shutdown(self.fd, libc::SHUT_RDWR) };
    }

    fn totals(&mut self) -> io::Result<Option<Totals>> {
        if kernel::inode(self.fd) != Some(self.inode) {
            return Err(io::ErrorKind::NotFound.into());
        }
        kernel::tcp_totals(self.fd)
    }
}

/// An epoll set of the gate's own: all watched connections, told of each change once.
pub struct Watched(i32);

impl Watched {
    /// An empty set.
    ///
    /// # Errors
    /// Out of descriptors.
    pub fn new() -> io::Result<Watched> {
        // SAFETY: no pointer is passed.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Watched(fd)) }
    }

    /// Adds a connection; the kernel takes it out when it is closed.
    ///
    /// # Errors
    /// Out of memory, or of watches.
    pub fn add(&self, fd: i32) -> io::Result<()> {
        let mut event = libc::epoll_event { events: (libc::EPOLLIN | libc::EPOLLET) as u32, u64: fd as u64 };
        // SAFETY: one valid event.
        if unsafe { libc::epoll_ctl(self.0, libc::EPOLL_CTL_ADD, fd, &raw mut event) } != 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }

    /// Takes a connection out; does nothing if it is not in.
    pub fn remove(&self, fd: i32) {
        // SAFETY: no event is needed.
        unsafe { libc::epoll_ctl(self.0, libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
    }

    /// Waits until one may have changed, for so many nanoseconds at most; returns early for signals and errors.
    pub fn wait(&self, nanoseconds: u64) {
        kernel::wait_readable(self.0, nanoseconds);
    }

    /// Takes up to as many events as there is room for, and never waits: which connections have changed since they were last asked.
    pub fn changed(&self, events: &mut [libc::epoll_event]) -> usize {
        let most = i32::try_from(events.len()).unwrap_or(i32::MAX);
        // SAFETY: the kernel writes as many events as there is room for.
        usize::try_from(unsafe { libc::epoll_wait(self.0, events.as_mut_ptr(), most, 0) }).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    fn wire(socket: &TcpStream) -> SocketWire {
        SocketWire::new(socket.as_raw_fd(), kernel::inode(socket.as_raw_fd()).unwrap())
    }

    /// A read that leaves before all is read relies on this: a selector that is told of changes only is told of what was there before.
    #[test]
    fn who_is_told_of_changes_is_told_once_more() {
        let (mut client, server) = pair();
        let watched = Watched::new().unwrap();
        watched.add(server.as_raw_fd()).unwrap();
        client.write_all(b"abc").unwrap();
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 2];
        watched.wait(10_000_000_000);
        assert_eq!((watched.changed(&mut events), watched.changed(&mut events)), (1, 0));
        wire(&server).tell_from(1);
        assert_eq!((watched.changed(&mut events), watched.changed(&mut events)), (1, 0));
    }

    #[test]
    fn unread_bytes_are_counted_until_a_side_closes() {
        let (mut client, server) = pair();
        let mut wire = wire(&server);
        assert_eq!(wire.unread().unwrap(), Some(0));
        client.write_all(b"abc").unwrap();
        kernel::wait_readable(server.as_raw_fd(), 10_000_000_000);
        assert_eq!(wire.unread().unwrap(), Some(3));
        client.shutdown(std::net::Shutdown::Write).unwrap();
        while wire.unread().unwrap().is_some() {
            std::thread::yield_now();
        }
        assert!(SocketWire::new(-1, 0).unread().is_err());
    }
}
