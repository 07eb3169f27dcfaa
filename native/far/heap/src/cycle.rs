// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Has servers trace an exported heap: loads it into them, starts a cycle, answers what layouts they ask for, waits for the end, and
//! takes the results.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use lull_far_auth::{Key, client_number};
use lull_far_protocol::{MAX_PAGES_PER_FRAME, Op, PAGE_SIZE};
use lull_far_trace::geometry::Geometry;
use lull_far_trace::layout::Layout;
use lull_far_trace::termination::{Status, Termination};
use lull_far_trace::tracer::Counts;
use lull_far_trace::wire::{self, MOST};

use crate::export::Export;
use crate::server::Server;

/// How long a server that has just started may take to get its memory. It answers meanwhile.
const COMMITTING: Duration = Duration::from_secs(120);

/// How often servers are asked, at least this long apart.
const BETWEEN_POLLS: Duration = Duration::from_millis(1);

/// Random bytes.
fn draw<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).map_err(|error| format!("no random numbers: {error}"))?;
    Ok(bytes)
}

/// Servers that have a heap.
#[derive(Debug)]
pub struct Servers {
    servers: Vec<Server>,
    /// Which of them has what.
    pub geometry: Geometry,
    cycles: u64,
}

/// What one server has done.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// A bit for each 8 bytes of its parts: there is the class word of an object that was reached.
    pub marks: Vec<u64>,
    /// References that were reached and not followed.
    pub discovered: Vec<u64>,
    /// How much.
    pub counts: Counts,
    /// In what time, without waiting.
    pub busy: Duration,
}

/// What all of them have done.
#[derive(Clone, Debug)]
pub struct Traced {
    /// By server.
    pub servers: Vec<Outcome>,
    /// From the first root to the last poll.
    pub elapsed: Duration,
    /// Rounds of polls.
    pub rounds: u64,
    /// Layouts that servers have asked for.
    pub layouts: usize,
}

impl Servers {
    /// Connects to servers, and loads a heap into them, in parts of so many bytes.
    ///
    /// # Errors
    /// Why not, naming the server or the file.
    pub fn load(addresses: &[SocketAddr], export: &Export, part: u64, timeout: Duration) -> Result<Servers, String> {
        Servers::load_with_key(addresses, export, part, timeout, None)
    }

    /// The same with a key that the servers have, too.
    ///
    /// # Errors
    /// As [`Servers::load`].
    pub fn load_with_key(
        addresses: &[SocketAddr],
        export: &Export,
        part: u64,
        timeout: Duration,
        key: Option<&Key>,
    ) -> Result<Servers, String> {
        let servers = u8::try_from(addresses.len()).map_err(|_| format!("{} servers are more than 255", addresses.len()))?;
        let (narrow_base, narrow_shift) = (export.narrow_base, export.narrow_shift);
        let geometry = Geometry { base: export.base, bytes: export.bytes, part, narrow_base, narrow_shift, servers };
        if !geometry.is_possible() {
            return Err(format!(
                "a heap of {} bytes at {:#x} cannot lie on {servers} servers in parts of {part}",
                export.bytes, export.base
            ));
        }
        let secret = draw()?;
        let mut all = Servers { servers: Vec::new(), geometry, cycles: 0 };
        match all.connect(addresses, &secret, timeout, key).and_then(|()| all.write(export)) {
            Ok(()) => Ok(all),
            Err(text) => {
                // Or they keep what they have until they miss us. What went wrong first counts.
                let _ = all.leave();
                Err(text)
            }
        }
    }

    fn connect(&mut self, addresses: &[SocketAddr], secret: &[u8; 32], timeout: Duration, key: Option<&Key>) -> Result<(), String> {
        for (index, &address) in addresses.iter().enumerate() {
            // No server knows the number at another one: they know each other by the ticket of a cycle.
            let client = client_number(secret, &address.to_string());
            self.servers.push(Server::connect_with_key(address, client, timeout, key)?);
            // A server that has no part of a small heap has a page, so that it has a region.
            let pages = self.geometry.bytes_of(index).max(PAGE_SIZE as u64) / PAGE_SIZE as u64;
            self.servers[index].map(pages, COMMITTING)?;
        }
        Ok(())
    }

