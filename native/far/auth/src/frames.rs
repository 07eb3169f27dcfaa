// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Frames that are encrypted, and proven to be what the other side has sent next: AES-128 in Galois/counter mode, behind the handshake of
//! [`crate::proof`].
//!
//! Each connection has a key for each direction, which is derived from the shared one, from what both sides have agreed upon for this connection
//! ([`crate::Share`]), both halves of that as they were said, and the last proof of the handshake. The nonce of a frame is its number in its direction, counted by both sides and never sent. So a frame of another connection, of the other
//! direction, of another place or time has not the tag that is expected, nor has one with a bit changed: the header is proven, too. Whatever
//! is wrong, nothing that comes behind it is taken ([`NotProven`]): nobody can know where the next frame begins, or which it is.
//!
//! A key has a bound, after which it encrypts nothing more ([`UsedUp`]). Clients renew a connection before that ([`Frames::is_worn`]).
//!
//! [`Frames::encrypt`] and [`Frames::decrypt`] are for the fault path, too: they allocate nothing, take no lock, and look at nothing but their
//! arguments and the keys. What the processor can do was looked up when the keys were made.

use std::fmt;

use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{Aes128Gcm, KeyInit, Nonce, Tag};
use lull_far_protocol::{HEADER_LEN, Header, Op, TAG_LEN, VERSION_ENCRYPTED};
use zeroize::Zeroizing;

use crate::key::{Key, Nonces, of_direction};

const TO_SERVER: &[u8] = b"lull-far 3 to server";
const TO_CLIENT: &[u8] = b"lull-far 3 to client";

/// A key that has encrypted so many blocks of 16 bytes, 64 GB, is to be renewed: at this bound an attacker who has seen them all tells what is
/// encrypted from chance with a probability of 2^-65.
const WORN: u64 = 1 << 32;

/// And so many are more than it may.
const MOST: u64 = 2 * WORN;

/// What a frame takes of that beside its payload: its header, lengths and tag.
const OF_FRAME: u64 = 4;

/// A frame is not the one that the other side has sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotProven;

impl fmt::Display for NotProven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "NOT_PROVEN: a frame is not the one that was sent next: it was changed, left out, repeated or put in another place on the way",
        )
    }
}

impl std::error::Error for NotProven {}

/// The key of a direction has encrypted as much as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsedUp;

impl fmt::Display for UsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key of this connection has encrypted as much as it may: open a new one")
    }
}

impl std::error::Error for UsedUp {}

/// Both directions, before somebody is one of the sides.
pub(crate) struct Ends {
    to_server: Direction,
    to_client: Direction,
}

impl Ends {
    pub(crate) fn new(key: &Key, nonces: &Nonces, agreed: &[u8; 32], said: &[u8; 32]) -> Ends {
        let direction = |info| Direction::new(&of_direction(key, nonces, agreed, info, said));
        Ends { to_server: direction(TO_SERVER), to_client: direction(TO_CLIENT) }
    }

    pub(crate) fn of_client(self) -> Frames {
        Frames { sends: self.to_server, receives: self.to_client }
    }

    pub(crate) fn of_server(self) -> Frames {
        Frames { sends: self.to_client, receives: self.to_server }
    }
}

/// What one side has of a connection. Belongs to who sends and receives over it: one thread at a time.
pub struct Frames {
    sends: Direction,
    receives: Direction,
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Frames(..)")
    }
}

impl Frames {
    /// Encrypts the payload of the next frame, in place. What goes before it, and what behind.
    ///
    /// # Errors
    /// [`UsedUp`]; the payload is as it was.
    pub fn encrypt(&mut self, op: Op, sequence: u64, region: u32, payload: &mut [u8]) -> Result<([u8; HEADER_LEN], [u8; TAG_LEN]), UsedUp> {
        let len = u32::try_from(payload.len()).map_err(|_| UsedUp)?;
        let head = Header { version: VERSION_ENCRYPTED, op, sequence, region, len, payload_crc: 0 }.bytes();
        let nonce = self.sends.next(len)?;
        // Fails only for more than 64 GB.
        let tag = self.sends.cipher.encrypt_inout_detached(&nonce, &head, InOutBuf::from(payload)).map_err(|_| UsedUp)?;
        Ok((head, tag.into()))
    }

