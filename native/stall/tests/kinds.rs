// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Known work under all sensors at once: five kinds of I/O, a sleep that is none, and no sleep at all. A worker does so many reads of pages
//! that are in no cache and says how long they took; what the sensors say is compared with that, by counts and orderings.
//!
//! eBPF needs root (or CAP_BPF and CAP_PERFMON), a kernel with BTF and the machine's pid namespace: where these are, its refusal is a
//! failure; where they are not, its checks are skipped and counted. The last line is "N passed, N failed, N skipped".
//! With LULL_STALL_TABLE=1, a table of what each source saw is printed: nothing is asserted of times but orderings.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use lull_stall::layout::{Counts, fields};
use lull_stall::{Sample, Sensor, Source, Target};

const PAGE: usize = 4096;
const PAGES: usize = 8192;
/// Reads of a worker.
const READS: usize = 1000;
/// Sleeps of the worker that sleeps uninterruptibly without I/O, and how long one is.
const NAPS: usize = 5;
const NAP_MS: u64 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pread,
    Mmap,
    Direct,
    Libaio,
    Uring,
    /// Uninterruptible, but no I/O: the parent of a vfork waits for the child.
    Vfork,
    /// Runs, and sleeps interruptibly.
    Nothing,
}

const KINDS: [(&str, Kind); 7] = [
    ("pread", Kind::Pread),
    ("mmap", Kind::Mmap),
    ("direct", Kind::Direct),
    ("libaio", Kind::Libaio),
    ("io_uring", Kind::Uring),
    ("vfork", Kind::Vfork),
    ("nothing", Kind::Nothing),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|argument| argument == "work") {
        work(&arguments[2], Path::new(&arguments[3]));
        return ExitCode::SUCCESS;
    }
    let mut tests = Tests::default();
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kinds-{}", std::process::id()));
    make_file(&path);
    let in_memory = is_in_memory(&path);
    for (name, kind) in KINDS {
        if in_memory && !matches!(kind, Kind::Vfork | Kind::Nothing) {
            tests.skip(&format!("{name}: {} is on a file system in memory, where no read waits", path.display()));
        } else {
            tests.kind(name, kind, &path);
        }
    }
    std::fs::remove_file(&path).expect("the file is ours");
    tests.the_program();
    println!("{} passed, {} failed, {} skipped", tests.passed, tests.failed, tests.skipped);
    if tests.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Tests {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tests {
    fn check(&mut self, what: &str, holds: bool) {
        if holds {
            self.passed += 1;
        } else {
            self.failed += 1;
            println!("FAILED: {what}");
        }
    }

    fn skip(&mut self, what: &str) {
        self.skipped += 1;
        println!("skipped: {what}");
    }

    /// One worker under all sensors that this machine permits.
    fn kind(&mut self, name: &str, kind: Kind, path: &Path) {
        let mut worker = Worker::start(name, path);
        let target = Target::find(worker.child.id()).expect("the worker waits");
        let mut sensors = Vec::new();
        for source in Source::ALL {
            match Sensor::open(target, source) {
                Ok(sensor) => sensors.push(sensor),
                Err(reason) if source == Source::Bpf && should_have_bpf() => {
                    self.check(&format!("{name}: eBPF is permitted: {reason}"), false)
                }
                Err(reason) => self.skip(&format!("{name}: {}: {reason}", source.name())),
            }
        }
        // The disks' times at the beginning are those since the boot.
        let before: Vec<Sample> = sensors.iter_mut().map(|sensor| sensor.sample().expect("the worker lives").clone()).collect();
        let Some(Work { reads, sleeps, wall_ns }) = worker.work() else {
            self.skip(&format!("{name}: {}", worker.refusal));
            return;
        };
        let mut table = format!("{name:9} {reads:5} reads {:8.1} ms wall, {sleeps} sleeps", wall_ns as f64 / 1e6);
        for (sensor, before) in sensors.iter_mut().zip(&before) {
            let sample = sensor.sample().expect("the worker waits for the next line").clone();
            let seen = since(&sample, before);
            table += &format!(" | {} {:.1} ms", sensor.source().name(), seen.io_ns as f64 / 1e6);
            if sensor.source() == Source::Bpf {
                table += &format!(
                    " in {} sleeps, blocked {:.1}, async {:.1}",
                    seen.io_sleeps,
                    seen.blocked_ns as f64 / 1e6,
                    seen.async_ns as f64 / 1e6
                );
                self.bpf(name, kind, &sample, &seen, wall_ns, sleeps);
            } else {
                let bytes = sample.read_bytes - before.read_bytes;
                let faults = sample.major_faults - before.major_faults;
                self.estimate(name, kind, sensor, &seen, bytes, faults);
            }
        }
        if std::env::var_os("LULL_STALL_TABLE").is_some() {
            println!("{table}");
        }
    }

    fn bpf(&mut self, name: &str, kind: Kind, sample: &Sample, seen: &Counts, wall_ns: u64, sleeps: u64) {
        let reads = READS as u64;
        match kind {
            Kind::Pread | Kind::Mmap | Kind::Direct => {
                // A device may be done before its reader sleeps. The kernel counts all sleeps, the worker's waits for lines among them; on a
                // machine where much else ran, 72 of 999 were not seen as I/O once, and it is not known what they were.
                if sleeps < reads / 10 {
                    self.skip(&format!("{name}: eBPF: the device is done before its reader sleeps: {sleeps} sleeps in {reads} reads"));
                    return;
                }
                self.check(
                    &format!("{name}: eBPF: most of the {sleeps} sleeps that the kernel counts, and no more: {seen:?}"),
                    (sleeps / 2..=sleeps).contains(&seen.io_sleeps),
                );
                self.check(
                    &format!("{name}: eBPF: no more than the reads took, {wall_ns}: {seen:?}"),
                    seen.io_ns > 0 && seen.io_ns <= wall_ns,
                );
                self.check(&format!("{name}: eBPF: nothing asynchronous: {seen:?}"), seen.async_ns == 0);
            }
            Kind::Libaio => {
                self.check(
                    &format!("{name}: eBPF: is blind to it, as is documented: {seen:?}"),
                    seen.io_sleeps < reads / 5 && seen.async_ns == 0,
                );
            }
            Kind::Uring => {
                self.check(
                    &format!("{name}: eBPF: asynchronous, and not more than the reads took, {wall_ns}: {seen:?}"),
                    seen.async_ns > 0 && seen.async_ns <= wall_ns,
                );
                self.check(&format!("{name}: eBPF: no uninterruptible sleeps: {seen:?}"), seen.io_sleeps < reads / 5);
            }
            Kind::Vfork => {
                let least = NAPS as u64 * NAP_MS * 1_000_000;
                // A child may begin its nap while its parent waits for a processor, to go to sleep with it.
                self.check(
                    &format!("{name}: eBPF: blocked, or waiting for a processor, for all naps, {least}; no more than {wall_ns}: {seen:?}"),
                    seen.blocked_ns > least / 2 && seen.blocked_ns + seen.runqueue_ns >= least && seen.blocked_ns <= wall_ns,
                );
                self.check(&format!("{name}: eBPF: no I/O: {seen:?}"), seen.io_sleeps < 10 && seen.async_ns == 0);
            }
            Kind::Nothing => {
                self.check(
                    &format!("{name}: eBPF: neither I/O nor blocked: {seen:?}"),
                    seen.io_sleeps < 10 && seen.blocked_ns < NAP_MS * 1_000_000 && seen.async_ns == 0,
                );
            }
        }
        let sum = |count: fn(&Counts) -> u64| sample.rows.iter().map(|row| count(&row.counts)).sum::<u64>();
        // The worker has one thread, and it waits in a read of a pipe.
        let same = sum(|counts| counts.io_ns) == sample.total.io_ns && sum(|counts| counts.blocked_ns) == sample.total.blocked_ns;
        self.check(&format!("{name}: eBPF: the threads are the total: {sample:?}"), same && !sample.rows.is_empty());
    }

    fn estimate(&mut self, name: &str, kind: Kind, sensor: &Sensor, seen: &Counts, bytes: u64, faults: u64) {
        let io = matches!(kind, Kind::Pread | Kind::Mmap | Kind::Direct | Kind::Libaio | Kind::Uring);
        let source = sensor.source();
        let what = format!("{name}: {}: {seen:?}, {bytes} bytes, {faults} major faults", source.name());
        match source {
            Source::Reads => {
                let read = (READS * PAGE) as u64;
                // Mapped files are read in larger pieces by some file systems.
                let counted = if io { bytes >= read * 9 / 10 && seen.io_ns > 0 } else { bytes < read / 10 };
                self.check(&what, counted && sensor.fields() & fields::READ_BYTES != 0);
            }
            Source::Faults if kind == Kind::Mmap => self.check(&what, faults >= READS as u64 * 9 / 10 && seen.io_ns > 0),
            Source::Faults => self.check(&what, faults < READS as u64 / 10),
            // Of a group, or the machine: others may add to it.
            Source::Psi => {
                let stalls = matches!(kind, Kind::Pread | Kind::Mmap | Kind::Direct | Kind::Uring);
                self.check(&what, !stalls || seen.io_ns > 0);
            }
            Source::Delayacct | Source::Bpf => self.check(&what, kind != Kind::Pread || seen.io_ns > 0),
        }
    }

    /// The program itself: its file is there while the process lives, and says what it says.
    fn the_program(&mut self) {
        let mut worker = Worker::start("nothing", Path::new("/dev/null"));
        let pid = worker.child.id();
        let map = std::env::temp_dir().join(format!("lull-stall-kinds-{pid}"));
        let user = std::fs::metadata("/proc/self").expect("/proc is there").uid();
        let mut sensor = Command::new(env!("CARGO_BIN_EXE_lull-stall"))
            .args(["--pid", &pid.to_string(), "--source", "reads", "--period", "5", "--map"])
            .arg(&map)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program has been built");
        let begun = Instant::now();
        let reader = loop {
            match lull_stall::map_file::Reader::open(&map, user) {
                Ok(reader) => break Some(reader),
                Err(_) if begun.elapsed() < Duration::from_secs(60) => std::thread::sleep(Duration::from_millis(5)),
                Err(_) => break None,
            }
        };
        let Some(reader) = reader else {
            self.check("lull-stall makes its file", false);
            let _ = sensor.kill();
            let _ = sensor.wait();
            return;
        };
        let first = reader.header();
        self.check("lull-stall: the file is of the process and the source", first.pid == pid && first.source == Source::Reads as u32);
        worker.work();
        drop(worker);
        let status = sensor.wait().expect("it is our child");
        let mut said = String::new();
        sensor.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it is text");
        self.check(
            &format!("lull-stall ends with the process: {said}"),
            status.success() && said.contains("has ended") && said.contains("source reads"),
        );
        let last = reader.header();
        self.check(
            &format!("lull-stall has updated the file: {last:?}"),
            last.sequence > first.sequence && last.flags & lull_stall::layout::flags::ENDED != 0,
        );
        self.check("lull-stall removes the file of a process that has ended", !map.exists());

        let refused =
            Command::new(env!("CARGO_BIN_EXE_lull-stall")).args(["--pid", "2147483647"]).output().expect("the program has been built");
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        self.check(&format!("lull-stall: no such process: {said}"), !refused.status.success() && said.contains("2147483647"));
    }
}

fn since(sample: &Sample, before: &Sample) -> Counts {
    let (now, then) = (&sample.total, &before.total);
    Counts {
        io_ns: now.io_ns - then.io_ns,
        io_sleeps: now.io_sleeps - then.io_sleeps,
        refault_ns: now.refault_ns - then.refault_ns,
        blocked_ns: now.blocked_ns - then.blocked_ns,
        async_ns: now.async_ns - then.async_ns,
        runqueue_ns: now.runqueue_ns - then.runqueue_ns,
    }
}

/// Root with all capabilities that matter, and a kernel that describes itself, outside of containers.
fn should_have_bpf() -> bool {
    const CAP_PERFMON: u32 = 38;
    const CAP_BPF: u32 = 39;
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is there");
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("there is such a line");
    let effective = u64::from_str_radix(effective.trim(), 16).expect("it is a number");
    let namespace = std::fs::read_link("/proc/self/ns/pid").expect("/proc is there");
    effective >> CAP_BPF & 1 == 1
        && effective >> CAP_PERFMON & 1 == 1
        && Path::new("/sys/kernel/btf/vmlinux").exists()
        && namespace.to_str() == Some("pid:[4026531836]")
}

/// This program again, with work to do; it begins when it is told to.
struct Worker {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    refusal: String,
    /// Its voluntary switches away from a processor when it wrote its last line.
    sleeps: u64,
}

/// What a worker did: how many reads, in how many nanoseconds, and in how many voluntary switches away from a processor.
struct Work {
    reads: usize,
    wall_ns: u64,
    sleeps: u64,
}

impl Worker {
    fn start(name: &str, path: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("it is running"))
            .args(["work", name])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it is this program");
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut worker = Self { child, lines, refusal: String::new(), sleeps: 0 };
        worker.sleeps = worker.line().strip_prefix("ready ").expect("the worker is ready").parse().expect("a number");
        worker.await_sleep();
        worker
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the worker writes");
        line.trim().to_owned()
    }

    /// Nothing if this kind does not work here, and `refusal` says why.
    fn work(&mut self) -> Option<Work> {
        self.child.stdin.as_mut().expect("it is piped").write_all(b"go\n").expect("the worker reads");
        let line = self.line();
        let Some(numbers) = line.strip_prefix("done ") else {
            self.refusal = line;
            return None;
        };
        let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().expect("a number")).collect();
        let [reads, wall_ns, sleeps] = numbers[..] else { panic!("three numbers: {line}") };
        let since = sleeps - std::mem::replace(&mut self.sleeps, sleeps);
        self.await_sleep();
        Some(Work { reads: reads as usize, wall_ns, sleeps: since })
    }

    /// A sleep is counted when its thread sleeps the next time: until it waits for its next line.
    fn await_sleep(&self) {
        let path = format!("/proc/{}/status", self.child.id());
        loop {
            let status = std::fs::read_to_string(&path).expect("the worker lives");
            let switches = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")).expect("there is such a line");
            if switches.trim().parse::<u64>().expect("it is a number") > self.sleeps {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // The kernel counts it a moment before it tells eBPF.
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Its last line of input ends it.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn make_file(path: &Path) {
    let mut file = File::create(path).expect("the build directory can be written");
    let page = [7_u8; PAGE];
    for _ in 0..PAGES {
        file.write_all(&page).expect("there is room on the disk");
    }
    // Pages that are not on the disk cannot be dropped from the cache.
    file.sync_all().expect("the disk writes");
}

fn is_in_memory(path: &Path) -> bool {
    let path = std::ffi::CString::new(path.to_str().expect("a plain path")).expect("no zero in it");
    // SAFETY: a path that ends, and a place for the answer.
    unsafe {
        let mut answer: libc::statfs = std::mem::zeroed();
        libc::statfs(path.as_ptr(), &mut answer) == 0 && answer.f_type == libc::TMPFS_MAGIC
    }
}

fn work(name: &str, path: &Path) {
    let kind = KINDS.iter().find(|(known, _)| *known == name).expect("a known kind").1;
    println!("ready {}", own_sleeps());
    wait_for_line();
    match reads(kind, path) {
        Ok(wall) => println!("done {READS} {} {}", wall.as_nanos(), own_sleeps()),
        Err(error) => println!("{error}"),
    }
    wait_for_line();
}

/// This thread's voluntary switches away from a processor.
fn own_sleeps() -> i64 {
    // SAFETY: a place for the answer.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        usage.ru_nvcsw
    }
}

fn wait_for_line() {
    std::io::stdin().read_line(&mut String::new()).expect("a pipe");
}

/// Pages in an order that no read-ahead guesses, each once.
fn pages() -> impl Iterator<Item = u64> {
    (0..READS as u64).map(|read| (read * 4099 % PAGES as u64) * PAGE as u64)
}

#[repr(align(4096))]
struct Aligned([u8; PAGE]);

fn reads(kind: Kind, path: &Path) -> std::io::Result<Duration> {
    let begun = Instant::now();
    let direct = || OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path);
    let uncached = || -> std::io::Result<File> {
        let file = File::open(path)?;
        // SAFETY: a descriptor and numbers.
        unsafe {
            libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
            libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM);
        }
        Ok(file)
    };
    let mut buffer = Box::new(Aligned([0; PAGE]));
    match kind {
        Kind::Pread => {
            let file = uncached()?;
            for offset in pages() {
                file.read_exact_at(&mut buffer.0, offset)?;
            }
        }
        Kind::Direct => {
            let file = direct()?;
            for offset in pages() {
                file.read_exact_at(&mut buffer.0, offset)?;
            }
        }
        Kind::Mmap => {
            let file = uncached()?;
            // SAFETY: nobody shortens the file.
            let map = unsafe { memmap2::Mmap::map(&file)? };
            map.advise(memmap2::Advice::Random)?;
            let mut sum = 0;
            for offset in pages() {
                // SAFETY: within the mapping.
                sum += u64::from(unsafe { map.as_ptr().add(offset as usize).read_volatile() });
            }
            assert_eq!(sum, 7 * READS as u64);
        }
        Kind::Libaio => libaio(&direct()?, &mut buffer)?,
        Kind::Uring => uring(&direct()?, &mut buffer)?,
        Kind::Vfork => naps(),
        Kind::Nothing => {
            std::thread::sleep(Duration::from_millis(NAP_MS));
            while begun.elapsed() < Duration::from_millis(2 * NAP_MS) {}
        }
    }
    Ok(begun.elapsed())
}

