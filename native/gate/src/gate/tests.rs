// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Pauses as the thread sees them: its looks at the VM's counters are the moments at which the VM does something.

use super::*;
use crate::connection::Connection;
use crate::http1::Http1;
use crate::kernel;
use crate::pause::Wait;
use crate::perf_memory::Counter;
use crate::spoken::Spoken;
use crate::vm_counters::Work;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// `sun.rt.safepoints` and `sun.rt.safepointTime`, and how often they were looked at.
#[derive(Default)]
struct Vm {
    begun: AtomicI64,
    time: AtomicI64,
    looks: AtomicU64,
}

impl Vm {
    fn safepoint_begins(&self, clock: &PauseClock) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        clock.safepoint_begins(self.time.load(Ordering::SeqCst));
    }

    fn safepoint_ends(&self) {
        self.time.fetch_add(1, Ordering::SeqCst);
    }
}

fn gate(options: &str, counters: Option<VmCounters>, watch: Option<VmWatch>, clock: &'static PauseClock) -> Gate {
    let (watched, metrics) = (leak(Watched::new().unwrap()), leak(Metrics::new()));
    Gate::new(Options::parse(options).unwrap(), clock, watched, metrics, counters, watch, Outlets::default())
}

/// A gate whose looks at the counters do `at_look`, which is told how many there were since the last pause was begun, from 1.
fn watching(counters: Option<VmCounters>, at_look: impl Fn(u64, &Vm, &PauseClock) + Send + 'static) -> (Gate, &'static Vm) {
    let (clock, vm) = (leak(PauseClock::new()), leak(Vm::default()));
    let time = move || {
        let looks = vm.looks.fetch_add(1, Ordering::SeqCst);
        if looks > 0 {
            at_look(looks, vm, clock);
        }
        vm.time.load(Ordering::SeqCst)
    };
    let watch = SafepointWatch::new(Box::new(|| vm.begun.load(Ordering::SeqCst)) as Box<dyn Fn() -> i64 + Send>, Box::new(time) as _);
    (gate("port=1", counters, Some(watch), clock), vm)
}

fn pause(gate: &mut Gate, vm: &Vm) {
    vm.looks.store(1, Ordering::SeqCst);
    vm.safepoint_begins(gate.clock);
    gate.pause();
    assert!(!gate.clock.is_paused());
}

/// Collections, other pauses, and errors of predictions that were counted.
fn counts(gate: &Gate) -> (u64, u64, u64) {
    (gate.metrics.collections.get(), gate.metrics.safepoints.get(), gate.metrics.errors.iter().map(|count| count.get()).sum())
}

#[test]
fn a_safepoint_without_a_collection_is_counted_and_its_prediction_judged() {
    let (mut gate, vm) = watching(None, |look, vm, _| {
        if look == 3 {
            vm.safepoint_ends();
        }
    });
    pause(&mut gate, vm);
    assert_eq!(counts(&gate), (0, 1, 0));
    // The first has nothing to be judged by.
    pause(&mut gate, vm);
    assert_eq!(counts(&gate), (0, 2, 1));
}

#[test]
fn a_collection_whose_safepoint_is_seen_first_is_no_other_pause() {
    let (mut gate, vm) = watching(None, |look, vm, clock| match look {
        2 => clock.collection_begins(),
        3 => {
            clock.collection_ends();
            vm.safepoint_ends();
        }
        _ => {}
    });
    pause(&mut gate, vm);
    assert_eq!(counts(&gate), (1, 0, 0));
    assert!(!gate.models.contains_key(&Kind::Safepoint));
}

#[test]
fn a_collection_between_two_looks_is_no_other_pause() {
    let (mut gate, vm) = watching(None, |_, vm, clock| {
        clock.collection_begins();
        clock.collection_ends();
        vm.safepoint_ends();
    });
    pause(&mut gate, vm);
    pause(&mut gate, vm);
    assert_eq!(counts(&gate), (2, 0, 1));
    assert!(!gate.models.contains_key(&Kind::Safepoint));
    // One that is over before the thread has come to it.
    gate.clock.collection_begins();
    gate.clock.collection_ends();
    gate.pause();
    assert_eq!(counts(&gate), (3, 0, 2));
}

