// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A program with more memory than it may have locally. At the end of each run every byte is compared, and the bound was
//! watched from outside of the process.

mod common;

use common::{Run, server, skipped};
use lull_memd::{Config, Listen, Server};

const PAGES: u64 = 12 * 1024;

fn run(pattern: &str, local_percent: u64, threads: u64, operations: u64, mode: u32, servers: usize) {
    if skipped(mode, &format!("{pattern} with fault mode {mode}")) {
        return;
    }
    let servers: Vec<_> = (0..servers).map(|_| server(64)).collect();
    run_at(&servers, pattern, local_percent, threads, operations, mode);
}

fn run_at(servers: &[Server], pattern: &str, local_percent: u64, threads: u64, operations: u64, mode: u32) {
    let names: Vec<String> = servers.iter().map(|server| server.listens.to_string()).collect();
    let local_pages = PAGES * local_percent / 100;
    let run =
        Run { servers: &names.join(","), local_pages, pages: PAGES, pattern, threads, operations, mode, replicas: 0, timeout_ms: 60_000 };
    let outcome = run.start().finish();
    outcome.is_right(PAGES);
    eprintln!("{pattern}, {local_percent} %, {threads} threads, mode {mode}: {}", outcome.stdout.trim());
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
    assert!(outcome.most_local <= local_pages * 4096, "{} bytes of local memory, {} allowed", outcome.most_local, local_pages * 4096);
    assert!(outcome.most_local > 0, "nobody looked");
    if local_percent < 100 {
        assert!(outcome.count("fetched") > 0 && outcome.count("written") > 0);
        // Who goes through more memory than is local never comes back to a page while it is still there.
        assert!(outcome.count("second_chances") > 0 || matches!(pattern, "sequential" | "together"));
        assert!(outcome.count("dropped_clean") > 0, "every page was taken for dirty");
    } else {
        assert_eq!(outcome.count("fetched"), 0, "all fits, and yet pages left");
    }
}

#[test]
fn servers_of_this_machine_at_unix_sockets() {
    if skipped(0, "servers at Unix sockets") {
        return;
    }
    let path = |number: u32| std::env::temp_dir().join(format!("lull-far-paging-{}-{number}", std::process::id()));
    let start = |number: u32| {
        let config = Config { listen: Listen::Unix(path(number)), ..Config::new("127.0.0.1:0".parse().unwrap(), 64 << 20) };
        Server::start(config).unwrap()
    };
    let servers: Vec<Server> = (0..2).map(start).collect();
    run_at(&servers, "random", 25, 4, 20_000, 0);
    for server in servers {
        server.handle().stop_now();
        let _ = server.wait();
    }
}

#[test]
fn all_local() {
    run("random", 107, 2, 20_000, 0, 1);
}

#[test]
fn random_half() {
    run("random", 50, 3, 20_000, 0, 1);
}

#[test]
fn random_quarter_two_servers() {
    run("random", 25, 4, 20_000, 0, 2);
}

#[test]
fn random_an_eighth() {
    run("random", 13, 2, 20_000, 0, 3);
}

#[test]
fn sequential_quarter() {
    run("sequential", 25, 2, 30_000, 0, 2);
}

/// Each stream would like to keep a connection, and there are four to a server.
#[test]
fn more_streams_than_connections() {
    run("sequential", 25, 7, 20_000, 0, 1);
}

/// Threads that need the pages which others have asked for ahead.
#[test]
fn together_quarter() {
    run("together", 25, 3, 30_000, 0, 2);
}

#[test]
fn shared_quarter() {
    run("shared", 25, 4, 30_000, 0, 2);
}

#[test]
fn handler_threads() {
    run("random", 25, 3, 20_000, 1, 2);
    run("shared", 25, 3, 20_000, 1, 2);
    run("together", 25, 3, 20_000, 1, 2);
}

#[test]
fn read_ahead_fetches_more_than_one_page_for_each_fault() {
    if skipped(0, "read-ahead") {
        return;
    }
    let server = server(64);
    let name = server.address.to_string();
    let run = |pattern| {
        let run = Run {
            servers: &name,
            local_pages: 2048,
            pages: PAGES,
            pattern,
            threads: 1,
            operations: 50_000,
            mode: 0,
            replicas: 0,
            timeout_ms: 60_000,
        };
        let outcome = run.start().finish();
        outcome.is_right(PAGES);
        outcome.count("fetched") as f64 / outcome.count("fetch_faults") as f64
    };
    // How much more depends on how fast the evictor makes room: without room there is no read-ahead.
    let sequential = run("sequential");
    // The comparison at the end goes through all pages in order here, too: one of three faults or so.
    let random = run("random");
    assert!(
        sequential > 1.25 * random,
        "{sequential} pages for each fault of a thread that goes through memory in order, {random} of one that jumps"
    );
    assert!(random < 2.0, "{random} pages for each fault of a thread that jumps");
}
