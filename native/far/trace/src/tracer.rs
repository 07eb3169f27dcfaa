// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The tracer of one server: marks and scans the objects whose class word it has, and sends what it cannot look at to the servers that
//! can.
//!
//! An object may lie across the end of a part, and a large array across many: what is sent is therefore not only "mark this object"
//! but also "scan so many references from this address on". Whoever has the class word marks; each server reads its own memory only.

use std::collections::{BTreeSet, HashMap};

use crate::extents::Extents;
use crate::geometry::{CLASS_OFFSET, Geometry, LENGTH_OFFSET};
use crate::layout::{Kind, LAYOUTS, Layout};
use crate::termination::Status;

/// Something to be done by the server that has the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// Mark an object and scan it.
    Object(u64),
    /// Follow so many references from an address on. They lie in one part.
    Slots(u64, u32),
    /// Follow the static fields of a mirror of this class; for the server that has their number.
    Statics(u64, u32),
}

/// The memory of this server's parts.
pub trait Memory {
    /// 4 bytes at an address that is a multiple of 4, in one of this server's parts.
    fn word(&self, address: u64) -> u32;
}

/// What cannot be: the heap, a layout or another server's word is not right. The cycle is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// At this address there is a reference to no object.
    Reference(u64, u32),
    /// A task that is not for this server, or names no object.
    Task(Task),
    /// An object that is longer than the heap.
    Size(u64),
    /// More references to follow have been received than there are in this server's parts: some twice.
    Repeated(Task),
    /// The word at an object's place for its class is zero.
    Class(u64),
    /// Objects of more classes than a cycle may have layouts of.
    Classes,
    /// So many words of what is old, from this one on, are more than this server has.
    Old(u64, usize),
}

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Damaged::Reference(slot, narrow) => {
                write!(f, "the compressed reference {narrow:#x} at {slot:#x} refers to no object of the heap")
            }
            Damaged::Task(Task::Object(object)) => write!(f, "{object:#x} is no object of this server"),
            Damaged::Task(Task::Slots(address, count)) => {
                write!(f, "{count} references at {address:#x} are not in one part of this server")
            }
            Damaged::Task(Task::Statics(object, klass)) => {
                write!(f, "the mirror at {object:#x}, of class {klass:#x}, has no static fields here")
            }
            Damaged::Size(object) => {
                write!(f, "the object at {object:#x} is longer than the heap, or all objects together have more references than it")
            }
            Damaged::Class(object) => write!(f, "there is no object at {object:#x}: its class is 0"),
            Damaged::Classes => write!(f, "objects of more than {LAYOUTS} classes without a layout"),
            Damaged::Old(first, words) => write!(f, "{words} words of what is old, from {first} on, are more than this server has"),
            Damaged::Repeated(task) => write!(f, "more references were sent here than there are: {task:x?} is one too many"),
        }
    }
}

/// What is only known of the heap of a program that runs.
#[derive(Debug)]
struct Running {
    /// As the marks: what was old when the client looked.
    old: Vec<u64>,
    extents: Extents,
}

/// What a tracer has done in its cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Objects that it has marked.
    pub marked: u64,
    /// References that it has looked at, null or not.
    pub followed: u64,
    /// Sent to other servers.
    pub sent: u64,
    /// Received from them.
    pub received: u64,
}

/// Objects sent lately, so that a popular one is not sent for each reference to it.
const RECENT: usize = 4096;

/// Layouts used lately.
const LATELY: usize = 1024;

/// How many references of a long array are followed at once; the rest waits.
const RUN: u32 = 1024;

