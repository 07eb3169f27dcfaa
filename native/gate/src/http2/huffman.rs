// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! HPACK's Huffman code (RFC 7541, appendix B). It is canonical, so that the lengths of its codes are all of it.

/// Of each byte's code, and of the end of the string.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
const END: usize = 256;
const LONGEST: usize = 30;

/// How many codes there are of each length, and the symbols in the order of their codes.
struct Code {
    counts: [u16; LONGEST + 1],
    symbols: [u16; 257],
}

static CODE: Code = Code::new();

impl Code {
    const fn new() -> Code {
        let mut code = Code { counts: [0; LONGEST + 1], symbols: [0; 257] };
        let (mut length, mut n) = (1, 0);
        while length <= LONGEST {
            let mut symbol = 0;
            while symbol <= END {
                if LENGTHS[symbol] as usize == length {
                    code.counts[length] += 1;
                    code.symbols[n] = symbol as u16;
                    n += 1;
                }
                symbol += 1;
            }
            length += 1;
        }
        code
    }
}

/// The text of `bytes`; `None` if they are not of the code, or not padded as it must be.
pub(super) fn decode(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(bytes.len() * 8 / 5);
    // The code so far, the first code of its length, the place of that one among the symbols.
    let (mut code, mut first, mut place, mut length) = (0u32, 0u32, 0u32, 0usize);
    for i in 0..bytes.len() * 8 {
        code = code << 1 | u32::from(bytes[i / 8] >> (7 - i % 8) & 1);
        first <<= 1;
        length += 1;
        let count = u32::from(*CODE.counts.get(length)?);
        if code - first < count {
            let symbol = CODE.symbols[(place + code - first) as usize];
            text.push(u8::try_from(symbol).ok()?);
            (code, first, place, length) = (0, 0, 0, 0);
        } else {
            first += count;
            place += count;
        }
    }
    // The first bits of the end's code, which are ones, and fewer than a byte.
    (length < 8 && code == (1 << length) - 1).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541, appendix C.4 and C.6.
    #[test]
    fn the_specifications_examples() {
        for (bytes, text) in [
            (&[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff][..], "www.example.com"),
            (&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf], "no-cache"),
            (&[0x25, 0xa8, 0x49, 0xe9, 0x5b, 0xa9, 0x7d, 0x7f], "custom-key"),
            (&[0x64, 0x02], "302"),
            (&[], ""),
        ] {
            assert_eq!(decode(bytes).as_deref(), Some(text.as_bytes()));
        }
    }

    #[test]
    fn damage_is_seen() {
        // Padding of zeros, of a whole byte; the end of the string inside it.
        for bytes in [&[0x18][..], &[0x64, 0x02, 0xff], &[0xff, 0xff, 0xff, 0xff], &[0xff, 0xff, 0xff, 0xfc]] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn the_code_is_complete() {
        let sum: u64 = LENGTHS.iter().map(|length| 1 << (LONGEST - usize::from(*length))).sum();
        assert_eq!(sum, 1 << LONGEST);
    }
}
