// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Events on their way to a selector of the application.
//!
//! A selector that is told of a byte may make the channel blocking and read (the JDK's HTTP server does); were the byte gone, it would hang
//! until the next request. So what is told is left alone by the gate until the application has read (invariant I), and what is not there any
//! more is not told, unless the selector would then never hear of it again.
//!
//! What has been told once stays told: a selector may keep an event from one wait to the next. The same holds for who asks how many bytes there
//! are (`InputStream.available`).

use std::sync::atomic::Ordering;

use crate::kernel;
use crate::metrics::Metrics;
use crate::pause::{PauseClock, Wait};
use crate::table::{ONE_SHOT, Slot, Table};

const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLPRI) as u32;

/// Of more events than this at once, those behind count as told before. The JDK asks for 512.
const MOST_EVENTS: usize = 1024;

/// Whether there is something to read, an end or an error. Not by a read without taking: that would take an error that is the application's.
fn is_there(fd: i32) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN | libc::POLLRDHUP, revents: 0 };
    // SAFETY: one valid pollfd.
    unsafe { libc::poll(&raw mut poll, 1, 0) != 0 }
}

/// The connection that an event says can be read.
fn readable<'a>(table: &'a Table, event: &libc::epoll_event) -> Option<&'a Slot> {
    if event.events & READABLE == 0 { None } else { table.live(event.u64 as i32) }
}

/// Notes events that are about to be told: after the pause if there is one, and then without those whose bytes the gate has taken. `looks` is
/// [`Table::looks`] of before the kernel was asked for them. Gives the count of events that are left at the front.
pub(super) fn announce(table: &Table, looks: u64, clock: &PauseClock, metrics: &Metrics, events: &mut [libc::epoll_event]) -> usize {
    if !clock.is_paused() {
        // Which of them this call has noted, one bit each.
        let mut noted = [0u64; MOST_EVENTS / 64];
        let mut any = false;
        for (i, event) in events.iter().enumerate() {
            if let Some(slot) = readable(table, event) {
                // SeqCst, as what is asked below: either the gate sees this, or we see its pause, or that it has looked: a pause may have
                // come and gone since the kernel had the event.
                let before = slot.announced.swap(true, Ordering::SeqCst);
                if !before && i < MOST_EVENTS {
                    noted[i / 64] |= 1 << (i % 64);
                }
                any = true;
            }
        }
        if !any || !(clock.is_paused() || table.has_looked_since(looks)) {
            return events.len();
        }
        for (i, event) in events.iter().enumerate().take(MOST_EVENTS) {
            if noted[i / 64] & (1 << (i % 64)) != 0
                && let Some(slot) = readable(table, event)
            {
                slot.announced.store(false, Ordering::SeqCst);
            }
        }
    }
    if clock.wait_while_paused() != Wait::None {
        metrics.waits.add(1);
    }
    let (mut at, mut left) = (0, 0);
    while at < events.len() {
        let mut event = events[at];
        at += 1;
        if let Some(slot) = readable(table, &event) {
            // Under the lock, so that the gate of another pause has either answered, or sees that we have told.
            let _tracked = slot.lock();
            if !slot.announced.load(Ordering::SeqCst) {
                let is_there = is_there(event.u64 as i32);
                slot.announced.store(is_there, Ordering::SeqCst);
                if !is_there && slot.watched.load(Ordering::Relaxed) & ONE_SHOT == 0 {
                    metrics.withdrawn.add(1);
                    event.events &= !READABLE;
                    if event.events == 0 {
                        continue;
                    }
                }
            }
        }
        events[left] = event;
        left += 1;
    }
    left
}

/// [`announce`] for what `poll` has found: the events that are kept back are taken out of the entries. Gives the count of entries with events.
pub(super) fn announce_polled(table: &Table, looks: u64, clock: &PauseClock, metrics: &Metrics, polled: &mut [libc::pollfd]) -> usize {
    // The events of poll are those of epoll.
    let found = polled.iter().filter(|entry| entry.revents != 0);
    let mut events: Vec<_> =
        found.map(|entry| libc::epoll_event { events: u32::from(entry.revents as u16), u64: entry.fd as u64 }).collect();
    let n = announce(table, looks, clock, metrics, &mut events);
    // In the same order, without those that were kept back.
    let mut left = events[..n].iter().peekable();
    for entry in polled.iter_mut().filter(|entry| entry.revents != 0) {
        entry.revents = left.next_if(|event| event.u64 as i32 == entry.fd).map_or(0, |event| event.events as i16);
    }
    n
}

