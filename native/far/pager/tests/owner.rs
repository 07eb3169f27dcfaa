// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A program that knows which of its pages are young, which are of no use, and which the kernel was given: the evictor goes by it, and no byte
//! is lost for that.

mod common;

use std::ffi::c_void;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{server, skipped};
use lull_far::ffi_owner::{COwner, COwnerStatistics};
use lull_far::ffi_tracer::CTracer;
use lull_far::{Options, PAGE_SIZE, Pager, signal};

/// Of which 2048 may be local.
const PAGES: usize = 8192;
const LOCAL: usize = 2048;
/// The evictor sends so many at once.
const STEP: u64 = lull_far_protocol::MAX_PAGES_PER_FRAME as u64;
/// Pages that are used and freed together.
const BLOCK: usize = 8;

const OTHER: u8 = 0;
const YOUNG: u8 = 1;
const UNUSED: u8 = 2;

static BASE: AtomicUsize = AtomicUsize::new(0);
static USES: [AtomicU8; PAGES] = [const { AtomicU8::new(OTHER) }; PAGES];

extern "C" fn use_of(page: *const c_void) -> u32 {
    USES[(page.expose_provenance() - BASE.load(Ordering::Relaxed)) / PAGE_SIZE].load(Ordering::SeqCst).into()
}

fn say(pages: std::ops::Range<usize>, what: u8) {
    pages.for_each(|page| USES[page].store(what, Ordering::SeqCst));
}

fn word(page: usize) -> *mut u64 {
    assert!(page < PAGES);
    std::ptr::with_exposed_provenance_mut::<u64>(BASE.load(Ordering::Relaxed) + page * PAGE_SIZE + page % 512 * 8)
}

fn write(page: usize, value: u64) {
    // SAFETY: within the range, by its only user.
    unsafe { word(page).write_volatile(value) }
}

fn read(page: usize) -> u64 {
    // SAFETY: as above.
    unsafe { word(page).read_volatile() }
}

