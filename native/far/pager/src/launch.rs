// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What `lull-far run` has to see to before it becomes the program: who would not take the preload library, and what of the signals the
//! program should find as it would have without us.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const PT_INTERP: u32 = 3;

/// The file that a program's name stands for, as `execvp` looks for it. None if there is none, which is for that to say.
#[must_use]
pub fn find(program: &OsStr) -> Option<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| {
        // SAFETY: a path that ends in a zero.
        CString::new(file.as_os_str().as_bytes()).is_ok_and(|file| unsafe { libc::access(file.as_ptr(), libc::X_OK) } == 0)
            && file.is_file()
    })
}

/// Whether a program may get rights by being run: not if this process has given that up for itself and what it runs, nor from a file
/// system that is mounted so. The kernel does not look at the rights of a script.
#[must_use]
pub fn may_give_rights(program: &Path) -> bool {
    // SAFETY: numbers only.
    let given_up = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } == 1;
    let is_script = || {
        let mut start = [0; 2];
        File::open(program).is_ok_and(|file| file.read_exact_at(&mut start, 0).is_ok()) && start == *b"#!"
    };
    !given_up && !is_without_rights(program) && !is_script()
}

/// Whether a file's file system is mounted `nosuid`.
fn is_without_rights(program: &Path) -> bool {
    let Ok(program) = CString::new(program.as_os_str().as_bytes()) else { return false };
    // SAFETY: a text that ends in a zero; the kernel fills the structure.
    unsafe {
        let mut status: libc::statvfs = std::mem::zeroed();
        libc::statvfs(program.as_ptr(), &raw mut status) == 0 && status.f_flag & libc::ST_NOSUID != 0
    }
}

/// Whether a program takes a preload library. The loader of one that gets rights by being run does not. A statically linked one has no
/// loader, and passes the library on to what it runs: returned is what is to be said about it. A script is what its interpreter is, at
/// which nobody looks here.
///
/// # Errors
/// Why not, and what to do.
pub fn takes_preload_library(program: &Path) -> Result<Option<String>, String> {
    let bad = |what: &str| {
        let help = "the loader ignores LD_PRELOAD then. Run it as who it would become, or a copy without that";
        Err(format!("{} {what}: none of its memory would be far; {help}", program.display()))
    };
    // What is not there is for the kernel to say. What may be run may be one that cannot be read.
    let Ok(metadata) = std::fs::metadata(program) else { return Ok(None) };
    if may_give_rights(program) {
        // SAFETY: numbers only.
        let (uid, user, group) = unsafe { (libc::getuid(), libc::geteuid(), libc::getegid()) };
        if metadata.mode() & libc::S_ISUID != 0 && metadata.uid() != user {
            return bad(&format!("runs as its owner, user {} (set-user-ID)", metadata.uid()));
        }
        let group_runs = libc::S_ISGID | libc::S_IXGRP;
        if metadata.mode() & group_runs == group_runs && metadata.gid() != group {
            return bad(&format!("runs as its group, {} (set-group-ID)", metadata.gid()));
        }
        if uid != 0 && has_capabilities(program) {
            return bad("has capabilities of its own (security.capability)");
        }
    }
    // The loader is linked statically, and takes the library for the program that it is given.
    let is_loader =
        std::fs::canonicalize(program).is_ok_and(|path| path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"ld-")));
    let passes_on = !is_loader && File::open(program).is_ok_and(|file| is_static(&file));
    Ok(passes_on.then(|| {
        let help = "none of its own memory will be far, only that of dynamically linked programs that it runs";
        format!("{} is linked statically, or not for 64 bits: {help}", program.display())
    }))
}

