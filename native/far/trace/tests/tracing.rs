// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Heaps that are made by chance, on 1, 2 and 3 servers: what they mark together is what a search of the graph finds. Messages
//! come in any order, and layouts come when they are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lull_far_trace::geometry::{CLASS_OFFSET, Geometry};
use lull_far_trace::layout::{Block, Kind, Layout};
use lull_far_trace::termination::Termination;
use lull_far_trace::tracer::{Damaged, Memory, Task, Tracer};
use lull_far_trace::wire;
use proptest::prelude::*;

const BASE: u64 = 0x7000_0000;
const PART: u64 = 4096;

/// Sees its own parts only.
struct Part {
    heap: Rc<Vec<u32>>,
    geometry: Geometry,
    me: usize,
}

impl Memory for Part {
    fn word(&self, address: u64) -> u32 {
        assert_eq!(self.geometry.server_of(address), self.me, "another server's memory at {address:#x}");
        self.heap[((address - BASE) / 4) as usize]
    }
}

fn layouts() -> Vec<Layout> {
    let block = |offset, count| Block { offset, count };
    vec![
        Layout { klass: 10, kind: Kind::Instance, bytes: 24, blocks: vec![block(12, 2)] },
        Layout { klass: 11, kind: Kind::Instance, bytes: 40, blocks: vec![block(12, 1), block(24, 3)] },
        Layout { klass: 12, kind: Kind::Reference { referent: 12 }, bytes: 32, blocks: vec![block(16, 2)] },
        Layout { klass: 13, kind: Kind::Mirror { count: 16, statics: 32, words: 0 }, bytes: 32, blocks: vec![block(20, 1)] },
        Layout { klass: 14, kind: Kind::ObjArray { base: 16 }, bytes: 16, blocks: Vec::new() },
        Layout { klass: 15, kind: Kind::TypeArray { shift: 0 }, bytes: 16, blocks: Vec::new() },
    ]
}

/// A heap, and the graph that it was made from.
struct Heap {
    words: Vec<u32>,
    objects: Vec<u64>,
    /// What each object keeps alive.
    edges: BTreeMap<u64, Vec<u64>>,
    references: BTreeSet<u64>,
}

/// `shapes`: class and length of each object; `draw`: random numbers for the references.
fn heap(shapes: &[(u32, u32)], mut draw: impl FnMut() -> u32) -> Heap {
    let size = |&(klass, length): &(u32, u32)| match klass {
        10 => 24,
        11 => 40,
        12 => 32,
        13 => (32 + 4 * length).next_multiple_of(8),
        _ => (16 + 4 * length).next_multiple_of(8),
    };
    let mut objects = Vec::new();
    let mut at = BASE;
    for shape in shapes {
        objects.push(at);
        at += u64::from(size(shape));
    }
    let mut words = vec![0_u32; ((at - BASE) / 4) as usize];
    let (mut edges, mut references) = (BTreeMap::new(), BTreeSet::new());
    for (&object, &(klass, length)) in objects.iter().zip(shapes) {
        let index = ((object - BASE) / 4) as usize;
        words[index + 2] = klass;
        let (followed, not): (Vec<u32>, &[u32]) = match klass {
            10 => (vec![12, 16], &[]),
            11 => (vec![12, 24, 28, 32], &[]),
            12 => (vec![16, 20], &[12]),
            13 => {
                words[index + 4] = length;
                ((0..length).map(|i| 32 + 4 * i).chain([20]).collect(), &[])
            }
            14 => {
                words[index + 3] = length;
                ((0..length).map(|i| 16 + 4 * i).collect(), &[])
            }
            _ => {
                // Numbers that look like anything.
                words[index + 3] = length;
                (0..length as usize).for_each(|i| words[index + 4 + i] = draw());
                (Vec::new(), &[])
            }
        };
        if klass == 12 {
            references.insert(object);
        }
        let mut refer = |offset: &u32| {
            let to = draw();
            // One of four is null.
            let to = (!to.is_multiple_of(4)).then(|| objects[(to / 4) as usize % objects.len()]);
            words[index + (*offset / 4) as usize] = to.map_or(0, |to| (to >> 3) as u32);
            to
        };
        edges.insert(object, followed.iter().filter_map(&mut refer).collect());
        not.iter().for_each(|offset| {
            refer(offset);
        });
    }
    Heap { words, objects, edges, references }
}

