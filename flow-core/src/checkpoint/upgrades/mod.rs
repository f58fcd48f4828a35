//! State of older types becomes state of the types of now, where a job starts from a checkpoint.
//!
//! | to see | look at |
//! |---|---|
//! | what the user says | `said.rs` |
//! | what of it is refused | here |
//! | which conversions lead from one type to another | `plan.rs` |
//! | how bytes are converted | `rewrite.rs` |
//!
//! The schema in the checkpoint is laid beside that of now. Where the two differ a conversion from the one type is looked for, or several that lead
//! on from each other; where there is none what stands inside is compared: so a conversion of `Order` is found too where the state is
//! a list of orders. Nothing is converted that has not changed. It is done when a key group is read, so each instance converts its own; from
//! the first checkpoint on, which is always whole, the state is of the types of now.

mod plan;
mod rewrite;
mod said;
#[cfg(test)]
mod tests;

use super::schemas::KEYS;
use crate::error::{Error, ErrorKind, Result};
use crate::state::shape::{Defs, Node, State, name_text, same, state, type_of};
use plan::{Plan, plans};
use said::Convert;
pub(crate) use said::Upgrade;
use std::sync::Arc;

/// A type, and the enums in it.
type Type = (Node, Defs);

/// All that the user says, read.
pub(crate) struct Upgrades(Vec<Known>);

struct Known {
    of: String,
    old: Type,
    new: Type,
    convert: Convert,
    /// The two, for messages.
    texts: (String, String),
}

impl Upgrades {
    /// Reads them, and looks whether each may ever be needed by one of `stages`: their ids and schemas.
    ///
    /// # Errors
    /// When one is of a state that there is not, leads to a type that it does not have, or is the second from a type.
    pub fn new<'a>(
        upgrades: &[Upgrade],
        stages: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Result<Self> {
        let mut known: Vec<Known> = Vec::new();
        for Upgrade { of, old, new, convert } in upgrades {
            let read = |schema: &str| {
                let what =
                    |what| plan_error(format!("the upgrade of `{of}` from `{old}` to `{new}`: {what}"));
                type_of(schema).map_err(what)
            };
            let (of, convert, texts) = (of.clone(), Arc::clone(convert), (old.clone(), new.clone()));
            known.push(Known { of, old: read(old)?, new: read(new)?, convert, texts });
        }
        let upgrades = Upgrades(known);
        upgrades.check_twice()?;
        for upgrade in &upgrades.0 {
            upgrades.check(upgrade, stages.clone())?;
        }
        Ok(upgrades)
    }

    fn check_twice(&self) -> Result<()> {
        for (n, upgrade) in self.0.iter().enumerate() {
            let other = self.0[..n].iter().find(|other| {
                let one = (&upgrade.old.0, &upgrade.old.1);
                other.of == upgrade.of && same((&other.old.0, &other.old.1), one, true)
            });
            if let Some(other) = other {
                let what = format!(
                    "the state of `{}` has two upgrades from `{}`: to `{}` and to `{}`",
                    upgrade.of, upgrade.texts.0, other.texts.1, upgrade.texts.1
                );
                let note = "say one from each type to the next; where two states of a process differ, name each, `stream/process/state`";
                return Err(plan_error(what).note(note));
            }
        }
        Ok(())
    }

    /// Whether an upgrade is of a state that there is, and leads to something that is in it.
    fn check<'a>(
        &self,
        upgrade: &Known,
        stages: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    ) -> Result<()> {
        let mut now = Vec::new();
        for (id, schema) in stages.clone().filter(|stage| !stage.1.is_empty()) {
            let Ok(state) = state(schema) else { continue };
            let places = plan::places(id, &state);
            if places.iter().any(|place| place.is_of(&upgrade.of)) {
                if places.iter().any(|place| place.is_of(&upgrade.of) && place.has(&upgrade.new)) {
                    return Ok(());
                }
                now.push(format!("`{schema}`"));
            }
        }
        let Known { of, texts: (old, new), .. } = upgrade;
        if now.is_empty() {
            let mut ids: Vec<&str> =
                stages.filter(|stage| !stage.1.is_empty()).map(|stage| stage.0).collect();
            // Each instance has been asked.
            ids.dedup();
            let what = format!(
                "there is an upgrade of `{of}`, and no operator of this name, or state of one, with keyed state: there are {}",
                if ids.is_empty() { "none".into() } else { ids.join(", ") }
            );
            return Err(plan_error(what));
        }
        let leads_on =
            |other: &&Known| same((&upgrade.new.0, &upgrade.new.1), (&other.old.0, &other.old.1), false);
        if self.0.iter().any(|other| leads_on(&other) && !std::ptr::eq(other, upgrade)) {
            return Ok(());
        }
        now.dedup();
        let what = format!(
            "the upgrade of `{of}` from `{old}` leads to `{new}`, which is not in its state: that is {}",
            now.join(", ")
        );
        Err(plan_error(what)
            .note("an upgrade has to lead to the type of now, or to one from which another goes on"))
    }

    /// How the state of a stage becomes what it is now; nothing where it is.
    ///
    /// # Errors
    /// When nothing leads there.
    pub fn of(&self, id: &str, before: &str, now: &str) -> Result<Option<Upgrading>, Vec<String>> {
        let (Ok(old), Ok(new)) = (state(before), state(now)) else {
            return Err(vec!["the types cannot be compared: their schemas do not say all".into()]);
        };
        if (old.kind, &old.which) != (new.kind, &new.which) {
            return Err(Vec::new());
        }
        if !same((&old.key, &old.defs), (&new.key, &new.defs), true) {
            return Err(vec![KEYS.into()]);
        }
        let plans = plans(self, id, &old, &new)?;
        let changes = plans.iter().any(|plan| !matches!(plan, Plan::Same));
        let texts = (before.to_owned(), now.to_owned());
        Ok(changes.then(|| Upgrading { id: id.to_owned(), old, plans, texts }))
    }
}

/// How the state of one stage becomes what it is now.
pub(crate) struct Upgrading {
    id: String,
    old: State,
    /// For each value.
    plans: Vec<Plan>,
    texts: (String, String),
}

impl Upgrading {
    /// The bytes of a key group, with the types of now.
    ///
    /// # Errors
    /// When they are not of the types of then, or a conversion fails.
    pub fn group(&self, group: usize, bytes: &[u8]) -> Result<Vec<u8>> {
        rewrite::group(&self.old, &self.plans, bytes).map_err(|(key, what)| {
            let what = format!(
                "the state of {} cannot be upgraded from `{}` to `{}`: {what}",
                name_of(&self.id),
                self.texts.0,
                self.texts.1
            );
            let key = key.map_or_else(String::new, |key| format!(", key {key}"));
            let note = format!("it is of key group {group}{key}; nothing was changed in the checkpoint");
            Error::new(ErrorKind::State, what).in_stage(&self.id).note(note)
        })
    }
}

fn name_of(id: &str) -> String {
    format!("`{id}`")
}

#[cold]
fn plan_error(what: String) -> Error {
    Error::new(ErrorKind::Plan, what)
}

/// A type in words.
fn type_text((node, defs): (&Node, &Defs)) -> String {
    crate::state::shape::text(node, defs)
}

/// What a state inside another is called.
fn inner_name(id: &str, name: &str) -> String {
    format!("{id}/{}", name_text(name))
}
