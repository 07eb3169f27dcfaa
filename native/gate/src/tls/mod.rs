// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! TLS that the gate serves, for a service whose own TLS would be hidden from it: threads that the JVM never stops accept clients, end TLS, and
//! relay plain bytes to and from the service's own port, where the gate follows them like any other client's. So what comes in a pause is answered
//! by the gate as it is without TLS, and nothing here knows of requests, pauses or decisions.
//!
//! [`certificate`] reads keys and knows when to read them anew, [`relay`] is one client, [`worker`] a thread with many of them, [`queue`] says who
//! has had its time, [`kernel`] has the system calls.

pub mod certificate;
pub mod kernel;
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
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};

use crate::metrics::Metrics;
use crate::options::{self, Options};
use crate::own_ports::Own;
use crate::tls::certificate::{Changes, Current, Files, Stamps};
use crate::tls::kernel::Bell;
use crate::tls::relay::Targets;
use crate::tls::worker::{HANDSHAKE, STALL, Shared, Worker};

/// Threads at most: they share the processors with the service.
const MOST_THREADS: usize = 4;
/// One of so many clients may be at its handshake, so that those who never end it leave room for others.
const HANDSHAKES: usize = 4;
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
        })
    }

    /// Starts the threads.
    ///
    /// # Errors
    /// One cannot be started.
    pub fn start(self, metrics: &'static Metrics, complain: fn(&str)) -> io::Result<Serving> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let shared = Arc::new(Shared {
            config: self.config,
            targets: self.targets,
            most: self.most,
            open: AtomicUsize::new(0),
            peers: Mutex::new(HashMap::new()),
            listener: self.socket,
            is_open: AtomicBool::new(false),
            bells: (0..threads).map(|_| Bell::new()).collect::<io::Result<_>>()?,
            looks: OnceLock::new(),
            ended: Bell::new()?,
            unfinished: AtomicUsize::new(0),
            metrics,
            complain,
            complained: Mutex::new(None),
            handshake: self.handshake,
            stall: self.stall,
            handshakes: (self.most / HANDSHAKES / threads).max(1),
        });
        for n in 0..threads {
            let worker = Worker::new(shared.clone(), n)?;
            shared.unfinished.fetch_add(1, Ordering::Relaxed);
            let of = shared.clone();
            let started = std::thread::Builder::new().name(format!("gate TLS {n}")).spawn(move || {
                if catch_unwind(AssertUnwindSafe(|| worker.run())).is_err() {
                    (of.complain)("a defect: a thread that serves TLS has ended, with its clients; others serve new ones");
                    of.unfinished.fetch_sub(1, Ordering::Release);
                }
            });
            if let Err(error) = started {
                shared.unfinished.fetch_sub(1, Ordering::Relaxed);
                shared.ended.raise();
                return Err(error);
            }
        }
        let door = Door { own: Own::new(self.targets.ports()), address: self.address, wait: LISTENS, has_failed: false };
        let reload = Reload { files: self.files, changes: self.changes, current: self.current, provider: self.provider };
        let of = shared.clone();
        let looks = std::thread::Builder::new().name("gate TLS looks".into()).spawn(move || {
            let _ = catch_unwind(AssertUnwindSafe(|| attend(door, reload, &of)));
        })?;
        let _ = shared.looks.set(looks.thread().clone());
        Ok(Serving(shared))
    }
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
}

impl Door {
    fn look(&mut self, shared: &Shared) {
        let is_open = shared.is_open.load(Ordering::Relaxed);
        let listens = self.own.listens();
        self.wait = if listens || is_open { LOOKS } else { (self.wait * 2).min(LOOKS) };
        if listens == is_open {
            return;
        }
        if listens && let Err(error) = kernel::listen(&shared.listener) {
            if !std::mem::replace(&mut self.has_failed, true) {
                let address = self.address;
                (shared.complain)(&format!(
                    "option tls-port: {address} cannot be had: {error}; TLS is not served until it can; end who listens there (ss -ltnp)"
                ));
            }
            return;
        }
        self.has_failed = false;
        shared.is_open.store(listens, Ordering::Release);
        if !listens {
            self.wait = LISTENS;
            kernel::stop_listening(&shared.listener);
        }
        shared.bells.iter().for_each(Bell::raise);
    }
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
                (shared.complain)(&format!("TLS: the certificate in {} is served from now on", self.files.cert.display()));
            }
            Err(reason) => {
                shared.metrics.tls_certificate_errors.add(1);
                (shared.complain)(&format!("TLS: the certificate that was read before is served on, for the new one is wrong: {reason}"));
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
