// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The listening sockets and the threads: one to accept, one for housekeeping, one for metrics, one for each connection.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lull_far_auth::Entry;
use lull_far_protocol::ErrorCode;
use tracing::{error, info, warn};

use crate::arena::{Arena, CommitError};
use crate::connection;
use crate::identity::Identities;
use crate::metrics::{self, Metrics};
use crate::network::Network;
use crate::store::Store;
use crate::strangers::Strangers;
use crate::transport::POLL;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens. Port 0: the kernel chooses.
    pub listen: SocketAddr,
    /// Who may use it. Nobody: everybody who reaches it.
    pub keys: Vec<Entry>,
    /// Without a key, listen also where other machines may reach it.
    pub insecure: bool,
    /// With keys, serve also who wants frames that are neither encrypted nor proven; and send such to other servers.
    pub plain_frames: bool,
    /// Where other servers are that it may connect to when clients have them trace together.
    pub peers: Vec<Network>,
    /// Where it answers `GET /metrics`, if it does.
    pub metrics: Option<SocketAddr>,
    /// Bytes of memory for clients.
    pub memory: u64,
    /// How long a client without a connection keeps its regions.
    pub linger: Duration,
    /// The longest time for one frame to pass.
    pub frame_timeout: Duration,
    /// The most connections at once of those who are known, and the most threads that send to other servers.
    pub max_connections: usize,
    /// How long a server that is told to stop waits for its clients to leave.
    pub drain: Duration,
    /// How long a connection's thread stays awake for the next request, where requests follow each other that fast.
    pub awake: Duration,
}

impl Config {
    /// The defaults of the command line.
    #[must_use]
    pub fn new(listen: SocketAddr, memory: u64) -> Config {
        Config {
            listen,
            keys: Vec::new(),
            insecure: false,
            plain_frames: false,
            peers: Vec::new(),
            metrics: None,
            memory,
            linger: Duration::from_secs(30),
            frame_timeout: Duration::from_secs(10),
            max_connections: 1024,
            drain: Duration::from_secs(5),
            awake: Duration::from_micros(200),
        }
    }
}

impl Config {
    /// How long a client that has no memory may ask for nothing before it loses its connections.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.linger.max(self.frame_timeout)
    }
}

/// Why a server cannot start.
#[derive(Debug)]
pub enum StartError {
    /// Other machines may reach it, and it would serve everybody.
    Unprotected(SocketAddr),
    /// A key is granted what is not known.
    Keys(String),
    /// The memory cannot be committed.
    Memory(CommitError),
    /// An address cannot be listened at.
    Listen(SocketAddr, io::Error),
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
                    "Give --key FILE (lull-far new-key FILE makes one), listen at 127.0.0.1 or [::1], or say --insecure where only "
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

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
const STOPPED: u8 = 2;

/// What all threads share.
#[derive(Debug)]
pub struct Shared {
    /// What the server was started with.
    pub config: Config,
    /// Clients and memory.
    pub store: Store,
    /// Who may use it.
    pub identities: Identities,
    /// Connections of which nobody knows whose they are yet.
    pub strangers: Strangers,
    /// Counters.
    pub metrics: Metrics,
    /// Drawn at the start: tells clients that the pages of an earlier process are gone.
    pub session: [u8; 16],
    /// How many more threads may wait awake: half of the processors, for the work comes first.
    pub awake_places: AtomicUsize,
    /// Only grows. Threads look at it now and then, nothing else depends on when they see it: relaxed.
    state: AtomicU8,
}

impl Shared {
    /// No new clients and regions.
    #[must_use]
    pub fn stopping(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= STOPPING
    }

    /// All connections end.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= STOPPED
    }
}

