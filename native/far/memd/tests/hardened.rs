// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The server where little is permitted: under the seccomp profiles of its container, and under the filters of its systemd units. Every
//! operation of the protocol runs under each, and a call that is not permitted ends the process.

mod common;
#[path = "common/filter.rs"]
mod filter;
#[path = "common/profile.rs"]
mod profile;
#[path = "common/skip.rs"]
mod skip;

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{Answer, Peer, get, hello, page};
use filter::{Denied, Rule};
use lull_far_auth::Key;
use lull_far_heap::compare::compare;
use lull_far_heap::cycle::Servers;
use lull_far_heap::export::Export;
use lull_far_heap::made::Made;
use lull_far_protocol::{ChannelKind, Discard, Message, Op};
use skip::skip;

const PROFILE: &str = include_str!("../oci/seccomp.json");
const UNIT: &str = include_str!("../systemd/lull-memd.service");
/// The same for servers at a Unix socket.
const UNIX_PROFILE: &str = include_str!("../oci/seccomp-unix.json");
const USERS_UNIT: &str = include_str!("../systemd/lull-memd@.service");

/// A server as a process behind a filter: where it listens, and its metrics.
struct Process {
    child: Child,
    listens: String,
    metrics: SocketAddr,
}

impl Process {
    fn start(rules: &[Rule], arguments: &[&str]) -> Process {
        let program = filter::program(rules, Denied::EndsTheProcess);
        let metrics = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_lull-memd"));
        command
            .args(["--memory", "16m", "--log", "json", "--metrics", &metrics.to_string()])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // SAFETY: it makes two system calls.
        unsafe { command.pre_exec(move || filter::install(&program)) };
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let listens = line.strip_prefix("listening at ").unwrap_or_else(|| {
            let mut log = String::new();
            let status = child.wait().unwrap();
            let _ = child.stderr.take().unwrap().read_to_string(&mut log);
            panic!("{status}: {line:?} {log}")
        });
        let listens = listens.trim().to_owned();
        Process { child, listens, metrics }
    }

    fn address(&self) -> SocketAddr {
        self.listens.parse().unwrap()
    }

    fn metrics(&self) -> String {
        get(self.metrics, "GET /metrics HTTP/1.0\r\n\r\n")
    }