    /// Pages of zeros are there already.
    fn write(&mut self, export: &Export) -> Result<(), String> {
        const FRAME: usize = MAX_PAGES_PER_FRAME * PAGE_SIZE;
        let mut bytes = vec![0; FRAME];
        let mut offset = 0;
        while offset < export.bytes {
            let address = self.geometry.base + offset;
            let length = self.geometry.rest_of_part(address).min(export.bytes - offset).min(FRAME as u64) as usize;
            let bytes = &mut bytes[..length];
            export.heap(offset, bytes).map_err(|error| format!("the heap at offset {offset}: {error}"))?;
            let first = self.geometry.place_of(address) / PAGE_SIZE as u64;
            let (mut numbers, mut pages) = (Vec::new(), Vec::new());
            for (number, page) in (first..).zip(bytes.chunks_exact(PAGE_SIZE)) {
                if page.iter().any(|&byte| byte != 0) {
                    numbers.push(number);
                    pages.extend_from_slice(page);
                }
            }
            if !numbers.is_empty() {
                self.servers[self.geometry.server_of(address)].write(&numbers, &pages)?;
            }
            offset += length as u64;
        }
        Ok(())
    }

    /// Starts a cycle, and gives each server its roots.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn start(&mut self, roots: &[u64]) -> Result<(), String> {
        self.cycles += 1;
        let ticket = draw()?;
        let addresses: Vec<SocketAddr> = self.servers.iter().map(|server| server.address).collect();
        // All have the cycle before any has something to send.
        for (me, server) in self.servers.iter_mut().enumerate() {
            let start = wire::Start { cycle: self.cycles, geometry: self.geometry, me: me as u8, ticket, servers: addresses.clone() };
            server.trace(Op::TraceStart, &start.encode(), &[Op::Status])?;
        }
        let mut theirs = vec![Vec::new(); self.servers.len()];
        for &root in roots {
            if !self.geometry.is_object(root) {
                return Err(format!("the root {root:#x} is no object of the heap"));
            }
            theirs[self.geometry.owner_of(root)].push(root);
        }
        for (server, roots) in self.servers.iter_mut().zip(theirs) {
            for roots in roots.chunks(MOST) {
                server.trace(Op::TraceRoots, &wire::encode_roots(roots), &[Op::Status])?;
            }
        }
        Ok(())
    }

    /// One round of polls.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn poll(&mut self, round: u64) -> Result<Round, String> {
        let mut result = Round { answers: Vec::new(), missing: Vec::new() };
        for server in 0..self.servers.len() {
            match self.poll_one(server, round)? {
                Answer::Status(status) => result.answers.push(status),
                Answer::Missing(classes) => {
                    result.missing.push((server, classes));
                    result.answers.push(Status { idle: false, ..Status::default() });
                }
            }
        }
        Ok(result)
    }

    /// Asks one server.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn poll_one(&mut self, server: usize, round: u64) -> Result<Answer, String> {
        let server = &mut self.servers[server];
        let (op, payload) = server.trace(Op::Poll, &wire::encode_poll(round), &[Op::Status, Op::NeedLayout])?;
        let wrong = |error: wire::WireError| format!("memory server {}: {error}", server.address);
        if op == Op::NeedLayout {
            return wire::decode_missing(&payload).map(Answer::Missing).map_err(wrong);
        }
        let (of, status) = wire::decode_status(&payload).map_err(wrong)?;
        if of != round {
            return Err(format!("memory server {}: it answers the poll of round {of}, not {round}", server.address));
        }
        Ok(Answer::Status(status))
    }

    /// Gives a server layouts.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn teach(&mut self, server: usize, mut layouts: &[Layout]) -> Result<(), String> {
        while !layouts.is_empty() {
            let (now, rest) = layouts.split_at(wire::layouts_that_fit(layouts).max(1));
            self.servers[server].trace(Op::Layout, &wire::encode_layouts(now), &[Op::Status])?;
            layouts = rest;
        }
        Ok(())
    }

    /// Traces from the export's roots. Layouts are sent when they are asked for.
    ///
    /// # Errors
    /// Why not, naming the server, or the class that the export does not have.
    pub fn trace(&mut self, export: &Export) -> Result<Traced, String> {
        let known: HashMap<u32, &Layout> = export.layouts.iter().map(|layout| (layout.klass, layout)).collect();
        let start = Instant::now();
        self.start(&export.roots)?;
        let mut termination = Termination::default();
        let mut layouts = 0;
        let mut rounds = 0;
        loop {
            rounds += 1;
            let round = self.poll(rounds)?;
            for (server, classes) in &round.missing {
                let theirs = classes.iter().map(|class| known.get(class).copied().cloned().ok_or(class)).collect::<Result<Vec<_>, _>>();
                let theirs = theirs.map_err(|class| {
                    format!(
                        "memory server {} has an object of the class {class:#x}, which the export does not know",
                        self.servers[*server].address
                    )
                })?;
                layouts += theirs.len();
                self.teach(*server, &theirs)?;
            }
            if termination.round(&round.answers) {
                break;
            }
            if round.missing.is_empty() {
                std::thread::sleep(BETWEEN_POLLS);
            }
        }
        let elapsed = start.elapsed();
        let servers = (0..self.servers.len()).map(|server| self.result(server)).collect::<Result<_, _>>()?;
        Ok(Traced { servers, elapsed, rounds, layouts })
    }

    /// Gives the memory back.
    ///
    /// # Errors
    /// Why not, naming the server.
    pub fn leave(self) -> Result<(), String> {
        self.servers.into_iter().map(Server::leave).fold(Ok(()), Result::and)
    }

    fn result(&mut self, index: usize) -> Result<Outcome, String> {
        let words = self.geometry.bytes_of(index) / 512;
        let marks = self.elements(index, Op::ReadBitmap, Op::Bitmap, words)?;
        let discovered = self.elements(index, Op::ReadDiscovered, Op::Discovered, words * 64)?;
        let server = &mut self.servers[index];
        let (_, payload) = server.trace(Op::TraceEnd, &[], &[Op::LiveStats])?;
        let (cycle, counts, nanoseconds) =
            wire::decode_counts(&payload).map_err(|error| format!("memory server {}: {error}", server.address))?;
        if cycle != self.cycles {
            return Err(format!("memory server {}: it has ended cycle {cycle}, not {}", server.address, self.cycles));
        }
        if marks.len() as u64 != words {
            return Err(format!("memory server {}: its bitmap has {} words, not {words}", server.address, marks.len()));
        }
        Ok(Outcome { marks, discovered, counts, busy: Duration::from_nanos(nanoseconds) })
    }

    /// A whole vector, of so many elements at most: the answer that has less than was asked for is the last.
    fn elements(&mut self, index: usize, read: Op, answer: Op, most: u64) -> Result<Vec<u64>, String> {
        let server = &mut self.servers[index];
        let mut all = Vec::new();
        loop {
            let first = all.len() as u64;
            let (_, payload) = server.trace(read, &wire::encode_counted(first, MOST as u32), &[answer])?;
            let (of, elements) = wire::decode_elements(&payload).map_err(|error| format!("memory server {}: {error}", server.address))?;
            if of != first {
                return Err(format!("memory server {}: it answers {} from {of} on, not {first}", server.address, read.name()));
            }
            all.extend_from_slice(&elements);
            if all.len() as u64 > most {
                return Err(format!("memory server {}: it answers {} with more than the {most} there can be", server.address, read.name()));
            }
            if elements.len() < MOST {
                return Ok(all);
            }
        }
    }
}

/// What a server has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its counters.
    Status(Status),
    /// Classes whose layouts it needs.
    Missing(Vec<u32>),
}

/// What servers have answered.
#[derive(Clone, Debug)]
pub struct Round {
    /// By server.
    pub answers: Vec<Status>,
    /// Servers that need layouts, and of which classes.
    pub missing: Vec<(usize, Vec<u32>)>,
}
