// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! All interleavings of faults, evictor and writes of the program on one page, by loom:
//!
//!     RUSTFLAGS="--cfg loom" cargo test --release -p lull-far --test interleavings
//!
//! The page's memory, its page table entry, the connection and the server are a model. All steps of faults and of the evictor, with states,
//! claims, queue and room, are the pager's own (`life.rs`).
#![cfg(loom)]

use std::sync::Arc;

use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use lull_far::kept::Kept;
use lull_far::life::{self, Fault, Leaving, Local, Oldest, World};
use lull_far::page::{Claim, Kind, Page};
use lull_far::queue::{Cell, Queue};
use lull_far::room::Room;
use lull_far::version::Version;

/// The page table entry and the memory of one page. What the kernel does to a page is one step each.
struct Memory {
    /// 0: not there; else 1 + content.
    local: AtomicU64,
    /// Bit 0: mapped. Bit 1: written to since it was mapped protected, or mapped without protection.
    entry: AtomicU64,
    /// Content on the server.
    server: AtomicU64,
}

/// The one fetch connection.
struct Connection {
    state: AtomicU64,
    /// 1 + the content that comes over it.
    answer: AtomicU64,
}

const READY: u64 = 0;
const TAKEN: u64 = 1;
const AHEAD: u64 = 2;

struct Model {
    local: Local<[Page; 1], Vec<Cell>>,
    memory: Memory,
    /// Of the page as it was sealed last.
    version: Version,
    connection: Connection,
    /// Dirty although it is protected: if writes are counted.
    kept: Kept<[AtomicU64; 1]>,
    /// Held by who protects or unmaps the page, if writes are counted.
    counting: Option<Mutex<()>>,
    /// 1: the page's owner says that what is in it is of no use.
    unused: AtomicU64,
    /// Held by who sends pages: the evictor, and who cleans.
    sending: Mutex<()>,
}

const MAPPED: u64 = 1;
const DIRTY: u64 = 2;

impl World for Model {
    type Pages = [Page; 1];
    type Cells = Vec<Cell>;

    fn local(&self) -> &Local<[Page; 1], Vec<Cell>> {
        &self.local
    }

    // Who waits looks again and again.
    fn wake(&self, _: u32, _: usize) {}
    fn wake_for_room(&self) {}
}

/// A fault of a thread of the model.
struct Faulting<'m> {
    model: &'m Model,
    write: bool,
}

impl<'m> Fault<'m> for Faulting<'m> {
    type World = Model;

    fn world(&self) -> &'m Model {
        self.model
    }

    fn protects(&self) -> bool {
        !self.write || self.model.counting.is_some()
    }

    fn keeps_dirty(&self, page: u32) -> bool {
        if self.model.counting.is_some() {
            self.model.kept.set(page);
        }
        self.model.counting.is_some()
    }

    fn map(&self, _: u32, protect: bool) {
        assert_ne!(self.model.memory.local.load(Ordering::SeqCst), 0, "mapped without memory");
        self.model.memory.entry.store(if protect { MAPPED } else { MAPPED | DIRTY }, Ordering::SeqCst);
    }

    fn map_again(&self, _: u32) {
        // Fails, as it should, if the entry is there.
        let _ = self.model.memory.entry.compare_exchange(0, MAPPED | DIRTY, Ordering::SeqCst, Ordering::SeqCst);
    }

    fn fill(&mut self, page: u32, claim: Claim<'m>) {
        let Model { memory, version, .. } = self.model;
        let last = version.last();
        assert_eq!(memory.local.load(Ordering::SeqCst), 0, "EEXIST");
        let content = if claim.was().has_copy() { memory.server.load(Ordering::SeqCst) } else { 0 };
        assert!(!claim.was().has_copy() || is_sealed(last, content), "what the server has is not what was sealed last");
        memory.local.store(1 + content, Ordering::SeqCst);
        memory.entry.store(if self.protects() { MAPPED } else { MAPPED | DIRTY }, Ordering::SeqCst);
        life::install(self.model, page, claim);
    }

    fn wait_while_busy(&mut self, _: u32) {
        thread::yield_now();
    }

    fn wait_for_room(&self) {
        thread::yield_now();
    }

    fn wants_more_room(&mut self, _: u32, _: bool) -> bool {
        false
    }

    fn wait_for_more_room(&self) {
        unreachable!("nobody wants it");
    }

    fn take_ahead(&mut self, _: u32) -> bool {
        let taken = self.model.take_ahead(true);
        if !taken {
            thread::yield_now();
        }
        taken
    }
}

