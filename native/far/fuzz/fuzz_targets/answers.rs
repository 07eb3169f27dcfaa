// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The pager's fault path against what a server may answer to a FETCH. Pages are used only if a whole right answer to just this
//! request came.
#![no_main]

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};

use libfuzzer_sys::fuzz_target;
use lull_far::fuzzing::FetchAnswer;
use lull_far_protocol::{Fetch, HEADER_LEN, Header, Message, Op, RunOfPages, seal};

const RUN: Fetch = Fetch { first: 3, count: 2 };
const REGION: u32 = 5;

/// Two ends of a connection.
fn pair() -> (TcpStream, TcpStream) {
    thread_local!(static LISTENER: RefCell<TcpListener> = RefCell::new(TcpListener::bind("127.0.0.1:0").unwrap()));
    LISTENER.with_borrow(|listener| {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    })
}

fuzz_target!(|input: &[u8]| {
    // The first byte says how the rest is wrapped, so that what lies behind the checksums is reached.
    let Some((&how, rest)) = input.split_first() else { return };
    let mut pages = vec![0; 2 * 4096];
    pages.iter_mut().zip(rest.iter().cycle()).for_each(|(to, &from)| *to = from);
    let mut answer = Vec::new();
    match how % 4 {
        0 => answer.extend_from_slice(rest),
        1 => {
            let op = Op::ALL[usize::from(how / 4) % Op::ALL.len()];
            answer.extend_from_slice(&seal(op, 2, REGION, &[rest]));
            answer.extend_from_slice(rest);
        }
        _ => {
            let (sequence, region) = (2 + u64::from(how / 4 == 1), REGION + u32::from(how / 4 == 2));
            let run = Fetch { first: RUN.first + u64::from(how / 4 == 3), ..RUN };
            Message::Data(RunOfPages { run, bytes: &pages }).encode(sequence, region, &mut answer);
            if how % 4 == 3 {
                let at = rest.iter().fold(0_usize, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % (answer.len() * 8);
                answer[at / 8] ^= 1 << (at % 8);
            }
        }
    }
    let (client, mut server) = pair();
    let mut pager = FetchAnswer::new(client);
    server.write_all(&answer).unwrap();
    server.shutdown(Shutdown::Write).unwrap();
    let right = is_right(&answer);
    match pager.fetch(REGION, RUN) {
        Some(used) => {
            assert!(right, "an answer was used that is none to this request");
            assert!(used == &answer[HEADER_LEN + 16..HEADER_LEN + 16 + 2 * 4096]);
        }
        None => assert!(!right, "a right answer was not used"),
    }
    let mut request = Vec::new();
    drop(pager);
    let _ = server.read_to_end(&mut request);
});

/// Whether it is one, by the decoder, which is fuzzed by itself.
fn is_right(answer: &[u8]) -> bool {
    let Some(Ok(header)) = answer.first_chunk::<HEADER_LEN>().map(Header::decode) else { return false };
    let Some(payload) = answer.get(HEADER_LEN..HEADER_LEN + header.len as usize) else { return false };
    header.sequence == 2
        && header.region == REGION
        && matches!(Message::decode(&header, payload), Ok(Message::Data(data)) if data.run == RUN)
}
