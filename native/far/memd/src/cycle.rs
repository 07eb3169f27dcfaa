// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One cycle of tracing at this server: a thread that traces, one for each other server that sends what is theirs, and the mailbox
//! between them and the connections.
//!
//! The connections only put into the mailbox what has come, after they have checked it; the tracing thread takes it out between two
//! steps, also when it must not trace because another server is slow. So a mailbox is always emptied again, and no two servers
//! wait for each other.
//!
//! A step holds the memory of the client's region: writes to it wait some milliseconds. That nothing is written which would make the
//! result wrong is the client's business.
//!
//! A thread that sends may wait for a server that hangs long after the cycle is over, as long as a frame may take. It keeps the cycle, whose
//! memory the tracing thread has given back by then; and there are no more such threads than the server takes connections. What all cycles of a
//! key take, of cycles, threads and memory, is bounded by what the key is granted.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lull_far_trace::extents::Extents;
use lull_far_trace::geometry::Geometry;
use lull_far_trace::layout::{LAYOUTS, Layout};
use lull_far_trace::termination::Status;
use lull_far_trace::tracer::{Counts, Damaged, Memory, Task, Tracer, check};
use lull_far_trace::wire::{MOST, Start};
use lull_network::Network;
use tracing::{info, warn};

use crate::arena::{CHUNK_PAGES, Held};
use crate::identity::{Identity, TraceThread, Traced};
use crate::metrics::Metrics;
use crate::peer;
use crate::shared::{Shared, spawn};
use crate::store::{Refusal, Region, Session, refuse};

/// Objects and references looked at in one step.
const STEP: u64 = 100_000;

/// How much may wait to be sent to one server before this one stops tracing: what a step adds comes on top.
const SENDING: usize = 8 * MOST;

/// How many pieces of what is old may wait in the mailbox before the client has to.
const OLD_WAITING: usize = 8;

/// How many tasks, or roots, may wait in the mailbox before other servers, or the client, have to: it is not counted as what the key is granted.
const WAITING: usize = 8 * MOST;

/// A cycle.
#[derive(Debug)]
pub struct Cycle {
    /// What the client has said.
    pub start: Start,
    /// The client.
    pub client: [u8; 16],
    /// Whose key it has shown: in its name this server shows it to others.
    pub identity: Arc<Identity>,
    /// What it counts there.
    traced: Traced,
    /// Whether what is known of the whole heap, where objects lie, takes less than the client's part of it here.
    may_run: bool,
    /// Locked before the mailbox, if both are.
    tracer: Mutex<Tracer>,
    mailbox: Mutex<Mailbox>,
    /// Something in the mailbox has changed.
    changed: Condvar,
    /// Set once: all threads end.
    over: AtomicBool,
}

#[derive(Debug)]
struct Mailbox {
    /// What is old, in the order in which it came: each from a word on.
    old: Vec<(u64, Vec<u64>)>,
    roots: Vec<u64>,
    layouts: Vec<Layout>,
    /// Layouts that have come since the start, and their blocks.
    layouts_seen: usize,
    /// From other servers.
    tasks: Vec<Task>,
    /// To each other server.
    sending: Vec<Vec<Task>>,
    /// What the tracer said after its last step. Not idle while it has something in hand.
    status: Status,
    missing: BTreeSet<u32>,
    has_work: bool,
    /// In steps.
    busy: Duration,
    failed: Option<String>,
}

impl Mailbox {
    fn has_mail(&self) -> bool {
        !self.old.is_empty() || !self.roots.is_empty() || !self.layouts.is_empty() || !self.tasks.is_empty()
    }
}

/// What a poll says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Polled {
    /// Counters.
    Status(Status),
    /// Nothing goes on before these layouts are there. [`MOST`] at most.
    Missing(Vec<u32>),
}

