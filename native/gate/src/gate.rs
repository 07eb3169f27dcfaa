// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The gate's thread. It belongs to the process and not to the VM, which therefore never stops it.
//!
//! Outside pauses it sleeps, but for a look at the VM's counters now and then. In a pause its own epoll set says which connections
//! have bytes; each is looked at under its lock.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::agent;
use crate::answers::Answers;
use crate::connection::{Decision, Outcome};
use crate::flight::GatePause;
use crate::kernel::{self, now_ns};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::outlets::Outlets;
use crate::pause::{COLLECTION, ENDED, Pause, PauseClock, SAFEPOINT};
use crate::perf_memory::SafepointWatch;
use crate::predict::{Course, Model, Prediction};
use crate::protocol::{Described, Protocol};
use crate::socket::{SocketWire, Watched};
use crate::spoken::Spoken;
use crate::table::{Table, Tracked};
use crate::vm_counters::VmCounters;

/// Requests longer than this are left to the application.
const BUFFER: usize = 256 * 1024;
/// How often a pause's end and changed decisions are looked for, in a pause.
const TICK_NS: u64 = 1_000_000;
/// The same in a safepoint whose end only the counters tell.
const SAFEPOINT_TICK_NS: u64 = 100_000;
/// Before this, a collection's kind may not show in the counters.
const KIND_SHOWS_NS: u64 = 300_000;
/// What a safepoint still has to do after a collection is mostly done by then. If not, it is a pause of its own: a heap dump.
const REST_NS: u64 = 5_000_000;
/// Sleep when there are no counters to look at.
const LONG_NS: u64 = 1_000_000_000;

/// Which model a pause belongs to. The place of the collector in the counters; what counts is that they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// The last of the collectors in the counters' order that has begun a collection: the full one comes after the young one.
    Collector(usize),
    /// No collector has counted one: another collection, or the VM has no counters.
    Collection,
    /// No collection.
    Safepoint,
}

/// A safepoint watch on the VM's own counters.
pub type VmWatch = SafepointWatch<Box<dyn Fn() -> i64 + Send>>;

/// What waits at the front of a connection, by decision.
#[derive(Debug, Clone, Copy)]
struct Kept {
    /// When it was first looked at.
    seen: u64,
    /// Whether a dry run has counted it as answered.
    is_counted: bool,
}

/// A pause that is under way.
struct UnderWay {
    /// When it began; of the collection, once there is one.
    begin: u64,
    is_collection: bool,
    kind: Kind,
    course: Course,
    /// Whether what was decided, and told, is to be decided anew.
    reconsider: bool,
}

/// The thread's state.
pub struct Gate {
    options: Options,
    clock: &'static PauseClock,
    table: &'static Table,
    watched: &'static Watched,
    metrics: &'static Metrics,
    /// Who is told of what was answered, if anybody can ask.
    answers: Option<&'static Answers>,
    counters: Option<VmCounters>,
    watch: Option<VmWatch>,
    /// When the last pause was over, until the counters have said so of its safepoint, too.
    over_ns: Option<u64>,
    outlets: Outlets,
    models: HashMap<Kind, Model>,
    /// Collections that have been learnt from.
    learnt: u64,
    /// Invocations at the last moment at which there was no pause, and how many collections were over then.
    before: Vec<i64>,
    before_of: Option<u64>,
    feature: f64,
    /// Scratch memory: invocations.
    invocations: Vec<i64>,
    buffer: Vec<u8>,
    // Of the pause that is under way:
    /// Requests that were kept, by their connections.
    kept: HashMap<i32, Kept>,
    /// Connections to look at again soon: each once, however often it was found to be looked at.
    again: BTreeSet<i32>,
    /// Connections with an answer that is not wholly written; also after the pause.
    unsent: BTreeSet<i32>,
}

impl Gate {
    /// A gate of a VM that runs.
    pub fn new(
        options: Options,
        clock: &'static PauseClock,
        watched: &'static Watched,
        metrics: &'static Metrics,
        counters: Option<VmCounters>,
        watch: Option<VmWatch>,
        outlets: Outlets,
    ) -> Gate {
        Gate {
            options,
            clock,
            table: Table::global(),
            watched,
            metrics,
            answers: None,
            counters,
            watch,
            over_ns: None,
            outlets,
            models: HashMap::new(),
            learnt: clock.collections(),
            before: Vec::new(),
            before_of: None,
            feature: 0.0,
            invocations: Vec::new(),
            buffer: vec![0; BUFFER],
            kept: HashMap::new(),
            again: BTreeSet::new(),
            unsent: BTreeSet::new(),
        }
    }

