//! Medians and the like of what was measured.

use std::time::Duration;

/// Values in ascending order; never empty where one is asked for.
pub(crate) struct Sorted(Vec<f64>);

impl Sorted {
    /// Of times, in milliseconds.
    pub(crate) fn millis(times: &[Duration]) -> Self {
        Self::of(times.iter().map(|it| it.as_secs_f64() * 1e3).collect())
    }

    /// Of numbers.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The middle one.
    pub(crate) fn median(&self) -> f64 {
        self.quantile(50)
    }

    /// The value that so many of a hundred do not exceed; NaN of nothing, which holds no bound.
    pub(crate) fn quantile(&self, percent: usize) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0
            .get((last * percent).div_ceil(100))
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let sorted = Sorted::of(vec![3.0, 1.0, 2.0]);
        assert_eq!((sorted.median(), sorted.quantile(99)), (2.0, 3.0));
        let hundred = Sorted::of((0..=100).map(f64::from).collect());
        assert_eq!(hundred.quantile(99), 99.0);
        assert!(Sorted::of(Vec::new()).median().is_nan());
    }
}
