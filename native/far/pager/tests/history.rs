// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A history of pages under faults: two servers, one the other's replica, and a program that remembers which version of
//! each page it wrote last. Servers are replaced one after the other as in an upgrade, killed, stopped, left without
//! descriptors and without room for their log, and wall clocks step: whatever happens, no page is read that is older
//! than what was written. The program compares each word that it reads, and at the end every byte.
//!
//!     LULL_FAR_HISTORY_SECONDS=86400 cargo test --release -p lull-far --test history -- --nocapture
//!
//! * `LULL_FAR_HISTORY_SECONDS`  goes on for so long, with faults in an order that `LULL_FAR_HISTORY_SEED` gives; without it each happens once
//! * `LULL_FAR_HISTORY_PAUSE`    seconds between two faults (default 60, if it goes on)
//! * `LULL_FAR_OTHER_MEMD`       a lull-memd of another version, which the servers are before they are upgraded to this one

mod common;

use common::{Process, Run, Running, built, skipped};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PAGES: u64 = 8 * 1024;
/// Without an answer for so long, a server is lost.
const TIMEOUT_MS: u32 = 2000;

/// A wall clock for the programs of a test, and nobody else.
struct Clock {
    library: PathBuf,
    path: PathBuf,
    file: std::fs::File,
}

impl Clock {
    fn new() -> Clock {
        let library = built().join(format!("far-clock-{}.so", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/clock.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o"]).arg(&library).arg(source);
        assert!(compiler.status().expect("cc can be run").success(), "the clock does not compile");
        let path = library.with_extension("time");
        let file = std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        file.write_all_at(&[0; 16], 0).unwrap();
        Clock { library, path, file }
    }

    fn is_of(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.library).env("FAKE_CLOCK", &self.path);
    }

    /// So many seconds ahead of the machine's. How often somebody has asked since it was set the last time.
    fn step(&self, seconds: i64) -> u64 {
        let mut asked = [0; 8];
        self.file.read_exact_at(&mut asked, 8).unwrap();
        self.file.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
        self.file.write_all_at(&[0; 8], 8).unwrap();
        u64::from_ne_bytes(asked)
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        let _ = (std::fs::remove_file(&self.library), std::fs::remove_file(&self.path));
    }
}

/// What happens to a server, or to both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is stopped in order, and the other version takes its place.
    Upgrade,
    /// It ends in the middle of anything.
    Kill,
    /// It stands still until it is lost, and comes back with old pages.
    Stop,
    /// The same, and it has no descriptor for anybody who comes back, for a while.
    NoDescriptors,
    /// It is started anew with a log that cannot be written.
    FullDisk,
    /// The wall clock of all goes a year forth, and two back.
    Clock,
}

const ALL: [(Fault, usize); 7] = [
    (Fault::Upgrade, 0),
    (Fault::Upgrade, 1),
    (Fault::Clock, 0),
    (Fault::FullDisk, 0),
    (Fault::NoDescriptors, 1),
    (Fault::Kill, 0),
    (Fault::Stop, 1),
];

/// Both servers, and the program.
struct History {
    clock: Clock,
    servers: [Process; 2],
    names: [String; 2],
    workload: Running,
    /// How often a server was lost.
    lost: usize,
    clock_asked: u64,
}

fn signal(server: &Process, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &server.0.id().to_string()]).status().unwrap().success());
}

/// How many descriptors a process may have.
fn descriptors(server: &Process, most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: 1024 };
    // SAFETY: of a child of ours; one structure is read, none written.
    let done = unsafe { libc::prlimit(server.0.id().cast_signed(), libc::RLIMIT_NOFILE, &raw const limit, std::ptr::null_mut()) };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

fn start(clock: &Clock, listen: &str, program: &Path, is_full: bool) -> Process {
    Process::start_program(program, listen, |command| {
        clock.is_of(command);
        command.args(["--drain", "0"]);
        if is_full {
            command.stderr(std::fs::File::options().write(true).open("/dev/full").unwrap());
        }
        // SAFETY: one system call of numbers.
        unsafe {
            command.pre_exec(|| {
                let limit = libc::rlimit { rlim_cur: 1024, rlim_max: 1024 };
                if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
            });
        }
    })
}

fn this_version() -> PathBuf {
    built().join("lull-memd")
}

