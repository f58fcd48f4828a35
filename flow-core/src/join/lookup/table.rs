//! The right side: its rows by key, which only become more until the table is whole, and are only looked at from then on.
//!
//! ```text
//! key -> count right^count        little-endian: u32
//! ```

use super::packed::{Packed, prefetch_all};
use crate::checkpoint::Groups;
use crate::checkpoint::records::Part;
use crate::error::Result;
use crate::exchange::hash_key;
use crate::op::Key;
use crate::state::{Form, Keep, Mode, Pane, Space, is_written, read_all};
use crate::window::saved::take;
use std::borrow::Cow;

/// Rows that are read anew each time where they are not in memory.
const FEW: usize = 64;

/// The rows of a key. Most have one, which then lies in the table itself.
#[derive(Clone)]
pub(super) enum Rights<R> {
    One(R),
    Many(Vec<R>),
}

impl<R> Rights<R> {
    fn push(&mut self, right: R) {
        match self {
            Rights::Many(all) => all.push(right),
            Rights::One(_) => {
                let few = Rights::Many(Vec::with_capacity(4));
                if let (Rights::One(first), Rights::Many(all)) = (std::mem::replace(self, few), self) {
                    all.extend([first, right]);
                }
            }
        }
    }

    fn as_slice(&self) -> &[R] {
        match self {
            Rights::One(right) => std::slice::from_ref(right),
            Rights::Many(all) => all,
        }
    }

    fn write<M>(&self, out: &mut Vec<u8>) -> Result<()>
    where
        R: Keep<M>,
    {
        let rights = self.as_slice();
        out.extend_from_slice(&u32::try_from(rights.len()).unwrap_or(u32::MAX).to_le_bytes());
        rights.iter().try_for_each(|right| right.write(out))
    }

    fn read<M>(mut value: &[u8]) -> Result<Self>
    where
        R: Keep<M>,
    {
        let count = u32::from_le_bytes(take(&mut value)?);
        if count == 1 {
            return Ok(Rights::One(R::read(&mut value)?));
        }
        Ok(Rights::Many((0..count).map(|_| R::read(&mut value)).collect::<Result<_>>()?))
    }
}

/// See the module. Where nothing is written down the rows are [`Packed`].
pub(super) struct Table<Q, R, M: Mode> {
    packed: Packed<Q, R>,
    kept: Kept<Q, R, M>,
}

/// The rows by key, in a pipeline that writes them down.
type Kept<Q, R, M> = Pane<Q, Rights<R>, M>;

impl<Q: 'static, R, M: Mode> Default for Table<Q, R, M> {
    fn default() -> Self {
        Table { packed: Packed::default(), kept: Pane::default() }
    }
}

/// The rows found, or copies where they are not in memory.
pub(super) enum Found<'a, R> {
    Here(&'a [R]),
    Read(Rights<R>),
}

impl<R> Found<'_, R> {
    #[inline(always)]
    pub fn as_slice(&self) -> &[R] {
        match self {
            Found::Here(rights) => rights,
            Found::Read(rights) => rights.as_slice(),
        }
    }
}

impl<Q: Key, R: Clone + Send + 'static, M: Mode> Table<Q, R, M> {
    /// Where the job has a state backend: what is too much for the memory goes there.
    pub fn open(&mut self, space: Option<Space>) -> Result<()>
    where
        Q: Keep<M>,
        R: Keep<M>,
    {
        let form = Form {
            write: |rights: &Rights<R>, out| rights.write::<M>(out),
            beside: |_, _| (),
            read: |value, _| Rights::read::<M>(value),
        };
        self.kept.spill_alone(space, hash_key, form)
    }

    #[inline]
    pub fn add(&mut self, hash: u64, key: Q, right: R) {
        if !is_written::<M>() {
            return self.packed.add(hash, key, right);
        }
        let (mut right, is) = (Some(right), |k: &Q| *k == key);
        let insert = || (key.clone(), right.take().map_or_else(|| Rights::Many(Vec::new()), Rights::One));
        let (_, rights) = self.kept.entry(hash, is, insert, &hash_key);
        if let Some(right) = right {
            rights.push(right);
        }
    }

    /// The table is whole: from now on it is only looked at.
    pub fn settle(&mut self) {
        self.packed.settle();
    }

    #[inline]
    pub fn find(&mut self, hash: u64, key: &Q) -> Option<Found<'_, R>> {
        if !is_written::<M>() {
            return self.packed.find(hash, key).map(Found::Here);
        }
        if self.kept.is_scattered() {
            bring(&mut self.kept, hash, key);
        }
        Some(match self.kept.look(hash, |k| k == key)? {
            Cow::Borrowed(rights) => Found::Here(rights.as_slice()),
            Cow::Owned(rights) => Found::Read(rights),
        })
    }

    /// Asks for the memory of a key's entry.
    #[inline(always)]
    pub fn prefetch(&mut self, hash: u64, key: &Q) {
        if is_written::<M>() { self.kept.prefetch(hash) } else { self.packed.prefetch(hash, key) }
    }

    /// The same of its rows, when that has come.
    #[inline(always)]
    pub fn prefetch_rows(&self, hash: u64, key: &Q) {
        if is_written::<M>() {
            self.kept.likely(hash).into_iter().for_each(|rights| prefetch_all(rights.as_slice()));
        } else {
            self.packed.prefetch_rows(hash, key);
        }
    }

    pub fn begin_save(&mut self, out: &Groups, name: &[u8]) -> Result<()>
    where
        Q: Keep<M>,
        R: Keep<M>,
    {
        let section = out.section(Part::Head, name, &[]);
        let value = |rights: &Rights<R>, out: &mut Vec<u8>| rights.write::<M>(out);
        self.kept.begin_save_as(out, section, out.is_whole(), hash_key, value)
    }

    pub fn save_more(&mut self, left: &mut usize) -> bool {
        self.kept.save_more(left)
    }

    /// Takes back an entry that [`Table::begin_save`] wrote.
    pub fn restore(&mut self, key: &[u8], value: &[u8]) -> Result<()>
    where
        Q: Keep<M>,
        R: Keep<M>,
    {
        let key = read_all::<M, Q>(key)?;
        let (hash, rights) = (hash_key(&key), Rights::read::<M>(value)?);
        self.kept.entry(hash, |k| *k == key, || (key.clone(), rights), &hash_key);
        Ok(())
    }
}

/// Gets the rows of a key back into memory where they are many: who leaves some of them for later asks again.
#[cold]
#[inline(never)]
fn bring<Q: Key, R: Clone, M: Mode>(kept: &mut Kept<Q, R, M>, hash: u64, key: &Q) {
    if let Some(Cow::Owned(rights)) = kept.look(hash, |k| k == key)
        && rights.as_slice().len() > FEW
    {
        kept.entry(hash, |k| k == key, || (key.clone(), rights), &hash_key);
    }
}