impl Model {
    /// A page that is mapped and clean, with content 0 on the server too, and room for no other.
    fn new() -> Arc<Model> {
        let model = Model {
            local: Local {
                pages: [Page::default()],
                mapped: Queue::new(vec![Cell::default(), Cell::default()]),
                room: Room::new(1),
                ahead: Room::new(1),
            },
            memory: Memory { local: AtomicU64::new(0), entry: AtomicU64::new(0), server: AtomicU64::new(0) },
            version: Version::default(),
            connection: Connection { state: AtomicU64::new(READY), answer: AtomicU64::new(0) },
            kept: Kept::new([AtomicU64::new(0)]),
            counting: None,
            unused: AtomicU64::new(0),
            sending: Mutex::new(()),
        };
        Arc::new(model)
    }

    fn kind(&self) -> Kind {
        self.local.page(0).seen().kind()
    }

    /// The same, and writes to it are counted.
    fn counted() -> Arc<Model> {
        let mut model = Model::new();
        Arc::get_mut(&mut model).unwrap().counting = Some(Mutex::new(()));
        model
    }

    /// As `dirty.rs` each 10 ms: what was written to is write-protected, and kept as dirty.
    fn protect_written(&self) {
        let _held = self.counting.as_ref().unwrap().lock().unwrap();
        loop {
            let entry = self.memory.entry.load(Ordering::SeqCst);
            if entry & MAPPED == 0 || entry & DIRTY == 0 {
                return;
            }
            // Waits for an access that is under way, as the flush of translations does.
            let free = entry & ACCESS == 0;
            if free && self.memory.entry.compare_exchange(entry, MAPPED, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                self.kept.set(0);
                return;
            }
            thread::yield_now();
        }
    }

    /// What the kernel does if it is asked to protect what was written to: false if it was not, or is not there.
    fn take_written(&self) -> bool {
        loop {
            let entry = self.memory.entry.load(Ordering::SeqCst);
            if entry & MAPPED == 0 || entry & DIRTY == 0 {
                return false;
            }
            let free = entry & ACCESS == 0;
            if free && self.memory.entry.compare_exchange(entry, MAPPED, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                return true;
            }
            thread::yield_now();
        }
    }

    /// As `send::Sender`.
    fn send(&self) {
        let content = self.memory.local.load(Ordering::SeqCst);
        assert_ne!(content, 0, "a page without memory is written");
        self.version.set_tag(tag(self.version.next(), content - 1));
        self.memory.server.store(content - 1, Ordering::SeqCst);
    }

    /// As `clean::Cleaner`: until servers hold what the page was at some moment since it began. Returns what that was, if it was sent.
    fn clean(&self) -> Option<u64> {
        loop {
            let _sending = self.sending.lock().unwrap();
            let page = self.local.page(0);
            let seen = page.seen();
            match seen.kind() {
                Kind::Mapped => {
                    let protected = self.take_written();
                    // Not there: by the kernel's doing, or it is being mapped again.
                    if !protected && self.memory.entry.load(Ordering::SeqCst) & MAPPED != 0 {
                        return None;
                    }
                    self.send();
                    while protected && !life::cleaned(self, 0, Kind::Mapped) {
                        thread::yield_now();
                    }
                    return Some(self.memory.server.load(Ordering::SeqCst));
                }
                Kind::Dirty if page.begin_writing(seen) => {
                    self.send();
                    life::cleaned(self, 0, Kind::Writing);
                    return Some(self.memory.server.load(Ordering::SeqCst));
                }
                Kind::Dirty | Kind::Busy => {}
                _ => return None,
            }
            drop(_sending);
            thread::yield_now();
        }
    }

    /// The evictor's two steps, each while nobody else sends.
    fn evict(&self) {
        let unmapped = {
            let _sending = self.sending.lock().unwrap();
            self.unmap()
        };
        if unmapped {
            let _sending = self.sending.lock().unwrap();
            self.reclaim();
        }
    }

    /// Returns after the page was mapped once, by somebody.
    fn fault(&self, write: bool) {
        assert!(life::serve(&mut Faulting { model: self, write }, 0), "its range is never gone");
    }

