// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A program and its servers, who share a key: their frames are encrypted, or plain where both sides say so.

mod common;

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use common::{Process, Run, Running, skipped};

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
    let want = "VERSION: the client speaks the versions 1 to 1, this server 2 to 2 with who has a key, whose frames are encrypted";
    assert!(text.contains(want), "{text}");
}