    /// The same of a whole frame that was encoded as a plain one. Its checksum of the payload is not looked at. Not for the fault path.
    ///
    /// # Errors
    /// [`UsedUp`], also of what is no frame.
    pub fn encrypt_frame(&mut self, frame: &mut Vec<u8>) -> Result<(), UsedUp> {
        let (head, payload) = frame.split_first_chunk_mut::<HEADER_LEN>().ok_or(UsedUp)?;
        let plain = Header::decode(head).map_err(|_| UsedUp)?;
        let (encrypted, tag) = self.encrypt(plain.op, plain.sequence, plain.region, payload)?;
        *head = encrypted;
        frame.extend_from_slice(&tag);
        Ok(())
    }

    /// Decrypts what came behind a header, in place: a payload, whose length is returned, and what proves both.
    ///
    /// # Errors
    /// [`NotProven`], now and whenever something more is to be decrypted.
    pub fn decrypt(&mut self, header: &Header, bytes: &mut [u8]) -> Result<usize, NotProven> {
        let proven = self.receives.prove(header, bytes);
        if proven.is_err() {
            self.receives.blocks = u64::MAX;
        }
        proven
    }

    /// Whether the connection is to be renewed before long.
    #[must_use]
    pub fn is_worn(&self) -> bool {
        self.sends.blocks.max(self.receives.blocks) > WORN
    }

    /// For tests: as if so many blocks of 16 bytes had been sent.
    #[doc(hidden)]
    pub fn wear(&mut self, blocks: u64) {
        self.sends.blocks += blocks;
    }
}

/// The key of one direction, and what it was used for.
struct Direction {
    cipher: Aes128Gcm,
    /// The nonce of the frame 0.
    first: [u8; 12],
    frames: u64,
    blocks: u64,
}

impl Direction {
    fn new(derived: &Zeroizing<[u8; 32]>) -> Direction {
        let key: Zeroizing<[u8; 16]> = Zeroizing::new(std::array::from_fn(|at| derived[at]));
        let first = std::array::from_fn(|at| derived[16 + at]);
        Direction { cipher: Aes128Gcm::new((&*key).into()), first, frames: 0, blocks: 0 }
    }

    /// The nonce of the next frame, with a payload of so many bytes.
    fn next(&mut self, length: u32) -> Result<Nonce<aes_gcm::aead::consts::U12>, UsedUp> {
        let blocks = self.blocks.saturating_add(OF_FRAME + u64::from(length.div_ceil(16)));
        if blocks > MOST {
            return Err(UsedUp);
        }
        // No more than one frame for each block: the number is none that was used before.
        let mut nonce = self.first;
        nonce[4..].iter_mut().zip(self.frames.to_le_bytes()).for_each(|(byte, number)| *byte ^= number);
        self.frames += 1;
        self.blocks = blocks;
        Ok(nonce.into())
    }

