//! What a pipeline's mode asks of its state.
//!
//! A volatile pipeline keeps values of any type. A durable one writes them down, in the postcard format, so they have to
//! be serialisable; the bound that says so is this trait with the mode as its parameter.

use super::codec;
use super::shape::states_of;
use crate::error::{Error, ErrorKind, Result};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use std::cell::Cell;

/// State lives as long as the job: any type will do.
#[derive(Debug, Clone, Copy)]
pub struct Volatile;

/// State survives the job, so it has to be serialisable; and what leaves the pipeline counts exactly once.
#[derive(Debug, Clone, Copy)]
pub struct Durable;

/// State survives the job, so it has to be serialisable; what leaves the pipeline may be seen again after a restart.
#[derive(Debug, Clone, Copy)]
pub struct AtLeastOnce;

/// State is written down once, at the end of the input, for a stream that goes on from there.
#[derive(Debug, Clone, Copy)]
pub struct Exported;

/// What becomes of a pipeline's state: [`Volatile`], [`Durable`], [`AtLeastOnce`] or [`Exported`].
pub trait Mode: Send + 'static {
    /// Whether the end of the input is only where a stream goes on.
    const IS_EXPORTED: bool = false;
    /// Holds a `T` where state is written down, and takes no place where it is not: what only checkpoints need costs a
    /// volatile pipeline nothing.
    #[doc(hidden)]
    type Only<T: Default + Send>: Only<T> + Send;
}
impl Mode for Volatile {
    type Only<T: Default + Send> = Nothing;
}
impl Mode for Durable {
    type Only<T: Default + Send> = Just<T>;
}
impl Mode for AtLeastOnce {
    type Only<T: Default + Send> = Just<T>;
}
impl Mode for Exported {
    const IS_EXPORTED: bool = true;
    type Only<T: Default + Send> = Just<T>;
}

/// The modes in which state is written down.
pub trait Written: Mode {}
impl Written for Durable {}
impl Written for AtLeastOnce {}
impl Written for Exported {}

/// Whether state of mode `M` is written down: known at compile time.
#[inline(always)]
pub(crate) fn is_written<M: Mode>() -> bool {
    M::Only::<()>::default().look().is_some()
}

/// A `T`, or nothing; which is known at compile time.
pub trait Only<T>: Default {
    /// The `T`.
    fn get(&mut self) -> Option<&mut T>;
    /// The same, to look at.
    fn look(&self) -> Option<&T>;
}

/// No `T`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

/// A `T`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Just<T>(T);

impl<T> Only<T> for Nothing {
    #[inline(always)]
    fn get(&mut self) -> Option<&mut T> {
        None
    }
    #[inline(always)]
    fn look(&self) -> Option<&T> {
        None
    }
}

impl<T: Default> Only<T> for Just<T> {
    #[inline(always)]
    fn get(&mut self) -> Option<&mut T> {
        Some(&mut self.0)
    }
    #[inline(always)]
    fn look(&self) -> Option<&T> {
        Some(&self.0)
    }
}

/// A type that state of a pipeline in mode `M` may have.
///
/// ```
/// use flow_core::state::{Durable, Keep, Volatile};
/// let mut bytes = Vec::new();
/// Keep::<Durable>::write(&(7u32, "x".to_string()), &mut bytes).unwrap();
/// let mut rest = &bytes[..];
/// let back = <(u32, String) as Keep<Durable>>::read(&mut rest).unwrap();
/// assert_eq!((back, rest.len()), ((7, "x".to_string()), 0));
/// assert!(Keep::<Volatile>::write(&std::rc::Rc::new(7), &mut bytes).is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be state of a checkpointed pipeline: it cannot be written down and read back",
    label = "state of type `{Self}`",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it",
    note = "a function over any stream that keeps state says `K: Kind<Mode = flow_core::op::kind::Volatile>`"
)]
pub trait Keep<M>: Sized + 'static {
    /// Appends the value to `out`.
    ///
    /// # Errors
    /// When the mode keeps no state, or the value cannot be written.
    fn write(&self, out: &mut Vec<u8>) -> Result<()>;
    /// Runs what writes or reads state, `f`. In a mode that keeps none this fails, and `f` is not even compiled.
    ///
    /// # Errors
    /// When the mode keeps no state, and what `f` reports.
    fn kept(f: impl FnOnce() -> Result<()>) -> Result<()>;
    /// Takes a value from the front of `bytes`.
    ///
    /// # Errors
    /// When the mode keeps no state, or the bytes are not of this type.
    fn read(bytes: &mut &[u8]) -> Result<Self>;
    /// What the type looks like when it is written down; `None` in a mode that does not. See [`schema`](super::schema()).
    ///
    /// # Errors
    /// When what is written of the type is not what is read: it could never be restored.
    fn schema() -> Result<Option<String>>;
}

