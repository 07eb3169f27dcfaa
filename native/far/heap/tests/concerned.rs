// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Pages concerned by moving regions of heaps made by hand, whose answers can be counted on one's fingers.

use std::path::PathBuf;

use lull_far_heap::concerned::{Concerned, Move};
use lull_far_heap::export::Export;
use lull_far_heap::made::{BASE, Made};
use lull_far_trace::layout::{Block, Kind, Layout};

const NODE: u32 = 0x1000;
const OBJECTS: u32 = 0x1008;
const NUMBERS: u32 = 0x1010;

/// Builds a heap of so many bytes: all of its objects live.
struct Heap(Made);

impl Heap {
    fn new(bytes: usize) -> Heap {
        let layout = |klass, kind, bytes, blocks| Layout { klass, kind, bytes, blocks };
        let layouts = vec![
            layout(NODE, Kind::Instance, 16, vec![Block { offset: 12, count: 1 }]),
            layout(OBJECTS, Kind::ObjArray { base: 16 }, 16, Vec::new()),
            layout(NUMBERS, Kind::TypeArray { shift: 0 }, 16, Vec::new()),
        ];
        Heap(Made { layouts, words: vec![0; bytes / 4], objects: Vec::new(), roots: Vec::new(), reached: Vec::new() })
    }

    /// An object at an offset, whose words from the 12th byte on are these. Returns its address.
    fn object(&mut self, offset: usize, klass: u32, words: &[u32]) -> u64 {
        let at = offset / 4;
        self.0.words[at + 2] = klass;
        self.0.words[at + 3..at + 3 + words.len()].copy_from_slice(words);
        self.0.objects.push(BASE + offset as u64);
        self.0.reached.push(true);
        BASE + offset as u64
    }

    fn open(&self, name: &str) -> Export {
        let path = File(std::env::temp_dir().join(format!("lull-concerned-{name}-{}", std::process::id())));
        self.0.write(&path.0).unwrap();
        Export::open(&path.0).unwrap()
    }
}

struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn narrow(offset: usize) -> u32 {
    ((BASE + offset as u64) >> 3) as u32
}

const REGION: usize = 8192;

/// Four regions of two pages, with 32, 16, 48 and more live bytes.
fn four_regions() -> Heap {
    let [r0, r1, r2, r3] = [0, 1, 2, 3].map(|index| index * REGION);
    let mut heap = Heap::new(4 * REGION);
    heap.object(r0, NODE, &[narrow(r1)]);
    heap.object(r0 + 4096, NODE, &[narrow(r2)]);
    let only = heap.object(r1, NODE, &[narrow(r0)]);
    let first = heap.object(r2, NODE, &[narrow(r1)]);
    heap.object(r2 + 16, NODE, &[0]);
    heap.object(r2 + 32, NODE, &[narrow(r2)]);
    // 300 elements: ten refer to the second region, five to the third.
    let mut words = vec![300];
    words.extend([narrow(r1); 10].iter().chain(&[narrow(r2); 5]));
    heap.object(r3, OBJECTS, &words);
    heap.0.roots = vec![only, first, first];
    heap
}

#[test]
fn each_move_concerns_the_pages_that_refer_into_it() {
    let concerned = Concerned::of(&four_regions().open("four"), REGION as u64).unwrap();
    let moved = |regions, live, others, pages, references, roots| Move { regions, live, others, pages, references, roots };
    assert_eq!((concerned.used, concerned.region), (4, 8192));
    assert_eq!(
        concerned.moves,
        [
            moved(0, 0, 5, 0, 0, 0),
            moved(1, 16, 4, 3, 12, 1),
            moved(2, 48, 2, 2, 11, 1),
            moved(3, 96, 1, 1, 15, 3),
            moved(4, 96 + 1216, 0, 0, 0, 3),
        ]
    );
    assert_eq!([24, 25, 50, 100].map(|percent| concerned.share(percent).regions), [0, 1, 2, 4]);
    assert_eq!([0, 2, 3].map(|pages| concerned.budget(pages).regions), [0, 0, 4]);
}

/// The same heap in smaller regions: the two pages of the first one are regions of their own.
#[test]
fn smaller_regions_are_ranked_by_themselves() {
    let concerned = Concerned::of(&four_regions().open("pages"), 4096).unwrap();
    assert_eq!((concerned.used, concerned.moves.len()), (5, 6));
    // Three have 16 bytes; of these the first is moved first, and referred to by the second region alone.
    let Move { pages, references, roots, others, .. } = concerned.moves[1];
    assert_eq!((pages, references, roots, others), (1, 1, 0, 4));
}

/// A large object holds the regions that it lies in, and its numbers have one byte: the next object says so.
#[test]
fn what_reaches_across_an_end_does_not_move() {
    let mut heap = Heap::new(4 * 4096);
    heap.object(0, NUMBERS, &[8000]);
    heap.object(8016, NODE, &[narrow(2 * 4096)]);
    let moves = heap.object(2 * 4096, NODE, &[narrow(8016)]);
    heap.0.roots = vec![moves];
    let concerned = Concerned::of(&heap.open("large"), 4096).unwrap();
    assert_eq!((concerned.used, concerned.moves.len()), (3, 2));
    assert_eq!(concerned.moves[1], Move { regions: 1, live: 16, others: 2, pages: 1, references: 1, roots: 1 });
}

#[test]
fn what_cannot_be_right_is_said() {
    let mut unknown = Heap::new(4096);
    unknown.object(0, 0x77, &[]);
    let mut overlap = Heap::new(4096);
    overlap.object(0, NUMBERS, &[100]);
    overlap.object(64, NODE, &[0]);
    let mut nowhere = Heap::new(4096);
    nowhere.object(0, NODE, &[0xFFFF_FFF0]);
    let mut long = Heap::new(4096);
    long.object(64, OBJECTS, &[1 << 20]);
    for (name, heap, want) in [
        ("unknown", unknown, "has the unknown class 0x77"),
        ("overlap", overlap, "the object at 0x80000000 reaches into the next one"),
        ("nowhere", nowhere, "the compressed reference 0xfffffff0 at 0x8000000c refers to no object"),
        ("long", long, "reaches into the next one"),
    ] {
        let text = Concerned::of(&heap.open(name), 4096).unwrap_err();
        assert!(text.starts_with("the heap: ") && text.contains(want), "{text}");
    }
}
