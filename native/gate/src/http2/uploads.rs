// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Requests that were answered before their end: how much their clients may still send of them, and when one is told to stop.
//!
//! `RST_STREAM` behind an answer makes some clients forget the answer: they report a broken stream, and their caller does not know that the
//! request was not processed. Most requests are nearly over anyway. So a client is not told to stop, but given room for what it still has to
//! send, which is taken and dropped, and only one that goes on beyond [`MOST_BODY`] is.
//!
//! The server does not see these bytes, so that nobody else enforces the windows that bound what a client may make of it.

use std::collections::VecDeque;

/// A client that has sent so much behind its answer is told to stop when its window is half used up.
pub(super) const MOST_BODY: u64 = 2 << 20;
/// Streams on which a client may still send that are followed. Of one more, the oldest is told to stop, and forgotten.
pub(super) const MOST_OPEN: usize = 256;
/// What the window of such a stream is made to be, at least: that of RFC 9113 before SETTINGS say something else.
pub(super) const LEAST_WINDOW: u32 = 65_535;
/// RFC 9113, 6.9.1.
pub(super) const MOST_WINDOW: u32 = (1 << 31) - 1;

/// A request that is answered and not over.
#[derive(Debug, Clone)]
struct Upload {
    stream: u32,
    /// Bytes of DATA that its client may send, at least: SETTINGS that make it more may not have reached it.
    at_least: i64,
    /// And at most: those that make it less may not have. Below 0, the client has sent more than it may.
    at_most: i64,
    /// Bytes of DATA that were taken.
    taken: u64,
    is_stopped: bool,
}

/// What to write to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// `WINDOW_UPDATE`: so many bytes more on this stream.
    More(u32, u32),
    /// `RST_STREAM`: no more on this stream.
    Stop(u32),
}

/// All of a connection, in the order of their streams.
#[derive(Debug, Clone)]
pub(super) struct Uploads {
    open: VecDeque<Upload>,
    /// The window that the server gives to a new stream, and the largest that it ever gave.
    initial: u32,
    widest: u32,
    /// What clients may still send on streams that are followed no more, at most. gRPC's in Java sends DATA that was queued behind the
    /// `RST_STREAM` by which it gives a call up.
    forgotten: i64,
}

impl Default for Uploads {
    fn default() -> Uploads {
        Uploads { open: VecDeque::new(), initial: LEAST_WINDOW, widest: LEAST_WINDOW, forgotten: 0 }
    }
}

impl Uploads {
    /// The server's SETTINGS say what window a stream has at first; open ones change by the difference (RFC 9113, 6.9.2).
    pub(super) fn initial_window(&mut self, window: u32) {
        let more = i64::from(window) - i64::from(self.initial);
        for upload in &mut self.open {
            upload.at_least += more.min(0);
            upload.at_most += more.max(0);
        }
        self.initial = window;
        self.widest = self.widest.max(window);
    }

