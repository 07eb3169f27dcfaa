// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Pages that are written to are counted, each once in each window, and none of them is taken for clean for that.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{server, skipped};
use lull_far::{Options, PAGE_SIZE, Pager, signal};

const PAGES: usize = 4096;

/// The sums of the pages of all windows of a length, and how many windows there are.
fn sums(file: &Path) -> [(u64, usize); 3] {
    let text = std::fs::read_to_string(file).unwrap();
    let mut sums = [(0, 0); 3];
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(words.len(), 7, "{line}");
        for (sum, word) in sums.iter_mut().zip(&words[4..]).filter(|(_, word)| **word != "-") {
            *sum = (sum.0 + word.parse::<u64>().unwrap(), sum.1 + 1);
        }
    }
    sums
}

/// Waits for some more windows of the shortest length.
fn wait_for_windows(file: &Path, more: usize) {
    let (begin, before) = (Instant::now(), sums(file)[0].1);
    while sums(file)[0].1 < before + more {
        assert!(begin.elapsed() < Duration::from_secs(30), "no window ends");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A quarter is local, so that pages leave and come back while they are looked at.
#[test]
fn each_write_is_counted_once_and_none_is_lost() {
    if skipped(0, "counted writes") {
        return;
    }
    let file = std::env::temp_dir().join(format!("lull-far-dirty-{}", std::process::id()));
    let server = server(32);
    let mut options = Options::new(vec![server.address.to_string()], 4 << 20, 1 << 30);
    options.dirty = Some(file.clone());
    let pager = Pager::start(options).unwrap();
    signal::install(pager);
    let range = pager.map(PAGES * PAGE_SIZE, None).unwrap();
    let memory = std::ptr::with_exposed_provenance_mut::<u64>(range.base);
    let word = |page: usize| {
        assert!(page < PAGES);
        // SAFETY: within the range.
        unsafe { memory.add(page * PAGE_SIZE / 8 + page % 512) }
    };
    // SAFETY: all three, of words within the range.
    let (read, write) = (|page| unsafe { word(page).read_volatile() }, |page, value| unsafe { word(page).write_volatile(value) });
    let mut expected = vec![0_u64; PAGES];
    let mut written = 0;
    for round in 1..=3_u64 {
        for page in (0..PAGES).step_by(round as usize) {
            write(page, round);
            (expected[page], written) = (round, written + 1);
        }
        // Whoever is still mapped was protected since, and leaves so when others come.
        wait_for_windows(&file, 3);
        let (after_writes, windows) = sums(&file)[0];
        // A window may end between the kernel's fault for a write and the write itself, which then takes another one: once in each window, of
        // one thread.
        assert!((written..=written + windows as u64).contains(&after_writes), "round {round}: {after_writes} of {written} writes");
        for page in (0..PAGES).rev() {
            assert_eq!(read(page), expected[page], "page {page} of round {round}");
        }
        wait_for_windows(&file, 3);
        assert_eq!(sums(&file)[0].0, after_writes, "round {round}: reads are no writes");
    }
    let counters = &pager.counters;
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(std::sync::atomic::Ordering::Relaxed);
    assert!(count(&counters.pages_dropped_clean) > 0 && count(&counters.pages_written) > 0, "{counters:?}");
    // The same page in many windows is one in a longer one.
    wait_for_windows(&file, 100);
    let [shortest, _, longest] = sums(&file);
    let begin = Instant::now();
    let mut value = 10;
    while begin.elapsed() < Duration::from_secs(2) {
        value += 1;
        write(7, value);
    }
    wait_for_windows(&file, 100);
    let [shortest_now, _, longest_now] = sums(&file);
    let (short, long) = (shortest_now.0 - shortest.0, longest_now.0 - longest.0);
    // Of a busy machine some windows are long.
    assert!(short > 20 && long >= 1 && long <= short / 10, "{short} and {long}");
    pager.unmap(range.base).unwrap();
    pager.leave();
    std::fs::remove_file(file).unwrap();
}
