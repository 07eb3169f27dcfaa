// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Clients of TLS, and a service that speaks none of it, over real sockets.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

use crate::metrics::{Count, Metrics};
use crate::options::Options;
use crate::tls::kernel::break_off;
use crate::tls::relay::{READ, Ready, Relay};
use crate::tls::testing::{self, Directory};
use crate::tls::{Prepared, Serving, within};

/// What was said to the operator in all tests.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn say(line: &str) {
    SAID.lock().unwrap().push(line.to_string());
}

fn was_said(parts: &[&str]) -> bool {
    SAID.lock().unwrap().iter().any(|line| parts.iter().all(|part| line.contains(part)))
}

/// Whether it comes true within a minute.
fn comes(what: impl Fn() -> bool) -> bool {
    let give_up = Instant::now() + Duration::from_secs(60);
    while Instant::now() < give_up {
        if what() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Takes whatever certificate comes.
#[derive(Debug)]
struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &ring::default_provider().signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &ring::default_provider().signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// A service's ports, and TLS before them.
struct Service {
    directory: Directory,
    http1: TcpListener,
    http2: TcpListener,
    address: SocketAddr,
    metrics: &'static Metrics,
    serving: Serving,
}

fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn port(listener: &TcpListener) -> u16 {
    listener.local_addr().unwrap().port()
}

fn prepare(directory: &Directory, http1: u16, http2: u16, tls: SocketAddr, more: &str) -> Result<Prepared, String> {
    let files = directory.files();
    let (cert, key) = (files.cert.display(), files.key.display());
    let text = format!("port={http1},h2-port={http2},tls-port={tls},cert={cert},key={key}{more}");
    let options = Options::parse(&text).map_err(|error| error.to_string())?;
    Prepared::new(options.tls.as_ref().unwrap(), &options)
}

impl Service {
    fn new(name: &str, more: &str, handshake: Duration) -> Service {
        Service::with(name, more, |prepared| prepared.handshake = handshake)
    }

    fn with(name: &str, more: &str, changes: impl FnOnce(&mut Prepared)) -> Service {
        let directory = Directory::new(name);
        directory.write(testing::CERT_A, testing::KEY_A);
        let (http1, http2) = (listener(), listener());
        let address = listener().local_addr().unwrap();
        let mut prepared = prepare(&directory, port(&http1), port(&http2), address, more).unwrap();
        changes(&mut prepared);
        let metrics: &'static Metrics = Box::leak(Box::default());
        let serving = prepared.start(metrics, say).unwrap();
        assert!(comes(|| TcpStream::connect(address).is_ok()), "nobody listens at {address}");
        Service { directory, http1, http2, address, metrics, serving }
    }

    fn usual(name: &str) -> Service {
        Service::new(name, "", Duration::from_secs(60))
    }

    fn client(&self, alpn: &[&str]) -> StreamOwned<ClientConnection, TcpStream> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trusting))
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let connection = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
        StreamOwned::new(connection, self.connect())
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream
    }

    /// A client whose handshake is over, and the service's side of it.
    fn pair(&self) -> (StreamOwned<ClientConnection, TcpStream>, TcpStream) {
        let mut client = self.client(&[]);
        client.write_all(b"x").unwrap();
        let (mut application, _) = self.http1.accept().unwrap();
        application.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        application.read_exact(&mut [0]).unwrap();
        (client, application)
    }
}

