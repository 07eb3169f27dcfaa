// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the memory limit leaves for the heap: that of the process's cgroup, of version 2 or 1, or the machine's memory.

use std::fs;
use std::path::{Path, PathBuf};

/// The share of the limit that always stays for the page cache, at least.
const LEAST_CACHE: f64 = 0.05;

/// Where the limit comes from.
#[derive(Debug)]
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
    bound: Bound,
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
}

impl Memory {
    /// Finds the cgroup that binds the process: of its own and those around it, the one with the smallest limit.
    pub fn of(pid: u32) -> Self {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let path = |wanted: &dyn Fn(&str) -> bool| {
            groups.lines().find_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let (controllers, path) = (fields.next()?, fields.next()?);
                wanted(controllers).then(|| path.trim_start_matches('/').to_owned())
            })
        };
        let bound = if let Some(path) = path(&|controllers| controllers.split(',').any(|controller| controller == "memory")) {
            tightest(Path::new("/sys/fs/cgroup/memory"), &path, "memory.limit_in_bytes").map(Bound::Version1)
        } else if let Some(path) = path(&str::is_empty) {
            tightest(Path::new("/sys/fs/cgroup"), &path, "memory.max").map(Bound::Version2)
        } else {
            None
        };
        Self { bound: bound.unwrap_or(Bound::Machine) }
    }

    /// Words for the log.
    pub fn describe(&self) -> String {
        match &self.bound {
            Bound::Version2(directory) | Bound::Version1(directory) => directory.display().to_string(),
            Bound::Machine => "the machine's memory: its cgroups have no limit".to_owned(),
        }
    }

    /// How it is now, for a heap of that capacity. A heap that has not been touched in full makes `other` seem less than it will be.
    pub fn room(&self, capacity: u64) -> Option<Room> {
        let (limit, used) = match &self.bound {
            // Memory that is not page cache: anonymous and shared memory, and the kernel's.
            Bound::Version2(directory) => {
                let stat = fs::read_to_string(directory.join("memory.stat")).ok()?;
                let sum = ["anon", "shmem", "kernel"].iter().filter_map(|name| field(&stat, name)).sum::<u64>();
                (limit(directory, "memory.max")?, sum)
            }
            Bound::Version1(directory) => {
                let stat = fs::read_to_string(directory.join("memory.stat")).ok()?;
                let sum = ["total_rss", "total_shmem"].iter().filter_map(|name| field(&stat, name)).sum::<u64>();
                (limit(directory, "memory.limit_in_bytes")?, sum)
            }
            Bound::Machine => {
                let stat = fs::read_to_string("/proc/meminfo").ok()?;
                let kb = |name: &str| field(&stat, name).map(|kb| kb * 1024);
                (kb("MemTotal:")?, kb("MemTotal:")? - kb("MemAvailable:")?)
            }
        };
        Some(room(limit, used, capacity))
    }
}

fn room(limit: u64, used: u64, capacity: u64) -> Room {
    let other = used.saturating_sub(capacity);
    Room { limit, other, available: limit.saturating_sub(other).saturating_sub((limit as f64 * LEAST_CACHE) as u64) }
}

/// The directory of the smallest limit. Of equal ones the outermost, in which others use memory, too.
fn tightest(root: &Path, path: &str, file: &str) -> Option<PathBuf> {
    let directory = root.join(path);
    let around = directory.ancestors().take_while(|ancestor| ancestor.starts_with(root));
    let (_, tightest) = around.filter_map(|ancestor| Some((limit(ancestor, file)?, ancestor))).min()?;
    Some(tightest.to_owned())
}

/// A limit that is one: less than the largest number of pages, which is how none is written.
fn limit(directory: &Path, file: &str) -> Option<u64> {
    fs::read_to_string(directory.join(file)).ok()?.trim().parse().ok().filter(|limit| *limit < 1 << 60)
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
        assert_eq!(room(mb(2000), mb(900), mb(700)), Room { limit: mb(2000), other: mb(200), available: mb(1700) });
        assert_eq!(room(mb(2000), mb(500), mb(700)).other, 0);
        assert_eq!(room(mb(100), mb(900), mb(700)).available, 0);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "cache 5\nanon_thp 3\nanon 4\nMemTotal:       24 kB\n";
        assert_eq!((field(text, "anon"), field(text, "MemTotal:"), field(text, "rss")), (Some(4), Some(24), None));
    }

    #[test]
    fn the_smallest_limit_binds_wherever_it_is() {
        let root = std::env::temp_dir().join(format!("lull-budget-memory-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        let bind = |group: &str, limit: &str| fs::write(root.join(group).join("memory.max"), limit).unwrap();
        let tightest = || tightest(&root, "a/b/c", "memory.max").map(|found| found.strip_prefix(&root).unwrap().to_owned());
        assert_eq!(tightest(), None);
        bind("a", "2147483648\n");
        bind("a/b", "4294967296\n");
        bind("a/b/c", "max\n");
        assert_eq!(tightest(), Some("a".into()));
        bind("a/b/c", "1073741824\n");
        assert_eq!(tightest(), Some("a/b/c".into()));
        bind("a", "1073741824\n");
        assert_eq!(tightest(), Some("a".into()));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn this_process_has_room_in_some_memory() {
        let room = Memory::of(std::process::id()).room(0).unwrap();
        assert!(room.limit > 0 && room.available < room.limit, "{room:?}");
    }
}
