// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sums up what `lull-far run --dirty` has written: how many pages are written to in windows of 10 ms, 100 ms and 1 s.

use std::path::Path;

/// Names of the lengths, and how many microseconds they are.
const LENGTHS: [(&str, u64); 3] = [("10 ms", 10_000), ("100 ms", 100_000), ("1 s", 1_000_000)];

/// Pages of a window, which took so many microseconds.
type Window = (u64, u64);

/// The windows of each length that end between two moments, in milliseconds since 1970.
fn windows(text: &str, from: u64, to: u64) -> Result<[Vec<Window>; 3], String> {
    let mut all = [const { Vec::new() }; 3];
    let mut took = [0_u64; 3];
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#')) {
        let bad = || format!("line {number} is {line:?}, which no count of dirty pages is");
        let words: Vec<&str> = line.split(' ').collect();
        let [at, length, _, _, pages @ ..] = &words[..] else { return Err(bad()) };
        let (at, length): (u64, u64) = (at.parse().map_err(|_| bad())?, length.parse().map_err(|_| bad())?);
        if pages.len() != LENGTHS.len() {
            return Err(bad());
        }
        for ((windows, took), pages) in all.iter_mut().zip(&mut took).zip(pages) {
            *took += length;
            if *pages != "-" {
                let pages = pages.parse().map_err(|_| bad())?;
                let took = std::mem::take(took);
                if (from..=to).contains(&at) {
                    windows.push((pages, took));
                }
            }
        }
    }
    Ok(all)
}

/// Of these windows those that are not half as long again as they should be, ascending.
fn in_time(windows: &[Window], length: u64) -> Vec<u64> {
    let mut pages: Vec<u64> = windows.iter().filter(|(_, took)| *took <= length + length / 2).map(|(pages, _)| *pages).collect();
    pages.sort_unstable();
    pages
}

fn percentile(sorted: &[u64], percent: usize) -> u64 {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0)
}

/// Prints a line for each length.
pub fn sum_up(file: &Path, from: u64, to: u64) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let all = windows(&text, from, to).map_err(|error| format!("{}: {error}", file.display()))?;
    for (windows, (name, length)) in all.iter().zip(LENGTHS) {
        let pages = in_time(windows, length);
        println!(
            "dirty pages in {name}: p50 {}, p90 {}, p99 {}, most {}; {} windows, {} more were late",
            percentile(&pages, 50),
            percentile(&pages, 90),
            percentile(&pages, 99),
            pages.last().unwrap_or(&0),
            pages.len(),
            windows.len() - pages.len()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_where_they_have_a_number() {
        let text = "# head\n1000 10000 5 1 3 - -\n1010 10100 5 1 4 - -\n1030 20000 5 1 9 12 -\n1040 10000 5 0 0 0 13\n";
        let [short, middle, long] = windows(text, 0, u64::MAX).unwrap();
        assert_eq!(short, [(3, 10_000), (4, 10_100), (9, 20_000), (0, 10_000)]);
        assert_eq!(middle, [(12, 40_100), (0, 10_000)]);
        assert_eq!(long, [(13, 50_100)]);
        assert_eq!(in_time(&short, 10_000), [0, 3, 4]);
        let [short, middle, _] = windows(text, 1010, 1030).unwrap();
        assert_eq!((short.len(), middle.len()), (2, 1));
        for text in ["1000 10000 5 1 3 -", "x 10000 5 1 3 - -", "1000 10000 5 1 3 - x", ""] {
            assert_eq!(windows(text, 0, u64::MAX).is_ok(), text.is_empty(), "{text}");
        }
    }

    #[test]
    fn percentiles_of_few_and_of_none() {
        let all: Vec<u64> = (1..=200).collect();
        assert_eq!([50, 90, 99, 100].map(|percent| percentile(&all, percent)), [101, 181, 199, 200]);
        assert_eq!((percentile(&[7], 99), percentile(&[], 50)), (7, 0));
    }
}
