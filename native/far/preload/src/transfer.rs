// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Reading files into paged memory, and writing it to files. The kernel cannot wait for a page that is served in a thread that
//! is inside the kernel, so the bytes go through memory that is not paged. HotSpot reads archived objects into the heap so.

use std::ffi::{c_int, c_void};

use libc::{off_t, size_t, ssize_t};
use lull_far::signal;

use crate::next::next;

/// What goes through at once. A call may transfer less than was asked for; callers know that.
const PIECE: usize = 64 << 10;

fn is_paged(address: *const c_void) -> bool {
    signal::installed().is_some_and(|pager| pager.range_at(address.expose_provenance()).is_some())
}

fn bounce_in(to: *mut c_void, bytes: size_t, read: impl FnOnce(*mut c_void, size_t) -> ssize_t) -> ssize_t {
    let mut piece = vec![0_u8; bytes.min(PIECE)];
    let got = read(piece.as_mut_ptr().cast(), piece.len());
    if got > 0 {
        // SAFETY: the caller's memory; as many bytes as he has room for, at most.
        unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), to.cast(), got as usize) };
    }
    got
}

fn bounce_out(from: *const c_void, bytes: size_t, write: impl FnOnce(*const c_void, size_t) -> ssize_t) -> ssize_t {
    let mut piece = vec![0_u8; bytes.min(PIECE)];
    // SAFETY: the caller's memory; at most as many bytes as he has.
    unsafe { std::ptr::copy_nonoverlapping(from.cast(), piece.as_mut_ptr(), piece.len()) };
    write(piece.as_ptr().cast(), piece.len())
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, to: *mut c_void, bytes: size_t) -> ssize_t {
    let next = next!(c"read", unsafe extern "C" fn(c_int, *mut c_void, size_t) -> ssize_t);
    // SAFETY: the caller's arguments, or our own memory.
    let call = |to, bytes| unsafe { next(fd, to, bytes) };
    if is_paged(to) { bounce_in(to, bytes, call) } else { call(to, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(fd: c_int, to: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t {
    let next = next!(c"pread64", unsafe extern "C" fn(c_int, *mut c_void, size_t, off_t) -> ssize_t);
    // SAFETY: the caller's arguments, or our own memory.
    let call = |to, bytes| unsafe { next(fd, to, bytes, offset) };
    if is_paged(to) { bounce_in(to, bytes, call) } else { call(to, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread(fd: c_int, to: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t {
    // SAFETY: the same function on this machine.
    unsafe { pread64(fd, to, bytes, offset) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn write(fd: c_int, from: *const c_void, bytes: size_t) -> ssize_t {
    let next = next!(c"write", unsafe extern "C" fn(c_int, *const c_void, size_t) -> ssize_t);
    // SAFETY: the caller's arguments, or our own memory.
    let call = |from, bytes| unsafe { next(fd, from, bytes) };
    if is_paged(from) { bounce_out(from, bytes, call) } else { call(from, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(fd: c_int, from: *const c_void, bytes: size_t, offset: off_t) -> ssize_t {
    let next = next!(c"pwrite64", unsafe extern "C" fn(c_int, *const c_void, size_t, off_t) -> ssize_t);
    // SAFETY: the caller's arguments, or our own memory.
    let call = |from, bytes| unsafe { next(fd, from, bytes, offset) };
    if is_paged(from) { bounce_out(from, bytes, call) } else { call(from, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(fd: c_int, from: *const c_void, bytes: size_t, offset: off_t) -> ssize_t {
    // SAFETY: the same function on this machine.
    unsafe { pwrite64(fd, from, bytes, offset) }
}