fn uring(file: &File, buffer: &mut Aligned) -> std::io::Result<()> {
    let mut ring = io_uring::IoUring::new(4)?;
    for offset in pages() {
        let read =
            io_uring::opcode::Read::new(io_uring::types::Fd(file.as_raw_fd()), buffer.0.as_mut_ptr(), PAGE as u32).offset(offset).build();
        // SAFETY: the buffer and the file live until the read is done, which is waited for.
        unsafe { ring.submission().push(&read).expect("the ring is empty") };
        ring.submit_and_wait(1)?;
        let result = ring.completion().next().expect("one was waited for").result();
        assert_eq!(result, PAGE as i32);
    }
    Ok(())
}

/// The kernel's struct iocb, for a read.
#[repr(C)]
#[derive(Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    resfd: u32,
}

fn libaio(file: &File, buffer: &mut Aligned) -> std::io::Result<()> {
    let mut context = 0_u64;
    let checked = |result: libc::c_long| if result < 0 { Err(std::io::Error::last_os_error()) } else { Ok(result) };
    // SAFETY: the context, the request, the buffer and the event live until the read is done, which is waited for.
    unsafe {
        checked(libc::syscall(libc::SYS_io_setup, 4, &mut context))?;
        for offset in pages() {
            let mut iocb = Iocb {
                fd: file.as_raw_fd() as u32,
                buffer: buffer.0.as_mut_ptr() as u64,
                bytes: PAGE as u64,
                offset: offset as i64,
                ..Iocb::default()
            };
            let mut requests = [&raw mut iocb];
            checked(libc::syscall(libc::SYS_io_submit, context, 1, requests.as_mut_ptr()))?;
            let mut event = [0_u64; 4];
            let null = std::ptr::null::<libc::timespec>();
            checked(libc::syscall(libc::SYS_io_getevents, context, 1, 1, event.as_mut_ptr(), null))?;
            assert_eq!(event[2], PAGE as u64);
        }
        libc::syscall(libc::SYS_io_destroy, context);
    }
    Ok(())
}

/// Children that sleep, while this thread waits uninterruptibly for their ends.
fn naps() {
    for _ in 0..NAPS {
        // SAFETY: the child has memory of its own (no CLONE_VM), sleeps and ends, by system calls only.
        unsafe {
            let child = libc::syscall(libc::SYS_clone, libc::CLONE_VFORK | libc::SIGCHLD, 0, 0, 0, 0);
            if child == 0 {
                let time = libc::timespec { tv_sec: 0, tv_nsec: NAP_MS as i64 * 1_000_000 };
                libc::syscall(libc::SYS_nanosleep, &time, 0);
                libc::syscall(libc::SYS_exit_group, 0);
            }
            assert!(child > 0);
            libc::waitpid(child as i32, std::ptr::null_mut(), 0);
        }
    }
}
