// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Pages that servers can neither read, nor change, nor give back old: AES-128 in Galois/counter mode, with what proves a page kept here.
//!
//! The nonce is the page's number among all and its *version*, which grows each time that the page is sealed, acknowledged or not. So no
//! nonce is used for two contents: numbers of pages are never used again, and the key is this process's own. Both servers of a page get the
//! same bytes, and a write that is repeated is the same, too. A page of another place, of another time, or with a bit changed does not have
//! the tag of its last version.
//!
//! Who writes a cell, and who reads it: the evictor does, under the lock of the channels for writes, while the page is Writing. Whoever
//! fetches the page has made it Busy, or Coming, from Absent, which the evictor made it afterwards; who copies it to a server that comes back
//! holds the same lock. Each of them acquires what the evictor has released, so the words are relaxed.
//!
//! [`Seals::open`] is for the fault path: it allocates nothing, takes no lock, and looks at nothing but its arguments and the cell.

use std::sync::atomic::{AtomicU64, Ordering};

use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{Aes128Gcm, KeyInit, Nonce, Tag};

use crate::PAGE_SIZE;

/// What is kept of each page: all zeros, a page that was never sealed.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Cell {
    version: AtomicU64,
    tag: [AtomicU64; 2],
}

/// The key, and the cells of all pages.
pub struct Seals {
    cipher: Aes128Gcm,
    cells: &'static [Cell],
}

impl std::fmt::Debug for Seals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seals(..)")
    }
}

impl Seals {
    /// With the key of this process, and a cell for each page.
    pub fn new(key: &[u8; 16], cells: &'static [Cell]) -> Seals {
        Seals { cipher: Aes128Gcm::new(key.into()), cells }
    }

    /// Evictor: seals a page's next version, in place. One thread at a time.
    pub fn seal(&self, page: u32, content: &mut [u8]) {
        debug_assert!(content.len() == PAGE_SIZE);
        let cell = &self.cells[page as usize];
        let version = cell.version.load(Ordering::Relaxed) + 1;
        cell.version.store(version, Ordering::Relaxed);
        let tag = self.cipher.encrypt_inout_detached(&nonce(page, version), &[], InOutBuf::from(content));
        // Fails only for more than 64 GB.
        let tag: [u8; 16] = tag.expect("a page is not too long").into();
        for (word, bytes) in cell.tag.iter().zip(tag.as_chunks::<8>().0) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// Fault path: opens a page, in place. False if it is not what was sealed last; it stays as it is then.
    #[must_use]
    pub fn open(&self, page: u32, content: &mut [u8]) -> bool {
        let Some(cell) = self.cells.get(page as usize) else { return false };
        let version = cell.version.load(Ordering::Relaxed);
        let mut tag = [0; 16];
        for (bytes, word) in tag.as_chunks_mut::<8>().0.iter_mut().zip(&cell.tag) {
            *bytes = word.load(Ordering::Relaxed).to_le_bytes();
        }
        version > 0 && self.cipher.decrypt_inout_detached(&nonce(page, version), &[], InOutBuf::from(content), &Tag::from(tag)).is_ok()
    }
}

fn nonce(page: u32, version: u64) -> Nonce<aes_gcm::aead::consts::U12> {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&page.to_le_bytes());
    bytes[4..].copy_from_slice(&version.to_le_bytes());
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seals(key: u8) -> Seals {
        Seals::new(&[key; 16], Box::leak((0..4).map(|_| Cell::default()).collect()))
    }

    fn page(byte: u8) -> Vec<u8> {
        (0..PAGE_SIZE).map(|at| byte.wrapping_add((at / 64) as u8)).collect()
    }

    fn sealed(seals: &Seals, number: u32, byte: u8) -> Vec<u8> {
        let mut content = page(byte);
        seals.seal(number, &mut content);
        content
    }

    #[test]
    fn what_was_sealed_last_is_opened_and_nothing_else() {
        let seals = seals(1);
        let (old, other) = (sealed(&seals, 0, 7), sealed(&seals, 1, 7));
        let new = sealed(&seals, 0, 7);
        // The same content is other bytes at each place and time.
        assert!(old != new && old != other && new != other && new != page(7));
        for (what, bytes) in [("old", &old), ("another's", &other), ("not sealed", &page(7)), ("zeros", &vec![0; PAGE_SIZE])] {
            let mut bytes = bytes.clone();
            assert!(!seals.open(0, &mut bytes), "{what}");
        }
        for bit in [0, 1, PAGE_SIZE * 4, PAGE_SIZE * 8 - 1] {
            let mut changed = new.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let before = changed.clone();
            assert!(!seals.open(0, &mut changed) && changed == before, "bit {bit}");
        }
        let (mut here, mut there) = (new.clone(), other.clone());
        assert!(seals.open(0, &mut here) && seals.open(1, &mut there) && here == page(7) && there == page(7));
        // What was never sealed, and what is no page of ours.
        assert!(!seals.open(2, &mut new.clone()) && !seals.open(4, &mut new.clone()));
    }

    #[test]
    fn another_key_opens_nothing() {
        let (ours, theirs) = (seals(1), seals(2));
        let mut content = sealed(&ours, 0, 7);
        let _ = sealed(&theirs, 0, 7);
        assert!(!theirs.open(0, &mut content));
    }

    /// All of both numbers is in it: two pages, or two versions, never share one.
    #[test]
    fn the_nonce_is_the_page_and_its_version() {
        let bytes: [u8; 12] = nonce(0x0403_0201, 0x0C0B_0A09_0807_0605).into();
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }
}