    fn take_connection(&self, from: u64) -> bool {
        self.connection.state.compare_exchange(from, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As `fault::ask_ahead`: what the server sends is what it has at this moment, the earliest that there is.
    fn ask_ahead(&self) {
        if !self.take_connection(READY) {
            return;
        }
        let mut state = READY;
        if life::make_coming(self, 0, 1) > 0 {
            self.connection.answer.store(1 + self.memory.server.load(Ordering::SeqCst), Ordering::Relaxed);
            state = AHEAD;
        }
        self.connection.state.store(state, Ordering::Release);
    }

    /// As `fault::take_ahead`, of a thread that needs the page, or only the connection; or, if it is not to be mapped, as
    /// `fault::give_up_ahead`, or after an answer that was wrong.
    fn take_ahead(&self, mapped: bool) -> bool {
        if !self.take_connection(AHEAD) {
            return false;
        }
        if mapped {
            let (last, answer) = (self.version.last(), self.connection.answer.load(Ordering::Relaxed));
            assert!(is_sealed(last, answer - 1), "what comes is not what was sealed last");
            assert_eq!(self.memory.local.load(Ordering::SeqCst), 0, "EEXIST");
            self.memory.local.store(answer, Ordering::SeqCst);
            self.memory.entry.store(MAPPED, Ordering::SeqCst);
        }
        assert_eq!(life::end_coming(self, 0, 1, mapped), Ok(()), "a page is not coming, and should be");
        self.connection.state.store(READY, Ordering::Release);
        true
    }

    /// A page that is Absent, with content 1 on the server.
    fn away() -> Arc<Model> {
        let model = Model::new();
        model.increment(true);
        assert!(model.unmap());
        model.reclaim();
        assert_eq!((model.kind(), model.local.room.free()), (Kind::Absent, 1));
        model
    }

    /// One access of the program, if the page is mapped at that instant; the processor and the kernel see to it that the access and the mark are
    /// one step.
    fn try_access(&self, access: impl FnOnce(&AtomicU64)) -> bool {
        loop {
            let entry = self.memory.entry.load(Ordering::SeqCst);
            if entry & MAPPED == 0 {
                return false;
            }
            // One access at a time: what waits for accesses to end waits for all of them.
            let free = entry & ACCESS == 0;
            if free && self.memory.entry.compare_exchange(entry, entry | DIRTY | ACCESS, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                break;
            }
            thread::yield_now();
        }
        access(&self.memory.local);
        self.memory.entry.fetch_and(!ACCESS, Ordering::SeqCst);
        true
    }

    /// Adds one.
    fn try_increment(&self) -> bool {
        self.try_access(|local| {
            local.fetch_add(1, Ordering::SeqCst);
        })
    }

    fn increment(&self, write_fault: bool) {
        while !self.try_increment() {
            self.fault(write_fault);
            thread::yield_now();
        }
    }

    /// One step of the evictor: unmaps the oldest.
    fn unmap(&self) -> bool {
        let Oldest::Claimed(page, claim) = life::take_oldest(self, |_| false) else { return false };
        assert_eq!(claim.was().kind(), Kind::Mapped, "in the queue and not mapped");
        let held = self.counting.as_ref().map(|lock| lock.lock().unwrap());
        // Waits for an access that is under way, as the flush of translations does.
        let entry = loop {
            let entry = self.memory.entry.load(Ordering::SeqCst);
            if entry & ACCESS == 0 && self.memory.entry.compare_exchange(entry, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                break entry;
            }
            thread::yield_now();
        };
        let kept = held.is_some() && self.kept.take(0);
        drop(held);
        if self.is_unused() {
            self.drop_unused(claim);
            return true;
        }
        // No marker: taken as written to.
        life::unmapped(self, page, claim, entry & DIRTY != 0 || entry == 0 || kept);
        true
    }

    /// The other: reclaims it.
    fn reclaim(&self) {
        let claim = match life::begin_to_leave(self, 0, |_| self.is_unused()) {
            Leaving::Clean(claim) => Some(claim),
            Leaving::Dirty => {
                let content = self.memory.local.load(Ordering::SeqCst);
                assert_ne!(content, 0, "a page without memory is written");
                let number = self.version.next();
                self.version.set_tag(tag(number, content - 1));
                self.memory.server.store(content - 1, Ordering::SeqCst);
                life::acknowledged(self, 0)
            }
            Leaving::Unused(claim) => {
                self.drop_unused(claim);
                None
            }
            Leaving::Not => None,
        };
        if let Some(claim) = claim {
            self.memory.local.store(0, Ordering::SeqCst);
            life::left(self, std::iter::once((0, claim)));
        }
    }

    fn is_unused(&self) -> bool {
        self.unused.load(Ordering::SeqCst) == 1
    }

    /// As `evict::drop_unused`.
    fn drop_unused(&self, claim: Claim<'_>) {
        self.memory.local.store(0, Ordering::SeqCst);
        life::dropped(self, std::iter::once((0, claim)));
    }

    /// The owner: has no use for the page, and then another one, for which it does not matter what is in it.
    fn use_anew(&self, value: u64) {
        self.unused.store(1, Ordering::SeqCst);
        self.unused.store(0, Ordering::SeqCst);
        life::forget(self, 0);
        self.assign(value);
    }

    /// One write of the program.
    fn assign(&self, value: u64) {
        while !self.try_access(|local| local.store(1 + value, Ordering::SeqCst)) {
            self.fault(true);
            thread::yield_now();
        }
    }

    /// What the program would read.
    fn value(&self) -> u64 {
        while self.memory.entry.load(Ordering::SeqCst) & MAPPED == 0 {
            self.fault(false);
        }
        self.memory.local.load(Ordering::SeqCst) - 1
    }
}

const ACCESS: u64 = 4;

/// Of a content that was sealed for the n-th time: another one for each of both.
fn tag(number: u64, content: u64) -> [u8; 16] {
    (u128::from(number) << 64 | u128::from(content)).to_le_bytes()
}

fn is_sealed(last: Option<(u64, [u8; 16])>, content: u64) -> bool {
    last.is_some_and(|(number, of_last)| of_last == tag(number, content))
}

/// All interleavings with so many switches of a thread that could go on.
fn explore(switches: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    // Three threads that wait for each other take more steps than the default allows.
    builder.max_branches = 50_000;
    builder.check(body);
}

#[test]
fn no_write_is_lost_between_a_writer_and_the_evictor() {
    for write_fault in [false, true] {
        explore(3, move || {
            let model = Model::new();
            let evictor = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    for _ in 0..2 {
                        if model.unmap() {
                            model.reclaim();
                        }
                    }
                })
            };
            model.increment(write_fault);
            model.increment(write_fault);
            evictor.join().unwrap();
            assert_eq!(model.value(), 2);
        });
    }
}