/// Bytes that are the same nowhere else.
fn bytes(length: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

/// Reads until the end; what came, and how it ended.
fn rest(from: &mut impl Read) -> (Vec<u8>, io::Result<usize>) {
    let mut all = Vec::new();
    let end = from.read_to_end(&mut all);
    (all, end)
}

fn wait_until(count: &Count, n: u64) {
    assert!(comes(|| count.get() >= n), "{} of {n}", count.get());
}

#[test]
fn all_bytes_arrive_in_order_and_each_end_behind_them() {
    let service = Service::usual("all");
    let (mut client, mut application) = service.pair();
    let (up, down) = (bytes(3_000_000, 1), bytes(2_000_000, 2));
    let sent = (up.clone(), down.clone());
    let served = std::thread::spawn(move || {
        let (got, end) = rest(&mut application);
        end.unwrap();
        application.write_all(&sent.1).unwrap();
        (got, application)
    });
    client.write_all(&sent.0).unwrap();
    client.conn.send_close_notify();
    client.flush().unwrap();
    let (got, application) = served.join().unwrap();
    assert!(got == up, "{} of {} bytes", got.len(), up.len());
    // The service's end is what ends it for the client, by `close_notify`.
    drop(application);
    let (got, end) = rest(&mut client);
    assert!(end.is_ok() && got == down, "{end:?} behind {} of {} bytes", got.len(), down.len());
    drop(client);
    assert!(comes(|| service.metrics.tls_closed.get() == service.metrics.tls_connections.get()));
}

/// Both directions at once, in pieces of every size around a record's.
#[test]
fn pieces_of_all_sizes_in_both_directions_at_once() {
    let service = Service::usual("pieces");
    let (mut client, application) = service.pair();
    let total: usize = 40 * 1000;
    let echo = std::thread::spawn(move || {
        let (mut from, mut to) = (application.try_clone().unwrap(), application);
        io::copy(&mut from, &mut to).unwrap();
    });
    for length in [1, 2, 1000, 16_383, 16_384, 16_385, total] {
        let piece = bytes(length, length as u32);
        client.write_all(&piece).unwrap();
        let mut back = vec![0; length];
        client.read_exact(&mut back).unwrap();
        assert!(back == piece, "{length}");
    }
    client.conn.send_close_notify();
    client.flush().unwrap();
    echo.join().unwrap();
    assert!(rest(&mut client).1.is_ok());
}

/// What a service says in parts, and then breaks off, must not look like a whole.
#[test]
fn a_connection_that_the_service_breaks_does_not_end_in_order() {
    let service = Service::usual("breaks");
    let (mut client, mut application) = service.pair();
    application.write_all(b"half of").unwrap();
    client.read_exact(&mut [0; 7]).unwrap();
    break_off(application);
    assert!(rest(&mut client).1.is_err());
}

/// The same where a write is the first to hear of it: turns by hand, for the order of the two is the kernel's otherwise.
#[test]
fn a_break_that_a_write_hears_of_is_no_end() {
    for (breaks, is_end) in [(true, false), (false, true)] {
        let service = Service::usual("heard");
        let front = listener();
        let mut client = service.client(&[]);
        client.sock = TcpStream::connect(front.local_addr().unwrap()).unwrap();
        client.sock.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        let (go, told) = std::sync::mpsc::channel();
        let client = std::thread::spawn(move || {
            client.write_all(b"x").unwrap();
            told.recv().unwrap();
            client.write_all(b"y").unwrap();
            let (got, end) = rest(&mut client);
            (got, end.is_ok())
        });
        let (stream, peer) = front.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let shared = &service.serving.0;
        let mut relay = Relay::new(stream, peer, shared.config.clone()).unwrap();
        let mut scratch = [0; READ];
        let all = Ready { from_client: true, from_application: true };
        service.http1.set_nonblocking(true).unwrap();
        let mut application = loop {
            relay.turn(all, shared.targets, &mut scratch).unwrap();
            if let Ok((application, _)) = service.http1.accept() {
                break application;
            }
        };
        application.set_nonblocking(true).unwrap();
        while application.read(&mut [0]).is_err() {
            relay.turn(all, shared.targets, &mut scratch).unwrap();
        }
        application.write_all(b"half of").unwrap();
        if breaks {
            break_off(application);
        } else {
            drop(application);
        }
        wait_for(relay.application().unwrap(), if breaks { libc::POLLERR } else { libc::POLLRDHUP });
        go.send(()).unwrap();
        wait_for(relay.client(), libc::POLLIN);
        while relay.turn(all, shared.targets, &mut scratch).is_ok() {}
        drop(relay);
        assert_eq!(client.join().unwrap(), (b"half of".to_vec(), is_end), "breaks: {breaks}");
    }
}

/// Waits for an event of a socket's, which is not taken.
fn wait_for(stream: &TcpStream, events: i16) {
    let has_come = || {
        let mut poll = libc::pollfd { fd: stream.as_raw_fd(), events, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&raw mut poll, 1, 0) == 1 && poll.revents & events != 0 }
    };
    assert!(comes(has_come), "{events:x}");
}

