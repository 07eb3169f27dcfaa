// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sequences of pages: the pager's misses against those of exact LRU with the same room, and the time of a program that writes, too.

use std::time::Instant;

use crate::Far;
use crate::memory::{Memory, Random};
use crate::trace::{lru_misses, trace};

/// A trace, and memory of as many pages as it uses.
fn prepare(far: &Far, name: &str, accesses: usize) -> Result<(Vec<usize>, Memory), String> {
    let trace = trace(name, far.pages as usize, accesses)?;
    let pages = trace.iter().max().map_or(0, |last| last + 1);
    if pages < 2048 {
        return Err(format!("{name} uses {pages} pages; 2048 or more make a measurement"));
    }
    let far = Far { pages: pages as u32, ..far.clone() };
    Ok((trace, Memory::new(&far)?))
}

/// Prints the two, and the factor. All pages were used before, so that none is missed for being new.
pub fn misses(far: &Far, name: &str, accesses: usize) -> Result<(), String> {
    let (trace, memory) = prepare(far, name, accesses)?;
    let pages = memory.pages();
    let room = memory.pager.local_pages().1 as usize;
    let misses = memory.count(|c| &c.fetch_faults);
    let chances = memory.count(|c| &c.second_chances);
    trace.iter().for_each(|&page| memory.read(page));
    let misses = memory.count(|c| &c.fetch_faults) - misses;
    let chances = memory.count(|c| &c.second_chances) - chances;
    let lru = lru_misses(&trace, pages, room);
    let name = name.rsplit('/').next().unwrap_or(name);
    println!(
        "misses, {name}, {} accesses to {pages} pages, {} % local, read-ahead {}: pager {misses}, exact LRU {lru}, factor {:.3}; {:.2} second chances for each access",
        trace.len(),
        far.local,
        far.read_ahead,
        misses as f64 / lru.max(1) as f64,
        chances as f64 / trace.len() as f64
    );
    Ok(())
}

/// Prints the time of an access, of which so many percent are writes; compares what it reads, and all pages at the end.
pub fn operations(far: &Far, name: &str, accesses: usize, writes: u32) -> Result<(), String> {
    let (trace, memory) = prepare(far, name, accesses)?;
    let pages = memory.pages();
    let mut random = Random(7);
    let kinds: Vec<bool> = trace.iter().map(|_| random.unit() * 100.0 < f64::from(writes)).collect();
    let mut times = vec![0_u32; pages];
    let misses = memory.count(|c| &c.fetch_faults);
    let begin = Instant::now();
    for (&page, &write) in trace.iter().zip(&kinds) {
        memory.read_of(page, times[page]);
        if write {
            times[page] += 1;
            memory.write_for(page, times[page]);
        }
    }
    let microseconds = begin.elapsed().as_secs_f64() * 1e6;
    let misses = memory.count(|c| &c.fetch_faults) - misses;
    (0..pages).for_each(|page| memory.read_of(page, times[page]));
    println!(
        "operations, {name}, {} on {pages} pages, {} % local, {writes} % of them writes, read-ahead {}: {:.2} us each, {:.3} misses each; all pages compared",
        trace.len(),
        far.local,
        far.read_ahead,
        microseconds / trace.len() as f64,
        misses as f64 / trace.len() as f64
    );
    Ok(())
}
