// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What operators write, against any text: a file of keys, what it grants, and networks. A text that is taken says what it seems to say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lull_far_auth::file::parse;
use lull_memd::Network;
use lull_memd::identity::Identities;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(network) = text.parse::<Network>() {
        let address = text.split('/').next().unwrap_or_default();
        assert!(network.contains(address.parse().unwrap()), "{text} is not in itself");
    }
    let Ok(entries) = parse(text) else { return };
    for entry in &entries {
        let line = text.lines().find(|line| line.split_whitespace().next() == Some(&entry.name)).unwrap();
        assert_eq!(line.split_whitespace().nth(1).map(str::len), Some(64));
        assert_eq!(line.split_whitespace().count(), 2 + entry.grants.len());
    }
    if let Ok(identities) = Identities::new(&entries) {
        assert_eq!(identities.iter().count(), entries.len().max(1));
        assert_eq!(identities.of_everybody().is_some(), entries.is_empty());
    }
});
