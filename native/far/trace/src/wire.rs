// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The payloads of the frames for tracing. All numbers are little-endian; a field that is not used is zero. A length is compared with
//! what is there before anything is allocated for it.
//!
//! ```text
//! LAYOUT           u32 classes, u32 0; for each: u32 class, u8 kind, u8 c, u16 blocks, u32 bytes, u32 a, u32 b; blocks: u32 offset, u32 count
//!                  kind 0 instance; 1 reference, a: referent; 2 mirror, a: number of static references, b: first of them, c: quarter of where its words are;
//!                  3 array of references, a: first element; 4 array of numbers, a: logarithm of an element's bytes
//! NEED_LAYOUT      u32 classes, u32 0; u32 class each, ascending
//! TRACE_START      u64 cycle, u64 base, u64 bytes, u64 part, u64 narrow base, u8 narrow shift, u8 servers, u8 me, 5 bytes 0, 16 bytes ticket;
//!                  for each server: 16 bytes IPv6 address, u16 port, 6 bytes 0
//! TRACE_ROOTS      u32 count, u32 0; u64 object each
//! TRACE_OLD        u64 first word, u32 words, u32 0; u64 each
//! GHOST            u64 cycle, u32 count, u32 0; for each: u64 address, u32 what (0 object, 1 slots, 2 static fields), u32 slots or class, else 0
//! GHOST_ACK        u64 cycle, u32 count, u32 0
//! POLL             u64 round
//! STATUS           u64 round, u64 idle (0 or 1), u64 sent, u64 received
//! LIVE_STATS       u64 cycle, u64 marked, u64 followed, u64 sent, u64 received, u64 nanoseconds
//! READ_BITMAP      u64 first word, u32 words, u32 0
//! BITMAP           u64 first word, u32 words, u32 0; u64 each
//! READ_DISCOVERED  u64 first, u32 count, u32 0
//! READ_LINES       u64 first word, u32 words, u32 0
//! LINES            u64 first word, u32 words, u32 0; u64 each
//! READ_LIVE        u64 first word, u32 words, u32 0
//! LIVE             u64 first word, u32 words, u32 0; u64 each
//! DISCOVERED       u64 first, u32 count, u32 0; u64 object each
//! ```

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use lull_far_protocol::{MAX_TRACE_PAYLOAD, MAX_TRACE_VECTOR};

use crate::geometry::Geometry;
use crate::layout::{Block, Kind, Layout};
use crate::termination::Status;
use crate::tracer::{Counts, Task};

/// The most elements of one frame's vector. Whoever has more sends more frames.
pub const MOST: usize = MAX_TRACE_VECTOR;

/// Why a payload is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// It ends too soon, or goes on behind its end.
    Length,
    /// A field holds what it must not.
    Field(&'static str),
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WireError::Length => f.write_str("a payload for tracing is too short or too long for what it says"),
            WireError::Field(field) => write!(f, "a payload for tracing: the field {field} is impossible"),
        }
    }
}

impl std::error::Error for WireError {}

/// What is left of a payload.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(WireError::Length)?;
        self.0 = rest;
        Ok(*first)
    }

    fn u8(&mut self) -> Result<u8, WireError> {
        self.bytes().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u16, WireError> {
        self.bytes().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, WireError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, WireError> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// The length of a vector whose elements have `size` bytes at least.
    fn count(&mut self, size: usize) -> Result<usize, WireError> {
        let count = self.u32()? as usize;
        if self.u32()? != 0 {
            return Err(WireError::Field("zero"));
        }
        if count > MOST {
            return Err(WireError::Field("count"));
        }
        if count * size > self.0.len() { Err(WireError::Length) } else { Ok(count) }
    }

    fn layout(&mut self) -> Result<Layout, WireError> {
        let (klass, kind, c, blocks) = (self.u32()?, self.u8()?, self.u8()?, usize::from(self.u16()?));
        let (bytes, a, b) = (self.u32()?, self.u32()?, self.u32()?);
        let (kind, used) = match kind {
            0 => (Kind::Instance, 0),
            1 => (Kind::Reference { referent: a }, 1),
            2 => (Kind::Mirror { count: a, statics: b, words: 4 * u32::from(c) }, 3),
            3 => (Kind::ObjArray { base: a }, 1),
            4 => (Kind::TypeArray { shift: a }, 1),
            _ => return Err(WireError::Field("kind")),
        };
        if (used < 3 && c != 0) || (used < 2 && b != 0) || (used < 1 && a != 0) {
            return Err(WireError::Field("zero"));
        }
        if blocks * 8 > self.0.len() {
            return Err(WireError::Length);
        }
        let blocks =
            (0..blocks).map(|_| Ok::<_, WireError>(Block { offset: self.u32()?, count: self.u32()? })).collect::<Result<_, _>>()?;
        let layout = Layout { klass, kind, bytes, blocks };
        layout.check().map_err(WireError::Field)?;
        Ok(layout)
    }

    /// `N` numbers and no more.
    fn numbers<const N: usize>(mut self) -> Result<[u64; N], WireError> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.u64()?;
        }
        self.end(numbers)
    }

    fn end<T>(self, value: T) -> Result<T, WireError> {
        if self.0.is_empty() { Ok(value) } else { Err(WireError::Length) }
    }
}

