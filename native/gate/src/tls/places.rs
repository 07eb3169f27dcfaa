// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Who may be a client, and of which thread: places are given under one lock of all threads, so that a bound is one of all of them. Nothing here
//! knows of sockets.
//!
//! A client is *unknown* until it has ended its handshake. Where too many are, or no place is left, the oldest unknown one of any thread has to
//! go for the next. That one's thread ends it, and no other can: so it is *condemned*, and who comes *waits* for its place at the same thread,
//! which ends whom it must before it begins with others. The invariants, by name:
//!
//! * **M** (most): those that count are `most` at most, and of them `handshakes` unknown.
//! * **P** (paired): each thread has as many that wait as it has condemned ones that it has not yet ended, or more. So the threads never have more
//!   than `most` clients that have begun, and of connections there are `handshakes` more at most.
//! * **F** (fair): nobody is refused while a client is unknown that came before; and who has ended its handshake keeps its place.

use std::collections::BTreeMap;

/// Clients by their age: never given twice.
pub type Ticket = u64;

/// All places.
#[derive(Debug)]
pub struct Places<C> {
    most: usize,
    handshakes: usize,
    /// So many count: not who is condemned.
    open: usize,
    next: Ticket,
    /// Those that count and have not ended their handshake, and whose they are.
    unknown: BTreeMap<Ticket, usize>,
    threads: Vec<Thread<C>>,
}

/// What one thread has.
#[derive(Debug)]
struct Thread<C> {
    /// Whether it takes clients.
    serves: bool,
    /// So many of those that count.
    load: usize,
    /// Those that it has not begun with; they count, and are unknown.
    waiting: BTreeMap<Ticket, C>,
    /// Those that it has begun with and has yet to end.
    condemned: Vec<Ticket>,
}

/// What a thread has to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<C> {
    /// This one has to go, unless its handshake has ended meanwhile.
    End(Ticket),
    /// This one begins.
    Begin(Ticket, C),
}

/// What has become of one that came.
#[derive(Debug, PartialEq, Eq)]
pub struct Placed<C> {
    /// The thread at which it waits; `None` if it was refused.
    pub thread: Option<usize>,
    /// Who has gone at once: it itself, or one that waited.
    pub gone: Option<C>,
    /// No place was left.
    pub was_full: bool,
}

impl<C> Places<C> {
    /// For so many clients, so many of them unknown, of so many threads. None of these is 0.
    pub fn new(most: usize, handshakes: usize, threads: usize) -> Places<C> {
        let thread = || Thread { serves: true, load: 0, waiting: BTreeMap::new(), condemned: Vec::new() };
        Places { most, handshakes, open: 0, next: 0, unknown: BTreeMap::new(), threads: (0..threads).map(|_| thread()).collect() }
    }

    /// So many there are.
    pub fn open(&self) -> usize {
        self.open
    }

    /// So many of them are unknown.
    pub fn unknown(&self) -> usize {
        self.unknown.len()
    }

    /// So many each thread has.
    pub fn loads(&self) -> Vec<usize> {
        self.threads.iter().map(|thread| thread.load).collect()
    }

    /// One was accepted, by thread `me`.
    pub fn come(&mut self, me: usize, client: C) -> Placed<C> {
        let ticket = self.next;
        self.next += 1;
        self.place(ticket, me, client)
    }

    fn place(&mut self, ticket: Ticket, me: usize, client: C) -> Placed<C> {
        let was_full = self.open >= self.most;
        let (thread, gone) = if was_full || self.unknown.len() >= self.handshakes {
            let Some((oldest, thread)) = self.unknown.pop_first() else { return Placed { thread: None, gone: Some(client), was_full } };
            self.leave(thread);
            let of = &mut self.threads[thread];
            let gone = of.waiting.remove(&oldest);
            if gone.is_none() {
                of.condemned.push(oldest);
            }
            (thread, gone)
        } else {
            let Some(thread) = self.least_loaded(me) else { return Placed { thread: None, gone: Some(client), was_full } };
            (thread, None)
        };
        self.open += 1;
        self.unknown.insert(ticket, thread);
        self.threads[thread].load += 1;
        self.threads[thread].waiting.insert(ticket, client);
        Placed { thread: Some(thread), gone, was_full }
    }

