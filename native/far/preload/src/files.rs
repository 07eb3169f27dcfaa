// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Mapping: `mmap`, `munmap`, and the functions that would give a marked file blocks that nobody uses.

use std::ffi::{c_int, c_void};

use libc::{off_t, size_t};
use lull_far::last_words::say;
use lull_far::{PAGE_SIZE, Pager, signal};

use crate::descriptor::{has_contents, is_marked};
use crate::next::{self, set_errno};
use crate::settings::settings;

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
        unsafe { next::MMAP.get()(address, bytes, protection, flags, fd, offset) }
    };
    let fail = |number| {
        set_errno(number);
        libc::MAP_FAILED
    };
    // Who says that nothing may be replaced replaces nothing, whatever else he says.
    let replaces = flags & libc::MAP_FIXED != 0 && flags & libc::MAP_FIXED_NOREPLACE == 0;
    let far = is_shared(flags) && flags & libc::MAP_ANONYMOUS == 0 && protection & libc::PROT_WRITE != 0 && is_marked(fd);
    if far {
        // Before anything is replaced.
        if let Err((number, text)) = can_be_far(protection, fd, offset) {
            say(format_args!("a file of {bytes} bytes was not mapped: {text}"));
            return fail(number);
        }
    }
    if replaces && let Some(within) = Within::of(address, bytes) {
        // What the kernel would refuse must not cost the range that is there.
        if !far && let Err(number) = would_map(address, bytes, protection, flags, fd, offset) {
            return fail(number);
        }
        match over_paged_memory(&within, address, bytes, flags, fd, offset) {
            Over::Done => return address,
            // Perhaps by far memory again. If that fails, its addresses stay taken: unmapped by us, they could be somebody else's by then.
            Over::Vacated => {}
            Over::Refused => return fail(libc::ENOTSUP),
        }
    }
    if !far {
        return pass_on();
    }
    let mut at = replaces.then_some(address);
    if flags & libc::MAP_FIXED_NOREPLACE != 0 {
        // The kernel says whether the place is free, and keeps it for us.
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: a new mapping, which replaces nothing.
        let place = unsafe { next::MMAP.get()(address, bytes, libc::PROT_NONE, flags, -1, 0) };
        if place == libc::MAP_FAILED {
            return place;
        }
        at = Some(place);
    }
    match map_far(at, bytes) {
        Ok(base) => base,
        Err((number, text)) => {
            say(format_args!("a file of {bytes} bytes was not mapped: {text}"));
            if flags & libc::MAP_FIXED_NOREPLACE != 0 {
                // SAFETY: the place that was kept, which nobody has seen.
                unsafe { next::MUNMAP.get()(address, bytes) };
            }
            fail(number)
        }
    }
}

