// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! gRPC's own server under the agent, and gRPC's own client in a JVM of its own (`GrpcLoad`): each call has one end, what was answered busy was
//! not processed, and no connection is ever given up, by either side.

use std::process::Command;

use super::server::{self, Server};
use super::{PARALLEL, Setting};

/// Connections of the client; it makes a new one only if one breaks.
const CHANNELS: usize = 4;

/// Calls of each end that there must be, so that not only those count that come at the begin.
const ENOUGH: usize = 50;

/// How calls have ended.
#[derive(Default)]
struct Ends {
    ok: u64,
    busy: u64,
    cancelled: u64,
    /// Calls that were answered by the application, and took longer than a call does where there is no pause.
    waited: u64,
}

/// Runs the client once; each line is a call.
fn load(setting: &Setting, port: u16, round: u32) -> Result<Vec<String>, String> {
    let output = Command::new(setting.jdk.join("bin/java"))
        .args(["-Xmx600m", "-XX:+UseSerialGC", "-cp", &server::setting("LULL_GATE_CLASSES")?, "GrpcLoad", &port.to_string()])
        .args([&CHANNELS.to_string(), &setting.seconds.as_secs().to_string(), &round.to_string()])
        .output()
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("the client ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(text.lines().map(str::to_string).collect())
}

/// `mode` is one of GateServer's.
pub fn grpc(setting: &Setting, mode: &str) -> Result<String, String> {
    let mut server = Server::start_with(&setting.jdk, PARALLEL, "h2-port", "deadline=1", &[mode, "150", "300"])?;
    let mut calls = Vec::new();
    let mut rounds = 0;
    let enough = |calls: &[String], end: &str| calls.iter().filter(|line| line.contains(end)).count() >= ENOUGH;
    // On a machine that others use, a pause may take all of a round.
    while rounds < 10 && !(enough(&calls, " busy ") && enough(&calls, " ok ")) {
        calls.extend(load(setting, server.port, rounds)?);
        rounds += 1;
    }
    let processed = server.processed()?;
    let metrics = server.metrics()?;
    server.stop()?;

    let mut ends = Ends::default();
    for line in &calls {
        let words: Vec<_> = line.split_whitespace().collect();
        let [target, end, .., microseconds] = words[..] else { return Err(format!("the client says '{line}'")) };
        match (end, processed.get(target).copied().unwrap_or(0)) {
            ("ok", 1) => {
                ends.ok += 1;
                ends.waited += u64::from(microseconds.parse::<u64>().map_err(|_| line)? > 50_000);
            }
            ("busy", 0) => ends.busy += 1,
            // The client may have gone before or after.
            ("cancelled", 0 | 1) => ends.cancelled += 1,
            (_, count) => return Err(format!("'{line}', and it was processed {count} times")),
        }
    }
    let metric = |name: &str| metrics.get(name).copied().unwrap_or(-1.0);
    let connections = f64::from(rounds) * CHANNELS as f64;
    if metric("lull_gate_connections_total") != connections {
        return Err(format!("{} connections were made, not {connections}", metric("lull_gate_connections_total")));
    }
    if let Some((name, n)) = metrics.iter().find(|(name, n)| name.contains("opaque") && **n > 0.0) {
        return Err(format!("{name} is {n}"));
    }
    // What was answered and cancelled at the same time counts as cancelled.
    let answered = metric("lull_gate_answered_total");
    if answered < ends.busy as f64 || answered > (ends.busy + ends.cancelled) as f64 {
        return Err(format!("the gate says that it answered {answered}, the client got {} and cancelled {}", ends.busy, ends.cancelled));
    }
    if !(enough(&calls, " ok ") && enough(&calls, " busy ")) {
        return Err(format!("{} were processed and {} busy in {} pauses", ends.ok, ends.busy, metric("lull_gate_collections_total")));
    }
    let pauses = metric("lull_gate_collections_total");
    Ok(format!("{} processed ({} of them waited), {} busy, {} cancelled, {pauses} pauses", ends.ok, ends.waited, ends.busy, ends.cancelled))
}
