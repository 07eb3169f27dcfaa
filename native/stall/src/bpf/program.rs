// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The program on the tracepoint sched_switch: which thread leaves a processor, why, and which one gets it.
//!
//! Of a sleep, the time from the switch away to the switch back is known at once. It has two parts: the wait for I/O, and the wait for
//! a processor once the I/O is done, which is the fault of who uses the processors (a collector, perhaps) and not of the disk. The kernel
//! counts the second one, as `run_delay`, but only after this tracepoint. So a sleep is split when its thread leaves the processor the next
//! time: what run_delay has grown since is the wait for the processor.
//!
//! The instructions are made here, and not compiled from C or Rust, as compilers for this target are neither in stable Rust nor on every
//! machine that builds this.

use super::assembler::{Assembler, Helper, If, Label, Reg, Size};
use super::offsets::{Bit, Offsets};

/// What the program keeps of a thread: the value of the map `threads`, by the thread's id.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Slot {
    /// One of the classes below, or 0, and marks.
    pub class: u32,
    pub sleeps: u32,
    /// When it was switched away; once it is back, how long that was.
    pub stamp_ns: u64,
    /// As it was at the last switch away.
    pub run_delay_ns: u64,
    pub io_ns: u64,
    pub refault_ns: u64,
    pub blocked_ns: u64,
    pub async_ns: u64,
}

/// Sums over all threads, those that have ended too: the only value of the map `totals`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub sleeps: u64,
    pub run_delay_ns: u64,
    pub io_ns: u64,
    pub refault_ns: u64,
    pub blocked_ns: u64,
    pub async_ns: u64,
    /// Threads for which there was no slot: how often that was.
    pub without_slot: u64,
}

// Why a thread sleeps.
const IO: i32 = 1 << 0;
const REFAULT: i32 = 1 << 1; // with IO
const BLOCKED: i32 = 1 << 2;
const ASYNC: i32 = 1 << 3;
// Marks: it is back; it has ended, and its id may be another's next.
const BACK: i32 = 1 << 8;
const DEAD: i32 = 1 << 9;

// The kernel's states of threads (include/linux/sched.h), the same since long.
const TASK_INTERRUPTIBLE: i32 = 0x1;
const TASK_UNINTERRUPTIBLE: i32 = 0x2;
const TASK_DEAD: i32 = 0x80;
/// Uninterruptible, but idle: kernel threads.
const TASK_NOLOAD: i32 = 0x400;

// The tracepoint's arguments.
const PREEMPT: i16 = 0;
const PREV: i16 = 8;
const NEXT: i16 = 16;
const PREV_STATE: i16 = 24;

// The stack: the key, and behind it a new slot.
const KEY: i16 = -8;
const NEW_SLOT: i16 = KEY - size_of::<Slot>() as i16;

macro_rules! slot {
    ($field:ident) => {
        std::mem::offset_of!(Slot, $field) as i16
    };
}
macro_rules! total {
    ($field:ident) => {
        std::mem::offset_of!(Totals, $field) as i16
    };
}

// What the registers hold that calls preserve.
const CONTEXT: Reg = Reg::R6;
const SLOT: Reg = Reg::R7;
const TASK: Reg = Reg::R8;
const NOW: Reg = Reg::R9;

/// The program for one process.
pub fn program(offsets: &Offsets, tgid: u32, threads: i32, totals: i32) -> Vec<u64> {
    let mut a = Assembler::default();
    let next = a.label();
    let end = a.label();
    a.copy(CONTEXT, Reg::R1);
    switch_away(&mut a, offsets, tgid, threads, totals, next);
    a.put(next);
    switch_back(&mut a, offsets, tgid, threads, end);
    a.put(end);
    a.set(Reg::R0, 0);
    a.exit();
    a.finish()
}

/// TASK, and its slot or a null pointer in R0; goes to `other` if it is none of the process.
fn find_slot(a: &mut Assembler, offsets: &Offsets, tgid: u32, threads: i32, argument: i16, other: Label) {
    a.load(Size::U64, TASK, CONTEXT, argument);
    a.load(Size::U32, Reg::R1, TASK, offsets.tgid);
    a.jump_if(If::NotEqual, Reg::R1, tgid as i32, other);
    a.load(Size::U32, Reg::R1, TASK, offsets.pid);
    a.store(Size::U32, Reg::R10, KEY, Reg::R1);
    look_up(a, threads);
}

