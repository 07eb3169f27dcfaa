// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Redis' protocol (RESP, versions 2 and 3): commands as arrays of strings or as lines, and the busy answer.
//!
//! Each command has one answer, in order, but for a few that change what the connection is: those are the application's, and where
//! answers do not follow commands any more (subscriptions, `MONITOR`, replication, `CLIENT REPLY`), so is the connection. So are the commands of a transaction:
//! the server would execute it without the one that was answered busy. Stricter than servers are: empty commands, bare line feeds, and
//! strings of unknown length make the connection opaque.

mod framing;

use std::io::Write;
use std::time::Duration;

use crate::protocol::{Front, Opaque, Protocol};
use framing::{Answer, Command};

/// Commands that may be unanswered on one connection before the gate gives up on it.
const MOST_OUTSTANDING: usize = 1024;

/// What a command is to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Asks for one answer.
    Plain,
    /// The same, but says something of the connection, or of the commands after it, that the application must hear.
    Connection,
    /// The commands after it wait for `EXEC`.
    Begins,
    /// No commands wait any more.
    Ends,
    /// After it answers do not follow commands.
    Changes,
}

/// By the command's first two words, in any case of letters.
fn role(words: &[Vec<u8>; 2]) -> Role {
    let [name, second] = words.each_ref().map(|word| word.to_ascii_uppercase());
    match &name[..] {
        b"MULTI" => Role::Begins,
        b"EXEC" | b"DISCARD" | b"RESET" => Role::Ends,
        b"SUBSCRIBE" | b"PSUBSCRIBE" | b"SSUBSCRIBE" | b"UNSUBSCRIBE" | b"PUNSUBSCRIBE" | b"SUNSUBSCRIBE" | b"MONITOR" | b"SYNC"
        | b"PSYNC" => Role::Changes,
        b"CLIENT" if matches!(&second[..], b"REPLY" | b"TRACKING") => Role::Changes,
        b"AUTH" | b"HELLO" | b"SELECT" | b"CLIENT" | b"WATCH" | b"UNWATCH" | b"ASKING" | b"READONLY" | b"READWRITE" | b"QUIT" => {
            Role::Connection
        }
        _ => Role::Plain,
    }
}

/// One connection that speaks it.
#[derive(Debug, Default)]
pub struct Resp {
    command: Command,
    answer: Answer,
    /// Commands that were read and not answered.
    outstanding: usize,
    /// Between `MULTI` and `EXEC`.
    in_transaction: bool,
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
                Role::Plain | Role::Connection => {}
                Role::Begins => self.in_transaction = true,
                Role::Ends => self.in_transaction = false,
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
        }
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.outstanding == 0 && self.command.is_boundary() && self.answer.is_boundary()
    }

    fn front(&self, buffer: &[u8]) -> Front {
        let mut command = Command::default();
        match command.take(buffer) {
            Ok(Some(_)) if self.in_transaction || self.was_asking || role(command.words()) != Role::Plain => Front::Leave,
            Ok(Some(length)) => Front::Request { length, deadline: None },
            Ok(None) => Front::Incomplete,
            Err(reason) => Front::Unknown(reason),
        }
    }

    fn busy(&self, _request: &[u8], remaining: Duration, answer: &mut Vec<u8>) -> u64 {
        answer.clear();
        let ms = remaining.as_micros().div_ceil(1000);
        write!(answer, "-BUSY the server is stopped for {ms} ms more\r\n").expect("a vector takes all");
        1
    }
}

#[cfg(test)]
mod tests;
