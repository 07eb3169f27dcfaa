// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What /proc says of a process, where a crate does not give it as it is needed here.

use std::collections::HashSet;
use std::fs;
use std::io;

/// The ids of the process's threads; nothing if it has ended, or if they cannot all be listed: those that are missing would seem to have
/// ended.
pub fn threads(pid: u32) -> Option<HashSet<u32>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>().ok()?;
    Some(names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect())
}

/// The id of a thread as it sees itself, in its own pid namespace.
pub fn own_tid(pid: u32, tid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_whitespace().next_back()?.parse().ok()
}

/// The directory of the process's cgroup that has pressure files, and whether the process is the only one in it.
pub fn pressure_group(pid: u32) -> Option<(String, bool)> {
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?.trim_end_matches('/').to_owned();
    // Where the kernel mounts version 2, alone or beside version 1.
    let directory = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        .into_iter()
        .map(|root| format!("{root}{path}"))
        .find(|directory| fs::metadata(format!("{directory}/io.pressure")).is_ok())?;
    let processes = fs::read_to_string(format!("{directory}/cgroup.procs")).ok()?;
    let alone = processes.lines().count() == 1 && processes.trim() == pid.to_string();
    Some((directory, alone))
}

/// The microseconds of `some` in a pressure file.
pub fn pressure_us(path: &str) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find(|line| line.starts_with("some "))?.rsplit_once("total=")?.1.trim().parse().ok()
}
