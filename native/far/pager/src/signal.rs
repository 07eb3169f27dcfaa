// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The handler of SIGBUS: faults in paged memory are served, all others go to the handler that the program has set.

use core::arch::global_asm;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::ffi::{c_int, c_void};

use crate::descriptors;
use crate::fault;
use crate::kernel::FaultMode;
use crate::pager::Pager;
use crate::syscall;

/// The pager of this process. Set once; null again in a child of `fork`.
static PAGER: AtomicPtr<Pager> = AtomicPtr::new(std::ptr::null_mut());

/// The program's handler of SIGBUS. The two are not read as one: a program that changes its handler while it faults outside
/// of paged memory gets either.
static NEXT_HANDLER: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);
static NEXT_FLAGS: AtomicUsize = AtomicUsize::new(0);
static NEXT_MASK: AtomicU64 = AtomicU64::new(0);

/// The kernel's structure, which is not the C library's.
#[repr(C)]
struct KernelAction {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

unsafe extern "C" {
    fn lull_far_signal_return();
}

// The kernel returns from a handler through this. We do not ask the C library to install the handler, because the
// preload library stands in for that function.
global_asm!(".globl lull_far_signal_return", ".hidden lull_far_signal_return", "lull_far_signal_return:", "mov rax, 15", "syscall");

/// What the program has set, or would like to: handler, flags and mask as in `struct sigaction`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHandler {
    /// A function, `SIG_DFL` or `SIG_IGN`.
    pub handler: usize,
    /// `SA_*`.
    pub flags: c_int,
    /// Signals to block, the first 64.
    pub mask: u64,
}

/// Sets who gets the faults that are not ours, and returns who got them before.
pub fn set_next(next: Option<NextHandler>) -> NextHandler {
    let before = NextHandler {
        handler: NEXT_HANDLER.load(Ordering::Relaxed),
        flags: NEXT_FLAGS.load(Ordering::Relaxed) as c_int,
        mask: NEXT_MASK.load(Ordering::Relaxed),
    };
    if let Some(next) = next {
        NEXT_MASK.store(next.mask, Ordering::Relaxed);
        NEXT_FLAGS.store(next.flags as usize, Ordering::Relaxed);
        NEXT_HANDLER.store(next.handler, Ordering::Release);
    }
    before
}

/// The pager that [`install`] was called with.
#[must_use]
pub fn installed() -> Option<&'static Pager> {
    // SAFETY: set once, to a reference that lives for ever.
    unsafe { PAGER.load(Ordering::Acquire).as_ref() }
}

/// Serves this pager's faults from now on. The handler that was set is the next one. Does nothing but remember the pager if
/// faults are served by other threads.
pub fn install(pager: &'static Pager) {
    PAGER.store(std::ptr::from_ref(pager).cast_mut(), Ordering::Release);
    // SAFETY: a function without arguments that only stores a word.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    if pager.kernel.mode() == FaultMode::Handlers {
        return;
    }
    // On the thread's own stack: an alternative one, as Rust's threads have, may be no larger than what the kernel itself puts there,
    // which with today's processors is 12 KB.
    let ours = KernelAction {
        handler: on_sigbus as *const () as usize,
        // A signal that the program ignores, or handles with SA_RESTART, as signal() does, does not end those of its system calls that the
        // kernel begins again. poll and its like end nevertheless, with EINTR.
        flags: (libc::SA_SIGINFO | libc::SA_RESTART | 0x0400_0000) as usize,
        restorer: lull_far_signal_return as *const () as usize,
        mask: u64::MAX,
    };
    let mut before = KernelAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
    // SAFETY: two structures of the kernel's form; the handler is one.
    unsafe { action(libc::SIGBUS, Some(&ours), Some(&mut before)) };
    if before.handler != ours.handler {
        set_next(Some(NextHandler { handler: before.handler, flags: before.flags as c_int, mask: before.mask }));
    }
}

/// A child of `fork` has no ranges: what it maps and unmaps is its own.
extern "C" fn in_child() {
    descriptors::close_all();
    PAGER.store(std::ptr::null_mut(), Ordering::Release);
}

/// # Safety
/// As `rt_sigaction`.
unsafe fn action(signal: c_int, new: Option<&KernelAction>, old: Option<&mut KernelAction>) {
    let new = new.map_or(std::ptr::null(), std::ptr::from_ref);
    let old = old.map_or(std::ptr::null_mut(), std::ptr::from_mut);
    // SAFETY: the caller's promise.
    let _ = unsafe { syscall::rt_sigaction(signal, new.cast(), old.cast()) };
}

/// The handler. Runs with all signals blocked, until the program's is called; see `fault.rs` for why it may do what it does.
extern "C" fn on_sigbus(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's arguments.
    let (address, error) = unsafe {
        let context = &*context.cast::<libc::ucontext_t>();
        ((*info).si_addr() as usize, context.uc_mcontext.gregs[libc::REG_ERR as usize])
    };
    // Bit 1 of the processor's error code: the access was a write.
    let write = error & 2 != 0;
    // SAFETY: the kernel's argument.
    let code = unsafe { (*info).si_code };
    // A SIGBUS that somebody sent has a code of zero or less, and no address. One that tells of broken memory which nobody uses at the moment
    // is like it: no access would be made again.
    let is_sent = code <= 0 || code == libc::BUS_MCEERR_AO;
    // What userfaultfd sends. A page whose memory is broken would be put in again and again.
    if code == libc::BUS_ADRERR
        && let Some(pager) = installed()
        && fault::serve(pager, address, write, syscall::thread_number())
    {
        return;
    }
    pass_on(signal, info, context, is_sent);
}

fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void, is_sent: bool) {
    let handler = NEXT_HANDLER.load(Ordering::Acquire);
    if is_sent && handler == libc::SIG_IGN {
        return;
    }
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        let default = KernelAction { handler: libc::SIG_DFL, flags: 0x0400_0000, restorer: 0, mask: 0 };
        // SAFETY: the default action.
        unsafe { action(signal, Some(&default), None) };
        // An access is made again, and ends the process as it would have without us. What was sent is sent again.
        if is_sent {
            syscall::raise(signal);
        }
        return;
    }
    let flags = NEXT_FLAGS.load(Ordering::Relaxed) as c_int;
    if flags & libc::SA_RESETHAND != 0 {
        NEXT_HANDLER.store(libc::SIG_DFL, Ordering::Relaxed);
    }
    // What the kernel would block for the program's handler, which may end in a jump, but SIGBUS: it may use paged memory. Returning from our
    // handler ends that.
    // SAFETY: the kernel's frame has the first 64 signals there.
    let interrupted = unsafe { (&raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask).cast::<u64>().read_unaligned() };
    syscall::set_signal_mask((interrupted | NEXT_MASK.load(Ordering::Relaxed)) & !bit(libc::SIGBUS));
    if flags & libc::SA_SIGINFO != 0 {
        // SAFETY: the program said that this is such a function.
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: as above.
        let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}
