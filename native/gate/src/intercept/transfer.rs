// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Reads and writes of connections that may be the gate's, for all whose natives are intercepted.

use std::ffi::{c_int, c_void};
use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Original;
use crate::agent;
use crate::connection::Connection;
use crate::guard::guarded;
use crate::kernel::errno;
use crate::pause::Wait;
use crate::protocol::Opaque;
use crate::socket::SocketWire;
use crate::spoken::Spoken;
use crate::table::{Slot, Tracked};

/// So many bytes of a write are looked at to be replaced.
const MOST_REPLACED: usize = 2048;

/// Calls `f` on the connection, and sees to what follows if it has become opaque. A panic makes it so: it must not
/// reach the JVM.
pub(super) fn update(fd: c_int, slot: &Slot, tracked: &mut Option<Tracked>, f: impl FnOnce(&mut Connection<Spoken>)) {
    let Some(t) = tracked else { return };
    if guarded(|| f(&mut t.connection)).is_none() {
        t.connection.make_opaque(Opaque::Defect);
    }
    if guarded(|| t.connection.tell_all_if_unfiltered(&mut SocketWire::new(fd, t.inode))).is_none() {
        give_up_broken(fd, &mut t.connection);
    }
    if t.connection.has_unsent() {
        // Nobody may come again who would write it: the client may be waiting for just this.
        agent::connection_has_unsent(fd);
    }
    if let Some(reason) = slot.publish(tracked) {
        agent::connection_became_opaque(fd, reason);
    }
}

/// By a defect nobody knows what of a busy answer is written: the socket ends, so that nothing of the application's comes behind a half.
fn give_up_broken(fd: c_int, connection: &mut Connection<Spoken>) {
    connection.make_opaque(Opaque::Defect);
    connection.make_opaque(Opaque::AnotherSocket);
    // SAFETY: no pointer is passed.
    unsafe { libc::shutdown(fd, libc::SHUT_RDWR) };
}

/// # Safety
/// `vector` are buffers that the caller may read, `length` of their bytes have content.
unsafe fn each_part(vector: &[libc::iovec], mut length: usize, mut f: impl FnMut(&[u8])) {
    for part in vector {
        let n = part.iov_len.min(length);
        if n > 0 {
            // SAFETY: as demanded.
            f(unsafe { std::slice::from_raw_parts(part.iov_base.cast::<u8>(), n) });
        }
        length -= n;
        if length == 0 {
            break;
        }
    }
}

/// Takes what has come on a connection that may be the gate's: the count of bytes, 0 at the end of the stream, or the system call's error.
///
/// A blocking read takes nothing before the pause is over: it first waits for a byte without taking it, then for the pause,
/// then takes what is there without blocking. Meanwhile the gate may have answered.
///
/// # Safety
/// `vector` are buffers that the caller may write.
pub(super) unsafe fn receive(fd: c_int, slot: &Slot, vector: &mut [libc::iovec]) -> Result<usize, c_int> {
    // SAFETY: as demanded. A panic may have lost bytes.
    guarded(|| unsafe { receive_unguarded(fd, slot, vector) }).unwrap_or(Err(libc::EIO))
}

