// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Floods of frames in pauses, each within what RFC 9113 permits: what they cost the gate is counted, in bytes looked
//! at, system calls, and bytes kept for a client that does not read. What is the application's reaches it whole when
//! the pause is over, so that its own limits count all of it.

use super::tests::{REMAINING, block, frame, frames, on_wire, ready};
use super::*;
use crate::connection::fake_wire::FakeWire;
use crate::connection::{Connection, Decision, Outcome};

/// Of each flood.
const FRAMES: usize = 20_000;

/// As the gate's thread has it.
const BUFFER: usize = 256 * 1024;

/// A connection, the wire that it has, and room for a look.
struct Flooded {
    connection: Connection<Http2>,
    wire: FakeWire,
    buffer: Vec<u8>,
    answered: u64,
    received: usize,
}

impl Flooded {
    fn new(http: Http2) -> Flooded {
        let (connection, mut wire) = on_wire(http);
        wire.room = usize::MAX;
        Flooded { connection, wire, buffer: vec![0; BUFFER], answered: 0, received: 0 }
    }

    /// Bytes arrive in a pause, and the gate is told.
    fn arrive(&mut self, bytes: &[u8]) -> Outcome {
        self.wire.received.extend(bytes);
        self.received += bytes.len();
        self.look()
    }

    fn look(&mut self) -> Outcome {
        let Flooded { connection, wire, buffer, answered, .. } = self;
        connection.look(wire, buffer, |_| Decision::Answer(REMAINING), |requests, _, _| *answered += requests)
    }

    /// Looks as long as there is something to do at once.
    fn look_on(&mut self) -> Outcome {
        loop {
            let outcome = self.look();
            if outcome != Outcome::Again {
                return outcome;
            }
        }
    }

    /// The pause is over, and the application reads all that it is given; nothing that the gate has not taken is
    /// missing.
    fn application_reads(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut buffer = vec![0; 8192];
        while !self.wire.received.is_empty() {
            if self.connection.filters() {
                match self.connection.read(&mut self.wire, &mut buffer) {
                    Ok(n) => all.extend(&buffer[..n]),
                    Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
                }
            } else {
                let bytes: Vec<u8> = self.wire.received.drain(..).collect();
                self.wire.totals.0 += bytes.len() as u64;
                self.connection.received(&bytes);
                all.extend(bytes);
            }
        }
        all
    }
}

/// So many requests from a stream on, each given up at once.
fn resets(first: u32, count: usize) -> Vec<u8> {
    let one =
        |stream| [frame(HEADERS, END_HEADERS | END_STREAM, stream, &block("x", &[])), frame(RST_STREAM, 0, stream, &[0, 0, 0, 8])].concat();
    (0..count as u32).flat_map(|number| one(first + 2 * number)).collect()
}

/// Requests that are given up as soon as they are made: each has one answer, costs few calls, and leaves nothing; those
/// behind the pause reach the application, which counts them.
#[test]
fn rapid_resets_in_a_pause_cost_little_and_the_servers_limit_holds_after_it() {
    for at_once in [1, 10, FRAMES] {
        let mut flooded = Flooded::new(ready());
        for number in (0..FRAMES).step_by(at_once) {
            flooded.arrive(&resets(3 + 2 * number as u32, at_once));
            flooded.look_on();
        }
        let Flooded { wire, answered, received, .. } = &flooded;
        assert_eq!((*answered, wire.received.len()), (FRAMES as u64, 0));
        // One look for what comes at once, one to see that there is no more.
        let calls = if at_once == FRAMES { 4 } else { 16 };
        assert!(wire.calls <= calls * FRAMES && wire.looked_at <= 2 * received, "{at_once}: {} calls, {}", wire.calls, wire.looked_at);
        assert_eq!(frames(&wire.sent).iter().filter(|(frame, _)| frame.kind == HEADERS).count(), FRAMES);
        assert_eq!(flooded.wire.sent.len() / FRAMES, flooded.wire.sent.len().div_ceil(FRAMES), "each answer is of one length");
        let after = resets(3 + 2 * FRAMES as u32, 300);
        flooded.wire.received.extend(&after);
        assert!(flooded.application_reads() == after, "the application has not seen all of them");
        assert_eq!(flooded.connection.opaque(), None);
    }
}

/// Bodies that never end: of so many streams at once as are followed; the others are told to stop.
#[test]
fn requests_that_never_end_are_few_at_once() {
    let mut flooded = Flooded::new(ready());
    for number in 0..2000 {
        let stream = 3 + 2 * number;
        flooded.arrive(&[frame(HEADERS, END_HEADERS, stream, &block("x", &[])), frame(DATA, 0, stream, b"a")].concat());
    }
    let stopped = frames(&flooded.wire.sent).iter().filter(|(frame, _)| frame.kind == RST_STREAM).count();
    assert_eq!((flooded.answered, stopped), (2000, 2000 - uploads::MOST_OPEN));
    assert_eq!(flooded.connection.opaque(), None);
}

