// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The server's memory, handed out in chunks of [`CHUNK_PAGES`] pages.
//!
//! The server listens as soon as it has the addresses and a first part; one thread then gets memory for all the rest from the
//! kernel, from the first chunk to the last ([`Arena::commit`]). A chunk is handed out only when it has its memory, so that no
//! later write can fail for lack of it, however early a client comes; and when what an earlier owner wrote is zero, which the same
//! thread sees to ([`Arena::clean`]), for nobody else may wait so long.
//!
//! This file owns all address arithmetic and all `unsafe` of the server. A [`Chunk`] is exclusively its owner's; its lock
//! orders the copies in and out, so that a client that reads and writes the same page at once gets one of both contents of
//! each page and no torn one.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use lull_far_protocol::PAGE_SIZE;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Pages of a chunk: 1 MB.
pub const CHUNK_PAGES: usize = 256;

const CHUNK_BYTES: usize = CHUNK_PAGES * PAGE_SIZE;

/// How much is committed at once: some milliseconds' work. The first step is made before the server listens.
const COMMIT_STEP: usize = 16 << 20;

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

/// Why there are no chunks for a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// There are too few.
    Full,
    /// There are enough, and some of them have no memory yet, or are not zero yet. Ask again.
    NotYet,
}

/// All memory of the server.
#[derive(Debug)]
pub struct Arena {
    base: *mut u8,
    /// Of the mapping.
    bytes: usize,
    chunks: Mutex<Chunks>,
    /// Some are to be made zero.
    given_back: Condvar,
}

#[derive(Debug)]
struct Chunks {
    /// Those that nobody has, which are zero. Those that have no memory yet come last, in order.
    free: VecDeque<usize>,
    /// Those that nobody has, with what an earlier owner wrote.
    used: Vec<usize>,
    /// Those that are being made zero.
    cleaning: usize,
    /// The first so many have memory.
    committed: usize,
    /// The first so many will have. Fewer than were asked for, if the kernel has refused.
    total: usize,
}

impl Chunks {
    /// Those that nobody has.
    fn count_free(&self) -> usize {
        self.free.len() + self.used.len() + self.cleaning
    }

    /// The free ones, from the front, that have memory.
    fn count_ready(&self) -> usize {
        // Those without are the last ones.
        self.free.len() - (self.total - self.committed).min(self.free.len())
    }
}

// SAFETY: `base` is never changed; what lies behind it is reached through chunks, each of which has one owner.
unsafe impl Send for Arena {}
// SAFETY: as above; the list of free chunks has a lock.
unsafe impl Sync for Arena {}

impl Arena {
    /// Takes addresses for so much memory, rounded down to whole chunks, and memory for the first of it.
    ///
    /// # Errors
    /// If the memory cannot be had, or only at the expense of the machine's.
    pub fn reserve(bytes: u64) -> Result<Arc<Arena>, CommitError> {
        let size = usize::try_from(bytes).ok().filter(|&size| (CHUNK_BYTES..isize::MAX as usize).contains(&size));
        let size = size.ok_or(CommitError::Size(bytes))? / CHUNK_BYTES * CHUNK_BYTES;
        for (available, source) in available_memory() {
            if size as u64 > available {
                return Err(CommitError::NotThere { want: size as u64, available, source });
            }
        }
        let refused = |error: rustix::io::Errno| CommitError::Kernel { want: size as u64, committed: 0, error: error.into() };
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the kernel chooses touches no memory of ours.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let base = base.map_err(refused)?.cast::<u8>();
        // Large pages are zeroed several times as fast. A kernel without them takes small ones.
        // SAFETY: the mapping just made.
        let _ = unsafe { madvise(base.cast::<c_void>(), size, Advice::LinuxHugepage) };
        // The memory of programs does not belong into a core dump of the server. A kernel that knows no such advice writes it there.
        // SAFETY: the mapping just made.
        let _ = unsafe { madvise(base.cast::<c_void>(), size, Advice::LinuxDontDump) };
        let total = size / CHUNK_BYTES;
        let chunks = Chunks { free: (0..total).collect(), used: Vec::new(), cleaning: 0, committed: 0, total };
        let arena = Arena { base, bytes: size, chunks: Mutex::new(chunks), given_back: Condvar::new() };
        arena.commit_step()?;
        Ok(Arc::new(arena))
    }