    fn prove(&mut self, header: &Header, bytes: &mut [u8]) -> Result<usize, NotProven> {
        let length = header.len as usize;
        if header.version != VERSION_ENCRYPTED || bytes.len() != length + TAG_LEN {
            return Err(NotProven);
        }
        let (payload, tag) = bytes.split_at_mut(length);
        let nonce = self.next(header.len).map_err(|_| NotProven)?;
        let tag: [u8; TAG_LEN] = std::array::from_fn(|at| tag[at]);
        let head = header.bytes();
        self.cipher.decrypt_inout_detached(&nonce, &head, InOutBuf::from(payload), &Tag::from(tag)).map_err(|_| NotProven)?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonces(client: u8, server: u8) -> Nonces {
        Nonces { client: [client; 32], server: [server; 32] }
    }

    fn ends() -> (Frames, Frames) {
        let ends = || Ends::new(&Key::new([1; 32]), &nonces(2, 3), &[5; 32], &[4; 32]);
        (ends().of_client(), ends().of_server())
    }

    /// A frame as it is on the way.
    fn sent(by: &mut Frames, sequence: u64, payload: &[u8]) -> Vec<u8> {
        let mut payload = payload.to_vec();
        let (head, tag) = by.encrypt(Op::Error, sequence, 7, &mut payload).unwrap();
        [&head[..], &payload, &tag].concat()
    }

    /// What the other side makes of it.
    fn taken(by: &mut Frames, bytes: &[u8]) -> Option<(u64, Vec<u8>)> {
        let header = Header::decode_of(bytes.first_chunk()?, VERSION_ENCRYPTED).ok()?;
        let mut rest = bytes[HEADER_LEN..].to_vec();
        let length = by.decrypt(&header, &mut rest).ok()?;
        Some((header.sequence, rest[..length].to_vec()))
    }

    #[test]
    fn frames_arrive_in_both_directions_and_are_not_what_they_say() {
        let (mut client, mut server) = ends();
        for number in 1..100 {
            let (up, down) = (sent(&mut client, number, b"abcdefgh"), sent(&mut server, number, b"abcdefgh"));
            assert!(up != down && !up.windows(8).chain(down.windows(8)).any(|bytes| bytes == b"abcdefgh"));
            assert_eq!(taken(&mut server, &up), Some((number, b"abcdefgh".to_vec())));
            assert_eq!(taken(&mut client, &down), Some((number, b"abcdefgh".to_vec())));
        }
    }

    /// What may be done on the way, each to a right frame: nothing of it is taken, nor of what is right behind it.
    #[test]
    fn nothing_else_is_taken_and_nothing_behind_it() {
        let (mut client, _) = ends();
        let frames: Vec<Vec<u8>> = (0..3).map(|number| sent(&mut client, number, &[number as u8; 40])).collect();
        let flipped = |bit: usize| {
            let mut bytes = frames[0].clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if bit < 28 * 8 {
                let crc = lull_far_protocol::crc32c_of(&[&bytes[..28]]);
                bytes[28..32].copy_from_slice(&crc.to_le_bytes());
            }
            bytes
        };
        for bit in (0..frames[0].len() * 8).filter(|bit| !(28 * 8..32 * 8).contains(bit)) {
            let (_, mut server) = ends();
            let bytes = flipped(bit);
            if taken(&mut server, &bytes).is_some() {
                panic!("bit {bit} was changed, and nobody noticed");
            }
            // A header that is none was not passed on to be proven.
            let reached = Header::decode_of(bytes.first_chunk().unwrap(), VERSION_ENCRYPTED).is_ok();
            assert_eq!(taken(&mut server, &frames[0]).is_none(), reached, "bit {bit}");
        }
        for (what, harm) in [("left out", vec![1]), ("repeated", vec![0, 0]), ("in another order", vec![0, 2, 1])] {
            let (_, mut server) = ends();
            let came: Vec<_> = harm.iter().map_while(|&which: &usize| taken(&mut server, &frames[which])).collect();
            assert_eq!(came.len(), harm.len() - if what == "in another order" { 2 } else { 1 }, "{what}");
            assert!(frames.iter().all(|frame| taken(&mut server, frame).is_none()), "{what}: it goes on");
        }
        let (mut client, mut server) = ends();
        assert_eq!(taken(&mut client, &frames[0]), None, "sent back");
        let mut other = Ends::new(&Key::new([1; 32]), &nonces(2, 9), &[5; 32], &[4; 32]).of_client();
        assert_eq!(taken(&mut server, &sent(&mut other, 0, b"x")), None, "of another connection");
        let (_, mut server) = ends();
        assert_eq!(taken(&mut server, &frames[0][..frames[0].len() - 1]), None, "cut");
    }

    /// Each thing that both sides have said makes other keys.
    #[test]
    fn keys_are_of_the_whole_handshake() {
        let of = |key: u8, client: u8, server: u8, agreed: u8, said: u8| {
            let ends = Ends::new(&Key::new([key; 32]), &nonces(client, server), &[agreed; 32], &[said; 32]);
            sent(&mut ends.of_client(), 1, &[0; 64])
        };
        let all = [of(1, 2, 3, 5, 4), of(9, 2, 3, 5, 4), of(1, 9, 3, 5, 4), of(1, 2, 9, 5, 4), of(1, 2, 3, 9, 4), of(1, 2, 3, 5, 9)];
        assert!((1..6).all(|one| (0..one).all(|other| all[one] != all[other])));
    }

    #[test]
    fn a_key_has_a_bound() {
        let (mut client, mut server) = ends();
        client.wear(WORN - OF_FRAME);
        assert!(!client.is_worn());
        let last = sent(&mut client, 1, b"");
        assert!(!client.is_worn() && taken(&mut server, &last).is_some());
        sent(&mut client, 2, b"x");
        assert!(client.is_worn());
        client.wear(WORN - 10);
        assert_eq!(client.encrypt(Op::Fence, 3, 0, &mut [0; 17]), Err(UsedUp));
        assert_eq!(client.encrypt(Op::Fence, 3, 0, &mut []).map(|_| ()), Ok(()));
    }

    #[test]
    fn keys_are_in_no_message() {
        assert_eq!(format!("{:?}", ends().0), "Frames(..)");
    }
}
