// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How long a pause will last (MITMEM section 3.2: a pause is a linear function of what is live).
//!
//! Each kind of pause (a collector's young collection, its full one, other safepoints) has a model of its own. The paper counts live
//! objects in the VM; a stock VM shows the bytes that the last collection left, which is the one feature here, and how long the
//! last pauses took. Lull says how much the pause will have to do, which is the feature then, and while it goes on how much of that
//! is done. Of five estimators, a line by RANSAC (the paper's choice), a line by Huber's loss, the median, the last pause, and a mean in
//! which the latest count most, the one is asked whose predictions have lately been off least. Each was made before the pause that it
//! is judged by.
//!
//! The upper bound is a quantile of how much longer than expected the latest pauses were. Pauses change, so that tomorrow's are not
//! covered by today's quantile as today's are: which one is taken follows what it has missed (Gibbs and Candes, "Adaptive conformal
//! inference under distribution shift", 2021).

pub mod fit;

use std::collections::VecDeque;

use fit::Line;

/// Pauses that a model is fitted to.
const WINDOW: usize = 200;
/// Predictions that the upper bound is taken from.
const JUDGED: usize = 100;
/// The weight of the last pause in the recent mean: of the last three or so.
const RECENT_WEIGHT: f64 = 0.3;
/// The weight of a prediction's error in its estimator's mean: of the last ten or so.
const WEIGHT: f64 = 0.1;
/// This part of the pauses should last no longer than the upper bound.
const COVERED: f64 = 0.9;
/// The quantile that is taken for the bound rises by nine tenths of this with a pause that was longer, and falls by a tenth of it with one that was not.
const LEVEL_STEP: f64 = 0.05;
/// The quantile is no lower than that, however well the bound has held.
const LOWEST_LEVEL: f64 = 0.5;
/// Before so many were judged there is no quantile.
const FEWEST_JUDGED: usize = 10;
/// Before so much of a pause's work is done, how fast it goes tells nothing.
const LEAST_DONE: f64 = 0.05;
/// No pause is over before it is.
const MOST_DONE: f64 = 0.98;
/// What a pause of a kind is taken for that never was before: clients with another replica lose little by going there.
pub const UNKNOWN_NS: f64 = 100e6;

/// The estimators, in the order in which ties are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// The median of the kind's pauses.
    Median,
    /// A line by Huber's loss.
    Huber,
    /// A line by random sample consensus.
    Ransac,
    /// As the last one: what survives changes, but slowly.
    Last,
    /// A mean in which the latest count most: so it does, and each pause is disturbed.
    Recent,
}

const ESTIMATORS: [Estimator; 5] = [Estimator::Median, Estimator::Huber, Estimator::Ransac, Estimator::Last, Estimator::Recent];

/// By how much a pause may be longer than expected, while next to nothing is known; and at most, of one that is longer than all before.
const LONGER: f64 = 1.5;

/// What is said of a pause at its begin; nanoseconds from its begin to its end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// As likely too long as too short.
    pub expected_ns: f64,
    /// Nine of ten pauses are over by then.
    pub upper_ns: f64,
}

impl Prediction {
    /// Of a kind that never was.
    pub const UNKNOWN: Prediction = Prediction { expected_ns: UNKNOWN_NS, upper_ns: UNKNOWN_NS };

    /// What is left after `elapsed_ns`, by the rule that costs clients least: a request kept in vain waits for the rest of the pause, one
    /// rejected in vain goes once around. So the upper bound counts; and a pause that has outlasted it is taken to
    /// go on for half as long as it has been, as long-tailed things do.
    pub fn remaining_ns(&self, elapsed_ns: f64) -> f64 {
        if self.is_overdue(elapsed_ns) { elapsed_ns / 2.0 } else { self.upper_ns - elapsed_ns }
    }

