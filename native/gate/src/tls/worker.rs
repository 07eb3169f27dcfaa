// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The threads that serve TLS, which the JVM never stops: each has relays of its own, and all of them accept at one address.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::metrics::Metrics;
use crate::own_ports;
use crate::tls::kernel::{self, Bell, Epoll};
use crate::tls::places::{Next, Placed, Places, Ticket};
use crate::tls::queue::Queue;
use crate::tls::relay::{self, Over, Ready, Relay, Stage, Targets, Waits};

/// A client has so long for its handshake.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// And so long to read the end of what it was told.
pub const ENDING: Duration = Duration::from_secs(5);
/// Whose handshake has failed has so long to read why.
const FAILED: Duration = Duration::from_millis(250);
/// A client that takes nothing for so long, or up to twice that, is let go if the application has ended.
pub const STALL: Duration = Duration::from_secs(30);
/// What the kernel says of the application's connections holds for so long.
const HELD: Duration = Duration::from_secs(1);
/// Events of one wait.
const EVENTS: usize = 256;
/// So many clients are accepted at once, and so many begin or are ended for others; others are served meanwhile.
const MOST_ACCEPTS: usize = 32;
const MOST_TAKEN: usize = 2 * MOST_ACCEPTS;
/// Where no descriptor is left, nobody is accepted for so long.
const NO_DESCRIPTORS: Duration = Duration::from_millis(100);
/// At the VM's end, what the application has written is passed on for so long.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// It is all passed on when nothing has come for so long.
const SILENCE_MS: i32 = 5;
/// One line for what goes wrong again and again in so long.
const COMPLAINTS: Duration = Duration::from_secs(60);

/// Keys of the set that are no relay's.
const LISTENER: u64 = u64::MAX;
const ENDED: u64 = u64::MAX - 1;
const BELL: u64 = u64::MAX - 2;

/// What goes wrong with clients again and again: each kind is told for itself, so that one does not hide another.
#[derive(Debug, Clone, Copy)]
pub enum Trouble {
    /// There are as many clients as may be.
    Full,
    /// No descriptor is left.
    Descriptors,
    /// A handshake has failed.
    Handshake,
    /// The application's port is not to be had.
    Unreachable,
    /// Of the gate's own.
    Defect,
}

/// How many kinds there are.
pub const TROUBLES: usize = Trouble::Defect as usize + 1;

/// A client that was accepted, and who that is.
pub type Accepted = (TcpStream, SocketAddr);

/// What all threads have together.
pub struct Shared {
    /// Keys, certificate, protocols.
    pub config: Arc<ServerConfig>,
    /// The application's ports.
    pub targets: Targets,
    /// So many clients at most.
    pub most: usize,
    /// Who they are, and those that wait for a thread to begin with them. Each thread takes its own out, and any puts in for each.
    pub places: Mutex<Places<Accepted>>,
    /// The clients, by the addresses that the application sees.
    pub peers: Mutex<HashMap<SocketAddr, SocketAddr>>,
    /// Where clients come in.
    pub listener: TcpListener,
    /// Whether it listens, as it does while the application does. Written by the thread that looks, before the bells.
    pub is_open: AtomicBool,
    /// One for each thread: raised when that has changed, or somebody waits for it; put down by the thread.
    pub bells: Vec<Bell>,
    /// The thread that looks whether the application listens: woken when a connection to it was refused.
    pub looks: OnceLock<Thread>,
    /// Raised when the VM ends.
    pub ended: Bell,
    /// Threads that have not passed on what the application has written before the VM's end.
    pub unfinished: AtomicUsize,
    /// What was done.
    pub metrics: &'static Metrics,
    /// Lines for the operator, to the thread that writes them: where they go to may stand still, and clients must not.
    pub lines: SyncSender<String>,
    /// When each kind was told last.
    pub told: Mutex<[Option<Instant>; TROUBLES]>,
    /// How long a handshake may take.
    pub handshake: Duration,
    /// How long a client may take nothing of what an application has left behind.
    pub stall: Duration,
    /// So often a thread is to have a defect.
    #[cfg(test)]
    pub defects: AtomicUsize,
}

