// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Clients without number: what a server keeps of those that have gone, by the bytes that its program has allocated.
//! That it looks at none of those that linger is counted in `src/store.rs`.
//!
//! With `LULL_NATIVE_SCOPE=all` 200,000 of them come over sockets, else as many as take a second.

mod common;

use common::{MB, Peer, server};
use lull_far_protocol::{ChannelKind, Hello};
use lull_memd::arena::Arena;
use lull_memd::identity::Identities;
use lull_memd::store::Store;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const MANY: u64 = 200_000;

/// Counts the bytes that are allocated now.
struct Counting;

/// By all threads.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// By this one.
    static HERE: Cell<isize> = const { Cell::new(0) };
}

/// A thread that ends has no count any more.
fn count_here(bytes: isize) {
    let _ = HERE.try_with(|here| here.set(here.get() + bytes));
}

// SAFETY: all is the system's; the count is beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        count_here(layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        count_here(-layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn numbered(number: u64) -> Hello {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&number.to_le_bytes());
    Hello { version_min: 1, version_max: 1, ..Hello::new(ChannelKind::Control, 0, 1, id) }
}

/// Each with a number of its own, and 16 channels: nothing of it stays.
#[test]
fn clients_without_memory_leave_no_byte() {
    let (store, identities) = (Store::new(Arena::reserve(MB).unwrap(), 1000), Identities::new(&[]).unwrap());
    let everybody = identities.of_everybody().unwrap();
    let come_and_go = |number: u64| {
        let channels = (0..16).map(|channel| Hello { channel, ..numbered(number) });
        let sessions: Vec<_> = channels.map(|hello| store.connect(everybody, &hello, None, true).unwrap()).collect();
        assert_eq!(store.census().clients, 1);
        drop(sessions);
    };
    come_and_go(0);
    let before = HERE.get();
    (1..MANY / 10).for_each(come_and_go);
    assert_eq!((store.census().clients, everybody.connections()), (0, 0));
    assert_eq!(HERE.get(), before);
}

/// The same over sockets, with all that a server has beside: threads, places of strangers, descriptors.
#[test]
fn a_crowd_of_new_clients_leaves_nothing_in_a_server() {
    let many = if std::env::var("LULL_NATIVE_SCOPE").is_ok_and(|scope| scope == "all") { MANY } else { 4000 };
    let server = server(|config| {
        config.linger = Duration::from_secs(3600);
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
    });
    let counts = || ["clients", "connections"].map(|name| common::metric(server.metrics_address.unwrap(), &format!("lull_memd_{name}")));
    // One that has memory lingers all the time.
    drop(Peer::client(server.address, 250, 1, 1));
    let settled = || {
        let end = Instant::now() + Duration::from_secs(60);
        while counts() != [1, 0] {
            assert!(Instant::now() < end, "clients and connections: {:?}", counts());
            std::thread::sleep(Duration::from_millis(10));
        }
        let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
        (ALLOCATED.load(Ordering::Relaxed), descriptors)
    };
    let crowd = |from: u64, to: u64| {
        for number in from..to {
            let (peer, answer) = Peer::try_hello(server.address, numbered(number));
            assert!(answer.message().starts_with("HelloAck("), "{}", answer.message());
            // Else the port would be taken for a while.
            rustix::net::sockopt::set_socket_linger(&peer.stream, Some(Duration::ZERO)).unwrap();
        }
    };
    crowd(0, 1000);
    let (bytes, descriptors) = settled();
    crowd(1000, many);
    let (bytes_after, descriptors_after) = settled();
    // The threads of what has just ended may hold some.
    assert!(bytes_after < bytes + 256 * 1024, "{bytes} bytes after 1000 clients, {bytes_after} after {many}");
    assert!(descriptors_after <= descriptors + 8, "{descriptors} descriptors after 1000 clients, {descriptors_after} after {many}");
    println!("{many} clients: {bytes} bytes after the first 1000, {bytes_after} after all");
}
