// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A network of the test's own: namespaces with one TUN device each, and a wire between them that is made of threads of this
//! process, which delays, drops, repeats, reorders and damages packets, or carries none. Needs neither netem nor firewall modules of
//! the kernel; leaves nothing behind, because namespaces and devices are gone with their descriptors.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{Error, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const TUNSETIFF: libc::c_ulong = 0x4004_54CA;
const IFF_TUN_NO_PI: u16 = 0x1001;

/// A network namespace with an address.
pub struct Namespace {
    net: OwnedFd,
    tun: Arc<File>,
    pub address: Ipv4Addr,
}

impl Namespace {
    /// A new one, whose only device beside `lo` has this address in a network of 256.
    pub fn new(address: Ipv4Addr) -> Result<Namespace, String> {
        // A thread of its own: what it leaves is its namespace, which nobody else is in.
        let made = std::thread::spawn(move || {
            // SAFETY: of this thread only.
            if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
                return Err(format!("a network namespace: {}", Error::last_os_error()));
            }
            let tun = File::options().read(true).write(true).open("/dev/net/tun").map_err(|error| format!("/dev/net/tun: {error}"))?;
            let mut request = [0_u8; 40];
            request[..4].copy_from_slice(b"wire");
            request[16..18].copy_from_slice(&IFF_TUN_NO_PI.to_le_bytes());
            // SAFETY: the structure of this request has 40 bytes.
            if unsafe { libc::ioctl(tun.as_raw_fd(), TUNSETIFF, request.as_mut_ptr()) } != 0 {
                return Err(format!("a TUN device: {}", Error::last_os_error()));
            }
            for arguments in [
                &["link", "set", "lo", "up"][..],
                &["address", "add", &format!("{address}/24"), "dev", "wire"],
                &["link", "set", "wire", "up", "mtu", "1500", "txqueuelen", "1000"],
            ] {
                let status = Command::new("ip").args(arguments).status().map_err(|error| format!("ip: {error}"))?;
                if !status.success() {
                    return Err(format!("ip {}: {status}", arguments.join(" ")));
                }
            }
            let net = File::open("/proc/thread-self/ns/net").map_err(|error| error.to_string())?;
            Ok(Namespace { net: net.into(), tun: Arc::new(tun), address })
        });
        made.join().unwrap()
    }

    /// The command will run in it.
    pub fn enter<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let net = self.net.as_raw_fd();
        // SAFETY: one system call between fork and exec.
        unsafe { command.pre_exec(move || if libc::setns(net, libc::CLONE_NEWNET) == 0 { Ok(()) } else { Err(Error::last_os_error()) }) }
    }
}

/// What is done to packets between the client and one server, both ways.
#[derive(Default)]
pub struct Harm {
    /// Microseconds that each packet takes.
    pub delay: AtomicU32,
    /// Up to so many microseconds more, by chance: packets overtake each other.
    pub jitter: AtomicU32,
    /// Of 10,000 packets, how many are dropped, come twice, have a bit flipped.
    pub lost: AtomicU32,
    pub twice: AtomicU32,
    pub damaged: AtomicU32,
    /// No packet comes through.
    pub cut: AtomicBool,
    /// Packets that any of these was done to, but delay.
    pub harmed: AtomicU64,
}

/// The wire: a client, and servers.
pub struct Wire {
    pub client: Namespace,
    pub servers: Vec<Namespace>,
    pub harm: Vec<Arc<Harm>>,
    stop: Arc<AtomicBool>,
}

/// Packets on their way to one namespace, the one that is due first on top.
#[derive(Default)]
struct Flight {
    packets: Mutex<BinaryHeap<Due>>,
    changed: Condvar,
}

