// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who has which pages: clients, their regions, their channels. Knows the protocol's messages, no sockets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lull_far_protocol::{ChannelKind, Discard, ErrorCode, Fetch, Hello, PAGE_SIZE, Write, WriteAck, crc32c_append};

use crate::arena::{Arena, CHUNK_PAGES, Chunk, Held, Shortage};
use crate::cycle::Cycle;

/// Why a request is refused: what the ERROR will say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: ErrorCode,
    /// What was wrong, with the values.
    pub text: String,
}

impl Refusal {
    /// Whether the connection can go on after it.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        matches!(
            self.code,
            ErrorCode::Crc
                | ErrorCode::Full
                | ErrorCode::NotYet
                | ErrorCode::RegionExists
                | ErrorCode::UnknownRegion
                | ErrorCode::TraceFailed
                | ErrorCode::NoTrace
        )
    }
}

/// A refusal with a code and a formatted text.
macro_rules! refuse {
    ($code:ident, $($text:tt)*) => { $crate::store::Refusal { code: lull_far_protocol::ErrorCode::$code, text: format!($($text)*) } };
}
pub(crate) use refuse;

/// All clients, and the memory that they share.
#[derive(Debug)]
pub struct Store {
    /// The memory.
    pub arena: Arc<Arena>,
    clients: Mutex<HashMap<[u8; 16], Arc<Client>>>,
}

/// One client: the regions that it has, the channels that it opened.
#[derive(Debug)]
pub struct Client {
    /// The number that it has drawn.
    pub id: [u8; 16],
    state: Mutex<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    regions: HashMap<u32, Arc<Region>>,
    channels: HashMap<(ChannelKind, u16), Arc<Channel>>,
    /// The one that is traced now.
    cycle: Option<Arc<Cycle>>,
    /// The number of the last one that was begun; 0: none.
    last_cycle: u64,
    /// Its own; not those of other servers.
    connections: usize,
    /// When the last connection was closed. Set as long as there is none.
    alone_since: Option<Instant>,
    /// BYE was said, or it has been alone for too long: it is not in the table any more.
    gone: bool,
}

/// A region's memory.
#[derive(Debug)]
pub struct Region {
    pages: u64,
    chunks: Vec<Chunk>,
}

/// What the connections of one (client, kind, number) share. A request is carried out under `current`, so that a newer
/// connection, which changes `current` under the same lock, knows that nothing of the older one comes after.
#[derive(Debug)]
struct Channel {
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    generation: u64,
    /// To end the reading of the connection that is taken over.
    stream: Option<TcpStream>,
}

/// One connection of a client. Dropping it is what ends it.
#[derive(Debug)]
pub struct Session {
    /// Who it is.
    pub client: Arc<Client>,
    /// What the connection is for.
    pub kind: ChannelKind,
    channel: Arc<Channel>,
    generation: u64,
    /// Whether the channel is, or was, this connection's.
    has_channel: bool,
}

/// What of the store the metrics show.
#[derive(Debug, Clone, Copy)]
pub struct Census {
    /// Clients in the table.
    pub clients: usize,
    /// Their regions.
    pub regions: usize,
}

impl Store {
    /// A store without clients.
    #[must_use]
    pub fn new(arena: Arc<Arena>) -> Store {
        Store { arena, clients: Mutex::default() }
    }

