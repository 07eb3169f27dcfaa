// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The functions that ours stand in for.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

use libc::{off_t, sighandler_t, sigset_t, size_t, ssize_t};

/// A function of the next library, which has type `F`. Its address, or one of the two below.
pub struct Next<F>(AtomicUsize, &'static CStr, PhantomData<F>);

const NOT_LOOKED_UP: usize = 0;
const NOT_THERE: usize = 1;

impl<F: Copy> Next<F> {
    /// # Safety
    /// The function of this name has type `F`, which is that of a function.
    const unsafe fn new(name: &'static CStr) -> Next<F> {
        Next(AtomicUsize::new(NOT_LOOKED_UP), name, PhantomData)
    }

    /// None if there is no such function.
    pub fn find(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<usize>()) };
        let mut address = self.0.load(Ordering::Relaxed);
        if address == NOT_LOOKED_UP {
            // SAFETY: a name and a special handle.
            address = (unsafe { libc::dlsym(libc::RTLD_NEXT, self.1.as_ptr()) } as usize).max(NOT_THERE);
            self.0.store(address, Ordering::Relaxed);
        }
        // SAFETY: the function has this type.
        (address != NOT_THERE).then(|| unsafe { std::mem::transmute_copy(&address) })
    }

    /// The function. Ends the program if there is none: nothing it does would be right.
    pub fn get(&self) -> F {
        self.find()
            .unwrap_or_else(|| lull_far::last_words::fatal(format_args!("the C library has no {}", self.1.to_str().unwrap_or("function"))))
    }
}

macro_rules! functions {
    ($($next:ident = $name:literal: $kind:ty;)*) => {
        $(
            // SAFETY: the C library's function of this name has this type.
            pub static $next: Next<$kind> = unsafe { Next::new($name) };
        )*

        /// When the library is loaded: a handler of a signal, an allocator or a child of `fork` may call ours before anybody else has, and
        /// may not call the loader, which allocates and takes locks. Who is earlier than this has them looked up when he calls them.
        pub fn look_up() {
            $($next.find();)*
        }
    };
}

pub type Mask = unsafe extern "C" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int;
type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type Signal = unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t;
type OfOne = unsafe extern "C" fn(c_int) -> c_int;
type Mmap = unsafe extern "C" fn(*mut c_void, size_t, c_int, c_int, c_int, off_t) -> *mut c_void;
type Mremap = unsafe extern "C" fn(*mut c_void, size_t, size_t, c_int, *mut c_void) -> *mut c_void;

functions! {
    MMAP = c"mmap": Mmap;
    MUNMAP = c"munmap": unsafe extern "C" fn(*mut c_void, size_t) -> c_int;
    MREMAP = c"mremap": Mremap;
    MADVISE = c"madvise": unsafe extern "C" fn(*mut c_void, size_t, c_int) -> c_int;
    FALLOCATE = c"fallocate": unsafe extern "C" fn(c_int, c_int, off_t, off_t) -> c_int;
    POSIX_FALLOCATE = c"posix_fallocate": unsafe extern "C" fn(c_int, off_t, off_t) -> c_int;
    READ = c"read": unsafe extern "C" fn(c_int, *mut c_void, size_t) -> ssize_t;
    WRITE = c"write": unsafe extern "C" fn(c_int, *const c_void, size_t) -> ssize_t;
    PREAD64 = c"pread64": unsafe extern "C" fn(c_int, *mut c_void, size_t, off_t) -> ssize_t;
    PWRITE64 = c"pwrite64": unsafe extern "C" fn(c_int, *const c_void, size_t, off_t) -> ssize_t;
    CLOSE = c"close": OfOne;
    CLOSEFROM = c"closefrom": unsafe extern "C" fn(c_int);
    DUP2 = c"dup2": unsafe extern "C" fn(c_int, c_int) -> c_int;
    DUP3 = c"dup3": unsafe extern "C" fn(c_int, c_int, c_int) -> c_int;
    SIGACTION = c"sigaction": Sigaction;
    SIGNAL = c"signal": Signal;
    SYSV_SIGNAL = c"__sysv_signal": Signal;
    SIGSET = c"sigset": Signal;
    SIGIGNORE = c"sigignore": OfOne;
    SIGHOLD = c"sighold": OfOne;
    SIGBLOCK = c"sigblock": OfOne;
    SIGSETMASK = c"sigsetmask": OfOne;
    PTHREAD_SIGMASK = c"pthread_sigmask": Mask;
    SIGPROCMASK = c"sigprocmask": Mask;
}

pub fn set_errno(number: i32) {
    // SAFETY: the C library's own variable of this thread.
    unsafe { *libc::__errno_location() = number };
}
