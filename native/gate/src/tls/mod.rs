// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! TLS that the gate serves, for a service whose own TLS would be hidden from it: threads that the JVM never stops accept clients, end TLS, and
//! relay plain bytes to and from the service's own port, where the gate follows them like any other client's. So what comes in a pause is answered
//! by the gate as it is without TLS, and nothing here knows of requests, pauses or decisions.
//!
//! [`certificate`] reads keys and knows when to read them anew, [`relay`] is one client, [`worker`] a thread with many of them, [`queue`] says who
//! has had its time, [`places`] who may be a client at all, [`kernel`] has the system calls.

pub mod certificate;
pub mod kernel;
pub mod places;
pub mod queue;
pub mod relay;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod worker;

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};

use crate::metrics::Metrics;
use crate::options::{self, Options};
use crate::own_ports::Own;
use crate::tls::certificate::{Changes, Current, Files, Stamps};
use crate::tls::kernel::Bell;
use crate::tls::places::Places;
use crate::tls::relay::Targets;
use crate::tls::worker::{HANDSHAKE, STALL, Shared, TROUBLES, Worker};

/// Threads at most: they share the processors with the service.
const MOST_THREADS: usize = 4;
/// One of so many clients may be at its handshake, so that those who never end it leave room for others.
const HANDSHAKES: usize = 4;
/// But no fewer than so many: a balancer opens some at once.
const LEAST_HANDSHAKES: usize = 16;
/// A client takes so many descriptors: its own, one to the application, and the application's.
const DESCRIPTORS: usize = 3;
/// So many are left to the service for all else, or half of all if there are fewer.
const OTHER_DESCRIPTORS: usize = 1024;
/// A thread that has ended by a defect begins anew, so often, and after so long.
const MOST_BEGINNINGS: usize = 100;
const BEGINS_AFTER: Duration = Duration::from_millis(100);
/// Lines that may wait to be written.
const LINES: usize = 16;
/// If the service does not listen after so long, it is said what is waited for.
const WAITS_LONG: Duration = Duration::from_secs(60);
/// How soon it is looked again whether the service listens, while it does not; then in twice that, up to [`LOOKS`].
const LISTENS: Duration = Duration::from_millis(50);
/// How often it is looked whether the service still listens, and whether the certificate's files have changed.
const LOOKS: Duration = Duration::from_secs(1);

/// What can be had before the VM runs, so that it need not begin where that cannot: the address, and a certificate.
pub struct Prepared {
    address: SocketAddr,
    socket: TcpListener,
    files: Files,
    changes: Changes<Stamps>,
    current: Arc<Current>,
    config: Arc<ServerConfig>,
    targets: Targets,
    most: usize,
    provider: Arc<CryptoProvider>,
    handshake: Duration,
    stall: Duration,
    waits_long: Duration,
    descriptors: usize,
}

