// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Counts the pages that are written to in windows of 10 ms, 100 ms and 1 s (`lull-far run --dirty FILE`). Without that
//! there is none of this.
//!
//! Each 10 ms a thread has the kernel say which mapped pages are not write-protected, and protect them, in one step. Such a
//! page was written to since it was last asked. So each page counts once in each window in which something was written to
//! it, by whomever: threads of the program, its collector, the kernel for a system call. The first write to a page in a
//! window takes a fault of the kernel's own, of one to two microseconds; a page that comes in for a write is protected, too,
//! so that it counts when the write is made. What was written to and unmapped within a window, the evictor notes. A page that
//! the kernel itself had unmapped, for want of memory, counts when it is used again, written to or not. And a thread for which a
//! window ends between that fault and its write counts the page in the next window, too: once a window at most.
//!
//! **What the evictor must know.** To it a page that is protected when it is unmapped is clean, and this protects dirty
//! ones. So their bit in `kept` is set, and a page is clean only if it was protected and has no bit. The lock makes one
//! step of protecting and setting: the evictor holds it while it unmaps, and looks at protection and bits. **Who maps a range
//! holds it, too**: what is looked at are addresses, which must not become another range's meanwhile. The fault path never
//! takes it.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::PAGE_SIZE;
use crate::descriptors::Own;
use crate::kept::Kept;
use crate::kernel::{self, WrittenRun};
use crate::last_words::say;
use crate::pager::Pager;
use crate::record;
use crate::syscall;
use crate::windows::Windows;

/// The shortest window.
const TICK: Duration = Duration::from_millis(10);

/// Runs of pages that the kernel is asked for at once.
const RUNS: usize = 4096;

/// What the first line of the file says.
const HEAD: &str = "# epoch_ms window_us scan_us runs pages_10ms pages_100ms pages_1s\n";

/// What is known of pages that are written to.
#[derive(Debug)]
pub struct DirtyPages {
    /// Set by this thread under the lock, and by who maps a dirty page again, for the page that he has claimed.
    kept: Kept<&'static [AtomicU64]>,
    windows: Mutex<Windows>,
    file: Own<File>,
}

/// The right to protect pages, to unmap them, or to map a range.
pub struct Held<'a> {
    kept: &'a Kept<&'static [AtomicU64]>,
    windows: MutexGuard<'a, Windows>,
}

impl DirtyPages {
    /// For pages with numbers below this, into a file that is made anew. None if another process writes into it.
    ///
    /// # Errors
    /// As the system calls.
    pub fn create(path: &Path, pages: usize) -> std::io::Result<Option<DirtyPages>> {
        let Some(file) = record::own_file(path)? else { return Ok(None) };
        // SAFETY: zeros are words without a bit.
        let words = unsafe { kernel::table::<AtomicU64>(pages.div_ceil(64)) }?;
        (&*file).write_all(HEAD.as_bytes())?;
        Ok(Some(DirtyPages { kept: Kept::new(words), windows: Mutex::new(Windows::new(pages)), file }))
    }

    /// Waits for who protects, unmaps or maps.
    pub fn hold(&self) -> Held<'_> {
        Held { kept: &self.kept, windows: self.windows.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Fault path, for the page that it has claimed: a dirty page is about to be mapped write-protected, so that nobody takes it for one that
    /// was written to just now.
    pub fn keep(&self, page: u32) {
        self.kept.set(page);
    }

    /// Protects what was written to in this tick, and ends it. Returns the line for the file.
    fn tick(&self, pager: &Pager, runs: &mut [WrittenRun], window: u64) -> String {
        let begin = syscall::now();
        let mut held = self.hold();
        let mut count = 0;
        for range in pager.mapped_ranges() {
            let mut at = range.base;
            let end = range.base + range.bytes();
            while at < end {
                // What is no mapping of ours any more has nothing to say.
                let Ok((found, next)) = pager.kernel.take_written(at, end, runs) else { break };
                count += found;
                for run in &runs[..found] {
                    let first = range.first + ((run.start as usize - range.base) / PAGE_SIZE) as u32;
                    (first..).take((run.end - run.start) as usize / PAGE_SIZE).for_each(|page| held.protected(page));
                }
                at = next;
            }
        }
        let ended = held.windows.tick(window / 1000);
        drop(held);
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let scan = (syscall::now() - begin) / 1000;
        let mut line = format!("{epoch} {} {scan} {count}", window / 1000);
        for pages in ended {
            line.push_str(&pages.map_or(" -".to_owned(), |pages| format!(" {pages}")));
        }
        line.push('\n');
        line
    }
}

impl Held<'_> {
    /// A page was written to, and is write-protected now.
    fn protected(&mut self, page: u32) {
        self.kept.set(page);
        self.windows.note(page);
    }

    /// Evictor: these pages were unmapped, and the kernel says of each whether it was not write-protected. What is not clean becomes true.
    pub fn unmapped(&mut self, pages: impl Iterator<Item = u32>, written: &mut [bool]) {
        for (page, written) in pages.zip(written) {
            if *written {
                self.windows.note(page);
            }
            *written |= self.kept.take(page);
        }
    }
}

/// The thread. A tick that begins late is longer, which its line says, and none is made up for.
pub fn run(pager: &'static Pager) {
    let Some(dirty) = &pager.dirty else { return };
    let mut runs = vec![WrittenRun::default(); RUNS];
    let mut last = syscall::now();
    while !pager.stopping.load(Ordering::Relaxed) {
        let over = Duration::from_nanos(syscall::now() - last);
        std::thread::sleep(TICK.saturating_sub(over));
        let now = syscall::now();
        let line = dirty.tick(pager, &mut runs, now - last);
        last = now;
        if let Err(error) = (&*dirty.file).write_all(line.as_bytes()) {
            say(format_args!("the counts of dirty pages cannot be written, and end here: {error}"));
            return;
        }
    }
}
