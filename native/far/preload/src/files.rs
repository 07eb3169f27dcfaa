// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Mapping: `mmap`, `munmap`, and the functions that would give a marked file blocks that nobody uses.

use std::ffi::{c_int, c_void};

use libc::{off_t, size_t};
use lull_far::last_words::say;
use lull_far::{PAGE_SIZE, Pager, signal};

use crate::descriptor::{has_contents, is_marked};
use crate::next::{next, set_errno};
use crate::settings::settings;

type Mmap = unsafe extern "C" fn(*mut c_void, size_t, c_int, c_int, c_int, off_t) -> *mut c_void;
type Mremap = unsafe extern "C" fn(*mut c_void, size_t, size_t, c_int, *mut c_void) -> *mut c_void;
type Munmap = unsafe extern "C" fn(*mut c_void, size_t) -> c_int;
type Fallocate = unsafe extern "C" fn(c_int, c_int, off_t, off_t) -> c_int;
type PosixFallocate = unsafe extern "C" fn(c_int, off_t, off_t) -> c_int;

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    bytes: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let pass_on = || {
        // SAFETY: the caller's arguments.
        unsafe { next!(c"mmap", Mmap)(address, bytes, protection, flags, fd, offset) }
    };
    let fixed = flags & libc::MAP_FIXED != 0;
    if fixed && let Some(result) = over_paged_memory(address, bytes, flags, fd, offset) {
        match result {
            Over::Done => return address,
            // Perhaps by far memory again. If that fails, its addresses stay taken: unmapped by us, they could be somebody else's by then.
            Over::Vacated => {}
            Over::Refused => {
                set_errno(libc::ENOTSUP);
                return libc::MAP_FAILED;
            }
        }
    }
    if flags & libc::MAP_SHARED == 0 || flags & libc::MAP_ANONYMOUS != 0 || protection & libc::PROT_WRITE == 0 || !is_marked(fd) {
        return pass_on();
    }
    match map_far(address, bytes, protection, fixed, fd, offset) {
        Ok(base) => base,
        Err((number, text)) => {
            say(format_args!("a file of {bytes} bytes was not mapped: {text}"));
            set_errno(number);
            libc::MAP_FAILED
        }
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    bytes: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the same function on this machine.
    unsafe { mmap(address, bytes, protection, flags, fd, offset) }
}

fn map_far(
    address: *mut c_void,
    bytes: size_t,
    protection: c_int,
    fixed: bool,
    fd: c_int,
    offset: off_t,
) -> Result<*mut c_void, (i32, String)> {
    let bad = |text: &str| Err((libc::ENOTSUP, text.to_owned()));
    if offset != 0 {
        return bad("it is mapped from the middle, which far memory cannot do");
    }
    if protection & libc::PROT_EXEC != 0 {
        return bad("it is to be executable, which far memory is not");
    }
    if has_contents(fd) {
        return bad("it has contents; far memory starts with zeros");
    }
    let settings = settings().ok_or((libc::ENOTSUP, "lull-far run was not used".to_owned()))?;
    let pager = settings.pager(bytes as u64).map_err(|text| (libc::ENOMEM, text))?;
    let fixed = fixed.then(|| address.expose_provenance());
    let range = pager.map(bytes, fixed).map_err(|error| (libc::ENOMEM, error.to_string()))?;
    Ok(std::ptr::with_exposed_provenance_mut(range.base))
}

enum Over {
    /// What was asked for is done.
    Done,
    /// The range is gone; map what was asked for.
    Vacated,
    /// It cannot be done.
    Refused,
}

/// A mapping at a fixed address that touches paged memory. A private one of a file becomes a copy of the file, as G1 maps
/// archived objects into its heap.
fn over_paged_memory(address: *mut c_void, bytes: size_t, flags: c_int, fd: c_int, offset: off_t) -> Option<Over> {
    let pager = signal::installed()?;
    let start = address.expose_provenance();
    let end = start.checked_add(bytes)?;
    let range = pager.ranges_within(start, bytes).next()?;
    if vacate_whole(pager, start, bytes) {
        return Some(Over::Vacated);
    }
    let inside = start >= range.base && end <= range.base + range.bytes();
    if inside && flags & libc::MAP_PRIVATE != 0 && flags & libc::MAP_ANONYMOUS == 0 {
        let mut done = 0;
        while done < bytes {
            // SAFETY: the caller gives this memory away.
            let got = unsafe { crate::transfer::pread64(fd, address.add(done), bytes - done, offset + done as off_t) };
            match got {
                0 => break,
                1.. => done += got as usize,
                _ => return Some(Over::Refused),
            }
        }
        // Behind the end of the file there are zeros.
        // SAFETY: as above.
        unsafe { address.add(done).write_bytes(0, bytes - done) };
        return Some(Over::Done);
    }
    say(format_args!("a mapping of {bytes} bytes at {start:#x}, within far memory, was refused"));
    Some(Over::Refused)
}

