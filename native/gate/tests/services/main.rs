// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Java services under the agent, on each JDK that is there: every request is answered exactly once, every answer is its own, what was
//! answered busy was never processed, and the gate's own counts agree with the clients'.
//!
//! Without `LULL_GATE_JDKS` (as under a plain `cargo test`) all of it is skipped; with `none` it does not even say so. native/test.sh sets:
//!
//! * `LULL_GATE_JDKS`     `name=home` of each JDK, separated by spaces; no home: a skipped test with the name as its reason
//! * `LULL_GATE_LIBRARY`  liblull_gate.so
//! * `LULL_GATE_CLASSES`  a class path with GateServer and the frameworks
//! * `LULL_GATE_CLIENTS`  a class path with clients of HTTP/2
//! * `LULL_H2SPEC`  the program h2spec
//! * `LULL_BALANCERS`  a directory into which balancers were unpacked
//! * `LULL_GATE_CASSANDRA`, `LULL_GATE_CASSANDRA_FLAGS`  class path of bench/cassandra and what flags its VM needs
//! * `LULL_GATE_SECONDS`  of load for each service (default 5)
//! * `LULL_GATE_THINK`    the most microseconds that a client of the torture waits before it sends more (default 4000)
//! * `LULL_GATE_LIVE`, `LULL_GATE_BETWEEN`  megabytes that live, and milliseconds between two collections (default 150 and 300)
//!
//! The last line is `N passed, N failed, N skipped`; the one before it says how many requests of HTTP/1.1 there were in all.

mod balancers;
mod cassandra;
mod client;
mod clients;
mod flight;
mod flood;
mod framing;
mod framing2;
mod grpc;
mod h2spec;
mod moments;
mod relay;
mod repeats;
mod resp;
mod server;
mod tls;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use client::{Answer, Load, Request, THINK};
use server::Server;

/// The collector with the longest pauses.
const PARALLEL: &str = "-XX:+UseParallelGC";

/// Connections of [`crowd`].
const CROWD: usize = 10_000;

/// Of all services that [`judge`] found nothing wrong with: requests processed, requests that were told busy, connections, pauses.
static TOTALS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// What a test gets.
struct Setting {
    jdk: PathBuf,
    seconds: Duration,
    /// Megabytes: the more, the longer a pause.
    live: String,
    /// Milliseconds between two collections.
    between: String,
    /// Microseconds between what a client does, at most.
    think: u64,
}

/// Loads the service, once mostly; again, with other targets, until `done`: on a machine that others use, a pause may take all of a round.
fn rounds(mut load: Load, mut done: impl FnMut(&[Request]) -> Result<bool, String>) -> Result<Vec<Request>, String> {
    let mut requests = Vec::new();
    while load.round < 10 {
        requests.extend(load.run()?);
        if done(&requests)? {
            break;
        }
        load.round += 1;
    }
    Ok(requests)
}

/// Whether one of them was answered so.
fn has(requests: &[Request], answer: Answer) -> bool {
    requests.iter().any(|request| request.answer == answer)
}

/// A service whose clients send whatever HTTP/1.1 allows; the gate answers in pauses.
fn torture(setting: &Setting, mode: &str, collector: &str) -> Result<String, String> {
    let server = Server::start(&setting.jdk, collector, "deadline=1", &[mode, &setting.live, &setting.between])?;
    let load = Load {
        pipelined: 4,
        think: setting.think,
        reconnect: true,
        abandon: mode == "available",
        ..Load::simple(server.port, 16, setting.seconds)
    };
    let requests = rounds(load, |requests| Ok(has(requests, Answer::Ok) && has(requests, Answer::Busy)))?;
    judge(server, &requests)
}

