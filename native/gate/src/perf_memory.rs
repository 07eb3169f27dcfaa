// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The VM's performance counters (`jstat`'s), read where they lie: `PerfMemory::_start` is exported in the VM's tables of its
//! own structures, so that it works with `-XX:+PerfDisableSharedMem` too. With `-XX:-UsePerfData` there are none.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicI64, Ordering};

const MAGIC: u32 = 0xcafe_c0c0;
const PROLOGUE: usize = 32;
const ENTRY: usize = 20;
/// No VM has this many; a count beyond is not a count.
const MOST_ENTRIES: u32 = 100_000;

/// A counter's place and type in the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// A long, at this offset; a multiple of 8.
    Long(usize),
    /// A string.
    Text(String),
}

/// The counters of the VM that this library is in.
#[derive(Debug)]
pub struct PerfMemory {
    start: *const u8,
    entries: HashMap<String, Entry>,
}

// SAFETY: the memory is never unmapped, and longs in it are read atomically.
unsafe impl Send for PerfMemory {}

/// One counter that can be read at any time until the VM ends.
#[derive(Debug, Clone, Copy)]
pub struct Counter(*const AtomicI64);

// SAFETY: as above.
unsafe impl Send for Counter {}
// SAFETY: as above.
unsafe impl Sync for Counter {}

impl Counter {
    /// A counter of one's own.
    pub fn of(value: &'static AtomicI64) -> Counter {
        Counter(value)
    }

