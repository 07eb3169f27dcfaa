// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The system calls that bring a page and let it go, by themselves: no server, no pager, no other thread. What the evictor and a fault take
//! above them is the pager's own.

use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use lull_far::kernel::{self, Kernel, Span, memory_file};
use lull_far::{FaultMode, PAGE_SIZE};
use lull_far_protocol::MAX_PAGES_PER_FRAME;

/// Pages that leave in one step of the evictor.
const BATCH: usize = MAX_PAGES_PER_FRAME;

/// Of each measurement, the median of so many rounds.
const ROUNDS: usize = 15;

/// Of all pages, in one round.
#[derive(Default)]
struct Times {
    put_in: Duration,
    unmap: Duration,
    look: Duration,
    free: Duration,
}

/// A memory file whose faults are ours, as the pager has them.
struct Mapping {
    kernel: Kernel,
    file: RawFd,
    base: usize,
    pages: usize,
}

/// Puts all pages in, and takes them out in steps of the evictor: neighbours together, then each page with none.
pub fn measure(pages: usize) -> Result<(), String> {
    let kernel = Kernel::open(FaultMode::InThread).map_err(|error| error.to_string())?;
    let pages = pages / (2 * BATCH) * (2 * BATCH);
    let file = memory_file(pages * PAGE_SIZE).map_err(|error| format!("a memory file: {error}"))?;
    let fd = file.as_raw_fd();
    // SAFETY: a new mapping, which lives as long as the process.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), pages * PAGE_SIZE, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, fd, 0) };
    if base == libc::MAP_FAILED {
        return Err(format!("mmap: {}", std::io::Error::last_os_error()));
    }
    let mapping = Mapping { kernel, file: fd, base: base.expose_provenance(), pages };
    mapping.kernel.register(mapping.base, pages * PAGE_SIZE).map_err(|error| error.describe())?;
    for (what, run) in [("neighbours", BATCH), ("single pages", 1)] {
        let mut rounds = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            rounds.push(mapping.round(run)?);
        }
        let median = |part: &dyn Fn(&Times) -> Duration| {
            let mut times: Vec<Duration> = rounds.iter().map(part).collect();
            times.sort_unstable();
            times[ROUNDS / 2].as_nanos() as f64 / 1000.0 / pages as f64
        };
        println!(
            "system calls alone, {what}, us for each page: put in {:.2}; unmap {:.2}, look whether written {:.2}, free {:.2}",
            median(&|times| times.put_in),
            median(&|times| times.unmap),
            median(&|times| times.look),
            median(&|times| times.free)
        );
    }
    Ok(())
}

impl Mapping {
    fn span(&self, first: usize, pages: usize) -> Span {
        Span { address: self.base + first * PAGE_SIZE, offset: (first * PAGE_SIZE) as u64, pages }
    }

    /// Steps of `BATCH` pages in runs of so many; between two runs of a step are as many pages of the next.
    fn round(&self, run: usize) -> Result<Times, String> {
        let mut times = Times::default();
        let contents = vec![0x55; BATCH * PAGE_SIZE];
        let start = Instant::now();
        for first in (0..self.pages).step_by(BATCH) {
            self.kernel.copy_in(self.span(first, BATCH), &contents, true).map_err(|error| format!("UFFDIO_COPY: {}", error.describe()))?;
        }
        times.put_in = start.elapsed();
        let mut vectors = Vec::with_capacity(BATCH);
        let mut written = Vec::with_capacity(BATCH);
        for step in 0..self.pages / BATCH {
            let first = step / 2 * 2 * BATCH + step % 2 * run;
            let spans: Vec<Span> = (0..BATCH / run).map(|n| self.span(first + n * 2 * run, run)).collect();
            let start = Instant::now();
            self.kernel.unmap(&spans, &mut vectors).map_err(|error| format!("madvise: {}", error.describe()))?;
            times.unmap += start.elapsed();
            written.clear();
            let start = Instant::now();
            spans.iter().for_each(|span| self.kernel.written(*span, &mut written));
            times.look += start.elapsed();
            if written.iter().any(|&written| written) {
                return Err("a page that nobody has written to is said to be written".to_owned());
            }
            let start = Instant::now();
            for span in &spans {
                kernel::free(self.file, *span).map_err(|error| format!("fallocate: {}", error.describe()))?;
            }
            times.free += start.elapsed();
        }
        Ok(times)
    }
}