/// A block that never ends, in frames of no or few bytes, each of which the gate is told of: it stops to look, takes
/// nothing, and the application gets all of it.
#[test]
fn a_block_without_an_end_is_not_looked_at_with_each_frame() {
    for bytes in [0, 1, 100] {
        let mut flooded = Flooded::new(ready());
        let mut all = frame(HEADERS, 0, 3, &block("x", &[]));
        flooded.arrive(&all);
        for _ in 0..FRAMES {
            let more = frame(CONTINUATION, 0, 3, &vec![0x88; bytes]);
            flooded.arrive(&more);
            all.extend(more);
        }
        let Flooded { wire, connection, .. } = &flooded;
        // What is looked at in vain, at most; and once more as much as a look is.
        assert!(wire.looked_at <= 1024 * 1024 + BUFFER, "{} bytes in frames of {bytes}", wire.looked_at);
        assert!(wire.calls <= 4 * FRAMES, "{} calls", wire.calls);
        assert_eq!((flooded.answered, wire.received.len(), wire.sent.len(), connection.filters()), (0, all.len(), 0, false));
        let opaque = connection.opaque();
        assert!(matches!(opaque, None | Some(Opaque::Request("a header block of more than 64 KB"))), "{opaque:?}");
        assert!(flooded.application_reads() == all);
        assert!(!flooded.wire.closing);
    }
}

/// The same where all of it has come at once: more than is looked at at once is the application's.
#[test]
fn a_block_without_an_end_that_has_come_is_left() {
    let mut flooded = Flooded::new(ready());
    let all = [frame(HEADERS, 0, 3, &block("x", &[])), frame(CONTINUATION, 0, 3, &[]).repeat(100_000)].concat();
    let outcome = flooded.arrive(&all);
    assert_eq!((outcome, flooded.look_on()), (Outcome::Left, Outcome::Left));
    assert!(flooded.wire.looked_at <= 3 * BUFFER, "{}", flooded.wire.looked_at);
    for _ in 0..1000 {
        flooded.arrive(&frame(CONTINUATION, 0, 3, &[]));
    }
    assert!(flooded.wire.looked_at <= 3 * BUFFER, "{}", flooded.wire.looked_at);
    assert_eq!(flooded.application_reads().len(), flooded.received);
}

/// Settings are the application's, which has to obey and to count them: the gate looks at the first frame once, and
/// takes none.
#[test]
fn settings_in_a_pause_are_left_whole() {
    for acknowledged in [false, true] {
        let mut flooded = Flooded::new(ready());
        let one = if acknowledged { frame(SETTINGS, ACK, 0, &[]) } else { frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]) };
        for _ in 0..FRAMES {
            assert_eq!(flooded.arrive(&one), Outcome::Left);
        }
        assert!(flooded.wire.looked_at <= 2 * one.len(), "{}", flooded.wire.looked_at);
        assert!(flooded.application_reads() == one.repeat(FRAMES));
        assert_eq!((flooded.wire.sent.len(), flooded.connection.opaque()), (0, None));
    }
}

/// Each is answered once, as long as the client reads; one that does not read is not answered more than a look's bytes.
#[test]
fn pings_in_a_pause_are_answered_once_and_not_kept() {
    let ping = |number: usize| frame(PING, 0, 0, &(number as u64).to_be_bytes());
    let mut flooded = Flooded::new(ready());
    let all: Vec<u8> = (0..FRAMES).flat_map(ping).collect();
    flooded.arrive(&all);
    flooded.look_on();
    assert!(flooded.wire.looked_at <= 2 * all.len() && flooded.wire.calls <= FRAMES, "{} calls", flooded.wire.calls);
    let answers = frames(&flooded.wire.sent);
    assert!(
        answers.iter().enumerate().all(|(number, (frame, payload))| {
            (frame.kind, frame.flags, &payload[..]) == (PING, ACK, &(number as u64).to_be_bytes()[..])
        })
    );
    assert_eq!(answers.len(), FRAMES);
    // Each by itself.
    let mut flooded = Flooded::new(ready());
    for number in 0..FRAMES {
        flooded.arrive(&ping(number));
    }
    assert!(flooded.wire.calls <= 16 * FRAMES && flooded.wire.looked_at <= 2 * all.len());
    // A client that does not read.
    let mut flooded = Flooded::new(ready());
    flooded.wire.room = 0;
    for number in 0..FRAMES {
        flooded.arrive(&ping(number));
    }
    let (left, looked_at) = (flooded.wire.received.len(), flooded.wire.looked_at);
    assert!(left + BUFFER >= all.len() && looked_at <= 2 * BUFFER, "{left} of {} bytes are left, {looked_at} looked at", all.len());
    flooded.wire.room = usize::MAX;
    flooded.connection.pay(&mut flooded.wire);
    assert_eq!(flooded.wire.sent.len(), all.len() - left);
    // The rest is the application's, if the pause is over.
    assert_eq!(flooded.application_reads().len(), left);
}

/// `DATA` without a byte, `WINDOW_UPDATE`, priorities, on streams that were answered: no window ends them.
#[test]
fn frames_without_bytes_on_an_answered_stream_cost_little() {
    for (kind, payload) in [(DATA, &[][..]), (WINDOW_UPDATE, &[0, 0, 0, 1]), (2, &[0, 0, 0, 0, 9])] {
        let mut flooded = Flooded::new(ready());
        flooded.arrive(&frame(HEADERS, END_HEADERS, 3, &block("x", &[])));
        let (calls, sent) = (flooded.wire.calls, flooded.wire.sent.len());
        let all = frame(kind, 0, 3, payload).repeat(FRAMES);
        flooded.arrive(&all);
        flooded.look_on();
        assert!(flooded.wire.looked_at <= 2 * flooded.received, "{}", flooded.wire.looked_at);
        assert!(flooded.wire.calls - calls <= FRAMES, "{} calls", flooded.wire.calls);
        assert_eq!((flooded.wire.received.len(), flooded.wire.sent.len()), (0, sent));
    }
}
