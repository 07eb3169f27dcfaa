// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The sources for where eBPF is refused. They need no privilege beyond the process's own, and are estimates but for one.

use std::collections::HashMap;

use procfs::ProcError;
use procfs::process::Process;

use crate::{Sample, Source, Target, proc};

/// Reads that took no time at all are taken for this long: a fast NVMe disk. For the time until the disks have been seen to read.
const FIRST_READ_NS: f64 = 100_000.0;

/// How long reads of the machine's disks take: of all processes, as the disks tell no more.
#[derive(Debug, Default)]
struct Disks {
    reads: u64,
    sectors: u64,
    ms: u64,
    /// As in the last period in which there were enough reads to say.
    ns_per_read: Option<f64>,
    ns_per_byte: Option<f64>,
}

/// Fewer reads than this in a period say little: the disks count whole milliseconds.
const ENOUGH_READS: u64 = 16;

impl Disks {
    fn update(&mut self) -> Result<(), String> {
        let (mut reads, mut sectors, mut ms) = (0, 0, 0);
        for disk in procfs::diskstats().map_err(|error| format!("/proc/diskstats: {error}"))? {
            // Whole disks with hardware behind them: no partitions, loops, compressed memory, or devices on top of others.
            if std::fs::metadata(format!("/sys/block/{}/device", disk.name)).is_ok() {
                reads += disk.reads;
                sectors += disk.sectors_read;
                ms += disk.time_reading;
            }
        }
        self.count(reads, sectors, ms);
        Ok(())
    }

    /// Sums over the disks that there are now.
    fn count(&mut self, reads: u64, sectors: u64, ms: u64) {
        let more = |now: u64, before: u64| now.checked_sub(before);
        let (Some(more_reads), Some(more_sectors), Some(more_ms)) =
            (more(reads, self.reads), more(sectors, self.sectors), more(ms, self.ms))
        else {
            // A disk has been taken away, or a count has begun anew: this period says nothing, and the next one is counted from here.
            (self.reads, self.sectors, self.ms) = (reads, sectors, ms);
            return;
        };
        let first = self.reads == 0 && self.sectors == 0;
        // From the boot on is what there is at first.
        if more_reads >= ENOUGH_READS && more_sectors > 0 || first {
            if more_reads > 0 {
                self.ns_per_read = Some(more_ms as f64 * 1e6 / more_reads as f64);
            }
            if more_sectors > 0 {
                self.ns_per_byte = Some(more_ms as f64 * 1e6 / (more_sectors as f64 * 512.0));
            }
            (self.reads, self.sectors, self.ms) = (reads, sectors, ms);
        }
    }

    fn ns_per_read(&self) -> f64 {
        self.ns_per_read.unwrap_or(FIRST_READ_NS)
    }

    fn ns_per_byte(&self) -> f64 {
        self.ns_per_byte.unwrap_or(FIRST_READ_NS / 4096.0)
    }
}

/// One of the sources behind eBPF.
#[derive(Debug)]
pub struct Estimate {
    source: Source,
    disks: Disks,
    /// The file of its cgroup's pressure, and whether it says something of this process only.
    pressure: Option<(String, bool)>,
    /// The last readings.
    read_bytes: u64,
    faults: u64,
    pressure_us: u64,
    /// Ticks of delay accounting of each thread that lives, for the sum to go on when one ends.
    ticks: HashMap<u32, u64>,
    io_ns: f64,
}

impl Estimate {
    /// An error says why the source cannot be used here.
    pub fn open(source: Source, target: &Target) -> Result<Self, String> {
        let pressure = proc::pressure_group(target.pid).map(|(directory, alone)| (format!("{directory}/io.pressure"), alone));
        let mut estimate =
            Self { source, disks: Disks::default(), pressure, read_bytes: 0, faults: 0, pressure_us: 0, ticks: HashMap::new(), io_ns: 0.0 };
        match source {
            Source::Bpf => return Err("this is no estimate".to_owned()),
            Source::Delayacct => {
                let on = std::fs::read_to_string("/proc/sys/kernel/task_delayacct").unwrap_or_default();
                if on.trim() != "1" {
                    return Err("sysctl kernel.task_delayacct is not 1; it must be before the process starts".to_owned());
                }
            }
            Source::Reads => {
                process(target)?.io().map_err(|error| format!("/proc/{}/io: {error} (it is for the process's own user)", target.pid))?;
            }
            Source::Psi => {
                let (path, _) = estimate.pressure.as_ref().ok_or("the process is in no cgroup of version 2 with an io.pressure")?;
                proc::pressure_us(path).ok_or(format!("{path} cannot be read"))?;
            }
            Source::Faults => {}
        }
        // What was before counts for nothing.
        estimate.sample(target, &mut Sample::default())?;
        estimate.io_ns = 0.0;
        Ok(estimate)
    }