/// Whoever is here connects to nobody for a client but to servers that its own options name.
fn check_peers(peers: &[Network], start: &Start) -> Result<(), Refusal> {
    let allowed = |address: &SocketAddr| peers.iter().any(|network| network.contains(address.ip()));
    let others = start.servers.iter().enumerate().filter(|(index, _)| *index != usize::from(start.me));
    match others.into_iter().find(|(_, address)| !allowed(address)) {
        None => Ok(()),
        Some((index, _)) => Err(refuse!(BadRequest, "server {index} is none that --peers of this server names")),
    }
}

impl Cycle {
    /// Begins a cycle, and registers it with the client.
    ///
    /// # Errors
    /// `UNKNOWN_REGION`; `BAD_REQUEST` if another server is none that this one may connect to, or this server's parts of the heap do not fit into the region, or the number of the cycle is not
    /// after the last; `FULL` if the key is granted no more; `TOO_MANY_CONNECTIONS` if too many threads send already; `INTERNAL` if there are no threads.
    pub fn begin(shared: &Arc<Shared>, session: &Session, region: u32, start: Start) -> Result<Arc<Cycle>, Refusal> {
        check_peers(&shared.config.peers, &start)?;
        let memory = session.region(region)?;
        let (me, geometry) = (usize::from(start.me), start.geometry);
        let want = geometry.bytes_of(me);
        // Before anything is allocated for what the client says.
        if want > memory.bytes() {
            return Err(refuse!(BadRequest, "the heap has {want} bytes at server {me}, and region {region} has {}", memory.bytes()));
        }
        let identity = &session.client.identity;
        let full = |text: String| refuse!(Full, "{text}");
        let traced = identity.trace(Tracer::least_bytes(me, &geometry)).map_err(full)?;
        let mut threads = identity.threads(geometry.servers.into()).map_err(full)?;
        let tracing = threads.pop();
        let senders = Sender::of(shared, threads)?;
        let mailbox = Mailbox {
            old: Vec::new(),
            roots: Vec::new(),
            layouts: Vec::new(),
            layouts_seen: 0,
            tasks: Vec::new(),
            sending: vec![Vec::new(); geometry.servers.into()],
            status: Status { idle: true, ..Status::default() },
            missing: BTreeSet::new(),
            has_work: false,
            busy: Duration::ZERO,
            failed: None,
        };
        let cycle = Arc::new(Cycle {
            client: session.client.id,
            identity: Arc::clone(identity),
            traced,
            may_run: Extents::bytes_for(geometry.bytes) <= memory.bytes(),
            tracer: Mutex::new(Tracer::new(me, geometry)),
            mailbox: Mutex::new(mailbox),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
            start,
        });
        session.begin(&cycle)?;
        if let Err(error) = cycle.start_threads(shared, memory, tracing, senders) {
            session.end(&cycle);
            return Err(refuse!(Internal, "no thread to trace with: {error}"));
        }
        Ok(cycle)
    }

    /// Only the tracing thread has the region, and ends within a step: who sends to a server that is gone may wait for as long as a frame takes,
    /// and the client's memory must not.
    fn start_threads(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        region: Arc<Region>,
        tracing: Option<TraceThread>,
        senders: Vec<Sender>,
    ) -> io::Result<()> {
        let cycle = Arc::clone(self);
        let of_server = Arc::clone(shared);
        spawn("trace", move || {
            let metrics = &of_server.metrics;
            let unfinished = Unfinished(&cycle, metrics);
            let outcome = cycle.trace(&region);
            drop(region);
            std::mem::forget(unfinished);
            if let Err(Worthless(text)) = outcome {
                cycle.fail(metrics, text);
            }
            cycle.give_back();
            drop(tracing);
        })?;
        let others = (0..usize::from(self.start.geometry.servers)).filter(|&to| to != usize::from(self.start.me));
        for (to, sender) in others.zip(senders) {
            let cycle = Arc::clone(self);
            spawn("ghosts", move || {
                let shared = &sender.shared;
                if let Err(text) = peer::send_all(&cycle, to, shared.config.frame_timeout, shared.config.plain_frames) {
                    cycle.fail(&shared.metrics, text);
                }
            })?;
        }
        Ok(())
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.start.cycle
    }

