// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What `lull-far run` passes on in the environment, and the start of the pager with it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use std::time::Duration;

use lull_far::last_words::say;
use lull_far::{FaultMode, Options, Pager, signal};
use lull_far_auth::Key;
use lull_far_auth::file::read_one;

/// What may be mapped over the life of the program: 16 times as much as the first file has, so that it may map again.
const CAPACITY_FACTOR: u64 = 16;

/// And no less than this, however small the first file is: 16 GB, whose tables take 36 MB in the long run. The queue of mapped pages goes
/// through all of its places, so that much more would take more than what is local.
const LEAST_CAPACITY: u64 = 16 << 30;

/// The pager needs so much: a percentage of a small first file may be less.
const LEAST_LOCAL: u64 = lull_far::options::LEAST_LOCAL_PAGES * lull_far::PAGE_SIZE as u64;

pub struct Settings {
    pub directory: PathBuf,
    servers: Vec<String>,
    spares: Vec<String>,
    /// Read when the library is loaded: a program may become somebody who may not read it.
    key: Result<Option<Key>, String>,
    local: String,
    replicas: usize,
    /// Never taken for no if it is something else.
    seal: Result<bool, String>,
    /// The same.
    plain_frames: Result<bool, String>,
    mode: FaultMode,
    timeout: Duration,
    /// Whether the program may say what its pages are.
    owner: bool,
    /// Whether it may have the servers trace them.
    trace: bool,
    record: Option<PathBuf>,
    dirty: Option<PathBuf>,
    statistics: bool,
}

/// Reads the environment when the library is loaded: a program may clear it before it maps a file.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    crate::next::look_up();
    if settings().is_some() {
        crate::signals::unblock();
    }
}

/// None if the library was loaded without `lull-far run`.
pub fn settings() -> Option<&'static Settings> {
    static SETTINGS: OnceLock<Option<Settings>> = OnceLock::new();
    SETTINGS.get_or_init(read).as_ref()
}

fn read() -> Option<Settings> {
    let text = |name: &str| std::env::var(name).ok();
    Some(Settings {
        directory: PathBuf::from(std::env::var_os("LULL_FAR_DIRECTORY")?),
        servers: text("LULL_FAR_SERVERS")?.split(',').map(str::to_owned).collect(),
        spares: text("LULL_FAR_SPARES").unwrap_or_default().split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        key: std::env::var_os("LULL_FAR_KEY").map(|path| read_one(Path::new(&path)).map_err(|error| error.to_string())).transpose(),
        local: text("LULL_FAR_LOCAL")?,
        replicas: text("LULL_FAR_REPLICAS")?.parse().ok()?,
        seal: yes("LULL_FAR_SEAL", "--seal"),
        plain_frames: yes("LULL_FAR_PLAIN_FRAMES", "--plain-frames"),
        mode: if text("LULL_FAR_FAULTS")? == "1" { FaultMode::Handlers } else { FaultMode::InThread },
        timeout: Duration::from_millis(text("LULL_FAR_SERVER_TIMEOUT_MS")?.parse().ok()?),
        owner: text("LULL_FAR_OWNER").is_none_or(|value| value != "0"),
        trace: text("LULL_FAR_TRACE").is_some_and(|value| value == "1"),
        record: std::env::var_os("LULL_FAR_RECORD").map(PathBuf::from),
        dirty: std::env::var_os("LULL_FAR_DIRTY").map(PathBuf::from),
        statistics: text("LULL_FAR_STATISTICS").is_some_and(|value| value == "1"),
    })
}

/// Whether a variable says so, which an option sets.
fn yes(name: &str, option: &str) -> Result<bool, String> {
    let value = std::env::var_os(name);
    match value.as_deref().map(OsStr::as_encoded_bytes) {
        None | Some(b"0") => Ok(false),
        Some(b"1") => Ok(true),
        Some(_) => Err(format!("{name} is {:?}: 0 or 1 is possible; lull-far run {option} sets it", value.unwrap_or_default())),
    }
}

