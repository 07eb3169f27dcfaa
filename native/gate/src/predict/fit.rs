// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Lines through points, some of which are wrong.

/// `slope * x + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Line {
    /// Growth per unit of x.
    pub slope: f64,
    /// The value at 0.
    pub offset: f64,
}

impl Line {
    /// The value at x.
    pub fn at(&self, x: f64) -> f64 {
        self.slope * x + self.offset
    }
}

/// The value that a part `q` of the values does not exceed; reorders them.
pub fn quantile(values: &mut [f64], q: f64) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let rank = ((values.len() - 1) as f64 * q).round() as usize;
    Some(*values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// The median.
pub fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    quantile(&mut values.collect::<Vec<_>>(), 0.5)
}

/// Weighted least squares; flat when all x are the same.
fn least_squares(points: &[(f64, f64)], weight: impl Fn(usize) -> f64) -> Line {
    let (mut w, mut x, mut y) = (0.0, 0.0, 0.0);
    for (i, p) in points.iter().enumerate() {
        let v = weight(i);
        w += v;
        x += v * p.0;
        y += v * p.1;
    }
    if w <= 0.0 {
        return Line::default();
    }
    // Around the mean, so that large x cost no digits.
    let (mean_x, mean_y) = (x / w, y / w);
    let (mut xx, mut xy) = (0.0, 0.0);
    for (i, p) in points.iter().enumerate() {
        let v = weight(i);
        xx += v * (p.0 - mean_x) * (p.0 - mean_x);
        xy += v * (p.0 - mean_x) * (p.1 - mean_y);
    }
    // Where x hardly varies, its noise would be made into a slope.
    let spread = (xx / w).sqrt();
    let slope = if spread > 1e-9 * mean_x.abs().max(1e-300) { xy / xx } else { 0.0 };
    Line { slope, offset: mean_y - slope * mean_x }
}

/// The typical distance from the line: median of the absolute ones, scaled to a normal distribution's deviation.
fn scale(points: &[(f64, f64)], line: Line) -> f64 {
    1.4826 * median(points.iter().map(|p| (p.1 - line.at(p.0)).abs())).unwrap_or(0.0)
}

/// Huber's estimator by reweighted least squares: distances beyond 1.345 deviations count linearly.
pub fn huber(points: &[(f64, f64)]) -> Line {
    let mut line = least_squares(points, |_| 1.0);
    for _ in 0..20 {
        let limit = 1.345 * scale(points, line);
        if limit <= 0.0 {
            break;
        }
        let next = least_squares(points, |i| {
            let distance = (points[i].1 - line.at(points[i].0)).abs();
            if distance <= limit { 1.0 } else { limit / distance }
        });
        if next == line {
            break;
        }
        line = next;
    }
    line
}

/// Random sample consensus: of lines through two points each, the one that most points lie near, fitted again to those.
///
/// The pairs are chosen by a generator with a fixed seed, so that the same points give the same line. "Near" is the median distance
/// of the values from their median: what the paper leaves open, and scikit-learn's default.
pub fn ransac(points: &[(f64, f64)]) -> Line {
    const TRIALS: usize = 60;
    let n = points.len();
    let Some(middle) = median(points.iter().map(|p| p.1)) else { return Line::default() };
    let near = median(points.iter().map(|p| (p.1 - middle).abs())).unwrap_or(0.0);
    let inliers = |line: Line| points.iter().filter(|p| (p.1 - line.at(p.0)).abs() <= near).count();
    let mut best = Line { slope: 0.0, offset: middle };
    let mut most = inliers(best);
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    if n >= 3 {
        for _ in 0..TRIALS {
            let (a, b) = (points[random(n)], points[random(n)]);
            if a.0 == b.0 {
                continue;
            }
            let slope = (b.1 - a.1) / (b.0 - a.0);
            let line = Line { slope, offset: a.1 - slope * a.0 };
            let count = inliers(line);
            if count > most {
                (best, most) = (line, count);
            }
        }
    }
    least_squares(points, |i| if (points[i].1 - best.at(points[i].0)).abs() <= near { 1.0 } else { 0.0 })
}
