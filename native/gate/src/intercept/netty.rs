// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Netty's epoll transport (`io.netty.channel.unix`), the same in 4.1 and 4.2. Its natives take the descriptor as a number and give a
//! negative error; it repeats interrupted calls.
//!
//! Netty reads until there is nothing more, so an event whose bytes the gate has taken does no harm, and its `epoll_wait` is
//! not intercepted. A relocated Netty (another package) is not known by its names, and left alone. What moves bytes between descriptors
//! without showing them makes both opaque first.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use super::transfer::{receive, send, single, update, vm};
use super::{Field, Method, Original, methods};
use crate::agent;
use crate::guard::guarded;
use crate::jni;
use crate::protocol::Opaque;
use crate::socket::SocketWire;
use crate::table::{Slot, Table};

type Env = *mut jni::Env;
type Object = jni::Object;
type OfAddress = unsafe extern "system" fn(Env, Object, i32, i64, i32, i32) -> i32;
type OfBuffer = unsafe extern "system" fn(Env, Object, i32, Object, i32, i32) -> i32;
type OfVector = unsafe extern "system" fn(Env, Object, i32, i64, i32) -> i64;
type OfBuffers = unsafe extern "system" fn(Env, Object, i32, Object, i32, i32, i64) -> i64;
type Accept = unsafe extern "system" fn(Env, Object, i32, Object) -> i32;
type Close = unsafe extern "system" fn(Env, Object, i32) -> i32;
type Splice = unsafe extern "system" fn(Env, Object, i32, i64, i32, i64, i64) -> i32;

static READ_ADDRESS: Original = Original::none();
static RECV_ADDRESS: Original = Original::none();
static READ: Original = Original::none();
static RECV: Original = Original::none();
static WRITE_ADDRESS: Original = Original::none();
static SEND_ADDRESS: Original = Original::none();
static WRITE: Original = Original::none();
static SEND: Original = Original::none();
static WRITEV_ADDRESSES: Original = Original::none();
static WRITEV: Original = Original::none();
static ACCEPT: Original = Original::none();
static CLOSE: Original = Original::none();
static SPLICE: Original = Original::none();

const OF_ADDRESS: &CStr = c"(IJII)I";
const OF_BUFFER: &CStr = c"(ILjava/nio/ByteBuffer;II)I";

/// All of them.
pub static METHODS: &[Method] = methods! {
    c"Lio/netty/channel/unix/FileDescriptor;" c"readAddress" OF_ADDRESS => READ_ADDRESS, read_address as OfAddress;
    c"Lio/netty/channel/unix/Socket;" c"recvAddress" OF_ADDRESS => RECV_ADDRESS, recv_address as OfAddress;
    c"Lio/netty/channel/unix/FileDescriptor;" c"read" OF_BUFFER => READ, read as OfBuffer;
    c"Lio/netty/channel/unix/Socket;" c"recv" OF_BUFFER => RECV, recv as OfBuffer;
    c"Lio/netty/channel/unix/FileDescriptor;" c"writeAddress" OF_ADDRESS => WRITE_ADDRESS, write_address as OfAddress;
    c"Lio/netty/channel/unix/Socket;" c"sendAddress" OF_ADDRESS => SEND_ADDRESS, send_address as OfAddress;
    c"Lio/netty/channel/unix/FileDescriptor;" c"write" OF_BUFFER => WRITE, write as OfBuffer;
    c"Lio/netty/channel/unix/Socket;" c"send" OF_BUFFER => SEND, send_buffer as OfBuffer;
    c"Lio/netty/channel/unix/FileDescriptor;" c"writevAddresses" c"(IJI)J" => WRITEV_ADDRESSES, writev_addresses as OfVector;
    c"Lio/netty/channel/unix/FileDescriptor;" c"writev" c"(I[Ljava/nio/ByteBuffer;IIJ)J" => WRITEV, writev as OfBuffers;
    c"Lio/netty/channel/unix/Socket;" c"accept" c"(I[B)I" => ACCEPT, accept as Accept;
    c"Lio/netty/channel/unix/FileDescriptor;" c"close" c"(I)I" => CLOSE, close as Close;
    c"Lio/netty/channel/epoll/Native;" c"splice0" c"(IJIJJ)I" => SPLICE, splice as Splice;
};

