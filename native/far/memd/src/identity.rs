// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who may use the server, and how much of it: one identity for each key, or one for everybody where no key is asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

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
    cycles: AtomicUsize,
    trace_bytes: AtomicU64,
    trace_threads: AtomicUsize,
}

/// What an identity may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, in all regions of all its clients.
    pub memory: u64,
    /// Connections of all its clients at once.
    pub connections: usize,
    /// Cycles of tracing of all its clients at once.
    pub cycles: usize,
    /// Bytes of memory that all of them take, beside the regions.
    pub trace_memory: u64,
    /// Threads of all of them: one for each cycle, and one for each other server of it.
    pub trace_threads: usize,
}

impl Limits {
    const NONE: Limits =
        Limits { memory: u64::MAX, connections: usize::MAX, cycles: usize::MAX, trace_memory: u64::MAX, trace_threads: usize::MAX };
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
        let size = || {
            let parsed = parse_size::Config::new().with_binary().parse_size(value);
            parsed.map_err(|error| bad(&format!("{error}; say a number of bytes, or one with k, m, g or t")))
        };
        let number = |least: usize| {
            let parsed = value.parse().ok().filter(|&count| count >= least);
            parsed.ok_or_else(|| bad(&format!("say a number of {least} or more")))
        };
        match &word[..] {
            "memory" => limits.memory = size()?,
            "connections" => limits.connections = number(1)?,
            "cycles" => limits.cycles = number(0)?,
            "trace-memory" => limits.trace_memory = size()?,
            "trace-threads" => limits.trace_threads = number(0)?,
            _ => return Err(bad(&"memory=SIZE, connections=N, cycles=N, trace-memory=SIZE and trace-threads=N can be granted")),
        }
    }
    Ok(limits)
}

impl Identity {
    fn new(name: &str, index: usize, key: Option<Key>, limits: Limits) -> Identity {
        let id = key.as_ref().map(Key::id);
        Identity {
            name: name.to_owned(),
            index,
            key,
            id,
            limits,
            bytes: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            cycles: AtomicUsize::new(0),
            trace_bytes: AtomicU64::new(0),
            trace_threads: AtomicUsize::new(0),
        }
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

    /// Cycles of tracing that were begun and are not over.
    #[must_use]
    pub fn cycles(&self) -> usize {
        self.cycles.load(Ordering::Relaxed)
    }

    /// Bytes that these take beside the regions, and those that are over and have not given theirs back yet.
    #[must_use]
    pub fn trace_bytes(&self) -> u64 {
        self.trace_bytes.load(Ordering::Relaxed)
    }

    /// Threads of these.
    #[must_use]
    pub fn trace_threads(&self) -> usize {
        self.trace_threads.load(Ordering::Relaxed)
    }

    /// One cycle more, which begins with so many bytes, until it is over.
    ///
    /// # Errors
    /// What of it would be more than it may have.
    pub fn trace(self: &Arc<Self>, bytes: u64) -> Result<Traced, String> {
        let (name, limits) = (&self.name, &self.limits);
        let enough = |count: usize| Some(count + 1).filter(|&count| count <= limits.cycles);
        if self.cycles.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough).is_err() {
            let most = limits.cycles;
            return Err(format!("the key {name} is granted {most} cycles of tracing at once: end one before another"));
        }
        let traced = Traced { identity: Arc::clone(self), bytes: AtomicU64::new(0), counts: AtomicBool::new(true) };
        traced.resize(bytes)?;
        Ok(traced)
    }