    /// What is answered is told there.
    #[must_use]
    pub fn telling(self, answers: &'static Answers) -> Gate {
        Gate { answers: Some(answers), ..self }
    }

    /// Until the VM ends.
    pub fn run(mut self) {
        let poll_ns = if self.watch.is_some() { self.options.poll_us * 1000 } else { LONG_NS };
        loop {
            let state = self.clock.answer_call();
            if state & ENDED != 0 {
                if let Some(beacon) = &self.outlets.beacon {
                    beacon.ended();
                }
                return;
            }
            if self.clock.is_paused() {
                self.pause();
                continue;
            }
            self.learn(None);
            self.remember();
            if self.look_for_safepoint() {
                continue;
            }
            self.write_unsent();
            let ticks = agent::gate_ticks(!self.unsent.is_empty());
            self.clock.wait_while(state, if ticks { poll_ns.min(TICK_NS) } else { poll_ns });
        }
    }

    /// Looks at the counters, outside pauses: whether a safepoint is a pause of which nobody has told. It is from now on.
    fn look_for_safepoint(&mut self) -> bool {
        let Some(watch) = &mut self.watch else { return false };
        if !watch.look() {
            self.over_ns = None;
            return false;
        }
        // What the counters say after a pause is still of it, until they have said that it is over. But a collection may be only a part of what
        // its safepoint does.
        if self.over_ns.is_some_and(|over| now_ns().saturating_sub(over) < REST_NS) || self.clock.state() & COLLECTION != 0 {
            return false;
        }
        // Perhaps a collection's, which has not begun.
        self.clock.safepoint_begins(watch.time());
        true
    }

    /// Writes what is left of answers, once the kernel has room.
    fn write_unsent(&mut self) {
        let table = self.table;
        self.unsent.append(&mut agent::take_unsent());
        self.unsent.retain(|&fd| {
            let Some(slot) = table.live(fd) else { return false };
            let Some(mut tracked) = slot.try_lock() else { return true };
            let done = tracked.as_mut().is_none_or(|t| {
                t.connection.pay(&mut SocketWire::new(fd, t.inode));
                !t.connection.has_unsent()
            });
            if let Some(reason) = slot.publish(&mut tracked) {
                agent::connection_became_opaque(fd, reason);
            }
            !done
        });
    }

    /// What the counters are while there is no pause.
    fn remember(&mut self) {
        let Some(counters) = &self.counters else { return };
        let over = self.clock.collections();
        counters.read(&mut self.invocations);
        let feature = counters.feature();
        // A pause may have begun meanwhile, and some of this be of it already, so that its kind would not show. What is remembered does as well as
        // long as no collection is over since.
        if self.before_of != Some(over) || self.clock.has_only_run_since(over) {
            std::mem::swap(&mut self.before, &mut self.invocations);
            self.before_of = Some(over);
            self.feature = feature;
        }
    }

    /// The kind of the pause that is under way, or has just been.
    fn kind(&self) -> Kind {
        let Some(counters) = &self.counters else { return Kind::Collection };
        counters.changed_since(&self.before).map_or(Kind::Collection, Kind::Collector)
    }

    /// Takes in collections that are over. `kind` is that of the last one, if it is known.
    fn learn(&mut self, kind: Option<Kind>) {
        let count = self.clock.collections();
        while self.learnt < count {
            let number = self.learnt;
            self.learnt += 1;
            self.metrics.collections.add(1);
            let Some(pause) = self.clock.collection(number) else { continue };
            let ns = pause.end_ns.saturating_sub(pause.begin_ns);
            self.metrics.paused_ns.add(ns);
            // Of several that came too fast to be told apart, only the last has a kind.
            let Some(kind) = kind.filter(|_| self.learnt == count) else { continue };
            if let Some(error) = self.models.entry(kind).or_default().learn(self.feature, ns as f64) {
                self.metrics.error(error as u64);
            }
        }
    }

