// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The keeper: a thread that repairs connections, asks servers whether they are there, and decides when one is lost. It also gives up
//! pages that were asked for ahead and that nobody came for, as they take room.

use std::sync::atomic::Ordering;

use crate::fault;
use crate::last_words::{fatal, say};
use crate::link::{FETCH_CONNECTIONS, LinkError};
use crate::pager::Pager;
use crate::syscall;

/// Between two looks at the servers.
const INTERVAL: u64 = 200_000_000;

/// After so long without a word a server is suspect.
const SUSPECT: u64 = 2_000_000_000;

/// What the keeper knows of a server.
#[derive(Default)]
struct Watched {
    suspect: bool,
    /// It has said that it is being stopped.
    stopping: bool,
    known_lost: bool,
    failing: Failing,
    /// Pages that were asked for ahead, at the last look.
    coming: Vec<u32>,
}

/// The thread.
pub fn run(pager: &'static Pager) {
    let mut watched: Vec<Watched> = pager.servers.iter().map(|_| Watched::default()).collect();
    while !pager.stopping.load(Ordering::Relaxed) {
        for index in 0..watched.len() {
            look(pager, index, &mut watched[index]);
            if !pager.stopping.load(Ordering::Relaxed) {
                count_lost(pager, index, &mut watched);
            }
        }
        pager.keeper.wait(INTERVAL, || true);
    }
}

/// Asks a server whether it is there, repairs its connections, and gives it up if it has failed for too long.
fn look(pager: &Pager, index: usize, watched: &mut Watched) {
    let server = &pager.servers[index];
    let mut answers = false;
    if server.takes_writes() {
        let begin = syscall::now();
        let mut result = pager.heartbeat(index).map(|told| {
            if told && !watched.stopping {
                say(format_args!("memory server {} is being stopped", server.name()));
            }
            watched.stopping = told;
        });
        for connection in 0..FETCH_CONNECTIONS {
            if result.is_ok() {
                result = server.repair(connection);
            }
        }
        match result {
            Ok(()) => {
                (watched.suspect, watched.failing) = (false, Failing::default());
                answers = true;
            }
            Err(LinkError::Refused(text)) => {
                say(format_args!("{text}"));
                server.give_up();
            }
            Err(LinkError::Broken(text)) => failed(pager, index, watched, begin, &text),
        }
    } else {
        // Who takes its place, or itself when it is taken in, has failed for no time.
        watched.failing = Failing::default();
    }
    // What came at the last look, too. The same pages may have come and be coming again: then they come a third time. Not while the server
    // hangs: whether it is lost must be known in time.
    if answers || server.lost() {
        for page in watched.coming.drain(..) {
            fault::give_up_ahead(pager, page);
        }
    }
    watched.coming = server.ahead_pages().collect();
}

/// A look has failed: the server is suspect soon, and lost when it has failed for its time.
fn failed(pager: &Pager, index: usize, watched: &mut Watched, begin: u64, text: &str) {
    let server = &pager.servers[index];
    let timeout = pager.options.server_timeout.as_nanos() as u64;
    let most = server.patience().as_nanos() as u64 + INTERVAL;
    // It may have answered a thread meanwhile.
    let failing = watched.failing.failed(begin, syscall::now(), most).min(server.silent_for());
    if failing > SUSPECT.min(timeout / 2) && !watched.suspect {
        watched.suspect = true;
        say(format_args!("{text}; threads that need it wait"));
    }
    if failing > timeout {
        server.give_up();
    }
}

/// For how long looks have failed in a row, as far as the program was there to see it: a program that stood (SIGSTOP, a frozen control group, a
/// debugger) has tried nothing meanwhile, and its connections may be gone when it goes on.
#[derive(Default)]
struct Failing {
    /// Until when that is counted; none: the last look did not fail.
    until: Option<u64>,
    sum: u64,
}

impl Failing {
    /// A look of so long has failed. What is counted for it, and for what lies between it and the last one, is `most` at most.
    fn failed(&mut self, begin: u64, now: u64, most: u64) -> u64 {
        let from = self.until.unwrap_or(begin);
        self.sum += now.saturating_sub(from).min(most);
        self.until = Some(now);
        self.sum
    }
}

/// Notes whether a server is lost. Each look at a lost one asks for its neighbours anew: one of them may have got all copies meanwhile, or be lost
/// since.
fn count_lost(pager: &Pager, index: usize, watched: &mut [Watched]) {
    let is_lost = pager.servers[index].lost();
    let was_known = std::mem::replace(&mut watched[index].known_lost, is_lost);
    if is_lost {
        lost(pager, index, !was_known, |other| watched[other].known_lost && pager.servers[other].lost());
    }
}

/// Ends the program if pages are out of reach: sooner than a thread would find out, and never with a wrong page.
fn lost(pager: &Pager, index: usize, is_new: bool, also_lost: impl Fn(usize) -> bool) {
    let name = pager.servers[index].name();
    let count = pager.servers.len();
    let neighbours = [(index + 1) % count, (index + count - 1) % count];
    if pager.options.replicas == 0 {
        if pager.ranges.any() {
            fatal(format_args!("memory server {name} is lost, and nobody else has its pages; the program cannot go on"));
        }
        if is_new {
            say(format_args!("memory server {name} is lost; nothing was mapped yet"));
        }
    } else if let Some(other) = neighbours.into_iter().find(|&other| also_lost(other)) {
        let other = pager.servers[other].name();
        fatal(format_args!("memory servers {other} and {name} are lost, and nobody else has their pages; the program cannot go on"));
    } else if is_new {
        say(format_args!("memory server {name} is lost; its pages are on one server only from now on"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::restore::tests::pager;

    /// One server is lost right after its neighbour has got all copies, before the keeper has come by there. The program would end else.
    #[test]
    fn a_neighbour_that_has_all_copies_again_is_not_lost() {
        let Some((_servers, pager, _)) = pager() else { return };
        let mut watched = [Watched::default(), Watched::default()];
        pager.servers[1].give_up();
        pager.servers[1].begin_filling();
        count_lost(pager, 1, &mut watched);
        assert!(watched[1].known_lost);
        assert!(pager.servers[1].end_filling());
        pager.servers[0].give_up();
        count_lost(pager, 0, &mut watched);
        count_lost(pager, 1, &mut watched);
        assert!(watched[0].known_lost && !watched[1].known_lost);
    }

    #[test]
    fn what_a_lost_server_has_failed_for_does_not_count_when_it_is_taken_in() {
        let Some((_servers, pager, _)) = pager() else { return };
        let mut watched = Watched { failing: Failing { until: Some(1), sum: u64::MAX / 2 }, ..Watched::default() };
        pager.servers[1].give_up();
        look(pager, 1, &mut watched);
        assert_eq!((watched.failing.until, watched.failing.sum), (None, 0));
    }

    #[test]
    fn a_server_has_failed_for_as_long_as_it_was_asked_in_vain() {
        let mut failing = Failing::default();
        // A connection that was refused at once, and again a look later; then one that nobody answered.
        assert_eq!(failing.failed(1000, 1001, 52), 1);
        assert_eq!(failing.failed(1021, 1022, 52), 22);
        assert_eq!(failing.failed(1042, 1092, 52), 74);
        // The program stood between two looks, or within one.
        assert_eq!(failing.failed(9000, 9001, 52), 74 + 52);
        let mut failing = Failing::default();
        assert_eq!(failing.failed(1000, 9000, 52), 52);
    }
}