    /// So many threads more, each until its own is dropped. None of them, and how many there are, if that is more than it may have.
    ///
    /// # Errors
    /// How many it has.
    pub fn threads(self: &Arc<Self>, count: usize) -> Result<Vec<TraceThread>, String> {
        let most = self.limits.trace_threads;
        let enough = |now: usize| now.checked_add(count).filter(|&all| all <= most);
        match self.trace_threads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enough) {
            Ok(_) => Ok((0..count).map(|_| TraceThread(Arc::clone(self))).collect()),
            Err(now) => {
                let name = &self.name;
                Err(format!(
                    "the key {name} is granted {most} threads to trace with: {now} are there, some perhaps about to end, and {count} are needed"
                ))
            }
        }
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

/// What a cycle counts for its identity.
#[derive(Debug)]
pub struct Traced {
    identity: Arc<Identity>,
    bytes: AtomicU64,
    /// Until it is over.
    counts: AtomicBool,
}

impl Traced {
    /// It has so many bytes now. Written by the cycle's tracing thread alone.
    ///
    /// # Errors
    /// All cycles together have more than they may: in words. What it had counts on.
    pub fn resize(&self, bytes: u64) -> Result<(), String> {
        let before = self.bytes.load(Ordering::Relaxed);
        let most = self.identity.limits.trace_memory;
        let change = |all: u64| (all - before).checked_add(bytes).filter(|&sum| bytes <= before || sum <= most);
        if self.identity.trace_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change).is_err() {
            let name = &self.identity.name;
            return Err(format!("the key {name} is granted {most} bytes of memory to trace with, and this cycle alone needs {bytes} now"));
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// The cycle is over: another one may begin, though its memory is there for a while.
    pub fn end(&self) {
        if self.counts.swap(false, Ordering::Relaxed) {
            self.identity.cycles.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        self.end();
        self.identity.trace_bytes.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

/// A thread that counts for an identity.
#[derive(Debug)]
pub struct TraceThread(Arc<Identity>);

impl Drop for TraceThread {
    fn drop(&mut self) {
        self.0.trace_threads.fetch_sub(1, Ordering::Relaxed);
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
        let both = Limits { memory: 3 << 30, connections: 12, ..Limits::NONE };
        assert_eq!(of("connections=12 memory=3g").unwrap().0[0].limits, both);
        let traces = Limits { cycles: 0, trace_memory: 64 << 20, trace_threads: 7, ..Limits::NONE };
        assert_eq!(of("cycles=0 trace-memory=64m trace-threads=7").unwrap().0[0].limits, traces);
        for (grants, why) in [
            ("memory=much", "the key a is granted memory=much: "),
            ("connections=0", "say a number of 1 or more"),
            ("trace-threads=-1", "say a number of 0 or more"),
            ("trace-memory=some", "the key a is granted trace-memory=some: "),
            ("threads=3", "memory=SIZE, connections=N, cycles=N, trace-memory=SIZE and trace-threads=N can be granted"),
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

    #[test]
    fn tracing_takes_no_more_than_is_granted() {
        let identities = Identities::new(&parse(&format!("a {KEY} cycles=2 trace-memory=10k trace-threads=3")).unwrap()).unwrap();
        let one = &identities.0[0];
        let (first, second) = (one.trace(4 << 10).unwrap(), one.trace(4 << 10).unwrap());
        assert!(one.trace(0).unwrap_err().contains("the key a is granted 2 cycles of tracing at once"));
        first.resize(6 << 10).unwrap();
        let text = second.resize(5 << 10).unwrap_err();
        assert_eq!(text, "the key a is granted 10240 bytes of memory to trace with, and this cycle alone needs 5120 now");
        // What is over counts with its memory until that is given back.
        second.end();
        assert_eq!((one.cycles(), one.trace_bytes()), (1, 10 << 10));
        assert!(one.trace(1).is_err() && one.cycles() == 1);
        second.resize(0).unwrap();
        let third = one.trace(4 << 10).unwrap();
        let threads = one.threads(3).unwrap();
        assert!(one.threads(1).unwrap_err().contains("3 are there"));
        drop((first, second, third, threads));
        assert_eq!((one.cycles(), one.trace_bytes(), one.trace_threads()), (0, 0, 0));
    }
}