fn has_capabilities(program: &Path) -> bool {
    let Ok(program) = CString::new(program.as_os_str().as_bytes()) else { return false };
    // SAFETY: two texts that end in a zero; nothing is written.
    unsafe { libc::getxattr(program.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0 }
}

/// Whether a file is one in ELF that names no loader, or not one of 64 bits. What cannot be understood is not.
fn is_static(file: &File) -> bool {
    let mut head = [0; 64];
    if file.read_exact_at(&mut head, 0).is_err() || head[..4] != *b"\x7fELF" {
        return false;
    }
    // The class: 2 is 64 bits.
    if head[4] != 2 {
        return true;
    }
    let number = |at: usize, bytes: usize| head[at..at + bytes].iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    let (table, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    // All segments that could be read, and one of them names the loader.
    (0..count).all(|index| {
        let mut kind = [0; 4];
        let at = table.saturating_add(index * size);
        file.read_exact_at(&mut kind, at).is_ok() && u32::from_le_bytes(kind) != PT_INTERP
    })
}

static IGNORES_SIGPIPE: AtomicBool = AtomicBool::new(false);

/// Remembers what is done with SIGPIPE. To be called before the runtime of Rust, which changes it, that is, from `.init_array`.
pub extern "C" fn remember_signals() {
    // SAFETY: the kernel fills the structure.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGPIPE, std::ptr::null(), &raw mut now) == 0 {
            IGNORES_SIGPIPE.store(now.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
        }
    }
}

/// Leaves SIGPIPE to the program as it was when [`remember_signals`] was called. To be called last, as Rust changes it once more before
/// it runs a program.
pub fn restore_signals() {
    let handler = if IGNORES_SIGPIPE.load(Ordering::Relaxed) { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: no handler of ours.
    unsafe { libc::signal(libc::SIGPIPE, handler) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn who_ignores_a_preload_library_is_refused() {
        let directory = std::env::temp_dir().join(format!("lull-far-launch-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let program = directory.join("program");
        let set_mode = |mode| std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        std::fs::copy("/proc/self/exe", &program).unwrap();
        assert_eq!(takes_preload_library(&program), Ok(None));
        // With our own user nothing changes, and the loader takes the library.
        set_mode(0o4755);
        assert_eq!(takes_preload_library(&program), Ok(None));
        // SAFETY: numbers only.
        if unsafe { libc::geteuid() } == 0 && may_give_rights(&program) {
            std::os::unix::fs::chown(&program, Some(12345), Some(23456)).unwrap();
            set_mode(0o4755);
            let text = takes_preload_library(&program).unwrap_err();
            assert!(text.contains("runs as its owner, user 12345 (set-user-ID): none of its memory would be far; "), "{text}");
            set_mode(0o2755);
            let text = takes_preload_library(&program).unwrap_err();
            assert!(text.contains("runs as its group, 23456 (set-group-ID)"), "{text}");
            // Without the right to run it as the group the bit means something else.
            set_mode(0o2745);
            assert_eq!(takes_preload_library(&program), Ok(None));
            // Who may run it may not be who may read it. The user of one thread is changed, for files only.
            set_mode(0o4111);
            let other = program.clone();
            let text = std::thread::spawn(move || {
                // SAFETY: a number only.
                unsafe { libc::setfsuid(34567) };
                assert!(File::open(&other).is_err());
                takes_preload_library(&other).unwrap_err()
            });
            assert!(text.join().unwrap().contains("runs as its owner, user 12345"));
            // Of a script the interpreter's rights count.
            std::fs::write(&program, "#!/bin/sh\n").unwrap();
            set_mode(0o4755);
            assert_eq!(takes_preload_library(&program), Ok(None));
        }
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn of_programs_without_a_loader_it_is_said_that_they_pass_the_library_on() {
        let path = std::env::temp_dir().join(format!("lull-far-static-{}", std::process::id()));
        let elf = |class: u8, segments: &[u32]| {
            let mut bytes = vec![0; 64];
            bytes[..5].copy_from_slice(&[0x7f, b'E', b'L', b'F', class]);
            (bytes[32], bytes[54], bytes[56]) = (64, 56, segments.len() as u8);
            for kind in segments {
                bytes.extend_from_slice(&kind.to_le_bytes());
                bytes.extend_from_slice(&[0; 52]);
            }
            bytes
        };
        for (bytes, said) in [
            (elf(2, &[1, PT_INTERP, 1]), false),
            (elf(2, &[1, 1]), true),
            (elf(1, &[PT_INTERP]), true),
            (b"#!/bin/sh\n".to_vec(), false),
            (Vec::new(), false),
        ] {
            std::fs::write(&path, &bytes).unwrap();
            let text = takes_preload_library(&path).unwrap();
            assert_eq!(text.is_some(), said, "{bytes:?}");
            assert!(text.is_none_or(|text| text.contains("is linked statically, or not for 64 bits: none of its own memory will be far")));
        }
        std::fs::remove_file(path).unwrap();
        for other in ["/no/program", "/lib64/ld-linux-x86-64.so.2"] {
            assert_eq!(takes_preload_library(Path::new(other)), Ok(None));
        }
    }

    #[test]
    fn programs_are_found_as_the_kernel_would() {
        assert_eq!(find(OsStr::new("/bin/../bin/sh")), Some(PathBuf::from("/bin/../bin/sh")));
        assert!(find(OsStr::new("sh")).is_some_and(|path| path.ends_with("sh") && path.is_absolute()));
        assert_eq!(find(OsStr::new("no such program")), None);
    }
}