/// One server's part of a cycle.
#[derive(Debug)]
pub struct Tracer {
    me: usize,
    geometry: Geometry,
    layouts: Vec<Layout>,
    /// Of the blocks of these.
    block_bytes: usize,
    /// Where the layout of a class is among them.
    index: HashMap<u32, u32>,
    /// The same for the class last asked for of those that share a place.
    lately: Vec<(u32, u32)>,
    /// A bit for each 8 bytes of this server's parts: there is the class word of an object that was reached.
    marks: Vec<u64>,
    /// The same of all that may be reached, and where what was reached lies: if the client has said what is old.
    running: Option<Running>,
    /// Objects here are marked.
    work: Vec<Task>,
    outbox: Vec<Vec<Task>>,
    recent: Vec<u64>,
    /// By class whose layout is not known yet: objects that are marked and not scanned, and static fields.
    parked: HashMap<u32, Vec<Task>>,
    discovered: Vec<u64>,
    /// References in this server's parts that no other server has sent here yet. None is sent twice by servers that are right.
    unsent: u64,
    /// References of the heap that objects with their class word here have not been found to have yet. None belongs to two objects: without
    /// this bound layouts that name the same places many times would make work, and tasks for others, without end.
    undealt: u64,
    counts: Counts,
}

impl Tracer {
    /// A cycle in which nothing is marked yet. The geometry is possible, and has this server. Takes a bit for each 8 bytes of its parts.
    #[must_use]
    pub fn new(me: usize, geometry: Geometry) -> Tracer {
        let bytes = geometry.bytes_of(me);
        Tracer {
            me,
            geometry,
            layouts: Vec::new(),
            block_bytes: 0,
            index: HashMap::new(),
            lately: vec![(0, 0); LATELY],
            marks: vec![0; (bytes / 512) as usize],
            running: None,
            work: Vec::new(),
            outbox: vec![Vec::new(); geometry.servers.into()],
            recent: vec![0; RECENT],
            parked: HashMap::new(),
            discovered: Vec::new(),
            unsent: bytes / 4,
            undealt: geometry.bytes / 4,
            counts: Counts::default(),
        }
    }

    /// What [`Tracer::bytes`] says of one that has just begun: to be known before its memory is taken.
    #[must_use]
    pub fn least_bytes(me: usize, geometry: &Geometry) -> u64 {
        geometry.bytes_of(me) / 512 * size_of::<u64>() as u64
    }

    /// What is old, from a word on: a bit for each 8 bytes of this server's parts, where the class word of such an object is. Whoever says so
    /// traces the heap of a program that runs: a reference to anything else is not followed, for nobody knows what is there. Roots are old, too.
    ///
    /// # Errors
    /// If there are fewer words.
    pub fn old(&mut self, first: u64, words: &[u64]) -> Result<(), Damaged> {
        let (length, heap) = (self.marks.len(), self.geometry.bytes);
        let running = self.running.get_or_insert_with(|| Running { old: vec![0; length], extents: Extents::new(heap) });
        let end = usize::try_from(first).ok().and_then(|first| first.checked_add(words.len())).filter(|&end| end <= length);
        let end = end.ok_or(Damaged::Old(first, words.len()))?;
        for (old, word) in running.old[end - words.len()..end].iter_mut().zip(words) {
            *old |= word;
        }
        Ok(())
    }

    /// How many bytes more [`Tracer::bytes`] says after the first [`Tracer::old`]: to be known before.
    #[must_use]
    pub fn running_bytes(&self) -> u64 {
        if self.running.is_some() { 0 } else { self.marks.len() as u64 * 8 + Extents::bytes_for(self.geometry.bytes) }
    }

    /// Learns layouts that have been checked. What waited for them can go on. The first layout of a class stays.
    pub fn learn(&mut self, layouts: impl IntoIterator<Item = Layout>) {
        for layout in layouts {
            self.work.extend(self.parked.remove(&layout.klass).unwrap_or_default());
            let next = self.layouts.len() as u32;
            if *self.index.entry(layout.klass).or_insert(next) == next {
                self.block_bytes += size_of_val(&layout.blocks[..]);
                self.layouts.push(layout);
            }
        }
    }

    /// Classes whose layouts are needed to go on.
    #[must_use]
    pub fn missing(&self) -> BTreeSet<u32> {
        self.parked.keys().copied().collect()
    }

