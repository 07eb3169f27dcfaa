// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The JDK's socket natives (`sun.nio.ch`): blocking sockets, channels and selectors, asynchronous channels, virtual threads.
//!
//! 17 writes and closes sockets in `FileDispatcherImpl`, together with files; 21 and 25 in `SocketDispatcher` and `UnixDispatcher`. The
//! signatures are the same.
//!
//! Each function calls the JDK's own unless its descriptor is a connection of the gate. `GetIntField` and whatever else enters the
//! VM may block in a safepoint, so none of it is called with a slot's lock held.

use std::ffi::{CStr, CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use super::{Method, Original};
use crate::agent;
use crate::connection::Connection;
use crate::gate::SocketWire;
use crate::http1::Http1;
use crate::jni;
use crate::kernel::{self, errno};
use crate::protocol::Opaque;
use crate::table::{ONE_SHOT, Slot, Table, Tracked};

// sun.nio.ch.IOStatus
const EOF: i64 = -1;
const UNAVAILABLE: i64 = -2;
const INTERRUPTED: i64 = -3;
const THROWN: i64 = -5;

type Env = *mut jni::Env;
type Object = jni::Object;
type Transfer<T> = unsafe extern "system" fn(Env, Object, Object, i64, i32) -> T;
type OfDescriptor = unsafe extern "system" fn(Env, Object, Object);
type Accept = unsafe extern "system" fn(Env, Object, Object, Object, Object) -> i32;
type ConfigureBlocking = unsafe extern "system" fn(Env, Object, Object, u8);
type EPollWait = unsafe extern "system" fn(Env, Object, i32, i64, i32, i32) -> i32;
type EPollControl = unsafe extern "system" fn(Env, Object, i32, i32, i32, i32) -> i32;

static READ: Original = Original::none();
static READV: Original = Original::none();
static WRITE: Original = Original::none();
static WRITEV: Original = Original::none();
static CLOSE: Original = Original::none();
static PRE_CLOSE: Original = Original::none();
static ACCEPT: Original = Original::none();
static CONFIGURE_BLOCKING: Original = Original::none();
static EPOLL_WAIT: Original = Original::none();
static EPOLL_CONTROL: Original = Original::none();

const TRANSFER: &CStr = c"(Ljava/io/FileDescriptor;JI)I";
const TRANSFER_VECTOR: &CStr = c"(Ljava/io/FileDescriptor;JI)J";
const OF_DESCRIPTOR: &CStr = c"(Ljava/io/FileDescriptor;)V";

macro_rules! methods {
    ($($class:literal $name:literal $signature:expr => $original:ident, $ours:ident as $type:ty;)*) => {
        &[$(Method { class: $class, name: $name, signature: $signature, original: &$original, ours: $ours as $type as *const c_void }),*]
    };
}

/// All of them.
pub static METHODS: &[Method] = methods! {
    c"Lsun/nio/ch/SocketDispatcher;" c"read0" TRANSFER => READ, read0 as Transfer<i32>;
    c"Lsun/nio/ch/SocketDispatcher;" c"readv0" TRANSFER_VECTOR => READV, readv0 as Transfer<i64>;
    c"Lsun/nio/ch/SocketDispatcher;" c"write0" TRANSFER => WRITE, write0 as Transfer<i32>;
    c"Lsun/nio/ch/SocketDispatcher;" c"writev0" TRANSFER_VECTOR => WRITEV, writev0 as Transfer<i64>;
    c"Lsun/nio/ch/FileDispatcherImpl;" c"write0" TRANSFER => WRITE, write0 as Transfer<i32>;
    c"Lsun/nio/ch/FileDispatcherImpl;" c"writev0" TRANSFER_VECTOR => WRITEV, writev0 as Transfer<i64>;
    c"Lsun/nio/ch/UnixDispatcher;" c"close0" OF_DESCRIPTOR => CLOSE, close0 as OfDescriptor;
    c"Lsun/nio/ch/UnixDispatcher;" c"preClose0" OF_DESCRIPTOR => PRE_CLOSE, pre_close0 as OfDescriptor;
    c"Lsun/nio/ch/FileDispatcherImpl;" c"close0" OF_DESCRIPTOR => CLOSE, close0 as OfDescriptor;
    c"Lsun/nio/ch/FileDispatcherImpl;" c"preClose0" OF_DESCRIPTOR => PRE_CLOSE, pre_close0 as OfDescriptor;
    c"Lsun/nio/ch/Net;" c"accept" c"(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/net/InetSocketAddress;)I"
        => ACCEPT, accept as Accept;
    c"Lsun/nio/ch/IOUtil;" c"configureBlocking" c"(Ljava/io/FileDescriptor;Z)V"
        => CONFIGURE_BLOCKING, configure_blocking as ConfigureBlocking;
    c"Lsun/nio/ch/EPoll;" c"wait" c"(IJII)I" => EPOLL_WAIT, epoll_wait as EPollWait;
    c"Lsun/nio/ch/EPoll;" c"ctl" c"(IIII)I" => EPOLL_CONTROL, epoll_control as EPollControl;
};

struct Field(jni::FieldId);
// SAFETY: a jfieldID is valid on every thread.
unsafe impl Send for Field {}
// SAFETY: the same.
unsafe impl Sync for Field {}

/// `java.io.FileDescriptor.fd`
static DESCRIPTOR: OnceLock<Field> = OnceLock::new();

/// Finds the field that the functions here read; before this, they only call the JDK's.
///
/// # Safety
/// `env` is the current thread's, in the live phase.
pub unsafe fn prepare(env: Env) -> Result<(), String> {
    // SAFETY: as demanded.
    unsafe {
        let class = jni::Env::find_class(env, c"java/io/FileDescriptor").ok_or("there is no class java.io.FileDescriptor")?;
        let field = jni::Env::field(env, class, c"fd", c"I");
        jni::Env::delete_local(env, class);
        let field = field.ok_or("java.io.FileDescriptor has no int field fd")?;
        DESCRIPTOR.get_or_init(|| Field(field));
    }
    Ok(())
}

/// # Safety
/// `env` is the current thread's; `object` null or a FileDescriptor.
unsafe fn descriptor(env: Env, object: Object) -> Option<c_int> {
    let field = DESCRIPTOR.get()?;
    if object.is_null() {
        return None;
    }
    // SAFETY: as demanded.
    Some(unsafe { jni::Env::int_field(env, object, field.0) })
}

/// # Safety
/// As [`descriptor`].
unsafe fn live(env: Env, object: Object) -> Option<(c_int, &'static Slot)> {
    // SAFETY: as demanded.
    let fd = unsafe { descriptor(env, object) }?;
    Some((fd, Table::global().live(fd)?))
}

/// Calls `f` on the connection, and sees to what follows if it has become opaque. A panic makes it so: it must not
/// reach the JVM.
fn update(fd: c_int, slot: &Slot, tracked: &mut Option<Tracked>, f: impl FnOnce(&mut Connection<Http1>)) {
    let Some(t) = tracked else { return };
    if catch_unwind(AssertUnwindSafe(|| f(&mut t.connection))).is_err() {
        t.connection.make_opaque(Opaque::Defect);
    }
    if let Some(reason) = slot.publish(tracked) {
        agent::connection_became_opaque(fd, reason);
    }
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

/// The JDK's way to say a failed read: a status, or an exception.
///
/// # Safety
/// `env` is the current thread's; no lock is held.
unsafe fn failed_read(env: Env, error: i32) -> i64 {
    if error == libc::EAGAIN || error == libc::EWOULDBLOCK {
        return UNAVAILABLE;
    }
    if error == libc::EINTR {
        return INTERRUPTED;
    }
    let (class, text) = if error == libc::ECONNRESET || error == libc::EPIPE {
        (c"sun/net/ConnectionResetException", CString::from(c"Connection reset"))
    } else {
        let text = std::io::Error::from_raw_os_error(error).to_string();
        // Without the number that Rust puts behind it.
        let text = text.split(" (os error").next().unwrap_or_default();
        (c"java/io/IOException", CString::new(text).unwrap_or_default())
    };
    // SAFETY: as demanded.
    unsafe {
        if let Some(class) = jni::Env::find_class(env, class).or_else(|| jni::Env::find_class(env, c"java/io/IOException")) {
            jni::Env::throw(env, class, &text);
        }
    }
    THROWN
}

/// A read of a connection that may be the gate's; the same as the JDK's to its caller.
///
/// A blocking read takes nothing before the pause is over: it first waits for a byte without taking it, then for the pause,
/// then takes what is there without blocking. Meanwhile the gate may have answered.
///
/// # Safety
/// `env` is the current thread's; `vector` are buffers that the caller may write.
unsafe fn read(env: Env, fd: c_int, slot: &Slot, vector: &mut [libc::iovec]) -> i64 {
    loop {
        let blocking = slot.blocking.load(Ordering::Relaxed);
        if blocking {
            let mut byte = 0u8;
            // SAFETY: one byte is written at most.
            if unsafe { libc::recv(fd, (&raw mut byte).cast(), 1, libc::MSG_PEEK) } < 0 {
                let error = errno();
                // SAFETY: as demanded, and no lock is held.
                return unsafe { failed_read(env, error) };
            }
            if agent::CLOCK.wait_while_paused() {
                agent::METRICS.waits.add(1);
                // The gate may have answered what there was.
                continue;
            }
        }
        let mut tracked = slot.lock();
        // SAFETY: all zeros are a valid msghdr.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = vector.as_mut_ptr();
        message.msg_iovlen = vector.len();
        // SAFETY: buffers that the caller may write.
        let n = unsafe { libc::recvmsg(fd, &raw mut message, libc::MSG_DONTWAIT) };
        let error = if n < 0 { errno() } else { 0 };
        slot.announced.store(false, Ordering::Relaxed);
        if n > 0 {
            // SAFETY: the kernel has filled n bytes.
            update(fd, slot, &mut tracked, |connection| unsafe { each_part(vector, n as usize, |part| connection.received(part)) });
        }
        drop(tracked);
        return match n {
            1.. => n as i64,
            0 => EOF,
            _ if blocking && error == libc::EAGAIN && slot.is_live() => continue,
            // SAFETY: as demanded, and no lock is held.
            _ => unsafe { failed_read(env, error) },
        };
    }
}

/// Lets the application write to a connection that may be the gate's; `write` is the JDK's own function and gives
/// the count of bytes, or a negative status.
///
/// # Safety
/// `vector` are buffers that the caller may read.
unsafe fn write(fd: c_int, slot: &Slot, vector: &[libc::iovec], write: impl FnOnce() -> i64) -> i64 {
    let generation = {
        let mut tracked = slot.lock();
        let Some(t) = tracked.as_mut() else {
            drop(tracked);
            return write();
        };
        // Invariant A. The JDK waits until there is room, and comes again.
        if !t.connection.flush(&mut SocketWire(fd)) {
            return UNAVAILABLE;
        }
        let generation = t.generation;
        update(fd, slot, &mut tracked, Connection::write_begins);
        generation
    };
    let n = write();
    let mut tracked = slot.lock();
    if tracked.as_ref().is_some_and(|t| t.generation == generation) {
        update(fd, slot, &mut tracked, |connection| {
            if n > 0 {
                // SAFETY: the buffers are the caller's until we return.
                unsafe { each_part(vector, n as usize, |part| connection.sent(part)) };
            }
            connection.write_ends();
        });
    }
    n
}

fn single(address: i64, length: i32) -> libc::iovec {
    libc::iovec { iov_base: address as *mut c_void, iov_len: length as usize }
}

/// The VM's own function.
///
/// # Safety
/// It is of type `T`, and bound: ours is not called before.
unsafe fn vm<T: Copy>(original: &Original) -> T {
    let function = original.get();
    debug_assert!(!function.is_null() && size_of::<T>() == size_of_val(&function));
    // SAFETY: as demanded; a function's address.
    unsafe { std::mem::transmute_copy(&function) }
}

unsafe extern "system" fn read0(env: Env, class: Object, object: Object, address: i64, length: i32) -> i32 {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        match live(env, object) {
            Some((fd, slot)) if length > 0 => read(env, fd, slot, &mut [single(address, length)]) as i32,
            _ => vm::<Transfer<i32>>(&READ)(env, class, object, address, length),
        }
    }
}

unsafe extern "system" fn readv0(env: Env, class: Object, object: Object, address: i64, length: i32) -> i64 {
    // SAFETY: the VM's arguments, passed on; they are an array of so many iovecs.
    unsafe {
        match live(env, object) {
            Some((fd, slot)) if length > 0 => {
                read(env, fd, slot, std::slice::from_raw_parts_mut(address as *mut libc::iovec, length as usize))
            }
            _ => vm::<Transfer<i64>>(&READV)(env, class, object, address, length),
        }
    }
}

unsafe extern "system" fn write0(env: Env, class: Object, object: Object, address: i64, length: i32) -> i32 {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        let original = || vm::<Transfer<i32>>(&WRITE)(env, class, object, address, length);
        match live(env, object) {
            Some((fd, slot)) if length > 0 => write(fd, slot, &[single(address, length)], || original().into()) as i32,
            _ => original(),
        }
    }
}