/// Of how many keys that a thread writes each is tried, and each how manieth of those that follow.
const TRIED_FIRST: u32 = 1024;
const TRIED_EACH: u32 = 32;

thread_local! {
    static KEYS_WRITTEN: Cell<u32> = const { Cell::new(0) };
}

/// Writes a key. Of some it is looked whether what is read back is the same key: others would be taken for one when they are restored.
///
/// # Errors
/// When it cannot be written, or is another key when it is read.
#[inline]
pub(crate) fn write_key<M, K: Keep<M>>(
    key: &K,
    hash_of: impl Fn(&K) -> u64,
    out: &mut Vec<u8>,
) -> Result<()> {
    let from = out.len();
    key.write(out)?;
    let n = KEYS_WRITTEN.get();
    KEYS_WRITTEN.set(if n < TRIED_FIRST + TRIED_EACH { n + 1 } else { TRIED_FIRST + 1 });
    if n < TRIED_FIRST || n == TRIED_FIRST + TRIED_EACH {
        try_key::<M, K>(hash_of(key), hash_of, &out[from..])?;
    }
    Ok(())
}

#[inline(never)]
fn try_key<M, K: Keep<M>>(hash: u64, hash_of: impl Fn(&K) -> u64, bytes: &[u8]) -> Result<()> {
    let back = K::read(&mut &*bytes)?;
    let mut again = Vec::new();
    back.write(&mut again)?;
    if hash_of(&back) == hash && again == bytes { Ok(()) } else { Err(other_key(std::any::type_name::<K>())) }
}

#[cold]
fn other_key(name: &str) -> Error {
    let what = format!(
        "a key of the type `{name}` is another one when it has been written to a checkpoint and read back"
    );
    Error::new(ErrorKind::State, what).note(
        "all that tells keys apart has to be written, and equal keys in the same way: no `#[serde(skip)]` on what `Eq` and `Hash` look at, no hash set inside",
    )
}

/// What keyed state looks like in checkpoints, empty where it does not stand in any: `key -> value`.
pub(crate) fn schema_of<K: Keep<M>, V: Keep<M>, M>() -> Result<String> {
    let both = K::schema()?.zip(V::schema()?);
    Ok(both.map_or_else(String::new, |(key, value)| format!("{key} -> {value}")))
}

/// The same of a process, whose states have names where these are not empty.
pub(crate) fn schema_of_states<K: Keep<M>, V: Keep<M>, M>(names: &[String]) -> Result<String> {
    let both = K::schema()?.zip(V::schema()?);
    Ok(both.map_or_else(String::new, |(key, states)| format!("{key} -> {}", states_of(states, names))))
}

/// The same of state of two parts: `key -> one, other`.
pub(crate) fn schema_of_two<K: Keep<M>, V: Keep<M>, W: Keep<M>, M>() -> Result<String> {
    and_schema::<W, M>(schema_of::<K, V, M>()?)
}

/// A schema with another value in it.
pub(crate) fn and_schema<W: Keep<M>, M>(one: String) -> Result<String> {
    Ok(W::schema()?.map_or_else(String::new, |other| format!("{one}, {other}")))
}

#[diagnostic::do_not_recommend]
impl<T: 'static> Keep<Volatile> for T {
    fn write(&self, _: &mut Vec<u8>) -> Result<()> {
        Err(volatile())
    }
    fn kept(_: impl FnOnce() -> Result<()>) -> Result<()> {
        Err(volatile())
    }
    fn read(_: &mut &[u8]) -> Result<Self> {
        Err(volatile())
    }
    fn schema() -> Result<Option<String>> {
        Ok(None)
    }
}

#[cold]
fn volatile() -> Error {
    Error::new(ErrorKind::State, "a volatile pipeline does not write its state down")
}

#[diagnostic::do_not_recommend]
impl<M: Written, T: Serialize + DeserializeOwned + 'static> Keep<M> for T {
    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        codec::append(self, out).map_err(|e| not_done(std::any::type_name::<T>(), "written", &e))
    }
    fn kept(f: impl FnOnce() -> Result<()>) -> Result<()> {
        f()
    }
    fn read(bytes: &mut &[u8]) -> Result<Self> {
        let (value, rest) =
            codec::take(bytes).map_err(|e| not_done(std::any::type_name::<T>(), "read", &e))?;
        *bytes = rest;
        Ok(value)
    }
    fn schema() -> Result<Option<String>> {
        super::schema::tried::<T>().map(Some).map_err(|why| not_kept(std::any::type_name::<T>(), why))
    }
}

#[cold]
fn not_done(name: &str, what: &str, why: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::State, format!("a value of the type `{name}` cannot be {what}: {why}"))
}

#[cold]
fn not_kept(name: &str, why: &str) -> Error {
    let what = format!("state of the type `{name}` could not be restored from a checkpoint: {why}");
    Error::new(ErrorKind::Plan, what).note("without these attributes it can be kept")
}
