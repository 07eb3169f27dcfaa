// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! h2spec's cases (`tests/h2spec/go.mod`): to a server of HTTP/2 alone, to the same one under the gate, and to both once more by way of somebody
//! who has the server answer a request first, so that the gate may answer, and passes on what the case says only in pauses. A case comes to the same
//! each time, but for those of [`OTHERWISE`].

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use super::framing::FOLLOWS;
use super::framing2::{ACK, END_HEADERS, END_STREAM, GOAWAY, HEADER, HEADERS, SETTINGS, block, first, frame};
use super::server::Server;
use super::{PARALLEL, Setting};

/// Fewer of them have not been run as they should be.
const LEAST_CASES: usize = 140;
/// Requests that the gate answers in them: those that are as they should be. 60 and 61 were seen, and 75 while it answered malformed ones, too.
const LEAST_ANSWERED: f64 = 50.0;
/// A case that waits for something is over after so many seconds: more than a pause, and what lies between two.
const SECONDS: &str = "8";
/// Until something comes that must come.
const PATIENCE: Duration = Duration::from_secs(60);
/// A frame that is not whole after so long will never be.
const PART: Duration = Duration::from_millis(300);
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const PRIORITY: u8 = 2;
/// Flags of HEADERS.
const PADDED: u8 = 8;
const DEPENDS: u8 = 0x20;

/// Cases that may come to something else under the gate, by how their names begin.
const OTHERWISE: [&str; 10] = [
    // The gate says in the server's name that the table has size 0; the server permits its own 4096, up to which it follows the client. So does the
    // gate, which leaves the connection alone from there on.
    "hpack/6.3, Sends a dynamic table size update larger than the value of SETTINGS_HEADER_TABLE_SIZE",
    // What comes behind an answered request's end is dropped: a client may have sent it before it gave the request up, as gRPC's in Java does.
    "http2/5.1, closed: Sends a DATA frame after sending RST_STREAM frame",
    "http2/5.1, closed: Sends a HEADERS frame",
    // They ask for an answer with content first. A busy one has none, and they are skipped.
    "http2/6.5.3, Sends multiple values of SETTINGS_INITIAL_WINDOW_SIZE",
    "http2/6.9.1, Sends SETTINGS frame to set the initial window size to 1 and sends HEADERS frame",
    "http2/6.9.2, Changes SETTINGS_INITIAL_WINDOW_SIZE after sending HEADERS frame",
    // Room for an answer that is over.
    "http2/6.9.1, Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream",
    // Trailers, and lengths of bodies, of requests that nobody processes.
    "http2/8.1.2.1, Sends a HEADERS frame that contains a pseudo-header field as trailers",
    "http2/8.1.2.6, Sends a HEADERS frame with the &#34;content-length&#34; header field which does not equal",
    // The server does not refuse them, either.
    "http2/8.1.2.3, Sends a HEADERS frame that omits",
];
/// Server's own words about each of the cases are not wanted.
const FLAGS: &str = "-Djava.util.logging.config.file=/dev/null";

/// The program that native/test.sh builds.
pub fn program() -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os("LULL_H2SPEC")?);
    Command::new(&path).arg("--version").output().is_ok_and(|output| output.status.success()).then_some(path)
}

/// What a case came to.
#[derive(PartialEq, Eq)]
struct Case {
    name: String,
    /// `passed`, `skipped`, or what was seen in place of what should be.
    end: String,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.end)
    }
}

/// All cases to a port.
fn cases(port: u16) -> Result<Vec<Case>, String> {
    let report = std::env::temp_dir().join(format!("lull-h2spec-{}-{port}.xml", std::process::id()));
    let program = program().ok_or("it is not there")?;
    // It fails if one of its cases does.
    let output = Command::new(program)
        .args(["-p", &port.to_string(), "-o", SECONDS, "-j"])
        .arg(&report)
        .output()
        .map_err(|error| error.to_string())?;
    let text = std::fs::read_to_string(&report).map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let _ = std::fs::remove_file(&report);
    let cases: Vec<Case> = text.split("<testcase ").skip(1).map(case).collect();
    if cases.len() < LEAST_CASES { Err(format!("{} cases: {text}", cases.len())) } else { Ok(cases) }
}

