// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One word that other processes can map: "busy until then". Its layout is `include/lull_gate.h`, for readers in C.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// `LULL_GATE_MAGIC`
const MAGIC: u64 = u64::from_le_bytes(*b"LULLGATE");
/// `LULL_GATE_VERSION`
const VERSION: u32 = 1;
/// `LULL_GATE_RUNS`
pub const RUNS: u64 = 0;
/// `LULL_GATE_ENDED`
pub const ENDED: u64 = u64::MAX;

/// `struct lull_gate_beacon`
#[repr(C)]
struct Layout {
    magic: u64,
    version: u32,
    size: u32,
    process: u64,
    busy_until: u64,
    pauses: u64,
}

const SIZE: usize = size_of::<Layout>();

/// The word. Written by the gate's thread only, by a system call: to write to a mapping would end the VM if somebody had made the file shorter.
/// The word and the count behind it go in one call.
pub struct Beacon {
    file: File,
    word: AtomicU64,
    pauses: AtomicU64,
}

impl Beacon {
    /// Puts a beacon at `path`, in the place of any file that is there. The directory may be one that others write to: nothing of theirs is
    /// opened, and a link of theirs is not followed. One with the sticky bit, in which they have the name already, is of no use.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path) -> io::Result<Beacon> {
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{:016x}", crate::kernel::random()?));
        let mut file = File::options().write(true).create_new(true).mode(0o644).open(&new)?;
        let mut bytes = Vec::with_capacity(SIZE);
        bytes.extend(MAGIC.to_ne_bytes());
        bytes.extend(VERSION.to_ne_bytes());
        bytes.extend((SIZE as u32).to_ne_bytes());
        bytes.extend(u64::from(std::process::id()).to_ne_bytes());
        bytes.resize(SIZE, 0);
        // All may read it, whatever the service's umask is for its other files.
        let shown = file.set_permissions(fs::Permissions::from_mode(0o644));
        match shown.and_then(|()| file.write_all(&bytes)).and_then(|()| fs::rename(&new, path)) {
            Ok(()) => Ok(Beacon { file, word: AtomicU64::new(RUNS), pauses: AtomicU64::new(0) }),
            Err(error) => {
                let _ = fs::remove_file(&new);
                Err(error)
            }
        }
    }

    /// A pause has begun that is expected to last until then; or it is now expected to last until then.
    pub fn busy_until(&self, ns: u64) {
        let word = ns.clamp(RUNS + 1, ENDED - 1);
        if self.word.load(Ordering::Relaxed) == RUNS {
            self.pauses.fetch_add(1, Ordering::Relaxed);
        }
        self.write(word);
    }

    /// The pause is over.
    pub fn runs(&self) {
        self.write(RUNS);
    }

    /// A reader that finds an old word because this has failed, for lack of memory of the file system's, is told nothing new.
    fn write(&self, word: u64) {
        self.word.store(word, Ordering::Relaxed);
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&word.to_ne_bytes());
        bytes[8..].copy_from_slice(&self.pauses.load(Ordering::Relaxed).to_ne_bytes());
        let _ = self.file.write_at(&bytes, std::mem::offset_of!(Layout, busy_until) as u64);
    }

    /// The VM has ended.
    pub fn ended(&self) {
        self.write(ENDED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn word(bytes: &[u8], at: usize) -> u64 {
        u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn another_process_reads_what_is_written() {
        let directory = std::env::temp_dir().join(format!("lull-gate-beacon-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("beacon");
        fs::write(&path, "of an earlier run, and of another length").unwrap();
        let beacon = Beacon::create(&path).unwrap();
        let read = || {
            let bytes = fs::read(&path).unwrap();
            assert_eq!((bytes.len(), word(&bytes, 0)), (SIZE, MAGIC));
            (word(&bytes, 24), word(&bytes, 32))
        };
        assert_eq!(read(), (RUNS, 0));
        beacon.busy_until(5);
        beacon.busy_until(7);
        assert_eq!(read(), (7, 1));
        beacon.runs();
        beacon.busy_until(0);
        assert_eq!(read(), (1, 2));
        beacon.ended();
        assert_eq!(read().0, ENDED);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        fs::remove_dir_all(&directory).unwrap();
        assert!(Beacon::create(&path).is_err());
    }

    /// In a directory that others write to: neither what a link there names nor what somebody holds open is written to.
    #[test]
    fn nothing_that_others_have_put_there_is_written_to() {
        let directory = std::env::temp_dir().join(format!("lull-gate-links-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (path, victim) = (directory.join("beacon"), directory.join("victim"));
        fs::write(&victim, "of somebody else").unwrap();
        let predictable = directory.join(format!("beacon.{}", std::process::id()));
        for link in [&path, &predictable] {
            std::os::unix::fs::symlink(&victim, link).unwrap();
        }
        for umask in [0, 0o077] {
            // SAFETY: a number only.
            let before = unsafe { libc::umask(umask) };
            let beacon = Beacon::create(&path).unwrap();
            // SAFETY: as above.
            unsafe { libc::umask(before) };
            beacon.busy_until(5);
            assert_eq!(fs::read(&victim).unwrap(), b"of somebody else");
            let metadata = fs::symlink_metadata(&path).unwrap();
            assert!(metadata.is_file());
            assert_eq!(metadata.permissions().mode() & 0o777, 0o644, "with the umask {umask:o}");
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    /// Root, and the VM's own user, may: the VM must not end by it.
    #[test]
    fn a_beacon_that_is_made_shorter_ends_nothing() {
        let path = std::env::temp_dir().join(format!("lull-gate-short-{}", std::process::id()));
        let beacon = Beacon::create(&path).unwrap();
        for length in [0, 24] {
            File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
            beacon.busy_until(5);
            assert_eq!(word(&fs::read(&path).unwrap(), 24), 5);
            beacon.runs();
        }
        beacon.ended();
        fs::remove_file(&path).unwrap();
    }

    /// The header says the same, to a C compiler (Rust links by one, so there is one).
    #[test]
    fn the_header_has_this_layout() {
        let checks = [
            ("busy_until", std::mem::offset_of!(Layout, busy_until)),
            ("pauses", std::mem::offset_of!(Layout, pauses)),
            ("process", std::mem::offset_of!(Layout, process)),
            ("version", std::mem::offset_of!(Layout, version)),
            ("size", std::mem::offset_of!(Layout, size)),
        ];
        let mut text = "#include <stddef.h>\n#include \"lull_gate.h\"\n".to_string();
        for (field, offset) in checks {
            text += &format!("_Static_assert(offsetof(struct lull_gate_beacon, {field}) == {offset}, \"{field}\");\n");
        }
        text += &format!("_Static_assert(sizeof(struct lull_gate_beacon) == {SIZE}, \"size\");\n");
        text += &format!("_Static_assert(LULL_GATE_MAGIC == {MAGIC}u && LULL_GATE_VERSION == {VERSION}, \"magic\");\n");
        text += &format!("_Static_assert(LULL_GATE_RUNS == {RUNS}u && LULL_GATE_ENDED == {ENDED}u, \"states\");\n");
        let source = std::env::temp_dir().join(format!("lull-gate-header-{}.c", std::process::id()));
        fs::write(&source, text).unwrap();
        let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
        let output =
            Command::new("cc").args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I", include]).arg(&source).output().unwrap();
        fs::remove_file(&source).unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
