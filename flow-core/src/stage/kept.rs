//! What of a stage behind an edge stands in checkpoints: the keyed state of its head, and how far time has come.
//!
//! The latter as `ID (time)`, for each instance: `told passed clock`, little-endian `i64`s, the last only where the head goes by the clock.

use super::OpenCx;
use super::head::Work;
use super::own;
use crate::checkpoint::Saves;
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
        }
    }

    /// Writes down what there is at checkpoint `id`.
    pub fn save(&self, id: u64, head: &mut dyn Work, watermark: Timestamp, passed: Timestamp) -> Result<()> {
        if !self.saves.is_on() {
            return Ok(());
        }
        self.saves.keyed(id, &self.id, true);
        for group in &self.groups {
            let mut bytes = Vec::new();
            head.snapshot(*group, &mut bytes)?;
            if !bytes.is_empty() {
                self.saves.group(id, &self.id, *group, bytes);
            }
        }
        let mut time = watermark.0.to_le_bytes().to_vec();
        time.extend_from_slice(&passed.0.to_le_bytes());
        if let Some(clock) = head.clock() {
            time.extend_from_slice(&clock.0.to_le_bytes());
        }
        self.saves.operator(id, &self.time, time);
        Ok(())
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
        head.watermark(watermark);
        for (group, history) in restored.groups(&self.id, instance, instances)? {
            for bytes in history {
                head.restore(group, &bytes)?;
            }
        }
        let ended = restored.has_finished(&self.id);
        Ok(Some(Back { watermark, passed: passed.unwrap_or(Timestamp::MIN), ended }))
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