fn geometry(heap: &Heap, servers: u8) -> Geometry {
    let geometry = Geometry { base: BASE, bytes: heap.words.len() as u64 * 4, part: PART, narrow_base: 0, narrow_shift: 3, servers };
    // As it comes over the wire.
    let addresses = (0..servers).map(|server| ([127, 0, 0, 1], 7000 + u16::from(server)).into()).collect();
    let start = wire::Start { cycle: 1, geometry, me: 0, ticket: [7; 16], servers: addresses };
    assert_eq!(wire::Start::decode(&start.encode()), Ok(start));
    geometry
}

/// Why there is no result.
#[derive(Debug)]
#[allow(dead_code)] // for the output of a failed test
enum Stopped {
    Damaged(Damaged),
    NoSuchClass(u32),
}

impl From<Damaged> for Stopped {
    fn from(damaged: Damaged) -> Stopped {
        Stopped::Damaged(damaged)
    }
}

/// Traces from the roots; what was marked, and which references were discovered.
fn trace(heap: &Heap, servers: u8, roots: &[u64], mut draw: impl FnMut() -> u32) -> Result<(BTreeSet<u64>, BTreeSet<u64>), Stopped> {
    let geometry = geometry(heap, servers);
    let words = Rc::new(heap.words.clone());
    let parts: Vec<_> = (0..servers.into()).map(|me| Part { heap: Rc::clone(&words), geometry, me }).collect();
    let mut all: Vec<_> = (0..servers.into()).map(|me| Tracer::new(me, geometry)).collect();
    for &root in &wire::decode_roots(&wire::encode_roots(roots)).unwrap() {
        all[geometry.owner_of(root)].root(root)?;
    }
    let mut flying: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut termination = Termination::default();
    loop {
        // Some servers do some work and send some of it; some messages arrive, in any order.
        for me in 0..all.len() {
            all[me].step(&parts[me], u64::from(draw() % 8))?;
            for to in 0..all.len() {
                if draw().is_multiple_of(2) {
                    let tasks = all[me].take(to);
                    tasks.chunks(7).for_each(|tasks| flying.push((to, wire::encode_tasks(1, tasks))));
                }
            }
        }
        for _ in 0..draw() % 4 {
            if !flying.is_empty() {
                let (to, payload) = flying.swap_remove(draw() as usize % flying.len());
                all[to].receive(&wire::decode_tasks(&payload).unwrap().1)?;
            }
        }
        // A layout comes later than it is asked for.
        if draw().is_multiple_of(3) {
            let me = draw() as usize % all.len();
            let missing: Vec<u32> = all[me].missing().into_iter().collect();
            let missing = wire::decode_missing(&wire::encode_missing(&missing)).unwrap();
            let known: Vec<Layout> = layouts().into_iter().filter(|layout| missing.contains(&layout.klass)).collect();
            if let Some(&class) = missing.iter().find(|&&class| known.iter().all(|layout| layout.klass != class)) {
                return Err(Stopped::NoSuchClass(class));
            }
            all[me].learn(wire::decode_layouts(&wire::encode_layouts(&known)).unwrap());
        }
        let answers: Vec<_> = all.iter().map(|tracer| wire::decode_status(&wire::encode_status(1, tracer.status())).unwrap().1).collect();
        if termination.round(&answers) {
            break;
        }
    }
    assert!(flying.is_empty(), "ended while messages were on their way");
    let mut marked = BTreeSet::new();
    for (me, tracer) in all.iter().enumerate() {
        let (_, words) = wire::decode_elements(&wire::encode_elements(0, tracer.marks())).unwrap();
        for (index, word) in words.iter().enumerate() {
            for bit in (0..64).filter(|bit| word >> bit & 1 != 0) {
                let object = geometry.address_of(me, (index as u64 * 64 + bit) * 8) - CLASS_OFFSET;
                assert!(marked.insert(object), "two servers have marked an object");
            }
        }
        assert_eq!(tracer.counts().marked, words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>());
    }
    let discovered: Vec<u64> = all.iter().flat_map(|tracer| tracer.discovered().iter().copied()).collect();
    let unique: BTreeSet<u64> = discovered.iter().copied().collect();
    assert_eq!(unique.len(), discovered.len(), "discovered twice");
    Ok((marked, unique))
}

fn reachable(heap: &Heap, roots: &[u64]) -> BTreeSet<u64> {
    let mut seen = BTreeSet::new();
    let mut open = roots.to_vec();
    while let Some(object) = open.pop() {
        if seen.insert(object) {
            open.extend(&heap.edges[&object]);
        }
    }
    seen
}

