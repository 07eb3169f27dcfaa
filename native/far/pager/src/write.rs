// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! One WRITE: pages of one region to one server, repeated until it is acknowledged or the server is lost.

use std::time::Duration;

use lull_far_protocol::{ErrorCode, Header, Message, Op, Write, crc32c_join, crc32c_of};

use crate::PAGE_SIZE;
use crate::last_words::{fatal, say};
use crate::layout::Place;
use crate::link::{Asked, Channel, LinkError, Payload, STILL};
use crate::pager::Pager;
use crate::syscall;

/// For so many times the silence that a server may have, one that is not silent may fail to take pages.
const LONGEST: u64 = 4;

/// What is sent. Stays the same however often it is.
pub struct WriteRequest<'a> {
    /// Index of the server.
    pub server: usize,
    region: u32,
    first: u64,
    count: u32,
    /// The fixed part, the numbers of the pages.
    head: Vec<u8>,
    /// Their contents; of neighbours in one piece.
    contents: Vec<&'a [u8]>,
    /// CRC32C of the pages: what the server must answer.
    content_crc: u32,
    /// When it was made.
    made: u64,
}

impl<'a> WriteRequest<'a> {
    /// Of pages of one region, ascending, each with its index in `contents`.
    pub fn new(group: &[(Place, usize)], contents: &'a [u8]) -> WriteRequest<'a> {
        let (place, _) = group[0];
        let count = group.len() as u32;
        let mut head = Write::fixed(count).to_vec();
        group.iter().for_each(|(place, _)| head.extend_from_slice(&place.page.to_le_bytes()));
        let runs = group.chunk_by(|(_, a), (_, b)| a + 1 == *b);
        let contents: Vec<&[u8]> = runs.map(|run| &contents[run[0].1 * PAGE_SIZE..][..run.len() * PAGE_SIZE]).collect();
        let content_crc = crc32c_of(&contents);
        WriteRequest {
            server: place.server,
            region: place.region,
            first: place.page,
            count,
            head,
            contents,
            content_crc,
            made: syscall::now(),
        }
    }

    /// Sends it, without waiting for the answer.
    pub fn begin(&self, pager: &Pager, channel: &mut Channel) -> Result<Asked, LinkError> {
        let server = &pager.servers[self.server];
        if !server.takes_writes() {
            return Err(LinkError::Broken(format!("memory server {} is lost", server.name())));
        }
        let parts: Vec<&[u8]> = std::iter::once(&self.head[..]).chain(self.contents.iter().copied()).collect();
        let crc = crc32c_join(crc32c_of(&[&self.head]), self.content_crc, self.count as usize * PAGE_SIZE);
        channel.begin(server, Op::Write, self.region, Payload { parts: &parts, crc })
    }

    /// Waits for the answer, and sends it again as often as it takes. False if the server is lost.
    pub fn finish(&self, pager: &Pager, channel: &mut Channel, begun: Result<Asked, LinkError>) -> bool {
        let server = &pager.servers[self.server];
        let timeout = pager.options.server_timeout.as_nanos() as u64;
        let mut failing_since = None;
        let mut wrong = 0;
        let mut begun = Some(begun);
        while server.takes_writes() {
            let asked = begun.take().unwrap_or_else(|| self.begin(pager, channel));
            let answer = asked.and_then(|asked| channel.finish(server, &asked));
            match self.judge(answer) {
                Verdict::Acknowledged => return true,
                // It says that it has something else than was sent, or it got something else.
                Verdict::Wrong => {
                    wrong += 1;
                    channel.close();
                    let (region, count, first) = (self.region, self.count, self.first);
                    let text = format!("memory server {}: region {region}, {count} pages from {first} on: wrong checksum", server.name());
                    if wrong > 1 && server.lost() {
                        // It is being filled: the other server has all of its pages.
                        say(format_args!("{text}, twice"));
                        server.give_up();
                        continue;
                    }
                    if wrong > 1 {
                        fatal(format_args!("{text}, twice"));
                    }
                    say(format_args!("{text}; they are sent again"));
                }
                Verdict::Refused(text) => {
                    say(format_args!("memory server {}: WRITE: {text}", server.name()));
                    channel.close();
                    server.give_up();
                }
                Verdict::Broken(text) => {
                    let since = *failing_since.get_or_insert_with(|| {
                        say(format_args!("{text}; trying again"));
                        syscall::now()
                    });
                    let failing = syscall::now() - since;
                    // One that is being filled is needed by nobody: the other server has all of its pages. It may break once.
                    if server.lost() && syscall::now() - self.made >= STILL.as_nanos() as u64 {
                        server.give_up();
                        continue;
                    }
                    if failing.min(server.silent_for()) > timeout || failing > timeout.saturating_mul(LONGEST) {
                        // A server that answers on its other connections, too, is of no use if it takes nothing: the evictor waits here, and
                        // for its room everybody.
                        server.give_up();
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
        }
        false
    }

    fn judge(&self, answer: Result<(Header, Vec<u8>), LinkError>) -> Verdict {
        let (header, payload) = match answer {
            Ok(answer) => answer,
            Err(LinkError::Refused(text)) => return Verdict::Refused(text),
            Err(LinkError::Broken(text)) => return Verdict::Broken(text),
        };
        match Message::decode(&header, &payload) {
            Ok(Message::WriteAck(ack)) if ack.count == self.count && ack.content_crc == self.content_crc => Verdict::Acknowledged,
            Ok(Message::WriteAck(_) | Message::Error { code: ErrorCode::Crc, .. }) | Err(_) => Verdict::Wrong,
            Ok(Message::Error { code, text }) => Verdict::Refused(format!("{}: {text}", code.name())),
            Ok(other) => Verdict::Refused(format!("answered with {}", other.op().name())),
        }
    }
}

/// What an answer comes to.
enum Verdict {
    Acknowledged,
    Wrong,
    Refused(String),
    Broken(String),
}
