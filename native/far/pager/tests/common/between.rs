// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What stands between a pager and a server, and knows frames.
#![allow(dead_code)] // each test file uses a part

use std::io::{Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use lull_far_protocol::{ChannelKind, HEADER_LEN, Header, Hello, Message, seal};

/// Stands before a server, and may change what it answers. Where the server is may change, too.
pub struct Between {
    pub address: SocketAddr,
    pub to: Arc<Mutex<SocketAddr>>,
    /// Connections that have said HELLO for control.
    pub controls: Arc<AtomicU64>,
    /// Both ends of each connection that there was.
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Between {
    /// Ends all connections, as who stands between may that has started anew.
    pub fn cut(&self) {
        for end in self.ends.lock().unwrap().drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// Passes on all that a server says after its first frame over a connection of some kind: from it, to the client.
pub fn between(
    to: SocketAddr,
    answers: impl Fn(ChannelKind, &mut TcpStream, &mut TcpStream) -> Result<()> + Send + Sync + 'static,
) -> Between {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (to, controls, answers) = (Arc::new(Mutex::new(to)), Arc::new(AtomicU64::new(0)), Arc::new(answers));
    let ends: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let between = Between { address, to: Arc::clone(&to), controls: Arc::clone(&controls), ends: Arc::clone(&ends) };
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let Ok((header, payload)) = read_frame(&mut client) else { continue };
            let Ok(Message::Hello(Hello { kind, .. })) = Message::decode(&header, &payload) else { panic!("no HELLO") };
            controls.fetch_add(u64::from(kind == ChannelKind::Control), Ordering::Relaxed);
            let to = *to.lock().unwrap();
            let Ok(mut server) = TcpStream::connect(to) else { continue };
            // Or each answer waits for the client's word that it has its first piece: 40 ms.
            for stream in [&client, &server] {
                stream.set_nodelay(true).unwrap();
                ends.lock().unwrap().push(stream.try_clone().unwrap());
            }
            if write_frame(&mut server, &header, &payload).is_err() {
                continue;
            }
            let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut client, &mut server).map(|_| server.shutdown(Shutdown::Both)));
            let answers = Arc::clone(&answers);
            std::thread::spawn(move || {
                let passed = read_frame(&mut from_server)
                    .and_then(|(header, payload)| write_frame(&mut to_client, &header, &payload))
                    .and_then(|()| answers(kind, &mut from_server, &mut to_client));
                let _ = (to_client.shutdown(Shutdown::Both), from_server.shutdown(Shutdown::Both));
                passed
            });
        }
    });
    between
}

pub fn pass_on(from: &mut TcpStream, to: &mut TcpStream) -> Result<()> {
    std::io::copy(from, to).map(drop)
}

pub fn read_frame(stream: &mut TcpStream) -> Result<(Header, Vec<u8>)> {
    let mut head = [0; HEADER_LEN];
    stream.read_exact(&mut head)?;
    let header = Header::decode(&head).map_err(std::io::Error::other)?;
    let mut payload = vec![0; header.len as usize];
    stream.read_exact(&mut payload)?;
    Ok((header, payload))
}

pub fn write_frame(stream: &mut TcpStream, header: &Header, payload: &[u8]) -> Result<()> {
    let mut frame = seal(header.op, header.sequence, header.region, &[payload]).to_vec();
    frame.extend_from_slice(payload);
    stream.write_all(&frame)
}
