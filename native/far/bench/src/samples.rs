// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Times of single accesses, and what of them is printed.

use std::time::Instant;

/// Nanoseconds of each access that counted.
#[derive(Default)]
pub struct Samples(Vec<u64>);

impl Samples {
    /// Times an access; it counts if `counts` says so afterwards.
    pub fn take(&mut self, access: impl FnOnce(), counts: impl FnOnce() -> bool) {
        let start = Instant::now();
        access();
        let nanoseconds = start.elapsed().as_nanos() as u64;
        if counts() {
            self.0.push(nanoseconds);
        }
    }

    /// Prints count, mean, median, 99th percentile, in microseconds.
    pub fn print(mut self, what: &str) -> Result<(), String> {
        self.0.sort_unstable();
        let count = self.0.len();
        if count < 100 {
            return Err(format!("{what}: only {count} accesses were faults"));
        }
        let at = |part: f64| self.0[((count - 1) as f64 * part) as usize] as f64 / 1000.0;
        let mean = self.0.iter().sum::<u64>() as f64 / count as f64 / 1000.0;
        println!("{what}: {count} faults, mean {mean:.1} us, p50 {:.1} us, p99 {:.1} us", at(0.5), at(0.99));
        Ok(())
    }
}
