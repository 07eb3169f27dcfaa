// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pager: what all its parts share, how it starts, how ranges come and go.
//!
//! Invariants, by name: **E** and **A** of `page.rs`; **L (local bound)**: pages in local memory, counted from before a page gets
//! memory until after it has given it back, are never more than [`Options::local_bytes`]. Each is one of `room`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lull_far_auth::{Key, seal_key};
use lull_far_protocol::{ChannelKind, ErrorCode, Message, Op};
use zeroize::Zeroizing;

use crate::PAGE_SIZE;
use crate::descriptors::Own;
use crate::dirty::{self, DirtyPages};
use crate::evict;
use crate::fault;
use crate::keeper;
use crate::kernel::{self, FaultMode, Kernel, NotPermitted, Span};
use crate::last_words::{fatal, say};
use crate::layout::{Layout, Place};
use crate::link::{Channel, LinkError, Payload, Server, random};
use crate::page::{Kind, Page};
use crate::queue::{Cell, Queue};
use crate::record::Record;
use crate::restore;
use crate::room::Room;
use crate::seal::Seals;
use crate::stream::{LONGEST, Streams};
use crate::syscall;
use crate::version::Version;
use crate::wait::{Event, Events};

/// The most ranges over the life of a pager.
pub const MAX_RANGES: usize = 64;

/// The smallest local memory, in pages: 4 MB. One instruction may need several pages at once, and each thread one.
pub const LEAST_LOCAL_PAGES: u64 = 1024;

/// Of so many pages of local memory one may be of those that were asked for ahead and have not come: two streams with the longest
/// windows that there are with so much of it.
const AHEAD_SHARE: u64 = 32;

/// What a pager is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The servers, each `host:port`.
    pub servers: Vec<String>,
    /// Bytes of local memory that pages may take, 4 MB or more.
    pub local_bytes: u64,
    /// Bytes that may be mapped over the life of the pager. Costs 9 to 17 bytes of tables for each page of them in the long run, used
    /// or not: 9 if the pages are a power of two.
    pub capacity_bytes: u64,
    /// What the servers must have, too; without it they are asked for nothing, and ask for nothing.
    pub key: Option<Key>,
    /// How many servers hold each page beside the first, 0 or 1.
    pub replicas: usize,
    /// Whether pages are sealed before they leave, so that servers, and who listens, can neither read nor change them, nor give old ones.
    /// Costs 24 bytes for each page that has left, and the time to seal and open it.
    pub seal: bool,
    /// In which thread faults are served.
    pub mode: FaultMode,
    /// How long a server may be silent before it is lost.
    pub server_timeout: Duration,
    /// The most pages that one fault fetches, 1 to 32. With less than 8 MB of local memory, 1/64 of that, or 16.
    pub read_ahead: usize,
    /// Where to write the numbers of the pages that have faults, in order.
    pub record: Option<PathBuf>,
    /// Where to write how many pages are written to in each 10 ms, 100 ms and second. Costs the kernel's look at all mapped pages each 10 ms,
    /// and a fault of its own for the first write to a page in each.
    pub dirty: Option<PathBuf>,
}

impl Options {
    /// The defaults: no replica, faults in their own thread, 10 seconds, as much read-ahead as there may be.
    #[must_use]
    pub fn new(servers: Vec<String>, local_bytes: u64, capacity_bytes: u64) -> Options {
        let server_timeout = Duration::from_secs(10);
        let mode = FaultMode::InThread;
        Options {
            servers,
            local_bytes,
            capacity_bytes,
            key: None,
            replicas: 0,
            seal: false,
            mode,
            server_timeout,
            read_ahead: LONGEST,
            record: None,
            dirty: None,
        }
    }
}

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
}

/// A range of mapped memory.
#[derive(Debug)]
pub struct Range {
    /// Its first address.
    pub base: usize,
    /// Its pages.
    pub pages: u32,
    /// The number of its first page among all pages.
    pub first: u32,
    /// Where its pages are.
    pub layout: Layout,
    /// The memory file.
    pub file: Own<OwnedFd>,
}

impl Range {
    /// Where a run of pages is, by their numbers among all.
    pub fn span(&self, page: u32, pages: usize) -> Span {
        let index = (page - self.first) as usize;
        Span { address: self.base + index * PAGE_SIZE, offset: (index * PAGE_SIZE) as u64, pages }
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.pages as usize * PAGE_SIZE
    }
}

