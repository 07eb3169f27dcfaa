// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The server's memory: committed when the server starts, handed out in chunks of [`CHUNK_PAGES`] pages.
//!
//! This file owns all address arithmetic and all `unsafe` of the server. A [`Chunk`] is exclusively its owner's; its lock
//! orders the copies in and out, so that a client that reads and writes the same page at once gets one of both contents of
//! each page and no torn one.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::fs;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use lull_far_protocol::PAGE_SIZE;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Pages of a chunk: 1 MB.
pub const CHUNK_PAGES: usize = 256;

const CHUNK_BYTES: usize = CHUNK_PAGES * PAGE_SIZE;

/// How much is committed between two looks at errors.
const COMMIT_STEP: usize = 64 << 20;

/// Why the memory could not be committed.
#[derive(Debug)]
pub enum CommitError {
    /// Less than one chunk was asked for, or more than an address can say.
    Size(u64),
    /// The machine or the control group has not as much left.
    NotThere {
        /// Bytes asked for.
        want: u64,
        /// Bytes that could be had.
        available: u64,
        /// Who says so.
        source: String,
    },
    /// The kernel refused.
    Kernel {
        /// Bytes asked for.
        want: u64,
        /// Bytes committed before it refused.
        committed: u64,
        /// What it said.
        error: io::Error,
    },
}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommitError::Size(size) => write!(f, "--memory is {size} bytes; it must be {CHUNK_BYTES} (1m) or more"),
            CommitError::NotThere { want, available, source } => {
                write!(f, "cannot commit {want} bytes of memory: {source} has {available} left; give a smaller --memory, or free some")
            }
            CommitError::Kernel { want, committed, error } => {
                write!(f, "cannot commit {want} bytes of memory: after {committed} the kernel said: {error}; give a smaller --memory")
            }
        }
    }
}

impl std::error::Error for CommitError {}

/// All memory of the server.
#[derive(Debug)]
pub struct Arena {
    base: *mut u8,
    bytes: usize,
    /// Indices of chunks that nobody has. Those never used come first, so that memory is touched in order.
    free: Mutex<VecDeque<FreeChunk>>,
}

#[derive(Clone, Copy, Debug)]
struct FreeChunk {
    index: usize,
    /// Whether it may hold what an earlier owner wrote.
    used: bool,
}

// SAFETY: `base` is written by `commit` only; what lies behind it is reached through chunks, each of which has one owner.
unsafe impl Send for Arena {}
// SAFETY: as above; the list of free chunks has a lock.
unsafe impl Sync for Arena {}

impl Arena {
    /// Commits memory, rounded down to whole chunks. Every page is backed when this returns, so that no later write can fail.
    ///
    /// # Errors
    /// If the memory cannot be had, or only at the expense of the machine's.
    pub fn commit(bytes: u64) -> Result<Arc<Arena>, CommitError> {
        let size = usize::try_from(bytes).ok().filter(|&size| (CHUNK_BYTES..isize::MAX as usize).contains(&size));
        let size = size.ok_or(CommitError::Size(bytes))? / CHUNK_BYTES * CHUNK_BYTES;
        for (available, source) in available_memory() {
            if size as u64 > available {
                return Err(CommitError::NotThere { want: size as u64, available, source });
            }
        }
        let refused = |committed: usize, error: rustix::io::Errno| CommitError::Kernel {
            want: size as u64,
            committed: committed as u64,
            error: error.into(),
        };
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses touches no memory of ours.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let base = base.map_err(|e| refused(0, e))?.cast::<u8>();
        let free = (0..size / CHUNK_BYTES).map(|index| FreeChunk { index, used: false }).collect();
        let arena = Arena { base, bytes: size, free: Mutex::new(free) };
        for offset in (0..size).step_by(COMMIT_STEP) {
            let step = COMMIT_STEP.min(size - offset);
            // SAFETY: the range lies in the mapping just made; populating it changes no contents.
            unsafe { madvise(base.add(offset).cast::<c_void>(), step, Advice::LinuxPopulateWrite) }.map_err(|e| refused(offset, e))?;
        }
        Ok(Arc::new(arena))
    }

    /// Bytes committed.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.bytes as u64
    }

    /// Bytes that nobody has.
    #[must_use]
    pub fn free(&self) -> u64 {
        (self.free_list().len() * CHUNK_BYTES) as u64
    }

    /// Takes chunks for so many pages, all zero, or none at all if there are too few.
    #[must_use]
    pub fn take(self: &Arc<Self>, pages: u64) -> Option<Vec<Chunk>> {
        let taken: Vec<FreeChunk> = {
            let mut free = self.free_list();
            // Compared before anything is allocated: the number comes from the network.
            let count = usize::try_from(pages.div_ceil(CHUNK_PAGES as u64)).ok().filter(|&count| count <= free.len())?;
            free.drain(..count).collect()
        };
        Some(
            taken
                .into_iter()
                .map(|FreeChunk { index, used }| {
                    let chunk = Chunk { arena: Arc::clone(self), index, lock: RwLock::new(()) };
                    if used {
                        chunk.zero(0, CHUNK_PAGES);
                    }
                    chunk
                })
                .collect(),
        )
    }

    fn free_list(&self) -> MutexGuard<'_, VecDeque<FreeChunk>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no chunk is left: each holds a reference to the arena.
        let _ = unsafe { munmap(self.base.cast::<c_void>(), self.bytes) };
    }
}

