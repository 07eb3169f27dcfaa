// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Ranges come and go: what is unmapped is given back, here and on the servers.

mod common;

use common::{server, skipped};
use std::time::{Duration, Instant};

use lull_far::{Options, PAGE_SIZE, Pager, signal};

/// The servers have room for one range and not for two.
#[test]
fn unmapped_ranges_give_their_memory_back() {
    if skipped(0, "unmapped ranges") {
        return;
    }
    // The second is the one that refuses: what the first has given for the range must be given back.
    let servers = [server(48), server(24)];
    let names = servers.iter().map(|server| server.address.to_string()).collect();
    let bytes = 40 << 20;
    let pager = Pager::start(Options::new(names, 8 << 20, 1 << 30)).unwrap();
    signal::install(pager);
    for round in 1..=4_u8 {
        let range = pager.map(bytes, None).unwrap();
        assert!(pager.map(bytes, None).unwrap_err().to_string().contains(": FULL: "));
        let memory = std::ptr::with_exposed_provenance_mut::<u8>(range.base);
        for page in 0..bytes / PAGE_SIZE {
            // SAFETY: within the range.
            unsafe {
                let byte = memory.add(page * PAGE_SIZE + page % PAGE_SIZE);
                assert_eq!(byte.read_volatile(), 0, "page {page} of round {round} is not new");
                byte.write_volatile(round);
            }
        }
        for page in 0..bytes / PAGE_SIZE {
            // SAFETY: within the range.
            assert_eq!(unsafe { memory.add(page * PAGE_SIZE + page % PAGE_SIZE).read_volatile() }, round);
        }
        let (used, limit) = pager.local_pages();
        assert!(used > limit / 2 && used <= limit);
        // What was asked for ahead and nobody comes for is given up after a while.
        let read = |page: usize| {
            // SAFETY: within the range.
            assert_eq!(unsafe { memory.add(page * PAGE_SIZE + page % PAGE_SIZE).read_volatile() }, round);
        };
        let mut rest = 0..bytes / PAGE_SIZE;
        rest.by_ref().inspect(|&page| read(page)).find(|_| pager.coming_pages() > 0).expect("nothing was asked for ahead");
        let begin = Instant::now();
        while pager.coming_pages() > 0 {
            assert!(begin.elapsed() < Duration::from_secs(20), "{} pages are still coming", pager.coming_pages());
            std::thread::sleep(Duration::from_millis(20));
        }
        // And asked for again by who comes in the end. Then the range goes while pages are coming.
        rest.inspect(|&page| read(page)).find(|_| pager.coming_pages() > 0).expect("nothing was asked for ahead again");
        pager.unmap(range.base).unwrap();
        assert_eq!((pager.local_pages().0, pager.coming_pages()), (0, 0));
        assert!(pager.unmap(range.base).is_err());
    }
    // Nothing takes a range's place before it is gone; who gives it up may keep its addresses from others.
    let range = pager.map(bytes, None).unwrap();
    for place in [range.base, range.base + bytes - PAGE_SIZE] {
        let text = pager.map(PAGE_SIZE, Some(place)).unwrap_err().to_string();
        assert!(text.contains("is mapped at"), "{text}");
    }
    pager.vacate(range.base).unwrap();
    assert!(pager.range_at(range.base).is_none() && pager.local_pages().0 == 0);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    // It may be one with a neighbour of the same kind.
    let is_there = |line: &str| {
        let (begin, rest) = line.split_once('-').unwrap();
        let (end, rest) = rest.split_once(' ').unwrap();
        let [begin, end] = [begin, end].map(|text| usize::from_str_radix(text, 16).unwrap());
        begin <= range.base && range.base + bytes <= end && rest.starts_with("---p ")
    };
    assert!(maps.lines().any(is_there), "the addresses are free: {maps}");
    let again = pager.map(bytes, Some(range.base)).unwrap();
    assert_eq!(again.base, range.base);
    pager.unmap(again.base).unwrap();
    pager.leave();
}
