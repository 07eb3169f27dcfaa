// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Counters, and their page in Prometheus' text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use lull_far_protocol::{ErrorCode, Op};

use crate::identity::Identity;
use crate::server::Shared;

/// What has happened since the server started. All counters are independent of each other: relaxed.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Connections that are open.
    pub connections: AtomicUsize,
    /// Threads that send what they have traced to other servers.
    pub senders: AtomicUsize,
    /// Connections accepted.
    pub accepted: AtomicU64,
    /// Connections that were closed because others came before anybody knew whose they are.
    pub strangers_dropped: AtomicU64,
    /// Connections that ended within a frame.
    pub cut: AtomicU64,
    /// Connections whose frames are encrypted and proven.
    pub encrypted: AtomicU64,
    /// Pages sent in DATA.
    pub pages_fetched: AtomicU64,
    /// Pages replaced by WRITE.
    pub pages_written: AtomicU64,
    /// Bytes of whole frames received.
    pub bytes_received: AtomicU64,
    /// Bytes of answers sent.
    pub bytes_sent: AtomicU64,
    /// Cycles of tracing begun.
    pub cycles: AtomicU64,
    /// Those of them that failed.
    pub cycles_failed: AtomicU64,
    /// Objects marked in cycles that were ended by their client.
    pub objects_marked: AtomicU64,
    /// References that other servers have sent.
    pub ghosts_received: AtomicU64,
    /// By number, which is below 64.
    frames: [[AtomicU64; 32]; 2],
    errors: [AtomicU64; ErrorCode::ALL.len() + 1],
}

impl Metrics {
    /// Adds to a counter.
    pub fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Counts a request that passed all checks.
    pub fn frame(&self, op: Op) {
        self.frames_of(op).fetch_add(1, Ordering::Relaxed);
    }

    fn frames_of(&self, op: Op) -> &AtomicU64 {
        &self.frames[op as usize / 32][op as usize % 32]
    }

    /// Counts an ERROR that was sent.
    pub fn error(&self, code: ErrorCode) {
        self.errors[code as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn page(&self, shared: &Shared) -> String {
        let census = shared.store.census();
        let arena = &shared.store.arena;
        let mut page = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: &[(String, u64)]| {
            let _ = writeln!(page, "# HELP lull_memd_{name} {help}\n# TYPE lull_memd_{name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(page, "lull_memd_{name}{labels} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value)];
        let get = |counter: &AtomicU64| one(counter.load(Ordering::Relaxed));
        metric("capacity_bytes", "gauge", "Memory for clients.", &one(arena.capacity()));
        metric("committed_bytes", "gauge", "The part of it that the kernel has given yet.", &one(arena.committed()));
        metric("free_bytes", "gauge", "Memory for clients that no region has.", &one(arena.free()));
        metric(
            "clients",
            "gauge",
            "Clients with a connection, or with regions and within --linger after their last.",
            &one(census.clients as u64),
        );
        metric("regions", "gauge", "Regions of all clients.", &one(census.regions as u64));
        metric("connections", "gauge", "Open connections.", &one(self.connections.load(Ordering::Relaxed) as u64));
        metric("trace_senders", "gauge", "Threads that send to other servers.", &one(self.senders.load(Ordering::Relaxed) as u64));
        metric("stopping", "gauge", "1 after the server was told to stop.", &one(shared.stopping().into()));
        metric("connections_total", "counter", "Connections accepted.", &get(&self.accepted));
        metric(
            "strangers_dropped_total",
            "counter",
            "Connections closed for others before they said whose they are.",
            &get(&self.strangers_dropped),
        );
        metric("encrypted_connections_total", "counter", "Connections whose frames are encrypted and proven.", &get(&self.encrypted));
        metric("cut_frames_total", "counter", "Connections that ended within a frame.", &get(&self.cut));
        let of_keys = |value: fn(&Identity) -> u64| -> Vec<_> {
            shared.identities.iter().map(|identity| (format!("{{key=\"{}\"}}", identity.name), value(identity))).collect()
        };
        metric("key_bytes", "gauge", "Memory of the clients that have a key.", &of_keys(Identity::bytes));
        metric(
            "key_connections",
            "gauge",
            "Connections of the clients that have a key.",
            &of_keys(|identity| identity.connections() as u64),
        );
        metric("key_cycles", "gauge", "Cycles of tracing of the clients that have a key.", &of_keys(|identity| identity.cycles() as u64));
        metric("key_trace_bytes", "gauge", "Memory of these, beside their regions.", &of_keys(Identity::trace_bytes));
        metric("key_trace_threads", "gauge", "Threads of these.", &of_keys(|identity| identity.trace_threads() as u64));
        metric("pages_fetched_total", "counter", "Pages sent to clients.", &get(&self.pages_fetched));
        metric("pages_written_total", "counter", "Pages replaced by clients.", &get(&self.pages_written));
        metric("trace_cycles_total", "counter", "Cycles of tracing begun.", &get(&self.cycles));
        metric("trace_failed_total", "counter", "Cycles of tracing that failed.", &get(&self.cycles_failed));
        metric("trace_objects_total", "counter", "Objects marked in cycles that their client has ended.", &get(&self.objects_marked));
        metric("trace_ghosts_total", "counter", "References received from other servers.", &get(&self.ghosts_received));
        metric("received_bytes_total", "counter", "Bytes of whole frames received.", &get(&self.bytes_received));
        metric("sent_bytes_total", "counter", "Bytes of answers sent.", &get(&self.bytes_sent));
        let frames: Vec<_> = Op::ALL
            .iter()
            .map(|&op| (format!("{{op=\"{}\"}}", op.name()), self.frames_of(op).load(Ordering::Relaxed)))
            .filter(|(_, count)| *count > 0)
            .collect();
        metric("requests_total", "counter", "Requests that passed all checks.", &frames);
        let errors: Vec<_> = ErrorCode::ALL
            .iter()
            .map(|&code| (format!("{{code=\"{}\"}}", code.name()), self.errors[code as usize].load(Ordering::Relaxed)))
            .collect();
        metric("errors_total", "counter", "Errors sent to clients.", &errors);
        page
    }
}

/// The answer to a request. Only `/metrics` is known.
pub fn answer(shared: &Shared, head: &[u8]) -> Vec<u8> {
    let (method, target) = lull_pages::first_line(head);
    let known = method == b"GET" && (target == b"/metrics" || target.starts_with(b"/metrics?"));
    let (status, body) = if known { ("200 OK", shared.metrics.page(shared)) } else { ("404 Not Found", "see /metrics\n".to_owned()) };
    let length = body.len();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes()
}
