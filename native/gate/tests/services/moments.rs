// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! As [`super::clients`], by moment: clients that people use are told busy when the gate has had the head of their request alone, half of its body
//! with it, or all of it ([`super::relay`]). Each tells its caller so, whatever the body's length, and nothing was processed.

use std::collections::BTreeMap;

use super::clients::{Sources, program};
use super::h2spec::Pauses;
use super::relay::{Moment, Relay};
use super::server::Server;
use super::{PARALLEL, Setting};

/// Of the programs, that whose client has its body from a file, and gives it at once.
pub const GIVES_NO_PARTS: &str = "nghttp2's";
const SOURCES: Sources = ["Moments", "moments.mjs", "moments.go", "moments.py"];
/// Busy answers that each client must have had to bodies of each length, and seconds for these.
const BUSY: &str = "2";
const SECONDS: &str = "60";
/// Lengths of bodies. None has one moment only.
const BODIES: [&str; 4] = ["0", "5", "30000", "1000000"];
/// Who tells its caller something else, at these moments, mostly.
const LOSES: [(&str, Moment); 2] = [("apache-classic", Moment::Head), ("apache-classic", Moment::Middle)];
const CERT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls/cert-a.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls/key-a.pem");

/// What has come of a client's requests with one body at one moment.
#[derive(Default)]
struct Cell {
    ok: u64,
    busy: u64,
    /// Of these, how many had sent nothing until they gave a part of the body.
    late: u64,
    /// Not processed, and the caller was told something else.
    lost: Vec<String>,
}

/// Client, moment, body.
type Cells = BTreeMap<(String, &'static str, String), Cell>;

/// The lines of a program at one moment, and how often the gate has answered.
fn lines(setting: &Setting, name: &str, moment: Moment, cells: &mut Cells) -> Result<(), String> {
    let temporary = |what: &str| std::env::temp_dir().join(format!("lull-moments-{}.{what}", std::process::id()));
    let (beacon, answers) = (temporary("beacon"), temporary("answers"));
    let options = format!("deadline=1,beacon={}", beacon.display());
    let mut server = Server::start_with(&setting.jdk, PARALLEL, "h2-port", &options, &["h2-wide", "30", "200"])?;
    let relay = Relay { server: server.port, moment, pauses: Pauses(beacon.clone()), answers: answers.clone(), tls: None };
    let tls = Relay { tls: Some((CERT, KEY)), ..relay.clone() }.start()?;
    let plain = relay.start()?;
    let mut command = program(name, setting, SOURCES)?;
    command.args([&plain.to_string(), &tls.to_string(), CERT, BUSY, SECONDS, moment.name()]).arg(&answers);
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let processed = server.processed()?;
    let metrics = server.metrics()?;
    server.stop()?;
    let _ = (std::fs::remove_file(&beacon), std::fs::remove_file(&answers));
    let (mut told, mut lost) = (0, 0);
    for line in text.lines() {
        let (target, rest) = line.split_once(' ').ok_or(line)?;
        let (late, how) = rest.split_once(' ').ok_or(line)?;
        let [_, client, _, body, _] = target.split('/').collect::<Vec<_>>()[..] else { return Err(format!("a client says '{line}'")) };
        let count = processed.get(target).copied().unwrap_or(0);
        let cell = cells.entry((client.to_string(), moment.name(), body.to_string())).or_default();
        match (how, count) {
            ("ok", 1) => cell.ok += 1,
            ("busy", 0) => {
                cell.busy += 1;
                cell.late += u64::from(late == "late");
                told += 1;
            }
            (_, 0) => {
                cell.lost.push(how.to_string());
                lost += 1;
            }
            _ => return Err(format!("{client}, at the {}: '{how}' of {body} bytes ({target}), processed {count} times", moment.name())),
        }
    }
    let answered = metrics.get("lull_gate_answered_total").copied().unwrap_or(-1.0);
    // A client that gave up may have done so before anybody answered.
    if !(f64::from(told)..=f64::from(told + lost)).contains(&answered) {
        return Err(format!(
            "the gate says that it answered {answered}, the clients were told {told} and lost {lost}, at the {}",
            moment.name()
        ));
    }
    match metrics.iter().find(|(name, n)| name.contains("opaque") && **n > 0.0) {
        Some((name, n)) => Err(format!("{name} is {n}, at the {}", moment.name())),
        None => Ok(()),
    }
}

/// Whether each client had its answers at that moment, or is known to lose them.
fn are_told(cells: &Cells, moment: Moment) -> Result<(), String> {
    let clients: std::collections::BTreeSet<&String> = cells.keys().map(|(client, ..)| client).collect();
    let mut wrong = Vec::new();
    for client in clients {
        let loses = LOSES.iter().any(|(name, at)| name == client && *at == moment);
        let lost =
            |((name, at, _), cell): (&(String, &str, String), &Cell)| name == client && *at == moment.name() && !cell.lost.is_empty();
        if loses {
            if !cells.iter().any(lost) {
                wrong.push(format!("{client} has lost no answer"));
            }
            continue;
        }
        for body in BODIES.into_iter().filter(|body| *body != "0" || moment == Moment::End) {
            match cells.get(&(client.clone(), moment.name(), body.to_string())) {
                Some(cell) if cell.busy > 0 && cell.lost.is_empty() => {}
                Some(Cell { ok, busy, lost, .. }) => {
                    wrong.push(format!("{client} of {body} bytes: {ok} processed, {busy} busy, lost {lost:?}"))
                }
                None => wrong.push(format!("{client} of {body} bytes: nothing")),
            }
        }
    }
    if cells.is_empty() {
        return Err("there is no client".to_string());
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("at the {}: {}", moment.name(), wrong.join("; "))) }
}

/// One of the programs and its clients, at each moment.
pub fn moments(setting: &Setting, name: &str) -> Result<String, String> {
    let mut cells = Cells::new();
    let mut wrong = Vec::new();
    for moment in Moment::ALL {
        lines(setting, name, moment, &mut cells)?;
        wrong.extend(are_told(&cells, moment).err());
    }
    if !wrong.is_empty() {
        return Err(wrong.join("; "));
    }
    let clients: std::collections::BTreeSet<String> = cells.keys().map(|(client, ..)| client.clone()).collect();
    let mut late = BTreeMap::new();
    for ((client, moment, _), cell) in &cells {
        *late.entry((client, moment)).or_insert(0) += cell.late;
    }
    let lost: usize = cells.values().map(|cell| cell.lost.len()).sum();
    let busy: u64 = cells.values().map(|cell| cell.busy).sum();
    let ok: u64 = cells.values().map(|cell| cell.ok).sum();
    let late: Vec<String> =
        late.iter().filter(|(_, n)| **n > 0).map(|((client, moment), n)| format!("{client} {n} at the {moment}")).collect();
    let late = if late.is_empty() { String::new() } else { format!("; nothing was sent before the body: {}", late.join(", ")) };
    Ok(format!(
        "{} cells, {busy} busy answers, {ok} processed, {lost} lost, of {}{late}",
        cells.len(),
        clients.into_iter().collect::<Vec<_>>().join(", ")
    ))
}
