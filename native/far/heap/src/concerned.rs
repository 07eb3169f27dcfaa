// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How many pages are concerned by moving the sparsest regions of an exported heap: those that stay, and hold a reference to
//! an object that moves, which must be patched. Nobody has to trace for that: the JVM's marks say what lives.
//!
//! Regions are parts of the heap of one size. Candidates have something that lives, and no object that reaches across their ends: such an
//! object, a large one, would have to move as a whole. They are ranked by their live bytes, the sparsest first; moved are always the first
//! `k` of them, so that one pass over all references answers for each `k`.
//!
//! **What is not exact.** The export does not say the size of an array's numbers: it is taken for the largest, of 8, 4, 2 and 1 bytes, with which
//! no array of the class reaches into the next live object. Of a `Class`, static fields that are no references are not counted as live, of a stack
//! chunk its frames; references in frames are the JVM's, as are those in code and other roots.

use std::collections::HashMap;
use std::io;

use lull_far_trace::geometry::{CLASS_OFFSET, Geometry, LENGTH_OFFSET};
use lull_far_trace::layout::{Kind, Layout};

use crate::export::Export;

/// The pager's.
const PAGE: u64 = 4096;

/// Not a candidate: it does not move.
const STAYS: usize = usize::MAX;

/// What moving the first `k` candidates means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Move {
    /// `k`.
    pub regions: usize,
    /// Live bytes in them.
    pub live: u64,
    /// Pages that stay and have something that lives.
    pub others: u64,
    /// Of these, those with a reference into them.
    pub pages: u64,
    /// Such references in these.
    pub references: u64,
    /// Roots of the export that lead into them.
    pub roots: u64,
}

/// The answers for all `k`.
#[derive(Debug)]
pub struct Concerned {
    /// Bytes of a region.
    pub region: u64,
    /// Regions with something that lives.
    pub used: usize,
    /// For `k` from 0 to the number of candidates.
    pub moves: Vec<Move>,
}

impl Concerned {
    /// Looks at a heap, in regions of so many bytes, a power of two of a page at least.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn of(export: &Export, region: u64) -> Result<Concerned, String> {
        let said = |error: io::Error| format!("the heap: {error}");
        let mut heap = Heap::new(export).map_err(said)?;
        let live = Live::of(&mut heap, region).map_err(said)?;
        count(&mut heap, &live).map_err(said)
    }

    /// Moving so many percent of the regions with something that lives, or all candidates if that is less.
    #[must_use]
    pub fn share(&self, percent: u64) -> Move {
        let wanted = (self.used as u64 * percent / 100) as usize;
        self.moves[wanted.min(self.moves.len() - 1)]
    }

    /// Moving regions for as long as no more than so many pages are concerned: the last move before the first that is too large. (To move
    /// everything concerns nobody.)
    #[must_use]
    pub fn budget(&self, pages: u64) -> Move {
        let end = self.moves.iter().position(|moved| moved.pages > pages).unwrap_or(self.moves.len());
        self.moves[end.max(1) - 1]
    }
}

/// The objects that live, in the order of their addresses.
struct Heap<'a> {
    export: &'a Export,
    geometry: Geometry,
    layouts: HashMap<u32, &'a Layout>,
    /// Bytes of a number, by class of arrays.
    numbers: HashMap<u32, u64>,
    reader: Reader<'a>,
}

/// An object that lives.
struct Object<'a> {
    address: u64,
    layout: &'a Layout,
    /// Elements of an array, static references of a `Class`.
    length: u64,
    /// Where the next one is, or the end of the heap.
    next: u64,
}

impl<'a> Heap<'a> {
    fn new(export: &'a Export) -> io::Result<Heap<'a>> {
        let (narrow_base, narrow_shift) = (export.narrow_base, export.narrow_shift);
        let geometry = Geometry { base: export.base, bytes: export.bytes, part: 4 << 20, narrow_base, narrow_shift, servers: 1 };
        let layouts = export.layouts.iter().map(|layout| (layout.klass, layout)).collect();
        let mut heap = Heap { export, geometry, layouts, numbers: HashMap::new(), reader: Reader::new(export) };
        heap.guess_numbers()?;
        Ok(heap)
    }

    fn end(&self) -> u64 {
        self.export.base + self.export.bytes
    }

    /// Calls for each object that lives.
    fn objects(&mut self, mut look: impl FnMut(&mut Heap<'a>, &Object<'a>) -> io::Result<()>) -> io::Result<()> {
        let export = self.export;
        let mut starts = (0..).zip(&export.marks).flat_map(|(index, &word)| {
            let base = export.base + index * 512;
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| base + bit * 8)
        });
        let mut next = starts.next();
        while let Some(address) = next {
            next = starts.next();
            let class = self.reader.word(address + CLASS_OFFSET)?;
            let layout =
                *self.layouts.get(&class).ok_or_else(|| wrong(format!("the object at {address:#x} has the unknown class {class:#x}")))?;
            let length = match layout.kind {
                Kind::ObjArray { .. } | Kind::TypeArray { .. } => self.reader.word(address + LENGTH_OFFSET)?,
                Kind::Mirror { count, .. } => self.reader.word(address + u64::from(count))?,
                Kind::Instance | Kind::Reference { .. } => 0,
            };
            let next = next.unwrap_or(self.end());
            look(self, &Object { address, layout, length: length.into(), next })?;
        }
        Ok(())
    }