/// The same in Redis' protocol.
fn redis(setting: &Setting) -> Result<String, String> {
    let server = Server::start_with(&setting.jdk, PARALLEL, "resp-port", "deadline=1", &["resp", &setting.live, &setting.between])?;
    let load =
        Load { wire: &resp::Resp, pipelined: 4, think: setting.think, reconnect: true, ..Load::simple(server.port, 16, setting.seconds) };
    let requests = rounds(load, |requests| Ok(has(requests, Answer::Ok) && has(requests, Answer::Busy)))?;
    judge(server, &requests)
}

/// As many connections as a busy server has, most of which are silent most of the time; in each pause, requests come on some of them.
fn crowd(setting: &Setting, mode: &str) -> Result<String, String> {
    let server = Server::start(&setting.jdk, PARALLEL, "deadline=1", &[mode, &setting.live, &setting.between])?;
    let crowd = client::Crowd { port: server.port, connections: CROWD, threads: 8, at_once: 50, duration: setting.seconds };
    judge(server, &crowd.run()?)
}

/// Stops the service. Whether it, its gate and its clients say the same of each request.
fn judge(mut server: Server, requests: &[Request]) -> Result<String, String> {
    let processed = server.processed()?;
    let metrics = server.metrics()?;
    server.stop()?;

    let (mut ok, mut busy) = (0u64, 0u64);
    for request in requests {
        let count = processed.get(&request.target).copied().unwrap_or(0);
        match (request.answer, count) {
            (Answer::Ok, 1) => ok += 1,
            (Answer::Busy, 0) => busy += 1,
            (answer, count) => return Err(format!("{} was answered {answer:?}, and processed {count} times", request.target)),
        }
    }
    if processed.len() as u64 != ok {
        return Err(format!("{} targets were processed, {ok} requests answered so", processed.len()));
    }
    let metric = |name: &str| metrics.get(name).copied().unwrap_or(-1.0);
    let answered = metric("lull_gate_answered_total");
    if answered != busy as f64 {
        return Err(format!("the gate says that it answered {answered}, the clients got {busy}"));
    }
    if let Some((name, n)) = metrics.iter().find(|(name, n)| name.contains("opaque") && **n > 0.0) {
        return Err(format!("{name} is {n}"));
    }
    if busy == 0 || ok == 0 {
        return Err(format!("{ok} were processed and {busy} busy in {} pauses", metric("lull_gate_collections_total")));
    }
    let connections = client::connections(requests);
    if metric("lull_gate_connections_total") != connections as f64 {
        return Err(format!("{connections} connections were made, {} watched", metric("lull_gate_connections_total")));
    }
    let pauses = metric("lull_gate_collections_total") as u64;
    for (total, n) in TOTALS.iter().zip([ok, busy, connections as u64, pauses]) {
        total.fetch_add(n, Ordering::Relaxed);
    }
    Ok(format!("{ok} processed, {busy} busy, {connections} connections, {pauses} pauses"))
}

/// A dry run answers nothing and counts what it would have.
fn dry_run(setting: &Setting) -> Result<String, String> {
    let mut server = Server::start(&setting.jdk, "-XX:+UseParallelGC", "deadline=1,dry-run", &["nio", "150", "300"])?;
    let load = Load::simple(server.port, 8, setting.seconds);
    let requests = rounds(load, |_| Ok(server.metric("lull_gate_would_answer_total")? > 0.0))?;
    let metrics = server.metrics()?;
    server.stop()?;
    if let Some(request) = requests.iter().find(|request| request.answer != Answer::Ok) {
        return Err(format!("{} was answered {:?}", request.target, request.answer));
    }
    let would = metrics.get("lull_gate_would_answer_total").copied().unwrap_or(0.0);
    if metrics.get("lull_gate_answered_total") != Some(&0.0) || would == 0.0 {
        return Err(format!("{metrics:?}"));
    }
    Ok(format!("{} processed, {would} would have been answered", requests.len()))
}

