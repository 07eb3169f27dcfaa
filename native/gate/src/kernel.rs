// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! System calls that the standard library does not have: futex, and what TCP says of a connection.

use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::AtomicU32;

/// `CLOCK_MONOTONIC`, nanoseconds. Async-signal-safe, so that callbacks inside a safepoint may call it.
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid pointer and a clock that every Linux has.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Seconds since 1970, UTC; 0 if that is to come.
pub fn unix_seconds() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_secs())
}

/// A number that nobody can guess.
pub fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    // SAFETY: the kernel writes 8 bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == 8 { Ok(u64::from_ne_bytes(bytes)) } else { Err(io::Error::last_os_error()) }
}

fn timespec(ns: u64) -> libc::timespec {
    libc::timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as i64 }
}

/// Sleeps while `word` is `expected`, for `timeout_ns` at most; also returns for no reason.
pub fn futex_wait(word: &AtomicU32, expected: u32, timeout_ns: u64) {
    let timeout = timespec(timeout_ns);
    // SAFETY: the word and the timeout outlive the call.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, expected, &raw const timeout);
    }
}

/// Wakes all that sleep on `word`. Async-signal-safe.
pub fn futex_wake_all(word: &AtomicU32) {
    // SAFETY: the kernel only takes the address.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, i32::MAX);
    }
}

/// The calling thread's last error.
pub fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Waits until `fd` is readable, for `timeout_ns` at most; returns early for signals and errors.
pub fn wait_readable(fd: i32, timeout_ns: u64) {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let timeout = timespec(timeout_ns);
    // SAFETY: one valid pollfd and a timeout that outlive the call.
    unsafe { libc::ppoll(&raw mut poll, 1, &raw const timeout, std::ptr::null()) };
}

/// What TCP has counted since the connection was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Whether neither side has closed its direction.
    pub established: bool,
    /// Bytes that have been read from the socket, by whomever.
    pub taken: u64,
    /// Bytes that have been written to the socket, by whomever; of some connections one more, for the SYN.
    pub written: u64,
    /// Bytes that lie in the send buffer or are not yet acknowledged.
    pub unacknowledged: u64,
}

/// `struct tcp_info` up to the two counters that the gate needs (Linux 4.1 and later).
#[repr(C)]
struct TcpInfo {
    state: u8,
    bytes: [u8; 7],
    words: [u32; 24],
    rates: [u64; 2],
    bytes_acked: u64,
    bytes_received: u64,
}

const TCP_ESTABLISHED: u8 = 1;

fn queue(fd: i32, request: libc::Ioctl) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one int.
    if unsafe { libc::ioctl(fd, request, &raw mut bytes) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// How many bytes lie in the receive buffer.
///
/// # Errors
/// Not a socket.
pub fn unread(fd: i32) -> io::Result<u64> {
    queue(fd, libc::FIONREAD)
}

fn tcp_info(fd: i32) -> io::Result<TcpInfo> {
    let mut info = MaybeUninit::<TcpInfo>::zeroed();
    let mut size = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: the kernel writes `size` bytes at most.
    if unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut size) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if (size as usize) < size_of::<TcpInfo>() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "this kernel's TCP_INFO does not count bytes"));
    }
    // SAFETY: all bit patterns are valid, and it was zeroed.
    Ok(unsafe { info.assume_init() })
}

/// Whether neither side of a TCP connection has closed its direction.
///
/// # Errors
/// Not a TCP socket, or a kernel before 4.1.
pub fn is_established(fd: i32) -> io::Result<bool> {
    Ok(tcp_info(fd)?.state == TCP_ESTABLISHED)
}