#[test]
fn a_client_that_goes_without_a_word_ends_the_service_s_connection() {
    let service = Service::usual("goes");
    let (client, mut application) = service.pair();
    client.sock.shutdown(Shutdown::Both).unwrap();
    assert_eq!(rest(&mut application).0, b"");
}

/// Who breaks its connection, by a reset or by what is no record, has not ended it: a service that takes an end for all that there was would have a
/// half for a whole.
#[test]
fn a_client_that_breaks_is_no_end_to_the_service() {
    let service = Service::usual("broken");
    let no_record = |mut sock: TcpStream| {
        sock.write_all(&[23, 3, 3, 0, 32]).and_then(|()| sock.write_all(&[7; 32])).unwrap();
        // Until it is told so.
        let _ = rest(&mut sock);
    };
    for (what, breaks) in [("a reset", break_off as fn(TcpStream)), ("a record that is none", no_record)] {
        let (mut client, mut application) = service.pair();
        client.write_all(b"half of").unwrap();
        application.read_exact(&mut [0; 7]).unwrap();
        breaks(client.sock);
        let end = rest(&mut application).1.map_err(|error| error.kind());
        assert_eq!(end, Err(io::ErrorKind::ConnectionReset), "{what}");
    }
}

/// Who has ended its own side long ago, and reads late, gets all that the service has written, and its end behind it: wherever in the gate's and the
/// kernel's buffers that ends.
#[test]
fn the_end_arrives_behind_what_is_read_late() {
    let service = Service::usual("late");
    let shared = &service.serving.0;
    service.http1.set_nonblocking(true).unwrap();
    let front = listener();
    let mut scratch = [0; READ];
    let all = Ready { from_client: true, from_application: true };
    let small = |stream: &TcpStream, option| {
        let bytes: libc::c_int = 4096;
        // SAFETY: an int.
        unsafe {
            libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const bytes).cast(), size_of::<libc::c_int>() as u32)
        };
    };
    let mut full = 0;
    for total in (1000..40_000).step_by(900) {
        let mut client = service.client(&[]);
        client.sock = TcpStream::connect(front.local_addr().unwrap()).unwrap();
        client.sock.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        small(&client.sock, libc::SO_RCVBUF);
        let (go, told) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            client.write_all(b"x").unwrap();
            client.conn.send_close_notify();
            client.flush().unwrap();
            told.recv().unwrap();
            let (got, end) = rest(&mut client);
            (got.len(), end.is_ok())
        });
        let (stream, peer) = front.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        small(&stream, libc::SO_SNDBUF);
        let mut relay = Relay::new(stream, peer, shared.config.clone()).unwrap();
        let mut application = loop {
            relay.turn(all, shared.targets, &mut scratch).unwrap();
            if let Ok((application, _)) = service.http1.accept() {
                break application;
            }
        };
        // The client's end has come, and nothing else will.
        application.set_nonblocking(true).unwrap();
        let mut got = [0; 2];
        let mut length = 0;
        while !matches!(application.read(&mut got[length..]), Ok(0)) {
            length = 1;
            relay.turn(all, shared.targets, &mut scratch).unwrap();
        }
        // In pieces, as long as they are taken: so the last of them fills the buffer now and then.
        let piece = bytes(300, 6);
        let mut over = false;
        for _ in 0..total / piece.len() {
            application.write_all(&piece).unwrap();
            over = over || relay.turn(all, shared.targets, &mut scratch).is_err();
        }
        drop(application);
        over = over || relay.turn(all, shared.targets, &mut scratch).is_err();
        full += u64::from(relay.is_blocked());
        go.send(()).unwrap();
        let give_up = Instant::now() + Duration::from_secs(60);
        while !over && relay.turn(all, shared.targets, &mut scratch).is_ok() && Instant::now() < give_up {
            std::thread::sleep(Duration::from_micros(200));
        }
        drop(relay);
        assert_eq!(reader.join().unwrap(), (total / piece.len() * piece.len(), true), "{total} bytes");
    }
    assert!(full > 3, "the buffer was full {full} times only");
}

