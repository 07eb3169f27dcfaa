// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The page of counters in Prometheus' text format.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::identity::{Identities, Identity};
use crate::metrics::Metrics;
use crate::shared::Shared;
use crate::store::Store;

/// A page, line by line.
#[derive(Default)]
struct Page(String);

impl Page {
    fn metric(&mut self, name: &str, kind: &str, help: &str, values: impl IntoIterator<Item = (String, u64)>) {
        let _ = writeln!(self.0, "# HELP lull_memd_{name} {help}\n# TYPE lull_memd_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(self.0, "lull_memd_{name}{labels} {value}");
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.metric(name, "gauge", help, [(String::new(), value)]);
    }

    fn counter(&mut self, name: &str, help: &str, counter: &AtomicU64) {
        self.metric(name, "counter", help, [(String::new(), counter.load(Ordering::Relaxed))]);
    }

    fn store(&mut self, store: &Store) {
        let census = store.census();
        self.gauge("capacity_bytes", "Memory for clients.", store.arena.capacity());
        self.gauge("committed_bytes", "The part of it that the kernel has given yet.", store.arena.committed());
        self.gauge("free_bytes", "Memory for clients that no region has.", store.arena.free());
        self.gauge("clients", "Clients with a connection, or with regions and within --linger after their last.", census.clients as u64);
        self.gauge("regions", "Regions of all clients.", census.regions as u64);
    }

    fn keys(&mut self, identities: &Identities) {
        let mut of_keys = |name: &str, help: &str, value: fn(&Identity) -> u64| {
            let values = identities.iter().map(|identity| (format!("{{key=\"{}\"}}", identity.name), value(identity)));
            self.metric(name, "gauge", help, values.collect::<Vec<_>>());
        };
        of_keys("key_bytes", "Memory of the clients that have a key.", Identity::bytes);
        of_keys("key_connections", "Connections of the clients that have a key.", |identity| identity.connections() as u64);
        of_keys("key_cycles", "Cycles of tracing of the clients that have a key.", |identity| identity.cycles() as u64);
        of_keys("key_trace_bytes", "Memory of these, beside their regions.", Identity::trace_bytes);
        of_keys("key_trace_threads", "Threads of these.", |identity| identity.trace_threads() as u64);
    }

    fn happened(&mut self, metrics: &Metrics) {
        self.counter("accepted_connections_total", "Connections accepted.", &metrics.accepted);
        let strangers = "Connections closed for others before they said whose they are.";
        self.counter("strangers_dropped_total", strangers, &metrics.strangers_dropped);
        self.counter("encrypted_connections_total", "Connections whose frames are encrypted and proven.", &metrics.encrypted);
        self.counter("cut_frames_total", "Connections that ended within a frame.", &metrics.cut);
        self.counter("pages_fetched_total", "Pages sent to clients.", &metrics.pages_fetched);
        self.counter("pages_written_total", "Pages replaced by clients.", &metrics.pages_written);
        self.counter("trace_cycles_total", "Cycles of tracing begun.", &metrics.cycles);
        self.counter("trace_failed_total", "Cycles of tracing that failed.", &metrics.cycles_failed);
        self.counter("trace_objects_total", "Objects marked in cycles that their client has ended.", &metrics.objects_marked);
        self.counter("trace_ghosts_total", "References received from other servers.", &metrics.ghosts_received);
        self.counter("received_bytes_total", "Bytes of whole frames received.", &metrics.bytes_received);
        self.counter("sent_bytes_total", "Bytes of answers sent.", &metrics.bytes_sent);
        let frames = metrics.frames().map(|(op, count)| (format!("{{op=\"{}\"}}", op.name()), count));
        self.metric("requests_total", "counter", "Requests that passed all checks.", frames);
        let errors = metrics.errors().map(|(code, count)| (format!("{{code=\"{}\"}}", code.name()), count));
        self.metric("errors_total", "counter", "Errors sent to clients.", errors);
    }
}

fn page(shared: &Shared) -> String {
    let mut page = Page::default();
    page.store(&shared.store);
    page.gauge("connections", "Open connections.", shared.live.connections() as u64);
    page.gauge("trace_senders", "Threads that send to other servers.", shared.live.senders() as u64);
    page.gauge("stopping", "1 after the server was told to stop.", shared.phase.stopping().into());
    page.keys(&shared.identities);
    page.happened(&shared.metrics);
    page.0
}

/// The answer to a request. Only `/metrics` is known.
pub fn answer(shared: &Shared, head: &[u8]) -> Vec<u8> {
    let (method, target) = lull_pages::first_line(head);
    let known = method == b"GET" && (target == b"/metrics" || target.starts_with(b"/metrics?"));
    let (status, body) = if known { ("200 OK", page(shared)) } else { ("404 Not Found", "see /metrics\n".to_owned()) };
    let length = body.len();
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes()
}
