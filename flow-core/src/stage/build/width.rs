//! Exchanges that say in how many instances what follows runs.

use super::{BuildCx, Count, Topology};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::KEY_GROUPS;
use crate::stage::Meta;

impl BuildCx<'_> {
    /// What has been built since this stage began sends to so many instances.
    pub fn receivers(&mut self, meta: &Meta, n: usize) {
        self.is_parallelism(meta, n);
        if self.pass == 0 {
            self.topology.widths.extend(self.draft.outputs.iter().map(|edge| (*edge, n)));
        }
    }

    /// The job does not start with a number of instances that cannot be.
    pub fn is_parallelism(&mut self, meta: &Meta, n: usize) {
        if n == 0 || n > KEY_GROUPS {
            let what = format!("a parallelism of {n}: it has to be at least 1 and at most {KEY_GROUPS}");
            self.fail(Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at()));
        }
    }
}

impl Topology {
    /// Gives the stages behind keys the number of instances that their inputs ask for.
    pub(super) fn widen(&mut self) -> Result<()> {
        for stage in self.stages.iter_mut().filter(|stage| stage.rule == Count::Parallelism) {
            let mut asked =
                self.widths.iter().filter(|width| stage.inputs.contains(&width.0)).map(|width| width.1);
            let Some(n) = asked.next() else { continue };
            if let Some(other) = asked.find(|other| *other != n) {
                let what = format!(
                    "its inputs ask for parallelisms of {n} and of {other}: the records of a key have one place"
                );
                return Err(Error::new(ErrorKind::Plan, what).in_stage(stage.name.clone()));
            }
            stage.count = n;
        }
        Ok(())
    }
}
