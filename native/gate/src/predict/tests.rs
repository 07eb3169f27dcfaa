// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

use super::*;
use proptest::prelude::*;

/// Not random, but without a pattern that the fits could use.
fn noise(i: usize) -> f64 {
    ((i * 7919 + 13) % 1000) as f64 / 1000.0 - 0.5
}

#[test]
fn a_line_is_found_among_wrong_points() {
    // Every fifth pause is disturbed by what is not the collector's.
    let points: Vec<_> = (0..200)
        .map(|i| {
            let x = 100e6 + (i * 37 % 200) as f64 * 1e6;
            let wrong = if i % 5 == 0 { 30e6 } else { 0.0 };
            (x, 2e6 + x * 0.05 + noise(i) * 1e6 + wrong)
        })
        .collect();
    for (name, line) in [("ransac", fit::ransac(&points)), ("huber", fit::huber(&points))] {
        for x in [100e6, 200e6, 300e6] {
            let off = line.at(x) - (2e6 + x * 0.05);
            assert!(off.abs() < 1.5e6, "{name} at {x}: off by {off}");
        }
    }
}

#[test]
fn an_unknown_kind_is_long() {
    let model = Model::default();
    assert_eq!(model.predict(1.0), Prediction::UNKNOWN);
    assert_eq!(Prediction::UNKNOWN.remaining_ns(40e6), UNKNOWN_NS - 40e6);
}

#[test]
fn an_overdue_pause_goes_on_for_half_as_long_as_it_was() {
    let p = Prediction { expected_ns: 10.0, upper_ns: 12.0 };
    assert_eq!(p.remaining_ns(0.0), 12.0);
    assert_eq!(p.remaining_ns(11.0), 1.0);
    assert_eq!(p.remaining_ns(12.0), 6.0);
    assert_eq!(p.remaining_ns(100.0), 50.0);
}

#[test]
fn steady_pauses_are_predicted_by_their_line() {
    let mut model = Model::default();
    for i in 0..300 {
        let x = (i * 37 % 200) as f64 * 1e6;
        model.learn(x, 5e6 + x * 0.1 + noise(i) * 1e5);
    }
    assert_ne!(model.best(), Estimator::Median);
    let p = model.predict(100e6);
    assert!((p.expected_ns - 15e6).abs() < 5e5, "{p:?}");
    assert!(p.upper_ns >= p.expected_ns && p.upper_ns < 20e6, "{p:?}");
}

#[test]
fn where_the_feature_says_nothing_the_median_is_as_good() {
    let mut model = Model::default();
    for i in 0..300 {
        model.learn((i % 17) as f64, 10e6 + noise(i) * 4e6);
    }
    let p = model.predict(5.0);
    assert!((p.expected_ns - 10e6).abs() < 1.5e6, "{p:?}");
}

#[test]
fn what_changes_slowly_is_followed() {
    let mut model = Model::default();
    let mut off = Vec::new();
    for i in 0..400 {
        // Up and down in 70 pauses, with one in twenty disturbed.
        let up_and_down = (i % 70 - 35i64).abs() as f64 * 1e6;
        let wrong = if i % 20 == 7 { 10e6 } else { 0.0 };
        let ns = 5e6 + up_and_down + noise(i as usize) * 5e5 + wrong;
        if i >= 100 && wrong == 0.0 {
            off.push((model.predict(50e6).expected_ns - ns).abs());
        }
        model.learn(50e6, ns);
    }
    let within = off.iter().filter(|&&e| e <= 2.5e6).count();
    assert!(within * 10 >= off.len() * 8, "{within} of {}", off.len());
}

#[test]
fn the_upper_bound_covers_nine_of_ten() {
    let mut model = Model::default();
    let mut covered = 0;
    for i in 0..1000 {
        let x = (i * 31 % 100) as f64 * 1e6;
        // Long-tailed, as pauses on a busy machine are.
        let ns = (5e6 + 0.1 * x) * (1.0 + 0.05 / (0.02 + noise(i).abs()));
        if i >= 200 && ns <= model.predict(x).upper_ns {
            covered += 1;
        }
        model.learn(x, ns);
    }
    assert!((640..=780).contains(&covered), "{covered} of 800");
}

#[test]
fn a_change_of_behaviour_is_followed() {
    let mut model = Model::default();
    for i in 0..400 {
        model.learn(50e6, 5e6 + noise(i) * 1e5);
    }
    for i in 0..200 {
        model.learn(50e6, 50e6 + noise(i) * 1e6);
    }
    assert!((model.predict(50e6).expected_ns - 50e6).abs() < 2e6, "{:?}", model.predict(50e6));
}

proptest! {
    /// Whatever the VM's counters say: predictions are finite and above nothing, the upper bound not below the expectation.
    #[test]
    fn any_history_gives_a_prediction(
        history in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..60),
        feature in -1e18..1e18f64,
    ) {
        let mut model = Model::default();
        for (x, y) in history {
            // Counters are longs.
            let x = if x.is_finite() { x % 1e18 } else { x };
            let y = if y.is_finite() { y % 1e13 } else { y };
            model.learn(x, y);
        }
        let p = model.predict(feature);
        prop_assert!(p.expected_ns.is_finite() && p.expected_ns > 0.0, "{:?}", p);
        prop_assert!(p.upper_ns >= p.expected_ns, "{:?}", p);
        for elapsed in [0.0, 1e6, 1e12] {
            prop_assert!(p.remaining_ns(elapsed) >= 0.0);
        }
    }

    #[test]
    fn exact_lines_are_found(slope in -1.0..1.0f64, offset in -1e3..1e3f64, xs in proptest::collection::vec(0.0..1e4f64, 3..50)) {
        let points: Vec<_> = xs.iter().map(|&x| (x, slope * x + offset)).collect();
        for line in [fit::ransac(&points), fit::huber(&points)] {
            for &(x, y) in &points {
                prop_assert!((line.at(x) - y).abs() < 1e-3 * (1.0 + y.abs()), "{:?} at {} is not {}", line, x, y);
            }
        }
    }
}
