// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Has the servers trace the heap of this program, which runs meanwhile. What that means for the heap is its collector's business
//! (`gc/lull/concurrent/lullFarMarker.hpp`): here is who is asked what, and which bit is which.
//!
//! A bit of the collector's bitmaps is for the first word of an object, one of the servers' for the word behind it, which has the class
//! (`geometry.rs`). So bitmaps are shifted by one bit on the way. What comes back is to be put together with *or*, and counts by adding: an
//! object at the end of a part is in the bitmap of the server that has the next one.
//!
//! Everything goes over the connections for control. A cycle ends with its connection: whoever has to connect anew finds none (NO_TRACE).

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::PoisonError;

use lull_far_protocol::{Message, Op};
use lull_far_trace::extents::{BLOCK, LINE};
use lull_far_trace::geometry::Geometry;
use lull_far_trace::layout::Layout;
use lull_far_trace::termination::{Status, Termination};
use lull_far_trace::wire::{self, MOST};

use crate::PAGE_SIZE;
use crate::layout::STRIPE_PAGES;
use crate::link::{Payload, Server, random};
use crate::pager::Pager;

/// Bytes of a part of the heap.
const PART: u64 = STRIPE_PAGES * PAGE_SIZE as u64;

/// Bytes of the heap for which a word of a bitmap has bits.
const PER_WORD: u64 = 64 * 8;

/// Words of a bitmap for a part.
const PART_WORDS: u64 = PART / PER_WORD;

/// What the servers are to trace.
#[derive(Clone, Copy, Debug)]
pub struct Heap {
    /// Where it begins: a range of the pager's.
    pub start: usize,
    /// Its bytes.
    pub bytes: usize,
    /// What a compressed reference of 0 would mean, if it did not mean null.
    pub narrow_base: u64,
    /// By how many bits a compressed reference is shifted.
    pub narrow_shift: u8,
}

/// A cycle.
#[derive(Debug)]
pub struct Cycle {
    pager: &'static Pager,
    geometry: Geometry,
    region: u32,
    round: u64,
    termination: Termination,
    /// Of each server, how many of what it has listed are known.
    listed: Vec<u64>,
    /// Nothing more can be asked of it.
    over: bool,
}

/// What the servers are at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// They trace.
    Working,
    /// They go on when they have the layouts of these classes.
    Missing(BTreeSet<u32>),
    /// Nothing is left to do at any of them, and nothing is on its way.
    Done,
}

/// Which server failed, and how.
type Failed = String;

impl Cycle {
    /// Starts a cycle. Numbers ascend.
    ///
    /// # Errors
    /// Why the servers cannot trace the heap.
    pub fn begin(pager: &'static Pager, number: u64, heap: &Heap) -> Result<Cycle, Failed> {
        pager.check_process().map_err(|error| error.to_string())?;
        if pager.seals.is_some() {
            return Err("pages are sealed (--seal): servers cannot read them".to_owned());
        }
        if pager.lost_servers() > 0 {
            return Err("a server is lost, and another one has its pages: none traces until it has all copies again".to_owned());
        }
        let range = pager.range_at(heap.start).filter(|range| range.base == heap.start && range.bytes() >= heap.bytes);
        let Some(range) = range else { return Err(format!("{} bytes at {:#x} are no range of far memory", heap.bytes, heap.start)) };
        let geometry = Geometry {
            base: heap.start as u64,
            bytes: heap.bytes as u64,
            part: PART,
            narrow_base: heap.narrow_base,
            narrow_shift: heap.narrow_shift,
            servers: u8::try_from(pager.servers.len()).map_err(|_| format!("{} servers are more than 255", pager.servers.len()))?,
        };
        if !geometry.is_possible() {
            return Err(format!("servers cannot trace a heap like this: {geometry:?}"));
        }
        let listed = vec![0; pager.servers.len()];
        let region = range.layout.region(0);
        let mut cycle = Cycle { pager, geometry, region, round: 0, termination: Termination::default(), listed, over: false };
        let ticket = random().map_err(|error| format!("no random numbers: {error}"))?;
        let ticket: [u8; 16] = std::array::from_fn(|i| ticket[i]);
        let servers = addresses(pager)?;
        // All have the cycle before any has something to send.
        for me in 0..servers.len() {
            let start = wire::Start { cycle: number, geometry, me: me as u8, ticket, servers: servers.clone() };
            cycle.status(me, Op::TraceStart, &start.encode())?;
        }
        // Each knows that this is a program that runs, also one that has nothing old.
        for me in 0..servers.len() {
            cycle.status(me, Op::TraceOld, &wire::encode_elements(0, &[]))?;
        }
        Ok(cycle)
    }

