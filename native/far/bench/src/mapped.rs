// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A mapped file or device whose pages are dropped from the page cache before each pass, as a program with a bound on its memory
//! would find them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::AsRawFd;
use std::time::Instant;

use lull_far::PAGE_SIZE;

use crate::memory::Random;
use crate::samples::Samples;

/// The mapping, and what is mapped.
pub struct Mapped {
    file: File,
    base: *mut libc::c_void,
    bytes: usize,
}

impl Mapped {
    /// Fills so many pages of a file, and maps them.
    pub fn new(file: File, pages: usize) -> Result<Mapped, String> {
        let failed = |error: std::io::Error| format!("cannot be filled: {error}");
        let mut random = Random(3);
        let mut out = BufWriter::new(&file);
        for _ in 0..pages {
            out.write_all(&heap_page(&mut random)).map_err(failed)?;
        }
        out.flush().map_err(failed)?;
        drop(out);
        file.sync_all().map_err(failed)?;
        let bytes = pages * PAGE_SIZE;
        // SAFETY: a new mapping.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(format!("mmap: {}", std::io::Error::last_os_error()));
        }
        Ok(Mapped { file, base, bytes })
    }

    /// Random reads, each page once; then all in order. Prints both.
    pub fn measure(&self, what: &str) -> Result<(), String> {
        let pages = self.bytes / PAGE_SIZE;
        self.drop_pages(libc::MADV_RANDOM)?;
        let mut samples = Samples::default();
        Random(1).order(pages).into_iter().for_each(|page| samples.take(|| self.read(page), || true));
        samples.print(&format!("{what}, random reads"))?;
        self.drop_pages(libc::MADV_SEQUENTIAL)?;
        let start = Instant::now();
        (0..pages).for_each(|page| self.read(page));
        println!("{what}, reads in order: {:.0} MB/s", self.bytes as f64 / start.elapsed().as_secs_f64() / 1e6);
        Ok(())
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
            many => Err(format!("{many} of {} pages stay in the page cache; it must be on a disk", there.len())),
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

/// A page that compresses as a heap's may: of each four words a header, a small number, and two references.
fn heap_page(random: &mut Random) -> Vec<u8> {
    let mut page = Vec::with_capacity(PAGE_SIZE);
    for word in 0..PAGE_SIZE / 8 {
        let value = match word % 4 {
            0 => 1,
            1 => random.below(1 << 10) as u64,
            _ => (random.below(1 << 28) as u64) << 3,
        };
        page.extend_from_slice(&value.to_le_bytes());
    }
    page
}
