// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A key, and what is derived from it by HKDF (RFC 5869) with SHA-256. What is derived says nothing about the key.

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY_LEN: usize = 32;

/// A key that both sides have. Its bytes are overwritten when it is dropped, and are in no message.
#[derive(Clone)]
pub struct Key(Zeroizing<[u8; KEY_LEN]>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// Of random bytes.
    #[must_use]
    pub fn new(bytes: [u8; KEY_LEN]) -> Key {
        Key(Zeroizing::new(bytes))
    }

    /// Of 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Key> {
        let digits = Zeroizing::new(text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect::<Option<Vec<u8>>>()?);
        if digits.len() != 2 * KEY_LEN {
            return None;
        }
        Some(Key::new(std::array::from_fn(|at| digits[2 * at] << 4 | digits[2 * at + 1])))
    }

    /// The number by which a server finds the key. Whoever has only the number has nothing.
    #[must_use]
    pub fn id(&self) -> [u8; 16] {
        derive(b"lull-far 1", &self.0[..], b"key id")
    }

    /// A key for one connection and one direction.
    pub(crate) fn of_connection(&self, nonces: &Nonces, info: &[u8]) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(derive(&nonces.salt(), &self.0[..], info))
    }
}

/// What both sides have drawn for a connection, as it was said.
#[derive(Clone, Copy)]
pub(crate) struct Nonces {
    pub(crate) client: [u8; 32],
    pub(crate) server: [u8; 32],
}

impl Nonces {
    fn salt(&self) -> [u8; 64] {
        std::array::from_fn(|at| if at < 32 { self.client[at] } else { self.server[at - 32] })
    }
}

/// The number by which a client is known to one server: the servers of a client cannot guess each other's, so that none of them can be the
/// client at another one. `secret` is drawn by the client, and told to nobody.
#[must_use]
pub fn client_number(secret: &[u8; 32], server: &str) -> [u8; 16] {
    derive(b"lull-far client 1", secret, server.as_bytes())
}

/// The key by which a client seals its pages. Of the secret that it has drawn and told to nobody, and not of the key that the servers have,
/// too: they must not read what they hold. Another one in each process, so that no number of a page means anything to an older one.
#[must_use]
pub fn seal_key(secret: &[u8; 32]) -> Zeroizing<[u8; 16]> {
    Zeroizing::new(derive(b"lull-far seal 1", secret, b"pages"))
}

/// The key and the first nonce of one direction of one connection. `agreed` is what both sides have agreed upon, which nobody knows who has only
/// listened, and has the key; `said` is the last proof of the handshake, which covers all that was said before it.
pub(crate) fn of_direction(key: &Key, nonces: &Nonces, agreed: &[u8; 32], info: &[u8], said: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    let secret: Zeroizing<[u8; 64]> = Zeroizing::new(std::array::from_fn(|at| if at < 32 { key.0[at] } else { agreed[at - 32] }));
    Zeroizing::new(derive(&nonces.salt(), &secret[..], &[info, said].concat()))
}

fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> [u8; N] {
    const { assert!(N <= 32, "one block of the hash") };
    let mut out = [0; N];
    // Fails only for more than 255 blocks.
    Hkdf::<Sha256>::new(Some(salt), secret).expand(info, &mut out).expect("one block");
    out
}

/// HMAC-SHA256 over pieces, as if they stood one after the other.
pub(crate) fn mac(key: &[u8; 32], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length is possible");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_do_not_know_each_others_number_of_a_client() {
        let secret = [7; 32];
        let numbers = ["10.0.0.1:7070", "10.0.0.2:7070", "10.0.0.1:7071"].map(|server| client_number(&secret, server));
        assert!(numbers[0] != numbers[1] && numbers[0] != numbers[2] && numbers[1] != numbers[2]);
        assert_eq!(client_number(&secret, "10.0.0.1:7070"), numbers[0]);
        assert_ne!(client_number(&[8; 32], "10.0.0.1:7070"), numbers[0]);
        // Nor what seals the pages.
        assert!(numbers.iter().all(|number| *number != *seal_key(&secret)) && *seal_key(&secret) != *seal_key(&[8; 32]));
    }

    #[test]
    fn a_key_is_in_no_message() {
        let key = Key::new([0xAB; 32]);
        let text = format!("{key:?}");
        assert!(!text.contains("ab") && !text.contains("171"), "{text}");
    }

    /// RFC 5869, appendix A.1, the first 32 bytes.
    #[test]
    fn derivation_is_hkdf() {
        let salt: Vec<u8> = (0..13).collect();
        let info: Vec<u8> = (0xF0..0xFA).collect();
        let out: [u8; 32] = derive(&salt, &[0x0B; 22], &info);
        assert_eq!(out[..8], [0x3C, 0xB2, 0x5F, 0x25, 0xFA, 0xAC, 0xD5, 0x7A]);
    }
}
