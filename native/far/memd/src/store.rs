// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who has which pages: clients, their regions, their channels. Knows the protocol's messages, no sockets.
//!
//! Locks are taken in this order: the table's, a client's, a channel's.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lull_far_protocol::{ChannelKind, Discard, ErrorCode, Fetch, Hello, PAGE_SIZE, Write, WriteAck, crc32c_append};

use crate::arena::{Arena, CHUNK_PAGES, Chunk, Held, Shortage};
use crate::cycle::Cycle;
use crate::identity::{Charge, Connected, Identity};

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

/// Channels of a client have numbers below this, in each kind. A pager has 5 in one of them.
const CHANNELS: u16 = 16;

/// The most connections of one channel at once: the one that has it, one that was taken over and may still say so, and some that are made to
/// end without a word.
const CONNECTIONS_OF_A_CHANNEL: usize = 4;

/// Channels of other servers: their numbers among those that trace together.
const CHANNELS_OF_PEERS: u16 = 255;

/// Of so many connections one is kept for clients that have memory: they can always come back.
const RESERVE: usize = 10;

/// All clients, and the memory that they share.
#[derive(Debug)]
pub struct Store {
    /// The memory.
    pub arena: Arc<Arena>,
    table: Arc<Mutex<Table>>,
    /// How many regions there are: whoever asks looks at no client.
    regions: Arc<AtomicUsize>,
    /// Of all clients.
    max_connections: usize,
}

/// Which identity, and the client's number there.
type Name = (usize, [u8; 16]);

#[derive(Debug, Default)]
struct Table {
    clients: HashMap<Name, Arc<Client>>,
    /// Those who have a cycle, by its ticket in place of their number.
    tickets: HashMap<Name, Arc<Client>>,
    /// Clients with memory and without a connection, by when the last one was closed. The number makes moments different.
    alone: BTreeMap<(Instant, u64), Arc<Client>>,
    next: u64,
    /// Channels that have a connection, of clients and of other servers.
    channels: usize,
}

/// One client: the regions that it has, the channels that it opened. One without a region is in the table only as long as it has a
/// connection, so that there are never more clients than connections and chunks of memory.
#[derive(Debug)]
pub struct Client {
    /// Whose key it has shown.
    pub identity: Arc<Identity>,
    /// The number that it has drawn.
    pub id: [u8; 16],
    /// Its regions, those that it has given back and that a request or a cycle still looks at, too.
    living: Arc<AtomicUsize>,
    state: Mutex<ClientState>,
}

#[derive(Debug)]
struct ClientState {
    regions: HashMap<u32, Arc<Region>>,
    channels: HashMap<(ChannelKind, u16), Slot>,
    /// The one that is traced now.
    cycle: Option<Arc<Cycle>>,
    /// The number of the last one that was begun; 0: none.
    last_cycle: u64,
    /// Its own channels that have a connection; not those of other servers. Changed under the table's lock.
    in_use: usize,
    /// Its place among those that are alone. Changed under the table's lock.
    alone: Option<(Instant, u64)>,
    /// When it last asked for anything over a connection for control, or connected.
    heard: Instant,
    /// It has said LEAVE: with its last connection it is gone.
    leaves: bool,
    /// It is not in the table any more: it has said BYE, has been alone for too long, or has left without memory.
    gone: bool,
}

/// A region's memory.
#[derive(Debug)]
pub struct Region {
    pages: u64,
    chunks: Vec<Chunk>,
    _charge: Charge,
    _counted: Counted,
    /// Of its client's; the last to be dropped, behind the memory.
    _living: Counted,
}

/// One of the store's regions, or of a client's, for as long as it is there. Who sees that one is gone sees what was
/// dropped before it as given back.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

/// A channel, and what it counts for. It counts once, from its first connection until its last is gone: one that takes it over needs no place
/// of its own. So who has lost all connections, and whose old ones have not ended yet, can always come back.
#[derive(Debug)]
struct Slot {
    channel: Arc<Channel>,
    /// All its connections. Changed under the table's lock.
    connections: usize,
    /// While it has one.
    connected: Option<Connected>,
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
    /// The one that was taken over last, and its generation: it may be writing what nobody takes.
    older: Option<(u64, TcpStream)>,
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
    /// Of the cycle that it is for, if it is another server's.
    ticket: Option<[u8; 16]>,
    /// Whether the channel is, or was, this connection's.
    has_channel: bool,
    place: Place,
}