/// A deadline beyond any pause keeps every request.
fn patient(setting: &Setting) -> Result<String, String> {
    let mut server = Server::start(&setting.jdk, "-XX:+UseParallelGC", "deadline=600000", &["blocking", "150", "300"])?;
    let load = Load::simple(server.port, 8, setting.seconds);
    let requests = rounds(load, |_| Ok(server.metric("lull_gate_kept_total")? > 0.0))?;
    let metrics = server.metrics()?;
    server.stop()?;
    if let Some(request) = requests.iter().find(|request| request.answer != Answer::Ok) {
        return Err(format!("{} was answered {:?}", request.target, request.answer));
    }
    let kept = metrics.get("lull_gate_kept_total").copied().unwrap_or(0.0);
    if kept == 0.0 { Err("no request was kept".to_string()) } else { Ok(format!("{} processed, {kept} of them kept", requests.len())) }
}

/// A pause that is no collection: a heap dump.
fn heap_dump(setting: &Setting) -> Result<String, String> {
    let mut server = Server::start(&setting.jdk, "-XX:+UseParallelGC", "deadline=50", &["blocking", "400", "0"])?;
    let mut busy = 0;
    for round in 0..10 {
        let load = Load { round, ..Load::simple(server.port, 4, setting.seconds) };
        let (requests, dump) = std::thread::scope(|scope| {
            let load = scope.spawn(|| load.run());
            std::thread::sleep(setting.seconds / 4);
            let dump = server.dump();
            (load.join().unwrap_or(Err("the load panicked".to_string())), dump)
        });
        dump?;
        busy += requests?.iter().filter(|request| request.answer == Answer::Busy).count();
        if busy > 0 && server.metric("lull_gate_safepoints_total")? > 0.0 {
            break;
        }
    }
    let metrics = server.metrics()?;
    server.stop()?;
    let safepoints = metrics.get("lull_gate_safepoints_total").copied().unwrap_or(0.0);
    if busy == 0 || safepoints == 0.0 {
        return Err(format!("{busy} busy; {metrics:?}"));
    }
    Ok(format!("{busy} busy, {safepoints} safepoints that are no collections"))
}