    /// Of a pause of that kind, by what is remembered.
    fn prediction(&self, kind: Kind) -> Prediction {
        self.models.get(&kind).map_or(Prediction::UNKNOWN, |model| model.predict(self.feature))
    }

    /// What the collection that is under way, or has just been, was expected to have to do, if the VM says so; else what is remembered.
    fn work(&self) -> f64 {
        self.counters.as_ref().and_then(VmCounters::expected_work).unwrap_or(self.feature)
    }

    /// A pause of that kind, of which nothing is done.
    fn course(&self, kind: Kind) -> Course {
        Course::new(self.prediction(kind), self.options.verbose)
    }

    /// One pause, from when it is noticed until it is over.
    fn pause(&mut self) {
        let mut pause = self.begin();
        let (connections, before) = (self.table.count_live(), self.done());
        // What waited at the end of the last pause may wait still, and the set of changes tells of nothing twice.
        self.again.extend(self.kept.drain().map(|(fd, _)| fd));
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 256];
        let mut rounds = 0u64;
        loop {
            let state = self.clock.state();
            if state & (COLLECTION | SAFEPOINT) == 0 || state & ENDED != 0 {
                break;
            }
            if state & SAFEPOINT != 0 && self.watch.as_mut().is_none_or(|watch| !watch.look()) {
                self.clock.safepoint_ends();
                continue;
            }
            if state & COLLECTION != 0 && !self.recognize(&mut pause) {
                std::thread::sleep(Duration::from_micros(50));
                continue;
            }
            if self.clock.is_given_up() {
                // The application goes on, and needs no answers. What has changed is not asked for, so that a later pause is told of it.
                self.write_unsent();
                self.clock.wait_while(state, TICK_NS);
                continue;
            }
            let n = self.round(&mut pause, &mut events);
            if n == 0 {
                let tick = if state & SAFEPOINT != 0 { SAFEPOINT_TICK_NS } else { TICK_NS };
                self.watched.wait(tick);
            }
            rounds += 1;
        }
        self.end(&mut pause);
        if self.options.verbose {
            self.tell(pause.kind, pause.begin, &pause.course, rounds);
        }
        self.record(pause.kind, pause.begin, pause.course.first(), connections, before);
        self.remember();
        self.over_ns = Some(now_ns());
    }

    /// A pause that has just been noticed, of which nothing is done.
    fn begin(&mut self) -> UnderWay {
        let is_collection = self.clock.state() & COLLECTION != 0;
        let begin = if is_collection { self.clock.begin_ns() } else { now_ns() };
        let kind = if is_collection { self.kind() } else { Kind::Safepoint };
        if is_collection {
            self.feature = self.work();
        }
        UnderWay { is_collection, begin, kind, course: self.course(kind), reconsider: true }
    }

    /// Looks which collection it is that is under way. False if that does not show yet, so that nobody should be told anything: in a moment it
    /// will.
    fn recognize(&mut self, pause: &mut UnderWay) -> bool {
        // The counters showed its safepoint before the collection itself began; or another one has ended meanwhile.
        let is_another = !pause.is_collection || pause.begin != self.clock.begin_ns();
        pause.is_collection = true;
        let now = self.kind();
        if is_another || now != pause.kind {
            pause.begin = self.clock.begin_ns();
            pause.kind = now;
            self.feature = self.work();
            pause.course = self.course(now);
            pause.reconsider = true;
        }
        pause.kind != Kind::Collection || self.counters.is_none() || now_ns().saturating_sub(pause.begin) >= KIND_SHOWS_NS
    }

    /// Tells how long it will take, if that is new, and looks at all connections that have changed. Returns how many these are.
    fn round(&mut self, pause: &mut UnderWay, events: &mut [libc::epoll_event]) -> usize {
        let elapsed = now_ns().saturating_sub(pause.begin);
        let done = self.counters.as_ref().filter(|_| pause.is_collection).map_or(0.0, VmCounters::part_done);
        let current = pause.course.advance(elapsed as f64, done);
        pause.reconsider |= pause.course.is_to_tell(elapsed as f64);
        if pause.reconsider {
            pause.course.tell();
            let remaining = current.remaining_ns(elapsed as f64) as u64;
            self.outlets.busy(pause.begin + elapsed, remaining);
            self.clock.expect_end((pause.begin + elapsed).saturating_add(remaining));
        }
        let n = self.watched.changed(events);
        for event in &events[..n] {
            self.look(event.u64 as i32, pause.begin, &current);
        }
        let mut soon = std::mem::take(&mut self.again);
        if std::mem::take(&mut pause.reconsider) {
            soon.extend(self.kept.keys());
        }
        for fd in soon {
            self.look(fd, pause.begin, &current);
        }
        n
    }

    /// It is over: learns from it what it was and how long it took.
    fn end(&mut self, pause: &mut UnderWay) {
        let over = self.clock.collections();
        // One may have come and gone between two looks at the word. What was seen of it is its safepoint, or nothing.
        let is_unseen = !pause.is_collection && over != self.learnt;
        if is_unseen {
            pause.kind = Kind::Collection;
        }
        self.outlets.runs();
        if !pause.is_collection && !is_unseen {
            self.metrics.safepoints.add(1);
            if let Some(error) = self.models.entry(pause.kind).or_default().learn(self.feature, (now_ns() - pause.begin) as f64) {
                self.metrics.error(error as u64);
            }
            return;
        }
        // The kind once more: a full collection may have shown late; and of one that was not seen, the work. But not if the next pause may
        // have begun, whose kind and work these would be.
        let late = self.kind();
        let work = if is_unseen { self.work() } else { self.feature };
        if self.clock.has_only_run_since(over) {
            pause.kind = late;
            self.feature = work;
        }
        if is_unseen {
            pause.course = self.course(pause.kind);
        }
        self.learn(Some(pause.kind));
        if let Some(of_clock) = self.collection(pause.kind).filter(|_| is_unseen) {
            pause.begin = of_clock.begin_ns;
        }
    }

    /// How many requests were answered, would have been, and were kept, since the VM began.
    fn done(&self) -> [u64; 3] {
        [self.metrics.answered.get(), self.metrics.would_answer.get(), self.metrics.kept.get()]
    }

    /// What the VM calls a kind of pause.
    fn name(&self, kind: Kind) -> &'static str {
        match (kind, &self.counters) {
            (Kind::Safepoint, _) => "no collection",
            (Kind::Collector(i), Some(counters)) => counters.name(i),
            _ => "collection",
        }
    }

    /// The collection that a pause of that kind, which is over and learnt from, was the last part of; `None` if it was none.
    fn collection(&self, kind: Kind) -> Option<Pause> {
        let last = if kind == Kind::Safepoint { None } else { self.learnt.checked_sub(1) };
        last.and_then(|number| self.clock.collection(number))
    }

    /// The flight recorder's event of a pause that is over, if there were connections to watch. `connections` and `before` are those of its begin.
    fn record(&self, kind: Kind, begin: u64, prediction: &Prediction, connections: usize, before: [u64; 3]) {
        let Some(events) = &self.outlets.events else { return };
        // Some may have been accepted in the pause, or closed.
        let connections = connections.max(self.table.count_live()) as u64;
        let now = self.done();
        let [answered, would_answer, kept] = std::array::from_fn(|i| now[i] - before[i]);
        if connections == 0 && answered == 0 {
            return;
        }
        let end = self.collection(kind).map_or_else(now_ns, |pause| pause.end_ns);
        events.tell(GatePause {
            begin_ns: begin,
            length_ns: end.saturating_sub(begin),
            kind: self.name(kind),
            expected_ns: prediction.expected_ns as u64,
            upper_ns: prediction.upper_ns as u64,
            connections,
            answered,
            would_answer,
            kept,
        });
    }

    /// The line of `verbose` on a pause that is over. bench/gate reads it.
    fn tell(&self, kind: Kind, begin: u64, course: &Course, rounds: u64) {
        let prediction = course.first();
        let name = self.name(kind);
        let exact = self.collection(kind).map(|pause| pause.end_ns.saturating_sub(pause.begin_ns));
        let ns = exact.unwrap_or(now_ns() - begin) as f64;
        agent::complain(&format!(
            "pause of {:.3} ms, predicted {:.3}, at most {:.3}, halfway {:.3}, kind {name}; {} answered in all, {} kept now, {rounds} rounds",
            ns / 1e6,
            prediction.expected_ns / 1e6,
            prediction.upper_ns / 1e6,
            course.at(ns / 2.0).unwrap_or(prediction.expected_ns) / 1e6,
            self.metrics.answered.get(),
            self.kept.len()
        ));
    }

    /// Looks at one connection.
    fn look(&mut self, fd: i32, begin: u64, prediction: &Prediction) {
        let Some(slot) = self.table.live(fd) else { return };
        let Some(mut tracked) = slot.try_lock() else {
            self.again.insert(fd);
            return;
        };
        let Some(t) = tracked.as_mut() else { return };
        if !self.clock.is_paused() {
            return;
        }
        if self.clock.is_given_up() {
            // The application's, as if there were no pause, for it may run; but a later one will look.
            self.again.insert(fd);
            return;
        }
        let _look = self.table.look();
        // Invariant I; SeqCst, after the look has been noted, against `announce`. It may be withdrawn, so that a look later is worth it.
        if slot.announced.load(Ordering::SeqCst) {
            self.again.insert(fd);
            return;
        }
        let described = self.decide(fd, t, begin, prediction);
        if let Some(answers) = self.answers.filter(|_| !described.is_empty()) {
            answers.add(kernel::unix_seconds(), agent::client_of(fd), described);
        }
        if tracked.as_ref().is_some_and(|t| t.connection.has_unsent()) {
            self.unsent.insert(fd);
        }
        if let Some(t) = tracked.as_mut() {
            t.connection.tell_all_if_unfiltered(&mut SocketWire::new(fd, t.inode));
        }
        if let Some(reason) = slot.publish(&mut tracked) {
            // With the lock held: behind it, the descriptor may be another connection's, which must be watched.
            agent::connection_became_opaque(fd, reason);
        }
    }

    /// Has a connection, whose lock is held, decide on its requests one by one. Returns what was answered, if anybody wants to know.
    fn decide(&mut self, fd: i32, t: &mut Tracked, begin: u64, prediction: &Prediction) -> Vec<Described> {
        let Gate { options, kept, metrics, answers, buffer, clock, .. } = self;
        let now = now_ns();
        let known = kept.get(&fd).copied();
        let waiting = known.unwrap_or(Kept { seen: now, is_counted: false });
        // What waits now has not been looked at before: by the end, also if it was behind one that is answered.
        let mut is_new = known.is_none();
        let mut counted = 0;
        let mut first = true;
        let decide = |deadline: Option<Duration>| {
            // Requests behind the first have been seen just now.
            let seen = if std::mem::take(&mut first) { waiting.seen } else { now };
            let deadline = deadline.unwrap_or(Duration::from_millis(options.deadline_ms)).as_nanos() as f64;
            let remaining = prediction.remaining_ns((now - begin) as f64);
            // No answer any more once the pause is over: the application is quicker.
            if (now - seen) as f64 + remaining <= deadline || !clock.is_paused() {
                return Decision::Keep;
            }
            match (options.dry_run, waiting.is_counted) {
                (false, _) => {
                    let fixed = options.busy_until_ms.filter(|_| !options.trusts(agent::client_of(fd)));
                    Decision::Answer(fixed.map_or(Duration::from_nanos(remaining as u64), Duration::from_millis))
                }
                (true, false) => Decision::Count,
                (true, true) => Decision::Keep,
            }
        };
        let mut described = Vec::new();
        let answered = |requests, protocol: &Spoken, request: &[u8]| {
            if options.dry_run {
                counted += requests;
            } else {
                metrics.answered.add(requests);
                is_new = true;
                if answers.is_some() {
                    described.push(protocol.describe(request));
                }
            }
        };
        match t.connection.look(&mut SocketWire::new(fd, t.inode), buffer, decide, answered) {
            Outcome::Kept => {
                let seen = if is_new { now } else { waiting.seen };
                kept.insert(fd, Kept { seen, is_counted: waiting.is_counted || counted > 0 });
                metrics.would_answer.add(counted);
                // What a dry run counts as answered is not kept by decision.
                metrics.kept.add(u64::from(is_new && counted == 0));
            }
            Outcome::Again => {
                self.again.insert(fd);
            }
            _ => {
                kept.remove(&fd);
            }
        }
        described
    }
}

#[cfg(test)]
mod tests;
