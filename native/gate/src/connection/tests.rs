// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The whole of a connection against a model: a client that sends requests, an application that answers them in order, and the
//! gate, in any interleaving, over a wire that cuts and refuses as a kernel may.

use super::fake_wire::FakeWire;
use super::*;
use crate::http1::Http1;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

fn connection() -> Connection<Http1> {
    Connection::new(Http1::new(Arc::from(Vec::new())), Totals { established: true, taken: 0, written: 0, unacknowledged: 0 })
}

fn always(_: Option<Duration>) -> Decision {
    Decision::Answer(Duration::from_millis(1))
}

fn get(number: usize) -> Vec<u8> {
    match number % 3 {
        0 => format!("GET /{number} HTTP/1.1\r\n\r\n"),
        1 => format!("POST /{number} HTTP/1.1\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n"),
        _ => format!("POST /{number} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    }
    .into_bytes()
}

/// What is at the front of bytes that begin with a request of `get`: its number and length.
fn front_of(bytes: &[u8]) -> Option<(usize, usize)> {
    let text = String::from_utf8_lossy(bytes);
    let number = text.split_once('/')?.1.split_once(' ')?.0.parse().ok()?;
    let length = get(number).len();
    (bytes.len() >= length && bytes[..length] == get(number)).then_some((number, length))
}

#[derive(Debug, Clone)]
enum Step {
    /// The client's next so many bytes arrive.
    Arrive(usize),
    /// The application reads at most so many bytes.
    Read(usize),
    /// The application writes at most so many bytes of its answers.
    Write(usize),
    /// The gate looks, wanting to answer so many.
    Look(usize),
    /// The send buffer has room for so many bytes.
    Room(usize),
    /// The kernel's counts will not hold still, or will.
    Restless(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1usize..120).prop_map(Step::Arrive),
        3 => (1usize..100).prop_map(Step::Read),
        3 => (1usize..100).prop_map(Step::Write),
        5 => (0usize..4).prop_map(Step::Look),
        2 => prop_oneof![Just(0usize), 1usize..150, Just(100_000)].prop_map(Step::Room),
        1 => any::<bool>().prop_map(Step::Restless),
    ]
}

struct Model {
    connection: Connection<Http1>,
    wire: FakeWire,
    /// The client's bytes that have not arrived.
    coming: VecDeque<u8>,
    /// What the application has read and not yet made into requests; its answers that are not written.
    read: Vec<u8>,
    to_write: Vec<u8>,
    processed: Vec<usize>,
    busy: usize,
}

impl Model {
    fn new(requests: usize) -> Model {
        Model {
            connection: connection(),
            wire: FakeWire { room: 100_000, ..FakeWire::default() },
            coming: (0..requests).flat_map(get).collect(),
            read: Vec::new(),
            to_write: Vec::new(),
            processed: Vec::new(),
            busy: 0,
        }
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Arrive(n) => {
                let n = n.min(self.coming.len());
                self.wire.received.extend(self.coming.drain(..n));
            }
            Step::Read(n) => {
                let n = n.min(self.wire.received.len());
                let bytes: Vec<u8> = self.wire.received.drain(..n).collect();
                self.wire.totals.0 += n as u64;
                self.connection.received(&bytes);
                self.read.extend(bytes);
                while let Some((number, length)) = front_of(&self.read) {
                    self.read.drain(..length);
                    self.processed.push(number);
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{number}", number.to_string().len());
                    self.to_write.extend(answer.into_bytes());
                }
            }
            Step::Write(n) => {
                let n = n.min(self.to_write.len());
                if n == 0 || !self.connection.flush(&mut self.wire) {
                    return;
                }
                self.connection.write_begins();
                // The kernel may take less.
                let n = self.wire.send(&self.to_write[..n]).unwrap_or(0);
                self.connection.sent(&self.to_write[..n]);
                self.to_write.drain(..n);
                self.connection.write_ends();
            }
            Step::Look(n) => {
                let mut wanted = n;
                let mut answered = 0_u64;
                let decide = |_: Option<Duration>| {
                    if wanted == 0 {
                        return Decision::Keep;
                    }
                    wanted -= 1;
                    Decision::Answer(Duration::from_millis(7))
                };
                let outcome = self.connection.look(&mut self.wire, &mut [0; 200], decide, |requests, _, _| answered += requests);
                assert!(outcome != Outcome::Opaque, "{:?}", self.connection.opaque());
                self.busy += answered as usize;
            }
            Step::Room(n) => self.wire.room = n,
            Step::Restless(restless) => self.wire.restless = restless,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Each request has one answer, in order: the application's if it has processed it, busy if not.
    #[test]
    fn one_answer_to_each_request(requests in 1usize..8, steps in proptest::collection::vec(step(), 0..120)) {
        let mut model = Model::new(requests);
        for step in &steps {
            model.take(step);
        }
        // Let the application finish.
        model.wire.room = 1_000_000;
        model.wire.restless = false;
        for _ in 0..3 {
            for step in [Step::Arrive(10_000), Step::Read(10_000), Step::Write(10_000)] {
                model.take(&step);
            }
        }
        // What is left of a busy answer, if the application had nothing to write.
        prop_assert!(model.connection.flush(&mut model.wire));
        prop_assert_eq!(model.connection.opaque(), None);
        prop_assert!(model.connection.protocol.is_idle());
        prop_assert_eq!(model.processed.len() + model.busy, requests);

        let mut sent = &model.wire.sent[..];
        let mut processed = model.processed.iter().peekable();
        for number in 0..requests {
            let expected = if processed.next_if_eq(&&number).is_some() {
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{number}", number.to_string().len())
            } else {
                "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nBusy-Until: 7\r\n\r\n".to_string()
            };
            prop_assert!(sent.starts_with(expected.as_bytes()), "request {} is not answered by {:?} but {:?}", number, expected, String::from_utf8_lossy(sent));
            sent = &sent[expected.len()..];
        }
        prop_assert!(sent.is_empty() && processed.next().is_none());
    }
}

fn arrived(bytes: &[u8]) -> FakeWire {
    FakeWire { received: bytes.iter().copied().collect(), room: 1000, ..FakeWire::default() }
}

#[test]
fn unseen_bytes_make_it_opaque_for_ever() {
    for (taken, written) in [(1, 0), (0, 1)] {
        let mut connection = connection();
        let mut wire = arrived(&get(0));
        wire.totals = (taken, written);
        assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |_, _, _| panic!("answered")), Outcome::Opaque);
        assert_eq!(connection.opaque(), Some(Opaque::UnseenBytes));
        wire.totals = (0, 0);
        assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |_, _, _| panic!("answered")), Outcome::Opaque);
        assert_eq!((wire.received.len(), wire.sent.len()), (get(0).len(), 0));
    }
}