fn address(page: usize) -> usize {
    BASE.load(Ordering::Relaxed) + page * PAGE_SIZE
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn eventually(what: &str, is: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What of a pipe comes out of what a system call was given, or the error's number.
fn by_system_call(page: usize) -> Result<usize, i32> {
    let mut ends = [0; 2];
    // SAFETY: two descriptors of our own, and memory of the range.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        let sent = libc::write(ends[1], std::ptr::with_exposed_provenance(address(page)), PAGE_SIZE);
        let error = *libc::__errno_location();
        libc::close(ends[1]);
        let mut bytes = Vec::new();
        std::fs::File::from_raw_fd(ends[0]).read_to_end(&mut bytes).unwrap();
        if sent < 0 { Err(error) } else { Ok(bytes.len()) }
    }
}

/// Blocks are used once each, over and over, with four times as many as may be local.
fn garbage_is_not_sent(pager: &Pager) {
    say(0..PAGES, UNUSED);
    let before = count(&pager.counters.pages_written);
    for round in 1..=3_u64 {
        for first in (0..PAGES).step_by(BLOCK) {
            let block = first..first + BLOCK;
            say(block.clone(), OTHER);
            pager.forget(address(first), BLOCK * PAGE_SIZE);
            block.clone().for_each(|page| write(page, round * 10_000 + page as u64));
            block.clone().for_each(|page| assert_eq!(read(page), round * 10_000 + page as u64));
            say(block, UNUSED);
        }
    }
    let dropped = count(&pager.owner_counters().dropped_unused);
    assert_eq!(count(&pager.counters.pages_written) - before, 0, "garbage was sent; {dropped} pages were dropped");
    assert!(dropped as usize >= 3 * PAGES - LOCAL, "{dropped} pages were dropped");
}

/// Half of what may be local is young, while all else is read and written, twice.
fn young_pages_stay(pager: &Pager) {
    let young = 0..LOCAL / 2;
    say(young.clone(), YOUNG);
    say(young.end..PAGES, OTHER);
    young.clone().for_each(|page| write(page, 7_000_000 + page as u64));
    for round in 0..2 {
        for page in young.end..PAGES {
            let value = 8_000_000 + page as u64;
            if round == 0 {
                write(page, value);
            }
            assert_eq!(read(page), value, "page {page} of round {round}");
        }
    }
    let faults = || {
        let counters = &pager.counters;
        count(&counters.zero_faults) + count(&counters.fetch_faults) + count(&counters.second_chances)
    };
    let before = faults();
    young.for_each(|page| assert_eq!(read(page), 7_000_000 + page as u64));
    assert_eq!(faults() - before, 0, "a young page has left");
    assert_eq!(count(&pager.owner_counters().young_written), 0);
    assert!(count(&pager.owner_counters().young_passed) > 0 && count(&pager.counters.pages_written) > 0);
}

/// More is young than may be local: the oldest of it leaves, and nobody waits for ever.
fn young_pages_leave_if_there_is_nothing_else(pager: &Pager) {
    say(0..PAGES, YOUNG);
    (0..PAGES).for_each(|page| write(page, 9_000_000 + page as u64));
    (0..PAGES).for_each(|page| assert_eq!(read(page), 9_000_000 + page as u64));
    assert!(count(&pager.owner_counters().young_written) > 0);
}

/// What is away comes back as zeros, and nothing is fetched for it.
fn what_is_forgotten_is_not_fetched(pager: &Pager) {
    eventually("pages are still coming", || pager.coming_pages() == 0);
    say(0..PAGES, UNUSED);
    let before = count(&pager.owner_counters().forgotten);
    // Not the first page, and not the last, of which a part is left out.
    let remote = pager.remote_pages();
    pager.forget(address(0) + 1, (PAGES - 1) * PAGE_SIZE);
    let forgotten = count(&pager.owner_counters().forgotten) - before;
    // All that is on servers only is forgotten, but for the first page and the last, and what the evictor was about to send.
    assert!(remote.abs_diff(forgotten) <= STEP + 2, "{remote} pages were remote, {forgotten} are forgotten");
    assert!(pager.remote_pages() <= STEP + 2, "{} pages are remote", pager.remote_pages());
    assert!(forgotten as usize > PAGES - LOCAL - BLOCK, "{forgotten} pages were forgotten");
    let fetched = count(&pager.counters.pages_fetched);
    let mut zeros = 0;
    for page in 1..PAGES - 1 {
        say(page..page + 1, OTHER);
        let value = read(page);
        assert!(value == 0 || value == 9_000_000 + page as u64, "page {page} is {value}");
        zeros += u64::from(value == 0);
        say(page..page + 1, UNUSED);
    }
    assert!(zeros >= forgotten, "{zeros} of {forgotten} pages are zeros");
    assert_eq!(count(&pager.counters.pages_fetched) - fetched, 0, "what was forgotten was fetched");
}

fn what_is_trimmed_is_given_back(pager: &Pager) {
    say(0..PAGES, UNUSED);
    say(5..6, OTHER);
    write(5, 55);
    assert!(pager.local_pages().0 > 100);
    pager.trim();
    eventually("what is of no use stays local", || pager.local_pages().0 == 1);
    say(0..PAGES, OTHER);
    assert_eq!(read(5), 55);
    (6..100).for_each(|page| assert_eq!(read(page), 0));
}

/// A system call cannot wait for pages in this fault mode.
fn what_is_held_stays(pager: &Pager) {
    say(0..PAGES, OTHER);
    (0..PAGES).for_each(|page| write(page, 3_000_000 + page as u64));
    assert_eq!(by_system_call(10), Err(libc::EFAULT), "a page that is away");
    let held = 10..110;
    pager.hold(address(held.start) + 5, (held.len() - 1) * PAGE_SIZE);
    for _ in 0..2 {
        (0..PAGES).filter(|page| !held.contains(page)).for_each(|page| assert_eq!(read(page), 3_000_000 + page as u64));
    }
    held.clone().for_each(|page| assert_eq!(by_system_call(page), Ok(PAGE_SIZE), "page {page}"));
    assert_eq!(count(&pager.owner_counters().held_left), 0);
    pager.release(address(held.start) + 5, (held.len() - 1) * PAGE_SIZE);
    (200..PAGES).for_each(|page| assert_eq!(read(page), 3_000_000 + page as u64));
    assert_eq!(by_system_call(10), Err(libc::EFAULT), "a page that was released, and is away");
    assert_eq!(read(10), 3_000_010);
}

/// Two threads, each with half of the blocks: some live, young or not, and are read; others are freed, and used anew with other values.
fn blocks_that_are_used_anew_have_what_was_written(pager: &'static Pager) {
    say(0..PAGES, UNUSED);
    let threads: Vec<_> = (0..2_usize)
        .map(|me| {
            std::thread::spawn(move || {
                let blocks = PAGES / BLOCK / 2;
                let mut live: Vec<Option<u64>> = vec![None; blocks];
                let mut state = me as u64 + 1;
                for step in 0..12_000_u64 {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let block = (state >> 33) as usize % blocks;
                    let pages = (2 * block + me) * BLOCK..(2 * block + me + 1) * BLOCK;
                    if let Some(value) = live[block] {
                        pages.clone().for_each(|page| assert_eq!(read(page), value + page as u64, "page {page} in step {step}"));
                        if state >> 62 == 0 {
                            continue;
                        }
                        live[block] = None;
                        say(pages, UNUSED);
                    } else {
                        let value = step << 16;
                        say(pages.clone(), if state >> 62 < 2 { YOUNG } else { OTHER });
                        pager.forget(address(pages.start), BLOCK * PAGE_SIZE);
                        pages.for_each(|page| write(page, value + page as u64));
                        live[block] = Some(value);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let counters = pager.owner_counters();
    assert!(count(&counters.dropped_unused) > 0 && count(&counters.forgotten) > 0, "{counters:?}");
}

#[test]
fn the_evictor_goes_by_what_the_owner_knows() {
    if skipped(0, "what the owner of a range knows") {
        return;
    }
    let server = server(128);
    let names = || vec![server.address.to_string()];
    let pager = Pager::start(Options::new(names(), (LOCAL * PAGE_SIZE) as u64, 1 << 30)).unwrap();
    signal::install(pager);
    let bytes = PAGES * PAGE_SIZE;
    let range = pager.map(bytes, None).unwrap();
    BASE.store(range.base, Ordering::Relaxed);
    let refused = |start: usize, bytes: usize| pager.attach(start, bytes, use_of).unwrap_err().to_string();
    for (start, bytes) in [(range.base, bytes + PAGE_SIZE), (range.base + 1, PAGE_SIZE), (range.base, 1), (PAGE_SIZE, PAGE_SIZE)] {
        assert!(refused(start, bytes).contains("are not whole pages of one range of far memory"), "{start:#x} {bytes}");
    }
    pager.attach(range.base, bytes, use_of).unwrap();
    assert!(refused(range.base, bytes).contains("somebody has attached already"));

    garbage_is_not_sent(pager);
    young_pages_stay(pager);
    young_pages_leave_if_there_is_nothing_else(pager);
    what_is_forgotten_is_not_fetched(pager);
    what_is_trimmed_is_given_back(pager);
    what_is_held_stays(pager);
    blocks_that_are_used_anew_have_what_was_written(pager);
    let (used, limit) = pager.local_pages();
    assert!(used <= limit);

    let deaf = Pager::start(Options { asks_owner: false, ..Options::new(names(), 4 << 20, 1 << 20) }).unwrap();
    let range = deaf.map(PAGE_SIZE, None).unwrap();
    assert!(deaf.attach(range.base, PAGE_SIZE, use_of).unwrap_err().to_string().contains("lull-far run --no-owner"));
    deaf.leave();
    pager.leave();
}

#[test]
fn a_jvm_has_the_same_structures() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compiled = Command::new("c++")
        .args(["-std=c++14", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(here.join("../include"))
        .arg("-I")
        .arg(here.join("../../../hotspot/src/hotspot/share"))
        .arg(here.join("tests/c/abi.cpp"))
        .output()
        .expect("c++ can be run");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // And Rust the same as the header: fields of one size, in order.
    assert_eq!((size_of::<COwner>(), size_of::<COwnerStatistics>(), size_of::<CTracer>()), (8 * 8, 16 * 8, 13 * 8));
}
