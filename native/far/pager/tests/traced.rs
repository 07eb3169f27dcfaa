// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Servers trace the memory of a program that goes on to write to it: what they mark, list and count is compared with a search of the same
//! graph, and at the end every byte with what was written.

mod common;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use common::skipped;
use lull_far::traced::{Cycle, Heap, Progress};
use lull_far::{Options, PAGE_SIZE, Pager, signal};
use lull_far_heap::made::{BASE, Made};
use lull_far_trace::extents::{BLOCK, LINE};
use lull_far_trace::layout::{Kind, Layout};

const LOCAL: u64 = 4 << 20;

/// A heap as it is in memory, and which of its objects are old.
struct Graph {
    made: Made,
    layouts: HashMap<u32, Layout>,
    places: HashMap<u64, usize>,
    old: Vec<bool>,
}

impl Graph {
    fn new(seed: u64) -> Graph {
        let made = Made::new(seed, 120_000);
        let layouts = made.layouts.iter().map(|layout| (layout.klass, layout.clone())).collect();
        let places = made.objects.iter().enumerate().map(|(index, &object)| (object, index)).collect();
        let roots: HashSet<u64> = made.roots.iter().copied().collect();
        // Of each nine objects one is young; a root may be anything.
        let old = made.objects.iter().enumerate().map(|(index, object)| index % 9 != 4 || roots.contains(object)).collect();
        Graph { made, layouts, places, old }
    }

    fn word(&self, address: u64) -> u32 {
        self.made.words[((address - BASE) / 4) as usize]
    }

    fn layout(&self, object: u64) -> &Layout {
        &self.layouts[&self.word(object + 8)]
    }

    /// Whether another server than the one with its class has the number of a mirror's words.
    fn is_listed(&self, object: u64, servers: usize) -> bool {
        let server = |address: u64| (address - BASE) / (4 << 20) % servers as u64;
        match self.layout(object).kind {
            Kind::Reference { .. } => true,
            Kind::Mirror { words, .. } => server(object + 8) != server(object + u64::from(words)),
            _ => false,
        }
    }

    /// How many bytes it has.
    fn bytes(&self, object: u64) -> u64 {
        let layout = self.layout(object);
        let bytes = u64::from(layout.bytes);
        let length = u64::from(self.word(object + 12));
        match layout.kind {
            Kind::Mirror { words, .. } => 8 * u64::from(self.word(object + u64::from(words))),
            Kind::ObjArray { .. } => (bytes + 4 * length).next_multiple_of(8),
            Kind::TypeArray { shift } => (bytes + (length << shift)).next_multiple_of(8),
            Kind::Instance | Kind::Reference { .. } => bytes,
        }
    }

    fn slots(&self, object: u64) -> Vec<u64> {
        let layout = self.layout(object);
        let run = |first: u64, count: u32| (0..u64::from(count)).map(move |i| object + first + 4 * i);
        let mut slots: Vec<u64> = layout.blocks.iter().flat_map(|block| run(block.offset.into(), block.count)).collect();
        match layout.kind {
            Kind::Mirror { count, statics, .. } => slots.extend(run(statics.into(), self.word(object + u64::from(count)))),
            Kind::ObjArray { base } => slots.extend(run(base.into(), self.word(object + 12))),
            _ => {}
        }
        slots
    }

    /// What can be reached over old objects alone.
    fn reached(&self) -> BTreeSet<u64> {
        let mut reached = BTreeSet::new();
        let mut open = self.made.roots.clone();
        while let Some(object) = open.pop() {
            if self.old[self.places[&object]] && reached.insert(object) {
                open.extend(self.slots(object).into_iter().map(|slot| u64::from(self.word(slot)) << 3).filter(|&object| object != 0));
            }
        }
        reached
    }

