//! Whether the state in a checkpoint is of the types, and of the kind of windows, that operators have now.

use super::bytes::hash;
use super::manifest::Manifest;
use super::upgrades::{Upgrades, Upgrading};
use crate::error::{Error, ErrorKind, Result};
use crate::sorted::Sorted;

/// A hash of a schema; 0 where there is none.
pub(super) fn fingerprint(schema: &str) -> u64 {
    if schema.is_empty() { 0 } else { hash(schema.as_bytes()) }
}

/// Whether it is the state of an operator that gives its rows at the end of a batch.
pub(crate) fn is_of_a_batch(schema: &str) -> bool {
    schema.starts_with("last rows of ")
}

/// Why the type of a key stays.
pub(super) const KEYS: &str =
    "keys cannot be changed: in which key group a key is, and which entries are of one key, would be others";

/// Compares the schema of each stage with that in `manifest`, where both are known: what has to be upgraded, by the stage's id.
///
/// # Errors
/// Names the operator, and both, where no upgrade leads from the one to the other.
pub(crate) fn check<'a>(
    manifest: &Manifest,
    stages: impl Iterator<Item = (&'a str, &'a str)>,
    upgrades: &Upgrades,
) -> Result<Sorted<String, Upgrading>> {
    let mut all = Sorted::default();
    for (id, now) in stages.filter(|stage| !stage.1.is_empty()) {
        let before = manifest.operators.iter().find(|state| state.id == id && !state.schema.is_empty());
        let Some(before) = before.filter(|before| before.schema != now) else { continue };
        let notes = match upgrades.of(id, &before.schema, now) {
            Ok(Some(upgrading)) => {
                all.insert(id.to_owned(), upgrading);
                continue;
            }
            Ok(None) => continue,
            Err(notes) => notes,
        };
        let what = format!(
            "the state of `{id}` in checkpoint {} is another than it keeps: it was `{}` and is `{now}` now",
            manifest.id, before.schema
        );
        let upgrade = if notes.iter().any(|note| note == KEYS) {
            String::new()
        } else {
            format!("say how the one becomes the other, `Checkpoints::upgrade(\"{id}\", |old: …| …)`, ")
        };
        let note = format!(
            "{upgrade}give types and windows the shape they had, or let the operator begin anew under another name, and say `Checkpoints::drop_state(\"{id}\")`"
        );
        let error = Error::new(ErrorKind::State, what).in_stage(id);
        return Err(notes.into_iter().fold(error, Error::note).note(note));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::OperatorState;

    #[test]
    fn other_types_are_refused_by_name() {
        let state = |id: &str, schema: &str| OperatorState {
            id: id.to_owned(),
            schema: schema.to_owned(),
            ..OperatorState::default()
        };
        let operators = vec![state("a/sum", "string -> u64"), state("b/take", "")];
        let manifest = Manifest { id: 7, operators, ..Manifest::default() };
        let known = [("a/sum", "string -> u64"), ("b/take", ""), ("new/sum", "u8 -> u8")];
        let none = Upgrades::new(&[], known.into_iter()).unwrap();
        assert!(check(&manifest, known.into_iter(), &none).unwrap().is_empty());
        // Nothing is known of what was written without a schema, or is now.
        check(&manifest, [("a/sum", ""), ("b/take", "u64 -> u64")].into_iter(), &none).unwrap();
        let error = check(&manifest, [("a/sum", "string -> i64")].into_iter(), &none);
        let error = error.err().unwrap().to_string();
        for part in [
            "a/sum",
            "checkpoint 7",
            "was `string -> u64`",
            "is `string -> i64` now",
            "drop_state(\"a/sum\")",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert_eq!((fingerprint(""), fingerprint("a") == fingerprint("b")), (0, false));
    }
}
