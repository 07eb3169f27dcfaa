// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What is local of far memory, as the kernel counts it.

use std::os::unix::fs::MetadataExt;

/// Bytes that a process's memory files take.
pub fn memory_file_bytes(process: u32) -> u64 {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return 0 };
    entries
        .filter_map(Result::ok)
        .filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy().contains("memfd:lull-far")))
        .filter_map(|entry| std::fs::metadata(entry.path()).ok())
        .map(|file| file.blocks() * 512)
        .sum()
}
