// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the same accesses cost on a compressed device in this machine's memory: a zram device that is made here and removed
//! at the end; a signal that ends the program leaves it, which is why `bench.sh` has SIGINT ignored. It is not swapped to, for that would
//! be for every program of the machine: it is mapped.

use std::fs;
use std::path::{Path, PathBuf};

use crate::mapped::Mapped;

const CONTROL: &str = "/sys/class/zram-control";

/// Room for what does not compress as well as it should.
const ROOM: usize = 2;

/// A device of our own.
struct Device {
    number: u32,
}

impl Device {
    fn new(bytes: usize) -> Result<Device, String> {
        // Reading this file makes a device.
        let text = read(&Path::new(CONTROL).join("hot_add"))?;
        let number = text.parse().map_err(|_| format!("{CONTROL}/hot_add is {text:?}: a number is needed"))?;
        let device = Device { number };
        write(&device.setting("comp_algorithm"), "lz4")?;
        write(&device.setting("disksize"), &bytes.to_string())?;
        Ok(device)
    }

    fn setting(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/zram{}/{name}", self.number))
    }

    fn node(&self) -> PathBuf {
        PathBuf::from(format!("/dev/zram{}", self.number))
    }

    /// Bytes that it was given, and bytes that they take.
    fn sizes(&self) -> Result<(u64, u64), String> {
        let text = read(&self.setting("mm_stat"))?;
        let mut numbers = text.split_whitespace().map(str::parse);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(given)), Some(Ok(taken))) => Ok((given, taken)),
            _ => Err(format!("mm_stat is {text:?}: numbers are needed")),
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let removed =
            write(&self.setting("reset"), "1").and_then(|()| write(&Path::new(CONTROL).join("hot_remove"), &self.number.to_string()));
        if let Err(text) = removed {
            eprintln!("lull-far-bench: {} stays: {text}", self.node().display());
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {text:?}: {error}", path.display()))
}

/// Random reads, each page once; then all in order.
pub fn measure(pages: usize) -> Result<(), String> {
    let device = Device::new(ROOM * pages * lull_far::PAGE_SIZE)?;
    {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(device.node())
            .map_err(|error| format!("{}: {error}", device.node().display()))?;
        Mapped::new(file, pages)?.measure("mapped zram device, lz4")?;
    }
    let (given, taken) = device.sizes()?;
    println!("mapped zram device, lz4: {} MB take {} MB", given >> 20, taken >> 20);
    Ok(())
}
