// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Heaps made by chance, in the form of an exported one, for tests. What is marked in them is what a search of the graph finds that they
//! were made from: it shares nothing with the servers' tracing.

use std::io;
use std::path::Path;

use lull_far_trace::layout::{Block, Kind, Layout};
use lull_far_trace::wire::encode_layout;

/// Where such a heap lies.
pub const BASE: u64 = 0x8000_0000;

const SHIFT: u64 = 3;

/// A heap.
#[derive(Clone, Debug)]
pub struct Made {
    /// Of its classes.
    pub layouts: Vec<Layout>,
    /// Its bytes, 4 each.
    pub words: Vec<u32>,
    /// Where its objects are.
    pub objects: Vec<u64>,
    /// Some of them.
    pub roots: Vec<u64>,
    /// By object: whether it can be reached from them.
    pub reached: Vec<bool>,
}

/// Numbers by chance.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// Classes: 0 and 1 instances, 2 reference, 3 mirror, 4 array of references, 5 array of numbers.
fn layouts() -> Vec<Layout> {
    let block = |offset, count| Block { offset, count };
    let instance = |klass, bytes, blocks| Layout { klass, kind: Kind::Instance, bytes, blocks };
    vec![
        instance(0x1000, 24, vec![block(12, 2)]),
        instance(0x1008, 40, vec![block(12, 1), block(24, 3)]),
        Layout { klass: 0x1010, kind: Kind::Reference { referent: 12 }, bytes: 32, blocks: vec![block(16, 2)] },
        Layout { klass: 0x1018, kind: Kind::Mirror { count: 16, statics: 32, words: 24 }, bytes: 32, blocks: vec![block(20, 1)] },
        Layout { klass: 0x1020, kind: Kind::ObjArray { base: 16 }, bytes: 16, blocks: Vec::new() },
        Layout { klass: 0x1028, kind: Kind::TypeArray { shift: 0 }, bytes: 16, blocks: Vec::new() },
    ]
}

impl Made {
    /// A heap with so many objects. Some arrays are long.
    #[must_use]
    pub fn new(seed: u64, count: usize) -> Made {
        let mut draw = Draw(seed | 1);
        let layouts = layouts();
        let mut shapes = Vec::with_capacity(count);
        let mut objects = Vec::with_capacity(count);
        let mut at = BASE;
        for _ in 0..count {
            let class = draw.below(layouts.len());
            let length = if draw.below(50) == 0 { draw.below(5000) } else { draw.below(12) };
            let bytes = match class {
                3 => 32 + 4 * length,
                4 | 5 => 16 + 4 * length,
                _ => layouts[class].bytes as usize,
            };
            shapes.push((class, length));
            objects.push(at);
            at += bytes.next_multiple_of(8) as u64;
        }
        let bytes = ((at - BASE) as usize).next_multiple_of(4096);
        let mut words = vec![0_u32; bytes / 4];
        let mut edges = Vec::with_capacity(count);
        // One object of four is garbage, to which only garbage refers.
        let garbage = |index: usize| index % 4 == 3;
        for (index, (&object, &(class, length))) in objects.iter().zip(&shapes).enumerate() {
            let first = ((object - BASE) / 4) as usize;
            words[first] = 1;
            words[first + 2] = layouts[class].klass;
            let slots: Vec<usize> = match class {
                0 => vec![3, 4],
                1 => vec![3, 6, 7, 8],
                2 => vec![4, 5],
                3 => (0..length).map(|i| 8 + i).chain([5]).collect(),
                4 => (0..length).map(|i| 4 + i).collect(),
                _ => Vec::new(),
            };
            match class {
                2 => words[first + 3] = narrow(objects[draw.below(count)]),
                3 => {
                    words[first + 4] = length as u32;
                    words[first + 6] = (32 + 4 * length).next_multiple_of(8) as u32 / 8;
                }
                4 => words[first + 3] = length as u32,
                5 => {
                    words[first + 3] = length as u32;
                    // Numbers that look like anything.
                    (0..length).for_each(|i| words[first + 4 + i] = narrow(objects[draw.below(count)]) | draw.below(2) as u32);
                }
                _ => {}
            }
            let mut theirs = Vec::new();
            for slot in slots {
                let to = draw.below(count);
                if draw.below(3) > 0 && (garbage(index) || !garbage(to)) {
                    words[first + slot] = narrow(objects[to]);
                    theirs.push(to);
                }
            }
            edges.push(theirs);
        }
        let roots: Vec<usize> = (0..1 + count / 100).map(|_| draw.below(count)).filter(|&root| !garbage(root)).chain([0]).collect();
        let mut reached = vec![false; count];
        let mut open = roots.clone();
        while let Some(object) = open.pop() {
            if !std::mem::replace(&mut reached[object], true) {
                open.extend(&edges[object]);
            }
        }
        Made { layouts, words, roots: roots.iter().map(|&root| objects[root]).collect(), objects, reached }
    }

    /// How many objects can be reached.
    #[must_use]
    pub fn marked(&self) -> u64 {
        self.reached.iter().filter(|&&reached| reached).count() as u64
    }

    /// The file, with marks of the objects that can be reached.
    #[must_use]
    pub fn file(&self) -> Vec<u8> {
        let mut layouts = Vec::new();
        self.layouts.iter().for_each(|layout| encode_layout(layout, &mut layouts));
        let bytes = self.words.len() as u64 * 4;
        let mut marks = vec![0_u8; (bytes / 64) as usize];
        for (&object, _) in self.objects.iter().zip(&self.reached).filter(|&(_, &reached)| reached) {
            let bit = (object - BASE) / 8;
            marks[(bit / 8) as usize] |= 1 << (bit % 8);
        }
        let after = 80 + layouts.len() + self.roots.len() * 8 + marks.len();
        let heap = after.next_multiple_of(4096);
        let mut out = b"LulHeap1".to_vec();
        for number in [BASE, bytes, 0, SHIFT, layouts.len() as u64, self.roots.len() as u64, self.marked(), heap as u64, 0] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend(layouts);
        self.roots.iter().for_each(|root| out.extend_from_slice(&root.to_le_bytes()));
        out.extend(marks);
        out.resize(heap, 0);
        self.words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out
    }

    /// Writes the file.
    ///
    /// # Errors
    /// As the file system.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, self.file())
    }
}

fn narrow(object: u64) -> u32 {
    (object >> SHIFT) as u32
}
