// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What a server is started with. Nobody changes it then.

use std::net::SocketAddr;
use std::time::Duration;

use lull_far_auth::Entry;
use lull_network::Network;

use crate::listen::Listen;

/// What a server is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub listen: Listen,
    /// Who may use it. Nobody: everybody who reaches it.
    pub keys: Vec<Entry>,
    /// Without a key, listen also where other machines may reach it.
    pub insecure: bool,
    /// With keys, serve also who wants frames that are neither encrypted nor proven; and send such to other servers.
    pub plain_frames: bool,
    /// Where other servers are that it may connect to when clients have them trace together.
    pub peers: Vec<Network>,
    /// Where it answers `GET /metrics`, if it does.
    pub metrics: Option<SocketAddr>,
    /// Bytes of memory for clients.
    pub memory: u64,
    /// How long a client without a connection keeps its regions.
    pub linger: Duration,
    /// The longest time for one frame to pass.
    pub frame_timeout: Duration,
    /// The most connections at once of those who are known, and the most threads that send to other servers.
    pub max_connections: usize,
    /// How long a server that is told to stop waits for its clients to leave.
    pub drain: Duration,
    /// How long a connection's thread stays awake for the next request, where requests follow each other that fast.
    pub awake: Duration,
}

impl Config {
    /// The defaults of the command line, at an IP address.
    #[must_use]
    pub fn new(listen: SocketAddr, memory: u64) -> Config {
        Config {
            listen: Listen::Ip(listen),
            keys: Vec::new(),
            insecure: false,
            plain_frames: false,
            peers: Vec::new(),
            metrics: None,
            memory,
            linger: Duration::from_secs(30),
            frame_timeout: Duration::from_secs(10),
            max_connections: 1024,
            drain: Duration::from_secs(5),
            awake: Duration::from_micros(200),
        }
    }

    /// How long a client that has no memory may ask for nothing before it loses its connections.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.linger.max(self.frame_timeout)
    }
}
