// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pager: what all its parts share, and how it starts. Each part of it says who writes it.
//!
//! Invariants, by name: **E** and **A** of `page.rs`; **L (local bound)**: pages in local memory, counted from before a page gets
//! memory until after it has given it back, are never more than [`Options::local_bytes`]. Each is one of `room`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use lull_far_auth::seal_key;
use lull_far_protocol::{ChannelKind, Message, Op};
use zeroize::Zeroizing;

use crate::PAGE_SIZE;
use crate::dirty::{self, DirtyPages};
use crate::evict;
use crate::fault;
use crate::keeper;
use crate::kernel::{self, FaultMode, Kernel, NotPermitted};
use crate::last_words::{fatal, say};
use crate::layout::Place;
use crate::life::Local;
use crate::link::{Channel, Credentials, LinkError, Payload, Server, random};
use crate::options::{self, Options};
use crate::owner::{Owner, OwnerCounters};
use crate::page::Page;
use crate::queue::{Cell, Queue};
use crate::ranges::{Range, Ranges};
use crate::record::Record;
use crate::restore;
use crate::room::Room;
use crate::seal::Seals;
use crate::stream::Streams;
use crate::syscall;
use crate::version::Version;
use crate::wait::{Event, Events};

/// Of so many pages of local memory one may be of those that were asked for ahead and have not come: two streams with the longest
/// windows that there are with so much of it.
const AHEAD_SHARE: u64 = 32;

