// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The JDK's socket natives (`sun.nio.ch`): blocking sockets, channels and selectors, asynchronous channels, virtual threads.
//!
//! 17 writes and closes sockets in `FileDispatcherImpl`, together with files; 21 and 25 in `SocketDispatcher` and `UnixDispatcher`. The
//! signatures are the same.
//!
//! Each function calls the JDK's own unless its descriptor is a connection of the gate. `GetIntField` and whatever else enters the
//! VM may block in a safepoint, so none of it is called with a slot's lock held.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use super::selector::{announce, announce_available, announce_polled};
use super::transfer::{receive, send, single, vm};
use super::{Field, Method, Original, methods};
use crate::agent;
use crate::guard::guarded;
use crate::jni;
use crate::kernel;
use crate::table::{ONE_SHOT, Slot, Table};

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
type Available = unsafe extern "system" fn(Env, Object, Object) -> i32;
type Poll = unsafe extern "system" fn(Env, Object, i64, i32, i32) -> i32;
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
static AVAILABLE: Original = Original::none();
static POLL: Original = Original::none();

const TRANSFER: &CStr = c"(Ljava/io/FileDescriptor;JI)I";
const TRANSFER_VECTOR: &CStr = c"(Ljava/io/FileDescriptor;JI)J";
const OF_DESCRIPTOR: &CStr = c"(Ljava/io/FileDescriptor;)V";

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
    c"Lsun/nio/ch/Net;" c"available" c"(Ljava/io/FileDescriptor;)I" => AVAILABLE, available as Available;
    c"Lsun/nio/ch/PollSelectorImpl;" c"poll" c"(JII)I" => POLL, poll as Poll;
};

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
        let field = Field::of(env, class, c"fd");
        jni::Env::delete_local(env, class);
        let field = field.ok_or("java.io.FileDescriptor has no int field fd")?;
        DESCRIPTOR.get_or_init(|| field);
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
    Some(unsafe { field.get(env, object) })
}

/// # Safety
/// As [`descriptor`].
unsafe fn live(env: Env, object: Object) -> Option<(c_int, &'static Slot)> {
    // SAFETY: as demanded.
    let fd = unsafe { descriptor(env, object) }?;
    Some((fd, Table::global().live(fd)?))
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

/// # Safety
/// `env` is the current thread's; `vector` are buffers that the caller may write.
unsafe fn read(env: Env, fd: c_int, slot: &Slot, vector: &mut [libc::iovec]) -> i64 {
    // SAFETY: as demanded; receive holds no lock when it returns.
    unsafe {
        match receive(fd, slot, vector) {
            Ok(0) => EOF,
            Ok(n) => n as i64,
            Err(error) => failed_read(env, error),
        }
    }
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
            Some((fd, slot)) if length > 0 => send(fd, slot, &[single(address, length)], UNAVAILABLE, || original().into()) as i32,
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
                send(fd, slot, std::slice::from_raw_parts(address as *const libc::iovec, length as usize), UNAVAILABLE, original)
            }
            _ => original(),
        }
    }
}

unsafe extern "system" fn close0(env: Env, class: Object, object: Object) {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        if let Some(fd) = descriptor(env, object) {
            guarded(|| Table::global().forget(fd));
        }
        vm::<OfDescriptor>(&CLOSE)(env, class, object);
    }
}

unsafe extern "system" fn pre_close0(env: Env, class: Object, object: Object) {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        if let Some(fd) = descriptor(env, object) {
            guarded(|| Table::global().forget(fd));
        }
        vm::<OfDescriptor>(&PRE_CLOSE)(env, class, object);
    }
}

unsafe extern "system" fn accept(env: Env, class: Object, listener: Object, accepted: Object, address: Object) -> i32 {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        let n = vm::<Accept>(&ACCEPT)(env, class, listener, accepted, address);
        if n == 1
            && let Some(fd) = descriptor(env, accepted)
        {
            guarded(|| agent::accepted(fd, kernel::is_blocking(fd)));
        }
        n
    }
}

unsafe extern "system" fn configure_blocking(env: Env, class: Object, object: Object, blocking: u8) {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        vm::<ConfigureBlocking>(&CONFIGURE_BLOCKING)(env, class, object, blocking);
        guarded(|| {
            if let Some((_, slot)) = live(env, object) {
                slot.blocking.store(blocking != 0, Ordering::Relaxed);
            }
        });
    }
}

unsafe extern "system" fn epoll_control(env: Env, class: Object, epfd: i32, operation: i32, fd: i32, events: i32) -> i32 {
    guarded(|| {
        if let Some(slot) = Table::global().live(fd)
            && operation != libc::EPOLL_CTL_DEL
            && events & (libc::EPOLLONESHOT | libc::EPOLLET) != 0
        {
            slot.watched.fetch_or(ONE_SHOT, Ordering::Relaxed);
        }
    });
    // SAFETY: the VM's arguments, passed on.
    unsafe { vm::<EPollControl>(&EPOLL_CONTROL)(env, class, epfd, operation, fd, events) }
}

unsafe extern "system" fn epoll_wait(env: Env, class: Object, epfd: i32, address: i64, most: i32, timeout: i32) -> i32 {
    let looks = Table::global().looks();
    // SAFETY: the VM's arguments, passed on.
    let n = unsafe { vm::<EPollWait>(&EPOLL_WAIT)(env, class, epfd, address, most, timeout) };
    if n <= 0 || DESCRIPTOR.get().is_none() {
        return n;
    }
    // SAFETY: the kernel has written n events there.
    let events = unsafe { std::slice::from_raw_parts_mut(address as *mut libc::epoll_event, n as usize) };
    // By a defect the VM is told what the kernel has told.
    guarded(|| announce(Table::global(), looks, &agent::CLOCK, &agent::METRICS, events)).map_or(n, |left| left as i32)
}

/// `InputStream.available`: who is told of bytes may rely on them.
unsafe extern "system" fn available(env: Env, class: Object, object: Object) -> i32 {
    // SAFETY: the VM's arguments, passed on.
    unsafe {
        if let Some((fd, slot)) = live(env, object)
            && let Some(n) = guarded(|| announce_available(fd, slot, &agent::CLOCK, &agent::METRICS)).flatten()
        {
            return n;
        }
        vm::<Available>(&AVAILABLE)(env, class, object)
    }
}

/// The selector of `-Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.PollSelectorProvider`.
unsafe extern "system" fn poll(env: Env, class: Object, address: i64, length: i32, timeout: i32) -> i32 {
    let looks = Table::global().looks();
    // SAFETY: the VM's arguments, passed on.
    let n = unsafe { vm::<Poll>(&POLL)(env, class, address, length, timeout) };
    if n <= 0 || length <= 0 || DESCRIPTOR.get().is_none() {
        return n;
    }
    // SAFETY: an array of so many pollfds, which the kernel has filled.
    let polled = unsafe { std::slice::from_raw_parts_mut(address as *mut libc::pollfd, length as usize) };
    guarded(|| announce_polled(Table::global(), looks, &agent::CLOCK, &agent::METRICS, polled)).map_or(n, |left| left as i32)
}