#[test]
fn who_chooses_http2_comes_to_its_port() {
    let service = Service::usual("alpn");
    for (alpn, chosen, listener) in [
        (&["h2", "http/1.1"][..], Some(&b"h2"[..]), &service.http2),
        (&["http/1.1", "h2"], Some(b"h2"), &service.http2),
        (&["http/1.1"], Some(b"http/1.1"), &service.http1),
        (&[], None, &service.http1),
    ] {
        let mut client = service.client(alpn);
        client.write_all(b"hello").unwrap();
        let mut got = [0; 5];
        listener.accept().unwrap().0.read_exact(&mut got).unwrap();
        assert_eq!((client.conn.alpn_protocol(), &got), (chosen, b"hello"));
    }
    let mut client = service.client(&["smtp"]);
    assert!(client.write_all(b"hello").is_err());
    wait_until(&service.metrics.tls_failed, 1);
}

#[test]
fn plain_http_is_told_so_and_is_nobody_s() {
    let service = Service::usual("plain");
    for request in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut client = service.connect();
        client.write_all(request.as_bytes()).unwrap();
        let (text, end) = rest(&mut client);
        let text = String::from_utf8(text).unwrap();
        end.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 400 ") && body.contains("TLS"), "{text}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{text}");
    }
    wait_until(&service.metrics.tls_failed, 2);
    service.http1.set_nonblocking(true).unwrap();
    assert!(service.http1.accept().is_err());
}

/// Silent, slow, with garbage, with half of a handshake: each is let go, and others are served meanwhile.
#[test]
fn broken_and_slow_handshakes_end_and_hold_up_nobody() {
    let service = Service::new("slow", "", Duration::from_secs(2));
    let before = service.metrics.tls_failed.get();
    let mut silent: Vec<TcpStream> = (0..20).map(|_| service.connect()).collect();
    let mut hello = Vec::new();
    let mut client = service.client(&[]);
    client.conn.write_tls(&mut hello).unwrap();
    silent.extend((0..10).map(|n| {
        let mut stream = service.connect();
        stream.write_all(&hello[..hello.len() * n / 10]).unwrap();
        stream
    }));
    for garbage in [&b"\x16\x03\x01\xff\xff"[..], b"\x00", b"\x80\x2e\x01\x00\x02", b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"] {
        let mut stream = service.connect();
        stream.write_all(garbage).unwrap();
        silent.push(stream);
    }
    // A byte now and then does not make the time longer.
    let mut slow = service.connect();
    let begin = Instant::now();
    let (mut good, mut application) = service.pair();
    good.write_all(b"served").unwrap();
    application.read_exact(&mut [0; 6]).unwrap();
    while hello.iter().any(|byte| slow.write_all(&[*byte]).is_ok()) && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(100));
    }
    silent.push(slow);
    for stream in &mut silent {
        let _ = rest(stream);
    }
    assert!(comes(|| service.metrics.tls_failed.get() - before >= 35), "{}", service.metrics.tls_failed.get());
    good.write_all(b"still").unwrap();
    application.read_exact(&mut [0; 5]).unwrap();
}

#[test]
fn so_many_clients_and_no_more() {
    const MOST: u64 = 32;
    let service = Service::new("most", ",tls-connections=32", Duration::from_secs(600));
    let open = || service.serving.0.places().open() as u64;
    // Those who never say anything have their part at most, whichever threads have them, and do not keep others out.
    let _silent: Vec<TcpStream> = (0..200).map(|_| service.connect()).collect();
    let pairs: Vec<_> = (0..MOST * 3 / 4).map(|_| service.pair()).collect();
    assert!(open() <= MOST, "{}", open());
    // Then one has to go for the next, until all are clients in earnest.
    let mut refused = 0;
    let mut more = Vec::new();
    for _ in 0..MOST {
        let mut client = service.client(&[]);
        match client.write_all(b"x") {
            Ok(()) => more.push(client),
            Err(_) => refused += 1,
        }
        assert!(open() <= MOST, "{}", open());
    }
    assert!(refused >= MOST - MOST / 4, "{refused}");
    assert!(service.metrics.tls_refused.get() >= refused);
    assert!(comes(|| was_said(&["there are 32 clients", "tls-connections"])));
    for (mut client, mut application) in pairs {
        client.write_all(b"y").unwrap();
        application.read_exact(&mut [0]).unwrap();
    }
}

