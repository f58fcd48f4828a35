//! What of a checkpoint lies in a store of the state backend: read from a snapshot in slices, while the store goes on.
//!
//! ```text
//! record := records group^2 rest   ->  records of the checkpoint, as in `checkpoint/records.rs`
//! note   := notes interval^4 group^2 rest  ->                      that record has changed since checkpoint `interval`
//! ```
//!
//! Numbers are big-endian. `records` and `notes` are bytes, by which several kinds of records lie in one store.

use super::backend::{Changes, Space, StateRead};
use crate::checkpoint::records::Records;
use crate::checkpoint::{Groups, Section};
use crate::error::Result;

/// Notes that are looked at together.
const CHUNK: usize = 64;

/// Units that writing a record costs: see [`Flights::more`].
const COST: usize = 16;

/// What it costs to write these, which lie under one key.
fn cost(records: &[u8]) -> usize {
    COST * Records(records).count()
}

/// The first byte of the keys of records, and of notes, which is the next.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub records: u8,
    pub notes: u8,
    /// Whether values begin with something that no checkpoint has: its length, as a little-endian `u32`, and it.
    pub beside: bool,
}

impl Kind {
    /// What no checkpoint has of a value, and what they have.
    pub fn apart(self, value: &[u8]) -> Option<(&[u8], &[u8])> {
        if !self.beside {
            return Some((&[], value));
        }
        let (length, rest) = value.split_first_chunk()?;
        rest.split_at_checked(u32::from_le_bytes(*length) as usize)
    }

    /// The beginning of the notes of an interval.
    fn notes_of(self, interval: u32) -> Vec<u8> {
        [&[self.notes][..], &interval.to_be_bytes()].concat()
    }

    /// The key of the note on the record under `key`.
    fn note(self, interval: u32, key: &[u8]) -> Vec<u8> {
        [&self.notes_of(interval)[..], key.get(1..).unwrap_or_default()].concat()
    }
}

/// The checkpoints of the records of a kind, one after the other.
pub(super) struct Flights {
    kind: Kind,
    /// How many have begun.
    interval: u32,
    flight: Option<Flight>,
}

impl Flights {
    /// None has begun.
    pub fn new(kind: Kind) -> Self {
        Flights { kind, interval: 0, flight: None }
    }

    /// The key of the note that the record under `key` has changed; none before the first checkpoint, which has everything.
    pub fn note(&self, key: &[u8]) -> Option<Vec<u8>> {
        (self.interval > 0).then(|| self.kind.note(self.interval, key))
    }

    /// What lies in the store of `space`, or of that what has been noted, goes to `section` of `out`, as it is now.
    pub fn begin(&mut self, space: &Space, out: &Groups, section: Section, whole: bool) {
        // Before the first nothing has been noted.
        let whole = whole || self.interval == 0;
        match space.store.snapshot() {
            Ok(snapshot) => {
                let (kind, interval, out) = (self.kind, self.interval, out.clone());
                let (records, notes) = (whole.then(|| vec![kind.records]), kind.notes_of(interval));
                self.flight = Some(Flight { kind, snapshot, records, whole, notes, interval, out, section });
            }
            Err(error) => space.report(error),
        }
        self.interval += 1;
    }

    /// One begins of which there is nothing here.
    pub fn pass(&mut self) {
        self.interval += 1;
    }

    /// Goes on with it, as far as `left` allows; whether all is written. `changes` are written too.
    pub fn more(&mut self, space: &Space, changes: &mut Changes, left: &mut usize) -> bool {
        let Some(mut flight) = self.flight.take() else { return true };
        let mut more = Ok(true);
        while *left > 0 && matches!(more, Ok(true)) {
            more = flight.more(left, changes).and_then(|more| space.store.write(changes).map(|()| more));
            changes.clear();
        }
        match more {
            Ok(true) => {
                self.flight = Some(flight);
                false
            }
            Ok(false) => true,
            // The job ends.
            Err(error) => {
                space.report(error);
                true
            }
        }
    }
}

/// A checkpoint being written.
struct Flight {
    kind: Kind,
    snapshot: Box<dyn StateRead>,
    /// Of a whole one, from where records have not been written.
    records: Option<Vec<u8>>,
    whole: bool,
    /// From where notes have not been removed; of one of changes what they name is written before.
    notes: Vec<u8>,
    interval: u32,
    out: Groups,
    section: Section,
}

/// The first key behind `key`.
pub(super) fn behind(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

fn group_of(key: &[u8]) -> Option<usize> {
    let (group, _) = key.get(1..)?.split_first_chunk()?;
    Some(u16::from_be_bytes(*group).into())
}

impl Flight {
    /// Goes on, as far as `left` allows; whether there is more to do. `changes` are to be made in the store.
    fn more(&mut self, left: &mut usize, changes: &mut Changes) -> Result<bool> {
        match &self.records {
            Some(_) => self.write_all(left),
            None => self.write_noted(left, changes),
        }
    }

    /// Writes records of a whole checkpoint. Always `true`: there is more to do, in [`Flight::write_noted`] at least.
    fn write_all(&mut self, left: &mut usize) -> Result<bool> {
        let Flight { kind, snapshot, records, out, section, .. } = self;
        let Some(from) = records else { return Ok(true) };
        let mut next = None;
        snapshot.scan(&from.clone(), &[kind.records + 1], &mut |key, value| {
            *left = left.saturating_sub(COST);
            if let Some((group, (_, records))) = group_of(key).zip(kind.apart(value)) {
                out.put_records(section, group, records);
                *left = left.saturating_sub(cost(records).saturating_sub(COST));
            }
            next = (*left == 0).then(|| behind(key));
            next.is_none()
        })?;
        *records = next;
        Ok(true)
    }

    /// Writes records that have been noted, unless all have been written, and removes the notes. Whether there is more to do.
    fn write_noted(&mut self, left: &mut usize, changes: &mut Changes) -> Result<bool> {
        let Flight { kind, snapshot, whole, notes, interval, out, section, .. } = self;
        let (mut noted, end) = (Vec::new(), kind.notes_of(*interval + 1));
        snapshot.scan(&notes.clone(), &end, &mut |key, _| {
            noted.push(key.to_vec());
            *left = left.saturating_sub(COST);
            *left > 0 && noted.len() < CHUNK
        })?;
        let mut found = Vec::new();
        for note in &noted {
            let key = [&[kind.records], note.get(5..).unwrap_or_default()].concat();
            if let Some(group) = group_of(&key)
                && !*whole
                && snapshot.get(&key, &mut found)?
                && let Some((_, records)) = kind.apart(&found)
            {
                out.put_records(section, group, records);
                *left = left.saturating_sub(cost(records).saturating_sub(COST));
            }
            changes.remove(note);
            *notes = behind(note);
        }
        Ok(!noted.is_empty())
    }
}
