// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-far run`, servers, and a look at what a program has in local memory.
#![allow(dead_code)] // each test file uses a part

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use lull_memd::{Config, Server};

pub mod jvm;
pub mod line;
#[path = "../../../pager/tests/common/memory_files.rs"]
mod memory_files;
use memory_files::memory_file_bytes;

/// The command, with the library of this build.
pub fn front() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lull-far"));
    // Where cargo leaves the library of a package that another one's tests depend on.
    let library = built().join("deps/liblull_far_preload.so");
    command.env("LULL_FAR_PRELOAD", library);
    command
}

/// Where cargo puts what it builds.
pub fn built() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_lull-far")).parent().unwrap().to_owned()
}

/// A directory of this test, removed at its end.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Directory {
        let path = built().join(format!("far-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    pub fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn server(megabytes: u64) -> Server {
    Server::start(Config::new("127.0.0.1:0".parse().unwrap(), megabytes << 20)).unwrap()
}

/// Says why a test is skipped: to standard error, and to the file that the script which runs the tests counts.
pub fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("LULL_SKIPPED") {
        std::fs::File::options().append(true).create(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}

/// Whether a fault mode is permitted; says why not.
pub fn permitted(mode: &str, test: &str) -> bool {
    let output = front().arg("check").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.starts_with(&format!("--faults {mode}: "))).unwrap();
    if line.ends_with(": permitted") {
        return true;
    }
    skip(test, line);
    false
}

/// A program in C that knows nothing of the pager.
pub fn compile(name: &str, source: &str) -> PathBuf {
    let program = built().join(format!("far-{name}-{}", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let status = Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(&program).arg(source).status().unwrap();
    assert!(status.success());
    program
}

/// Runs a command to its end; the most bytes of its memory files, looked at from outside.
pub fn watch(command: &mut Command) -> (Output, u64) {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let watcher = {
        let done = std::sync::Arc::clone(&done);
        std::thread::spawn(move || {
            let mut most = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                most = most.max(memory_file_bytes(process));
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            most
        })
    };
    let output = child.wait_with_output().unwrap();
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    (output, watcher.join().unwrap())
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A count of the line of --statistics.
pub fn count(output: &Output, name: &str) -> u64 {
    let text = text(&output.stderr);
    let line = text.lines().find(|line| line.starts_with("lull-far: local ")).unwrap_or_else(|| panic!("{text}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    words[words.iter().position(|&word| word == name).unwrap() + 1].parse().unwrap()
}