/// The counters of a TCP socket at one moment; `None` if segments kept arriving while it was asked.
///
/// # Errors
/// Not a TCP socket, or a kernel before 4.1.
pub fn tcp_totals(fd: i32) -> io::Result<Option<Totals>> {
    for _ in 0..4 {
        // The three answers belong together if the queues are the same before and after.
        let before = (unread(fd)?, queue(fd, libc::TIOCOUTQ)?);
        let info = tcp_info(fd)?;
        if before != (unread(fd)?, queue(fd, libc::TIOCOUTQ)?) {
            continue;
        }
        return Ok(Some(Totals {
            established: info.state == TCP_ESTABLISHED,
            taken: info.bytes_received.wrapping_sub(before.0),
            written: info.bytes_acked.wrapping_add(before.1),
            unacknowledged: before.1,
        }));
    }
    Ok(None)
}

/// `getsockname` or `getpeername`.
type AddressOf = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

/// The local port of a connected TCP socket; `None` for any other file.
pub fn tcp_local_port(fd: i32) -> Option<u16> {
    address(fd, libc::getsockname).map(|address| address.port())
}

/// Who is at the other end of a connected TCP socket; `None` for any other file.
pub fn tcp_peer(fd: i32) -> Option<SocketAddr> {
    address(fd, libc::getpeername)
}

fn address(fd: i32, of: AddressOf) -> Option<SocketAddr> {
    let mut address = MaybeUninit::<libc::sockaddr_storage>::zeroed();
    let mut size = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: the kernel writes `size` bytes at most.
    if unsafe { of(fd, address.as_mut_ptr().cast(), &raw mut size) } != 0 {
        return None;
    }
    // SAFETY: zeroed, and plain data.
    let address = unsafe { address.assume_init() };
    match i32::from(address.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that it is one.
            let v4 = unsafe { &*(&raw const address).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some((ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: the family says that it is one.
            let v6 = unsafe { &*(&raw const address).cast::<libc::sockaddr_in6>() };
            Some((Ipv6Addr::from(v6.sin6_addr.s6_addr), u16::from_be(v6.sin6_port)).into())
        }
        _ => None,
    }
}

/// The number of the socket's inode: another socket under the same descriptor has another one.
pub fn inode(fd: i32) -> Option<u64> {
    let mut status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel writes one stat.
    if unsafe { libc::fstat(fd, status.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: zeroed, and plain data.
    Some(unsafe { status.assume_init() }.st_ino)
}

/// Whether `fd` is a socket that listens.
pub fn is_listening(fd: i32) -> bool {
    let mut listens: libc::c_int = 0;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the kernel writes one int.
    let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_ACCEPTCONN, (&raw mut listens).cast(), &raw mut size) };
    result == 0 && listens != 0
}

/// The user whose rights this process has.
pub fn user() -> u32 {
    // SAFETY: it takes nothing, and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether reads of `fd` block.
pub fn is_blocking(fd: i32) -> bool {
    // SAFETY: no pointer is passed.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    #[test]
    fn totals_count_what_was_read_and_written() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let fd = server.as_raw_fd();
        let port = listener.local_addr().unwrap().port();
        assert_eq!((tcp_local_port(fd), tcp_peer(fd)), (Some(port), client.local_addr().ok()));
        assert!(is_blocking(fd));
        let begin = tcp_totals(fd).unwrap().unwrap();
        assert!(begin.established && begin.taken == 0 && begin.written <= 1, "{begin:?}");
        client.write_all(&[7; 1000]).unwrap();
        server.read_exact(&mut [0; 300]).unwrap();
        server.write_all(&[8; 5]).unwrap();
        let mut echo = [0; 5];
        client.read_exact(&mut echo).unwrap();
        let now = tcp_totals(fd).unwrap().unwrap();
        assert_eq!((now.taken, now.written - begin.written), (300, 5));
        drop(client);
        server.read_to_end(&mut Vec::new()).unwrap();
        assert!(!tcp_totals(fd).unwrap().unwrap().established);
    }

    #[test]
    fn other_files_are_no_tcp_sockets() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(tcp_totals(file.as_raw_fd()).is_err());
        assert_eq!(tcp_local_port(file.as_raw_fd()), None);
        assert_eq!((tcp_local_port(-1), tcp_peer(-1)), (None, None));
        assert_eq!(inode(-1), None);
    }
}