    /// The same after `elapsed_ns`, when a part of the work is done, 0 to 1, where the VM says so. For what is left, the speed so far counts by
    /// that part, and what was expected at the begin by the other. The upper bound comes nearer as less is left.
    #[must_use]
    pub fn revised(&self, elapsed_ns: f64, done: f64) -> Prediction {
        if done.is_nan() || done < LEAST_DONE {
            return *self;
        }
        let left = 1.0 - done.min(MOST_DONE);
        let whole_ns = elapsed_ns + left * self.expected_ns;
        let left_ns = left * whole_ns;
        let ratio = 1.0 + (self.upper_ns / self.expected_ns - 1.0) * left;
        Prediction { expected_ns: elapsed_ns + left_ns, upper_ns: elapsed_ns + left_ns * ratio }
    }

    /// Whether the pause has outlasted the upper bound.
    pub fn is_overdue(&self, elapsed_ns: f64) -> bool {
        elapsed_ns >= self.upper_ns
    }
}

/// What is predicted in the course of one pause.
#[derive(Debug)]
pub struct Course {
    /// As at its begin.
    first: Prediction,
    current: Prediction,
    /// What part of the work was done when that was predicted.
    done: f64,
    /// The upper bound that others have been told of.
    told_ns: f64,
    /// All predictions, if they are asked for: when, and how long the pause was expected to be in all; both from its begin.
    expected: Option<Vec<(f64, f64)>>,
}

impl Course {
    /// What has been told is told anew if it is off by more than that.
    const SHIFT_NS: f64 = 2e6;
    /// Or by so large a part, if that is more.
    const SHIFT: f64 = 0.1;

    /// A pause begins for which this is predicted. With `remember` [`Course::at`] can be asked later.
    pub fn new(first: Prediction, remember: bool) -> Course {
        Course { first, current: first, done: 0.0, told_ns: 0.0, expected: remember.then(|| vec![(0.0, first.expected_ns)]) }
    }

    /// As at its begin.
    pub fn first(&self) -> &Prediction {
        &self.first
    }

    /// After `elapsed_ns` a part of the work is done, 0 to 1. What was predicted stays while that does: a prediction that is made anew
    /// although nothing more is known would put the end off for as long as the pause lasts.
    pub fn advance(&mut self, elapsed_ns: f64, done: f64) -> Prediction {
        if done > self.done {
            self.done = done;
            self.current = self.first.revised(elapsed_ns, done);
            if let Some(expected) = &mut self.expected {
                expected.push((elapsed_ns, self.current.expected_ns));
            }
        }
        self.current
    }

    /// Whether what has been told is to be told anew after `elapsed_ns`: it is off, or over.
    pub fn is_to_tell(&self, elapsed_ns: f64) -> bool {
        let off_ns = (self.current.upper_ns - self.told_ns).abs();
        elapsed_ns >= self.told_ns || off_ns > (self.told_ns * Self::SHIFT).max(Self::SHIFT_NS)
    }

    /// The present prediction is told to others.
    pub fn tell(&mut self) {
        self.told_ns = self.current.upper_ns;
    }

    /// What was expected after `elapsed_ns`, if it was remembered.
    pub fn at(&self, elapsed_ns: f64) -> Option<f64> {
        self.expected.as_ref()?.iter().take_while(|(at, _)| *at <= elapsed_ns).last().map(|(_, expected)| *expected)
    }
}

/// The model of one kind of pause.
#[derive(Debug)]
pub struct Model {
    /// Feature and length.
    pauses: VecDeque<(f64, f64)>,
    median: f64,
    huber: Line,
    ransac: Line,
    recent: f64,
    /// Mean absolute error of each estimator; in the order of `ESTIMATORS`.
    errors: [f64; ESTIMATORS.len()],
    /// Length by prediction, of the estimator that was asked.
    ratios: VecDeque<f64>,
    /// The quantile of them that is the upper bound.
    level: f64,
}

impl Default for Model {
    fn default() -> Model {
        Model {
            pauses: VecDeque::new(),
            median: 0.0,
            huber: Line::default(),
            ransac: Line::default(),
            recent: 0.0,
            errors: [0.0; ESTIMATORS.len()],
            ratios: VecDeque::new(),
            level: COVERED,
        }
    }
}

