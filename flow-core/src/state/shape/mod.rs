//! What state looks like in a checkpoint, read from the text of its schema: so bytes can be shown, made and converted without their types.
//!
//! | to see | look at |
//! |---|---|
//! | the words of schemas | `words.rs`: all that there is without the feature `state-processor` |
//! | the text, and how it is read | [`schema`](super::schema()), `node.rs`, `parse.rs` |
//! | which bytes an operator writes beside keys and values | `layout.rs` |
//! | bytes as JSON, and back | `decode.rs`, `encode.rs`, `json.rs` |

mod words;
#[cfg(not(feature = "state-processor"))]
pub(crate) use words::is_same;
pub(crate) use words::{Kind, name_text, on_the_clock, states_of};

/// What reads schemas: most of a library's users never do, and all of them would wait for it.
#[cfg(feature = "state-processor")]
mod reading {
    pub(crate) use super::decode::{decode, skip, take, take_length};
    pub(crate) use super::encode::{encode, put};
    pub(crate) use super::layout::{Area, Layout, Section, State, Value, list_of, lists_in};
    pub(crate) use super::node::{DEPTH_MAX, Defs, Fault, Fields, Int, Node, plain, same, text};
    pub(crate) use super::parse::{state, type_of};
}
#[cfg(feature = "state-processor")]
pub(crate) use reading::*;

#[cfg(feature = "state-processor")]
mod decode;
#[cfg(feature = "state-processor")]
mod encode;
#[cfg(feature = "state-processor")]
pub(crate) mod json;
#[cfg(feature = "state-processor")]
mod layout;
#[cfg(feature = "state-processor")]
mod node;
#[cfg(feature = "state-processor")]
mod parse;
#[cfg(test)]
#[cfg(feature = "state-processor")]
mod tests;
