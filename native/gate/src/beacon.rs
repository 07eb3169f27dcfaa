// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One word that other processes can map: "busy until then". Its layout is `include/lull_gate.h`, for readers in C.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
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
    busy_until: AtomicU64,
    pauses: AtomicU64,
}

const SIZE: usize = size_of::<Layout>();

/// The mapped word. Written by the gate's thread only.
pub struct Beacon {
    layout: &'static Layout,
}

impl Beacon {
    /// Puts a beacon at `path`, in the place of any file that is there.
    ///
    /// # Errors
    /// The file cannot be made, or not be mapped.
    pub fn create(path: &Path) -> io::Result<Beacon> {
        let mut new = path.as_os_str().to_owned();
        new.push(format!(".{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&new)?;
        let mut bytes = Vec::with_capacity(SIZE);
        bytes.extend(MAGIC.to_ne_bytes());
        bytes.extend(VERSION.to_ne_bytes());
        bytes.extend((SIZE as u32).to_ne_bytes());
        bytes.extend(u64::from(std::process::id()).to_ne_bytes());
        bytes.resize(SIZE, 0);
        let mapped = file.write_all(&bytes).and_then(|()| {
            // SAFETY: a new mapping; its file has this length.
            let address = unsafe {
                libc::mmap(std::ptr::null_mut(), SIZE, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0)
            };
            if address == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(address) }
        });
        let placed = mapped.and_then(|address| fs::rename(&new, path).map(|()| address));
        match placed {
            // SAFETY: mapped in this size, aligned to a page, never unmapped; other processes can only read atomics as well.
            Ok(address) => Ok(Beacon { layout: unsafe { &*address.cast::<Layout>() } }),
            Err(error) => {
                let _ = fs::remove_file(&new);
                Err(error)
            }
        }
    }

    /// A pause has begun that is expected to last until then; or it is now expected to last until then.
    pub fn busy_until(&self, ns: u64) {
        let word = ns.clamp(RUNS + 1, ENDED - 1);
        if self.layout.busy_until.swap(word, Ordering::Relaxed) == RUNS {
            self.layout.pauses.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The pause is over.
    pub fn runs(&self) {
        self.layout.busy_until.store(RUNS, Ordering::Relaxed);
    }

    /// The VM has ended.
    pub fn ended(&self) {
        self.layout.busy_until.store(ENDED, Ordering::Relaxed);
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