fn look_up(a: &mut Assembler, threads: i32) {
    a.load_map(Reg::R1, threads);
    a.copy(Reg::R2, Reg::R10);
    a.add(Reg::R2, KEY.into());
    a.call(Helper::MapLookupElem);
}

/// A thread of the process leaves its processor: its last sleep is counted, and this one begins.
fn switch_away(a: &mut Assembler, offsets: &Offsets, tgid: u32, threads: i32, totals: i32, next: Label) {
    let found = a.label();
    let begin = a.label();
    find_slot(a, offsets, tgid, threads, PREV, next);
    a.jump_if(If::NotEqual, Reg::R0, 0, found);
    new_slot(a, threads, totals, next);
    a.put(found);
    a.copy(SLOT, Reg::R0);
    a.call(Helper::KtimeGetNs);
    a.copy(NOW, Reg::R0);

    // R1: run_delay; R2: the class of the last sleep, or whatever it was.
    a.load(Size::U64, Reg::R1, TASK, offsets.run_delay);
    a.load(Size::U32, Reg::R2, SLOT, slot!(class));
    let complete = a.label();
    a.jump_if(If::AnyBit, Reg::R2, BACK, complete);
    a.jump(begin);
    a.put(complete);
    count(a, totals, begin);
    a.put(begin);
    a.store(Size::U64, SLOT, slot!(run_delay_ns), Reg::R1);
    a.store(Size::U64, SLOT, slot!(stamp_ns), NOW);
    classify(a, offsets);
    a.store(Size::U32, SLOT, slot!(class), Reg::R2);
}

/// The first time that this thread is seen: R0 is its slot.
fn new_slot(a: &mut Assembler, threads: i32, totals: i32, next: Label) {
    let made = a.label();
    for word in 0..(size_of::<Slot>() / 8) as i16 {
        a.store_value(Reg::R10, NEW_SLOT + 8 * word, 0);
    }
    a.load_map(Reg::R1, threads);
    a.copy(Reg::R2, Reg::R10);
    a.add(Reg::R2, KEY.into());
    a.copy(Reg::R3, Reg::R10);
    a.add(Reg::R3, NEW_SLOT.into());
    a.set(Reg::R4, 0);
    a.call(Helper::MapUpdateElem);
    look_up(a, threads);
    a.jump_if(If::NotEqual, Reg::R0, 0, made);
    a.load_map_value(Reg::R4, totals);
    a.set(Reg::R5, 1);
    a.atomic_add(Reg::R4, total!(without_slot), Reg::R5);
    a.jump(next);
    a.put(made);
}

/// Adds the sleep that is over to its kind. R1 and R2 stay as they are; goes on at `begin`.
fn count(a: &mut Assembler, totals: i32, begin: Label) {
    // R3: the wait for a processor; never more than the whole, though the two clocks may differ a little.
    let waited = a.label();
    a.copy(Reg::R3, Reg::R1);
    a.load(Size::U64, Reg::R4, SLOT, slot!(run_delay_ns));
    a.subtract_reg(Reg::R3, Reg::R4);
    a.load(Size::U64, Reg::R5, SLOT, slot!(stamp_ns));
    a.jump_if_reg(If::AtMost, Reg::R3, Reg::R5, waited);
    a.copy(Reg::R3, Reg::R5);
    a.put(waited);
    a.load_map_value(Reg::R4, totals);
    a.atomic_add(Reg::R4, total!(run_delay_ns), Reg::R3);
    // R5: the sleep without it.
    a.subtract_reg(Reg::R5, Reg::R3);

    let not_io = a.label();
    let is_io = a.label();
    a.jump_if(If::AnyBit, Reg::R2, IO, is_io);
    a.jump(not_io);
    a.put(is_io);
    add(a, slot!(io_ns), total!(io_ns));
    a.set(Reg::R3, 1);
    a.atomic_add(Reg::R4, total!(sleeps), Reg::R3);
    a.load(Size::U32, Reg::R3, SLOT, slot!(sleeps));
    a.add(Reg::R3, 1);
    a.store(Size::U32, SLOT, slot!(sleeps), Reg::R3);
    add_if(a, REFAULT, slot!(refault_ns), total!(refault_ns));
    a.jump(begin);
    a.put(not_io);
    add_if(a, BLOCKED, slot!(blocked_ns), total!(blocked_ns));
    add_if(a, ASYNC, slot!(async_ns), total!(async_ns));
}