    /// A root of the client. Not counted: the client asks no server before all have their roots.
    ///
    /// # Errors
    /// If it is no object of this server.
    pub fn root(&mut self, object: u64) -> Result<(), Damaged> {
        check(&self.geometry, self.me, Task::Object(object))?;
        if let Some(running) = &mut self.running {
            let bit = self.geometry.place_of(object + CLASS_OFFSET) / 8;
            running.old[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        self.reach(object);
        Ok(())
    }

    /// What another server has sent.
    ///
    /// # Errors
    /// If one of them is not for this server: none is taken then. If there are more than there can be.
    pub fn receive(&mut self, tasks: &[Task]) -> Result<(), Damaged> {
        tasks.iter().try_for_each(|&task| check(&self.geometry, self.me, task))?;
        self.counts.received += tasks.len() as u64;
        for &task in tasks {
            let slots = match task {
                Task::Object(object) => {
                    self.reach(object);
                    continue;
                }
                Task::Slots(_, count) => count,
                Task::Statics(..) => 1,
            };
            self.unsent = self.unsent.checked_sub(slots.into()).ok_or(Damaged::Repeated(task))?;
            self.work.push(task);
        }
        Ok(())
    }

    /// Does some of what there is to do: until so many objects and references were looked at or left to others, and some more.
    /// False if nothing is left.
    ///
    /// # Errors
    /// [`Damaged`].
    pub fn step(&mut self, memory: &impl Memory, most: u64) -> Result<bool, Damaged> {
        let (followed, undealt) = (self.counts.followed, self.undealt);
        for object in 0_u64.. {
            if object + (self.counts.followed - followed) + (undealt - self.undealt) >= most {
                break;
            }
            match self.work.pop() {
                None => break,
                Some(Task::Object(object)) => self.scan(memory, object)?,
                Some(Task::Slots(address, count)) => self.follow(memory, address, count)?,
                Some(Task::Statics(object, klass)) => self.statics(memory, object, klass)?,
            }
        }
        Ok(!self.work.is_empty())
    }

    /// How much is to be sent to a server.
    #[must_use]
    pub fn waiting_for(&self, server: usize) -> usize {
        self.outbox[server].len()
    }

    /// What is to be sent to a server: it counts as sent from now on.
    pub fn take(&mut self, server: usize) -> Vec<Task> {
        let tasks = std::mem::take(&mut self.outbox[server]);
        self.counts.sent += tasks.len() as u64;
        tasks
    }

    /// The answer to a poll.
    #[must_use]
    pub fn status(&self) -> Status {
        let idle = self.work.is_empty() && self.parked.is_empty() && self.outbox.iter().all(Vec::is_empty);
        Status { idle, sent: self.counts.sent, received: self.counts.received }
    }

    /// Whether [`Tracer::step`] would do something.
    #[must_use]
    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// What it has done.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Bytes of memory that it has, as far as they grow with the heap and with what is sent to it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let tasks = |all: &Vec<Task>| all.capacity() * size_of::<Task>();
        let waiting = tasks(&self.work) + self.outbox.iter().chain(self.parked.values()).map(tasks).sum::<usize>();
        let layouts = self.block_bytes + self.layouts.capacity() * size_of::<Layout>() + self.index.capacity() * size_of::<(u32, u32)>();
        let words = (self.marks.capacity() + self.discovered.capacity()) * size_of::<u64>();
        let running = self.running.as_ref().map_or(0, |running| 8 * running.old.len() as u64 + running.extents.bytes());
        (waiting + layouts + words) as u64 + running
    }

    /// A bit for each 8 bytes of this server's parts, in their order: there lies the class word of an object that was reached.
    #[must_use]
    pub fn marks(&self) -> &[u64] {
        &self.marks
    }

    /// References that were reached, and whose referents were not followed. In the heap of a program that runs mirrors, too, of which it cannot be
    /// read here how long they are.
    #[must_use]
    pub fn discovered(&self) -> &[u64] {
        &self.discovered
    }

    /// Where what was reached lies, but for what is listed; of the heap of a program that runs.
    #[must_use]
    pub fn extents(&self) -> Option<&Extents> {
        self.running.as_ref().map(|running| &running.extents)
    }

    /// Gives its memory back: only the counts stay. It is not asked for anything else any more.
    pub fn forget(&mut self) {
        let nothing = Geometry { bytes: 0, ..self.geometry };
        *self = Tracer { counts: self.counts, ..Tracer::new(self.me, nothing) };
    }

    /// A reference to an object of this server was found. The first time, it is to be scanned, if it is old.
    fn reach(&mut self, object: u64) {
        let bit = self.geometry.place_of(object + CLASS_OFFSET) / 8;
        let (index, bit) = ((bit / 64) as usize, 1 << (bit % 64));
        let is_old = self.running.as_ref().is_none_or(|running| running.old[index] & bit != 0);
        let word = &mut self.marks[index];
        if *word & bit == 0 && is_old {
            *word |= bit;
            self.counts.marked += 1;
            self.work.push(Task::Object(object));
        }
    }

    /// Where the layout of a class is.
    fn layout(&mut self, klass: u32) -> Option<usize> {
        let slot = &mut self.lately[(klass.wrapping_mul(0x9E37_79B1) >> 22) as usize % LATELY];
        if slot.0 != klass || klass == 0 {
            *slot = (klass, *self.index.get(&klass)?);
        }
        Some(slot.1 as usize)
    }

    fn send(&mut self, server: usize, task: Task) {
        if server == self.me { self.work.push(task) } else { self.outbox[server].push(task) }
    }

    /// Leaves a task until the layout of its class is there. Of class 0 there never is one.
    fn park(&mut self, object: u64, klass: u32, task: Task) -> Result<(), Damaged> {
        if klass == 0 {
            return Err(Damaged::Class(object));
        }
        if self.parked.len() >= LAYOUTS && !self.parked.contains_key(&klass) {
            return Err(Damaged::Classes);
        }
        self.parked.entry(klass).or_default().push(task);
        Ok(())
    }

    fn scan(&mut self, memory: &impl Memory, object: u64) -> Result<(), Damaged> {
        let klass = memory.word(object + CLASS_OFFSET);
        let Some(index) = self.layout(klass) else { return self.park(object, klass, Task::Object(object)) };
        let layout = &self.layouts[index];
        let (kind, bytes, blocks) = (layout.kind, layout.bytes, layout.blocks.len());
        if !self.geometry.contains(object, bytes.into()) {
            return Err(Damaged::Size(object));
        }
        self.note(memory, object, kind, bytes)?;
        for block in 0..blocks {
            let block = self.layouts[index].blocks[block];
            self.slots(memory, object, object + u64::from(block.offset), block.count)?;
        }
        match kind {
            Kind::ObjArray { base } => {
                let length = memory.word(object + LENGTH_OFFSET);
                self.slots(memory, object, object + u64::from(base), length)?;
            }
            Kind::Reference { .. } => self.discovered.push(object),
            Kind::Mirror { count, .. } => {
                if self.running.is_some() && !self.knows_words(object, kind) {
                    self.discovered.push(object);
                }
                self.send(self.geometry.server_of(object + u64::from(count)), Task::Statics(object, klass));
            }
            Kind::Instance | Kind::TypeArray { .. } => {}
        }
        Ok(())
    }

    /// Whether it can be read here how long a mirror is.
    fn knows_words(&self, object: u64, kind: Kind) -> bool {
        let Kind::Mirror { words, .. } = kind else { return false };
        let at = object + u64::from(words);
        words != 0 && self.geometry.contains(at, 4) && self.geometry.server_of(at) == self.me
    }

    /// Where an object lies that is scanned for the first time.
    fn note(&mut self, memory: &impl Memory, object: u64, kind: Kind, bytes: u32) -> Result<(), Damaged> {
        let knows_words = self.knows_words(object, kind);
        let Some(running) = &mut self.running else { return Ok(()) };
        let length = |shift: u32| u64::from(memory.word(object + LENGTH_OFFSET)) << shift;
        let size = match kind {
            // What is listed somebody else looks at, and counts: it may have a length of its own.
            Kind::Reference { .. } => return Ok(()),
            Kind::Mirror { .. } if !knows_words => return Ok(()),
            Kind::Mirror { words, .. } => 8 * u64::from(memory.word(object + u64::from(words))),
            Kind::Instance => u64::from(bytes),
            Kind::ObjArray { base } => (u64::from(base) + length(2)).next_multiple_of(8),
            Kind::TypeArray { shift } => (u64::from(bytes) + length(shift)).next_multiple_of(8),
        };
        if size < 8 || !self.geometry.contains(object, size) {
            return Err(Damaged::Size(object));
        }
        running.extents.note(object - self.geometry.base, size).map_err(|_| Damaged::Size(object))
    }

    fn statics(&mut self, memory: &impl Memory, object: u64, klass: u32) -> Result<(), Damaged> {
        let Some(index) = self.layout(klass) else { return self.park(object, klass, Task::Statics(object, klass)) };
        let wrong = Damaged::Task(Task::Statics(object, klass));
        let Kind::Mirror { count, statics, .. } = self.layouts[index].kind else { return Err(wrong) };
        let (at, first) = (object + u64::from(count), object + u64::from(statics));
        if !self.geometry.contains(at, 4) || self.geometry.server_of(at) != self.me {
            return Err(wrong);
        }
        self.slots(memory, object, first, memory.word(at))
    }

    /// Deals references of an object out to those who have them.
    fn slots(&mut self, memory: &impl Memory, object: u64, mut address: u64, mut count: u32) -> Result<(), Damaged> {
        if !self.geometry.contains(address, u64::from(count) * 4) {
            return Err(Damaged::Size(object));
        }
        self.undealt = self.undealt.checked_sub(count.into()).ok_or(Damaged::Size(object))?;
        while count > 0 {
            let here = u64::from(count).min(self.geometry.rest_of_part(address) / 4) as u32;
            let server = self.geometry.server_of(address);
            if server == self.me {
                self.follow(memory, address, here)?;
            } else {
                self.outbox[server].push(Task::Slots(address, here));
            }
            address += u64::from(here) * 4;
            count -= here;
        }
        Ok(())
    }

    fn follow(&mut self, memory: &impl Memory, address: u64, count: u32) -> Result<(), Damaged> {
        let now = count.min(RUN);
        if count > now {
            self.work.push(Task::Slots(address + u64::from(now) * 4, count - now));
        }
        self.counts.followed += u64::from(now);
        for slot in (address..).step_by(4).take(now as usize) {
            let narrow = memory.word(slot);
            let Some(object) = self.geometry.decode(narrow).map_err(|_| Damaged::Reference(slot, narrow))? else { continue };
            let owner = self.geometry.owner_of(object);
            if owner == self.me {
                self.reach(object);
            } else if std::mem::replace(&mut self.recent[(object / 8) as usize % RECENT], object) != object {
                self.outbox[owner].push(Task::Object(object));
            }
        }
        Ok(())
    }
}

/// Whether a task is one for a server.
///
/// # Errors
/// [`Damaged::Task`] if it is not.
pub fn check(geometry: &Geometry, me: usize, task: Task) -> Result<(), Damaged> {
    let right = match task {
        Task::Object(object) => geometry.is_object(object) && geometry.owner_of(object) == me,
        Task::Slots(address, count) => {
            let bytes = u64::from(count) * 4;
            address.is_multiple_of(4)
                && geometry.contains(address, bytes)
                && count > 0
                && geometry.server_of(address) == me
                && bytes <= geometry.rest_of_part(address)
        }
        // Where their number is depends on the layout, which may not be known yet.
        Task::Statics(object, _) => geometry.is_object(object),
    };
    if right { Ok(()) } else { Err(Damaged::Task(task)) }
}
