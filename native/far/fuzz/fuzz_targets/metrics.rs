// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The metrics port of a memory server against any request.
#![no_main]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use lull_memd::{Config, Server};

fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let mut config = Config::new("127.0.0.1:0".parse().unwrap(), 1 << 20);
        config.metrics = Some("127.0.0.1:0".parse().unwrap());
        Server::start(config).unwrap().metrics_address.unwrap()
    })
}

fuzz_target!(|input: &[u8]| {
    let mut stream = TcpStream::connect(address()).unwrap();
    let _ = stream.write_all(input);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    if stream.read_to_end(&mut answer).is_ok() && !answer.is_empty() {
        let text = String::from_utf8(answer).expect("not text");
        let known = input.starts_with(b"GET /metrics ") || input.starts_with(b"GET /metrics?");
        assert!(text.starts_with(if known { "HTTP/1.1 200 OK\r\n" } else { "HTTP/1.1 404 Not Found\r\n" }), "{text}");
        let (head, body) = text.split_once("\r\n\r\n").expect("no end of the head");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
    }
});
