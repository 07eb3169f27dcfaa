// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! From a file descriptor to its connection.
//!
//! One slot per descriptor number, made at the first connection under that number and kept for ever: a thread that still holds a
//! slot when the descriptor is closed sees that the slot is empty, or another connection's, when it has the lock.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::connection::Connection;
use crate::protocol::Opaque;
use crate::spoken::Spoken;

/// Descriptors beyond are not watched.
const MOST_DESCRIPTORS: usize = 1 << 20;

/// The connection in a slot. Only under the slot's lock.
pub struct Tracked {
    /// Which of the connections that have had this descriptor.
    pub generation: u64,
    /// The socket's inode.
    pub inode: u64,
    /// The connection.
    pub connection: Connection<Spoken>,
    /// That it is opaque was told.
    told: bool,
}

/// A descriptor's place. The flags may be read without the lock, and all but `live` are written without it, too: what they say is then a hint. That
/// `announced` is seen in time is the order's doing in which it is written and asked for (`announce` in intercept/selector.rs).
#[derive(Default)]
pub struct Slot {
    tracked: Mutex<Option<Tracked>>,
    /// Whether there is a connection between whose bytes and the application the gate must come; written under the lock.
    live: AtomicBool,
    /// Whether reads block; a hint that costs a system call when it is wrong.
    pub blocking: AtomicBool,
    /// The application was told that there is something to read, and has not read since.
    pub announced: AtomicBool,
    /// How selectors watch it: bit [`ONE_SHOT`].
    pub watched: AtomicU8,
    /// How many slots of the table are live.
    all_live: Arc<AtomicUsize>,
}

/// A selector forgets its interest with each event, or tells of changes only: no event may be kept from it.
pub const ONE_SHOT: u8 = 1;

impl Slot {
    /// Whether there is a connection that may be the gate's.
    pub fn is_live(&self) -> bool {
        self.live.load(Ordering::Relaxed)
    }

    /// Locks the slot.
    pub fn lock(&self) -> MutexGuard<'_, Option<Tracked>> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the slot if nobody holds it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, Option<Tracked>>> {
        match self.tracked.try_lock() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    /// To be called with the lock held, after anything that can have made the connection opaque, or written the rest of an answer. Gives the
    /// reason why it is opaque the first time.
    pub fn publish(&self, tracked: &mut Option<Tracked>) -> Option<Opaque> {
        let live = tracked.as_ref().is_some_and(|t| t.connection.is_live());
        match (self.live.swap(live, Ordering::Relaxed), live) {
            (false, true) => drop(self.all_live.fetch_add(1, Ordering::Relaxed)),
            (true, false) => drop(self.all_live.fetch_sub(1, Ordering::Relaxed)),
            _ => {}
        }
        let t = tracked.as_mut()?;
        let reason = t.connection.opaque()?;
        (!std::mem::replace(&mut t.told, true)).then_some(reason)
    }
}

/// All slots.
pub struct Table {
    slots: Box<[AtomicPtr<Slot>]>,
    all_live: Arc<AtomicUsize>,
    /// Odd while the gate looks at a connection, and may take bytes of it; grows with each look. Written by the gate's thread.
    looks: AtomicU64,
}

/// The gate looks at a connection, until this is dropped.
pub struct Look<'a>(&'a AtomicU64);

impl Drop for Look<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

static TABLE: OnceLock<Table> = OnceLock::new();

impl Table {
    /// A table for descriptors below `most`.
    pub fn new(most: usize) -> Self {
        // Zeroed memory of this size comes from the kernel untouched, page by page as it is used.
        let zeros = Box::into_raw(vec![0usize; most.min(MOST_DESCRIPTORS)].into_boxed_slice());
        // SAFETY: zero is a null pointer, and both have one size and alignment.
        let slots = unsafe { Box::from_raw(zeros as *mut [AtomicPtr<Slot>]) };
        Table { slots, all_live: Arc::default(), looks: AtomicU64::new(0) }
    }

