// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the same accesses cost on a mapped file of a local disk, without anything being changed on the machine: this file's pages
//! are dropped from the page cache before each pass, as a program with a bound on its memory would find them.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Instant;

use lull_far::PAGE_SIZE;

use crate::memory::Random;
use crate::samples::Samples;

/// A file, mapped.
struct Mapped {
    file: std::fs::File,
    base: *mut libc::c_void,
    bytes: usize,
}

impl Mapped {
    fn new(directory: &Path, pages: usize) -> Result<Mapped, String> {
        let path = directory.join(format!("lull-far-bench-{}", std::process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let file = std::fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
        std::fs::remove_file(&path).map_err(failed)?;
        let mut random = Random(3);
        for _ in 0..pages {
            let word = (random.unit() * 1e18) as u64;
            (&file).write_all(&word.to_le_bytes().repeat(PAGE_SIZE / 8)).map_err(failed)?;
        }
        file.sync_all().map_err(failed)?;
        let bytes = pages * PAGE_SIZE;
        // SAFETY: a new mapping.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(format!("mmap: {}", std::io::Error::last_os_error()));
        }
        Ok(Mapped { file, base, bytes })
    }

    /// No page of it is in memory any more.
    fn drop_pages(&self, advice: libc::c_int) -> Result<(), String> {
        // SAFETY: our mapping, clean.
        unsafe {
            libc::madvise(self.base, self.bytes, libc::MADV_DONTNEED);
            libc::posix_fadvise(self.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
            libc::madvise(self.base, self.bytes, advice);
        }
        let mut there = vec![0_u8; self.bytes / PAGE_SIZE];
        // SAFETY: room for a byte for each page.
        if unsafe { libc::mincore(self.base, self.bytes, there.as_mut_ptr()) } != 0 {
            return Err(format!("mincore: {}", std::io::Error::last_os_error()));
        }
        match there.iter().filter(|&&page| page & 1 != 0).count() {
            few if few * 100 < there.len() => Ok(()),
            many => Err(format!("{many} of {} pages stay in the page cache; the directory must be on a disk", there.len())),
        }
    }

    fn read(&self, page: usize) {
        // SAFETY: within the mapping.
        unsafe { self.base.cast::<u8>().add(page * PAGE_SIZE).read_volatile() };
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: our mapping.
        unsafe { libc::munmap(self.base, self.bytes) };
    }
}

/// Random reads, each page once; then all in order.
pub fn measure(directory: &Path, pages: usize) -> Result<(), String> {
    let file = Mapped::new(directory, pages)?;
    let mut order: Vec<usize> = (0..pages).collect();
    let mut random = Random(1);
    (1..pages).rev().for_each(|last| order.swap(last, random.below(last + 1)));
    file.drop_pages(libc::MADV_RANDOM)?;
    let mut samples = Samples::default();
    order.iter().for_each(|&page| samples.take(|| file.read(page), || true));
    samples.print("mapped file on the local disk, random reads")?;
    file.drop_pages(libc::MADV_SEQUENTIAL)?;
    let start = Instant::now();
    (0..pages).for_each(|page| file.read(page));
    let seconds = start.elapsed().as_secs_f64();
    println!("mapped file on the local disk, reads in order: {:.0} MB/s", file.bytes as f64 / seconds / 1e6);
    Ok(())
}