/// # Safety
/// As [`receive`].
unsafe fn receive_unguarded(fd: c_int, slot: &Slot, vector: &mut [libc::iovec]) -> Result<usize, c_int> {
    loop {
        let blocking = slot.blocking.load(Ordering::Relaxed);
        if blocking {
            let mut byte = 0u8;
            // SAFETY: one byte is written at most.
            if unsafe { libc::recv(fd, (&raw mut byte).cast(), 1, libc::MSG_PEEK) } < 0 {
                return Err(errno());
            }
            let wait = agent::CLOCK.wait_while_paused();
            if wait != Wait::None {
                agent::METRICS.waits.add(1);
            }
            if wait == Wait::Over {
                // The gate may have answered what there was.
                continue;
            }
        }
        let mut tracked = slot.lock();
        if tracked.as_ref().is_some_and(|t| t.connection.filters()) {
            // SAFETY: as demanded.
            let read = unsafe { filtered(fd, slot, &mut tracked, vector) };
            drop(tracked);
            match read {
                Err(libc::EAGAIN) if blocking && slot.is_live() => {
                    // A part of a frame's header, of which the rest is under way.
                    std::thread::sleep(Duration::from_micros(200));
                    continue;
                }
                read => return read,
            }
        }
        // SAFETY: all zeros are a valid msghdr.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = vector.as_mut_ptr();
        message.msg_iovlen = vector.len();
        // SAFETY: buffers that the caller may write.
        let n = unsafe { libc::recvmsg(fd, &raw mut message, libc::MSG_DONTWAIT) };
        let error = if n < 0 { errno() } else { 0 };
        slot.announced.store(false, Ordering::Relaxed);
        let Ok(n) = usize::try_from(n) else {
            drop(tracked);
            if blocking && error == libc::EAGAIN && slot.is_live() {
                continue;
            }
            return Err(error);
        };
        if n > 0 {
            // SAFETY: the kernel has filled n bytes.
            update(fd, slot, &mut tracked, |connection| unsafe { each_part(vector, n, |part| connection.received(part)) });
        }
        return Ok(n);
    }
}

/// Takes what is for the application into the first buffer that holds anything.
///
/// # Safety
/// `vector` are buffers that the caller may write.
unsafe fn filtered(fd: c_int, slot: &Slot, tracked: &mut Option<Tracked>, vector: &mut [libc::iovec]) -> Result<usize, c_int> {
    let Some(part) = vector.iter().find(|part| part.iov_len > 0) else { return Ok(0) };
    // SAFETY: as demanded.
    let buffer = unsafe { std::slice::from_raw_parts_mut(part.iov_base.cast::<u8>(), part.iov_len) };
    let mut wire = SocketWire::new(fd, tracked.as_ref().map_or(0, |t| t.inode));
    let mut read = Ok(0);
    update(fd, slot, tracked, |connection| {
        read = connection.read(&mut wire, buffer);
        connection.pay(&mut wire);
    });
    slot.announced.store(false, Ordering::Relaxed);
    read.map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => libc::EAGAIN,
        _ => error.raw_os_error().unwrap_or(libc::EIO),
    })
}

/// What becomes of a write of the application's.
enum Write {
    /// It is made: nobody follows the connection.
    Left,
    /// Not now: there is no room for what is before it.
    Full,
    /// So many bytes of it were written otherwise.
    Replaced(usize),
    /// It is made, and followed: the connection's generation, and its socket.
    Followed(u64, SocketWire),
}

/// # Safety
/// `vector` are buffers that the caller may read.
unsafe fn before_write(fd: c_int, slot: &Slot, vector: &[libc::iovec]) -> Write {
    let mut tracked = slot.lock();
    let Some(t) = tracked.as_mut() else { return Write::Left };
    // Invariant A.
    match guarded(|| t.connection.flush(&mut SocketWire::new(fd, t.inode))) {
        Some(true) => {}
        Some(false) => return Write::Full,
        None => update(fd, slot, &mut tracked, |connection| give_up_broken(fd, connection)),
    }
    let Some(t) = tracked.as_mut() else { return Write::Left };
    let generation = t.generation;
    let mut wire = SocketWire::new(fd, t.inode);
    let mut replaced = None;
    update(fd, slot, &mut tracked, |connection| {
        if connection.replaces() {
            let mut bytes = Vec::new();
            // SAFETY: buffers that the caller may read.
            unsafe { each_part(vector, MOST_REPLACED, |part| bytes.extend_from_slice(part)) };
            replaced = connection.replace(&mut wire, &bytes);
        }
        if replaced.is_none() {
            connection.write_begins();
        }
    });
    replaced.map_or(Write::Followed(generation, wire), Write::Replaced)
}

