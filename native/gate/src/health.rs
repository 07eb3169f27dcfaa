// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Answers to load balancers that ask, by a thread that the JVM never stops.
//!
//! HAProxy's agent check: a line for each connection, the server's weight as a part of its configured one: nothing in a pause, all outside. (Not
//! `drain` and `ready`, which would end an operator's maintenance.) For what asks by HTTP, see [`crate::metrics::serve`].

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use crate::pause::PauseClock;

/// What HAProxy is told.
fn line(clock: &PauseClock) -> &'static str {
    if clock.is_paused() { "0%\n" } else { "100%\n" }
}

/// Answers HAProxy at an address.
///
/// # Errors
/// It cannot be had.
pub fn serve_agent_check(address: SocketAddr, clock: &'static PauseClock) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    std::thread::Builder::new().name("gate agent check".into()).spawn(move || {
        for stream in listener.incoming() {
            match stream {
                // What is asked (agent-send) does not matter; a few bytes always fit.
                Ok(mut stream) => drop(stream.write_all(line(clock).as_bytes())),
                // Out of descriptors, mostly.
                Err(_) => std::thread::sleep(Duration::from_millis(100)),
            }
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpStream;

    #[test]
    fn the_weight_follows_the_pauses() {
        static CLOCK: PauseClock = PauseClock::new();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        serve_agent_check(address, &CLOCK).unwrap();
        let ask = || {
            let mut text = String::new();
            TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(ask(), "100%\n");
        CLOCK.collection_begins();
        assert_eq!(ask(), "0%\n");
        CLOCK.collection_ends();
        assert_eq!(ask(), "100%\n");
        assert!(serve_agent_check(address, &CLOCK).is_err());
    }
}
