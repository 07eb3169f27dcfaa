// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The functions of `struct lull_far_tracer` of `native/far/include/lull_far.h`. What they do is described there.

use std::ffi::{c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lull_far_trace::extents::BLOCK;
use lull_far_trace::wire;

use crate::PAGE_SIZE;
use crate::ffi::fail;
use crate::signal;
use crate::traced::{Cycle, Heap, Progress};

/// `lull_far_words`
pub type Words = unsafe extern "C" fn(*mut c_void, u64, *const u64, usize);

/// `struct lull_far_tracer`.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)] // described in the header
pub struct CTracer {
    pub size: usize,
    pub begin: unsafe extern "C" fn(*mut c_void, usize, u64, u32) -> c_int,
    pub old: unsafe extern "C" fn(u64, *const u64, usize) -> c_int,
    pub clean: unsafe extern "C" fn(u64, *const u8, usize) -> i64,
    pub roots: unsafe extern "C" fn(*const u64, usize) -> c_int,
    pub poll: unsafe extern "C" fn(*mut u32, usize, *mut usize) -> c_int,
    pub layouts: unsafe extern "C" fn(*const u8, usize) -> c_int,
    pub listed: unsafe extern "C" fn(*mut u64, usize) -> i64,
    pub marks: unsafe extern "C" fn(Words, *mut c_void) -> c_int,
    pub lines: unsafe extern "C" fn(Words, *mut c_void) -> c_int,
    pub live: unsafe extern "C" fn(Words, *mut c_void) -> c_int,
    pub end: extern "C" fn(),
    pub failure: unsafe extern "C" fn(*mut c_char, usize),
}

static TRACER: CTracer =
    CTracer { size: size_of::<CTracer>(), begin, old, clean, roots, poll, layouts, listed, marks, lines, live, end, failure };

/// What a program's collector may have the servers do; null: nothing.
#[unsafe(no_mangle)]
pub extern "C" fn lull_far_get_tracer() -> *const CTracer {
    if signal::installed().is_some_and(crate::Pager::traces) { &raw const TRACER } else { std::ptr::null() }
}

/// `LULL_FAR_TRACING`
const TRACING: c_int = 0;
/// `LULL_FAR_TRACED`
const TRACED: c_int = 1;
/// `LULL_FAR_LAYOUTS`
const LAYOUTS: c_int = 2;

/// The one cycle that there may be.
#[derive(Debug)]
struct State {
    /// Of the last one; 0: none was begun.
    number: u64,
    start: usize,
    cycle: Option<Cycle>,
    failure: String,
}

static STATE: Mutex<State> = Mutex::new(State { number: 0, start: 0, cycle: None, failure: String::new() });

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something in the running cycle. None, and why is known, if it fails.
fn run<T>(work: impl FnOnce(&mut Cycle) -> Result<T, String>) -> Option<T> {
    let mut state = state();
    let done = state.cycle.as_mut().map_or_else(|| Err("no cycle was begun".to_owned()), work);
    done.map_err(|failure| state.failure = failure).ok()
}

fn ended(done: Option<()>) -> c_int {
    if done.is_some() { 0 } else { -1 }
}

/// # Safety
/// As the header says.
unsafe fn slice<'a, T>(start: *const T, count: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, count) } }
}

/// # Safety
/// As the header says.
unsafe extern "C" fn begin(start: *mut c_void, bytes: usize, narrow_base: u64, narrow_shift: u32) -> c_int {
    let mut state = state();
    state.cycle = None;
    state.number += 1;
    state.start = start.expose_provenance();
    let heap = Heap { start: state.start, bytes, narrow_base, narrow_shift: u8::try_from(narrow_shift).unwrap_or(u8::MAX) };
    let begun = signal::installed().ok_or_else(|| "the pager has not been started".to_owned());
    match begun.and_then(|pager| Cycle::begin(pager, state.number, &heap)) {
        Ok(cycle) => {
            state.cycle = Some(cycle);
            0
        }
        Err(failure) => {
            state.failure = failure;
            -1
        }
    }
}