/// What other processes read of the beacon: pauses, and the end.
fn beacon(setting: &Setting) -> Result<String, String> {
    let path = std::env::temp_dir().join(format!("lull-gate-services-{}.beacon", std::process::id()));
    let word = |at: usize| -> Result<u64, String> {
        let bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
        bytes.get(at..at + 8).map(|b| u64::from_ne_bytes(b.try_into().expect("eight"))).ok_or("too short".to_string())
    };
    let options = format!("deadline=1,beacon={}", path.display());
    let mut server = Server::start(&setting.jdk, "-XX:+UseParallelGC", &options, &["nio", "150", "300"])?;
    let end = std::time::Instant::now() + setting.seconds;
    let (mut busy, mut runs) = (0u64, 0u64);
    while std::time::Instant::now() < end {
        if word(24)? == 0 {
            runs += 1
        } else {
            busy += 1
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let pauses = word(32)?;
    server.stop()?;
    let ended = word(24)? == u64::MAX;
    let _ = std::fs::remove_file(&path);
    if busy == 0 || runs == 0 || pauses == 0 || !ended {
        return Err(format!("{busy} looks in {pauses} pauses, {runs} outside, ended: {ended}"));
    }
    Ok(format!("{busy} looks in {pauses} pauses, {runs} outside"))
}

/// What is wrong with the options stops the VM before it starts, with a sentence.
fn bad_options(setting: &Setting) -> Result<String, String> {
    for (options, part) in [("", "no port to watch"), ("port=80,dedline=5", "there is no option 'dedline'"), ("port=99999", "99999")] {
        let (success, output) = server::version(&setting.jdk, options)?;
        if success || !output.contains(part) {
            return Err(format!("with '{options}': success {success}, {output}"));
        }
    }
    let (success, output) = server::version(&setting.jdk, "port=8080")?;
    if success { Ok("3 refused, 1 accepted".to_string()) } else { Err(output) }
}

/// What tells others of pauses cannot begin: the service goes on, unless that is required.
fn required(setting: &Setting) -> Result<String, String> {
    for (required, goes_on) in [("", true), (",required", false)] {
        let options = format!("port=8080,beacon=/no/such/directory/beacon{required}");
        let (success, output) = server::version(&setting.jdk, &options)?;
        let said = output.contains("the beacon cannot be put at") && output.contains("the VM ends") != goes_on;
        if success != goes_on || !said {
            return Err(format!("with '{options}': success {success}, {output}"));
        }
    }
    Ok("goes on, and ends".to_string())
}

/// More connections than the service has descriptors: who is not accepted waits, and all is well when there are some again.
fn no_descriptors(setting: &Setting) -> Result<String, String> {
    const MOST: usize = 64;
    let server = Server::start_limited(&setting.jdk, PARALLEL, "deadline=1", MOST, &["blocking", &setting.live, &setting.between])?;
    let load = Load { reconnect: true, think: setting.think, ..Load::simple(server.port, MOST + 16, setting.seconds) };
    let (requests, open) = std::thread::scope(|scope| {
        let load = scope.spawn(|| rounds(load, |requests| Ok(has(requests, Answer::Busy))));
        let mut open = 0;
        while !load.is_finished() {
            open = open.max(server.descriptors().unwrap_or(0));
            std::thread::sleep(Duration::from_millis(5));
        }
        (load.join().unwrap_or(Err("the load panicked".to_string())), open)
    });
    let judged = judge(server, &requests?)?;
    // Of 64 the JDK was seen to have 63 at most.
    if open + 1 >= MOST {
        Ok(format!("{open} descriptors at once; {judged}"))
    } else {
        Err(format!("{open} descriptors at most; {judged}"))
    }
}

/// Whoever would load the agent into a VM that runs is told that it is not possible, and the VM runs on.
fn attach(setting: &Setting) -> Result<String, String> {
    let server = Server::start(&setting.jdk, PARALLEL, "deadline=1", &["nio", &setting.live, &setting.between])?;
    let output = std::process::Command::new(setting.jdk.join("bin/jcmd"))
        .args([&server.id().to_string(), "JVMTI.agent_load", &server::setting("LULL_GATE_LIBRARY")?, "port=8080"])
        .output()
        .map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !said.contains("return code: -1") {
        return Err(said);
    }
    let load = Load::simple(server.port, 4, setting.seconds);
    let requests = rounds(load, |requests| Ok(has(requests, Answer::Ok) && has(requests, Answer::Busy)))?;
    judge(server, &requests)
}

/// Connections of a transport that cannot be watched are said to be so, once.
fn unwatched(setting: &Setting) -> Result<String, String> {
    let (success, output) = server::run(&setting.jdk, "port=8080", &["-cp", &server::setting("LULL_GATE_CLASSES")?, "LoadsIoUring"])?;
    let told = output.matches("Netty's io_uring transport is loaded").count();
    if success && told == 1 { Ok("told once".to_string()) } else { Err(format!("success {success}, {output}")) }
}

/// The VM ends while it collects, again and again: with its own exit code, and without a crash.
fn exits(setting: &Setting) -> Result<String, String> {
    for i in 0..4 {
        let mut server = Server::start(&setting.jdk, "-XX:+UseParallelGC", "deadline=1", &["nio", "100", "1"])?;
        let load = Load::simple(server.port, 2, Duration::from_millis(300));
        load.run()?;
        server.stop().map_err(|error| format!("exit {i}: {error}"))?;
    }
    Ok("4 exits".to_string())
}

/// A number of the environment.
fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name} is '{text}', which is no number")),
        Err(_) => default,
    }
}

