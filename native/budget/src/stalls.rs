// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where the controller gets the time from that mutators were stalled on I/O: a sensor of its own, or the file of one that runs by itself.

use std::path::PathBuf;
use std::time::Duration;

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
    /// Another process's.
    Theirs(Theirs),
}

/// A sensor that runs by itself: it may begin later, end, and begin again.
#[derive(Debug)]
pub struct Theirs {
    path: PathBuf,
    /// Of the process that is watched.
    start: u64,
    user: u32,
    interval: Duration,
    reader: Option<Reader>,
}

impl Theirs {
    /// Its file, the start and the user of the process that is watched, and how often it is read.
    pub fn new(path: PathBuf, start: u64, user: u32, interval: Duration) -> Self {
        Self { path, start, user, interval, reader: None }
    }

    fn read(&mut self) -> Result<Reading, String> {
        if let Some(Ok(found)) = self.reader.as_ref().map(|reader| self.fresh(&reader.header())) {
            return Ok(found);
        }
        let failed = |what: &dyn std::fmt::Display| format!("{}: {what}", self.path.display());
        // A new sensor makes a new file.
        self.reader = None;
        let opened = Reader::open(&self.path, self.user).map_err(|error| failed(&error))?;
        let found = self.fresh(&opened.header()).map_err(|reason| failed(&reason));
        self.reader = Some(opened);
        found
    }

    /// What the file says, or why it is not used. The process's id in it is as the sensor sees it, who may be in another pid namespace.
    fn fresh(&self, header: &Header) -> Result<Reading, String> {
        if header.process_start != self.start {
            return Err("it is of another process, or of one that had the same id before".to_owned());
        }
        if header.fields & fields::IO == 0 {
            return Err("its source does not measure stalls on I/O".to_owned());
        }
        let period = Duration::from_nanos(header.period_ns);
        if period > self.interval {
            // Intervals without an update would seem to be without stalls, and the one with it full of them.
            return Err(format!(
                "the sensor writes it every {} ms, and it is read every {} ms: start lull-stall with a --period of at most that, or \
                 lull-budget with a longer --interval",
                period.as_millis(),
                self.interval.as_millis()
            ));
        }
        if header.flags & (flags::ENDED | flags::STOPPED) != 0 {
            return Err("the sensor has stopped".to_owned());
        }
        if monotonic_ns().saturating_sub(header.updated_ns) >= header.period_ns.saturating_mul(10).max(1_000_000_000) {
            return Err("the sensor does not write any more".to_owned());
        }
        Ok(reading(header.total.io_ns, header.read_bytes, header.fields))
    }
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
            Self::Theirs(theirs) => theirs.read(),
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
    use lull_stall::{Sample, Source, Target};
    use std::os::unix::fs::{MetadataExt, chown};
    use std::path::Path;

    /// As seen from the sensor's pid namespace.
    const TARGET: Target = Target { pid: 4711, start: 5 };
    const SECOND: Duration = Duration::from_secs(1);

    fn path(test: &str) -> PathBuf {
        std::env::temp_dir().join(format!("lull-budget-stalls-{test}-{}", std::process::id()))
    }

    /// Of the same user as the sensor.
    fn theirs(path: &Path, start: u64, interval: Duration) -> Stalls {
        let user = std::fs::metadata("/proc/self").unwrap().uid();
        Stalls::Theirs(Theirs::new(path.to_owned(), start, user, interval))
    }

    fn why_not(stalls: &mut Stalls) -> String {
        stalls.read().unwrap_err()
    }

    fn sample(io_ns: u64) -> Sample {
        Sample { total: Counts { io_ns, ..Counts::default() }, read_bytes: 9, ..Sample::default() }
    }

    #[test]
    fn a_sensor_that_comes_goes_and_comes_again() {
        let path = path("again");
        let mut stalls = theirs(&path, TARGET.start, SECOND);
        assert!(why_not(&mut stalls).contains("No such file"));

        let mut writer = Writer::create(&path, &TARGET, Source::Bpf, fields::IO, 1_000_000_000).unwrap();
        writer.write(&sample(7), 0);
        assert_eq!(stalls.read(), Ok(Reading { stalled: 7, read_bytes: None }));
        writer.write(&sample(8), flags::STOPPED);
        assert!(why_not(&mut stalls).ends_with("the sensor has stopped"));

        let mut writer = Writer::create(&path, &TARGET, Source::Reads, fields::IO | fields::READ_BYTES, 1_000_000_000).unwrap();
        writer.write(&sample(1), 0);
        assert_eq!(stalls.read(), Ok(Reading { stalled: 1, read_bytes: Some(9) }));

        // Another process with the same id.
        assert!(why_not(&mut theirs(&path, 6, SECOND)).contains("another process"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_that_is_written_more_rarely_than_it_is_read_is_not_used() {
        let path = path("rarely");
        let mut writer = Writer::create(&path, &TARGET, Source::Bpf, fields::IO, 1_001_000_000).unwrap();
        writer.write(&sample(7), 0);
        let why = why_not(&mut theirs(&path, TARGET.start, SECOND));
        assert!(why.contains("writes it every 1001 ms, and it is read every 1000 ms"), "{why}");
        assert!(why.ends_with("of at most that, or lull-budget with a longer --interval"), "{why}");
        assert!(theirs(&path, TARGET.start, 2 * SECOND).read().is_ok());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_of_somebody_else_is_not_used() {
        let path = path("foreign");
        let mut writer = Writer::create(&path, &TARGET, Source::Bpf, fields::IO, 1_000_000_000).unwrap();
        writer.write(&sample(7), 0);
        if chown(&path, Some(4711), None).is_ok() {
            assert!(why_not(&mut theirs(&path, TARGET.start, SECOND)).contains("belongs to user 4711"));
            // The JVM's own.
            assert!(Stalls::Theirs(Theirs::new(path.clone(), TARGET.start, 4711, SECOND)).read().is_ok());
        }
        std::fs::remove_file(path).unwrap();
    }
}