    /// Objects from a word of the collector's bitmap on are old. What is not is not traced, and not looked at.
    ///
    /// # Errors
    /// Which server failed.
    pub fn old(&mut self, first: u64, words: &[u64]) -> Result<(), Failed> {
        for (first, words) in by_class_word(first, words) {
            let server = self.geometry.server_of(self.geometry.base + first * PER_WORD);
            let place = self.geometry.place_of(self.geometry.base + first * PER_WORD) / PER_WORD;
            self.status(server, Op::TraceOld, &wire::encode_elements(place, &words))?;
        }
        Ok(())
    }

    /// Objects to trace from, old or not.
    ///
    /// # Errors
    /// Which server failed.
    pub fn roots(&mut self, objects: &[u64]) -> Result<(), Failed> {
        let mut theirs = vec![Vec::new(); self.pager.servers.len()];
        for &object in objects {
            if !self.geometry.is_object(object) {
                return Err(format!("the root {object:#x} is no object of the heap"));
            }
            theirs[self.geometry.owner_of(object)].push(object);
        }
        self.termination = Termination::default();
        for (server, roots) in theirs.iter().enumerate() {
            for roots in roots.chunks(MOST) {
                self.status(server, Op::TraceRoots, &wire::encode_roots(roots))?;
            }
        }
        Ok(())
    }

    /// Layouts of classes that servers have asked for: all of them get them.
    ///
    /// # Errors
    /// Which server failed, or which layout is impossible.
    pub fn layouts(&mut self, mut layouts: &[Layout]) -> Result<(), Failed> {
        while !layouts.is_empty() {
            let (now, rest) = layouts.split_at(wire::layouts_that_fit(layouts).max(1));
            let payload = wire::encode_layouts(now);
            for server in 0..self.pager.servers.len() {
                self.status(server, Op::Layout, &payload)?;
            }
            layouts = rest;
        }
        Ok(())
    }

    /// One round of polls.
    ///
    /// # Errors
    /// Which server failed.
    pub fn poll(&mut self) -> Result<Progress, Failed> {
        self.round += 1;
        let mut missing = BTreeSet::new();
        let mut answers = Vec::new();
        for server in 0..self.pager.servers.len() {
            let (op, payload) = self.ask(server, Op::Poll, &wire::encode_poll(self.round), &[Op::Status, Op::NeedLayout])?;
            if op == Op::NeedLayout {
                missing.extend(wire::decode_missing(&payload).map_err(|error| self.named(server, &error))?);
                answers.push(Status { idle: false, ..Status::default() });
                continue;
            }
            let (of, status) = wire::decode_status(&payload).map_err(|error| self.named(server, &error))?;
            if of != self.round {
                return Err(self.named(server, &format!("it answers the poll of round {of}, not {}", self.round)));
            }
            answers.push(status);
        }
        let done = self.termination.round(&answers);
        Ok(match (missing.is_empty(), done) {
            (false, _) => Progress::Missing(missing),
            (true, true) => Progress::Done,
            (true, false) => Progress::Working,
        })
    }

    /// What servers have listed since they were asked last, so many at most: References whose referents were not followed, and mirrors of which it
    /// is not known how long they are. Of servers that are done.
    ///
    /// # Errors
    /// Which server failed.
    pub fn listed(&mut self, most: usize) -> Result<Vec<u64>, Failed> {
        let mut all = Vec::new();
        for server in 0..self.pager.servers.len() {
            while all.len() < most {
                let count = MOST.min(most - all.len());
                let new = self.elements(server, (Op::ReadDiscovered, Op::Discovered), self.listed[server], count)?;
                self.listed[server] += new.len() as u64;
                let is_last = new.len() < count;
                all.extend(new);
                if is_last {
                    break;
                }
            }
        }
        if let Some(&wrong) = all.iter().find(|&&object| !self.geometry.is_object(object)) {
            return Err(format!("a memory server lists {wrong:#x}, which is no object of the heap"));
        }
        Ok(all)
    }

