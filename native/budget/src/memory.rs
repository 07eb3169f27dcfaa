// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the memory limit leaves for the heap: that of the process's cgroup, of version 2 or 1, or the machine's memory.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::cgroup::{Group, Version};

/// The share of the limit that always stays for the page cache, at least.
const LEAST_CACHE: f64 = 0.05;

/// So many looks in a row may fail, as without descriptors: the last one that did not counts meanwhile.
const MOST_FAILURES: u32 = 5;

/// Where the limit comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Bound {
    /// A directory with memory.max.
    Version2(PathBuf),
    /// A directory with memory.limit_in_bytes.
    Version1(PathBuf),
    Machine,
}

/// The memory of one process.
#[derive(Debug)]
pub struct Memory {
    /// Its cgroup, if one can be seen.
    group: Option<Group>,
    /// At the last look: limits are lifted, lowered, and given to groups that had none, while the process runs.
    bound: Bound,
    /// The one that the log has named last.
    told: Bound,
    /// The heap's capacity at the last look.
    last_capacity: u64,
    last: Option<Room>,
    failures: u32,
}

/// In bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The limit.
    pub limit: u64,
    /// What is in use that is neither page cache nor heap.
    pub other: u64,
    /// What that leaves for the heap.
    pub available: u64,
    /// Of `other`, what the heap has given up lately: it may be in use until it is uncommitted.
    pub released: u64,
}

impl Memory {
    /// Finds the cgroup of the process. An error says that it cannot be seen: another's would be taken for it.
    pub fn of(pid: u32) -> Result<Self, String> {
        Ok(Self::in_group(Group::of(pid, "memory")?))
    }

    fn in_group(group: Option<Group>) -> Self {
        let bound = find(group.as_ref(), machine().map_or(u64::MAX, |(total, _)| total)).unwrap_or(Bound::Machine);
        Self { group, told: bound.clone(), bound, last_capacity: 0, last: None, failures: 0 }
    }

    /// Words for the log.
    pub fn describe(&self) -> String {
        match &self.bound {
            Bound::Version2(directory) | Bound::Version1(directory) => directory.display().to_string(),
            Bound::Machine => "the machine's memory: its cgroups have no limit below that".to_owned(),
        }
    }

    /// How it is now, for a heap of that capacity. A heap that has not been touched in full makes `other` seem less than it will be.
    /// None if that cannot be read, several times in a row.
    pub fn room(&mut self, capacity: u64) -> Option<Room> {
        // G1 takes memory out of its heap in a pause, and gives it back after that.
        let released = std::mem::replace(&mut self.last_capacity, capacity).saturating_sub(capacity);
        let now = self.look(capacity, released);
        self.failures = if now.is_some() { 0 } else { self.failures + 1 };
        self.last = now.or_else(|| self.last.map(|last| Room { released: 0, ..last })).filter(|_| self.failures <= MOST_FAILURES);
        self.last
    }

    /// Words for the log, if another limit binds the process than at the last call, or than at first.
    pub fn moved(&mut self) -> Option<String> {
        let is_another = self.told != self.bound;
        self.told.clone_from(&self.bound);
        is_another.then(|| self.describe())
    }

    fn look(&mut self, capacity: u64, released: u64) -> Option<Room> {
        let (total, free) = machine()?;
        self.bound = find(self.group.as_ref(), total).ok()?;
        let (limit, used) = match &self.bound {
            Bound::Version2(directory) => {
                let stat = fs::read_to_string(directory.join("memory.stat")).ok()?;
                (limit(directory, Version::Two).ok()??, used_in_version2(&stat))
            }
            Bound::Version1(directory) => {
                let stat = fs::read_to_string(directory.join("memory.stat")).ok()?;
                let sum = ["total_rss", "total_shmem"].iter().filter_map(|name| field(&stat, name)).sum::<u64>();
                (limit(directory, Version::One).ok()??, sum)
            }
            Bound::Machine => (total, total - free),
        };
        Some(room(limit.min(total), used, capacity, released))
    }
}

fn room(limit: u64, used: u64, capacity: u64, released: u64) -> Room {
    let other = used.saturating_sub(capacity);
    let available = limit.saturating_sub(other).saturating_sub((limit as f64 * LEAST_CACHE) as u64);
    Room { limit, other, available, released: released.min(other) }
}

/// Memory that is not page cache: anonymous and shared memory, and the kernel's, of which it gives some slabs back as it does the cache.
fn used_in_version2(stat: &str) -> u64 {
    let get = |name| field(stat, name).unwrap_or(0);
    get("anon") + get("shmem") + get("kernel").saturating_sub(get("slab_reclaimable"))
}

