// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Redis' protocol (RESP, versions 2 and 3): commands as arrays of strings, several at once, and the busy answer to each.
//!
//! What is answered are commands that are known to have one answer, and to change nothing but data. All others are the application's: those that say
//! something of the connection, or by which clients see whether it lives; lines without lengths, for other protocols begin so, too; and the commands of a
//! transaction, which the server would execute without the one that was answered busy. Where answers do not follow commands any more (subscriptions,
//! `MONITOR`, replication, `CLIENT REPLY`), so is the connection, for ever. Stricter than servers are: empty commands, bare line feeds, quotes in lines, and
//! strings of unknown length make it opaque.

mod commands;
mod framing;

use std::io::Write;
use std::time::Duration;

use crate::protocol::{Described, Front, Opaque, Protocol};
use commands::{Role, has_ended, role};
use framing::{Answer, Command};

/// Commands that may be unanswered on one connection before the gate gives up on it.
const MOST_OUTSTANDING: usize = 1 << 24;
/// Commands that are answered at once, at most.
const MOST_AT_ONCE: usize = 512;

/// One connection that speaks it.
#[derive(Debug, Clone, Default)]
pub struct Resp {
    command: Command,
    answer: Answer,
    /// Commands that were read and not answered.
    outstanding: usize,
    /// From when `MULTI` was read until an answer has said that it is over.
    in_transaction: bool,
    /// So many answers on, with that one, comes the answer to what may have ended it; 0: nothing has.
    ends_in: usize,
    /// The next command is the one that `ASKING` was said for.
    was_asking: bool,
}

impl Protocol for Resp {
    fn received(&mut self, mut bytes: &[u8]) -> Result<(), Opaque> {
        while let Some(used) = self.command.take(bytes).map_err(Opaque::Request)? {
            bytes = &bytes[used..];
            if self.outstanding >= MOST_OUTSTANDING {
                return Err(Opaque::Request("too many commands without an answer"));
            }
            self.outstanding += 1;
            let words = self.command.words();
            self.was_asking = words[0].eq_ignore_ascii_case(b"ASKING");
            match role(words) {
                Role::Plain | Role::Other => {}
                Role::Begins => {
                    self.in_transaction = true;
                    self.ends_in = 0;
                }
                Role::Ends => self.ends_in = self.outstanding,
                Role::Changes => return Err(Opaque::Request("answers that do not follow commands")),
            }
        }
        Ok(())
    }

    fn sent(&mut self, mut bytes: &[u8]) -> Result<(), Opaque> {
        while !bytes.is_empty() {
            if self.outstanding == 0 {
                return Err(Opaque::Response("an answer without a command"));
            }
            let Some(used) = self.answer.take(bytes).map_err(Opaque::Response)? else { break };
            bytes = &bytes[used..];
            self.outstanding -= 1;
            if !self.in_transaction && self.answer.head().starts_with(b"+QUEUED") {
                return Err(Opaque::Response("a transaction that was not seen to begin"));
            }
            if self.ends_in > 0 {
                self.ends_in -= 1;
                if self.ends_in == 0 && has_ended(self.answer.head()) {
                    self.in_transaction = false;
                }
            }
        }
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.outstanding == 0 && self.command.is_boundary() && self.answer.is_boundary()
    }

    fn front(&self, buffer: &[u8]) -> Front {
        let mut command = Command::default();
        let mut length = 0;
        for _ in 0..MOST_AT_ONCE {
            match command.take(&buffer[length..]) {
                Ok(Some(used))
                    if !command.is_line() && !self.in_transaction && !self.was_asking && role(command.words()) == Role::Plain =>
                {
                    length += used
                }
                // Whatever it is, those before it may be answered.
                _ if length > 0 => break,
                Ok(Some(_)) => return Front::Leave,
                Ok(None) => return Front::Incomplete,
                Err(reason) => return Front::Unknown(reason),
            }
        }
        Front::Request { length, deadline: None }
    }

    fn describe(&self, request: &[u8]) -> Described {
        let mut command = Command::default();
        // Only its name: what follows is data.
        let _ = command.take(request);
        Described { line: [b"RESP ", &command.words()[0][..]].concat(), agent: Vec::new() }
    }

    fn busy(&self, request: &[u8], remaining: Duration, answer: &mut Vec<u8>) -> u64 {
        answer.clear();
        let ms = remaining.as_micros().div_ceil(1000);
        let mut command = Command::default();
        let (mut at, mut n) = (0, 0);
        while let Ok(Some(used)) = command.take(&request[at..]) {
            write!(answer, "-BUSY the server is stopped for {ms} ms more\r\n").expect("a vector takes all");
            at += used;
            n += 1;
        }
        n
    }
}

#[cfg(test)]
mod tests;
