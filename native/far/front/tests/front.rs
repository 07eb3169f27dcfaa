// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! `lull-far run` with a program in C and with stock JVMs, which know nothing of it.

mod common;

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use common::{Directory, built, compile, count, front, permitted, server, skip, text, watch};

/// The workload of the pager's tests, without the pager.
fn workload() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compile("plain-workload", "../pager/tests/c/workload.c"))
}

#[test]
fn a_program_in_c_that_maps_a_file() {
    let directory = Directory::new("c");
    for (mode, pattern) in [("thread", "random"), ("thread", "shared"), ("handlers", "random")] {
        if !permitted(mode, "a program in C") {
            continue;
        }
        let servers = [server(64), server(64)];
        let names = format!("{},{}", servers[0].address, servers[1].address);
        let file = directory.0.join(format!("{mode}-{pattern}"));
        let (output, most) = watch(
            front()
                .args(["run", "--servers", &names, "--local", "25%", "--directory", directory.name(), "--faults", mode])
                .args(["--server-timeout", "60000", "--statistics", "--"])
                .arg(workload())
                .args(["map", file.to_str().unwrap(), "8192", pattern, "2", "20000"]),
        );
        let stderr = text(&output.stderr);
        assert!(output.status.success(), "{mode} {pattern}: {stderr}");
        assert!(text(&output.stdout).contains("bytes compared 33554432 wrong words 0"), "{mode} {pattern}");
        assert!(most > 0 && most <= 8 << 20, "{most} bytes local");
        assert!(count(&output, "fetched") > 0 && count(&output, "written") > 0, "{stderr}");
    }
}

