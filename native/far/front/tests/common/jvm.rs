// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A JVM with Lull and a far heap.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Directory, front, permitted, server, skip, text, watch};

/// A JDK with Lull: LULL_JAVA, or one that was built here. Says why there is none to test.
pub fn java(test: &str) -> Option<PathBuf> {
    if std::env::var_os("LULL_NATIVE_SCOPE").is_some_and(|scope| scope == "quick") {
        skip(test, "a quick run");
        return None;
    }
    if !permitted("thread", test) {
        return None;
    }
    if let Some(java) = std::env::var_os("LULL_JAVA") {
        return Some(java.into());
    }
    let build = std::env::var_os("LULL_BUILD").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../build"), PathBuf::from);
    let found = ["jdk", "jdk-debug"].iter().map(|jdk| build.join(jdk).join("bin/java")).find(|java| java.exists());
    if found.is_none() {
        skip(test, "there is neither LULL_JAVA nor a JDK in build/: make jdk");
    }
    found
}

/// The same of one that checks all that it can, and has flags for tests.
pub fn debug_java(test: &str) -> Option<PathBuf> {
    let java = java(test)?;
    let is_debug = |java: &Path| {
        let said = Command::new(java).arg("-version").output();
        said.is_ok_and(|said| text(&said.stderr).contains("fastdebug"))
    };
    let beside = java.parent()?.parent()?.with_file_name("jdk-debug").join("bin/java");
    let found = [java, beside].into_iter().find(|java| is_debug(java));
    if found.is_none() {
        skip(test, "there is no debug build of a JDK with Lull: make jdk-debug");
    }
    found
}

/// A JVM with Lull and a far heap.
pub struct Jvm<'a> {
    pub java: &'a Path,
    pub directory: &'a Directory,
    pub local: &'a str,
    /// Of `lull-far run`.
    pub options: &'a [&'a str],
    pub heap: &'a str,
    /// Of the JVM.
    pub flags: &'a [&'a str],
}

impl Jvm<'_> {
    /// Compiles a class of these tests.
    pub fn compile(java: &Path, directory: &Directory, class: &str) {
        Self::compile_with(java, directory, &[class]);
    }

    /// The same of some that need each other.
    pub fn compile_with(java: &Path, directory: &Directory, classes: &[&str]) {
        let source = |class| Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/java/{class}.java"));
        let sources = classes.iter().map(source);
        let compiled = Command::new(java.with_file_name("javac")).args(["-nowarn", "-d", directory.name()]).args(sources).output().unwrap();
        assert!(compiled.status.success(), "{classes:?}: {}", text(&compiled.stderr));
    }

    /// Runs a class; what it has come to, and the most bytes of its heap that were local.
    pub fn run(&self, arguments: &[&str]) -> (Output, u64) {
        self.run_with(&[server(256), server(256)], arguments)
    }

    /// The same with servers of one's own.
    pub fn run_with(&self, servers: &[lull_memd::Server], arguments: &[&str]) -> (Output, u64) {
        let names = servers.iter().map(|server| server.address.to_string()).collect::<Vec<_>>().join(",");
        watch(&mut self.command(&names, arguments))
    }

    /// The command, with servers by name.
    pub fn command(&self, servers: &str, arguments: &[&str]) -> Command {
        // No server is lost on a busy machine, where no test says how soon one is to be.
        let timeout = (!self.options.contains(&"--server-timeout")).then_some(["--server-timeout", "60000"]);
        let mut command = front();
        command
            .args(["run", "--servers", servers, "--local", self.local, "--statistics"])
            .args(timeout.into_iter().flatten())
            .args(self.options)
            .arg("--")
            .arg(self.java)
            .args(["-XX:+UseLullGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:-LullVerifyHeap", self.heap])
            .args([&format!("-XX:AllocateHeapAt={}", self.directory.name()), "-Xlog:gc*:stdout"])
            .args(self.flags)
            .args(["-cp", self.directory.name()])
            .args(arguments);
        command
    }
}

/// A server that may connect to the others.
pub fn tracing_server() -> lull_memd::Server {
    tracing_server_at("127.0.0.1:0".parse().unwrap())
}

/// The same at an address.
pub fn tracing_server_at(address: std::net::SocketAddr) -> lull_memd::Server {
    let peers = vec!["127.0.0.1".parse().unwrap()];
    let config = lull_memd::Config { peers, ..lull_memd::Config::new(address, 256 << 20) };
    lull_memd::Server::start(config).unwrap()
}

/// How many cycles servers have marked since a test's program had control of them: others may have begun before.
pub fn marked_in_control(said: &str) -> usize {
    let since = said.split("in control").nth(1).unwrap_or_else(|| panic!("{said}"));
    since.matches("Memory servers have marked what was old").count()
}
