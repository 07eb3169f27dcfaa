// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Chooses a source at start, and asks it from then on.

use procfs::process::Process;

use crate::bpf::BpfSource;
use crate::estimates::Estimate;
use crate::layout::fields;
use crate::{Sample, Source, Target};

#[derive(Debug)]
enum Opened {
    Bpf(Box<BpfSource>),
    Estimate(Box<Estimate>),
}

/// A source, with what any source gets from /proc.
#[derive(Debug)]
pub struct Sensor {
    target: Target,
    source: Source,
    opened: Opened,
    fields: u32,
    sample: Sample,
}

/// Since this release, delay accounting counts waits for a processor as waits for I/O.
const DELAYACCT_UNTIL: (u32, u32) = (6, 12);

impl Sensor {
    /// That source, or an error that says why not.
    pub fn open(target: Target, source: Source) -> Result<Self, String> {
        let opened = match source {
            Source::Bpf => Opened::Bpf(Box::new(BpfSource::attach(&target)?)),
            _ => Opened::Estimate(Box::new(Estimate::open(source, &target)?)),
        };
        let mut fields = match source {
            Source::Bpf => {
                fields::IO | fields::SLEEPS | fields::REFAULT | fields::BLOCKED | fields::ASYNC | fields::RUNQUEUE | fields::ROWS
            }
            _ => fields::IO,
        };
        let process = Process::new(target.pid as i32).map_err(|error| format!("process {}: {error}", target.pid))?;
        if process.stat().is_ok() {
            fields |= fields::MAJOR_FAULTS;
        }
        if process.io().is_ok() {
            fields |= fields::READ_BYTES;
        }
        Ok(Self { target, source, opened, fields, sample: Sample::default() })
    }

    /// The best source that can be used; `refused` is told of each that cannot.
    pub fn open_best(target: Target, mut refused: impl FnMut(Source, &str)) -> Result<Self, String> {
        let kernel = procfs::sys::kernel::Version::current().map(|version| (u32::from(version.major), u32::from(version.minor)));
        for source in Source::ALL {
            if source == Source::Delayacct && !kernel.as_ref().is_ok_and(|kernel| *kernel < DELAYACCT_UNTIL) {
                refused(source, "since Linux 6.12 it counts waits for a processor, too; --source delayacct uses it nevertheless");
                continue;
            }
            match Self::open(target, source) {
                Ok(sensor) => return Ok(sensor),
                Err(reason) => refused(source, &reason),
            }
        }
        Err(format!("no source can be used for process {}", target.pid))
    }

    /// Which it is.
    pub fn source(&self) -> Source {
        self.source
    }

    /// What it measures: bits of `layout::fields`.
    pub fn fields(&self) -> u32 {
        self.fields
    }

    /// Words for the log.
    pub fn describe(&self) -> String {
        match &self.opened {
            Opened::Bpf(bpf) => format!("each sleep of up to {} threads", bpf.capacity()),
            Opened::Estimate(estimate) => estimate.describe(),
        }
    }

    /// What has been counted since the start. An error most often means that the process has ended; the last sample is kept.
    pub fn sample(&mut self) -> Result<&Sample, String> {
        match &mut self.opened {
            Opened::Bpf(bpf) => bpf.sample(&self.target, &mut self.sample)?,
            Opened::Estimate(estimate) => estimate.sample(&self.target, &mut self.sample)?,
        }
        let process = Process::new(self.target.pid as i32).map_err(|error| format!("process {}: {error}", self.target.pid))?;
        if let Ok(stat) = process.stat() {
            self.sample.major_faults = stat.majflt;
        }
        if let Ok(io) = process.io() {
            self.sample.read_bytes = io.read_bytes;
        }
        Ok(&self.sample)
    }

    /// The last one.
    pub fn last(&self) -> &Sample {
        &self.sample
    }
}
