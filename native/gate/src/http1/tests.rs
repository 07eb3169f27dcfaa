// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

use super::*;
use proptest::prelude::*;

fn connection() -> Http1 {
    Http1::new(Arc::from(vec!["x-deadline".to_string()]))
}

/// A message as it is generated: bytes, and what must come of them.
#[derive(Debug, Clone)]
struct Message {
    bytes: Vec<u8>,
    head: bool,
}

/// Bodies that look like what they must not be taken for.
fn body_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        Just(b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        Just(b"0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n".to_vec()),
    ]
}

fn chunked(parts: &[Vec<u8>], extension: bool, trailer: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        write!(bytes, "{:X}{}\r\n", part.len(), if extension { ";a=\"b\"" } else { "" }).unwrap();
        bytes.extend_from_slice(part);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(if trailer { b"0\r\nDigest: x\r\nOther: y\r\n\r\n" } else { b"0\r\n\r\n" });
    bytes
}

fn framed_body() -> impl Strategy<Value = (String, Vec<u8>)> {
    prop_oneof![
        body_bytes().prop_map(|body| (format!("Content-Length: {}\r\n", body.len()), body)),
        (proptest::collection::vec(body_bytes(), 0..4), any::<bool>(), any::<bool>())
            .prop_map(|(parts, e, t)| ("transfer-encoding:chunked\r\n".to_string(), chunked(&parts, e, t))),
    ]
}

fn request() -> impl Strategy<Value = Message> {
    (prop_oneof![Just("GET"), Just("HEAD"), Just("DELETE"), Just("POST")], proptest::option::of(framed_body())).prop_map(
        |(method, body)| {
            let (field, body) = body.unwrap_or_default();
            let mut bytes = format!("{method} /a?b HTTP/1.1\r\nHost: h\r\n{field}Accept: */*\r\n\r\n").into_bytes();
            bytes.extend(body);
            Message { bytes, head: method == "HEAD" }
        },
    )
}

/// An answer to a request, perhaps with interim ones before it.
fn response(head: bool) -> impl Strategy<Value = Vec<u8>> {
    (0..3usize, prop_oneof![Just(200), Just(404), Just(503)], prop_oneof![Just(0), Just(204), Just(304)], framed_body()).prop_map(
        move |(interim, status, empty, (field, body))| {
            let mut bytes = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(interim);
            if empty != 0 {
                bytes.extend(format!("HTTP/1.1 {empty} Nothing\r\nETag: 1\r\n\r\n").into_bytes());
            } else {
                bytes.extend(format!("HTTP/1.1 {status} So\r\nDate: now\r\n{field}\r\n").into_bytes());
                if !head {
                    bytes.extend(body);
                }
            }
            bytes
        },
    )
}

fn exchange() -> impl Strategy<Value = (Message, Vec<u8>)> {
    request().prop_flat_map(|message| {
        let head = message.head;
        (Just(message), response(head))
    })
}

/// Cuts bytes into pieces at these places.
fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut at: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2).map(|w| &bytes[w[0]..w[1]]).collect()
}