/// What has come out, and which tests are wanted.
struct Tally {
    only: String,
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    /// One test on a JDK, if it is wanted.
    fn test(&mut self, jdk: &str, title: &str, run: &dyn Fn() -> Result<String, String>) {
        let title = format!("{jdk}: {title}");
        if !title.contains(&self.only) {
            return;
        }
        match catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("a panic".to_string())) {
            Ok(text) => {
                self.passed += 1;
                println!("passed: {title}: {text}");
            }
            Err(text) => {
                self.failed += 1;
                println!("FAILED: {title}: {text}");
            }
        }
    }

    fn skip(&mut self, what: &str) {
        println!("skipped: {what}");
        self.skipped += 1;
    }
}

/// Servers in pauses, of each way to read and write that there is.
fn servers(tally: &mut Tally, name: &str, setting: &Setting) {
    let mut test = |title: &str, run: &dyn Fn() -> Result<String, String>| tally.test(name, title, run);
    let modes = [
        "blocking",
        "available",
        "nio",
        "httpserver",
        "httpserver-inline",
        "tomcat",
        "jetty",
        "undertow",
        "netty-nio",
        "netty-epoll",
        "virtual",
    ];
    for mode in modes.into_iter().filter(|mode| *mode != "virtual" || !name.contains("17")) {
        test(&format!("{mode}, {PARALLEL}"), &|| torture(setting, mode, PARALLEL));
    }
    let poll = format!("{PARALLEL} -Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.PollSelectorProvider");
    test(&format!("nio by poll, {PARALLEL}"), &|| torture(setting, "nio", &poll));
    for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC"] {
        test(&format!("nio, {collector}"), &|| torture(setting, "nio", collector));
    }
    if name.contains("lull") || server::version_with(&setting.jdk, &["-XX:+UseLullGC", "-version"]) {
        test("nio, -XX:+UseLullGC", &|| torture(setting, "nio", "-XX:+UseLullGC"));
    }
    for mode in ["nio", "netty-epoll"] {
        test(&format!("{mode}, {CROWD} connections"), &|| crowd(setting, mode));
    }
    test("Redis' protocol", &|| redis(setting));
    for mode in ["grpc-nio", "grpc-epoll"] {
        test(mode, &|| grpc::grpc(setting, mode));
    }
}

/// What the gate does beside answering.
fn features(tally: &mut Tally, name: &str, setting: &Setting) {
    let mut test = |title: &str, run: &dyn Fn() -> Result<String, String>| tally.test(name, title, run);
    test("dry run", &|| dry_run(setting));
    test("long deadline", &|| patient(setting));
    test("required", &|| required(setting));
    test("heap dump", &|| heap_dump(setting));
    test("beacon", &|| beacon(setting));
    test("flight recorder", &|| flight::asked_for(setting));
    test("flight recorder from the begin, dry run", &|| flight::from_the_begin(setting));
    test("no flight recorder in the VM", &|| flight::none_there(setting));
    test("exits", &|| exits(setting));
    test("io_uring", &|| unwatched(setting));
    test("no descriptors left", &|| no_descriptors(setting));
    test("attaching", &|| attach(setting));
}

