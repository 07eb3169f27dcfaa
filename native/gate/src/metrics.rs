// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the gate has done, counted; and the Prometheus text of it, served by a thread that the JVM never stops.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::protocol::Opaque;

/// A count that only grows; any thread.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Zero.
    pub const fn new() -> Self {
        Count(AtomicU64::new(0))
    }

    /// More by `n`.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    /// The count.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper bounds of the classes in which errors of predictions are counted, milliseconds; above the last is one more.
pub const ERROR_BOUNDS_MS: [u64; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Everything that is counted.
#[derive(Debug, Default)]
#[allow(missing_docs)] // the texts are in `text`
pub struct Metrics {
    pub collections: Count,
    pub safepoints: Count,
    pub paused_ns: Count,
    pub connections: Count,
    pub opaque: [Count; Opaque::LABELS.len()],
    pub answered: Count,
    pub would_answer: Count,
    pub kept: Count,
    pub waits: Count,
    pub withdrawn: Count,
    pub errors: [Count; ERROR_BOUNDS_MS.len() + 1],
    pub errors_ns: Count,
}

impl Metrics {
    /// All zero.
    pub const fn new() -> Self {
        Metrics {
            collections: Count::new(),
            safepoints: Count::new(),
            paused_ns: Count::new(),
            connections: Count::new(),
            opaque: [const { Count::new() }; Opaque::LABELS.len()],
            answered: Count::new(),
            would_answer: Count::new(),
            kept: Count::new(),
            waits: Count::new(),
            withdrawn: Count::new(),
            errors: [const { Count::new() }; ERROR_BOUNDS_MS.len() + 1],
            errors_ns: Count::new(),
        }
    }

    /// A prediction was off by so much.
    pub fn error(&self, ns: u64) {
        let class = ERROR_BOUNDS_MS.iter().position(|bound| ns <= bound * 1_000_000).unwrap_or(ERROR_BOUNDS_MS.len());
        self.errors[class].add(1);
        self.errors_ns.add(ns);
    }

    /// The Prometheus text, exposition format 0.0.4.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut counter = |name: &str, help: &str, value: &dyn std::fmt::Display| {
            let _ = writeln!(text, "# HELP lull_gate_{name} {help}\n# TYPE lull_gate_{name} counter\nlull_gate_{name} {value}");
        };
        counter("collections_total", "Pauses for garbage collection that are over.", &self.collections.get());
        counter("safepoints_total", "Other pauses that were seen.", &self.safepoints.get());
        counter("paused_seconds_total", "Time in pauses for garbage collection.", &(self.paused_ns.get() as f64 / 1e9));
        counter("connections_total", "Connections that were watched.", &self.connections.get());
        counter("answered_total", "Requests that the gate answered busy.", &self.answered.get());
        counter("would_answer_total", "Requests that it would have answered without dry-run.", &self.would_answer.get());
        counter("kept_total", "Requests that arrived in a pause and were left to the application by decision.", &self.kept.get());
        counter("waits_total", "Blocking reads and selectors that waited for the end of a pause.", &self.waits.get());
        counter("withdrawn_events_total", "Events that selectors were not told because the gate had answered.", &self.withdrawn.get());
        let _ = writeln!(
            text,
            "# HELP lull_gate_opaque_connections_total Connections that the gate gave up, by reason.\n# TYPE lull_gate_opaque_connections_total counter"
        );
        for (label, count) in Opaque::LABELS.iter().zip(&self.opaque) {
            let _ = writeln!(text, "lull_gate_opaque_connections_total{{reason=\"{label}\"}} {}", count.get());
        }
        let _ = writeln!(
            text,
            "# HELP lull_gate_prediction_error_seconds Predicted less actual length of pauses, absolute.\n# TYPE lull_gate_prediction_error_seconds histogram"
        );
        let mut sum = 0;
        for (i, count) in self.errors.iter().enumerate() {
            sum += count.get();
            let bound = ERROR_BOUNDS_MS.get(i).map_or("+Inf".to_string(), |ms| format!("{}", *ms as f64 / 1e3));
            let _ = writeln!(text, "lull_gate_prediction_error_seconds_bucket{{le=\"{bound}\"}} {sum}");
        }
        let _ = writeln!(
            text,
            "lull_gate_prediction_error_seconds_sum {}\nlull_gate_prediction_error_seconds_count {sum}",
            self.errors_ns.get() as f64 / 1e9
        );
        text
    }
}

/// Serves the text at `http://127.0.0.1:port/metrics` (whatever the path), one client at a time.
///
/// # Errors
/// The port cannot be had.
pub fn serve(port: u16, metrics: &'static Metrics) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    std::thread::Builder::new().name("gate metrics".into()).spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else {
                // Out of descriptors, mostly.
                std::thread::sleep(Duration::from_millis(100));
                continue;
            };
            let limit = Some(Duration::from_secs(1));
            let _ = stream.set_read_timeout(limit).and(stream.set_write_timeout(limit));
            // What is asked for does not matter, but it must have come before we close.
            let _ = stream.read(&mut [0; 4096]);
            let body = metrics.text();
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_in_classes() {
        let metrics = Metrics::new();
        for ms in [0, 1, 2, 3, 200] {
            metrics.error(ms * 1_000_000);
        }
        let text = metrics.text();
        for line in ["le=\"0.001\"} 2", "le=\"0.002\"} 3", "le=\"0.004\"} 4", "le=\"0.128\"} 4", "le=\"+Inf\"} 5", "seconds_count 5"] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
        assert!(text.lines().all(|line| line.starts_with('#') || line.starts_with("lull_gate_")));
    }
}
