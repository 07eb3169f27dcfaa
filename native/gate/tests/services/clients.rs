// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Clients of HTTP/2 under the agent, those that people use: whatever the length of a body up to 2 MB, one that is told busy can tell its caller so,
//! and that caller then knows that nothing was processed. Beyond, the gate asks for no more of the body, and [`BREAKS`] lose the answer by that.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use super::server::{self, Server};
use super::{PARALLEL, Setting};

/// Busy answers that each client must have had to bodies of each length.
const BUSY: &str = "4";
/// For these each client has so many seconds at most.
const SECONDS: &str = "60";
/// Lengths of bodies.
const BODIES: [&str; 4] = ["0", "5", "30000", "1000000"];
/// One of which the gate does not wait for the end.
const LARGE: &str = "8000000";
/// Those who report a broken stream in place of the answer to it.
const BREAKS: [&str; 3] = ["jetty", "node", "httpx"];

/// The lines of a program that is called with the port; an error unless it succeeds.
fn lines(mut command: Command, port: u16) -> Result<Vec<String>, String> {
    command.args([&port.to_string(), BUSY, SECONDS]);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect())
}

/// Whether a command that asks for a version, or imports something, succeeds.
fn is_there(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Programs with clients.
pub const PROGRAMS: [&str; 6] = ["Java's", "Node's", "Go's", "Python's httpx", "libcurl", "nghttp2's"];

/// The sources of [`PROGRAMS`] for one purpose: a class, Node's, Go's and Python's file.
pub type Sources = [&'static str; 4];
const SOURCES: Sources = ["Clients", "node.mjs", "client.go", "client.py"];

/// One of [`PROGRAMS`] that can be called with its last arguments; `Err` with what is missing on this machine.
pub fn program(name: &str, setting: &Setting, [class, node, go, python]: Sources) -> Result<Command, &'static str> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let run = |program: &str, arguments: &[&str], file: &str| {
        let mut command = Command::new(program);
        command.args(arguments).arg(directory.join(file));
        command
    };
    let mut python = run("python3", &[], python);
    match name {
        "Java's" => {
            let classes = server::setting("LULL_GATE_CLIENTS").map_err(|_| "LULL_GATE_CLIENTS is not set (native/test.sh sets it)")?;
            let mut java = Command::new(setting.jdk.join("bin/java"));
            java.args(["-Xmx300m", "-XX:+UseSerialGC", "-cp", &classes, class]);
            Ok(java)
        }
        "Node's" if is_there("node", &["--version"]) => Ok(run("node", &[], node)),
        "Node's" => Err("there is no node"),
        "Go's" if is_there("go", &["doc", "net/http.Protocols"]) => Ok(run("go", &["run"], go)),
        "Go's" => Err("there is no go, or one before 1.24"),
        "Python's httpx" if is_there("python3", &["-c", "import httpx, h2"]) => {
            python.arg("httpx");
            Ok(python)
        }
        "Python's httpx" => Err("python3 has no httpx with h2"),
        "libcurl" if is_there("python3", &["-c", "import pycurl; assert 'nghttp2' in pycurl.version"]) => {
            python.arg("curl");
            Ok(python)
        }
        "libcurl" => Err("python3 has no pycurl with HTTP/2"),
        // Of this machine, or unpacked by native/test.sh.
        _ if is_there("h2load", &["--version"]) => {
            python.arg("nghttp2");
            Ok(python)
        }
        _ => Err("there is no h2load"),
    }
}

/// What is missing for one of [`PROGRAMS`].
pub fn missing(name: &str, setting: &Setting) -> Option<&'static str> {
    program(name, setting, SOURCES).err()
}

/// One of [`PROGRAMS`] and its clients, one after the other.
pub fn clients_of_http2(setting: &Setting, name: &str) -> Result<String, String> {
    let program = program(name, setting, SOURCES)?;
    let mut server = Server::start_with(&setting.jdk, PARALLEL, "h2-port", "deadline=1", &["h2-nio", "150", "300"])?;
    let requests = lines(program, server.port)?;
    let processed = server.processed()?;
    let metrics = server.metrics()?;
    server.stop()?;

    // By client and body.
    let mut ends: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    let mut broken: BTreeMap<&str, u64> = BTreeMap::new();
    for line in &requests {
        let (target, how) = line.split_once(' ').ok_or(line)?;
        let [_, client, body, _] = target.split('/').collect::<Vec<_>>()[..] else { return Err(format!("a client says '{line}'")) };
        let count = processed.get(target).copied().unwrap_or(0);
        let [ok, busy] = ends.entry((client, body)).or_default();
        match (how, count) {
            ("ok", 1) => *ok += 1,
            ("busy", 0) => *busy += 1,
            (_, 0) if body == LARGE && BREAKS.contains(&client) => *broken.entry(client).or_default() += 1,
            _ => return Err(format!("{client} says '{how}' of {body} bytes ({target}), and it was processed {count} times")),
        }
    }
    let names: Vec<_> = ends.keys().filter(|(_, body)| *body == "0").map(|(client, _)| *client).collect();
    for client in &names {
        for body in BODIES {
            if ends.get(&(*client, body)).is_none_or(|[_, busy]| *busy == 0) {
                return Err(format!("{client} was never told busy with a body of {body} bytes"));
            }
        }
    }
    let busy: u64 = ends.values().map(|[_, busy]| busy).sum();
    let lost: u64 = broken.values().sum();
    let answered = metrics.get("lull_gate_answered_total").copied().unwrap_or(-1.0);
    if answered != (busy + lost) as f64 {
        return Err(format!("the gate says that it answered {answered}, the clients got {busy}, and lost {lost}"));
    }
    // What the guide says of them.
    for client in &names {
        let (loses, told) = (broken.contains_key(client), ends.get(&(*client, LARGE)).is_some_and(|[_, busy]| *busy > 0));
        if ends.contains_key(&(*client, LARGE)) && (loses != BREAKS.contains(client) || told == loses) {
            return Err(format!("{client}, with {LARGE} bytes: {told} that it was told busy, {loses} that it lost an answer"));
        }
    }
    if let Some((name, n)) = metrics.iter().find(|(name, n)| name.contains("opaque") && **n > 0.0) {
        return Err(format!("{name} is {n}"));
    }
    Ok(format!("{busy} busy answers to {} requests of {}; lost: {broken:?}", requests.len(), names.join(", ")))
}