/// Gives up all ranges that touch these bytes, if each lies within them as a whole; else none. Whether none is left. Their addresses stay
/// taken until the caller unmaps them, or maps over them.
fn vacate_whole(pager: &Pager, start: usize, bytes: usize) -> bool {
    let end = start.saturating_add(bytes.next_multiple_of(PAGE_SIZE));
    pager.ranges_within(start, bytes).all(|range| range.base >= start && range.base + range.bytes() <= end)
        && pager.ranges_within(start, bytes).all(|range| pager.vacate(range.base).is_ok())
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, bytes: size_t) -> c_int {
    let start = address.expose_provenance();
    if let Some(pager) = signal::installed()
        && let Some(range) = pager.ranges_within(start, bytes).next()
    {
        if range.base == start && range.bytes() == bytes.next_multiple_of(PAGE_SIZE) && pager.unmap(start).is_ok() {
            return 0;
        }
        if !vacate_whole(pager, start, bytes) {
            say(format_args!("a part of far memory, {bytes} bytes at {address:p}, cannot be unmapped"));
            set_errno(libc::ENOTSUP);
            return -1;
        }
    }
    // With what is around ranges.
    // SAFETY: the caller's arguments.
    unsafe { next!(c"munmap", Munmap)(address, bytes) }
}

/// The kernel forgets what serves the faults of memory that is moved: its pages would be zeros.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mremap(old: *mut c_void, old_bytes: size_t, bytes: size_t, flags: c_int, new: *mut c_void) -> *mut c_void {
    let touches = |address: *mut c_void, bytes: size_t| {
        signal::installed().is_some_and(|pager| pager.ranges_within(address.expose_provenance(), bytes.max(1)).next().is_some())
    };
    if touches(old, old_bytes) || flags & libc::MREMAP_FIXED != 0 && touches(new, bytes) {
        say(format_args!("far memory, {old_bytes} bytes at {old:p}, cannot be moved, made longer or moved over"));
        set_errno(libc::ENOTSUP);
        return libc::MAP_FAILED;
    }
    // SAFETY: the caller's arguments; the fifth is not looked at unless a flag says so.
    unsafe { next!(c"mremap", Mremap)(old, old_bytes, bytes, flags, new) }
}

/// Makes a marked file as long as it would have become.
fn lengthen(fd: c_int, end: off_t) -> c_int {
    // SAFETY: the kernel fills the structure; the file is the caller's.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &raw mut status) == 0 && (status.st_size >= end || libc::ftruncate(fd, end) == 0) {
            0
        } else {
            *libc::__errno_location()
        }
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_fallocate(fd: c_int, offset: off_t, bytes: off_t) -> c_int {
    if is_marked(fd) && offset >= 0 && bytes > 0 {
        return lengthen(fd, offset.saturating_add(bytes));
    }
    // SAFETY: the caller's arguments.
    unsafe { next!(c"posix_fallocate", PosixFallocate)(fd, offset, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_fallocate64(fd: c_int, offset: off_t, bytes: off_t) -> c_int {
    // SAFETY: the same function on this machine.
    unsafe { posix_fallocate(fd, offset, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fallocate(fd: c_int, mode: c_int, offset: off_t, bytes: off_t) -> c_int {
    if mode & libc::FALLOC_FL_PUNCH_HOLE != 0 && is_marked(fd) {
        // The file has nothing; what is mapped of it would keep its contents.
        say(format_args!("a hole in a file of far memory was refused"));
        set_errno(libc::ENOTSUP);
        return -1;
    }
    if mode == 0 && offset >= 0 && bytes > 0 && is_marked(fd) {
        let number = lengthen(fd, offset.saturating_add(bytes));
        if number != 0 {
            set_errno(number);
            return -1;
        }
        return 0;
    }
    // SAFETY: the caller's arguments.
    unsafe { next!(c"fallocate", Fallocate)(fd, mode, offset, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fallocate64(fd: c_int, mode: c_int, offset: off_t, bytes: off_t) -> c_int {
    // SAFETY: the same function on this machine.
    unsafe { fallocate(fd, mode, offset, bytes) }
}
