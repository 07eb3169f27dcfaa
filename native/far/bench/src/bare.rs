// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The exchange that a fault waits for, without a pager and without a fault: what of a fault's time is the network's and the server's.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use lull_far_protocol::{ChannelKind, ErrorCode, Fetch, HEADER_LEN, Header, Hello, Message};

use crate::Far;
use crate::memory::Random;
use crate::samples::Samples;

const TIME: Duration = Duration::from_secs(3);

/// Asks the first server for one page after the other, and waits awake.
pub fn exchanges(far: &Far) -> Result<(), String> {
    let server = far.servers.first().ok_or("no server")?;
    let failed = |error: std::io::Error| format!("memory server {server}: {error}");
    let mut control = greet(server, ChannelKind::Control)?;
    let mut asked = 1;
    loop {
        asked += 1;
        send(&mut control, &Message::RegionMap { pages: far.pages.into() }, asked).map_err(failed)?;
        let (header, payload) = receive(&mut control)?;
        match Message::decode(&header, &payload) {
            Ok(Message::RegionMapped { .. }) => break,
            // It has just started.
            Ok(Message::Error { code: ErrorCode::NotYet, .. }) if asked < 600 => std::thread::sleep(Duration::from_millis(100)),
            other => return Err(format!("memory server {server} answers REGION_MAP with {other:?}")),
        }
    }
    let mut fetch = greet(server, ChannelKind::Fetch)?;
    fetch.set_nonblocking(true).map_err(failed)?;
    let mut random = Random(1);
    let mut samples = Samples::default();
    let mut answer = [0; HEADER_LEN + 16 + lull_far_protocol::PAGE_SIZE];
    let start = Instant::now();
    let mut sequence = 1;
    while start.elapsed() < TIME {
        sequence += 1;
        let request = Fetch { first: random.below(far.pages as usize) as u64, count: 1 }.frame(sequence, 0);
        let mut result = Ok(());
        samples.take(|| result = exchange(&mut fetch, &request, &mut answer), || true);
        result.map_err(failed)?;
        let head = answer.first_chunk().ok_or("no header")?;
        let header = Header::decode(head).map_err(|error| error.to_string())?;
        match Message::decode(&header, &answer[HEADER_LEN..]) {
            Ok(Message::Data(_)) if header.sequence == sequence => {}
            other => return Err(format!("memory server {server} answers FETCH with {other:?}")),
        }
    }
    drop(fetch);
    send(&mut control, &Message::Bye, asked + 1).map_err(failed)?;
    samples.print("an exchange without a fault")
}

fn exchange(stream: &mut TcpStream, request: &[u8], answer: &mut [u8]) -> std::io::Result<()> {
    stream.write_all(request)?;
    let mut got = 0;
    while got < answer.len() {
        match stream.read(&mut answer[got..]) {
            Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => got += count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A connection after its HELLO. All of this process are one client's.
fn greet(server: &str, kind: ChannelKind) -> Result<TcpStream, String> {
    let failed = |error: std::io::Error| format!("memory server {server}: {error}");
    let mut stream = TcpStream::connect(server).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    let client = [std::process::id().to_le_bytes(); 4].concat().try_into().map_err(|_| "no name")?;
    let hello = Hello::new(kind, 0, 1, client);
    send(&mut stream, &Message::Hello(hello), 1).map_err(failed)?;
    let (header, payload) = receive(&mut stream)?;
    match Message::decode(&header, &payload) {
        Ok(Message::HelloAck(_)) => Ok(stream),
        other => Err(format!("memory server {server} answers HELLO with {other:?}")),
    }
}

fn send(stream: &mut TcpStream, message: &Message<'_>, sequence: u64) -> std::io::Result<()> {
    let mut frame = Vec::new();
    message.encode(sequence, 0, &mut frame);
    stream.write_all(&frame)
}

fn receive(stream: &mut TcpStream) -> Result<(Header, Vec<u8>), String> {
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head).map_err(|error| error.to_string())?;
    let header = Header::decode(&head).map_err(|error| error.to_string())?;
    let mut payload = vec![0; header.len as usize];
    stream.read_exact(&mut payload).map_err(|error| error.to_string())?;
    Ok((header, payload))
}
