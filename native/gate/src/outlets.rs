// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who is told that the JVM is stopped, beside the clients whose requests come in a pause.

use crate::beacon::Beacon;
use crate::datagram::Datagrams;
use crate::flight::Events;

/// Where it is told that the JVM is stopped, beside the connections.
#[derive(Default)]
pub struct Outlets {
    /// For processes of this machine.
    pub beacon: Option<Beacon>,
    /// For others.
    pub datagrams: Vec<Datagrams>,
    /// For the flight recorder, when a pause is over.
    pub events: Option<Events>,
    /// Until when the datagrams say that the JVM is stopped; 0 if they do not.
    told_ns: u64,
}

impl Outlets {
    /// It is, and for so long, as is thought now.
    pub fn busy(&mut self, now: u64, remaining_ns: u64) {
        let end = now.saturating_add(remaining_ns);
        if let Some(beacon) = &self.beacon {
            beacon.busy_until(end);
        }
        // Of a pause that outlasts what was said, the expectation grows with each look; a receiver hears of it when the old one has passed.
        if self.told_ns == 0 || now >= self.told_ns || end < self.told_ns {
            self.datagrams.iter().for_each(|datagrams| datagrams.busy(remaining_ns));
            self.told_ns = end;
        }
    }

    /// It runs again.
    pub fn runs(&mut self) {
        self.told_ns = 0;
        if let Some(beacon) = &self.beacon {
            beacon.runs();
        }
        self.datagrams.iter().for_each(Datagrams::runs);
    }
}
