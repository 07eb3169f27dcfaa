// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Reading files into paged memory, and writing it to files. The kernel cannot wait for a page that is served in a thread that
//! is inside the kernel, so the bytes go through memory that is not paged. HotSpot reads archived objects into the heap so.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use libc::{off_t, size_t, ssize_t};
use lull_far::signal;

use crate::next;

/// What of a file goes through at once.
const PIECE: usize = 64 << 10;

/// The same of all else: a message that is read in part loses the rest, and none is longer than this. Not all that the caller has room
/// for, which may be more memory than there is.
const MESSAGE: usize = 4 << 20;

fn is_paged(address: *const c_void) -> bool {
    signal::installed().is_some_and(|pager| pager.range_at(address.expose_provenance()).is_some())
}

/// Callers expect all of a file's bytes at once, and of a socket's what there is. A disk is as a file.
fn is_file(fd: c_int) -> bool {
    // SAFETY: the kernel fills the structure.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &raw mut status) == 0 && matches!(status.st_mode & libc::S_IFMT, libc::S_IFREG | libc::S_IFBLK)
    }
}

/// Transfers piece by piece: `piece` gets room, and how many bytes were done before. Ends at the first piece that is not whole.
fn by_pieces(bytes: size_t, most: usize, mut piece: impl FnMut(&mut [MaybeUninit<u8>], usize) -> ssize_t) -> ssize_t {
    // Not zeroed, which would cost as much as the transfer.
    let mut room = Vec::with_capacity(bytes.min(most));
    let mut done = 0;
    loop {
        let want = (bytes - done).min(most);
        match piece(&mut room.spare_capacity_mut()[..want], done) {
            got @ 0.. => {
                done += got as usize;
                if done == bytes || (got as usize) < want {
                    return done as ssize_t;
                }
            }
            error if done == 0 => return error,
            _ => return done as ssize_t,
        }
    }
}

fn bounce_in(fd: c_int, to: *mut c_void, bytes: size_t, read: impl Fn(*mut c_void, size_t, usize) -> ssize_t) -> ssize_t {
    // Of what is no file one piece: the next would be waited for.
    let (bytes, most) = if is_file(fd) { (bytes, PIECE) } else { (bytes.min(MESSAGE), MESSAGE) };
    by_pieces(bytes, most, |room, done| {
        let got = read(room.as_mut_ptr().cast(), room.len(), done);
        if got > 0 {
            // SAFETY: the caller's memory; as many bytes as he has room for, at most.
            unsafe { std::ptr::copy_nonoverlapping(room.as_ptr().cast(), to.cast::<u8>().add(done), got as usize) };
        }
        got
    })
}

fn bounce_out(fd: c_int, from: *const c_void, bytes: size_t, write: impl Fn(*const c_void, size_t, usize) -> ssize_t) -> ssize_t {
    by_pieces(bytes, if is_file(fd) { PIECE } else { MESSAGE }, |room, done| {
        // SAFETY: the caller's memory; at most as many bytes as he has.
        unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>().add(done), room.as_mut_ptr().cast(), room.len()) };
        write(room.as_ptr().cast(), room.len(), done)
    })
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn read(fd: c_int, to: *mut c_void, bytes: size_t) -> ssize_t {
    let next = next::READ.get();
    // SAFETY: the caller's arguments, or our own memory.
    let call = |to, bytes, _| unsafe { next(fd, to, bytes) };
    if is_paged(to) { bounce_in(fd, to, bytes, call) } else { call(to, bytes, 0) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pread64(fd: c_int, to: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t {
    let next = next::PREAD64.get();
    // SAFETY: the caller's arguments, or our own memory.
    let call = |to, bytes, done: usize| unsafe { next(fd, to, bytes, offset + done as off_t) };
    if is_paged(to) { bounce_in(fd, to, bytes, call) } else { call(to, bytes, 0) }
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
    let next = next::WRITE.get();
    // SAFETY: the caller's arguments, or our own memory.
    let call = |from, bytes, _| unsafe { next(fd, from, bytes) };
    if is_paged(from) { bounce_out(fd, from, bytes, call) } else { call(from, bytes, 0) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite64(fd: c_int, from: *const c_void, bytes: size_t, offset: off_t) -> ssize_t {
    let next = next::PWRITE64.get();
    // SAFETY: the caller's arguments, or our own memory.
    let call = |from, bytes, done: usize| unsafe { next(fd, from, bytes, offset + done as off_t) };
    if is_paged(from) { bounce_out(fd, from, bytes, call) } else { call(from, bytes, 0) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pwrite(fd: c_int, from: *const c_void, bytes: size_t, offset: off_t) -> ssize_t {
    // SAFETY: the same function on this machine.
    unsafe { pwrite64(fd, from, bytes, offset) }
}
