// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the same accesses cost on a mapped file of a local disk: what a swap file's pages would, without anything being changed on
//! the machine.

use std::path::Path;

use crate::mapped::Mapped;

/// Random reads, each page once; then all in order.
pub fn measure(directory: &Path, pages: usize) -> Result<(), String> {
    let path = directory.join(format!("lull-far-bench-{}", std::process::id()));
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = std::fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(failed)?;
    std::fs::remove_file(&path).map_err(failed)?;
    Mapped::new(file, pages)?.measure("mapped file on the local disk")
}
