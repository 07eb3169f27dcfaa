// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What holds for any bytes: one function for each of the gate's parsers, which panics if it does not. The fuzz targets
//! (`native/gate/fuzz`) call these, and so do the tests below, with what is known to be interesting and with random changes of it.

mod cql;
mod http1;
mod http2;
mod resp;

use crate::protocol::{Opaque, Protocol};

pub use cql::cql;
pub use http1::{connection, exchange, request};
pub use http2::{connection as http2_connection, http2};
pub use resp::resp;

/// Hands out parts of the input, as numbers and pieces.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// At most `n` bytes.
    fn piece(&mut self, n: usize) -> &'a [u8] {
        let (piece, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        piece
    }
}

/// Two connections in the same state read, or write, the same bytes: one of them whole, the other byte by byte. What they say; if both
/// understand them, they are in the same state again.
fn feed_both<P: Protocol>(whole: &mut P, single: &mut P, sent: bool, piece: &[u8]) -> (Result<(), Opaque>, Result<(), Opaque>) {
    let feed = |protocol: &mut P, bytes: &[u8]| if sent { protocol.sent(bytes) } else { protocol.received(bytes) };
    let said = (feed(whole, piece), piece.iter().try_for_each(|byte| feed(single, std::slice::from_ref(byte))));
    assert!(said.0.is_err() || said.1.is_err() || whole.is_idle() == single.is_idle());
    said
}

/// The text behind `-agentpath:...=`: options within their ranges, or a sentence.
pub fn options(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match crate::options::Options::parse(text) {
        Ok(options) => {
            let mut ports = options.served_ports().peekable();
            assert!(ports.peek().is_some() && ports.all(|port| port != 0));
            assert!(!options.deadline_headers.is_empty());
            assert!(crate::options::DEADLINE_RANGE.contains(&options.deadline_ms));
            assert!(options.poll_us == 0 || crate::options::POLL_RANGE.contains(&options.poll_us));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The VM's counters: whatever the memory holds, no counter lies outside it.
pub fn counters(data: &[u8]) {
    crate::perf_memory::check_parse(data);
}

/// A property by the name of its fuzz target.
type Named = (&'static str, fn(&[u8]));

/// All of them.
pub const ALL: &[Named] = &[
    ("http1_request", request),
    ("http1_exchange", exchange),
    ("http1_connection", connection),
    ("http2", http2),
    ("http2_connection", http2_connection),
    ("cql", cql),
    ("resp", resp),
    ("options", options),
    ("counters", counters),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};
    use std::path::PathBuf;

    /// Pieces that parsers decide by.
    const WORDS: &[&[u8]] = &[
        b"GET / HTTP/1.1\r\n",
        b"POST /a HTTP/1.1\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"Content-Length: 3\r\n",
        b"Content-Length:0\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close\r\n",
        b"Expect: 100-continue\r\n",
        b"x-deadline: 20\r\n",
        b"Prefer: wait=2\r\n",
        b"\r\n",
        b"\n",
        b"0\r\n\r\n",
        b"3\r\nabc\r\n",
        b"3;a=b\r\nabc\r\n",
        b"abc",
        b"port=",
        b"8080",
        b"deadline=",
        b",",
        b"dry-run",
        // HTTP/2: requests with a body and without, DATA, RST_STREAM, PING, WINDOW_UPDATE, SETTINGS, CONTINUATION.
        b"\x00\x00\x02\x01\x05\x00\x00\x00\x03\x83\x84",
        b"\x00\x00\x17\x01\x04\x00\x00\x00\x05\x83\x0f\x10\x10application/grpc\x88\x89\x8a",
        b"\x00\x00\x03\x00\x01\x00\x00\x00\x03abc",
        b"\x00\x00\x04\x03\x00\x00\x00\x00\x05\x00\x00\x00\x08",
        b"\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678",
        b"\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x01\x00",
        b"\x00\x00\x00\x04\x00\x00\x00\x00\x00",
        b"\x00\x00\x01\x01\x00\x00\x00\x00\x03\x83",
        b"\x00\x00\x01\x09\x04\x00\x00\x00\x03\x84",
        b"\x00\x0b",
        b"\x02\x0b",
        b"\x04\x03",
        b"\x02\x40",
        // Cassandra: a header without a body, with one; a custom payload; directions of the property.
        b"\x04\x00\x00\x01\x07\x00\x00\x00\x00",
        b"\x84\x00\x00\x01\x08\x00\x00\x00\x03abc",
        b"\x04\x04\x00\x01\x07\x00\x00\x00\x14\x00\x01\x00\x0ax-deadline\x00\x00\x00\x0220",
        b"\x00\x09",
        b"\x02\x10",
        // Redis: a command, a line, answers.
        b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n",
        b"PING\r\n",
        b"$3\r\nabc\r\n",
        b"*1\r\n:1\r\n",
        b"*1\r\n$5\r\nMULTI\r\n",
        b"*1\r\n$4\r\nEXEC\r\n",
        b"+QUEUED\r\n",
        b"\x01\x05",
        b"\x00\x03",
        b"\x01\x04",
    ];

    fn seeds(target: &str) -> Vec<Vec<u8>> {
        let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
        let files = std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files.iter().map(|file| std::fs::read(file).unwrap()).collect()
    }

    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            6 => proptest::sample::select(WORDS).prop_map(<[u8]>::to_vec),
            2 => proptest::collection::vec(any::<u8>(), 1..4),
            1 => (0u8..6, 0u8..200).prop_map(|(a, b)| vec![a, b]),
        ];
        proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
    }

    /// A seed with a few bytes changed, left out or put in.
    fn changed(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
        let change = (any::<usize>(), 0u8..4, any::<u8>(), any::<usize>());
        (proptest::sample::select(seeds), proptest::collection::vec(change, 0..5)).prop_map(|(mut bytes, changes)| {
            for (at, how, byte, other) in changes {
                let at = at % (bytes.len() + 1);
                match how {
                    0 => bytes.insert(at, byte),
                    1 => drop(bytes.splice(at..at, WORDS[other % WORDS.len()].iter().copied())),
                    2 if at < bytes.len() => bytes[at] = byte,
                    _ => drop(bytes.drain(at..(at + other % 9).min(bytes.len()))),
                }
            }
            bytes
        })
    }

    fn holds(target: &str) {
        let (_, property) = ALL.iter().find(|(name, _)| *name == target).unwrap();
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "no seeds of {target}");
        seeds.iter().for_each(|seed| property(seed));
        let mut runner = TestRunner::new(Config { cases: 1000, failure_persistence: None, ..Config::default() });
        let any_bytes = proptest::collection::vec(any::<u8>(), 0..120);
        runner
            .run(&prop_oneof![3 => soup(), 3 => changed(seeds), 1 => any_bytes], |data| {
                property(&data);
                Ok(())
            })
            .unwrap();
    }

    #[test]
    fn each_property_has_a_fuzz_target_and_a_test() {
        let targets = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets");
        let mut files: Vec<_> = std::fs::read_dir(targets).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        let mut names: Vec<_> = ALL.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(files.iter().map(|f| f.file_stem().unwrap().to_str().unwrap()).collect::<Vec<_>>(), names);
    }

    macro_rules! hold {
        ($($name:ident)*) => { $(#[test] fn $name() { holds(stringify!($name)); })* };
    }
    hold! { cql resp http2 http2_connection http1_request http1_exchange http1_connection options counters }
}
