// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! SIGBUS is the pager's once it serves faults in their own thread: a handler that the program sets gets what is not a fault in
//! paged memory, and nobody blocks the signal.
//!
//! Before the pager has started, handlers are set as ever; `signal::install` finds the one that is there. Masks are kept clear
//! of SIGBUS from the start, because threads keep what they have set.

use std::ffi::c_int;

use libc::{sighandler_t, sigset_t};
use lull_far::FaultMode;
use lull_far::signal::{NextHandler, installed, set_next};

use crate::next::{self, Mask, set_errno};
use crate::settings::settings;

/// What `sigset` takes for a handler in order to block a signal.
const SIG_HOLD: sighandler_t = 2;

/// Whether SIGBUS is the pager's now. Not in a child of `vfork`, which has handlers of its own, and the parent's memory, where the
/// program's handler is.
fn is_ours(signal: c_int) -> bool {
    signal == libc::SIGBUS && installed().is_some_and(|pager| pager.mode() == FaultMode::InThread && pager.is_here())
}

/// Whether a signal is the one that nobody may block.
fn stays_open(signal: c_int) -> bool {
    signal == libc::SIGBUS && settings().is_some()
}

/// When the library is loaded: who has started the program may have blocked SIGBUS.
pub fn unblock() {
    // SAFETY: a set of our own.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGBUS);
        next::PTHREAD_SIGMASK.get()(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}

/// The first 64 signals of a set.
fn bits(set: &sigset_t) -> u64 {
    // SAFETY: a set is at least 8 bytes, of which these are the first signals on Linux.
    unsafe { std::ptr::from_ref(set).cast::<u64>().read_unaligned() }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    // SAFETY: the caller's structures.
    unsafe {
        if !is_ours(signal) {
            let mut changed;
            let mut pass = new;
            // A handler must not block SIGBUS while it runs: it may use paged memory.
            if settings().is_some()
                && let Some(given) = new.as_ref()
            {
                changed = *given;
                libc::sigdelset(&raw mut changed.sa_mask, libc::SIGBUS);
                pass = &raw const changed;
            }
            return next::SIGACTION.get()(signal, pass, old);
        }
        let next = new.as_ref().map(|new| NextHandler { handler: new.sa_sigaction, flags: new.sa_flags, mask: bits(&new.sa_mask) });
        let before = set_next(next);
        if let Some(old) = old.as_mut() {
            *old = std::mem::zeroed();
            old.sa_sigaction = before.handler;
            old.sa_flags = before.flags;
            (&raw mut old.sa_mask).cast::<u64>().write_unaligned(before.mask);
        }
        0
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    if !is_ours(signal) {
        // SAFETY: the caller's arguments.
        return unsafe { next::SIGNAL.get()(signal, handler) };
    }
    set(handler, libc::SA_RESTART)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bsd_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: the same function on this machine.
    unsafe { signal(number, handler) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ssignal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: the same function on this machine.
    unsafe { signal(number, handler) }
}

/// What `signal` is for programs that are compiled for System V.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    if !is_ours(signal) {
        // SAFETY: the caller's arguments.
        return unsafe { next::SYSV_SIGNAL.get()(signal, handler) };
    }
    set(handler, libc::SA_RESETHAND | libc::SA_NODEFER)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sysv_signal(number: c_int, handler: sighandler_t) -> sighandler_t {
    // SAFETY: the same function on this machine.
    unsafe { __sysv_signal(number, handler) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigset(signal: c_int, handler: sighandler_t) -> sighandler_t {
    if handler == SIG_HOLD && stays_open(signal) {
        // It is not blocked, and was not before: the handler stays, and is returned.
        // SAFETY: the kernel, or we, fill the structure.
        unsafe {
            let mut now = std::mem::zeroed();
            return if sigaction(signal, std::ptr::null(), &raw mut now) == 0 { now.sa_sigaction } else { libc::SIG_ERR };
        }
    }
    if !is_ours(signal) {
        // SAFETY: the caller's arguments.
        return unsafe { next::SIGSET.get()(signal, handler) };
    }
    set(handler, 0)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigignore(signal: c_int) -> c_int {
    if !is_ours(signal) {
        // SAFETY: the caller's argument.
        return unsafe { next::SIGIGNORE.get()(signal) };
    }
    set(libc::SIG_IGN, 0);
    0
}

/// Sets the handler of SIGBUS, which is ours, and returns the one before.
fn set(handler: sighandler_t, flags: c_int) -> sighandler_t {
    if handler == libc::SIG_ERR {
        set_errno(libc::EINVAL);
        return libc::SIG_ERR;
    }
    set_next(Some(NextHandler { handler, flags, mask: 0 })).handler
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sighold(signal: c_int) -> c_int {
    if stays_open(signal) {
        return 0;
    }
    // SAFETY: the caller's argument.
    unsafe { next::SIGHOLD.get()(signal) }
}

/// Of the first 32 signals.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigblock(mask: c_int) -> c_int {
    // SAFETY: the caller's argument, but for SIGBUS.
    unsafe { next::SIGBLOCK.get()(open_in(mask)) }
}

/// Of the first 32 signals.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsetmask(mask: c_int) -> c_int {
    // SAFETY: the caller's argument, but for SIGBUS.
    unsafe { next::SIGSETMASK.get()(open_in(mask)) }
}

/// A mask of the old form, without SIGBUS.
fn open_in(mask: c_int) -> c_int {
    if stays_open(libc::SIGBUS) { mask & !(1 << (libc::SIGBUS - 1)) } else { mask }
}

/// # Safety
/// As the C library's.
unsafe fn without_sigbus(next: Mask, how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: the caller's structures.
    unsafe {
        let Some(given) = new.as_ref() else { return next(how, new, old) };
        let mut changed = *given;
        if how != libc::SIG_UNBLOCK && settings().is_some() {
            libc::sigdelset(&raw mut changed, libc::SIGBUS);
        }
        next(how, &raw const changed, old)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_sigmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { without_sigbus(next::PTHREAD_SIGMASK.get(), how, new, old) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { without_sigbus(next::SIGPROCMASK.get(), how, new, old) }
}