/// Whose handshake has failed has no more of the places than who is at it: neither they nor their leavings keep others out.
#[test]
fn garbage_takes_no_places() {
    const MOST: u64 = 64;
    let service = Service::new("garbage", ",tls-connections=64", Duration::from_secs(600));
    let open = || service.serving.0.places().open() as u64;
    let mut garbage = Vec::new();
    let mut pairs = Vec::new();
    for n in 0..MOST / 2 {
        garbage.extend((0..8).map(|m| {
            let mut stream = service.connect();
            // A record of no type, and a request.
            stream.write_all(if m % 2 == 0 { b"\x00\x01\x02\x03\x04" } else { b"GET /" }).unwrap();
            stream
        }));
        pairs.push(service.pair());
        assert!(open() <= MOST / 4 + n + 1, "{} with {n} in earnest", open());
    }
    assert_eq!(service.metrics.tls_refused.get(), 0);
    // They stay, and are let go.
    assert!(comes(|| open() == pairs.len() as u64), "{}", open());
    for (client, application) in &mut pairs {
        client.write_all(b"y").unwrap();
        application.read_exact(&mut [0]).unwrap();
    }
}

/// The kernel wakes the same thread again and again: clients that stay are dealt to all of them.
#[test]
fn clients_are_dealt_to_all_threads() {
    let service = Service::usual("dealt");
    let threads = service.serving.0.bells.len();
    let pairs: Vec<_> = (0..16 * threads).map(|_| service.pair()).collect();
    // The connection that only looked whether it could may still count.
    let loads = || service.serving.0.places().loads();
    assert!(comes(|| loads().iter().sum::<usize>() == pairs.len()), "{:?}", loads());
    assert!(loads().iter().all(|load| (14..=18).contains(load)), "{:?}", loads());
    drop(pairs);
    assert!(comes(|| loads().iter().all(|load| *load == 0)), "{:?}", loads());
}

/// A balancer that opens some at once, and is slow then, loses none to the others, however few clients there may be.
#[test]
fn some_handshakes_at_once_are_always_possible() {
    let service = Service::new("some", ",tls-connections=32", Duration::from_secs(600));
    let mut clients: Vec<_> = (0..12)
        .map(|_| {
            let mut client = service.client(&[]);
            let mut hello = Vec::new();
            client.conn.write_tls(&mut hello).unwrap();
            client.sock.write_all(&hello).unwrap();
            client
        })
        .collect();
    wait_until(&service.metrics.tls_connections, 12);
    for client in &mut clients {
        client.write_all(b"x").unwrap();
    }
    assert_eq!(service.metrics.tls_failed.get(), 0);
}

/// A thread that has a defect takes its clients with it, and nothing else: neither their places, nor those who come.
#[test]
fn a_thread_with_a_defect_begins_anew() {
    let service = Service::usual("defect");
    let shared = &service.serving.0;
    let threads = shared.bells.len();
    let pairs: Vec<_> = (0..8).map(|_| service.pair()).collect();
    shared.defects.store(threads, std::sync::atomic::Ordering::Relaxed);
    // Each thread meets it at its next step.
    shared.bells.iter().for_each(crate::tls::kernel::Bell::raise);
    for (client, mut application) in pairs {
        let end = rest(&mut application).1.map_err(|error| error.kind());
        assert_eq!(end, Err(io::ErrorKind::ConnectionReset));
        drop(client);
    }
    assert!(comes(|| service.metrics.tls_defects.get() == threads as u64));
    assert!(comes(|| shared.places().open() == 0), "{} are left", shared.places().open());
    assert_eq!(shared.places().unknown(), 0);
    assert!(shared.peers.lock().unwrap().is_empty());
    let (mut client, mut application) = service.pair();
    client.write_all(b"y").unwrap();
    application.read_exact(&mut [0]).unwrap();
    assert!(comes(|| was_said(&["a thread that serves TLS has ended", "begins anew"])));
}

