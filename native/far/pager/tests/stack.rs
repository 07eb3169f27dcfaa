// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a fault takes of the stack of the thread that has it. The header asks for it, beside what the kernel's own frame takes: a processor
//! without the largest registers has as small a one as the test is run on.

mod common;

use std::sync::atomic::Ordering;

use common::{server, skipped};
use lull_far::{Options, PAGE_SIZE, Pager, signal};
use lull_far_auth::Key;

/// What the header says: 16 KB, 24 if pages are sealed or frames encrypted, of which the kernel has 12.
const PLAIN: usize = 4 << 10;
const SEALED: usize = 12 << 10;

const PAGES: usize = 4096;

const STACK: usize = 256 << 10;
const PAINT: u64 = 0xA5A5_A5A5_A5A5_A5A5;

type Body<'a> = dyn FnMut() + Send + 'a;

extern "C" fn run(body: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: what is passed below, which lives until the thread has ended.
    unsafe { (*body.cast::<&mut Body<'_>>())() };
    std::ptr::null_mut()
}

/// Bytes of its stack that a thread writes to.
fn stack_of(mut body: impl FnMut() + Send) -> usize {
    // A page of it more, to begin at one.
    let mut stack = vec![PAINT; (STACK + PAGE_SIZE) / 8];
    let from = stack.as_ptr().align_offset(PAGE_SIZE);
    let stack = &mut stack[from..][..STACK / 8];
    let mut body: &mut Body<'_> = &mut body;
    // SAFETY: the stack and the body are there until the thread has been waited for.
    unsafe {
        let (mut attributes, mut thread) = (std::mem::zeroed(), 0);
        assert_eq!(libc::pthread_attr_init(&raw mut attributes), 0);
        assert_eq!(libc::pthread_attr_setstack(&raw mut attributes, stack.as_mut_ptr().cast(), STACK), 0);
        assert_eq!(libc::pthread_create(&raw mut thread, &raw const attributes, run, (&raw mut body).cast()), 0);
        assert_eq!(libc::pthread_join(thread, std::ptr::null_mut()), 0);
    }
    STACK - 8 * stack.iter().position(|&word| word != PAINT).unwrap()
}

/// The kernel's frame of a signal, at most.
fn frame() -> usize {
    // SAFETY: without effects.
    unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) as usize }
}

#[test]
fn a_fault_takes_no_more_of_the_stack_than_the_header_says() {
    if skipped(0, "the stack of a fault") {
        return;
    }
    let mut config = lull_memd::Config::new("127.0.0.1:0".parse().unwrap(), 64 << 20);
    config.keys = lull_far_auth::file::parse(&format!("one {}", "07".repeat(32))).unwrap();
    let (server, keyed) = (server(64), lull_memd::Server::start(config).unwrap());
    for (seal, encrypted, most) in [(false, false, PLAIN), (true, false, SEALED), (false, true, SEALED), (true, true, SEALED)] {
        let address = if encrypted { keyed.address } else { server.address };
        let mut options = Options::new(vec![address.to_string()], 4 << 20, (PAGES * PAGE_SIZE) as u64);
        options.seal = seal;
        options.key = encrypted.then(|| Key::new([7; 32]));
        let pager = Pager::start(options).unwrap();
        signal::install(pager);
        let base = pager.map(PAGES * PAGE_SIZE, None).unwrap().base;
        // SAFETY: within the range.
        let word = |page: usize| unsafe { &*std::ptr::with_exposed_provenance::<std::sync::atomic::AtomicUsize>(base + page * PAGE_SIZE) };
        (0..PAGES).for_each(|page| word(page).store(page, Ordering::Relaxed));
        let without = stack_of(|| {});
        // Backwards page by page; and in order, with what is asked for ahead.
        let with = stack_of(|| (0..PAGES).rev().chain(0..PAGES).for_each(|page| assert!(word(page).load(Ordering::Relaxed) == page)));
        let faults = pager.counters.fetch_faults.load(Ordering::Relaxed);
        let (fetched, used) = (pager.counters.pages_fetched.load(Ordering::Relaxed), with - without);
        assert!(faults > 1000 && fetched > 2 * faults / 2 + 1000, "{faults} faults for {fetched} pages");
        println!("sealed {seal}, encrypted {encrypted}: {used} bytes, of which the kernel has {} at most", frame());
        assert!(
            used > frame() / 2 && used - frame().min(used) <= most,
            "sealed {seal}, encrypted {encrypted}: {used} bytes with a frame of {}",
            frame()
        );
        pager.leave();
    }
}
