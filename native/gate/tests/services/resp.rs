// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Clients that speak Redis' protocol: commands as arrays and as lines, with strings that look like commands, and transactions.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use crate::client::{Answer, Random, Sent, Wire, body, crc32, line};

pub struct Resp;

fn array(words: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write!(bytes, "*{}\r\n", words.len()).unwrap();
    for word in words {
        write!(bytes, "${}\r\n{word}\r\n", word.len()).unwrap();
    }
    bytes
}

/// A value without what says how long it is.
fn value(reader: &mut BufReader<TcpStream>) -> Result<String, String> {
    let head = line(reader)?;
    let (kind, rest) = head.split_at_checked(1).ok_or("an empty line")?;
    let number = || rest.parse::<usize>().map_err(|e| format!("{head}: {e}"));
    match kind {
        "+" => Ok(rest.to_string()),
        // As it is: no other value begins so.
        "-" => Ok(head),
        "$" => {
            let bytes = body(reader, number()? + 2)?;
            let text = bytes.strip_suffix(b"\r\n").ok_or("a string of another length")?;
            Ok(String::from_utf8_lossy(text).into_owned())
        }
        "*" => Ok((0..number()?).map(|_| value(reader)).collect::<Result<Vec<_>, _>>()?.join(" ")),
        _ => Err(format!("'{head}' is no value")),
    }
}

impl Wire for Resp {
    fn request(&self, random: &mut Random, connection: &str, number: u64) -> (Vec<u8>, Sent) {
        let target = format!("/{connection}/{number}");
        let text = "*2\r\n$3\r\nGET\r\n$1\r\na\r\nPING\r\n-BUSY no\r\n".repeat(random.below(40) as usize);
        let (bytes, body) = match random.below(6) {
            0 => (array(&["SET", &target, &text]), text),
            1 => (array(&["LRANGE", &target, &text]), text),
            // A line, and a transaction: of these the gate answers nothing.
            2 => (format!("GET {target}\r\n").into_bytes(), String::new()),
            3 => (["MULTI\r\n".into(), array(&["SET", &target, &text]), array(&["EXEC"])].concat(), text),
            _ => (array(&["GET", &target]), String::new()),
        };
        let special = bytes.starts_with(b"MULTI");
        (bytes, Sent { target, special, crc: crc32(body.as_bytes()) })
    }

    fn answer(&self, reader: &mut BufReader<TcpStream>, sent: &Sent) -> Result<Answer, String> {
        if sent.special {
            for expected in ["OK", "QUEUED"] {
                let got = value(reader)?;
                if got != expected {
                    return Err(format!("'{got}' in a transaction, not '{expected}'"));
                }
            }
        }
        let got = value(reader)?;
        if !sent.special && got.starts_with("-BUSY the server is stopped for ") && got.ends_with(" ms more") {
            return Ok(Answer::Busy);
        }
        let expected = format!("{} {:x}", sent.target, sent.crc);
        if got == expected { Ok(Answer::Ok) } else { Err(format!("'{got}', not '{expected}'")) }
    }
}