/// All memory of the machine, and what of it can be had.
fn machine() -> Option<(u64, u64)> {
    let stat = fs::read_to_string("/proc/meminfo").ok()?;
    let bytes = |name: &str| field(&stat, name).map(|kb| kb * 1024);
    let total = bytes("MemTotal:")?;
    Some((total, bytes("MemAvailable:")?.min(total)))
}

/// What binds the process: of its cgroup and those around it, the one with the smallest limit. A limit above what there is binds nothing; the
/// machine does. An error if that cannot be read: what has no descriptor for a limit, or whose group is gone, is not without a limit.
fn find(group: Option<&Group>, machine: u64) -> io::Result<Bound> {
    match group {
        None => Ok(Bound::Machine),
        Some(group) if group.is_there() => Ok(tightest(group, machine)?.unwrap_or(Bound::Machine)),
        Some(_) => Err(ErrorKind::NotFound.into()),
    }
}

/// The directory of the smallest limit below that of the machine, if there is one. Of equal ones the outermost, in which others use memory, too.
fn tightest(group: &Group, machine: u64) -> io::Result<Option<Bound>> {
    let mut found: Option<(u64, &Path)> = None;
    for directory in group.around() {
        if let Some(limit) = limit(directory, group.version)?.filter(|&limit| limit < machine) {
            found = Some(found.map_or((limit, directory), |other| other.min((limit, directory))));
        }
    }
    Ok(found.map(|(_, tightest)| match group.version {
        Version::One => Bound::Version1(tightest.to_owned()),
        Version::Two => Bound::Version2(tightest.to_owned()),
    }))
}

