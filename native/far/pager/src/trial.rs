// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Whether this machine permits what the pager will do: each step of it, once, with two pages and without servers. So what is refused is
//! known before a program runs, by name.

use std::fmt::Display;
use std::os::fd::{AsRawFd, OwnedFd};

use crate::descriptors::Own;
use crate::kernel::{self, FaultMode, Kernel, NotPermitted, Span};
use crate::seal::Seals;
use crate::syscall::{self, Errno};
use crate::version::Version;
use crate::{PAGE_SIZE, ZERO_PAGE};

const BYTES: usize = 2 * PAGE_SIZE;

/// A mapping of a memory file, for the time of a trial.
struct Mapping {
    file: Own<OwnedFd>,
    at: *mut libc::c_void,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own, which nobody uses any more.
        unsafe { libc::munmap(self.at, BYTES) };
    }
}

/// What a step that did not succeed was, and what to do.
fn refused(call: &str, error: &dyn Display) -> NotPermitted {
    NotPermitted(format!("{call}: {error}: the kernel, or the container's seccomp profile, does not permit it"))
}

fn number(call: &'static str) -> impl Fn(Errno) -> NotPermitted {
    move |Errno(number)| refused(call, &std::io::Error::from_raw_os_error(number))
}

fn last(call: &str) -> NotPermitted {
    refused(call, &std::io::Error::last_os_error())
}

/// Tries a fault mode.
///
/// # Errors
/// The first step that is not permitted, or does not do what it should.
pub fn faults(mode: FaultMode) -> Result<(), NotPermitted> {
    let kernel = Kernel::open(mode)?;
    std::thread::Builder::new().spawn(|| {}).map_err(|error| refused("a thread of the pager", &error))?.join().unwrap_or_default();
    let mapping = map()?;
    let address = mapping.at.expose_provenance();
    kernel.register(address, BYTES).map_err(number("UFFDIO_REGISTER of a memory file"))?;
    // SAFETY: our own.
    if unsafe { libc::mprotect(mapping.at, BYTES, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
        return Err(last("mprotect"));
    }
    life_of_a_page(&kernel, mapping.file.as_raw_fd(), address)?;
    kernel.unregister(address, BYTES).map_err(number("UFFDIO_UNREGISTER"))
}

fn map() -> Result<Mapping, NotPermitted> {
    let file = kernel::memory_file(BYTES).map_err(|error| refused("memfd_create", &error))?;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
    // SAFETY: a new mapping.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, libc::PROT_NONE, flags, file.as_raw_fd(), 0) };
    if at == libc::MAP_FAILED {
        return Err(last("mmap of a memory file"));
    }
    let mapping = Mapping { file, at };
    // SAFETY: our own.
    if unsafe { libc::madvise(at, BYTES, libc::MADV_DONTFORK) } != 0 {
        return Err(last("madvise(MADV_DONTFORK)"));
    }
    Ok(mapping)
}

/// It comes, is unmapped clean, is mapped again, is written to, is unmapped dirty, is read from the file, and leaves.
fn life_of_a_page(kernel: &Kernel, file: i32, address: usize) -> Result<(), NotPermitted> {
    let (page, both) = (Span { address, offset: 0, pages: 1 }, Span { address, offset: 0, pages: 2 });
    // One by one is possible, too.
    let apart = [page, page.next()];
    kernel.copy_in(page, &ZERO_PAGE.0, true).map_err(number("UFFDIO_COPY"))?;
    kernel.copy_in(page.next(), &ZERO_PAGE.0, true).map_err(number("UFFDIO_COPY"))?;
    unmap_and_look(kernel, &apart, false)?;
    kernel.map_in(address, true).map_err(number("UFFDIO_CONTINUE"))?;
    // SAFETY: our own page, which is mapped.
    unsafe { std::ptr::with_exposed_provenance_mut::<u64>(address).write_volatile(0x55) };
    unmap_and_look(kernel, &[page], true)?;
    let mut word = [0; 8];
    match syscall::pread(file, &mut word, 0) {
        Ok(8) if u64::from_le_bytes(word) == 0x55 => {}
        Ok(_) => return Err(NotPermitted("a page that was written to has not come into its memory file".to_owned())),
        Err(error) => return Err(number("pread of a memory file")(error)),
    }
    kernel::free(file, both).map_err(number("fallocate(FALLOC_FL_PUNCH_HOLE)"))
}

fn unmap_and_look(kernel: &Kernel, spans: &[Span], dirty: bool) -> Result<(), NotPermitted> {
    kernel.unmap(spans, &mut Vec::new()).map_err(number("madvise(MADV_DONTNEED_LOCKED)"))?;
    let mut written = Vec::new();
    spans.iter().for_each(|span| kernel.written(*span, &mut written));
    if written.iter().all(|&written| written == dirty) {
        return Ok(());
    }
    Err(NotPermitted("the kernel does not tell by /proc/self/pagemap which pages were written to; Linux 6.7 or later does".to_owned()))
}

/// Tries to seal a page, and says what is to be known of it.
///
/// # Errors
/// If it cannot be done.
pub fn sealing() -> Result<&'static str, NotPermitted> {
    let failed = |error: std::io::Error| NotPermitted(format!("memory for the key: {error}"));
    // SAFETY: all zeros is a page that was never sealed.
    let versions = unsafe { kernel::table::<Version>(1) }.map_err(failed)?;
    let seals = Seals::new(&[0; 16], versions).map_err(failed)?;
    let mut content = ZERO_PAGE.0;
    seals.seal(0, &mut content);
    let changed = content != ZERO_PAGE.0;
    if !(changed && seals.open(0, &mut content) && content == ZERO_PAGE.0) {
        return Err(NotPermitted("a page that was sealed is not opened as it was".to_owned()));
    }
    let by_the_processor = std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq");
    Ok(if by_the_processor { "" } else { ", and slow: this processor has no instructions for AES" })
}