/// `MAP_SHARED_VALIDATE` has the bits of both kinds.
fn is_shared(flags: c_int) -> bool {
    matches!(flags & libc::MAP_TYPE, libc::MAP_SHARED | libc::MAP_SHARED_VALIDATE)
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

/// Whether a mapping of a marked file is one that can be far.
fn can_be_far(protection: c_int, fd: c_int, offset: off_t) -> Result<(), (i32, &'static str)> {
    let bad = |text| Err((libc::ENOTSUP, text));
    if offset != 0 {
        return bad("it is mapped from the middle, which far memory cannot do");
    }
    if protection & libc::PROT_EXEC != 0 {
        return bad("it is to be executable, which far memory is not");
    }
    if has_contents(fd) {
        return bad("it has contents; far memory starts with zeros");
    }
    Ok(())
}

/// Maps far memory, over what is at an address, if one is given.
fn map_far(at: Option<*mut c_void>, bytes: size_t) -> Result<*mut c_void, (i32, String)> {
    let settings = settings().ok_or((libc::ENOTSUP, "lull-far run was not used".to_owned()))?;
    let pager = settings.pager(bytes as u64).map_err(|text| (libc::ENOMEM, text))?;
    let range = pager.map(bytes, at.map(|address| address.expose_provenance())).map_err(|error| (libc::ENOMEM, error.to_string()))?;
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

/// Addresses that touch paged memory.
struct Within {
    pager: &'static Pager,
    start: usize,
    /// Whether all of them are of one range.
    inside: bool,
}

impl Within {
    /// None if they do not, or are none that the kernel would map.
    fn of(address: *mut c_void, bytes: size_t) -> Option<Within> {
        let pager = signal::installed()?;
        let start = address.expose_provenance();
        let end = start.checked_add(bytes)?;
        if bytes == 0 || !start.is_multiple_of(PAGE_SIZE) {
            return None;
        }
        let range = pager.ranges_within(start, bytes).next()?;
        Some(Within { pager, start, inside: start >= range.base && end <= range.base + range.bytes() })
    }
}

/// Whether the kernel would map this, or the number of its error. Tried where something is already, for what it says of the place: huge pages
/// do not begin everywhere. And then anywhere, for all else.
fn would_map(address: *mut c_void, bytes: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t) -> Result<(), c_int> {
    let mut flags = flags & !(libc::MAP_FIXED | libc::MAP_POPULATE | libc::MAP_LOCKED);
    // Huge pages are counted out when they are mapped: said without this, if there are too few.
    if flags & libc::MAP_HUGETLB == 0 {
        flags |= libc::MAP_NORESERVE;
    }
    // Of memory without a file nothing is refused for its protection; and the kernel does not fill this, as it would after
    // mlockall(MCL_FUTURE).
    let protection = if flags & libc::MAP_ANONYMOUS != 0 { libc::PROT_NONE } else { protection };
    for (at, flags, taken) in [(address, flags | libc::MAP_FIXED_NOREPLACE, libc::EEXIST), (std::ptr::null_mut(), flags, 0)] {
        // SAFETY: a new mapping, which replaces nothing, and which nobody sees before it is gone.
        unsafe {
            let trial = next::MMAP.get()(at, bytes, protection, flags, fd, offset);
            if trial != libc::MAP_FAILED {
                next::MUNMAP.get()(trial, bytes);
            } else if *libc::__errno_location() != taken {
                return Err(*libc::__errno_location());
            }
        }
    }
    Ok(())
}

/// A mapping at a fixed address that touches paged memory. A private one of a file becomes a copy of the file, as G1 maps
/// archived objects into its heap.
fn over_paged_memory(within: &Within, address: *mut c_void, bytes: size_t, flags: c_int, fd: c_int, offset: off_t) -> Over {
    let start = within.start;
    if vacate_whole(within.pager, start, bytes) {
        return Over::Vacated;
    }
    if within.inside && flags & libc::MAP_TYPE == libc::MAP_PRIVATE && flags & libc::MAP_ANONYMOUS == 0 {
        let mut done = 0;
        while done < bytes {
            // SAFETY: the caller gives this memory away.
            let got = unsafe { crate::transfer::pread64(fd, address.add(done), bytes - done, offset + done as off_t) };
            match got {
                0 => break,
                1.. => done += got as usize,
                _ => return Over::Refused,
            }
        }
        // Behind the end of the file there are zeros.
        // SAFETY: as above.
        unsafe { address.add(done).write_bytes(0, bytes - done) };
        return Over::Done;
    }
    say(format_args!("a mapping of {bytes} bytes at {start:#x}, within far memory, was refused"));
    Over::Refused
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
    unsafe { next::MUNMAP.get()(address, bytes) }
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
    unsafe { next::MREMAP.get()(old, old_bytes, bytes, flags, new) }
}

/// Advice that would change what is mapped behind the pager's back: it frees pages of the memory file, or lets a child of `fork` see
/// zeros where pages are remote, and put them there.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn madvise(address: *mut c_void, bytes: size_t, advice: c_int) -> c_int {
    let name = match advice {
        libc::MADV_REMOVE => Some("MADV_REMOVE"),
        libc::MADV_DOFORK => Some("MADV_DOFORK"),
        _ => None,
    };
    if let Some(name) = name
        && let Some(pager) = signal::installed()
        && pager.ranges_within(address.expose_provenance(), bytes).next().is_some()
    {
        say(format_args!("{name} of far memory, {bytes} bytes at {address:p}, was refused"));
        set_errno(libc::ENOTSUP);
        return -1;
    }
    // SAFETY: the caller's arguments.
    unsafe { next::MADVISE.get()(address, bytes, advice) }
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
    unsafe { next::POSIX_FALLOCATE.get()(fd, offset, bytes) }
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
    unsafe { next::FALLOCATE.get()(fd, mode, offset, bytes) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fallocate64(fd: c_int, mode: c_int, offset: off_t, bytes: off_t) -> c_int {
    // SAFETY: the same function on this machine.
    unsafe { fallocate(fd, mode, offset, bytes) }
}
