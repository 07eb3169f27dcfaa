// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A JVM with the agent and GateServer.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Server {
    child: Child,
    pub port: u16,
    control: u16,
    metrics: u16,
}

pub fn setting(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("{name} is not set; run native/test.sh"))
}

/// A port that was free just now.
pub fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    listener.local_addr().map(|a| a.port()).map_err(|e| e.to_string())
}

/// `java` of a JDK. What `LULL_GATE_PRELOAD` names comes before all its libraries: the runtime of AddressSanitizer, if the agent has that.
pub fn java(jdk: &Path) -> Command {
    let mut command = Command::new(jdk.join("bin/java"));
    if let Some(library) = std::env::var_os("LULL_GATE_PRELOAD") {
        command.env("LD_PRELOAD", library);
    }
    command
}

/// `java -version` with the agent: whether it succeeded, and all that it said.
pub fn version(jdk: &Path, options: &str) -> Result<(bool, String), String> {
    run(jdk, options, &["-version"])
}

/// A VM with the agent until its end: whether it succeeded, and its standard error.
pub fn run(jdk: &Path, options: &str, arguments: &[&str]) -> Result<(bool, String), String> {
    let agent = format!("-agentpath:{}={options}", setting("LULL_GATE_LIBRARY")?);
    let output = java(jdk).arg(&agent).args(arguments).output().map_err(|e| e.to_string())?;
    Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// Whether java takes these arguments.
pub fn version_with(jdk: &Path, arguments: &[&str]) -> bool {
    java(jdk).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// What comes for `question` until the end of the stream.
pub fn get(port: u16, question: &str) -> Result<String, String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|e| e.to_string())?;
    stream.set_read_timeout(Some(Duration::from_secs(300))).map_err(|e| e.to_string())?;
    stream.write_all(question.as_bytes()).map_err(|e| e.to_string())?;
    let mut text = String::new();
    stream.read_to_string(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

impl Server {
    /// `flags` of the VM, separated by spaces: the collector, mostly.
    pub fn start(jdk: &Path, flags: &str, options: &str, arguments: &[&str]) -> Result<Server, String> {
        Self::start_with(jdk, flags, "port", options, arguments)
    }

    /// The same of a service whose port is given to the agent by another option.
    pub fn start_with(jdk: &Path, flags: &str, port_option: &str, options: &str, arguments: &[&str]) -> Result<Server, String> {
        Self::start_by(java(jdk), flags, port_option, options, arguments)
    }

    /// The same of a service that has so many descriptors at most.
    pub fn start_limited(jdk: &Path, flags: &str, options: &str, descriptors: usize, arguments: &[&str]) -> Result<Server, String> {
        let java = java(jdk);
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {descriptors} && exec \"$@\""), "sh"]).arg(java.get_program());
        limited.envs(java.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self::start_by(limited, flags, "port", options, arguments)
    }

    fn start_by(mut command: Command, flags: &str, port_option: &str, options: &str, arguments: &[&str]) -> Result<Server, String> {
        let (port, metrics) = (free_port()?, free_port()?);
        let agent = format!("-agentpath:{}={port_option}={port},metrics={metrics},{options}", setting("LULL_GATE_LIBRARY")?);
        let mut child = command
            .args(["-Xms1200m", "-Xmx1200m", "-XX:ParallelGCThreads=1", &format!("-Dport={port}"), &agent])
            .args(flags.split_whitespace())
            // So that the counters are read from memory that no file shows, as Cassandra has it.
            .args(["-XX:+PerfDisableSharedMem", "-Dsun.net.httpserver.nodelay=true"])
            .args(["-cp", &setting("LULL_GATE_CLASSES")?, "GateServer"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).map_err(|e| e.to_string())?;
        let words: Vec<_> = line.split_whitespace().collect();
        let control = match words[..] {
            ["ports", _, control] => control.parse().map_err(|_| line.clone())?,
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the server did not start: '{line}'"));
            }
        };
        Ok(Server { child, port, control, metrics })
    }

    /// The VM's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How many descriptors it has open.
    pub fn descriptors(&self) -> Result<usize, String> {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).map(Iterator::count).map_err(|e| e.to_string())
    }

    /// Stops the VM by a heap dump; waits for its end.
    pub fn dump(&self) -> Result<(), String> {
        get(self.control, "dump").map(drop)
    }

    /// What GateServer's `Flight` answers to a command.
    pub fn flight(&self, command: &str) -> Result<String, String> {
        get(self.control, command)
    }

    /// How often each target was processed.
    pub fn processed(&mut self) -> Result<HashMap<String, u64>, String> {
        let text = get(self.control, "show")?;
        let counts = text.lines().map(|line| {
            let (target, count) = line.split_once(' ').ok_or(line)?;
            Ok((target.to_string(), count.parse().map_err(|_| line)?))
        });
        counts.collect::<Result<_, &str>>().map_err(|line| format!("no count: {line}"))
    }

    /// The agent's metrics.
    pub fn metrics(&mut self) -> Result<HashMap<String, f64>, String> {
        let text = get(self.metrics, "GET /metrics HTTP/1.1\r\n\r\n")?;
        let body = text.split_once("\r\n\r\n").ok_or("no body")?.1;
        let values = body.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
        Ok(values.filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?))).collect())
    }

    /// One of them; 0 if it is not there.
    pub fn metric(&mut self, name: &str) -> Result<f64, String> {
        Ok(self.metrics()?.get(name).copied().unwrap_or(0.0))
    }

    /// Ends the VM; an error unless it exits with 0.
    pub fn stop(&mut self) -> Result<(), String> {
        get(self.control, "exit")?;
        let give_up = Instant::now() + Duration::from_secs(300);
        while Instant::now() < give_up {
            match self.child.try_wait().map_err(|e| e.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the VM ended with {status}")),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Err("the VM did not end".to_string())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