impl Model {
    /// What `estimator` says of a pause with this feature; above 0.
    fn estimate(&self, estimator: Estimator, feature: f64) -> f64 {
        let estimate = match estimator {
            Estimator::Median => self.median,
            Estimator::Huber => self.huber.at(feature),
            Estimator::Ransac => self.ransac.at(feature),
            Estimator::Last => self.pauses.back().map_or(UNKNOWN_NS, |p| p.1),
            Estimator::Recent => self.recent,
        };
        // A line may fall below what any pause takes, or rise beyond reason where the feature never was.
        let shortest = self.pauses.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        estimate.clamp(shortest / 2.0, self.longest() * 4.0)
    }

    /// The estimator that was off least.
    pub fn best(&self) -> Estimator {
        let mut best = 0;
        for i in 1..ESTIMATORS.len() {
            if self.errors[i] < self.errors[best] {
                best = i;
            }
        }
        ESTIMATORS[best]
    }

    /// Predicts a pause that begins with this feature.
    pub fn predict(&self, feature: f64) -> Prediction {
        if self.pauses.is_empty() {
            return Prediction::UNKNOWN;
        }
        let expected_ns = self.estimate(self.best(), feature);
        // A ratio that a short pause was off by says little of a long one: after two of 30 ms and one of 10 s the next would be bounded by 40
        // minutes, for which all requests were turned away. What outlasts the bound is expected to go on for half as long as it was.
        let most_ns = expected_ns.max(self.longest()) * LONGER;
        Prediction { expected_ns, upper_ns: (expected_ns * self.upper_ratio()).min(most_ns) }
    }

    /// Of the pauses that are remembered.
    fn longest(&self) -> f64 {
        self.pauses.iter().map(|p| p.1).fold(0.0, f64::max)
    }

    /// The upper bound by what is expected, 1 or more.
    fn upper_ratio(&self) -> f64 {
        let mut ratios: Vec<f64> = self.ratios.iter().copied().collect();
        if ratios.len() < FEWEST_JUDGED {
            // What was worst, and some more.
            return ratios.into_iter().fold(LONGER, f64::max);
        }
        fit::quantile(&mut ratios, self.level).unwrap_or(LONGER).max(1.0)
    }

    /// A pause is over that had this feature at its begin and took so long. Gives the error of the prediction, if there was one.
    pub fn learn(&mut self, feature: f64, ns: f64) -> Option<f64> {
        if !feature.is_finite() || !ns.is_finite() || ns <= 0.0 {
            return None;
        }
        let mut error = None;
        if !self.pauses.is_empty() {
            let predicted = self.estimate(self.best(), feature);
            error = Some((predicted - ns).abs());
            if self.ratios.len() >= FEWEST_JUDGED {
                let is_longer = ns > predicted * self.upper_ratio();
                self.level += LEVEL_STEP * if is_longer { COVERED } else { COVERED - 1.0 };
                self.level = self.level.clamp(LOWEST_LEVEL, 1.0);
            }
            self.ratios.push_back(ns / predicted);
            if self.ratios.len() > JUDGED {
                self.ratios.pop_front();
            }
            for (i, estimator) in ESTIMATORS.into_iter().enumerate() {
                let off = (self.estimate(estimator, feature) - ns).abs();
                self.errors[i] += WEIGHT * (off - self.errors[i]);
            }
        }
        self.recent = if self.pauses.is_empty() { ns } else { self.recent + RECENT_WEIGHT * (ns - self.recent) };
        self.pauses.push_back((feature, ns));
        if self.pauses.len() > WINDOW {
            self.pauses.pop_front();
        }
        let points = self.pauses.make_contiguous();
        self.median = fit::median(points.iter().map(|p| p.1)).unwrap_or(ns);
        self.huber = fit::huber(points);
        self.ransac = fit::ransac(points);
        error
    }
}

#[cfg(test)]
mod tests;
