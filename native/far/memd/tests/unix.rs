// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Servers at Unix sockets: who may come, and whose the socket's file is.

mod common;

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::{MB, Peer, hello, page, server};
use lull_far_protocol::{ChannelKind, ErrorCode};
use lull_memd::{Config, Listen, Server, StartError};

/// A path of a test's own.
fn path(test: &str) -> PathBuf {
    std::env::temp_dir().join(format!("lull-memd-unix-{test}-{}", std::process::id()))
}

fn at(path: &Path, change: impl FnOnce(&mut Config)) -> Result<Server, StartError> {
    let mut config = Config::new("127.0.0.1:0".parse().unwrap(), MB);
    config.listen = Listen::Unix(path.to_owned());
    change(&mut config);
    Server::start(config)
}

/// A server that is a process, when it listens; whatever this user's umask.
fn process(path: &Path) -> Child {
    let command = format!("umask 000 && exec '{}' --listen 'unix:{}' --memory 1m", env!("CARGO_BIN_EXE_lull-memd"), path.display());
    let mut child = Command::new("sh").args(["-c", &command]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line.trim(), format!("listening at unix:{}", path.display()));
    child
}

fn connect(path: &Path, kind: ChannelKind) -> Peer {
    let (peer, answer) = Peer::at(path).unwrap().say_hello(hello(1, kind, 1));
    assert!(answer.message().starts_with("HelloAck"), "{}", answer.message());
    peer
}

#[test]
fn a_server_at_a_unix_socket_serves_as_any_other() {
    let path = path("serves");
    // Without a key, and without --insecure.
    let server = at(&path, |_| {}).unwrap();
    assert_eq!(server.listens.to_string(), format!("unix:{}", path.display()));
    let [mut control, mut fetch, mut write] =
        [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write].map(|kind| connect(&path, kind));
    control.map(1, 64);
    write.write(1, &[5], &page(5));
    assert!(fetch.fetch(1, 5, 1) == page(5));
    // What is refused elsewhere is refused here.
    let text = Peer::at(&path).unwrap().say_hello(hello(1, ChannelKind::Fetch, 1)).1.error(ErrorCode::StaleChannel);
    assert!(text.contains("generation 1"), "{text}");
    server.handle().stop_now();
    let _ = server.wait();
    assert!(!path.exists(), "the file stays");
}

#[test]
fn only_the_servers_user_may_come_to_a_unix_socket() {
    let path = path("mode");
    let mut child = process(&path);
    let mode = std::fs::symlink_metadata(&path).unwrap().permissions().mode();
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(mode & 0o7777, 0o600);
}

#[test]
fn what_a_killed_server_has_left_is_replaced_and_nothing_else_is() {
    let path = path("stale");
    let mut child = process(&path);
    let text = at(&path, |_| {}).map(drop).unwrap_err().to_string();
    assert!(text.contains("Address already in use") || text.contains("address in use"), "{text}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(path.exists() && Peer::at(&path).is_err());
    let first = at(&path, |_| {}).unwrap();
    connect(&path, ChannelKind::Control);
    // Somebody has put another server's file there: it stays when this one ends.
    std::fs::remove_file(&path).unwrap();
    let other = UnixListener::bind(&path).unwrap();
    first.handle().stop_now();
    let _ = first.wait();
    assert!(path.exists());
    drop(other);
    std::fs::remove_file(&path).unwrap();
    for what in ["file", "directory"] {
        if what == "file" {
            std::fs::write(&path, "precious").unwrap()
        } else {
            std::fs::create_dir(&path).unwrap()
        }
        let text = at(&path, |_| {}).map(drop).unwrap_err().to_string();
        assert!(text.contains("no socket: name another path"), "{text}");
        if what == "file" { std::fs::remove_file(&path).unwrap() } else { std::fs::remove_dir(&path).unwrap() }
    }
    let text = at(&path.join("nowhere"), |_| {}).map(drop).unwrap_err().to_string();
    assert!(text.contains("No such file"), "{text}");
}

#[test]
fn an_address_is_of_one_kind_or_the_other() {
    for text in ["127.0.0.1:7070", "[::1]:7070", "unix:/run/lull/memd.sock"] {
        assert_eq!(text.parse::<Listen>().unwrap().to_string(), text);
    }
    for text in ["unix:", "unix:memd.sock", "127.0.0.1", "/run/lull/memd.sock"] {
        assert!(text.parse::<Listen>().unwrap_err().contains("unix:PATH"), "{text}");
    }
    // The other servers' tests are at IP addresses.
    assert_eq!(server(|_| {}).listens.to_string().split(':').next(), Some("127.0.0.1"));
}