impl History {
    fn begin() -> History {
        let clock = Clock::new();
        let other = std::env::var_os("LULL_FAR_OTHER_MEMD").map_or_else(this_version, PathBuf::from);
        let servers = [(); 2].map(|()| start(&clock, "127.0.0.1:0", &other, false));
        let names = servers.each_ref().map(|server| server.1.to_string());
        let run = Run {
            servers: &names.join(","),
            local_pages: 1024,
            pages: PAGES,
            pattern: "random",
            threads: 2,
            operations: 1 << 60,
            mode: 0,
            replicas: 1,
            timeout_ms: TIMEOUT_MS,
        };
        let mut command = run.command();
        clock.is_of(&mut command);
        command.stdin(Stdio::null());
        let workload = Running::start(command);
        History { clock, servers, names, workload, lost: 0, clock_asked: 0 }
    }

    fn is_lost(&mut self, victim: usize) {
        self.workload.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", self.names[victim]));
        self.lost += 1;
    }

    /// Another one at the same address.
    fn replace(&mut self, victim: usize, is_full: bool) {
        self.servers[victim].0.wait().unwrap();
        self.is_lost(victim);
        self.servers[victim] = start(&self.clock, &self.names[victim], &this_version(), is_full);
    }

    /// Does it, and waits until each page is on both servers again.
    fn suffer(&mut self, fault: Fault, victim: usize) {
        match fault {
            Fault::Upgrade => {
                signal(&self.servers[victim], "TERM");
                self.replace(victim, false);
            }
            Fault::Kill | Fault::FullDisk => {
                signal(&self.servers[victim], "KILL");
                self.replace(victim, fault == Fault::FullDisk);
            }
            Fault::Stop => {
                signal(&self.servers[victim], "STOP");
                self.is_lost(victim);
                signal(&self.servers[victim], "CONT");
            }
            Fault::NoDescriptors => {
                descriptors(&self.servers[victim], 3);
                signal(&self.servers[victim], "STOP");
                self.is_lost(victim);
                signal(&self.servers[victim], "CONT");
                std::thread::sleep(Duration::from_secs(1));
                descriptors(&self.servers[victim], 1024);
            }
            Fault::Clock => {
                const YEAR: i64 = 365 * 86_400;
                for seconds in [YEAR, -YEAR, 0] {
                    self.clock_asked += self.clock.step(seconds);
                    // Servers ask for the time where they write to their log: somebody who comes and goes.
                    for server in &self.servers {
                        let mut stranger = std::net::TcpStream::connect(server.1).unwrap();
                        let _ = (std::io::Write::write_all(&mut stranger, &[0; 64]), std::io::Read::read(&mut stranger, &mut [0; 64]));
                    }
                    std::thread::sleep(Duration::from_millis(300));
                }
                self.clock_asked += self.clock.step(0);
                return;
            }
        }
        self.workload.wait_until_it_says(&format!("memory server {} has all copies again", self.names[victim]));
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is '{text}', which is no number")))
}

/// Faults that come after one another, until the time is over; each once, if there is none.
fn faults() -> Box<dyn Iterator<Item = (Fault, usize)>> {
    let Some(seconds) = number("LULL_FAR_HISTORY_SECONDS") else { return Box::new(ALL.into_iter()) };
    let mut state = number("LULL_FAR_HISTORY_SEED").unwrap_or(1);
    let pause = Duration::from_secs(number("LULL_FAR_HISTORY_PAUSE").unwrap_or(60));
    let end = Instant::now() + Duration::from_secs(seconds);
    Box::new(std::iter::from_fn(move || {
        std::thread::sleep(pause);
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (fault, _) = ALL[(state >> 33) as usize % ALL.len()];
        (Instant::now() < end).then_some((fault, (state >> 60) as usize % 2))
    }))
}

#[test]
fn no_page_is_read_that_is_older_than_what_was_written() {
    if skipped(0, "the history of pages") {
        return;
    }
    let mut history = History::begin();
    let mut count = 0;
    for (fault, victim) in faults() {
        history.suffer(fault, victim);
        count += 1;
        println!("{count}: {fault:?} of server {victim}");
    }
    assert!(history.clock_asked > 0, "nobody has asked for the time that was set");
    history.workload.stop();
    let History { workload, lost, .. } = history;
    let outcome = workload.finish();
    outcome.is_right(PAGES);
    assert!(outcome.count("fetched") > 0 && outcome.count("replica_fetches") > 0, "{outcome:?}");
    // What has befallen no server is no loss of one: not that clocks step.
    assert_eq!(outcome.stderr.matches("is lost; its pages are on one server only").count(), lost, "{}", outcome.stderr);
    println!("{count} faults, {lost} losses, {}", outcome.stdout.trim());
}