/// How many bytes there are to read, which the gate then leaves to the application; `None` if the kernel does not say. Nothing is kept anywhere
/// but in the kernel's buffer, so that its count is all.
pub(super) fn announce_available(fd: i32, slot: &Slot, clock: &PauseClock, metrics: &Metrics) -> Option<i32> {
    if clock.wait_while_paused() != Wait::None {
        metrics.waits.add(1);
    }
    // Under the lock, so that the gate sees either what was told, or answers first.
    let _tracked = slot.lock();
    let n = kernel::unread(fd).ok()?;
    if n > 0 {
        slot.announced.store(true, Ordering::SeqCst);
    }
    i32::try_from(n).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Connection;
    use crate::http1::Http1;
    use crate::spoken::Spoken;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::sync::Arc;

    struct Fixture {
        table: Table,
        clock: PauseClock,
        metrics: Metrics,
        client: TcpStream,
        server: TcpStream,
    }

    fn fixture() -> Fixture {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let fd = server.as_raw_fd();
        let table = Table::new(fd as usize + 1);
        let totals = kernel::tcp_totals(fd).unwrap().unwrap();
        table.track(fd, kernel::inode(fd).unwrap(), false, Connection::new(Spoken::Http1(Http1::new(Arc::from(Vec::new()))), totals));
        Fixture { table, clock: PauseClock::new(), metrics: Metrics::new(), client, server }
    }

    impl Fixture {
        fn slot(&self) -> &Slot {
            self.table.live(self.server.as_raw_fd()).unwrap()
        }

        fn announced(&self) -> bool {
            self.slot().announced.load(Ordering::SeqCst)
        }

        /// Announces one event with these bits, in a pause if there is one that `meanwhile` ends. Gives the bits that are left.
        fn announce(&self, bits: i32, meanwhile: impl FnOnce() + Send) -> Option<u32> {
            self.announce_after(self.table.looks(), bits, meanwhile)
        }

        /// The same of an event that the kernel was asked for when the gate had looked so many times.
        fn announce_after(&self, looks: u64, bits: i32, meanwhile: impl FnOnce() + Send) -> Option<u32> {
            let mut events = [libc::epoll_event { events: bits as u32, u64: self.server.as_raw_fd() as u64 }];
            let is_paused = self.clock.is_paused();
            let n = std::thread::scope(|scope| {
                scope.spawn(move || {
                    while is_paused && self.clock.waiting() == 0 {
                        std::thread::yield_now();
                    }
                    meanwhile();
                });
                announce(&self.table, looks, &self.clock, &self.metrics, &mut events)
            });
            (n == 1).then_some(events[0].events)
        }
    }

    const IN: i32 = libc::EPOLLIN;

    #[test]
    fn what_is_told_outside_a_pause_is_noted() {
        let mut f = fixture();
        f.client.write_all(b"x").unwrap();
        assert_eq!(f.announce(IN, || ()), Some(IN as u32));
        assert!(f.announced());
        f.slot().announced.store(false, Ordering::SeqCst);
        assert_eq!(f.announce(libc::EPOLLOUT, || ()), Some(libc::EPOLLOUT as u32));
        assert!(!f.announced());
    }

    #[test]
    fn an_event_whose_bytes_are_gone_is_withdrawn() {
        let mut f = fixture();
        f.client.write_all(b"x").unwrap();
        f.clock.collection_begins();
        let end = || {
            // The gate's part.
            (&f.server).read_exact(&mut [0]).unwrap();
            f.clock.collection_ends();
        };
        assert_eq!(f.announce(IN, end), None);
        assert!(!f.announced());
        f.clock.collection_begins();
        assert_eq!(f.announce(IN | libc::EPOLLOUT, || f.clock.collection_ends()), Some(libc::EPOLLOUT as u32));
    }

    /// A whole pause between the kernel's answer and this: the gate could not know that the event was on its way.
    #[test]
    fn an_event_of_before_a_pause_that_is_over_is_withdrawn() {
        let mut f = fixture();
        f.client.write_all(b"x").unwrap();
        let looks = f.table.looks();
        {
            let _look = f.table.look();
            assert!(f.table.has_looked_since(looks) && f.table.has_looked_since(f.table.looks()));
            (&f.server).read_exact(&mut [0]).unwrap();
        }
        assert_eq!(f.announce_after(looks, IN, || ()), None);
        assert!(!f.announced());
        // One that the gate has looked at and left.
        f.client.write_all(b"x").unwrap();
        kernel::wait_readable(f.server.as_raw_fd(), 10_000_000_000);
        assert_eq!(f.announce_after(looks, IN, || ()), Some(IN as u32));
        assert!(f.announced());
    }

    /// The gate has seen the pause, which is over now, and has not yet taken what it answers.
    #[test]
    fn an_event_while_the_gate_looks_is_told_after_the_look() {
        let mut f = fixture();
        f.client.write_all(b"x").unwrap();
        let tracked = f.slot().lock();
        let look = f.table.look();
        // Of a wait that has begun, and ended, while the gate looked.
        let looks = f.table.looks();
        std::thread::scope(|scope| {
            let announced = scope.spawn(|| f.announce_after(looks, IN, || ()));
            (&f.server).read_exact(&mut [0]).unwrap();
            drop(look);
            drop(tracked);
            assert_eq!(announced.join().unwrap(), None);
        });
        assert!(!f.announced());
    }

    #[test]
    fn an_event_whose_bytes_are_there_is_told_after_the_pause() {
        let mut f = fixture();
        f.client.write_all(b"x").unwrap();
        f.clock.collection_begins();
        let slot = f.slot();
        let end = || {
            assert!(!slot.announced.load(Ordering::SeqCst));
            f.clock.collection_ends();
        };
        assert_eq!(f.announce(IN, end), Some(IN as u32));
        assert!(f.announced());
    }

    #[test]
    fn an_end_of_the_stream_is_there() {
        let f = fixture();
        f.client.shutdown(std::net::Shutdown::Write).unwrap();
        f.clock.collection_begins();
        assert_eq!(f.announce(IN | libc::EPOLLRDHUP, || f.clock.collection_ends()), Some((IN | libc::EPOLLRDHUP) as u32));
    }

    #[test]
    fn a_selector_that_forgets_gets_every_event() {
        let f = fixture();
        f.slot().watched.store(ONE_SHOT, Ordering::Relaxed);
        f.clock.collection_begins();
        assert_eq!(f.announce(IN, || f.clock.collection_ends()), Some(IN as u32));
        assert!(!f.announced());
    }

    /// The JDK's HTTP server selects twice before it reads: what the first told must be there when it reads.
    #[test]
    fn what_was_told_stays_told_in_the_next_wait() {
        let mut f = fixture();
        f.client.write_all(b"x").unwrap();
        assert_eq!(f.announce(IN, || ()), Some(IN as u32));
        f.clock.collection_begins();
        let slot = f.slot();
        let end = || {
            assert!(slot.announced.load(Ordering::SeqCst), "the gate may take it");
            f.clock.collection_ends();
        };
        assert_eq!(f.announce(IN, end), Some(IN as u32));
        assert!(f.announced());
    }

    #[test]
    fn bytes_that_are_available_are_the_applications() {
        let mut f = fixture();
        let available = |f: &Fixture| announce_available(f.server.as_raw_fd(), f.slot(), &f.clock, &f.metrics);
        assert_eq!(available(&f), Some(0));
        assert!(!f.announced());
        f.client.write_all(b"xyz").unwrap();
        kernel::wait_readable(f.server.as_raw_fd(), 10_000_000_000);
        assert_eq!(available(&f), Some(3));
        assert!(f.announced());
        // In a pause, only after it: the gate has answered, and there is nothing to be told.
        f.slot().announced.store(false, Ordering::SeqCst);
        f.clock.collection_begins();
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| available(&f));
            while f.clock.waiting() == 0 {
                std::thread::yield_now();
            }
            (&f.server).read_exact(&mut [0; 3]).unwrap();
            f.clock.collection_ends();
            assert_eq!(asked.join().unwrap(), Some(0));
        });
        assert!(!f.announced());
        assert_eq!(announce_available(-1, f.slot(), &f.clock, &f.metrics), None);
    }

    #[test]
    fn a_poll_is_told_what_is_left() {
        let mut f = fixture();
        let other = fixture();
        f.client.write_all(b"x").unwrap();
        let fd = f.server.as_raw_fd();
        let entry = |fd: i32, revents: i16| libc::pollfd { fd, events: libc::POLLIN, revents };
        let found = |entries: &[libc::pollfd]| entries.iter().map(|entry| entry.revents).collect::<Vec<_>>();
        // The second is a pipe that wakes the selector, for instance: not watched.
        let mut entries = [entry(fd, libc::POLLIN), entry(0, 0), entry(other.client.as_raw_fd(), libc::POLLIN)];
        let looks = f.table.looks();
        assert_eq!(announce_polled(&f.table, looks, &f.clock, &f.metrics, &mut entries), 2);
        assert_eq!(found(&entries), [libc::POLLIN, 0, libc::POLLIN]);
        assert!(f.announced());
        f.slot().announced.store(false, Ordering::SeqCst);
        f.clock.collection_begins();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while f.clock.waiting() == 0 {
                    std::thread::yield_now();
                }
                (&f.server).read_exact(&mut [0]).unwrap();
                f.clock.collection_ends();
            });
            assert_eq!(announce_polled(&f.table, looks, &f.clock, &f.metrics, &mut entries), 1);
        });
        assert_eq!(found(&entries), [0, 0, libc::POLLIN]);
    }
}