/// A connection's place in its channel, given back when it is dropped.
#[derive(Debug)]
struct Place {
    table: Arc<Mutex<Table>>,
    client: Arc<Client>,
    kind: ChannelKind,
    number: u16,
}

/// What of the store the metrics show.
#[derive(Debug, Clone, Copy)]
pub struct Census {
    /// Clients in the table.
    pub clients: usize,
    /// Their regions, and those that were given up and are still being read or written.
    pub regions: usize,
}

impl Store {
    /// A store without clients.
    #[must_use]
    pub fn new(arena: Arc<Arena>, max_connections: usize) -> Store {
        Store { arena, table: Arc::default(), regions: Arc::default(), max_connections }
    }

    /// Registers a connection of somebody who is known. Takes its channel over from an older generation, with its place, and returns when
    /// nothing of that can be applied any more.
    ///
    /// # Errors
    /// `STALE_CHANNEL` if the generation is not higher than the channel's; `BAD_REQUEST` for a channel of too high a number;
    /// `TOO_MANY_CONNECTIONS`; `SHUTTING_DOWN` for a client that is not known when `accept_new` is false; `NO_TRACE` for another server
    /// that comes for a client that is not known.
    pub fn connect(
        &self,
        identity: &Arc<Identity>,
        hello: &Hello,
        stream: Option<TcpStream>,
        accept_new: bool,
    ) -> Result<Session, Refusal> {
        let channels = if hello.kind == ChannelKind::Peer { CHANNELS_OF_PEERS } else { CHANNELS };
        if hello.channel >= channels {
            let (kind, number) = (hello.kind.name(), hello.channel);
            return Err(refuse!(BadRequest, "the number of the {kind} channel is {number}; it must be below {channels}"));
        }
        let (place, channel) = self.place(identity, hello, accept_new)?;
        let client = Arc::clone(&place.client);
        let mut session = Session {
            client,
            kind: hello.kind,
            channel: Arc::clone(&channel),
            generation: hello.generation,
            ticket: (hello.kind == ChannelKind::Peer).then_some(hello.client),
            has_channel: false,
            place,
        };
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
        let generation = std::mem::replace(&mut current.generation, hello.generation);
        if let Some(older) = std::mem::replace(&mut current.stream, stream) {
            let _ = older.shutdown(Shutdown::Read);
            if let Some((_, before)) = current.older.replace((generation, older)) {
                let _ = before.shutdown(Shutdown::Both);
            }
        }
        drop(current);
        session.has_channel = true;
        Ok(session)
    }

    /// A place for one connection more, and its channel.
    fn place(&self, identity: &Arc<Identity>, hello: &Hello, accept_new: bool) -> Result<(Place, Arc<Channel>), Refusal> {
        let mut table = lock(&self.table);
        let name = (identity.index, hello.client);
        let is_own = hello.kind != ChannelKind::Peer;
        // Another server has no client's number, but the ticket of a cycle.
        let known = if is_own { table.clients.get(&name) } else { table.tickets.get(&name) }.cloned();
        let client = match &known {
            Some(client) => Arc::clone(client),
            None if !is_own => return Err(refuse!(NoTrace, "no cycle with that ticket is being traced here")),
            None if !accept_new => return Err(refuse!(ShuttingDown, "the server is being stopped and takes no new clients")),
            None => Arc::new(Client::new(identity, hello.client)),
        };
        let mut state = lock(&client.state);
        // Another server's connection is none of the client's: it does not keep it here.
        let is_new = state.connect(hello.kind, hello.channel, |state| {
            self.check_room(&table, !state.regions.is_empty())?;
            let (name, most) = (&identity.name, identity.limits.connections);
            identity.connect().ok_or_else(|| refuse!(TooManyConnections, "the key {name} has {most} connections, as many as it is granted"))
        })?;
        table.channels += usize::from(is_new);
        state.in_use += usize::from(is_new && is_own);
        if is_own {
            state.heard = Instant::now();
            if let Some(alone) = state.alone.take() {
                table.alone.remove(&alone);
            }
        }
        let channel = Arc::clone(&state.channels[&(hello.kind, hello.channel)].channel);
        drop(state);
        if is_own {
            table.clients.insert(name, Arc::clone(&client));
        }
        Ok((Place { table: Arc::clone(&self.table), client, kind: hello.kind, number: hello.channel }, channel))
    }