/// Where lines go to stands still: clients do not.
#[test]
fn nobody_waits_for_a_line_to_be_written() {
    static HELD: Mutex<()> = Mutex::new(());
    static BEGUN: Mutex<Vec<String>> = Mutex::new(Vec::new());
    fn stuck(line: &str) {
        BEGUN.lock().unwrap().push(line.to_string());
        drop(HELD.lock().unwrap());
    }
    let held = HELD.lock().unwrap();
    let directory = Directory::new("stuck");
    directory.write(testing::CERT_A, testing::KEY_A);
    let (http1, http2, address) = (listener(), listener(), listener().local_addr().unwrap());
    let prepared = prepare(&directory, port(&http1), port(&http2), address, ",tls-connections=4").unwrap();
    let metrics: &'static Metrics = Box::leak(Box::default());
    let serving = prepared.start(metrics, stuck).unwrap();
    assert!(comes(|| TcpStream::connect(address).is_ok()));
    let service = Service { directory, http1, http2, address, metrics, serving };
    let garbage = || {
        let mut stream = service.connect();
        stream.write_all(b"\x00\x01\x02\x03\x04").unwrap();
        rest(&mut stream).1
    };
    for round in 1..6 {
        let _ = garbage();
        wait_until(&service.metrics.tls_failed, round);
        drop(service.pair());
    }
    assert_eq!(BEGUN.lock().unwrap().len(), 1, "the line is written still");
    // Another trouble is not hidden by the first.
    let pairs: Vec<_> = (0..4).map(|_| service.pair()).collect();
    let mut one_more = service.client(&[]);
    assert!(one_more.write_all(b"x").and_then(|()| one_more.read_exact(&mut [0])).is_err());
    drop(held);
    let said = |part: &str| BEGUN.lock().unwrap().iter().any(|line| line.contains(part));
    assert!(comes(|| said("the handshake with") && said("there are 4 clients")), "{:?}", BEGUN.lock().unwrap());
    drop(pairs);
}

#[test]
fn so_many_are_let_in_as_the_service_has_descriptors_for() {
    for (descriptors, most, are) in [(1 << 20, 8192, 8192), (25_600, 8192, 8192), (4096, 8192, 1024), (1024, 8192, 170), (2, 8192, 1)] {
        assert_eq!(within(descriptors, most), are, "{descriptors}");
    }
    let service = Service::with("few", "", |prepared| prepared.descriptors = 4096);
    assert_eq!(service.serving.0.most, 1024);
    assert!(comes(|| was_said(&["8192 clients may need 24576 open files and the limit is 4096: 1024 are let in", "ulimit -n"])));
}

/// A service that does not read has its client wait; so little is kept, and others are served.
#[test]
fn what_nobody_reads_is_not_kept() {
    let service = Service::usual("bounded");
    let (mut client, _application) = service.pair();
    client.sock.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    // Where it cannot write, rustls reads.
    client.sock.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let piece = bytes(64 * 1024, 3);
    let mut sent = 0;
    while client.write_all(&piece).is_ok() {
        sent += piece.len();
        assert!(sent < 64 << 20, "no end of it");
    }
    let (mut other, mut application) = service.pair();
    other.write_all(b"served").unwrap();
    application.read_exact(&mut [0; 6]).unwrap();
}

