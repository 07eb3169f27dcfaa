// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Connections of those who have not said, or not proved, who they are. There are few places, and who comes when all are taken pushes out who
//! has had one longest: whoever keeps the places taken keeps nobody out who needs a moment only, as who has a key does.

use std::collections::VecDeque;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

/// How many there may be at once.
const PLACES: usize = 64;

/// The places.
#[derive(Debug, Default)]
pub struct Strangers(Mutex<Places>);

#[derive(Debug, Default)]
struct Places {
    next: u64,
    /// In the order in which they came.
    taken: VecDeque<(u64, TcpStream)>,
}

impl Strangers {
    /// A place for a connection, until [`Strangers::leave`]. Whether another one was closed for it.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn enter(&self, stream: &TcpStream) -> io::Result<(u64, bool)> {
        let stream = stream.try_clone()?;
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if places.taken.len() >= PLACES { places.taken.pop_front() } else { None };
        places.next += 1;
        let number = places.next;
        places.taken.push_back((number, stream));
        drop(places);
        // Its thread reads the end of the connection, and ends.
        let pushed_out = oldest.map(|(_, stream)| stream.shutdown(Shutdown::Both)).is_some();
        Ok((number, pushed_out))
    }

    /// It is known now, or gone. False if it was pushed out before.
    pub fn leave(&self, number: u64) -> bool {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = places.taken.iter().position(|(other, _)| *other == number);
        at.and_then(|at| places.taken.remove(at)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;

    #[test]
    fn who_comes_pushes_out_who_has_been_there_longest() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let strangers = Strangers::default();
        let pairs: Vec<_> =
            (0..PLACES + 2).map(|_| (TcpStream::connect(listener.local_addr().unwrap()).unwrap(), listener.accept().unwrap().0)).collect();
        let entered: Vec<_> = pairs[..=PLACES].iter().map(|(_, stream)| strangers.enter(stream).unwrap()).collect();
        assert!(entered[..PLACES].iter().all(|(_, pushed_out)| !pushed_out) && entered[PLACES].1);
        assert_eq!((&pairs[0].0).read(&mut [0]).unwrap(), 0, "the first is still open");
        // Nobody is there twice, and a place that is left is free.
        assert!(!strangers.leave(entered[0].0) && strangers.leave(entered[1].0) && !strangers.leave(entered[1].0));
        assert!(!strangers.enter(&pairs[PLACES + 1].1).unwrap().1);
    }
}
