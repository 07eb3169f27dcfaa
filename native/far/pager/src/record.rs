// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A record of which pages had faults, in order: a trace of the program, as fine as its local memory is small. It shows what a policy
//! would have made of the same accesses.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::descriptors::Own;
use crate::syscall;

/// Faults that a record has room for. Its file is sparse: 4 bytes for each that there is.
const MOST: usize = 1 << 28;

/// The record: a file of page numbers, each 4 bytes, little-endian, which the fault path writes as memory.
#[derive(Debug)]
pub struct Record {
    file: Own<File>,
    pages: &'static [AtomicU32],
    next: AtomicU64,
}

impl Record {
    /// Makes the file anew. None if another process records into it.
    ///
    /// # Errors
    /// As the system calls.
    pub fn create(path: &Path) -> std::io::Result<Option<Record>> {
        let Some(file) = own_file(path)? else { return Ok(None) };
        let bytes = MOST * size_of::<AtomicU32>();
        file.set_len(bytes as u64)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // Not by the C library's function: the preload library stands in for that, and would make a file of the marked directory far memory,
        // for which it waits until the pager has started.
        // SAFETY: a new mapping.
        let base = unsafe { syscall::mmap(bytes, protection, libc::MAP_SHARED, file.as_raw_fd()) };
        let base = base.map_err(|error| std::io::Error::from_raw_os_error(error.0))?;
        let base = std::ptr::with_exposed_provenance::<AtomicU32>(base);
        // SAFETY: as many words as were mapped; never unmapped; the file is not made shorter while faults may come.
        let pages = unsafe { std::slice::from_raw_parts(base, MOST) };
        Ok(Some(Record { file, pages, next: AtomicU64::new(0) }))
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

/// Makes a file anew for what this process alone writes. None if another process has it: a program that starts others has given its own
/// settings to them.
///
/// # Errors
/// As the system calls.
pub fn own_file(path: &Path) -> std::io::Result<Option<Own<File>>> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    let file: Own<File> = Own::opened(file.into())?;
    // Until the process ends, and before anything of the other's is cut off. Some file systems have no locks: there nobody looks.
    // SAFETY: our own file.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::WouldBlock
    {
        return Ok(None);
    }
    file.set_len(0)?;
    Ok(Some(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_records_into_a_file() {
        let path = std::env::temp_dir().join(format!("lull-far-record-{}", std::process::id()));
        let first = Record::create(&path).unwrap().unwrap();
        for page in [7, 8, 9] {
            first.note(page);
        }
        assert!(Record::create(&path).unwrap().is_none());
        assert_eq!(first.finish().unwrap(), 3);
        assert_eq!(std::fs::read(&path).unwrap(), [7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0]);
        // For as long as it is mapped.
        drop(first);
        assert!(Record::create(&path).unwrap().is_none());
        std::fs::remove_file(path).unwrap();
    }
}