    /// Words of the collector's bitmap: each from a word on.
    ///
    /// # Errors
    /// Which server failed.
    pub fn marks(&mut self, mut visit: impl FnMut(u64, &[u64])) -> Result<(), Failed> {
        let heap_words = self.geometry.bytes.div_ceil(PER_WORD);
        for server in 0..self.pager.servers.len() {
            let all = self.geometry.bytes_of(server) / PER_WORD;
            for place in (0..all).step_by(PART_WORDS as usize) {
                let words = self.elements(server, (Op::ReadBitmap, Op::Bitmap), place, PART_WORDS as usize)?;
                if words.len() as u64 != PART_WORDS {
                    return Err(self.named(server, &format!("its bitmap has {} words from {place} on, not {PART_WORDS}", words.len())));
                }
                let first = (self.geometry.address_of(server, place * PER_WORD) - self.geometry.base) / PER_WORD;
                by_first_word(first, &words, |first, words| {
                    // The last part may reach beyond the heap; no object does.
                    let inside = heap_words.saturating_sub(first).min(words.len() as u64) as usize;
                    visit(first, &words[..inside]);
                });
            }
        }
        Ok(())
    }

    /// Words of a bitmap of the heap's lines: something that was reached lies there, if it was not listed.
    ///
    /// # Errors
    /// Which server failed.
    pub fn lines(&mut self, visit: impl FnMut(u64, &[u64])) -> Result<(), Failed> {
        let words = self.geometry.bytes.div_ceil(LINE).div_ceil(64);
        self.of_the_heap((Op::ReadLines, Op::Lines), words, visit)
    }

    /// Live words of four blocks in each word, to be added up.
    ///
    /// # Errors
    /// Which server failed.
    pub fn live(&mut self, visit: impl FnMut(u64, &[u64])) -> Result<(), Failed> {
        let words = self.geometry.bytes.div_ceil(BLOCK).div_ceil(4);
        self.of_the_heap((Op::ReadLive, Op::Live), words, visit)
    }

    /// A vector of the whole heap, of so many words from each server.
    fn of_the_heap(&mut self, ops: (Op, Op), all: u64, mut visit: impl FnMut(u64, &[u64])) -> Result<(), Failed> {
        for server in 0..self.pager.servers.len() {
            for first in (0..all).step_by(MOST) {
                let count = MOST.min((all - first) as usize);
                let words = self.elements(server, ops, first, count)?;
                if words.len() != count {
                    return Err(self.named(server, &format!("{} has {} words from {first} on, not {count}", ops.1.name(), words.len())));
                }
                visit(first, &words);
            }
        }
        Ok(())
    }

    /// Elements of a vector, from one on. Fewer than were asked for: these are the last.
    fn elements(&mut self, server: usize, (read, answer): (Op, Op), first: u64, count: usize) -> Result<Vec<u64>, Failed> {
        let (_, payload) = self.ask(server, read, &wire::encode_counted(first, count as u32), &[answer])?;
        let (of, elements) = wire::decode_elements(&payload).map_err(|error| self.named(server, &error))?;
        if of != first || elements.len() > count {
            let got = elements.len();
            return Err(self.named(server, &format!("it answers {} of {count} from {first} on with {got} from {of} on", read.name())));
        }
        Ok(elements)
    }

    fn status(&mut self, server: usize, op: Op, payload: &[u8]) -> Result<(), Failed> {
        self.ask(server, op, payload, &[Op::Status]).map(drop)
    }

    fn named(&self, server: usize, what: &dyn std::fmt::Display) -> Failed {
        format!("memory server {}: {what}", self.pager.servers[server].name())
    }

    /// One request. After one that has failed nothing more is asked.
    fn ask(&mut self, server: usize, op: Op, payload: &[u8], want: &[Op]) -> Result<(Op, Vec<u8>), Failed> {
        if self.over {
            return Err("the cycle has failed before".to_owned());
        }
        let answer = self.ask_one(server, op, payload, want);
        self.over = answer.is_err();
        answer
    }

    fn ask_one(&self, server: usize, op: Op, payload: &[u8], want: &[Op]) -> Result<(Op, Vec<u8>), Failed> {
        let name = op.name();
        // What it has may be old: the other one that has its pages has got what came since.
        if self.pager.servers[server].lost() {
            return Err(self.named(server, &"it is lost"));
        }
        let answer = {
            let mut control = self.pager.control.lock().unwrap_or_else(PoisonError::into_inner);
            control[server].ask(&self.pager.servers[server], op, self.region, Payload::of(&[payload]))
        };
        let (header, payload) = answer.map_err(|error| error.to_string())?;
        match Message::decode(&header, &payload) {
            Ok(Message::Trace { op, .. }) if want.contains(&op) => Ok((op, payload)),
            Ok(Message::Error { code, text }) => Err(self.named(server, &format!("{name} was refused: {}: {text}", code.name()))),
            Ok(other) => Err(self.named(server, &format!("{name} was answered by {}", other.op().name()))),
            Err(error) => Err(self.named(server, &format!("the answer to {name}: {error}"))),
        }
    }
}

