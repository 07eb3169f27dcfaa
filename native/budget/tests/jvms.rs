// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! JVMs under the controller: what it reads of them, what its levers do, what it says to those that have none, and whole runs.
//!
//! LULL_NATIVE_SCOPE=quick skips all of it. JDKs are those in /usr/lib/jvm, and the one whose java is LULL_JAVA; or those whose javas are
//! LULL_BUDGET_JAVAS, separated by colons. The last line is "N passed, N failed, N skipped".

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lull_budget::attach::Attach;
use lull_budget::levers::{Collector, Lever, Settings};
use lull_budget::perf_data::PerfData;

const MB: u64 = 1 << 20;

fn main() -> ExitCode {
    let mut tests = Tests::default();
    if std::env::var("LULL_NATIVE_SCOPE").is_ok_and(|scope| scope == "quick") {
        tests.skip("JVMs under the heap budget: a quick run");
    } else {
        tests.all();
    }
    println!("{} passed, {} failed, {} skipped", tests.passed, tests.failed, tests.skipped);
    if tests.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The number behind `what` in a line of the program; one that is not there is no cost, and no step.
fn lost(line: &str, what: &str) -> f64 {
    let number = line.split_once(what).and_then(|(_, rest)| rest.split(' ').next());
    number.and_then(|number| number.parse().ok()).unwrap_or(f64::NAN)
}

#[derive(Default)]
struct Tests {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tests {
    fn check(&mut self, what: &str, holds: bool) -> bool {
        if holds {
            self.passed += 1;
        } else {
            self.failed += 1;
            println!("FAILED: {what}");
        }
        holds
    }

    fn skip(&mut self, what: &str) {
        self.skipped += 1;
        println!("skipped: {what}");
    }

    fn all(&mut self) {
        let mut javas: Vec<PathBuf> = std::fs::read_dir("/usr/lib/jvm")
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.path().join("bin/java").canonicalize().ok())
            .collect();
        javas.extend(std::env::var_os("LULL_JAVA").map(PathBuf::from).filter(|java| java.is_file()));
        if let Some(chosen) = std::env::var_os("LULL_BUDGET_JAVAS") {
            javas = std::env::split_paths(&chosen).collect();
        }
        javas.sort();
        javas.dedup();
        // The program is compiled by the oldest that can, and run by all.
        let Some(classes) = javas.iter().find_map(|java| compile(java)) else {
            self.skip("JVMs under the heap budget: no JDK with a compiler in /usr/lib/jvm");
            return;
        };
        for java in &javas {
            for collector in ["G1", "Z", "Shenandoah", "Lull"] {
                let flags: &[&str] = match collector {
                    "G1" => &["-XX:+UseG1GC", "-XX:+ExplicitGCInvokesConcurrent"],
                    "Z" => &["-XX:+UseZGC", "-XX:ZUncommitDelay=1"],
                    "Shenandoah" => &["-XX:+UseShenandoahGC"],
                    _ => &["-XX:+UseLullGC"],
                };
                let name = format!("{} {collector}", java.display());
                if !Command::new(java).args(flags).arg("-version").output().is_ok_and(|output| output.status.success()) {
                    let is_ours = std::env::var_os("LULL_JAVA").is_some_and(|ours| ours == java.as_os_str());
                    if is_ours && collector == "Lull" {
                        self.check(&format!("{name}: LULL_JAVA has it"), false);
                    } else {
                        self.skip(&format!("{name}: this JDK does not have it"));
                    }
                    continue;
                }
                self.lever(&name, java, flags, &classes);
                self.controlled(&name, java, flags, &classes);
                println!("{name}: {} passed, {} failed so far", self.passed, self.failed);
            }
            self.refusals(java, &classes);
        }
    }

    /// Smaller, larger, and as it was.
    fn lever(&mut self, name: &str, java: &Path, flags: &[&str], classes: &Path) {
        let jvm =
            Jvm::start(java, &[flags, &["-Xmx512m", "-XX:InitialHeapSize=400m", "-XX:MinHeapSize=32m"]].concat(), classes, &["40", "100"]);
        let attach = Attach::to(jvm.pid()).expect("a JVM that has just begun listens");
        let lever = match Lever::find(&attach) {
            Ok(lever) => lever,
            Err(error) => {
                self.check(&format!("{name}: {error}"), false);
                return;
            }
        };
        let data = PerfData::open(jvm.pid()).expect("counters are on by default");
        self.check(&format!("{name}: bounds {lever:?}"), lever.most == 512 * MB && lever.least == 32 * MB);
        let collections = || data.sum("sun.gc.collector.", ".invocations");
        let collected = wait(Duration::from_secs(120), || collections() > 3);
        self.check(&format!("{name}: collections are counted: {}", collections()), collected);
        let heap = lever.heap(&data);
        let before = heap.capacity;
        self.check(
            &format!("{name}: a heap that is used: {heap:?}"),
            heap.used > 30 * MB && heap.used <= heap.capacity && heap.capacity <= 512 * MB,
        );
        self.check(&format!("{name}: safepoints are counted"), data.get("sun.rt.safepointTime").is_some_and(|time| time > 0));

        let was = Settings::of(&attach).expect("a JVM that listens answers");
        let live = 50 * MB;
        let target = 150 * MB;
        let pulled = lever.pull(&attach, target, live);
        self.check(&format!("{name}: is told to be smaller: {pulled:?}"), pulled.is_ok());
        // Shenandoah gives memory back after minutes.
        let bound = if lever.collector() == Collector::Shenandoah { before } else { before.min(250 * MB) };
        let smaller = wait(Duration::from_secs(60), || lever.heap(&data).capacity <= bound);
        self.check(
            &format!("{name}: from {} MB to {} MB, asked for {} MB", before / MB, lever.heap(&data).capacity / MB, target / MB),
            smaller,
        );
        if lever.collector() != Collector::G1 {
            self.check(&format!("{name}: the flag is set"), attach.number("SoftMaxHeapSize") == Ok(Some(target)));
        }
        let pulled = lever.pull(&attach, 400 * MB, live);
        self.check(&format!("{name}: is told to be larger: {pulled:?}"), pulled.is_ok());
        if lever.collector() == Collector::G1 {
            let larger = wait(Duration::from_secs(60), || lever.heap(&data).capacity >= 300 * MB);
            self.check(&format!("{name}: grown to {} MB, asked for 400 MB", lever.heap(&data).capacity / MB), larger);
        }
        let released = lever.release(&attach, &was);
        let is = Settings::of(&attach).expect("a JVM that listens answers");
        self.check(
            &format!("{name}: as it was: {released:?} {is:?}, was {was:?}"),
            released.is_ok() && format!("{is:?}") == format!("{was:?}"),
        );
    }

    /// The program, over a service whose threads are stalled most of the time.
    fn controlled(&mut self, name: &str, java: &Path, flags: &[&str], classes: &Path) {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("budget-{}", std::process::id()));
        std::fs::write(&file, vec![1_u8; 64 << 20]).expect("the build directory can be written");
        let arguments = [flags, &["-Xmx512m", "-XX:InitialHeapSize=400m", "-XX:MinHeapSize=32m"]].concat();
        let jvm = Jvm::start(java, &arguments, classes, &["40", "100", file.to_str().expect("a plain path")]);
        let attach = Attach::to(jvm.pid()).expect("a JVM that has just begun listens");
        let was = format!("{:?}", Settings::of(&attach).expect("a JVM that listens answers"));
        let mut budget = Command::new(env!("CARGO_BIN_EXE_lull-budget"))
            .args(["--pid", &jvm.pid().to_string(), "--interval", "500"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program has been built");
        let mut lines = BufReader::new(budget.stderr.take().expect("it is piped"));
        let begun = Instant::now();
        let mut said = String::new();
        let mut stepped = false;
        while !stepped && begun.elapsed() < Duration::from_secs(120) && lines.read_line(&mut said).is_ok_and(|bytes| bytes > 0) {
            let line = said.lines().last().unwrap_or_default();
            stepped = line.contains("; done: ") && !line.contains("failed:");
        }
        // Which cost is the larger one depends on what else the machine does; the same line says it.
        let step = said.lines().last().unwrap_or_default();
        let direction = if lost(step, "collections ") > lost(step, "I/O ") { "wait-grow" } else { "wait-shrink" };
        self.check(
            &format!("{name}: a heap with stalls and room is stepped, {direction}:\n{said}"),
            stepped && step.contains(&format!("{direction}: a try against the larger cost")),
        );
        // SAFETY: our own child.
        unsafe { libc::kill(budget.id() as libc::pid_t, libc::SIGTERM) };
        let mut rest = String::new();
        let _ = lines.read_to_string(&mut rest);
        let status = budget.wait().expect("it is our child");
        self.check(&format!("{name}: stops when it is told: {rest}"), status.success() && rest.contains("gets its own settings back"));
        let is = format!("{:?}", Settings::of(&attach).expect("a JVM that listens answers"));
        self.check(&format!("{name}: left as it was: {is}, was {was}"), is == was);
        let _ = std::fs::remove_file(file);
    }

    /// What cannot be controlled is told so, and why.
    fn refusals(&mut self, java: &Path, classes: &Path) {
        for (flags, reason) in [
            (["-XX:+UseSerialGC", "-Xmx64m"], "has no lever"),
            (["-XX:+UseG1GC", "-Xmx64m"], "-XX:+ExplicitGCInvokesConcurrent"),
            (["-XX:+UseSerialGC", "-XX:-UsePerfData"], "-XX:-UsePerfData"),
            (["-Xrs", "-XX:+DisableAttachMechanism"], "SIGQUIT"),
        ] {
            let mut jvm = Jvm::start(java, &flags, classes, &["10", "10"]);
            let output = Command::new(env!("CARGO_BIN_EXE_lull-budget"))
                .args(["--pid", &jvm.pid().to_string()])
                .output()
                .expect("it has been built");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            self.check(&format!("{} {flags:?}: {said}", java.display()), !output.status.success() && said.contains(reason));
            self.check(&format!("{} {flags:?}: lives on", java.display()), jvm.0.try_wait().is_ok_and(|ended| ended.is_none()));
        }
    }
}

fn compile(java: &Path) -> Option<PathBuf> {
    let javac = java.parent()?.join("javac");
    let classes = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("budget-classes");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/java/Load.java");
    // The option for direct I/O is the JDK's own, and not of a release.
    let status = Command::new(javac)
        .args(["-source", "17", "-target", "17", "-nowarn", "-d"])
        .arg(&classes)
        .arg(source)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success()).then_some(classes)
}

fn wait(patience: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if condition() {
            return true;
        }
        sleep(Duration::from_millis(200));
    }
    condition()
}

struct Jvm(Child);

impl Jvm {
    fn start(java: &Path, flags: &[&str], classes: &Path, arguments: &[&str]) -> Self {
        let mut child = Command::new(java)
            .args(flags)
            .arg("-cp")
            .arg(classes)
            .arg("Load")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("java runs");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("it writes");
        assert_eq!(line.trim(), "ready", "{} {flags:?}", java.display());
        Self(child)
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // The end of its input ends it.
        if let Some(mut input) = self.0.stdin.take() {
            let _ = input.flush();
        }
        let _ = self.0.wait();
    }
}
