// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The listening sockets and the threads: one to accept, one for housekeeping, one for metrics, one for each connection.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lull_far_protocol::ErrorCode;
use tracing::{error, info, warn};

use crate::arena::{Arena, CommitError};
use crate::config::Config;
use crate::connection;
use crate::few_lines::FewLines;
use crate::identity::Identities;
use crate::listen::{Listen, Listener, Visitor};
use crate::metrics::Metrics;
use crate::page;
use crate::shared::{Live, Phase, Shared, spawn};
use crate::store::Store;
use crate::transport::POLL;

/// Why a server cannot start.
#[derive(Debug)]
pub enum StartError {
    /// Other machines may reach it, and it would serve everybody.
    Unprotected(Listen),
    /// A key is granted what is not known.
    Keys(String),
    /// The memory cannot be committed.
    Memory(CommitError),
    /// An address cannot be listened at.
    Listen(Listen, io::Error),
    /// The system has no random numbers, or no threads.
    System(io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Unprotected(address) => {
                write!(
                    f,
                    "refusing to listen at {address} without a key: whoever reaches it could read and change the memory of programs. "
                )?;
                write!(
                    f,
                    "Give --key FILE (lull-far new-key FILE makes one), listen at 127.0.0.1, [::1] or unix:PATH, or say --insecure where only "
                )?;
                write!(f, "clients reach it")
            }
            StartError::Keys(text) => f.write_str(text),
            StartError::Memory(error) => error.fmt(f),
            StartError::Listen(address, error) => write!(f, "cannot listen at {address}: {error}"),
            StartError::System(error) => write!(f, "cannot start: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

/// A server that runs. Dropping it does not stop it.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    /// Where it listens.
    pub listens: Listen,
    /// The same, if that is an IP address; otherwise none that can be reached.
    pub address: SocketAddr,
    /// Where it answers `GET /metrics`.
    pub metrics_address: Option<SocketAddr>,
    accept: JoinHandle<()>,
}

impl Server {
    /// Checks that there is as much memory, listens, and commits the memory in a thread beside.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(config: Config) -> Result<Server, StartError> {
        let started = Instant::now();
        let identities = Identities::new(&config.keys).map_err(StartError::Keys)?;
        check_protected(&config)?;
        // First the addresses: they are wrong more often, and cost nothing.
        let failed = |error| StartError::Listen(config.listen.clone(), error);
        let listener = Listener::bind(&config.listen).map_err(failed)?;
        let metrics = config.metrics.map(listen).transpose()?;
        let arena = Arena::reserve(config.memory).map_err(StartError::Memory)?;
        let mut session = [0; 16];
        rustix::rand::getrandom(&mut session, rustix::rand::GetRandomFlags::empty()).map_err(|e| StartError::System(e.into()))?;
        let listens = listener.address().map_err(StartError::System)?;
        let metrics_address = metrics.as_ref().map(TcpListener::local_addr).transpose().map_err(StartError::System)?;
        let shared = Arc::new(Shared {
            store: Store::new(arena, config.max_connections),
            config,
            session,
            identities,
            live: Live::new(),
            phase: Phase::new(),
            metrics: Metrics::default(),
            few_lines: FewLines::default(),
        });
        info!(address = %listens, metrics = ?metrics_address, bytes = shared.store.arena.capacity(),
            milliseconds = started.elapsed().as_millis() as u64, "listening");
        {
            let shared = Arc::clone(&shared);
            spawn("memory", move || {
                let arena = &shared.store.arena;
                match arena.commit() {
                    Ok(()) => {
                        info!(bytes = arena.committed(), milliseconds = started.elapsed().as_millis() as u64, "all memory is committed")
                    }
                    Err(error) => error!(bytes = arena.capacity(), "{error}; the server goes on with what it has"),
                }
                while !shared.phase.stopped() {
                    arena.wait_for_used(POLL);
                    arena.clean();
                }
            })
            .map_err(StartError::System)?;
        }
        if let Some(metrics) = metrics {
            let shared = Arc::clone(&shared);
            spawn("metrics", move || serve_metrics(&shared, &metrics)).map_err(StartError::System)?;
        }
        let accept = {
            let shared = Arc::clone(&shared);
            spawn("accept", move || accept(&shared, &listener)).map_err(StartError::System)?
        };
        let address = match &listens {
            Listen::Ip(address) => *address,
            Listen::Unix(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        };
        Ok(Server { shared, listens, address, metrics_address, accept })
    }

    /// Bytes of memory that the kernel has given yet.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.shared.store.arena.committed()
    }

    /// Bytes that clients have.
    #[must_use]
    pub fn used(&self) -> u64 {
        let arena = &self.shared.store.arena;
        arena.capacity() - arena.free()
    }

    /// What stops the server, from any thread.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle { shared: Arc::clone(&self.shared) }
    }

