// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Header blocks (HPACK, RFC 7541): their representations, one after the other. There is no dynamic table here: the gate answers only where
//! there is none.

use super::huffman;

/// Indices up to here are of the static table, all others of the dynamic one.
pub(super) const STATIC: u64 = 61;

/// A string, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    huffman: bool,
}

impl Text<'_> {
    /// Its code, which has a byte at least for each text that has one.
    pub(super) fn as_written(&self) -> &[u8] {
        self.bytes
    }

    /// Whether it says nothing.
    pub(super) fn is_damaged(self) -> bool {
        self.huffman && huffman::decode(self.bytes).is_none()
    }

    /// What it says; `None` if it is damaged.
    pub(super) fn decode(self) -> Option<Vec<u8>> {
        if self.huffman { huffman::decode(self.bytes) } else { Some(self.bytes.to_vec()) }
    }
}

/// A field's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// That of an entry of the tables.
    Of(u64),
    /// Written out.
    Literal(Text<'a>),
}

/// A representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// The dynamic table has this size from now on.
    Size(u64),
    /// An entry of the tables.
    Indexed(u64),
    /// A field with a value of its own; whether it becomes an entry depends on the dynamic table's size only.
    Literal(Name<'a>, Text<'a>),
}

/// An integer whose first byte has `bits` bits of it.
fn integer(bytes: &mut &[u8], bits: u32) -> Result<u64, &'static str> {
    const CUT: &str = "a header block that ends in an integer";
    let most = (1 << bits) - 1;
    let (first, rest) = bytes.split_first().ok_or(CUT)?;
    *bytes = rest;
    let mut value = u64::from(*first) & most;
    if value < most {
        return Ok(value);
    }
    for shift in (0..28).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(CUT)?;
        *bytes = rest;
        value += u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("an integer of more than 28 bits in a header block")
}

fn text<'a>(bytes: &mut &'a [u8]) -> Result<Text<'a>, &'static str> {
    let huffman = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let length = integer(bytes, 7)?;
    let (text, rest) = bytes.split_at_checked(length as usize).ok_or("a header block that ends in a string")?;
    *bytes = rest;
    Ok(Text { bytes: text, huffman })
}

/// The next representation.
fn part<'a>(bytes: &mut &'a [u8]) -> Result<Part<'a>, &'static str> {
    let first = bytes[0];
    if first & 0x80 != 0 {
        return match integer(bytes, 7)? {
            0 => Err("index 0 in a header block"),
            index => Ok(Part::Indexed(index)),
        };
    }
    if first & 0xe0 == 0x20 {
        return Ok(Part::Size(integer(bytes, 5)?));
    }
    // With an entry, without one, and never with one.
    let bits = if first & 0x40 != 0 { 6 } else { 4 };
    let name = match integer(bytes, bits)? {
        0 => Name::Literal(text(bytes)?),
        index => Name::Of(index),
    };
    Ok(Part::Literal(name, text(bytes)?))
}

/// Goes through a whole block.
///
/// # Errors
/// It is none, or `each` says so.
pub(super) fn read<'a>(mut block: &'a [u8], mut each: impl FnMut(Part<'a>) -> Result<(), &'static str>) -> Result<(), &'static str> {
    let mut fields = false;
    while !block.is_empty() {
        let part = part(&mut block)?;
        if fields && matches!(part, Part::Size(_)) {
            return Err("a table's size behind a field");
        }
        fields |= !matches!(part, Part::Size(_));
        each(part)?;
    }
    Ok(())
}

fn write_text(text: &[u8], to: &mut Vec<u8>) {
    write_integer(text.len(), 7, 0, to);
    to.extend_from_slice(text);
}

fn write_integer(value: usize, bits: u32, first: u8, to: &mut Vec<u8>) {
    let most = (1usize << bits) - 1;
    if value < most {
        to.push(first | value as u8);
        return;
    }
    to.push(first | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        to.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    to.push(rest as u8);
}

/// A field whose name is that of an entry of the static table; it becomes no entry.
pub(super) fn write(index: usize, value: &[u8], to: &mut Vec<u8>) {
    write_integer(index, 4, 0, to);
    write_text(value, to);
}

/// A field with another name.
pub(super) fn write_named(name: &[u8], value: &[u8], to: &mut Vec<u8>) {
    to.push(0);
    write_text(name, to);
    write_text(value, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(block: &[u8]) -> Result<Vec<Part<'_>>, &'static str> {
        let mut parts = Vec::new();
        read(block, |part| {
            parts.push(part);
            Ok(())
        })?;
        Ok(parts)
    }

    fn plain(bytes: &[u8]) -> Text<'_> {
        Text { bytes, huffman: false }
    }

    #[test]
    fn representations() {
        let block = b"\x20\x3f\xe1\x1f\x82\xff\x00\x40\x01a\x02bc\x04\x01/\x1f\x10\x00\x00\x01x\x81\x1f";
        let expected = [
            Part::Size(0),
            Part::Size(4096),
            Part::Indexed(2),
            Part::Indexed(127),
            Part::Literal(Name::Literal(plain(b"a")), plain(b"bc")),
            Part::Literal(Name::Of(4), plain(b"/")),
            Part::Literal(Name::Of(31), plain(b"")),
            Part::Literal(Name::Literal(plain(b"x")), Text { bytes: b"\x1f", huffman: true }),
        ];
        assert_eq!(parts(block).unwrap(), expected);
        assert_eq!(Text { bytes: b"\x1f", huffman: true }.decode().unwrap(), b"a");
        // Cut anywhere else than between two of them, it is none.
        let ends: Vec<usize> = (0..=block.len()).filter(|end| parts(&block[..*end]).is_ok()).collect();
        assert_eq!(ends, [0, 1, 4, 5, 7, 13, 16, 19, 24]);
    }

    #[test]
    fn what_is_no_block() {
        for block in [&b"\x80"[..], b"\x82\x20", b"\xff\xff\xff\xff\xff\xff\x01", b"\x00\x7f\xff\xff\xff\x7f"] {
            assert!(parts(block).is_err(), "{block:?}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 126, 127, 128, 254, 255, 300, 20_000] {
            let value = vec![b'v'; length];
            let mut block = Vec::new();
            write(53, &value, &mut block);
            write_named(b"busy-until", &value, &mut block);
            write(8, b"503", &mut block);
            let expected = [
                Part::Literal(Name::Of(53), plain(&value)),
                Part::Literal(Name::Literal(plain(b"busy-until")), plain(&value)),
                Part::Literal(Name::Of(8), plain(b"503")),
            ];
            assert_eq!(parts(&block).unwrap(), expected);
        }
    }
}