impl Shared {
    /// Says a line to the operator. If the ones before it have not been written yet, it is left out.
    pub fn say(&self, line: String) {
        let _ = self.lines.try_send(line);
    }

    /// Says the line, unless one of its kind was said a short time ago.
    fn complain(&self, trouble: Trouble, line: impl FnOnce() -> String) {
        let is_due = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let last = &mut told[trouble as usize];
            let is_due = last.is_none_or(|last| last.elapsed() >= COMPLAINTS);
            *last = if is_due { Some(Instant::now()) } else { *last };
            is_due
        };
        if is_due {
            self.say(line());
        }
    }

    /// The application's port is not to be had: it is looked whether it still listens.
    fn unreachable(&self, port: u16, error: &io::Error) {
        self.metrics.tls_unreachable.add(1);
        self.looks.get().inspect(|thread| thread.unpark());
        self.complain(Trouble::Unreachable, || {
            let help = help_for(error);
            format!("TLS: a client was let go, for the service's port {port} cannot be connected to at 127.0.0.1 or ::1: {error}; {help}")
        });
    }

    /// The places of all threads. Nothing is done while they are held.
    pub fn places(&self) -> MutexGuard<'_, Places<Accepted>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says and counts what has become of one that came, and closes who has gone for it: which thread has to take it in.
    fn placed(&self, placed: Placed<Accepted>) -> Option<usize> {
        if placed.was_full || placed.thread.is_none() {
            self.metrics.tls_refused.add(1);
        }
        if placed.was_full {
            let most = self.most;
            self.complain(Trouble::Full, || format!("TLS: there are {most} clients, and no more may be; raise tls-connections"));
        }
        if placed.thread.is_some() && placed.gone.is_some() {
            // It has waited and was not begun with.
            [&self.metrics.tls_connections, &self.metrics.tls_failed, &self.metrics.tls_closed].into_iter().for_each(|count| count.add(1));
        }
        placed.thread
    }

    /// Who is behind the connection that the application sees as from `address`: of one that listens at `::`, an IPv4 address within IPv6.
    pub fn peer(&self, address: SocketAddr) -> Option<SocketAddr> {
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).get(&address).copied()
    }
}

/// Who a key means: the relay's place, and how often that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    place: u32,
    round: u32,
}

impl Key {
    /// As the set has it; the application's side is told from the client's.
    fn event(self, is_application: bool) -> u64 {
        u64::from(self.round & 0x3fff_ffff) << 32 | u64::from(self.place) << 1 | u64::from(is_application)
    }

    fn of(event: u64) -> (Key, bool) {
        (Key { place: (event as u32) >> 1, round: (event >> 32) as u32 }, event & 1 == 1)
    }
}

/// A relay, and what the set is told of it.
struct Entry {
    key: Key,
    relay: Relay,
    /// Given back behind the relay's end.
    place: Place,
    client: u32,
    application: u32,
    /// The descriptor that `application` is for.
    application_fd: RawFd,
    /// By which the application sees the client.
    seen_as: Option<SocketAddr>,
    /// The socket that has it.
    seen_fd: Option<RawFd>,
    stage: Stage,
    /// It has been told the end, and has so long to read it.
    is_told: bool,
    /// Where it is in the queue of those who take nothing: how much it had taken when it came there.
    stall: Option<u64>,
}

/// One thread's part.
pub struct Worker {
    shared: Arc<Shared>,
    /// Which of the bells is this one's.
    bell: usize,
    epoll: Epoll,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    round: u32,
    handshakes: Queue<Key>,
    /// Clients at their handshake, or whose handshake has failed.
    unknown: HashMap<Ticket, Key>,
    failures: Queue<Key>,
    endings: Queue<Key>,
    /// Clients that had something to take, each once.
    stalls: Queue<Key>,
    /// Of the application's connections, those that it has not ended, and when that was asked; `None` where the kernel does not tell.
    held: Option<(Instant, Option<HashSet<SocketAddr>>)>,
    /// Nobody is accepted before.
    accepts_from: Option<Instant>,
    is_listening: bool,
    scratch: Box<[u8]>,
}