/// Of a report of JUnit's form, what is behind `<testcase`.
fn case(text: &str) -> Case {
    let value = |name: &str| text.split_once(&format!("{name}=\"")).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
    let name = format!("{}, {}", value("package"), value("classname"));
    let text = text.split("</testcase>").next().unwrap_or_default();
    let end = match ["skipped", "failure", "error"].iter().find(|kind| text.contains(&format!("<{kind}>"))) {
        None => "passed".to_string(),
        Some(&"skipped") => "skipped".to_string(),
        Some(kind) => {
            let text = text.split_once(&format!("<{kind}>")).map_or("", |(_, rest)| rest).split("</").next().unwrap_or_default();
            let seen = text.split_once("Actual:").map_or(text, |(_, seen)| seen);
            seen.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    };
    Case { name, end }
}

/// The other number of a stream, whose first request is not a case's.
fn up(stream: u32) -> u32 {
    if stream == 0 { 0 } else { stream.wrapping_add(2) & 0x7fff_ffff }
}

fn down(stream: u32) -> u32 {
    stream.saturating_sub(2)
}

/// Changes a number of 31 bits, and leaves the bit in front.
fn change(bytes: &mut [u8], to: impl Fn(u32) -> u32) {
    if let Some(bytes) = bytes.first_chunk_mut() {
        let number = u32::from_be_bytes(*bytes);
        *bytes = (number & 0x8000_0000 | to(number & 0x7fff_ffff)).to_be_bytes();
    }
}

/// A case's frame with the numbers that the server has for its streams.
fn renumbered(mut frame: Vec<u8>) -> Vec<u8> {
    let (kind, flags) = (frame[3], frame[4]);
    change(&mut frame[5..], up);
    let at = HEADER + usize::from(flags & PADDED != 0);
    if kind == PRIORITY {
        change(&mut frame[HEADER..], up);
    } else if kind == HEADERS && flags & DEPENDS != 0 && frame.len() >= at + 4 {
        change(&mut frame[at..], up);
    }
    frame
}

/// What the server has said to the greeting.
#[derive(Default)]
struct Heard {
    acknowledged: bool,
    answered: bool,
    over: bool,
}

type Shared = Arc<(Mutex<Heard>, Condvar)>;

/// Waits until the server has said it. False if it has closed, or time is over.
fn wait(shared: &Shared, said: impl Fn(&Heard) -> bool) -> bool {
    let heard = shared.0.lock().expect("nobody panics");
    let waits = |heard: &mut Heard| !heard.over && !said(heard);
    let (heard, _) = shared.1.wait_timeout_while(heard, PATIENCE, waits).expect("nobody panics");
    said(&heard)
}

fn tell(shared: &Shared, change: impl FnOnce(&mut Heard)) {
    change(&mut shared.0.lock().expect("nobody panics"));
    shared.1.notify_all();
}

/// Whether the JVM is stopped, by its gate's beacon.
#[derive(Clone)]
pub struct Pauses(pub PathBuf);

impl Pauses {
    pub fn is_stopped(&self) -> bool {
        std::fs::read(&self.0).is_ok_and(|bytes| bytes.get(24..32).is_some_and(|word| word != [0; 8]))
    }

    /// Waits for a pause.
    fn next(&self) {
        let end = Instant::now() + PATIENCE;
        while !self.is_stopped() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Stands before the server, at the port that it gives.
fn between(server: u16, pauses: &Pauses) -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    let pauses = pauses.clone();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", server))) else { continue };
            let (pauses, shared) = (pauses.clone(), Shared::default());
            let ends = [&client, &server].map(TcpStream::try_clone);
            let [Ok(to_client), Ok(from_server)] = ends else { continue };
            for stream in [&client, &server] {
                let _ = stream.set_nodelay(true);
            }
            let answers = Arc::clone(&shared);
            std::thread::spawn(move || {
                let _ = pass_answers(&from_server, &to_client, &answers);
                tell(&answers, |heard| heard.over = true);
                let _ = (to_client.shutdown(Shutdown::Both), from_server.shutdown(Shutdown::Both));
            });
            std::thread::spawn(move || {
                let _ = pass_case(&client, &server, &shared, &pauses);
                let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
            });
        }
    });
    Ok(port)
}

/// What the server says, but for the answer to the first request.
fn pass_answers(mut from: &TcpStream, mut to: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 16 << 10]);
    loop {
        while let Some((kind, flags, stream, whole)) = first(&bytes) {
            let mut whole = whole.to_vec();
            bytes.drain(..whole.len());
            match (kind, stream) {
                (SETTINGS, _) if flags & ACK != 0 => tell(shared, |heard| heard.acknowledged = true),
                (_, 1) => {
                    tell(shared, |heard| heard.answered |= flags & END_STREAM != 0);
                    continue;
                }
                (GOAWAY, _) => change(&mut whole[HEADER..], down),
                _ => {}
            }
            change(&mut whole[5..], down);
            to.write_all(&whole)?;
        }
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return to.write_all(&bytes);
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

/// What a case says: its greeting at once, then our request, then its frames, each in a pause. What is no greeting is passed on as it is.
fn pass_case(mut from: &TcpStream, mut to: &TcpStream, shared: &Shared, pauses: &Pauses) -> std::io::Result<()> {
    let mut preface = Vec::new();
    while preface.len() < PREFACE.len() {
        let mut byte = [0];
        if from.read(&mut byte)? == 0 {
            return to.write_all(&preface);
        }
        preface.push(byte[0]);
    }
    to.write_all(&preface)?;
    let (mut greeted, mut acknowledged, mut ready) = (false, false, false);
    let mut in_frames = preface == PREFACE;
    while in_frames {
        let (bytes, is_whole) = next(from)?;
        if !is_whole {
            to.write_all(&bytes)?;
            in_frames = false;
            continue;
        }
        match (bytes[3], bytes[4] & ACK != 0) {
            (SETTINGS, false) if !greeted => greeted = true,
            (SETTINGS, true) if greeted && !acknowledged => acknowledged = true,
            _ if !greeted => {
                to.write_all(&bytes)?;
                in_frames = false;
                continue;
            }
            _ => {
                if acknowledged && !ready && wait(shared, |heard| heard.acknowledged) {
                    // The table has size 0 from now on, if the gate says so.
                    let request = [&[0x20][..], &block(0x82, "/first")].concat();
                    to.write_all(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &request))?;
                    ready = wait(shared, |heard| heard.answered);
                }
                pauses.next();
            }
        }
        to.write_all(&renumbered(bytes))?;
    }
    from.set_read_timeout(None)?;
    std::io::copy(&mut from, &mut to).map(drop)
}

