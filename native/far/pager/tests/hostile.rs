// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A hostile server, and a man in the middle, who do at random what the tests in `sealed.rs` and `encrypted.rs` do one by one. A program ends with
//! every byte as it should be, or ends by name; it reads no wrong word, and waits for nobody longer than its timeout. A hostile client is in the memory server's
//! own tests (`memd/tests/hostile.rs`). For longer:
//!
//!     LULL_FAR_HOSTILE_SECONDS=600 cargo test --release -p lull-far --test hostile -- --nocapture
//!
//! * `LULL_FAR_HOSTILE_SECONDS`  so long for each of them; without it some programs run
//! * `LULL_FAR_HOSTILE_SEED`     what the first of them does; it is printed

#[path = "common/between.rs"]
mod between;
mod common;
#[path = "common/man.rs"]
mod man;

use std::collections::HashMap;
use std::io::{Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use between::{pass_on, read_frame, write_frame};
use common::{Process, Run, built, skipped};
use lull_far_protocol::{ChannelKind, Header, Message, Op, PAGE_SIZE};
use man::{EACH, Harm, Plan};

const PAGES: u64 = 4 * 1024;
const TIMEOUT_MS: u32 = 4000;
/// A program that runs for longer hangs: its work is some seconds, and each thing that is done to it costs two timeouts at most.
const HANGS: Duration = Duration::from_secs(180);
/// Without `LULL_FAR_HOSTILE_SECONDS`.
const PROGRAMS: u64 = 2;

/// Xorshift: the same for the same seed.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is '{text}', which is no number")))
}

/// Programs, until time is over: `run` is given the seed of each, and says how it has ended.
fn programs(who: &str, mut run: impl FnMut(u64) -> End) {
    let seconds = number("LULL_FAR_HOSTILE_SECONDS").map(Duration::from_secs);
    let first = number("LULL_FAR_HOSTILE_SEED").unwrap_or(1);
    let (begin, mut ends) = (Instant::now(), HashMap::<End, u64>::new());
    for seed in first.. {
        if seconds.map_or(seed - first >= PROGRAMS, |seconds| begin.elapsed() >= seconds) {
            break;
        }
        *ends.entry(run(seed)).or_default() += 1;
    }
    let count = |end| ends.get(&end).copied().unwrap_or(0);
    let [right, named, refused] = [End::Right, End::Named, End::Refused].map(count);
    println!("{who}, seeds from {first} on: {right} programs right, {named} ended by name, {refused} did not begin; no wrong word");
    assert!(right > 0, "{who}: no program has come to its end");
}

/// How a program may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum End {
    /// Every byte was compared.
    Right,
    /// It has named a server, and ended.
    Named,
    /// It has named a server, and not begun.
    Refused,
}

/// Runs a program to its end, which must be one of those.
fn end_of(mut command: Command, seed: u64) -> End {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let process = child.id().to_string();
    let over = Arc::new(AtomicU64::new(0));
    let watched = Arc::clone(&over);
    std::thread::spawn(move || {
        let begin = Instant::now();
        while begin.elapsed() < HANGS && watched.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(50));
        }
        if watched.load(Ordering::Relaxed) == 0 {
            let _ = Command::new("kill").args(["-ABRT", &process]).status();
        }
    });
    let output = child.wait_with_output().unwrap();
    over.store(1, Ordering::Relaxed);
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!errors.contains("should be"), "seed {seed}: a wrong word was read: {errors}");
    let names = errors.contains("memory server 127.0.0.1:");
    match output.status.code() {
        Some(0) if said.contains(&format!("bytes compared {} wrong words 0", PAGES * PAGE_SIZE as u64)) => End::Right,
        Some(86) if names => End::Named,
        Some(2) if names => End::Refused,
        _ => panic!("seed {seed}: {}, {said}, {errors}", output.status),
    }
}

