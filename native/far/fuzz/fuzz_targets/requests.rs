// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A memory server against what a client may send: a run of frames of any operation, region and payload, with right checksums and
//! numbers unless the input says otherwise. Each connection must end, every answer must be a frame, and a page of another
//! client must stay what it is. A server that has a key gives nobody anything who has not proved it.
#![no_main]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use lull_far_protocol::{ChannelKind, Fetch, HEADER_LEN, Header, Hello, Message, PAGE_SIZE_LOG2, crc32c_of, encode_write, seal};
use lull_memd::{Config, Server};

/// The server, and the connection of the client that is to be left alone.
struct Fixture {
    address: SocketAddr,
    /// One that has a key.
    keyed: SocketAddr,
    other: Mutex<(TcpStream, u64)>,
}

fn frame(message: &Message<'_>, sequence: u64, region: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(sequence, region, &mut bytes);
    bytes
}

fn hello(client: u8, kind: ChannelKind, generation: u64, features: u64) -> Vec<u8> {
    let hello = Hello {
        version_min: 1,
        version_max: 1,
        page_size_log2: PAGE_SIZE_LOG2,
        kind,
        channel: 0,
        generation,
        features,
        client: [client; 16],
    };
    frame(&Message::Hello(hello), 1, 0)
}

fn ask(stream: &mut TcpStream, request: &[u8]) -> (Header, Vec<u8>) {
    stream.write_all(request).unwrap();
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head).unwrap();
    let header = Header::decode(&head).unwrap();
    let mut payload = vec![0; header.len as usize];
    stream.read_exact(&mut payload).unwrap();
    (header, payload)
}

fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let mut config = Config::new("127.0.0.1:0".parse().unwrap(), 8 << 20);
        config.linger = Duration::from_millis(1);
        let server = Server::start(config).unwrap();
        let address = server.address;
        let connect = |kind| {
            let mut stream = TcpStream::connect(address).unwrap();
            ask(&mut stream, &hello(255, kind, 1, 0));
            stream
        };
        // Kept open, or the client would be gone.
        let mut control = connect(ChannelKind::Control);
        ask(&mut control, &frame(&Message::RegionMap { pages: 1 }, 2, 1));
        let mut write = connect(ChannelKind::Write);
        let mut bytes = Vec::new();
        encode_write(2, 1, &[0], &[0xA5; 4096], &mut bytes);
        ask(&mut write, &bytes);
        std::mem::forget((control, write));
        let mut config = Config::new("127.0.0.1:0".parse().unwrap(), 1 << 20);
        config.keys = lull_far_auth::file::parse(&format!("one {}", "0f".repeat(32))).unwrap();
        let keyed = Server::start(config).unwrap().address;
        Fixture { address, keyed, other: Mutex::new((connect(ChannelKind::Fetch), 1)) }
    })
}

/// One frame of the input: operation, region, what to break, length, payload.
fn next<'a>(input: &mut &'a [u8], sequence: u64, out: &mut Vec<u8>) -> Option<()> {
    let (&[op, region, wrong, length], rest) = input.split_first_chunk()?;
    let (payload, rest) = rest.split_at_checked(length.into())?;
    *input = rest;
    let sequence = sequence.wrapping_add(if wrong & 1 != 0 { wrong.into() } else { 0 });
    let mut head = seal(lull_far_protocol::Op::Bye, sequence, region.into(), &[payload]);
    head[6] = op;
    if wrong & 2 != 0 {
        head[20..24].copy_from_slice(&(u32::from(wrong) << 12).to_le_bytes());
    }
    if wrong & 4 == 0 {
        let crc = crc32c_of(&[&head[..28]]);
        head[28..].copy_from_slice(&crc.to_le_bytes());
    }
    out.extend_from_slice(&head);
    out.extend_from_slice(payload);
    Some(())
}

fuzz_target!(|input: &[u8]| {
    let fixture = fixture();
    let Some((&first, mut input)) = input.split_first() else { return };
    let kind = [ChannelKind::Control, ChannelKind::Fetch, ChannelKind::Write, ChannelKind::Peer][usize::from(first) % 4];
    let has_key = first & 0x80 != 0;
    let mut bytes = hello(first / 4 % 8, kind, u64::from(first) + 1, u64::from(first & 0xC0 == 0xC0));
    let mut sequence = 2;
    while next(&mut input, sequence, &mut bytes).is_some() {
        sequence += 1;
    }
    bytes.extend_from_slice(input);
    let mut stream = TcpStream::connect(if has_key { fixture.keyed } else { fixture.address }).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let _ = stream.write_all(&bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answers = Vec::new();
    match stream.read_to_end(&mut answers) {
        Ok(_) => {
            let mut rest = &answers[..];
            while let Some(head) = rest.first_chunk::<HEADER_LEN>() {
                let header = Header::decode(head).expect("an answer is no frame");
                let end = HEADER_LEN + header.len as usize;
                let answer = Message::decode(&header, &rest[HEADER_LEN..end]).expect("an answer is wrong");
                assert!(!has_key || matches!(answer, Message::Challenge(_) | Message::Error { .. }), "{answer:?} to nobody");
                rest = &rest[end..];
            }
            assert!(rest.is_empty(), "a part of an answer");
        }
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "the connection did not end"),
    }
    let mut other = fixture.other.lock().unwrap();
    other.1 += 1;
    let request = frame(&Message::Fetch(Fetch { first: 0, count: 1 }), other.1, 1);
    let (header, payload) = ask(&mut other.0, &request);
    let Ok(Message::Data(data)) = Message::decode(&header, &payload) else { panic!("no page") };
    assert!(data.bytes.iter().all(|&byte| byte == 0xA5), "a page of another client has changed");
});
