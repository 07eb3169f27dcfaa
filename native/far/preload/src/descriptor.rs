// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Whether a file descriptor is of a file in the marked directory.

use std::ffi::c_int;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::settings::settings;

/// True for a file right in the marked directory, also if it was unlinked since.
pub fn is_marked(fd: c_int) -> bool {
    let Some(settings) = settings() else { return false };
    if fd < 0 {
        return false;
    }
    let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{fd}")) else { return false };
    let bytes = path.as_os_str().as_bytes();
    let bytes = bytes.strip_suffix(b" (deleted)").unwrap_or(bytes);
    Path::new(std::ffi::OsStr::from_bytes(bytes)).parent() == Some(settings.directory.as_path())
}

/// Whether a file has contents on its disk, which we would not show.
pub fn has_contents(fd: c_int) -> bool {
    // SAFETY: the kernel fills the structure.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        libc::fstat(fd, &raw mut status) != 0 || status.st_blocks != 0
    }
}