fn numbers(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn head(count: usize) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out
}

/// LAYOUT. No more than [`layouts_that_fit`].
#[must_use]
pub fn encode_layouts(layouts: &[Layout]) -> Vec<u8> {
    let mut out = head(layouts.len());
    layouts.iter().for_each(|layout| encode_layout(layout, &mut out));
    out
}

/// How many of these layouts, from the first on, one LAYOUT can have.
#[must_use]
pub fn layouts_that_fit(layouts: &[Layout]) -> usize {
    let mut room = MAX_TRACE_PAYLOAD - 8;
    let fits = |layout: &&Layout| {
        let bytes = 20 + 8 * layout.blocks.len();
        let fits = bytes <= room;
        room -= bytes.min(room);
        fits
    };
    layouts.iter().take(MOST).take_while(fits).count()
}

/// One layout as it is in a LAYOUT, and in an exported heap.
pub fn encode_layout(layout: &Layout, out: &mut Vec<u8>) {
    let (kind, a, b) = match layout.kind {
        Kind::Instance => (0_u8, 0, 0),
        Kind::Reference { referent } => (1, referent, 0),
        Kind::Mirror { count, statics, .. } => (2, count, statics),
        Kind::ObjArray { base } => (3, base, 0),
        Kind::TypeArray { shift } => (4, shift, 0),
    };
    out.extend_from_slice(&layout.klass.to_le_bytes());
    let c = if let Kind::Mirror { words, .. } = layout.kind { (words / 4) as u8 } else { 0 };
    out.extend_from_slice(&[kind, c]);
    out.extend_from_slice(&u16::try_from(layout.blocks.len()).unwrap_or(u16::MAX).to_le_bytes());
    for number in [layout.bytes, a, b].into_iter().chain(layout.blocks.iter().flat_map(|block| [block.offset, block.count])) {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// The layouts of a LAYOUT, each checked.
///
/// # Errors
/// [`WireError`].
pub fn decode_layouts(payload: &[u8]) -> Result<Vec<Layout>, WireError> {
    let mut reader = Reader(payload);
    let count = reader.count(20)?;
    let mut layouts = Vec::with_capacity(count);
    for _ in 0..count {
        layouts.push(reader.layout()?);
    }
    reader.end(layouts)
}

/// All layouts of some bytes, without a count before them: those of an exported heap.
///
/// # Errors
/// [`WireError`].
pub fn decode_all_layouts(bytes: &[u8]) -> Result<Vec<Layout>, WireError> {
    let mut reader = Reader(bytes);
    let mut layouts = Vec::new();
    while !reader.0.is_empty() {
        layouts.push(reader.layout()?);
    }
    Ok(layouts)
}

/// NEED_LAYOUT.
#[must_use]
pub fn encode_missing(classes: &[u32]) -> Vec<u8> {
    let mut out = head(classes.len());
    classes.iter().for_each(|class| out.extend_from_slice(&class.to_le_bytes()));
    out
}

/// The classes of a NEED_LAYOUT.
///
/// # Errors
/// [`WireError`].
pub fn decode_missing(payload: &[u8]) -> Result<Vec<u32>, WireError> {
    let mut reader = Reader(payload);
    let classes = (0..reader.count(4)?).map(|_| reader.u32()).collect::<Result<Vec<_>, _>>()?;
    if !classes.is_sorted_by(|a, b| a < b) || classes.first() == Some(&0) {
        return Err(WireError::Field("class"));
    }
    reader.end(classes)
}

/// What a TRACE_START says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Number of the cycle, ascending.
    pub cycle: u64,
    /// The heap.
    pub geometry: Geometry,
    /// Which of the servers this one is.
    pub me: u8,
    /// By which servers show each other that they are of this cycle: drawn by the client for it, and not 0. They never hear each other's number
    /// of the client.
    pub ticket: [u8; 16],
    /// Where the servers listen, in their order, for each other.
    pub servers: Vec<SocketAddr>,
}

impl Start {
    /// TRACE_START.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let geometry = &self.geometry;
        let mut out = numbers(&[self.cycle, geometry.base, geometry.bytes, geometry.part, geometry.narrow_base]);
        out.extend_from_slice(&[geometry.narrow_shift, geometry.servers, self.me, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&self.ticket);
        for server in &self.servers {
            let address = match server.ip() {
                IpAddr::V4(address) => address.to_ipv6_mapped(),
                IpAddr::V6(address) => address,
            };
            out.extend_from_slice(&address.octets());
            out.extend_from_slice(&server.port().to_le_bytes());
            out.extend_from_slice(&[0; 6]);
        }
        out
    }

    /// What a payload says.
    ///
    /// # Errors
    /// [`WireError`].
    pub fn decode(payload: &[u8]) -> Result<Start, WireError> {
        let mut reader = Reader(payload);
        let cycle = reader.u64()?;
        let (base, bytes, part, narrow_base) = (reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?);
        let [narrow_shift, servers, me, zeros @ ..] = reader.bytes::<8>()?;
        let geometry = Geometry { base, bytes, part, narrow_base, narrow_shift, servers };
        if cycle == 0 {
            return Err(WireError::Field("cycle"));
        }
        if !geometry.is_possible() || me >= servers {
            return Err(WireError::Field("heap"));
        }
        if zeros != [0; 5] {
            return Err(WireError::Field("zero"));
        }
        let ticket = reader.bytes::<16>()?;
        if ticket == [0; 16] {
            return Err(WireError::Field("ticket"));
        }
        let mut addresses = Vec::new();
        for _ in 0..servers {
            let address = Ipv6Addr::from(reader.bytes::<16>()?).to_canonical();
            let port = reader.u16()?;
            if reader.bytes::<6>()? != [0; 6] {
                return Err(WireError::Field("zero"));
            }
            if port == 0 {
                return Err(WireError::Field("port"));
            }
            addresses.push(SocketAddr::new(address, port));
        }
        reader.end(Start { cycle, geometry, me, ticket, servers: addresses })
    }
}

/// TRACE_ROOTS.
#[must_use]
pub fn encode_roots(roots: &[u64]) -> Vec<u8> {
    let mut out = head(roots.len());
    roots.iter().for_each(|root| out.extend_from_slice(&root.to_le_bytes()));
    out
}

/// The objects of a TRACE_ROOTS. Whether they are this server's, the tracer checks.
///
/// # Errors
/// [`WireError`].
pub fn decode_roots(payload: &[u8]) -> Result<Vec<u64>, WireError> {
    let mut reader = Reader(payload);
    let roots = (0..reader.count(8)?).map(|_| reader.u64()).collect::<Result<_, _>>()?;
    reader.end(roots)
}

/// GHOST of a cycle.
#[must_use]
pub fn encode_tasks(cycle: u64, tasks: &[Task]) -> Vec<u8> {
    let mut out = cycle.to_le_bytes().to_vec();
    out.extend(head(tasks.len()));
    for task in tasks {
        let (address, what, number) = match *task {
            Task::Object(object) => (object, 0_u32, 0),
            Task::Slots(address, count) => (address, 1, count),
            Task::Statics(object, klass) => (object, 2, klass),
        };
        out.extend_from_slice(&address.to_le_bytes());
        out.extend_from_slice(&what.to_le_bytes());
        out.extend_from_slice(&number.to_le_bytes());
    }
    out
}

/// The cycle and the tasks of a GHOST. Whether they are for this server, the tracer checks.
///
/// # Errors
/// [`WireError`].
pub fn decode_tasks(payload: &[u8]) -> Result<(u64, Vec<Task>), WireError> {
    let mut reader = Reader(payload);
    let cycle = reader.u64()?;
    let count = reader.count(16)?;
    let mut tasks = Vec::with_capacity(count);
    for _ in 0..count {
        tasks.push(match (reader.u64()?, reader.u32()?, reader.u32()?) {
            (object, 0, 0) => Task::Object(object),
            (address, 1, count) if count > 0 => Task::Slots(address, count),
            (object, 2, klass) if klass > 0 => Task::Statics(object, klass),
            _ => return Err(WireError::Field("task")),
        });
    }
    reader.end((cycle, tasks))
}

/// A cycle, or a first element, with a count: GHOST_ACK, READ_BITMAP, READ_DISCOVERED, READ_LINES, READ_LIVE.
#[must_use]
pub fn encode_counted(number: u64, count: u32) -> Vec<u8> {
    numbers(&[number, count.into()])
}

/// The two numbers of such a payload.
///
/// # Errors
/// [`WireError`], also if the count is above [`MOST`].
pub fn decode_counted(payload: &[u8]) -> Result<(u64, u32), WireError> {
    let [number, count] = Reader(payload).numbers()?;
    match u32::try_from(count) {
        Ok(count) if count as usize <= MOST => Ok((number, count)),
        _ => Err(WireError::Field("count")),
    }
}

/// POLL.
#[must_use]
pub fn encode_poll(round: u64) -> Vec<u8> {
    numbers(&[round])
}

/// The round of a POLL.
///
/// # Errors
/// [`WireError`].
pub fn decode_poll(payload: &[u8]) -> Result<u64, WireError> {
    let [round] = Reader(payload).numbers()?;
    Ok(round)
}

/// STATUS, the answer to the POLL of a round. Round 0: the answer to what starts or feeds a cycle.
#[must_use]
pub fn encode_status(round: u64, status: Status) -> Vec<u8> {
    numbers(&[round, status.idle.into(), status.sent, status.received])
}

/// The round and the status of a STATUS.
///
/// # Errors
/// [`WireError`].
pub fn decode_status(payload: &[u8]) -> Result<(u64, Status), WireError> {
    let [round, idle, sent, received] = Reader(payload).numbers()?;
    if idle > 1 {
        return Err(WireError::Field("idle"));
    }
    Ok((round, Status { idle: idle == 1, sent, received }))
}

/// LIVE_STATS: what a server has done in a cycle, and in how many nanoseconds without waiting.
#[must_use]
pub fn encode_counts(cycle: u64, counts: Counts, nanoseconds: u64) -> Vec<u8> {
    numbers(&[cycle, counts.marked, counts.followed, counts.sent, counts.received, nanoseconds])
}

/// The cycle, the counts, and the nanoseconds of a LIVE_STATS.
///
/// # Errors
/// [`WireError`].
pub fn decode_counts(payload: &[u8]) -> Result<(u64, Counts, u64), WireError> {
    let [cycle, marked, followed, sent, received, nanoseconds] = Reader(payload).numbers()?;
    Ok((cycle, Counts { marked, followed, sent, received }, nanoseconds))
}

/// A part of a vector from an element on: BITMAP, TRACE_OLD, LINES and LIVE, of words, and DISCOVERED, of objects.
#[must_use]
pub fn encode_elements(first: u64, elements: &[u64]) -> Vec<u8> {
    let mut out = first.to_le_bytes().to_vec();
    out.extend(head(elements.len()));
    elements.iter().for_each(|element| out.extend_from_slice(&element.to_le_bytes()));
    out
}

/// The number of the first one, and the elements.
///
/// # Errors
/// [`WireError`].
pub fn decode_elements(payload: &[u8]) -> Result<(u64, Vec<u64>), WireError> {
    let mut reader = Reader(payload);
    let first = reader.u64()?;
    let elements = (0..reader.count(8)?).map(|_| reader.u64()).collect::<Result<_, _>>()?;
    reader.end((first, elements))
}
