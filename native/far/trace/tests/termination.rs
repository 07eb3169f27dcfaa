// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Every state that servers which trace, messages on their way, and a client that polls can be in: whenever the client says that the
//! cycle is over, it is. The same search finds an error in a client that believes one round.

use std::collections::HashSet;

use lull_far_trace::termination::{Status, Termination};

/// A small heap: which objects each object refers to. The server of an object is its number modulo the servers.
type Graph = &'static [&'static [u8]];

const CHAIN: Graph = &[&[1], &[2], &[3], &[4], &[]];
const CYCLE: Graph = &[&[1, 2], &[2, 0], &[3, 0], &[1, 4], &[0]];
const BACK: Graph = &[&[1], &[0, 2], &[1]];
const STAR: Graph = &[&[1, 2, 3, 4], &[0], &[0], &[0], &[0]];

#[derive(Clone, PartialEq, Eq, Hash)]
struct State<C> {
    /// Of each server: objects to scan, sorted; sent; received.
    servers: Vec<(Vec<u8>, u64, u64)>,
    marked: u16,
    /// Objects on their way, sorted: whatever order the network has.
    flying: Vec<u8>,
    /// What the client has heard in this round.
    heard: Vec<Status>,
    client: C,
}

fn explore<C: Clone + Eq + std::hash::Hash + Default>(
    graph: Graph,
    servers: usize,
    round: fn(&mut C, &[Status]) -> bool,
) -> Result<usize, String> {
    let mut first =
        State { servers: vec![(Vec::new(), 0, 0); servers], marked: 1, flying: Vec::new(), heard: Vec::new(), client: C::default() };
    first.servers[0].0.push(0);
    let mut seen = HashSet::new();
    let mut open = vec![first];
    let mut ended = false;
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        // A server scans one of its objects.
        for server in 0..servers {
            for at in 0..state.servers[server].0.len() {
                let mut next = state.clone();
                let object = next.servers[server].0.remove(at);
                for &to in graph[usize::from(object)] {
                    if usize::from(to) % servers == server {
                        if next.marked & 1 << to == 0 {
                            next.marked |= 1 << to;
                            next.servers[server].0.push(to);
                        }
                    } else {
                        next.servers[server].1 += 1;
                        next.flying.push(to);
                    }
                }
                next.servers[server].0.sort_unstable();
                next.flying.sort_unstable();
                open.push(next);
            }
        }
        // A message arrives.
        for at in 0..state.flying.len() {
            let mut next = state.clone();
            let object = next.flying.remove(at);
            let server = usize::from(object) % servers;
            next.servers[server].2 += 1;
            if next.marked & 1 << object == 0 {
                next.marked |= 1 << object;
                next.servers[server].0.push(object);
                next.servers[server].0.sort_unstable();
            }
            open.push(next);
        }
        // The next server is asked; after the last the client thinks.
        let mut next = state.clone();
        let (work, sent, received) = &state.servers[next.heard.len()];
        next.heard.push(Status { idle: work.is_empty(), sent: *sent, received: *received });
        if next.heard.len() == servers {
            let heard = std::mem::take(&mut next.heard);
            if round(&mut next.client, &heard) {
                ended = true;
                if !state.flying.is_empty() || state.servers.iter().any(|(work, ..)| !work.is_empty()) {
                    return Err(format!("ended too soon, with {} marked", state.marked.count_ones()));
                }
                assert_eq!(state.marked, (1 << graph.len()) - 1, "ended with an object that was not reached");
                continue;
            }
        }
        open.push(next);
    }
    assert!(ended, "never ended");
    Ok(seen.len())
}

#[test]
fn two_equal_quiet_rounds_are_the_end() {
    for graph in [CHAIN, CYCLE, BACK, STAR] {
        for servers in 1..=3 {
            let states = explore(graph, servers, Termination::round).unwrap();
            // Each object is scanned, at the least.
            assert!(states > graph.len(), "{states} states");
        }
    }
}

/// The search would find it if the rule were too weak.
#[test]
fn one_round_is_not() {
    let one = |(): &mut (), heard: &[Status]| {
        let sum = |count: fn(&Status) -> u64| heard.iter().map(count).sum::<u64>();
        heard.iter().all(|status| status.idle) && sum(|s| s.sent) == sum(|s| s.received)
    };
    let wrong = [CHAIN, CYCLE, BACK, STAR].iter().filter(|graph| explore(graph, 3, one).is_err()).count();
    assert!(wrong > 0, "a wrong rule was not found out");
}

#[test]
fn idleness_alone_is_not() {
    let idle = |last: &mut bool, heard: &[Status]| {
        let now = heard.iter().all(|status| status.idle);
        std::mem::replace(last, now) && now
    };
    assert!(explore(CHAIN, 2, idle).is_err(), "a wrong rule was not found out");
}
