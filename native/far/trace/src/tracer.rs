// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The tracer of one server: marks and scans the objects whose class word it has, and sends what it cannot look at to the servers that
//! can.
//!
//! An object may lie across the end of a part, and a large array across many: what is sent is therefore not only "mark this object"
//! but also "scan so many references from this address on". Whoever has the class word marks; each server reads its own memory only.

use std::collections::{BTreeSet, HashMap};

use crate::geometry::{CLASS_OFFSET, Geometry, LENGTH_OFFSET};
use crate::layout::{Kind, Layout};
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

/// What cannot be: the heap or a layout is not what the client said. The cycle is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// At this address there is a reference to no object.
    Reference(u64, u32),
    /// A task that is not for this server, or names no object.
    Task(Task),
    /// An object that is longer than the heap.
    Size(u64),
}

/// Objects sent lately, so that a popular one is not sent for each reference to it.
const RECENT: usize = 4096;

/// One server's part of a cycle.
#[derive(Debug)]
pub struct Tracer<M> {
    me: usize,
    geometry: Geometry,
    memory: M,
    layouts: HashMap<u32, Layout>,
    /// A bit for each 8 bytes of the heap; those of other servers stay clear.
    marks: Vec<u64>,
    work: Vec<Task>,
    outbox: Vec<Vec<Task>>,
    recent: Vec<u64>,
    /// By class whose layout is not known yet: objects that are marked and not scanned, and static fields.
    parked: HashMap<u32, Vec<Task>>,
    discovered: Vec<u64>,
    sent: u64,
    received: u64,
}

impl<M: Memory> Tracer<M> {
    /// A cycle in which nothing is marked yet. The geometry is possible.
    pub fn new(me: usize, geometry: Geometry, memory: M) -> Tracer<M> {
        let words = (geometry.bytes / 8).div_ceil(64) as usize;
        Tracer {
            me,
            geometry,
            memory,
            layouts: HashMap::new(),
            marks: vec![0; words],
            work: Vec::new(),
            outbox: vec![Vec::new(); geometry.servers.into()],
            recent: vec![0; RECENT],
            parked: HashMap::new(),
            discovered: Vec::new(),
            sent: 0,
            received: 0,
        }
    }

    /// Learns layouts that have been checked, and takes up what waited for them.
    ///
    /// # Errors
    /// [`Damaged`].
    pub fn learn(&mut self, layouts: impl IntoIterator<Item = Layout>) -> Result<(), Damaged> {
        for layout in layouts {
            let waiting = self.parked.remove(&layout.klass).unwrap_or_default();
            self.layouts.insert(layout.klass, layout);
            for task in waiting {
                match task {
                    Task::Object(object) => self.scan(object)?,
                    Task::Statics(object, klass) => self.statics(object, klass)?,
                    Task::Slots(address, count) => self.follow(address, count)?,
                }
            }
        }
        Ok(())
    }

    /// Classes whose layouts are needed to go on.
    pub fn missing(&self) -> BTreeSet<u32> {
        self.parked.keys().copied().collect()
    }

    /// A root of the client. Not counted: the client asks no server before all have their roots.
    ///
    /// # Errors
    /// If it is no object of this server.
    pub fn root(&mut self, object: u64) -> Result<(), Damaged> {
        self.check(Task::Object(object))?;
        self.work.push(Task::Object(object));
        Ok(())
    }

    /// What another server has sent.
    ///
    /// # Errors
    /// If one of them is not for this server. None is taken then.
    pub fn receive(&mut self, tasks: &[Task]) -> Result<(), Damaged> {
        tasks.iter().try_for_each(|&task| self.check(task))?;
        self.received += tasks.len() as u64;
        self.work.extend_from_slice(tasks);
        Ok(())
    }

    /// Does some of what there is to do: so many tasks at most. Returns how many it did.
    ///
    /// # Errors
    /// [`Damaged`].
    pub fn step(&mut self, most: usize) -> Result<usize, Damaged> {
        for done in 0..most {
            match self.work.pop() {
                None => return Ok(done),
                Some(Task::Object(object)) => {
                    if self.mark(object) {
                        self.scan(object)?;
                    }
                }
                Some(Task::Slots(address, count)) => self.follow(address, count)?,
                Some(Task::Statics(object, klass)) => self.statics(object, klass)?,
            }
        }
        Ok(most)
    }

    /// What is to be sent to a server: it counts as sent from now on.
    pub fn take(&mut self, server: usize) -> Vec<Task> {
        let tasks = std::mem::take(&mut self.outbox[server]);
        self.sent += tasks.len() as u64;
        tasks
    }