    /// The thread that has the fewest, the one that asks before others: the kernel wakes whom it likes, and of those who sleep mostly the same one.
    fn least_loaded(&self, me: usize) -> Option<usize> {
        let serving = self.threads.iter().enumerate().filter(|(_, thread)| thread.serves);
        serving.min_by_key(|&(thread, of)| (of.load, thread != me)).map(|(thread, _)| thread)
    }

    /// What `thread` has to do next; before it asks again it has done that.
    pub fn next(&mut self, thread: usize) -> Option<Next<C>> {
        let of = &mut self.threads[thread];
        of.condemned.pop().map(Next::End).or_else(|| of.waiting.pop_first().map(|(ticket, client)| Next::Begin(ticket, client)))
    }

    /// A client of `thread`'s has ended its handshake. If it was condemned, it takes its place from one that waits at this thread, which has
    /// another one's then, or none: what became of that.
    pub fn known(&mut self, ticket: Ticket, thread: usize) -> Option<Placed<C>> {
        if self.unknown.remove(&ticket).is_some() {
            return None;
        }
        let of = &mut self.threads[thread];
        of.condemned.retain(|condemned| *condemned != ticket);
        let Some((newest, client)) = of.waiting.pop_last() else {
            // Invariant P says that it cannot be. Counted it is all the same, for it counts itself out.
            debug_assert!(false, "{ticket} of thread {thread} is condemned, and nobody waits for its place");
            of.load += 1;
            self.open += 1;
            return None;
        };
        self.unknown.remove(&newest);
        // That one's place is this one's now, and so the counts are right.
        Some(self.place(newest, thread, client))
    }

    /// A client has gone that `thread` had begun with.
    pub fn gone(&mut self, ticket: Ticket, thread: usize, is_known: bool) {
        // Who is condemned counts no more.
        if is_known || self.unknown.remove(&ticket).is_some() {
            self.leave(thread);
        }
    }

    fn leave(&mut self, thread: usize) {
        self.open -= 1;
        self.threads[thread].load -= 1;
    }