    fn check_room(&self, table: &Table, has_memory: bool) -> Result<(), Refusal> {
        let (count, most) = (table.channels, self.max_connections);
        if count >= most {
            return Err(refuse!(TooManyConnections, "{most} connections are open, which is as many as --max-connections allows"));
        }
        let reserve = most / RESERVE;
        if count >= most - reserve && !has_memory {
            let text = "connections are open; the rest of --max-connections is kept for clients that have memory here";
            return Err(refuse!(TooManyConnections, "{count} {text}"));
        }
        Ok(())
    }

    /// Gives back what the client has. Other connections of it find no region any more.
    pub fn leave(&self, client: &Arc<Client>) {
        let mut table = lock(&self.table);
        table.remove(client);
        let (_, ticket) = client.clear();
        table.forget(client, ticket);
    }

    /// Removes clients that have had no connection for longer than `linger`. Returns their numbers and bytes. Looks at no others.
    pub fn reap(&self, linger: Duration, now: Instant) -> Vec<([u8; 16], u64)> {
        let mut reaped = Vec::new();
        let mut table = lock(&self.table);
        while let Some(first) = table.alone.first_entry().filter(|first| now.duration_since(first.key().0) >= linger) {
            let client = first.remove();
            table.remove(&client);
            let (bytes, ticket) = client.clear();
            table.forget(&client, ticket);
            reaped.push((client.id, bytes));
        }
        reaped
    }

    /// Counts. Looks at no client: it is asked for after each connection while the server stops.
    pub fn census(&self) -> Census {
        Census { clients: lock(&self.table).clients.len(), regions: self.regions.load(Ordering::Relaxed) }
    }
}

impl Counted {
    fn one_more(regions: &Arc<AtomicUsize>) -> Counted {
        regions.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(regions))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl ClientState {
    /// One connection more of a channel. The first one needs a place, which `connect` gives. True if it was the first.
    fn connect(
        &mut self,
        kind: ChannelKind,
        number: u16,
        connect: impl FnOnce(&ClientState) -> Result<Connected, Refusal>,
    ) -> Result<bool, Refusal> {
        let count = self.channels.get(&(kind, number)).map_or(0, |slot| slot.connections);
        if count >= CONNECTIONS_OF_A_CHANNEL {
            let name = kind.name();
            return Err(refuse!(TooManyConnections, "{count} connections of the {name} channel {number} have not ended yet"));
        }
        let connected = if count == 0 { Some(connect(self)?) } else { None };
        let is_new = connected.is_some();
        let new = || {
            let current = Current { generation: 0, stream: None, older: None };
            Slot { channel: Arc::new(Channel { current: Mutex::new(current) }), connections: 0, connected: None }
        };
        let slot = self.channels.entry((kind, number)).or_insert_with(new);
        slot.connections += 1;
        if is_new {
            slot.connected = connected;
        }
        Ok(is_new)
    }

    /// One less. True if it was the last of its channel.
    fn disconnect(&mut self, kind: ChannelKind, number: u16) -> bool {
        let Some(slot) = self.channels.get_mut(&(kind, number)) else { return false };
        slot.connections -= 1;
        if slot.connections == 0 {
            slot.connected = None;
        }
        slot.connections == 0
    }
}

impl Table {
    fn remove(&mut self, client: &Arc<Client>) {
        let name = (client.identity.index, client.id);
        if self.clients.get(&name).is_some_and(|known| Arc::ptr_eq(known, client)) {
            self.clients.remove(&name);
        }
    }

    /// The ticket of a cycle of the client that is over.
    fn forget(&mut self, client: &Arc<Client>, ticket: Option<[u8; 16]>) {
        let Some(ticket) = ticket else { return };
        let name = (client.identity.index, ticket);
        // Who draws no tickets, but takes one twice, has lost it to the later cycle.
        if self.tickets.get(&name).is_some_and(|known| Arc::ptr_eq(known, client)) {
            self.tickets.remove(&name);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = lock(&self.table);
        let mut state = lock(&self.client.state);
        if !state.disconnect(self.kind, self.number) {
            return;
        }
        table.channels -= 1;
        if self.kind == ChannelKind::Peer {
            return;
        }
        state.in_use -= 1;
        if state.in_use > 0 || state.gone {
            return;
        }
        if state.regions.is_empty() || state.leaves {
            // Nothing of an older connection can do harm: there are no pages, and it finds the client gone.
            drop(state);
            table.remove(&self.client);
            let (_, ticket) = self.client.clear();
            table.forget(&self.client, ticket);
            return;
        }
        let alone = (Instant::now(), table.next);
        table.next += 1;
        state.alone = Some(alone);
        drop(state);
        table.alone.insert(alone, Arc::clone(&self.client));
    }
}

impl Client {
    fn new(identity: &Arc<Identity>, id: [u8; 16]) -> Client {
        let state = ClientState {
            regions: HashMap::new(),
            channels: HashMap::new(),
            cycle: None,
            last_cycle: 0,
            in_use: 0,
            alone: None,
            heard: Instant::now(),
            leaves: false,
            gone: false,
        };
        Client { identity: Arc::clone(identity), id, living: Arc::default(), state: Mutex::new(state) }
    }

