//! The median and the quartiles of some ratios.

/// The quartiles of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quartiles {
    /// A quarter lies below.
    pub q1: f64,
    /// Half lies below.
    pub median: f64,
    /// Three quarters lie below.
    pub q3: f64,
}

impl Quartiles {
    /// Of a sample that is not empty, in any order.
    pub fn of(mut sample: Vec<f64>) -> Quartiles {
        sample.sort_by(f64::total_cmp);
        Quartiles { q1: at(&sample, 0.25), median: at(&sample, 0.5), q3: at(&sample, 0.75) }
    }
}

/// The quantile `q`, linear between the two values beside it.
fn at(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + part * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_those_of_a_spreadsheet() {
        assert_eq!(Quartiles::of(vec![4.0]), Quartiles { q1: 4.0, median: 4.0, q3: 4.0 });
        assert_eq!(Quartiles::of(vec![2.0, 1.0]), Quartiles { q1: 1.25, median: 1.5, q3: 1.75 });
        let eleven = (0..11).rev().map(f64::from).collect();
        assert_eq!(Quartiles::of(eleven), Quartiles { q1: 2.5, median: 5.0, q3: 7.5 });
    }
}