#[derive(PartialEq, Eq)]
struct Due {
    /// Negated by the order: earlier is greater.
    at: Instant,
    number: u64,
    packet: Vec<u8>,
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Wire {
    /// A client and so many servers, with nothing done to their packets yet.
    pub fn new(servers: u8) -> Result<Wire, String> {
        let client = Namespace::new(Ipv4Addr::new(10, 77, 0, 1))?;
        let servers: Vec<Namespace> = (0..servers).map(|n| Namespace::new(Ipv4Addr::new(10, 77, 0, 10 + n))).collect::<Result<_, _>>()?;
        let harm: Vec<Arc<Harm>> = servers.iter().map(|_| Arc::default()).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let flights: Arc<Vec<Flight>> = Arc::new((0..=servers.len()).map(|_| Flight::default()).collect());
        for (end, namespace) in std::iter::once(&client).chain(&servers).enumerate() {
            let (tun, flights_in, flights_out) = (Arc::clone(&namespace.tun), Arc::clone(&flights), Arc::clone(&flights));
            let (harm, stop_in, stop_out) = (harm.clone(), Arc::clone(&stop), Arc::clone(&stop));
            std::thread::spawn(move || take(end, &tun, &flights_in, &harm, &stop_in));
            let tun = Arc::clone(&namespace.tun);
            std::thread::spawn(move || give(&tun, &flights_out[end], &stop_out));
        }
        Ok(Wire { client, servers, harm, stop })
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Takes packets from an end, 0 that of the client, and puts them on their way.
fn take(end: usize, mut tun: &File, flights: &[Flight], harm: &[Arc<Harm>], stop: &AtomicBool) {
    let mut state = end as u64 + 1;
    let mut chance = move |of: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % of.max(1)
    };
    let mut bytes = [0; 2048];
    for number in 0.. {
        let mut poll = libc::pollfd { fd: tun.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure.
        while unsafe { libc::poll(&raw mut poll, 1, 100) } < 1 {
            if stop.load(Ordering::Relaxed) {
                return;
            }
        }
        let Ok(count) = tun.read(&mut bytes) else { return };
        let mut packet = bytes[..count].to_vec();
        // IPv4 only; the last byte of the destination says which server, 1 is the client.
        if count < 20 || packet[0] >> 4 != 4 {
            continue;
        }
        let to = if packet[19] == 1 { 0 } else { usize::from(packet[19]).wrapping_sub(9) };
        let Some(harm) = harm.get(end.max(to).wrapping_sub(1)) else { continue };
        let hit = |kind: &AtomicU32, drawn: u32| {
            let hit = drawn < kind.load(Ordering::Relaxed);
            harm.harmed.fetch_add(hit.into(), Ordering::Relaxed);
            hit
        };
        if harm.cut.load(Ordering::Relaxed) || hit(&harm.lost, chance(10_000)) {
            continue;
        }
        if hit(&harm.damaged, chance(10_000)) {
            let at = chance(count as u32) as usize;
            packet[at] ^= 1 << chance(8);
        }
        let copies = 1 + usize::from(hit(&harm.twice, chance(10_000)));
        for copy in 0..copies {
            let delay = harm.delay.load(Ordering::Relaxed) + chance(harm.jitter.load(Ordering::Relaxed) + 1);
            let at = Instant::now() + Duration::from_micros(delay.into());
            let due = Due { at, number: number * 2 + copy as u64, packet: packet.clone() };
            flights[to].packets.lock().unwrap().push(due);
            flights[to].changed.notify_one();
        }
    }
}

/// Hands packets to an end when they are due.
fn give(mut tun: &File, flight: &Flight, stop: &AtomicBool) {
    let mut packets = flight.packets.lock().unwrap();
    while !stop.load(Ordering::Relaxed) {
        let wait = packets.peek().map_or(Duration::from_millis(100), |due| due.at.saturating_duration_since(Instant::now()));
        if wait.is_zero() {
            let packet = packets.pop().unwrap().packet;
            drop(packets);
            // A full queue or a damaged header: the packet is lost.
            let _ = tun.write(&packet);
            packets = flight.packets.lock().unwrap();
        } else {
            packets = flight.changed.wait_timeout(packets, wait).unwrap().0;
        }
    }
}