fn command(servers: &str, replicas: u32, operations: u64) -> Command {
    let timeout_ms = TIMEOUT_MS;
    Run { servers, local_pages: 1024, pages: PAGES, pattern: "random", threads: 2, operations, mode: 0, replicas, timeout_ms }.command()
}

/// What a hostile server has given before.
type Given = Mutex<HashMap<(u32, u64), Vec<u8>>>;

/// A server that lies in one of so many answers, about `one_in` of them, and does worse.
fn hostile(to: SocketAddr, seed: u64, one_in: u64) -> (SocketAddr, &'static AtomicU64) {
    let harmed: &'static AtomicU64 = Box::leak(Box::default());
    let (given, random) = (Given::default(), Mutex::new(Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)));
    let answers = move |kind: ChannelKind, from: &mut TcpStream, to: &mut TcpStream| {
        // Its control connection is left alone now and then, or hardly anything else would be tried.
        if kind == ChannelKind::Control && random.lock().unwrap().below(4) > 0 {
            return pass_on(from, to);
        }
        loop {
            let (header, payload) = read_frame(from)?;
            let mut now = {
                let mut random = random.lock().unwrap();
                if random.below(one_in) > 0 {
                    drop(random);
                    remember(&given, &header, &payload);
                    write_frame(to, &header, &payload)?;
                    continue;
                }
                Random(random.below(u64::MAX) | 1)
            };
            harmed.fetch_add(1, Ordering::Relaxed);
            answer_otherwise(&mut now, &given, header, payload, to)?;
        }
    };
    (between::between(to, answers).address, harmed)
}

/// Where the pages of an answer begin.
fn place(header: &Header, payload: &[u8]) -> Option<((u32, u64), usize)> {
    match Message::decode(header, payload) {
        Ok(Message::Data(data)) => Some(((header.region, data.run.first), payload.len() - data.bytes.len())),
        _ => None,
    }
}

fn remember(given: &Given, header: &Header, payload: &[u8]) {
    if let Some((place, at)) = place(header, payload) {
        given.lock().unwrap().entry(place).or_insert_with(|| payload[at..at + PAGE_SIZE].to_vec());
    }
}

/// Another answer than the server's, in one of many ways.
fn answer_otherwise(random: &mut Random, given: &Given, header: Header, mut payload: Vec<u8>, to: &mut TcpStream) -> Result<()> {
    let at = place(&header, &payload);
    match (random.below(10), at) {
        // A page that was changed; one from before, or of another place.
        (0, Some((_, at))) => payload[at + random.below(PAGE_SIZE as u64) as usize] ^= 1 << random.below(8),
        (1, Some((place, at))) => {
            let given = given.lock().unwrap();
            if let Some(page) = given.get(&place).filter(|_| random.below(2) == 0).or_else(|| given.values().next()) {
                payload[at..at + PAGE_SIZE].copy_from_slice(page);
            }
        }
        (2, _) => return write_frame(to, &Header { sequence: header.sequence ^ 1 << random.below(64), ..header }, &payload),
        (3, _) => return write_frame(to, &Header { region: header.region ^ 1, ..header }, &payload),
        (4, _) => {
            let ops = [Op::Data, Op::WriteAck, Op::HelloAck, Op::HeartbeatAck, Op::Error, Op::Bye, Op::RegionMapped, Op::GhostAck];
            let op = ops[random.below(ops.len() as u64) as usize];
            return write_frame(to, &Header { op, ..header }, &payload);
        }
        // Half of it, and then the end; or bytes that are no frame.
        (5, _) => {
            to.write_all(&payload[..payload.len() / 2])?;
            return Err(std::io::ErrorKind::ConnectionAborted.into());
        }
        (6, _) => {
            let bytes: Vec<u8> = (0..64 + random.below(5000)).map(|_| random.below(256) as u8).collect();
            return to.write_all(&bytes);
        }
        // Byte by byte for a while; nothing for a while; twice.
        (7, _) => {
            for byte in payload.iter().take(20) {
                to.write_all(&[*byte])?;
                std::thread::sleep(Duration::from_millis(20));
            }
            return Ok(());
        }
        // Longer than may be, now and then.
        (8, _) => {
            let hangs = random.below(8) == 0;
            std::thread::sleep(Duration::from_millis(random.below(300) + if hangs { 3 * u64::from(TIMEOUT_MS) / 2 } else { 0 }));
        }
        _ => write_frame(to, &header, &payload)?,
    }
    write_frame(to, &header, &payload)
}

