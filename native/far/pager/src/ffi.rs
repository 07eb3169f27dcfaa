// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The functions of `native/far/include/lull_far.h`. What they do is described there.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::kernel::FaultMode;
use crate::options::Options;
use crate::pager::Pager;
use crate::signal;
use crate::trial;

/// `struct lull_far_options`.
#[repr(C)]
#[derive(Debug)]
pub struct CFarOptions {
    /// Bytes of this structure, as the caller knows it.
    pub size: usize,
    /// `host:port,host:port`.
    pub servers: *const c_char,
    /// Bytes.
    pub local_bytes: u64,
    /// Bytes.
    pub capacity_bytes: u64,
    /// 0 or 1.
    pub replicas: u32,
    /// 0: in their own thread; 1: handler threads.
    pub fault_mode: u32,
    /// Milliseconds; 0: the default.
    pub server_timeout_ms: u32,
    /// Of [`SEAL`] and [`PLAIN_FRAMES`].
    pub flags: u32,
    /// The path of a file with the key, or null. Not known to callers whose `size` is that of all before it.
    pub key_file: *const c_char,
    /// `host:port,host:port`, or null. The same.
    pub spares: *const c_char,
}

/// `LULL_FAR_SEAL`
const SEAL: u32 = 1;

/// `LULL_FAR_PLAIN_FRAMES`
const PLAIN_FRAMES: u32 = 2;

/// Bytes of the options before there were keys, before there were spare servers, and now.
const SIZES: [usize; 3] =
    [std::mem::offset_of!(CFarOptions, key_file), std::mem::offset_of!(CFarOptions, spares), size_of::<CFarOptions>()];

/// `struct lull_far_statistics`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
#[allow(missing_docs)] // described in the header
pub struct CFarStatistics {
    pub local_pages: u64,
    pub local_pages_limit: u64,
    pub zero_faults: u64,
    pub fetch_faults: u64,
    pub second_chances: u64,
    pub pages_fetched: u64,
    pub pages_written: u64,
    pub pages_dropped_clean: u64,
    pub replica_fetches: u64,
}

/// A second start must not come between the look and the start.
static START: Mutex<()> = Mutex::new(());

/// # Safety
/// As the header says: `error` has room for `error_size` bytes.
pub(crate) unsafe fn fail(text: &str, error: *mut c_char, error_size: usize) {
    if error.is_null() || error_size == 0 {
        return;
    }
    let count = text.len().min(error_size - 1);
    // SAFETY: the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), error.cast::<u8>(), count);
        error.add(count).write(0);
    }
}

fn mode(number: u32) -> Result<FaultMode, String> {
    match number {
        0 => Ok(FaultMode::InThread),
        1 => Ok(FaultMode::Handlers),
        other => Err(format!("fault mode {other}: 0 (in their own thread) or 1 (handler threads) is possible")),
    }
}

/// Servers of a list.
///
/// # Safety
/// A text that ends in a zero.
unsafe fn names(list: *const c_char) -> Result<Vec<String>, String> {
    // SAFETY: the caller's promise.
    let list = unsafe { CStr::from_ptr(list) }.to_str().map_err(|_| "the servers are not text in UTF-8".to_owned())?;
    Ok(list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// # Safety
/// As the header says.
unsafe fn options(given: *const CFarOptions) -> Result<Options, String> {
    if given.is_null() {
        return Err("no options".to_owned());
    }
    // SAFETY: the caller's promise; the size is there in every version.
    let size = unsafe { (&raw const (*given).size).read() };
    if !SIZES.contains(&size) {
        return Err(format!("options of {size} bytes; this library's have {}", size_of::<CFarOptions>()));
    }
    // SAFETY: numbers and pointers, for which zero is a value; as many bytes as the caller has are copied.
    let given = unsafe {
        let mut own: CFarOptions = std::mem::zeroed();
        std::ptr::copy_nonoverlapping(given.cast::<u8>(), (&raw mut own).cast(), size);
        own
    };
    if given.flags & !(SEAL | PLAIN_FRAMES) != 0 {
        let known = format!("{SEAL:#x} (LULL_FAR_SEAL), {PLAIN_FRAMES:#x} (LULL_FAR_PLAIN_FRAMES), both or 0 are possible");
        return Err(format!("the flags of the options are {:#x}; {known}", given.flags));
    }
    if given.servers.is_null() {
        return Err("no servers".to_owned());
    }
    // SAFETY: the caller's promise.
    let servers = unsafe { names(given.servers) }?;
    let mut options = Options::new(servers, given.local_bytes, given.capacity_bytes);
    if !given.spares.is_null() {
        // SAFETY: the caller's promise.
        options.spares = unsafe { names(given.spares) }?;
    }
    if !given.key_file.is_null() {
        // SAFETY: the caller's promise.
        let path = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(given.key_file) }.to_bytes()));
        options.key = Some(lull_far_auth::file::read_one(path).map_err(|error| error.to_string())?);
    }
    options.replicas = given.replicas as usize;
    options.seal = given.flags & SEAL != 0;
    options.plain_frames = given.flags & PLAIN_FRAMES != 0;
    options.mode = mode(given.fault_mode)?;
    if given.server_timeout_ms != 0 {
        options.server_timeout = Duration::from_millis(given.server_timeout_ms.into());
    }
    Ok(options)
}

