// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Encrypted frames, with somebody on the way who does what the input says: to what a server sends, which the pager's fault path reads; and to what
//! a client sends, which a memory server reads. What is used is what was sent next, whole; behind anything else nothing is; each connection ends.
#![no_main]

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use lull_far::fuzzing::FetchAnswer;
use lull_far_auth::{Frames, Key, Share, proof};
use lull_far_protocol::{
    ChannelKind, Fetch, HEADER_LEN, Header, Hello, Message, RunOfPages, TAG_LEN, VERSION_ENCRYPTED, WriteAck, crc32c_of, encode_write,
};
use lull_memd::{Config, Server};

const REGION: u32 = 5;

/// Two ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    thread_local!(static LISTENER: RefCell<TcpListener> = RefCell::new(TcpListener::bind("127.0.0.1:0").unwrap()));
    LISTENER.with_borrow(|listener| {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    })
}

fn key() -> Key {
    Key::new([0x0F; 32])
}

/// Both sides of a handshake, without a socket.
fn both() -> (Frames, Frames) {
    let hello = Hello::new(ChannelKind::Fetch, 0, 1, [1; 16]).with_key(VERSION_ENCRYPTED);
    let key = key();
    let server = proof::Server::new(&hello, Share::of([2; 32]));
    let client = proof::Client::new(&key, &hello, server.challenge(), Share::of([3; 32]));
    let ack = lull_far_protocol::HelloAck {
        version: VERSION_ENCRYPTED,
        page_size_log2: 12,
        max_pages: 256,
        features: hello.features,
        session: [4; 16],
        capacity: 0,
        free: 0,
    };
    let prove = client.prove();
    let proved = server.prove(&key, &prove, ack);
    (client.frames(&proved), server.frames(&key, &prove, &proved))
}

/// What is done to frames: each step says to which, and what. Returns what is sent in their place, and how many of them are right from the
/// beginning.
fn harmed(frames: &[Vec<u8>], steps: &[u8]) -> (Vec<u8>, usize) {
    let mut sent: Vec<Vec<u8>> = frames.to_vec();
    for step in steps.chunks_exact(4).take(8) {
        let which = usize::from(step[1]) % sent.len().max(1);
        let Some(frame) = sent.get_mut(which) else { break };
        let at = usize::from(u16::from_le_bytes([step[2], step[3]]));
        match step[0] % 7 {
            0 => {
                let bit = at % (frame.len() * 8).max(1);
                frame.get_mut(bit / 8).into_iter().for_each(|byte| *byte ^= 1 << (bit % 8));
            }
            1 if frame.len() >= HEADER_LEN => {
                frame[at % 28] ^= step[0] | 1;
                let crc = crc32c_of(&[&frame[..28]]);
                frame[28..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
            }
            2 => drop(sent.remove(which)),
            3 => {
                let again = frame.clone();
                sent.insert(which, again);
            }
            4 => {
                let other = at % sent.len();
                sent.swap(which, other);
            }
            5 => frame.truncate(at % (frame.len() + 1)),
            6 => frame.insert(at % (frame.len() + 1), step[0]),
            _ => {}
        }
    }
    let sent = sent.concat();
    // As bytes: what was cut off here may have been put in there.
    let right = (1..=frames.len()).take_while(|&count| sent.starts_with(&frames[..count].concat())).count();
    (sent, right)
}

fn page(number: u64) -> Vec<u8> {
    (0..4096).map(|at| (number as usize * 31 + at / 64) as u8).collect()
}

/// Answers on the way to a pager.
fn to_the_pager(steps: &[u8]) {
    let (client, mut server) = both();
    let runs: Vec<Fetch> = (0..3).map(|number| Fetch { first: 10 * number, count: 1 + number as u32 }).collect();
    let contents: Vec<Vec<u8>> = runs.iter().map(|run| (run.first..).take(run.count as usize).flat_map(page).collect()).collect();
    let frames: Vec<Vec<u8>> = (3..)
        .zip(runs.iter().zip(&contents))
        .map(|(sequence, (run, bytes))| {
            let mut frame = Vec::new();
            Message::Data(RunOfPages { run: *run, bytes }).encode(sequence, REGION, &mut frame);
            server.encrypt_frame(&mut frame).unwrap();
            frame
        })
        .collect();
    let (sent, right) = harmed(&frames, steps);
    let (here, mut there) = pair();
    let mut pager = FetchAnswer::encrypted(here, client);
    there.write_all(&sent).unwrap();
    there.shutdown(Shutdown::Write).unwrap();
    for (number, run) in runs.iter().enumerate() {
        match pager.fetch(REGION, *run) {
            Some(pages) => assert!(number < right && pages == contents[number], "an answer was used that is not the one that was sent"),
            None => assert!(number >= right, "a right answer was not used"),
        }
    }
    drop(pager);
    let _ = there.read_to_end(&mut Vec::new());
}

fn ask(stream: &mut TcpStream, frames: Option<&mut Frames>, message: &Message<'_>, sequence: u64, region: u32) -> (Header, Vec<u8>) {
    let mut frame = Vec::new();
    message.encode(sequence, region, &mut frame);
    match frames {
        None => {
            stream.write_all(&frame).unwrap();
            read(stream, None).unwrap().unwrap()
        }
        Some(frames) => {
            frames.encrypt_frame(&mut frame).unwrap();
            stream.write_all(&frame).unwrap();
            read(stream, Some(frames)).unwrap().unwrap()
        }
    }
}

/// A frame, or the end of the connection.
fn read(stream: &mut TcpStream, frames: Option<&mut Frames>) -> std::io::Result<Option<(Header, Vec<u8>)>> {
    let mut head = [0; HEADER_LEN];
    match stream.read_exact(&mut head) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::UnexpectedEof | std::io::ErrorKind::ConnectionReset) => return Ok(None),
        other => other?,
    }
    let (version, tag) = if frames.is_some() { (VERSION_ENCRYPTED, TAG_LEN) } else { (1, 0) };
    let header = Header::decode_of(&head, version).expect("an answer is no frame");
    let mut payload = vec![0; header.len as usize + tag];
    stream.read_exact(&mut payload)?;
    let Some(frames) = frames else { return Ok(Some((header, payload))) };
    let length = frames.decrypt(&header, &mut payload).expect("an answer is not proven");
    payload.truncate(length);
    Ok(Some((header.as_plain(&payload), payload)))
}

