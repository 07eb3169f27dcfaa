// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Objects of classes that nobody has a layout of.

use lull_far_trace::geometry::Geometry;
use lull_far_trace::layout::LAYOUTS;
use lull_far_trace::tracer::{Damaged, Memory, Tracer};

const BASE: u64 = 0x8000_0000;

/// Each 8 bytes say another class.
struct Numbered;

impl Memory for Numbered {
    fn word(&self, address: u64) -> u32 {
        (address >> 3) as u32
    }
}

#[test]
fn more_unknown_classes_than_layouts_end_the_cycle() {
    const CLASSES: u64 = LAYOUTS as u64;
    let bytes = 8 * CLASSES + 64;
    let geometry = Geometry { base: BASE, bytes, part: 1 << 30, narrow_base: 0, narrow_shift: 3, servers: 1 };
    let mut tracer = Tracer::new(0, geometry);
    (0..CLASSES).for_each(|number| tracer.root(BASE + 8 * number).unwrap());
    assert_eq!(tracer.step(&Numbered, u64::MAX), Ok(false));
    tracer.root(BASE + 8 * CLASSES).unwrap();
    assert_eq!(tracer.step(&Numbered, u64::MAX), Err(Damaged::Classes));
    // Over, and only counted.
    let counts = tracer.counts();
    assert_eq!((counts.marked, tracer.marks().len() as u64), (CLASSES + 1, (1 << 30) / 512));
    tracer.forget();
    assert_eq!((tracer.counts(), tracer.marks().len(), tracer.missing().len()), (counts, 0, 0));
}
