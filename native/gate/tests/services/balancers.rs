// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Two replicas under the agent behind real load balancers, as docs/guides/balancers.md configures them: no replica is taken out, and each request
//! is processed once, or told busy and not processed. Some have bodies that a balancer is still sending when a server answers early: such an answer
//! many lose, and the client has another one, or none.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::server::{self, Server};
use super::{PARALLEL, Setting};

/// Connections to the balancer.
const CLIENTS: usize = 8;
/// The guide, whose configurations are run.
const GUIDE: &str = include_str!("../../../../docs/guides/balancers.md");

/// Balancers, by their programs' names.
pub const BALANCERS: [&str; 4] = ["haproxy", "nginx", "envoy", "caddy"];

/// The program, of this machine or unpacked by native/test.sh, and the directory of its libraries.
pub fn program(name: &str) -> Option<(PathBuf, PathBuf)> {
    let unpacked = PathBuf::from(std::env::var_os("LULL_BALANCERS").unwrap_or_default());
    let libraries = unpacked.join(format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH));
    let version = if name == "envoy" { "--version" } else { "-v" };
    // Of Envoy and Caddy what the guide says is of the versions that are unpacked.
    let directories: &[&str] = match name {
        "envoy" | "caddy" => &["python/envoy/_bin", "python/bin"],
        _ => &["/usr/sbin", "usr/sbin"],
    };
    directories
        .iter()
        .map(|directory| unpacked.join(directory).join(name))
        .find(|path| run(path, &libraries).arg(version).output().is_ok_and(|output| output.status.success()))
        .map(|path| (path, libraries))
}

fn run(path: &Path, libraries: &Path) -> Command {
    let mut command = Command::new(path);
    command.env("LD_LIBRARY_PATH", libraries);
    command
}

/// The guide's configuration of a balancer, with other ports.
fn configuration(name: &str, port: u16, replicas: [u16; 2]) -> Result<String, String> {
    let language = if name == "envoy" { "yaml" } else { name };
    let (_, rest) = GUIDE.split_once(&format!("```{language}\n")).ok_or(format!("the guide has no configuration of {name}"))?;
    let text = rest.split("```").next().unwrap_or_default().to_string();
    let ports = [("8080", port), ("8081", replicas[0]), ("8082", replicas[1])];
    let written = |port: &dyn std::fmt::Display| [format!("127.0.0.1:{port}"), format!("//:{port}"), format!("port_value: {port}")];
    let pairs = ports.iter().flat_map(|(from, to)| written(from).into_iter().zip(written(to)));
    Ok(pairs.fold(text, |text, (from, to)| text.replace(&from, &to)))
}

/// A balancer that runs.
struct Balancer {
    child: Child,
    directory: PathBuf,
    port: u16,
}

