// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! A wire that cuts and refuses as a kernel may; for tests.

use std::collections::VecDeque;
use std::io;

use super::Wire;
use crate::kernel::Totals;

/// A kernel's socket.
#[derive(Default)]
pub(crate) struct FakeWire {
    /// What has arrived and nobody has taken.
    pub(crate) received: VecDeque<u8>,
    /// What was written, by whomever.
    pub(crate) sent: Vec<u8>,
    /// Bytes taken and written.
    pub(crate) totals: (u64, u64),
    /// How many bytes the send buffer takes now.
    pub(crate) room: usize,
    /// The counts will not hold still.
    pub(crate) restless: bool,
    /// The client has closed its side.
    pub(crate) closing: bool,
    /// It was reset, and nobody has been told.
    pub(crate) reset: bool,
    /// What has arrived cannot be taken.
    pub(crate) defect: bool,
    /// Selectors are told from so many bytes on; 0 is 1.
    pub(crate) told_from: usize,
    /// How often the gate has done anything, as system calls of a real one, and how many bytes it has looked at.
    pub(crate) calls: usize,
    pub(crate) looked_at: usize,
}

impl Wire for FakeWire {
    fn peek(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.received.is_empty() {
            if std::mem::take(&mut self.reset) {
                self.closing = true;
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            return if self.closing { Ok(0) } else { Err(io::ErrorKind::WouldBlock.into()) };
        }
        let n = buffer.len().min(self.received.len());
        self.calls += 1;
        self.looked_at += n;
        buffer.iter_mut().zip(&self.received).for_each(|(to, from)| *to = *from);
        Ok(n)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        let n = bytes.len().min(self.room);
        if n == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.sent.extend_from_slice(&bytes[..n]);
        self.totals.1 += n as u64;
        self.room -= n;
        Ok(n)
    }

    fn unread(&mut self) -> io::Result<Option<usize>> {
        self.calls += 2;
        Ok((!self.closing && !self.reset).then_some(self.received.len()))
    }

    fn consume(&mut self, length: usize) -> io::Result<()> {
        self.calls += 1;
        assert!(length <= self.received.len(), "takes more than there is");
        if self.defect {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.received.drain(..length);
        self.totals.0 += length as u64;
        Ok(())
    }

    fn tell_from(&mut self, bytes: usize) {
        self.told_from = bytes;
    }

    fn shut_down(&mut self) {
        self.closing = true;
    }

    fn totals(&mut self) -> io::Result<Option<Totals>> {
        self.calls += 6;
        if self.restless {
            return Ok(None);
        }
        Ok(Some(Totals { established: !self.closing && !self.reset, taken: self.totals.0, written: self.totals.1, unacknowledged: 0 }))
    }
}