/// A heap dump of what lives collects first, in its own safepoint.
#[test]
fn what_a_safepoint_does_after_a_collection_is_a_pause() {
    let (mut gate, vm) = watching(None, |look, vm, clock| match look {
        1 => {
            clock.collection_begins();
            clock.collection_ends();
            clock.safepoint_ends();
        }
        5 => vm.safepoint_ends(),
        _ => {}
    });
    pause(&mut gate, vm);
    assert_eq!(counts(&gate), (1, 0, 0));
    // Mostly it has little to do.
    gate.over_ns = Some(now_ns() + 3600 * 1_000_000_000);
    assert!(!gate.look_for_safepoint() && !gate.clock.is_paused());
    gate.over_ns = Some(now_ns() - REST_NS);
    assert!(gate.look_for_safepoint() && gate.clock.is_paused());
    gate.pause();
    assert_eq!(counts(&gate), (1, 1, 0));
    assert!(gate.over_ns.is_some() && !gate.look_for_safepoint() && gate.over_ns.is_none());
}

/// While the kind may still show, nothing is told; but then it is, although it has not changed any more.
#[test]
fn what_is_expected_follows_the_kind_after_the_wait_for_it() {
    const SHORT: f64 = 10e9;
    const LONG: f64 = 3600e9;
    let late = AtomicU64::new(0);
    let (mut gate, vm) = watching(Some(VmCounters::of(Vec::new(), Vec::new())), move |look, vm, clock| {
        if look == 2 {
            clock.collection_begins();
        }
        if look > 2 && now_ns() - clock.begin_ns() > KIND_SHOWS_NS && late.fetch_add(1, Ordering::SeqCst) == 3 {
            clock.collection_ends();
            vm.safepoint_ends();
        }
    });
    gate.models.entry(Kind::Safepoint).or_default().learn(0.0, SHORT);
    gate.models.entry(Kind::Collection).or_default().learn(0.0, LONG);
    pause(&mut gate, vm);
    // Nobody has told anything else since.
    gate.clock.collection_begins();
    let remaining = gate.clock.remaining_ns().unwrap() as f64;
    assert!(remaining > LONG / 2.0, "{remaining}");
}