/// Whether the machine permits a fault mode.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lull_far_probe(fault_mode: u32, error: *mut c_char, error_size: usize) -> c_int {
    match mode(fault_mode).and_then(|mode| trial::faults(mode).map_err(|error| error.to_string())) {
        Ok(()) => 0,
        Err(text) => {
            // SAFETY: the caller's promise.
            unsafe { fail(&text, error, error_size) };
            -1
        }
    }
}

/// Starts the pager of this process.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lull_far_start(given: *const CFarOptions, error: *mut c_char, error_size: usize) -> c_int {
    let start = || {
        let _one = START.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if signal::installed().is_some() {
            return Err("the pager of this process has been started already".to_owned());
        }
        // SAFETY: the caller's promise.
        let options = unsafe { options(given) }?;
        signal::install(Pager::start(options).map_err(|error| error.to_string())?);
        Ok(())
    };
    match start() {
        Ok(()) => 0,
        Err(text) => {
            // SAFETY: the caller's promise.
            unsafe { fail(&text, error, error_size) };
            -1
        }
    }
}

/// Maps a range.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lull_far_map(bytes: usize, fixed: *mut c_void, error: *mut c_char, error_size: usize) -> *mut c_void {
    let fixed = (!fixed.is_null()).then(|| fixed.expose_provenance());
    let pager = signal::installed().ok_or_else(|| "the pager has not been started".to_owned());
    match pager.and_then(|pager| pager.map(bytes, fixed).map_err(|error| error.to_string())) {
        Ok(range) => std::ptr::with_exposed_provenance_mut(range.base),
        Err(text) => {
            // SAFETY: the caller's promise.
            unsafe { fail(&text, error, error_size) };
            std::ptr::null_mut()
        }
    }
}

/// Unmaps a range.
#[unsafe(no_mangle)]
pub extern "C" fn lull_far_unmap(address: *mut c_void) -> c_int {
    match signal::installed().map(|pager| pager.unmap(address.expose_provenance())) {
        Some(Ok(())) => 0,
        _ => -1,
    }
}

/// Whether an address lies in paged memory.
#[unsafe(no_mangle)]
pub extern "C" fn lull_far_contains(address: *const c_void) -> c_int {
    signal::installed().is_some_and(|pager| pager.range_at(address.expose_provenance()).is_some()).into()
}

/// What has happened.
///
/// # Safety
/// As the header says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lull_far_get_statistics(out: *mut CFarStatistics) -> c_int {
    let (Some(pager), false) = (signal::installed(), out.is_null()) else { return -1 };
    let counters = &pager.counters;
    let (local_pages, local_pages_limit) = pager.local_pages();
    let statistics = CFarStatistics {
        local_pages,
        local_pages_limit,
        zero_faults: counters.zero_faults.load(Ordering::Relaxed),
        fetch_faults: counters.fetch_faults.load(Ordering::Relaxed),
        second_chances: counters.second_chances.load(Ordering::Relaxed),
        pages_fetched: counters.pages_fetched.load(Ordering::Relaxed),
        pages_written: counters.pages_written.load(Ordering::Relaxed),
        pages_dropped_clean: counters.pages_dropped_clean.load(Ordering::Relaxed),
        replica_fetches: counters.replica_fetches.load(Ordering::Relaxed),
    };
    // SAFETY: the caller's promise.
    unsafe { out.write(statistics) };
    0
}

/// Gives everything back to the servers.
#[unsafe(no_mangle)]
pub extern "C" fn lull_far_leave() {
    if let Some(pager) = signal::installed() {
        pager.leave();
    }
}
