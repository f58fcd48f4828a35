//! Aggregates that keep records: `collect`, `top_k`, `count_distinct`.

use super::{Aggregate, Commutative, Commutes, Mergeable, Merges, Overflow};
use crate::op::rolling::Measure;
use std::collections::HashSet;
use std::hash::Hash;

/// All records in order of arrival; empty for none.
#[derive(Clone)]
pub struct Collect;

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + 'static> Aggregate<T> for Collect {
    type In = T;
    type Acc = Vec<T>;
    type Out = Vec<T>;
    type Algebra = Merges;
    fn name(&self) -> String {
        "collect".into()
    }
    fn start(&self) -> Vec<T> {
        Vec::new()
    }
    #[inline]
    fn lift(&self, record: &T) -> T {
        record.clone()
    }
    #[inline]
    fn add(&self, acc: &mut Vec<T>, x: T) -> Result<(), Overflow> {
        acc.push(x);
        Ok(())
    }
    fn result(&self, acc: &Vec<T>) -> Option<Vec<T>> {
        Some(acc.clone())
    }
    fn take_result(&self, acc: Vec<T>) -> Option<Vec<T>> {
        Some(acc)
    }
}
impl<T: Clone + Send + 'static> Mergeable<T> for Collect {
    fn merge(&self, acc: &mut Vec<T>, mut later: Vec<T>) -> Result<(), Overflow> {
        acc.append(&mut later);
        Ok(())
    }
}

/// The k records with the largest values, largest first; of equal ones those that came first.
#[derive(Clone)]
pub struct TopK<F> {
    pub(super) k: usize,
    pub(super) measure: F,
}

#[diagnostic::do_not_recommend]
impl<T, N, F> Aggregate<T> for TopK<F>
where
    T: Clone + Send + 'static,
    N: Measure,
    F: Fn(&T) -> N + Clone + Send + 'static,
{
    type In = (Option<N::Value>, T);
    type Acc = Vec<(N::Value, T)>;
    type Out = Vec<T>;
    type Algebra = Merges;
    fn name(&self) -> String {
        format!("top_{}", self.k)
    }
    fn start(&self) -> Self::Acc {
        Vec::new()
    }
    fn lift(&self, record: &T) -> Self::In {
        ((self.measure)(record).value(), record.clone())
    }
    fn add(&self, acc: &mut Self::Acc, (value, record): Self::In) -> Result<(), Overflow> {
        let Some(value) = value else { return Ok(()) };
        let at = acc.partition_point(|(v, _)| N::compare(v, &value).is_ge());
        if at < self.k {
            acc.truncate(self.k - 1);
            acc.insert(at, (value, record));
        }
        Ok(())
    }
    fn result(&self, acc: &Self::Acc) -> Option<Vec<T>> {
        Some(acc.iter().map(|(_, record)| record.clone()).collect())
    }
    fn take_result(&self, acc: Self::Acc) -> Option<Vec<T>> {
        Some(acc.into_iter().map(|(_, record)| record).collect())
    }
}
impl<T, N, F> Mergeable<T> for TopK<F>
where
    T: Clone + Send + 'static,
    N: Measure,
    F: Fn(&T) -> N + Clone + Send + 'static,
{
    fn merge(&self, acc: &mut Self::Acc, later: Self::Acc) -> Result<(), Overflow> {
        later.into_iter().try_for_each(|(value, record)| self.add(acc, (Some(value), record)))
    }
}

/// How many different values; 0 for no records. Exact: it keeps every value.
#[derive(Clone)]
pub struct CountDistinct<F>(pub(super) F);

/// The hasher of values that never leave the accumulator.
type Values<V> = HashSet<V, foldhash::fast::FixedState>;

#[diagnostic::do_not_recommend]
impl<T, V, F> Aggregate<T> for CountDistinct<F>
where
    V: Hash + Eq + Clone + Send + 'static,
    F: Fn(&T) -> V + Clone + Send + 'static,
{
    type In = V;
    type Acc = Values<V>;
    type Out = u64;
    type Algebra = Commutes;
    fn name(&self) -> String {
        "count_distinct".into()
    }
    fn start(&self) -> Values<V> {
        Values::default()
    }
    fn lift(&self, record: &T) -> V {
        (self.0)(record)
    }
    fn add(&self, acc: &mut Values<V>, x: V) -> Result<(), Overflow> {
        acc.insert(x);
        Ok(())
    }
    fn result(&self, acc: &Values<V>) -> Option<u64> {
        Some(acc.len() as u64)
    }
}
impl<T, V, F> Mergeable<T> for CountDistinct<F>
where
    V: Hash + Eq + Clone + Send + 'static,
    F: Fn(&T) -> V + Clone + Send + 'static,
{
    fn merge(&self, acc: &mut Values<V>, later: Values<V>) -> Result<(), Overflow> {
        acc.extend(later);
        Ok(())
    }
}
impl<T, V, F> Commutative<T> for CountDistinct<F>
where
    V: Hash + Eq + Clone + Send + 'static,
    F: Fn(&T) -> V + Clone + Send + 'static,
{
}
