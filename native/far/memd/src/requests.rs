// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What clients and other servers ask about tracing, and the answers. A cycle belongs to the connection that has begun it, and
//! ends with it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use lull_far_protocol::Op;
use lull_far_trace::extents::Extents;
use lull_far_trace::termination::Status;
use lull_far_trace::wire::{self, WireError};

use crate::cycle::{Cycle, Polled, log_end};
use crate::metrics::Metrics;
use crate::shared::Shared;
use crate::store::{Refusal, Session, refuse};

/// One connection's part in tracing.
pub struct Tracing<'a> {
    shared: &'a Arc<Shared>,
    session: &'a Session,
    cycle: Option<Arc<Cycle>>,
}

impl<'a> Tracing<'a> {
    /// No cycle.
    pub fn new(shared: &'a Arc<Shared>, session: &'a Session) -> Tracing<'a> {
        Tracing { shared, session, cycle: None }
    }

    /// The operation and the payload of the answer.
    ///
    /// # Errors
    /// `BAD_REQUEST`, `UNKNOWN_REGION`, `TRACE_FAILED`, `NO_TRACE`.
    pub fn request(&mut self, region: u32, op: Op, payload: &[u8]) -> Result<(Op, Vec<u8>), Refusal> {
        let wrong = |error: WireError| refuse!(BadRequest, "{}: {error}", op.name());
        match op {
            Op::TraceStart => {
                let start = wire::Start::decode(payload).map_err(wrong)?;
                if self.shared.phase.stopping() {
                    return Err(refuse!(NoTrace, "the server is being stopped and starts no cycles"));
                }
                let cycle = Cycle::begin(self.shared, self.session, region, start)?;
                Metrics::add(&self.shared.metrics.cycles, 1);
                self.cycle = Some(cycle);
                Ok((Op::Status, wire::encode_status(0, Status { idle: true, ..Status::default() })))
            }
            Op::Layout => {
                let layouts = wire::decode_layouts(payload).map_err(wrong)?;
                Ok((Op::Status, wire::encode_status(0, self.cycle()?.learn(layouts)?)))
            }
            Op::TraceRoots => {
                let roots = wire::decode_roots(payload).map_err(wrong)?;
                Ok((Op::Status, wire::encode_status(0, self.cycle()?.roots(roots)?)))
            }
            Op::TraceOld => {
                let (first, words) = wire::decode_elements(payload).map_err(wrong)?;
                Ok((Op::Status, wire::encode_status(0, self.cycle()?.old(first, words)?)))
            }
            Op::Poll => {
                let round = wire::decode_poll(payload).map_err(wrong)?;
                Ok(match self.cycle()?.poll()? {
                    Polled::Status(status) => (Op::Status, wire::encode_status(round, status)),
                    Polled::Missing(classes) => (Op::NeedLayout, wire::encode_missing(&classes)),
                })
            }
            Op::ReadBitmap | Op::ReadDiscovered | Op::ReadLines | Op::ReadLive => {
                let (first, count) = wire::decode_counted(payload).map_err(wrong)?;
                self.cycle()?.result(|tracer| {
                    // Of a heap that does not change nobody asks for lines.
                    let (answer, all) = match op {
                        Op::ReadBitmap => (Op::Bitmap, tracer.marks()),
                        Op::ReadDiscovered => (Op::Discovered, tracer.discovered()),
                        Op::ReadLines => (Op::Lines, tracer.extents().map_or(&[][..], Extents::lines)),
                        _ => (Op::Live, tracer.extents().map_or(&[][..], Extents::live)),
                    };
                    match usize::try_from(first).ok().and_then(|first| all.get(first..)) {
                        Some(rest) => Ok((answer, wire::encode_elements(first, &rest[..rest.len().min(count as usize)]))),
                        None => Err(refuse!(BadRequest, "{}: from {first} on, of {}", op.name(), all.len())),
                    }
                })?
            }
            Op::TraceEnd => {
                let cycle = self.cycle.take().ok_or_else(no_cycle)?;
                let (counts, busy) = cycle.counts();
                self.session.end(&cycle);
                self.shared.metrics.objects_marked.fetch_add(counts.marked, Ordering::Relaxed);
                log_end(&cycle, counts, busy);
                Ok((Op::LiveStats, wire::encode_counts(cycle.number(), counts, busy.as_nanos() as u64)))
            }
            Op::Ghost => {
                let (number, tasks) = wire::decode_tasks(payload).map_err(wrong)?;
                self.session.cycle(number)?.receive(&tasks)?;
                Metrics::add(&self.shared.metrics.ghosts_received, tasks.len());
                Ok((Op::GhostAck, wire::encode_counted(number, tasks.len() as u32)))
            }
            _ => Err(refuse!(BadRequest, "{} is not for a server", op.name())),
        }
    }

    fn cycle(&self) -> Result<&Cycle, Refusal> {
        self.cycle.as_deref().ok_or_else(no_cycle)
    }
}

fn no_cycle() -> Refusal {
    refuse!(NoTrace, "no cycle was begun on this connection, or it is over")
}

impl Drop for Tracing<'_> {
    fn drop(&mut self) {
        if let Some(cycle) = self.cycle.take() {
            self.session.end(&cycle);
        }
    }
}