unsafe extern "system" fn writev0(env: Env, class: Object, object: Object, address: i64, length: i32) -> i64 {
    // SAFETY: the VM's arguments, passed on; they are an array of so many iovecs.
    unsafe {
        let original = || vm::<Transfer<i64>>(&WRITEV)(env, class, object, address, length);
        match live(env, object) {
            Some((fd, slot)) if length > 0 => {
                write(fd, slot, std::slice::from_raw_parts(address as *const libc::iovec, length as usize), original)
            }
            _ => original(),
        }
    }
}

unsafe extern "system" fn close0(env: Env, class: Object, object: Object) {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        if let Some(fd) = descriptor(env, object) {
            Table::global().forget(fd);
        }
        vm::<OfDescriptor>(&CLOSE)(env, class, object);
    }
}

unsafe extern "system" fn pre_close0(env: Env, class: Object, object: Object) {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        if let Some(fd) = descriptor(env, object) {
            Table::global().forget(fd);
        }
        vm::<OfDescriptor>(&PRE_CLOSE)(env, class, object);
    }
}

unsafe extern "system" fn accept(env: Env, class: Object, listener: Object, accepted: Object, address: Object) -> i32 {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        let n = vm::<Accept>(&ACCEPT)(env, class, listener, accepted, address);
        if n == 1 {
            if let Some(fd) = descriptor(env, accepted) {
                agent::accepted(fd, kernel::is_blocking(fd));
            }
        }
        n
    }
}

