// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How the client of several tracing servers knows that all are done, by their counters alone: two rounds, one after the other, in each
//! of which every server was idle when it was asked, and as many references were received as were sent, and the numbers are the
//! same in both. (Mattern's four counters.) One round is not enough: a server that was asked early may have got work since.

/// What a server answers when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Status {
    /// It has nothing to do, nothing to send, and waits for no layout.
    pub idle: bool,
    /// References sent to other servers since the start of the cycle.
    pub sent: u64,
    /// References received from them.
    pub received: u64,
}

/// What is remembered of the last round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Termination {
    /// Sent and received, if all were idle and the two were equal.
    quiet: Option<(u64, u64)>,
}

impl Termination {
    /// A round is over. True if the cycle is.
    pub fn round(&mut self, answers: &[Status]) -> bool {
        let sum = |count: fn(&Status) -> u64| answers.iter().map(count).sum::<u64>();
        let counts = (sum(|status| status.sent), sum(|status| status.received));
        let quiet = (answers.iter().all(|status| status.idle) && counts.0 == counts.1).then_some(counts);
        let done = quiet.is_some() && quiet == self.quiet;
        self.quiet = quiet;
        done
    }
}