    /// Nothing is left of it. How many bytes it had, and the ticket of its cycle.
    fn clear(&self) -> (u64, Option<[u8; 16]>) {
        let mut state = lock(&self.state);
        state.gone = true;
        let ticket = state.cycle.take().map(|cycle| {
            cycle.end();
            cycle.start.ticket
        });
        (state.regions.drain().map(|(_, region)| region.pages * PAGE_SIZE as u64).sum(), ticket)
    }

    /// It ends, but may need its pages for as long as it has a connection.
    pub fn leave_with_the_last_connection(&self) {
        lock(&self.state).leaves = true;
    }

    /// It is there.
    pub fn hear(&self) {
        lock(&self.state).heard = Instant::now();
    }

    /// Whether it has no memory here, and has asked for nothing for so long.
    pub fn is_idle(&self, limit: Duration) -> bool {
        let state = lock(&self.state);
        state.regions.is_empty() && state.heard.elapsed() >= limit
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
        // Before the client's state, as everywhere.
        let mut table = lock(&self.place.table);
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
            table.forget(&self.client, Some(before.start.ticket));
        }
        table.tickets.insert((self.client.identity.index, cycle.start.ticket), Arc::clone(&self.client));
        Ok(())
    }

    /// A cycle is over.
    pub fn end(&self, cycle: &Arc<Cycle>) {
        cycle.end();
        let mut table = lock(&self.place.table);
        let mut state = lock(&self.client.state);
        if state.cycle.as_ref().is_some_and(|known| Arc::ptr_eq(known, cycle)) {
            state.cycle = None;
            table.forget(&self.client, Some(cycle.start.ticket));
        }
    }

