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

use crate::next::{next, set_errno};
use crate::settings::settings;

type Sigaction = unsafe extern "C" fn(c_int, *const libc::sigaction, *mut libc::sigaction) -> c_int;
type Signal = unsafe extern "C" fn(c_int, sighandler_t) -> sighandler_t;
type Mask = unsafe extern "C" fn(c_int, *const sigset_t, *mut sigset_t) -> c_int;

/// Whether SIGBUS is the pager's now.
fn is_ours(signal: c_int) -> bool {
    signal == libc::SIGBUS && installed().is_some_and(|pager| pager.mode() == FaultMode::InThread)
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
            return next!(c"sigaction", Sigaction)(signal, pass, old);
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
        return unsafe { next!(c"signal", Signal)(signal, handler) };
    }
    if handler == libc::SIG_ERR {
        set_errno(libc::EINVAL);
        return libc::SIG_ERR;
    }
    set_next(Some(NextHandler { handler, flags: libc::SA_RESTART, mask: 0 })).handler
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
    unsafe { without_sigbus(next!(c"pthread_sigmask", Mask), how, new, old) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { without_sigbus(next!(c"sigprocmask", Mask), how, new, old) }
}
