// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What keeps pages from others, beside plain ones: frames that are encrypted, pages that are sealed, both. The same measurement by turns, each as
//! a process of its own, and what each takes of the plain one.

use std::process::{Command, Stdio};

use crate::Far;

/// What is compared, and where its number is in what the measurement prints. What the processors take is for each page.
const NUMBERS: [(&str, &str, &str); 5] = [
    ("faults", "p50 ", " us"),
    ("faults", "p99 ", " us"),
    ("faults", "processors busy ", " us"),
    ("sequential", ": ", " MB/s"),
    ("sequential", "processors busy ", " us"),
];

/// What is done to what leaves: how it is called, and what asks for it beside the key.
const WAYS: [(&str, &[&str]); 4] =
    [("plain", &["--plain-frames"]), ("encrypted", &[]), ("sealed", &["--plain-frames", "--seal"]), ("both", &["--seal"])];

/// So many rounds, each of which goes through all measurements in all ways. Which is first goes around.
pub fn beside(far: &Far, rounds: u32) -> Result<(), String> {
    let key = far.key.as_deref().ok_or("--key FILE is needed: the servers' key, who are started with --plain-frames")?;
    let mut found = NUMBERS.map(|_| [const { Vec::new() }; WAYS.len()]);
    for round in 0..rounds as usize {
        for measurement in ["faults", "sequential"] {
            for turn in 0..WAYS.len() {
                let way = (round + turn) % WAYS.len();
                let line = measure(far, measurement, key, WAYS[way].1)?;
                for (number, found) in NUMBERS.iter().zip(&mut found).filter(|(number, _)| number.0 == measurement) {
                    found[way].push(read(&line, number.1, number.2)?);
                }
            }
        }
    }
    for ((measurement, what, unit), found) in NUMBERS.iter().zip(&found) {
        println!("{measurement}, {}{unit} of {rounds} rounds by turns:", what.trim_matches([':', ' ']));
        for ((way, _), numbers) in WAYS.iter().zip(found) {
            let ratios: Vec<f64> = found[0].iter().zip(numbers).map(|(plain, number)| number / plain).collect();
            println!("  {way:9} {}, of plain {}", spread(numbers, 1), spread(&ratios, 2));
        }
    }
    Ok(())
}

/// One measurement, as a process: what it prints.
fn measure(far: &Far, measurement: &str, key: &std::path::Path, way: &[&str]) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find myself: {error}"))?;
    // As half of the memory is local for faults everywhere, and a quarter for reads in order.
    let local = if measurement == "faults" { "50" } else { "25" };
    let output = Command::new(program)
        .args([measurement, "--servers", &far.servers.join(","), "--local", local, "--pages", &far.pages.to_string()])
        .args(["--read-ahead", &far.read_ahead.to_string(), "--key"])
        .arg(key)
        .args(way)
        .stdin(Stdio::null())
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