    /// Words for the log.
    pub fn describe(&self) -> String {
        let group = match &self.pressure {
            Some((path, true)) => format!("{path}, of this process alone"),
            Some((path, false)) => format!("{path}, which others share"),
            None => "no pressure file".to_owned(),
        };
        match self.source {
            Source::Reads => format!("{:.0} us for 4 KB at first; {group}", self.disks.ns_per_byte() * 4.096),
            Source::Faults => format!("{:.0} us for a read at first", self.disks.ns_per_read() / 1e3),
            Source::Psi => group,
            Source::Delayacct | Source::Bpf => String::new(),
        }
    }

    /// What has been estimated since the start.
    pub fn sample(&mut self, target: &Target, sample: &mut Sample) -> Result<(), String> {
        let added = match self.source {
            Source::Bpf => 0.0,
            Source::Delayacct => self.delay_accounting(target)?,
            Source::Reads => {
                self.disks.update()?;
                let bytes = process(target)?.io().map_err(|error| format!("/proc/{}/io: {error}", target.pid))?.read_bytes;
                let more = bytes.saturating_sub(std::mem::replace(&mut self.read_bytes, bytes));
                let by_bytes = more as f64 * self.disks.ns_per_byte();
                // A throttled disk lets reads wait before it counts them; pressure counts them, if it is the process's alone.
                let by_pressure = if matches!(self.pressure, Some((_, true))) { self.more_pressure() } else { 0.0 };
                if more > 0 { by_bytes.max(by_pressure) } else { 0.0 }
            }
            Source::Psi => self.more_pressure(),
            Source::Faults => {
                self.disks.update()?;
                let faults = process(target)?.stat().map_err(|error| format!("/proc/{}/stat: {error}", target.pid))?.majflt;
                let more = faults.saturating_sub(std::mem::replace(&mut self.faults, faults));
                more as f64 * self.disks.ns_per_read()
            }
        };
        self.io_ns += added;
        sample.total.io_ns = self.io_ns as u64;
        Ok(())
    }

    fn more_pressure(&mut self) -> f64 {
        let Some(us) = self.pressure.as_ref().and_then(|(path, _)| proc::pressure_us(path)) else { return 0.0 };
        us.saturating_sub(std::mem::replace(&mut self.pressure_us, us)) as f64 * 1e3
    }

    /// Field 42 of each thread's stat. Since Linux 6.12 it is too high while processors are busy.
    fn delay_accounting(&mut self, target: &Target) -> Result<f64, String> {
        let ns_per_tick = 1e9 / procfs::ticks_per_second() as f64;
        let process = process(target)?;
        let tids = proc::threads(target.pid).ok_or(format!("/proc/{}/task cannot be read", target.pid))?;
        let more = self.more_ticks(tids.into_iter(), |tid| {
            match process.task_from_tid(tid as i32).and_then(|task| task.stat()) {
                Ok(stat) => stat.delayacct_blkio_ticks,
                // It has ended, or so has the process.
                Err(ProcError::NotFound(_)) => Some(0),
                Err(_) => None,
            }
        });
        Ok(more as f64 * ns_per_tick)
    }

    /// Since the last call. A thread that cannot be looked at (there may be no descriptor left) is as it was: with nothing known of it, its
    /// whole life would count the next time.
    fn more_ticks(&mut self, tids: impl Iterator<Item = u32>, ticks_of: impl Fn(u32) -> Option<u64>) -> u64 {
        let before = |tid| self.ticks.get(&tid).copied();
        let now: HashMap<u32, u64> = tids.filter_map(|tid| Some((tid, ticks_of(tid).or_else(|| before(tid))?))).collect();
        let more = now.iter().map(|(tid, ticks)| ticks.saturating_sub(before(*tid).unwrap_or(0))).sum();
        self.ticks = now;
        more
    }
}

fn process(target: &Target) -> Result<Process, String> {
    Process::new(target.pid as i32).map_err(|error| format!("process {}: {error}", target.pid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_that_is_taken_away_does_not_stop_the_clock_of_the_others() {
        let mut disks = Disks::default();
        disks.count(1_000_000, 8_000_000, 1_000_000);
        assert_eq!(disks.ns_per_read(), 1e6);
        // The other disk has read little, and fast.
        disks.count(100, 800, 10);
        assert_eq!(disks.ns_per_read(), 1e6);
        disks.count(200, 1600, 30);
        assert_eq!((disks.ns_per_read(), disks.ns_per_byte()), (2e5, 20e6 / (800.0 * 512.0)));
        // Its milliseconds have begun anew.
        disks.count(300, 2400, 5);
        assert_eq!(disks.ns_per_read(), 2e5);
        disks.count(400, 3200, 15);
        assert_eq!(disks.ns_per_read(), 1e5);
    }

    #[test]
    fn a_thread_that_cannot_be_looked_at_is_not_new_the_next_time() {
        let target = Target::find(std::process::id()).unwrap();
        let mut estimate = Estimate::open(Source::Faults, &target).unwrap();
        let mut more = |ticks: Option<u64>| estimate.more_ticks([7].into_iter(), |_| ticks);
        more(Some(1000));
        assert_eq!((more(Some(1001)), more(None), more(Some(1003))), (1, 0, 2));
    }
}