/// Everything. Lives as long as the process once it serves faults.
#[derive(Debug)]
pub struct Pager {
    pub(crate) kernel: Kernel,
    pub(crate) servers: Vec<Server>,
    pub(crate) options: Options,
    /// The state of each page. Ranges get numbers in order; a number is never used again.
    pub(crate) pages: &'static [Page],
    pub(crate) mapped: Queue<&'static [Cell]>,
    /// If pages are sealed.
    pub(crate) seals: Option<Seals>,
    pub(crate) room: Room,
    /// How many more pages may be Coming: each has room, too, and stays so until somebody sees to it.
    pub(crate) ahead: Room,
    pub(crate) page_events: Events,
    pub(crate) streams: Streams,
    pub(crate) record: Option<Record>,
    /// If writes are counted.
    pub(crate) dirty: Option<DirtyPages>,
    /// Wakes the evictor.
    pub(crate) evictor: Event,
    /// Wakes the keeper.
    pub(crate) keeper: Arc<Event>,
    /// What has happened.
    pub counters: Counters,
    /// Entries are set once and never cleared: a range that is unmapped keeps its entry, its pages are Gone.
    ranges: [AtomicPtr<Range>; MAX_RANGES],
    range_count: AtomicUsize,
    next_page: AtomicU64,
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

/// What becomes of the addresses of a range that is given up.
enum Addresses {
    Freed,
    Kept,
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
        check(&options)?;
        let kernel = Kernel::open(options.mode).map_err(Error::NotPermitted)?;
        let secret = Zeroizing::new(random().map_err(|error| Error::System("random numbers", error))?);
        let mut servers = Vec::new();
        let keeper = Arc::new(Event::default());
        for name in &options.servers {
            let place = (&name[..], address_of(name)?);
            let server = Server::connect(place, &secret, options.key.clone(), options.server_timeout, Arc::clone(&keeper));
            servers.push(server.map_err(Error::Server)?);
        }
        // Both copies of a page could be there.
        if let Some((one, other)) = servers.iter().enumerate().find_map(|(index, server)| Some((server, twin(&servers, index)?))) {
            let (one, other) = (&one.name, &other.name);
            return Err(Error::Options(format!("memory servers {one} and {other} are one server: name each server once")));
        }
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
        let seals = if options.seal {
            // SAFETY: all zeros is a page that was never sealed.
            let versions = unsafe { kernel::table::<Version>(total) }.map_err(failed)?;
            Some(Seals::new(&seal_key(&secret), versions).map_err(|error| Error::System("memory for the key", error))?)
        } else {
            None
        };
        let evicting = Mutex::new(servers.iter().map(|_| Channel::new(ChannelKind::Write)).collect());
        let pager = Box::leak(Box::new(Pager {
            kernel,
            room: Room::new(local),
            ahead: Room::new(local / AHEAD_SHARE),
            control: Mutex::new(servers.iter().map(|_| Channel::new(ChannelKind::Control)).collect()),
            mapping: Mutex::new(()),
            process: std::process::id(),
            servers,
            options,
            pages,
            mapped: Queue::new(cells),
            seals,
            page_events: Events::new(),
            streams: Streams::new(read_ahead, local),
            record,
            dirty,
            evictor: Event::default(),
            keeper,
            counters: Counters::default(),
            ranges: [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_RANGES],
            range_count: AtomicUsize::new(0),
            next_page: AtomicU64::new(0),
            evicting,
            stopping: AtomicBool::new(false),
        }));
        // The processor's support for checksums is looked up once, and not in a signal handler.
        let _ = lull_far_protocol::crc32c_of(&[b"once"]);
        Ok(pager)
    }

    /// What a child of `fork` does is refused: its kernel objects, and its connections, are the parent's.
    fn check_process(&self) -> Result<(), Error> {
        let (here, there) = (std::process::id(), self.process);
        if self.is_here() { Ok(()) } else { Err(Error::Options(format!("process {here} is a child of {there}, whose far memory this is"))) }
    }

    /// Whether this is the process whose memory it is. A child of `vfork` is another one, with descriptors and signal handlers of its own,
    /// that sees the same memory.
    #[must_use]
    pub fn is_here(&self) -> bool {
        std::process::id() == self.process
    }