/// The next frame, or what there is of it.
fn next(mut from: &TcpStream) -> std::io::Result<(Vec<u8>, bool)> {
    from.set_read_timeout(None)?;
    let mut bytes = vec![0];
    from.read_exact(&mut bytes)?;
    from.set_read_timeout(Some(PART))?;
    let mut buffer = vec![0; 16 << 10];
    loop {
        let want = match first(&bytes) {
            Some(_) => return Ok((bytes, true)),
            None if bytes.len() < HEADER => HEADER,
            None => HEADER + u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize,
        };
        let most = (want - bytes.len()).min(buffer.len());
        match from.read(&mut buffer[..most]) {
            Ok(0) => return Ok((bytes, false)),
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return Ok((bytes, false)),
            Err(error) => return Err(error),
        }
    }
}

/// The cases that have come to something else, in words, but for those of [`OTHERWISE`].
fn differences(before: &[Case], after: &[Case]) -> Vec<String> {
    let differ = |(before, after): (&Case, &Case)| (before != after).then(|| format!("{before}, then {}", after.end));
    let is_known = |text: &String| OTHERWISE.iter().any(|name| text.starts_with(name));
    let mut all: Vec<String> = before.iter().zip(after).filter_map(differ).filter(|text| !is_known(text)).collect();
    if before.len() != after.len() {
        all.push(format!("{} cases, then {}", before.len(), after.len()));
    }
    all
}

/// A server of [`PARALLEL`] whose port is given to the gate by an option, and which cases reach in pauses only if `in_pauses`; how the cases end,
/// and how often the gate has answered.
fn served(setting: &Setting, port_option: &str, options: &str, in_pauses: bool) -> Result<(Vec<Case>, f64), String> {
    let beacon = std::env::temp_dir().join(format!("lull-h2spec-{}-{port_option}.beacon", std::process::id()));
    let options = format!("{options},beacon={}", beacon.display());
    let arguments = if in_pauses { ["h2-nio", "150", "100"] } else { ["h2-nio", "1", "0"] };
    let mut server = Server::start_with(&setting.jdk, &format!("{PARALLEL} {FLAGS}"), port_option, &options, &arguments)?;
    let port = if in_pauses { between(server.port, &Pauses(beacon.clone()))? } else { server.port };
    let cases = cases(port)?;
    let answered = server.metric("lull_gate_answered_total")?;
    server.stop()?;
    let _ = std::fs::remove_file(&beacon);
    Ok((cases, answered))
}

/// All cases, in all ways, to Netty's codec.
pub fn h2spec(setting: &Setting) -> Result<String, String> {
    let (alone, _) = served(setting, "other-port", "deadline=1", false)?;
    let (followed, _) = served(setting, "h2-port", FOLLOWS, false)?;
    let differ = differences(&alone, &followed);
    if !differ.is_empty() {
        return Err(format!("under the gate, which answers nothing: {}", differ.join("; ")));
    }
    let (alone_in_pauses, _) = served(setting, "other-port", "deadline=1", true)?;
    let (answering, answered) = served(setting, "h2-port", "deadline=1", true)?;
    let differ = differences(&alone_in_pauses, &answering);
    if !differ.is_empty() {
        return Err(format!("in pauses, with {answered} answers of the gate: {}", differ.join("; ")));
    }
    if answered < LEAST_ANSWERED {
        return Err(format!("the gate has answered {answered} requests of {} cases", alone.len()));
    }
    let otherwise = alone_in_pauses.iter().zip(&answering).filter(|(before, after)| before != after).count();
    let passed = |cases: &[Case]| cases.iter().filter(|case| case.end == "passed").count();
    Ok(format!(
        "of {} cases {} pass without the gate and with it; in pauses {}, and {} with {answered} answers of the gate, {otherwise} otherwise and known",
        alone.len(),
        passed(&alone),
        passed(&alone_in_pauses),
        passed(&answering)
    ))
}
