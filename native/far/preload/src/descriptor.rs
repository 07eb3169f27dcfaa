// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Whether a file descriptor is of a file in the marked directory; and the functions that would close the pager's own, or put something
//! else into their places. To the program they are not open. A child of `fork` or `vfork` has copies, and may close them.

use std::ffi::{c_int, c_uint};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use lull_far::last_words::say;
use lull_far::{Pager, descriptors, signal};

use crate::next::{Next, next, set_errno};
use crate::settings::settings;

/// True for a file right in the marked directory, also if it was unlinked since.
pub fn is_marked(fd: c_int) -> bool {
    let Some(settings) = settings() else { return false };
    if fd < 0 {
        return false;
    }
    let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{fd}")) else { return false };
    let bytes = path.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    Path::new(std::ffi::OsStr::from_bytes(bytes)).parent() == Some(settings.directory.as_path())
}

/// Whether a file has contents on its disk, which we would not show.
pub fn has_contents(fd: c_int) -> bool {
    // SAFETY: the kernel fills the structure.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &raw mut status) != 0 || status.st_blocks != 0
    }
}

type Close = unsafe extern "C" fn(c_int) -> c_int;
type Duplicate = unsafe extern "C" fn(c_int, c_int) -> c_int;
type DuplicateWith = unsafe extern "C" fn(c_int, c_int, c_int) -> c_int;

static CLOSE: Next = Next::new(c"close");
static DUPLICATE: Next = Next::new(c"dup2");
static DUPLICATE_WITH: Next = Next::new(c"dup3");

/// When the library is loaded: a child of `fork` closes before it does anything else, and may not wait for a lock of the loader.
pub fn look_up() {
    for next in [&CLOSE, &DUPLICATE, &DUPLICATE_WITH] {
        next.get();
    }
}

/// Whether the pager's descriptors are those of this process, and not copies.
fn are_ours() -> bool {
    signal::installed().is_some_and(Pager::is_here)
}

fn is_pagers(fd: c_int) -> bool {
    descriptors::is_own(fd) && are_ours()
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    if is_pagers(fd) {
        set_errno(libc::EBADF);
        return -1;
    }
    // SAFETY: the caller's argument.
    unsafe { next!(CLOSE, Close)(fd) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    // By the system call: the C libraries of some years ago have no such function.
    // SAFETY: as the caller's.
    let close = |first: c_uint, last: c_uint| unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) } as c_int;
    let mut from = first;
    // Those between the pager's.
    while let Some(own) = descriptors::first_own(from, last).filter(|_| are_ours()) {
        if own > from && close(from, own - 1) != 0 {
            return -1;
        }
        if own == last {
            return 0;
        }
        from = own + 1;
    }
    close(from, last)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closefrom(first: c_int) {
    // SAFETY: as that function.
    unsafe { close_range(first.max(0).cast_unsigned(), c_uint::MAX, 0) };
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    if refuse_place(new) {
        return -1;
    }
    // SAFETY: the caller's arguments.
    unsafe { next!(DUPLICATE, Duplicate)(old, new) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    if refuse_place(new) {
        return -1;
    }
    // SAFETY: the caller's arguments.
    unsafe { next!(DUPLICATE_WITH, DuplicateWith)(old, new, flags) }
}

/// Refuses what a program cannot know: that the number which it has chosen is taken.
fn refuse_place(new: c_int) -> bool {
    let refuse = is_pagers(new);
    if refuse {
        say(format_args!("descriptor {new} cannot be replaced by dup2 or dup3: far memory uses it"));
        set_errno(libc::EBADF);
    }
    refuse
}
