// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The file between the sensor and its readers: written in one place, read in another, without a lock.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering, fence};

use memmap2::MmapRaw;

use crate::layout::{self, HEADER_WORDS, Header, MAGIC, ROW_WORDS, Row, SEQUENCE_WORD, VERSION};
use crate::{Sample, Source, Target};

/// Rows that are copied at most.
pub const ROW_CAPACITY: usize = 4096;

const FIELDS_AND_FLAGS_WORD: usize = std::mem::offset_of!(Header, fields) / 8;

/// Writes the file. The file stays when the writer is dropped: readers see that it is not written any more.
#[derive(Debug)]
pub struct Writer {
    map: MmapRaw,
    header: Header,
    path: PathBuf,
    /// Which file it is: device and number. The number is not another file's as long as this one is mapped.
    identity: (u64, u64),
}

impl Writer {
    /// Makes the file anew, readable by all whatever the umask, in one step: who opens the path sees a whole file, or that of the last
    /// sensor.
    pub fn create(path: &Path, target: &Target, source: Source, fields: u32, period_ns: u64) -> io::Result<Self> {
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            header_size: size_of::<Header>() as u32,
            row_size: size_of::<Row>() as u32,
            row_capacity: ROW_CAPACITY as u32,
            pid: target.pid,
            source: source as u32,
            process_start: target.start,
            period_ns,
            fields,
            updated_ns: crate::monotonic_ns(),
            ..Header::default()
        };
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(format!(".{}", std::process::id()));
        let fresh = PathBuf::from(fresh);
        // Not through a link that somebody else has put there; and the path itself is replaced, not written to.
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o644).open(&fresh)?;
        let made: io::Result<Self> = (|| {
            allocate(&file, (HEADER_WORDS + ROW_CAPACITY * ROW_WORDS) * 8)?;
            file.set_permissions(Permissions::from_mode(0o644))?;
            let metadata = file.metadata()?;
            let map = MmapRaw::map_raw(&file)?;
            let writer = Self { map, header, path: path.to_owned(), identity: (metadata.dev(), metadata.ino()) };
            for (index, word) in layout::header_words(&header).into_iter().enumerate() {
                writer.words()[index].store(word, Ordering::Relaxed);
            }
            std::fs::rename(&fresh, path)?;
            Ok(writer)
        })();
        if made.is_err() {
            let _ = std::fs::remove_file(&fresh);
        }
        made
    }

    /// Takes the file away, unless another sensor has put its own there.
    pub fn remove(&self) -> io::Result<()> {
        let metadata = std::fs::symlink_metadata(&self.path)?;
        if (metadata.dev(), metadata.ino()) == self.identity { std::fs::remove_file(&self.path) } else { Ok(()) }
    }

    /// The next state. Rows beyond the capacity are left out, and the flag for that is set.
    pub fn write(&mut self, sample: &Sample, flags: u32) {
        let rows = sample.rows.len().min(ROW_CAPACITY);
        let full = if sample.rows_full || rows < sample.rows.len() { layout::flags::ROWS_FULL } else { 0 };
        let sequence = self.header.sequence;
        self.header = Header {
            flags: flags | full,
            updated_ns: crate::monotonic_ns(),
            total: sample.total,
            read_bytes: sample.read_bytes,
            major_faults: sample.major_faults,
            rows: rows as u32,
            ..self.header
        };
        let words = self.words();
        words[SEQUENCE_WORD].store(sequence + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        let header = layout::header_words(&self.header);
        words[FIELDS_AND_FLAGS_WORD].store(header[FIELDS_AND_FLAGS_WORD], Ordering::Relaxed);
        for index in SEQUENCE_WORD + 1..HEADER_WORDS {
            words[index].store(header[index], Ordering::Relaxed);
        }
        for (index, row) in sample.rows.iter().take(rows).enumerate() {
            for (word, value) in layout::row_words(row).into_iter().enumerate() {
                words[HEADER_WORDS + index * ROW_WORDS + word].store(value, Ordering::Relaxed);
            }
        }
        words[SEQUENCE_WORD].store(sequence + 2, Ordering::Release);
        self.header.sequence = sequence + 2;
    }

    fn words(&self) -> &[AtomicU64] {
        words_of(&self.map)
    }
}

/// With blocks for all of it: a write to a mapped page for which the disk has no room ends the process.
fn allocate(file: &File, bytes: usize) -> io::Result<()> {
    // SAFETY: a descriptor and numbers.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } {
        0 => Ok(()),
        number => {
            let error = io::Error::from_raw_os_error(number);
            Err(io::Error::new(error.kind(), format!("cannot get its {bytes} bytes: {error}; choose a file on another disk")))
        }
    }
}

/// Reads the file, by `pread`: it may be of another user, who makes it shorter when he likes, and who reads a page of a mapping that is behind
/// the file's end is ended by SIGBUS. What has been cut off is all zeros, a state that was written long ago.
#[derive(Debug)]
pub struct Reader {
    file: File,
    /// When it was opened.
    words: usize,
}