/// [`CHUNK_PAGES`] pages of the arena, of one owner. Goes back to the arena when it is dropped.
#[derive(Debug)]
pub struct Chunk {
    arena: Arc<Arena>,
    index: usize,
    lock: RwLock<()>,
}

impl Chunk {
    /// Copies pages out. `out` is whole pages long and ends within the chunk.
    pub fn read(&self, first: usize, out: &mut [u8]) {
        let from = self.page(first, out.len());
        let _shared = self.lock.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `page` has checked the bounds; the lock keeps writers out; `out` is not in the arena.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
    }

    /// Copies one page in, and returns `crc` continued over what is there afterwards.
    #[must_use]
    pub fn write(&self, page: usize, bytes: &[u8], crc: impl FnOnce(&[u8]) -> u32) -> u32 {
        let to = self.page(page, bytes.len());
        let _exclusive = self.lock.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `page` has checked the bounds; the lock keeps all others out; `bytes` is not in the arena.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        // SAFETY: as above; the slice is gone before the lock is.
        crc(unsafe { std::slice::from_raw_parts(to, bytes.len()) })
    }

    /// Makes pages zero.
    pub fn zero(&self, first: usize, count: usize) {
        let to = self.page(first, count * PAGE_SIZE);
        let _exclusive = self.lock.write().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `page` has checked the bounds; the lock keeps all others out.
        unsafe { std::ptr::write_bytes(to, 0, count * PAGE_SIZE) };
    }

    /// Where a page is. All callers' lengths are checked here.
    fn page(&self, page: usize, bytes: usize) -> *mut u8 {
        assert!(page < CHUNK_PAGES && bytes <= (CHUNK_PAGES - page) * PAGE_SIZE, "page {page}, {bytes} bytes");
        // SAFETY: the arena has a chunk of this index, and the page lies within it.
        unsafe { self.arena.base.add(self.index * CHUNK_BYTES + page * PAGE_SIZE) }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.arena.free_list().push_back(FreeChunk { index: self.index, used: true });
    }
}

/// What the machine and our control groups say they have left. A file that is not there says nothing.
fn available_memory() -> Vec<(u64, String)> {
    let mut result = Vec::new();
    if let Ok(text) = fs::read_to_string("/proc/meminfo") {
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
        if let Some(kb) = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()) {
            result.push((kb << 10, "the machine".to_owned()));
        }
    }
    let number = |path: &str| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    for line in fs::read_to_string("/proc/self/cgroup").unwrap_or_default().lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (dir, limit, usage) = match controllers {
            "" => (format!("/sys/fs/cgroup{path}"), "memory.max", "memory.current"),
            "memory" => (format!("/sys/fs/cgroup/memory{path}"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
            _ => continue,
        };
        if let (Some(limit), Some(usage)) = (number(&format!("{dir}/{limit}")), number(&format!("{dir}/{usage}"))) {
            result.push((limit.saturating_sub(usage), format!("the control group {path}")));
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_zero_whoever_had_them() {
        let arena = Arena::commit(2 * CHUNK_BYTES as u64).unwrap();
        for _ in 0..3 {
            let chunks = arena.take(2 * CHUNK_PAGES as u64).unwrap();
            assert_eq!(arena.free(), 0);
            assert!(arena.take(1).is_none(), "more than there is");
            for chunk in &chunks {
                let mut page = [1; PAGE_SIZE];
                for number in 0..CHUNK_PAGES {
                    chunk.read(number, &mut page);
                    assert!(page.iter().all(|&byte| byte == 0));
                    assert_eq!(chunk.write(number, &[7; PAGE_SIZE], |bytes| u32::from(bytes[PAGE_SIZE - 1])), 7);
                }
            }
        }
        assert_eq!(arena.free(), arena.capacity());
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(matches!(Arena::commit(0), Err(CommitError::Size(0))));
        assert!(matches!(Arena::commit(u64::MAX), Err(CommitError::Size(_))));
        assert!(matches!(Arena::commit(1 << 50), Err(CommitError::NotThere { .. })));
        let arena = Arena::commit(CHUNK_BYTES as u64).unwrap();
        assert!(arena.take(u64::MAX).is_none());
    }

    #[test]
    #[should_panic(expected = "page 255, 8192 bytes")]
    fn a_run_past_the_chunk_panics() {
        let arena = Arena::commit(CHUNK_BYTES as u64).unwrap();
        arena.take(1).unwrap()[0].read(255, &mut [0; 2 * PAGE_SIZE]);
    }
}
