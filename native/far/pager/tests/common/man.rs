// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A man in the middle: stands between a pager and a server whose frames are encrypted, sees where each begins and ends, and does something to some
//! of them, or to each. He cannot read them.
#![allow(dead_code)] // each test file uses a part

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lull_far_protocol::{HEADER_LEN, TAG_LEN, VERSION_ENCRYPTED, crc32c_of};

/// What he does to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// One bit of the payload or the proof is another one.
    Flip,
    /// The same of the header, with its checksum made right.
    FlipHeader,
    /// It is not passed on.
    Drop,
    /// It comes twice.
    Repeat,
    /// It comes behind the next one, if one comes soon.
    Reorder,
    /// A part of it comes, and then the end of the connection.
    Cut,
    /// Its sender gets it back in place of it.
    SendBack,
}

/// Which frames he does it to.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub harm: Harm,
    /// Of those to the client, or of those to the server.
    pub to_client: bool,
    /// The n-th encrypted one of a connection and direction, from 0 on.
    pub at: u64,
    /// So many frames are harmed; the others not. [`EACH`]: each one, of all connections, when so many have passed as `at` says.
    pub frames: u64,
}

/// Without an end.
pub const EACH: u64 = u64::MAX;

/// He, and how many frames he has harmed.
pub struct Man {
    pub address: SocketAddr,
    pub harmed: Arc<AtomicU64>,
}

pub fn between(to: SocketAddr, plan: Plan) -> Man {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (harmed, passed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let man = Man { address, harmed: Arc::clone(&harmed) };
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let Ok(server) = TcpStream::connect(to) else { continue };
            for (from, to, is_to_client) in [(&client, &server, false), (&server, &client, true)] {
                // Or each frame waits for the other side's word that it has the one before: 40 ms.
                to.set_nodelay(true).unwrap();
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let (harmed, all) = (Arc::clone(&harmed), Arc::clone(&passed));
                let plan = (is_to_client == plan.to_client).then_some(plan);
                std::thread::spawn(move || {
                    let passed = pass(&from, &to, plan, &harmed, &all);
                    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
                    passed
                });
            }
        }
    });
    man
}

/// Passes frames on, until one side ends.
fn pass(mut from: &TcpStream, mut to: &TcpStream, plan: Option<Plan>, harmed: &AtomicU64, all: &AtomicU64) -> Result<()> {
    let mut number = 0;
    loop {
        let (frame, is_encrypted) = read(from)?;
        let passed = if is_encrypted && plan.is_some() { all.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let here = is_encrypted && plan.is_some_and(|plan| if plan.frames == EACH { passed >= plan.at } else { plan.at == number });
        number += u64::from(is_encrypted);
        let Some(plan) = plan.filter(|_| here) else {
            to.write_all(&frame)?;
            continue;
        };
        if harmed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < plan.frames).then_some(count + 1)).is_err() {
            to.write_all(&frame)?;
            continue;
        }
        match plan.harm {
            Harm::Flip => to.write_all(&flipped(frame.clone(), (frame.len() - 1 - frame.len() / 7 % TAG_LEN) * 8 + 3))?,
            Harm::FlipHeader => {
                // The region; the length says where the next one begins.
                let mut frame = flipped(frame, 16 * 8);
                let crc = crc32c_of(&[&frame[..28]]);
                frame[28..HEADER_LEN].copy_from_slice(&crc.to_le_bytes());
                to.write_all(&frame)?;
            }
            Harm::Drop => {}
            Harm::Repeat => to.write_all(&[&frame[..], &frame].concat())?,
            Harm::Reorder => {
                from.set_read_timeout(Some(Duration::from_millis(100)))?;
                let next = read(from);
                from.set_read_timeout(None)?;
                match next {
                    Ok((next, _)) => to.write_all(&[next, frame].concat())?,
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                        harmed.fetch_sub(1, Ordering::Relaxed);
                        // Perhaps the one behind it.
                        number -= 1;
                        to.write_all(&frame)?;
                    }
                    Err(error) => return Err(error),
                }
            }
            Harm::Cut => {
                to.write_all(&frame[..frame.len() / 2])?;
                return Ok(());
            }
            Harm::SendBack => from.write_all(&frame)?,
        }
    }
}

fn flipped(mut frame: Vec<u8>, bit: usize) -> Vec<u8> {
    frame[bit / 8] ^= 1 << (bit % 8);
    frame
}

/// A whole frame, and whether it is encrypted.
fn read(mut from: &TcpStream) -> Result<(Vec<u8>, bool)> {
    let mut frame = vec![0; HEADER_LEN];
    from.read_exact(&mut frame)?;
    let number = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().unwrap());
    let is_encrypted = number(4) & 0xFFFF == u32::from(VERSION_ENCRYPTED);
    let length = number(20) as usize + if is_encrypted { TAG_LEN } else { 0 };
    frame.resize(HEADER_LEN + length, 0);
    from.read_exact(&mut frame[HEADER_LEN..])?;
    Ok((frame, is_encrypted))
}