    /// Waits until the server has stopped. Returns how many bytes clients still had in it.
    #[must_use]
    pub fn wait(self) -> u64 {
        if self.accept.join().is_err() {
            error!("the thread that accepts connections has panicked");
        }
        let deadline = Instant::now() + self.shared.config.frame_timeout;
        while self.shared.live.connections() > 0 && Instant::now() < deadline {
            thread::sleep(POLL / 10);
        }
        let arena = &self.shared.store.arena;
        arena.capacity() - arena.free()
    }
}

/// Stops a server.
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    /// Takes no new clients and regions from now on, and stops when all clients have left, or `drain` is over.
    pub fn stop(&self) {
        self.shared.phase.stop();
    }

    /// Stops without waiting for clients.
    pub fn stop_now(&self) {
        self.shared.phase.stop_now();
    }
}

/// Without a key, only programs of this machine may come, unless somebody takes the blame.
fn check_protected(config: &Config) -> Result<(), StartError> {
    let protected = !config.keys.is_empty() || config.listen.is_local();
    if !protected && !config.insecure {
        return Err(StartError::Unprotected(config.listen.clone()));
    }
    if !protected {
        warn!(address = %config.listen, "--insecure: whoever reaches this address reads and changes the memory of programs");
    }
    Ok(())
}

fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    let failed = |error| StartError::Listen(address.into(), error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Accepts, and does the housekeeping between.
fn accept(shared: &Arc<Shared>, listener: &Listener) {
    let mut stopping_since = None;
    while !shared.phase.stopped() {
        let next = if shared.live.strangers.are_enough() {
            // Half of them were pushed out, and wait for nothing but a processor.
            thread::sleep(POLL / 100);
            Ok(None)
        } else {
            next_connection(listener, POLL)
        };
        match next {
            Ok(Some((stream, peer))) => start_connection(shared, stream, peer),
            Ok(None) => {}
            Err(error) => {
                // Out of file descriptors, most likely. The connections that there are must go on.
                warn!(%error, "cannot accept a connection");
                thread::sleep(POLL);
            }
        }
        for (client, bytes) in shared.store.reap(shared.config.linger, Instant::now()) {
            warn!(client = ?&client[..4], bytes, "the client did not come back within --linger; its regions are freed");
        }
        if shared.phase.stopping() {
            let since = *stopping_since.get_or_insert_with(|| {
                info!(drain = ?shared.config.drain, "stopping");
                Instant::now()
            });
            if shared.store.census().regions == 0 || since.elapsed() >= shared.config.drain {
                shared.phase.stop_now();
            }
        }
    }
}

/// Waits for a connection, for so long at most.
fn next_connection(listener: &Listener, wait: Duration) -> io::Result<Option<(TcpStream, Visitor)>> {
    let mut fds = [rustix::event::PollFd::new(listener, rustix::event::PollFlags::IN)];
    let wait = rustix::event::Timespec { tv_sec: 0, tv_nsec: wait.subsec_nanos().into() };
    match rustix::event::poll(&mut fds, Some(&wait)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    match listener.accept() {
        Ok((stream, peer)) => {
            stream.set_nonblocking(false)?;
            Ok(Some((stream, peer)))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted) => Ok(None),
        Err(error) => Err(error),
    }
}

fn start_connection(shared: &Arc<Shared>, stream: TcpStream, peer: Visitor) {
    Metrics::add(&shared.metrics.accepted, 1);
    shared.live.opened();
    let open = OpenConnection(Arc::clone(shared));
    let shared = Arc::clone(shared);
    let started = shared.live.strangers.enter(&stream, peer).and_then(|(stranger, pushed_out)| {
        Metrics::add(&shared.metrics.strangers_dropped, pushed_out.into());
        let serve = move || {
            connection::serve(&open.0, &stream, peer, stranger);
            open.0.live.strangers.leave(stranger);
        };
        spawn("connection", serve).map(drop).inspect_err(|_| {
            let _ = shared.live.strangers.leave(stranger);
        })
    });
    if let Err(error) = started {
        // The stream went with the closure: the peer sees a close without a word, which is all that can be said.
        if let Some(left_out) = shared.few_lines.next(Instant::now()) {
            let left_out = (left_out > 0).then_some(left_out);
            warn!(%peer, left_out, %error, "no thread, or no descriptor, for a connection");
        }
        shared.metrics.error(ErrorCode::Internal);
    }
}

/// Counts a connection for as long as it lives, also if its thread panics.
struct OpenConnection(Arc<Shared>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.live.closed();
    }
}

/// To many at once; at an address that only this machine reaches, only to who asks this machine by name or number.
fn serve_metrics(shared: &Shared, listener: &TcpListener) {
    let is_local = listener.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback());
    let answer = |head: &[u8]| (!is_local || lull_pages::names_this_machine(head)).then(|| page::answer(shared, head));
    if let Err(error) = lull_pages::serve(listener, Some(POLL), || shared.phase.stopped(), answer) {
        error!(%error, "the metrics are not served");
    }
}
