// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where the controller gets the time from that mutators were stalled on I/O: a sensor of its own, or the file of one that runs by itself.

use std::path::PathBuf;

use lull_stall::layout::{fields, flags};
use lull_stall::map_file::Reader;
use lull_stall::{Sensor, Target, monotonic_ns};

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
    /// Another process's, which may begin later, end, and begin again.
    Theirs(PathBuf, Target, Option<Reader>),
}

impl Stalls {
    /// What there is now; nothing if the sensor is lost.
    pub fn read(&mut self) -> Option<Reading> {
        match self {
            Self::Own(sensor) => {
                let measured = sensor.fields();
                let sample = sensor.sample().ok()?;
                Some(reading(sample.total.io_ns, sample.read_bytes, measured))
            }
            Self::Theirs(path, target, reader) => {
                let fresh = |reader: &Reader| {
                    let header = reader.header();
                    let age = monotonic_ns().saturating_sub(header.updated_ns);
                    let alive = header.flags & (flags::ENDED | flags::STOPPED) == 0 && age < (header.period_ns * 10).max(1_000_000_000);
                    let same = header.pid == target.pid && header.process_start == target.start && header.fields & fields::IO != 0;
                    (alive && same).then(|| reading(header.total.io_ns, header.read_bytes, header.fields))
                };
                if let Some(found) = reader.as_ref().and_then(fresh) {
                    return Some(found);
                }
                // A new sensor makes a new file.
                *reader = Reader::open(path).ok();
                reader.as_ref().and_then(fresh)
            }
        }
    }
}

fn reading(stalled: u64, read_bytes: u64, measured: u32) -> Reading {
    Reading { stalled, read_bytes: (measured & fields::READ_BYTES != 0).then_some(read_bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lull_stall::layout::Counts;
    use lull_stall::map_file::Writer;
    use lull_stall::{Sample, Source};

    #[test]
    fn a_sensor_that_comes_goes_and_comes_again() {
        let path = std::env::temp_dir().join(format!("lull-budget-stalls-{}", std::process::id()));
        let target = Target { pid: 1, start: 5 };
        let mut stalls = Stalls::Theirs(path.clone(), target, None);
        assert_eq!(stalls.read(), None);

        let sample = |io_ns| Sample { total: Counts { io_ns, ..Counts::default() }, read_bytes: 9, ..Sample::default() };
        let mut writer = Writer::create(&path, &target, Source::Bpf, fields::IO, 1_000_000_000).unwrap();
        writer.write(&sample(7), 0);
        assert_eq!(stalls.read(), Some(Reading { stalled: 7, read_bytes: None }));
        writer.write(&sample(8), flags::STOPPED);
        assert_eq!(stalls.read(), None);

        let mut writer = Writer::create(&path, &target, Source::Reads, fields::IO | fields::READ_BYTES, 1_000_000_000).unwrap();
        writer.write(&sample(1), 0);
        assert_eq!(stalls.read(), Some(Reading { stalled: 1, read_bytes: Some(9) }));

        // Another process with the same id.
        let other = Target { pid: 1, start: 6 };
        assert_eq!(Stalls::Theirs(path.clone(), other, None).read(), None);
        std::fs::remove_file(path).unwrap();
    }
}