    /// Registers a connection. Takes its channel over from an older generation, and returns when nothing of that can be
    /// applied any more.
    ///
    /// # Errors
    /// `STALE_CHANNEL` if the generation is not higher than the channel's; `SHUTTING_DOWN` for a client that is not known
    /// when `accept_new` is false; `NO_TRACE` for another server that comes for a client that is not known.
    pub fn connect(&self, hello: &Hello, stream: Option<TcpStream>, accept_new: bool) -> Result<Session, Refusal> {
        let client = {
            let mut clients = lock(&self.clients);
            let client = match clients.entry(hello.client) {
                Entry::Occupied(entry) => Arc::clone(entry.get()),
                Entry::Vacant(_) if hello.kind == ChannelKind::Peer => {
                    return Err(refuse!(NoTrace, "nothing is traced here for that client, which is not known"));
                }
                Entry::Vacant(_) if !accept_new => {
                    return Err(refuse!(ShuttingDown, "the server is being stopped and takes no new clients"));
                }
                Entry::Vacant(entry) => Arc::clone(entry.insert(Arc::new(Client::new(hello.client)))),
            };
            // Under the table's lock, so that the client cannot be removed before it has a connection.
            if hello.kind != ChannelKind::Peer {
                let mut state = lock(&client.state);
                state.connections += 1;
                state.alone_since = None;
            }
            client
        };
        let channel = {
            let mut state = lock(&client.state);
            let new = || Arc::new(Channel { current: Mutex::new(Current { generation: 0, stream: None }) });
            Arc::clone(state.channels.entry((hello.kind, hello.channel)).or_insert_with(new))
        };
        let mut session =
            Session { client, kind: hello.kind, channel: Arc::clone(&channel), generation: hello.generation, has_channel: false };
        // Waits for a request of the older connection that is being carried out.
        let mut current = lock(&channel.current);
        if hello.generation <= current.generation {
            return Err(refuse!(
                StaleChannel,
                "generation {} of the {} channel {} is not above {}",
                hello.generation,
                hello.kind.name(),
                hello.channel,
                current.generation
            ));
        }
        current.generation = hello.generation;
        if let Some(older) = std::mem::replace(&mut current.stream, stream) {
            let _ = older.shutdown(Shutdown::Read);
        }
        drop(current);
        session.has_channel = true;
        Ok(session)
    }

    /// Gives back what the client has. Other connections of it find no region any more.
    pub fn leave(&self, client: &Arc<Client>) {
        let mut clients = lock(&self.clients);
        if clients.get(&client.id).is_some_and(|known| Arc::ptr_eq(known, client)) {
            clients.remove(&client.id);
        }
        client.clear();
    }

    /// Removes clients that have had no connection for longer than `linger`. Returns their numbers and bytes.
    pub fn reap(&self, linger: Duration, now: Instant) -> Vec<([u8; 16], u64)> {
        let mut reaped = Vec::new();
        lock(&self.clients).retain(|_, client| {
            let alone = lock(&client.state).alone_since;
            if alone.is_none_or(|since| now.duration_since(since) < linger) {
                return true;
            }
            reaped.push((client.id, client.clear()));
            false
        });
        reaped
    }

    /// Counts.
    pub fn census(&self) -> Census {
        let clients = lock(&self.clients);
        Census { clients: clients.len(), regions: clients.values().map(|client| lock(&client.state).regions.len()).sum() }
    }
}

impl Client {
    fn new(id: [u8; 16]) -> Client {
        let state = ClientState {
            regions: HashMap::new(),
            channels: HashMap::new(),
            cycle: None,
            last_cycle: 0,
            connections: 0,
            alone_since: Some(Instant::now()),
            gone: false,
        };
        Client { id, state: Mutex::new(state) }
    }

    fn clear(&self) -> u64 {
        let mut state = lock(&self.state);
        state.gone = true;
        if let Some(cycle) = state.cycle.take() {
            cycle.end();
        }
        state.regions.drain().map(|(_, region)| region.pages * PAGE_SIZE as u64).sum()
    }
}