    /// Takes memory for all the rest. Called by one thread.
    ///
    /// # Errors
    /// If the kernel refuses. What it has given stays; the rest is taken out of the capacity.
    pub fn commit(&self) -> Result<(), CommitError> {
        while !self.commit_step()? {
            self.clean();
        }
        Ok(())
    }

    /// Makes all chunks zero that clients have given back.
    pub fn clean(&self) {
        loop {
            let index = {
                let mut chunks = self.lock();
                let Some(index) = chunks.used.pop() else { return };
                chunks.cleaning += 1;
                index
            };
            // SAFETY: the arena has a chunk of this index, and nobody else has it: it is in no list.
            unsafe { std::ptr::write_bytes(self.base.add(index * CHUNK_BYTES), 0, CHUNK_BYTES) };
            let mut chunks = self.lock();
            chunks.cleaning -= 1;
            // Those without memory stay last.
            chunks.free.push_front(index);
        }
    }

    /// Waits until there are such chunks, for so long at most.
    pub fn wait_for_used(&self, most: Duration) {
        let chunks = self.lock();
        if chunks.used.is_empty() {
            let _ = self.given_back.wait_timeout(chunks, most);
        }
    }

    /// True if that was the last.
    fn commit_step(&self) -> Result<bool, CommitError> {
        let offset = self.lock().committed * CHUNK_BYTES;
        let step = COMMIT_STEP.min(self.bytes - offset);
        // SAFETY: the range lies in the mapping; populating it changes no contents.
        let result = unsafe { madvise(self.base.add(offset).cast::<c_void>(), step, Advice::LinuxPopulateWrite) };
        let mut chunks = self.lock();
        if let Err(error) = result {
            let total = chunks.committed;
            chunks.total = total;
            chunks.free.retain(|&index| index < total);
            return Err(CommitError::Kernel { want: self.bytes as u64, committed: offset as u64, error: error.into() });
        }
        chunks.committed = (offset + step) / CHUNK_BYTES;
        Ok(offset + step == self.bytes)
    }

    /// Bytes that there are for clients, with or without memory yet.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        (self.lock().total * CHUNK_BYTES) as u64
    }

    /// Bytes that have memory.
    #[must_use]
    pub fn committed(&self) -> u64 {
        (self.lock().committed * CHUNK_BYTES) as u64
    }

    /// Bytes that nobody has.
    #[must_use]
    pub fn free(&self) -> u64 {
        (self.lock().count_free() * CHUNK_BYTES) as u64
    }

    /// Bytes that could be handed out now.
    #[must_use]
    pub fn ready(&self) -> u64 {
        (self.lock().count_ready() * CHUNK_BYTES) as u64
    }

    /// Takes chunks for so many pages, all zero, or none at all.
    ///
    /// # Errors
    /// [`Shortage`].
    pub fn take(self: &Arc<Self>, pages: u64) -> Result<Vec<Chunk>, Shortage> {
        let mut chunks = self.lock();
        // Compared before anything is allocated: the number comes from the network.
        let count = usize::try_from(pages.div_ceil(CHUNK_PAGES as u64)).ok().filter(|&count| count <= chunks.count_free());
        let count = count.ok_or(Shortage::Full)?;
        if count > chunks.count_ready() {
            return Err(Shortage::NotYet);
        }
        Ok(chunks.free.drain(..count).map(|index| Chunk { arena: Arc::clone(self), index, lock: RwLock::new(()) }).collect())
    }

    fn lock(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The whole chunk to look at: nobody writes to it meanwhile.
    pub fn hold(&self) -> Held<'_> {
        let from = self.page(0, CHUNK_BYTES);
        let shared = self.lock.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the arena has the whole chunk, on a page's boundary, and every bit pattern is a number; the lock keeps writers
        // out for as long as the slice lives.
        Held { words: unsafe { std::slice::from_raw_parts(from.cast::<u32>(), CHUNK_BYTES / 4) }, _shared: shared }
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

/// A chunk that nobody writes to.
#[derive(Debug)]
pub struct Held<'a> {
    words: &'a [u32],
    _shared: RwLockReadGuard<'a, ()>,
}

