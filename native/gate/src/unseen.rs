// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Ports whose connections come by a way that the gate does not stand before: it says so, for nothing else would.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::tcp_table::{self, State};

/// How long a port may have connections that are not seen: who has connected is not yet accepted, perhaps.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ports that are the gate's, and whether a connection was ever seen there.
#[derive(Debug)]
pub struct Ports(Vec<(u16, AtomicBool)>);

impl Ports {
    /// None was seen.
    pub fn new(ports: impl Iterator<Item = u16>) -> Ports {
        Ports(ports.map(|port| (port, AtomicBool::new(false))).collect())
    }

    /// A connection was accepted there, and can be watched. Any thread.
    pub fn seen(&self, port: u16) {
        if let Some((_, seen)) = self.0.iter().find(|(of, _)| *of == port) {
            seen.store(true, Ordering::Relaxed);
        }
    }

    /// Those at which no connection was seen.
    fn unseen(&self) -> BTreeSet<u16> {
        self.0.iter().filter(|(_, seen)| !seen.load(Ordering::Relaxed)).map(|(port, _)| *port).collect()
    }

    /// Tells `told` of each port that had connections before and after the patience, and of which none was seen; ends when there is no port
    /// left to tell of. `connected` gives the ports that have any.
    fn watch(&self, connected: impl Fn() -> BTreeSet<u16>, wait: impl Fn(), told: impl Fn(u16)) {
        let mut done = BTreeSet::new();
        let mut before = BTreeSet::new();
        loop {
            wait();
            let unseen = &self.unseen() - &done;
            if unseen.is_empty() {
                return;
            }
            let now = &unseen & &connected();
            for port in &before & &now {
                told(port);
                done.insert(port);
            }
            before = now;
        }
    }

    /// The same with the kernel's tables, for as long as it takes.
    pub fn watch_kernel(&self, told: impl Fn(u16)) {
        self.watch(connected, || std::thread::sleep(PATIENCE), told);
    }
}

/// Local ports with connections. What cannot be read has none.
fn connected() -> BTreeSet<u16> {
    let rows = tcp_table::read().unwrap_or_default();
    rows.iter().filter(|row| row.state == State::Established).map(|row| row.local.port()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_says_which_ports_have_connections() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            assert!(!connected().contains(&port), "it listens only");
            let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            assert!(connected().contains(&port));
        }
    }

    /// Port 1 is watched from the begin on, 2 later, 3 never; 4 has no connections for long, 5 had some for a moment.
    #[test]
    fn a_port_whose_connections_are_not_seen_is_told_of_once() {
        let ports = Ports::new(1..=5);
        let looks = Cell::new(0);
        let told = RefCell::new(Vec::new());
        let wait = || {
            looks.set(looks.get() + 1);
            match looks.get() {
                1 => ports.seen(1),
                2 => ports.seen(2),
                20 => [4, 5].into_iter().for_each(|port| ports.seen(port)),
                _ => {}
            }
        };
        let connected = || match looks.get() {
            1 => BTreeSet::from([1, 2, 3, 5]),
            _ => BTreeSet::from([1, 2, 3]),
        };
        ports.watch(connected, wait, |port| told.borrow_mut().push((port, looks.get())));
        assert_eq!((told.into_inner(), looks.get()), (vec![(3, 2)], 20));
    }
}
