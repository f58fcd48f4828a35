//! Upgrades of state without the feature `state-processor`: there are none, and the names say what is missing.

use super::Checkpoints;
use crate::error::Result;
use crate::state::shape::is_same;
use std::convert::Infallible;

/// Nothing: the feature `state-processor` is off.
#[diagnostic::on_unimplemented(
    message = "upgrades of state need the feature `state-processor` of flow-core, which is off",
    label = "there are no upgrades without the feature",
    note = "write `features = [\"state-processor\"]` at `flow-core` in Cargo.toml, or run `cargo add flow-core --features state-processor`"
)]
pub trait WithStateProcessor {
    /// Nothing is here.
    fn never<R>(&self) -> R;
}

impl Checkpoints {
    /// Needs the feature `state-processor`.
    ///
    /// ```compile_fail,E0277
    /// # use flow_core::prelude::*;
    /// let _ = Checkpoints::to("state").upgrade("totals/sum", |total: i64| total as f64);
    /// ```
    pub fn upgrade(self, of: impl Into<String>, convert: impl WithStateProcessor) -> Self {
        let _ = of;
        convert.never()
    }

    /// Needs the feature `state-processor`.
    pub fn try_upgrade(self, of: impl Into<String>, convert: impl WithStateProcessor) -> Self {
        let _ = of;
        convert.never()
    }
}

/// None is ever made.
#[derive(Clone)]
pub(crate) struct Upgrade(Infallible);

pub(crate) struct Upgrades;

impl Upgrades {
    pub fn new<'a>(upgrades: &[Upgrade], _: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        match upgrades.first() {
            None => Ok(Upgrades),
            Some(upgrade) => match upgrade.0 {},
        }
    }

    /// Whether nothing has to be done.
    pub fn of(&self, _: &str, before: &str, now: &str) -> Result<Option<Upgrading>, Vec<String>> {
        if is_same(before, now) {
            return Ok(None);
        }
        Err(vec![
            "the feature `state-processor` of flow-core is off: with it state of older types can be upgraded"
                .into(),
        ])
    }
}

/// None is ever made.
pub(crate) struct Upgrading(Infallible);

impl Upgrading {
    pub fn group(&self, _: usize, _: &[u8]) -> Result<Vec<u8>> {
        match self.0 {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_same_goes_on_without_the_feature() {
        let of = |before, now| Upgrades.of("a/fold", before, now).map(|upgrading| upgrading.is_none());
        assert_eq!(of("u8 -> A; A = X(B) | Y; B = Z", "u8 -> A; B = Z; A = X(B) | Y"), Ok(true));
        for other in ["u8 -> A; B = Z", "u8 -> A; A = X(B) | Z; B = Z", "u8 -> B; A = X(B) | Y; B = Z"] {
            let notes = of("u8 -> A; A = X(B) | Y; B = Z", other).unwrap_err();
            assert!(notes[0].contains("`state-processor`"), "{notes:?}");
        }
    }
}