impl Reader {
    /// The file must be root's, this process's user's, or that user's, who is the one of the process that is watched. An error of kind
    /// `InvalidData` says what is wrong with the file, without its path.
    pub fn open(path: &Path, user: u32) -> io::Result<Self> {
        let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
        // What has no bytes of its own, a pipe for one, would be waited for.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
        // Whoever may write it can steer the heap: in a directory that all may write to, it may be anybody's.
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(invalid("it is no regular file".to_owned()));
        }
        // SAFETY: it only answers.
        if ![0, user, unsafe { libc::geteuid() }].contains(&metadata.uid()) {
            return Err(invalid(format!(
                "it belongs to user {}, and is used only of root or user {user}: run lull-stall as one of them",
                metadata.uid()
            )));
        }
        if metadata.mode() & (libc::S_IWOTH | libc::S_IWGRP) != 0 {
            let who = if metadata.mode() & libc::S_IWOTH != 0 { "all" } else { "its group" };
            return Err(invalid(format!("{who} may write to it (mode {:o}): let lull-stall make it anew", metadata.mode() & 0o7777)));
        }
        let length = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        if length < HEADER_WORDS * 8 {
            return Err(invalid(format!("{length} bytes are too few for a sensor's file")));
        }
        let reader = Self { file, words: length / 8 };
        let header = reader.header();
        if header.magic != MAGIC || header.version != VERSION {
            return Err(invalid(format!(
                "magic {:#x}, version {}: this is no file of a sensor of version {VERSION}",
                header.magic, header.version
            )));
        }
        let size = header.header_size as usize + header.row_capacity as usize * header.row_size as usize;
        if header.header_size as usize != HEADER_WORDS * 8 || header.row_size as usize != ROW_WORDS * 8 || length < size {
            return Err(invalid(format!("{length} bytes, but its header says {size}")));
        }
        Ok(reader)
    }

    /// The totals.
    pub fn header(&self) -> Header {
        self.consistent(|| layout::header_of(self.load(0)))
    }

    /// The totals and the threads.
    pub fn snapshot(&self) -> (Header, Vec<Row>) {
        self.consistent(|| {
            let header = layout::header_of(self.load(0));
            let rows = (header.rows as usize).min((self.words - HEADER_WORDS) / ROW_WORDS);
            (header, (0..rows).map(|index| layout::row_of(self.load(HEADER_WORDS + index * ROW_WORDS))).collect())
        })
    }

    /// The words from one on, in one call. What is behind the end is 0.
    fn load<const N: usize>(&self, first: usize) -> [u64; N] {
        let mut bytes = [[0; 8]; N];
        let mut done = 0;
        // An error says no more than the end does.
        while let Ok(read @ 1..) = self.file.read_at(&mut bytes.as_flattened_mut()[done..], (first * 8 + done) as u64) {
            done += read;
        }
        bytes.map(u64::from_ne_bytes)
    }

    /// Copies until nothing was written meanwhile. A sensor that died while it wrote would keep a reader forever: after a second the copy is
    /// taken as it is, and its age says the rest.
    fn consistent<T>(&self, copy: impl Fn() -> T) -> T {
        let sequence = || self.load::<1>(SEQUENCE_WORD)[0];
        for attempt in 0..10_000 {
            let before = sequence();
            // The kernel copies for this thread: these order its loads as they would the thread's own.
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let copied = copy();
                fence(Ordering::Acquire);
                if sequence() == before {
                    return copied;
                }
            }
            // The writer may have lost its processor.
            if attempt > 10 {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
        }
        copy()
    }
}