impl Session {
    /// Carries out one request, unless a newer connection has taken the channel over.
    fn current(&self) -> Result<MutexGuard<'_, Current>, Refusal> {
        let current = lock(&self.channel.current);
        if current.generation == self.generation {
            Ok(current)
        } else {
            Err(refuse!(StaleChannel, "generation {} has been replaced by {}", self.generation, current.generation))
        }
    }

    /// Whether a newer connection has taken the channel over.
    ///
    /// # Errors
    /// `STALE_CHANNEL` if so.
    pub fn check_current(&self) -> Result<(), Refusal> {
        self.current().map(drop)
    }

    /// A region of this client.
    ///
    /// # Errors
    /// `UNKNOWN_REGION`.
    pub fn region(&self, region: u32) -> Result<Arc<Region>, Refusal> {
        let state = lock(&self.client.state);
        state.regions.get(&region).cloned().ok_or_else(|| refuse!(UnknownRegion, "this client has no region {region} here"))
    }

    /// A cycle begins. One that was there is over.
    ///
    /// # Errors
    /// `BAD_REQUEST` if its number is not higher than those of all before; `STALE_CHANNEL`.
    pub fn begin(&self, cycle: &Arc<Cycle>) -> Result<(), Refusal> {
        let _current = self.current()?;
        let mut state = lock(&self.client.state);
        if state.gone {
            return Err(refuse!(StaleChannel, "the client has left"));
        }
        // What other servers have sent for an older one may still be under way: it must not count for this one.
        if cycle.number() <= state.last_cycle {
            return Err(refuse!(BadRequest, "cycle {} is not after {}, the last that was begun", cycle.number(), state.last_cycle));
        }
        state.last_cycle = cycle.number();
        if let Some(before) = state.cycle.replace(Arc::clone(cycle)) {
            before.end();
        }
        Ok(())
    }

    /// A cycle is over.
    pub fn end(&self, cycle: &Arc<Cycle>) {
        cycle.end();
        let mut state = lock(&self.client.state);
        if state.cycle.as_ref().is_some_and(|known| Arc::ptr_eq(known, cycle)) {
            state.cycle = None;
        }
    }

    /// The cycle of a number.
    ///
    /// # Errors
    /// `NO_TRACE`.
    pub fn cycle(&self, number: u64) -> Result<Arc<Cycle>, Refusal> {
        let _current = self.current()?;
        let state = lock(&self.client.state);
        let cycle = state.cycle.as_ref().filter(|cycle| cycle.number() == number).cloned();
        cycle.ok_or_else(|| refuse!(NoTrace, "cycle {number} is not being traced here"))
    }

    /// REGION_MAP.
    ///
    /// # Errors
    /// `FULL`, `NOT_YET`, `REGION_EXISTS`.
    pub fn map(&self, store: &Store, region: u32, pages: u64) -> Result<(), Refusal> {
        let _current = self.current()?;
        let mut state = lock(&self.client.state);
        if state.gone {
            return Err(refuse!(StaleChannel, "the client has left"));
        }
        match state.regions.entry(region) {
            Entry::Occupied(entry) if entry.get().pages == pages => Ok(()),
            Entry::Occupied(entry) => Err(refuse!(RegionExists, "region {region} has {} pages, not {pages}", entry.get().pages)),
            Entry::Vacant(entry) => {
                let arena = &store.arena;
                let chunks = arena.take(pages).map_err(|shortage| match shortage {
                    Shortage::Full => {
                        let (free, capacity) = (arena.free(), arena.capacity());
                        refuse!(Full, "region {region} of {pages} pages does not fit into {free} free bytes of {capacity}")
                    }
                    Shortage::NotYet => {
                        let (ready, free) = (arena.ready(), arena.free());
                        refuse!(NotYet, "region {region} of {pages} pages: {ready} bytes of {free} free ones have memory and are zero yet")
                    }
                })?;
                entry.insert(Arc::new(Region { pages, chunks }));
                Ok(())
            }
        }
    }

    /// REGION_UNMAP: gives the memory back.
    ///
    /// # Errors
    /// `UNKNOWN_REGION`.
    pub fn unmap(&self, region: u32) -> Result<(), Refusal> {
        let _current = self.current()?;
        match lock(&self.client.state).regions.remove(&region) {
            // A request of another connection that is under way keeps the memory until it ends.
            Some(_) => Ok(()),
            None => Err(refuse!(UnknownRegion, "this client has no region {region} here")),
        }
    }

    /// FETCH: puts the pages into `out`, whose length is that of the run.
    ///
    /// # Errors
    /// `UNKNOWN_REGION`, `OUT_OF_RANGE`.
    pub fn fetch(&self, region: u32, run: Fetch, out: &mut [u8]) -> Result<(), Refusal> {
        let _current = self.current()?;
        let memory = self.region(region)?;
        memory.check(region, run.first, run.count.into())?;
        let mut out = out;
        for (chunk, first, count) in memory.chunks_of(run.first, run.count.into()) {
            let (here, rest) = out.split_at_mut(count * PAGE_SIZE);
            chunk.read(first, here);
            out = rest;
        }
        Ok(())
    }

    /// WRITE: all pages or, if it is refused, none.
    ///
    /// # Errors
    /// `UNKNOWN_REGION`, `OUT_OF_RANGE`.
    pub fn write(&self, region: u32, write: &Write<'_>) -> Result<WriteAck, Refusal> {
        let _current = self.current()?;
        let memory = self.region(region)?;
        // The numbers ascend: if the last is in range, all are.
        memory.check(region, write.last(), 1)?;
        let mut crc = 0;
        for (number, page) in write.pages() {
            for (chunk, first, _) in memory.chunks_of(number, 1) {
                crc = chunk.write(first, page, |there| crc32c_append(crc, there));
            }
        }
        Ok(WriteAck { count: u32::try_from(write.count()).unwrap_or(u32::MAX), content_crc: crc })
    }

    /// DISCARD.
    ///
    /// # Errors
    /// `UNKNOWN_REGION`, `OUT_OF_RANGE`.
    pub fn discard(&self, region: u32, run: Discard) -> Result<(), Refusal> {
        let _current = self.current()?;
        let memory = self.region(region)?;
        memory.check(region, run.first, run.count)?;
        for (chunk, first, count) in memory.chunks_of(run.first, run.count) {
            chunk.zero(first, count);
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.has_channel {
            let mut current = lock(&self.channel.current);
            if current.generation == self.generation {
                // A second descriptor of the socket, which would stay open as long as the client lives.
                current.stream = None;
            }
        }
        if self.kind == ChannelKind::Peer {
            return;
        }
        let mut state = lock(&self.client.state);
        state.connections -= 1;
        if state.connections == 0 {
            state.alone_since = Some(Instant::now());
        }
    }
}