    fn old_words(&self) -> Vec<u64> {
        let mut words = vec![0; self.made.words.len() * 4 / 512];
        let roots: HashSet<u64> = self.made.roots.iter().copied().collect();
        // Roots need no bit.
        for (&object, _) in self.made.objects.iter().zip(&self.old).filter(|(object, old)| **old && !roots.contains(object)) {
            let bit = (object - BASE) / 8;
            words[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        words
    }
}

fn memory(address: u64) -> &'static AtomicU32 {
    // SAFETY: of the range that is mapped there.
    unsafe { &*std::ptr::with_exposed_provenance::<AtomicU32>(address as usize) }
}

fn objects_of(first: u64, words: &[u64]) -> Vec<u64> {
    let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
    words.iter().zip(first..).flat_map(|(&word, index)| bits(word).map(move |bit| BASE + (index * 64 + bit) * 8)).collect()
}

/// Has all traced, and compares.
fn trace(pager: &'static Pager, graph: &Graph, servers: usize, number: u64) {
    let bytes = graph.made.words.len() * 4;
    let heap = Heap { start: BASE as usize, bytes, narrow_base: 0, narrow_shift: 3 };
    let mut cycle = Cycle::begin(pager, number, &heap).unwrap();
    cycle.old(0, &graph.old_words()).unwrap();
    let wanted = vec![1; bytes.div_ceil(BLOCK as usize)];
    let cleaned = pager.clean(BASE as usize, 0, &wanted, (BLOCK / PAGE_SIZE as u64) as u32).unwrap();
    // Roots may come in parts, and when others are marked already.
    let (first, later) = graph.made.roots.split_at(graph.made.roots.len() / 2);
    cycle.roots(first).unwrap();
    let mut listed = Vec::new();
    let mut is_first = true;
    loop {
        match cycle.poll().unwrap() {
            Progress::Working => std::thread::yield_now(),
            Progress::Missing(classes) => {
                let layouts: Vec<Layout> = classes.iter().map(|class| graph.layouts[class].clone()).collect();
                cycle.layouts(&layouts).unwrap();
            }
            Progress::Done if is_first => {
                listed.extend(cycle.listed(7).unwrap());
                cycle.roots(later).unwrap();
                is_first = false;
            }
            Progress::Done => break,
        }
    }
    loop {
        let more = cycle.listed(1000).unwrap();
        if more.is_empty() {
            break;
        }
        listed.extend(more);
    }
    let want = graph.reached();
    let mut marked = BTreeSet::new();
    cycle.marks(|first, words| marked.extend(objects_of(first, words))).unwrap();
    assert!(marked == want, "{} objects are marked, {} can be reached", marked.len(), want.len());
    let is_listed = |object: &&u64| graph.is_listed(**object, servers);
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), want.iter().filter(is_listed).copied().collect());
    assert_eq!(listed.len(), want.iter().filter(is_listed).count(), "each once");
    let listed: BTreeSet<u64> = listed.into_iter().collect();
    compare_extents(&mut cycle, graph, &(&want - &listed));
    let listed = listed.len();
    eprintln!("{number}: {} objects marked, {listed} listed, {cleaned} pages cleaned", marked.len());
}

fn compare_extents(cycle: &mut Cycle, graph: &Graph, marked: &BTreeSet<u64>) {
    let heap = graph.made.words.len() as u64 * 4;
    let (mut lines, mut live) = (vec![0_u64; heap.div_ceil(LINE).div_ceil(64) as usize], vec![0_u64; heap.div_ceil(BLOCK) as usize]);
    for &object in marked {
        let (start, end) = (object - BASE, object - BASE + graph.bytes(object));
        (start / LINE..=(end - 1) / LINE).for_each(|line| lines[(line / 64) as usize] |= 1 << (line % 64));
        for word in (start..end).step_by(8) {
            live[(word / BLOCK) as usize] += 1;
        }
    }
    let (mut got_lines, mut got_live) = (vec![0; lines.len()], vec![0; live.len()]);
    cycle.lines(|first, words| words.iter().enumerate().for_each(|(i, word)| got_lines[first as usize + i] |= word)).unwrap();
    cycle
        .live(|first, words| {
            for (block, slot) in (first as usize * 4..).zip(words.iter().flat_map(|word| (0..4).map(move |i| word >> (i * 16) & 0xFFFF))) {
                if slot > 0 {
                    got_live[block] += slot;
                }
            }
        })
        .unwrap();
    assert!(got_lines == lines, "the lines differ");
    assert!(got_live == live, "the live words differ");
}

