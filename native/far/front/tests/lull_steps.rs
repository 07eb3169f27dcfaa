// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A server that is lost, hangs, is restarted or cut off at each step of a cycle that servers mark: the program goes on, or ends and names it.

mod common;

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};

use common::Directory;
use common::jvm::{Jvm, debug_java, marked_in_control, tracing_server, tracing_server_at};
use common::line::Line;
use lull_memd::Server;

/// Where a cycle stops, and whether servers have marked all by then.
const STEPS: [(&str, bool); 6] = [
    ("AFTER MARKING STARTED", false),
    ("AFTER PART CLEANED", false),
    ("BEFORE LAYOUTS GIVEN", false),
    ("BEFORE MARKS MERGED", true),
    ("AFTER MARKS MERGED", true),
    ("BEFORE MARKING COMPLETED", true),
];

/// A JVM that has stopped at a step.
struct Stopped {
    child: Child,
    stdout: BufReader<std::process::ChildStdout>,
    said: String,
}

impl Stopped {
    fn start(jvm: &Jvm<'_>, names: &str, step: &str) -> Stopped {
        let mut command = jvm.command(names, &["Steps", step]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        while !said.ends_with(&format!("at {step}\n")) {
            assert!(stdout.read_line(&mut said).unwrap() > 0, "{step}: {said}");
        }
        Stopped { child, stdout, said }
    }

    /// Lets it go on to its end: whether it has succeeded, and all that it has said.
    fn go_on(mut self) -> (bool, String) {
        // It has perhaps ended: then nobody reads.
        let _ = self.child.stdin.take().unwrap().write_all(b"\n");
        self.stdout.read_to_string(&mut self.said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        (output.status.success(), self.said + &common::text(&output.stderr))
    }
}

/// Three servers, and the lines to them: of the program, and of each other.
struct Site {
    servers: RefCell<Vec<Server>>,
    lines: Vec<Line>,
}

impl Site {
    fn new() -> Site {
        let servers: Vec<_> = (0..3).map(|_| tracing_server()).collect();
        let lines = servers.iter().map(|server| Line::to(server.address)).collect();
        Site { servers: RefCell::new(servers), lines }
    }

    fn names(&self) -> String {
        self.lines.iter().map(|line| line.address.to_string()).collect::<Vec<_>>().join(",")
    }

    fn lose(&self, server: usize) {
        self.servers.borrow()[server].handle().stop_now();
    }

    /// It comes back empty at its address.
    fn restart(&self, server: usize) {
        let lost = self.servers.borrow_mut().remove(server);
        let address = lost.address;
        lost.handle().stop_now();
        assert!(lost.wait() > 0, "it had pages");
        self.servers.borrow_mut().insert(server, tracing_server_at(address));
    }
}

/// Does something to a server at each step.
fn at_each_step(name: &str, options: &[&str], act: impl Fn(&Site), check: impl Fn(&str, bool, (bool, String))) {
    let test = "a server that is lost while it marks";
    let Some(java) = debug_java(test) else { return };
    let directory = Directory::new(name);
    Jvm::compile_with(&java, &directory, &["Steps", "jdk/test/whitebox/WhiteBox"]);
    let boot = format!("-Xbootclasspath/a:{}", directory.name());
    // Cycles that a test drives would unload otherwise, and servers mark none that does.
    let flags =
        ["-XX:+LullVerifyHeap", "-XX:+WhiteBoxAPI", "-XX:-ClassUnloadingWithConcurrentMark", &boot, "-Xlog:gc+marking=debug:stdout"];
    let jvm = Jvm { java: &java, directory: &directory, local: "10m", options, heap: "-Xmx64m", flags: &flags };
    for (step, is_marked) in STEPS {
        let site = Site::new();
        let stopped = Stopped::start(&jvm, &site.names(), step);
        act(&site);
        check(step, is_marked, stopped.go_on());
    }
}

/// The other servers have all pages. Servers that do not mark are no harm.
#[test]
fn with_a_copy_the_program_goes_on() {
    let options = ["--trace", "--replicas", "1"];
    at_each_step(
        "steps",
        &options,
        |site| site.lose(1),
        |step, is_marked, (succeeded, said)| {
            assert!(succeeded && said.contains("compared=8000 wrong=0"), "{step}: {said}");
            if !is_marked {
                assert!(said.contains("Memory servers do not mark: "), "{step}: {said}");
            }
            assert!(said.contains("has ended after"), "{step}: no cycle has ended: {said}");
        },
    );
}

/// Nobody else has its pages. What the program then says names the server.
#[test]
fn without_one_it_ends_and_names_the_server() {
    let lost = RefCell::new(String::new());
    let lose = |site: &Site| {
        *lost.borrow_mut() = site.lines[1].address.to_string();
        site.lose(1);
    };
    at_each_step("steps-alone", &["--server-timeout", "20000", "--trace"], lose, |step, _, (succeeded, said)| {
        assert!(!succeeded && said.contains(&*lost.borrow()), "{step}: {said}");
        assert!(!said.contains("wrong=1") && !said.contains("Internal Error"), "{step}: {said}");
    });
}

/// Nobody is lost: what the other tests look for is there without that.
#[test]
fn with_all_servers_they_mark_at_each_step() {
    at_each_step(
        "steps-all",
        &["--trace", "--replicas", "1"],
        |_| {},
        |step, _, (succeeded, said)| {
            assert!(succeeded && said.contains("compared=8000 wrong=0"), "{step}: {said}");
            assert_eq!(marked_in_control(&said), 2, "{step}: {said}");
        },
    );
}

/// It answers nothing any more, neither the program nor the other servers, and no connection ends.
#[test]
fn with_a_copy_a_server_that_hangs_is_left() {
    let options = ["--server-timeout", "10000", "--trace", "--replicas", "1"];
    at_each_step(
        "steps-hang",
        &options,
        |site| site.lines[1].hang(),
        |step, _, (succeeded, said)| {
            assert!(succeeded && said.contains("compared=8000 wrong=0"), "{step}: {said}");
            assert!(said.contains("lost_servers 1"), "{step}: {said}");
            assert!(said.contains("has ended after"), "{step}: no cycle has ended: {said}");
        },
    );
}

/// It has no page and no cycle any more, but answers at its address: it is taken in, and gets its copies.
#[test]
fn with_a_copy_a_server_that_is_restarted_is_taken_in() {
    let options = ["--trace", "--replicas", "1"];
    at_each_step(
        "steps-restart",
        &options,
        |site| site.restart(1),
        |step, _, (succeeded, said)| {
            assert!(succeeded && said.contains("compared=8000 wrong=0"), "{step}: {said}");
            assert!(said.contains("was restarted: what it held is gone") && said.contains("has all copies again"), "{step}: {said}");
            assert!(said.contains("has ended after"), "{step}: no cycle has ended: {said}");
        },
    );
}

/// All connections to a server end at once, those of the other servers, too; it still has its pages. So nobody is lost, with no copy anywhere.
#[test]
fn connections_that_end_for_a_moment_lose_nothing() {
    let options = ["--trace"];
    at_each_step(
        "steps-cut",
        &options,
        |site| site.lines[1].cut(),
        |step, _, (succeeded, said)| {
            assert!(succeeded && said.contains("compared=8000 wrong=0"), "{step}: {said}");
            assert!(said.contains("; trying again") && said.contains("lost_servers 0"), "{step}: {said}");
            // At the first step servers have not been asked for anything, at the last one they have said all.
            let is_asked = !["AFTER MARKING STARTED", "BEFORE MARKING COMPLETED"].contains(&step);
            assert_eq!(said.contains("Memory servers do not mark: "), is_asked, "{step}: {said}");
            assert!(said.contains("has ended after"), "{step}: no cycle has ended: {said}");
        },
    );
}
