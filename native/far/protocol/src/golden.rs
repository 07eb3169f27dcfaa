// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The golden frames (`tests/golden/*.hex`), for the tests of this crate, of the server and of the pager.

use alloc::vec::Vec;

macro_rules! golden {
    ($($name:literal)*; $($encrypted:literal)*) => {
        /// The names of all golden frames that are as they are.
        pub const NAMES: &[&str] = &[$($name,)*];

        /// The names of those that are encrypted, in the order of their connection, those of the client first.
        pub const ENCRYPTED: &[&str] = &[$($encrypted,)*];

        fn text(name: &str) -> Option<&'static str> {
            match name {
                $($name => Some(include_str!(concat!("../tests/golden/", $name, ".hex"))),)*
                $($encrypted => Some(include_str!(concat!("../tests/golden/", $encrypted, ".hex"))),)*
                _ => None,
            }
        }
    };
}

golden! {
    "hello-control" "hello-fetch" "hello-write" "hello-ack" "region-map" "region-mapped" "write" "write-ack" "fetch" "data"
    "fence" "fence-ack" "discard" "discard-ack" "heartbeat" "heartbeat-ack" "error" "region-unmap" "region-unmapped" "bye" "leave"
    "hello-peer" "layout" "need-layout" "trace-start" "trace-roots" "ghost" "ghost-ack" "poll" "status" "trace-end" "live-stats"
    "read-bitmap" "bitmap" "read-discovered" "discovered" "trace-old" "read-lines" "lines" "read-live" "live"
    "hello-key" "challenge" "prove" "proved";
    "encrypted-fetch" "encrypted-heartbeat" "encrypted-data" "encrypted-heartbeat-ack"
}

/// The bytes of a golden frame.
///
/// # Panics
/// If there is no frame of that name: this is for tests.
#[must_use]
pub fn frame(name: &str) -> Vec<u8> {
    let text = text(name).unwrap_or_else(|| panic!("no golden frame {name:?}"));
    let digits: Vec<u8> = text.bytes().filter_map(|c| char::from(c).to_digit(16)).map(|d| d as u8).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The pattern in the pages of the golden frames.
#[must_use]
pub fn page(number: u64) -> Vec<u8> {
    (0..crate::PAGE_SIZE as u64).map(|i| (number * 131 + i * 7 + (i >> 8)) as u8).collect()
}