impl Balancer {
    fn start(name: &str, change: impl Fn(String) -> String, replicas: [u16; 2]) -> Result<Balancer, String> {
        let (path, libraries) = program(name).ok_or("it is not there")?;
        let port = server::free_port()?;
        let directory = std::env::temp_dir().join(format!("lull-gate-{name}-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        let at = directory.display();
        let text = change(configuration(name, port, replicas)?);
        let text = match name {
            "haproxy" => format!("global\n    stats socket {at}/stats mode 600 level user\n\n{text}"),
            "envoy" => format!("admin: {{address: {{pipe: {{path: {at}/admin}}}}}}\n{text}"),
            "nginx" => format!(
                "user root;\ndaemon off;\npid {at}/pid;\nerror_log {at}/error.log warn;\nevents {{}}\nhttp {{\naccess_log off;\n\
                 client_body_temp_path {at}/body;\nproxy_temp_path {at}/proxy;\nfastcgi_temp_path {at}/f;\nuwsgi_temp_path {at}/u;\n\
                 scgi_temp_path {at}/s;\n{text}}}\n"
            ),
            "caddy" => format!("{{\n    admin off\n    storage file_system {at}\n}}\n{text}"),
            _ => text,
        };
        let file = directory.join(if name == "envoy" { "configuration.yaml" } else { "configuration" });
        std::fs::write(&file, text).map_err(|e| e.to_string())?;
        let mut command = run(&path, &libraries);
        match name {
            "haproxy" => command.arg("-f").arg(&file).arg("-db"),
            "nginx" => command.arg("-e").arg(directory.join("error.log")).arg("-c").arg(&file),
            "caddy" => command.args(["run", "--adapter", "caddyfile", "--config"]).arg(&file).env("XDG_CONFIG_HOME", &directory),
            _ => command.args(["--disable-hot-restart", "--log-level", "warning", "-c"]).arg(&file),
        };
        let log = std::fs::File::create(directory.join("log")).map_err(|e| e.to_string())?;
        let child = command.stdout(Stdio::null()).stderr(log).spawn().map_err(|e| e.to_string())?;
        let mut balancer = Balancer { child, directory, port };
        let give_up = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if balancer.child.try_wait().map_err(|e| e.to_string())?.is_some() || Instant::now() > give_up {
                return Err(format!("{name} does not run with {}", file.display()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(balancer)
    }

    /// What a socket in its directory says to a question.
    fn ask(&self, socket: &str, question: &[u8]) -> Result<String, String> {
        let mut stream = std::os::unix::net::UnixStream::connect(self.directory.join(socket)).map_err(|e| e.to_string())?;
        stream.write_all(question).map_err(|e| e.to_string())?;
        let mut text = String::new();
        stream.read_to_string(&mut text).map_err(|e| e.to_string())?;
        Ok(text)
    }

    /// How often it has taken a replica out, by its own word, and how often it has asked one whether it is well; of the latter Caddy and nginx do
    /// nothing, and Caddy has no word for the former.
    fn taken_out(&self, name: &str) -> Result<(u64, Option<u64>), String> {
        match name {
            "haproxy" => self.taken_out_by_haproxy(),
            "envoy" => self.taken_out_by_envoy(),
            "nginx" => {
                let log = std::fs::read_to_string(self.directory.join("error.log")).map_err(|e| e.to_string())?;
                let words = ["upstream server temporarily disabled", "no live upstreams"];
                Ok((words.iter().map(|words| log.matches(words).count() as u64).sum(), None))
            }
            _ => Ok((0, None)),
        }
    }

    fn taken_out_by_haproxy(&self) -> Result<(u64, Option<u64>), String> {
        let text = self.ask("stats", b"show stat\n")?;
        let mut lines = text.lines();
        let names: Vec<_> = lines.next().ok_or("no statistics")?.trim_start_matches("# ").split(',').collect();
        let column = |name: &str| names.iter().position(|known| *known == name).ok_or(format!("no column {name}"));
        let (server, downs, status) = (column("svname")?, column("chkdown")?, column("check_status")?);
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        let replicas: Vec<_> = rows.iter().filter(|row| row.get(server).is_some_and(|name| ["a", "b"].contains(name))).collect();
        let taken_out: Result<Vec<u64>, _> = replicas.iter().map(|row| row[downs].parse::<u64>().map_err(|_| format!("{row:?}"))).collect();
        // Of a check that has been: L7OK, and others.
        let checked = replicas.iter().filter(|row| row[status].contains("L7")).count() as u64;
        Ok((taken_out?.iter().sum(), Some(checked)))
    }

    fn taken_out_by_envoy(&self) -> Result<(u64, Option<u64>), String> {
        let text = self.ask("admin", b"GET /stats HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
        let count = |name: &str| -> Result<u64, String> {
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("cluster.replicas.{name}: ")));
            line.and_then(|n| n.trim().parse().ok()).ok_or(format!("Envoy has no count of {name}"))
        };
        let out = count("membership_total")? - count("membership_healthy")?;
        // Two failures in a row take one out.
        Ok((out + count("health_check.failure")?, Some(count("health_check.success")?)))
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // nginx's master ends its workers.
        // SAFETY: no pointer is passed.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) };
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Bytes of a body: few, mostly; more than HAProxy holds; nearly what nginx lets through.
fn body(number: usize) -> usize {
    match number % 16 {
        7 => 60_000,
        15 => 900_000,
        _ => 5,
    }
}

/// One client: POST after POST on one connection, until the time is over. Gives the status of each target.
fn client(port: u16, number: usize, seconds: Duration) -> Result<Vec<(String, u16)>, String> {
    let mut answers = Vec::new();
    let end = Instant::now() + seconds;
    let text = |error: std::io::Error| error.to_string();
    let mut connection: Option<BufReader<TcpStream>> = None;
    while Instant::now() < end {
        let target = format!("/{number}/{}", answers.len());
        let mut stream = match connection.take() {
            Some(stream) => stream,
            None => BufReader::new(TcpStream::connect(("127.0.0.1", port)).map_err(text)?),
        };
        stream.get_ref().set_read_timeout(Some(Duration::from_secs(120))).map_err(text)?;
        let bytes = body(answers.len());
        let mut request = format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: {bytes}\r\n\r\n").into_bytes();
        request.resize(request.len() + bytes, b'x');
        // A balancer may have answered before it has all, and closed: its answer is to be read.
        let is_sent = stream.get_mut().write_all(&request).is_ok();
        let (mut line, mut status, mut length, mut keeps) = (String::new(), 0, 0, true);
        loop {
            line.clear();
            if stream.read_line(&mut line).map_err(text)? == 0 {
                return Err(format!("{target}, of {bytes} bytes: the balancer has closed the connection without an answer"));
            }
            let line = line.trim_end().to_ascii_lowercase();
            if status == 0 {
                status = line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or(line)?;
            } else if let Some(n) = line.strip_prefix("content-length:") {
                length = n.trim().parse().map_err(|_| n.to_string())?;
            } else if line.starts_with("connection:") && line.contains("close") {
                keeps = false;
            } else if line.is_empty() {
                break;
            }
        }
        stream.read_exact(&mut vec![0; length]).map_err(text)?;
        answers.push((target, status));
        connection = Some(stream).filter(|_| keeps && is_sent && (bytes == 5 || status == 200));
    }
    Ok(answers)
}

/// What all clients have had, whose targets begin with a number from `first` on.
fn clients(port: u16, first: usize, seconds: Duration) -> Result<Vec<(String, u16)>, String> {
    std::thread::scope(|scope| {
        let clients: Vec<_> = (first..first + CLIENTS).map(|n| scope.spawn(move || client(port, n, seconds))).collect();
        clients.into_iter().map(|client| client.join().unwrap_or(Err("a panic".to_string()))).collect::<Result<Vec<_>, _>>()
    })
    .map(|answers| answers.concat())
}

/// How often each status came, if what was processed agrees.
fn judged(answers: Vec<(String, u16)>, replicas: &mut [Server; 2]) -> Result<HashMap<u16, u64>, String> {
    let counts = [replicas[0].processed()?, replicas[1].processed()?];
    let mut statuses = HashMap::new();
    for (target, status) in answers {
        let processed: u64 = counts.iter().filter_map(|counts| counts.get(&target)).sum();
        if processed != u64::from(status == 200) {
            return Err(format!("{target} was answered {status}, and processed {processed} times"));
        }
        *statuses.entry(status).or_default() += 1;
    }
    Ok(statuses)
}

/// What the guide says that happens without a part of its configuration. `busy` counts the gate's busy answers.
fn without(setting: &Setting, name: &str, ports: [u16; 2], busy: &mut dyn FnMut() -> Result<f64, String>) -> Result<(), String> {
    let part = match name {
        "nginx" => " max_fails=0",
        "envoy" => "request_headers_to_remove: [x-envoy-expected-rq-timeout-ms]",
        "caddy" => "request_buffers 1MB",
        _ => return Ok(()),
    };
    if !configuration(name, 0, [0, 0])?.contains(part) {
        return Err(format!("the guide's configuration of {name} has no '{part}'"));
    }
    let before = busy()?;
    let balancer = Balancer::start(name, |text| text.replace(part, ""), ports)?;
    let answers = clients(balancer.port, CLIENTS, setting.seconds)?;
    if name == "nginx" && balancer.taken_out(name)?.0 == 0 {
        return Err(format!("without {part} no replica is taken out: this test would not see it, either"));
    }
    let told = busy()? - before;
    match name {
        // The gate waits as long as Envoy says that it does.
        "envoy" if told > 0.0 => Err(format!("without {part} the gate gives {told} busy answers: the guide says none")),
        "envoy" => Ok(()),
        _ if answers.iter().any(|(_, status)| *status == 502) => Ok(()),
        _ => Err(format!("without {part} nothing is answered 502: this test would not see it, either")),
    }
}

/// Two replicas, and one of [`BALANCERS`] before them.
pub fn balancer(setting: &Setting, name: &str) -> Result<String, String> {
    let start = || Server::start(&setting.jdk, PARALLEL, "deadline=1,leave=/healthz", &["nio", "150", "700"]);
    let mut replicas = [start()?, start()?];
    let ports = [replicas[0].port, replicas[1].port];
    let busy = |replicas: &mut [Server; 2]| -> Result<f64, String> {
        Ok(replicas[0].metric("lull_gate_answered_total")? + replicas[1].metric("lull_gate_answered_total")?)
    };
    let balancer = Balancer::start(name, |text| text, ports)?;
    let answers = clients(balancer.port, 0, setting.seconds * 2)?;
    let uploads = answers.iter().filter(|(target, _)| target.rsplit('/').next().and_then(|n| n.parse().ok()).map_or(0, body) > 5).count();
    if uploads == 0 {
        return Err(format!("of {} requests none had a body of some size", answers.len()));
    }
    let statuses = judged(answers, &mut replicas)?;
    let answered = busy(&mut replicas)?;
    if let Some(status) = statuses.keys().find(|status| ![200, 503].contains(*status)) {
        return Err(format!("{name} answered {status}: {statuses:?}"));
    }
    let (ok, told) = (statuses.get(&200).copied().unwrap_or(0), statuses.get(&503).copied().unwrap_or(0));
    // Most of what one replica tells busy the other one serves.
    if answered == 0.0 || ok == 0 || told as f64 >= answered {
        return Err(format!("{ok} served, {told} told busy, and {answered} busy answers of the gate"));
    }
    let (taken_out, checks) = balancer.taken_out(name)?;
    if taken_out > 0 || checks == Some(0) {
        let log = std::fs::read_to_string(balancer.directory.join("log")).unwrap_or_default();
        return Err(format!("{name} has taken a replica out {taken_out} times, and asked {checks:?}: {log}"));
    }
    drop(balancer);
    without(setting, name, ports, &mut || busy(&mut replicas))?;
    let pauses = replicas[0].metric("lull_gate_collections_total")? + replicas[1].metric("lull_gate_collections_total")?;
    Ok(format!("{ok} processed, {told} busy at both, {uploads} of them uploads, {answered} busy answers of replicas in {pauses} pauses"))
}
