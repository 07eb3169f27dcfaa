// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where commands and answers begin and end.

/// A line is no longer than that: of a command without lengths, or of an answer.
const LONGEST_LINE: usize = 64 << 10;
/// Strings of a command, at most.
const MOST_STRINGS: u64 = 1 << 20;
/// Bytes of a string, at most; so servers have it.
const LONGEST_STRING: u64 = 512 << 20;
/// Values of one answer that are still to come, at most.
const MOST_VALUES: u64 = 1 << 32;
/// Bytes that stay allocated for the next line.
const KEPT: usize = 256;
/// No word that the gate knows is longer.
const LONGEST_WORD: usize = 24;

/// Where the bytes of one direction stand.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum At {
    /// In a line.
    #[default]
    Line,
    /// In a string, of which so many bytes are to come.
    String(u64),
    /// Behind it.
    Return,
    Feed,
}

/// What was found.
enum Token<'a> {
    /// A whole line, which is in [`Lines::line`].
    Line,
    /// A part of a string.
    Part(&'a [u8]),
    /// A string has ended.
    End,
    /// Neither yet.
    Nothing,
}

/// Lines, and strings of known lengths between them.
#[derive(Debug, Clone, Default)]
struct Lines {
    at: At,
    /// What has come of the present line, without its end once that has come.
    line: Vec<u8>,
}

impl Lines {
    fn is_boundary(&self) -> bool {
        self.at == At::Line && self.line.is_empty()
    }

    /// The next token of `bytes`, of which there is one at least, and how many bytes it took. A line is to be cleared then.
    fn next<'a>(&mut self, bytes: &'a [u8]) -> Result<(usize, Token<'a>), &'static str> {
        match self.at {
            At::Line => {
                let (part, ends) = match bytes.iter().position(|&byte| byte == b'\n') {
                    Some(at) => (&bytes[..=at], true),
                    None => (bytes, false),
                };
                let before = self.line.len();
                if before + part.len() > LONGEST_LINE {
                    return Err("a line that is too long");
                }
                self.line.extend_from_slice(part);
                // From the last byte that was there on: it may have been the first of the line's end.
                let new = &self.line[before.saturating_sub(1)..];
                let content = if ends { new.strip_suffix(b"\r\n").ok_or("a bare line feed")? } else { &new[..new.len() - 1] };
                if content.contains(&b'\r') {
                    return Err("a bare carriage return");
                }
                if !ends {
                    return Ok((part.len(), Token::Nothing));
                }
                self.line.truncate(self.line.len() - 2);
                Ok((part.len(), Token::Line))
            }
            At::String(left) => {
                let n = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                self.string(left - n as u64);
                Ok((n, Token::Part(&bytes[..n])))
            }
            At::Return | At::Feed if bytes[0] != if self.at == At::Return { b'\r' } else { b'\n' } => {
                Err("a string that is longer than was said")
            }
            At::Return => {
                self.at = At::Feed;
                Ok((1, Token::Nothing))
            }
            At::Feed => {
                self.at = At::Line;
                Ok((1, Token::End))
            }
        }
    }

    /// What has come of the present line begins like this, if anything has.
    fn first(&self) -> Option<u8> {
        if self.at == At::Line { self.line.first().copied() } else { None }
    }

    /// The line is done with.
    fn clear(&mut self, mut line: Vec<u8>) {
        line.clear();
        line.shrink_to(KEPT);
        self.line = line;
    }

    /// A string of so many bytes follows.
    fn string(&mut self, length: u64) {
        self.at = if length == 0 { At::Return } else { At::String(length) };
    }
}

/// The number of a line, behind its first byte: digits, no sign, no leading zero.
fn number(line: &[u8], most: u64) -> Result<u64, &'static str> {
    let digits = &line[1..];
    if digits.is_empty() || digits.len() > 12 || !digits.iter().all(u8::is_ascii_digit) || digits.len() > 1 && digits[0] == b'0' {
        return Err("a length that is no number");
    }
    let n = digits.iter().fold(0u64, |n, digit| n * 10 + u64::from(digit - b'0'));
    if n > most { Err("a length that is too large") } else { Ok(n) }
}

/// A command that comes.
#[derive(Debug, Clone, Default)]
pub struct Command {
    lines: Lines,
    /// Its strings that are still to come, with the present one.
    strings: u64,
    /// What has come of the first two.
    words: [Vec<u8>; 2],
    /// The place of the present one.
    place: usize,
    /// The last whole one had no lengths.
    is_line: bool,
}

impl Command {
    /// Whether nothing of the next one has come.
    pub fn is_boundary(&self) -> bool {
        self.strings == 0 && self.lines.is_boundary()
    }

    /// The first two words of the last whole one; a little more than the longest that the gate knows, if they are longer.
    pub fn words(&self) -> &[Vec<u8>; 2] {
        &self.words
    }