impl Held<'_> {
    /// 4 bytes of the chunk, at an offset that is a multiple of 4 and below 1 MB, as a little-endian number.
    #[must_use]
    pub fn word(&self, offset: usize) -> u32 {
        u32::from_le(self.words[offset / 4])
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.arena.lock().used.push(self.index);
        self.arena.given_back.notify_one();
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
    for line in fs::read_to_string("/proc/self/cgroup").unwrap_or_default().lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
        let (mount, limit, usage) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"),
            _ => continue,
        };
        result.extend(left_in_groups(Path::new(mount), Path::new(path), limit, usage));
    }
    result
}

/// What a control group and each that it lies in have left: the limit of any of them holds. What the kernel keeps of files that nobody has
/// used of late is not taken: of a group with others in it, that may be most.
fn left_in_groups(mount: &Path, path: &Path, limit: &str, usage: &str) -> Vec<(u64, String)> {
    let number = |path: PathBuf| fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<u64>().ok());
    path.ancestors()
        .filter_map(|group| {
            let directory = mount.join(group.strip_prefix("/").unwrap_or(group));
            let (limit, usage) = (number(directory.join(limit))?, number(directory.join(usage))?);
            let statistics = fs::read_to_string(directory.join("memory.stat")).unwrap_or_default();
            // The first version has a line of the group alone, too.
            let of = |name| statistics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
            let files = of("total_inactive_file ").or_else(|| of("inactive_file ")).unwrap_or(0);
            Some((limit.saturating_sub(usage.saturating_sub(files)), format!("the control group {}", group.display())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::mm::{MprotectFlags, mprotect};

    /// The memory of other machines' programs is in no core dump of this one: the kernel says so of the mapping.
    #[test]
    fn no_core_dump_has_the_memory_of_clients() {
        let arena = Arena::reserve(2 * CHUNK_BYTES as u64).unwrap();
        let begin = format!("{:x}-", arena.base as usize);
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mapping = maps.lines().skip_while(|line| !line.starts_with(&begin));
        let flags = mapping.into_iter().find(|line| line.starts_with("VmFlags:")).unwrap();
        assert!(flags.split_whitespace().any(|flag| flag == "dd"), "{flags}");
    }

    #[test]
    fn chunks_are_zero_whoever_had_them() {
        let arena = Arena::reserve(2 * CHUNK_BYTES as u64).unwrap();
        for _ in 0..3 {
            let chunks = arena.take(2 * CHUNK_PAGES as u64).unwrap();
            assert_eq!((arena.free(), arena.ready()), (0, 0));
            assert_eq!(arena.take(1).err(), Some(Shortage::Full));
            for chunk in &chunks {
                let mut page = [1; PAGE_SIZE];
                for number in 0..CHUNK_PAGES {
                    chunk.read(number, &mut page);
                    assert!(page.iter().all(|&byte| byte == 0));
                    assert_eq!(chunk.write(number, &[7; PAGE_SIZE], |bytes| u32::from(bytes[PAGE_SIZE - 1])), 7);
                }
            }
            drop(chunks);
            // Not before somebody has seen to it; and no more than there are.
            assert_eq!((arena.free(), arena.ready()), (arena.capacity(), 0));
            assert_eq!(arena.take(1).err(), Some(Shortage::NotYet));
            assert_eq!(arena.take(2 * CHUNK_PAGES as u64 + 1).err(), Some(Shortage::Full));
            arena.wait_for_used(Duration::from_secs(100));
            arena.clean();
            assert_eq!(arena.ready(), arena.capacity());
        }
        assert_eq!(arena.free(), arena.capacity());
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(matches!(Arena::reserve(0), Err(CommitError::Size(0))));
        assert!(matches!(Arena::reserve(u64::MAX), Err(CommitError::Size(_))));
        assert!(matches!(Arena::reserve(1 << 50), Err(CommitError::NotThere { .. })));
        let arena = Arena::reserve(CHUNK_BYTES as u64).unwrap();
        assert_eq!(arena.take(u64::MAX).err(), Some(Shortage::Full));
    }

    #[test]
    fn the_limit_of_each_control_group_above_holds() {
        let mount = std::env::temp_dir().join(format!("lull-memd-groups-{}", std::process::id()));
        for (group, limit, usage) in [("", "900", "100"), ("a", "500", "450"), ("a/b", "max", "60"), ("a/b/c", "400", "10")] {
            let directory = mount.join(group);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("memory.max"), format!("{limit}\n")).unwrap();
            fs::write(directory.join("memory.current"), format!("{usage}\n")).unwrap();
        }
        fs::write(mount.join("a/memory.stat"), "active_file 7\ninactive_file 20\n").unwrap();
        let left = left_in_groups(&mount, Path::new("/a/b/c"), "memory.max", "memory.current");
        let want = [(390, "/a/b/c"), (70, "/a"), (800, "/")].map(|(left, group)| (left, format!("the control group {group}")));
        assert_eq!(left, want);
        assert!(left_in_groups(&mount, Path::new("/no/such"), "memory.limit_in_bytes", "memory.usage_in_bytes").is_empty());
        fs::remove_dir_all(mount).unwrap();
    }

    #[test]
    fn chunks_without_memory_are_not_handed_out() {
        const STEP: u64 = COMMIT_STEP as u64;
        const STEP_PAGES: u64 = STEP / PAGE_SIZE as u64;
        let arena = Arena::reserve(3 * STEP).unwrap();
        assert_eq!((arena.committed(), arena.capacity(), arena.free()), (STEP, 3 * STEP, 3 * STEP));
        assert_eq!(arena.take(STEP_PAGES + 1).err(), Some(Shortage::NotYet));
        assert_eq!(arena.take(3 * STEP_PAGES + 1).err(), Some(Shortage::Full));
        // What comes back has memory, and is handed out before what has none.
        for _ in 0..2 {
            assert_eq!(arena.take(STEP_PAGES).unwrap().len(), COMMIT_STEP / CHUNK_BYTES);
            assert_eq!(arena.take(STEP_PAGES).err(), Some(Shortage::NotYet));
            arena.clean();
        }
        assert!(!arena.commit_step().unwrap());
        let two = arena.take(2 * STEP_PAGES).unwrap();
        assert_eq!(arena.take(1).err(), Some(Shortage::NotYet));
        arena.commit().unwrap();
        assert_eq!(arena.committed(), 3 * STEP);
        let third = arena.take(STEP_PAGES).unwrap();
        assert_eq!(arena.free(), 0);
        drop((two, third));
        assert_eq!(arena.free(), 3 * STEP);
    }

    #[test]
    fn what_the_kernel_refuses_is_taken_out_of_the_capacity() {
        const STEP: u64 = COMMIT_STEP as u64;
        let arena = Arena::reserve(3 * STEP).unwrap();
        // Behind the second step nobody may write.
        // SAFETY: nobody has these chunks, and nobody gets them.
        unsafe { mprotect(arena.base.add(2 * COMMIT_STEP).cast::<c_void>(), COMMIT_STEP, MprotectFlags::empty()).unwrap() };
        let error = arena.commit().unwrap_err();
        assert!(matches!(error, CommitError::Kernel { committed, .. } if committed == 2 * STEP), "{error}");
        assert_eq!((arena.committed(), arena.capacity(), arena.free()), (2 * STEP, 2 * STEP, 2 * STEP));
        assert_eq!(arena.take(2 * STEP / PAGE_SIZE as u64 + 1).err(), Some(Shortage::Full));
        assert!(arena.take(2 * STEP / PAGE_SIZE as u64).is_ok());
    }

    #[test]
    #[should_panic(expected = "page 255, 8192 bytes")]
    fn a_run_past_the_chunk_panics() {
        let arena = Arena::reserve(CHUNK_BYTES as u64).unwrap();
        arena.take(1).unwrap()[0].read(255, &mut [0; 2 * PAGE_SIZE]);
    }
}