    /// The process's table.
    pub fn global() -> &'static Table {
        TABLE.get_or_init(|| {
            let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: the kernel writes one rlimit.
            unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
            // The JVM raises the soft limit to the hard one.
            Table::new(usize::try_from(limit.rlim_max).unwrap_or(MOST_DESCRIPTORS))
        })
    }

    /// Notes that the gate, the one thread that looks, is about to: before it asks what the application has been told of.
    pub fn look(&self) -> Look<'_> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        Look(&self.looks)
    }

    /// How many looks have begun and ended; for [`Table::has_looked_since`].
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::SeqCst)
    }

    /// Whether the gate may have taken bytes since `looks` was asked for.
    pub fn has_looked_since(&self, looks: u64) -> bool {
        !looks.is_multiple_of(2) || self.looks() != looks
    }

    /// The slot of a descriptor, if there was ever a connection under its number.
    pub fn slot(&self, fd: i32) -> Option<&Slot> {
        let slot = self.slots.get(usize::try_from(fd).ok()?)?.load(Ordering::Acquire);
        // SAFETY: made by `make`, never freed.
        (!slot.is_null()).then(|| unsafe { &*slot })
    }

    /// The slot of a descriptor if there is a connection that may be the gate's.
    pub fn live(&self, fd: i32) -> Option<&Slot> {
        self.slot(fd).filter(|slot| slot.is_live())
    }

    /// How many connections may be the gate's.
    pub fn count_live(&self) -> usize {
        self.all_live.load(Ordering::Relaxed)
    }

    /// The slot of a descriptor, made if need be; `None` for descriptors beyond the table.
    pub fn make(&self, fd: i32) -> Option<&Slot> {
        if let Some(slot) = self.slot(fd) {
            return Some(slot);
        }
        let place = self.slots.get(usize::try_from(fd).ok()?)?;
        let new = Box::into_raw(Box::new(Slot { all_live: Arc::clone(&self.all_live), ..Slot::default() }));
        match place.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: just made, never freed from now on.
            Ok(_) => Some(unsafe { &*new }),
            Err(other) => {
                // SAFETY: nobody has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: made by another thread here, never freed.
                Some(unsafe { &*other })
            }
        }
    }

    /// A new connection under `fd`; whatever was there is over.
    pub fn track(&self, fd: i32, inode: u64, blocking: bool, connection: Connection<Spoken>) {
        let Some(slot) = self.make(fd) else { return };
        let mut tracked = slot.lock();
        let generation = tracked.as_ref().map_or(0, |t| t.generation + 1);
        slot.blocking.store(blocking, Ordering::Relaxed);
        slot.announced.store(false, Ordering::SeqCst);
        slot.watched.store(0, Ordering::Relaxed);
        *tracked = Some(Tracked { generation, inode, connection, told: false });
        slot.publish(&mut tracked);
    }

    /// The descriptor is about to be closed, or to become another file.
    pub fn forget(&self, fd: i32) {
        if let Some(slot) = self.slot(fd) {
            let mut tracked = slot.lock();
            if let Some(t) = tracked.as_mut() {
                // The generation stays, so that the next one differs.
                t.connection.make_opaque(Opaque::AnotherSocket);
            }
            slot.publish(&mut tracked);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http1::Http1;
    use crate::kernel::Totals;

    #[test]
    fn live_connections_are_counted_once() {
        let table = Table::new(100);
        let totals = Totals { established: true, taken: 0, written: 0, unacknowledged: 0 };
        let track = |fd| table.track(fd, 1, true, Connection::new(Spoken::Http1(Http1::new(Arc::from(Vec::new()))), totals));
        track(3);
        track(4);
        // The descriptor was closed where nobody saw it.
        track(3);
        assert_eq!(table.count_live(), 2);
        let slot = table.slot(4).unwrap();
        let mut tracked = slot.lock();
        tracked.as_mut().unwrap().connection.make_opaque(Opaque::AnotherSocket);
        assert_eq!(slot.publish(&mut tracked), Some(Opaque::AnotherSocket));
        assert_eq!(slot.publish(&mut tracked), None);
        drop(tracked);
        table.forget(4);
        assert_eq!(table.count_live(), 1);
        table.forget(3);
        table.forget(3);
        assert_eq!(table.count_live(), 0);
        track(4);
        assert_eq!(table.count_live(), 1);
    }
}
