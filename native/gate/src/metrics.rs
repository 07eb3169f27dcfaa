// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the gate has done, counted; and the Prometheus text of it, served by a thread that the JVM never stops.

use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::answers::Answers;
use crate::pause::PauseClock;
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
    pub events: Count,
    pub events_lost: Count,
    pub tls_connections: Count,
    pub tls_closed: Count,
    pub tls_failed: Count,
    pub tls_refused: Count,
    pub tls_unreachable: Count,
    pub tls_defects: Count,
    pub tls_certificates: Count,
    pub tls_certificate_errors: Count,
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
            events: Count::new(),
            events_lost: Count::new(),
            tls_connections: Count::new(),
            tls_closed: Count::new(),
            tls_failed: Count::new(),
            tls_refused: Count::new(),
            tls_unreachable: Count::new(),
            tls_defects: Count::new(),
            tls_certificates: Count::new(),
            tls_certificate_errors: Count::new(),
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
        counter("flight_events_total", "Pauses of which the flight recorder was told.", &self.events.get());
        counter("flight_events_lost_total", "Pauses of which it could not be told.", &self.events_lost.get());
        counter("tls_connections_total", "Clients of tls-port that were accepted and not refused.", &self.tls_connections.get());
        counter("tls_closed_total", "Clients of tls-port that are gone.", &self.tls_closed.get());
        counter("tls_failed_handshakes_total", "Handshakes that have failed, or took too long.", &self.tls_failed.get());
        counter("tls_refused_total", "Clients that came when there were tls-connections of them.", &self.tls_refused.get());
        counter("tls_unreachable_total", "Clients that were let go as the service did not listen.", &self.tls_unreachable.get());
        counter("tls_defects_total", "Clients that were let go for a defect of the gate's.", &self.tls_defects.get());
        counter("tls_certificates_total", "Certificates that were read anew, and are served.", &self.tls_certificates.get());
        counter("tls_certificate_errors_total", "Those that were wrong, and are not.", &self.tls_certificate_errors.get());
        let _ = writeln!(
            text,
            "# HELP lull_gate_opaque_connections_total Connections that the gate gave up, by reason.\n# TYPE lull_gate_opaque_connections_total counter"
        );
        for (label, count) in Opaque::LABELS.iter().zip(&self.opaque) {
            let _ = writeln!(text, "lull_gate_opaque_connections_total{{reason=\"{label}\"}} {}", count.get());
        }
        let _ = writeln!(
            text,
            "# HELP lull_gate_prediction_error_seconds Predicted less actual length of pauses of all kinds, absolute.\n# TYPE lull_gate_prediction_error_seconds histogram"
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

/// What is answered to a request that begins with this line: the text; at `/answered` the last requests that were answered, if they may be told; at `/health` whether the JVM runs (200) or is stopped (503), for load
/// balancers that ask by HTTP, with whatever method and query.
fn answer(line: &[u8], metrics: &Metrics, answers: Option<&Answers>, clock: &PauseClock) -> String {
    let mut words = line.split(u8::is_ascii_whitespace);
    let (method, target) = (words.next(), words.next().unwrap_or_default());
    let path = target.split(|&b| b == b'?').next().unwrap_or_default();
    let (status, fields, mut body) = match (path, clock.remaining_ns(), answers) {
        (b"/answered", _, Some(answers)) => ("200 OK", String::new(), answers.text()),
        (b"/answered", _, None) => ("403 Forbidden", String::new(), "only where metrics is at a loopback address\n".to_string()),
        (b"/health", None, _) => ("200 OK", String::new(), "runs\n".to_string()),
        (b"/health", Some(ns), _) => {
            let ms = ns.div_ceil(1_000_000);
            ("503 Service Unavailable", format!("Retry-After: {}\r\nBusy-Until: {ms}\r\n", ms.div_ceil(1000)), format!("busy {ms}\n"))
        }
        _ => ("200 OK", String::new(), metrics.text()),
    };
    let length = body.len();
    if method == Some(b"HEAD") {
        body.clear();
    }
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\n{fields}Connection: close\r\n\r\n{body}"
    )
}

