//! Sources that are told what is safe: a broker that keeps records until they are acknowledged, a database that keeps its log.
//!
//! After the sinks have committed a checkpoint, and not before, each source that takes acknowledgements is told up to where its partitions had
//! been read there. At a start it is told once more, before any record is read: the process before may have died in between.

use super::Slot;
use super::committers::insist;
use super::saves::FROM_NOW_ON;
use crate::error::Result;

/// Tells the outside that what a source has read is safe, so that it may be forgotten there. It belongs to the job and not to an instance:
/// see [`Source::acknowledger`](crate::source::Source::acknowledger).
pub trait Acknowledge: Send {
    /// Everything before these positions, those of the source's partitions in their order, is in `checkpoint`, and what came of it is final.
    /// It may have been said already, and must do no harm then.
    ///
    /// # Errors
    /// When it could not be said; it will be tried again, and after several times the job ends.
    fn acknowledge(&mut self, checkpoint: u64, positions: &[Vec<u8>]) -> Result<()>;
}

/// A source that takes acknowledgements.
struct Acknowledged {
    source: String,
    outside: Box<dyn Acknowledge>,
    partitions: Vec<Read>,
}

/// How far a partition has been read.
#[derive(Clone, Default)]
struct Read {
    /// At the newest checkpoint that asked it, with the number of that.
    at: Option<(u64, Vec<u8>)>,
    /// Where it has ended. Not what a checkpoint says that it had passed before: what it read since is in none.
    end: Option<Vec<u8>>,
}

impl Read {
    /// The position that stands in `checkpoint`.
    fn in_checkpoint(&self, checkpoint: u64) -> Option<Vec<u8>> {
        let at = self.at.as_ref().filter(|at| at.0 == checkpoint);
        at.map(|at| &at.1).or(self.end.as_ref()).cloned()
    }
}

/// All of a job.
#[derive(Default)]
pub(crate) struct Acknowledgers(Vec<Acknowledged>);

impl Acknowledgers {
    /// `source` has so many partitions.
    pub fn add(&mut self, source: String, outside: Box<dyn Acknowledge>, partitions: usize) {
        self.0.push(Acknowledged { source, outside, partitions: vec![Read::default(); partitions] });
    }

    /// The sources' ids.
    pub fn sources(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|of| of.source.clone())
    }

    /// A piece of what is saved for a checkpoint, or [from now on](FROM_NOW_ON), which may be a position.
    pub fn hear(&mut self, checkpoint: u64, state: &str, slot: Slot, bytes: &[u8]) {
        let Slot::Instance(partition) = slot else { return };
        let Some(of) = self.0.iter_mut().find(|of| of.source == state) else { return };
        let Some(read) = of.partitions.get_mut(partition as usize) else { return };
        if checkpoint == FROM_NOW_ON {
            read.end = Some(bytes.to_vec());
        } else {
            read.at = Some((checkpoint, bytes.to_vec()));
        }
    }

    /// `checkpoint` is complete and committed.
    ///
    /// # Errors
    /// When a source cannot be told.
    pub fn acknowledge(&mut self, checkpoint: u64) -> Result<()> {
        for Acknowledged { source, outside, partitions } in &mut self.0 {
            let positions = partitions.iter().map(|read| read.in_checkpoint(checkpoint));
            let Some(positions) = positions.collect::<Option<Vec<_>>>() else { continue };
            insist(|| outside.acknowledge(checkpoint, &positions)).map_err(|(error, tried)| {
                let note = format!(
                    "tried {tried} times; checkpoint {checkpoint} is complete, and the next start acknowledges it before it reads anything"
                );
                error.in_stage(source.clone()).note(note)
            })?;
        }
        Ok(())
    }
}