    /// All threads end, soon.
    pub fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        self.traced.end();
        // Under the lock, so that nobody who has looked goes to sleep after it.
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Whether it was ended.
    #[must_use]
    pub fn over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// It is worth nothing: the client is told when it asks. The first reason stays.
    fn fail(&self, metrics: &Metrics, text: String) {
        if self.over() {
            return;
        }
        let mut mailbox = self.lock();
        if mailbox.failed.is_none() {
            warn!(client = ?&self.client[..4], cycle = self.number(), "tracing failed: {text}");
            Metrics::add(&metrics.cycles_failed, 1);
            mailbox.failed = Some(text);
        }
        drop(mailbox);
        self.changed.notify_all();
    }

    /// The mailbox of a cycle that still is one: nobody empties another's.
    fn unfailed(&self) -> Result<MutexGuard<'_, Mailbox>, Refusal> {
        let mailbox = self.lock();
        self.check_unfailed(&mailbox)?;
        Ok(mailbox)
    }

    fn check_unfailed(&self, mailbox: &Mailbox) -> Result<(), Refusal> {
        if self.over() {
            return Err(refuse!(NoTrace, "cycle {} is over", self.number()));
        }
        match &mailbox.failed {
            Some(text) => Err(refuse!(TraceFailed, "cycle {}: {text}", self.number())),
            None => Ok(()),
        }
    }

    /// The same, when there is room in it. The tracing thread makes some between two steps.
    fn with_room(&self, has_room: impl Fn(&Mailbox) -> bool) -> Result<MutexGuard<'_, Mailbox>, Refusal> {
        let mut mailbox = self.unfailed()?;
        while !has_room(&mailbox) {
            mailbox = self.wait(mailbox);
            self.check_unfailed(&mailbox)?;
        }
        Ok(mailbox)
    }

    fn check(&self, task: Task) -> Result<(), Damaged> {
        check(&self.start.geometry, self.start.me.into(), task)
    }

    /// Roots. Waits as long as there is no room for them.
    ///
    /// # Errors
    /// `BAD_REQUEST` if one is no object of this server; `TRACE_FAILED`, `NO_TRACE`.
    pub fn roots(&self, roots: Vec<u64>) -> Result<Status, Refusal> {
        roots.iter().try_for_each(|&root| self.check(Task::Object(root))).map_err(|damaged| refuse!(BadRequest, "a root: {damaged}"))?;
        let mut mailbox = self.with_room(|mailbox| mailbox.roots.len() < WAITING)?;
        mailbox.roots.extend(roots);
        self.changed.notify_all();
        Ok(status_of(&mailbox))
    }

    /// What is old, from a word on. Waits as long as there is no room for it.
    ///
    /// # Errors
    /// `BAD_REQUEST` if this server has fewer words; `TRACE_FAILED`, `NO_TRACE`.
    pub fn old(&self, first: u64, words: Vec<u64>) -> Result<Status, Refusal> {
        let all = self.start.geometry.bytes_of(self.start.me.into()) / 512;
        if first.checked_add(words.len() as u64).is_none_or(|end| end > all) {
            return Err(refuse!(BadRequest, "{} words of what is old, from {first} on, of {all}", words.len()));
        }
        // Before anything is allocated for what the client says of its heap.
        if !self.may_run {
            let bytes = self.start.geometry.bytes;
            return Err(refuse!(BadRequest, "a heap of {bytes} bytes is too large for what the client has of it here"));
        }
        let mut mailbox = self.with_room(|mailbox| mailbox.old.len() < OLD_WAITING)?;
        mailbox.old.push((first, words));
        self.changed.notify_all();
        Ok(status_of(&mailbox))
    }

    /// Layouts.
    ///
    /// # Errors
    /// `BAD_REQUEST` if there are too many; `TRACE_FAILED`, `NO_TRACE`.
    pub fn learn(&self, layouts: Vec<Layout>) -> Result<Status, Refusal> {
        let mut mailbox = self.unfailed()?;
        mailbox.layouts_seen += layouts.iter().map(|layout| 1 + layout.blocks.len()).sum::<usize>();
        if mailbox.layouts_seen > LAYOUTS {
            return Err(refuse!(BadRequest, "more than {LAYOUTS} layouts and blocks of references in one cycle"));
        }
        for layout in &layouts {
            mailbox.missing.remove(&layout.klass);
        }
        mailbox.layouts.extend(layouts);
        self.changed.notify_all();
        Ok(status_of(&mailbox))
    }

    /// What another server has sent. Waits as long as there is no room for it.
    ///
    /// # Errors
    /// `BAD_REQUEST` if one is not for this server; `TRACE_FAILED`, `NO_TRACE`.
    pub fn receive(&self, tasks: &[Task]) -> Result<(), Refusal> {
        tasks.iter().try_for_each(|&task| self.check(task)).map_err(|damaged| refuse!(BadRequest, "{damaged}"))?;
        let mut mailbox = self.with_room(|mailbox| mailbox.tasks.len() < WAITING)?;
        mailbox.tasks.extend_from_slice(tasks);
        self.changed.notify_all();
        Ok(())
    }

    /// Whether anything is left to do.
    ///
    /// # Errors
    /// `TRACE_FAILED`, `NO_TRACE`.
    pub fn poll(&self) -> Result<Polled, Refusal> {
        let mailbox = self.unfailed()?;
        // Those that have come and were not taken out yet may be among them.
        if !mailbox.missing.is_empty() && mailbox.layouts.is_empty() {
            return Ok(Polled::Missing(mailbox.missing.iter().copied().take(MOST).collect()));
        }
        Ok(Polled::Status(status_of(&mailbox)))
    }

    /// Looks at the result.
    ///
    /// # Errors
    /// `TRACE_FAILED`, `NO_TRACE`; `BAD_REQUEST` while there is something left to do.
    pub fn result<R>(&self, look: impl FnOnce(&Tracer) -> R) -> Result<R, Refusal> {
        let tracer = self.tracer.lock().unwrap_or_else(PoisonError::into_inner);
        if !status_of(&*self.unfailed()?).idle {
            return Err(refuse!(BadRequest, "cycle {} is still being traced: poll until all servers are idle", self.number()));
        }
        Ok(look(&tracer))
    }

    /// What was done, and how long it took without waiting.
    pub fn counts(&self) -> (Counts, Duration) {
        let tracer = self.tracer.lock().unwrap_or_else(PoisonError::into_inner);
        (tracer.counts(), self.lock().busy)
    }

    /// The tracing thread.
    fn trace(&self, region: &Region) -> Result<(), Worthless> {
        let me = usize::from(self.start.me);
        loop {
            let mut mailbox = self.lock();
            let full = loop {
                if self.over() || mailbox.failed.is_some() {
                    return Ok(());
                }
                let full = mailbox.sending.iter().any(|tasks| tasks.len() >= SENDING);
                if mailbox.has_mail() || (mailbox.has_work && !full) {
                    break full;
                }
                mailbox = self.wait(mailbox);
            };
            mailbox.status.idle = false;
            let (old, roots) = (std::mem::take(&mut mailbox.old), std::mem::take(&mut mailbox.roots));
            let (layouts, tasks) = (std::mem::take(&mut mailbox.layouts), std::mem::take(&mut mailbox.tasks));
            // The tracer's last word on what is missing may be from before they came: they are not asked for twice.
            for layout in &layouts {
                mailbox.missing.remove(&layout.klass);
            }
            drop(mailbox);
            self.changed.notify_all();

            let mut tracer = self.tracer.lock().unwrap_or_else(PoisonError::into_inner);
            let start = Instant::now();
            if !old.is_empty() {
                // Before it is taken.
                self.traced.resize(tracer.bytes() + tracer.running_bytes()).map_err(Worthless)?;
            }
            old.iter().try_for_each(|(first, words)| tracer.old(*first, words))?;
            tracer.learn(layouts);
            roots.into_iter().try_for_each(|root| tracer.root(root))?;
            tracer.receive(&tasks)?;
            if !full {
                let memory = Parts { geometry: self.start.geometry, chunks: region.hold() };
                tracer.step(&memory, STEP)?;
            }
            let busy = start.elapsed();
            self.traced.resize(tracer.bytes()).map_err(Worthless)?;

            let mut mailbox = self.lock();
            for to in (0..mailbox.sending.len()).filter(|&to| to != me) {
                if tracer.waiting_for(to) > 0 {
                    let tasks = tracer.take(to);
                    mailbox.sending[to].extend(tasks);
                }
            }
            mailbox.status = tracer.status();
            mailbox.has_work = tracer.has_work();
            mailbox.missing = tracer.missing();
            mailbox.busy += busy;
            drop((mailbox, tracer));
            self.changed.notify_all();
        }
    }

    /// The last that the tracing thread does, once the cycle is over: what is left of it is small.
    fn give_back(&self) {
        let mut mailbox = self.lock();
        while !self.over() {
            mailbox = self.wait(mailbox);
        }
        mailbox.sending.iter_mut().for_each(|tasks| *tasks = Vec::new());
        (mailbox.old, mailbox.roots, mailbox.layouts, mailbox.tasks) = Default::default();
        drop(mailbox);
        self.tracer.lock().unwrap_or_else(PoisonError::into_inner).forget();
        // To have less is always possible.
        let _ = self.traced.resize(0);
    }

    /// The next tasks for another server, [`MOST`] at most. Waits for them. None: the cycle is over.
    pub fn next_for(&self, to: usize) -> Option<Vec<Task>> {
        let mut mailbox = self.lock();
        loop {
            if self.over() || mailbox.failed.is_some() {
                return None;
            }
            let waiting = mailbox.sending[to].len();
            if waiting > 0 {
                let tasks = mailbox.sending[to].split_off(waiting.saturating_sub(MOST));
                drop(mailbox);
                self.changed.notify_all();
                return Some(tasks);
            }
            mailbox = self.wait(mailbox);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Mailbox> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, mailbox: MutexGuard<'a, Mailbox>) -> MutexGuard<'a, Mailbox> {
        self.changed.wait(mailbox).unwrap_or_else(PoisonError::into_inner)
    }
}

/// Idle only if nothing waits anywhere. What is on its way between two servers is seen by the sums of both.
fn status_of(mailbox: &Mailbox) -> Status {
    let idle = mailbox.status.idle && !mailbox.has_mail() && mailbox.sending.iter().all(Vec::is_empty);
    Status { idle, ..mailbox.status }
}

/// A thread that sends to another server, counted as long as it lives.
struct Sender {
    shared: Arc<Shared>,
    _thread: TraceThread,
}

/// Why a cycle is worth nothing.
struct Worthless(String);

impl From<Damaged> for Worthless {
    fn from(damaged: Damaged) -> Worthless {
        Worthless(damaged.to_string())
    }
}

impl Sender {
    /// One for each of these threads. All or none.
    fn of(shared: &Arc<Shared>, threads: Vec<TraceThread>) -> Result<Vec<Sender>, Refusal> {
        let count = threads.len();
        let most = shared.config.max_connections;
        match shared.live.add_senders(count, most) {
            Ok(()) => Ok(threads.into_iter().map(|_thread| Sender { shared: Arc::clone(shared), _thread }).collect()),
            Err(now) => Err(refuse!(
                TooManyConnections,
                "{now} threads send to other servers; with {count} more they would be more than the {most} that --max-connections allows"
            )),
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.shared.live.sender_ended();
    }
}

/// A tracing thread that panics leaves a cycle that never ends, unless somebody says so.
struct Unfinished<'a>(&'a Cycle, &'a Metrics);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.fail(self.1, "the tracing thread has stopped at an error of its own".to_owned());
    }
}