proptest! {
    /// One byte at a time, or in any pieces: idle exactly at the ends of exchanges.
    #[test]
    fn idle_between_exchanges_and_nowhere_else(exchanges in proptest::collection::vec(exchange(), 1..5), bytewise in any::<bool>(), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        let mut http = connection();
        for (request, response) in &exchanges {
            prop_assert!(http.is_idle());
            let cut = |bytes: &[u8]| -> Vec<Vec<u8>> {
                if bytewise { bytes.iter().map(|&b| vec![b]).collect() } else { pieces(bytes, &cuts).into_iter().map(<[u8]>::to_vec).collect() }
            };
            let mut seen = 0;
            for piece in cut(&request.bytes) {
                http.received(&piece).unwrap();
                seen += piece.len();
                prop_assert!(seen == 0 || !http.is_idle(), "idle after {} bytes of a request", seen);
            }
            let mut seen = 0;
            for piece in cut(response) {
                http.sent(&piece).unwrap();
                seen += piece.len();
                prop_assert_eq!(http.is_idle(), seen == response.len(), "after {} bytes of an answer", seen);
            }
        }
    }

    /// Several requests before the first answer.
    #[test]
    fn pipelined(exchanges in proptest::collection::vec(exchange(), 1..6), cuts in proptest::collection::vec(any::<usize>(), 0..9)) {
        let mut http = connection();
        let requests: Vec<u8> = exchanges.iter().flat_map(|(request, _)| request.bytes.clone()).collect();
        let responses: Vec<u8> = exchanges.iter().flat_map(|(_, response)| response.clone()).collect();
        for piece in pieces(&requests, &cuts) { http.received(piece).unwrap(); }
        let mut seen = 0;
        for piece in pieces(&responses, &cuts) {
            http.sent(piece).unwrap();
            seen += piece.len();
            prop_assert_eq!(http.is_idle(), seen == responses.len());
        }
    }

    /// The front of a buffer is a request exactly when all of its bytes are there, whatever follows; and is as long as it is.
    #[test]
    fn the_front_is_the_whole_request(message in request(), next in request(), at in any::<usize>()) {
        let http = connection();
        let mut buffer = message.bytes.clone();
        buffer.extend(&next.bytes);
        let whole = Front::Request { length: message.bytes.len(), deadline: None };
        prop_assert_eq!(http.front(&buffer), whole);
        prop_assert_eq!(http.front(&message.bytes), whole);
        let cut = at % message.bytes.len();
        prop_assert_eq!(http.front(&message.bytes[..cut]), Front::Incomplete, "of {} bytes", cut);
    }

    /// What the gate sees in the buffer and what the application's reads show end at the same byte.
    #[test]
    fn two_ways_to_the_same_end(garbage in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b' '), Just(b':'), Just(b'0'), Just(b'G'), any::<u8>()], 0..30), message in request(), at in any::<usize>()) {
        // A valid request with something foreign somewhere.
        let mut bytes = message.bytes.clone();
        let at = at % (bytes.len() + 1);
        bytes.splice(at..at, garbage);
        let mut one = connection();
        let end = (1..=bytes.len()).find(|&n| one.received(&bytes[n - 1..n]).is_err() || one.request.is_boundary());
        match connection().front(&bytes) {
            Front::Request { length, .. } => prop_assert_eq!(Some(length), end),
            Front::Incomplete => prop_assert_eq!(None, end),
            Front::Aside { .. } => prop_assert!(false, "nothing of HTTP/1.1 is aside"),
            Front::Leave | Front::Unknown(_) => {}
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), cuts in proptest::collection::vec(any::<usize>(), 0..4)) {
        let mut http = connection();
        let _ = http.front(&bytes);
        for piece in pieces(&bytes, &cuts) {
            if http.received(piece).is_err() { break; }
        }
        let mut http = connection();
        http.received(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        for piece in pieces(&bytes, &cuts) {
            if http.sent(piece).is_err() { break; }
        }
    }

    /// httparse, which hyper uses, agrees where a head ends whenever ours accepts it.
    #[test]
    fn another_parser_agrees(method in "[A-Z]{1,7}", target in "[!-~]{1,12}", fields in proptest::collection::vec(("[A-Za-z-]{1,12}", "[ -~\t]{0,20}"), 0..6), noise in proptest::option::of((any::<usize>(), any::<u8>()))) {
        let mut bytes = format!("{method} {target} HTTP/1.1\r\n").into_bytes();
        for (name, value) in fields { bytes.extend(format!("{name}:{value}\r\n").into_bytes()); }
        bytes.extend(b"\r\n");
        if let Some((at, byte)) = noise { let at = at % bytes.len(); bytes[at] = byte; }
        if let Ok(Some(end)) = head::find_end(&bytes, 0)
            && RequestHead::parse(&bytes[..end], &[]).is_ok() {
                let mut headers = [httparse::EMPTY_HEADER; 16];
                let mut other = httparse::Request::new(&mut headers);
                prop_assert_eq!(other.parse(&bytes), Ok(httparse::Status::Complete(end)));
            }
    }
}

#[test]
fn what_is_not_understood() {
    for bytes in [
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\n\n",
        "GET / HTTP/1.1\r\nA: b\n\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n\r\n",
        "GET / HTTP/1.1\r\nNoColon\r\n\r\n",
        "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n",
        "GET / HTTP/1.1\r\nA: \0\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\nx",
        "POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\nx",
        "POST / HTTP/1.1\r\nContent-Length: 9999999999999999999\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\nx\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1111111111111111\r\n",
    ] {
        assert!(matches!(connection().front(bytes.as_bytes()), Front::Unknown(_)), "{bytes:?}");
        assert!(matches!(connection().received(bytes.as_bytes()), Err(Opaque::Request(_))), "{bytes:?}");
    }
    let endless = vec![b'a'; 65 * 1024];
    assert!(matches!(connection().front(&endless), Front::Unknown(_)));
    // The first byte of a TLS handshake is followed until it is long enough to be told from a request.
    assert_eq!(connection().front(&[0x16, 3, 1, 2, 0]), Front::Incomplete);
}

