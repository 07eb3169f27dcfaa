// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Faults, read-ahead, eviction.

use std::time::{Duration, Instant};

use lull_far::PAGE_SIZE;

use crate::Far;
use crate::memory::{Memory, Random};
use crate::processor::Busy;
use crate::samples::Samples;

/// How long each measurement goes on.
const TIME: Duration = Duration::from_secs(3);

/// Latency of faults that fetch one page. The evictor makes room meanwhile.
pub fn random(far: &Far) -> Result<(), String> {
    let memory = Memory::new(far)?;
    let mut random = Random(1);
    let mut samples = Samples::default();
    let fetched = memory.count(|c| &c.pages_fetched);
    let (busy, start) = (Busy::since_now()?, Instant::now());
    while start.elapsed() < TIME {
        let page = random.below(memory.pages());
        let before = memory.count(|c| &c.fetch_faults);
        samples.take(|| memory.read(page), || memory.count(|c| &c.fetch_faults) > before);
    }
    busy.print(memory.count(|c| &c.pages_fetched) - fetched)?;
    samples.print("far memory, random reads")
}

/// The same with room for all: each page once, in random order, and nothing has to leave.
pub fn first(far: &Far) -> Result<(), String> {
    let memory = Memory::all_away(far)?;
    let left = || memory.count(|c| &c.pages_written) + memory.count(|c| &c.pages_dropped_clean);
    let before = left();
    let mut samples = Samples::default();
    for page in Random(1).order(memory.pages()) {
        let fetched = memory.count(|c| &c.pages_fetched);
        samples.take(|| memory.read(page), || memory.count(|c| &c.pages_fetched) == fetched + 1);
    }
    samples.print("far memory, first reads")?;
    match left() - before {
        0 => Ok(()),
        left => Err(format!("{left} pages left meanwhile")),
    }
}

/// Bandwidth of a thread that reads all pages in order, over and over.
pub fn sequential(far: &Far) -> Result<(), String> {
    let memory = Memory::new(far)?;
    let fetched = memory.count(|c| &c.pages_fetched);
    let faults = memory.count(|c| &c.fetch_faults);
    let (busy, start) = (Busy::since_now()?, Instant::now());
    while start.elapsed() < TIME {
        (0..memory.pages()).for_each(|page| memory.read(page));
    }
    let seconds = start.elapsed().as_secs_f64();
    let fetched = memory.count(|c| &c.pages_fetched) - fetched;
    let faults = memory.count(|c| &c.fetch_faults) - faults;
    println!(
        "far memory, reads in order, read-ahead {}: {:.0} MB/s, {:.1} pages for each fault that fetches, {:.1} us for each page",
        far.read_ahead,
        (fetched * PAGE_SIZE as u64) as f64 / seconds / 1e6,
        fetched as f64 / faults.max(1) as f64,
        seconds * 1e6 / fetched.max(1) as f64
    );
    busy.print(fetched)
}

/// Time that the evictor's thread was on a processor, for each page that left.
pub fn evict(far: &Far) -> Result<(), String> {
    let memory = Memory::new(far)?;
    let one = |what: &str, access: &dyn Fn(usize)| {
        let left = || memory.count(|c| &c.pages_written) + memory.count(|c| &c.pages_dropped_clean);
        let (pages, written, busy) = (left(), memory.count(|c| &c.pages_written), evictor_nanoseconds()?);
        let start = Instant::now();
        while start.elapsed() < TIME {
            (0..memory.pages()).for_each(access);
        }
        let (pages, written, busy) = (left() - pages, memory.count(|c| &c.pages_written) - written, evictor_nanoseconds()? - busy);
        println!(
            "eviction, {what}: {pages} pages left, {:.0} % of them written to a server, {:.2} us of the evictor's processor time for each",
            written as f64 * 100.0 / pages.max(1) as f64,
            busy as f64 / 1000.0 / pages.max(1) as f64
        );
        Ok::<(), String>(())
    };
    one("pages that are read", &|page| memory.read(page))?;
    one("pages that are written", &|page| memory.write(page))
}

/// From the kernel's account of the thread of that name.
fn evictor_nanoseconds() -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("/proc/self/task: {error}");
    for entry in std::fs::read_dir("/proc/self/task").map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "far-evict") {
            let text = std::fs::read_to_string(path.join("schedstat")).map_err(failed)?;
            return text.split(' ').next().and_then(|first| first.parse().ok()).ok_or_else(|| format!("schedstat is {text:?}"));
        }
    }
    Err("the evictor's thread is not there".to_owned())
}
