// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Pages that servers can neither read, nor change, nor give back old: AES-128 in Galois/counter mode, with what proves a page kept here.
//!
//! The nonce is the page's number among all and its *version*, which grows each time that the page is sealed, acknowledged or not. So no
//! nonce is used for two contents: numbers of pages are never used again, the key is this process's own, and a child of `fork`, which has
//! no pager, finds zeros in its place. Both servers of a page get the same bytes, and a write that is repeated is the same, too. A page of
//! another place, of another time, or with a bit changed does not have the tag of its last version.
//!
//! [`Seals::open`] is for the fault path: it allocates nothing, takes no lock, and looks at nothing but its arguments, the key and the
//! version. What the processor can do was looked up when the key was made.

use std::io;

use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{Aes128Gcm, KeyInit, Nonce, Tag};

use crate::PAGE_SIZE;
use crate::kernel;
use crate::version::Version;

/// The key, and the versions of all pages.
pub struct Seals {
    cipher: &'static Aes128Gcm,
    versions: &'static [Version],
}

impl std::fmt::Debug for Seals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seals(..)")
    }
}

impl Seals {
    /// With the key of this process, and a version for each page.
    ///
    /// # Errors
    /// If there is no memory for the key.
    pub fn new(key: &[u8; 16], versions: &'static [Version]) -> io::Result<Seals> {
        Ok(Seals { cipher: kernel::secret(Aes128Gcm::new(key.into()))?, versions })
    }

    /// Evictor: seals a page's next version, in place. One thread at a time.
    pub fn seal(&self, page: u32, content: &mut [u8]) {
        debug_assert!(content.len() == PAGE_SIZE);
        let version = &self.versions[page as usize];
        let tag = self.cipher.encrypt_inout_detached(&nonce(page, version.next()), &[], InOutBuf::from(content));
        // Fails only for more than 64 GB.
        version.set_tag(tag.expect("a page is not too long").into());
    }

    /// Fault path: opens a page, in place. False if it is not what was sealed last; it stays as it is then.
    #[must_use]
    pub fn open(&self, page: u32, content: &mut [u8]) -> bool {
        let Some((version, tag)) = self.versions.get(page as usize).and_then(Version::last) else { return false };
        self.cipher.decrypt_inout_detached(&nonce(page, version), &[], InOutBuf::from(content), &Tag::from(tag)).is_ok()
    }

    /// Fault path: opens pages that follow each other, in place. The first that is not what was sealed last, as its place among them.
    ///
    /// # Errors
    /// Its place among them.
    pub fn open_all(&self, first: u32, contents: &mut [u8]) -> Result<(), u32> {
        let wrong = contents.chunks_exact_mut(PAGE_SIZE).zip(0..).find_map(|(content, at)| (!self.open(first + at, content)).then_some(at));
        wrong.map_or(Ok(()), Err)
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
        Seals::new(&[key; 16], Box::leak((0..4).map(|_| Version::default()).collect())).unwrap()
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

    #[test]
    fn of_pages_that_follow_each_other_the_first_wrong_one_is_named() {
        let seals = seals(1);
        let mut run: Vec<u8> = (0..4).flat_map(|number| sealed(&seals, number, number as u8)).collect();
        run[2 * PAGE_SIZE + 5] ^= 1;
        assert_eq!(seals.open_all(0, &mut run.clone()), Err(2));
        assert_eq!(seals.open_all(1, &mut run.clone()[PAGE_SIZE..2 * PAGE_SIZE]), Ok(()));
        assert_eq!(seals.open_all(0, &mut run.clone()[PAGE_SIZE..2 * PAGE_SIZE]), Err(0));
        assert!(seals.open_all(0, &mut run[..2 * PAGE_SIZE]).is_ok() && run[..2 * PAGE_SIZE] == [page(0), page(1)].concat());
    }

    /// By the kernel's account: in no core dump, locked, and zeros in a child of fork.
    #[test]
    fn the_key_is_where_nobody_else_finds_it() {
        let seals = seals(1);
        let at = std::ptr::from_ref(seals.cipher).addr();
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        let flags = maps.lines().find_map(|line| {
            let range = line.split(' ').next().and_then(|word| word.split_once('-'));
            let number = |hex: &str| usize::from_str_radix(hex, 16).ok();
            if let Some((Some(from), Some(to))) = range.map(|(from, to)| (number(from), number(to))) {
                inside = (from..to).contains(&at);
            }
            line.strip_prefix("VmFlags:").filter(|_| inside)
        });
        let flags: Vec<&str> = flags.unwrap().split_whitespace().collect();
        for flag in ["dd", "wf", "lo"] {
            assert!(flags.contains(&flag), "{flag} is not in {flags:?}");
        }
    }
}
