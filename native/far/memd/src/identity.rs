// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who may use the server, and how much of it: one identity for each key, or one for everybody where no key is asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use lull_far_auth::{Entry, Key};

/// Who has a key.
#[derive(Debug)]
pub struct Identity {
    /// What the server's file calls it.
    pub name: String,
    /// Its place in [`Identities`]: clients of two identities are never the same, whatever their numbers.
    pub index: usize,
    /// None: of everybody.
    pub key: Option<Key>,
    /// The key's number, made once: a stranger's PROVE costs the search and one proof.
    id: Option<[u8; 16]>,
    /// What it may have.
    pub limits: Limits,
    bytes: AtomicU64,
    connections: AtomicUsize,
}

/// What an identity may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, in all regions of all its clients.
    pub memory: u64,
    /// Connections of all its clients at once.
    pub connections: usize,
}

impl Limits {
    const NONE: Limits = Limits { memory: u64::MAX, connections: usize::MAX };
}

/// All identities of a server.
#[derive(Debug)]
pub struct Identities(Vec<Arc<Identity>>);

impl Identities {
    /// Of the keys of a server's file; without any, one of everybody.
    ///
    /// # Errors
    /// A word that grants nothing that is known here.
    pub fn new(entries: &[Entry]) -> Result<Identities, String> {
        if entries.is_empty() {
            return Ok(Identities(vec![Arc::new(Identity::new("everybody", 0, None, Limits::NONE))]));
        }
        let identity = |(index, entry): (usize, &Entry)| {
            let limits = limits(entry)?;
            Ok(Arc::new(Identity::new(&entry.name, index, Some(entry.key.clone()), limits)))
        };
        Ok(Identities(entries.iter().enumerate().map(identity).collect::<Result<_, String>>()?))
    }

    /// The one of everybody, if no key is asked for.
    #[must_use]
    pub fn of_everybody(&self) -> Option<&Arc<Identity>> {
        self.0.first().filter(|identity| identity.key.is_none())
    }

    /// The one that has the key of this number, and the key.
    #[must_use]
    pub fn with_key(&self, id: &[u8; 16]) -> Option<(&Arc<Identity>, &Key)> {
        let identity = self.0.iter().find(|identity| identity.id == Some(*id))?;
        Some((identity, identity.key.as_ref()?))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Identity> {
        self.0.iter().map(|identity| &**identity)
    }
}

fn limits(entry: &Entry) -> Result<Limits, String> {
    let mut limits = Limits::NONE;
    for (word, value) in &entry.grants {
        let bad = |why: &dyn std::fmt::Display| format!("the key {} is granted {word}={value}: {why}", entry.name);
        match &word[..] {
            "memory" => {
                let parsed = parse_size::Config::new().with_binary().parse_size(value);
                limits.memory = parsed.map_err(|error| bad(&format!("{error}; say a number of bytes, or one with k, m, g or t")))?;
            }
            "connections" => {
                let parsed = value.parse().ok().filter(|&count| count > 0);
                limits.connections = parsed.ok_or_else(|| bad(&"say a number of 1 or more"))?;
            }
            _ => return Err(bad(&"memory=SIZE and connections=N can be granted")),
        }
    }
    Ok(limits)
}

impl Identity {
    fn new(name: &str, index: usize, key: Option<Key>, limits: Limits) -> Identity {
        let id = key.as_ref().map(Key::id);
        Identity { name: name.to_owned(), index, key, id, limits, bytes: AtomicU64::new(0), connections: AtomicUsize::new(0) }
    }

    /// Bytes that its regions have.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Its connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Takes so many bytes out of what it may have, until the result is dropped.
    ///
    /// # Errors
    /// How many it has already.
    pub fn charge(self: &Arc<Self>, bytes: u64) -> Result<Charge, u64> {
        // Only a count: the memory itself is handed out under the arena's lock.
        let enough = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limits.memory);
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough)?;
        Ok(Charge { identity: Arc::clone(self), bytes })
    }

    /// One connection more, until the result is dropped. None if it has as many as it may.
    #[must_use]
    pub fn connect(self: &Arc<Self>) -> Option<Connected> {
        let enough = |count: usize| Some(count + 1).filter(|&count| count <= self.limits.connections);
        self.connections.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough).ok()?;
        Some(Connected(Arc::clone(self)))
    }
}

/// Bytes that count for an identity.
#[derive(Debug)]
pub struct Charge {
    identity: Arc<Identity>,
    bytes: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.identity.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A connection that counts for an identity.
#[derive(Debug)]
pub struct Connected(Arc<Identity>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lull_far_auth::file::parse;

    const KEY: &str = "0011223344556677889900112233445566778899001122334455667788990011";

    #[test]
    fn what_is_granted_is_read_from_the_line() {
        let of = |grants: &str| Identities::new(&parse(&format!("a {KEY} {grants}")).unwrap());
        assert_eq!(of("").unwrap().0[0].limits, Limits::NONE);
        let both = Limits { memory: 3 << 30, connections: 12 };
        assert_eq!(of("connections=12 memory=3g").unwrap().0[0].limits, both);
        for (grants, why) in [
            ("memory=much", "the key a is granted memory=much: "),
            ("connections=0", "say a number of 1 or more"),
            ("threads=3", "memory=SIZE and connections=N can be granted"),
        ] {
            assert!(of(grants).unwrap_err().contains(why), "{grants}");
        }
    }

    #[test]
    fn nobody_gets_more_than_is_granted() {
        let identities = Identities::new(&parse(&format!("a {KEY} memory=10k connections=2")).unwrap()).unwrap();
        let one = &identities.0[0];
        let first = one.charge(6 << 10).unwrap();
        assert_eq!(one.charge(5 << 10).unwrap_err(), 6 << 10);
        assert_eq!(one.charge(u64::MAX).unwrap_err(), 6 << 10);
        let second = one.charge(4 << 10).unwrap();
        drop((first, second));
        assert_eq!(one.bytes(), 0);
        let both = (one.connect().unwrap(), one.connect().unwrap());
        assert!(one.connect().is_none());
        drop(both);
        assert!(one.connect().is_some() && one.connections() == 0);
    }
}
