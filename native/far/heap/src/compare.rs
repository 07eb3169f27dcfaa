// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What servers have marked, against what the JVM has marked: bit for bit. And the references that they have found, against those that
//! the JVM's marks and the heap's class words say.

use std::collections::{BTreeSet, HashSet};

use lull_far_trace::geometry::{CLASS_OFFSET, Geometry};
use lull_far_trace::layout::Kind;

use crate::cycle::Traced;
use crate::export::Export;

/// What was compared, and found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equal {
    /// Objects.
    pub objects: u64,
    /// References among them that are not strong.
    pub references: u64,
}

/// The marks of all servers as the JVM has them: a bit for each 8 bytes of the heap, set where an object starts.
///
/// # Errors
/// If two have marked the same object, or one a place that is no object's.
pub fn merge(geometry: &Geometry, traced: &Traced) -> Result<Vec<u64>, String> {
    let mut all = vec![0_u64; (geometry.bytes / 512) as usize];
    for (server, outcome) in traced.servers.iter().enumerate() {
        for (index, &word) in outcome.marks.iter().enumerate() {
            for bit in bits(word) {
                let class = geometry.address_of(server, (index as u64 * 64 + bit) * 8);
                let at = class.checked_sub(CLASS_OFFSET + geometry.base).filter(|&at| at < geometry.bytes);
                let Some(at) = at else { return Err(format!("server {server} has marked {class:#x}, where no object has its class")) };
                let (word, bit) = (&mut all[(at / 512) as usize], 1 << (at / 8 % 64));
                if *word & bit != 0 {
                    return Err(format!("two servers have marked the object at {:#x}", geometry.base + at));
                }
                *word |= bit;
            }
        }
    }
    Ok(all)
}

/// Compares.
///
/// # Errors
/// The first object that is marked by one side only, and how many there are; the same for references.
pub fn compare(export: &Export, geometry: &Geometry, traced: &Traced) -> Result<Equal, String> {
    let marks = merge(geometry, traced)?;
    let mut differ = (0_u64, None);
    for (index, (&theirs, &jvms)) in marks.iter().zip(&export.marks).enumerate() {
        for bit in bits(theirs ^ jvms) {
            let object = export.base + (index as u64 * 64 + bit) * 8;
            differ = (differ.0 + 1, differ.1.or(Some((object, theirs >> bit & 1 != 0))));
        }
    }
    if let (count, Some((object, by_servers))) = differ {
        let whom = if by_servers { "the servers have marked and the JVM has not" } else { "the JVM has marked and the servers have not" };
        return Err(format!("{count} objects differ; the first is {object:#x}, which {whom}"));
    }
    let objects: u64 = traced.servers.iter().map(|server| server.counts.marked).sum();
    if objects != export.marked {
        return Err(format!("the servers say that they have marked {objects} objects, and have marked {}", export.marked));
    }
    let mut found = BTreeSet::new();
    for &reference in traced.servers.iter().flat_map(|server| &server.discovered) {
        if !found.insert(reference) {
            return Err(format!("the reference at {reference:#x} was found twice"));
        }
    }
    let want = references(export).map_err(|error| format!("the heap: {error}"))?;
    if let Some(reference) = found.symmetric_difference(&want).next() {
        let whom = if found.contains(reference) { "is none, or the JVM has not marked it" } else { "the servers have not found" };
        return Err(format!("the servers have found {} references of {}: that at {reference:#x} {whom}", found.len(), want.len()));
    }
    Ok(Equal { objects, references: want.len() as u64 })
}

/// The objects that the JVM has marked whose class is one of references that are not strong.
fn references(export: &Export) -> std::io::Result<BTreeSet<u64>> {
    const CHUNK: u64 = 1 << 20;
    let classes: HashSet<u32> =
        export.layouts.iter().filter(|layout| matches!(layout.kind, Kind::Reference { .. })).map(|layout| layout.klass).collect();
    let mut found = BTreeSet::new();
    let mut bytes = vec![0; CHUNK as usize];
    for start in (0..export.bytes).step_by(CHUNK as usize) {
        let bytes = &mut bytes[..CHUNK.min(export.bytes - start) as usize];
        export.heap(start, bytes)?;
        // Objects whose class word lies in this chunk: it may start before it.
        let (first, end) = (start.saturating_sub(CLASS_OFFSET), start + bytes.len() as u64 - CLASS_OFFSET);
        for at in (first..end).step_by(8) {
            let class = at + CLASS_OFFSET;
            if export.marks[(at / 512) as usize] >> (at / 8 % 64) & 1 != 0 && class >= start {
                let word = &bytes[(class - start) as usize..][..4];
                if classes.contains(&u32::from_le_bytes(std::array::from_fn(|i| word[i]))) {
                    found.insert(export.base + at);
                }
            }
        }
    }
    Ok(found)
}

/// The numbers of the bits that are set.
fn bits(mut word: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = u64::from(word.trailing_zeros());
        word &= word - 1;
        Some(bit)
    })
}
