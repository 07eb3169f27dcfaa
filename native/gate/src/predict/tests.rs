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

/// Two collections as a program starts, one when its heap is full; and of what is no collection, some microseconds and a heap dump.
#[test]
fn a_long_pause_after_short_ones_bounds_none_by_what_never_was() {
    for history in [&[(10e6, 20e6), (20e6, 40e6), (4e9, 10e9)][..], &[(1.0, 80e3), (1.0, 80e3), (1.0, 20e9)][..]] {
        let mut model = Model::default();
        for &(x, ns) in history {
            model.learn(x, ns);
        }
        let longest = history.iter().map(|p| p.1).fold(0.0, f64::max);
        for feature in [history[0].0, history[2].0] {
            let p = model.predict(feature);
            assert!(p.upper_ns <= 1.5 * p.expected_ns.max(longest), "{p:?}");
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
fn the_speed_so_far_counts_as_much_as_is_done() {
    let p = Prediction { expected_ns: 100.0, upper_ns: 150.0 };
    // Nothing is known yet, or nothing is said.
    for done in [0.0, 0.04, f64::NAN] {
        assert_eq!(p.revised(30.0, done), p);
    }
    // As expected: less is left, and the bound is nearer.
    let half = p.revised(50.0, 0.5);
    assert_eq!((half.expected_ns, half.upper_ns), (100.0, 112.5));
    // Half as fast, which counts by half; and by nine tenths.
    assert_eq!(p.revised(100.0, 0.5).expected_ns, 175.0);
    let late = p.revised(180.0, 0.9).expected_ns;
    assert!((late - 199.0).abs() < 1e-9, "{late}");
    // All is done, but the pause is not over.
    let end = p.revised(90.0, 1.0);
    assert!(end.upper_ns > 90.0 && end.upper_ns < 93.0 && !end.is_overdue(90.0), "{end:?}");
}

#[test]
fn what_was_told_is_told_anew_when_it_is_off_or_over() {
    // Nine tenths are done at once, and then nothing more.
    let mut course = Course::new(Prediction { expected_ns: 100e6, upper_ns: 150e6 }, true);
    assert!(course.is_to_tell(0.0));
    course.tell();
    assert_eq!(course.advance(1e6, 0.0), *course.first());
    assert!(!course.is_to_tell(1e6) && !course.is_to_tell(149e6) && course.is_to_tell(150e6));
    let revised = course.advance(10e6, 0.9);
    assert!(course.is_to_tell(10e6));
    course.tell();
    for elapsed_ns in [11e6, 12e6, 100e6] {
        assert_eq!(course.advance(elapsed_ns, 0.9), revised);
        assert_eq!(course.is_to_tell(elapsed_ns), elapsed_ns >= revised.upper_ns);
    }
    // A little more is no news, until what was told is over.
    let later = course.advance(11e6, 0.91);
    assert!(later.upper_ns > revised.upper_ns && !course.is_to_tell(11e6) && course.is_to_tell(revised.upper_ns));
    assert_eq!(
        [0.0, 9.9e6, 10e6, 10.9e6, 1e9].map(|at| course.at(at).unwrap()),
        [100e6, 100e6, revised.expected_ns, revised.expected_ns, later.expected_ns]
    );
    assert_eq!(Course::new(Prediction::UNKNOWN, false).at(1.0), None);
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

/// Each pause is disturbed more than the ones before it: of the latest ones the bound would cover nine of ten, but not of the next.
#[test]
fn the_upper_bound_covers_nine_of_ten_while_they_become_worse() {
    let mut model = Model::default();
    let mut covered = 0;
    for i in 0..600 {
        let ns = 10e6 * (1.0 + i as f64 / 100.0 * noise(i).abs());
        if i >= 200 && ns <= model.predict(1e6).upper_ns {
            covered += 1;
        }
        model.learn(1e6, ns);
    }
    assert!((350..=370).contains(&covered), "{covered} of 400");
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
        // So no sum of times is too large for its type.
        prop_assert!(p.upper_ns <= 1e13 * 4.0 * LONGER, "{:?}", p);
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