    /// A thread takes nobody any more, and has ended whom it had: those that wait there.
    pub fn close(&mut self, thread: usize) -> Vec<C> {
        let of = &mut self.threads[thread];
        of.serves = false;
        of.condemned.clear();
        let waiting = std::mem::take(&mut of.waiting);
        waiting
            .into_iter()
            .map(|(ticket, client)| {
                self.gone(ticket, thread, false);
                client
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn begin(places: &mut Places<Ticket>, thread: usize) -> Ticket {
        match places.next(thread) {
            Some(Next::Begin(ticket, client)) if ticket == client => ticket,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_oldest_goes_whose_it_may_be() {
        let mut places = Places::new(4, 2, 2);
        // Thread 0 has those who say nothing, and thread 1 accepts another one.
        assert_eq!(places.come(0, 0), Placed { thread: Some(0), gone: None, was_full: false });
        begin(&mut places, 0);
        assert_eq!(places.come(0, 1).thread, Some(1));
        assert_eq!(places.come(1, 2), Placed { thread: Some(0), gone: None, was_full: false });
        assert_eq!((places.next(1), places.unknown(), places.open()), (Some(Next::Begin(1, 1)), 2, 2));
        // It is ended before the other begins.
        assert_eq!(places.next(0), Some(Next::End(0)));
        places.gone(0, 0, false);
        assert_eq!((places.next(0), places.next(0)), (Some(Next::Begin(2, 2)), None));
        // Of those that wait, the oldest has nobody to end it.
        assert_eq!(places.come(0, 3).thread, Some(1));
        assert_eq!(places.come(0, 4).thread, Some(0));
        assert_eq!(places.come(0, 5), Placed { thread: Some(1), gone: Some(3), was_full: false });
        assert_eq!((places.unknown(), places.open(), places.loads()), (2, 2, vec![1, 1]));
    }

    #[test]
    fn who_is_in_earnest_is_not_given_up_for_anybody() {
        let mut places = Places::new(2, 2, 1);
        for ticket in 0..2 {
            places.come(0, ticket);
            assert_eq!(begin(&mut places, 0), ticket);
            assert_eq!(places.known(ticket, 0), None);
        }
        assert_eq!(places.come(0, 2), Placed { thread: None, gone: Some(2), was_full: true });
        places.gone(1, 0, true);
        assert_eq!(places.come(0, 3).thread, Some(0));
    }

    #[test]
    fn who_ends_its_handshake_at_the_last_moment_keeps_its_place() {
        let mut places = Places::new(2, 2, 2);
        for thread in 0..2 {
            places.come(thread, thread as Ticket);
            begin(&mut places, thread);
        }
        // The first is condemned for the third, which has the second's place then.
        assert_eq!(places.come(1, 2), Placed { thread: Some(0), gone: None, was_full: true });
        assert_eq!(places.known(0, 0), Some(Placed { thread: Some(1), gone: None, was_full: true }));
        assert_eq!((places.next(0), places.next(1)), (None, Some(Next::End(1))));
        // That is in earnest, too, and nobody else could go.
        assert_eq!(places.known(1, 1), Some(Placed { thread: None, gone: Some(2), was_full: true }));
        assert_eq!((places.open(), places.unknown(), places.loads()), (2, 0, vec![1, 1]));
    }

    #[test]
    fn a_thread_that_serves_no_more_is_dealt_nobody() {
        let mut places = Places::new(8, 8, 2);
        for ticket in 0..4 {
            places.come(0, ticket);
        }
        assert_eq!(places.close(0), [0, 2]);
        assert_eq!((places.loads(), places.unknown()), (vec![0, 2], 2));
        assert_eq!(places.come(0, 4).thread, Some(1));
        assert_eq!(places.close(1), [1, 3, 4]);
        assert_eq!(places.come(0, 5), Placed { thread: None, gone: Some(5), was_full: false });
        assert_eq!((places.open(), places.unknown()), (0, 0));
    }

    /// The threads as they are, but for their sockets.
    struct Model {
        places: Places<Ticket>,
        most: usize,
        handshakes: usize,
        /// Of each thread: those that have begun, and whether they are known.
        begun: Vec<BTreeMap<Ticket, bool>>,
        /// Those that wait.
        waiting: BTreeSet<Ticket>,
        /// Those that have begun, are unknown, and may go.
        condemned: BTreeSet<Ticket>,
        came: Ticket,
        /// How often one came that was refused, was let in for another one; and how often one was saved at the last moment.
        seen: [u64; 3],
    }

    impl Model {
        fn known(&self) -> usize {
            self.begun.iter().flat_map(BTreeMap::values).filter(|is_known| **is_known).count()
        }

        /// Those that count and are unknown, the oldest first.
        fn unknown(&self) -> BTreeSet<Ticket> {
            let begun = self.begun.iter().flatten().filter(|(_, is_known)| !**is_known).map(|(ticket, _)| *ticket);
            begun.filter(|ticket| !self.condemned.contains(ticket)).chain(self.waiting.iter().copied()).collect()
        }

        /// `ticket` has come, or comes anew; `placed` is what became of it.
        fn place(&mut self, ticket: Ticket, placed: &Placed<Ticket>) {
            let mut unknown = self.unknown();
            let is_full = self.known() + unknown.len() >= self.most;
            assert_eq!(placed.was_full, is_full);
            let has_to_go = (is_full || unknown.len() >= self.handshakes).then(|| unknown.pop_first());
            match has_to_go {
                None => assert_eq!((placed.gone, placed.thread.is_some()), (None, true)),
                // Invariant F.
                Some(None) => {
                    assert_eq!((placed.gone, placed.thread, self.known()), (Some(ticket), None, self.most));
                    self.seen[0] += 1;
                    return;
                }
                Some(Some(oldest)) => {
                    let waited = self.waiting.remove(&oldest);
                    assert_eq!(placed.gone, waited.then_some(oldest));
                    if !waited {
                        assert!(self.begun[placed.thread.unwrap()].contains_key(&oldest), "it waits where nobody is ended for it");
                        self.condemned.insert(oldest);
                    }
                    self.seen[1] += 1;
                }
            }
            self.waiting.insert(ticket);
        }

        fn come(&mut self, me: usize) {
            let ticket = self.came;
            self.came += 1;
            let placed = self.places.come(me, ticket);
            self.place(ticket, &placed);
        }

        /// A client ends its handshake.
        fn finish(&mut self, thread: usize, ticket: Ticket) {
            let was_condemned = self.condemned.remove(&ticket);
            let before = self.places.threads[thread].waiting.last_key_value().map(|(newest, _)| *newest);
            let placed = self.places.known(ticket, thread);
            self.begun[thread].insert(ticket, true);
            assert_eq!(placed.is_some(), was_condemned);
            if let Some(placed) = placed {
                assert!(self.waiting.remove(&before.unwrap()));
                self.place(before.unwrap(), &placed);
                self.seen[2] += 1;
            }
        }

        fn end(&mut self, thread: usize, ticket: Ticket) {
            let is_known = self.begun[thread].remove(&ticket).unwrap();
            self.condemned.remove(&ticket);
            self.places.gone(ticket, thread, is_known);
        }

        fn step(&mut self, thread: usize, finishes: bool) {
            match self.places.next(thread) {
                None => {}
                Some(Next::Begin(ticket, _)) => {
                    assert!(self.waiting.remove(&ticket));
                    assert_eq!(self.begun[thread].insert(ticket, false), None);
                }
                Some(Next::End(ticket)) if !self.begun[thread].contains_key(&ticket) => {}
                Some(Next::End(ticket)) => {
                    assert!(self.condemned.contains(&ticket));
                    if finishes { self.finish(thread, ticket) } else { self.end(thread, ticket) }
                }
            }
        }

        fn check(&self) {
            let (known, unknown) = (self.known(), self.unknown());
            assert_eq!((self.places.open(), self.places.unknown()), (known + unknown.len(), unknown.len()));
            assert!(known + unknown.len() <= self.most && unknown.len() <= self.handshakes, "M: {known} and {unknown:?}");
            for (thread, begun) in self.begun.iter().enumerate() {
                let condemned = begun.keys().filter(|ticket| self.condemned.contains(ticket)).count();
                let of = &self.places.threads[thread];
                assert!(condemned <= of.waiting.len(), "P: {condemned} of thread {thread}, and {} wait", of.waiting.len());
                assert_eq!(of.load, begun.len() - condemned + of.waiting.len());
            }
            let begun: usize = self.begun.iter().map(BTreeMap::len).sum();
            assert!(begun <= self.most && begun + self.waiting.len() <= self.most + self.handshakes, "P: {begun} have begun");
        }
    }

    /// Whatever threads and clients do, in whatever order.
    #[test]
    fn the_invariants_hold_in_every_order() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut seen = [0; 3];
        for (most, handshakes, threads) in [(8, 4, 3), (1, 1, 2), (5, 5, 4), (12, 3, 1), (6, 2, 2)] {
            let places = Places::new(most, handshakes, threads);
            let begun = vec![BTreeMap::new(); threads];
            let mut model =
                Model { places, most, handshakes, begun, waiting: BTreeSet::new(), condemned: BTreeSet::new(), came: 0, seen: [0; 3] };
            for _ in 0..100_000 {
                let thread = random(threads);
                let of: Vec<(Ticket, bool)> = model.begun[thread].iter().map(|(ticket, is_known)| (*ticket, *is_known)).collect();
                let one = (!of.is_empty()).then(|| of[random(of.len().max(1))]);
                match (random(8), one) {
                    (0..3, _) => model.come(thread),
                    (3..6, _) => model.step(thread, random(2) == 0),
                    (6, Some((ticket, false))) => model.finish(thread, ticket),
                    (7, Some((ticket, _))) => model.end(thread, ticket),
                    _ => {}
                }
                model.check();
            }
            (0..3).for_each(|kind| seen[kind] += model.seen[kind]);
            // All go.
            while !model.waiting.is_empty() {
                (0..threads).for_each(|thread| model.step(thread, false));
            }
            let left: Vec<_> =
                model.begun.iter().enumerate().flat_map(|(thread, of)| of.keys().map(move |ticket| (thread, *ticket))).collect();
            left.into_iter().for_each(|(thread, ticket)| model.end(thread, ticket));
            assert_eq!((model.places.open(), model.places.unknown(), model.places.loads()), (0, 0, vec![0; threads]));
        }
        assert!(seen.iter().all(|count| *count > 1000), "{seen:?}");
    }
}
