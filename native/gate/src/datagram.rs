// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A datagram to whoever steers requests, when a pause begins, when it is expected to last longer or shorter than was said, and when it is over.
//!
//! One line of ASCII: `lull-gate 1 PROCESS PORTS busy MS`, for so many milliseconds more, or `lull-gate 1 PROCESS PORTS runs`; 1 is the version,
//! PORTS are those of the service, with commas between them: with the datagram's sender, a client knows by them which of its replicas that is.
//! A datagram may be lost, so that a receiver forgets *busy* by itself after that time.

use std::io;
use std::net::{SocketAddr, UdpSocket};

/// A socket from which the lines are sent.
pub struct Datagrams {
    socket: UdpSocket,
    /// What each line begins with.
    head: String,
}

impl Datagrams {
    /// To this address, of a service at these ports.
    ///
    /// # Errors
    /// There is no route to it, or no descriptor left.
    pub fn to(address: SocketAddr, ports: impl Iterator<Item = u16>) -> io::Result<Datagrams> {
        let any: SocketAddr = if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0u16; 8], 0).into() };
        let socket = UdpSocket::bind(any)?;
        socket.connect(address)?;
        socket.set_nonblocking(true)?;
        let ports: Vec<String> = ports.map(|port| port.to_string()).collect();
        Ok(Datagrams { socket, head: format!("lull-gate 1 {} {}", std::process::id(), ports.join(",")) })
    }

    /// A pause is expected to last for so long from now.
    pub fn busy(&self, remaining_ns: u64) {
        self.send(&format!("busy {}", remaining_ns.div_ceil(1_000_000)));
    }

    /// It is over.
    pub fn runs(&self) {
        self.send("runs");
    }

    fn send(&self, what: &str) {
        // That nobody listens, or that there is no room, is not the gate's trouble.
        let _ = self.socket.send(format!("{} {what}\n", self.head).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn lines_arrive() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(receiver) = UdpSocket::bind(address) else { continue };
            receiver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            let datagrams = Datagrams::to(receiver.local_addr().unwrap(), [8080, 443].into_iter()).unwrap();
            datagrams.busy(1_000_001);
            datagrams.runs();
            for what in ["busy 2", "runs"] {
                let mut line = [0; 100];
                let n = receiver.recv(&mut line).unwrap();
                assert_eq!(std::str::from_utf8(&line[..n]).unwrap(), format!("lull-gate 1 {} 8080,443 {what}\n", std::process::id()));
            }
            // Without a receiver.
            drop(receiver);
            datagrams.runs();
            datagrams.busy(1);
        }
    }
}
