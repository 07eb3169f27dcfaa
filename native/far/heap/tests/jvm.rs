// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Heaps of a JVM with Lull, exported by it: 1, 2 and 3 servers mark what the JVM has marked, bit for bit.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lull_far_heap::compare::compare;
use lull_far_heap::cycle::Servers;
use lull_far_heap::export::Export;
use lull_memd::{Config, Server};

/// Says why a test is skipped: to standard error, and to the file that the script which runs the tests counts.
fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    if let Some(path) = std::env::var_os("LULL_SKIPPED") {
        std::fs::File::options().append(true).create(true).open(path).and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}

/// A JDK with Lull: LULL_JAVA, or one that was built here.
fn java() -> Option<PathBuf> {
    if let Some(java) = std::env::var_os("LULL_JAVA") {
        return Some(java.into());
    }
    let build = std::env::var_os("LULL_BUILD").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build"), PathBuf::from);
    ["jdk", "jdk-debug"].iter().map(|jdk| build.join(jdk).join("bin/java")).find(|java| java.exists())
}

/// A directory of this test, removed at its end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Directory {
        let path = std::env::temp_dir().join(format!("lull-heaps-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Directory(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn servers_mark_what_the_jvm_has_marked() {
    let Some(java) = java() else {
        skip("heaps of a JVM with Lull", "there is neither LULL_JAVA nor a JDK in build/: make jdk");
        return;
    };
    let directory = Directory::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/Heaps.java");
    let compiled = Command::new(java.with_file_name("javac")).args(["-nowarn", "-d"]).arg(&directory.0).arg(&source).status();
    assert!(compiled.unwrap().success(), "{}", source.display());
    let output = Command::new(&java)
        .args(["-XX:+UseLullGC", "-Xmx96m", "-cp"])
        .arg(&directory.0)
        .args(["Heaps", "60000", "3", "1"])
        .arg(directory.0.join("heap"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let (mut heaps, mut references) = (0, 0);
    for number in 1..=3 {
        let export = Export::open(&directory.0.join(format!("heap.{number}"))).unwrap_or_else(|error| panic!("{error}\n{said}"));
        assert!(export.marked > 50_000, "only {} objects live", export.marked);
        for (count, part) in [(1, 4 << 20), (2, 4 << 20), (3, 4 << 20), (3, 4096)] {
            let peers = vec!["127.0.0.1".parse().unwrap()];
            let memory = export.bytes / count + (8 << 20);
            let config = || Config { peers: peers.clone(), ..Config::new("127.0.0.1:0".parse().unwrap(), memory) };
            let servers: Vec<Server> = (0..count).map(|_| Server::start(config()).unwrap()).collect();
            let addresses: Vec<SocketAddr> = servers.iter().map(|server| server.address).collect();
            let mut client = Servers::load(&addresses, &export, part, Duration::from_secs(60)).unwrap();
            let traced = client.trace(&export).unwrap();
            let equal = compare(&export, &client.geometry, &traced).unwrap_or_else(|text| panic!("heap {number}, {count} servers: {text}"));
            assert_eq!(equal.objects, export.marked);
            client.leave().unwrap();
            heaps += 1;
            references += equal.references;
            for server in servers {
                server.handle().stop_now();
                let _ = server.wait();
            }
        }
    }
    assert_eq!(heaps, 12);
    assert!(references > 12 * 1000, "only {references} weak, soft, final and phantom references");
}