    /// Its value now.
    pub fn get(self) -> i64 {
        // SAFETY: aligned, inside the memory, which the VM maps for as long as it lives.
        unsafe { &*self.0 }.load(Ordering::Relaxed)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn text(bytes: &[u8], at: usize, end: usize) -> Option<String> {
    let bytes = bytes.get(at..end)?;
    let length = bytes.iter().position(|&b| b == 0)?;
    String::from_utf8(bytes[..length].to_vec()).ok()
}

/// Reads the whole memory's entries. What does not have the form of a counter ends the list: the VM may be adding one.
fn parse(bytes: &[u8]) -> Result<HashMap<String, Entry>, String> {
    let magic = word(bytes, 0).unwrap_or(0);
    if u32::from_be(magic) != MAGIC {
        return Err(format!("the VM's counters begin with {:#010x}, not with {MAGIC:#010x}", u32::from_be(magic)));
    }
    if bytes.len() < PROLOGUE || bytes[5] != 2 {
        return Err(format!("the VM's counters are of version {}, not 2", bytes.get(5).copied().unwrap_or(0)));
    }
    let mut at = word(bytes, 24).unwrap_or(0) as usize;
    let count = word(bytes, 28).unwrap_or(0).min(MOST_ENTRIES);
    let mut entries = HashMap::new();
    for _ in 0..count {
        let Some(length) = word(bytes, at).map(|n| n as usize).filter(|&n| n >= ENTRY && at + n <= bytes.len()) else { break };
        let entry = &bytes[at..at + length];
        let field = |offset| word(entry, offset).unwrap_or(0) as usize;
        let (name_at, vector, data_at) = (field(4), field(8), field(16));
        if let Some(name) = text(entry, name_at, length) {
            match (entry[12], vector) {
                (b'J', 0) if data_at + 8 <= length && (at + data_at).is_multiple_of(8) => {
                    entries.insert(name, Entry::Long(at + data_at));
                }
                (b'B', 1..) => {
                    if let Some(value) = text(entry, data_at, length) {
                        entries.insert(name, Entry::Text(value));
                    }
                }
                _ => {}
            }
        }
        at += length;
    }
    Ok(entries)
}

/// Panics if these bytes give a counter that lies outside them.
#[cfg(any(test, fuzzing))]
pub(crate) fn check_parse(bytes: &[u8]) {
    for entry in parse(bytes).unwrap_or_default().values() {
        if let Entry::Long(offset) = entry {
            assert!(offset.is_multiple_of(8) && offset + 8 <= bytes.len());
        }
    }
}

/// One of the symbols by which the VM describes itself (vmStructs.hpp).
unsafe fn exported<T: Copy>(library: *mut c_void, name: &CStr) -> Option<T> {
    // SAFETY: a handle of dlopen and a name with a zero at its end.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    // SAFETY: these symbols are variables of the type that the caller names.
    (!address.is_null()).then(|| unsafe { *address.cast::<T>() })
}

/// Whether a library is HotSpot's: whether it describes its structures.
///
/// # Safety
/// `library` is a handle of `dlopen`.
pub unsafe fn is_hotspot(library: *mut c_void) -> bool {
    // SAFETY: as demanded.
    unsafe { exported::<*const u8>(library, c"gHotSpotVMStructs") }.is_some()
}

/// The address of a static field that the VM describes.
unsafe fn static_field(library: *mut c_void, class: &CStr, field: &CStr) -> Option<*const c_void> {
    // SAFETY: variables of these types, if they are there.
    let (mut entry, class_at, field_at, address_at, stride) = unsafe {
        (
            exported::<*const u8>(library, c"gHotSpotVMStructs")?,
            exported::<u64>(library, c"gHotSpotVMStructEntryTypeNameOffset")? as usize,
            exported::<u64>(library, c"gHotSpotVMStructEntryFieldNameOffset")? as usize,
            exported::<u64>(library, c"gHotSpotVMStructEntryAddressOffset")? as usize,
            exported::<u64>(library, c"gHotSpotVMStructEntryArrayStride")? as usize,
        )
    };
    // SAFETY: an array of such entries, ended by one without names; all in the library's constant data.
    unsafe {
        loop {
            let class_name = *entry.add(class_at).cast::<*const c_char>();
            let field_name = *entry.add(field_at).cast::<*const c_char>();
            if class_name.is_null() || field_name.is_null() {
                return None;
            }
            if CStr::from_ptr(class_name) == class && CStr::from_ptr(field_name) == field {
                let address = *entry.add(address_at).cast::<*const c_void>();
                return (!address.is_null()).then_some(address);
            }
            entry = entry.add(stride);
        }
    }
}

impl PerfMemory {
    /// Finds the counters of the VM in `library`, once it is initialised.
    ///
    /// # Errors
    /// A sentence that says why there are none: turned off, or of a form that is not known.
    ///
    /// # Safety
    /// `library` is a handle of `dlopen` of the VM's library.
    pub unsafe fn find(library: *mut c_void) -> Result<PerfMemory, String> {
        // SAFETY: as demanded; static fields of the types that vmStructs.cpp gives.
        let (start, capacity) = unsafe {
            let start = static_field(library, c"PerfMemory", c"_start").ok_or("the VM does not say where its counters are")?;
            let capacity = static_field(library, c"PerfMemory", c"_capacity").ok_or("the VM does not say how many counters it has")?;
            (*start.cast::<*const u8>(), *capacity.cast::<usize>())
        };
        if start.is_null() || capacity < PROLOGUE {
            return Err("the VM has no counters (-XX:-UsePerfData)".to_string());
        }
        // A copy, for the VM writes to it meanwhile.
        // SAFETY: mapped in this length; each byte is read once.
        let copy: Vec<u8> = (0..capacity).map(|i| unsafe { start.add(i).read_volatile() }).collect();
        Ok(PerfMemory { start, entries: parse(&copy)? })
    }

    /// The counter of that name, for instance `sun.rt.safepoints`.
    pub fn counter(&self, name: &str) -> Option<Counter> {
        match self.entries.get(name)? {
            // SAFETY: inside the memory, as parse() has checked.
            Entry::Long(offset) => Some(Counter(unsafe { self.start.add(*offset) }.cast())),
            Entry::Text(_) => None,
        }
    }

    /// The string of that name as it was when the counters were found, for instance `sun.gc.policy.name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.entries.get(name)? {
            Entry::Text(value) => Some(value),
            Entry::Long(_) => None,
        }
    }

    /// All longs whose name begins and ends like this, in the order of their names.
    pub fn counters(&self, begin: &str, end: &str) -> Vec<(&str, Counter)> {
        let mut found: Vec<_> = self
            .entries
            .keys()
            .filter(|name| name.starts_with(begin) && name.ends_with(end))
            .filter_map(|name| self.counter(name).map(|counter| (name.as_str(), counter)))
            .collect();
        found.sort_by_key(|(name, _)| *name);
        found
    }
}

/// Tells from the counters whether the VM is in a safepoint, or on its way into one.
///
/// `sun.rt.safepoints` is counted at a safepoint's begin, `sun.rt.safepointTime` grows at its end. When both have changed
/// since the last look, the last safepoint may be over or not; then it is taken for over, and a long one of them is missed.
#[derive(Debug)]
pub struct SafepointWatch<C> {
    begun: C,
    time: C,
    seen: (i64, i64),
    inside: bool,
}

impl<C: Fn() -> i64> SafepointWatch<C> {
    /// Watches from now on; the VM is taken to be running.
    pub fn new(begun: C, time: C) -> Self {
        let seen = (begun(), time());
        SafepointWatch { begun, time, seen, inside: false }
    }