/// Why a pager cannot start, or a range cannot be mapped.
#[derive(Debug)]
pub enum Error {
    /// An option is out of its range.
    Options(String),
    /// The machine does not permit it.
    NotPermitted(NotPermitted),
    /// A server refuses, or cannot be reached.
    Server(LinkError),
    /// The system does not.
    System(&'static str, std::io::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Options(text) => f.write_str(text),
            Error::NotPermitted(error) => error.fmt(f),
            Error::Server(error) => error.fmt(f),
            Error::System(what, error) => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// What has happened, counted. Independent of each other: relaxed.
#[derive(Debug, Default)]
pub struct Counters {
    /// Faults on pages that were never written to.
    pub zero_faults: AtomicU64,
    /// Faults that fetched.
    pub fetch_faults: AtomicU64,
    /// Faults on pages that were in local memory: their second chance.
    pub second_chances: AtomicU64,
    /// Pages fetched; more than `fetch_faults` by what was read ahead.
    pub pages_fetched: AtomicU64,
    /// Pages that servers acknowledged.
    pub pages_written: AtomicU64,
    /// Pages that were dropped without being written, because a server has them.
    pub pages_dropped_clean: AtomicU64,
    /// Fetches that a second server answered.
    pub replica_fetches: AtomicU64,
    /// Pages of which lost copies were made again.
    pub pages_copied: AtomicU64,
}

/// Everything. Lives as long as the process once it serves faults.
#[derive(Debug)]
pub struct Pager {
    pub(crate) kernel: Kernel,
    pub(crate) servers: Vec<Server>,
    pub(crate) options: Options,
    /// What is local: written by the fault path and the evictor.
    pub(crate) local: Local<&'static [Page], &'static [Cell]>,
    /// Written by who maps, under `mapping`.
    pub(crate) ranges: Ranges,
    /// If pages are sealed.
    pub(crate) seals: Option<Seals>,
    pub(crate) page_events: Events,
    pub(crate) streams: Streams,
    pub(crate) record: Option<Record>,
    /// If writes are counted.
    pub(crate) dirty: Option<DirtyPages>,
    /// Who knows what pages are.
    pub(crate) owner: Owner,
    /// Wakes the evictor.
    pub(crate) evictor: Event,
    /// Wakes the keeper.
    pub(crate) keeper: Arc<Event>,
    /// What has happened.
    pub counters: Counters,
    pub(crate) control: Mutex<Vec<Channel>>,
    /// Held while a range is mapped, and while the regions of a server that comes back are.
    pub(crate) mapping: Mutex<()>,
    /// The process whose memory this is. A child of `fork` has this structure, and neither the ranges nor the threads.
    process: u32,
    /// The channels over which pages are written, one to each server: held by the evictor for each of its steps, and by who makes lost
    /// copies again. So each page is written through one channel only, and by one thread at a time. Not for the fault path. Locked after
    /// `mapping` and before `control`.
    pub(crate) evicting: Mutex<Vec<Channel>>,
    pub(crate) stopping: AtomicBool,
}

impl Pager {
    /// Connects to the servers, checks what the machine permits, starts the threads. Does not install a signal handler:
    /// [`crate::signal::install`].
    ///
    /// # Errors
    /// [`Error`], each with what to do about it.
    pub fn start(options: Options) -> Result<&'static Pager, Error> {
        let pager = Pager::connect(options)?;
        spawn("far-evict", move || evict::run(pager))?;
        spawn("far-keeper", move || keeper::run(pager))?;
        if pager.dirty.is_some() {
            spawn("far-dirty", move || dirty::run(pager))?;
        }
        if pager.options.replicas > 0 {
            spawn("far-restore", move || restore::run(pager))?;
            if !pager.options.spares.is_empty() {
                spawn("far-spares", move || look_at_spares(&pager.options))?;
            }
        }
        if pager.options.mode == FaultMode::Handlers {
            for _ in 0..2 {
                spawn("far-fault", move || fault::handle_messages(pager))?;
            }
        }
        Ok(pager)
    }

    /// All of it but the threads.
    pub(crate) fn connect(options: Options) -> Result<&'static Pager, Error> {
        options::check(&options)?;
        let kernel = Kernel::open(options.mode).map_err(Error::NotPermitted)?;
        let secret = Zeroizing::new(random().map_err(|error| Error::System("random numbers", error))?);
        let keeper = Arc::new(Event::default());
        let servers = connect_all(&options, &secret, &keeper)?;
        let read_ahead = options.read_ahead;
        let local = options.local_bytes / PAGE_SIZE as u64;
        let total = usize::try_from(options.capacity_bytes / PAGE_SIZE as u64).unwrap_or(usize::MAX);
        let record = recorded(options.record.as_deref(), "faults", Record::create)?;
        let dirty = recorded(options.dirty.as_deref(), "dirty pages", |path| DirtyPages::create(path, total))?;
        let failed = |error| Error::System("tables", error);
        // SAFETY: a zero byte is an absent page.
        let pages = unsafe { kernel::table::<Page>(total) }.map_err(failed)?;
        // SAFETY: a zero cell is an empty one.
        let cells = unsafe { kernel::table::<Cell>(total.next_power_of_two()) }.map_err(failed)?;
        let owner = Owner::new(total).map_err(failed)?;
        let seals = if options.seal { Some(seals(&secret, total)?) } else { None };
        let evicting = Mutex::new(servers.iter().map(|_| Channel::new(ChannelKind::Write)).collect());
        let pager = Box::leak(Box::new(Pager {
            kernel,
            local: Local { pages, mapped: Queue::new(cells), room: Room::new(local), ahead: Room::new(local / AHEAD_SHARE) },
            ranges: Ranges::new(),
            control: Mutex::new(servers.iter().map(|_| Channel::new(ChannelKind::Control)).collect()),
            mapping: Mutex::new(()),
            process: std::process::id(),
            servers,
            options,
            seals,
            page_events: Events::new(),
            streams: Streams::new(read_ahead, local),
            record,
            dirty,
            owner,
            evictor: Event::default(),
            keeper,
            counters: Counters::default(),
            evicting,
            stopping: AtomicBool::new(false),
        }));
        // The processor's support for checksums is looked up once, and not in a signal handler.
        let _ = lull_far_protocol::crc32c_of(&[b"once"]);
        Ok(pager)
    }