/// Serves the text at `/metrics`, or whatever the path but `/health` and `/answered`, to many at once. At an address that only this machine reaches, only to
/// who asks this machine by name or number; only there what clients have asked for is told, and who they are.
///
/// # Errors
/// The address cannot be had.
pub fn serve(address: SocketAddr, metrics: &'static Metrics, answers: &'static Answers, clock: &'static PauseClock) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    let is_local = address.ip().to_canonical().is_loopback();
    let answers = is_local.then_some(answers);
    std::thread::Builder::new().name("gate metrics".into()).spawn(move || {
        // Ends with the process.
        lull_pages::serve(
            &listener,
            None,
            || false,
            |head| {
                // Health checks name whom they please (Envoy: its cluster), and it says no more than that the port answers.
                let is_health = lull_pages::first_line(head).1.split(|&b| b == b'?').next() == Some(b"/health");
                if is_local && !is_health && !lull_pages::names_this_machine(head) {
                    return Some(ELSEWHERE.into());
                }
                Some(answer(head.split(|&b| b == b'\n').next().unwrap_or_default(), metrics, answers, clock).into_bytes())
            },
        )
    })?;
    Ok(())
}

const ELSEWHERE: &str = "HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    #[test]
    fn health_follows_the_pauses() {
        let (metrics, clock) = (Metrics::new(), PauseClock::new());
        let ask = |path: &str| answer(format!("GET {path} HTTP/1.1\r").as_bytes(), &metrics, None, &clock);
        assert!(ask("/health").starts_with("HTTP/1.1 200 OK\r\n") && ask("/health").ends_with("\r\n\r\nruns\n"));
        clock.collection_begins();
        clock.expect_end(crate::kernel::now_ns() + 3_600_000_000_000);
        let busy = ask("/health");
        assert!(busy.starts_with("HTTP/1.1 503 ") && busy.contains("\r\nBusy-Until: 3") && busy.contains("\r\nRetry-After: 3"), "{busy}");
        assert!(ask("/metrics").starts_with("HTTP/1.1 200 OK\r\n") && ask("/healthy").contains("lull_gate_answered_total 0"));
        assert!(answer(b"", &metrics, None, &clock).contains("lull_gate_kept_total 0"));
        for line in ["GET /health", "GET /health?probe=1 HTTP/1.1\r", "OPTIONS /health HTTP/1.0\r", "HEAD /health HTTP/1.1\r"] {
            let answer = answer(line.as_bytes(), &metrics, None, &clock);
            assert!(answer.starts_with("HTTP/1.1 503 "), "{line}: {answer}");
            assert_eq!(answer.ends_with("\r\n\r\n"), line.starts_with("HEAD"), "{line}: {answer}");
        }
        clock.collection_ends();
        assert!(ask("/health").starts_with("HTTP/1.1 200 OK\r\n"));
    }

    /// Behind those who say nothing; and not for a page of the web that a browser here was made to take for ours.
    #[test]
    fn health_is_told_to_many_at_once_and_to_this_machine_only() {
        static METRICS: Metrics = Metrics::new();
        static CLOCK: PauseClock = PauseClock::new();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        static ANSWERS: Answers = Answers::new();
        let described = |line: &[u8]| crate::protocol::Described { line: line.to_vec(), ..Default::default() };
        ANSWERS.add(0, free.into(), vec![described(b"GET /secret HTTP/1.1")]);
        serve(free, &METRICS, &ANSWERS, &CLOCK).unwrap();
        let _silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(free).unwrap()).collect();
        let ask = |path: &str, host: &str| {
            let mut stream = TcpStream::connect(free).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\n{host}\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        for host in ["", "Host: localhost\r\n", "Host: 127.0.0.1:1\r\n"] {
            assert!(ask("/metrics", host).contains("lull_gate_answered_total"), "{host}");
        }
        let text = ask("/metrics", "Host: attacker.example\r\n");
        assert!(text.starts_with("HTTP/1.1 421 ") && !text.contains("lull_gate"), "{text}");
        assert!(ask("/health?full", "Host: cluster_of_envoy\r\n").ends_with("\r\n\r\nruns\n"));
        assert!(
            ask("/answered", "Host: localhost\r\n")
                .ends_with("\r\n\r\n127.0.0.1 - - [01/Jan/1970:00:00:00 +0000] \"GET /secret HTTP/1.1\" 503 0 \"-\" \"-\"\n")
        );
        assert!(!ask("/answered", "Host: attacker.example\r\n").contains("secret"));
        // Who comes from elsewhere is not told.
        let text = answer(b"GET /answered HTTP/1.1", &METRICS, None, &CLOCK);
        assert!(text.starts_with("HTTP/1.1 403 ") && !text.contains("secret"), "{text}");
        assert!(serve(free, &METRICS, &ANSWERS, &CLOCK).is_err());
    }

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
