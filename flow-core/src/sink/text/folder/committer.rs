//! Who gives staged files their names: with each checkpoint, or at the end of a job that takes none.

use super::place::{Claim, Place};
use super::staged::{StagedPart, abort, commit, decode, sync};
use crate::checkpoint::Committer;
use crate::error::Result;
use crate::sink::sink_error;
use crate::stage::Commit;
use std::sync::Arc;

/// Commits with checkpoints.
pub(super) struct FolderCommitter {
    place: Arc<Place>,
    claim: Option<Arc<Claim>>,
    /// A sync has failed: nobody knows which names are on the disk. The next start commits again before it reads anything, as long as
    /// no later checkpoint is complete: so there must be none.
    broken: Option<String>,
}

impl FolderCommitter {
    pub fn new(place: Arc<Place>) -> Self {
        FolderCommitter { place, claim: None, broken: None }
    }
}

impl Committer for FolderCommitter {
    fn commit(&mut self, checkpoint: u64, _: u32, staged: &[u8]) -> Result<()> {
        if let Some(broken) = &self.broken {
            return Err(sink_error(broken));
        }
        let folder = self.place.folder();
        let (was, parts) = decode(staged).map_err(|what| {
            let what = format!(
                "{}: what checkpoint {checkpoint} says of staged files cannot be read: {what}",
                folder.display()
            );
            sink_error(what).note("it was written by another sink, or by a newer version of this one")
        })?;
        commit(folder, &was, checkpoint, &parts)?;
        sync(folder, &parts).inspect_err(|error| self.broken = Some(error.message().to_owned()))
    }

    fn abort(&mut self, _: u64, _: u32, staged: &[u8]) {
        if let Ok((_, parts)) = decode(staged) {
            abort(self.place.folder(), &parts);
        }
    }

    fn recover(&mut self, checkpoint: u64) -> Result<()> {
        self.claim = None;
        self.claim = Some(self.place.recover(checkpoint)?);
        Ok(())
    }
}

/// What an instance has written in a job without checkpoints. Dropped before it is committed, it is removed.
pub(super) struct AtTheEnd {
    pub claim: Arc<Claim>,
    pub parts: Vec<StagedPart>,
}

impl Commit for AtTheEnd {
    fn commit(mut self: Box<Self>) -> Result<()> {
        // From here on nothing is taken back: some may have their names.
        let parts = std::mem::take(&mut self.parts);
        let folder = self.claim.folder();
        let done = commit(folder, &folder.to_string_lossy(), 0, &parts).and_then(|()| sync(folder, &parts));
        done.map_err(|error| {
            error.note("what has not been renamed stands beside, under hidden names that end in `.staged`")
        })
    }

    fn abort(self: Box<Self>) {}
}

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        abort(self.claim.folder(), &self.parts);
    }
}
