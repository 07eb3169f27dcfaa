// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the flight recorder is told: nothing before it is wanted, then each pause with what was done in it, in agreement with the gate's own
//! counts, with what the clients got, and with the JDK's own events of the same collections.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use super::client::{Answer, Load, Request};
use super::server::{self, Server};
use super::{PARALLEL, Setting};

/// Of one load; it is repeated until it has met a pause.
const SECOND: Duration = Duration::from_secs(1);
const CONNECTIONS: u64 = 8;

/// Two clocks and whole milliseconds.
const CLOCKS_MS: i64 = 20;

/// Name, type, content and label of each field.
const FIELDS: [[&str; 4]; 9] = [
    ["begin", "long", "jdk.jfr.Timestamp", "Pause Begin"],
    ["pause", "long", "jdk.jfr.Timespan", "Pause"],
    ["kind", "java.lang.String", "null", "Kind"],
    ["expected", "long", "jdk.jfr.Timespan", "Expected"],
    ["upperBound", "long", "jdk.jfr.Timespan", "Upper Bound"],
    ["connections", "long", "null", "Connections Watched"],
    ["answered", "long", "null", "Answered Busy"],
    ["wouldAnswer", "long", "null", "Would Have Answered"],
    ["kept", "long", "null", "Kept Waiting"],
];

/// One event of the gate's.
struct Pause {
    begin_ms: i64,
    ns: u64,
    expected_ns: u64,
    upper_ns: u64,
    connections: u64,
    answered: u64,
    would_answer: u64,
    kept: u64,
    kind: String,
}

/// What a recording has.
struct Recorded {
    pauses: Vec<Pause>,
    /// Begin and length of collections, by the JDK's own events.
    collections: Vec<(i64, u64)>,
}

/// The file that a recording goes to; gone with the test.
struct File(PathBuf);

impl File {
    fn new() -> File {
        File(std::env::temp_dir().join(format!("lull-gate-services-{}.jfr", std::process::id())))
    }

