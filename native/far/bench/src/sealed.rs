// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sealed pages beside plain ones: the same measurement by turns, each as a process of its own, and what the one takes of the other.

use std::process::Command;

use crate::Far;

/// What is compared, and where its number is in the line that the measurement prints.
const NUMBERS: [(&str, &str, &str); 3] = [("faults", "p50 ", " us"), ("faults", "p99 ", " us"), ("sequential", ": ", " MB/s")];

/// So many rounds, each of which goes through all measurements, plain and sealed. The first of two alternates.
pub fn beside(far: &Far, rounds: u32) -> Result<(), String> {
    let mut found = NUMBERS.map(|_| [const { Vec::new() }; 2]);
    for round in 0..rounds {
        for measurement in ["faults", "sequential"] {
            for turn in [round % 2, 1 - round % 2] {
                let line = measure(far, measurement, turn == 1)?;
                for (number, found) in NUMBERS.iter().zip(&mut found).filter(|(number, _)| number.0 == measurement) {
                    found[turn as usize].push(read(&line, number.1, number.2)?);
                }
            }
        }
    }
    for ((measurement, what, unit), [plain, sealed]) in NUMBERS.iter().zip(&found) {
        let ratios: Vec<f64> = plain.iter().zip(sealed).map(|(plain, sealed)| sealed / plain).collect();
        println!(
            "{measurement}, {}{unit} of {rounds} rounds by turns: plain {}, sealed {}, sealed of plain {}",
            what.trim_matches([':', ' ']),
            spread(plain, 1),
            spread(sealed, 1),
            spread(&ratios, 2)
        );
    }
    Ok(())
}

/// One measurement, as a process: what it prints.
fn measure(far: &Far, measurement: &str, seal: bool) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    // As half of the memory is local for faults everywhere, and a quarter for reads in order.
    let local = if measurement == "faults" { "50" } else { "25" };
    let output = Command::new(program)
        .args([measurement, "--servers", &far.servers.join(","), "--local", local, "--pages", &far.pages.to_string()])
        .args(["--read-ahead", &far.read_ahead.to_string()])
        .args(seal.then_some("--seal"))
        .output()
        .map_err(|error| error.to_string())?;
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(line) } else { Err(format!("{measurement}: {}", String::from_utf8_lossy(&output.stderr))) }
}

/// The number between two texts.
fn read(line: &str, before: &str, after: &str) -> Result<f64, String> {
    let number = line.split_once(before).and_then(|(_, rest)| rest.split_once(after)).and_then(|(number, _)| number.parse().ok());
    number.ok_or_else(|| format!("no number between {before:?} and {after:?} in {line:?}"))
}

/// The median, and all of them from the least to the most.
fn spread(numbers: &[f64], digits: usize) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (least, median, most) = (sorted[0], sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    format!("{median:.digits$} ({least:.digits$} to {most:.digits$})")
}
