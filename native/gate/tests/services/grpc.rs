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

/// The guide, whose configuration is run.
const GUIDE: &str = include_str!("../../../../docs/guides/balancers.md");

/// gRPC's own balancer and retries, as the guide configures them, over two replicas that are stopped now and then: a call that one tells busy goes
/// to the other. Only a call that comes when both are stopped fails, and nothing is processed twice.
pub fn round_robin(setting: &Setting) -> Result<String, String> {
    let (_, rest) = GUIDE.split_once("```json\n").ok_or("the guide has no service configuration")?;
    let configuration = rest.split("```").next().unwrap_or_default();
    let file = std::env::temp_dir().join(format!("lull-gate-service-config-{}.json", std::process::id()));
    std::fs::write(&file, configuration).map_err(|error| error.to_string())?;
    let start = || Server::start_with(&setting.jdk, PARALLEL, "h2-port", "deadline=1", &["grpc-nio", "150", "700"]);
    let mut replicas = [start()?, start()?];
    let output = server::java(&setting.jdk)
        .args(["-Xmx300m", "-XX:+UseSerialGC", "-cp", &server::setting("LULL_GATE_CLASSES")?, "GrpcBalanced"])
        .args([&file.display().to_string(), "20"])
        .args(replicas.each_ref().map(|replica| replica.port.to_string()))
        .output()
        .map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(file);
    if !output.status.success() {
        return Err(format!("the client ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let (mut processed, mut answered) = (Vec::new(), 0.0);
    for replica in &mut replicas {
        processed.push(replica.processed()?);
        answered += replica.metric("lull_gate_answered_total")?;
        replica.stop()?;
    }
    let (mut ok, mut busy) = (0u32, 0u32);
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (target, how) = line.split_once(' ').ok_or(line)?;
        match (how, processed.iter().map(|of| of.get(target).copied().unwrap_or(0)).sum::<u64>()) {
            ("ok", 1) => ok += 1,
            ("busy", 0) => busy += 1,
            (how, count) => return Err(format!("{target} ended with '{how}', and was processed {count} times")),
        }
    }
    let said = format!("{ok} calls processed, {answered} busy answers, {busy} calls that failed by them");
    // The others were sent again, and answered.
    let others = processed.iter().filter(|of| !of.is_empty()).count();
    if answered <= f64::from(busy) || ok == 0 || others < 2 { Err(said) } else { Ok(said) }
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
