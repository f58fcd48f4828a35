//! What the user says: which types became which.

use crate::checkpoint::Checkpoints;
use crate::state::schema;
use crate::state::shape::{Fault, put, take};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use std::sync::Arc;

/// Takes a value of the older type from the front, and appends one of the newer.
pub(super) type Convert = Arc<dyn Fn(&mut &[u8], &mut Vec<u8>) -> Result<(), Fault> + Send + Sync>;

/// What the user says: whose state, from which type to which, and how.
#[derive(Clone)]
pub(crate) struct Upgrade {
    pub(super) of: String,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) convert: Convert,
}

impl Upgrade {
    /// Of the state `of`, by `convert`.
    pub fn new<A, B>(of: String, convert: impl Fn(A) -> Result<B, String> + Send + Sync + 'static) -> Self
    where
        A: DeserializeOwned + 'static,
        B: Serialize + DeserializeOwned,
    {
        let convert =
            move |bytes: &mut &[u8], out: &mut Vec<u8>| convert(take(bytes)?).and_then(|new| put(&new, out));
        Upgrade { of, old: schema::<A>(), new: schema::<B>(), convert: Arc::new(convert) }
    }
}

impl Checkpoints {
    /// Keyed state that was of type `A` when the checkpoint was taken becomes state of type `B`. `of` says whose: an operator by its
    /// id, `balances/process`, all of a `let` by its name, `balances`, or one of the states of a process, `balances/process/last`, and of
    /// the sides of a join, `joined/join/left`.
    ///
    /// `A` is found wherever the state has changed: as the whole value, as an accumulator or a record of a window, as a row of a join, as one of
    /// the states of a process, and inside lists, options, tuples, structs and as values of maps. Of an `A` that the program of then called
    /// otherwise only the name may differ. Several upgrades of one state lead on from each other, from the type of the checkpoint to that of
    /// now. One that is not needed does nothing, so it may stay for as long as there are checkpoints from before.
    ///
    /// Keys cannot change, nor what is kept beside keyed state: positions of sources, `take`, and the like.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize, Default)]
    /// struct Balance { cents: i64, bookings: u32 }
    ///
    /// let folder = tempfile::tempdir().unwrap();
    /// let checkpoints = Checkpoints::to(folder.path())
    ///     // Until version 1.2 the state was a number of cents.
    ///     .upgrade("balances/process", |cents: i64| Balance { cents, bookings: 0 });
    /// # let _ = checkpoints;
    /// ```
    pub fn upgrade<A, B>(
        self,
        of: impl Into<String>,
        convert: impl Fn(A) -> B + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + 'static,
        B: Serialize + DeserializeOwned + 'static,
    {
        self.with_upgrade(Upgrade::new(of.into(), move |old| Ok(convert(old))))
    }

    /// The same with a conversion that can fail: then the job does not start, and says which key it was.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// let folder = tempfile::tempdir().unwrap();
    /// let checkpoints = Checkpoints::to(folder.path())
    ///     .try_upgrade("totals/sum", |total: i64| u64::try_from(total));
    /// # let _ = checkpoints;
    /// ```
    pub fn try_upgrade<A, B, E: std::fmt::Display>(
        self,
        of: impl Into<String>,
        convert: impl Fn(A) -> Result<B, E> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + 'static,
        B: Serialize + DeserializeOwned + 'static,
    {
        self.with_upgrade(Upgrade::new(of.into(), move |old| convert(old).map_err(|error| error.to_string())))
    }

    fn with_upgrade(mut self, upgrade: Upgrade) -> Self {
        self.upgrades.push(upgrade);
        self
    }
}