/// Lets the application write to a connection that may be the gate's; `write` is the original function and gives the count of bytes, or a
/// negative status, of which `would_block` is the one that makes its caller come again when there is room.
///
/// # Safety
/// `vector` are buffers that the caller may read.
pub(super) unsafe fn send(fd: c_int, slot: &Slot, vector: &[libc::iovec], would_block: i64, write: impl FnOnce() -> i64) -> i64 {
    // SAFETY: as demanded.
    let (generation, mut wire) = match guarded(|| unsafe { before_write(fd, slot, vector) }) {
        Some(Write::Followed(generation, wire)) => (generation, wire),
        Some(Write::Full) => return would_block,
        // The application takes it for a write that has stopped there, and goes on.
        Some(Write::Replaced(n)) => return n as i64,
        Some(Write::Left) | None => return write(),
    };
    let n = write();
    let after = || {
        let mut tracked = slot.lock();
        if tracked.as_ref().is_some_and(|t| t.generation == generation) {
            update(fd, slot, &mut tracked, |connection| {
                if n > 0 {
                    // SAFETY: the buffers are the caller's until we return.
                    unsafe { each_part(vector, n as usize, |part| connection.sent(part)) };
                }
                connection.write_ends();
                connection.pay(&mut wire);
            });
        }
    };
    guarded(after);
    n
}

pub(super) fn single(address: i64, length: i32) -> libc::iovec {
    libc::iovec { iov_base: address as *mut c_void, iov_len: length as usize }
}

/// The VM's own function.
///
/// # Safety
/// It is of type `T`, and bound: ours is not called before.
pub(super) unsafe fn vm<T: Copy>(original: &Original) -> T {
    let function = original.get();
    debug_assert!(!function.is_null() && size_of::<T>() == size_of_val(&function));
    // SAFETY: as demanded; a function's address.
    unsafe { std::mem::transmute_copy(&function) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::Http1;
    use crate::kernel::{self, Totals};
    use crate::table::Table;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::sync::Arc;

    /// The application reads and writes on, and the gate follows that connection no more.
    #[test]
    fn a_panic_costs_the_connection_and_nothing_else() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let server = listener.accept().unwrap().0;
        let (table, fd) = (Table::new(1024), server.as_raw_fd());
        let totals = Totals { established: true, taken: 0, written: 0, unacknowledged: 0 };
        table.track(fd, kernel::inode(fd).unwrap(), false, Connection::new(Spoken::Http1(Http1::new(Arc::from(Vec::new()))), totals));
        let slot = table.live(fd).unwrap();
        update(fd, slot, &mut slot.lock(), |_| panic!("on purpose"));
        assert_eq!(slot.lock().as_ref().unwrap().connection.opaque(), Some(Opaque::Defect));
        assert!(table.live(fd).is_none());
        let bytes = b"answer";
        let vector = [single(bytes.as_ptr() as i64, bytes.len() as i32)];
        let write = || std::io::Write::write(&mut &server, bytes).unwrap() as i64;
        // SAFETY: a buffer of that length.
        assert_eq!(unsafe { send(fd, slot, &vector, -1, write) }, bytes.len() as i64);
        client.read_exact(&mut [0; 6]).unwrap();
        assert_eq!(table.count_live(), 0);
    }

    /// Of a busy answer a part may be written: nothing comes behind it.
    #[test]
    fn a_panic_in_an_answer_ends_the_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let server = listener.accept().unwrap().0;
        let totals = Totals { established: true, taken: 0, written: 0, unacknowledged: 0 };
        let mut connection = Connection::new(Spoken::Http1(Http1::new(Arc::from(Vec::new()))), totals);
        give_up_broken(server.as_raw_fd(), &mut connection);
        assert_eq!((connection.opaque(), connection.has_unsent()), (Some(Opaque::Defect), false));
        assert_eq!(client.read(&mut [0]).unwrap(), 0);
    }
}