/// A client that takes nothing is its application's to wait for. Once that has ended, which stands behind what is not taken, it is let go.
#[test]
fn a_client_that_does_not_read_goes_after_its_application() {
    let service = Service::with("stall", "", |prepared| prepared.stall = Duration::from_millis(500));
    let (_left, left) = service.pair();
    let (mut waited_for, mut held) = service.pair();
    let mut sent = 0;
    for mut application in [&left, &held] {
        application.set_nonblocking(true).unwrap();
        let piece = bytes(64 * 1024, 4);
        sent = 0;
        let mut idle = 0;
        while idle < 20 {
            match application.write(&piece[sent % piece.len()..]) {
                Ok(n) => (sent, idle) = (sent + n, 0),
                Err(_) => {
                    idle += 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
            assert!(sent < 64 << 20, "no end of it");
        }
    }
    // The connection that only looked whether it could has gone, too.
    let gone = || service.metrics.tls_closed.get();
    assert!(comes(|| gone() == 1));
    drop(left);
    assert!(comes(|| gone() == 2), "it is kept for ever");
    // The other one has stood as still for as long, and has lost nothing.
    held.set_nonblocking(false).unwrap();
    let last = std::thread::spawn(move || held.write_all(b"last").unwrap());
    let mut got = vec![0; sent + 4];
    waited_for.read_exact(&mut got).unwrap();
    last.join().unwrap();
    let piece = bytes(64 * 1024, 4);
    assert!(got[..sent].iter().enumerate().all(|(n, byte)| *byte == piece[n % piece.len()]) && &got[sent..] == b"last");
}

#[test]
fn a_certificate_is_read_anew_and_a_wrong_one_is_not_served() {
    let service = Service::usual("reload");
    let served = || {
        let (client, _application) = service.pair();
        client.conn.peer_certificates().unwrap()[0].to_vec()
    };
    let [a, b] = [testing::CERT_A, testing::CERT_B].map(|text| CertificateDer::from_pem_slice(text.as_bytes()).unwrap().to_vec());
    assert_eq!(served(), a);
    let (mut old, mut application) = service.pair();
    service.directory.write(testing::CERT_B, testing::KEY_B);
    wait_until(&service.metrics.tls_certificates, 1);
    assert_eq!(served(), b);
    assert!(comes(|| was_said(&["gate-tls-reload", "served from now on"])));
    // Who was there before goes on.
    old.write_all(b"x").unwrap();
    application.read_exact(&mut [0]).unwrap();
    for (cert, key, part) in
        [(testing::CERT_A, testing::KEY_B, "not the key of the certificate"), ("nothing", testing::KEY_B, "no BEGIN CERTIFICATE")]
    {
        let errors = service.metrics.tls_certificate_errors.get();
        service.directory.write(cert, key);
        wait_until(&service.metrics.tls_certificate_errors, errors + 1);
        assert_eq!(served(), b);
        assert!(comes(|| was_said(&["gate-tls-reload", "served on, for the new one is wrong", part])));
    }
    service.directory.write(testing::CERT_A, testing::KEY_A);
    wait_until(&service.metrics.tls_certificates, 2);
    assert_eq!(served(), a);
}

#[test]
fn a_port_that_is_taken_is_said_to_be() {
    let directory = Directory::new("taken");
    directory.write(testing::CERT_A, testing::KEY_A);
    let taken = listener();
    let error = prepare(&directory, 1, 2, taken.local_addr().unwrap(), "").err().unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert!(error.contains(&address) && error.contains("in use") && error.contains("give it one that nobody else has"), "{error}");
}

#[test]
fn nobody_is_let_in_before_the_service_listens() {
    let directory = Directory::new("before");
    directory.write(testing::CERT_A, testing::KEY_A);
    // The first has one of its ports only.
    let (first, second) = (listener(), listener().local_addr().unwrap());
    let address = listener().local_addr().unwrap();
    let mut prepared = prepare(&directory, port(&first), second.port(), address, "").unwrap();
    prepared.waits_long = Duration::from_millis(300);
    let _serving = prepared.start(Box::leak(Box::default()), say).unwrap();
    for _ in 0..20 {
        assert!(TcpStream::connect(address).is_err(), "it was let in");
        std::thread::sleep(Duration::from_millis(10));
    }
    // What it waits for is said, once.
    let line = format!("TLS at {address} is not served yet");
    assert!(comes(|| was_said(&[
        &line,
        &format!("port {} and {}", port(&first), second.port()),
        "look whether port and h2-port are right"
    ])));
    let _second = TcpListener::bind(second).unwrap();
    assert!(comes(|| TcpStream::connect(address).is_ok()));
}

/// Who has begun when the service goes is let go; then nobody can connect, as nobody could without TLS, until it listens again.
#[test]
fn a_service_that_is_gone_lets_nobody_in() {
    let service = Service::usual("gone");
    let port = port(&service.http1);
    let Service { http1, address, metrics, serving: _serving, .. } = &service;
    let (mut before, mut application) = service.pair();
    let mut client = service.client(&[]);
    wait_until(&metrics.tls_connections, 3);
    // SAFETY: no pointer is passed; nobody listens there any more.
    unsafe { libc::shutdown(http1.as_raw_fd(), libc::SHUT_RDWR) };
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err(), "{address}");
    let _ = client.write_all(b"x");
    assert!(rest(&mut client).1.is_err());
    wait_until(&metrics.tls_unreachable, 1);
    assert!(comes(|| was_said(&[&format!("port {port} cannot be connected to"), "have the service listen"])));
    assert!(comes(|| TcpStream::connect(address).is_err()), "TLS is still served");
    for _ in 0..20 {
        assert!(TcpStream::connect(address).is_err(), "somebody was let in");
    }
    // Those who are there are the service's to end.
    before.write_all(b"y").unwrap();
    application.read_exact(&mut [0]).unwrap();
    let back = std::cell::OnceCell::new();
    assert!(comes(|| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok_and(|http1| back.set(http1).is_ok())));
    assert!(comes(|| TcpStream::connect(address).is_ok()), "TLS is not served again");
    let mut again = service.client(&[]);
    again.write_all(b"z").unwrap();
    let mut got = [0];
    // Of those who only looked whether they could connect, none has come to the service.
    back.get().unwrap().accept().unwrap().0.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"z");
}

