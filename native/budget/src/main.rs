// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-budget`: gives a JVM's memory to its heap or to the page cache, whichever loses it less time.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser;
use lull_budget::controller::{Controller, Outcome};
use lull_budget::policy::Action;
use lull_budget::process::Status;
use lull_budget::stalls::{Stalls, Theirs};
use lull_stall::{PidFd, Sensor, Target};
use signal_hook::consts::{SIGINT, SIGTERM};

/// Resizes the heap of a JVM that runs: smaller while I/O stalls cost more, larger while collections do.
///
/// G1 needs -XX:+ExplicitGCInvokesConcurrent, ZGC -XX:ZUncommitDelay=1, and none of them an -Xms near -Xmx.
#[derive(Parser, Debug)]
#[command(name = "lull-budget", version)]
struct CommandLine {
    /// The JVM.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i32::MAX as i64))]
    pid: u32,

    /// The file of a lull-stall that runs by itself; without, this program is the sensor, too, and uses the best source that it is permitted.
    #[arg(long, value_name = "FILE")]
    stall: Option<PathBuf>,

    /// Milliseconds of an interval, 100 to 60000.
    #[arg(long, value_name = "MS", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=60_000))]
    interval: u32,

    /// Decide and log, but touch nothing.
    #[arg(long)]
    dry_run: bool,

    /// Log each interval, not only steps.
    #[arg(long)]
    verbose: bool,
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
    let stalls = match &command.stall {
        Some(path) => {
            let interval = Duration::from_millis(command.interval.into());
            Stalls::Theirs(Theirs::new(path.clone(), target.start, Status::of(command.pid)?.user, interval))
        }
        None => {
            let sensor = Sensor::open_best(target, |source, reason| say(format_args!("sensor: not {}: {reason}", source.name())))?;
            say(format_args!("sensor: {}: {}", sensor.source().name(), sensor.describe()));
            Stalls::Own(Box::new(sensor))
        }
    };
    let mut controller = Controller::new(command.pid, stalls, command.dry_run)?;
    for line in controller.describe() {
        say(format_args!("process {}: {line}", command.pid));
    }
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stopped)).map_err(|error| format!("cannot catch signal {signal}: {error}"))?;
    }

    let end = control(command, &mut controller, &process, &stopped);
    if process.ended(Duration::ZERO) {
        say(format_args!("process {} has ended", command.pid));
        return Ok(());
    }
    // After an error, too: nobody would change them any more.
    say(format_args!("{}the JVM gets its own settings back", if end.is_ok() { "told to stop; " } else { "" }));
    match (end, controller.release()) {
        (Err(error), Err(failed)) => Err(format!("{error}; {failed}")),
        (end, released) => end.and(released),
    }
}

/// One interval after the other, until the process ends or this one is told to stop.
fn control(command: &CommandLine, controller: &mut Controller, process: &PidFd, stopped: &AtomicBool) -> Result<(), String> {
    let (mut last_reason, mut unmeasured) = ("", None);
    // Its counters stay readable when it has ended.
    while !process.ended(Duration::from_millis(command.interval.into())) && !stopped.load(Ordering::Relaxed) {
        let outcome = controller.interval()?;
        if let Some(bound) = controller.moved() {
            say(format_args!("another limit holds now: {bound}"));
        }
        // What is not measured any more is said once, and so is why.
        if let Some(why) = &outcome.unmeasured
            && outcome.unmeasured != unmeasured
        {
            say(format_args!("I/O is not measured, until it can be: {why}"));
        }
        let reason = outcome.decision.reason();
        if outcome.decision.action() == Action::Hold {
            if command.verbose || (reason != last_reason && (reason == "I/O is not known" || reason == "reads have become slow")) {
                log(&outcome, "hold");
            }
        } else {
            match controller.act(&outcome) {
                Ok(done) => log(&outcome, &done),
                Err(error) => log(&outcome, &format!("failed: {error}")),
            }
        }
        (last_reason, unmeasured) = (reason, outcome.unmeasured);
    }
    Ok(())
}

/// To stderr. Where that cannot be written (its disk is full, nobody reads it any more), the heap is controlled without words.
fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "lull-budget: {text}");
}

fn log(outcome: &Outcome, done: &str) {
    let Outcome { sample, decision, room, .. } = outcome;
    say(format_args!(
        "{}: {}; lost: collections {:.2} processors, I/O {:.2} threads; heap {} MB, live {} MB, to be {} MB, at most {} MB \
         (limit {} MB, other {} MB); wait {:.1} s; done: {done}",
        decision.state(),
        decision.reason(),
        decision.collection,
        decision.stalled,
        sample.capacity >> 20,
        sample.live >> 20,
        decision.target >> 20,
        room.available >> 20,
        room.limit >> 20,
        room.other >> 20,
        decision.wait as f64 / 1e9
    ));
}
