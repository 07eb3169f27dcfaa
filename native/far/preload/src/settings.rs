// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What `lull-far run` passes on in the environment, and the start of the pager with it.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use lull_far::last_words::say;
use lull_far::{FaultMode, Options, Pager, signal};

/// Address space for page tables, beyond the first file's: 16 times its size, so that a program may map again.
const CAPACITY_FACTOR: u64 = 16;

pub struct Settings {
    pub directory: PathBuf,
    servers: Vec<String>,
    local: String,
    replicas: usize,
    mode: FaultMode,
    timeout: Duration,
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
        local: text("LULL_FAR_LOCAL")?,
        replicas: text("LULL_FAR_REPLICAS")?.parse().ok()?,
        mode: if text("LULL_FAR_FAULTS")? == "1" { FaultMode::Handlers } else { FaultMode::InThread },
        timeout: Duration::from_millis(text("LULL_FAR_SERVER_TIMEOUT_MS")?.parse().ok()?),
    })
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
            Some(percent) => bytes / 100 * percent.parse::<u64>().map_err(|error| error.to_string())?,
            None => self.local.parse().map_err(|_| format!("LULL_FAR_LOCAL is {:?}", self.local))?,
        };
        let mut options = Options::new(self.servers.clone(), local, bytes.saturating_mul(CAPACITY_FACTOR).min(1 << 43));
        options.replicas = self.replicas;
        options.mode = self.mode;
        options.server_timeout = self.timeout;
        options.record = std::env::var_os("LULL_FAR_RECORD").map(PathBuf::from);
        let recording = options.record.is_some();
        let pager = Pager::start(options).map_err(|error| error.to_string())?;
        signal::install(pager);
        if recording {
            // SAFETY: a function without arguments.
            unsafe { libc::atexit(finish_record) };
        }
        if std::env::var("LULL_FAR_STATISTICS").is_ok_and(|value| value == "1") {
            // SAFETY: a function without arguments. The servers keep our regions for their --linger seconds; to give them back
            // here would take the memory from under threads that still run.
            unsafe { libc::atexit(statistics) };
        }
        Ok(pager)
    }
}

extern "C" fn finish_record() {
    match signal::installed().map(Pager::finish_record) {
        Some(Ok(Some(faults))) => say(format_args!("{faults} faults recorded")),
        Some(Err(error)) => say(format_args!("the record of faults cannot be ended: {error}")),
        _ => {}
    }
}

extern "C" fn statistics() {
    let mut out = lull_far::ffi::CFarStatistics::default();
    // SAFETY: room for the counts.
    if unsafe { lull_far::ffi::lull_far_get_statistics(&raw mut out) } == 0 {
        let s = out;
        say(format_args!(
            "local {} of {} pages, zero_faults {} fetch_faults {} second_chances {} fetched {} written {} dropped_clean {} replica_fetches {}",
            s.local_pages,
            s.local_pages_limit,
            s.zero_faults,
            s.fetch_faults,
            s.second_chances,
            s.pages_fetched,
            s.pages_written,
            s.pages_dropped_clean,
            s.replica_fetches
        ));
    }
}
