// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! At which place a lost server is looked for. Pure.
//!
//! A server's places are its own, number 0, and those of the spare servers. Nobody is at a spare place to begin with. A lost server that is not
//! to be had where it is goes on to the next place that no other one is at, and comes to its own again in the end: whoever is there first is taken
//! in. What it leaves is free for others.

/// At which place each server is.
#[derive(Debug)]
pub struct Places {
    spares: usize,
    at: Vec<usize>,
}

impl Places {
    /// All servers at their own.
    pub fn new(servers: usize, spares: usize) -> Places {
        Places { spares, at: vec![0; servers] }
    }

    /// The server is lost, and not to be had where it is. Where to look for it next, among its places that are `usable`; none if there is no
    /// other one.
    pub fn next(&mut self, server: usize, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let (here, count) = (self.at[server], self.spares + 1);
        let others = (1..count).map(|step| (here + step) % count);
        let is_free = |place: usize| place == 0 || !self.at.contains(&place);
        let next = others.into_iter().find(|&place| is_free(place) && usable(place))?;
        self.at[server] = next;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_spares_it_stays_where_it_is() {
        assert_eq!(Places::new(2, 0).next(1, |_| true), None);
    }

    #[test]
    fn its_own_place_is_one_of_them_again_and_again() {
        let mut places = Places::new(2, 2);
        let seen: Vec<_> = (0..6).map(|_| places.next(0, |_| true).unwrap()).collect();
        assert_eq!(seen, [1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn no_two_servers_are_at_one_place_and_what_is_left_is_free() {
        let mut places = Places::new(3, 2);
        assert_eq!(places.next(0, |_| true), Some(1));
        assert_eq!(places.next(1, |_| true), Some(2));
        // There is none left.
        assert_eq!(places.next(2, |_| true), None);
        assert_eq!(places.next(0, |_| true), Some(0));
        assert_eq!(places.next(2, |_| true), Some(1));
        assert_eq!(places.next(1, |_| true), Some(0));
    }

    #[test]
    fn who_has_lied_is_looked_for_no_more() {
        let mut places = Places::new(1, 2);
        assert_eq!(places.next(0, |place| place != 1), Some(2));
        assert_eq!(places.next(0, |place| place == 2), None);
        assert_eq!(places.next(0, |place| place != 0), Some(1));
    }
}