/// Clients and balancers differ, and not JDKs: on one of them only. Cassandra's module of bench/ is compiled for that one.
fn clients_and_balancers(tally: &mut Tally, name: &str, setting: &Setting) {
    for balancer in balancers::BALANCERS {
        if balancers::program(balancer).is_some() {
            tally.test(name, &format!("behind {balancer}"), &|| balancers::balancer(setting, balancer));
        } else {
            tally.skip(&format!("{name}: behind {balancer}: it is neither installed nor could it be unpacked"));
        }
    }
    for server in framing::SERVERS {
        tally.test(name, &format!("framing, {server}"), &|| framing::framing(setting, server));
    }
    tally.test(name, "framing of HTTP/2, Netty's codec", &|| framing2::framing(setting));
    for mode in flood::MODES {
        tally.test(name, &format!("DATA of HTTP/2 without an end, {mode}"), &|| flood::flood(setting, mode));
    }
    // It waits for what a loaded machine may not do in time: only for who asks for it.
    let is_asked = tally.only.contains("h2spec");
    match h2spec::program() {
        Some(_) if !is_asked => tally.skip(&format!("{name}: h2spec: LULL_GATE_ONLY=h2spec asks for it")),
        Some(_) => tally.test(name, "h2spec, Netty's codec", &|| h2spec::h2spec(setting)),
        None => tally.skip(&format!("{name}: h2spec: there is no go, or it could not build it")),
    }
    for program in clients::PROGRAMS {
        match clients::missing(program, setting) {
            Some(reason) => tally.skip(&format!("{name}: clients of HTTP/2, {program}: {reason}")),
            None => tally.test(name, &format!("clients of HTTP/2, {program}"), &|| clients::clients_of_http2(setting, program)),
        }
    }
    for program in clients::PROGRAMS.into_iter().filter(|program| *program != moments::GIVES_NO_PARTS) {
        match clients::missing(program, setting) {
            Some(reason) => tally.skip(&format!("{name}: moments of HTTP/2, {program}: {reason}")),
            None => tally.test(name, &format!("moments of HTTP/2, {program}"), &|| moments::moments(setting, program)),
        }
    }
    for (client, obeys) in repeats::CLIENTS {
        match repeats::missing(client) {
            Some(reason) => tally.skip(&format!("{name}: {client} repeats: {reason}")),
            None => tally.test(name, &format!("{client} repeats"), &|| repeats::repeats(setting, client, obeys)),
        }
    }
    tally.test(name, "gRPC's round_robin", &|| grpc::round_robin(setting));
    tally.test(name, "TLS: options", &|| tls::options(setting));
    for (client, port_option, mode) in tls::TESTS {
        tally.test(name, &format!("TLS: {client}"), &|| tls::tls(setting, client, port_option, mode));
    }
    if std::env::var("LULL_GATE_CASSANDRA").is_ok() {
        tally.test(name, "Cassandra", &|| cassandra::cassandra(setting));
    }
}

fn main() -> ExitCode {
    let only = std::env::var("LULL_GATE_ONLY").unwrap_or_default();
    let mut tally = Tally { only, passed: 0, failed: 0, skipped: 0 };
    let jdks = std::env::var("LULL_GATE_JDKS").unwrap_or_default();
    if jdks == "none" {
        return ExitCode::SUCCESS;
    }
    if jdks.trim().is_empty() {
        tally.skip("services: LULL_GATE_JDKS names no JDK (native/test.sh sets it)");
    }
    for entry in jdks.split_whitespace() {
        let (name, home) = entry.split_once('=').unwrap_or((entry, ""));
        if home.is_empty() {
            tally.skip(&format!("services on {name}: there is no such JDK on this machine"));
            continue;
        }
        let (live, between) = (number("LULL_GATE_LIVE", 150).to_string(), number("LULL_GATE_BETWEEN", 300).to_string());
        let (seconds, think) = (Duration::from_secs(number("LULL_GATE_SECONDS", 5)), number("LULL_GATE_THINK", THINK).max(2));
        let setting = Setting { jdk: PathBuf::from(home), seconds, live, between, think };
        tally.test(name, "options", &|| bad_options(&setting));
        servers(&mut tally, name, &setting);
        features(&mut tally, name, &setting);
        if name == "jdk-25" {
            clients_and_balancers(&mut tally, name, &setting);
        }
    }
    let [ok, busy, connections, pauses] = TOTALS.each_ref().map(|total| total.load(Ordering::Relaxed));
    println!(
        "services, in all: {ok} processed once and answered, {busy} busy and not processed, {connections} connections, {pauses} pauses"
    );
    let Tally { passed, failed, skipped, .. } = tally;
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