impl Worker {
    /// Without clients.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new(shared: Arc<Shared>, bell: usize) -> io::Result<Worker> {
        let epoll = Epoll::new()?;
        epoll.set(shared.bells[bell].fd(), 0, kernel::IN, BELL)?;
        epoll.set(shared.ended.fd(), 0, kernel::IN, ENDED)?;
        Ok(Worker {
            handshakes: Queue::new(shared.handshake),
            unknown: HashMap::new(),
            failures: Queue::new(FAILED),
            endings: Queue::new(ENDING),
            stalls: Queue::new(shared.stall),
            held: None,
            shared,
            bell,
            epoll,
            entries: Vec::new(),
            free: Vec::new(),
            round: 0,
            accepts_from: None,
            is_listening: false,
            scratch: vec![0; relay::READ].into(),
        })
    }

    /// Until the VM ends.
    pub fn run(mut self) {
        // Another one may have been here before, and taken nothing of what came since.
        self.shared.bells[self.bell].raise();
        while self.step(None) != Step::Ended {}
        let give_up = Instant::now() + LAST_WORDS;
        let _ = self.epoll.set(self.shared.ended.fd(), kernel::IN, 0, ENDED);
        let _ = self.epoll.set(self.shared.bells[self.bell].fd(), kernel::IN, 0, BELL);
        self.listen(false);
        while Instant::now() < give_up {
            let was_silent = self.step(Some(SILENCE_MS)) == Step::Silent;
            if was_silent && !self.entries.iter().flatten().any(|entry| entry.relay.holds()) {
                break;
            }
        }
        self.shared.unfinished.fetch_sub(1, Ordering::Release);
    }

    /// Waits for something and does it.
    fn step(&mut self, patience: Option<i32>) -> Step {
        #[cfg(test)]
        if self.shared.defects.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            panic!("a defect, as a test wants it");
        }
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let n = self.epoll.wait(&mut events, patience.unwrap_or_else(|| self.next_ms()));
        let mut step = if n == 0 { Step::Silent } else { Step::Busy };
        let mut is_accepting = false;
        // What was told of relays, each once; an event of one that is gone, or whose place has another one, is nobody's.
        for event in &events[..n] {
            match event.u64 {
                ENDED => step = Step::Ended,
                BELL => {
                    // Before it is looked what has changed.
                    self.shared.bells[self.bell].put_down();
                    is_accepting = true;
                }
                LISTENER => is_accepting = true,
                key => {
                    let (key, is_application) = Key::of(key);
                    let can_read = event.events & !kernel::OUT != 0;
                    let ready = Ready { from_client: can_read && !is_application, from_application: can_read && is_application };
                    self.turn(key, ready);
                }
            }
        }
        let now = Instant::now();
        self.end_overdue(now);
        self.end_stalled(now);
        if self.accepts_from.is_some_and(|from| from <= now) {
            self.accepts_from = None;
            is_accepting = step != Step::Ended;
        }
        if is_accepting && step != Step::Ended {
            self.accept(now);
        }
        if is_accepting {
            self.take_in(now);
        }
        step
    }

    /// How long may be slept.
    fn next_ms(&self) -> i32 {
        let next = [self.handshakes.next(), self.failures.next(), self.endings.next(), self.stalls.next(), self.accepts_from]
            .into_iter()
            .flatten()
            .min();
        next.map_or(-1, |next| i32::try_from(next.saturating_duration_since(Instant::now()).as_millis() + 1).unwrap_or(i32::MAX))
    }

    /// Watches the listener, or does not. One that does not listen could be read for ever.
    fn listen(&mut self, listens: bool) {
        let listens = listens && self.shared.is_open.load(Ordering::Acquire);
        let events = [0, kernel::IN | kernel::EXCLUSIVE];
        let (before, now) = (events[usize::from(self.is_listening)], events[usize::from(listens)]);
        let is_set = self.epoll.set(self.shared.listener.as_raw_fd(), before, now, LISTENER).is_ok();
        self.is_listening = if is_set { listens } else { self.is_listening };
    }

    fn accept(&mut self, now: Instant) {
        self.listen(self.accepts_from.is_none());
        if !self.is_listening {
            return;
        }
        let shared = self.shared.clone();
        for _ in 0..MOST_ACCEPTS {
            match shared.listener.accept() {
                Ok(accepted) => self.deal(accepted),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM)) => {
                    shared.complain(Trouble::Descriptors, || {
                        format!("TLS: no client can be accepted: {error}; raise the limit of open files (ulimit -n)")
                    });
                    self.listen(false);
                    self.accepts_from = Some(now + NO_DESCRIPTORS);
                    return;
                }
                // It does not listen any more; when it does again, the bell is raised.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return self.listen(false),
                // Of one client that has gone meanwhile.
                Err(_) => {}
            }
        }
    }

    /// A client was accepted, which may be another thread's.
    fn deal(&self, accepted: Accepted) {
        let placed = self.shared.places().come(self.bell, accepted);
        // One's own are taken in behind this.
        let others = self.shared.placed(placed).filter(|thread| *thread != self.bell);
        others.inspect(|thread| self.shared.bells[*thread].raise());
    }

    /// Begins with those that wait for this thread, and ends those whose places they have.
    fn take_in(&mut self, now: Instant) {
        for _ in 0..MOST_TAKEN {
            let next = self.shared.places().next(self.bell);
            match next {
                Some(Next::End(ticket)) => self.give_up(ticket),
                Some(Next::Begin(ticket, accepted)) => {
                    let place = Place { shared: self.shared.clone(), ticket, thread: self.bell, is_known: false };
                    self.begin(accepted, place, now);
                }
                None => return,
            }
        }
        self.shared.bells[self.bell].raise();
    }

    /// Another one has the place of this one, unless what has come meanwhile ends its handshake.
    fn give_up(&mut self, ticket: Ticket) {
        // It may have gone by itself.
        let Some(&key) = self.unknown.get(&ticket) else { return };
        self.turn(key, Ready { from_client: true, from_application: false });
        if stage(&self.entries, key).is_some_and(Stage::is_unknown) {
            self.end_unknown(key);
        }
    }

    fn begin(&mut self, (client, peer): Accepted, place: Place, now: Instant) {
        if kernel::prepare(&client).is_err() {
            return;
        }
        let Ok(relay) = Relay::new(client, peer, self.shared.config.clone()) else { return };
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        self.round = (self.round + 1) & 0x3fff_ffff;
        let key = Key { place: index, round: self.round };
        self.unknown.insert(place.ticket, key);
        let entry = Entry {
            key,
            relay,
            place,
            client: 0,
            application: 0,
            application_fd: -1,
            seen_as: None,
            seen_fd: None,
            stage: Stage::Handshake,
            is_told: false,
            stall: None,
        };
        self.entries[index as usize] = Some(entry);
        self.shared.metrics.tls_connections.add(1);
        self.handshakes.begin(now, key);
        // Mostly, its first bytes are there already.
        self.turn(key, Ready { from_client: true, from_application: false });
    }

    /// One relay's turn. One that fails by a defect of the gate's takes no other with it.
    fn turn(&mut self, key: Key, ready: Ready) {
        let Some(entry) = self.entries.get_mut(key.place as usize).and_then(Option::as_mut).filter(|entry| entry.key == key) else {
            return;
        };
        let (shared, scratch) = (&self.shared, &mut self.scratch);
        match catch_unwind(AssertUnwindSafe(|| entry.relay.turn(ready, shared.targets, scratch))) {
            Ok(Ok(waits)) => self.turned(key, waits),
            Ok(Err(over)) => {
                if let Over::Unreachable(port, error) = over {
                    shared.unreachable(port, &error);
                }
                self.end(key);
            }
            Err(_) => {
                shared.metrics.tls_defects.add(1);
                shared.complain(Trouble::Defect, || "a defect: a client of TLS was let go; the others go on".to_string());
                self.break_off(key);
            }
        }
    }

    /// A relay has had its turn and `waits`.
    fn turned(&mut self, key: Key, waits: Waits) {
        let Some(entry) = self.entries[key.place as usize].as_mut() else { return };
        let shared = &self.shared;
        if let Some(reason) = entry.relay.take_failure() {
            shared.metrics.tls_failed.add(1);
            let peer = entry.relay.peer();
            shared.complain(Trouble::Handshake, || {
                format!("TLS: the handshake with {peer} has failed: {reason} (more of these are not told for a minute)")
            });
        }
        let stage = entry.relay.stage();
        if std::mem::replace(&mut entry.stage, stage) != stage && stage == Stage::Failed {
            self.failures.begin(Instant::now(), key);
        }
        if !stage.is_unknown() && !entry.place.is_known {
            self.unknown.remove(&entry.place.ticket);
            entry.place.know();
        }
        // Until it is told the end it has the time of those who take nothing: there may be much before it.
        if stage == Stage::Ending && entry.relay.is_told() && !entry.is_told {
            entry.is_told = true;
            self.endings.begin(Instant::now(), key);
        }
        if is_to_take(stage) && entry.relay.is_blocked() && entry.stall.is_none() {
            entry.stall = Some(entry.relay.taken());
            self.stalls.begin(Instant::now(), key);
        }
        entry.tell_peers(shared);
        if entry.watch(&self.epoll, waits).is_err() {
            self.end(key);
        }
    }

    fn end_overdue(&mut self, now: Instant) {
        loop {
            let entries = &self.entries;
            let handshake = self.handshakes.overdue(now, |key| stage(entries, key).is_some_and(Stage::is_unknown));
            let failure = self.failures.overdue(now, |key| stage(entries, key).is_some());
            let ending = self.endings.overdue(now, |key| stage(entries, key).is_some());
            if handshake.or(failure).or(ending).is_none() {
                return;
            }
            [handshake, failure].into_iter().flatten().for_each(|key| self.end_unknown(key));
            ending.into_iter().for_each(|key| self.end(key));
        }
    }

    /// Ends one that has not shown that it is in earnest; a handshake that has failed before was counted then.
    fn end_unknown(&mut self, key: Key) {
        let is_at_it = stage(&self.entries, key) == Some(Stage::Handshake);
        self.shared.metrics.tls_failed.add(u64::from(is_at_it));
        self.end(key);
    }

    /// Lets those go who take nothing of what an application has written that has ended meanwhile: without TLS the kernel would. Who takes
    /// something now and then, or whose application waits for it, stays.
    fn end_stalled(&mut self, now: Instant) {
        loop {
            let entries = &self.entries;
            let Some(key) = self.stalls.overdue(now, |key| stage(entries, key).is_some_and(is_to_take)) else { return };
            let Some(entry) = self.entries[key.place as usize].as_mut() else { return };
            let taken = entry.relay.taken();
            let had = entry.stall.take();
            if !entry.relay.is_blocked() {
                continue;
            }
            entry.stall = Some(taken);
            // One that has said all waits for nobody.
            let is_ending = entry.stage == Stage::Ending;
            let address = entry.relay.application().filter(|_| !is_ending).and_then(|stream| stream.local_addr().ok());
            if had == Some(taken) && !address.is_some_and(|address| self.is_held(now, address)) {
                self.end(key);
            } else {
                self.stalls.begin(now, key);
            }
        }
    }

    /// Whether the application has not ended the connection that comes from `address`.
    fn is_held(&mut self, now: Instant, address: SocketAddr) -> bool {
        if self.held.as_ref().is_none_or(|(asked, _)| *asked + HELD <= now) {
            let ports: Vec<u16> = self.shared.targets.ports().collect();
            self.held = Some((now, own_ports::open_connections(&ports)));
        }
        // Where the kernel does not tell, nobody is let go for it.
        self.held.as_ref().and_then(|(_, held)| held.as_ref()).is_none_or(|held| held.contains(&address))
    }

    /// Closes both connections; a descriptor that is closed is watched no more.
    fn end(&mut self, key: Key) {
        let Some(entry) = self.entries[key.place as usize].take_if(|entry| entry.key == key) else { return };
        if let Some(address) = entry.seen_as {
            self.shared.peers.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
        }
        self.unknown.remove(&entry.place.ticket);
        drop(entry);
        self.free.push(key.place);
        self.shared.metrics.tls_closed.add(1);
    }

    /// The same, and the application sees the connection break.
    fn break_off(&mut self, key: Key) {
        if let Some(entry) = self.entries[key.place as usize].as_mut().filter(|entry| entry.key == key) {
            entry.relay.break_application();
        }
        self.end(key);
    }
}