/// A server with a key, and a client's connection to it.
fn server() -> SocketAddr {
    static SERVER: OnceLock<SocketAddr> = OnceLock::new();
    *SERVER.get_or_init(|| {
        let mut config = Config::new("127.0.0.1:0".parse().unwrap(), 8 << 20);
        config.keys = lull_far_auth::file::parse(&format!("one {}", "0f".repeat(32))).unwrap();
        let address = Server::start(config).unwrap().address;
        let (mut control, mut frames) = greet(address, ChannelKind::Control, 1);
        // The memory may not be there yet.
        let mut sequence = 3;
        while ask(&mut control, Some(&mut frames), &Message::RegionMap { pages: 4 }, sequence, REGION).0.op
            != lull_far_protocol::Op::RegionMapped
        {
            sequence += 1;
        }
        std::mem::forget(control);
        address
    })
}

fn greet(address: SocketAddr, kind: ChannelKind, generation: u64) -> (TcpStream, Frames) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let hello = Hello::new(kind, 0, generation, [1; 16]).with_key(VERSION_ENCRYPTED);
    let (header, payload) = ask(&mut stream, None, &Message::Hello(hello), 1, 0);
    let Ok(Message::Challenge(challenge)) = Message::decode(&header, &payload) else { panic!("no CHALLENGE") };
    let key = key();
    let client = proof::Client::new(&key, &hello, challenge, Share::of([9; 32]));
    let (header, payload) = ask(&mut stream, None, &Message::Prove(client.prove()), 2, 0);
    let Ok(Message::Proved(proved)) = Message::decode(&header, &payload) else { panic!("no PROVED") };
    assert!(client.is_proved(&proved));
    (stream, client.frames(&proved))
}

/// Writes on the way to a server: those are acknowledged that came right, and no others; then it says why not, in a right frame, or closes.
fn to_the_server(steps: &[u8]) {
    thread_local!(static GENERATION: RefCell<u64> = const { RefCell::new(0) });
    let generation = GENERATION.with_borrow_mut(|generation| {
        *generation += 1;
        *generation
    });
    let (mut stream, mut client) = greet(server(), ChannelKind::Write, generation);
    let contents: Vec<Vec<u8>> = (0..3).map(page).collect();
    let frames: Vec<Vec<u8>> = (0..3)
        .map(|number| {
            let mut frame = Vec::new();
            encode_write(3 + number, REGION, &[number], &contents[number as usize], &mut frame);
            client.encrypt_frame(&mut frame).unwrap();
            frame
        })
        .collect();
    let (sent, right) = harmed(&frames, steps);
    let _ = stream.write_all(&sent);
    let _ = stream.shutdown(Shutdown::Write);
    let mut acknowledged = 0;
    while let Ok(Some((header, payload))) = read(&mut stream, Some(&mut client)) {
        match Message::decode(&header, &payload) {
            Ok(Message::WriteAck(ack)) => {
                assert_eq!(ack, WriteAck { count: 1, content_crc: crc32c_of(&[&contents[acknowledged]]) });
                acknowledged += 1;
            }
            Ok(Message::Error { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert!(acknowledged <= right, "a write was carried out that was not sent");
}

fuzz_target!(|input: &[u8]| {
    let Some((first, steps)) = input.split_first() else { return };
    if first % 2 == 0 { to_the_pager(steps) } else { to_the_server(steps) }
});