    /// What a child of `fork` does is refused: its kernel objects, and its connections, are the parent's.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        let (here, there) = (std::process::id(), self.process);
        if self.is_here() { Ok(()) } else { Err(Error::Options(format!("process {here} is a child of {there}, whose far memory this is"))) }
    }

    /// Whether this is the process whose memory it is. A child of `vfork` is another one, with descriptors and signal handlers of its own,
    /// that sees the same memory.
    #[must_use]
    pub fn is_here(&self) -> bool {
        std::process::id() == self.process
    }

    /// Fault path: pages that a server has given, from this place on, opened where they are. None, which is said, if one of them is not
    /// what was written there last: then nothing of that server is believed any more. Ends the program if nobody else may have them.
    pub(crate) fn opened<'a>(&self, first: u32, place: Place, contents: &'a mut [u8]) -> Option<&'a [u8]> {
        if let Some(seals) = &self.seals
            && let Err(wrong) = seals.open_all(first, contents)
        {
            self.disbelieve(Place { page: place.page + u64::from(wrong), ..place });
            return None;
        }
        Some(contents)
    }

    fn disbelieve(&self, Place { server, region, page }: Place) {
        let server = &self.servers[server];
        let name = server.name();
        let what = format_args!(
            "memory server {name} gives page {page} of region {region} not as it was written last: it is changed, old, or another one"
        );
        if self.options.replicas == 0 {
            fatal(format_args!("{what}; the program cannot go on"));
        }
        say(format_args!("{what}; it is asked for nothing any more"));
        server.disbelieve();
    }

    /// The range that an address lies in, if it is mapped. Fault path.
    pub fn range_at(&self, address: usize) -> Option<&'static Range> {
        self.ranges.at(address, &self.local)
    }

    /// The ranges that have any of these bytes; of no bytes none. Allocates nothing: an allocator may ask, and the fault path does.
    pub fn ranges_within(&self, address: usize, bytes: usize) -> impl Iterator<Item = &'static Range> {
        self.ranges.within(address, bytes, &self.local)
    }

    /// Whether the program may have the servers trace its pages.
    #[must_use]
    pub fn traces(&self) -> bool {
        self.options.traces
    }

    /// In which thread faults are served.
    #[must_use]
    pub fn mode(&self) -> FaultMode {
        self.options.mode
    }

    /// All ranges that are mapped.
    pub(crate) fn mapped_ranges(&self) -> impl Iterator<Item = &'static Range> {
        self.ranges_within(0, usize::MAX)
    }

    /// Pages in local memory, and the most there may be.
    #[must_use]
    pub fn local_pages(&self) -> (u64, u64) {
        (self.local.room.used(), self.local.room.total())
    }

    /// Pages that were asked for before anybody needed them, and have not come. They count as local.
    #[must_use]
    pub fn coming_pages(&self) -> u64 {
        self.local.ahead.used()
    }

    /// What has come of what the owner knows.
    #[must_use]
    pub fn owner_counters(&self) -> &OwnerCounters {
        &self.owner.counters
    }

    /// How often a frame of an encrypted connection was not what a server had sent next, or not whole.
    #[must_use]
    pub fn harmed_frames(&self) -> u64 {
        self.servers.iter().map(Server::harmed_frames).sum()
    }

    /// Servers whose pages, or some of them, are on one server only.
    #[must_use]
    pub fn lost_servers(&self) -> usize {
        self.servers.iter().filter(|server| server.lost()).count()
    }

    /// Keeper: says that we are there, and hears how the server is.
    pub(crate) fn heartbeat(&self, index: usize) -> Result<bool, LinkError> {
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let (header, payload) = control[index].ask(&self.servers[index], Op::Heartbeat, 0, Payload::of(&[]))?;
        let broken = |text: &str| LinkError::Broken(format!("memory server {}: {text}", self.servers[index].name()));
        match Message::decode(&header, &payload) {
            Ok(Message::HeartbeatAck(state)) => Ok(state.stopping),
            Ok(other) => Err(broken(&format!("HEARTBEAT is answered by {}", other.op().name()))),
            Err(error) => Err(broken(&format!("the answer to HEARTBEAT: {error}"))),
        }
    }

    /// Ends the record of faults, if there is one. Returns how many are in it.
    ///
    /// # Errors
    /// As the system call.
    pub fn finish_record(&self) -> std::io::Result<Option<u64>> {
        if self.check_process().is_err() {
            return Ok(None);
        }
        self.record.as_ref().map(Record::finish).transpose()
    }

    /// Tells the servers that the program ends: they take everything back when its last connection closes, which its end does. Until then
    /// other threads have their pages. Waits for a second at most: who does not hear of it waits for `--linger` seconds.
    pub fn end(&self) {
        const PATIENCE: Duration = Duration::from_secs(1);
        if self.check_process().is_err() {
            return;
        }
        let deadline = Instant::now() + PATIENCE;
        let mut control = loop {
            match self.control.try_lock() {
                Ok(control) => break control,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return,
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        };
        let asked: Vec<_> = control
            .iter_mut()
            .zip(&self.servers)
            .filter(|(channel, server)| server.takes_writes() && channel.is_open())
            .filter_map(|(channel, server)| {
                channel.begin(server, Op::Leave, 0, Payload::of(&[])).ok().map(|asked| (channel, server, asked))
            })
            .collect();
        for (channel, server, asked) in asked {
            let _ = channel.finish_by(server, &asked, deadline);
        }
    }

    /// Gives everything back to the servers. Called when the program ends; nothing can be used afterwards.
    pub fn leave(&self) {
        if self.check_process().is_err() {
            return;
        }
        self.stopping.store(true, Ordering::Relaxed);
        let _no_step = self.evicting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        for (channel, server) in control.iter_mut().zip(&self.servers) {
            if server.takes_writes() {
                let _ = channel.ask(server, Op::Bye, 0, Payload::of(&[]));
            }
        }
    }
}