unsafe extern "system" fn configure_blocking(env: Env, class: Object, object: Object, blocking: u8) {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        vm::<ConfigureBlocking>(&CONFIGURE_BLOCKING)(env, class, object, blocking);
        if let Some((_, slot)) = live(env, object) {
            slot.blocking.store(blocking != 0, Ordering::Relaxed);
        }
    }
}

unsafe extern "system" fn epoll_control(env: Env, class: Object, epfd: i32, operation: i32, fd: i32, events: i32) -> i32 {
    if let Some(slot) = Table::global().live(fd) {
        if operation != libc::EPOLL_CTL_DEL && events & (libc::EPOLLONESHOT | libc::EPOLLET) != 0 {
            slot.watched.fetch_or(ONE_SHOT, Ordering::Relaxed);
        }
    }
    // SAFETY: the VM's arguments, passed on.
    unsafe { vm::<EPollControl>(&EPOLL_CONTROL)(env, class, epfd, operation, fd, events) }
}

/// An event for the application: told, or withdrawn because the gate has answered what it was about.
///
/// A selector that is told of a byte may make the channel blocking and read (the JDK's HTTP server does); were the byte gone, it
/// would hang until the next request. So what is told is left alone from then on (invariant I), and what is not there any more is
/// not told, unless the selector would then never hear of it again.
unsafe extern "system" fn epoll_wait(env: Env, class: Object, epfd: i32, address: i64, most: i32, timeout: i32) -> i32 {
    // SAFETY: the VM's arguments, passed on.
    let n = unsafe { vm::<EPollWait>(&EPOLL_WAIT)(env, class, epfd, address, most, timeout) };
    if n <= 0 || DESCRIPTOR.get().is_none() {
        return n;
    }
    // SAFETY: the kernel has written n events there.
    let events = unsafe { std::slice::from_raw_parts_mut(address as *mut libc::epoll_event, n as usize) };
    agent::announce(events) as i32
}
