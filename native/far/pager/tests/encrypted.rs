// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A man in the middle of a program and its servers, who share a key. Whatever he does, no wrong word is read; the side that sees it says what it
//! has seen, and the program goes on, or ends by name within its timeout.

mod common;
#[path = "common/man.rs"]
mod man;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use common::{Outcome, Process, Run, Running, skipped};
use man::{EACH, Harm, Plan, between};

const PAGES: u64 = 4 * 1024;

/// A file with a key.
fn key() -> &'static PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        use std::io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        let path = common::built().join(format!("far-key-encrypted-{}", std::process::id()));
        let mut file = std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        writeln!(file, "one {}", "3c".repeat(32)).unwrap();
        path
    })
}

/// A server with the key.
fn server(more: &[&str]) -> Process {
    Process::start_with("127.0.0.1:0", |command| {
        command.arg("--key").arg(key()).args(more);
    })
}

fn command(servers: &str, operations: u64, replicas: u32, timeout_ms: u32) -> Command {
    let run = Run { servers, local_pages: 1024, pages: PAGES, pattern: "random", threads: 2, operations, mode: 0, replicas, timeout_ms };
    let mut command = run.command();
    command.env("LULL_FAR_KEY", key());
    command
}

fn run(servers: &str, operations: u64, replicas: u32, timeout_ms: u32, change: impl FnOnce(&mut Command)) -> Running {
    let mut command = command(servers, operations, replicas, timeout_ms);
    change(&mut command);
    Running::start(command)
}

/// What a program says that does not begin.
fn refused(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

const NOT_PROVEN: &str = "NOT_PROVEN: a frame is not the one that it sent next";
const CUT: &str = "the connection ended within a frame";

/// Some connections are harmed, each after it was used for a while: the program opens others, and has every byte as it should be. Not so
/// where a frame is left out, held back, or said to be longer than it is: that is an answer that does not come in time.
#[test]
fn what_is_done_on_the_way_costs_a_connection_and_nothing_else() {
    if skipped(0, "a man in the middle") {
        return;
    }
    let server = server(&[]);
    for (harm, to_client, says) in [
        (Harm::Flip, true, NOT_PROVEN),
        (Harm::Repeat, true, NOT_PROVEN),
        (Harm::Cut, true, CUT),
        // What comes to the client in place of the server's answer is its own request.
        (Harm::SendBack, false, NOT_PROVEN),
        // The server notices, and says so in a frame that is right.
        (Harm::Flip, false, ""),
        (Harm::Repeat, false, ""),
    ] {
        let man = between(server.1, Plan { harm, to_client, at: 20, frames: 4 });
        // With sealed pages it is the same.
        let seal = to_client && harm == Harm::Flip;
        let outcome = run(&man.address.to_string(), 3000, 0, 20_000, |command| {
            if seal {
                command.env("LULL_FAR_SEAL", "1");
            }
        })
        .finish();
        outcome.is_right(PAGES);
        assert!(outcome.stderr.contains(says), "{harm:?} to_client {to_client}: {}", outcome.stderr);
        assert!(man.harmed.load(Ordering::Relaxed) > 0, "{harm:?}: nothing was done");
    }
}

/// Who harms every frame is as one who cuts the wire: the program ends within its timeout, and names the server; with a replica it goes on.
#[test]
fn who_harms_every_frame_ends_the_program_or_the_use_of_that_server() {
    if skipped(0, "a man in the middle who does not stop") {
        return;
    }
    for (harm, to_client, says) in
        [(Harm::Flip, true, NOT_PROVEN), (Harm::Cut, true, CUT), (Harm::SendBack, false, NOT_PROVEN), (Harm::Drop, true, " is lost")]
    {
        // What a program that has ended so had stays at its server for a while.
        let server = server(&[]);
        // When the program has its memory, and uses it.
        let man = between(server.1, Plan { harm, to_client, at: 3000, frames: EACH });
        let Outcome { code, stderr, .. } = run(&man.address.to_string(), 1 << 40, 0, 2000, |_| {}).finish();
        assert_eq!(code, Some(86), "{harm:?}: {stderr}");
        assert!(stderr.contains(says) && stderr.contains(&format!("memory server {} ", man.address)), "{harm:?}: {stderr}");
        assert!(!stderr.contains("should be"), "{harm:?}: a wrong word was read: {stderr}");
        assert!(man.harmed.load(Ordering::Relaxed) > 0, "{harm:?}");
    }
    let servers = [server(&[]), server(&[])];
    let man = between(servers[0].1, Plan { harm: Harm::Flip, to_client: true, at: 3000, frames: EACH });
    let names = format!("{},{}", man.address, servers[1].1);
    let mut running = run(&names, 1 << 40, 1, 2000, |_| {});
    running.wait_until_it_says(NOT_PROVEN);
    running.wait_until_it_says(&format!("memory server {} is lost; its pages are on one server only", man.address));
    running.stop();
    let outcome = running.finish();
    outcome.is_right(PAGES);
    // From the first frame on: the program does not even begin.
    let man = between(servers[0].1, Plan { harm: Harm::Flip, to_client: true, at: 0, frames: EACH });
    let text = refused(command(&man.address.to_string(), 1, 0, 1000));
    assert!(text.contains(NOT_PROVEN), "{text}");
}

/// Plain frames are there for who wants them, on both sides; else they are refused with the versions of both.
#[test]
fn frames_are_plain_only_if_both_sides_say_so() {
    if skipped(0, "plain frames") {
        return;
    }
    let (permits, refuses) = (server(&["--plain-frames"]), server(&[]));
    let plain = |command: &mut Command| {
        command.env("LULL_FAR_PLAIN_FRAMES", "1");
    };
    run(&permits.1.to_string(), 4000, 0, 5000, plain).finish().is_right(PAGES);
    run(&permits.1.to_string(), 4000, 0, 5000, |_| {}).finish().is_right(PAGES);
    let mut other = command(&refuses.1.to_string(), 1, 0, 5000);
    plain(&mut other);
    let text = refused(other);
    let want = "VERSION: the client speaks the versions 1 to 1, this server 3 with who has a key, whose frames are encrypted";
    assert!(text.contains(want), "{text}");
}