fn credentials(options: &Options) -> Credentials {
    Credentials { key: options.key.clone(), plain_frames: options.plain_frames }
}

/// Says which spare servers could not take a lost one's place: better now than when one is lost. Nobody waits for it.
fn look_at_spares(options: &Options) {
    for name in &options.spares {
        let greeted = options::address_of(name).and_then(|address| {
            let secret = random().map_err(|error| Error::System("random numbers", error))?;
            Server::connect((name, address), &secret, credentials(options), options.server_timeout, Arc::default()).map_err(Error::Server)
        });
        if let Err(error) = greeted {
            say(format_args!("{error}; it is a spare one, and could not take a lost one's place now"));
        }
    }
}

/// Connections to all servers.
fn connect_all(options: &Options, secret: &[u8; 32], keeper: &Arc<Event>) -> Result<Vec<Server>, Error> {
    let mut servers = Vec::new();
    for name in &options.servers {
        let place = (&name[..], options::address_of(name)?);
        let mut server =
            Server::connect(place, secret, credentials(options), options.server_timeout, Arc::clone(keeper)).map_err(Error::Server)?;
        for name in &options.spares {
            server.add_place((name, options::address_of(name)?), secret);
        }
        servers.push(server);
    }
    // Both copies of a page could be there.
    if let Some((one, other)) = servers.iter().enumerate().find_map(|(index, server)| Some((server, twin(&servers, index)?))) {
        let (one, other) = (one.name(), other.name());
        return Err(Error::Options(format!("memory servers {one} and {other} are one server: name each server once")));
    }
    Ok(servers)
}

/// What seals so many pages.
fn seals(secret: &[u8; 32], pages: usize) -> Result<Seals, Error> {
    // SAFETY: all zeros is a page that was never sealed.
    let versions = unsafe { kernel::table::<Version>(pages) }.map_err(|error| Error::System("tables", error))?;
    Seals::new(&seal_key(secret), versions).map_err(|error| Error::System("memory for the key", error))
}

/// Another server that is the same process.
pub(crate) fn twin(servers: &[Server], index: usize) -> Option<&Server> {
    let session = servers[index].session()?;
    servers.iter().enumerate().find(|&(other, server)| other != index && server.session() == Some(session)).map(|(_, server)| server)
}

/// What writes a file about this process, if one was asked for. None, which is said, if another process writes into the file.
fn recorded<T>(path: Option<&Path>, what: &str, create: impl FnOnce(&Path) -> std::io::Result<Option<T>>) -> Result<Option<T>, Error> {
    let Some(path) = path else { return Ok(None) };
    let created = create(path).map_err(|error| Error::System("the record", error))?;
    if created.is_none() {
        let (path, process) = (path.display(), std::process::id());
        say(format_args!("another process records its {what} in {path}; those of process {process} are not recorded"));
    }
    Ok(created)
}

/// Two signals with which the C library has all threads change user, or ends one. It waits for each thread.
const OF_THE_C_LIBRARY: u64 = 1 << (32 - 1) | 1 << (33 - 1);

/// Starts a thread that no signal of the program reaches. Not by the C library's function: the preload library stands in for that, and
/// would leave SIGBUS open.
fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let before = syscall::set_signal_mask(!OF_THE_C_LIBRARY);
    let result = std::thread::Builder::new().name(name.to_owned()).spawn(body);
    syscall::set_signal_mask(before);
    result.map(|_| ()).map_err(|e| Error::System("thread", e))
}