    fn guess_numbers(&mut self) -> io::Result<()> {
        let mut numbers: HashMap<u32, u64> = HashMap::new();
        self.objects(|_, object| {
            if matches!(object.layout.kind, Kind::TypeArray { .. }) {
                let bytes = numbers.entry(object.layout.klass).or_insert(8);
                let fits = |bytes: u64| object.address + u64::from(object.layout.bytes) + object.length * bytes <= object.next;
                while *bytes > 1 && !fits(*bytes) {
                    *bytes /= 2;
                }
            }
            Ok(())
        })?;
        self.numbers = numbers;
        Ok(())
    }

    /// Bytes of an object, which does not reach into the next one.
    fn bytes(&self, object: &Object<'_>) -> io::Result<u64> {
        let header = u64::from(object.layout.bytes);
        let bytes = match object.layout.kind {
            Kind::Instance | Kind::Reference { .. } => header,
            Kind::Mirror { statics, .. } => header.max(u64::from(statics) + 4 * object.length),
            Kind::ObjArray { base } => u64::from(base) + 4 * object.length,
            Kind::TypeArray { .. } => header + object.length * self.numbers[&object.layout.klass],
        };
        let bytes = bytes.next_multiple_of(8);
        if object.address + bytes > object.next {
            return Err(wrong(format!("the object at {:#x} reaches into the next one", object.address)));
        }
        Ok(bytes)
    }

    /// Calls for each reference of an object that is not null, with where it is and what it refers to.
    fn references(&mut self, object: &Object<'_>, mut look: impl FnMut(u64, u64)) -> io::Result<()> {
        let run = |offset: u32, count: u64| (u64::from(offset), count);
        let own = object.layout.blocks.iter().map(|block| run(block.offset, block.count.into()));
        let more = match object.layout.kind {
            Kind::Instance | Kind::TypeArray { .. } => None,
            Kind::Reference { referent } => Some(run(referent, 1)),
            Kind::Mirror { statics, .. } => Some(run(statics, object.length)),
            Kind::ObjArray { base } => Some(run(base, object.length)),
        };
        for (offset, count) in own.chain(more) {
            for slot in (0..count).map(|index| object.address + offset + 4 * index) {
                let narrow = self.reader.word(slot)?;
                match self.geometry.decode(narrow) {
                    Ok(None) => {}
                    Ok(Some(target)) => look(slot, target),
                    Err(_) => return Err(wrong(format!("the compressed reference {narrow:#x} at {slot:#x} refers to no object"))),
                }
            }
        }
        Ok(())
    }
}

fn wrong(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Words of the heap, for who goes through it in order.
struct Reader<'a> {
    export: &'a Export,
    start: u64,
    chunk: Vec<u8>,
}

impl<'a> Reader<'a> {
    const CHUNK: u64 = 1 << 20;

