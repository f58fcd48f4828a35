//! Whether the state in a checkpoint is of the types that operators have now.

use super::bytes::hash;
use super::manifest::Manifest;
use crate::error::{Error, ErrorKind, Result};

/// A hash of a schema; 0 where there is none.
pub(super) fn fingerprint(schema: &str) -> u64 {
    if schema.is_empty() { 0 } else { hash(schema.as_bytes()) }
}

/// Compares the schema of each stage with that in `manifest`, where both are known.
///
/// # Errors
/// Names the operator, and both.
pub(crate) fn check<'a>(manifest: &Manifest, stages: impl Iterator<Item = (&'a str, &'a str)>) -> Result<()> {
    for (id, now) in stages.filter(|stage| !stage.1.is_empty()) {
        let before = manifest.operators.iter().find(|state| state.id == id && !state.schema.is_empty());
        if let Some(before) = before.filter(|before| before.schema != now) {
            let what = format!(
                "the state of `{id}` in checkpoint {} is of other types or windows: it was `{}` and is `{now}` now",
                manifest.id, before.schema
            );
            let note = format!(
                "give the types the shape they had, or let the operator begin anew under another name, and say `Checkpoints::drop_state(\"{id}\")`"
            );
            return Err(Error::new(ErrorKind::State, what).in_stage(id).note(note));
        }
    }
    Ok(())
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
        check(&manifest, known.into_iter()).unwrap();
        // Nothing is known of what was written without a schema, or is now.
        check(&manifest, [("a/sum", ""), ("b/take", "u64 -> u64")].into_iter()).unwrap();
        let error = check(&manifest, [("a/sum", "string -> i64")].into_iter()).unwrap_err().to_string();
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