/// Counters of a VM that says how much a pause has to do, and what it writes there.
fn work() -> (VmCounters, [&'static AtomicI64; 3]) {
    let values = std::array::from_fn(|_| leak(AtomicI64::new(0)));
    let [expected, all, done] = values.map(Counter::of);
    (VmCounters::of_work(Work { expected, all, done }), values)
}

/// Lull says how much a pause has to do, and what of it is done: what is told follows.
#[test]
fn what_is_expected_follows_what_is_done() {
    const WORK: i64 = 1 << 30;
    const LENGTH: f64 = 1000e9;
    let (counters, [expected, all, done]) = work();
    let seen: &'static std::sync::Mutex<Vec<u64>> = leak(std::sync::Mutex::new(Vec::new()));
    let (mut gate, vm) = watching(Some(counters), move |look, vm, clock| {
        if look == 2 {
            expected.store(WORK, Ordering::SeqCst);
            all.store(WORK, Ordering::SeqCst);
            clock.collection_begins();
        }
        if look > 2 && now_ns() - clock.begin_ns() > KIND_SHOWS_NS {
            let mut seen = seen.lock().unwrap();
            seen.push(clock.remaining_ns().unwrap_or(0));
            // Half, and then nine tenths, at once: much faster than was expected.
            done.store([0, WORK / 2, WORK / 10 * 9][seen.len().min(3) - 1], Ordering::SeqCst);
            if seen.len() == 6 {
                clock.collection_ends();
                vm.safepoint_ends();
            }
        }
    });
    for _ in 0..20 {
        gate.models.entry(Kind::Collection).or_default().learn(WORK as f64, LENGTH);
    }
    pause(&mut gate, vm);
    let remaining: Vec<f64> = seen.lock().unwrap().iter().map(|&ns| ns as f64).collect();
    let (first, last) = (remaining[1], *remaining.last().unwrap());
    assert!(first > LENGTH / 2.0, "{remaining:?}");
    // A tenth is left, which takes about a tenth of a tenth of what was expected.
    assert!(last < LENGTH / 50.0, "{remaining:?}");
}

/// A collection that follows another one at once has its own begin and its own work.
#[test]
fn a_collection_at_once_after_another_is_predicted_by_itself() {
    const LONG: i64 = 1000;
    const SHORT: i64 = 10;
    let (counters, [expected, all, _]) = work();
    let begins = |work: i64, clock: &PauseClock| {
        expected.store(work, Ordering::SeqCst);
        all.store(work, Ordering::SeqCst);
        clock.collection_begins();
    };
    let told: &'static AtomicU64 = leak(AtomicU64::new(0));
    let late = AtomicU64::new(0);
    let (mut gate, vm) = watching(Some(counters), move |look, vm, clock| {
        if look == 2 {
            begins(LONG, clock);
        }
        if look > 2 && now_ns() - clock.begin_ns() > KIND_SHOWS_NS {
            match late.fetch_add(1, Ordering::SeqCst) {
                1 => {
                    clock.collection_ends();
                    begins(SHORT, clock);
                }
                3 => {
                    told.store(clock.remaining_ns().unwrap_or(0), Ordering::SeqCst);
                    clock.collection_ends();
                    vm.safepoint_ends();
                }
                _ => {}
            }
        }
    });
    for i in 0..40 {
        let work = if i % 2 == 0 { LONG } else { SHORT };
        gate.models.entry(Kind::Collection).or_default().learn(work as f64, work as f64 * 1e9);
    }
    pause(&mut gate, vm);
    let told = told.load(Ordering::SeqCst) as f64;
    assert!(told > SHORT as f64 * 0.5e9 && told < SHORT as f64 * 3e9, "{told}");
}

#[test]
fn what_is_remembered_is_of_no_pause_that_has_begun() {
    let [young, full, used] = std::array::from_fn(|_| leak(AtomicI64::new(0)));
    let counters = VmCounters::of(vec![Counter::of(young), Counter::of(full)], vec![Counter::of(used)]);
    let mut gate = gate("port=1", Some(counters), None, leak(PauseClock::new()));
    gate.remember();
    assert_eq!(gate.kind(), Kind::Collection);
    // The next pause begins while the counters are read.
    gate.clock.collection_begins();
    young.store(1, Ordering::SeqCst);
    used.store(1000, Ordering::SeqCst);
    gate.remember();
    assert_eq!((gate.kind(), gate.feature), (Kind::Collector(0), 0.0));
    gate.clock.collection_ends();
    gate.remember();
    assert_eq!((gate.kind(), gate.feature), (Kind::Collection, 1000.0));
    // A full collection that was not noticed, and a young one behind it: what is remembered is too old to tell them apart.
    gate.clock.collection_begins();
    full.store(1, Ordering::SeqCst);
    gate.clock.collection_ends();
    gate.clock.collection_begins();
    gate.remember();
    young.store(2, Ordering::SeqCst);
    assert_eq!(gate.kind(), Kind::Collector(0));
}

struct Client {
    client: TcpStream,
    server: TcpStream,
}

/// A connection on which these bytes have come.
fn client(bytes: &[u8]) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let fd = server.as_raw_fd();
    let connection = Connection::new(Spoken::Http1(Http1::new(Arc::from(Vec::new()))), kernel::tcp_totals(fd).unwrap().unwrap());
    Table::global().track(fd, kernel::inode(fd).unwrap(), true, connection);
    client.write_all(bytes).unwrap();
    kernel::wait_readable(fd, 10_000_000_000);
    Client { client, server }
}

impl Drop for Client {
    fn drop(&mut self) {
        Table::global().forget(self.server.as_raw_fd());
        let _ = self.client.shutdown(std::net::Shutdown::Both);
    }
}

/// An upload into a channel whose selector was told just before the pause: it is looked at again, once in a round, however many events it has had.
#[test]
fn what_is_to_be_looked_at_again_is_looked_at_once() {
    let mut gate = gate("port=1", None, None, leak(PauseClock::new()));
    let mut client = client(b"P");
    let fd = client.server.as_raw_fd();
    gate.watched.add(fd).unwrap();
    gate.table.live(fd).unwrap().announced.store(true, Ordering::SeqCst);
    gate.clock.collection_begins();
    let mut pause = gate.begin();
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 256];
    let mut seen = 0;
    for _ in 0..20 {
        client.client.write_all(b"x").unwrap();
        seen += gate.round(&mut pause, &mut events);
    }
    assert!(seen > 1, "{seen} events");
    assert_eq!(gate.again.iter().copied().collect::<Vec<_>>(), [fd]);
}