    /// The cycle of a number, for another server that has its ticket.
    ///
    /// # Errors
    /// `NO_TRACE`.
    pub fn cycle(&self, number: u64) -> Result<Arc<Cycle>, Refusal> {
        let _current = self.current()?;
        let state = lock(&self.client.state);
        let is_it = |cycle: &&Arc<Cycle>| cycle.number() == number && self.ticket == Some(cycle.start.ticket);
        let cycle = state.cycle.as_ref().filter(is_it).cloned();
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
        let others = state.regions.len();
        match state.regions.entry(region) {
            Entry::Occupied(entry) if entry.get().pages == pages => Ok(()),
            Entry::Occupied(entry) => Err(refuse!(RegionExists, "region {region} has {} pages, not {pages}", entry.get().pages)),
            Entry::Vacant(entry) => {
                let identity = &self.client.identity;
                // What was given back and is still looked at has its memory until that ends: asked for before there is none left.
                let still_used = self.client.living.load(Ordering::Acquire) > others;
                let not_yet = |refusal: Refusal| match refusal {
                    Refusal { code: ErrorCode::Full, text } if still_used => {
                        refuse!(NotYet, "{text}; a region that was given back is in use")
                    }
                    refusal => refusal,
                };
                let bytes = pages.div_ceil(CHUNK_PAGES as u64).saturating_mul((CHUNK_PAGES * PAGE_SIZE) as u64);
                let charge = identity.charge(bytes).map_err(|used| {
                    let (name, most) = (&identity.name, identity.limits.memory);
                    not_yet(refuse!(
                        Full,
                        "region {region} of {pages} pages: the key {name} has {used} bytes of the {most} that it is granted"
                    ))
                })?;
                let chunks = take(&store.arena, region, pages).map_err(not_yet)?;
                let (counted, living) = (Counted::one_more(&store.regions), Counted::one_more(&self.client.living));
                entry.insert(Arc::new(Region { pages, chunks, _charge: charge, _counted: counted, _living: living }));
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
            // A second descriptor of the socket, which would stay open as long as the client lives.
            if current.generation == self.generation {
                current.stream = None;
            }
            current.older.take_if(|(generation, _)| *generation == self.generation);
        }
    }
}

/// Memory for a region.
fn take(arena: &Arc<Arena>, region: u32, pages: u64) -> Result<Vec<Chunk>, Refusal> {
    arena.take(pages).map_err(|shortage| match shortage {
        Shortage::Full => {
            let (free, capacity) = (arena.free(), arena.capacity());
            refuse!(Full, "region {region} of {pages} pages does not fit into {free} free bytes of {capacity}")
        }
        Shortage::NotYet => {
            let (ready, free) = (arena.ready(), arena.free());
            refuse!(NotYet, "region {region} of {pages} pages: {ready} bytes of {free} free ones have memory and are zero yet")
        }
    })
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
    #[cfg(test)]
    tests::LOCKS.with(|locks| locks.set(locks.get() + 1));
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identities;

    thread_local! {
        /// Locks that this thread has taken: no client is looked at without its own.
        pub static LOCKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    fn store(max_connections: usize) -> Store {
        Store::new(Arena::reserve(1 << 20).unwrap(), max_connections)
    }

    fn hello(kind: ChannelKind, generation: u64) -> Hello {
        Hello::new(kind, 0, generation, [1; 16])
    }

    /// A channel counts once, however many connections it has: one that takes it over needs no place. They are few, nevertheless.
    #[test]
    fn who_takes_a_channel_over_takes_its_place() {
        let entries = lull_far_auth::file::parse(&format!("one {} connections=1", "01".repeat(32))).unwrap();
        let (store, identities) = (store(1), Identities::new(&entries).unwrap());
        let (one, _) = identities.with_key(&entries[0].key.id()).unwrap();
        let connect = |kind, generation| store.connect(one, &hello(kind, generation), None, true);
        let mut held: Vec<Session> =
            (1..=CONNECTIONS_OF_A_CHANNEL as u64).map(|generation| connect(ChannelKind::Control, generation).unwrap()).collect();
        assert_eq!((one.connections(), lock(&store.table).channels), (1, 1));
        let refusal = connect(ChannelKind::Control, 1000).unwrap_err();
        assert_eq!(refusal, refuse!(TooManyConnections, "4 connections of the control channel 0 have not ended yet"));
        let refusal = connect(ChannelKind::Fetch, 1).unwrap_err();
        assert_eq!(refusal, refuse!(TooManyConnections, "1 connections are open, which is as many as --max-connections allows"));
        held.remove(0);
        assert_eq!(connect(ChannelKind::Control, 2).unwrap_err().code, ErrorCode::StaleChannel);
        held.push(connect(ChannelKind::Control, 1001).unwrap());
        drop(held);
        assert_eq!((one.connections(), store.census().clients), (0, 0));
        assert_eq!(lock(&store.table).channels, 0);
        assert!(connect(ChannelKind::Fetch, 1).is_ok());
    }

    /// Connections in a client's name that other servers open are the key's, too: else they could take all places.
    #[test]
    fn connections_of_other_servers_count_for_the_key() {
        let entries = lull_far_auth::file::parse(&format!("one {} connections=2", "01".repeat(32))).unwrap();
        let (store, identities) = (store(1000), Identities::new(&entries).unwrap());
        let (one, _) = identities.with_key(&entries[0].key.id()).unwrap();
        let control = store.connect(one, &hello(ChannelKind::Control, 1), None, true).unwrap();
        let refusal = store.connect(one, &hello(ChannelKind::Peer, 1), None, true).unwrap_err();
        assert_eq!(refusal, refuse!(NoTrace, "no cycle with that ticket is being traced here"));
        // As a cycle would have it.
        lock(&store.table).tickets.insert((one.index, [1; 16]), Arc::clone(&control.client));
        let peer = store.connect(one, &hello(ChannelKind::Peer, 1), None, true).unwrap();
        let another = Hello { channel: 1, ..hello(ChannelKind::Peer, 1) };
        let refusal = store.connect(one, &another, None, true).unwrap_err();
        assert_eq!(refusal, refuse!(TooManyConnections, "the key one has 2 connections, as many as it is granted"));
        drop(peer);
        assert_eq!(one.connections(), 1);
    }

    /// A cycle that still looks at a region keeps its memory, and what it counts for: who asks for it meanwhile is to ask again, and is not told
    /// that there is none. By what the key is granted, and by what the server has.
    #[test]
    fn memory_that_was_given_back_and_is_still_looked_at_is_not_missing_for_good() {
        const PAGES: u64 = CHUNK_PAGES as u64;
        let bytes = PAGES * PAGE_SIZE as u64;
        for (granted, capacity) in [(bytes, 2 * bytes), (2 * bytes, bytes)] {
            let entries = lull_far_auth::file::parse(&format!("one {} memory={granted}", "01".repeat(32))).unwrap();
            let store = Store::new(Arena::reserve(capacity).unwrap(), 1);
            let identities = Identities::new(&entries).unwrap();
            let (one, _) = identities.with_key(&entries[0].key.id()).unwrap();
            let session = store.connect(one, &hello(ChannelKind::Control, 1), None, true).unwrap();
            let map = |region| {
                store.arena.clean();
                session.map(&store, region, PAGES).map_err(|refusal| refusal.code)
            };
            assert_eq!((map(1), map(2)), (Ok(()), Err(ErrorCode::Full)));
            let looked_at = session.region(1).unwrap();
            session.unmap(1).unwrap();
            assert_eq!(map(1), Err(ErrorCode::NotYet));
            drop(looked_at);
            assert_eq!((map(1), map(2)), (Ok(()), Err(ErrorCode::Full)));
        }
    }

    /// The store's steps for something.
    fn steps<T>(what: impl FnOnce() -> T) -> (u64, T) {
        let before = LOCKS.get();
        let done = what();
        (LOCKS.get() - before, done)
    }

    fn numbered(number: u64) -> Hello {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_le_bytes());
        Hello::new(ChannelKind::Control, 0, 1, id)
    }

    /// A client with a region, of which there is no memory but what the store has of it, that loses its connection.
    fn linger(store: &Store, identity: &Arc<Identity>, number: u64) {
        let session = store.connect(identity, &numbered(number), None, true).unwrap();
        let (charge, counted) = (identity.charge(0).unwrap(), Counted::one_more(&store.regions));
        let living = Counted::one_more(&session.client.living);
        let region = Region { pages: 1, chunks: Vec::new(), _charge: charge, _counted: counted, _living: living };
        lock(&session.client.state).regions.insert(1, Arc::new(region));
    }

    /// However many clients linger: who comes, goes, comes back or has been away for too long costs as many steps as if there were none, and so
    /// does what the thread that accepts does after each connection. When they have gone nothing of them is left.
    #[test]
    fn two_hundred_thousand_clients_that_linger_cost_nobody_anything() {
        const MANY: u64 = 200_000;
        let (store, identities) = (store(1000), Identities::new(&[]).unwrap());
        let everybody = identities.of_everybody().unwrap();
        let hour = Duration::from_secs(3600);
        let newcomer = || {
            drop(store.connect(everybody, &numbered(u64::MAX), None, true).unwrap());
            (store.reap(hour, Instant::now()).len(), store.census().regions)
        };
        let first_of_those_alone = || lock(&store.table).alone.first_key_value().unwrap().0.0;
        let mut costs = Vec::new();
        let mut from = 0;
        for lingering in [1, MANY] {
            (from..lingering).for_each(|number| linger(&store, everybody, number));
            let (coming, counts) = steps(newcomer);
            assert_eq!(counts, (0, lingering as usize));
            // In its place another one is alone then.
            let again = Hello { generation: 2, ..numbered(0) };
            let (back, ()) = steps(|| drop(store.connect(everybody, &again, None, true).unwrap()));
            let session = store.connect(everybody, &numbered(MANY), None, true).unwrap();
            let (leaving, ()) = steps(|| store.leave(&session.client));
            drop(session);
            let first = first_of_those_alone();
            let (reaping, reaped) = steps(|| store.reap(hour, first + hour).len() as u64);
            assert!(reaped >= 1);
            // Each one that goes is looked at once.
            costs.push((coming, back, leaving, reaping - reaped));
            from = lingering;
            if lingering == 1 {
                linger(&store, everybody, 0);
            }
        }
        assert_eq!(costs[0], costs[1], "with one client that lingers, and with {MANY}");
        store.reap(hour, Instant::now() + hour);
        let table = lock(&store.table);
        assert_eq!((table.clients.len(), table.alone.len(), table.tickets.len(), table.channels), (0, 0, 0, 0));
        assert_eq!((store.regions.load(Ordering::Relaxed), everybody.connections()), (0, 0));
    }
}