    /// Whether the last whole one was a line: a person's, a script's, or no command at all but what another protocol begins with.
    pub fn is_line(&self) -> bool {
        self.is_line
    }

    /// Goes on with `bytes` until one is whole; then after how many of them. `None`: all of them belong to one that is not whole.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<usize>, &'static str> {
        let mut used = 0;
        while used < bytes.len() {
            let (n, token) = self.lines.next(&bytes[used..])?;
            used += n;
            let inside = self.strings > 0;
            match self.lines.first() {
                Some(first) if inside && first != b'$' => return Err("no string in a command"),
                Some(first) if !inside && first != b'*' && !first.is_ascii_alphabetic() => return Err("no command"),
                _ => {}
            }
            match token {
                Token::Nothing => {}
                Token::Line => {
                    let line = std::mem::take(&mut self.lines.line);
                    let is_whole = self.line(&line)?;
                    self.lines.clear(line);
                    if is_whole {
                        return Ok(Some(used));
                    }
                }
                Token::Part(part) => {
                    if let Some(word) = self.words.get_mut(self.place) {
                        word.extend(part.iter().take(LONGEST_WORD + 1 - word.len().min(LONGEST_WORD + 1)));
                    }
                }
                Token::End => {
                    self.strings -= 1;
                    self.place += 1;
                    if self.strings == 0 {
                        return Ok(Some(used));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether it is a whole command.
    fn line(&mut self, line: &[u8]) -> Result<bool, &'static str> {
        if self.strings > 0 {
            let length = if line.is_empty() { Err("no string in a command") } else { number(line, LONGEST_STRING) };
            self.lines.string(length?);
            return Ok(false);
        }
        self.words.iter_mut().for_each(Vec::clear);
        self.place = 0;
        self.is_line = line.first() != Some(&b'*');
        match line.first() {
            Some(b'*') => {
                self.strings = number(line, MOST_STRINGS)?;
                if self.strings == 0 { Err("an empty command") } else { Ok(false) }
            }
            Some(_) => {
                // A server takes quotes away, and ends a word where another one would not.
                if !line.iter().all(|byte| (b' '..=b'~').contains(byte) && !b"\"'\\".contains(byte)) {
                    return Err("a line with quotes or bytes that are no text");
                }
                let words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
                for (word, text) in self.words.iter_mut().zip(words) {
                    word.extend(text.iter().take(LONGEST_WORD + 1));
                }
                Ok(true)
            }
            None => Err("an empty command"),
        }
    }
}

/// An answer that goes.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    lines: Lines,
    /// Its values that are still to come, with the present one.
    values: u64,
    /// How the last one began.
    head: Vec<u8>,
}

impl Answer {
    /// What the first line of the last whole one begins with.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether nothing of the next one has gone.
    pub fn is_boundary(&self) -> bool {
        self.values == 0 && self.lines.is_boundary()
    }

    /// Goes on with `bytes` until one is whole; then after how many of them. `None`: all of them belong to one that is not whole.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Option<usize>, &'static str> {
        let mut used = 0;
        while used < bytes.len() {
            let (n, token) = self.lines.next(&bytes[used..])?;
            used += n;
            if self.lines.first().is_some_and(|first| !b"+-:_#,($!=*~%".contains(&first)) {
                return Err("no answer, or one that the server gives by itself");
            }
            match token {
                Token::Nothing | Token::Part(_) => continue,
                Token::Line => {
                    let line = std::mem::take(&mut self.lines.line);
                    if self.values == 0 {
                        self.values = 1;
                        self.head.clear();
                        self.head.extend(line.iter().take(LONGEST_WORD));
                    }
                    let value = value(&line)?;
                    self.lines.clear(line);
                    match value {
                        Value::Line => {}
                        Value::String(length) => {
                            self.lines.string(length);
                            continue;
                        }
                        Value::Values(n) => self.values += n,
                    }
                }
                Token::End => {}
            }
            if self.values > MOST_VALUES {
                return Err("too many values in an answer");
            }
            self.values -= 1;
            if self.values == 0 {
                return Ok(Some(used));
            }
        }
        Ok(None)
    }
}

fn value(line: &[u8]) -> Result<Value, &'static str> {
    match line.first() {
        Some(b'$' | b'*') if &line[1..] == b"-1" => Ok(Value::Line),
        Some(b'$' | b'!' | b'=') => Ok(Value::String(number(line, LONGEST_STRING)?)),
        Some(b'*' | b'~') => Ok(Value::Values(number(line, MOST_VALUES)?)),
        Some(b'%') => Ok(Value::Values(number(line, MOST_VALUES)? * 2)),
        Some(_) => Ok(Value::Line),
        None => Err("an empty line"),
    }
}

/// What a line of an answer begins.
enum Value {
    /// Nothing: it is the value.
    Line,
    /// A string of so many bytes.
    String(u64),
    /// So many values.
    Values(u64),
}