    /// SIGTERM while a client has memory, and again.
    fn stop(mut self, holds: bool) {
        let kill = |child: &Child| assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        kill(&self.child);
        if holds {
            while !self.metrics().contains("lull_memd_stopping 1") {}
            kill(&self.child);
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(if holds { 3 } else { 0 }));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Pages are mapped, written, read, discarded and given back.
fn converse(connect: impl Fn(ChannelKind) -> Peer) -> [Peer; 3] {
    let [mut control, mut fetch, mut write] = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write].map(connect);
    control.map(1, 1000);
    control.map(2, 10);
    assert!(matches!(write.write(1, &[7, 8], &[page(7), page(8)].concat()), Answer::Frame(..)));
    assert!(fetch.fetch(1, 7, 2) == [page(7), page(8)].concat());
    let run = Discard { first: 8, count: 1 };
    assert_eq!(write.ask(&Message::Discard(run), 1).message(), format!("{:?}", Message::DiscardAck(run)));
    assert_eq!(write.ask(&Message::Fence, 0).message(), "FenceAck");
    assert!(control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck"));
    assert_eq!(control.ask(&Message::RegionUnmap, 2).message(), "RegionUnmapped");
    [control, fetch, write]
}

/// A client that ends, and whose memory is given back with its connection.
fn leave(mut control: Peer) {
    control.map(1, 10);
    assert_eq!(control.ask(&Message::Leave, 0).message(), "Leave");
}

/// A heap is traced by both, with references from one to the other.
fn trace(addresses: &[SocketAddr], key: &Key, directory: &std::path::Path) {
    let made = Made::new(11, 4_000);
    let path = directory.join("heap");
    made.write(&path).unwrap();
    let export = Export::open(&path).unwrap();
    let mut servers = Servers::load_with_key(addresses, &export, 4096, Duration::from_secs(20), Some(key)).unwrap();
    let traced = servers.trace(&export).unwrap();
    assert_eq!(compare(&export, &servers.geometry, &traced).unwrap().objects, made.marked());
    servers.leave().unwrap();
}

/// A directory of a test's own.
fn directory() -> std::path::PathBuf {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("lull-hardened-{}-{number}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    directory
}

/// Those of these operations that a metrics page has no count of.
fn not_asked_for(pages: &str, wanted: &[&'static str]) -> Vec<&'static str> {
    let known = |name: &&str| Op::ALL.iter().any(|op| op.name() == *name);
    assert!(wanted.iter().all(known), "{wanted:?}");
    wanted.iter().copied().filter(|name| !pages.contains(&format!("lull_memd_requests_total{{op=\"{name}\"}} "))).collect()
}

/// What programs ask for whose servers trace nothing. HELLO and PROVE were before all of them, and are not counted.
const PAGING: [&str; 9] = ["REGION_MAP", "FETCH", "WRITE", "FENCE", "DISCARD", "HEARTBEAT", "BYE", "REGION_UNMAP", "LEAVE"];
const TRACING: [&str; 8] = ["LAYOUT", "TRACE_START", "TRACE_ROOTS", "GHOST", "POLL", "TRACE_END", "READ_BITMAP", "READ_DISCOVERED"];

/// Runs all that a server can be asked for, and looks in its metrics whether that was all.
fn every_operation(rules: &[Rule]) {
    let directory = directory();
    let file = directory.join("key");
    std::fs::write(&file, format!("one {}\n", "05".repeat(32))).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let key = Key::new([5; 32]);
    let arguments = ["--listen", "127.0.0.1:0", "--peers", "127.0.0.0/8", "--key", file.to_str().unwrap()];
    let servers = [(), ()].map(|()| Process::start(rules, &arguments));
    let address = servers[0].address();
    let peers = converse(|kind| Peer::with_key(address, &key, hello(1, kind, 1)));
    leave(Peer::with_key(address, &key, hello(3, ChannelKind::Control, 1)));
    trace(&servers.each_ref().map(Process::address), &key, &directory);
    // Somebody who is refused, and somebody who says nothing.
    let (_stranger, answer) = Peer::try_key(address, &Key::new([6; 32]), hello(2, ChannelKind::Control, 1));
    answer.error(lull_far_protocol::ErrorCode::NotAuthenticated);
    drop(Peer::raw(address));
    let pages = servers.each_ref().map(Process::metrics).concat();
    let missing = [not_asked_for(&pages, &PAGING), not_asked_for(&pages, &TRACING)].concat();
    assert!(missing.is_empty(), "not asked for: {missing:?}");
    let [first, second] = servers;
    first.stop(true);
    second.stop(false);
    drop(peers);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// The same of a server at a Unix socket, to which no other server comes: nothing is traced. It finds what a killed one has left.
fn every_operation_at_a_unix_socket(rules: &[Rule]) {
    let directory = directory();
    let path = directory.join("memd.sock");
    let listen = format!("unix:{}", path.display());
    let start = || Process::start(rules, &["--listen", &listen]);
    drop(start());
    assert!(path.exists(), "the file of a killed server is not there");
    let server = start();
    let connect = |kind| {
        let (peer, answer) = Peer::at(&path).unwrap().say_hello(hello(1, kind, 1));
        assert!(answer.message().starts_with("HelloAck"), "{}", answer.message());
        peer
    };
    let [mut control, fetch, write] = converse(connect);
    // Another client, that ends in order.
    let mut other = Peer::at(&path).unwrap().say_hello(hello(2, ChannelKind::Control, 1)).0;
    other.map(1, 1);
    other.ask(&Message::Bye, 0);
    leave(Peer::at(&path).unwrap().say_hello(hello(3, ChannelKind::Control, 1)).0);
    let missing = not_asked_for(&server.metrics(), &PAGING);
    assert!(missing.is_empty(), "not asked for: {missing:?}");
    assert!(control.ask(&Message::Heartbeat, 0).message().starts_with("HeartbeatAck"));
    server.stop(true);
    assert!(!path.exists(), "the file stays");
    drop([control, fetch, write]);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn every_operation_at_a_unix_socket_runs_under_its_profile() {
    every_operation_at_a_unix_socket(&profile::of_profile(UNIX_PROFILE));
}

#[test]
fn every_operation_at_a_unix_socket_runs_under_the_filter_of_its_unit() {
    match profile::of_unit(USERS_UNIT) {
        Some(rules) => every_operation_at_a_unix_socket(&rules),
        None => skip("the filter of the users' unit", "there is no systemd-analyze"),
    }
}

/// Both units, and both profiles, differ in what their sockets need, and in nothing else.
#[test]
fn a_server_at_a_unix_socket_is_permitted_three_things_more() {
    let lines = |text: &'static str| -> std::collections::BTreeSet<&str> {
        // A comment before the sections names one, too.
        let service = text.lines().skip_while(|&line| line != "[Service]").skip(1).take_while(|line| !line.starts_with('['));
        service.filter(|line| !line.starts_with('#') && line.contains('=')).collect()
    };
    let (unit, users) = (lines(UNIT), lines(USERS_UNIT));
    let name = |line: &&str| line.split_once('=').unwrap().0.to_owned();
    let more: Vec<String> = users.difference(&unit).map(name).collect();
    assert_eq!(
        more,
        ["Environment", "EnvironmentFile", "ExecStart", "RestrictAddressFamilies", "RuntimeDirectory", "RuntimeDirectoryMode", "User"]
    );
    let less: Vec<String> = unit.difference(&users).map(name).collect();
    assert_eq!(less, ["DynamicUser", "Environment", "EnvironmentFile", "ExecStart", "RestrictAddressFamilies"]);
    let socket = users.iter().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    assert!(socket.contains(" --listen unix:/run/lull/%i/memd.sock ") && users.contains("RuntimeDirectory=lull/%i"), "{socket}");

    let [few, more] = [PROFILE, UNIX_PROFILE].map(|text| -> Vec<serde_json::Value> {
        let profile: serde_json::Value = serde_json::from_str(text).unwrap();
        profile["syscalls"].as_array().unwrap().clone()
    });
    let added: Vec<_> = more.iter().filter(|entry| !few.contains(entry)).cloned().collect();
    let unix = serde_json::json!([{"index": 0, "value": libc::AF_UNIX, "op": "SCMP_CMP_EQ"}]);
    assert_eq!(
        added,
        [
            serde_json::json!({"names": ["fchmod", "unlink"], "action": "SCMP_ACT_ALLOW"}),
            serde_json::json!({"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": unix}),
        ]
    );
    assert!(few.iter().all(|entry| more.contains(entry)));
}

#[test]
fn every_operation_runs_under_the_profile_of_the_container() {
    every_operation(&profile::of_profile(PROFILE));
}

#[test]
fn every_operation_runs_under_the_filter_of_the_unit() {
    match profile::of_unit(UNIT) {
        Some(rules) => every_operation(&rules),
        None => skip("the unit's filter", "there is no systemd-analyze"),
    }
}

/// System calls that lead out of what a server needs.
const LEAD_OUT: [&str; 44] = [
    "ptrace",
    "process_vm_readv",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "unshare",
    "setns",
    "mount",
    "open_tree",
    "pivot_root",
    "chroot",
    "keyctl",
    "add_key",
    "kexec_load",
    "init_module",
    "finit_module",
    "open_by_handle_at",
    "personality",
    "setuid",
    "setgroups",
    "capset",
    "kill",
    "tgkill",
    "pidfd_open",
    "memfd_create",
    "fork",
    "vfork",
    "unlink",
    "rename",
    "chmod",
    "link",
    "symlink",
    "mknod",
    "swapon",
    "reboot",
    "sethostname",
    "settimeofday",
    "syslog",
    "acct",
    "quotactl",
    "shmget",
    "msgget",
    "semget",
];

/// What a server that was taken over would try first.
#[test]
fn the_profile_permits_nothing_that_leads_out() {
    // AF_UNIX, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG: only the internet's are there.
    leads_nowhere(PROFILE, &LEAD_OUT, vec![1, 16, 17, 40, 38]);
}

/// It takes its socket's file away.
#[test]
fn the_profile_for_a_unix_socket_permits_nothing_that_leads_out_but_to_delete() {
    let but_to_delete: Vec<&str> = LEAD_OUT.into_iter().filter(|name| *name != "unlink").collect();
    leads_nowhere(UNIX_PROFILE, &but_to_delete, vec![16, 17, 40, 38]);
}

/// Tries all that a profile must refuse: calls, families of sockets.
fn leads_nowhere(profile: &str, calls: &[&str], families: Vec<i64>) {
    let program = filter::program(&profile::of_profile(profile), Denied::Fails);
    let numbers = filter::numbers();
    let calls: Vec<i64> = calls.iter().map(|name| i64::from(numbers[*name])).collect();
    let mut command = Command::new("true");
    // SAFETY: it makes system calls, and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            filter::install(&program)?;
            let refused =
                |number: i64, first: i64| libc::syscall(number, first, 0, 0, 0, 0, 0) == -1 && *libc::__errno_location() == libc::EPERM;
            let wrong = calls.iter().position(|&number| !refused(number, 0)).map(|at| 1000 + at as i32);
            let wrong = wrong.or(families.iter().position(|&family| !refused(libc::SYS_socket, family)).map(|at| 2000 + at as i32));
            // A new namespace; and what clone3 would hide from the filter.
            let wrong = wrong.or((!refused(libc::SYS_clone, i64::from(libc::CLONE_NEWUSER))).then_some(3000));
            wrong.map_or(Ok(()), |number| Err(std::io::Error::from_raw_os_error(number)))
        });
    }
    match command.spawn() {
        // What it starts is not the server, and may be refused something.
        Ok(mut child) => drop(child.wait()),
        Err(error) => panic!("{error}: 1000 and the place of the call, 2000 and that of the family, 3000 for clone"),
    }
}

#[test]
fn the_unit_is_as_tight_as_systemd_says() {
    for unit in ["lull-memd.service", "lull-memd@.service"] {
        is_tight(unit);
    }
}

fn is_tight(unit: &str) {
    // In tenths: 1.5. Exit status 1 above it.
    let run = Command::new("systemd-analyze")
        .args(["security", "--no-pager", "--offline=true", "--threshold=15"])
        .arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/systemd")).join(unit))
        .output();
    let Ok(output) = run else { return skip("the unit's score", "there is no systemd-analyze") };
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("offline") && !text.contains("Overall exposure level") {
        return skip("the unit's score", "systemd-analyze cannot look at a file");
    }
    let score = text.lines().find(|line| line.contains("Overall exposure level")).unwrap_or_else(|| panic!("{unit}: {text}"));
    assert!(output.status.success(), "{unit}: {score}");
}

/// As an engine would: from the index to the program.
#[test]
fn the_image_is_one_program_and_says_who_runs_it() {
    let here = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/oci"));
    let directory = std::env::temp_dir().join(format!("lull-image-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(&directory).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
    };
    if !run(Command::new("python3").arg("--version")).0 {
        return skip("the image", "python3 is not installed");
    }
    // A program that needs libraries is refused; one that needs none is the shortest there is.
    std::fs::write(directory.join("main.c"), "void _start(void) { __builtin_trap(); }").unwrap();
    assert!(run(Command::new("cc").args(["-nostdlib", "-static", "-o", "program", "main.c"])).0);
    let image = |program: &str| run(Command::new(here.join("image.py")).args([program, "image.tar"]));
    let (made, text) = image(env!("CARGO_BIN_EXE_lull-memd"));
    assert!(!made && text.contains("it is linked dynamically"), "{text}");
    let (made, text) = image("program");
    assert!(made, "{text}");
    let first = std::fs::read(directory.join("image.tar")).unwrap();
    assert!(image("program").0 && std::fs::read(directory.join("image.tar")).unwrap() == first, "another image of the same program");
    assert!(run(Command::new("tar").args(["-xf", "image.tar"])).0);
    let read = |name: &str| -> serde_json::Value { serde_json::from_slice(&std::fs::read(directory.join(name)).unwrap()).unwrap() };
    let blob = |descriptor: &serde_json::Value| {
        let digest = descriptor["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap().to_owned();
        let name = format!("blobs/sha256/{digest}");
        assert_eq!(std::fs::metadata(directory.join(&name)).unwrap().len(), descriptor["size"].as_u64().unwrap());
        let (_, sum) = run(Command::new("sha256sum").arg(&name));
        assert!(sum.starts_with(&digest), "{name}: {sum}");
        name
    };
    assert_eq!(read("oci-layout")["imageLayoutVersion"], "1.0.0");
    let manifest = read(&blob(&read("index.json")["manifests"][0]));
    let config = read(&blob(&manifest["config"]));
    let layer = blob(&manifest["layers"][0]);
    assert_eq!(manifest["layers"].as_array().unwrap().len(), 1);
    assert_eq!(config["rootfs"]["diff_ids"][0], manifest["layers"][0]["digest"]);
    let (_, files) = run(Command::new("tar").args(["--numeric-owner", "-tvf", &layer]));
    assert!(files.lines().count() == 1 && files.starts_with("-r-xr-xr-x 0/0 ") && files.ends_with(" lull-memd\n"), "{files}");
    assert_eq!(config["config"]["User"], "65532:65532");
    // The Dockerfile says the same.
    let dockerfile = std::fs::read_to_string(here.join("Dockerfile")).unwrap();
    let says = |word: &str| dockerfile.lines().find_map(|line| line.strip_prefix(word)).map(str::trim).unwrap().to_owned();
    assert_eq!((says("FROM "), says("USER ")), ("scratch".to_owned(), config["config"]["User"].as_str().unwrap().to_owned()));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&says("ENTRYPOINT ")).unwrap(), config["config"]["Entrypoint"]);
    assert_eq!(serde_json::json!({says("EXPOSE "): {}}), config["config"]["ExposedPorts"]);
    std::fs::remove_dir_all(&directory).unwrap();
}
