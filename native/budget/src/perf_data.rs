// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The counters that a HotSpot keeps in a mapped file (-XX:+UsePerfData, on by default), read without asking the JVM.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use memmap2::Mmap;

/// Its first word, big-endian in any file.
const MAGIC: u32 = 0xcafe_c0c0;
/// The byte order that the fifth byte says.
const LITTLE_ENDIAN: u8 = 1;
/// The type of counters that are read here.
const LONG: u8 = b'J';
/// A file grows at most to this; -XX:PerfDataMemorySize is 32 KB by default.
const LARGEST: usize = 64 << 20;

/// The counters of one JVM.
#[derive(Debug)]
pub struct PerfData {
    map: Mmap,
    longs: HashMap<String, usize>,
}

impl PerfData {
    /// An error says where it was looked for.
    pub fn open(pid: u32) -> Result<Self, String> {
        let own = own_pid(pid).ok_or(format!("process {pid}: /proc/{pid}/status cannot be read"))?;
        let temporary = format!("/proc/{pid}/root/tmp");
        let path = fs::read_dir(&temporary)
            .map_err(|error| format!("{temporary}: {error}"))?
            .filter_map(|entry| entry.ok())
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("hsperfdata_"))
            .map(|entry| entry.path().join(own.to_string()))
            .find(|path| path.is_file())
            .ok_or(format!("process {pid}: no {temporary}/hsperfdata_*/{own}: it is no HotSpot JVM, or runs with -XX:-UsePerfData"))?;
        Self::of_file(&path)
    }

    fn of_file(path: &Path) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let file = File::open(path).map_err(|error| failed(&error))?;
        // SAFETY: the JVM does not shorten the file while it lives; who can do so is its user, or root.
        let map = unsafe { Mmap::map(&file).map_err(|error| failed(&error))? };
        let longs = longs(&map).ok_or_else(|| failed(&"this is not a file of HotSpot's counters, version 2"))?;
        Ok(Self { map, longs })
    }

    /// The counter as it is now.
    pub fn get(&self, name: &str) -> Option<i64> {
        let at = *self.longs.get(name)?;
        // SAFETY: within the mapping and aligned, as `longs` has checked.
        Some(unsafe { (*self.map.as_ptr().add(at).cast::<AtomicI64>()).load(Ordering::Relaxed) })
    }

    /// The sum of PREFIX0SUFFIX to PREFIX7SUFFIX, of those that there are: not each collector begins with 0.
    pub fn sum(&self, prefix: &str, suffix: &str) -> i64 {
        (0..8).filter_map(|index| self.get(&format!("{prefix}{index}{suffix}"))).sum()
    }
}

/// Where each counter of 64 bits is.
fn longs(map: &[u8]) -> Option<HashMap<String, usize>> {
    let u32_at = |at: usize| Some(u32::from_le_bytes(map.get(at..at + 4)?.try_into().ok()?));
    if map.len() > LARGEST || u32::from_be_bytes(map.get(..4)?.try_into().ok()?) != MAGIC || map.get(4..6)? != [LITTLE_ENDIAN, 2] {
        return None;
    }
    let (mut at, entries) = (u32_at(24)? as usize, u32_at(28)?);
    let mut longs = HashMap::new();
    for _ in 0..entries {
        let length = u32_at(at)? as usize;
        let name_at = at + u32_at(at + 4)? as usize;
        let (vector, kind) = (u32_at(at + 8)?, *map.get(at + 12)?);
        let data_at = at + u32_at(at + 16)? as usize;
        if vector == 0 && kind == LONG && data_at.is_multiple_of(8) && data_at + 8 <= map.len() {
            let name = map.get(name_at..)?.split(|byte| *byte == 0).next()?;
            longs.insert(String::from_utf8_lossy(name).into_owned(), data_at);
        }
        if length == 0 {
            return None;
        }
        at += length;
    }
    Some(longs)
}

/// A process's id in its own pid namespace.
pub fn own_pid(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_whitespace().next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: u8, value: i64) -> Vec<u8> {
        let data_at = (20 + name.len() + 1).next_multiple_of(8);
        let mut bytes = Vec::new();
        for word in [(data_at + 8) as u32, 20, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend([kind, 0, 1, 1]);
        bytes.extend((data_at as u32).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(data_at, 0);
        bytes.extend(value.to_le_bytes());
        bytes
    }

    fn file(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = MAGIC.to_be_bytes().to_vec();
        bytes.extend([LITTLE_ENDIAN, 2, 0, 1]);
        bytes.resize(24, 0);
        bytes.extend(32_u32.to_le_bytes());
        bytes.extend((entries.len() as u32).to_le_bytes());
        bytes.extend(entries.concat());
        bytes
    }

    #[test]
    fn counters_are_found() {
        let bytes = file(&[entry("sun.gc.a.0.n", LONG, 5), entry("text", b'B', 7), entry("sun.gc.a.1.n", LONG, 6)]);
        let path = std::env::temp_dir().join(format!("lull-budget-perf-{}", std::process::id()));
        fs::write(&path, &bytes).unwrap();
        let data = PerfData::of_file(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((data.get("sun.gc.a.0.n"), data.get("text"), data.sum("sun.gc.a.", ".n")), (Some(5), None, 11));
    }

    #[test]
    fn damaged_files_are_refused_and_read_nowhere_else() {
        let whole = file(&[entry("sun.gc.a.0.n", LONG, 5), entry("b", LONG, 6)]);
        assert!(longs(&whole).is_some());
        for length in 0..whole.len() {
            assert!(longs(&whole[..length]).is_none_or(|found| found.len() < 2), "{length}");
        }
        let mut other = whole;
        other[0] = 0;
        assert!(longs(&other).is_none());
    }
}