/// A limit that is one, if there is: version 2 has a word for none, and version 1 the largest number of pages. The outermost group of version 2
/// has no file. Beyond `memory.high` nobody is ended, but all are slowed down until they are below it: that is to be kept, too.
fn limit(directory: &Path, version: Version) -> io::Result<Option<u64>> {
    let files: &[&str] = match version {
        Version::One => &["memory.limit_in_bytes"],
        Version::Two => &["memory.max", "memory.high"],
    };
    let mut least = None;
    for file in files {
        let limit = match fs::read_to_string(directory.join(file)) {
            Ok(text) if text.trim() == "max" => None,
            Ok(text) => Some(text.trim().parse().map_err(io::Error::other)?).filter(|limit| *limit < 1 << 60),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        least = least.into_iter().chain(limit).min();
    }
    Ok(least)
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.split_whitespace().next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_the_limit_without_the_rest() {
        let mb = |n: u64| n << 20;
        let left = Room { limit: mb(2000), other: mb(200), available: mb(1700), released: mb(100) };
        assert_eq!(room(mb(2000), mb(900), mb(700), mb(100)), left);
        assert_eq!(room(mb(2000), mb(900), mb(700), mb(300)).released, mb(200));
        assert_eq!(room(mb(2000), mb(500), mb(700), 0).other, 0);
        assert_eq!(room(mb(100), mb(900), mb(700), 0).available, 0);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "cache 5\nanon_thp 3\nanon 4\nMemTotal:       24 kB\n";
        assert_eq!((field(text, "anon"), field(text, "MemTotal:"), field(text, "rss")), (Some(4), Some(24), None));
    }

    /// A cgroup's directory; its name is taken by one test.
    struct Directory(PathBuf);

    impl Directory {
        fn of(test: &str) -> Self {
            let root = std::env::temp_dir().join(format!("lull-budget-memory-{test}-{}", std::process::id()));
            fs::create_dir_all(root.join("a/b/c")).unwrap();
            Self(root)
        }

        fn write(&self, file: &str, text: &str) {
            fs::write(self.0.join(file), text).unwrap();
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn the_smallest_limit_binds_wherever_it_is() {
        let root = Directory::of("tightest");
        let tightest = || match tightest(&Group::at(Version::Two, &root.0, "a/b/c"), 1 << 34).unwrap()? {
            Bound::Version2(found) => Some(found.strip_prefix(&root.0).unwrap().to_owned()),
            _ => panic!("another version"),
        };
        assert_eq!(tightest(), None);
        root.write("a/memory.max", "2147483648\n");
        root.write("a/b/memory.max", "4294967296\n");
        root.write("a/b/c/memory.max", "max\n");
        assert_eq!(tightest(), Some("a".into()));
        root.write("a/b/c/memory.max", "1073741824\n");
        assert_eq!(tightest(), Some("a/b/c".into()));
        root.write("a/memory.max", "1073741824\n");
        assert_eq!(tightest(), Some("a".into()));
        // What the machine does not have, no group can use.
        root.write("a/memory.max", "17179869184\n");
        root.write("a/b/memory.max", "17179869184\n");
        root.write("a/b/c/memory.max", "17179869185\n");
        assert_eq!(tightest(), None);
    }

    #[test]
    fn limits_may_change_while_the_process_runs() {
        let root = Directory::of("changed");
        let mut memory = Memory::in_group(Some(Group::at(Version::Two, &root.0, "a/b/c")));
        let mut look = || (memory.room(0).unwrap().limit, memory.moved().is_some());
        let machine = machine().unwrap().0;
        assert_eq!(look(), (machine, false));
        // One that comes later, and another one around it that is tighter.
        for directory in ["a", "a/b", "a/b/c"] {
            root.write(&format!("{directory}/memory.stat"), "anon 5\n");
        }
        root.write("a/b/c/memory.max", "2000000\n");
        assert_eq!(look(), (2_000_000, true));
        root.write("a/memory.max", "1000000\n");
        assert_eq!(look(), (1_000_000, true));
        // They are lifted: by a number that no machine has, and by the word.
        root.write("a/memory.max", "1000000000000000000\n");
        assert_eq!(look(), (2_000_000, true));
        root.write("a/b/c/memory.max", "max\n");
        assert_eq!(look(), (machine, true));
        assert_eq!(look(), (machine, false));
        // Above that all are slowed down.
        root.write("a/b/memory.high", "3000000\n");
        assert_eq!(look(), (3_000_000, true));
        root.write("a/b/memory.max", "4000000\n");
        assert_eq!(look(), (3_000_000, false));
        root.write("a/b/memory.high", "max\n");
        assert_eq!(look(), (4_000_000, false));
    }

    #[test]
    fn a_look_that_fails_is_not_the_end() {
        let root = Directory::of("fails");
        let mut memory = Memory::in_group(Some(Group::at(Version::Two, &root.0, "a")));
        root.write("a/memory.max", "1000000\n");
        assert_eq!(memory.room(0), None);
        root.write("a/memory.stat", "anon 5\n");
        let known = memory.room(0);
        assert!(known.is_some());
        fs::remove_file(root.0.join("a/memory.stat")).unwrap();
        for _ in 0..MOST_FAILURES {
            assert_eq!(memory.room(0), known);
        }
        assert_eq!(memory.room(0), None);
        // A limit that cannot be read is not none, and neither is a group that is gone.
        root.write("a/memory.stat", "anon 5\n");
        assert!(memory.room(0).is_some());
        root.write("a/memory.max", "much\n");
        assert_eq!((memory.room(0), memory.look(0, 0)), (known, None));
        root.write("a/memory.max", "max\n");
        assert!(memory.look(0, 0).is_some());
        fs::rename(root.0.join("a"), root.0.join("b")).unwrap();
        assert_eq!(memory.look(0, 0), None);
    }

    #[test]
    fn slabs_that_the_kernel_gives_back_are_not_in_use() {
        assert_eq!(used_in_version2("anon 100\nfile 9000\nkernel 50\nshmem 7\nslab_reclaimable 30\nslab 40\n"), 127);
        // Kernels before 5.18 do not say what they use.
        assert_eq!(used_in_version2("anon 100\nshmem 7\nslab_reclaimable 30\n"), 107);
    }

    #[test]
    fn memory_that_the_heap_has_just_given_up_is_told_apart() {
        let root = Directory::of("uncommitted");
        let mut memory = Memory::in_group(Some(Group::at(Version::Two, &root.0, "")));
        root.write("memory.max", "100000\n");
        root.write("memory.stat", "anon 60000\n");
        let mut look = |anonymous: u64, capacity: u64| {
            root.write("memory.stat", &format!("anon {anonymous}\n"));
            let room = memory.room(capacity).unwrap();
            (room.other, room.released)
        };
        assert_eq!(look(60000, 50000), (10000, 0));
        // In the next interval it is still committed, and in the one after it is not.
        assert_eq!(look(60000, 30000), (30000, 20000));
        assert_eq!(look(40000, 30000), (10000, 0));
        assert_eq!(look(60000, 50000), (10000, 0));
    }

    #[test]
    fn this_process_has_room_in_some_memory() {
        let room = Memory::of(std::process::id()).unwrap().room(0).unwrap();
        assert!(room.limit > 0 && room.available < room.limit, "{room:?}");
    }
}