impl Prepared {
    /// The certificate is read and the address taken, at which nobody can connect yet.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub fn new(tls: &options::Tls, options: &Options) -> Result<Prepared, String> {
        let provider = Arc::new(ring::default_provider());
        let targets = Targets { http1: options.ports.first().copied(), http2: options.h2_ports.first().copied() };
        let files = Files { cert: tls.cert.clone(), key: tls.key.clone() };
        // Before they are read: what changes meanwhile is read anew.
        let changes = Changes::new(files.stamps());
        let current = Arc::new(Current::new(files.load(&provider)?));
        let mut config = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be served: {error}"))?
            .with_no_client_auth()
            .with_cert_resolver(current.clone());
        config.alpn_protocols = targets.alpn();
        // Sessions are resumed by what clients keep, not by what is kept for them here.
        config.ticketer = ring::Ticketer::new().map_err(|error| format!("TLS cannot be served: no random numbers: {error}"))?;
        let socket = kernel::bind(tls.address).map_err(|error| {
            let help = "give it one that nobody else has, or end who has it (ss -ltnp)";
            format!("option tls-port: {} cannot be had: {error}; {help}", tls.address)
        })?;
        let (config, address) = (Arc::new(config), tls.address);
        Ok(Prepared {
            address,
            socket,
            files,
            changes,
            current,
            config,
            targets,
            most: tls.connections,
            provider,
            handshake: HANDSHAKE,
            stall: STALL,
            waits_long: WAITS_LONG,
            descriptors: kernel::most_descriptors(),
        })
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// One cannot be started.
    pub fn start(self, metrics: &'static Metrics, complain: fn(&str)) -> io::Result<Serving> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let (lines, written) = sync_channel(LINES);
        std::thread::Builder::new().name("gate TLS lines".into()).spawn(move || write_lines(&written, complain))?;
        let most = within(self.descriptors, self.most);
        let shared = Arc::new(Shared {
            config: self.config,
            targets: self.targets,
            most,
            places: Mutex::new(Places::new(most, (most / HANDSHAKES).max(LEAST_HANDSHAKES).min(most), threads)),
            peers: Mutex::new(HashMap::new()),
            listener: self.socket,
            is_open: AtomicBool::new(false),
            bells: (0..threads).map(|_| Bell::new()).collect::<io::Result<_>>()?,
            looks: OnceLock::new(),
            ended: Bell::new()?,
            unfinished: AtomicUsize::new(0),
            metrics,
            lines,
            told: Mutex::new([None; TROUBLES]),
            handshake: self.handshake,
            stall: self.stall,
            #[cfg(test)]
            defects: AtomicUsize::new(0),
        });
        if most < self.most {
            let (wanted, limit) = (self.most, self.descriptors);
            shared.say(format!(
                "option tls-connections: {wanted} clients may need {} open files and the limit is {limit}: {most} are let in, for the service needs \
                 others; raise the limit (ulimit -n), or lower tls-connections",
                DESCRIPTORS * wanted
            ));
        }
        for n in 0..threads {
            let worker = Worker::new(shared.clone(), n)?;
            shared.unfinished.fetch_add(1, Ordering::Relaxed);
            let of = shared.clone();
            let started = std::thread::Builder::new().name(format!("gate TLS {n}")).spawn(move || work(worker, n, &of));
            if let Err(error) = started {
                shared.unfinished.fetch_sub(1, Ordering::Relaxed);
                shared.ended.raise();
                return Err(error);
            }
        }
        let door = Door {
            own: Own::new(self.targets.ports()),
            address: self.address,
            wait: LISTENS,
            has_failed: false,
            waits_since: Some(Instant::now()),
            waits_long: self.waits_long,
        };
        let reload = Reload { files: self.files, changes: self.changes, current: self.current, provider: self.provider };
        let of = shared.clone();
        let looks = std::thread::Builder::new().name("gate TLS looks".into()).spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| attend(door, reload, &of)));
        })?;
        let _ = shared.looks.set(looks.thread().clone());
        Ok(Serving(shared))
    }
}

/// Writes lines, one after the other, for as long as there are such as have some.
fn write_lines(lines: &Receiver<String>, complain: fn(&str)) {
    lines.iter().for_each(|line| complain(&line));
}

/// How many clients there may be where a process may have so many descriptors.
fn within(descriptors: usize, most: usize) -> usize {
    let for_clients = descriptors - OTHER_DESCRIPTORS.min(descriptors / 2);
    most.min((for_clients / DESCRIPTORS).max(1))
}

/// A thread that serves, until the VM ends. A defect of its own ends its clients, and not those who come.
fn work(worker: Worker, number: usize, shared: &Arc<Shared>) {
    let mut next = Some(worker);
    for _ in 0..MOST_BEGINNINGS {
        let Some(worker) = next.take().or_else(|| Worker::new(shared.clone(), number).ok()) else { break };
        if catch_unwind(AssertUnwindSafe(|| worker.run())).is_ok() {
            return;
        }
        shared.metrics.tls_defects.add(1);
        shared.say("a defect: a thread that serves TLS has ended, with its clients; it begins anew for others".to_string());
        std::thread::sleep(BEGINS_AFTER);
    }
    shared.say("a defect: a thread that serves TLS has ended, and begins no more; restart the service".to_string());
    let waiting = shared.places().close(number);
    drop(waiting);
    shared.unfinished.fetch_sub(1, Ordering::Release);
}