/// # Safety
/// As the header says.
unsafe extern "C" fn old(first: u64, words: *const u64, count: usize) -> c_int {
    // SAFETY: the caller's promise.
    ended(run(|cycle| cycle.old(first, unsafe { slice(words, count) })))
}

/// # Safety
/// As the header says.
unsafe extern "C" fn clean(first: u64, blocks: *const u8, count: usize) -> i64 {
    let start = state().start;
    // SAFETY: the caller's promise.
    let wanted = unsafe { slice(blocks, count) };
    let cleaned = signal::installed()
        .ok_or_else(|| "the pager has not been started".to_owned())
        .and_then(|pager| pager.clean(start, first, wanted, (BLOCK / PAGE_SIZE as u64) as u32).map_err(|error| error.to_string()));
    match cleaned {
        Ok(pages) => i64::try_from(pages).unwrap_or(i64::MAX),
        Err(failure) => {
            state().failure = failure;
            -1
        }
    }
}

/// # Safety
/// As the header says.
unsafe extern "C" fn roots(objects: *const u64, count: usize) -> c_int {
    // SAFETY: the caller's promise.
    ended(run(|cycle| cycle.roots(unsafe { slice(objects, count) })))
}

/// # Safety
/// As the header says.
unsafe extern "C" fn poll(classes: *mut u32, room: usize, count: *mut usize) -> c_int {
    match run(Cycle::poll) {
        None => -1,
        Some(Progress::Working) => TRACING,
        Some(Progress::Done) => TRACED,
        Some(Progress::Missing(missing)) => {
            // Those for which there is no room are asked for once more.
            let now: Vec<u32> = missing.into_iter().take(room).collect();
            // SAFETY: the caller's promise: there is room for so many, and for their number.
            unsafe {
                std::ptr::copy_nonoverlapping(now.as_ptr(), classes, now.len());
                count.write(now.len());
            }
            LAYOUTS
        }
    }
}

/// # Safety
/// As the header says.
unsafe extern "C" fn layouts(bytes: *const u8, length: usize) -> c_int {
    // SAFETY: the caller's promise.
    let bytes = unsafe { slice(bytes, length) };
    ended(run(|cycle| {
        let layouts = wire::decode_all_layouts(bytes).map_err(|error| error.to_string())?;
        cycle.layouts(&layouts)
    }))
}

/// # Safety
/// As the header says.
unsafe extern "C" fn listed(objects: *mut u64, room: usize) -> i64 {
    let Some(new) = run(|cycle| cycle.listed(room)) else { return -1 };
    // SAFETY: the caller's promise: there is room for so many.
    unsafe { std::ptr::copy_nonoverlapping(new.as_ptr(), objects, new.len()) };
    new.len() as i64
}

fn to(visit: Words, argument: *mut c_void) -> impl FnMut(u64, &[u64]) {
    // SAFETY: the caller's promise.
    move |first, words| unsafe { visit(argument, first, words.as_ptr(), words.len()) }
}

/// # Safety
/// As the header says.
unsafe extern "C" fn marks(visit: Words, argument: *mut c_void) -> c_int {
    ended(run(|cycle| cycle.marks(to(visit, argument))))
}

/// # Safety
/// As the header says.
unsafe extern "C" fn lines(visit: Words, argument: *mut c_void) -> c_int {
    ended(run(|cycle| cycle.lines(to(visit, argument))))
}

/// # Safety
/// As the header says.
unsafe extern "C" fn live(visit: Words, argument: *mut c_void) -> c_int {
    ended(run(|cycle| cycle.live(to(visit, argument))))
}

extern "C" fn end() {
    let cycle = state().cycle.take();
    drop(cycle);
}

/// # Safety
/// As the header says.
unsafe extern "C" fn failure(out: *mut c_char, size: usize) {
    // SAFETY: the caller's promise.
    unsafe { fail(&state().failure, out, size) };
}
