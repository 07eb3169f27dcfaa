// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

use std::io::Write;

/// Says why a test is skipped: to standard error, and to the file that the script which runs the tests counts.
pub fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("LULL_SKIPPED") {
        std::fs::File::options().append(true).create(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}