/// A server that runs. Dropping it does not stop it.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    /// Where it listens.
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
        let listener = listen(config.listen)?;
        let metrics = config.metrics.map(listen).transpose()?;
        let arena = Arena::reserve(config.memory).map_err(StartError::Memory)?;
        let mut session = [0; 16];
        rustix::rand::getrandom(&mut session, rustix::rand::GetRandomFlags::empty()).map_err(|e| StartError::System(e.into()))?;
        let address = listener.local_addr().map_err(StartError::System)?;
        let metrics_address = metrics.as_ref().map(TcpListener::local_addr).transpose().map_err(StartError::System)?;
        let shared = Arc::new(Shared {
            store: Store::new(arena, config.max_connections),
            config,
            identities,
            strangers: Strangers::default(),
            metrics: Metrics::default(),
            session,
            awake_places: AtomicUsize::new(thread::available_parallelism().map_or(0, |processors| processors.get() / 2)),
            state: AtomicU8::new(RUNNING),
        });
        info!(%address, metrics = ?metrics_address, bytes = shared.store.arena.capacity(),
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
                while !shared.stopped() {
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
        Ok(Server { shared, address, metrics_address, accept })
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
        while self.shared.metrics.connections.load(Ordering::Relaxed) > 0 && Instant::now() < deadline {
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
        self.shared.state.fetch_max(STOPPING, Ordering::Relaxed);
    }

    /// Stops without waiting for clients.
    pub fn stop_now(&self) {
        self.shared.state.fetch_max(STOPPED, Ordering::Relaxed);
    }
}

/// Without a key, only programs of this machine may come, unless somebody takes the blame.
fn check_protected(config: &Config) -> Result<(), StartError> {
    let protected = !config.keys.is_empty() || config.listen.ip().to_canonical().is_loopback();
    if !protected && !config.insecure {
        return Err(StartError::Unprotected(config.listen));
    }
    if !protected {
        warn!(address = %config.listen, "--insecure: whoever reaches this address reads and changes the memory of programs");
    }
    Ok(())
}

fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    let failed = |error| StartError::Listen(address, error);
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Starts a thread.
pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(body)
}

/// Accepts, and does the housekeeping between.
fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    let mut stopping_since = None;
    while !shared.stopped() {
        match next_connection(listener, POLL) {
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
        if shared.stopping() {
            let since = *stopping_since.get_or_insert_with(|| {
                info!(drain = ?shared.config.drain, "stopping");
                Instant::now()
            });
            if shared.store.census().regions == 0 || since.elapsed() >= shared.config.drain {
                shared.state.fetch_max(STOPPED, Ordering::Relaxed);
            }
        }
    }
}

/// Waits for a connection, for so long at most.
fn next_connection(listener: &TcpListener, wait: Duration) -> io::Result<Option<(TcpStream, SocketAddr)>> {
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

fn start_connection(shared: &Arc<Shared>, stream: TcpStream, peer: SocketAddr) {
    Metrics::add(&shared.metrics.accepted, 1);
    shared.metrics.connections.fetch_add(1, Ordering::Relaxed);
    let open = OpenConnection(Arc::clone(shared));
    let shared = Arc::clone(shared);
    let started = shared.strangers.enter(&stream, peer.ip()).and_then(|(stranger, pushed_out)| {
        Metrics::add(&shared.metrics.strangers_dropped, pushed_out.into());
        let serve = move || {
            connection::serve(&open.0, &stream, peer, stranger);
            open.0.strangers.leave(stranger);
        };
        spawn("connection", serve).map(drop).inspect_err(|_| {
            let _ = shared.strangers.leave(stranger);
        })
    });
    if let Err(error) = started {
        // The stream went with the closure: the peer sees a close without a word, which is all that can be said.
        warn!(%peer, %error, "no thread, or no descriptor, for a connection");
        shared.metrics.error(ErrorCode::Internal);
    }
}

/// Counts a connection for as long as it lives, also if its thread panics.
struct OpenConnection(Arc<Shared>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.metrics.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// To many at once; at an address that only this machine reaches, only to who asks this machine by name or number.
fn serve_metrics(shared: &Shared, listener: &TcpListener) {
    let is_local = listener.local_addr().is_ok_and(|address| address.ip().to_canonical().is_loopback());
    let answer = |head: &[u8]| (!is_local || lull_pages::names_this_machine(head)).then(|| metrics::answer(shared, head));
    if let Err(error) = lull_pages::serve(listener, Some(POLL), || shared.stopped(), answer) {
        error!(%error, "the metrics are not served");
    }
}
