// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! When the JVM is stopped: one word that everybody can read and sleep on.
//!
//! Two sources say so. JVMTI's garbage collection events come on a thread of the VM inside the safepoint, where nothing may be
//! called but raw memory and async-signal-safe system calls. Safepoints that are no collections (thread dumps, class
//! redefinition) show in the VM's counters only, which the gate's thread polls.
//! The word also says that there is other work for the gate's thread, so that it has one word to sleep on; that is no pause.
//!
//! That the word is late, or wrong, costs time and never a request: who answers what is decided under each connection's lock
//! ([`crate::connection`]).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

use crate::kernel::{futex_wait, futex_wake_all, now_ns};
use crate::perf_memory::Counter;

/// How often a waiting thread sees for itself whether a safepoint is over that only the counters tell of: the gate's thread may get no
/// processor for long.
const SAFEPOINT_LOOK_NS: u64 = 500_000;

/// A collection stops the JVM. Written by the VM's thread, in JVMTI's callbacks.
pub const COLLECTION: u32 = 1;
/// Another safepoint stops it. Written by the gate's thread.
pub const SAFEPOINT: u32 = 2;
/// The VM has ended, or is about to; set once, for ever.
pub const ENDED: u32 = 4;
/// There is something to do for the gate's thread outside pauses, too. Written by any thread; a bit, so that it is not lost on a thread that is
/// about to sleep.
const CALLED: u32 = 8;

/// No thread waits longer than this for a pause's end, and then nobody for that pause's, unless the VM's counters prove that it goes on: should the
/// word ever stick, the service goes on, and the gate leaves its connections alone.
const LONGEST_WAIT_NS: u64 = 30_000_000_000;

const REMEMBERED: usize = 64;

/// One pause that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// `CLOCK_MONOTONIC`, nanoseconds.
    pub begin_ns: u64,
    /// The same.
    pub end_ns: u64,
}

/// What came of a wait for a pause's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// There was none: no pause, or one that somebody has given up before.
    None,
    /// The pause is over.
    Over,
    /// It goes on, as far as is known, and nobody waits for its end any more.
    GivenUp,
}

/// The word, and the collections of late.
pub struct PauseClock {
    word: AtomicU32,
    // Written by the VM's thread only: collections do not overlap.
    begin_ns: AtomicU64,
    count: AtomicU64,
    past: [(AtomicU64, AtomicU64); REMEMBERED],
    /// What `safepoint_time` was when the last of them began. Written before the bit.
    collection_time_seen: AtomicI64,
    /// Grows at the end of each safepoint.
    safepoint_time: OnceLock<Counter>,
    /// What it was when SAFEPOINT was set. Written by the gate's thread, before the bit.
    safepoint_time_seen: AtomicI64,
    /// How many threads sleep in `wait_while_paused`.
    waiting: AtomicU32,
    /// When the pause that is under way is expected to be over. Written by the gate's thread.
    expected_end_ns: AtomicU64,
    /// Pauses of both sorts that have begun.
    begun: AtomicU64,
    /// What that was when a thread has waited too long.
    given_up: AtomicU64,
}

impl Default for PauseClock {
    fn default() -> Self {
        Self::new()
    }
}

impl PauseClock {
    /// A clock of a JVM that runs.
    pub const fn new() -> Self {
        PauseClock {
            word: AtomicU32::new(0),
            begin_ns: AtomicU64::new(0),
            count: AtomicU64::new(0),
            past: [const { (AtomicU64::new(0), AtomicU64::new(0)) }; REMEMBERED],
            collection_time_seen: AtomicI64::new(0),
            safepoint_time: OnceLock::new(),
            safepoint_time_seen: AtomicI64::new(0),
            waiting: AtomicU32::new(0),
            expected_end_ns: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            given_up: AtomicU64::new(0),
        }
    }

    /// Says which counter (`sun.rt.safepointTime`) tells the end of safepoints that are no collections.
    pub fn watch_safepoints(&self, time: Counter) {
        let _ = self.safepoint_time.set(time);
    }

