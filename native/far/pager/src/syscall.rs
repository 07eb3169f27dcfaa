// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! System calls as instructions. The fault path makes all of its calls through here: it may interrupt the C library
//! anywhere, so it neither calls into it nor touches `errno`. Linux on x86-64.

use core::arch::asm;
use std::io::IoSlice;

use crate::PAGE_SIZE;

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl Errno {
    /// The C library's text, for messages outside of the fault path.
    #[must_use]
    pub fn describe(self) -> String {
        std::io::Error::from_raw_os_error(self.0).to_string()
    }
}

fn result(value: isize) -> Result<usize, Errno> {
    usize::try_from(value).map_err(|_| Errno(i32::try_from(-value).unwrap_or(libc::EINVAL)))
}

/// # Safety
/// As the system call.
unsafe fn call(number: libc::c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> Result<usize, Errno> {
    let value: isize;
    // SAFETY: the convention of the kernel for x86-64; that memory is touched is why there is no `nomem`.
    unsafe {
        asm!("syscall", inlateout("rax") number as isize => value, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e,
            in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result(value)
}

/// `ioctl` with a structure.
///
/// # Safety
/// The structure is the request's, and what it names may be changed.
pub unsafe fn ioctl<T>(fd: i32, request: u32, argument: &mut T) -> Result<usize, Errno> {
    // SAFETY: the caller's promise.
    unsafe { call(libc::SYS_ioctl, fd as usize, request as usize, std::ptr::from_mut(argument) as usize, 0, 0, 0) }
}

/// Sends a whole message. No SIGPIPE.
pub fn send_all(fd: i32, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let flags = libc::MSG_NOSIGNAL as usize;
        // SAFETY: the kernel reads the slice only.
        match unsafe { call(libc::SYS_sendto, fd as usize, bytes.as_ptr() as usize, bytes.len(), flags, 0, 0) } {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno(libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sends what the kernel takes of these pieces, 1024 at most; returns how many bytes. No SIGPIPE, which is the program's.
pub fn send_some(fd: i32, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
    // SAFETY: all of it may be zero.
    let mut message: libc::msghdr = unsafe { core::mem::zeroed() };
    // A slice for the kernel's calls has the layout of its structure.
    message.msg_iov = parts.as_ptr().cast_mut().cast();
    message.msg_iovlen = parts.len();
    let flags = libc::MSG_NOSIGNAL as usize;
    // SAFETY: the kernel reads the slices only.
    unsafe { call(libc::SYS_sendmsg, fd as usize, std::ptr::from_ref(&message) as usize, flags, 0, 0, 0) }
}

/// Receives what there is, one byte or more; the end of the stream is `ECONNRESET`. Waits awake for so many nanoseconds, then asleep.
/// Others who want the processor get it meanwhile: the server, if it is on this machine.
pub fn receive_some(fd: i32, bytes: &mut [u8], awake: u64) -> Result<usize, Errno> {
    let mut begin = None;
    let mut flags = if awake > 0 { libc::MSG_DONTWAIT as usize } else { 0 };
    loop {
        // SAFETY: the kernel writes into the slice only.
        match unsafe { call(libc::SYS_recvfrom, fd as usize, bytes.as_mut_ptr() as usize, bytes.len(), flags, 0, 0) } {
            Ok(0) => return Err(Errno(libc::ECONNRESET)),
            Ok(count) => return Ok(count),
            Err(Errno(libc::EINTR)) => {}
            Err(Errno(libc::EAGAIN)) if flags != 0 => {
                let time = now();
                if time - *begin.get_or_insert(time) >= awake {
                    flags = 0;
                } else {
                    // SAFETY: touches no memory.
                    let _ = unsafe { call(libc::SYS_sched_yield, 0, 0, 0, 0, 0, 0) };
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Reads at an offset; returns how many bytes.
pub fn pread(fd: i32, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    loop {
        // SAFETY: the kernel writes into the slice only.
        match unsafe { call(libc::SYS_pread64, fd as usize, bytes.as_mut_ptr() as usize, bytes.len(), offset as usize, 0, 0) } {
            Err(Errno(libc::EINTR)) => {}
            other => return other,
        }
    }
}

/// Writes to a descriptor what it takes; for the last words of a process.
pub fn write(fd: i32, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel reads the slice only.
    unsafe { call(libc::SYS_write, fd as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0) }
}

/// Closes a descriptor, which is the caller's.
pub fn close(fd: i32) {
    // SAFETY: touches no memory.
    let _ = unsafe { call(libc::SYS_close, fd as usize, 0, 0, 0, 0, 0) };
}

/// Ends the process without running anything.
pub fn exit_group(status: i32) -> ! {
    // SAFETY: ends everything.
    let _ = unsafe { call(libc::SYS_exit_group, status as usize, 0, 0, 0, 0, 0) };
    loop {
        core::hint::spin_loop();
    }
}

/// Waits while a word has a value, for so long at most. May return early.
pub fn futex_wait(word: *const u32, value: u32, nanoseconds: u64) {
    let time = [(nanoseconds / 1_000_000_000) as i64, (nanoseconds % 1_000_000_000) as i64];
    let operation = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
    // SAFETY: the kernel reads the word, which is aligned, and the time.
    let _ = unsafe { call(libc::SYS_futex, word as usize, operation, value as usize, time.as_ptr() as usize, 0, 0) };
}

/// Wakes all who wait at a word.
pub fn futex_wake_all(word: *const u32) {
    let operation = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
    // SAFETY: the kernel uses the address as a name.
    let _ = unsafe { call(libc::SYS_futex, word as usize, operation, i32::MAX as usize, 0, 0, 0) };
}

/// Nanoseconds since some moment.
pub fn now() -> u64 {
    let mut time = [0_i64; 2];
    // SAFETY: the kernel writes the two words.
    let _ = unsafe { call(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC as usize, time.as_mut_ptr() as usize, 0, 0, 0, 0) };
    time[0] as u64 * 1_000_000_000 + time[1] as u64
}

/// Maps a file from its beginning, where there is room. Returns the address.
///
/// # Safety
/// As the system call.
pub unsafe fn mmap(bytes: usize, protection: i32, flags: i32, fd: i32) -> Result<usize, Errno> {
    // SAFETY: the caller's promise.
    unsafe { call(libc::SYS_mmap, 0, bytes, protection as usize, flags as usize, fd as usize, 0) }
}

/// `madvise` on whole pages.
///
/// # Safety
/// Nobody relies on the contents that the advice drops.
pub unsafe fn madvise(address: usize, bytes: usize, advice: i32) -> Result<usize, Errno> {
    debug_assert!(address.is_multiple_of(PAGE_SIZE));
    // SAFETY: the caller's promise.
    unsafe { call(libc::SYS_madvise, address, bytes, advice as usize, 0, 0, 0) }
}

/// `process_madvise`; returns the bytes advised.
///
/// # Safety
/// As [`madvise`], for each vector.
pub unsafe fn process_madvise(pidfd: i32, vectors: &[libc::iovec], advice: i32) -> Result<usize, Errno> {
    // SAFETY: the caller's promise.
    unsafe { call(libc::SYS_process_madvise, pidfd as usize, vectors.as_ptr() as usize, vectors.len(), advice as usize, 0, 0) }
}

/// Frees a part of a file.
pub fn punch_hole(fd: i32, offset: u64, bytes: u64) -> Result<(), Errno> {
    let mode = (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE) as usize;
    loop {
        // SAFETY: touches the file only; the caller owns these pages of it.
        match unsafe { call(libc::SYS_fallocate, fd as usize, mode, offset as usize, bytes as usize, 0, 0) } {
            Ok(_) => return Ok(()),
            Err(Errno(libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
    }
}

/// A number that no other living thread of this process has: the address of its control block.
pub fn thread_number() -> usize {
    let number: usize;
    // SAFETY: the first word of the control block is its own address, by the ABI.
    unsafe { asm!("mov {}, fs:0", out(reg) number, options(nostack, readonly, preserves_flags)) };
    number
}

/// Sets what is done with a signal. The structures are the kernel's.
///
/// # Safety
/// As the system call.
pub unsafe fn rt_sigaction(signal: i32, new: *const u8, old: *mut u8) -> Result<usize, Errno> {
    // SAFETY: the caller's promise; the mask has 8 bytes.
    unsafe { call(libc::SYS_rt_sigaction, signal as usize, new as usize, old as usize, 8, 0, 0) }
}

/// Sets the first 64 signals that this thread blocks. Returns those that it has blocked.
pub fn set_signal_mask(mask: u64) -> u64 {
    let how = libc::SIG_SETMASK as usize;
    let mut before = 0_u64;
    let (new, old) = (std::ptr::from_ref(&mask) as usize, std::ptr::from_mut(&mut before) as usize);
    // SAFETY: the kernel reads and writes 8 bytes. It cannot fail.
    let _ = unsafe { call(libc::SYS_rt_sigprocmask, how, new, old, 8, 0, 0) };
    before
}

/// Sends a signal to this thread.
pub fn raise(signal: i32) {
    // SAFETY: numbers only.
    unsafe {
        if let (Ok(process), Ok(thread)) = (call(libc::SYS_getpid, 0, 0, 0, 0, 0, 0), call(libc::SYS_gettid, 0, 0, 0, 0, 0, 0)) {
            let _ = call(libc::SYS_tgkill, process, thread, signal as usize, 0, 0, 0);
        }
    }
}