#[test]
fn a_client_that_has_closed_is_the_applications() {
    let mut connection = connection();
    let mut wire = arrived(&get(0));
    wire.closing = true;
    assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |_, _, _| panic!("answered")), Outcome::Left);
    assert_eq!(wire.received.len(), get(0).len());
    wire.received.clear();
    assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |_, _, _| panic!("answered")), Outcome::Left);
    assert_eq!(connection.opaque(), None);
}

#[test]
fn a_write_in_progress_keeps_the_gate_away() {
    let mut connection = connection();
    let mut wire = arrived(&get(0));
    connection.write_begins();
    assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |_, _, _| panic!("answered")), Outcome::NotIdle);
    connection.write_ends();
    assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |_, _, _| ()), Outcome::Empty);
}

#[test]
fn two_writes_at_once_make_it_opaque() {
    let mut connection = connection();
    connection.write_begins();
    connection.write_begins();
    assert_eq!(connection.opaque(), Some(Opaque::ConcurrentWrites));
}

/// The application may have nothing to write, which would bring the rest along.
#[test]
fn the_rest_of_an_answer_is_written_though_nothing_else_is_followed() {
    let mut connection = connection();
    let mut wire = arrived(&get(0));
    wire.room = 10;
    connection.look(&mut wire, &mut [0; 200], always, |_, _, _| ());
    assert!(connection.has_unsent());
    connection.make_opaque(Opaque::ConcurrentWrites);
    connection.pay(&mut wire);
    assert!(connection.is_live() && wire.sent.len() == 10);
    wire.room = 1000;
    connection.pay(&mut wire);
    assert!(!connection.is_live() && wire.sent.ends_with(b"\r\n\r\n"));
}

#[test]
fn the_rest_of_an_answer_is_not_for_another_socket() {
    let mut connection = connection();
    let mut wire = arrived(&get(0));
    wire.room = 10;
    connection.look(&mut wire, &mut [0; 200], always, |_, _, _| ());
    connection.make_opaque(Opaque::AnotherSocket);
    wire.room = 1000;
    connection.pay(&mut wire);
    assert!(!connection.is_live() && wire.sent.len() == 10);
}

#[test]
fn what_was_answered_is_counted_whatever_comes_of_the_connection() {
    let mut connection = connection();
    let mut wire = arrived(&get(0));
    wire.defect = true;
    let mut answered = 0_u64;
    assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |requests, _, _| answered += requests), Outcome::Opaque);
    assert_eq!((answered, connection.opaque()), (1, Some(Opaque::Defect)));
    assert!(wire.sent.ends_with(b"\r\n\r\n"));
}

