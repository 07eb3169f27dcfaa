// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Tracing against what a client and other servers may send: each payload's decoder, whose result must encode to the same bytes; and a
//! tracer whose heap, layouts, roots and tasks are the input's: it ends, or says what is wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lull_far_trace::geometry::Geometry;
use lull_far_trace::tracer::{Memory, Task, Tracer};
use lull_far_trace::wire;

const BASE: u64 = 0x8000_0000;
const PART: u64 = 4096;

/// A heap of four parts, on two servers; this one has the first and the third.
struct Heap<'a>(&'a [u8]);

impl Memory for Heap<'_> {
    fn word(&self, address: u64) -> u32 {
        assert_eq!((address - BASE) / PART % 2, 0, "another server's memory at {address:#x}");
        // Short inputs make a whole heap; small numbers stay references to it.
        let at = (address - BASE) as usize;
        match self.0.get(at % self.0.len().max(1)..).and_then(|rest| rest.first_chunk()) {
            Some(word) => u32::from_le_bytes(*word),
            None => 0,
        }
    }
}

fn decoders(payload: &[u8]) {
    if let Ok(layouts) = wire::decode_layouts(payload) {
        assert!(wire::encode_layouts(&layouts) == payload);
    }
    if let Ok(missing) = wire::decode_missing(payload) {
        assert!(wire::encode_missing(&missing) == payload);
    }
    if let Ok(start) = wire::Start::decode(payload) {
        // An IPv4 address has two forms in IPv6; they mean the same.
        assert_eq!(wire::Start::decode(&start.encode()), Ok(start));
    }
    if let Ok(roots) = wire::decode_roots(payload) {
        assert!(wire::encode_roots(&roots) == payload);
    }
    if let Ok((cycle, tasks)) = wire::decode_tasks(payload) {
        assert!(wire::encode_tasks(cycle, &tasks) == payload);
    }
    if let Ok((number, count)) = wire::decode_counted(payload) {
        assert!(wire::encode_counted(number, count) == payload);
    }
    if let Ok((round, status)) = wire::decode_status(payload) {
        assert!(wire::encode_status(round, status) == payload);
    }
    if let Ok((cycle, counts, nanoseconds)) = wire::decode_counts(payload) {
        assert!(wire::encode_counts(cycle, counts, nanoseconds) == payload);
    }
    if let Ok((first, elements)) = wire::decode_elements(payload) {
        assert!(wire::encode_elements(first, &elements) == payload);
    }
}

/// `runs`: of a program that does, of whose objects every third may be old.
fn trace(input: &[u8], runs: bool) {
    let Some((&length, rest)) = input.split_first() else { return };
    let (layouts, heap) = rest.split_at(usize::from(length).min(rest.len()));
    let geometry = Geometry { base: BASE, bytes: 4 * PART, part: PART, narrow_base: BASE - 8, narrow_shift: 3, servers: 2 };
    let mut tracer = Tracer::new(0, geometry);
    // Layouts without a count before them.
    tracer.learn(wire::decode_all_layouts(layouts).unwrap_or_default());
    let old: Vec<u64> = (0..2 * PART / 512).map(|word| 0x9249_2492_4924_9249 >> (word % 3)).collect();
    if runs {
        tracer.old(0, &old).unwrap();
        let bytes = tracer.bytes();
        assert!(tracer.running_bytes() == 0 && tracer.old(1, &old).is_err() && tracer.bytes() == bytes);
    }
    for address in (BASE..BASE + PART).step_by(256) {
        let _ = tracer.root(address);
    }
    let _ = tracer.receive(&[Task::Slots(BASE, 64), Task::Statics(BASE + 512, 1)]);
    let memory = Heap(heap);
    while tracer.step(&memory, 1000).unwrap_or(false) {}
    let sent: usize = (0..2).map(|server| tracer.take(server).len()).sum();
    assert_eq!(tracer.status().sent, sent as u64);
    let marked: u64 = tracer.marks().iter().map(|word| u64::from(word.count_ones())).sum();
    assert_eq!(tracer.counts().marked, marked);
    if runs {
        // The word behind the first one of each root, which is one of 256 bytes of the first part.
        let root = |word: usize| if word < PART as usize / 512 { 1 << 1 | 1 << 33 } else { 0 };
        let may_be = |(word, marks): (usize, &u64)| marks & !(old[word] | root(word)) == 0;
        assert!(tracer.marks().iter().enumerate().all(may_be), "something else than what is old is marked");
        let live: u64 = tracer.extents().unwrap().live().iter().map(|word| (0..4).map(|i| word >> (i * 16) & 0xFFFF).sum::<u64>()).sum();
        assert!(live <= 4 * PART / 8, "more is alive than there is");
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((&what, input)) = input.split_first() else { return };
    if what % 2 == 0 { decoders(input) } else { trace(input, what % 4 == 3) }
});