#[test]
fn a_service_of_ipv6_only_is_found() {
    let Ok(http1) = TcpListener::bind("[::1]:0") else { return };
    let directory = Directory::new("v6");
    directory.write(testing::CERT_A, testing::KEY_A);
    let (http2, address) = (listener(), listener().local_addr().unwrap());
    let prepared = prepare(&directory, port(&http1), port(&http2), address, "").unwrap();
    let metrics: &'static Metrics = Box::leak(Box::default());
    let serving = prepared.start(metrics, say).unwrap();
    assert!(comes(|| TcpStream::connect(address).is_ok()));
    let service = Service { directory, http1, http2, address, metrics, serving };
    let (mut client, mut application) = service.pair();
    client.write_all(b"y").unwrap();
    application.read_exact(&mut [0]).unwrap();
}

#[test]
fn it_is_known_who_is_behind_a_connection() {
    let service = Service::usual("peers");
    let (client, application) = service.pair();
    let seen = application.peer_addr().unwrap();
    assert_eq!(service.serving.peer(seen), client.sock.local_addr().ok());
    drop(client);
    assert!(comes(|| service.serving.peer(seen).is_none()));
}

/// As the JVM listens if nothing else is said.
#[test]
fn it_is_known_behind_a_connection_to_both_versions_of_ip() {
    let Ok(both) = TcpListener::bind("[::]:0") else { return };
    let directory = Directory::new("both");
    directory.write(testing::CERT_A, testing::KEY_A);
    let (http2, address) = (listener(), listener().local_addr().unwrap());
    let prepared = prepare(&directory, port(&both), port(&http2), address, "").unwrap();
    let metrics: &'static Metrics = Box::leak(Box::default());
    let serving = prepared.start(metrics, say).unwrap();
    assert!(comes(|| TcpStream::connect(address).is_ok()));
    let service = Service { directory, http1: both, http2, address, metrics, serving };
    let (client, application) = service.pair();
    // As the agent asks for it.
    let seen = crate::kernel::tcp_peer(application.as_raw_fd()).unwrap();
    assert!(seen.ip() != seen.ip().to_canonical() && seen.ip().to_canonical() == Ipv4Addr::LOCALHOST, "{seen}");
    assert_eq!(service.serving.peer(seen), client.sock.local_addr().ok());
}

/// What the service has written when the VM ends arrives, as the kernel would see to without TLS.
#[test]
fn the_last_words_of_a_service_are_passed_on() {
    let service = Service::usual("last");
    let pairs: Vec<_> = (0..64).map(|_| service.pair()).collect();
    let words = bytes(100_000, 5);
    let mut clients = Vec::new();
    for (client, mut application) in pairs {
        application.write_all(&words).unwrap();
        clients.push((client, application));
    }
    service.serving.end();
    for (client, application) in &mut clients {
        let mut got = vec![0; words.len()];
        client.read_exact(&mut got).unwrap();
        assert!(got == words);
        // Nothing of it is left in the connection between the gate and the service.
        assert_eq!(crate::kernel::tcp_totals(application.as_raw_fd()).unwrap().unwrap().unacknowledged, 0);
    }
    assert_eq!(service.serving.0.unfinished.load(std::sync::atomic::Ordering::Acquire), 0);
}