/// The bytes from `position` to `limit`; `None` if there are none.
fn range(address: i64, position: i32, limit: i32) -> Option<libc::iovec> {
    (address != 0 && position >= 0 && position < limit).then(|| single(address + i64::from(position), limit - position))
}

/// # Safety
/// The caller may write the buffer.
unsafe fn take(fd: c_int, slot: &Slot, buffer: libc::iovec) -> i32 {
    loop {
        // SAFETY: as demanded.
        match unsafe { receive(fd, slot, &mut [buffer]) } {
            Ok(n) => return n as i32,
            Err(libc::EINTR) => {}
            Err(error) => return -error,
        }
    }
}

const WOULD_BLOCK: i64 = -(libc::EAGAIN as i64);

macro_rules! of_address {
    ($($name:ident $original:ident reads;)* $(; $write_name:ident $write_original:ident writes)*) => {
        $(unsafe extern "system" fn $name(env: Env, class: Object, fd: i32, address: i64, position: i32, limit: i32) -> i32 {
            // SAFETY: the VM's arguments, passed on.
            unsafe {
                match (Table::global().live(fd), range(address, position, limit)) {
                    (Some(slot), Some(buffer)) => take(fd, slot, buffer),
                    _ => vm::<OfAddress>(&$original)(env, class, fd, address, position, limit),
                }
            }
        })*
        $(unsafe extern "system" fn $write_name(env: Env, class: Object, fd: i32, address: i64, position: i32, limit: i32) -> i32 {
            // SAFETY: the VM's arguments, passed on.
            unsafe {
                let original = || vm::<OfAddress>(&$write_original)(env, class, fd, address, position, limit);
                match (Table::global().live(fd), range(address, position, limit)) {
                    (Some(slot), Some(buffer)) => send(fd, slot, &[buffer], WOULD_BLOCK, || original().into()) as i32,
                    _ => original(),
                }
            }
        })*
    };
}

of_address! {
    read_address READ_ADDRESS reads;
    recv_address RECV_ADDRESS reads;
    ; write_address WRITE_ADDRESS writes
    ; send_address SEND_ADDRESS writes
}

/// # Safety
/// `env` is the current thread's; `buffer` null or a buffer.
unsafe fn address_of(env: Env, buffer: Object) -> i64 {
    if buffer.is_null() {
        return 0;
    }
    // SAFETY: as demanded.
    unsafe { jni::Env::direct_buffer_address(env, buffer) as i64 }
}

macro_rules! of_buffer {
    ($($name:ident $original:ident reads;)* $(; $write_name:ident $write_original:ident writes)*) => {
        $(unsafe extern "system" fn $name(env: Env, class: Object, fd: i32, buffer: Object, position: i32, limit: i32) -> i32 {
            // SAFETY: the VM's arguments, passed on.
            unsafe {
                let original = || vm::<OfBuffer>(&$original)(env, class, fd, buffer, position, limit);
                let Some(slot) = Table::global().live(fd) else { return original() };
                match range(address_of(env, buffer), position, limit) {
                    Some(buffer) => take(fd, slot, buffer),
                    None => original(),
                }
            }
        })*
        $(unsafe extern "system" fn $write_name(env: Env, class: Object, fd: i32, buffer: Object, position: i32, limit: i32) -> i32 {
            // SAFETY: the VM's arguments, passed on.
            unsafe {
                let original = || vm::<OfBuffer>(&$write_original)(env, class, fd, buffer, position, limit);
                let Some(slot) = Table::global().live(fd) else { return original() };
                match range(address_of(env, buffer), position, limit) {
                    Some(buffer) => send(fd, slot, &[buffer], WOULD_BLOCK, || original().into()) as i32,
                    None => original(),
                }
            }
        })*
    };
}

of_buffer! {
    read READ reads;
    recv RECV reads;
    ; write WRITE writes
    ; send_buffer SEND writes
}

unsafe extern "system" fn writev_addresses(env: Env, class: Object, fd: i32, vector: i64, length: i32) -> i64 {
    // SAFETY: the VM's arguments, passed on; they are an array of so many iovecs.
    unsafe {
        let original = || vm::<OfVector>(&WRITEV_ADDRESSES)(env, class, fd, vector, length);
        match Table::global().live(fd) {
            Some(slot) if vector != 0 && length > 0 => {
                send(fd, slot, std::slice::from_raw_parts(vector as *const libc::iovec, length as usize), WOULD_BLOCK, original)
            }
            _ => original(),
        }
    }
}

