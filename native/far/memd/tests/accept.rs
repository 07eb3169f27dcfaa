// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a connection costs the thread that accepts, in instructions, which are counted by single steps: as many however many clients linger.
//!
//! Each client that lingers has memory, 1 MB at least. `LULL_FAR_LINGER` says how many there are to be, else it is as many as cost little.

mod common;
#[path = "common/skip.rs"]
mod skip;

use std::io::{BufRead, BufReader, Error};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Peer, hello};
use lull_far_protocol::{ChannelKind, Hello};
use skip::skip;

/// Connections that are counted.
const COUNTED: u64 = 10;

struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(memory: u64) -> Process {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lull-memd"))
            .args(["--listen", "127.0.0.1:0", "--memory", &format!("{memory}m"), "--linger", "3600"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening at ").unwrap().parse().unwrap();
        Process { child, address }
    }

    /// The thread that accepts.
    fn accepts(&self) -> libc::pid_t {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let is_it = |path: &std::path::Path| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "accept");
        let path = tasks.map(|entry| entry.unwrap().path()).find(|path| is_it(path)).expect("a thread that is called accept");
        path.file_name().unwrap().to_str().unwrap().parse().unwrap()
    }

    /// A client of its own number, which has asked for `pages`.
    fn client(&self, number: u64, pages: u64) {
        let mut client = [0; 16];
        client[..8].copy_from_slice(&number.to_le_bytes());
        let (mut peer, answer) = Peer::try_hello(self.address, Hello { client, ..hello(0, ChannelKind::Control, 1) });
        assert!(answer.message().starts_with("HelloAck("), "{}", answer.message());
        if pages > 0 {
            peer.map(1, pages);
        }
        // Else the port would be taken for a while.
        rustix::net::sockopt::set_socket_linger(&peer.stream, Some(std::time::Duration::ZERO)).unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request to the kernel about a thread of another process.
fn ptrace(request: libc::c_uint, thread: libc::pid_t) -> Result<(), Error> {
    let null = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: nothing is read or written here.
    if unsafe { libc::ptrace(request, thread, null, null) } == -1 { Err(Error::last_os_error()) } else { Ok(()) }
}

fn wait_for(thread: libc::pid_t) {
    // SAFETY: no status is asked for.
    let waited = unsafe { libc::waitpid(thread, std::ptr::null_mut(), libc::__WALL) };
    assert_eq!(waited, thread, "{}", Error::last_os_error());
}

/// How many instructions the thread executes until `done`.
fn instructions(thread: libc::pid_t, done: &AtomicBool) -> Result<u64, Error> {
    ptrace(libc::PTRACE_SEIZE, thread)?;
    ptrace(libc::PTRACE_INTERRUPT, thread)?;
    wait_for(thread);
    let mut count = 0;
    while !done.load(Ordering::Relaxed) {
        ptrace(libc::PTRACE_SINGLESTEP, thread)?;
        wait_for(thread);
        count += 1;
    }
    ptrace(libc::PTRACE_DETACH, thread)?;
    Ok(count)
}

/// The same for one newcomer, of some.
fn of_a_newcomer(server: &Process, first: u64) -> Result<u64, Error> {
    let (thread, done) = (server.accepts(), AtomicBool::new(false));
    let count = std::thread::scope(|scope| {
        scope.spawn(|| {
            (first..first + COUNTED).for_each(|number| server.client(number, 0));
            done.store(true, Ordering::Relaxed);
        });
        instructions(thread, &done)
    })?;
    Ok(count / COUNTED)
}

#[test]
fn a_connection_costs_as_many_instructions_however_many_clients_linger() {
    let linger: u64 = std::env::var("LULL_FAR_LINGER").map_or(200, |text| text.parse().expect("LULL_FAR_LINGER is a number"));
    let server = Process::start(linger + 2);
    let mut counts = Vec::new();
    for (round, lingering) in [0, linger].into_iter().enumerate() {
        (0..lingering).for_each(|number| server.client(number, 1));
        let newcomers = (round as u64 + 1) << 32;
        // Stacks of threads that are used again, code that is loaded.
        (0..COUNTED).for_each(|number| server.client(newcomers + (1 << 16) + number, 0));
        match of_a_newcomer(&server, newcomers) {
            Ok(count) => counts.push(count),
            Err(error) => return skip("instructions of the thread that accepts", &format!("no thread can be traced: {error}")),
        }
    }
    println!("instructions for a connection: {} with nobody who lingers, {} with {linger}", counts[0], counts[1]);
    assert!(counts[0] > 500 && counts[1] <= counts[0] + counts[0] / 4, "{counts:?}");
}
