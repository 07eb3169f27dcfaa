// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The functions of `struct lull_far_owner` of `native/far/include/lull_far.h`. What they do is described there.

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::Ordering;

use crate::ffi::fail;
use crate::owner::UseFunction;
use crate::signal;

/// `struct lull_far_owner_statistics`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
#[allow(missing_docs)] // described in the header
pub struct COwnerStatistics {
    pub local_pages: u64,
    pub local_pages_limit: u64,
    pub pages_fetched: u64,
    pub pages_written: u64,
    pub pages_dropped_clean: u64,
    pub pages_dropped_unused: u64,
    pub pages_forgotten: u64,
    pub young_pages_passed: u64,
    pub young_pages_written: u64,
    pub held_pages_left: u64,
    pub zero_faults: u64,
    pub fetch_faults: u64,
    pub second_chances: u64,
    pub replica_fetches: u64,
    pub pages_copied: u64,
    pub lost_servers: u64,
}

/// `struct lull_far_owner`.
#[repr(C)]
#[derive(Debug)]
#[allow(missing_docs)] // described in the header
pub struct COwner {
    pub size: usize,
    pub attach: unsafe extern "C" fn(*mut c_void, usize, Option<UseFunction>, *mut c_char, usize) -> c_int,
    pub forget: extern "C" fn(*mut c_void, usize),
    pub trim: extern "C" fn(),
    pub hold: extern "C" fn(*const c_void, usize),
    pub release: extern "C" fn(*const c_void, usize),
    pub get_statistics: unsafe extern "C" fn(*mut COwnerStatistics, usize) -> c_int,
    pub count_remote_pages: extern "C" fn() -> u64,
}

static OWNER: COwner = COwner { size: size_of::<COwner>(), attach, forget, trim, hold, release, get_statistics, count_remote_pages };

/// What a program may say of its pages.
#[unsafe(no_mangle)]
pub extern "C" fn lull_far_get_owner() -> *const COwner {
    &raw const OWNER
}

/// # Safety
/// As the header says.
unsafe extern "C" fn attach(
    start: *mut c_void,
    bytes: usize,
    function: Option<UseFunction>,
    error: *mut c_char,
    error_size: usize,
) -> c_int {
    let attached = || {
        let pager = signal::installed().ok_or_else(|| "the pager has not been started".to_owned())?;
        let function = function.ok_or_else(|| "no function".to_owned())?;
        pager.attach(start.expose_provenance(), bytes, function).map_err(|error| error.to_string())
    };
    match attached() {
        Ok(()) => 0,
        Err(text) => {
            // SAFETY: the caller's promise.
            unsafe { fail(&text, error, error_size) };
            -1
        }
    }
}

extern "C" fn forget(start: *mut c_void, bytes: usize) {
    if let Some(pager) = signal::installed() {
        pager.forget(start.expose_provenance(), bytes);
    }
}

extern "C" fn trim() {
    if let Some(pager) = signal::installed() {
        pager.trim();
    }
}

extern "C" fn hold(start: *const c_void, bytes: usize) {
    if let Some(pager) = signal::installed().filter(|pager| !pager.system_calls_wait()) {
        pager.hold(start.expose_provenance(), bytes);
    }
}

extern "C" fn release(start: *const c_void, bytes: usize) {
    if let Some(pager) = signal::installed().filter(|pager| !pager.system_calls_wait()) {
        pager.release(start.expose_provenance(), bytes);
    }
}

/// # Safety
/// As the header says.
unsafe extern "C" fn get_statistics(out: *mut COwnerStatistics, size: usize) -> c_int {
    let (Some(pager), false) = (signal::installed(), out.is_null()) else { return -1 };
    let (counters, owner) = (&pager.counters, pager.owner_counters());
    let (local_pages, local_pages_limit) = pager.local_pages();
    let statistics = COwnerStatistics {
        local_pages,
        local_pages_limit,
        pages_fetched: counters.pages_fetched.load(Ordering::Relaxed),
        pages_written: counters.pages_written.load(Ordering::Relaxed),
        pages_dropped_clean: counters.pages_dropped_clean.load(Ordering::Relaxed),
        pages_dropped_unused: owner.dropped_unused.load(Ordering::Relaxed),
        pages_forgotten: owner.forgotten.load(Ordering::Relaxed),
        young_pages_passed: owner.young_passed.load(Ordering::Relaxed),
        young_pages_written: owner.young_written.load(Ordering::Relaxed),
        held_pages_left: owner.held_left.load(Ordering::Relaxed),
        zero_faults: counters.zero_faults.load(Ordering::Relaxed),
        fetch_faults: counters.fetch_faults.load(Ordering::Relaxed),
        second_chances: counters.second_chances.load(Ordering::Relaxed),
        replica_fetches: counters.replica_fetches.load(Ordering::Relaxed),
        pages_copied: counters.pages_copied.load(Ordering::Relaxed),
        lost_servers: pager.lost_servers() as u64,
    };
    let bytes = size.min(size_of::<COwnerStatistics>());
    // SAFETY: numbers only; the caller has room for so many bytes.
    unsafe { std::ptr::copy_nonoverlapping((&raw const statistics).cast::<u8>(), out.cast(), bytes) };
    0
}

extern "C" fn count_remote_pages() -> u64 {
    signal::installed().map_or(0, crate::Pager::remote_pages)
}
