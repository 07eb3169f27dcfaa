// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The server where little is permitted: under the seccomp profile of its container, and under its systemd unit's filter. Every operation
//! of the protocol runs under each, and a call that is not permitted ends the process.

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

/// A server as a process behind a filter: where it listens, and its metrics.
struct Process {
    child: Child,
    address: SocketAddr,
    metrics: SocketAddr,
}

impl Process {
    fn start(rules: &[Rule], key: &str) -> Process {
        let program = filter::program(rules, Denied::EndsTheProcess);
        let metrics = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_lull-memd"));
        command
            .args(["--listen", "127.0.0.1:0", "--memory", "16m", "--peers", "127.0.0.0/8", "--key", key, "--log", "json"])
            .args(["--metrics", &metrics.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // SAFETY: it makes two system calls.
        unsafe { command.pre_exec(move || filter::install(&program)) };
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening at ").unwrap_or_else(|| {
            let mut log = String::new();
            let status = child.wait().unwrap();
            let _ = child.stderr.take().unwrap().read_to_string(&mut log);
            panic!("{status}: {line:?} {log}")
        });
        let address = address.trim().parse().unwrap();
        Process { child, address, metrics }
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
fn converse(address: SocketAddr, key: &Key) -> [Peer; 3] {
    let kinds = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write];
    let [mut control, mut fetch, mut write] = kinds.map(|kind| Peer::with_key(address, key, hello(1, kind, 1)));
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

/// Runs all that a server can be asked for, and looks in its metrics whether that was all.
fn every_operation(rules: &[Rule]) {
    static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("lull-hardened-{}-{number}", std::process::id()));
    std::fs::create_dir(&directory).unwrap();
    let file = directory.join("key");
    std::fs::write(&file, format!("one {}\n", "05".repeat(32))).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let key = Key::new([5; 32]);
    let servers = [(), ()].map(|()| Process::start(rules, file.to_str().unwrap()));
    let peers = converse(servers[0].address, &key);
    trace(&servers.each_ref().map(|server| server.address), &key, &directory);
    // Somebody who is refused, and somebody who says nothing.
    let (_stranger, answer) = Peer::try_key(servers[0].address, &Key::new([6; 32]), hello(2, ChannelKind::Control, 1));
    answer.error(lull_far_protocol::ErrorCode::NotAuthenticated);
    drop(Peer::raw(servers[0].address));
    let pages = servers.each_ref().map(Process::metrics).concat();
    let asked = |op: &&Op| pages.contains(&format!("lull_memd_requests_total{{op=\"{}\"}} ", op.name()));
    // HELLO and PROVE were before all of them, and are not counted.
    let all: Vec<&str> = Op::ALL.iter().filter(asked).map(|op| op.name()).collect();
    let wanted = [
        ["REGION_MAP", "FETCH", "WRITE", "FENCE", "DISCARD", "HEARTBEAT", "BYE", "REGION_UNMAP"],
        ["LAYOUT", "TRACE_START", "TRACE_ROOTS", "GHOST", "POLL", "TRACE_END", "READ_BITMAP", "READ_DISCOVERED"],
    ];
    for op in wanted.as_flattened() {
        assert!(all.contains(op), "{op} was not asked for: {all:?}");
    }
    let [first, second] = servers;
    first.stop(true);
    second.stop(false);
    drop(peers);
    std::fs::remove_dir_all(&directory).unwrap();
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
    let program = filter::program(&profile::of_profile(PROFILE), Denied::Fails);
    let numbers = filter::numbers();
    let calls: Vec<(&str, i64)> = LEAD_OUT.iter().map(|name| (*name, i64::from(numbers[*name]))).collect();
    // AF_UNIX, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG: only the internet's are there.
    let families = [1_i64, 16, 17, 40, 38];
    let mut command = Command::new("true");
    // SAFETY: it makes system calls, and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            filter::install(&program)?;
            let refused =
                |number: i64, first: i64| libc::syscall(number, first, 0, 0, 0, 0, 0) == -1 && *libc::__errno_location() == libc::EPERM;
            let wrong = calls.iter().position(|&(_, number)| !refused(number, 0)).map(|at| 1000 + at as i32);
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
    // In tenths: 1.5. Exit status 1 above it.
    let run = Command::new("systemd-analyze")
        .args([
            "security",
            "--no-pager",
            "--offline=true",
            "--threshold=15",
            concat!(env!("CARGO_MANIFEST_DIR"), "/systemd/lull-memd.service"),
        ])
        .output();
    let Ok(output) = run else { return skip("the unit's score", "there is no systemd-analyze") };
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("offline") && !text.contains("Overall exposure level") {
        return skip("the unit's score", "systemd-analyze cannot look at a file");
    }
    let score = text.lines().find(|line| line.contains("Overall exposure level")).unwrap_or_else(|| panic!("{text}"));
    assert!(output.status.success(), "{score}");
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
