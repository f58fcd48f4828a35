//! What of an entry stands in checkpoints, for each instance: `ID (workset)`, the records that are to be given to the body in this superstep, as `workset.rs` writes them; and
//! `ID (turn)`, `state number entered own`: a byte, 0 where the input comes, 1 where it has come; the superstep, how many records have entered
//! it, and how many of the input by this instance, little-endian `u64`s.

use super::super::number::{begin_of, superstep, told_before, watermark};
use super::super::turns::Place;
use super::super::workset::Workset;
use super::{Entry, State, Ways};
use crate::batch::Mark;
use crate::error::Result;
use crate::external::Spill;
use crate::stage::OpenCx;
use crate::stage::own::take;

impl<T: Spill, W: Ways<T>, S> Entry<T, W, S> {
    #[cold]
    pub(super) fn save(&mut self, id: u64) {
        let Entry { records, memory, sets, giver, .. } = self;
        let mut put = |piece| records.put(id, piece);
        put(Vec::new());
        // In the order in which they are given.
        let saved = giver.iter_mut().try_for_each(|giver| giver.save(memory, &mut put));
        let saved = saved.and_then(|()| sets.iter_mut().rev().try_for_each(|set| set.save(memory, &mut put)));
        if let Err(error) = saved {
            return self.fail(error);
        }
        let mut turn = vec![u8::from(!matches!(self.state, State::Input))];
        for number in [self.number(), self.handed.turns.place().entered, self.entered] {
            turn.extend_from_slice(&number.to_le_bytes());
        }
        self.turn.put(id, turn);
    }

    /// Takes back what there was at the checkpoint that the job starts from.
    pub(super) fn take_back(&mut self, cx: &OpenCx) -> Result<()> {
        let mut set = Workset::default();
        let memory = &self.memory;
        self.records.open_with(cx, &mut |bytes| set.restore(bytes, memory))?;
        let own = self.turn.open(cx)?;
        let all = cx.take_back_everywhere(&format!("{} (turn)", self.meta.id()))?;
        let read = |bytes: &Vec<u8>| {
            read_turn(bytes).map_err(|error| self.turn.broken(cx, error.message(), bytes.len()))
        };
        // The other instances stand in the same superstep, and one that is new too.
        let all = all.iter().map(read).collect::<Result<Vec<_>>>()?;
        let own = own.iter().map(read).collect::<Result<Vec<_>>>()?;
        self.entered = own.iter().map(|turn| turn.own).sum();
        let Some(turn) = all.first() else { return Ok(()) };
        all.iter().for_each(|turn| self.handed.turns.resume(turn.place));
        let number = turn.place.number;
        self.begins = begin_of(number, self.handed.first());
        if turn.has_input {
            self.state = State::Giving(number);
            self.sets.push(set);
            if self.instance == 0 {
                let resumed = cx.metrics().counter(&format!("{}.resumed", self.meta.id()));
                resumed.add(superstep(number));
            }
        }
        if let Some(before) = told_before(number, self.handed.first()) {
            // Who is in this stage hears which superstep it is, and who was held up in the body what it had not heard.
            self.next.mark(Mark::Watermark(watermark(before)));
        }
        Ok(())
    }
}

/// What an instance has said of where it stands.
struct Stood {
    has_input: bool,
    place: Place,
    own: u64,
}

fn read_turn(mut bytes: &[u8]) -> Result<Stood> {
    let bytes = &mut bytes;
    let [state] = take(bytes)?;
    let mut next = || -> Result<u64> { Ok(u64::from_le_bytes(take(bytes)?)) };
    let place = Place { number: next()?, entered: next()? };
    Ok(Stood { has_input: state == 1, place, own: next()? })
}
