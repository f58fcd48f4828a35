//! Sums, means and variances.

use super::{Aggregate, Commutative, Invertible, Inverts, Mergeable, Overflow};
use crate::op::rolling::{Number, Presence, Summand};

/// The sum; 0 for no records. Integer overflow ends the job.
#[derive(Clone)]
pub struct Sum<F>(pub(super) F);

#[diagnostic::do_not_recommend]
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Aggregate<T> for Sum<F> {
    type In = Option<N::Number>;
    type Acc = N::Number;
    type Out = N::Number;
    type Algebra = Inverts;
    fn name(&self) -> String {
        "sum".into()
    }
    #[inline(always)]
    fn start(&self) -> N::Number {
        N::Number::ZERO
    }
    #[inline(always)]
    fn lift(&self, record: &T) -> Option<N::Number> {
        (self.0)(record).number()
    }
    #[inline(always)]
    fn add(&self, acc: &mut N::Number, x: Option<N::Number>) -> Result<(), Overflow> {
        if let Some(x) = x {
            *acc = acc.plus(x)?;
        }
        Ok(())
    }
    #[inline(always)]
    fn result(&self, acc: &N::Number) -> Option<N::Number> {
        Some(*acc)
    }
}
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Mergeable<T> for Sum<F> {
    #[inline(always)]
    fn merge(&self, acc: &mut N::Number, later: N::Number) -> Result<(), Overflow> {
        *acc = acc.plus(later)?;
        Ok(())
    }
}
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Commutative<T> for Sum<F> {}
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Invertible<T> for Sum<F> {
    const EXACT: bool = N::Number::EXACT;
    fn remove(&self, acc: &mut N::Number, part: &N::Number) -> Result<(), Overflow> {
        *acc = acc.minus(*part)?;
        Ok(())
    }
}

/// The sum around the end of its type's range.
#[derive(Clone)]
pub struct WrappingSum<F>(pub(super) F);

#[diagnostic::do_not_recommend]
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Aggregate<T> for WrappingSum<F> {
    type In = N::Number;
    type Acc = N::Number;
    type Out = N::Number;
    type Algebra = Inverts;
    fn name(&self) -> String {
        "wrapping_sum".into()
    }
    #[inline(always)]
    fn start(&self) -> N::Number {
        N::Number::ZERO
    }
    #[inline(always)]
    fn lift(&self, record: &T) -> N::Number {
        (self.0)(record).number().unwrap_or(N::Number::ZERO)
    }
    #[inline(always)]
    fn add(&self, acc: &mut N::Number, x: N::Number) -> Result<(), Overflow> {
        *acc = acc.wrapping_plus(x);
        Ok(())
    }
    #[inline(always)]
    fn result(&self, acc: &N::Number) -> Option<N::Number> {
        Some(*acc)
    }
}
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Mergeable<T> for WrappingSum<F> {
    #[inline(always)]
    fn merge(&self, acc: &mut N::Number, later: N::Number) -> Result<(), Overflow> {
        *acc = acc.wrapping_plus(later);
        Ok(())
    }
}
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Commutative<T> for WrappingSum<F> {}
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Invertible<T> for WrappingSum<F> {
    const EXACT: bool = N::Number::EXACT;
    fn remove(&self, acc: &mut N::Number, part: &N::Number) -> Result<(), Overflow> {
        *acc = acc.wrapping_minus(*part);
        Ok(())
    }
}

/// The mean: the sum in the number's own type (`i128` and `u128` do not overflow in practice, narrower integers are widened),
/// divided once. None for no records. An `Option` where the closure returns one.
#[derive(Clone)]
pub struct Mean<F>(pub(super) F);

/// A sum wide enough for any number of records, and how many there were.
pub type MeanAcc<N> = (<N as Widen>::Wide, u64);

/// A number with a type in which its sums are exact (integers), or as good as IEEE 754 allows (floats).
pub trait Widen: Number {
    /// That type.
    type Wide: Number;
    /// In that type.
    fn widen(self) -> Self::Wide;
}

macro_rules! widen {
    ($($t:ty => $w:ty),*) => {$(
        impl Widen for $t {
            type Wide = $w;
            #[inline(always)]
            fn widen(self) -> $w {
                self as $w
            }
        }
    )*};
}
widen!(u8 => u64, u16 => u64, u32 => u64, u64 => u128, usize => u128, u128 => u128);
widen!(i8 => i64, i16 => i64, i32 => i64, i64 => i128, isize => i128, i128 => i128);
widen!(f32 => f64, f64 => f64);

