// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sequences of pages: made, or recorded from a program; and what exact LRU makes of them.

use crate::memory::Random;

/// Reads or makes a trace over `pages` pages. A recorded one has as many pages as it has; they are numbered anew in the order of their
/// first use.
pub fn trace(name: &str, pages: usize, accesses: usize) -> Result<Vec<usize>, String> {
    if let Some(exponent) = name.strip_prefix("zipf:") {
        let exponent: f64 = exponent.parse().map_err(|error| format!("{name}: {error}"))?;
        return Ok(zipf(exponent, pages, accesses));
    }
    if name == "loop" {
        return Ok((0..accesses).map(|n| n % pages).collect());
    }
    let bytes = std::fs::read(name).map_err(|error| format!("{name}: {error}"))?;
    let recorded = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let mut numbers = std::collections::HashMap::new();
    Ok(recorded
        .map(|page| {
            let next = numbers.len();
            *numbers.entry(page).or_insert(next)
        })
        .collect())
}

/// Pages that are used the more often the lower their rank is, scattered over the range.
fn zipf(exponent: f64, pages: usize, accesses: usize) -> Vec<usize> {
    let mut random = Random(11);
    let mut place: Vec<usize> = (0..pages).collect();
    (1..pages).rev().for_each(|last| place.swap(last, random.below(last + 1)));
    let mut sum = 0.0;
    let cumulated: Vec<f64> = (1..=pages)
        .map(|rank| {
            sum += (rank as f64).powf(-exponent);
            sum
        })
        .collect();
    (0..accesses)
        .map(|_| {
            let at = random.unit() * sum;
            place[cumulated.partition_point(|&c| c < at).min(pages - 1)]
        })
        .collect()
}

/// Misses of exact LRU with room for `room` pages, after all pages were used once in the order of their numbers.
pub fn lru_misses(trace: &[usize], pages: usize, room: usize) -> usize {
    // When each page was used last, and the pages by that time: the first of the queue that is still current is the oldest.
    let mut last_use = vec![usize::MAX; pages];
    let mut queue = std::collections::VecDeque::new();
    let mut there = vec![false; pages];
    let (mut count, mut misses) = (0, 0);
    for (now, page) in (0..pages).chain(trace.iter().copied()).enumerate() {
        if !there[page] {
            misses += usize::from(now >= pages);
            there[page] = true;
            count += 1;
        }
        last_use[page] = now;
        queue.push_back((now, page));
        while count > room {
            let Some((when, oldest)) = queue.pop_front() else { break };
            if last_use[oldest] == when {
                there[oldest] = false;
                count -= 1;
            }
        }
    }
    misses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lru_by_hand() {
        // After 0 1 2 3 there are 1 2 3.
        assert_eq!(lru_misses(&[1, 2, 3], 4, 3), 0);
        assert_eq!(lru_misses(&[0, 1, 2, 3], 4, 3), 4);
        // 1 is used again, so 2 goes for 0.
        assert_eq!(lru_misses(&[1, 0, 1, 3, 2], 4, 3), 2);
        assert_eq!(lru_misses(&[0, 1, 2, 3], 4, 4), 0);
    }

    #[test]
    fn a_loop_over_more_than_there_is_room_for_always_misses() {
        let pages = trace("loop", 100, 1000).unwrap();
        assert_eq!(lru_misses(&pages, 100, 99), 1000);
    }

    #[test]
    fn zipf_prefers_some_pages() {
        let trace = trace("zipf:0.99", 1000, 100_000).unwrap();
        let mut uses = vec![0; 1000];
        trace.iter().for_each(|&page| uses[page] += 1);
        uses.sort_unstable_by(|a, b| b.cmp(a));
        // The first of 1000 has 1 / 7.6 of all, the first hundred two thirds.
        assert!((12_000..15_000).contains(&uses[0]), "{}", uses[0]);
        assert!((64_000..72_000).contains(&uses[..100].iter().sum::<i32>()));
    }
}