/// Whoever ends a thread, its clients are gone then, and count no more. Of a thread that has had a defect the applications see them break.
impl Drop for Worker {
    fn drop(&mut self) {
        let keys: Vec<Key> = self.entries.iter().flatten().map(|entry| entry.key).collect();
        let is_defect = std::thread::panicking();
        keys.into_iter().for_each(|key| if is_defect { self.break_off(key) } else { self.end(key) });
    }
}

/// Whether a client may have something to take.
fn is_to_take(stage: Stage) -> bool {
    matches!(stage, Stage::Open | Stage::Ending)
}

/// What to do where the application cannot be connected to.
fn help_for(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EADDRNOTAVAIL) => {
            "no port of this host is left for one more connection there: lower tls-connections, or widen net.ipv4.ip_local_port_range"
        }
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (ulimit -n), or lower tls-connections",
        Some(libc::ENOBUFS | libc::ENOMEM) => "the kernel has no memory for it: give this host, or its container, more",
        _ => "have the service listen there",
    }
}

fn stage(entries: &[Option<Entry>], key: Key) -> Option<Stage> {
    entries.get(key.place as usize)?.as_ref().filter(|entry| entry.key == key).map(|entry| entry.relay.stage())
}

/// A client's place, which it gives back when it goes.
struct Place {
    shared: Arc<Shared>,
    ticket: Ticket,
    /// Whose it is.
    thread: usize,
    /// Its handshake has ended.
    is_known: bool,
}

