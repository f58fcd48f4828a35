//! Which sources wait for each other, and which cannot.

use super::{BuildCx, Topology};
use crate::error::{Error, ErrorKind, Result};
use crate::stage::drift::Member;
use crate::stage::{Meta, OpNode};
use crate::time::Millis;

impl BuildCx<'_> {
    /// The source of the operator that was described last waits for others that are so far behind.
    pub fn align(&mut self, meta: &Meta, ahead: Millis) -> Member {
        if ahead.0 < 0 {
            let what = format!("an align of {ahead}: it cannot be negative");
            self.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
        }
        if self.pass == 0 {
            self.topology.aligned.extend(self.draft.nodes.last());
        }
        self.topology.drift.join(ahead)
    }
}

impl Topology {
    /// Only a source can wait: behind an exchange, or where two are fed by one source, those that are ahead would keep what the ones
    /// behind wait for.
    pub(super) fn check_aligned(&self) -> Result<()> {
        let stage_of = |node: usize| self.stages.iter().find(|s| s.nodes.contains(&node));
        for (nth, node) in self.aligned.iter().enumerate() {
            let Some(stage) = stage_of(*node) else { continue };
            let twice = self.aligned[..nth].iter().any(|before| stage.nodes.contains(before));
            let why = match (stage.inputs.is_empty(), twice) {
                (true, false) => continue,
                (true, true) => "its source is aligned by another `event_time` already",
                (false, _) => "it stands behind an exchange, and only a source can wait",
            };
            let OpNode { id, at, .. } = &self.nodes[*node];
            let error = Error::new(ErrorKind::Plan, format!("`align` cannot be kept here: {why}"));
            return Err(error.in_stage(id.clone()).at_text(at.clone()));
        }
        Ok(())
    }
}
