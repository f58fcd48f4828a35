//! Entries that are looked at where they lie, and stay there.

use super::Over;
use crate::checkpoint::records::{Record, Records};
use crate::state::spill::beginning;

impl<K, V> Over<K, V> {
    /// Some entries that lie in the store from `from` on, which moves on, those of so many hashes at most. They stay there. All stores have one order,
    /// in which entries with one hash come together.
    #[cold]
    #[inline(never)]
    pub(in crate::state) fn show_some(&self, from: &mut Vec<u8>, most: usize) -> Vec<(u64, (K, V))> {
        let mut entries = Vec::new();
        for (hash, bytes) in self.spill.chunk_of(from, most) {
            let done = self.each(&bytes, |over, key, value| {
                entries.push((hash, ((over.read_key)(key)?, (over.form.read)(value, &[])?)));
                Ok(())
            });
            if let Err(error) = done {
                self.spill.space.report(error);
            }
        }
        entries
    }

    /// The value of a key that lies in the store, where it stays.
    #[cold]
    #[inline(never)]
    pub(in crate::state) fn look(&self, hash: u64, is: &dyn Fn(&K) -> bool) -> Option<V> {
        if self.spill.count() == 0 {
            return None;
        }
        let (found, mut value) = (self.spill.look(hash)?, None);
        let done = self.each(&found, |over, key, bytes| {
            if is(&(over.read_key)(key)?) {
                value = Some((over.form.read)(bytes, &[])?);
            }
            Ok(())
        });
        if let Err(error) = done {
            self.spill.space.report(error);
        }
        value
    }

    /// The next entry that lies in the store, which stays there; none when all have been shown, and then it begins again.
    #[cold]
    #[inline(never)]
    pub(in crate::state) fn show(&mut self) -> Option<(K, V)> {
        loop {
            let (bytes, at) = &mut self.shown;
            let mut records = Records(bytes.get(*at..).unwrap_or_default());
            let Some(record) = records.next() else {
                let chunk = self.spill.chunk(&mut self.from);
                *bytes = chunk.iter().flat_map(|(_, bytes)| bytes).copied().collect();
                *at = 0;
                if bytes.is_empty() {
                    self.from = beginning();
                    return None;
                }
                continue;
            };
            *at = bytes.len() - records.0.len();
            let read = record.and_then(|record| match record {
                Record::Put { key, value } => {
                    Ok(Some(((self.read_key)(key)?, (self.form.read)(value, &[])?)))
                }
                _ => Ok(None),
            });
            match read {
                Ok(None) => {}
                Ok(entry) => return entry,
                Err(error) => {
                    self.spill.space.report(error);
                    return None;
                }
            }
        }
    }
}
