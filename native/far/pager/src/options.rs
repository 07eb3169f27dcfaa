// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a pager is started with, and what of it is possible.

use std::net::ToSocketAddrs;
use std::path::PathBuf;
use std::time::Duration;

use lull_far_auth::Key;

use crate::PAGE_SIZE;
use crate::kernel::FaultMode;
use crate::link::Address;
use crate::pager::Error;
use crate::stream::LONGEST;

/// The smallest local memory, in pages: 4 MB. One instruction may need several pages at once, and each thread one.
pub const LEAST_LOCAL_PAGES: u64 = 1024;

/// What a pager is started with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The servers, each `host:port`, or `unix:PATH` for one of this machine.
    pub servers: Vec<String>,
    /// Servers that take the places of lost ones, with a replica; each `host:port`. Nothing is there until then.
    pub spares: Vec<String>,
    /// Bytes of local memory that pages may take, 4 MB or more.
    pub local_bytes: u64,
    /// Bytes that may be mapped over the life of the pager. Costs 9 to 17 bytes of tables for each page of them in the long run, used
    /// or not: 9 if the pages are a power of two.
    pub capacity_bytes: u64,
    /// What the servers must have, too; without it they are asked for nothing, and ask for nothing.
    pub key: Option<Key>,
    /// With a key, frames that are neither encrypted nor proven all the same: for who has a tunnel, and for measurements. The servers must permit it.
    pub plain_frames: bool,
    /// How many servers hold each page beside the first, 0 or 1.
    pub replicas: usize,
    /// Whether pages are sealed before they leave, so that servers, and who listens, can neither read nor change them, nor give old ones.
    /// Costs 24 bytes for each page that has left, and the time to seal and open it.
    pub seal: bool,
    /// In which thread faults are served.
    pub mode: FaultMode,
    /// How long a server may be silent before it is lost.
    pub server_timeout: Duration,
    /// The most pages that one fault fetches, 1 to 32. With less than 8 MB of local memory, 1/64 of that, or 16.
    pub read_ahead: usize,
    /// Whether the program is asked what its pages are, if it says that it knows. Not: for measurements of what that is good for.
    pub asks_owner: bool,
    /// Whether the program may have the servers trace its pages.
    pub traces: bool,
    /// Where to write the numbers of the pages that have faults, in order.
    pub record: Option<PathBuf>,
    /// Where to write how many pages are written to in each 10 ms, 100 ms and second. Costs the kernel's look at all mapped pages each 10 ms,
    /// and a fault of its own for the first write to a page in each.
    pub dirty: Option<PathBuf>,
}

impl Options {
    /// The defaults: no replica, faults in their own thread, 10 seconds, as much read-ahead as there may be.
    #[must_use]
    pub fn new(servers: Vec<String>, local_bytes: u64, capacity_bytes: u64) -> Options {
        let server_timeout = Duration::from_secs(10);
        let mode = FaultMode::InThread;
        Options {
            servers,
            spares: Vec::new(),
            local_bytes,
            capacity_bytes,
            key: None,
            plain_frames: false,
            replicas: 0,
            seal: false,
            mode,
            server_timeout,
            read_ahead: LONGEST,
            asks_owner: true,
            traces: false,
            record: None,
            dirty: None,
        }
    }
}

/// Whether all of it is possible.
///
/// # Errors
/// What is not.
pub fn check(options: &Options) -> Result<(), Error> {
    let bad = |text: String| Err(Error::Options(text));
    if options.servers.is_empty() || options.servers.len() > 64 {
        return bad(format!("{} servers: 1 to 64 are possible", options.servers.len()));
    }
    if options.plain_frames && options.key.is_none() {
        return bad("plain frames without a key: frames are plain then anyway".to_owned());
    }
    if options.replicas > 1 {
        return bad(format!("{} replicas: 0 or 1 is possible", options.replicas));
    }
    if options.replicas >= options.servers.len() {
        return bad(format!("{} replicas need {} servers; {} is given", options.replicas, options.replicas + 1, options.servers.len()));
    }
    if !options.spares.is_empty() && options.replicas == 0 {
        return bad("spare servers without a replica: of a lost server's pages nobody would have a copy to give them".to_owned());
    }
    if options.spares.len() > 64 {
        return bad(format!("{} spare servers: 64 at most are possible", options.spares.len()));
    }
    let twice = |spare: &&String| options.servers.contains(*spare) || options.spares.iter().filter(|other| other == spare).count() > 1;
    if let Some(spare) = options.spares.iter().find(twice) {
        return bad(format!("memory server {spare} is named twice: a spare one is none of the others"));
    }
    if options.local_bytes / (PAGE_SIZE as u64) < LEAST_LOCAL_PAGES {
        let least = LEAST_LOCAL_PAGES * PAGE_SIZE as u64;
        return bad(format!("local memory of {} bytes: {least} or more is possible", options.local_bytes));
    }
    if !(1..=LONGEST).contains(&options.read_ahead) {
        return bad(format!("{} pages of read-ahead: 1 to {LONGEST} are possible", options.read_ahead));
    }
    if !(1..=1 << 31).contains(&(options.capacity_bytes / PAGE_SIZE as u64)) {
        return bad(format!("a capacity of {} bytes: 4096 to 2^43 is possible", options.capacity_bytes));
    }
    Ok(())
}

/// Where a server is, by its name.
///
/// # Errors
/// If the name is none.
pub fn address_of(name: &str) -> Result<Address, Error> {
    let bad = |why: String| Error::Options(format!("memory server {name:?}: {why}; say host:port, or unix:PATH"));
    if let Some(path) = name.strip_prefix("unix:") {
        return if path.starts_with('/') { Ok(Address::Unix(path.into())) } else { Err(bad("it is no path from the root".to_owned())) };
    }
    let mut all = name.to_socket_addrs().map_err(|e| bad(e.to_string()))?;
    all.next().map(Address::Ip).ok_or_else(|| bad("the name has no address".to_owned()))
}
