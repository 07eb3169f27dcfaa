// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a side draws for one connection, and what both make of that: X25519 (RFC 7748). Who has seen both halves on the way, and has the shared
//! key, today or later, has not what both have agreed upon. So it is forgotten with the connection's handshake.

use x25519_dalek::{PublicKey, SharedSecret, StaticSecret};
use zeroize::Zeroizing;

/// Bytes of a half: of what is drawn, and of what is said of it.
pub const SHARE_LEN: usize = 32;

/// One side's half. What was drawn is overwritten when it is dropped, and is in no message.
pub struct Share {
    secret: StaticSecret,
    said: [u8; SHARE_LEN],
}

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Share(..)")
    }
}

impl Share {
    /// Of bytes that `random` fills in: others for each connection.
    ///
    /// # Errors
    /// As `random`.
    pub fn draw<E>(random: impl FnOnce(&mut [u8; SHARE_LEN]) -> Result<(), E>) -> Result<Share, E> {
        let mut bytes = Zeroizing::new([0; SHARE_LEN]);
        random(&mut bytes)?;
        Ok(Share::of(*bytes))
    }

    /// Of bytes that were drawn.
    #[must_use]
    pub fn of(random: [u8; SHARE_LEN]) -> Share {
        let secret = StaticSecret::from(random);
        let said = PublicKey::from(&secret).to_bytes();
        Share { secret, said }
    }

    /// What the other side is told. It is random, and so the connection's nonce, too.
    #[must_use]
    pub fn said(&self) -> [u8; SHARE_LEN] {
        self.said
    }

    /// What both sides come to. Whatever the other one has said is taken: only who has the key is believed to have said it, and he could as well
    /// tell everybody what comes of it.
    pub(crate) fn agree(self, said: &[u8; SHARE_LEN]) -> SharedSecret {
        self.secret.diffie_hellman(&PublicKey::from(*said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> [u8; 32] {
        std::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
    }

    /// RFC 7748, section 5.2.
    #[test]
    fn it_is_the_standards() {
        let drawn = Share::of(bytes("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"));
        let agreed = drawn.agree(&bytes("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"));
        assert_eq!(agreed.to_bytes(), bytes("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"));
        let nine = bytes("0900000000000000000000000000000000000000000000000000000000000000");
        assert_eq!(Share::of(nine).said(), bytes("422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"));
    }

    #[test]
    fn both_sides_come_to_the_same_and_nobody_else() {
        let said = |drawn: u8| Share::of([drawn; 32]).said();
        let agreed = |drawn: u8, said: [u8; 32]| Share::of([drawn; 32]).agree(&said).to_bytes();
        assert_eq!(agreed(1, said(2)), agreed(2, said(1)));
        assert!([agreed(3, said(1)), agreed(3, said(2)), said(1), said(2)].iter().all(|other| *other != agreed(1, said(2))));
    }

    #[test]
    fn a_half_is_in_no_message() {
        assert_eq!(format!("{:?}", Share::of([0xAB; 32])), "Share(..)");
    }

    #[test]
    fn without_random_bytes_there_is_none() {
        assert_eq!(Share::draw(|_| Err("none")).unwrap_err(), "none");
        let drawn = Share::draw(|bytes| {
            *bytes = [7; 32];
            Ok::<(), ()>(())
        });
        assert_eq!(drawn.unwrap().said(), Share::of([7; 32]).said());
    }
}