fn numbers(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed | 1;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    }
}

fn shapes() -> impl Strategy<Value = Vec<(u32, u32)>> {
    // Small objects, and arrays that go over several parts.
    prop::collection::vec((10..16_u32, prop_oneof![8 => 0..20_u32, 1 => 0..4000_u32]), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn servers_mark_what_is_reachable(shapes in shapes(), seed: u64, roots in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
        let heap = heap(&shapes, numbers(seed));
        let roots: Vec<u64> = roots.iter().map(|root| heap.objects[root.index(heap.objects.len())]).collect();
        let want = reachable(&heap, &roots);
        let references: BTreeSet<u64> = want.intersection(&heap.references).copied().collect();
        for servers in 1..=3 {
            let (marked, discovered) = trace(&heap, servers, &roots, numbers(seed ^ 7)).unwrap();
            prop_assert_eq!(&marked, &want, "{} servers", servers);
            prop_assert_eq!(&discovered, &references);
        }
    }

    /// A heap in which any word was changed is refused or traced: no panic, no end of time, no look at another server's memory.
    #[test]
    fn a_damaged_heap_is_refused_or_traced(shapes in shapes(), seed: u64, at: prop::sample::Index, word in prop_oneof![any::<u32>(), 0..17_u32]) {
        let mut heap = heap(&shapes, numbers(seed));
        let at = at.index(heap.words.len());
        heap.words[at] = word;
        let _ = trace(&heap, 2, &heap.objects.clone(), numbers(seed));
    }

    #[test]
    fn arbitrary_payloads_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0..4_u32) {
        for payload in [bytes.clone(), [&count.to_le_bytes()[..], &[0; 4], &bytes].concat()] {
            if let Ok(layouts) = wire::decode_layouts(&payload) {
                prop_assert_eq!(wire::encode_layouts(&layouts), payload.clone());
            }
            if let Ok((cycle, tasks)) = wire::decode_tasks(&payload) {
                prop_assert_eq!(wire::encode_tasks(cycle, &tasks), payload.clone());
            }
            if let Ok(roots) = wire::decode_roots(&payload) {
                prop_assert_eq!(wire::encode_roots(&roots), payload.clone());
            }
            if let Ok(missing) = wire::decode_missing(&payload) {
                prop_assert_eq!(wire::encode_missing(&missing), payload.clone());
            }
            if let Ok(start) = wire::Start::decode(&payload) {
                prop_assert_eq!(start.encode(), payload.clone());
            }
            if let Ok((round, status)) = wire::decode_status(&payload) {
                prop_assert_eq!(wire::encode_status(round, status), payload.clone());
            }
            if let Ok((first, words)) = wire::decode_elements(&payload) {
                prop_assert_eq!(wire::encode_elements(first, &words), payload.clone());
            }
            if let Ok((number, count)) = wire::decode_counted(&payload) {
                prop_assert_eq!(wire::encode_counted(number, count), payload.clone());
            }
            if let Ok((cycle, counts, nanoseconds)) = wire::decode_counts(&payload) {
                prop_assert_eq!(wire::encode_counts(cycle, counts, nanoseconds), payload.clone());
            }
            if let Ok(round) = wire::decode_poll(&payload) {
                prop_assert_eq!(wire::encode_poll(round), payload.clone());
            }
        }
    }
}

#[test]
fn impossible_layouts_are_refused() {
    let right = layouts();
    let changes: [fn(&mut Layout); 10] = [
        |layout| layout.klass = 0,
        |layout| layout.bytes = 20,
        |layout| layout.blocks[0].offset = 8,
        |layout| layout.blocks[0].offset = 14,
        |layout| layout.blocks[0].count = 0,
        |layout| layout.blocks[0].count = u32::MAX,
        |layout| layout.kind = Kind::Reference { referent: 12 },
        |layout| layout.kind = Kind::Mirror { count: 22, statics: 32, words: 0 },
        |layout| layout.kind = Kind::ObjArray { base: 16 },
        |layout| layout.kind = Kind::TypeArray { shift: 0 },
    ];
    for change in changes {
        let mut layout = right[0].clone();
        assert_eq!(layout.check(), Ok(()));
        change(&mut layout);
        assert!(layout.check().is_err(), "{layout:?}");
        assert!(wire::decode_layouts(&wire::encode_layouts(&[layout])).is_err());
    }
}