#[test]
fn a_look_ends_however_much_there_is() {
    let mut connection = connection();
    // Of 100 bytes five requests are whole.
    let mut wire = arrived(&b"GET / HTTP/1.1\r\n\r\n".repeat(2 * MOST_PEEKS * 5 + 1));
    wire.room = 1_000_000;
    let mut answered = 0_u64;
    for looks in 1..=2 {
        assert_eq!(connection.look(&mut wire, &mut [0; 100], always, |requests, _, _| answered += requests), Outcome::Again);
        assert_eq!(answered, 5 * looks * MOST_PEEKS as u64);
    }
    assert_eq!(connection.look(&mut wire, &mut [0; 100], always, |requests, _, _| answered += requests), Outcome::Empty);
    assert_eq!(answered, 10 * MOST_PEEKS as u64 + 1);
}

/// What a client sends in a pause costs the gate in proportion, however it comes: together it must not make the pause longer.
#[test]
fn a_request_costs_few_calls_and_twice_its_bytes() {
    let small = b"GET / HTTP/1.1\r\n\r\n";
    let body = |length: usize| [format!("PUT / HTTP/1.1\r\nContent-Length: {length}\r\n\r\n").into_bytes(), vec![7; length]].concat();
    for (name, bytes, requests) in [
        ("64 KB of small ones", small.repeat(3640), 3640),
        ("larger than a first look", body(200_000), 1),
        ("as large as a first look, and small ones behind", [body(16_000), small.repeat(500)].concat(), 501),
    ] {
        let mut connection = connection();
        let mut wire = arrived(&bytes);
        wire.room = usize::MAX;
        let (mut answered, mut looks) = (0, 0);
        while !wire.received.is_empty() {
            looks += 1;
            connection.look(&mut wire, &mut vec![0; 256 * 1024], always, |requests, _, _| answered += requests);
        }
        let (calls, looked_at) = (wire.calls, wire.looked_at);
        assert_eq!(answered, requests, "{name}");
        assert!(
            calls as u64 <= 4 * requests.max(10) && looked_at <= 2 * bytes.len(),
            "{name}: {calls} calls, {looked_at} bytes, {looks} looks"
        );
    }
}

/// Nor if it comes byte by byte, and the gate is told of each.
#[test]
fn a_body_in_pieces_is_not_looked_at_with_each() {
    let mut connection = connection();
    let mut wire = arrived(b"PUT / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n");
    let mut answered = 0;
    for _ in 0..5000 {
        let outcome = connection.look(&mut wire, &mut [0; 10_000], always, |_, _, _| panic!("answered"));
        assert_eq!(outcome, Outcome::Incomplete);
        wire.received.push_back(7);
    }
    assert_eq!(connection.look(&mut wire, &mut [0; 10_000], always, |requests, _, _| answered += requests), Outcome::Empty);
    assert_eq!((answered, wire.received.len()), (1, 0));
    assert!(wire.looked_at < 11_000, "{}", wire.looked_at);
}

#[test]
fn a_request_that_does_not_fit_is_left() {
    let mut connection = connection();
    let mut wire = arrived(&get(1));
    assert_eq!(connection.look(&mut wire, &mut [0; 20], always, |_, _, _| panic!("answered")), Outcome::Left);
    assert_eq!(connection.opaque(), None);
}

#[test]
fn without_room_nothing_is_taken() {
    let mut connection = connection();
    let mut wire = arrived(&get(0));
    wire.room = 0;
    assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |_, _, _| panic!("answered")), Outcome::Again);
    assert_eq!((wire.received.len(), connection.has_unsent()), (get(0).len(), false));
    // With room for a part: the rest comes before anything else.
    wire.room = 10;
    let mut answered = 0_u64;
    assert_eq!(connection.look(&mut wire, &mut [0; 200], always, |requests, _, _| answered += requests), Outcome::Again);
    assert!(answered == 1 && connection.has_unsent() && wire.received.is_empty());
    wire.room = 1000;
    assert!(connection.flush(&mut wire) && wire.sent.ends_with(b"\r\n\r\n"));
}

/// Nor a head, or a body without a length: it becomes the application's.
#[test]
fn what_comes_byte_by_byte_without_an_end_is_given_up() {
    for begun in [&b"GET / HTTP/1.1\r\nX: "[..], b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"] {
        let mut connection = connection();
        let mut wire = arrived(begun);
        let mut last = Outcome::Empty;
        for number in 0..20_000 {
            last = connection.look(&mut wire, &mut vec![0; 256 * 1024], always, |_, _, _| panic!("answered"));
            // Chunks of one byte.
            wire.received.push_back(if begun.ends_with(b"\r\n") { b"1\r\na\r\n"[number % 6] } else { b'a' });
        }
        assert_eq!(last, Outcome::Left);
        assert!(wire.looked_at <= MOST_IN_VAIN + 20_000, "{}", wire.looked_at);
        assert_eq!((wire.received.len(), connection.opaque()), (begun.len() + 20_000, None));
    }
}
