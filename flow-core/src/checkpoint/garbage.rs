//! What is removed, and when.

use super::damage::folder_failed;
use super::known::{self, Known};
use super::names::{At, Kind, Name};
use super::store::Store;
use crate::error::Result;

impl Store {
    /// Removes checkpoints that are not retained, and files that none lists. To be called after the sinks have committed. Returns
    /// how many files went.
    ///
    /// Savepoints stay. Before the first commit nothing goes: the checkpoint that the job goes on from may be an old one. A manifest that
    /// cannot be read stays until as many newer ones as are retained can be, with all state files that it may need.
    ///
    /// # Errors
    /// When a file cannot be removed; the next call tries again.
    pub fn collect_garbage(&mut self) -> Result<usize> {
        self.may_write()?;
        if !self.committed {
            return Ok(0);
        }
        let names = known::names(&*self.storage)?;
        let mut old = self.superseded();
        old.extend(known::manifests(&names).into_iter().filter(|at| self.is_stray(*at)));
        let removed = self.remove_manifests(old)?;
        // On the disk no manifest may outlive its files.
        if self.unsynced {
            let synced = self.storage.sync_folder();
            synced.map_err(|error| folder_failed(&*self.storage, "brought to the disk", &error))?;
            self.unsynced = false;
        }
        let useless = names.into_iter().filter(|name| self.is_useless(*name));
        let (more, fault) = known::remove_all(&*self.storage, useless);
        fault.map_or(Ok(removed + more), Err)
    }

    fn remove_manifests(&mut self, old: Vec<At>) -> Result<usize> {
        let removed = old.len();
        for at in old {
            known::remove(&*self.storage, Name::new(Kind::Manifest, at))?;
            self.known.retain(|known| known.at != at);
            self.unsynced = true;
        }
        Ok(removed)
    }

    /// Whether a manifest came from a process that we have taken over from, after we had looked at what there was. What we have
    /// committed supersedes it.
    fn is_stray(&self, at: At) -> bool {
        at.epoch < self.epoch && !self.known.iter().any(|known| known.at == at)
    }

    /// The manifests that go, oldest first.
    fn superseded(&self) -> Vec<At> {
        let mut readable = 0;
        let mut old = Vec::new();
        for known in self.known.iter().rev() {
            let retained = readable < self.retained || known.savepoint;
            readable += usize::from(known.files.is_some() && !known.savepoint);
            if !retained {
                old.push(known.at);
            }
        }
        old.reverse();
        old
    }

    /// Whether nobody needs a file any more. No manifest is being written now; state files above the newest checkpoint may be.
    fn is_useless(&self, name: Name) -> bool {
        match name.kind {
            Kind::Temp => true,
            Kind::Manifest => false,
            Kind::State => {
                let newest = self.known.iter().map(|known: &Known| known.at).max();
                let begun = name.at.epoch == self.epoch && Some(name.at) > newest;
                !begun && !self.known.iter().any(|known| known.needs(name))
            }
        }
    }
}
