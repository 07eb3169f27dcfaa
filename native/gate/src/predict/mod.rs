// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! How long a pause will last (MITMEM section 3.2: a pause is a linear function of what is live).
//!
//! Each kind of pause (a collector's young collection, its full one, other safepoints) has a model of its own. The paper counts live
//! objects in the VM; a stock VM shows the bytes that the last collection left, which is the one feature here, and how long the
//! last pauses took. Of five estimators, a line by RANSAC (the paper's choice), a line by Huber's loss, the median, the last pause, and
//! a mean in which the latest count most, the one is asked whose predictions have lately been off least. Each was made before the pause that it is judged by.

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
/// Of the latest pauses, this part lasted no longer than the upper bound.
const UPPER_QUANTILE: f64 = 0.9;
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

    /// Whether the pause has outlasted the upper bound.
    pub fn is_overdue(&self, elapsed_ns: f64) -> bool {
        elapsed_ns >= self.upper_ns
    }
}

/// The model of one kind of pause.
#[derive(Debug, Default)]
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
        let longest = self.pauses.iter().map(|p| p.1).fold(0.0, f64::max);
        estimate.clamp(shortest / 2.0, longest * 4.0)
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
        let mut ratios: Vec<f64> = self.ratios.iter().copied().collect();
        let ratio = match ratios.len() {
            // Too few for a quantile: what was worst, and some more.
            0..10 => ratios.iter().copied().fold(1.5, f64::max),
            _ => fit::quantile(&mut ratios, UPPER_QUANTILE).unwrap_or(1.5).max(1.0),
        };
        Prediction { expected_ns, upper_ns: expected_ns * ratio }
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