impl Region {
    /// Its size.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pages * PAGE_SIZE as u64
    }

    /// All of it to look at, chunk by chunk: nobody writes to it meanwhile.
    #[must_use]
    pub fn hold(&self) -> Vec<Held<'_>> {
        self.chunks.iter().map(Chunk::hold).collect()
    }

    fn check(&self, region: u32, first: u64, count: u64) -> Result<(), Refusal> {
        match first.checked_add(count) {
            Some(end) if end <= self.pages => Ok(()),
            _ => Err(refuse!(OutOfRange, "pages {first} and {count} from there on are not in region {region}, which has {}", self.pages)),
        }
    }

    /// The parts of a run that has been checked, chunk by chunk: chunk, first page in it, pages.
    fn chunks_of(&self, first: u64, count: u64) -> impl Iterator<Item = (&Chunk, usize, usize)> {
        let end = first + count;
        let mut next = first;
        std::iter::from_fn(move || {
            if next == end {
                return None;
            }
            let chunk = usize::try_from(next / CHUNK_PAGES as u64).ok()?;
            let at = (next % CHUNK_PAGES as u64) as usize;
            let count = (CHUNK_PAGES - at).min(usize::try_from(end - next).unwrap_or(usize::MAX));
            next += count as u64;
            Some((&self.chunks[chunk], at, count))
        })
    }
}

/// A thread that panicked under a lock of these has left nothing half done: each change is one assignment or insertion.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
