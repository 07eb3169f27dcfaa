// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Where a message's body ends: by its length, or chunk by chunk (RFC 9112 sections 6 and 7.1).

/// What of a body is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    Length(u64),
    Chunked(Chunk),
}

/// What a chunked body expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Digits of a chunk's size; so many have come.
    Size {
        value: u64,
        digits: u8,
    },
    /// An extension behind the size.
    Extension {
        value: u64,
    },
    /// The line feed behind the size.
    SizeEnd {
        value: u64,
    },
    Data {
        left: u64,
    },
    /// The carriage return behind the data, then its line feed.
    DataEnd,
    DataEndLf,
    /// A trailer's first byte; another byte of its name; of its value; its line feed.
    TrailerStart,
    TrailerName,
    Trailer,
    TrailerLf,
    /// The line feed that ends it all.
    End,
}

/// How far one buffer led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The body ended after so many bytes.
    Done(usize),
    /// All bytes were of the body, and it goes on.
    More,
}

/// 15 hexadecimal digits are more than any memory, and do not overflow.
const MOST_DIGITS: u8 = 15;

impl Body {
    pub(super) const CHUNKED: Body = Body::Chunked(Chunk::Size { value: 0, digits: 0 });

    /// Of what is still to come, if it is said.
    pub(super) fn length(&self) -> Option<usize> {
        match self {
            Body::Length(length) => Some(usize::try_from(*length).unwrap_or(usize::MAX)),
            Body::Chunked(_) => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Body::Length(0)
    }

    /// Goes through `bytes`. Never called again after `Done` or an error.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Progress, &'static str> {
        match self {
            Body::Length(left) => {
                if bytes.len() as u64 >= *left {
                    return Ok(Progress::Done(*left as usize));
                }
                *left -= bytes.len() as u64;
                Ok(Progress::More)
            }
            Body::Chunked(chunk) => {
                let mut at = 0;
                while at < bytes.len() {
                    if let Chunk::Data { left } = chunk {
                        let used = (bytes.len() - at).min(usize::try_from(*left).unwrap_or(usize::MAX));
                        at += used;
                        *left -= used as u64;
                        if *left == 0 {
                            *chunk = Chunk::DataEnd;
                        }
                        continue;
                    }
                    match chunk.step(bytes[at])? {
                        Some(next) => *chunk = next,
                        None => return Ok(Progress::Done(at + 1)),
                    }
                    at += 1;
                }
                Ok(Progress::More)
            }
        }
    }
}

impl Chunk {
    /// What follows after this byte; `None` at the end of the body.
    fn step(self, byte: u8) -> Result<Option<Chunk>, &'static str> {
        let next = match (self, byte) {
            (Chunk::Size { value, digits }, _) if byte.is_ascii_hexdigit() => {
                if digits == MOST_DIGITS {
                    return Err("a chunk's size of too many digits");
                }
                let digit = (byte as char).to_digit(16).expect("a digit");
                Chunk::Size { value: (value << 4) | u64::from(digit), digits: digits + 1 }
            }
            (Chunk::Size { digits: 0, .. }, _) => return Err("a chunk without a size"),
            (Chunk::Size { value, .. } | Chunk::Extension { value }, b'\r') => Chunk::SizeEnd { value },
            (Chunk::Size { value, .. }, b';') => Chunk::Extension { value },
            (Chunk::Extension { value }, b'\t' | b' '..=b'~') => Chunk::Extension { value },
            (Chunk::SizeEnd { value: 0 }, b'\n') => Chunk::TrailerStart,
            (Chunk::SizeEnd { value }, b'\n') => Chunk::Data { left: value },
            (Chunk::DataEnd, b'\r') => Chunk::DataEndLf,
            (Chunk::DataEndLf, b'\n') => Chunk::Size { value: 0, digits: 0 },
            (Chunk::TrailerStart, b'\r') => Chunk::End,
            (Chunk::TrailerStart | Chunk::TrailerName, _) if crate::options::is_token(byte) => Chunk::TrailerName,
            (Chunk::TrailerName, b':') => Chunk::Trailer,
            (Chunk::Trailer, b'\r') => Chunk::TrailerLf,
            (Chunk::Trailer, b'\t' | b' '..=b'~' | 0x80..) => Chunk::Trailer,
            (Chunk::TrailerLf, b'\n') => Chunk::TrailerStart,
            (Chunk::End, b'\n') => return Ok(None),
            _ => return Err("a chunked body of another form"),
        };
        Ok(Some(next))
    }
}