    /// The request on `stream` was answered, and goes on.
    pub(super) fn begin(&mut self, stream: u32, mut say: impl FnMut(Word)) {
        self.open.push_back(Upload { stream, at_least: self.initial.into(), at_most: self.widest.into(), taken: 0, is_stopped: false });
        if self.open.len() > MOST_OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            self.forget(&oldest);
            if !oldest.is_stopped {
                say(Word::Stop(oldest.stream));
            }
        }
        self.make_room(self.open.len() - 1, say);
    }

    /// Bytes of DATA have been taken on `stream`, the last ones if it `ends`.
    pub(super) fn data(&mut self, stream: u32, bytes: u32, ends: bool, say: impl FnMut(Word)) {
        let Some(at) = self.find(stream) else {
            self.forgotten -= i64::from(bytes);
            return;
        };
        let upload = &mut self.open[at];
        upload.taken += u64::from(bytes);
        upload.at_least -= i64::from(bytes);
        upload.at_most -= i64::from(bytes);
        if upload.at_most < 0 {
            // Neither makes an end, nor gets more.
            return;
        }
        if ends {
            self.end(stream);
        } else {
            self.make_room(at, say);
        }
    }

    /// The client will send nothing more on `stream`.
    pub(super) fn end(&mut self, stream: u32) {
        if let Some(upload) = self.find(stream).and_then(|at| self.open.remove(at)) {
            self.forget(&upload);
        }
    }

    /// What may still come on a stream, behind its end, too, is counted together; but no client makes much of it by many streams: what one may send
    /// at least, by the window that it was given.
    fn forget(&mut self, upload: &Upload) {
        let most = (MOST_BODY as i64).max(self.widest.into());
        self.forgotten = (self.forgotten + upload.at_most.max(0)).min(most);
    }

    /// Clients that still send on a stream up to this one are told to stop: it will be forgotten that these are the gate's.
    pub(super) fn stop_until(&mut self, last: u32, mut say: impl FnMut(Word)) {
        for upload in self.open.iter_mut().take_while(|upload| upload.stream <= last).filter(|upload| !upload.is_stopped) {
            upload.is_stopped = true;
            say(Word::Stop(upload.stream));
        }
    }

    /// Whether a client has sent more than a window allows. Perhaps only until SETTINGS are known that are being written.
    pub(super) fn is_overrun(&self) -> bool {
        self.forgotten < 0 || self.open.iter().any(|upload| upload.at_most < 0)
    }

    fn find(&self, stream: u32) -> Option<usize> {
        self.open.binary_search_by_key(&stream, |upload| upload.stream).ok()
    }

    /// A window of which half is used up is made whole, as long as the client may go on.
    fn make_room(&mut self, at: usize, mut say: impl FnMut(Word)) {
        let whole = i64::from(self.initial.max(LEAST_WINDOW));
        let upload = &mut self.open[at];
        if upload.is_stopped || upload.at_least >= whole / 2 {
            return;
        }
        let more = whole - upload.at_least;
        if upload.taken >= MOST_BODY || more > i64::from(MOST_WINDOW) {
            upload.is_stopped = true;
            say(Word::Stop(upload.stream));
        } else {
            upload.at_least = whole;
            upload.at_most += more;
            say(Word::More(upload.stream, more as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said in `f`.
    fn said(f: impl FnOnce(&mut dyn FnMut(Word))) -> Vec<Word> {
        let mut words = Vec::new();
        f(&mut |word| words.push(word));
        words
    }

    #[test]
    fn a_body_that_fits_into_the_window_is_not_spoken_of() {
        let mut uploads = Uploads::default();
        assert_eq!(said(|say| uploads.begin(3, say)), []);
        assert_eq!(said(|say| uploads.data(3, 30_000, false, say)), []);
        assert_eq!(said(|say| uploads.data(3, 35_535, true, say)), []);
        assert!(uploads.open.is_empty());
    }

    #[test]
    fn a_client_gets_room_and_is_stopped_beyond_the_most() {
        let mut uploads = Uploads::default();
        uploads.begin(3, |_| ());
        let (mut sent, mut room) = (0u64, i64::from(LEAST_WINDOW));
        let mut stopped = 0;
        while room >= 16_384 && sent < 4 * MOST_BODY {
            sent += 16_384;
            room -= 16_384;
            for word in said(|say| uploads.data(3, 16_384, false, say)) {
                match word {
                    Word::More(3, more) => room += i64::from(more),
                    Word::Stop(3) => stopped += 1,
                    other => panic!("{other:?}"),
                }
            }
            assert!((0..=i64::from(LEAST_WINDOW)).contains(&room) && !uploads.is_overrun());
        }
        assert_eq!(stopped, 1);
        assert!(sent >= MOST_BODY && sent <= MOST_BODY + u64::from(LEAST_WINDOW), "{sent}");
    }

    /// gRPC's client gives a call up, with most of a large message in its queue, behind the RST_STREAM: the connection is others', too.
    #[test]
    fn what_a_large_window_allows_may_come_behind_the_end() {
        let mut uploads = Uploads::default();
        uploads.initial_window(8 << 20);
        uploads.begin(3, |_| ());
        uploads.end(3);
        uploads.data(3, 8 << 20, false, |_| ());
        assert!(!uploads.is_overrun());
        uploads.data(3, 1, false, |_| ());
        assert!(uploads.is_overrun());
    }

    #[test]
    fn a_server_that_gives_little_or_changes_its_mind() {
        let mut uploads = Uploads::default();
        uploads.initial_window(0);
        assert_eq!(said(|say| uploads.begin(3, say)), [Word::More(3, LEAST_WINDOW)]);
        // Open streams lose what new ones do not get; the difference is made good when it is needed.
        uploads.initial_window(1 << 20);
        assert_eq!(said(|say| uploads.begin(5, say)), []);
        uploads.initial_window(1000);
        assert_eq!(said(|say| uploads.data(5, 1, false, say)), [Word::More(5, 64_536)]);
        // More than a window can be.
        uploads.initial_window(MOST_WINDOW);
        uploads.begin(7, |_| ());
        uploads.initial_window(0);
        assert_eq!(said(|say| uploads.data(7, 1, false, say)), [Word::More(7, 65_536)]);
        uploads.initial_window(MOST_WINDOW);
        uploads.initial_window(0);
        assert_eq!(said(|say| uploads.data(7, 1, false, say)), [Word::Stop(7)]);
        assert_eq!(said(|say| uploads.data(7, 1, false, say)), []);
    }

    #[test]
    fn more_than_a_window_allows_is_seen() {
        // One byte more than there is room for, before the SETTINGS that widen the window are known.
        let mut uploads = Uploads::default();
        uploads.begin(3, |_| ());
        uploads.data(3, LEAST_WINDOW, false, |_| ());
        assert!(!uploads.is_overrun());
        uploads.data(3, LEAST_WINDOW + 1, false, |_| panic!("more room"));
        assert!(uploads.is_overrun());
        uploads.initial_window(LEAST_WINDOW + 1);
        assert!(!uploads.is_overrun());

        let mut uploads = Uploads::default();
        uploads.begin(3, |_| ());
        uploads.data(3, 0, true, |_| ());
        // Behind the end; as much as there was room for, once.
        uploads.data(3, LEAST_WINDOW, false, |_| ());
        assert!(!uploads.is_overrun());
        uploads.data(3, 1, false, |_| ());
        assert!(uploads.is_overrun());
        // Many streams make no more of it.
        let mut uploads = Uploads::default();
        for stream in (3..20_003).step_by(2) {
            uploads.begin(stream, |_| ());
            uploads.end(stream);
        }
        uploads.data(3, MOST_BODY as u32, false, |_| ());
        assert!(!uploads.is_overrun());
        uploads.data(3, 1, false, |_| ());
        assert!(uploads.is_overrun());

        // A client that knows of a wider window only may use it.
        let mut uploads = Uploads::default();
        uploads.initial_window(1_000_000);
        uploads.initial_window(1000);
        (1..=MOST_OPEN as u32 + 1).for_each(|n| uploads.begin(2 * n + 1, |_| ()));
        uploads.data(3, 1_000_000, false, |_| ());
        assert!(!uploads.is_overrun());
        uploads.data(3, 100_000, false, |_| ());
        assert!(uploads.is_overrun());
    }

    #[test]
    fn those_that_will_be_forgotten_are_stopped_once() {
        let mut uploads = Uploads::default();
        for stream in [3, 5, 9] {
            uploads.begin(stream, |_| ());
        }
        assert_eq!(said(|say| uploads.stop_until(7, say)), [Word::Stop(3), Word::Stop(5)]);
        assert_eq!(said(|say| uploads.stop_until(9, say)), [Word::Stop(9)]);
        assert_eq!(said(|say| uploads.data(9, 60_000, false, say)), []);
    }

    #[test]
    fn the_oldest_of_too_many_is_stopped() {
        let mut uploads = Uploads::default();
        let last = 2 * MOST_OPEN as u32 + 1;
        let words = said(|say| (3..=last).step_by(2).for_each(|stream| uploads.begin(stream, &mut *say)));
        assert_eq!(words, []);
        uploads.end(5);
        assert_eq!(said(|say| uploads.begin(last + 2, say)), []);
        assert_eq!(said(|say| uploads.begin(last + 4, say)), [Word::Stop(3)]);
        assert_eq!(said(|say| uploads.begin(last + 6, say)), [Word::Stop(7)]);
        assert_eq!(said(|say| uploads.data(7, 1_000_000, false, say)), []);
    }
}
