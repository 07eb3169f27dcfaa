// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the pager asks of the kernel about pages: userfaultfd, pagemap, madvise, the memory file. This file owns the arithmetic
//! from page numbers to addresses and offsets, through [`Span`].
//!
//! Each page lies in a memory file (memfd) which nobody else maps. A page that is mapped is write-protected or not; the
//! kernel drops the protection at the first write, without telling anybody (`UFFD_FEATURE_WP_ASYNC`). When a protected
//! page is unmapped by `MADV_DONTNEED_LOCKED`, the kernel leaves a marker in the page table: whoever reads the marker knows that
//! nobody has written to the page up to the moment at which nobody could any more. No marker: taken as written to.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::PAGE_SIZE;
use crate::descriptors::Own;
use crate::syscall::{self, Errno};

const UFFDIO_API: u32 = 0xC018_AA3F;
const UFFDIO_REGISTER: u32 = 0xC020_AA00;
const UFFDIO_UNREGISTER: u32 = 0x8010_AA01;
const UFFDIO_WAKE: u32 = 0x8010_AA02;
const UFFDIO_COPY: u32 = 0xC028_AA03;
const UFFDIO_CONTINUE: u32 = 0xC020_AA07;

const PAGEMAP_SCAN: u32 = 0xC060_6610;

/// `MADV_DONTNEED`, of memory that the program has locked, too: that must not keep it local.
const MADV_DONTNEED_LOCKED: i32 = 24;

const API: u64 = 0xAA;
const FEATURE_WP: u64 = 1 << 0;
const FEATURE_MISSING_SHMEM: u64 = 1 << 5;
const FEATURE_SIGBUS: u64 = 1 << 7;
const FEATURE_THREAD_ID: u64 = 1 << 8;
const FEATURE_MINOR_SHMEM: u64 = 1 << 10;
const FEATURE_EXACT_ADDRESS: u64 = 1 << 11;
const FEATURE_WP_SHMEM: u64 = 1 << 12;
const FEATURE_WP_UNPOPULATED: u64 = 1 << 13;
const FEATURE_WP_ASYNC: u64 = 1 << 15;

const REGISTER_MISSING: u64 = 1 << 0;
const REGISTER_WP: u64 = 1 << 1;
const REGISTER_MINOR: u64 = 1 << 2;

const COPY_MODE_WP: u64 = 1 << 1;
const CONTINUE_MODE_WP: u64 = 1 << 1;

/// Bit of a pagemap entry: the page is write-protected by userfaultfd, or was when it was unmapped.
const PAGEMAP_UFFD_WP: u64 = 1 << 57;

/// Pages that are found are write-protected in the same step.
const SCAN_PROTECTS: u64 = 1 << 0;
const SCAN_IS_WRITTEN: u64 = 1 << 1;
const SCAN_IS_PRESENT: u64 = 1 << 3;

/// Only faults of user space: enough for faults that are served in their own thread, and allowed to everybody.
const UFFD_USER_MODE_ONLY: i32 = 1;

/// In which thread a fault is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultMode {
    /// In the thread that faults, in its handler of SIGBUS. A system call that is given the address of a page that is not
    /// there fails with `EFAULT`.
    InThread,
    /// In threads of the pager. System calls wait as the program does. A fault costs two switches of threads more.
    Handlers,
}

/// Why faults cannot be served on this machine.
#[derive(Debug)]
pub struct NotPermitted(pub String);

impl std::fmt::Display for NotPermitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotPermitted {}

/// A run of pages of one range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Address of the first page.
    pub address: usize,
    /// Offset of the first page in the memory file.
    pub offset: u64,
    /// How many.
    pub pages: usize,
}

impl Span {
    /// Bytes.
    pub fn bytes(&self) -> usize {
        self.pages * PAGE_SIZE
    }

    /// The page behind one page.
    pub fn next(&self) -> Span {
        Span { address: self.address + PAGE_SIZE, offset: self.offset + PAGE_SIZE as u64, pages: self.pages }
    }

    /// What is left behind the first pages.
    pub fn skip(&self, pages: usize) -> Span {
        Span { address: self.address + pages * PAGE_SIZE, offset: self.offset + (pages * PAGE_SIZE) as u64, pages: self.pages - pages }
    }
}

/// A run of pages that the kernel has found: addresses of the first one, and behind the last.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct WrittenRun {
    /// The first.
    pub start: u64,
    /// Behind the last.
    pub end: u64,
    /// What they are, which is the same for all.
    kinds: u64,
}

/// A fault that a handler thread was told of.
#[derive(Clone, Copy, Debug)]
pub struct FaultMessage {
    /// Where.
    pub address: usize,
    /// Whether it was a write.
    pub write: bool,
    /// The thread that waits.
    pub thread: usize,
}