    /// `GarbageCollectionStart`: on the VM's thread, in the safepoint.
    pub fn collection_begins(&self) {
        self.begin_ns.store(now_ns(), Ordering::Relaxed);
        if let Some(time) = self.safepoint_time.get() {
            self.collection_time_seen.store(time.get(), Ordering::Relaxed);
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        // SeqCst against the store and load of `announce` in intercept/selector.rs: one of the two sides sees the other.
        self.word.fetch_or(COLLECTION, Ordering::SeqCst);
        futex_wake_all(&self.word);
    }

    /// `GarbageCollectionFinish`: on the VM's thread, in the safepoint.
    pub fn collection_ends(&self) {
        let n = self.count.load(Ordering::Relaxed);
        let (begin, end) = &self.past[n as usize % REMEMBERED];
        begin.store(self.begin_ns.load(Ordering::Relaxed), Ordering::Relaxed);
        end.store(now_ns(), Ordering::Relaxed);
        // Publishes the entry.
        self.count.store(n + 1, Ordering::Release);
        self.word.fetch_and(!COLLECTION, Ordering::SeqCst);
        futex_wake_all(&self.word);
    }

    /// Another safepoint was seen to begin, when `sun.rt.safepointTime` was `time`: by the gate's thread.
    pub fn safepoint_begins(&self, time: i64) {
        self.safepoint_time_seen.store(time, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.word.fetch_or(SAFEPOINT, Ordering::SeqCst);
    }

    /// It is over: by the gate's thread, or one that waits.
    pub fn safepoint_ends(&self) {
        self.word.fetch_and(!SAFEPOINT, Ordering::SeqCst);
        futex_wake_all(&self.word);
    }

    /// Whether no safepoint has ended since the pause of this word began; `None` if there is no counter that says so.
    fn goes_on(&self, state: u32) -> Option<bool> {
        let seen = if state & COLLECTION != 0 { &self.collection_time_seen } else { &self.safepoint_time_seen };
        self.safepoint_time.get().map(|time| time.get() == seen.load(Ordering::Relaxed))
    }

    /// `VMDeath`: no pause any more, nobody waits.
    pub fn vm_ends(&self) {
        self.word.store(ENDED, Ordering::SeqCst);
        futex_wake_all(&self.word);
    }

    /// The word as it is.
    pub fn state(&self) -> u32 {
        self.word.load(Ordering::SeqCst)
    }

    /// Whether the JVM is stopped, as far as is known.
    pub fn is_paused(&self) -> bool {
        self.state() & (COLLECTION | SAFEPOINT) != 0
    }

    /// When the collection that is under way began; nanoseconds.
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns.load(Ordering::Relaxed)
    }

    /// The pause that is under way is expected to be over then: by the gate's thread.
    pub fn expect_end(&self, ns: u64) {
        self.expected_end_ns.store(ns, Ordering::Relaxed);
    }

    /// For how many nanoseconds more the JVM is expected to be stopped; `None` if it is not.
    pub fn remaining_ns(&self) -> Option<u64> {
        self.is_paused().then(|| self.expected_end_ns.load(Ordering::Relaxed).saturating_sub(now_ns()))
    }

    /// Sleeps while the JVM is stopped. For threads of the application in native code: they would stop at the end of it anyway.
    pub fn wait_while_paused(&self) -> Wait {
        self.wait_at_most(LONGEST_WAIT_NS)
    }

    pub(crate) fn wait_at_most(&self, longest_ns: u64) -> Wait {
        if !self.is_paused() || self.is_given_up() {
            return Wait::None;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        // Which pause is waited for, and until when.
        let (mut pause, mut give_up) = (0, 0);
        let wait = loop {
            // Before the word, so that it is none that has begun later.
            let begun = self.begun.load(Ordering::Acquire);
            let state = self.state();
            if state & (COLLECTION | SAFEPOINT) == 0 {
                break Wait::Over;
            }
            let goes_on = self.goes_on(state);
            if state & COLLECTION == 0 && goes_on == Some(false) {
                self.safepoint_ends();
                continue;
            }
            if self.given_up.load(Ordering::Relaxed) == begun {
                break Wait::GivenUp;
            }
            let now = now_ns();
            if begun != pause {
                (pause, give_up) = (begun, now + longest_ns);
            }
            if now > give_up && goes_on != Some(true) {
                // A collection's end changes the word before the counter: it may have done so since we looked at the word.
                if self.state() != state || self.begun.load(Ordering::Relaxed) != begun {
                    continue;
                }
                // Whoever comes next would wait as long, and in vain.
                self.given_up.store(begun, Ordering::Relaxed);
                break Wait::GivenUp;
            }
            futex_wait(&self.word, state, if state & SAFEPOINT != 0 { SAFEPOINT_LOOK_NS } else { 100_000_000 });
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        wait
    }

    /// Whether a thread has waited too long for the end of the pause that is under way.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) == self.begun.load(Ordering::Relaxed)
    }

    /// How many threads wait for the end of the pause.
    pub fn waiting(&self) -> u32 {
        self.waiting.load(Ordering::SeqCst)
    }

    /// There is something to do for the gate's thread: it is not to sleep.
    pub fn call(&self) {
        self.word.fetch_or(CALLED, Ordering::SeqCst);
        futex_wake_all(&self.word);
    }

    /// The word as it is, for [`PauseClock::wait_while`], without what the gate's thread was called for: by that thread, before it looks what
    /// there is to do.
    pub fn answer_call(&self) -> u32 {
        self.word.fetch_and(!CALLED, Ordering::SeqCst) & !CALLED
    }

    /// Sleeps until the word is not `state` any more, for `timeout_ns` at most.
    pub fn wait_while(&self, state: u32, timeout_ns: u64) {
        futex_wait(&self.word, state, timeout_ns);
    }

    /// How many collections are over.
    pub fn collections(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Whether the JVM runs and no more than so many collections are over: what was read of the VM's counters before this call is then of no
    /// later one.
    pub fn has_only_run_since(&self, collections: u64) -> bool {
        // The VM mostly counts a collection after it has told us of it, so that we look in the other order. Some pauses (G1's Remark and Cleanup,
        // Shenandoah's) it counts before: the kind of such a one may not show then.
        fence(Ordering::Acquire);
        !self.is_paused() && self.collections() == collections
    }

    /// The collection with that number, from 0; `None` if it is not over, or too long ago.
    pub fn collection(&self, number: u64) -> Option<Pause> {
        let forgotten = |count: u64| number + REMEMBERED as u64 <= count;
        let count = self.collections();
        if number >= count || forgotten(count) {
            return None;
        }
        let (begin, end) = &self.past[number as usize % REMEMBERED];
        let pause = Pause { begin_ns: begin.load(Ordering::Acquire), end_ns: end.load(Ordering::Acquire) };
        // Not overwritten while it was read. Of the one that is written just now, the slot is given up one earlier.
        (!forgotten(self.collections())).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn collections_are_remembered_in_order() {
        let clock = PauseClock::new();
        for n in 0..200u64 {
            clock.collection_begins();
            assert!(clock.is_paused());
            assert_eq!(clock.collection(n), None);
            clock.collection_ends();
            assert!(!clock.is_paused());
            let pause = clock.collection(n).unwrap();
            assert!(pause.begin_ns <= pause.end_ns);
        }
        assert_eq!(clock.collection(200 - REMEMBERED as u64), None);
        assert!(clock.collection(201 - REMEMBERED as u64).is_some());
    }

    #[test]
    fn a_waiter_sees_the_end_of_a_safepoint_itself() {
        static TIME: AtomicI64 = AtomicI64::new(5);
        let clock = Arc::new(PauseClock::new());
        clock.watch_safepoints(Counter::of(&TIME));
        clock.safepoint_begins(5);
        let waiter = std::thread::spawn({
            let clock = Arc::clone(&clock);
            move || clock.wait_while_paused()
        });
        assert!(clock.is_paused());
        TIME.store(6, Ordering::Relaxed);
        waiter.join().unwrap();
        assert!(!clock.is_paused());
    }

    #[test]
    fn a_word_that_sticks_is_waited_for_once() {
        const LONG: u64 = 10_000_000_000;
        let clock = PauseClock::new();
        assert_eq!(clock.wait_at_most(LONG), Wait::None);
        let begin = now_ns();
        for safepoint in [false, true] {
            if safepoint {
                clock.safepoint_begins(0);
            } else {
                clock.collection_begins();
            }
            std::thread::scope(|scope| {
                let other = scope.spawn(|| clock.wait_at_most(LONG));
                while clock.waiting() == 0 {
                    std::thread::yield_now();
                }
                assert_eq!(clock.wait_at_most(1_000_000), Wait::GivenUp);
                assert_eq!(other.join().unwrap(), Wait::GivenUp);
            });
            assert_eq!(clock.wait_at_most(LONG), Wait::None);
            assert!(clock.is_paused());
        }
        assert!(now_ns() - begin < LONG, "somebody has waited");
        // The next pause is another one.
        clock.safepoint_ends();
        clock.collection_ends();
        clock.collection_begins();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| clock.wait_at_most(LONG));
            while clock.waiting() == 0 {
                std::thread::yield_now();
            }
            clock.collection_ends();
            assert_eq!(waiter.join().unwrap(), Wait::Over);
        });
    }

    /// A collection may take long on a machine that swaps.
    #[test]
    fn a_pause_that_the_counter_proves_is_waited_for() {
        static TIME: AtomicI64 = AtomicI64::new(7);
        let clock = PauseClock::new();
        clock.watch_safepoints(Counter::of(&TIME));
        let wait = |safepoint: bool, end: &dyn Fn()| {
            if safepoint {
                clock.safepoint_begins(TIME.load(Ordering::Relaxed));
            } else {
                clock.collection_begins();
            }
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| clock.wait_at_most(1_000_000));
                std::thread::sleep(std::time::Duration::from_millis(250));
                assert!(!waiter.is_finished() && !clock.is_given_up());
                end();
                waiter.join().unwrap()
            })
        };
        let safepoint_ends = || {
            TIME.fetch_add(1, Ordering::Relaxed);
        };
        assert_eq!(wait(false, &|| clock.collection_ends()), Wait::Over);
        safepoint_ends();
        assert_eq!(wait(true, &safepoint_ends), Wait::Over);
        // The word sticks.
        assert_eq!(wait(false, &safepoint_ends), Wait::GivenUp);
        assert!(clock.is_paused() && clock.is_given_up());
    }

    #[test]
    fn each_pause_is_waited_for_as_long() {
        const LONG: u64 = 1_000_000_000;
        let clock = PauseClock::new();
        clock.collection_begins();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| clock.wait_at_most(LONG));
            let begin = now_ns();
            while now_ns() - begin < LONG * 3 / 2 {
                // One follows the other, so that the word never says that there is none.
                clock.safepoint_begins(0);
                clock.collection_ends();
                std::thread::sleep(std::time::Duration::from_millis(20));
                clock.collection_begins();
                clock.safepoint_ends();
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            assert!(!waiter.is_finished() && !clock.is_given_up());
            clock.collection_ends();
            assert_eq!(waiter.join().unwrap(), Wait::Over);
        });
    }

    #[test]
    fn a_call_is_not_lost_and_is_no_pause() {
        const LONG: u64 = 10_000_000_000;
        let clock = PauseClock::new();
        let begin = now_ns();
        let state = clock.answer_call();
        clock.call();
        assert!(!clock.is_paused() && clock.wait_at_most(LONG) == Wait::None);
        clock.wait_while(state, LONG);
        assert_eq!(clock.answer_call(), state);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| clock.wait_while(state, LONG));
            std::thread::sleep(std::time::Duration::from_millis(20));
            clock.call();
            sleeper.join().unwrap();
        });
        assert!(now_ns() - begin < LONG, "it slept");
    }

    #[test]
    fn what_was_read_in_a_pause_is_of_it() {
        let clock = PauseClock::new();
        assert!(clock.has_only_run_since(0));
        clock.collection_begins();
        assert!(!clock.has_only_run_since(0));
        clock.collection_ends();
        assert!(!clock.has_only_run_since(0) && clock.has_only_run_since(1));
        clock.safepoint_begins(0);
        assert!(!clock.has_only_run_since(1));
    }

    #[test]
    fn waiters_leave_when_both_are_over() {
        let clock = Arc::new(PauseClock::new());
        clock.collection_begins();
        clock.safepoint_begins(0);
        let waiter = std::thread::spawn({
            let clock = Arc::clone(&clock);
            move || clock.wait_while_paused()
        });
        clock.collection_ends();
        assert!(clock.is_paused());
        clock.safepoint_ends();
        waiter.join().unwrap();
        clock.collection_begins();
        let waiter = std::thread::spawn({
            let clock = Arc::clone(&clock);
            move || clock.wait_while_paused()
        });
        clock.vm_ends();
        waiter.join().unwrap();
    }
}
