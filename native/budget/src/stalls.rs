// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where the controller gets the time from that mutators were stalled on I/O: a sensor of its own, or the file of one that runs by itself.

use std::path::PathBuf;

use lull_stall::layout::{Header, fields, flags};
use lull_stall::map_file::Reader;
use lull_stall::{Sensor, monotonic_ns};

/// Counts since the sensor's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Nanoseconds.
    pub stalled: u64,
    /// From devices; nothing if it is not measured.
    pub read_bytes: Option<u64>,
}

/// A sensor.
#[derive(Debug)]
pub enum Stalls {
    /// In this process.
    Own(Box<Sensor>),
    /// Another process's, which may begin later, end, and begin again; and the start of the process that is watched.
    Theirs(PathBuf, u64, Option<Reader>),
}

impl Stalls {
    /// What there is now. An error says why the sensor is lost, in the same words as long as the reason is the same.
    pub fn read(&mut self) -> Result<Reading, String> {
        match self {
            Self::Own(sensor) => {
                let measured = sensor.fields();
                let sample = sensor.sample()?;
                Ok(reading(sample.total.io_ns, sample.read_bytes, measured))
            }
            Self::Theirs(path, start, reader) => {
                if let Some(Ok(found)) = reader.as_ref().map(|reader| fresh(&reader.header(), *start)) {
                    return Ok(found);
                }
                let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
                // A new sensor makes a new file.
                *reader = None;
                let opened = Reader::open(path).map_err(|error| failed(&error))?;
                let found = fresh(&reader.insert(opened).header(), *start);
                found.map_err(|reason| failed(&reason))
            }
        }
    }
}

/// What the file says, or why it is not used. The process's id in it is as the sensor sees it, who may be in another pid namespace.
fn fresh(header: &Header, start: u64) -> Result<Reading, &'static str> {
    if header.process_start != start {
        return Err("it is of another process, or of one that had the same id before");
    }
    if header.fields & fields::IO == 0 {
        return Err("its source does not measure stalls on I/O");
    }
    if header.flags & (flags::ENDED | flags::STOPPED) != 0 {
        return Err("the sensor has stopped");
    }
    if monotonic_ns().saturating_sub(header.updated_ns) >= header.period_ns.saturating_mul(10).max(1_000_000_000) {
        return Err("the sensor does not write any more");
    }
    Ok(reading(header.total.io_ns, header.read_bytes, header.fields))
}

fn reading(stalled: u64, read_bytes: u64, measured: u32) -> Reading {
    Reading { stalled, read_bytes: (measured & fields::READ_BYTES != 0).then_some(read_bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lull_stall::layout::Counts;
    use lull_stall::map_file::Writer;
    use lull_stall::{Sample, Source, Target};

    #[test]
    fn a_sensor_that_comes_goes_and_comes_again() {
        let path = std::env::temp_dir().join(format!("lull-budget-stalls-{}", std::process::id()));
        // As seen from the sensor's pid namespace.
        let target = Target { pid: 4711, start: 5 };
        let mut stalls = Stalls::Theirs(path.clone(), target.start, None);
        let why_not = |stalls: &mut Stalls| stalls.read().unwrap_err();
        assert!(why_not(&mut stalls).contains("No such file"));

        let sample = |io_ns| Sample { total: Counts { io_ns, ..Counts::default() }, read_bytes: 9, ..Sample::default() };
        let mut writer = Writer::create(&path, &target, Source::Bpf, fields::IO, 1_000_000_000).unwrap();
        writer.write(&sample(7), 0);
        assert_eq!(stalls.read(), Ok(Reading { stalled: 7, read_bytes: None }));
        writer.write(&sample(8), flags::STOPPED);
        assert!(why_not(&mut stalls).ends_with("the sensor has stopped"));

        let mut writer = Writer::create(&path, &target, Source::Reads, fields::IO | fields::READ_BYTES, 1_000_000_000).unwrap();
        writer.write(&sample(1), 0);
        assert_eq!(stalls.read(), Ok(Reading { stalled: 1, read_bytes: Some(9) }));

        // Another process with the same id.
        assert!(why_not(&mut Stalls::Theirs(path.clone(), 6, None)).contains("another process"));
        std::fs::remove_file(path).unwrap();
    }
}
