// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The program over a process that is no JVM, but has what a JVM is asked for: how it ends, and what it leaves.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lull_budget::controller::Controller;
use lull_budget::policy::Action;
use lull_budget::stalls::{Stalls, Theirs};

const MB: u64 = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(60);

type Flags = Arc<Mutex<BTreeMap<String, String>>>;

/// Looks like a ZGC with a heap of 512 MB.
struct Fake {
    process: Child,
    counters: PathBuf,
    socket: PathBuf,
    flags: Flags,
}

impl Fake {
    fn start() -> Self {
        let process = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = process.id();
        let counters = PathBuf::from(format!("/tmp/hsperfdata_lull-budget-{pid}"));
        fs::create_dir(&counters).unwrap();
        let file = counter_file(&[
            ("sun.os.hrt.frequency", 1_000_000_000),
            ("sun.rt.safepointTime", 0),
            ("sun.gc.generation.1.capacity", 512 * MB),
            ("sun.gc.generation.1.space.0.used", 20 * MB),
        ]);
        fs::write(counters.join(pid.to_string()), file).unwrap();
        let socket = PathBuf::from(format!("/tmp/.java_pid{pid}"));
        let listener = UnixListener::bind(&socket).unwrap();
        let sizes = [("InitialHeapSize", 16 * MB), ("MaxHeapSize", 512 * MB), ("SoftMaxHeapSize", 512 * MB)];
        let mut flags: BTreeMap<String, String> = sizes.map(|(name, size)| (name.to_owned(), format!("{name}={size}"))).into();
        flags.insert("UseZGC".to_owned(), "+UseZGC".to_owned());
        let flags = Flags::new(Mutex::new(flags));
        let shared = Arc::clone(&flags);
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, &shared)));
        Self { process, counters, socket, flags }
    }

    fn pid(&self) -> String {
        self.process.id().to_string()
    }

    fn flag(&self, name: &str) -> String {
        self.flags.lock().unwrap()[name].clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.counters);
        let _ = fs::remove_file(&self.socket);
    }
}