/// Servers give back what the cycle takes there. Whoever cannot be asked does so when the connection ends.
impl Drop for Cycle {
    fn drop(&mut self) {
        for server in 0..self.pager.servers.len() {
            let _ = self.ask_one(server, Op::TraceEnd, &[], &[Op::LiveStats]);
        }
    }
}

/// Where the servers find each other. One alone needs nobody.
fn addresses(pager: &Pager) -> Result<Vec<SocketAddr>, Failed> {
    const NOBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
    let alone = pager.servers.len() == 1;
    let address = |server: &Server| match server.address() {
        Some(address) => Ok(address),
        None if alone => Ok(NOBODY),
        None => Err(format!("memory server {} is at a Unix socket, where no other server comes: give it an address", server.name())),
    };
    pager.servers.iter().map(address).collect()
}

/// Words of a bitmap with a bit for each object's first word as those with a bit for its class word: pieces that lie in one part each and are not
/// all zeros, with where they begin. What leaves the last word is in one word more.
fn by_class_word(first: u64, words: &[u64]) -> Vec<(u64, Vec<u64>)> {
    let shifted = |index: usize| {
        let low = if index > 0 { words[index - 1] >> 63 } else { 0 };
        words.get(index).map_or(0, |word| word << 1) | low
    };
    let mut pieces = Vec::new();
    let mut index = 0;
    while index <= words.len() {
        let at = first + index as u64;
        let count = ((PART_WORDS - at % PART_WORDS) as usize).min(words.len() + 1 - index);
        let piece: Vec<u64> = (index..index + count).map(shifted).collect();
        if piece.iter().any(|&word| word != 0) {
            pieces.push((at, piece));
        }
        index += count;
    }
    pieces
}

/// The reverse, of one piece.
fn by_first_word(first: u64, words: &[u64], mut visit: impl FnMut(u64, &[u64])) {
    if let Some(low) = words.first().map(|word| word & 1).filter(|&low| low != 0 && first > 0) {
        visit(first - 1, &[low << 63]);
    }
    let shifted: Vec<u64> = (0..words.len()).map(|index| words[index] >> 1 | words.get(index + 1).map_or(0, |next| next << 63)).collect();
    if shifted.iter().any(|&word| word != 0) {
        visit(first, &shifted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// What a piece-wise bitmap is as a whole.
    fn together(pieces: &[(u64, Vec<u64>)]) -> BTreeMap<u64, u64> {
        let mut all = BTreeMap::new();
        for (first, words) in pieces {
            for (index, word) in (*first..).zip(words) {
                *all.entry(index).or_insert(0) |= word;
            }
        }
        all.retain(|_, word| *word != 0);
        all
    }

    #[test]
    fn a_bitmap_for_class_words_is_one_bit_further() {
        assert_eq!(by_class_word(5, &[1, 0, 1 << 63]), [(5, vec![2, 0, 0, 1])]);
        assert_eq!(by_class_word(5, &[0, 0]), []);
        // The end of a part: its last object's class word is in the next part, which another server may have.
        assert_eq!(by_class_word(PART_WORDS - 1, &[1 | 1 << 63]), [(PART_WORDS - 1, vec![2]), (PART_WORDS, vec![1])]);
    }

    #[test]
    fn what_servers_have_marked_comes_back_where_it_was() {
        let mut state = 7_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Few bits, and none in the last word of a heap: no object begins in its last 8 bytes.
            (state >> 17) & (state >> 29) & (state >> 5)
        };
        for first in [0, 3, PART_WORDS - 2, 2 * PART_WORDS - 1] {
            let words: Vec<u64> = (0..PART_WORDS + 5).map(|_| draw()).collect();
            let pieces = by_class_word(first, &words);
            assert!(pieces.iter().all(|(first, words)| first / PART_WORDS == (first + words.len() as u64 - 1) / PART_WORDS));
            let mut back = Vec::new();
            for (first, words) in &pieces {
                by_first_word(*first, words, |first, words| back.push((first, words.to_vec())));
            }
            assert_eq!(together(&back), together(&[(first, words)]), "from {first} on");
        }
    }
}
