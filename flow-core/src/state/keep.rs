//! What a pipeline's mode asks of its state.
//!
//! A volatile pipeline keeps values of any type. A durable one writes them down, in the postcard format, so they have to
//! be serialisable; the bound that says so is this trait with the mode as its parameter.

use super::codec;
use super::shape::states_of;
use crate::error::{Error, ErrorKind, Result};
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;

/// State lives as long as the job: any type will do.
#[derive(Debug, Clone, Copy)]
pub struct Volatile;

/// State survives the job, so it has to be serialisable; and what leaves the pipeline counts exactly once.
#[derive(Debug, Clone, Copy)]
pub struct Durable;

/// State survives the job, so it has to be serialisable; what leaves the pipeline may be seen again after a restart.
#[derive(Debug, Clone, Copy)]
pub struct AtLeastOnce;

/// What becomes of a pipeline's state: [`Volatile`], [`Durable`] or [`AtLeastOnce`].
pub trait Mode: Send + 'static {
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

/// The modes in which state is written down.
pub trait Written: Mode {}
impl Written for Durable {}
impl Written for AtLeastOnce {}

/// A `T`, or nothing; which is known at compile time.
pub trait Only<T>: Default {
    /// The `T`.
    fn get(&mut self) -> Option<&mut T>;
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
}

impl<T: Default> Only<T> for Just<T> {
    #[inline(always)]
    fn get(&mut self) -> Option<&mut T> {
        Some(&mut self.0)
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
    fn schema() -> Option<String>;
}

/// What keyed state looks like in checkpoints, empty where it does not stand in any: `key -> value`.
pub(crate) fn schema_of<K: Keep<M>, V: Keep<M>, M>() -> String {
    K::schema().zip(V::schema()).map_or_else(String::new, |(key, value)| format!("{key} -> {value}"))
}

/// The same of a process, whose states have names where these are not empty.
pub(crate) fn schema_of_states<K: Keep<M>, V: Keep<M>, M>(names: &[String]) -> String {
    let both = K::schema().zip(V::schema());
    both.map_or_else(String::new, |(key, states)| format!("{key} -> {}", states_of(states, names)))
}

/// The same of state of two parts: `key -> one, other`.
pub(crate) fn schema_of_two<K: Keep<M>, V: Keep<M>, W: Keep<M>, M>() -> String {
    and_schema::<W, M>(schema_of::<K, V, M>())
}

/// A schema with another value in it.
pub(crate) fn and_schema<W: Keep<M>, M>(one: String) -> String {
    W::schema().map_or_else(String::new, |other| format!("{one}, {other}"))
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
    fn schema() -> Option<String> {
        None
    }
}

#[cold]
fn volatile() -> Error {
    Error::new(ErrorKind::State, "a volatile pipeline does not write its state down")
}

#[diagnostic::do_not_recommend]
impl<M: Written, T: Serialize + DeserializeOwned + 'static> Keep<M> for T {
    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        codec::append(self, out)
            .map_err(|e| Error::new(ErrorKind::State, format!("a value cannot be written: {e}")))
    }
    fn kept(f: impl FnOnce() -> Result<()>) -> Result<()> {
        f()
    }
    fn read(bytes: &mut &[u8]) -> Result<Self> {
        let (value, rest) = codec::take(bytes)
            .map_err(|e| Error::new(ErrorKind::State, format!("a value cannot be read: {e}")))?;
        *bytes = rest;
        Ok(value)
    }
    fn schema() -> Option<String> {
        Some(super::schema::<T>())
    }
}