impl Place {
    /// The handshake has ended.
    fn know(&mut self) {
        self.is_known = true;
        let placed = self.shared.places().known(self.ticket, self.thread);
        // One that was to have this place waits for another one.
        let thread = placed.and_then(|placed| self.shared.placed(placed));
        thread.inspect(|thread| self.shared.bells[*thread].raise());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.places().gone(self.ticket, self.thread, self.is_known);
    }
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nothing was to be done.
    Silent,
    /// Something was done.
    Busy,
    /// The VM ends.
    Ended,
}

impl Entry {
    /// Once the connection to the application has an address.
    fn tell_peers(&mut self, shared: &Shared) {
        // Another socket takes the place of the first one where the application listens at ::1 only.
        let fd = self.relay.application().map(|stream| stream.as_raw_fd());
        if self.seen_fd != fd
            && let Some(address) = self.relay.application().and_then(|stream| stream.local_addr().ok())
        {
            let mut peers = shared.peers.lock().unwrap_or_else(PoisonError::into_inner);
            self.seen_as.take().map(|before| peers.remove(&before));
            peers.insert(address, self.relay.peer());
            (self.seen_as, self.seen_fd) = (Some(address), fd);
        }
    }

    /// Has the set watch for what is waited for, and nothing else.
    fn watch(&mut self, epoll: &Epoll, waits: Waits) -> io::Result<()> {
        let events = |read: bool, write: bool| if read { kernel::IN } else { 0 } | if write { kernel::OUT } else { 0 };
        let now = events(waits.from_client, waits.to_client);
        epoll.set(self.relay.client().as_raw_fd(), self.client, now, self.key.event(false))?;
        self.client = now;
        let fd = self.relay.application().map_or(-1, |stream| stream.as_raw_fd());
        if fd != self.application_fd {
            // The other one was closed, and with it what it was watched for.
            (self.application_fd, self.application) = (fd, 0);
        }
        if fd >= 0 {
            let now = events(waits.from_application, waits.to_application);
            epoll.set(fd, self.application, now, self.key.event(true))?;
            self.application = now;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_said_by_what_is_wrong() {
        let of = |number| help_for(&io::Error::from_raw_os_error(number));
        assert!(of(libc::ECONNREFUSED).contains("have the service listen"));
        assert!(of(libc::EADDRNOTAVAIL).contains("ip_local_port_range") && !of(libc::EADDRNOTAVAIL).contains("listen there"));
        assert!(of(libc::EMFILE).contains("ulimit -n") && of(libc::ENOBUFS).contains("memory"));
    }
}