/// R5 to a count of the slot, which only this thread's switches write, and to one of the totals.
fn add(a: &mut Assembler, slot: i16, total: i16) {
    a.load(Size::U64, Reg::R3, SLOT, slot);
    a.add_reg(Reg::R3, Reg::R5);
    a.store(Size::U64, SLOT, slot, Reg::R3);
    a.atomic_add(Reg::R4, total, Reg::R5);
}

fn add_if(a: &mut Assembler, class: i32, slot: i16, total: i16) {
    let yes = a.label();
    let no = a.label();
    a.jump_if(If::AnyBit, Reg::R2, class, yes);
    a.jump(no);
    a.put(yes);
    add(a, slot, total);
    a.put(no);
}

/// R2: why the thread leaves its processor.
fn classify(a: &mut Assembler, offsets: &Offsets) {
    let done = a.label();
    let dead = a.label();
    let uninterruptible = a.label();
    let interruptible = a.label();
    let blocked = a.label();
    a.set(Reg::R2, 0);
    // One that is preempted stays ready, whatever state it was about to sleep in.
    a.load(Size::U64, Reg::R3, CONTEXT, PREEMPT);
    a.jump_if(If::NotEqual, Reg::R3, 0, done);
    a.load(Size::U64, Reg::R3, CONTEXT, PREV_STATE);
    a.jump_if(If::AnyBit, Reg::R3, TASK_DEAD, dead);
    a.jump_if(If::AnyBit, Reg::R3, TASK_NOLOAD, done);
    a.jump_if(If::AnyBit, Reg::R3, TASK_UNINTERRUPTIBLE, uninterruptible);
    a.jump_if(If::AnyBit, Reg::R3, TASK_INTERRUPTIBLE, interruptible);
    a.jump(done);

    a.put(uninterruptible);
    unless(a, offsets.in_iowait, blocked);
    a.set(Reg::R2, IO);
    if let Some(in_memstall) = offsets.in_memstall {
        unless(a, in_memstall, done);
        a.or(Reg::R2, REFAULT);
    }
    a.jump(done);

    a.put(blocked);
    a.set(Reg::R2, BLOCKED);
    a.jump(done);

    a.put(interruptible);
    unless(a, offsets.in_iowait, done);
    a.set(Reg::R2, ASYNC);
    a.jump(done);

    a.put(dead);
    a.set(Reg::R2, DEAD);
    a.put(done);
}

/// Goes to the label unless the task's bit is set.
fn unless(a: &mut Assembler, bit: Bit, label: Label) {
    let set = a.label();
    a.load(Size::U8, Reg::R3, TASK, bit.byte);
    a.jump_if(If::AnyBit, Reg::R3, bit.mask, set);
    a.jump(label);
    a.put(set);
}

/// A thread of the process gets a processor: how long was it away?
fn switch_back(a: &mut Assembler, offsets: &Offsets, tgid: u32, threads: i32, end: Label) {
    find_slot(a, offsets, tgid, threads, NEXT, end);
    a.jump_if(If::Equal, Reg::R0, 0, end);
    a.copy(SLOT, Reg::R0);
    a.load(Size::U32, Reg::R2, SLOT, slot!(class));
    a.jump_if(If::AnyBit, Reg::R2, BACK | DEAD, end);
    a.or(Reg::R2, BACK);
    a.store(Size::U32, SLOT, slot!(class), Reg::R2);
    a.call(Helper::KtimeGetNs);
    a.load(Size::U64, Reg::R2, SLOT, slot!(stamp_ns));
    a.subtract_reg(Reg::R0, Reg::R2);
    a.store(Size::U64, SLOT, slot!(stamp_ns), Reg::R0);
}