/// Looks whether clients can be let in, and at the certificate's files.
fn attend(mut door: Door, mut reload: Reload, shared: &Shared) {
    let mut next_reload = Instant::now() + LOOKS;
    loop {
        door.look(shared);
        // However often connections are refused.
        std::thread::sleep(LISTENS);
        std::thread::park_timeout(door.wait.saturating_sub(LISTENS));
        if next_reload <= Instant::now() {
            next_reload = Instant::now() + LOOKS;
            reload.look(shared);
        }
    }
}

/// Lets clients in while the service listens: a balancer that finds the port open takes the service to be there, and where the service does not
/// listen anybody else may.
struct Door {
    own: Own,
    address: SocketAddr,
    /// Until the next look.
    wait: Duration,
    /// It was said that the address cannot be listened at.
    has_failed: bool,
    /// Since when the service does not listen, if that was not said.
    waits_since: Option<Instant>,
    /// For so long it is not.
    waits_long: Duration,
}

impl Door {
    fn look(&mut self, shared: &Shared) {
        let is_open = shared.is_open.load(Ordering::Relaxed);
        let listens = self.own.listens();
        self.wait = if listens || is_open { LOOKS } else { (self.wait * 2).min(LOOKS) };
        if listens {
            self.waits_since = None;
        } else if self.waits_since.is_some_and(|since| since.elapsed() >= self.waits_long) {
            self.waits_since = None;
            shared.say(waits_for(self.address, &shared.targets));
        }
        if listens == is_open {
            return;
        }
        if listens && let Err(error) = kernel::listen(&shared.listener) {
            if !std::mem::replace(&mut self.has_failed, true) {
                let address = self.address;
                shared.say(format!(
                    "option tls-port: {address} cannot be had: {error}; TLS is not served until it can; end who listens there (ss -ltnp)"
                ));
            }
            return;
        }
        self.has_failed = false;
        shared.is_open.store(listens, Ordering::Release);
        if !listens {
            (self.wait, self.waits_since) = (LISTENS, Some(Instant::now()));
            kernel::stop_listening(&shared.listener);
        }
        shared.bells.iter().for_each(Bell::raise);
    }
}

/// Why TLS is not served for so long.
fn waits_for(address: SocketAddr, targets: &Targets) -> String {
    let ports: Vec<String> = targets.ports().map(|port| port.to_string()).collect();
    format!(
        "TLS at {address} is not served yet: this process does not listen at 127.0.0.1 or ::1, port {}; it is as soon as the service does, at all \
         of them: look whether port and h2-port are right",
        ports.join(" and ")
    )
}

/// The certificate, and when it is read anew.
struct Reload {
    files: Files,
    changes: Changes<Stamps>,
    current: Arc<Current>,
    provider: Arc<CryptoProvider>,
}

impl Reload {
    fn look(&mut self, shared: &Shared) {
        if !self.changes.look(self.files.stamps()) {
            return;
        }
        match self.files.load(&self.provider) {
            Ok(key) => {
                self.current.replace(key);
                shared.metrics.tls_certificates.add(1);
                shared.say(format!("TLS: the certificate in {} is served from now on", self.files.cert.display()));
            }
            Err(reason) => {
                shared.metrics.tls_certificate_errors.add(1);
                shared.say(format!("TLS: the certificate that was read before is served on, for the new one is wrong: {reason}"));
            }
        }
    }
}

/// TLS that is served.
pub struct Serving(Arc<Shared>);

impl Serving {
    /// Who is behind the connection that the application sees as from `address`.
    pub fn peer(&self, address: SocketAddr) -> Option<SocketAddr> {
        self.0.peer(address)
    }

    /// The VM ends: nobody is accepted any more; waits until what the application has written is passed on, for two seconds at most.
    pub fn end(&self) {
        self.0.ended.raise();
        let give_up = Instant::now() + Duration::from_secs(2);
        while self.0.unfinished.load(Ordering::Acquire) > 0 && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
