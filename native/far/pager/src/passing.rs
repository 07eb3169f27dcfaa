// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Which pages the evictor passes over, for their owner's sake. Pure: who asks says what a page is, and how many are in the queue.
//!
//! Young pages stay for as long as there is any other, and held ones for as long as there is any that is not held. A page that is
//! passed over goes to the end of the queue. When as many in a row were passed over as are in the queue, there is none of the others.

/// What the owner says of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Use {
    /// Nothing.
    Other = 0,
    /// What is in it is young: used now, or garbage soon.
    Young = 1,
    /// Nobody needs what is in it.
    Unused = 2,
    /// The kernel was given its address.
    Held = 3,
}

impl Use {
    /// What an owner has answered. What we do not know is nothing.
    #[must_use]
    pub fn of(answer: u32) -> Use {
        match answer {
            1 => Use::Young,
            2 => Use::Unused,
            _ => Use::Other,
        }
    }
}

/// What was passed over since another one was found.
#[derive(Debug, Default)]
pub struct Passing {
    in_a_row: u64,
}

impl Passing {
    /// Whether the page at the head of the queue is passed over, which has so many.
    pub fn passes(&mut self, page: Use, queued: u64) -> bool {
        let most = match page {
            Use::Young => queued,
            Use::Held => queued.saturating_mul(2),
            Use::Other | Use::Unused => {
                self.in_a_row = 0;
                return false;
            }
        };
        if self.in_a_row >= most {
            // Young ones leave now, but the held ones are looked at once more, all of them, before one of these does.
            if page == Use::Young {
                self.in_a_row = self.in_a_row.min(queued);
            }
            return false;
        }
        self.in_a_row += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// Takes one from the queue, as the evictor does; and how many were passed over.
    fn take(passing: &mut Passing, queue: &mut VecDeque<Use>) -> (Use, u64) {
        let mut passed = 0;
        loop {
            let queued = queue.len() as u64;
            let page = queue.pop_front().unwrap();
            if !passing.passes(page, queued) {
                return (page, passed);
            }
            queue.push_back(page);
            passed += 1;
        }
    }

    #[test]
    fn young_ones_stay_while_there_is_any_other() {
        let mut queue: VecDeque<Use> = [Use::Young; 5].into_iter().chain([Use::Other, Use::Young, Use::Unused]).collect();
        let mut passing = Passing::default();
        assert_eq!(take(&mut passing, &mut queue), (Use::Other, 5));
        assert_eq!(take(&mut passing, &mut queue), (Use::Unused, 1));
        // None is left: one look at each, and from then on they leave without another one.
        let (first, passed) = take(&mut passing, &mut queue);
        assert_eq!((first, passed), (Use::Young, 6));
        assert_eq!(take(&mut passing, &mut queue), (Use::Young, 0));
        // Until another one comes to the head: then they stay again.
        queue.push_front(Use::Other);
        assert_eq!(take(&mut passing, &mut queue), (Use::Other, 0));
        assert_eq!(take(&mut passing, &mut queue), (Use::Young, 4));
    }

    #[test]
    fn held_ones_leave_last_and_only_if_there_is_none_else() {
        let mut queue: VecDeque<Use> = [Use::Held, Use::Young, Use::Held, Use::Young, Use::Held].into_iter().collect();
        let mut passing = Passing::default();
        let order: Vec<Use> = (0..5).map(|_| take(&mut passing, &mut queue).0).collect();
        assert_eq!(order, [Use::Young, Use::Young, Use::Held, Use::Held, Use::Held]);
    }

    /// A queue of any mix: what leaves first is never young or held while there is another.
    #[test]
    fn of_any_mix_the_others_leave_first() {
        let mut state = 1_u64;
        for _ in 0..2000 {
            let mut queue = VecDeque::new();
            for _ in 0..state % 17 + 1 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                queue.push_back([Use::Other, Use::Young, Use::Unused, Use::Held][(state >> 60) as usize % 4]);
            }
            let (first, passed) = take(&mut Passing::default(), &mut queue.clone());
            let has = |kind: fn(&Use) -> bool| queue.iter().any(kind);
            let want = if has(|page| matches!(page, Use::Other | Use::Unused)) {
                matches!(first, Use::Other | Use::Unused)
            } else if has(|page| *page == Use::Young) {
                first == Use::Young
            } else {
                first == Use::Held
            };
            assert!(want, "{queue:?}: {first:?}");
            assert!(passed <= 2 * queue.len() as u64, "{queue:?}: {passed} were passed over");
        }
    }

    #[test]
    fn answers_that_are_not_known_are_nothing() {
        assert_eq!([0, 1, 2, 3, 4, u32::MAX].map(Use::of), [Use::Other, Use::Young, Use::Unused, Use::Other, Use::Other, Use::Other]);
    }
}