/// Goes through the heap in strides, and writes the header of each object, which is no class and no reference: what is cleaned becomes dirty
/// again, leaves, and comes back.
fn scribble(graph: &Graph, me: usize, stop: &AtomicBool) -> u32 {
    let objects = &graph.made.objects;
    let mut round = 1;
    while !stop.load(Ordering::Relaxed) {
        round += 1;
        for (step, &object) in objects.iter().enumerate().skip(me).step_by(14) {
            memory(object).store(round * 2 + me as u32, Ordering::Relaxed);
            if step % 4096 < 14 && stop.load(Ordering::Relaxed) {
                break;
            }
        }
    }
    // Each of them, so that it is known what is there.
    objects.iter().skip(me).step_by(14).for_each(|&object| memory(object).store(round * 2 + me as u32, Ordering::Relaxed));
    round * 2 + me as u32
}

/// Stops who scribbles, also if something else is wrong.
struct Stopped<'a>(&'a AtomicBool);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn run(count: usize) {
    let servers: Vec<_> = (0..count)
        .map(|_| {
            let mut config = lull_memd::Config::new("127.0.0.1:0".parse().unwrap(), 128 << 20);
            config.peers = vec!["127.0.0.1".parse().unwrap()];
            lull_memd::Server::start(config).unwrap()
        })
        .collect();
    let names = servers.iter().map(|server| server.address.to_string()).collect();
    let pager = Pager::start(Options::new(names, LOCAL, 1 << 30)).unwrap();
    signal::install(pager);
    let graph = Graph::new(11);
    let words = &graph.made.words;
    pager.map(words.len() * 4, Some(BASE as usize)).unwrap();
    words.iter().zip(0_u64..).for_each(|(&word, index)| memory(BASE + 4 * index).store(word, Ordering::Relaxed));
    trace(pager, &graph, count, 1);
    let stop = AtomicBool::new(false);
    let last: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = [0, 7]
            .map(|me| {
                scope.spawn({
                    let (graph, stop) = (&graph, &stop);
                    move || scribble(graph, me, stop)
                })
            })
            .into();
        let stopped = Stopped(&stop);
        (2..5).for_each(|number| trace(pager, &graph, count, number));
        drop(stopped);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let scribbled: HashMap<u64, u32> = [0, 7]
        .iter()
        .zip(last)
        .flat_map(|(&me, value)| graph.made.objects.iter().skip(me).step_by(14).map(move |&object| (object, value)))
        .collect();
    for (&word, address) in words.iter().zip((BASE..).step_by(4)) {
        let want = scribbled.get(&address).copied().unwrap_or(word);
        assert_eq!(memory(address).load(Ordering::Relaxed), want, "at {address:#x}");
    }
    pager.leave();
}

/// One pager serves the faults of a process: so each number of servers is a process of its own, which runs this test only.
const SERVERS: &str = "LULL_TRACED_SERVERS";

#[test]
fn servers_trace_what_a_program_writes_to() {
    if let Ok(servers) = std::env::var(SERVERS) {
        run(servers.parse().unwrap());
        return;
    }
    if skipped(0, "servers that trace the memory of a running program") {
        return;
    }
    for servers in 1..=3 {
        let test = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "servers_trace_what_a_program_writes_to", "--nocapture"])
            .env(SERVERS, servers.to_string())
            .output()
            .unwrap();
        eprint!("{}", String::from_utf8_lossy(&test.stderr));
        assert!(test.status.success(), "with {servers} servers");
    }
}
