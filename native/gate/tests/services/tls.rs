// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Services behind TLS that the gate serves, with real clients of both versions of HTTP: in pauses they are told busy inside of TLS, and each
//! request is processed once, or told busy and not processed.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::server::{self, Server};
use super::{PARALLEL, Setting};

const CERT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls/cert-a.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls/key-a.pem");
const OTHER_KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tls/key-b.pem");

/// What is tested: a client, the option for the service's port, and the service.
pub const TESTS: [(&str, &str, &str); 5] = [
    ("curl, HTTP/1.1", "port", "nio"),
    ("curl, HTTP/2", "h2-port", "h2-nio"),
    ("the JDK's client, HTTP/1.1", "port", "httpserver"),
    ("the JDK's client, HTTP/1.1, Netty on epoll", "port", "netty-epoll"),
    ("the JDK's client, HTTP/2", "h2-port", "h2-nio"),
];

/// Requests of one curl.
const REQUESTS: usize = 4000;

/// Targets with their statuses, of curl: one request after the other, all on one connection.
fn curl(version: &str, port: u16, round: usize) -> Result<String, String> {
    let mut curl = Command::new("curl")
        .args(["-s", version, "--cacert", CERT, "-d", "hello", "-o", "/dev/null", "-w", "%{url_effective} %{http_code} %{num_connects}\\n"])
        .args(["--max-time", "120", "-K", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("curl: {e}"))?;
    let mut stdin = curl.stdin.take().expect("piped");
    let text: String = (0..REQUESTS).map(|n| format!("url = https://localhost:{port}/{round}/curl/{n}\n-o /dev/null\n")).collect();
    stdin.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    drop(stdin);
    let output = curl.wait_with_output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).replace(&format!("https://localhost:{port}"), "");
    if !output.status.success() {
        return Err(format!("curl ended with {}: {}", output.status, text.lines().last().unwrap_or_default()));
    }
    let connects: u64 = text.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
    if connects != 1 {
        return Err(format!("curl has made {connects} connections"));
    }
    Ok(text.lines().filter_map(|line| Some(line.rsplit_once(' ')?.0.to_string() + "\n")).collect())
}

/// The same of the JDK's client, with eight threads.
fn jdk(setting: &Setting, version: &str, port: u16, round: usize) -> Result<String, String> {
    let output = Command::new(setting.jdk.join("bin/java"))
        .args(["-Xmx300m", "-XX:+UseSerialGC", "-cp", &server::setting("LULL_GATE_CLASSES")?, "TlsLoad"])
        .args([&port.to_string(), CERT, version, "8", &setting.seconds.as_secs().to_string(), &round.to_string()])
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("TlsLoad ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How often each status came, if each request was processed as often as it says.
fn judged(lines: &[String], processed: &HashMap<String, u64>) -> Result<BTreeMap<String, u64>, String> {
    let mut statuses = BTreeMap::new();
    for line in lines.iter().flat_map(|text| text.lines()) {
        let (target, status) = line.split_once(' ').ok_or(line)?;
        let count = processed.get(target).copied().unwrap_or(0);
        if !["200", "503"].contains(&status) || count != u64::from(status == "200") {
            return Err(format!("{target} was answered {status}, and processed {count} times"));
        }
        *statuses.entry(status.to_string()).or_default() += 1;
    }
    Ok(statuses)
}

/// One of [`TESTS`].
pub fn tls(setting: &Setting, client: &str, port_option: &str, mode: &str) -> Result<String, String> {
    // This curl's RST_STREAM of what was answered, in front of its next request, is the service's to read: none of its requests need be told busy.
    let is_told_busy = client != "curl, HTTP/2";
    let port = server::free_port()?;
    let options = format!("deadline=1,tls-port=127.0.0.1:{port},cert={CERT},key={KEY}");
    let mut server = Server::start_with(&setting.jdk, PARALLEL, port_option, &options, &[mode, "150", "300"])?;
    // It is let in once the gate's thread has seen that the service listens.
    let give_up = Instant::now() + Duration::from_secs(60);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > give_up {
            return Err(format!("nobody listens at {port}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut lines = Vec::new();
    for round in 0..10 {
        lines.push(match (client.starts_with("curl"), port_option) {
            (true, "port") => curl("--http1.1", port, round)?,
            (true, _) => curl("--http2", port, round)?,
            (false, "port") => jdk(setting, "HTTP_1_1", port, round)?,
            (false, _) => jdk(setting, "HTTP_2", port, round)?,
        });
        let has = |status: &str| lines.iter().any(|text: &String| text.lines().any(|line| line.ends_with(status)));
        if has(" 200") && (has(" 503") || !is_told_busy) {
            break;
        }
    }
    let processed = server.processed()?;
    let metrics = server.metrics()?;
    server.stop()?;
    let statuses = judged(&lines, &processed)?;
    let (ok, busy) = (statuses.get("200").copied().unwrap_or(0), statuses.get("503").copied().unwrap_or(0));
    let metric = |name: &str| metrics.get(name).copied().unwrap_or(-1.0);
    if metric("lull_gate_answered_total") != busy as f64 || processed.len() as u64 != ok {
        return Err(format!("{statuses:?}; {} processed; {metrics:?}", processed.len()));
    }
    if let Some((name, n)) = metrics.iter().find(|(name, n)| (name.contains("opaque") || name.contains("tls_failed")) && **n > 0.0) {
        return Err(format!("{name} is {n}"));
    }
    // All but the one above have come to the service.
    let connections = metric("lull_gate_connections_total");
    if ok == 0 || (busy == 0 && is_told_busy) || metric("lull_gate_tls_connections_total") != connections + 1.0 {
        return Err(format!("{statuses:?}; {metrics:?}"));
    }
    Ok(format!("{ok} processed, {busy} busy, {connections} connections"))
}

/// What is wrong with a certificate or the port stops the VM before it starts, with a sentence.
pub fn options(setting: &Setting) -> Result<String, String> {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let taken = taken.local_addr().map_err(|e| e.to_string()).map(|address| (taken, address))?;
    let free = server::free_port()?;
    for (options, part) in [
        (format!("tls-port={free},cert={CERT},key={OTHER_KEY}"), "is not the key of the certificate"),
        (format!("tls-port={free},cert=/none.pem,key={KEY}"), "/none.pem cannot be read: No such file"),
        (format!("tls-port={},cert={CERT},key={KEY}", taken.1), "cannot be had: Address already in use"),
        (format!("tls-port={free}"), "needs a certificate and its key"),
    ] {
        let (success, output) = server::version(&setting.jdk, &format!("port=80,{options}"))?;
        if success || !output.contains(part) {
            return Err(format!("with '{options}': success {success}, {output}"));
        }
    }
    let (success, output) = server::version(&setting.jdk, &format!("port=80,tls-port=127.0.0.1:{free},cert={CERT},key={KEY}"))?;
    if success { Ok("4 refused, 1 accepted".to_string()) } else { Err(output) }
}
