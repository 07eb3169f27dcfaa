// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How long a client says that it will wait: numbers as all protocols here write them.

/// Decimal digits and nothing else, of which 18 always fit; what has more is no number that anybody means.
pub fn digits(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > 18 || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(value.iter().fold(0, |n, b| n * 10 + u64::from(b - b'0')))
}

/// The milliseconds of `wait` in the value of `Prefer`, which says seconds (RFC 7240 section 4.3).
pub fn preferred_ms(value: &[u8]) -> Option<u64> {
    let wait = value.split(|&b| b == b',').find_map(|part| part.trim_ascii().strip_prefix(b"wait="))?;
    digits(wait)?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_that_fit() {
        assert_eq!(digits(b"4294967296"), Some(1 << 32));
        assert_eq!(digits(b"999999999999999999"), Some(999_999_999_999_999_999));
        for value in [&b""[..], b"+5", b"-5", b" 5", b"5 ", b"0x5", b"1000000000000000000"] {
            assert_eq!(digits(value), None, "{value:?}");
        }
    }

    #[test]
    fn a_preference_is_in_seconds() {
        assert_eq!(preferred_ms(b"respond-async, wait=2"), Some(2000));
        assert_eq!(preferred_ms(b"wait=99999999999999999"), None);
        for value in [&b""[..], b"wait", b"wait=", b"wait=x", b"await=2"] {
            assert_eq!(preferred_ms(value), None, "{value:?}");
        }
    }
}
