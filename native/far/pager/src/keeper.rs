// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The keeper: a thread that repairs connections, asks servers whether they are there, and decides when one is lost. It also gives up
//! pages that were asked for ahead and that nobody came for, as they take room.

use std::sync::atomic::Ordering;

use crate::fault;
use crate::last_words::{fatal, say};
use crate::link::{FETCH_CONNECTIONS, LinkError};
use crate::pager::Pager;

/// Between two looks at the servers.
const INTERVAL: u64 = 200_000_000;

/// After so long without a word a server is suspect.
const SUSPECT: u64 = 2_000_000_000;

/// The thread.
pub fn run(pager: &'static Pager) {
    let timeout = pager.options.server_timeout.as_nanos() as u64;
    let mut suspect = vec![false; pager.servers.len()];
    let mut stopping = vec![false; pager.servers.len()];
    let mut known_lost = vec![false; pager.servers.len()];
    let mut coming: Vec<Vec<u32>> = vec![Vec::new(); pager.servers.len()];
    while !pager.stopping.load(Ordering::Relaxed) {
        for (index, server) in pager.servers.iter().enumerate() {
            let mut answers = false;
            if server.takes_writes() {
                let mut error = pager.heartbeat(index).map(|told| {
                    if told && !stopping[index] {
                        say(format_args!("memory server {} is being stopped", server.name()));
                    }
                    stopping[index] = told;
                });
                for connection in 0..FETCH_CONNECTIONS {
                    if error.is_ok() {
                        error = server.repair(connection);
                    }
                }
                match error {
                    Ok(()) => {
                        suspect[index] = false;
                        answers = true;
                    }
                    Err(LinkError::Refused(text)) => {
                        say(format_args!("{text}"));
                        server.give_up();
                    }
                    Err(LinkError::Broken(text)) => {
                        let silent = server.silent_for();
                        if silent > SUSPECT.min(timeout / 2) && !suspect[index] {
                            suspect[index] = true;
                            say(format_args!("{text}; threads that need it wait"));
                        }
                        if silent > timeout {
                            server.give_up();
                        }
                    }
                }
            }
            // What came at the last look, too. The same pages may have come and be coming again: then they come a third time. Not while the
            // server hangs: whether it is lost must be known in time.
            if answers || server.lost() {
                for page in coming[index].drain(..) {
                    fault::give_up_ahead(pager, page);
                }
            }
            coming[index] = server.ahead_pages().collect();
            if !server.lost() && known_lost[index] {
                known_lost[index] = false;
            }
            if server.lost() && !known_lost[index] && !pager.stopping.load(Ordering::Relaxed) {
                known_lost[index] = true;
                lost(pager, index, &known_lost);
            }
        }
        pager.keeper.wait(INTERVAL, || true);
    }
}

/// Ends the program if pages are out of reach: sooner than a thread would find out, and never with a wrong page.
fn lost(pager: &Pager, index: usize, known_lost: &[bool]) {
    let name = pager.servers[index].name();
    let count = pager.servers.len();
    let neighbours = [(index + 1) % count, (index + count - 1) % count];
    if pager.options.replicas == 0 {
        if pager.ranges.any() {
            fatal(format_args!("memory server {name} is lost, and nobody else has its pages; the program cannot go on"));
        }
        say(format_args!("memory server {name} is lost; nothing was mapped yet"));
    } else if let Some(other) = neighbours.into_iter().find(|&other| known_lost[other]) {
        let other = pager.servers[other].name();
        fatal(format_args!("memory servers {other} and {name} are lost, and nobody else has their pages; the program cannot go on"));
    } else {
        say(format_args!("memory server {name} is lost; its pages are on one server only from now on"));
    }
}