    /// The counter of the time, as it was at the last look.
    pub fn time(&self) -> i64 {
        self.seen.1
    }

    /// Looks: whether the VM is in a safepoint.
    pub fn look(&mut self) -> bool {
        // The time first: a safepoint that begins in between is seen by the next look.
        let time = (self.time)();
        let begun = (self.begun)();
        if time != self.seen.1 {
            // One ended. If another began in between, that is not known.
            self.inside = false;
            self.seen = (begun, time);
        } else if begun != self.seen.0 {
            self.inside = true;
            self.seen.0 = begun;
        }
        self.inside
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    fn memory(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; PROLOGUE];
        bytes[..4].copy_from_slice(&MAGIC.to_be_bytes());
        bytes[5] = 2;
        bytes[24..28].copy_from_slice(&(PROLOGUE as u32).to_ne_bytes());
        bytes[28..32].copy_from_slice(&(entries.len() as u32).to_ne_bytes());
        for (name, kind, data) in entries {
            let data_at = (ENTRY + name.len() + 1).next_multiple_of(8);
            let length = (data_at + data.len()).next_multiple_of(8);
            let vector = if *kind == b'B' { data.len() } else { 0 };
            let mut entry = vec![0; length];
            for (at, value) in [(0, length), (4, ENTRY), (8, vector), (16, data_at)] {
                entry[at..at + 4].copy_from_slice(&(value as u32).to_ne_bytes());
            }
            entry[12] = *kind;
            entry[ENTRY..ENTRY + name.len()].copy_from_slice(name.as_bytes());
            entry[data_at..data_at + data.len()].copy_from_slice(data);
            bytes.extend_from_slice(&entry);
        }
        bytes
    }

    /// Counters of one's own, aligned as a VM's are.
    pub(crate) fn memory_of(entries: &[(&str, u8, &[u8])]) -> PerfMemory {
        let bytes = memory(entries);
        let words: &mut [u64] = Vec::leak(vec![0; bytes.len().div_ceil(8)]);
        // SAFETY: as many bytes there, at least.
        let aligned = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), bytes.len()) };
        aligned.copy_from_slice(&bytes);
        PerfMemory { start: aligned.as_ptr(), entries: parse(aligned).unwrap() }
    }

    #[test]
    fn longs_and_strings() {
        let bytes = memory(&[("sun.rt.safepoints", b'J', &7i64.to_ne_bytes()), ("sun.gc.policy.name", b'B', b"Par:Full\0")]);
        let memory = PerfMemory { start: bytes.as_ptr(), entries: parse(&bytes).unwrap() };
        assert_eq!(memory.text("sun.gc.policy.name"), Some("Par:Full"));
        assert!(memory.counter("sun.gc.policy.name").is_none() && memory.text("sun.rt.safepoints").is_none());
        assert_eq!(memory.counters("sun.rt.", "s").len(), 1);
        if bytes.as_ptr().align_offset(8) == 0 {
            assert_eq!(memory.counter("sun.rt.safepoints").unwrap().get(), 7);
        }
    }

    proptest! {
        #[test]
        fn damaged_memory_gives_fewer_counters_or_an_error(at in 0usize..120, byte in any::<u8>(), cut in 0usize..130) {
            let mut bytes = memory(&[("sun.rt.safepoints", b'J', &[0; 8]), ("a.b", b'B', b"xyz\0")]);
            if let Some(b) = bytes.get_mut(at) { *b = byte; }
            bytes.truncate(cut.max(1));
            check_parse(&bytes);
        }

        /// Against a VM whose every step is known: never "inside" after a look that saw it outside, and a safepoint
        /// that is looked at twice is seen.
        #[test]
        fn safepoints_are_seen(steps in proptest::collection::vec(0u8..3, 0..200)) {
            let (begun, time, inside) = (Cell::new(0i64), Cell::new(0i64), Cell::new(false));
            let mut watch = SafepointWatch::new(Box::new(|| begun.get()) as Box<dyn Fn() -> i64>, Box::new(|| time.get()));
            let mut changes = 0;
            for step in steps {
                match step {
                    0 if !inside.get() => { begun.set(begun.get() + 1); inside.set(true); changes += 1; }
                    1 if inside.get() => { time.set(time.get() + 5); inside.set(false); changes += 1; }
                    2 => {
                        let seen = watch.look();
                        if changes <= 1 || !inside.get() { prop_assert_eq!(seen, inside.get()); }
                        changes = if seen == inside.get() { 0 } else { 2 };
                    }
                    _ => {}
                }
            }
        }
    }
}