    /// Reads it in a JVM of its own; fails if the event or a field of it is not described as it should be.
    fn read(&self, setting: &Setting) -> Result<Recorded, String> {
        let output = Command::new(setting.jdk.join("bin/java"))
            .args(["-XX:+UseSerialGC", "-cp", &server::setting("LULL_GATE_CLASSES")?, "Flight", &self.0.to_string_lossy()])
            .output()
            .map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            return Err(format!("no recording: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let mut recorded = Recorded { pauses: Vec::new(), collections: Vec::new() };
        let (mut described, mut fields) = (false, 0);
        for line in text.lines() {
            let words: Vec<_> = line.split('\t').collect();
            let number = |i: usize| words[i].parse::<u64>().map_err(|_| format!("'{line}'"));
            match words[..] {
                ["type", label, category] => described = (label, category) == ("Gate Pause", "Lull/Gate"),
                ["field", ref field @ ..] => fields += FIELDS.iter().filter(|expected| field == &expected[..]).count(),
                ["collection", _, _] => recorded.collections.push((number(1)? as i64, number(2)?)),
                ["pause", .., kind] if words.len() == 10 => recorded.pauses.push(Pause {
                    begin_ms: number(1)? as i64,
                    ns: number(2)?,
                    expected_ns: number(3)?,
                    upper_ns: number(4)?,
                    connections: number(5)?,
                    answered: number(6)?,
                    would_answer: number(7)?,
                    kept: number(8)?,
                    kind: kind.to_string(),
                }),
                _ => return Err(format!("'{line}'")),
            }
        }
        if !described || fields != FIELDS.len() {
            let lines: Vec<_> = text.lines().filter(|line| line.starts_with("type") || line.starts_with("field")).collect();
            return Err(format!("described as {}", lines.join(" / ")));
        }
        Ok(recorded)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Loads the service until a request has met a pause, by one of the gate's counts. `round` makes targets differ.
fn load(server: &mut Server, round: u32, count: &str) -> Result<Vec<Request>, String> {
    let before = server.metric(count)?;
    let mut requests = Vec::new();
    for i in 0..20 {
        let load = Load { round: round + i, ..Load::simple(server.port, CONNECTIONS as usize, SECOND) };
        requests.extend(load.run()?);
        if server.metric(count)? > before {
            return Ok(requests);
        }
    }
    Err(format!("{count} does not grow"))
}

/// The gate's count of events.
const TOLD: &str = "lull_gate_flight_events_total";

/// Waits until a count is so high.
fn wait_for(server: &mut Server, count: &str, least: f64) -> Result<(), String> {
    let give_up = Instant::now() + Duration::from_secs(120);
    while server.metric(count)? < least {
        if Instant::now() > give_up {
            return Err(format!("{count} stays below {least}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Waits until no pause that had connections is under way, or without its event: two more have gone by. Before the first event its type is
/// made, which may take longer than that: with a recording, `events` is 1.
fn settle(server: &mut Server, events: f64) -> Result<(), String> {
    wait_for(server, TOLD, events)?;
    let begin = server.metric("lull_gate_collections_total")?;
    wait_for(server, "lull_gate_collections_total", begin + 2.0)
}

/// Each event by itself, and by the JDK's own of the same collection; and all of them by how long the gate knows to have been stopped.
fn check(recorded: &Recorded, paused_seconds: f64) -> Result<(), String> {
    let sum = recorded.pauses.iter().filter(|pause| pause.kind != "no collection").map(|pause| pause.ns).sum::<u64>();
    // Two collections that the gate took for one have time between them.
    if sum as f64 > 2e9 * paused_seconds {
        return Err(format!("pauses of {sum} ns, of {paused_seconds} s in all"));
    }
    for pause in &recorded.pauses {
        let Pause { begin_ms, ns, expected_ns, upper_ns, connections, ref kind, .. } = *pause;
        let told = format!("{kind}, {ns} ns at {begin_ms}, expected {expected_ns}, at most {upper_ns}, {connections} connections");
        if ns == 0 || expected_ns == 0 || upper_ns < expected_ns || !(1..=CONNECTIONS).contains(&connections) {
            return Err(told);
        }
        if kind == "no collection" {
            continue;
        }
        if !kind.contains("arallel") {
            return Err(told);
        }
        // The gate's pause is around the collection that it is of; a full one may have a young one before it.
        let end_ms = begin_ms + (ns / 1_000_000) as i64;
        let inside = |begin: i64| begin >= begin_ms - CLOCKS_MS && begin <= end_ms + CLOCKS_MS;
        let longest = recorded.collections.iter().filter(|(begin, _)| inside(*begin)).map(|(_, ns)| *ns).max();
        match longest {
            None => return Err(format!("{told}; the JDK has no collection there")),
            Some(longest) if longest > ns + 1_000_000 * CLOCKS_MS as u64 => {
                return Err(format!("{told}; by the JDK {longest} ns"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// What a count of the gate's has grown by must be what the events sum up to.
fn same(name: &str, before: f64, after: f64, sum: u64) -> Result<(), String> {
    if after - before == sum as f64 { Ok(()) } else { Err(format!("{name} went from {before} to {after}, the events say {sum}")) }
}

/// A recording is begun while the service runs, and ended: nothing before, all of it between, nothing after.
pub fn asked_for(setting: &Setting) -> Result<String, String> {
    let file = File::new();
    let flags = format!("{PARALLEL} -Dflight={}", file.0.display());
    let mut server = Server::start(&setting.jdk, &flags, "deadline=1", &["nio", "150", "300"])?;
    let answered = "lull_gate_answered_total";
    load(&mut server, 0, answered)?;
    settle(&mut server, 0.0)?;
    let state = server.flight("jfr?")?;
    if state != "false false\n" || server.metric(TOLD)? != 0.0 {
        return Err(format!("without a recording the recorder is initialised, and has a type made by a program: {state}"));
    }

    server.flight("jfr+")?;
    let before = server.metrics()?;
    let requests = load(&mut server, 100, answered)?;
    settle(&mut server, 1.0)?;
    let after = server.metrics()?;
    let state = server.flight("jfr-")?;
    if state != "true true\n" {
        return Err(format!("in spite of a recording the recorder is initialised, and has a type made by a program: {state}"));
    }

    load(&mut server, 200, answered)?;
    settle(&mut server, 0.0)?;
    let end = server.metrics()?;
    server.stop()?;

    let recorded = file.read(setting)?;
    let paused = "lull_gate_paused_seconds_total";
    check(&recorded, after[paused] - before[paused])?;
    let sum = |value: fn(&Pause) -> u64| recorded.pauses.iter().map(value).sum::<u64>();
    for (name, sum) in [
        (answered, sum(|pause| pause.answered)),
        ("lull_gate_kept_total", sum(|pause| pause.kept)),
        ("lull_gate_would_answer_total", sum(|pause| pause.would_answer)),
        (TOLD, recorded.pauses.len() as u64),
        ("lull_gate_flight_events_lost_total", 0),
    ] {
        same(name, before[name], after[name], sum)?;
    }
    let busy = requests.iter().filter(|request| request.answer == Answer::Busy).count();
    same("the clients' count", 0.0, busy as f64, sum(|pause| pause.answered))?;
    if end[TOLD] != after[TOLD] {
        return Err(format!("{} events after the end of the recording", end[TOLD] - after[TOLD]));
    }
    let with = recorded.pauses.iter().filter(|pause| pause.answered > 0).count();
    if with == 0 {
        return Err("no event has an answer".to_string());
    }
    Ok(format!("{} events, {with} of them with {busy} answers", recorded.pauses.len()))
}

/// A recording from the VM's begin to its end.
pub fn from_the_begin(setting: &Setting) -> Result<String, String> {
    let file = File::new();
    // Its message would be the service's first line.
    let flags = format!("{PARALLEL} -Xlog:jfr+startup=off -XX:StartFlightRecording=filename={}", file.0.display());
    let mut server = Server::start(&setting.jdk, &flags, "deadline=1,dry-run", &["blocking", "150", "300"])?;
    let would_answer = "lull_gate_would_answer_total";
    load(&mut server, 0, would_answer)?;
    settle(&mut server, 1.0)?;
    let metrics = server.metrics()?;
    server.stop()?;
    let recorded = file.read(setting)?;
    check(&recorded, metrics["lull_gate_paused_seconds_total"])?;
    let sum = recorded.pauses.iter().map(|pause| pause.would_answer).sum::<u64>();
    same(would_answer, 0.0, metrics[would_answer], sum)?;
    same(TOLD, 0.0, metrics[TOLD], recorded.pauses.len() as u64)?;
    Ok(format!("{} events, {sum} would have been answered", recorded.pauses.len()))
}

/// A VM without the module: all goes on as it would.
pub fn none_there(setting: &Setting) -> Result<String, String> {
    let flags = format!("{PARALLEL} --limit-modules java.base,java.logging,java.management,jdk.management,jdk.httpserver");
    let mut server = Server::start(&setting.jdk, &flags, "deadline=1", &["nio", "150", "300"])?;
    let requests = load(&mut server, 0, "lull_gate_answered_total")?;
    settle(&mut server, 0.0)?;
    let metrics = server.metrics()?;
    server.stop()?;
    let events = (metrics[TOLD], metrics["lull_gate_flight_events_lost_total"]);
    if events != (0.0, 0.0) {
        return Err(format!("{events:?} events"));
    }
    let busy = requests.iter().filter(|request| request.answer == Answer::Busy).count();
    same("the clients' count", 0.0, metrics["lull_gate_answered_total"], busy as u64)?;
    Ok(format!("{} requests, {busy} busy", requests.len()))
}
