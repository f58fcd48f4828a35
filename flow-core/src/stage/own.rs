//! What an operator instance keeps beside keyed state: a text of bytes under its own id.
//!
//! A barrier passes through a whole stage at once, so an operator writes down what it has at that moment, records that it holds
//! back among it, and passes the barrier on: it never stands in a queue behind them. The same bytes come back when the operator opens.

use super::{Meta, OpenCx};
use crate::batch::Mark;
use crate::checkpoint::Saves;
use crate::error::{Error, ErrorKind, Result};
use crate::state::Keep;
use crate::unpack::array;

/// Where an operator instance leaves what it keeps, and who it is.
#[derive(Clone)]
pub(crate) struct Own {
    saves: Saves,
    meta: Meta,
    /// Which part of the operator: nothing, or what stands behind its id in brackets.
    part: &'static str,
}

impl Own {
    /// Not open yet: what is saved goes nowhere.
    pub fn new(meta: Meta) -> Self {
        Own::part(meta, "")
    }

    /// What keeps something for the operator `meta` in another stage than that of its id.
    pub fn part(meta: Meta, part: &'static str) -> Self {
        Own { saves: Saves::default(), meta, part }
    }

    fn id(&self) -> String {
        if self.part.is_empty() { self.meta.id() } else { format!("{} ({})", self.meta.id(), self.part) }
    }

    /// The checkpoint for which something is to be written down when this mark passes.
    pub fn at(&self, mark: Mark) -> Option<u64> {
        match mark {
            Mark::Barrier(id) if self.saves.is_on() => Some(id),
            _ => None,
        }
    }

    /// Opens it; what there is from the checkpoint that the job starts from.
    pub fn open(&mut self, cx: &OpenCx) -> Result<Vec<Vec<u8>>> {
        self.saves = cx.saves().clone();
        cx.take_back(&self.id())
    }

    /// The same, given to `back` one by one, which has to use it up.
    pub fn open_with(&mut self, cx: &OpenCx, back: &mut dyn FnMut(&mut &[u8]) -> Result<()>) -> Result<()> {
        for bytes in self.open(cx)? {
            let mut rest = &bytes[..];
            back(&mut rest).map_err(|error| broken(&self.meta, cx, error.message(), bytes.len()))?;
            if !rest.is_empty() {
                let what = format!("{} bytes are left over", rest.len());
                return Err(broken(&self.meta, cx, &what, bytes.len()));
            }
        }
        Ok(())
    }

    /// What values of `T` look like that are kept, where anything is; and whether they can be.
    #[cold]
    pub fn keeps<T: Keep<M>, M>(&self, cx: &OpenCx) -> Result<String> {
        let types = if cx.saves().is_on() { T::schema() } else { Ok(None) };
        types.map(Option::unwrap_or_default).map_err(|error| self.named(error))
    }

    /// Whether the operator ran in as many instances as now, so that each gets what is its own.
    pub fn is_as_before(&self, cx: &OpenCx) -> bool {
        cx.restored()
            .is_some_and(|restored| restored.instances(&self.id()) == Some(cx.context().parallelism()))
    }

    /// Leaves what it keeps at checkpoint `id`.
    pub fn put(&self, id: u64, bytes: Vec<u8>) {
        self.saves.operator(id, &self.id(), bytes);
    }

    /// An error with who the operator is.
    #[cold]
    pub fn named(&self, error: Error) -> Error {
        error.in_stage(self.meta.id()).at(self.meta.at())
    }

    /// See [`broken`].
    #[cold]
    pub fn broken(&self, cx: &OpenCx, what: &str, bytes: usize) -> Error {
        broken(&self.meta, cx, what, bytes)
    }
}

/// The error of an operator that cannot take back `bytes` bytes.
#[cold]
pub(crate) fn broken(meta: &Meta, cx: &OpenCx, what: &str, bytes: usize) -> Error {
    let id = meta.id();
    let what = format!(
        "checkpoint {} has {bytes} bytes of `{id}` that are not what it writes: {what}",
        cx.checkpoint()
    );
    let note = format!(
        "was it another operator, or of other types? To let it begin anew give it another name (`.named(…)`), and say `drop_state(\"{id}\")`"
    );
    Error::new(ErrorKind::State, what).in_stage(id).at(meta.at()).note(note)
}

/// The next `N` bytes of what an operator kept.
pub(crate) fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N]> {
    array(bytes).ok_or_else(|| Error::new(ErrorKind::State, "they are cut short"))
}

/// The next 8 bytes, as a number.
pub(crate) fn take_i64(bytes: &mut &[u8]) -> Result<i64> {
    take(bytes).map(i64::from_le_bytes)
}

/// Where the only checkpoint is that of the end of the input, nothing may be under way there: it would leave once here, and once more where the stream goes on.
///
/// # Errors
/// Names the operator, which cannot wait for that.
#[cold]
pub(crate) fn refuse_at_a_cut(meta: &Meta, cx: &OpenCx, has: &str) -> Result<()> {
    if cx.saves().cut().is_none() {
        return Ok(());
    }
    let what = format!("it has {has}, and the job writes a savepoint at the end of its input");
    let error = Error::new(ErrorKind::Plan, what).in_stage(meta.id()).at(meta.at());
    Err(error.note("do it in a job of its own, whose results this one reads"))
}
