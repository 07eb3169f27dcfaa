// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What eBPF's sensor costs whom it watches, and others: processor time of a process for a switch between two of its threads, which pass a byte
//! through pipes on one processor, and for a read past the page cache, of which two switches are a part; without a sensor, watched, and while another
//! process is watched. Rounds in turn; the least, the median, and the median of what a round's work cost more than the same round's without a sensor,
//! with the interval in which the median of many more rounds lies with 95 %. A switch between two watched threads is twice the work of one from or to
//! anything else.
//!
//! Needs root, or CAP_BPF and CAP_PERFMON. `cargo bench -p lull-stall --bench overhead [-- --rounds N]`; 9 rounds, a minute; 100, eight.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use lull_stall::{Sensor, Source, Target};

const PAGE: usize = 4096;
const PAGES: usize = 16384;
const SWITCHES: u64 = 200_000;
const READS: u64 = 10_000;
const WORKS: [(&str, u64); 2] = [("switch", SWITCHES), ("read", READS)];
const SETTINGS: [&str; 3] = ["no sensor", "watched", "another is watched"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|argument| argument == "work") {
        work(Path::new(&arguments[2]));
        return ExitCode::SUCCESS;
    }
    let rounds = match arguments.iter().position(|argument| argument == "--rounds") {
        None => 9,
        Some(at) => match arguments.get(at + 1).and_then(|number| number.parse::<usize>().ok()).filter(|&number| number > 0) {
            Some(number) => number,
            None => {
                eprintln!("--rounds: a number from 1 on is needed");
                return ExitCode::from(2);
            }
        },
    };
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("overhead-{}", std::process::id()));
    std::fs::write(&path, vec![1u8; PAGES * PAGE]).expect("there is room for 64 MB");
    let result = measure(&path, rounds);
    std::fs::remove_file(&path).expect("the file is ours");
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn measure(path: &Path, rounds: usize) -> Result<(), String> {
    let mut worker = Worker::start(path);
    let watched = Target::find(worker.child.id()).map_err(|reason| reason.to_string())?;
    let other = Target::find(std::process::id()).map_err(|reason| reason.to_string())?;
    let mut samples = Vec::new();
    println!(
        "{:8} {:20} {:>10} {:>10} {:>10} {:>18}   ns of processor time, {rounds} rounds",
        "for a", "", "least", "median", "more", "interval"
    );
    for (what, count) in WORKS {
        let mut costs = [Vec::new(), Vec::new(), Vec::new()];
        for round in 0..rounds {
            for turn in 0..SETTINGS.len() {
                let setting = (round + turn) % SETTINGS.len();
                let target = [None, Some(watched), Some(other)][setting];
                let mut sensor = match target {
                    None => None,
                    Some(target) => Some(Sensor::open(target, Source::Bpf).map_err(|reason| format!("eBPF is refused: {reason}"))?),
                };
                costs[setting].push(worker.work(what) as f64 / count as f64);
                if let Some(sensor) = &mut sensor {
                    let before = Instant::now();
                    let _ = sensor.sample();
                    samples.push(before.elapsed().as_nanos() as f64);
                }
            }
        }
        let without = costs[0].clone();
        for (setting, costs) in SETTINGS.iter().zip(&mut costs) {
            let mut more: Vec<f64> = costs.iter().zip(&without).map(|(cost, without)| cost - without).collect();
            let (least, median) = least_and_median(costs);
            let (_, more_median) = least_and_median(&mut more);
            let (low, high) = interval_of_median(&more);
            let interval = format!("{low:.0} to {high:.0}");
            println!("{what:8} {setting:20} {least:10.0} {median:10.0} {more_median:10.0} {interval:>18}");
        }
    }
    let (least, median) = least_and_median(&mut samples);
    println!("{:8} {:20} {least:10.0} {median:10.0}   of the sensor's own, ten times a second", "update", "");
    Ok(())
}

fn least_and_median(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[0], values[values.len() / 2])
}

/// The values between which the median lies with 95 %, whatever their distribution: how many of them are below it is binomial. Of sorted values.
fn interval_of_median(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let low = (count / 2.0 - 0.98 * count.sqrt()).floor().max(0.0) as usize;
    (values[low], values[values.len() - 1 - low])
}

struct Worker {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Worker {
    fn start(path: &Path) -> Worker {
        let program = std::env::current_exe().expect("this program has a path");
        let mut child = Command::new(program)
            .arg("work")
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can be run again");
        let lines = BufReader::new(child.stdout.take().expect("it is a pipe"));
        Worker { child, lines }
    }

    /// Processor nanoseconds.
    fn work(&mut self, what: &str) -> u64 {
        let stdin = self.child.stdin.as_mut().expect("it is a pipe");
        writeln!(stdin, "{what}").expect("the worker reads");
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("the worker answers");
        line.trim().parse().expect("a number")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A line of work, a line of processor time.
fn work(path: &Path) {
    // A switch of threads needs that they share a processor.
    // SAFETY: a set of no processors is all zeros; both sets live, and are as large as is said.
    unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        let mut all: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&all), &mut all), 0);
        let first = (0..libc::CPU_SETSIZE as usize).find(|&cpu| libc::CPU_ISSET(cpu, &all)).expect("there is a processor");
        libc::CPU_SET(first, &mut one);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&one), &one), 0);
    }
    for line in std::io::stdin().lines() {
        let before = processor_ns();
        match line.expect("it is a pipe").as_str() {
            "switch" => switches(),
            "read" => reads(path),
            other => panic!("{other} is no work"),
        }
        println!("{}", processor_ns() - before);
    }
}

fn processor_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) }, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn switches() {
    let (mut there_out, mut there_in) = std::io::pipe().expect("two files are free");
    let (mut back_out, mut back_in) = std::io::pipe().expect("two files are free");
    let other = std::thread::spawn(move || {
        let mut byte = [0u8];
        while there_out.read_exact(&mut byte).is_ok() {
            back_in.write_all(&byte).expect("the other reads");
        }
    });
    let mut byte = [1u8];
    for _ in 0..SWITCHES / 2 {
        there_in.write_all(&byte).expect("the other reads");
        back_out.read_exact(&mut byte).expect("the other writes");
    }
    drop(there_in);
    other.join().expect("it has not panicked");
}

fn reads(path: &Path) {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path).expect("the file is there, on a disk");
    let mut room = vec![0u8; 2 * PAGE];
    let start = room.as_ptr().align_offset(PAGE);
    let mut page = 7usize;
    for _ in 0..READS {
        page = (page * 5 + 3) % PAGES;
        file.read_exact_at(&mut room[start..start + PAGE], (page * PAGE) as u64).expect("the page is there");
    }
}