#[diagnostic::do_not_recommend]
impl<T, N, F> Aggregate<T> for Mean<F>
where
    N: Summand<Number: Widen>,
    F: Fn(&T) -> N + Clone + Send + 'static,
{
    type In = Option<N::Number>;
    type Acc = MeanAcc<N::Number>;
    type Out = <N::Presence as Presence>::Of<f64>;
    type Algebra = Inverts;
    fn name(&self) -> String {
        "mean".into()
    }
    #[inline(always)]
    fn start(&self) -> Self::Acc {
        (Number::ZERO, 0)
    }
    #[inline(always)]
    fn lift(&self, record: &T) -> Option<N::Number> {
        (self.0)(record).number()
    }
    #[inline(always)]
    fn add(&self, acc: &mut Self::Acc, x: Option<N::Number>) -> Result<(), Overflow> {
        if let Some(x) = x {
            acc.0 = acc.0.plus(x.widen())?;
            acc.1 += 1;
        }
        Ok(())
    }
    fn result(&self, acc: &Self::Acc) -> Option<Self::Out> {
        N::Presence::of((acc.1 > 0).then(|| acc.0.to_f64() / acc.1 as f64))
    }
}
impl<T, N, F> Mergeable<T> for Mean<F>
where
    N: Summand<Number: Widen>,
    F: Fn(&T) -> N + Clone + Send + 'static,
{
    fn merge(&self, acc: &mut Self::Acc, later: Self::Acc) -> Result<(), Overflow> {
        acc.0 = acc.0.plus(later.0)?;
        acc.1 += later.1;
        Ok(())
    }
}
impl<T, N, F> Commutative<T> for Mean<F>
where
    N: Summand<Number: Widen>,
    F: Fn(&T) -> N + Clone + Send + 'static,
{
}
impl<T, N, F> Invertible<T> for Mean<F>
where
    N: Summand<Number: Widen>,
    F: Fn(&T) -> N + Clone + Send + 'static,
{
    const EXACT: bool = <N::Number as Widen>::Wide::EXACT;
    fn remove(&self, acc: &mut Self::Acc, part: &Self::Acc) -> Result<(), Overflow> {
        acc.0 = acc.0.minus(part.0)?;
        acc.1 -= part.1;
        Ok(())
    }
}

/// The sample variance (divided by n − 1); `None` below two values. Welford's method, merged as Chan, Golub and LeVeque do
/// ("Updating formulae and a pairwise algorithm for computing sample variances", 1979).
#[derive(Clone)]
pub struct Variance<F>(pub(super) F);

#[diagnostic::do_not_recommend]
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Aggregate<T> for Variance<F> {
    type In = Option<f64>;
    /// Count, mean, sum of squared distances from the mean.
    type Acc = (u64, f64, f64);
    type Out = Option<f64>;
    type Algebra = super::Merges;
    fn name(&self) -> String {
        "variance".into()
    }
    fn start(&self) -> (u64, f64, f64) {
        (0, 0.0, 0.0)
    }
    #[inline]
    fn lift(&self, record: &T) -> Option<f64> {
        (self.0)(record).number().map(Number::to_f64)
    }
    #[inline]
    fn add(&self, acc: &mut (u64, f64, f64), x: Option<f64>) -> Result<(), Overflow> {
        if let Some(x) = x {
            acc.0 += 1;
            let before = x - acc.1;
            acc.1 += before / acc.0 as f64;
            acc.2 += before * (x - acc.1);
        }
        Ok(())
    }
    fn result(&self, acc: &(u64, f64, f64)) -> Option<Option<f64>> {
        Some((acc.0 > 1).then(|| acc.2 / (acc.0 - 1) as f64))
    }
}
impl<T, N: Summand, F: Fn(&T) -> N + Clone + Send + 'static> Mergeable<T> for Variance<F> {
    fn merge(&self, acc: &mut (u64, f64, f64), later: (u64, f64, f64)) -> Result<(), Overflow> {
        if later.0 == 0 {
            return Ok(());
        }
        let (a, b) = (acc.0 as f64, later.0 as f64);
        let apart = later.1 - acc.1;
        acc.2 += later.2 + apart * apart * a * b / (a + b);
        acc.1 += apart * b / (a + b);
        acc.0 += later.0;
        Ok(())
    }
}
