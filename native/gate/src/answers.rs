// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The last requests that the gate has answered, which are in no log of the service: at `/answered` of `metrics`, in the combined log format.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use crate::protocol::Described;

/// So many are kept.
pub const MOST: usize = 1024;
/// Of a first line, and of an agent, so many bytes.
const MOST_TEXT: usize = 512;

#[derive(Debug)]
struct Answer {
    unix_seconds: u64,
    peer: Option<SocketAddr>,
    what: Described,
}

/// The last answers, the newest at the end. Written by the gate's thread in pauses, and read by that which serves metrics.
#[derive(Debug)]
pub struct Answers(Mutex<VecDeque<Answer>>);

impl Default for Answers {
    fn default() -> Self {
        Answers::new()
    }
}

impl Answers {
    /// None yet.
    pub const fn new() -> Answers {
        Answers(Mutex::new(VecDeque::new()))
    }

    /// These requests of `peer` have been answered now; of more than are kept, the last ones are.
    pub fn add(&self, unix_seconds: u64, peer: Option<SocketAddr>, requests: Vec<Described>) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for mut what in requests {
            if answers.len() == MOST {
                answers.pop_front();
            }
            what.line.truncate(MOST_TEXT);
            what.agent.truncate(MOST_TEXT);
            answers.push_back(Answer { unix_seconds, peer, what });
        }
    }

    /// A line for each, the oldest first.
    pub fn text(&self) -> String {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for Answer { unix_seconds, peer, what } in answers.iter() {
            let peer = peer.map_or("-".to_string(), |peer| peer.ip().to_canonical().to_string());
            let agent = if what.agent.is_empty() { "-".to_string() } else { escaped(&what.agent) };
            text += &format!("{peer} - - [{}] \"{}\" 503 0 \"-\" \"{agent}\"\n", date(*unix_seconds), escaped(&what.line));
        }
        text
    }
}

/// Nothing of what a client sends ends a line, a string, or means something to a terminal.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => text += &format!("\\x{byte:02x}"),
        }
    }
    text
}

/// In UTC, as the format has it.
fn date(unix_seconds: u64) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (mut days, seconds) = (unix_seconds / 86_400, unix_seconds % 86_400);
    let mut year = 1970;
    let length = |year: u64| if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) { 366 } else { 365 };
    while days >= length(year) {
        days -= length(year);
        year += 1;
    }
    let lengths = [31, length(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{:02}/{}/{year}:{hour:02}:{minute:02}:{second:02} +0000", days + 1, MONTHS[month])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(line: &[u8], agent: &[u8]) -> Described {
        Described { line: line.to_vec(), agent: agent.to_vec() }
    }

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "01/Jan/1970:00:00:00 +0000"),
            (951_782_399, "28/Feb/2000:23:59:59 +0000"),
            (951_782_400, "29/Feb/2000:00:00:00 +0000"),
            (1_709_251_199, "29/Feb/2024:23:59:59 +0000"),
            (1_767_225_599, "31/Dec/2025:23:59:59 +0000"),
        ] {
            assert_eq!(date(seconds), text);
        }
    }

    #[test]
    fn a_line_is_of_the_combined_format_whatever_a_client_sends() {
        let answers = Answers::new();
        let peer = "[::ffff:192.0.2.7]:5000".parse().ok();
        answers.add(0, peer, vec![described(b"GET /a HTTP/1.1", b"curl/8")]);
        answers.add(1, None, vec![described(b"GET /\x1b[2J\"\\\xff HTTP/1.1", b""), described(&[b'x'; 9999], b"")]);
        let text = answers.text();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "192.0.2.7 - - [01/Jan/1970:00:00:00 +0000] \"GET /a HTTP/1.1\" 503 0 \"-\" \"curl/8\"");
        assert_eq!(lines[1], "- - - [01/Jan/1970:00:00:01 +0000] \"GET /\\x1b[2J\\\"\\\\\\xff HTTP/1.1\" 503 0 \"-\" \"-\"");
        assert!(lines[2].len() < 600 && lines.len() == 3);
    }

    #[test]
    fn the_last_ones_are_kept() {
        let answers = Answers::new();
        answers.add(0, None, (0..2 * MOST).map(|n| described(format!("GET /{n}").as_bytes(), b"")).collect());
        let text = answers.text();
        assert_eq!(text.lines().count(), MOST);
        assert!(text.starts_with("- - - [01/Jan/1970:00:00:00 +0000] \"GET /1024\"") && text.contains("\"GET /2047\""));
    }
}