/// This server's parts.
struct Parts<'a> {
    geometry: Geometry,
    chunks: Vec<Held<'a>>,
}

impl Memory for Parts<'_> {
    fn word(&self, address: u64) -> u32 {
        const CHUNK: u64 = (CHUNK_PAGES * lull_far_protocol::PAGE_SIZE) as u64;
        let place = self.geometry.place_of(address);
        self.chunks[(place / CHUNK) as usize].word((place % CHUNK) as usize)
    }
}

/// For the log.
pub fn log_end(cycle: &Cycle, counts: Counts, busy: Duration) {
    info!(client = ?&cycle.client[..4], cycle = cycle.number(), marked = counts.marked, followed = counts.followed, sent = counts.sent,
        received = counts.received, milliseconds = busy.as_millis() as u64, "traced");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Identities;

    const BASE: u64 = 0x1_0000_0000;

    /// Without its threads: nobody empties the mailbox but the test.
    fn cycle() -> Cycle {
        let identities = Identities::new(&[]).unwrap();
        let identity = identities.of_everybody().unwrap();
        let geometry = Geometry { base: BASE, bytes: 1 << 20, part: 1 << 20, narrow_base: 0, narrow_shift: 3, servers: 1 };
        let here = "127.0.0.1:1".parse().unwrap();
        Cycle {
            start: Start { cycle: 1, geometry, me: 0, ticket: [1; 16], servers: vec![here] },
            client: [1; 16],
            identity: Arc::clone(identity),
            traced: identity.trace(0).unwrap(),
            may_run: true,
            tracer: Mutex::new(Tracer::new(0, geometry)),
            mailbox: Mutex::new(Mailbox {
                old: Vec::new(),
                roots: Vec::new(),
                layouts: Vec::new(),
                layouts_seen: 0,
                tasks: Vec::new(),
                sending: vec![Vec::new()],
                status: Status::default(),
                missing: BTreeSet::new(),
                has_work: false,
                busy: Duration::ZERO,
                failed: None,
            }),
            changed: Condvar::new(),
            over: AtomicBool::new(false),
        }
    }

    /// What waits for a tracing thread that is slow, as on a busy machine, is bounded, and comes all the same.
    #[test]
    fn roots_wait_for_the_tracing_thread() {
        const FRAMES: usize = 3 * WAITING / MOST;
        let cycle = cycle();
        std::thread::scope(|scope| {
            let client = scope.spawn(|| (0..FRAMES).for_each(|_| assert!(cycle.roots(vec![BASE; MOST]).is_ok())));
            let mut taken = 0;
            while taken < FRAMES * MOST {
                let left = FRAMES * MOST - taken;
                let mut mailbox = cycle.lock();
                while mailbox.roots.len() < WAITING.min(left) {
                    mailbox = cycle.wait(mailbox);
                }
                drop(mailbox);
                // It would put more into it meanwhile.
                std::thread::sleep(Duration::from_millis(20));
                let waiting = std::mem::take(&mut cycle.lock().roots).len();
                assert!(waiting < WAITING + MOST, "{waiting} roots wait");
                taken += waiting;
                cycle.changed.notify_all();
            }
            client.join().unwrap();
        });
    }

    /// Who waits for room is told that there is none any more.
    #[test]
    fn who_waits_for_room_in_a_cycle_that_is_over_goes_on() {
        let cycle = cycle();
        cycle.lock().roots = vec![BASE; WAITING];
        std::thread::scope(|scope| {
            let client = scope.spawn(|| cycle.roots(vec![BASE]).unwrap_err());
            std::thread::sleep(Duration::from_millis(20));
            cycle.end();
            assert!(client.join().unwrap().text.contains("cycle 1 is over"));
        });
    }
}
