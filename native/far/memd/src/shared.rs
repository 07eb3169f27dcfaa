// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What all threads of a server share, in parts by who writes them.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use crate::config::Config;
use crate::few_lines::FewLines;
use crate::identity::Identities;
use crate::metrics::Metrics;
use crate::store::Store;
use crate::strangers::Strangers;

/// All parts. Who needs one is given that one.
#[derive(Debug)]
pub struct Shared {
    /// What the server was started with. Nobody writes it.
    pub config: Config,
    /// Drawn at the start: tells clients that the pages of an earlier process are gone. Nobody writes it.
    pub session: [u8; 16],
    /// Who may use it, and how much each has: written by who takes something in a key's name, and gives it back.
    pub identities: Identities,
    /// Clients and memory: written by connections, and by who forgets clients; each under its locks.
    pub store: Store,
    /// What there is of connections and threads: each is written by itself, when it begins and ends.
    pub live: Live,
    /// How far the server is: written by who stops it.
    pub phase: Phase,
    /// What has happened: written by all, and read by who asks for it. Nothing depends on it.
    pub metrics: Metrics,
    /// What is said of those who are not known: asked by whoever would say something of them.
    pub few_lines: FewLines,
}

/// What there is. Limits look at it: each is counted before it begins, and until it has ended.
#[derive(Debug)]
pub struct Live {
    /// Connections of which nobody knows whose they are yet.
    pub strangers: Strangers,
    /// How many more threads may wait awake: half of the processors, for the work comes first.
    pub awake: AtomicUsize,
    connections: AtomicUsize,
    senders: AtomicUsize,
}

impl Live {
    /// Nothing yet.
    pub fn new() -> Live {
        let processors = thread::available_parallelism().map_or(0, |processors| processors.get());
        Live { strangers: Strangers::default(), awake: AtomicUsize::new(processors / 2), connections: 0.into(), senders: 0.into() }
    }

    /// Open connections.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// One more.
    pub fn opened(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// One less.
    pub fn closed(&self) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// Threads that send to other servers what they have traced.
    pub fn senders(&self) -> usize {
        self.senders.load(Ordering::Relaxed)
    }

    /// So many more, if there are `most` then, or fewer.
    ///
    /// # Errors
    /// How many there are.
    pub fn add_senders(&self, count: usize, most: usize) -> Result<(), usize> {
        let more = |now: usize| now.checked_add(count).filter(|&all| all <= most);
        self.senders.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).map(drop)
    }

    /// One less.
    pub fn sender_ended(&self) {
        self.senders.fetch_sub(1, Ordering::Relaxed);
    }
}

const RUNNING: u8 = 0;
const STOPPING: u8 = 1;
const STOPPED: u8 = 2;

/// How far a server is. Only grows. Threads look at it now and then, nothing else depends on when they see it: relaxed.
#[derive(Debug)]
pub struct Phase(AtomicU8);

impl Phase {
    /// It runs.
    pub fn new() -> Phase {
        Phase(AtomicU8::new(RUNNING))
    }

    /// From now on no new clients and regions.
    pub fn stop(&self) {
        self.0.fetch_max(STOPPING, Ordering::Relaxed);
    }

    /// From now on all connections end.
    pub fn stop_now(&self) {
        self.0.fetch_max(STOPPED, Ordering::Relaxed);
    }

    /// No new clients and regions.
    pub fn stopping(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= STOPPING
    }

    /// All connections end.
    pub fn stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= STOPPED
    }
}

/// Starts a thread.
///
/// # Errors
/// As the system.
pub fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).stack_size(256 << 10).spawn(body)
}