/// The kernel's side of the pager.
#[derive(Debug)]
pub struct Kernel {
    uffd: Own<OwnedFd>,
    pagemap: Own<OwnedFd>,
    /// To advise vectors; none if the kernel does not let a process do so to itself.
    pidfd: Option<Own<OwnedFd>>,
    mode: FaultMode,
}

impl Kernel {
    /// Opens what is needed, in the mode asked for.
    ///
    /// # Errors
    /// What is not permitted or not known to the kernel, and what would help.
    pub fn open(mode: FaultMode) -> Result<Kernel, NotPermitted> {
        let flags = if mode == FaultMode::InThread { UFFD_USER_MODE_ONLY } else { 0 };
        // SAFETY: opens a descriptor.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | libc::O_NONBLOCK | flags) };
        let fd = i32::try_from(fd).unwrap_or(-1);
        if fd < 0 {
            let error = std::io::Error::last_os_error();
            let help = match mode {
                FaultMode::InThread => "the kernel, or the container's seccomp profile, does not permit it",
                FaultMode::Handlers => "it needs CAP_SYS_PTRACE or vm.unprivileged_userfaultfd=1; faults in their own thread need neither",
            };
            return Err(NotPermitted(format!("userfaultfd: {error}: {help}")));
        }
        // SAFETY: the descriptor is new and ours.
        let uffd: Own<OwnedFd> = Own::opened(unsafe { OwnedFd::from_raw_fd(fd) }).map_err(no_number)?;
        let extra = if mode == FaultMode::InThread { FEATURE_SIGBUS } else { FEATURE_THREAD_ID };
        let features = FEATURE_WP
            | FEATURE_MISSING_SHMEM
            | FEATURE_MINOR_SHMEM
            | FEATURE_EXACT_ADDRESS
            | FEATURE_WP_SHMEM
            | FEATURE_WP_UNPOPULATED
            | FEATURE_WP_ASYNC
            | extra;
        let mut api = [API, features, 0];
        // SAFETY: a structure of three words.
        unsafe { syscall::ioctl(uffd.as_raw_fd(), UFFDIO_API, &mut api) }.map_err(|error| {
            let text = error.describe();
            NotPermitted(format!("userfaultfd has not the features {features:#x} ({text}); Linux 6.7 or later has"))
        })?;
        let pagemap = std::fs::File::open("/proc/self/pagemap")
            .map_err(|error| NotPermitted(format!("/proc/self/pagemap: {error}; /proc must be mounted")))?;
        let pagemap = Own::opened(pagemap.into()).map_err(no_number)?;
        // SAFETY: opens a descriptor of our own process.
        let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0) };
        // SAFETY: the descriptor is new and ours.
        let pidfd = i32::try_from(pidfd).ok().filter(|&fd| fd >= 0).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        let pidfd = pidfd.map(Own::opened).transpose().map_err(no_number)?;
        Ok(Kernel { uffd, pagemap, pidfd, mode })
    }

    /// In which thread faults are served.
    pub fn mode(&self) -> FaultMode {
        self.mode
    }

    /// Faults in these pages come to us from now on.
    ///
    /// # Errors
    /// As the system call.
    pub fn register(&self, address: usize, bytes: usize) -> Result<(), Errno> {
        let mut argument = [address as u64, bytes as u64, REGISTER_MISSING | REGISTER_MINOR | REGISTER_WP, 0];
        // SAFETY: a structure of four words.
        unsafe { syscall::ioctl(self.uffd.as_raw_fd(), UFFDIO_REGISTER, &mut argument) }.map(|_| ())
    }

    /// No longer.
    ///
    /// # Errors
    /// As the system call.
    pub fn unregister(&self, address: usize, bytes: usize) -> Result<(), Errno> {
        // SAFETY: a structure of two words.
        unsafe { syscall::ioctl(self.uffd.as_raw_fd(), UFFDIO_UNREGISTER, &mut [address as u64, bytes as u64]) }.map(|_| ())
    }

    /// Puts contents into pages that are in no memory yet, and maps them; `protect`: write-protected, hence clean.
    ///
    /// # Errors
    /// `EEXIST` if a page is there, which **E** excludes; `ENOMEM`.
    pub fn copy_in(&self, mut span: Span, mut contents: &[u8], protect: bool) -> Result<(), Errno> {
        debug_assert!(contents.len() == span.bytes());
        let mut most = span.pages;
        while span.pages > 0 {
            let mode = if protect { COPY_MODE_WP } else { 0 };
            let pages = span.pages.min(most);
            let mut argument = [span.address as u64, contents.as_ptr() as u64, (pages * PAGE_SIZE) as u64, mode, 0];
            // SAFETY: a structure of five words; the claim of the pages is what allows their memory to change.
            let result = unsafe { syscall::ioctl(self.uffd.as_raw_fd(), UFFDIO_COPY, &mut argument) };
            match result {
                Ok(_) => {
                    span = span.skip(pages);
                    contents = &contents[pages * PAGE_SIZE..];
                }
                // One copy is for one of the kernel's areas, and the program may have cut the range into several, by mprotect or mbind.
                Err(Errno(libc::ENOENT)) if most > 1 => most = 1,
                // What was copied before the interruption, if it is not an error number.
                Err(Errno(libc::EAGAIN | libc::EINTR)) => {
                    let done = usize::try_from(argument[4] as i64).unwrap_or(0) / PAGE_SIZE;
                    span = span.skip(done);
                    contents = &contents[done * PAGE_SIZE..];
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Maps a page that is in local memory; `protect`: write-protected, hence clean.
    ///
    /// # Errors
    /// `EEXIST` if it is mapped, `EFAULT` if it is not in local memory: both are excluded by **E**.
    pub fn map_in(&self, address: usize, protect: bool) -> Result<(), Errno> {
        loop {
            let mut argument = [address as u64, PAGE_SIZE as u64, if protect { CONTINUE_MODE_WP } else { 0 }, 0];
            // SAFETY: a structure of four words.
            match unsafe { syscall::ioctl(self.uffd.as_raw_fd(), UFFDIO_CONTINUE, &mut argument) } {
                Err(Errno(libc::EAGAIN | libc::EINTR)) => {}
                other => return other.map(|_| ()),
            }
        }
    }

    /// Lets a thread that waits for a handler try its access again.
    pub fn wake(&self, address: usize) {
        // SAFETY: a structure of two words.
        let _ = unsafe { syscall::ioctl(self.uffd.as_raw_fd(), UFFDIO_WAKE, &mut [address as u64, PAGE_SIZE as u64]) };
    }

    /// Takes pages out of the page table, and leaves them in local memory. `vectors` is room for as many as there are spans.
    ///
    /// # Errors
    /// As `madvise`.
    pub fn unmap(&self, spans: &[Span], vectors: &mut Vec<libc::iovec>) -> Result<(), Errno> {
        vectors.clear();
        vectors.extend(spans.iter().map(|span| libc::iovec { iov_base: span.address as *mut libc::c_void, iov_len: span.bytes() }));
        let total: usize = spans.iter().map(Span::bytes).sum();
        if let Some(pidfd) = &self.pidfd
            && spans.len() > 1
            // SAFETY: the pages are a file's, which keeps their contents.
            && unsafe { syscall::process_madvise(pidfd.as_raw_fd(), vectors, MADV_DONTNEED_LOCKED) } == Ok(total)
        {
            return Ok(());
        }
        // One by one, all of them: to do it twice does nothing more.
        for span in spans {
            loop {
                // SAFETY: as above.
                match unsafe { syscall::madvise(span.address, span.bytes(), MADV_DONTNEED_LOCKED) } {
                    Ok(_) => break,
                    Err(Errno(libc::EAGAIN | libc::EINTR)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Of unmapped pages: whether each was written to since it was mapped. What cannot be read was.
    pub fn written(&self, span: Span, out: &mut Vec<bool>) {
        let mut entries = [0_u8; 64 * 8];
        let mut done = 0;
        while done < span.pages {
            let count = (span.pages - done).min(64);
            let offset = (span.address / PAGE_SIZE + done) * 8;
            let got = syscall::pread(self.pagemap.as_raw_fd(), &mut entries[..count * 8], offset as u64).unwrap_or(0);
            for (index, entry) in entries[..count * 8].chunks_exact(8).enumerate() {
                let entry = u64::from_le_bytes([entry[0], entry[1], entry[2], entry[3], entry[4], entry[5], entry[6], entry[7]]);
                out.push((index + 1) * 8 > got || entry & PAGEMAP_UFFD_WP == 0);
            }
            done += count;
        }
    }

    /// Of mapped pages from `start` to `end`: those that are not write-protected, which are from now on. Returns how many runs of them there
    /// are, and to where it was looked: `end`, or less if there was no room for more runs. Mappings that are not the pager's are passed over.
    ///
    /// # Errors
    /// As the system call.
    pub fn take_written(&self, start: usize, end: usize, runs: &mut [WrittenRun]) -> Result<(usize, usize), Errno> {
        // Present, too: a page that was never there would get a marker of one that is clean.
        let wanted = SCAN_IS_WRITTEN | SCAN_IS_PRESENT;
        let size = size_of::<[u64; 12]>() as u64;
        let (vector, room) = (runs.as_mut_ptr() as u64, runs.len() as u64);
        let mut argument = [size, SCAN_PROTECTS, start as u64, end as u64, 0, vector, room, 0, 0, wanted, 0, SCAN_IS_WRITTEN];
        loop {
            // SAFETY: a structure of twelve words, with a vector of as many runs as it says.
            match unsafe { syscall::ioctl(self.pagemap.as_raw_fd(), PAGEMAP_SCAN, &mut argument) } {
                Err(Errno(libc::EINTR)) => {}
                other => return other.map(|found| (found, argument[4] as usize)),
            }
        }
    }

    /// Waits for a fault, for `milliseconds` at most. For handler threads.
    pub fn next_fault(&self, milliseconds: i32) -> Option<FaultMessage> {
        let mut poll = libc::pollfd { fd: self.uffd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure.
        if unsafe { libc::poll(&raw mut poll, 1, milliseconds) } < 1 {
            return None;
        }
        let mut message = [0_u64; 4];
        // SAFETY: a message has 32 bytes.
        let got = unsafe { libc::read(self.uffd.as_raw_fd(), message.as_mut_ptr().cast(), 32) };
        // Event 0x12 is a fault: flags, address, thread.
        if got != 32 || message[0] & 0xFF != 0x12 {
            return None;
        }
        Some(FaultMessage { address: message[2] as usize, write: message[1] & 1 != 0, thread: (message[3] & 0xFFFF_FFFF) as usize })
    }
}

fn no_number(error: std::io::Error) -> NotPermitted {
    NotPermitted(format!("the pager needs descriptors behind the first three: {error}"))
}

/// Gives the local memory of pages of a memory file back to the system. They are in no page table.
///
/// # Errors
/// As `fallocate`.
pub fn free(file: RawFd, span: Span) -> Result<(), Errno> {
    syscall::punch_hole(file, span.offset, span.bytes() as u64)
}

/// Since Linux 6.3; the libc crate has no name for it.
const MFD_NOEXEC_SEAL: libc::c_uint = 8;

/// Makes a memory file of so many bytes, which takes no memory yet.
///
/// # Errors
/// As the system calls.
pub fn memory_file(bytes: usize) -> std::io::Result<Own<OwnedFd>> {
    let name = CString::new("lull-far").unwrap_or_default();
    // Not to be executed, without which some machines permit none (vm.memfd_noexec).
    // SAFETY: a new descriptor.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | MFD_NOEXEC_SEAL) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    let file: Own<OwnedFd> = Own::opened(unsafe { OwnedFd::from_raw_fd(fd) })?;
    // Made empty first: until it was moved another thread may have taken it for its standard error.
    for bytes in [0, libc::off_t::try_from(bytes).unwrap_or(libc::off_t::MAX)] {
        // SAFETY: our own file.
        if unsafe { libc::ftruncate(file.as_raw_fd(), bytes) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(file)
}

/// Address space for a table of `count` zeroed elements, which takes memory where it is touched only. Never freed.
///
/// # Safety
/// All bytes zero are a valid `T`.
///
/// # Errors
/// As `mmap`.
pub unsafe fn table<T>(count: usize) -> std::io::Result<&'static [T]> {
    let bytes = (count * size_of::<T>()).next_multiple_of(PAGE_SIZE).max(PAGE_SIZE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: large enough, aligned to a page, zero, which is valid by the caller's promise; never unmapped.
    Ok(unsafe { std::slice::from_raw_parts(base.cast::<T>(), count) })
}

/// A value in memory of its own that is in no core dump, in no swap if the system permits so much locked memory, and zeros in a child of
/// `fork`. For ever: it is never dropped.
///
/// # Errors
/// As `mmap` and `madvise`.
pub fn secret<T: 'static>(value: T) -> std::io::Result<&'static T> {
    const { assert!(align_of::<T>() <= PAGE_SIZE) };
    let bytes = size_of::<T>().next_multiple_of(PAGE_SIZE);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    // Before anything is in it.
    for advice in [libc::MADV_DONTDUMP, libc::MADV_WIPEONFORK] {
        // SAFETY: our own mapping.
        if unsafe { libc::madvise(base, bytes, advice) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    // SAFETY: our own mapping. Where it is refused, the key may go where the program's other memory goes.
    let _ = unsafe { libc::mlock(base, bytes) };
    // SAFETY: large enough, aligned to a page, nobody else's, never unmapped.
    Ok(unsafe {
        let at = base.cast::<T>();
        at.write(value);
        &*at
    })
}
