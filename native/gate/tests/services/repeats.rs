// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Clients that send by themselves again what was told busy, as they come, at the versions that the guide names: whatever they repeat, each call
//! is processed once, or is told busy and was not processed. Without `Retry-After` those that obey it repeat nothing.

use std::collections::HashMap;
use std::process::Command;

use super::server::{self, Server};
use super::{PARALLEL, Setting};

/// By their names, and whether `Retry-After` counts for them.
pub const CLIENTS: [(&str, bool); 3] = [("OpenFeign", true), ("urllib3", true), ("Redisson", false)];

/// Calls that were told busy, at least.
const ENOUGH: u64 = 3;

fn program(client: &str, setting: &Setting) -> Result<Command, String> {
    if client == "urllib3" {
        let mut python = Command::new("python3");
        python.arg(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/repeats.py"));
        return Ok(python);
    }
    let mut java = server::java(&setting.jdk);
    java.args(["-cp", &server::setting("LULL_GATE_CLIENTS")?, "Repeats", if client == "OpenFeign" { "feign" } else { "redisson" }]);
    Ok(java)
}

/// What is missing on this machine.
pub fn missing(client: &str) -> Option<&'static str> {
    let is_there = |text: &str| Command::new("python3").args(["-c", text]).output().is_ok_and(|output| output.status.success());
    (client == "urllib3" && !is_there("import urllib3")).then_some("python3 has no urllib3")
}

/// What the calls have come to, in the order of their ends.
struct Ends {
    calls: Vec<(String, String)>,
    answered: u64,
    processed: HashMap<String, u64>,
}

/// One that begins when others have begun, and ends before one of them, counts: within a burst, the last part of a target is the order.
fn overtaken(calls: &[(String, String)]) -> usize {
    let place = |target: &str| target.rsplit_once('/').and_then(|(burst, n)| Some((burst.to_string(), n.parse::<u64>().ok()?)));
    let places: Vec<_> = calls.iter().filter_map(|(target, _)| place(target)).collect();
    places.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 > pair[1].1).count()
}

/// Runs the client until it was told busy often enough.
fn load(setting: &Setting, client: &str, options: &str) -> Result<Ends, String> {
    let (port_option, mode) = if client == "Redisson" { ("resp-port", "resp") } else { ("port", "blocking") };
    let mut server = Server::start_with(&setting.jdk, PARALLEL, port_option, options, &[mode, "150", "300"])?;
    let output = program(client, setting)?.args([&server.port.to_string(), "20"]).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("the client ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let calls =
        text.lines().map(|line| line.split_once(' ').map(|(target, how)| (target.to_string(), how.to_string())).ok_or(line.to_string()));
    let calls = calls.collect::<Result<Vec<_>, _>>().map_err(|line| format!("the client says '{line}'"))?;
    let processed = server.processed()?;
    let answered = server.metric("lull_gate_answered_total")? as u64;
    server.stop()?;
    Ok(Ends { calls, answered, processed })
}

/// Each call is processed once or told busy. How many were told busy.
fn check(ends: &Ends) -> Result<u64, String> {
    let mut busy = 0;
    for (target, how) in &ends.calls {
        match (&how[..], ends.processed.get(target).copied().unwrap_or(0)) {
            ("ok", 1) => {}
            ("busy", 0) => busy += 1,
            (how, count) => return Err(format!("{target} ended with '{how}', and was processed {count} times")),
        }
    }
    if ends.answered < ENOUGH {
        return Err(format!("{} of {} calls were told busy", ends.answered, ends.calls.len()));
    }
    Ok(busy)
}

/// One of [`CLIENTS`].
pub fn repeats(setting: &Setting, client: &str, obeys: bool) -> Result<String, String> {
    let ends = load(setting, client, "deadline=1")?;
    let busy = check(&ends)?;
    // Each answer that did not end its call was followed by another attempt.
    if ends.answered <= busy {
        return Err(format!("{client} has repeated nothing: the gate answered {}, and {busy} calls were told busy", ends.answered));
    }
    let mut said = format!("{} calls, {} busy answers, {busy} of them to the caller", ends.calls.len(), ends.answered);
    if client == "Redisson" {
        match overtaken(&ends.calls) {
            0 => return Err(format!("Redisson keeps the order of what it repeats: the guide says otherwise ({said})")),
            n => said += &format!(", {n} commands overtaken"),
        }
    }
    if obeys {
        let ends = load(setting, client, "deadline=1,retry-after=off")?;
        let busy = check(&ends)?;
        if ends.answered != busy {
            return Err(format!("without Retry-After: the gate answered {}, and {busy} calls were told busy", ends.answered));
        }
        said += &format!("; without Retry-After {busy} of {} calls, and as many answers", ends.calls.len());
    }
    Ok(said)
}