/// HotSpot's, of counters of 64 bits.
fn counter_file(counters: &[(&str, u64)]) -> Vec<u8> {
    let mut bytes = vec![0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1];
    bytes.resize(24, 0);
    bytes.extend(32_u32.to_le_bytes());
    bytes.extend((counters.len() as u32).to_le_bytes());
    for (name, value) in counters {
        let data_at = (20 + name.len() + 1).next_multiple_of(8);
        let begin = bytes.len();
        for word in [data_at as u32 + 8, 20, 0, u32::from_le_bytes([b'J', 0, 1, 1]), data_at as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(name.as_bytes());
        bytes.resize(begin + data_at, 0);
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

fn answer(mut stream: UnixStream, flags: &Flags) {
    // The protocol, the command and three arguments.
    let mut request = BufReader::new(stream.try_clone().unwrap());
    let parts: Vec<String> = (0..5)
        .map(|_| {
            let mut part = Vec::new();
            request.read_until(0, &mut part).unwrap();
            String::from_utf8(part).unwrap().trim_end_matches('\0').to_owned()
        })
        .collect();
    let mut flags = flags.lock().unwrap();
    if parts[1] == "setflag" {
        flags.insert(parts[2].clone(), format!("{}={}", parts[2], parts[3]));
    }
    let text = flags.get(&parts[2]).map_or("1\nno such flag\n".to_owned(), |flag| format!("0\n-XX:{flag}\n"));
    stream.write_all(text.as_bytes()).unwrap();
}

/// The program, which has no sensor.
struct Budget {
    program: Child,
    lines: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Budget {
    fn start(pid: &str) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_lull-budget"))
            .args(["--pid", pid, "--interval", "100", "--verbose", "--stall", "/tmp/lull-budget-no-such-file"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(program.stderr.take().unwrap());
        Self { program, lines, said: String::new() }
    }

    /// Reads until that has been said so many times.
    fn until(&mut self, what: &str, times: usize) {
        let begun = Instant::now();
        while self.said.matches(what).count() < times {
            // It says something in each interval.
            assert!(self.lines.read_line(&mut self.said).unwrap() > 0 && begun.elapsed() < PATIENCE, "{}", self.said);
        }
    }

    /// How it ended by itself, and all that it said.
    fn end(mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && self.program.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(50));
        }
        let ended = self.program.try_wait().unwrap();
        let _ = self.program.kill();
        self.lines.read_to_string(&mut self.said).unwrap();
        (ended.unwrap_or_else(|| panic!("it does not end: {}", self.said)), self.said)
    }
}

#[test]
fn ends_with_a_process_that_stays_a_zombie() {
    let mut jvm = Fake::start();
    let mut budget = Budget::start(&jvm.pid());
    budget.until("done: hold", 3);
    jvm.process.kill().unwrap();
    let (status, said) = budget.end();
    assert!(status.success() && said.contains("has ended"), "{said}");
    // Each interval has found so.
    assert_eq!(said.matches("I/O is not measured, until it can be: /tmp/lull-budget-no-such-file: No such file").count(), 1, "{said}");
}

#[test]
fn the_jvm_gets_its_settings_back_after_an_error() {
    let Some((jvm, group)) = over_its_limit("the_jvm_gets_its_settings_back_after_an_error") else { return };
    let before = jvm.flag("SoftMaxHeapSize");
    let mut budget = Budget::start(&jvm.pid());
    budget.until("done: SoftMaxHeapSize=", 1);
    assert_ne!(jvm.flag("SoftMaxHeapSize"), before);
    drop(group);
    let (status, said) = budget.end();
    assert!(!status.success() && said.contains("what memory the process may have cannot be read"), "{said}");
    assert_eq!(jvm.flag("SoftMaxHeapSize"), before, "{said}");
}

#[test]
fn a_log_that_cannot_be_written_changes_nothing() {
    let Some((jvm, _group)) = over_its_limit("a_log_that_cannot_be_written_changes_nothing") else { return };
    let before = jvm.flag("SoftMaxHeapSize");
    let mut program = Command::new(env!("CARGO_BIN_EXE_lull-budget"))
        .args(["--pid", &jvm.pid(), "--interval", "100", "--verbose", "--stall", "/tmp/lull-budget-no-such-file"])
        .stderr(fs::File::options().write(true).open("/dev/full").unwrap())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while jvm.flag("SoftMaxHeapSize") == before && program.try_wait().unwrap().is_none() && begun.elapsed() < PATIENCE {
        sleep(Duration::from_millis(10));
    }
    assert_ne!(jvm.flag("SoftMaxHeapSize"), before);
    // SAFETY: our own child, which has not been waited for.
    unsafe { libc::kill(program.id() as libc::pid_t, libc::SIGTERM) };
    assert!(program.wait().unwrap().success());
    assert_eq!(jvm.flag("SoftMaxHeapSize"), before);
}

#[test]
fn a_controller_that_is_dropped_gives_the_settings_back() {
    let Some((jvm, _group)) = over_its_limit("a_controller_that_is_dropped_gives_the_settings_back") else { return };
    let before = jvm.flag("SoftMaxHeapSize");
    let sensor = Theirs::new("/tmp/lull-budget-no-such-file".into(), 0, 0, Duration::from_secs(1));
    let mut controller = Controller::new(jvm.process.id(), Stalls::Theirs(sensor), false).unwrap();
    let begun = Instant::now();
    loop {
        let outcome = controller.interval().unwrap();
        if outcome.decision.action() != Action::Hold {
            controller.act(&outcome).unwrap();
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "{outcome:?}");
        sleep(Duration::from_millis(50));
    }
    assert_ne!(jvm.flag("SoftMaxHeapSize"), before);
    drop(controller);
    assert_eq!(jvm.flag("SoftMaxHeapSize"), before);
}

/// A heap of 512 MB in a cgroup of 128 MB; nothing, and the test is skipped, where none can be made.
fn over_its_limit(test: &str) -> Option<(Fake, Group)> {
    let Some(group) = Group::with_limit(test, 128 * MB) else {
        skip(test, "no cgroup with a memory limit can be made");
        return None;
    };
    let jvm = Fake::start();
    group.take(&jvm.pid());
    Some((jvm, group))
}

/// A cgroup, whose processes go to the root's when it is dropped.
struct Group {
    directory: PathBuf,
    root: &'static str,
}

impl Group {
    fn with_limit(test: &str, bytes: u64) -> Option<Self> {
        for (root, file) in [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")] {
            let directory = Path::new(root).join(format!("lull-budget-{}-{test}", std::process::id()));
            if !Path::new(root).join("cgroup.procs").exists() || fs::create_dir(&directory).is_err() {
                continue;
            }
            // A control file cannot be made, only written.
            let limited = fs::File::options().write(true).open(directory.join(file));
            if limited.is_ok_and(|mut limit| limit.write_all(bytes.to_string().as_bytes()).is_ok()) {
                return Some(Self { directory, root });
            }
            let _ = fs::remove_dir(directory);
        }
        None
    }

    fn take(&self, pid: &str) {
        fs::write(self.directory.join("cgroup.procs"), pid).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for pid in fs::read_to_string(self.directory.join("cgroup.procs")).unwrap_or_default().lines() {
            let _ = fs::write(Path::new(self.root).join("cgroup.procs"), pid);
        }
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Tests that cannot run here say so, for cargo has no word for that.
fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("LULL_SKIPPED") {
        fs::File::options().append(true).create(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}