/// A page that was written to is used again before it leaves, and not written to any more.
#[test]
fn what_is_only_read_again_stays_dirty() {
    for counted in [false, true] {
        explore(3, move || {
            let model = if counted { Model::counted() } else { Model::new() };
            model.increment(true);
            let evictor = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    for _ in 0..2 {
                        if model.unmap() {
                            model.reclaim();
                        }
                    }
                })
            };
            model.fault(false);
            if counted {
                model.protect_written();
            }
            evictor.join().unwrap();
            assert_eq!(model.value(), 1);
        });
    }
}

#[test]
fn two_threads_that_fault_map_a_page_once() {
    explore(3, || {
        let model = Model::new();
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.increment(true))
        };
        model.increment(false);
        other.join().unwrap();
        assert_eq!(model.value(), 2);
        assert_eq!(model.local.room.free(), 0);
        // One entry in the queue, no second.
        assert!(model.unmap());
        assert!(!model.unmap());
    });
}

/// The kernel takes pages out of the page table, too, to swap them out, and leaves a mark if it was protected; what it leaves
/// else is not known. The model takes the worst: no mark.
#[test]
fn the_kernel_may_unmap_a_page_at_any_time() {
    explore(3, || {
        let model = Model::new();
        model.fault(false);
        let kernel = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                let entry = model.memory.entry.load(Ordering::SeqCst);
                if entry & (ACCESS | MAPPED) == MAPPED {
                    let _ = model.memory.entry.compare_exchange(entry, 0, Ordering::SeqCst, Ordering::SeqCst);
                }
            })
        };
        let evictor = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                if model.unmap() {
                    model.reclaim();
                }
            })
        };
        model.increment(false);
        kernel.join().unwrap();
        evictor.join().unwrap();
        assert_eq!(model.value(), 1);
    });
}

#[test]
fn two_threads_and_the_evictor() {
    // Two switches come to more than minutes.
    explore(1, || {
        let model = Model::new();
        let writer = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.increment(false))
        };
        let evictor = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                if model.unmap() {
                    model.reclaim();
                }
            })
        };
        model.increment(true);
        writer.join().unwrap();
        evictor.join().unwrap();
        assert_eq!(model.value(), 2);
    });
}

/// Who counts writes protects the page, and the evictor still knows that it is dirty.
#[test]
fn no_write_is_lost_while_writes_are_counted() {
    for write_fault in [false, true] {
        explore(2, move || {
            let model = Model::counted();
            let evictor = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    for _ in 0..2 {
                        if model.unmap() {
                            model.reclaim();
                        }
                    }
                })
            };
            let counter = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.protect_written())
            };
            model.increment(write_fault);
            model.increment(write_fault);
            evictor.join().unwrap();
            counter.join().unwrap();
            assert_eq!(model.value(), 2);
        });
    }
}