#[test]
fn what_only_the_application_can_answer() {
    for field in ["Connection: close", "Connection: keep-alive, Close", "Upgrade: websocket", "Connection: Upgrade", "Expect: 100-continue"]
    {
        let request = format!("POST / HTTP/1.1\r\n{field}\r\nContent-Length: 2\r\n\r\nab");
        assert_eq!(connection().front(request.as_bytes()), Front::Leave, "{field}");
        // Its framing is known nevertheless.
        let mut http = connection();
        http.received(request.as_bytes()).unwrap();
        http.sent(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        assert!(http.is_idle());
    }
}

#[test]
fn answers_whose_end_is_not_known() {
    for answer in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 20 OK\r\nContent-Length: 1\r\n\r\n",
        "HTTP/1.1 2000\r\nContent-Length: 1\r\n\r\n",
        "ICY 200 OK\r\n\r\n",
    ] {
        let mut http = connection();
        http.received(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        assert!(matches!(http.sent(answer.as_bytes()), Err(Opaque::Response(_))), "{answer:?}");
    }
    let unasked = connection().sent(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(unasked, Err(Opaque::Response("an answer without a request")));
}

#[test]
fn too_many_requests_without_an_answer() {
    let mut http = connection();
    let request = b"GET / HTTP/1.1\r\n\r\n";
    for _ in 0..MOST_OUTSTANDING {
        http.received(request).unwrap();
    }
    assert!(http.received(request).is_err());
}

#[test]
fn an_answer_before_the_end_of_its_request() {
    let mut http = connection();
    http.received(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na").unwrap();
    http.sent(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert!(!http.is_idle());
    http.received(b"bc").unwrap();
    assert!(http.is_idle());
}

/// A client that has asked whether to send its body, and been answered, may send something else.
#[test]
fn an_answer_to_a_request_whose_body_may_never_come() {
    let mut http = connection();
    http.received(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 18\r\n\r\n").unwrap();
    let refused = b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(http.sent(refused), Err(Opaque::Response("a final answer to a request whose body may never come")));
    // The body came, as it was asked for.
    let mut http = connection();
    http.received(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n").unwrap();
    http.sent(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
    http.received(b"abc").unwrap();
    http.sent(refused).unwrap();
    assert!(http.is_idle());
}

#[test]
fn deadlines() {
    for (fields, deadline) in [
        ("X-Deadline: 250", Some(250)),
        ("x-deadline:0", Some(0)),
        ("X-Deadline: 4294967296", Some(4_294_967_296)),
        ("X-Deadline: 7\r\nX-Deadline: soon", Some(7)),
        ("X-Deadline: soon", None),
        ("X-Deadline: -1", None),
        ("Prefer: wait=2", Some(2000)),
        ("Prefer: respond-async, wait=10", Some(10_000)),
        ("Prefer: wait=2\r\nX-Deadline: 7", Some(7)),
        ("X-Deadline: 7\r\nPrefer: wait=2", Some(7)),
        ("Prefer: wait=999999999999999999", None),
        ("Other: 5", None),
    ] {
        let request = format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n");
        let expected = Front::Request { length: request.len(), deadline: deadline.map(Duration::from_millis) };
        assert_eq!(connection().front(request.as_bytes()), expected, "{fields}");
    }
}

/// A health check that is answered *busy* takes the replica out: what is named goes to the application, and only that.
#[test]
fn health_checks_that_are_named_are_left() {
    let leave = Leave { paths: vec!["/healthz".into(), "/probes/".into()], agents: vec!["kube-probe/".into()] };
    let http = connection().leaving(Arc::new(leave));
    for (target, agent, left) in [
        ("/healthz", "curl", true),
        ("/healthz?full=1", "curl", true),
        ("/healthz/db", "curl", true),
        ("/healthzz", "curl", false),
        ("/health", "curl", false),
        ("/", "curl", false),
        ("/x?to=/healthz", "curl", false),
        ("/probes/a", "curl", true),
        ("/probes", "curl", false),
        ("/orders", "kube-probe/1.31", true),
        ("/orders", "Mozilla kube-probe/1.31", false),
        // As of a proxy; the service's own path is not in the first place.
        ("http://a/healthz", "curl", false),
    ] {
        let request = format!("GET {target} HTTP/1.1\r\nHost: a\r\nUser-Agent: {agent}\r\n\r\n");
        let front = http.front(request.as_bytes());
        let want = if left { Front::Leave } else { Front::Request { length: request.len(), deadline: None } };
        assert_eq!(front, want, "{target} of {agent}");
        assert!(matches!(connection().front(request.as_bytes()), Front::Request { .. }));
    }
    // Without a name of its own, and twice: the first counts.
    let twice = b"GET /a HTTP/1.1\r\nUser-Agent: a\r\nUSER-AGENT: kube-probe/1\r\n\r\n";
    assert!(matches!(http.front(twice), Front::Request { .. }) && matches!(http.front(b"GET /a HTTP/1.1\r\n\r\n"), Front::Request { .. }));
}

#[test]
fn the_busy_answer_is_an_answer() {
    let mut answer = b"old".to_vec();
    connection().busy(b"", Duration::from_micros(1_200_100), &mut answer);
    assert_eq!(
        String::from_utf8(answer.clone()).unwrap(),
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 2\r\nBusy-Until: 1201\r\n\r\n"
    );
    let mut without = Vec::new();
    connection().with_retry_after(false).busy(b"", Duration::from_micros(1_200_100), &mut without);
    assert_eq!(without, b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nBusy-Until: 1201\r\n\r\n");
    let mut http = connection();
    http.received(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    http.sent(&answer).unwrap();
    assert!(http.is_idle());
}