/// With an honest server beside, and without one; pages are sealed, for nothing else proves them.
#[test]
fn whatever_a_hostile_server_does_no_wrong_word_is_read() {
    if skipped(0, "a hostile server that does anything") {
        return;
    }
    let all: &'static AtomicU64 = Box::leak(Box::default());
    programs("a hostile server", |seed| {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        let servers = [Process::start("127.0.0.1:0"), Process::start("127.0.0.1:0")];
        let one_in = [20, 200, 1000][random.below(3) as usize];
        let (liar, harmed) = hostile(servers[0].1, seed, one_in);
        let replicas = u32::from(random.below(3) > 0);
        let names = if replicas > 0 { format!("{liar},{}", servers[1].1) } else { liar.to_string() };
        let mut command = command(&names, replicas, 2000);
        command.env("LULL_FAR_SEAL", "1");
        let end = end_of(command, seed);
        all.fetch_add(harmed.load(Ordering::Relaxed), Ordering::Relaxed);
        // The other server has all pages: who begins goes on.
        assert!(replicas == 0 || end != End::Named, "seed {seed}: it has ended, though an honest server had its pages");
        end
    });
    let harmed = all.load(Ordering::Relaxed);
    println!("a hostile server: {harmed} answers were others than the server's");
    assert!(harmed > 0, "nothing was done");
}

/// A file with a key.
fn key() -> &'static PathBuf {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(|| {
        use std::os::unix::fs::OpenOptionsExt;
        let path = built().join(format!("far-key-hostile-{}", std::process::id()));
        let mut file = std::fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        writeln!(file, "one {}", "3c".repeat(32)).unwrap();
        path
    })
}

/// Of one server, or of one of two.
#[test]
fn whatever_a_man_in_the_middle_does_no_wrong_word_is_read() {
    if skipped(0, "a man in the middle who does anything") {
        return;
    }
    let all: &'static AtomicU64 = Box::leak(Box::default());
    programs("a man in the middle", |seed| {
        let mut random = Random(seed.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        let harms = [Harm::Flip, Harm::FlipHeader, Harm::Drop, Harm::Repeat, Harm::Reorder, Harm::Cut, Harm::SendBack];
        let early = [30, 300, 2000][random.below(3) as usize];
        let plan = Plan {
            harm: harms[random.below(harms.len() as u64) as usize],
            to_client: random.below(2) == 0,
            at: random.below(early),
            frames: if random.below(4) == 0 { EACH } else { 1 + random.below(8) },
        };
        let servers = [(); 2].map(|()| {
            Process::start_with("127.0.0.1:0", |command| {
                command.arg("--key").arg(key());
            })
        });
        let man = man::between(servers[0].1, plan);
        let replicas = u32::from(random.below(2) == 0);
        let names = if replicas > 0 { format!("{},{}", man.address, servers[1].1) } else { man.address.to_string() };
        // He holds back each frame for a while, until another one comes behind it.
        let operations = if plan.harm == Harm::Reorder { 100 } else { 2000 };
        let mut command = command(&names, replicas, operations);
        command.env("LULL_FAR_KEY", key());
        let end = end_of(command, seed);
        all.fetch_add(man.harmed.load(Ordering::Relaxed), Ordering::Relaxed);
        assert!(replicas == 0 || end != End::Named, "seed {seed}, {plan:?}: it has ended, though the other server had its pages");
        end
    });
    let harmed = all.load(Ordering::Relaxed);
    println!("a man in the middle: {harmed} frames were harmed");
    assert!(harmed > 0, "nothing was done");
}