/// Who cleans leaves the page where it is, and the evictor takes it for clean then: what is written meanwhile is not lost, and what was written
/// before is on the server.
#[test]
fn no_write_is_lost_while_pages_are_cleaned() {
    for begins in [Kind::Mapped, Kind::Dirty] {
        explore(2, move || {
            let model = Model::new();
            model.increment(true);
            if begins == Kind::Dirty {
                assert!(model.unmap());
            }
            let evictor = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.evict())
            };
            let cleaner = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    let sent = model.clean();
                    // Not sent: the evictor was faster.
                    assert!(sent.is_none_or(|value| value >= 1), "what was written before it began is not there");
                    assert!(model.memory.server.load(Ordering::SeqCst) >= 1, "nobody has sent it");
                })
            };
            model.increment(true);
            evictor.join().unwrap();
            cleaner.join().unwrap();
            assert_eq!(model.value(), 2);
            // And it leaves as it should.
            model.evict();
            assert_eq!(model.value(), 2);
        });
    }
}

/// What is written after a page was of no use is there, whether the evictor has dropped the page, is about to, or has asked too early.
#[test]
fn what_is_written_into_a_page_that_was_of_no_use_stays() {
    for begins in [Kind::Absent, Kind::Mapped, Kind::Dirty] {
        explore(3, move || {
            let model = if begins == Kind::Absent { Model::away() } else { Model::new() };
            if begins != Kind::Absent {
                model.increment(true);
            }
            if begins == Kind::Dirty {
                assert!(model.unmap());
            }
            assert_eq!(model.kind(), begins);
            let evictor = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    for _ in 0..2 {
                        model.unmap();
                        model.reclaim();
                    }
                })
            };
            model.use_anew(7);
            evictor.join().unwrap();
            assert_eq!((model.value(), model.local.room.free()), (7, 0));
        });
    }
}

/// What has left and was forgotten is zeros, and no server is asked.
#[test]
fn what_was_forgotten_is_not_fetched() {
    explore(2, || {
        let model = Model::away();
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || life::forget(&*model, 0))
        };
        let here = life::forget(&*model, 0);
        assert!(here ^ other.join().unwrap(), "it is spared once");
        // A fetch of what is there now would be refused.
        model.memory.server.store(99, Ordering::SeqCst);
        assert_eq!(model.value(), 0);
    });
}

/// One thread asks for the page ahead, another needs it, and the evictor is faster or slower.
#[test]
fn what_comes_ahead_is_what_was_written() {
    explore(2, || {
        let model = Model::away();
        let writer = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.increment(true))
        };
        let evictor = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                if model.unmap() {
                    model.reclaim();
                }
            })
        };
        model.ask_ahead();
        writer.join().unwrap();
        evictor.join().unwrap();
        assert_eq!(model.value(), 2);
        assert_eq!(model.local.room.free(), 0);
    });
}

/// Two threads that need the page, and a third that needs the connection, or gives up what comes over it.
#[test]
fn what_comes_ahead_is_mapped_once_or_given_up() {
    // Two switches come to more than a minute.
    for mapped in [false, true] {
        explore(1, move || {
            let model = Model::away();
            model.ask_ahead();
            assert_eq!((model.kind(), model.local.room.free()), (Kind::Coming, 0));
            let third = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.take_ahead(mapped))
            };
            let other = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.increment(false))
            };
            model.increment(true);
            other.join().unwrap();
            third.join().unwrap();
            assert_eq!(model.value(), 3);
            assert_eq!((model.local.room.free(), model.connection.state.load(Ordering::SeqCst)), (0, READY));
            assert!(model.unmap());
            assert!(!model.unmap());
        });
    }
}

#[test]
fn the_queue_hands_each_page_over_once() {
    explore(3, || {
        let queue = Arc::new(Queue::new(vec![Cell::default(), Cell::default(), Cell::default(), Cell::default()]));
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                queue.put(1);
                queue.put(2);
            })
        };
        queue.put(3);
        let mut taken: Vec<u32> = std::iter::from_fn(|| queue.take()).collect();
        other.join().unwrap();
        taken.extend(std::iter::from_fn(|| queue.take()));
        let first = taken.iter().position(|&page| page == 1);
        let second = taken.iter().position(|&page| page == 2);
        assert!(first < second, "{taken:?}");
        taken.sort_unstable();
        assert_eq!(taken, [1, 2, 3]);
    });
}
