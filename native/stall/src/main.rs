// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-stall`: watches a process until it ends, and keeps a file of how long its threads have been stalled on I/O.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use lull_stall::layout::{fields, flags};
use lull_stall::map_file::Writer;
use lull_stall::{PidFd, Sample, Sensor, Source, Target};
use signal_hook::consts::{SIGINT, SIGTERM};

/// How long the threads of a process are stalled on I/O.
#[derive(Parser, Debug)]
#[command(name = "lull-stall", version)]
struct CommandLine {
    /// The process.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i32::MAX as i64))]
    pid: u32,

    /// Where the numbers come from.
    #[arg(long, value_enum, default_value_t = Chosen::Auto)]
    source: Chosen,

    /// The file that readers map (lull_stall.h). If this is not given, lull-stall-N in /run/lull, where that directory is this user's and nobody
    /// else may write to it; otherwise in /tmp, where anybody may keep the sensor from starting.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Milliseconds between two updates, 1 to 1000: readers decide once a second, and a second without an update would seem to be one
    /// without stalls. The sources that ask /proc cost more the shorter this is.
    #[arg(long, value_name = "MS", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    period: u32,

    /// A line of what was counted every that many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    print: Option<u32>,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Chosen {
    /// The best that is permitted.
    Auto,
    /// eBPF on sched_switch: needs root, or CAP_BPF and CAP_PERFMON, and the machine's pid namespace.
    Bpf,
    /// Delay accounting: needs sysctl kernel.task_delayacct=1 before the process starts.
    Delayacct,
    /// Bytes that the process read x what a byte took on the machine's disks.
    Reads,
    /// Pressure on I/O in its cgroup of version 2.
    Psi,
    /// Major faults x what a read took.
    Faults,
}

const RUN: &str = "/run/lull";

/// Where the file is if nobody says: in a directory in which nobody else can take its name first.
fn usual_directory(own: &Path) -> &Path {
    // SAFETY: it only answers.
    let user = unsafe { libc::geteuid() };
    let is_safe = |found: std::fs::Metadata| found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0;
    if std::fs::symlink_metadata(own).is_ok_and(is_safe) { own } else { Path::new("/tmp") }
}

fn main() -> ExitCode {
    match run(&CommandLine::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            say(text);
            ExitCode::FAILURE
        }
    }
}

fn run(command: &CommandLine) -> Result<(), String> {
    let process = PidFd::open(command.pid)?;
    let target = Target::find(command.pid)?;
    let refused = |source: Source, reason: &str| say(format_args!("not {}: {reason}", source.name()));
    let mut sensor = match command.source {
        Chosen::Auto => Sensor::open_best(target, refused),
        Chosen::Bpf => Sensor::open(target, Source::Bpf),
        Chosen::Delayacct => Sensor::open(target, Source::Delayacct),
        Chosen::Reads => Sensor::open(target, Source::Reads),
        Chosen::Psi => Sensor::open(target, Source::Psi),
        Chosen::Faults => Sensor::open(target, Source::Faults),
    }?;
    let path = command.map.clone().unwrap_or_else(|| usual_directory(Path::new(RUN)).join(format!("lull-stall-{}", command.pid)));
    let period = Duration::from_millis(command.period.into());
    let mut writer = Writer::create(&path, &target, sensor.source(), sensor.fields(), period.as_nanos() as u64)
        .map_err(|error| format!("{}: {error}", path.display()))?;
    say(format_args!("process {}, source {}: {}; file {}", command.pid, sensor.source().name(), sensor.describe(), path.display()));

    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped)).map_err(|error| format!("cannot catch signal {signal}: {error}"))?;
    }
    let (mut next, mut printed, mut full) = (Instant::now(), Instant::now(), false);
    let measured = sensor.fields();
    let mut last = Sample::default();
    let end = loop {
        let sample = match sensor.sample() {
            Ok(sample) => sample,
            Err(reason) if process.ended(Duration::ZERO) => break (flags::ENDED, reason),
            Err(reason) => return Err(reason),
        };
        writer.write(sample, 0);
        if sample.rows_full && !full {
            full = true;
            say("too many threads: some are not counted");
        }
        if let Some(seconds) = command.print
            && printed.elapsed() >= Duration::from_secs(seconds.into())
        {
            print(measured, sample, &last, printed.elapsed());
            (printed, last) = (Instant::now(), sample.clone());
        }
        // What was missed is not made up for.
        next = (next + period).max(Instant::now());
        if process.ended(next.saturating_duration_since(Instant::now())) {
            let _ = sensor.sample();
            break (flags::ENDED, "the process has ended".to_owned());
        }
        if stopped.load(Ordering::Relaxed) {
            break (flags::STOPPED, "told to stop".to_owned());
        }
    };
    writer.write(sensor.last(), end.0);
    say(format_args!("process {}: {}", command.pid, end.1));
    if end.0 == flags::ENDED {
        // Nobody is left to read it.
        let _ = writer.remove();
    }
    Ok(())
}

/// To stderr. Where that cannot be written (its disk is full, nobody reads it any more), the sensor goes on without words.
fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "lull-stall: {text}");
}

fn print(measured: u32, sample: &Sample, last: &Sample, elapsed: Duration) {
    let ms = |now: u64, before: u64| (now - before) as f64 / 1e6;
    let has = |field: u32| measured & field != 0;
    let (total, before) = (&sample.total, &last.total);
    let mut line = format!("{:.1} s: I/O {:.1} ms", elapsed.as_secs_f64(), ms(total.io_ns, before.io_ns));
    // A string takes what is written.
    if has(fields::SLEEPS) {
        let _ = write!(line, " in {} sleeps", total.io_sleeps - before.io_sleeps);
    }
    if has(fields::REFAULT | fields::BLOCKED | fields::ASYNC | fields::RUNQUEUE) {
        let _ = write!(
            line,
            ", of it refaults {:.1} ms; blocked otherwise {:.1} ms, asynchronous {:.1} ms, waited for a processor {:.1} ms",
            ms(total.refault_ns, before.refault_ns),
            ms(total.blocked_ns, before.blocked_ns),
            ms(total.async_ns, before.async_ns),
            ms(total.runqueue_ns, before.runqueue_ns)
        );
    }
    if has(fields::READ_BYTES) {
        let _ = write!(line, "; read {:.1} MB", (sample.read_bytes - last.read_bytes) as f64 / 1e6);
    }
    let _ = writeln!(std::io::stdout(), "{line}; major faults {}", sample.major_faults - last.major_faults);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, remove_dir, remove_file, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    #[test]
    fn the_usual_directory_is_one_in_which_nobody_else_takes_names() {
        let path = std::env::temp_dir().join(format!("lull-stall-run-{}", std::process::id()));
        let link = path.with_extension("link");
        assert_eq!(usual_directory(&path), Path::new("/tmp"));
        create_dir(&path).unwrap();
        for (mode, safe) in [(0o755, true), (0o700, true), (0o775, false), (0o757, false), (0o1777, false)] {
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(usual_directory(&path) == path, safe, "{mode:o}");
        }
        set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        symlink(&path, &link).unwrap();
        assert_eq!(usual_directory(&link), Path::new("/tmp"));
        // Only root can give it away.
        if chown(&path, Some(4711), None).is_ok() {
            assert_eq!(usual_directory(&path), Path::new("/tmp"));
        }
        remove_file(link).unwrap();
        remove_dir(path).unwrap();
    }
}
