// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Two servers in network namespaces of their own, behind links that delay, lose, repeat, reorder and damage packets, or are cut. The
//! test prints what was injected, what came of it, and how many bytes were lost, and fails if that is not what the documentation says.
//!
//!     cargo test -p lull-far --test network -- --nocapture

mod common;
#[path = "common/wire.rs"]
mod wire;

use common::{Outcome, Process, Run, Running, skip, skipped};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use wire::{Harm, Wire};

const PAGES: u64 = 4096;

/// What must come of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    /// The program ends well, and every byte is what it should be.
    Survives,
    /// The program ends with status 86 and the name of the first server, and has read no wrong word.
    EndsClearly,
}

struct Case {
    injected: &'static str,
    expected: Expected,
    replicas: u32,
    /// Of each of two threads.
    operations: u64,
    /// Before the program starts.
    before: fn(&Harm),
    /// While it runs. Gets both links, and the first server.
    during: fn(&Wire, &mut Process),
    /// Whether packets must have been harmed.
    harms: bool,
    /// What the program must have said meanwhile.
    says: &'static str,
}

fn set(value: &AtomicU32, to: u32) {
    value.store(to, Ordering::Relaxed);
}

fn cut(link: &AtomicBool, is: bool) {
    link.store(is, Ordering::Relaxed);
}

fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

const PLAIN: Case = Case {
    injected: "",
    expected: Expected::Survives,
    replicas: 0,
    operations: 1500,
    before: |_| {},
    during: |_, _| {},
    harms: false,
    says: "",
};

/// More than the program could do in the time of the test.
const ENDLESS: u64 = 1 << 40;

/// What passes is harmed, and nothing is lost for good.
fn cases_of_packets() -> Vec<Case> {
    let harms = true;
    vec![
        Case { injected: "nothing", operations: 20_000, ..PLAIN },
        Case { injected: "delay of 2 ms each way", before: |harm| set(&harm.delay, 2000), ..PLAIN },
        Case { injected: "1 % of packets lost", before: |harm| set(&harm.lost, 100), harms, ..PLAIN },
        Case {
            injected: "delay of 1 to 3 ms, 3 % of packets lost",
            operations: 400,
            before: |harm| {
                set(&harm.delay, 1000);
                set(&harm.jitter, 2000);
                set(&harm.lost, 300);
            },
            harms,
            ..PLAIN
        },
        Case {
            injected: "packets reordered (0 to 2 ms), 2 % repeated",
            before: |harm| {
                set(&harm.jitter, 2000);
                set(&harm.twice, 200);
            },
            harms,
            ..PLAIN
        },
        Case { injected: "1 % of packets with a bit flipped", before: |harm| set(&harm.damaged, 100), harms, ..PLAIN },
    ]
}

/// Links and servers go, for a while or for good.
fn cases_of_links() -> Vec<Case> {
    vec![
        Case {
            injected: "one link cut for 5 s",
            operations: 20_000,
            during: |wire, _| {
                cut(&wire.harm[0].cut, true);
                pause(5000);
                cut(&wire.harm[0].cut, false);
            },
            says: "; threads that need it wait",
            ..PLAIN
        },
        Case {
            injected: "both links down for 300 ms each second",
            operations: 10_000,
            during: |wire, _| {
                for _ in 0..6 {
                    wire.harm.iter().for_each(|harm| cut(&harm.cut, true));
                    pause(300);
                    wire.harm.iter().for_each(|harm| cut(&harm.cut, false));
                    pause(700);
                }
            },
            ..PLAIN
        },
        Case {
            injected: "one link cut for good",
            expected: Expected::EndsClearly,
            operations: ENDLESS,
            during: |wire, _| cut(&wire.harm[0].cut, true),
            ..PLAIN
        },
        Case {
            injected: "one server killed",
            expected: Expected::EndsClearly,
            operations: ENDLESS,
            during: |_, server| server.kill(),
            ..PLAIN
        },
        Case {
            injected: "one link cut for good, with a replica",
            replicas: 1,
            says: "is lost; its pages are on one server only from now on",
            operations: 10_000,
            during: |wire, _| cut(&wire.harm[0].cut, true),
            ..PLAIN
        },
        Case { injected: "one server killed, with a replica", replicas: 1, operations: 10_000, during: |_, server| server.kill(), ..PLAIN },
        Case {
            injected: "1 % of packets lost and one server killed, with a replica",
            replicas: 1,
            says: "is lost; its pages are on one server only from now on",
            before: |harm| set(&harm.lost, 100),
            during: |_, server| server.kill(),
            harms: true,
            ..PLAIN
        },
    ]
}

fn server_in(namespace: &wire::Namespace) -> Process {
    Process::start_with(&format!("{}:7070", namespace.address), |command: &mut Command| {
        namespace.enter(command);
    })
}

fn run(case: &Case) -> (Outcome, u64) {
    let wire = Wire::new(2).unwrap();
    let mut servers: Vec<Process> = wire.servers.iter().map(server_in).collect();
    wire.harm.iter().for_each(|harm| (case.before)(harm));
    let names: Vec<String> = servers.iter().map(|server| server.1.to_string()).collect();
    let timeout_ms = if case.expected == Expected::EndsClearly || case.replicas > 0 { 3000 } else { 60_000 };
    let run = Run {
        servers: &names.join(","),
        local_pages: 1024,
        pages: PAGES,
        pattern: "random",
        threads: 2,
        operations: case.operations,
        mode: 0,
        replicas: case.replicas,
        timeout_ms,
    };
    let mut command = run.command();
    wire.client.enter(&mut command);
    let running = Running::start(command);
    pause(300);
    (case.during)(&wire, &mut servers[0]);
    let outcome = running.finish();
    let harmed = wire.harm.iter().map(|harm| harm.harmed.load(Ordering::Relaxed)).sum();
    (outcome, harmed)
}

#[test]
fn failure_matrix() {
    if skipped(0, "the failure matrix") {
        return;
    }
    if let Err(why) = Wire::new(1) {
        skip("the failure matrix", &format!("{why}; it needs root and TUN devices"));
        return;
    }
    println!("| injected | packets harmed | what came of it | bytes compared | bytes lost |\n|---|---|---|---|---|");
    for case in cases_of_packets().into_iter().chain(cases_of_links()) {
        let (outcome, harmed) = run(&case);
        let injected = case.injected;
        assert!(!outcome.stderr.contains("should be"), "{injected}: a wrong word was read: {outcome:?}");
        assert!(outcome.most_local <= 1024 * 4096, "{injected}: {} bytes local", outcome.most_local);
        assert!(!case.harms || harmed > 0, "{injected}: no packet was harmed");
        // Else the program was over before anything had happened to it.
        assert!(outcome.stderr.contains(case.says), "{injected}: it never said {:?}: {outcome:?}", case.says);
        assert!(case.replicas == 0 || outcome.count("replica_fetches") > 0, "{injected}: the replica was not needed: {outcome:?}");
        let (what, compared) = match case.expected {
            Expected::Survives => {
                outcome.is_right(PAGES);
                ("survived", PAGES * 4096)
            }
            Expected::EndsClearly => {
                assert_eq!(outcome.code, Some(86), "{injected}: {outcome:?}");
                assert!(outcome.stderr.contains("memory server 10.77.0.10:7070 is lost, and nobody else has "), "{injected}: {outcome:?}");
                ("ended, status 86, the server named", 0)
            }
        };
        println!("| {injected} | {harmed} | {what} | {compared} | 0 |");
    }
}