/// Soon: the server hears of each connection that closes.
fn all_is_given_back(server: &lull_memd::Server, when: &str) {
    for _ in 0..1000 {
        if server.used() == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{when}: clients still have {} bytes", server.used());
}

/// The server has no room for two, and keeps what a client without a connection has for 30 s: but not of one that has ended in order.
#[test]
fn a_program_that_has_ended_leaves_its_memory_to_the_next() {
    if !permitted("thread", "one program after another") {
        return;
    }
    let directory = Directory::new("ended");
    let server = server(48);
    for run in 1..=3 {
        let file = directory.0.join(run.to_string());
        let (output, _) = watch(
            front()
                .args(["run", "--servers", &server.address.to_string(), "--local", "25%", "--directory", directory.name()])
                .args(["--server-timeout", "60000", "--"])
                .arg(workload())
                .args(["map", file.to_str().unwrap(), "8192", "random", "2", "2000"]),
        );
        assert!(output.status.success(), "run {run}: {}", text(&output.stderr));
        all_is_given_back(&server, &format!("run {run}"));
    }
}

/// A child of fork has copies of the parent's connections, and lives on.
#[test]
fn a_child_does_not_keep_the_memory_of_a_program_that_has_ended() {
    if !permitted("thread", "a child that lives on") {
        return;
    }
    let directory = Directory::new("child");
    let program = compile("parent", "tests/c/parent.c");
    let server = server(48);
    let mut parent = front()
        .args(["run", "--servers", &server.address.to_string(), "--local", "25%", "--directory", directory.name(), "--"])
        .arg(&program)
        .arg(directory.0.join("file"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // To wait for it would close this.
    let stdin = parent.stdin.take();
    assert!(parent.wait().unwrap().success());
    all_is_given_back(&server, "while the child lives");
    // It ends when it reads an end, and says so: it was there all the time.
    drop(stdin);
    let mut said = String::new();
    parent.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said, "the child ends\n");
}

/// A quarter of the range is local, so that what such an action loses would be noticed.
#[test]
fn what_else_programs_do_with_a_mapping() {
    if !permitted("thread", "what else programs do with a mapping") {
        return;
    }
    let directory = Directory::new("unusual");
    let program = compile("unusual-program", "tests/c/unusual.c");
    let actions =
        ["fork", "locked", "cut", "enclosed", "moved", "over", "signals", "broken", "old", "vforked", "blocked", "cleared", "small"];
    let more = ["transfer", "closed", "forbidden", "without", "threads", "advice", "places"];
    for action in actions.into_iter().chain(more) {
        let servers = [server(64), server(64)];
        let names = format!("{},{}", servers[0].address, servers[1].address);
        let file = directory.0.join(action);
        let (output, most) = watch(
            front()
                .args(["run", "--servers", &names, "--local", "25%", "--directory", directory.name()])
                .args(["--server-timeout", "60000", "--statistics", "--"])
                .arg(&program)
                .args([file.to_str().unwrap(), action]),
        );
        let stderr = text(&output.stderr);
        if output.status.code() == Some(77) {
            skip(action, stderr.lines().find(|line| line.starts_with("unusual: ")).unwrap_or("not permitted"));
            continue;
        }
        assert!(output.status.success(), "{action}: {:?}: {stderr}", output.status);
        assert_eq!(text(&output.stdout), format!("{action}: as it should be\n"), "{stderr}");
        // The file is far all the time, and the bound is kept; of a range that is unmapped the memory goes at once.
        assert!(most > 0 && most <= 8 << 20, "{action}: {most} bytes local");
        assert!(count(&output, "fetched") > 0 && count(&output, "written") > 0, "{action}: {stderr}");
    }
}

/// JVMs that are installed: the one on the path, and a 25.
fn jvms() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir("/usr/lib/jvm")
        .map(|entries| entries.filter_map(Result::ok).map(|entry| entry.path()).collect())
        .unwrap_or_default();
    all.extend(std::env::var_os("JAVA_HOME").map(PathBuf::from));
    let mut all: Vec<PathBuf> = all.iter().filter_map(|home| home.join("bin/java").canonicalize().ok()).collect();
    all.sort();
    all.dedup();
    all
}

/// The test's class, of the oldest JDK that has a compiler.
fn classes(directory: &Path) -> bool {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/Verified.java");
    jvms().iter().any(|java| {
        let compiler = java.with_file_name("javac");
        compiler.exists()
            && Command::new(compiler).args(["--release", "17", "-d"]).arg(directory).arg(&source).status().is_ok_and(|s| s.success())
    })
}

#[test]
fn stock_jvms_with_a_quarter_of_the_heap() {
    if std::env::var_os("LULL_NATIVE_SCOPE").is_some_and(|scope| scope == "quick") {
        skip("stock JVMs", "a quick run");
        return;
    }
    if !permitted("thread", "stock JVMs") {
        return;
    }
    let directory = Directory::new("java");
    if !classes(&directory.0) {
        skip("stock JVMs", "no JDK is installed in /usr/lib/jvm or JAVA_HOME");
        return;
    }
    for java in jvms() {
        // The last one's pages are sealed: what differs is what leaves, whoever collects.
        for (collector, seal) in
            [("-XX:+UseSerialGC", None), ("-XX:+UseParallelGC", None), ("-XX:+UseG1GC", None), ("-XX:+UseG1GC", Some("--seal"))]
        {
            let servers = [server(256), server(256)];
            let names = format!("{},{}", servers[0].address, servers[1].address);
            let (output, most) = watch(
                front()
                    .args(["run", "--servers", &names, "--local", "25%", "--server-timeout", "60000", "--statistics"])
                    .args(seal)
                    .arg("--")
                    .arg(&java)
                    .args([collector, "-Xms128m", "-Xmx128m", &format!("-XX:AllocateHeapAt={}", directory.name()), "-cp"])
                    .args([directory.name(), "Verified", "150000", "60000", "2"]),
            );
            let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
            eprintln!("{} {collector} {}: {} {}", java.display(), seal.unwrap_or(""), stdout.trim(), stderr.trim());
            assert!(output.status.success(), "{} {collector}: {stdout}{stderr}", java.display());
            assert!(!stdout.contains("warning") && !stderr.contains("warning"), "{stdout}{stderr}");
            assert!(stdout.contains(" wrong=0"), "{stdout}");
            assert!(most > 0 && most <= 32 << 20, "{most} bytes local");
            assert!(count(&output, "fetched") > 0, "the heap fits into a quarter of it: {stderr}");
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_before_the_program_runs() {
    if !permitted("thread", "what cannot be done") {
        return;
    }
    let directory = Directory::new("errors");
    let run = |arguments: &[&str]| {
        let output = front().arg("run").args(arguments).output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        text(&output.stderr)
    };
    let cases: &[(&[&str], &str)] = &[
        (&["--servers", "a:1", "--local", "25%", "--", "true"], "no memory of this program would be far: give --directory DIR"),
        (&["--servers", "a:1", "--local", "0%", "--", "true"], "say 1% to 100%, or a size of 4m or more"),
        (&["--servers", "a:1", "--local", "101%", "--", "true"], "say 1% to 100%, or a size of 4m or more"),
        (&["--servers", "a:1", "--local", "1m", "--", "true"], "say 1% to 100%, or a size of 4m or more"),
        (&["--servers", "a:1", "--local", "25%", "--replicas", "2", "--", "true"], "2 is not in 0..=1"),
        (&["--servers", "a:1", "--spare", "b:1", "--local", "25%", "--", "true"], "--spare without --replicas 1"),
        (&["--servers", "a:1", "--local", "25%", "--directory", "/nowhere", "--", "true"], "directory /nowhere: No such file"),
        (
            &["--servers", "a:1", "--local", "25%", "--directory", directory.name(), "--", "/no/program"],
            "cannot run /no/program: No such file",
        ),
    ];
    for (arguments, want) in cases {
        let text = run(arguments);
        assert!(text.contains(want), "{arguments:?}: {text}");
    }
}

/// Sealed or not at all: what cannot be understood is never taken for no.
#[test]
fn a_program_is_not_run_unsealed_by_mistake() {
    if !permitted("thread", "a seal that is misspelt") {
        return;
    }
    let directory = Directory::new("seal");
    let server = server(64);
    // The environment of a program that `lull-far run --seal` has started, and that starts another one.
    let run = |value: &str| {
        let _ = std::fs::remove_file(directory.0.join("file"));
        let inside = format!("LULL_FAR_SEAL='{value}' exec {} map {}/file 2048 random 1 2000", workload().display(), directory.name());
        front()
            .args(["run", "--seal", "--servers", &server.address.to_string(), "--local", "25%", "--directory", directory.name(), "--"])
            .args(["sh", "-c", &inside])
            .output()
            .unwrap()
    };
    assert!(run("1").status.success());
    for value in ["yes", "", "1 "] {
        let output = run(value);
        let want = format!("LULL_FAR_SEAL is {value:?}: 0 or 1 is possible");
        assert!(!output.status.success() && text(&output.stderr).contains(&want), "{value:?}: {}", text(&output.stderr));
    }
}

/// Also a file of the marked directory, which is not far memory then.
#[test]
fn faults_are_recorded() {
    if !permitted("thread", "a record of faults") {
        return;
    }
    let directory = Directory::new("record");
    let server = server(64);
    let record = directory.0.join("faults");
    let output = front()
        .args(["run", "--servers", &server.address.to_string(), "--local", "25%", "--directory", directory.name()])
        .args(["--record", record.to_str().unwrap(), "--"])
        .arg(workload())
        .args(["map", directory.0.join("file").to_str().unwrap(), "2048", "random", "1", "2000"])
        .output()
        .unwrap();
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let bytes = std::fs::metadata(&record).unwrap().len();
    assert!(bytes > 2048 * 4, "{bytes} bytes");
    assert!(stderr.contains(&format!("{} faults recorded", bytes / 4)), "{stderr}");
}

/// The workload compares every byte at its end.
#[test]
fn writes_are_counted() {
    if !permitted("thread", "counts of dirty pages") {
        return;
    }
    let directory = Directory::new("dirty");
    let server = server(64);
    let counts = directory.0.join("dirty");
    let output = front()
        .args(["run", "--servers", &server.address.to_string(), "--local", "50%", "--directory", directory.name()])
        .args(["--dirty", counts.to_str().unwrap(), "--"])
        .arg(workload())
        .args(["map", directory.0.join("file").to_str().unwrap(), "4096", "random", "2", "40000"])
        .output()
        .unwrap();
    let stderr = text(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let counts = std::fs::read_to_string(counts).unwrap();
    let pages: Vec<u64> = counts.lines().skip(1).map(|line| line.split(' ').nth(4).unwrap().parse().unwrap()).collect();
    // Each page is written to some six times, so not all of them in one window; the last one may not have ended.
    assert!(pages.iter().sum::<u64>() > 4096, "{counts}");
}

#[test]
fn programs_that_would_not_take_the_library_are_refused() {
    if !permitted("thread", "programs that would not take the library") {
        return;
    }
    let directory = Directory::new("library");
    let run = |(name, value): (&str, &str), program: &str| {
        let mut command = front();
        command
            .env(name, value)
            .args(["run", "--servers", "a:1", "--local", "25%", "--directory", directory.name(), "--", program])
            .output()
            .unwrap()
    };
    let odd = directory.0.join("a:b.so");
    std::fs::write(&odd, "").unwrap();
    let output = run(("LULL_FAR_PRELOAD", odd.to_str().unwrap()), "true");
    let stderr = text(&output.stderr);
    assert!(
        !output.status.success() && stderr.contains("a:b.so has ':' in its path, which LD_PRELOAD cannot say: put it elsewhere"),
        "{stderr}"
    );
    // What others have loaded may be separated by either.
    let output = run(("LD_PRELOAD", "libc.so.6 libm.so.6"), "true");
    assert!(output.status.success(), "{}", text(&output.stderr));
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        skip("a program with set-user-ID", "only root can give a file to another user");
        return;
    }
    let program = directory.0.join("set-user-id");
    std::fs::copy(built().join("lull-far"), &program).unwrap();
    if !lull_far::launch::may_give_rights(&program) {
        skip("a program with set-user-ID", "no program gets rights here by being run (no_new_privs or nosuid)");
        return;
    }
    std::os::unix::fs::chown(&program, Some(12345), None).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o4755)).unwrap();
    let output = run(("LD_PRELOAD", ""), program.to_str().unwrap());
    let stderr = text(&output.stderr);
    assert!(!output.status.success() && stderr.contains("runs as its owner, user 12345 (set-user-ID)"), "{stderr}");
}

#[test]
fn a_statically_linked_program_passes_the_library_on() {
    let name = "a statically linked program";
    if !permitted("thread", name) {
        return;
    }
    let directory = Directory::new("static");
    let source = directory.0.join("launcher.c");
    let launcher = directory.0.join("launcher");
    std::fs::write(&source, "#include <unistd.h>\nint main(int count, char** of) { return execv(of[1], of + 1); }\n").unwrap();
    if !Command::new("cc").args(["-static", "-o"]).args([&launcher, &source]).status().unwrap().success() {
        skip(name, "the C library is not installed for static linking");
        return;
    }
    let server = server(64);
    let (output, most) = watch(
        front()
            .args(["run", "--servers", &server.address.to_string(), "--local", "25%", "--directory", directory.name()])
            .args(["--statistics", "--"])
            .args([launcher.as_path(), workload()])
            .args(["map", directory.0.join("file").to_str().unwrap(), "2048", "random", "1", "2000"]),
    );
    let stderr = text(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let warning = "launcher is linked statically, or not for 64 bits: none of its own memory will be far, only that";
    assert!(stderr.contains(warning), "{stderr}");
    assert!(most > 0 && count(&output, "fetched") > 0, "{stderr}");
}

#[test]
fn a_program_finds_sigpipe_as_it_would_without_us() {
    if !permitted("thread", "a program that finds SIGPIPE") {
        return;
    }
    let directory = Directory::new("sigpipe");
    for (before, ignored) in [("trap '' PIPE; ", true), ("", false)] {
        let library = front().get_envs().find_map(|(name, value)| (name == "LULL_FAR_PRELOAD").then(|| value.unwrap().to_owned())).unwrap();
        let output = Command::new("sh")
            .args(["-c", &format!("{before}exec \"$@\""), "sh", env!("CARGO_BIN_EXE_lull-far")])
            .args([
                "run",
                "--servers",
                "a:1",
                "--local",
                "25%",
                "--directory",
                directory.name(),
                "--",
                "grep",
                "SigIgn",
                "/proc/self/status",
            ])
            .env("LULL_FAR_PRELOAD", library)
            .output()
            .unwrap();
        let stdout = text(&output.stdout);
        let mask = u64::from_str_radix(stdout.trim().strip_prefix("SigIgn:").unwrap().trim(), 16).unwrap();
        // SIGPIPE is 13.
        assert_eq!(mask >> 12 & 1 == 1, ignored, "{stdout}");
    }
}

#[test]
fn what_cannot_be_mapped_is_said_and_the_program_gets_an_error() {
    if !permitted("thread", "what cannot be mapped") {
        return;
    }
    let directory = Directory::new("refused");
    let file = directory.0.join("file");
    let map = |servers: &str| {
        let output = front()
            .args(["run", "--servers", servers, "--local", "25%", "--directory", directory.name(), "--server-timeout", "500", "--"])
            .arg(workload())
            .args(["map", file.to_str().unwrap(), "8192", "random", "1", "1"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        std::fs::remove_file(&file).unwrap();
        text(&output.stderr)
    };
    let small = server(8);
    let text = map(&small.address.to_string());
    assert!(text.contains("a file of 33554432 bytes was not mapped: memory server 127.0.0.1:"), "{text}");
    assert!(text.contains("FULL: region 1 of 8192 pages does not fit") && text.contains("mmap: "), "{text}");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let text = map(&closed.to_string());
    assert!(text.contains("cannot connect: Connection refused"), "{text}");
    assert!(text.contains("waited 0.5 s (--server-timeout) for its first answers, in "), "{text}");
}

/// A key is made for its owner only, replaces nothing, and is looked at before the program runs.
#[test]
fn keys_are_made_and_looked_at() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new("keys");
    let path = directory.0.join("key");
    let new_key = |more: &[&str]| front().arg("new-key").args(more).arg(&path).output().unwrap();
    assert!(new_key(&["--name", "a b"]).status.code() == Some(1) && !path.exists());
    assert!(new_key(&["--name", "builds"]).status.success());
    let metadata = std::fs::metadata(&path).unwrap();
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let before = std::fs::read_to_string(&path).unwrap();
    let [entry] = &lull_far_auth::file::read_all(&path).unwrap()[..] else { panic!("{before:?}") };
    assert_eq!(entry.name, "builds");
    // Not over one that is there, nor through a link.
    let link = directory.0.join("link");
    std::os::unix::fs::symlink(directory.0.join("nowhere"), &link).unwrap();
    assert_eq!(new_key(&[]).status.code(), Some(1));
    assert_eq!(front().arg("new-key").arg(&link).output().unwrap().status.code(), Some(1));
    assert!(std::fs::read_to_string(&path).unwrap() == before && !directory.0.join("nowhere").exists());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let arguments = ["run", "--servers", "127.0.0.1:1", "--local", "4m", "--directory", directory.name(), "--key", path.to_str().unwrap()];
    let output = front().args(arguments).args(["--", "true"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("has the mode 0644") && text.contains("chmod 600"), "{text}");
}