impl Settings {
    /// The pager, started for a first file of so many bytes if it was not yet.
    pub fn pager(&self, bytes: u64) -> Result<&'static Pager, String> {
        static START: Mutex<()> = Mutex::new(());
        let _one = START.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pager) = signal::installed() {
            return Ok(pager);
        }
        let local = match self.local.strip_suffix('%') {
            Some(percent) => (bytes / 100 * percent.parse::<u64>().map_err(|error| error.to_string())?).max(LEAST_LOCAL),
            None => self.local.parse().map_err(|_| format!("LULL_FAR_LOCAL is {:?}", self.local))?,
        };
        let capacity = bytes.saturating_mul(CAPACITY_FACTOR).clamp(LEAST_CAPACITY, 1 << 43);
        let mut options = Options::new(self.servers.clone(), local, capacity);
        options.key = self.key.clone()?;
        options.spares.clone_from(&self.spares);
        options.replicas = self.replicas;
        options.seal = self.seal.clone()?;
        options.plain_frames = self.plain_frames.clone()?;
        options.mode = self.mode;
        options.server_timeout = self.timeout;
        options.asks_owner = self.owner;
        options.traces = self.trace;
        options.record.clone_from(&self.record);
        options.dirty.clone_from(&self.dirty);
        let pager = Pager::start(options).map_err(|error| error.to_string())?;
        signal::install(pager);
        // A child of fork has its parent's.
        static AT_EXIT: Once = Once::new();
        AT_EXIT.call_once(|| {
            // SAFETY: a function without arguments.
            unsafe { libc::atexit(end) };
        });
        if self.record.is_some() {
            // SAFETY: a function without arguments.
            unsafe { libc::atexit(finish_record) };
        }
        if self.statistics {
            // SAFETY: a function without arguments.
            unsafe { libc::atexit(statistics) };
        }
        Ok(pager)
    }
}

/// Threads may still run, which need their pages: the servers take these back when the process is gone.
extern "C" fn end() {
    if let Some(pager) = signal::installed() {
        pager.end();
    }
}

extern "C" fn finish_record() {
    match signal::installed().map(Pager::finish_record) {
        Some(Ok(Some(faults))) => say(format_args!("{faults} faults recorded")),
        Some(Err(error)) => say(format_args!("the record of faults cannot be ended: {error}")),
        _ => {}
    }
}

/// What has come of what the program knows of its pages.
fn of_owner(pager: &Pager) -> String {
    let counters = pager.owner_counters();
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    format!(
        " dropped_unused {} forgotten {} young_passed {} young_written {} held_left {}",
        count(&counters.dropped_unused),
        count(&counters.forgotten),
        count(&counters.young_passed),
        count(&counters.young_written),
        count(&counters.held_left)
    )
}

extern "C" fn statistics() {
    let mut out = lull_far::ffi::CFarStatistics::default();
    // SAFETY: room for the counts.
    if unsafe { lull_far::ffi::lull_far_get_statistics(&raw mut out) } == 0 {
        let s = out;
        say(format_args!(
            "local {} of {} pages, zero_faults {} fetch_faults {} second_chances {} fetched {} written {} dropped_clean {} replica_fetches {} \
             harmed_frames {} copied {} lost_servers {}{}",
            s.local_pages,
            s.local_pages_limit,
            s.zero_faults,
            s.fetch_faults,
            s.second_chances,
            s.pages_fetched,
            s.pages_written,
            s.pages_dropped_clean,
            s.replica_fetches,
            signal::installed().map_or(0, Pager::harmed_frames),
            signal::installed().map_or(0, |pager| pager.counters.pages_copied.load(Ordering::Relaxed)),
            signal::installed().map_or(0, Pager::lost_servers),
            signal::installed().map_or(String::new(), of_owner)
        ));
    }
}
