// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Whether a file descriptor is of a file in the marked directory; and the functions that would close the pager's own, or put something
//! else into their places. To the program they are not open. A child of `fork` or `vfork` has copies, and may close them.

use std::ffi::{c_int, c_uint};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use lull_far::last_words::say;
use lull_far::{Pager, descriptors, signal};

use crate::next::{self, set_errno};
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
    unsafe { next::CLOSE.get()(fd) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    // The pager's threads would not see what another one with descriptors of its own opens, nor that one what they open.
    let flags = if are_ours() { flags & !(libc::CLOSE_RANGE_UNSHARE.cast_signed()) } else { flags };
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
    let from = first.max(0).cast_unsigned();
    if !are_ours() || descriptors::first_own(from, c_uint::MAX).is_none() {
        // It knows what to do where `close_range` is not permitted.
        if let Some(next) = next::CLOSEFROM.find() {
            // SAFETY: the caller's argument.
            return unsafe { next(first) };
        }
    }
    // SAFETY: as that function.
    if unsafe { close_range(from, c_uint::MAX, 0) } != 0 {
        close_each(from);
    }
}

/// Closes what is open from a number on, but for the pager's, where `close_range` is not permitted: some containers do not know it. A child
/// of `fork` may be here, so nothing is allocated.
fn close_each(from: c_uint) {
    // SAFETY: a number that may be none, which we own as much as the caller does.
    let close = |fd: c_uint| unsafe { close(fd.cast_signed()) };
    // SAFETY: a new descriptor.
    let list = unsafe { libc::open(c"/proc/self/fd".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC) };
    if list < 0 {
        // SAFETY: a number only.
        let most = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
        for fd in from..c_uint::try_from(most).unwrap_or(c_uint::MAX) {
            close(fd);
        }
        return;
    }
    let mut entries = [0_u8; 1024];
    loop {
        // In the order of the numbers: what is closed meanwhile changes nothing for those behind it.
        // SAFETY: the kernel writes into the array only.
        let got = unsafe { libc::syscall(libc::SYS_getdents64, list, entries.as_mut_ptr(), entries.len()) };
        let Some(mut rest) = usize::try_from(got).ok().filter(|&got| got > 0).map(|got| &entries[..got]) else { break };
        // Two words, the length of the entry in 2 bytes, a byte, the name.
        while let Some((&[low, high], name)) = rest.get(16..18).and_then(|length| length.as_array()).zip(rest.get(19..)) {
            let digits = name.iter().take_while(|byte| byte.is_ascii_digit());
            let number = digits.fold(None, |number: Option<c_uint>, digit| Some(number.unwrap_or(0) * 10 + c_uint::from(digit - b'0')));
            if let Some(number) = number.filter(|&number| number >= from && number != list.cast_unsigned()) {
                close(number);
            }
            rest = rest.get(usize::from(u16::from_le_bytes([low, high]))..).unwrap_or(&[]);
        }
    }
    close(list.cast_unsigned());
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dup2(old: c_int, new: c_int) -> c_int {
    if refuse_place(new) {
        return -1;
    }
    // SAFETY: the caller's arguments.
    unsafe { next::DUP2.get()(old, new) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dup3(old: c_int, new: c_int, flags: c_int) -> c_int {
    if refuse_place(new) {
        return -1;
    }
    // SAFETY: the caller's arguments.
    unsafe { next::DUP3.get()(old, new, flags) }
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