fn words_of(map: &MmapRaw) -> &[AtomicU64] {
    // SAFETY: a map begins at a page, and any words are valid numbers. Who can shorten the file is trusted: the sensor's own user, or root.
    unsafe { std::slice::from_raw_parts(map.as_ptr().cast::<AtomicU64>(), map.len() / 8) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Counts;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("lull-stall-test-{}-{name}", std::process::id()))
    }

    /// This one, whose files the tests make.
    fn user() -> u32 {
        std::fs::metadata("/proc/self").unwrap().uid()
    }

    fn target() -> Target {
        Target { pid: 7, start: 99 }
    }

    fn sample(value: u64, rows: usize) -> Sample {
        let counts = Counts { io_ns: value, io_sleeps: value, refault_ns: value, blocked_ns: value, async_ns: value, runqueue_ns: value };
        let row = |tid| Row { host_tid: tid, tid, counts };
        Sample { total: counts, read_bytes: value, major_faults: value, rows: (0..rows as u32).map(row).collect(), rows_full: false }
    }

    #[test]
    fn what_is_written_is_read() {
        let path = path("written");
        let mut writer = Writer::create(&path, &target(), Source::Bpf, layout::fields::IO, 5).unwrap();
        let reader = Reader::open(&path, user()).unwrap();
        assert_eq!(reader.header().updated_ns, writer.header.updated_ns);
        writer.write(&sample(11, 3), layout::flags::ENDED);
        let (header, rows) = reader.snapshot();
        assert_eq!((header.pid, header.process_start, header.period_ns, header.source), (7, 99, 5, Source::Bpf as u32));
        assert_eq!((header.flags, header.fields), (layout::flags::ENDED, layout::fields::IO));
        assert_eq!((header.total.runqueue_ns, header.read_bytes, header.major_faults, header.rows), (11, 11, 11, 3));
        assert_eq!((rows.len(), rows[2].tid, rows[2].counts.io_ns), (3, 2, 11));
        writer.write(&sample(12, ROW_CAPACITY + 1), 0);
        let (header, rows) = reader.snapshot();
        assert_eq!((header.flags, rows.len()), (layout::flags::ROWS_FULL, ROW_CAPACITY));
        std::fs::remove_file(path).unwrap();
    }

    /// All numbers of a sample are the same; a reader that mixed two would see that.
    #[test]
    fn readers_see_whole_samples() {
        let path = path("whole");
        let mut writer = Writer::create(&path, &target(), Source::Bpf, 0, 5).unwrap();
        writer.write(&sample(0, 64), 0);
        std::thread::scope(|scope| {
            let handle = scope.spawn(|| {
                let reader = Reader::open(&path, user()).unwrap();
                let (mut last, mut changes) = (0, 0);
                while last < u64::MAX / 2 {
                    let (header, rows) = reader.snapshot();
                    let value = header.total.io_ns;
                    assert!(value >= last);
                    assert_eq!((header.major_faults, header.rows), (value, 64));
                    assert!(rows.iter().all(|row| row.counts.runqueue_ns == value && row.counts.io_ns == value));
                    changes += usize::from(value != last);
                    last = value;
                }
                changes
            });
            for value in 1..20_000 {
                writer.write(&sample(value, 64), 0);
                if value.is_multiple_of(64) {
                    std::thread::yield_now();
                }
            }
            writer.write(&sample(u64::MAX / 2, 64), 0);
            assert!(handle.join().unwrap() > 0);
        });
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_link_at_the_path_is_replaced_and_not_followed() {
        let (path, victim) = (path("link"), path("victim"));
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        Writer::create(&path, &target(), Source::Psi, 0, 5).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
        assert!(Reader::open(&path, user()).is_ok());
        assert!(Reader::open(&victim, user()).unwrap_err().to_string().contains("too few"));
        std::fs::remove_file(path).unwrap();
        std::fs::remove_file(victim).unwrap();
    }

    #[test]
    fn a_file_that_others_may_have_made_is_not_read() {
        let path = path("whose");
        let why_not = || Reader::open(&path, user()).unwrap_err().to_string();
        Writer::create(&path, &target(), Source::Psi, 0, 5).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o646)).unwrap();
        assert!(why_not().contains("all may write to it (mode 646)"), "{}", why_not());
        std::fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
        assert!(why_not().contains("its group may write to it (mode 664)"), "{}", why_not());
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(Reader::open(&path, user()).is_ok());
        // Only root can give it away.
        if std::os::unix::fs::chown(&path, Some(4711), None).is_ok() {
            assert!(why_not().contains("belongs to user 4711"), "{}", why_not());
            assert!(Reader::open(&path, 4711).is_ok());
        }
        std::fs::remove_file(&path).unwrap();
        // A pipe that nobody writes to is not waited for.
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a path that ends.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o644) }, 0);
        assert!(why_not().contains("no regular file"), "{}", why_not());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_made_shorter_ends_no_reader() {
        let path = path("cut");
        let mut writer = Writer::create(&path, &target(), Source::Psi, 0, 5).unwrap();
        writer.write(&sample(11, ROW_CAPACITY), 0);
        // A file of its own, for the writer maps its.
        let copy = path.with_extension("copy");
        std::fs::copy(&path, &copy).unwrap();
        let reader = Reader::open(&copy, user()).unwrap();
        assert_eq!(reader.snapshot().1.len(), ROW_CAPACITY);
        let cut = |length| OpenOptions::new().write(true).open(&copy).unwrap().set_len(length).unwrap();
        cut(HEADER_WORDS as u64 * 8);
        let (header, rows) = reader.snapshot();
        assert_eq!((header.total.io_ns, rows.len(), rows[ROW_CAPACITY - 1].counts.io_ns), (11, ROW_CAPACITY, 0));
        cut(0);
        assert_eq!((reader.header().updated_ns, reader.snapshot().1.len()), (0, 0));
        std::fs::remove_file(path).unwrap();
        std::fs::remove_file(copy).unwrap();
    }

    #[test]
    fn a_sensor_does_not_remove_the_file_of_the_next_one() {
        let path = path("next");
        let first = Writer::create(&path, &target(), Source::Psi, 0, 5).unwrap();
        let second = Writer::create(&path, &target(), Source::Psi, 0, 6).unwrap();
        first.remove().unwrap();
        assert_eq!(Reader::open(&path, user()).unwrap().header().period_ns, 6);
        second.remove().unwrap();
        assert!(!path.exists() && second.remove().is_err());
    }
}
