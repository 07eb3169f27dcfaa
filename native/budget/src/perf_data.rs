// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The counters that a HotSpot keeps in a mapped file (-XX:+UsePerfData, on by default), read without asking the JVM.
//!
//! They are read by `pread`, and not mapped: the JVM's user may make the file shorter at any time, and who reads a page of a mapping that is
//! behind its end is ended by SIGBUS.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::process::Status;
use crate::temporary::Temporary;

/// Its first word, big-endian in any file.
const MAGIC: u32 = 0xcafe_c0c0;
/// The byte order that the fifth byte says.
const LITTLE_ENDIAN: u8 = 1;
/// The byte that the JVM sets when it has made the counters of its start.
const ACCESSIBLE: usize = 7;
/// The type of counters that are read here.
const LONG: u8 = b'J';
/// A file grows at most to this; -XX:PerfDataMemorySize is 32 KB by default.
const LARGEST: usize = 64 << 20;
/// Nothing can be decided without these. Collectors without generations have only the second.
const NEEDED: [&str; 3] = ["sun.os.hrt.frequency", "sun.rt.safepointTime", "sun.gc.generation.1.capacity"];
/// A JVM that has just begun makes its file and its counters one after the other.
const PATIENCE: Duration = Duration::from_secs(10);

/// The counters of one JVM.
#[derive(Debug)]
pub struct PerfData {
    file: File,
    longs: HashMap<String, usize>,
}

impl PerfData {
    /// Waits for a JVM that has just begun. An error says where it was looked for, and what is not there.
    pub fn open(pid: u32) -> Result<Self, String> {
        let begun = Instant::now();
        loop {
            match Self::open_now(pid) {
                Err(_) if begun.elapsed() < PATIENCE => sleep(Duration::from_millis(50)),
                opened => return opened,
            }
        }
    }

    fn open_now(pid: u32) -> Result<Self, String> {
        let status = Status::of(pid)?;
        let shown = format!("/proc/{pid}/root/tmp");
        let temporary = Temporary::of(pid).map_err(|error| format!("{shown}: {error}"))?;
        let found = find(&temporary.path(), &status).map_err(|error| format!("{shown}: {error}"))?;
        let path = found.ok_or(format!(
            "process {pid}: no {shown}/hsperfdata_*/{} of user {}: it is no HotSpot JVM, or runs with -XX:-UsePerfData",
            status.own_pid, status.user
        ))?;
        let in_words = |text: String| text.replace(&temporary.path().display().to_string(), &shown);
        let data = Self::of_file(&path).map_err(in_words)?;
        match NEEDED.iter().find(|name| data.get(name).is_none()) {
            Some(missing) => Err(in_words(format!("{}: the JVM has no counter {missing}", path.display()))),
            None => Ok(data),
        }
    }

    fn of_file(path: &Path) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let file = File::open(path).map_err(|error| failed(&error))?;
        let mut bytes = Vec::new();
        (&file).take(LARGEST as u64 + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        if bytes.get(ACCESSIBLE) == Some(&0) {
            return Err(failed(&"the JVM has not made all of its counters yet"));
        }
        let longs = longs(&bytes).ok_or_else(|| failed(&"this is not a file of HotSpot's counters, version 2"))?;
        Ok(Self { file, longs })
    }

    /// The counter as it is now; nothing if the file does not reach there any more.
    pub fn get(&self, name: &str) -> Option<i64> {
        let at = *self.longs.get(name)? as u64;
        let read = || {
            let mut bytes = [0; 8];
            self.file.read_exact_at(&mut bytes, at).ok().map(|()| i64::from_le_bytes(bytes))
        };
        // The kernel does not promise to copy a word at once: one that the JVM writes meanwhile is read again.
        let (first, second) = (read()?, read()?);
        if first == second { Some(first) } else { read() }
    }

    /// The sum of PREFIX0SUFFIX to PREFIX7SUFFIX, of those that there are: not each collector begins with 0.
    pub fn sum(&self, prefix: &str, suffix: &str) -> i64 {
        (0..8).filter_map(|index| self.get(&format!("{prefix}{index}{suffix}"))).sum()
    }
}

/// The file of that process. Anybody may make a directory of such a name; the JVM's is its own user's, and so is the file.
fn find(temporary: &Path, status: &Status) -> io::Result<Option<PathBuf>> {
    let own = |path: &Path, is: fn(&Metadata) -> bool| {
        fs::symlink_metadata(path).is_ok_and(|metadata| metadata.uid() == status.user && is(&metadata))
    };
    Ok(fs::read_dir(temporary)?
        .filter_map(|entry| entry.ok())
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("hsperfdata_") && own(&entry.path(), Metadata::is_dir))
        .map(|entry| entry.path().join(status.own_pid.to_string()))
        .find(|path| own(path, Metadata::is_file)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, symlink};

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
    fn a_file_that_its_user_makes_shorter_ends_nothing() {
        let path = std::env::temp_dir().join(format!("lull-budget-cut-{}", std::process::id()));
        // A page and more, so that what is cut off would be no part of a mapping.
        let filler: Vec<_> = (0..200).map(|n| entry(&format!("filler.{n}"), LONG, n)).collect();
        fs::write(&path, file(&[filler, vec![entry("last", LONG, 6)]].concat())).unwrap();
        let data = PerfData::of_file(&path).unwrap();
        assert_eq!(data.get("last"), Some(6));
        File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!((data.get("last"), data.sum("filler.", "")), (None, 0));
    }

    #[test]
    fn a_jvm_that_begins_is_waited_for() {
        let pid = std::process::id();
        let directory = PathBuf::from(format!("/tmp/hsperfdata_lull-budget-{pid}"));
        fs::create_dir(&directory).unwrap();
        let path = directory.join(pid.to_string());
        let mut bytes = file(&NEEDED.map(|name| entry(name, LONG, 5)));
        bytes[ACCESSIBLE] = 0;
        let opened = std::thread::scope(|scope| {
            let opened = scope.spawn(|| PerfData::open(pid));
            let later = || sleep(Duration::from_millis(300));
            later();
            // The last counter comes later than the others.
            bytes[28..32].copy_from_slice(&2_u32.to_le_bytes());
            let fresh = directory.join("fresh");
            fs::write(&fresh, &bytes).unwrap();
            fs::rename(fresh, &path).unwrap();
            later();
            let jvm = File::options().write(true).open(&path).unwrap();
            jvm.write_all_at(&[1], ACCESSIBLE as u64).unwrap();
            later();
            assert!(!opened.is_finished());
            jvm.write_all_at(&3_u32.to_le_bytes(), 28).unwrap();
            opened.join().unwrap()
        });
        fs::remove_dir_all(directory).unwrap();
        let data = opened.unwrap();
        assert!(NEEDED.iter().all(|name| data.get(name) == Some(5)));
    }

    #[test]
    fn a_file_of_another_user_is_not_the_jvms() {
        let root = std::env::temp_dir().join(format!("lull-budget-find-{}", std::process::id()));
        let directory = root.join("hsperfdata_a");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("7"), "").unwrap();
        fs::write(root.join("elsewhere"), "").unwrap();
        symlink(root.join("elsewhere"), directory.join("8")).unwrap();
        symlink(&directory, root.join("hsperfdata_b")).unwrap();
        let user = fs::metadata(&root).unwrap().uid();
        let find = |own_pid, user| find(&root, &Status { own_pid, user, catches_quit: true }).unwrap();
        assert_eq!(find(7, user), Some(directory.join("7")));
        assert_eq!((find(7, user + 1), find(8, user), find(9, user)), (None, None, None));
        fs::remove_dir_all(root).unwrap();
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