#[test]
fn a_dry_run_counts_a_request_as_answered_or_kept() {
    for (options, expected) in [("port=1,dry-run,deadline=1", [0, 1, 0]), ("port=1,dry-run,deadline=600000", [0, 0, 1])] {
        let client = client(b"GET / HTTP/1.1\r\n\r\n");
        let mut gate = gate(options, None, None, leak(PauseClock::new()));
        gate.clock.collection_begins();
        for _ in 0..3 {
            gate.look(client.server.as_raw_fd(), now_ns(), &Prediction::UNKNOWN);
        }
        assert_eq!(gate.done(), expected, "{options}");
    }
}

#[test]
fn what_is_answered_can_be_read() {
    let client = client(b"GET /a?b HTTP/1.1\r\nUser-Agent: me\r\n\r\nHEAD /c HTTP/1.1\r\n\r\n");
    let answers = leak(Answers::new());
    let mut gate = gate("port=1,deadline=1", None, None, leak(PauseClock::new())).telling(answers);
    gate.clock.collection_begins();
    gate.look(client.server.as_raw_fd(), now_ns(), &Prediction::UNKNOWN);
    let text = answers.text();
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("127.0.0.1 - - [") && lines[0].ends_with("] \"GET /a?b HTTP/1.1\" 503 0 \"-\" \"me\""), "{text}");
    assert!(lines.len() == 2 && lines[1].ends_with("] \"HEAD /c HTTP/1.1\" 503 0 \"-\" \"-\""), "{text}");
}

/// How long pauses are is nobody's business who need not know it.
#[test]
fn what_is_told_may_be_the_same_always() {
    let mut client = client(b"GET / HTTP/1.1\r\n\r\n");
    let mut gate = gate("port=1,deadline=1,busy-until=700", None, None, leak(PauseClock::new()));
    gate.clock.collection_begins();
    gate.look(client.server.as_raw_fd(), now_ns(), &Prediction::UNKNOWN);
    let mut answer = [0; 1024];
    let length = client.client.read(&mut answer).unwrap();
    let text = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(text.contains("\r\nRetry-After: 1\r\n") && text.contains("\r\nBusy-Until: 700\r\n"), "{text}");
}

/// But to those whom the options name.
#[test]
fn who_is_trusted_is_told_how_long_the_pause_is() {
    for (trusted, hidden) in [("127.0.0.0/8", false), ("10.0.0.0/8", true)] {
        let mut client = client(b"GET / HTTP/1.1\r\n\r\n");
        let options = format!("port=1,deadline=1,busy-until=700,trusted={trusted}");
        let mut gate = gate(&options, None, None, leak(PauseClock::new()));
        gate.clock.collection_begins();
        gate.look(client.server.as_raw_fd(), now_ns(), &Prediction { expected_ns: 40e9, upper_ns: 40e9 });
        let mut answer = [0; 1024];
        let length = client.client.read(&mut answer).unwrap();
        let text = String::from_utf8_lossy(&answer[..length]).into_owned();
        assert_eq!(text.contains("\r\nBusy-Until: 700\r\n"), hidden, "{trusted}: {text}");
        assert!(text.contains("\r\nBusy-Until: "), "{text}");
    }
}

/// The word says that there is a pause, but the application does not wait for its end any more.
#[test]
fn nothing_is_answered_in_a_pause_that_was_given_up() {
    let client = client(b"GET / HTTP/1.1\r\n\r\n");
    let fd = client.server.as_raw_fd();
    let mut gate = gate("port=1,deadline=1", None, None, leak(PauseClock::new()));
    gate.clock.collection_begins();
    assert_eq!(gate.clock.wait_at_most(1), Wait::GivenUp);
    gate.look(fd, now_ns(), &Prediction::UNKNOWN);
    assert_eq!((gate.done(), std::mem::take(&mut gate.again)), ([0; 3], BTreeSet::from([fd])));
    // The next is another one, although the word has not changed.
    gate.clock.collection_begins();
    gate.look(fd, now_ns(), &Prediction::UNKNOWN);
    assert_eq!(gate.done(), [1, 0, 0]);
}

#[test]
fn a_connection_that_the_thread_gives_up_is_told_of_as_any_other() {
    let client = client(b"\x16\x03\x01 is no HTTP\n");
    let mut gate = gate("port=1", None, None, leak(PauseClock::new()));
    gate.clock.collection_begins();
    let before = agent::METRICS.opaque[0].get();
    gate.look(client.server.as_raw_fd(), now_ns(), &Prediction::UNKNOWN);
    assert_eq!(agent::METRICS.opaque[0].get(), before + 1);
    assert!(Table::global().live(client.server.as_raw_fd()).is_none());
}
