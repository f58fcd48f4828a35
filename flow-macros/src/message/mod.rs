//! Every sentence the macro can say, in one place to proof-read: lower-case, no period at the end; the text says
//! what is wrong, the help what to write instead.

mod chains;
mod closures;
mod durations;
mod joins;
mod names;
mod process;
mod sides;
mod text;
mod windows;

pub(crate) use self::chains::*;
pub(crate) use self::closures::*;
pub(crate) use self::durations::*;
pub(crate) use self::joins::*;
pub(crate) use self::names::*;
pub(crate) use self::process::*;
pub(crate) use self::sides::*;
pub(crate) use self::text::*;
pub(crate) use self::windows::*;