    fn new(export: &'a Export) -> Reader<'a> {
        Reader { export, start: 0, chunk: Vec::new() }
    }

    fn word(&mut self, address: u64) -> io::Result<u32> {
        let offset = address.checked_sub(self.export.base).filter(|offset| offset + 4 <= self.export.bytes);
        let offset = offset.ok_or_else(|| wrong(format!("an object reaches behind the heap's end, to {address:#x}")))?;
        if offset < self.start || offset + 4 > self.start + self.chunk.len() as u64 {
            self.start = offset / Self::CHUNK * Self::CHUNK;
            self.chunk.resize(Self::CHUNK.min(self.export.bytes - self.start) as usize, 0);
            self.export.heap(self.start, &mut self.chunk)?;
        }
        let at = (offset - self.start) as usize;
        Ok(u32::from_le_bytes(std::array::from_fn(|i| self.chunk[at + i])))
    }
}

/// What lives where.
struct Live {
    region: u64,
    /// Regions with something that lives.
    used: usize,
    /// By region: its place among the candidates, or [`STAYS`].
    ranks: Vec<usize>,
    /// By candidate: live bytes.
    bytes: Vec<u64>,
    /// By region: pages with something that lives.
    pages: Vec<u64>,
}

impl Live {
    fn of(heap: &mut Heap<'_>, region: u64) -> io::Result<Live> {
        let export = heap.export;
        let count = export.bytes.div_ceil(region) as usize;
        let (mut live, mut pages, mut crossed) = (vec![0_u64; count], vec![0_u64; count], vec![false; count]);
        // The last page that was counted: objects come in order.
        let mut counted = None;
        heap.objects(|heap, object| {
            let (start, bytes) = (object.address - export.base, heap.bytes(object)?);
            let end = start + bytes;
            let (first, last) = ((start / region) as usize, ((end - 1) / region) as usize);
            for index in first..=last {
                let from = index as u64 * region;
                live[index] += end.min(from + region) - start.max(from);
                crossed[index] |= first != last;
            }
            for page in start / PAGE..=(end - 1) / PAGE {
                if counted.is_none_or(|counted| page > counted) {
                    pages[(page * PAGE / region) as usize] += 1;
                    counted = Some(page);
                }
            }
            Ok(())
        })?;
        let mut candidates: Vec<usize> = (0..count).filter(|&index| live[index] > 0 && !crossed[index]).collect();
        candidates.sort_by_key(|&index| live[index]);
        let mut ranks = vec![STAYS; count];
        candidates.iter().enumerate().for_each(|(rank, &index)| ranks[index] = rank);
        let bytes = candidates.iter().map(|&index| live[index]).collect();
        Ok(Live { region, used: live.iter().filter(|&&live| live > 0).count(), ranks, bytes, pages })
    }
}

/// Numbers for each `k`, as differences: what begins with one `k` and ends with another.
struct Steps(Vec<i64>);

impl Steps {
    fn new(candidates: usize) -> Steps {
        Steps(vec![0; candidates + 2])
    }

    /// Counts so many for all `k` from `first` to `last`.
    fn add(&mut self, first: usize, last: usize, count: u64) {
        let end = last.min(self.0.len() - 2) + 1;
        if first < end {
            self.0[first] += count as i64;
            self.0[end] -= count as i64;
        }
    }

    fn sums(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().scan(0_i64, |sum, step| {
            *sum += step;
            Some(*sum as u64)
        })
    }
}

/// With the first `k` moved, a region of rank `r` moves if `r < k`. So what refers from one of rank `q` into one of rank `r` is concerned for
/// `k` from `r + 1` to `q`, and a page for `k` from one more than the least such `r` to its own rank.
fn count(heap: &mut Heap<'_>, live: &Live) -> io::Result<Concerned> {
    let export = heap.export;
    let candidates = live.bytes.len();
    let rank = |address: u64| live.ranks[((address - export.base) / live.region) as usize];
    let [mut pages, mut references, mut roots, mut others] = [(); 4].map(|()| Steps::new(candidates));
    // By page: the least rank that it refers to, of those below its own.
    let mut least = vec![STAYS; (export.bytes / PAGE) as usize];
    heap.objects(|heap, object| {
        heap.references(object, |slot, target| {
            let (from, to) = (rank(slot), rank(target));
            if to < from {
                references.add(to + 1, from, 1);
                let of_page = &mut least[((slot - export.base) / PAGE) as usize];
                *of_page = to.min(*of_page);
            }
        })
    })?;
    for (page, &to) in (0..).zip(&least).filter(|(_, to)| **to != STAYS) {
        pages.add(to + 1, rank(export.base + page * PAGE), 1);
    }
    for (&rank, &count) in live.ranks.iter().zip(&live.pages) {
        others.add(0, rank, count);
    }
    for &root in &export.roots {
        let to = rank(root);
        if to != STAYS {
            roots.add(to + 1, STAYS, 1);
        }
    }
    let mut bytes = 0;
    let numbers = pages.sums().zip(references.sums()).zip(roots.sums().zip(others.sums())).take(candidates + 1);
    let moves = numbers.enumerate().map(|(regions, ((pages, references), (roots, others)))| {
        if regions > 0 {
            bytes += live.bytes[regions - 1];
        }
        Move { regions, live: bytes, others, pages, references, roots }
    });
    let moves = moves.collect();
    Ok(Concerned { region: live.region, used: live.used, moves })
}
