//! Operators that had another name at the checkpoint.

use super::manifest::Manifest;
use crate::error::{Error, ErrorKind, Result};

/// Pairs of names, as they are now and as they were: of a `let`, or of an operator.
#[derive(Debug, Clone, Default)]
pub(crate) struct Renames(Vec<(String, String)>);

impl Renames {
    /// `now` was called `before`.
    pub fn add(&mut self, now: &str, before: &str) {
        self.0.push((now.to_owned(), before.to_owned()));
    }

    /// Names that say something else of each other cannot be obeyed: from a checkpoint nobody could tell whether that has been done.
    ///
    /// # Errors
    /// Names them.
    pub fn check(&self) -> Result<()> {
        for (n, (now, before)) in self.0.iter().enumerate() {
            let what = if self.0.iter().any(|other| other.0 == *before) {
                format!("`{now}` was `{before}`, and `{before}` had another name itself")
            } else if self.0[..n].iter().any(|other| other.1 == *before) {
                format!("`{now}` was `{before}`, and so was another one")
            } else {
                continue;
            };
            let note = "rename in two steps, with a checkpoint between them";
            return Err(Error::new(ErrorKind::Plan, what).note(note));
        }
        Ok(())
    }

    /// How what is called `id` in `manifest` is called now. A name that is in the checkpoint as it is now has been changed before it was taken.
    pub fn of(&self, id: &str, manifest: &Manifest) -> String {
        for (now, before) in &self.0 {
            let states = manifest.operators.iter().map(|state| &state.id);
            let mut known = states.chain(manifest.staged.iter().map(|staged| &staged.sink));
            if let Some(rest) = behind(id, before)
                && !known.any(|id| behind(id, now).is_some())
            {
                return format!("{now}{rest}");
            }
        }
        id.to_owned()
    }

    /// The manifest with the names of now.
    pub fn apply(&self, manifest: &Manifest) -> Manifest {
        let mut renamed = manifest.clone();
        for state in &mut renamed.operators {
            state.id = self.of(&state.id, manifest);
        }
        for staged in &mut renamed.staged {
            staged.sink = self.of(&staged.sink, manifest);
        }
        renamed
    }
}

/// What follows `name` in `id`: nothing, the operator of a `let`, or which of an operator's states it is.
fn behind<'a>(id: &'a str, name: &str) -> Option<&'a str> {
    id.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with(" ("))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::OperatorState;

    fn of(ids: &[&str]) -> Manifest {
        let state = |id: &&str| OperatorState { id: (*id).to_owned(), ..OperatorState::default() };
        Manifest { operators: ids.iter().map(state).collect(), ..Manifest::default() }
    }

    fn names(renames: &[(&str, &str)], ids: &[&str]) -> Vec<String> {
        let mut all = Renames::default();
        renames.iter().for_each(|(now, before)| all.add(now, before));
        all.apply(&of(ids)).operators.into_iter().map(|state| state.id).collect()
    }

    #[test]
    fn what_had_another_name_is_found() {
        let ids = ["a/sum", "a/sum (time)", "a/sum-2", "ab/sum", "b/sum"];
        assert_eq!(names(&[], &ids), ids);
        assert_eq!(names(&[("x", "a")], &ids), ["x/sum", "x/sum (time)", "x/sum-2", "ab/sum", "b/sum"]);
        assert_eq!(
            names(&[("x/sum", "a/sum")], &ids),
            ["x/sum", "x/sum (time)", "a/sum-2", "ab/sum", "b/sum"]
        );
        // It has been done, and `a` is another one.
        assert_eq!(names(&[("b", "a")], &ids), ids);
    }

    #[test]
    fn names_are_not_swapped() {
        let mut renames = Renames::default();
        renames.add("a", "b");
        renames.check().unwrap();
        renames.add("c", "b");
        assert!(renames.check().unwrap_err().to_string().contains("`c` was `b`, and so was another one"));
        let mut renames = Renames::default();
        renames.add("a", "b");
        renames.add("b", "a");
        assert!(renames.check().unwrap_err().to_string().contains("had another name itself"));
    }
}
