// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The line to a server: what comes is passed on in both directions, until it hangs or is cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A line, whose threads end with the test.
pub struct Line {
    pub address: SocketAddr,
    hangs: Arc<AtomicBool>,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    pub fn to(server: SocketAddr) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = Line { address: listener.local_addr().unwrap(), hangs: Arc::default(), ends: Arc::default() };
        let (hangs, ends) = (Arc::clone(&line.hangs), Arc::clone(&line.ends));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                // A server that is gone: its clients see an end.
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(server)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    to.set_nodelay(true).unwrap();
                    let (from, to, hangs) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::clone(&hangs));
                    std::thread::spawn(move || pass(from, to, &hangs));
                }
                ends.lock().unwrap().extend([client, server]);
            }
        });
        line
    }

    /// From now on nothing is passed on, of new connections neither, and no end: as of a server that was stopped.
    pub fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }

    /// All connections end, in the middle of what is on its way. New ones are passed on.
    pub fn cut(&self) {
        for end in self.ends.lock().unwrap().drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, hangs: &AtomicBool) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !hangs.load(Ordering::SeqCst) && to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    if !hangs.load(Ordering::SeqCst) {
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}
