//! What of a stage behind an edge stands in checkpoints: the keyed state of its head, and how far time has come.
//!
//! The latter as `ID (time)`, for each instance: `told passed clock`, little-endian `i64`s, the last only where the head goes by the clock.

use super::OpenCx;
use super::head::Work;
use super::own;
use crate::checkpoint::failpoint::point;
use crate::checkpoint::records::merge;
use crate::checkpoint::{Groups, Had, Saves, in_group};
use crate::error::{Error, ErrorKind, Result};
use crate::exchange::{KEY_GROUPS, instance_of};
use crate::time::Timestamp;

/// Where a stage leaves its state.
#[derive(Default)]
pub(super) struct Kept {
    pub saves: Saves,
    /// The stage's id, and under which its time is kept.
    id: String,
    time: String,
    groups: Vec<usize>,
    pub had: Had,
}

/// How far a stage had come.
pub(super) struct Back {
    /// The watermark that its head has been told, and what was passed on of it.
    pub watermark: Timestamp,
    pub passed: Timestamp,
    /// All instances had ended.
    pub ended: bool,
}

impl Kept {
    pub fn new(cx: &OpenCx) -> Self {
        let (instance, instances) = (cx.context().instance(), cx.context().parallelism());
        let owned = |group: &usize| instance_of(*group as u64, instances) == instance;
        Kept {
            saves: cx.saves().clone(),
            id: cx.stage().to_owned(),
            time: format!("{} (time)", cx.stage()),
            groups: if cx.saves().is_on() { (0..KEY_GROUPS).filter(owned).collect() } else { Vec::new() },
            had: Had::default(),
        }
    }

    /// Begins to write down what there is at checkpoint `id`.
    pub fn begin(
        &self,
        id: u64,
        head: &mut dyn Work,
        watermark: Timestamp,
        passed: Timestamp,
    ) -> Result<Saving> {
        let groups = Groups::new(self.saves.clone(), id, &self.id, &self.groups, self.had.clone());
        head.begin_save(&groups)?;
        let mut time = watermark.0.to_le_bytes().to_vec();
        time.extend_from_slice(&passed.0.to_le_bytes());
        if let Some(clock) = head.clock() {
            time.extend_from_slice(&clock.0.to_le_bytes());
        }
        self.saves.operator(id, &self.time, time);
        Ok(Saving { id, groups, slice: SLICE, through: false })
    }

    /// Gives the head what it had, where the job starts from a checkpoint.
    pub fn take_back(&self, cx: &OpenCx, head: &mut dyn Work) -> Result<Option<Back>> {
        let Some(restored) = cx.restored() else { return Ok(None) };
        let (instance, instances) = (cx.context().instance(), cx.context().parallelism());
        let times = restored.operator_everywhere(&self.time)?;
        let times = times.iter().map(|bytes| read(bytes)).collect::<Result<Vec<_>>>()?;
        // The latest of all: what one had fired another must not fire again.
        if let Some(clock) = times.iter().filter_map(|time| time.2).max() {
            head.clock_was(clock);
        }
        // Where their number is the same each goes on from its own, else all from the smallest: nothing is late that was not.
        let own = times.get(instance).filter(|_| times.len() == instances);
        let times = own.map_or(&times[..], std::slice::from_ref);
        let (mut watermark, mut passed) = (None::<Timestamp>, None::<Timestamp>);
        for time in times {
            let (w, p, _) = *time;
            watermark = Some(watermark.map_or(w, |other| other.min(w)));
            passed = Some(passed.map_or(p, |other| other.min(p)));
        }
        let watermark = watermark.unwrap_or(Timestamp::MIN);
        // Before its state, which may have to do with what is late.
        head.was_told(watermark);
        for group in restored.groups(&self.id, instance, instances) {
            let (group, history) = group?;
            let bytes = restored.upgraded(&self.id, group, merge(&history)?)?;
            in_group(group, || head.restore(group, &bytes))?;
        }
        point("R2");
        let ended = restored.has_finished(&self.id);
        Ok(Some(Back { watermark, passed: passed.unwrap_or(Timestamp::MIN), ended }))
    }
}

/// How much of a head's state is written between two batches: about a thousand entries, or as much as it takes to look at eight
/// thousand buckets of which none has changed.
const SLICE: usize = 8 * 1024;

/// A checkpoint of a head that is being written.
pub(super) struct Saving {
    id: u64,
    groups: Groups,
    slice: usize,
    through: bool,
}

impl Saving {
    /// Begins one that is not the coordinator's.
    pub fn in_memory(whole: bool, slice: usize, had: Had, head: &mut dyn Work) -> Result<Self> {
        let all: Vec<usize> = (0..KEY_GROUPS).collect();
        let groups = Groups::in_memory(whole, &all, had);
        head.begin_save(&groups)?;
        Ok(Saving { id: 0, groups, slice, through: false })
    }

    /// Whether there is more to write.
    pub fn goes_on(&self) -> bool {
        !self.through
    }

    /// Writes a slice, whether or not there is room for it. The checkpoint's number when it is the coordinator's and all is written.
    pub fn go_on(&mut self, head: &mut dyn Work) -> Result<Option<u64>> {
        self.through = self.through || head.save_more(&mut self.slice.clone());
        if !self.through || self.groups.is_in_memory() {
            return Ok(None);
        }
        self.groups.finish()?;
        Ok(Some(self.id))
    }

    /// Writes the rest.
    pub fn into_memory(self, head: &mut dyn Work) -> Result<Vec<(usize, Vec<u8>)>> {
        while !head.save_more(&mut usize::MAX.clone()) {}
        self.groups.finish()
    }
}

fn read(mut bytes: &[u8]) -> Result<(Timestamp, Timestamp, Option<Timestamp>)> {
    let bytes = &mut bytes;
    let (told, passed) = (take_i64(bytes)?, take_i64(bytes)?);
    let clock = if bytes.is_empty() { None } else { Some(Timestamp(take_i64(bytes)?)) };
    if bytes.is_empty() {
        return Ok((Timestamp(told), Timestamp(passed), clock));
    }
    Err(Error::new(ErrorKind::State, "the time of a stage is longer than that in the checkpoint"))
}

fn take_i64(bytes: &mut &[u8]) -> Result<i64> {
    own::take_i64(bytes)
        .map_err(|_| Error::new(ErrorKind::State, "the time of a stage is cut short in the checkpoint"))
}