const UNSEEN_WRITE: Opaque = Opaque::Response("written by a function that the gate does not follow");

/// The gate does not follow what is about to be read from the connection, or written to it. False if a busy answer is in the way (invariant A).
fn give_up(fd: i32, reason: Opaque) -> bool {
    let Some(slot) = Table::global().live(fd) else { return true };
    let mut tracked = slot.lock();
    let Some(t) = tracked.as_mut() else { return true };
    let mut wire = SocketWire::new(fd, t.inode);
    let mut flushed = true;
    update(fd, slot, &mut tracked, |connection| {
        // What is owed can be told now, and not any more.
        connection.pay(&mut wire);
        flushed = !connection.has_unsent();
        connection.make_opaque(reason);
    });
    flushed
}

/// `position` and `limit` of `java.nio.Buffer`, as Netty itself reads them.
static FIELDS: OnceLock<Option<[Field; 2]>> = OnceLock::new();

/// Where so many buffers of an array have their bytes; `None` if one is not direct, or it cannot be told.
///
/// # Safety
/// `env` is the current thread's; `buffers` null or an array of buffers with so many.
unsafe fn parts(env: Env, buffers: Object, offset: i32, length: i32) -> Option<Vec<libc::iovec>> {
    if buffers.is_null() || offset < 0 || length <= 0 {
        return None;
    }
    // SAFETY: as demanded; `java.nio.Buffer` is never unloaded.
    unsafe {
        let fields = FIELDS.get_or_init(|| {
            let class = jni::Env::find_class(env, c"java/nio/Buffer")?;
            let fields = Field::of(env, class, c"position").zip(Field::of(env, class, c"limit"));
            jni::Env::delete_local(env, class);
            fields.map(|(position, limit)| [position, limit])
        });
        let [position, limit] = fields.as_ref()?;
        (offset..offset.checked_add(length)?)
            .map(|i| {
                let buffer = jni::Env::element(env, buffers, i)?;
                let (position, limit) = (position.get(env, buffer), limit.get(env, buffer));
                let address = address_of(env, buffer);
                jni::Env::delete_local(env, buffer);
                (address != 0 && position >= 0 && position <= limit).then(|| single(address + i64::from(position), limit - position))
            })
            .collect()
    }
}

unsafe extern "system" fn writev(env: Env, class: Object, fd: i32, buffers: Object, offset: i32, length: i32, most: i64) -> i64 {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        let original = || vm::<OfBuffers>(&WRITEV)(env, class, fd, buffers, offset, length, most);
        let Some(slot) = Table::global().live(fd) else { return original() };
        match parts(env, buffers, offset, length) {
            Some(vector) => send(fd, slot, &vector, WOULD_BLOCK, original),
            None if !give_up(fd, UNSEEN_WRITE) => WOULD_BLOCK,
            None => original(),
        }
    }
}

unsafe extern "system" fn splice(env: Env, class: Object, from: i32, from_offset: i64, to: i32, to_offset: i64, length: i64) -> i32 {
    if !give_up(from, Opaque::UnseenBytes) || !give_up(to, UNSEEN_WRITE) {
        return WOULD_BLOCK as i32;
    }
    // SAFETY: the VM's arguments, passed on.
    unsafe { vm::<Splice>(&SPLICE)(env, class, from, from_offset, to, to_offset, length) }
}

unsafe extern "system" fn accept(env: Env, class: Object, listener: i32, address: Object) -> i32 {
    // SAFETY: the VM's arguments, passed on.
    let fd = unsafe { vm::<Accept>(&ACCEPT)(env, class, listener, address) };
    if fd >= 0 {
        guarded(|| agent::accepted(fd, false));
    }
    fd
}

unsafe extern "system" fn close(env: Env, class: Object, fd: i32) -> i32 {
    guarded(|| Table::global().forget(fd));
    // SAFETY: the VM's arguments, passed on.
    unsafe { vm::<Close>(&CLOSE)(env, class, fd) }
}
