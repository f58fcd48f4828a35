//! Reading the text.

use crate::diag::Message;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::Attribute;

pub(crate) fn not_a_pipeline() -> Message {
    Message::new("this is not a pipeline")
        .help("a pipeline is declared as `pub fn name(parameters) { … }`, with nothing between two of them")
}

pub(crate) fn qualified_pipeline(word: &str) -> Message {
    Message::new(format!("a pipeline cannot be `{word}`"))
        .help(format!("remove `{word}`: the function only builds a job"))
}

pub(crate) fn pipeline_returns(name: &Ident) -> Message {
    Message::new(format!(
        "pipeline `{name}` declares a result, but a pipeline's function always returns a `Job`"
    ))
    .help("remove the `-> …`; results leave a pipeline through a sink, such as `.collect(&collected)`")
}

pub(crate) fn pipeline_self() -> Message {
    Message::new("a pipeline has no `self`").help("pass what it needs as a parameter")
}

pub(crate) fn not_a_guarantee(word: &str) -> Message {
    let message = match word {
        "exactly_once" => {
            return Message::new("exactly once needs no word here").help("write `#[checkpointed]`");
        }
        "" => Message::new("`checkpointed` is followed by nothing, or by one word in parentheses"),
        word => Message::new(format!("`{word}` is nothing that `checkpointed` knows")),
    };
    message.help("write `#[checkpointed]`, after which each result counts exactly once, or `#[checkpointed(at_least_once)]`; where the checkpoints go the job is told: `job.checkpoints(Checkpoints::to(folder))`")
}

pub(crate) fn was_no_name() -> Message {
    Message::new("`was` takes the name that this `let` had").help("write `#[was(old)] let new = …`")
}

pub(crate) fn was_without_name() -> Message {
    Message::new("`was` says what a `let` was called, and this is none")
        .help("write `#[was(old)] let new = …`")
}

pub(crate) fn was_again() -> Message {
    Message::new("a `let` has had one name at the last checkpoint").help("keep the `was` with that name")
}

pub(crate) fn stream_attribute(attr: &Attribute) -> Message {
    let name = crate::text::text(attr.path().to_token_stream());
    let message = Message::new(format!("`{name}` is nothing that a stream obeys: nothing would come of it"));
    match name.as_str() {
        "cfg" | "cfg_attr" => message
            .help("write `cfg` before the whole pipeline, or choose in plain Rust what the stream gets"),
        "allow" | "expect" | "warn" | "deny" | "forbid" => {
            message.help("write it before the whole pipeline, or inside the closure it is about")
        }
        "checkpointed" | "strict" | "max_shuffles" | "batch" => {
            message.help("write it before the whole pipeline")
        }
        _ => message.help("remove it; before a stream stands `#[was(old)]` at most"),
    }
}

pub(crate) fn was_for_nothing() -> Message {
    Message::new("`was` says under which name a checkpoint knows the state of this `let`, and this pipeline takes none")
        .help("write `#[checkpointed]` before the pipeline, or remove `#[was(…)]`")
}

pub(crate) fn was_twice(now: &Ident, before: &Ident) -> Message {
    Message::new(format!(
        "`{before}` cannot have become `{now}` too: it became another stream, or had another name itself"
    ))
    .help("rename in two steps, with a checkpoint between them")
}

pub(crate) fn batch_says_no_more() -> Message {
    Message::new("`batch` is followed by nothing, or by `exported` in parentheses")
        .help("write `#[batch]`, or `#[batch(exported)]`, whose state a stream goes on with")
}

pub(crate) fn exported_and_checkpointed() -> Message {
    Message::new("an exported batch writes one savepoint, at its end, and takes no checkpoints").help(
        "write `#[batch(exported)]` here, and `#[checkpointed]` before the pipeline that goes on from it",
    )
}

pub(crate) fn dangling_dot() -> Message {
    Message::new("something is missing after this `.`").help("write an operator, or remove the `.`")
}

pub(crate) fn missing_semicolon() -> Message {
    Message::new("a `;` is missing after this statement").help("add `;`")
}

pub(crate) fn ends_too_early(reason: &str) -> Message {
    let reason = reason.trim_start_matches("unexpected end of input, ");
    Message::new(format!("the statement ends too early: {reason}"))
}

pub(crate) fn not_rust(reason: &str, at: Option<&str>) -> Message {
    let message = Message::new(format!("this statement cannot be read: {reason}"));
    match at {
        Some(":") => message.help("a named argument is written `name = value`"),
        Some(word) => match crate::foreign::instead(word) {
            Some(instead) => message.help(instead),
            None => message,
        },
        None => message,
    }
}

pub(crate) fn without_source(root: &str, is_call: bool) -> Message {
    let message = Message::new(format!("`{root}` is not a stream yet, so this pipeline has none"));
    if is_call {
        message.help(format!("write `source({root})`"))
    } else {
        message.help(format!("begin with a source: `source(from_vec({root}))` for a `Vec`, `source(lines({root}))` for a path; what `lines(…)` and its like have made is `source({root})`"))
    }
}

pub(crate) fn empty_pipeline() -> Message {
    Message::new("this pipeline has no stream").help(
        "begin with a source: `let lines = source(lines(path));`, and end with a sink: `lines.for_each(…);`",
    )
}

pub(crate) fn let_else() -> Message {
    Message::new("a stream always matches its name: `else` has no meaning here")
        .help("remove the `else { … }`")
}

pub(crate) fn stream_pattern() -> Message {
    Message::new("a stream needs a name of its own")
        .help("write `let name = …`, or `let (first, second) = …` for an operator with several streams")
}

pub(crate) fn not_a_chain() -> Message {
    Message::new("a stream statement is a chain of operators; this is not part of one")
        .help("errors are handled inside operators: see `try_map` and `split_result`")
}

pub(crate) fn shuffles_not_a_number() -> Message {
    Message::new("`max_shuffles` takes how many times records may go to other instances")
        .help("write `#[max_shuffles(1)]`")
}

pub(crate) fn too_many_shuffles(most: usize, found: &[String]) -> Message {
    let times = if found.len() == 1 { "once" } else { &format!("{} times", found.len()) };
    Message::new(format!("records go to other instances {times} here, and `max_shuffles` allows {most}"))
        .help(format!("they do so before or at {}", found.join(", ")))
}

pub(crate) fn unknown_attribute() -> Message {
    Message::new("a pipeline's body has no such attribute").help(
        "there are `#![strict]`, which makes warnings errors, `#![max_shuffles(n)]`, `#![checkpointed]`, `#![batch]` and `#![batch(exported)]`",
    )
}