    /// The answer to a poll.
    pub fn status(&self) -> Status {
        let idle = self.work.is_empty() && self.parked.is_empty() && self.outbox.iter().all(Vec::is_empty);
        Status { idle, sent: self.sent, received: self.received }
    }

    /// A bit for each 8 bytes of the heap, from its base on: this server's objects that were reached.
    pub fn marks(&self) -> &[u64] {
        &self.marks
    }

    /// Reference objects that were reached, whose referents were not followed.
    pub fn discovered(&self) -> &[u64] {
        &self.discovered
    }

    fn check(&self, task: Task) -> Result<(), Damaged> {
        let geometry = &self.geometry;
        let right = match task {
            Task::Object(object) => geometry.is_object(object) && geometry.owner_of(object) == self.me,
            Task::Slots(address, count) => {
                let bytes = u64::from(count) * 4;
                address.is_multiple_of(4)
                    && geometry.contains(address, bytes)
                    && count > 0
                    && geometry.server_of(address) == self.me
                    && bytes <= geometry.rest_of_part(address)
            }
            // Where their number is depends on the layout, which may not be known yet.
            Task::Statics(object, _) => geometry.is_object(object),
        };
        if right { Ok(()) } else { Err(Damaged::Task(task)) }
    }

    fn send(&mut self, server: usize, task: Task) {
        if server == self.me { self.work.push(task) } else { self.outbox[server].push(task) }
    }

    /// True if it was not marked.
    fn mark(&mut self, object: u64) -> bool {
        let bit = (object - self.geometry.base) / 8;
        let (word, bit) = (&mut self.marks[(bit / 64) as usize], 1 << (bit % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn scan(&mut self, object: u64) -> Result<(), Damaged> {
        let klass = self.memory.word(object + CLASS_OFFSET);
        let Some(layout) = self.layouts.get(&klass) else {
            self.parked.entry(klass).or_default().push(Task::Object(object));
            return Ok(());
        };
        let (kind, bytes) = (layout.kind, layout.bytes.into());
        if !self.geometry.contains(object, bytes) {
            return Err(Damaged::Size(object));
        }
        if let Kind::ObjArray { base } = kind {
            let length = self.memory.word(object + LENGTH_OFFSET);
            return self.slots(object, object + u64::from(base), length);
        }
        for index in 0..layout.blocks.len() {
            let block = self.layouts[&klass].blocks[index];
            self.slots(object, object + u64::from(block.offset), block.count)?;
        }
        match kind {
            Kind::Reference { .. } => self.discovered.push(object),
            Kind::Mirror { count, .. } => self.send(self.geometry.server_of(object + u64::from(count)), Task::Statics(object, klass)),
            Kind::Instance | Kind::ObjArray { .. } | Kind::TypeArray => {}
        }
        Ok(())
    }

    fn statics(&mut self, object: u64, klass: u32) -> Result<(), Damaged> {
        let Some(layout) = self.layouts.get(&klass) else {
            self.parked.entry(klass).or_default().push(Task::Statics(object, klass));
            return Ok(());
        };
        let Kind::Mirror { count, statics } = &layout.kind else { return Err(Damaged::Task(Task::Statics(object, klass))) };
        let (at, first) = (object + u64::from(*count), object + u64::from(*statics));
        if !self.geometry.contains(at, 4) || self.geometry.server_of(at) != self.me {
            return Err(Damaged::Task(Task::Statics(object, klass)));
        }
        self.slots(object, first, self.memory.word(at))
    }

    /// Deals references of an object out to those who have them.
    fn slots(&mut self, object: u64, mut address: u64, mut count: u32) -> Result<(), Damaged> {
        if !self.geometry.contains(address, u64::from(count) * 4) {
            return Err(Damaged::Size(object));
        }
        while count > 0 {
            let here = u64::from(count).min(self.geometry.rest_of_part(address) / 4) as u32;
            let server = self.geometry.server_of(address);
            if server == self.me {
                self.follow(address, here)?;
            } else {
                self.send(server, Task::Slots(address, here));
            }
            address += u64::from(here) * 4;
            count -= here;
        }
        Ok(())
    }

    fn follow(&mut self, address: u64, count: u32) -> Result<(), Damaged> {
        for slot in (address..).step_by(4).take(count as usize) {
            let narrow = self.memory.word(slot);
            let Some(object) = self.geometry.decode(narrow).map_err(|_| Damaged::Reference(slot, narrow))? else { continue };
            let owner = self.geometry.owner_of(object);
            if owner == self.me {
                self.work.push(Task::Object(object));
            } else if std::mem::replace(&mut self.recent[(object / 8) as usize % RECENT], object) != object {
                self.outbox[owner].push(Task::Object(object));
            }
        }
        Ok(())
    }
}
