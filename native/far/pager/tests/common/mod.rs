// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Servers, and a program in C that uses the pager (`c/workload.c`), watched from outside.
#![allow(dead_code)] // each test file uses a part

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

mod memory_files;
use memory_files::memory_file_bytes;

/// The directory of what cargo has built.
pub fn built() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.parent().and_then(Path::parent).unwrap().to_owned()
}

/// Compiles the workload against the header and the shared library.
pub fn workload() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let program = built().join(format!("far-workload-{}", std::process::id()));
        // `cargo build` leaves it in one place, `cargo test` in the other, and the older one is of another time's sources.
        let modified = |dir: &PathBuf| std::fs::metadata(dir.join("liblull_far.so")).and_then(|file| file.modified()).ok();
        let library = [built(), built().join("deps")].into_iter().filter(|dir| modified(dir).is_some()).max_by_key(modified);
        let library = library.expect("cargo has built liblull_far.so");
        let status = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-DWITH_PAGER", "-pthread", "-o"])
            .arg(&program)
            .arg(here.join("tests/c/workload.c"))
            .arg("-I")
            .arg(here.join("../include"))
            .arg(format!("-L{}", library.display()))
            .arg(format!("-Wl,-rpath,{}", library.display()))
            .arg("-llull_far")
            .status()
            .expect("cc can be run");
        assert!(status.success(), "the workload does not compile");
        program
    })
}

/// A server in this process.
pub fn server(megabytes: u64) -> lull_memd::Server {
    lull_memd::Server::start(lull_memd::Config::new("127.0.0.1:0".parse().unwrap(), megabytes << 20)).unwrap()
}

/// A server as a process of its own, to be killed.
pub struct Process(pub Child, pub SocketAddr);

impl Process {
    pub fn start(listen: &str) -> Process {
        Process::start_with(listen, |_| {})
    }

    /// Starts it after something more was done to the command.
    pub fn start_with(listen: &str, change: impl FnOnce(&mut Command)) -> Process {
        // Of another package: built by `cargo test` of the workspace, or by `cargo build -p lull-memd`.
        Process::start_program(&built().join("lull-memd"), listen, change)
    }

    /// The same of a server that was built at another time.
    pub fn start_program(program: &Path, listen: &str, change: impl FnOnce(&mut Command)) -> Process {
        assert!(program.exists(), "{} is not there: cargo build -p lull-memd", program.display());
        let mut command = Command::new(program);
        command.args(["--listen", listen, "--memory", "64m"]).stdout(Stdio::piped()).stderr(Stdio::null());
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening at ").unwrap_or_else(|| panic!("{line:?}")).parse().unwrap();
        Process(child, address)
    }

    pub fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Says why a test is skipped: to standard error, and to the file that the script which runs the tests counts.
pub fn skip(test: &str, why: &dyn std::fmt::Display) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("LULL_SKIPPED") {
        std::fs::File::options().append(true).create(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}

/// Whether the kernel has all that the pager needs, 6.7, and lets this process open a userfaultfd.
fn should_have_userfaultfd(mode: lull_far::FaultMode) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let user_mode_only = i32::from(mode == lull_far::FaultMode::InThread);
    // SAFETY: opens a descriptor, which is closed.
    let opened = unsafe {
        let descriptor = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC | user_mode_only);
        descriptor >= 0 && libc::close(descriptor as i32) == 0
    };
    version >= (6, 7) && opened
}

/// Whether a fault mode cannot be tested here; says why. Fails where it should be possible.
pub fn skipped(mode: u32, test: &str) -> bool {
    let mode = if mode == 0 { lull_far::FaultMode::InThread } else { lull_far::FaultMode::Handlers };
    match lull_far::kernel::Kernel::open(mode) {
        Ok(_) => false,
        Err(error) => {
            assert!(!should_have_userfaultfd(mode), "this kernel has userfaultfd, and it is permitted: {error}");
            skip(test, &error);
            true
        }
    }
}

/// What a workload came to.
#[derive(Debug)]
pub struct Outcome {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The most bytes that its memory files had, looked at from outside.
    pub most_local: u64,
}

impl Outcome {
    /// A count of the last line.
    pub fn count(&self, name: &str) -> u64 {
        let words: Vec<&str> = self.stdout.split_whitespace().collect();
        let at = words.iter().position(|&word| word == name).unwrap_or_else(|| panic!("no {name} in {self:?}"));
        words[at + 1].parse().unwrap()
    }

    /// Every byte was compared and none was wrong.
    pub fn is_right(&self, pages: u64) {
        assert_eq!(self.code, Some(0), "{self:?}");
        assert!(self.stdout.contains(&format!("bytes compared {} wrong words 0", pages * 4096)), "{self:?}");
    }
}

pub struct Running {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    err: BufReader<std::process::ChildStderr>,
    /// What it has said on standard error, as far as it was read.
    said: String,
}

impl Running {
    /// Starts a workload, and waits until it has mapped its memory.
    pub fn start(mut command: Command) -> Running {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        if line != "started\n" {
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("the workload did not start: {text}");
        }
        let err = BufReader::new(child.stderr.take().unwrap());
        Running { child, out, err, said: String::new() }
    }

    /// Waits until it has said a line with this in it, which it must before it ends.
    pub fn wait_until_it_says(&mut self, text: &str) {
        loop {
            let before = self.said.len();
            let count = self.err.read_line(&mut self.said).unwrap();
            assert!(count > 0, "it has ended and not said {text:?}: {}", self.said);
            if self.said[before..].contains(text) {
                return;
            }
        }
    }

    /// Kills it then, so that what waits for it fails.
    pub fn end_after(&self, time: std::time::Duration) {
        let process = self.child.id().to_string();
        std::thread::spawn(move || {
            std::thread::sleep(time);
            Command::new("kill").args(["-KILL", &process]).status()
        });
    }

    /// Tells it to do no more, and to compare.
    pub fn stop(&self) {
        self.signal("USR1");
    }

    pub fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Watches it until it ends.
    pub fn finish(mut self) -> Outcome {
        let mut most_local = 0;
        let status = loop {
            most_local = most_local.max(memory_file_bytes(self.child.id()));
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        let (mut stdout, mut stderr) = (String::new(), std::mem::take(&mut self.said));
        self.out.read_to_string(&mut stdout).unwrap();
        self.err.read_to_string(&mut stderr).unwrap();
        Outcome { code: status.code(), stdout, stderr, most_local }
    }
}

pub struct Run<'a> {
    pub servers: &'a str,
    pub local_pages: u64,
    pub pages: u64,
    pub pattern: &'a str,
    pub threads: u64,
    pub operations: u64,
    pub mode: u32,
    pub replicas: u32,
    pub timeout_ms: u32,
}

impl Run<'_> {
    pub fn command(&self) -> Command {
        let mut command = Command::new(workload());
        // Cargo's names both places, and the loader looks there before it looks where the program says.
        command.env_remove("LD_LIBRARY_PATH");
        command
            .args([self.servers, &(self.local_pages * 4096).to_string(), &self.pages.to_string(), self.pattern])
            .args([self.threads, self.operations, self.mode.into(), self.replicas.into(), self.timeout_ms.into()].map(|n| n.to_string()));
        command
    }

    pub fn start(&self) -> Running {
        Running::start(self.command())
    }
}
