// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The payloads of the frames for tracing. All numbers are little-endian; a field that is not used is zero. A length is compared with
//! what is there before anything is allocated for it.
//!
//! ```text
//! LAYOUT       u32 classes, u32 0; for each: u32 class, u8 kind, u8 0, u16 blocks, u32 bytes, u32 a, u32 b; blocks: u32 offset, u32 count
//!              kind 0 instance; 1 reference, a: referent; 2 mirror, a: number of static references, b: first of them;
//!              3 array of references, a: first element; 4 array of numbers
//! NEED_LAYOUT  u32 classes, u32 0; u32 class each, ascending
//! TRACE_START  u64 cycle, u64 base, u64 bytes, u64 part, u64 narrow base, u8 narrow shift, u8 servers, u8 me, 5 bytes 0
//! TRACE_ROOTS  u32 count, u32 0; u64 object each
//! GHOST        u32 count, u32 0; for each: u64 address, u32 what (0 object, 1 slots, 2 static fields), u32 slots or class, else 0
//! STATUS       u64 round, u64 idle (0 or 1), u64 sent, u64 received
//! BITMAP       u64 first word, u32 words, u32 0; u64 each
//! ```

use crate::geometry::Geometry;
use crate::layout::{Block, Kind, Layout};
use crate::termination::Status;
use crate::tracer::Task;

/// The most elements of one frame's vector. Whoever has more sends more frames.
pub const MOST: usize = 16_384;

/// Why a payload is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// It ends too soon, or goes on behind its end.
    Length,
    /// A field holds what it must not.
    Field(&'static str),
}

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

    fn end<T>(self, value: T) -> Result<T, WireError> {
        if self.0.is_empty() { Ok(value) } else { Err(WireError::Length) }
    }
}

fn head(count: usize) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out
}

/// LAYOUT. `MOST` layouts at most.
#[must_use]
pub fn encode_layouts(layouts: &[Layout]) -> Vec<u8> {
    let mut out = head(layouts.len());
    for layout in layouts {
        let (kind, a, b) = match layout.kind {
            Kind::Instance => (0_u8, 0, 0),
            Kind::Reference { referent } => (1, referent, 0),
            Kind::Mirror { count, statics } => (2, count, statics),
            Kind::ObjArray { base } => (3, base, 0),
            Kind::TypeArray => (4, 0, 0),
        };
        out.extend_from_slice(&layout.klass.to_le_bytes());
        out.extend_from_slice(&[kind, 0]);
        out.extend_from_slice(&u16::try_from(layout.blocks.len()).unwrap_or(u16::MAX).to_le_bytes());
        for number in [layout.bytes, a, b].into_iter().chain(layout.blocks.iter().flat_map(|block| [block.offset, block.count])) {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
    out
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
        let (klass, kind, zero, blocks) = (reader.u32()?, reader.u8()?, reader.u8()?, usize::from(reader.u16()?));
        let (bytes, a, b) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let (kind, used) = match kind {
            0 => (Kind::Instance, 0),
            1 => (Kind::Reference { referent: a }, 1),
            2 => (Kind::Mirror { count: a, statics: b }, 2),
            3 => (Kind::ObjArray { base: a }, 1),
            4 => (Kind::TypeArray, 0),
            _ => return Err(WireError::Field("kind")),
        };
        if zero != 0 || (used < 2 && b != 0) || (used < 1 && a != 0) {
            return Err(WireError::Field("zero"));
        }
        if blocks * 8 > reader.0.len() {
            return Err(WireError::Length);
        }
        let blocks =
            (0..blocks).map(|_| Ok::<_, WireError>(Block { offset: reader.u32()?, count: reader.u32()? })).collect::<Result<_, _>>()?;
        let layout = Layout { klass, kind, bytes, blocks };
        layout.check().map_err(WireError::Field)?;
        layouts.push(layout);
    }
    reader.end(layouts)
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Number of the cycle, ascending.
    pub cycle: u64,
    /// The heap.
    pub geometry: Geometry,
    /// Which of the servers this one is.
    pub me: u8,
}

impl Start {
    /// TRACE_START.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let geometry = &self.geometry;
        let numbers = [self.cycle, geometry.base, geometry.bytes, geometry.part, geometry.narrow_base];
        let mut out: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        out.extend_from_slice(&[geometry.narrow_shift, geometry.servers, self.me, 0, 0, 0, 0, 0]);
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
        if !geometry.is_possible() || me >= servers {
            return Err(WireError::Field("heap"));
        }
        if zeros != [0; 5] {
            return Err(WireError::Field("zero"));
        }
        reader.end(Start { cycle, geometry, me })
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

/// GHOST.
#[must_use]
pub fn encode_tasks(tasks: &[Task]) -> Vec<u8> {
    let mut out = head(tasks.len());
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

/// The tasks of a GHOST. Whether they are for this server, the tracer checks.
///
/// # Errors
/// [`WireError`].
pub fn decode_tasks(payload: &[u8]) -> Result<Vec<Task>, WireError> {
    let mut reader = Reader(payload);
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
    reader.end(tasks)
}

/// STATUS, the answer to the POLL of a round.
#[must_use]
pub fn encode_status(round: u64, status: Status) -> Vec<u8> {
    [round, status.idle.into(), status.sent, status.received].iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The round and the status of a STATUS.
///
/// # Errors
/// [`WireError`].
pub fn decode_status(payload: &[u8]) -> Result<(u64, Status), WireError> {
    let mut reader = Reader(payload);
    let (round, idle, sent, received) = (reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?);
    if idle > 1 {
        return Err(WireError::Field("idle"));
    }
    reader.end((round, Status { idle: idle == 1, sent, received }))
}

/// BITMAP: words of marks from a first one on.
#[must_use]
pub fn encode_bitmap(first: u64, words: &[u64]) -> Vec<u8> {
    let mut out = first.to_le_bytes().to_vec();
    out.extend(head(words.len()));
    words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    out
}

/// The first word's number, and the words of a BITMAP.
///
/// # Errors
/// [`WireError`].
pub fn decode_bitmap(payload: &[u8]) -> Result<(u64, Vec<u64>), WireError> {
    let mut reader = Reader(payload);
    let first = reader.u64()?;
    let words = (0..reader.count(8)?).map(|_| reader.u64()).collect::<Result<_, _>>()?;
    reader.end((first, words))
}
