// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Connections of those who have not said, or not proved, who they are. There are few places. Who comes when all are taken pushes somebody out:
//! of the neighbourhood that has most of them, the one who has had a place longest. So whoever takes places, however fast, takes them from
//! itself, and keeps nobody out who comes from elsewhere and needs a moment only, as who has a key does.
//!
//! Who was pushed out still has a thread until that has seen it. Where there are as many of these as there are places, nobody is accepted: a
//! flood costs so many threads, however fast it comes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

use crate::listen::Visitor;

/// How many there may be at once.
const PLACES: usize = 64;

/// The places.
#[derive(Debug, Default)]
pub struct Strangers(Mutex<Places>);

#[derive(Debug, Default)]
struct Places {
    next: u64,
    /// Those who have a thread, with a place or without one.
    served: HashSet<u64>,
    /// In the order in which they came.
    taken: VecDeque<Stranger>,
}

#[derive(Debug)]
struct Stranger {
    number: u64,
    from: Neighbourhood,
    stream: TcpStream,
}

/// Addresses that one machine can have: an IPv4 address, or the first 64 bits of an IPv6 address; or a user of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Neighbourhood {
    V4(u32),
    V6(u64),
    User(u32),
}

impl Neighbourhood {
    fn of(visitor: Visitor) -> Neighbourhood {
        match visitor {
            Visitor::User(user) => Neighbourhood::User(user),
            Visitor::Ip(address) => match address.ip().to_canonical() {
                IpAddr::V4(address) => Neighbourhood::V4(address.into()),
                IpAddr::V6(address) => Neighbourhood::V6((u128::from(address) >> 64) as u64),
            },
        }
    }
}

impl Places {
    /// Whom to push out for one who comes from there: it counts as there already. Of neighbourhoods that have as many, the one that has had
    /// a place longest.
    fn first_to_go(&self, from: Neighbourhood) -> Option<usize> {
        let mut counts = HashMap::from([(from, 1)]);
        self.taken.iter().for_each(|stranger| *counts.entry(stranger.from).or_insert(0) += 1);
        let most = self.taken.iter().map(|stranger| counts[&stranger.from]).max()?;
        self.taken.iter().position(|stranger| counts[&stranger.from] == most)
    }
}

impl Strangers {
    /// A place for a connection, until [`Strangers::leave`]. Whether another one was closed for it.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn enter(&self, stream: &TcpStream, visitor: Visitor) -> io::Result<(u64, bool)> {
        let (stream, from) = (stream.try_clone()?, Neighbourhood::of(visitor));
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let first = if places.taken.len() >= PLACES { places.first_to_go(from) } else { None };
        let first = first.and_then(|at| places.taken.remove(at));
        places.next += 1;
        let number = places.next;
        places.served.insert(number);
        places.taken.push_back(Stranger { number, from, stream });
        drop(places);
        // Its thread reads the end of the connection, and ends.
        let pushed_out = first.map(|stranger| stranger.stream.shutdown(Shutdown::Both)).is_some();
        Ok((number, pushed_out))
    }

    /// Whether so many threads serve strangers that nobody else may come before some of them have ended.
    pub fn are_enough(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).served.len() >= 2 * PLACES
    }

    /// It is known now, or gone. False if it was pushed out before.
    pub fn leave(&self, number: u64) -> bool {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.served.remove(&number);
        let at = places.taken.iter().position(|stranger| stranger.number == number);
        at.and_then(|at| places.taken.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    /// An address, or the number of a user.
    fn visitor(text: &str) -> Visitor {
        match text.parse::<IpAddr>() {
            Ok(address) => Visitor::Ip((address, 1).into()),
            Err(_) => Visitor::User(text.parse().unwrap()),
        }
    }

    #[test]
    fn who_comes_pushes_out_who_has_been_there_longest() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let strangers = Strangers::default();
        let pairs: Vec<_> =
            (0..PLACES + 2).map(|_| (TcpStream::connect(listener.local_addr().unwrap()).unwrap(), listener.accept().unwrap().0)).collect();
        let enter = |stream| strangers.enter(stream, visitor("10.0.0.1")).unwrap();
        let entered: Vec<_> = pairs[..=PLACES].iter().map(|(_, stream)| enter(stream)).collect();
        assert!(entered[..PLACES].iter().all(|(_, pushed_out)| !pushed_out) && entered[PLACES].1);
        assert_eq!((&pairs[0].0).read(&mut [0]).unwrap(), 0, "the first is still open");
        // Nobody is there twice, and a place that is left is free.
        assert!(!strangers.leave(entered[0].0) && strangers.leave(entered[1].0) && !strangers.leave(entered[1].0));
        assert!(!enter(&pairs[PLACES + 1].1).1);
    }

    #[test]
    fn nobody_comes_while_many_who_were_pushed_out_are_still_served() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let strangers = Strangers::default();
        let numbers: Vec<u64> = (0..2 * PLACES)
            .map(|_| {
                assert!(!strangers.are_enough());
                strangers.enter(&stream, visitor("10.0.0.1")).unwrap().0
            })
            .collect();
        assert!(strangers.are_enough());
        // One who was pushed out has seen it; or one has proved who it is.
        for (number, had_a_place) in [(numbers[0], false), (numbers[2 * PLACES - 1], true)] {
            assert_eq!(strangers.leave(number), had_a_place);
            assert!(!strangers.are_enough());
            strangers.enter(&stream, visitor("10.0.0.1")).unwrap();
            assert!(strangers.are_enough());
        }
    }

    #[test]
    fn whoever_has_most_places_gives_them_up_first() {
        let places = |from: &[&str]| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let stranger = |(number, from): (usize, &&str)| Stranger {
                number: number as u64,
                from: Neighbourhood::of(visitor(from)),
                stream: stream.try_clone().unwrap(),
            };
            Places { taken: from.iter().enumerate().map(stranger).collect(), ..Places::default() }
        };
        for (taken, comes, goes) in [
            (&["10.0.0.1", "10.0.0.2", "10.0.0.2"][..], "10.0.0.3", 1),
            // Who comes counts, too.
            (&["10.0.0.1", "10.0.0.2", "10.0.0.3"], "10.0.0.3", 2),
            (&["10.0.0.1", "10.0.0.2", "10.0.0.3"], "10.0.0.4", 0),
            (&["10.0.0.1", "fd00::1", "fd00::2:0:0:1"], "10.0.0.4", 1),
            (&["10.0.0.1", "fd00:0:0:1::1", "fd00::1", "fd00::2"], "10.0.0.4", 2),
            (&["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.2"], "10.0.0.4", 1),
            (&["1000", "1001", "1001"], "1000", 0),
            (&["1000", "1001", "1001"], "10.0.0.1", 1),
        ] {
            let first = places(taken).first_to_go(Neighbourhood::of(visitor(comes)));
            assert_eq!(first, Some(goes), "{comes} comes to {taken:?}");
        }
        assert_eq!(places(&[]).first_to_go(Neighbourhood::V4(1)), None);
    }
}