    /// Maps a range whose pages are zeros, at an address of the kernel's choice, or at `fixed`, replacing what is there, which may not be
    /// a range.
    ///
    /// # Errors
    /// If a server has no room, or the system refuses, or a range is there. Nothing stays mapped then; at `fixed` nothing is, or what was.
    pub fn map(&self, bytes: usize, fixed: Option<usize>) -> Result<&'static Range, Error> {
        let pages = u32::try_from(bytes.div_ceil(PAGE_SIZE)).ok().filter(|&pages| pages > 0);
        let pages = pages.ok_or_else(|| Error::Options(format!("a range of {bytes} bytes cannot be mapped")))?;
        if fixed.is_some_and(|address| !address.is_multiple_of(PAGE_SIZE)) {
            return Err(Error::Options("the address of a range must be that of a page".to_owned()));
        }
        self.check_process()?;
        if let Some(range) = fixed.and_then(|address| self.ranges_within(address, pages as usize * PAGE_SIZE).next()) {
            // Its pages would be served as those of the range that was there.
            let (base, bytes) = (range.base, range.bytes());
            return Err(Error::Options(format!(
                "a range of {bytes} bytes is mapped at {base:#x}: it must be unmapped before another one takes its place"
            )));
        }
        // One at a time. The control connections are the keeper's, too, between two questions.
        let _one = self.mapping.lock().unwrap_or_else(PoisonError::into_inner);
        let number = self.range_count.load(Ordering::Relaxed);
        let first = self.next_page.load(Ordering::Relaxed);
        if number == MAX_RANGES || first + u64::from(pages) > self.pages.len() as u64 {
            let left = (self.pages.len() as u64 - first) * PAGE_SIZE as u64;
            return Err(Error::Options(format!(
                "a range of {bytes} bytes does not fit into the {left} bytes and {} ranges that may still be mapped",
                MAX_RANGES - number
            )));
        }
        let layout = Layout { range: number as u32, pages: pages.into(), servers: self.servers.len(), replicas: self.options.replicas };
        let range = self.map_regions(pages, first as u32, layout, fixed);
        let range = range.inspect_err(|_| self.free_regions(&layout))?;
        self.next_page.store(first + u64::from(pages), Ordering::Relaxed);
        self.ranges[number].store(std::ptr::from_ref(range).cast_mut(), Ordering::Release);
        // Release: whoever sees the count sees the entry.
        self.range_count.store(number + 1, Ordering::Release);
        Ok(range)
    }

    /// Reserves memory on the servers, and maps the range. After an error some servers may hold regions for it.
    fn map_regions(&self, pages: u32, first: u32, layout: Layout, fixed: Option<usize>) -> Result<&'static Range, Error> {
        // One that is lost gets its regions when it comes back; a page's other copy is elsewhere.
        for (index, server) in self.servers.iter().enumerate().filter(|(_, server)| layout.replicas == 0 || server.takes_writes()) {
            for copy in 0..=layout.replicas {
                let pages = layout.region_pages(index, copy);
                if pages > 0 {
                    self.reserve(index, server, layout.region(copy), pages).map_err(Error::Server)?;
                }
            }
        }
        let length = pages as usize * PAGE_SIZE;
        let file = kernel::memory_file(length).map_err(|e| Error::System("memory file", e))?;
        let (address, flags) = match fixed {
            Some(address) => (address, libc::MAP_SHARED | libc::MAP_FIXED),
            None => (0, libc::MAP_SHARED),
        };
        let address = std::ptr::with_exposed_provenance_mut(address);
        // Who counts writes looks at addresses of ranges that are gone perhaps: until it has ended they are nobody else's.
        let _no_look = self.dirty.as_ref().map(DirtyPages::hold);
        // Nobody may use it before its faults are ours; nor the kernel fill it, as it does after mlockall(MCL_FUTURE).
        // SAFETY: replaces only what the caller says may be replaced.
        let base = unsafe { libc::mmap(address, length, libc::PROT_NONE, flags | libc::MAP_NORESERVE, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(Error::System("mmap", std::io::Error::last_os_error()));
        }
        let base = base.expose_provenance();
        let range = Range { base, pages, first, layout, file };
        // A child of fork would see pages of zeros where the pages are remote, and put them into the shared file.
        // SAFETY: our mapping.
        let _ = unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(base), length, libc::MADV_DONTFORK) };
        let refused = |what, error| {
            // SAFETY: our mapping, which nobody has seen.
            unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(base), length) };
            Err(Error::System(what, error))
        };
        if let Err(error) = self.kernel.register(base, length) {
            return refused("userfaultfd", std::io::Error::from_raw_os_error(error.0));
        }
        // SAFETY: as above.
        if unsafe { libc::mprotect(std::ptr::with_exposed_provenance_mut(base), length, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return refused("mprotect", std::io::Error::last_os_error());
        }
        Ok(Box::leak(Box::new(range)))
    }

    /// Has a server reserve a region.
    fn reserve(&self, index: usize, server: &Server, region: u32, pages: u64) -> Result<(), LinkError> {
        loop {
            let (header, payload) = {
                let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
                control[index].ask(server, Op::RegionMap, region, Payload::of(&[&pages.to_le_bytes()]))?
            };
            let text = match Message::decode(&header, &payload) {
                Ok(Message::RegionMapped { pages: got }) if got == pages => return Ok(()),
                // It has just started, or makes what somebody else has given back zero. It has the memory in the end, or is full.
                Ok(Message::Error { code: ErrorCode::NotYet, .. }) => {
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                }
                Ok(Message::Error { code, text }) => format!("memory server {}: {}: {text}", server.name, code.name()),
                Ok(other) => format!("memory server {} answers REGION_MAP with {}", server.name, other.op().name()),
                Err(error) => format!("memory server {}: the answer to REGION_MAP: {error}", server.name),
            };
            return Err(LinkError::Refused(text));
        }
    }

    /// Unmaps a range. Nobody may use it any more; what was in it is given up.
    ///
    /// # Errors
    /// If no range starts at the address.
    pub fn unmap(&self, base: usize) -> Result<(), Error> {
        self.give_up_range(base, Addresses::Freed)
    }

    /// Gives up a range, and leaves a mapping that nobody may use at its addresses, for who is about to unmap or map more than it: else
    /// another thread could get them meanwhile.
    ///
    /// # Errors
    /// As [`Pager::unmap`].
    pub fn vacate(&self, base: usize) -> Result<(), Error> {
        self.give_up_range(base, Addresses::Kept)
    }

    fn give_up_range(&self, base: usize, addresses: Addresses) -> Result<(), Error> {
        self.check_process()?;
        let range = self.range_at(base).filter(|range| range.base == base);
        let range = range.ok_or_else(|| Error::Options(format!("no range starts at {base:#x}")))?;
        // Takes each page from the evictor, which therefore touches none of them any more.
        let mut local = 0;
        for page in range.first..range.first + range.pages {
            loop {
                let seen = self.pages[page as usize].seen();
                if seen.kind() == Kind::Gone {
                    break;
                }
                if seen.kind() == Kind::Coming {
                    fault::give_up_ahead(self, page);
                }
                if let Some(claim) = self.pages[page as usize].claim(seen) {
                    local += u64::from(seen.kind() != Kind::Absent);
                    claim.gone();
                    break;
                }
                std::thread::yield_now();
            }
        }
        let _ = self.kernel.unregister(range.base, range.bytes());
        let at = std::ptr::with_exposed_provenance_mut(range.base);
        // SAFETY: the caller does not use it any more.
        unsafe {
            match addresses {
                Addresses::Freed => drop(libc::munmap(at, range.bytes())),
                Addresses::Kept => {
                    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
                    libc::mmap(at, range.bytes(), libc::PROT_NONE, flags, -1, 0);
                }
            }
        }
        let _ = syscall::punch_hole(range.file.as_raw_fd(), 0, range.bytes() as u64);
        fault::give_room(self, local);
        // What the evictor was writing when the pages became Gone has been answered; no write of them comes any more.
        let _no_step = self.evicting.lock().unwrap_or_else(PoisonError::into_inner);
        self.free_regions(&range.layout);
        Ok(())
    }

    /// Gives the servers' memory of a range back. A server that cannot be told keeps it until the program ends.
    fn free_regions(&self, layout: &Layout) {
        (0..self.servers.len()).for_each(|index| self.free_regions_at(index, layout));
    }

    /// The same at one server.
    pub(crate) fn free_regions_at(&self, index: usize, layout: &Layout) {
        let server = &self.servers[index];
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        for copy in (0..=layout.replicas).filter(|&copy| layout.region_pages(index, copy) > 0) {
            // Once more after a connection that broke: the region may be gone by then.
            let freed = server.takes_writes()
                && (0..2).any(|_| {
                    let answer = control[index].ask(server, Op::RegionUnmap, layout.region(copy), Payload::of(&[]));
                    answer.is_ok_and(|(header, payload)| {
                        let message = Message::decode(&header, &payload);
                        matches!(message, Ok(Message::RegionUnmapped | Message::Error { code: ErrorCode::UnknownRegion, .. }))
                    })
                });
            if !freed && server.takes_writes() {
                say(format_args!("memory server {}: region {} was not given back", server.name, layout.region(copy)));
            }
        }
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
        let what = format_args!(
            "memory server {} gives page {page} of region {region} not as it was written last: it is changed, old, or another one",
            server.name
        );
        if self.options.replicas == 0 {
            fatal(format_args!("{what}; the program cannot go on"));
        }
        say(format_args!("{what}; it is asked for nothing any more"));
        server.disbelieve();
    }

    /// The range that an address lies in, if it is mapped. Fault path.
    pub fn range_at(&self, address: usize) -> Option<&'static Range> {
        self.ranges_within(address, 1).next()
    }

    /// The ranges that have any of these bytes; of no bytes none. Allocates nothing: an allocator may ask, and the fault path does.
    pub fn ranges_within(&self, address: usize, bytes: usize) -> impl Iterator<Item = &'static Range> {
        let end = address.saturating_add(bytes);
        (0..self.range_count.load(Ordering::Acquire))
            .map(|index| self.range(index))
            .filter(move |range| bytes > 0 && address < range.base + range.bytes() && range.base < end)
            // The addresses of a range that is gone may be somebody else's.
            .filter(|range| self.pages[range.first as usize].seen().kind() != Kind::Gone)
    }

    /// The range that a page lies in.
    pub(crate) fn range_of(&self, page: u32) -> &'static Range {
        let count = self.range_count.load(Ordering::Acquire);
        let mut low = 0;
        let mut high = count;
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if self.range(middle).first <= page { low = middle } else { high = middle }
        }
        self.range(low)
    }

    fn range(&self, index: usize) -> &'static Range {
        // SAFETY: entries below the count were set before it, to references that live for ever.
        unsafe { &*self.ranges[index].load(Ordering::Acquire) }
    }

    /// In which thread faults are served.
    #[must_use]
    pub fn mode(&self) -> FaultMode {
        self.options.mode
    }

    /// All ranges that are mapped.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = &'static Range> {
        self.ranges_within(0, usize::MAX)
    }

    /// Whether anything was mapped.
    pub(crate) fn has_ranges(&self) -> bool {
        self.range_count.load(Ordering::Acquire) > 0
    }

    /// Pages in local memory, and the most there may be.
    #[must_use]
    pub fn local_pages(&self) -> (u64, u64) {
        (self.room.used(), self.room.total())
    }

    /// Pages that were asked for before anybody needed them, and have not come. They count as local.
    #[must_use]
    pub fn coming_pages(&self) -> u64 {
        self.ahead.used()
    }

    /// Keeper: says that we are there, and hears how the server is.
    pub(crate) fn heartbeat(&self, index: usize) -> Result<bool, LinkError> {
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let (header, payload) = control[index].ask(&self.servers[index], Op::Heartbeat, 0, Payload::of(&[]))?;
        let broken = |text: &str| LinkError::Broken(format!("memory server {}: {text}", self.servers[index].name));
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

fn check(options: &Options) -> Result<(), Error> {
    let bad = |text: String| Err(Error::Options(text));
    if options.servers.is_empty() || options.servers.len() > 64 {
        return bad(format!("{} servers: 1 to 64 are possible", options.servers.len()));
    }
    if options.replicas > 1 {
        return bad(format!("{} replicas: 0 or 1 is possible", options.replicas));
    }
    if options.replicas >= options.servers.len() {
        return bad(format!("{} replicas need {} servers; {} is given", options.replicas, options.replicas + 1, options.servers.len()));
    }
    if options.local_bytes / (PAGE_SIZE as u64) < LEAST_LOCAL_PAGES {
        let least = LEAST_LOCAL_PAGES * PAGE_SIZE as u64;
        return bad(format!("local memory of {} bytes: {least} or more is possible", options.local_bytes));
    }
    if !(1..=LONGEST).contains(&options.read_ahead) {
        return bad(format!("{} pages of read-ahead: 1 to {LONGEST} are possible", options.read_ahead));
    }
    if !(1..=1 << 31).contains(&(options.capacity_bytes / PAGE_SIZE as u64)) {
        return bad(format!("a capacity of {} bytes: 4096 to 2^43 is possible", options.capacity_bytes));
    }
    Ok(())
}

fn address_of(name: &str) -> Result<SocketAddr, Error> {
    let bad = |why: String| Error::Options(format!("memory server {name:?}: {why}; say host:port"));
    name.to_socket_addrs().map_err(|e| bad(e.to_string()))?.next().ok_or_else(|| bad("the name has no address".to_owned()))
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