#[test]
fn what_is_not_for_this_server_is_refused() {
    let heap = heap(&[(10, 0); 400], numbers(1));
    let geometry = geometry(&heap, 2);
    let mut tracer = Tracer::new(0, geometry);
    let other = BASE + PART;
    for task in [
        Task::Object(other),
        Task::Object(BASE + 4),
        Task::Object(BASE - 24),
        Task::Object(u64::MAX - 7),
        Task::Slots(other, 1),
        Task::Slots(BASE + 2, 1),
        Task::Slots(BASE, 0),
        // Over the end of the part.
        Task::Slots(other - 4, 2),
        Task::Statics(BASE + 4, 13),
    ] {
        assert_eq!(tracer.receive(&[Task::Object(BASE), task]), Err(Damaged::Task(task)));
        assert_eq!(tracer.status().received, 0, "a part was taken");
    }
    assert!(tracer.root(other).is_err());
    tracer.receive(&[Task::Object(BASE)]).unwrap();
    assert_eq!(tracer.status().received, 1);
}

/// Servers that are right send no reference twice.
#[test]
fn references_that_come_again_and_again_are_refused() {
    let heap = heap(&[(14, 3000)], numbers(1));
    let geometry = geometry(&heap, 2);
    let mut tracer = Tracer::new(0, geometry);
    let task = Task::Slots(BASE, (PART / 4) as u32);
    // The server has two parts of the three, the last of which is not whole.
    let taken = (0..10).take_while(|_| tracer.receive(&[task]).is_ok()).count();
    assert_eq!(taken, 2);
    assert_eq!(tracer.receive(&[task]), Err(Damaged::Repeated(task)));
}

/// A layout may name a place twice, and objects may overlap; the heap has only so many references.
#[test]
fn places_that_are_named_again_and_again_end_the_cycle() {
    let heap = heap(&[(10, 0); 400], numbers(1));
    let with = |bytes, block, count| Layout { klass: 10, kind: Kind::Instance, bytes, blocks: vec![block; count] };
    let all = geometry(&heap, 1);
    let part = Part { heap: Rc::new(heap.words.clone()), geometry: all, me: 0 };
    let mut tracer = Tracer::new(0, all);
    tracer.learn([with(24, Block { offset: 12, count: 2 }, 2000)]);
    tracer.root(BASE).unwrap();
    assert_eq!(tracer.step(&part, u64::MAX), Err(Damaged::Size(BASE)));

    // What is left to another server is counted, too: a step does not go on for ever with that.
    let halves = geometry(&heap, 2);
    let part = Part { heap: Rc::new(heap.words.clone()), geometry: halves, me: 0 };
    let mut tracer = Tracer::new(0, halves);
    tracer.learn([with(PART as u32 + 8, Block { offset: PART as u32, count: 1 }, 1000)]);
    heap.objects[..3].iter().for_each(|&object| tracer.root(object).unwrap());
    for sent in [1000, 2000] {
        assert_eq!(tracer.step(&part, 500), Ok(true));
        assert_eq!(tracer.waiting_for(1), sent);
    }
    assert!(matches!(tracer.step(&part, 500), Err(Damaged::Size(_))));
}

/// Nobody could ever send the layout of class 0.
#[test]
fn an_object_without_a_class_ends_the_cycle() {
    let mut heap = heap(&[(10, 0); 400], numbers(1));
    heap.words[2] = 0;
    let geometry = geometry(&heap, 1);
    let part = Part { heap: Rc::new(heap.words.clone()), geometry, me: 0 };
    let mut tracer = Tracer::new(0, geometry);
    tracer.root(BASE).unwrap();
    assert_eq!(tracer.step(&part, 100), Err(Damaged::Class(BASE)));
}

#[test]
fn every_address_has_one_place() {
    for servers in 1..5 {
        for bytes in [8, PART - 8, PART, 7 * PART, 7 * PART + 16] {
            let geometry = Geometry { base: BASE, bytes, part: PART, narrow_base: 0, narrow_shift: 3, servers };
            let mut seen = BTreeSet::new();
            for address in (BASE..BASE + bytes).step_by(8) {
                let (server, place) = (geometry.server_of(address), geometry.place_of(address));
                assert!(place < geometry.bytes_of(server) && seen.insert((server, place)), "{address:#x}");
                assert_eq!(geometry.address_of(server, place), address);
            }
            let all: u64 = (0..servers.into()).map(|server| geometry.bytes_of(server)).sum();
            assert!(all >= bytes && all < bytes + PART, "{all} bytes for {bytes}");
        }
    }
}
