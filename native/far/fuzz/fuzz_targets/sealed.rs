// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Sealed pages against a server that gives back whatever it likes of what it was ever given: a page is opened if it is what was sealed last
//! at this place, and only then; it is what it was before.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use lull_far::PAGE_SIZE;
use lull_far::seal::Seals;
use lull_far::version::Version;

const PAGES: u32 = 4;

/// One for all inputs, as a process has one: versions go on, and what was given in an input before is of none now.
static SEALS: LazyLock<Seals> =
    LazyLock::new(|| Seals::new(&[7; 16], Box::leak((0..PAGES).map(|_| Version::default()).collect())).unwrap());

/// What a server was given: the page, its bytes, and what they were.
struct Given {
    page: u32,
    sealed: Vec<u8>,
    plain: Vec<u8>,
}

fn content(byte: u8) -> Vec<u8> {
    (0..PAGE_SIZE).map(|at| byte ^ (at / 512) as u8).collect()
}

fuzz_target!(|input: &[u8]| {
    let mut given: Vec<Given> = Vec::new();
    let mut last: [Option<usize>; PAGES as usize] = [None; PAGES as usize];
    for step in input.chunks_exact(4).take(64) {
        let page = u32::from(step[0]) % PAGES;
        if step[0] & 0x80 != 0 {
            let plain = content(step[1]);
            let mut sealed = plain.clone();
            SEALS.seal(page, &mut sealed);
            assert!(given.iter().all(|before| before.sealed != sealed), "the same bytes twice");
            last[page as usize] = Some(given.len());
            given.push(Given { page, sealed, plain });
            continue;
        }
        let Some(which) = (usize::from(step[1])).checked_rem(given.len()) else { continue };
        let mut bytes = given[which].sealed.clone();
        // A bit of it, or none.
        let bit = usize::from(u16::from_le_bytes([step[2], step[3]])) % (PAGE_SIZE * 8 * 2);
        let whole = bit >= PAGE_SIZE * 8;
        if !whole {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        let before = bytes.clone();
        let right = whole && given[which].page == page && last[page as usize] == Some(which);
        assert_eq!(SEALS.open(page, &mut bytes), right);
        assert!(bytes == if right { &given[which].plain } else { &before }[..]);
    }
});
