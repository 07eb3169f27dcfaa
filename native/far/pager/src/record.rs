// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A record of which pages had faults, in order: a trace of the program, as fine as its local memory is small. It shows what a policy
//! would have made of the same accesses.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Faults that a record has room for. Its file is sparse: 4 bytes for each that there is.
const MOST: usize = 1 << 28;

/// The record: a file of page numbers, each 4 bytes, little-endian, which the fault path writes as memory.
#[derive(Debug)]
pub struct Record {
    file: File,
    pages: &'static [AtomicU32],
    next: AtomicU64,
}

impl Record {
    /// Makes the file anew.
    ///
    /// # Errors
    /// As the system calls.
    pub fn create(path: &Path) -> std::io::Result<Record> {
        let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
        let bytes = MOST * size_of::<AtomicU32>();
        file.set_len(bytes as u64)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: as many words as were mapped; never unmapped; the file is not made shorter while faults may come.
        let pages = unsafe { std::slice::from_raw_parts(base.cast::<AtomicU32>(), MOST) };
        Ok(Record { file, pages, next: AtomicU64::new(0) })
    }

    /// Fault path: one more.
    pub fn note(&self, page: u32) {
        let at = self.next.fetch_add(1, Ordering::Relaxed) as usize;
        if let Some(place) = self.pages.get(at) {
            place.store(page, Ordering::Relaxed);
        }
    }

    /// Makes the file as long as what is in it. Faults that come later are not recorded.
    pub fn finish(&self) -> std::io::Result<u64> {
        let count = self.next.swap(MOST as u64, Ordering::Relaxed).min(MOST as u64);
        self.file.set_len(count * 4)?;
        Ok(count)
    }
}
