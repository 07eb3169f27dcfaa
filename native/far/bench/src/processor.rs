// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a measurement takes of this machine's processors, whoever's it is: the program's, the pager's, a server's that is here, the kernel's. On a
//! machine that is busy with other things it means nothing.

use std::fs;

/// Microseconds in one of the kernel's units of time.
const TICK: f64 = 10_000.0;

/// Since when.
pub struct Busy(f64);

impl Busy {
    /// Now.
    pub fn since_now() -> Result<Busy, String> {
        Ok(Busy(ticks(&fs::read_to_string("/proc/stat").map_err(|error| format!("/proc/stat: {error}"))?)?))
    }

    /// Prints what each of so many pages has taken.
    pub fn print(&self, pages: u64) -> Result<(), String> {
        let now = Busy::since_now()?;
        println!("processors busy {:.2} us for each page", (now.0 - self.0) * TICK / pages.max(1) as f64);
        Ok(())
    }
}

/// User, nice, system, interrupts; neither idle nor waiting, nor what another machine has taken.
fn ticks(stat: &str) -> Result<f64, String> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).ok_or("/proc/stat has no line of all processors")?;
    let numbers: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    if numbers.len() < 7 {
        return Err(format!("/proc/stat says {line:?}"));
    }
    Ok([0, 1, 2, 5, 6].iter().map(|&at| numbers[at]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_waiting_are_not_busy() {
        assert_eq!(ticks("cpu  1 20 300 4000 50000 600000 7000000 80000000 0 0\ncpu0 9\n"), Ok(7_600_321.0));
        assert!(ticks("cpu0 1 2 3 4 5 6 7\n").is_err() && ticks("cpu  1 2\n").is_err());
    }
}
