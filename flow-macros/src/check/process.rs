//! Processes: states and timers that can work.

use super::{calls, values};
use crate::ast::{Block, block};
use crate::diag::Diagnostics;
use crate::duration::{self, Argument};
use crate::graph::{Domain, Graph};
use crate::message;
use crate::ops::{Closures, Shape};
use proc_macro2::Ident;

/// Each block of a process, whatever it says.
pub(super) fn blocks(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (node, call, _) in calls(graph).filter(|(_, _, row)| row.closures == Closures::Block) {
        for block in values(call).filter_map(block) {
            for (at, message) in &block.mistakes {
                diagnostics.error(at, message.clone());
            }
            if block.mistakes.is_empty() && streams(&call.name, &block, node.input.shape, diagnostics) {
                used(&block, diagnostics);
                lives(&block, node.input.time, diagnostics);
                timers(&call.name, &block, node.input.time, diagnostics);
            }
        }
    }
}

/// Whether it says what is done with the records of the one stream, or of each of both.
fn streams(process: &Ident, block: &Block, shape: Shape, diagnostics: &mut Diagnostics) -> bool {
    let handler = |name: &str| block.handlers.iter().find(|one| one.name == name).map(|one| &one.name);
    let sides = ["on_left", "on_right"];
    if shape == Shape::Beside {
        return beside(process, block, diagnostics);
    }
    let broadcasts = block.shared.as_ref().map(|one| (&one.name, "#[broadcast]"));
    let broadcasts = broadcasts.or(handler("on_broadcast").map(|one| (one, "on_broadcast")));
    if let Some((at, what)) = broadcasts {
        diagnostics.error(at, message::broadcast_of_nothing(what));
        return false;
    }
    if shape == Shape::Connected {
        if let Some(event) = handler("on_event") {
            diagnostics.error(event, message::event_of_two_streams());
            return false;
        }
        let missing = sides.iter().find(|side| !block.has(side));
        if let Some(missing) = missing {
            diagnostics.error(process, message::side_missing(missing));
        }
        return missing.is_none();
    }
    if let Some(side) = sides.iter().find_map(|side| handler(side)) {
        diagnostics.error(side, message::side_of_one_stream(&side.to_string()));
        return false;
    }
    if !block.has("on_event") {
        diagnostics.error(process, message::no_event_handler());
    }
    block.has("on_event")
}

/// The same of a stream beside one that every instance reads.
fn beside(process: &Ident, block: &Block, diagnostics: &mut Diagnostics) -> bool {
    if let Some(side) = block.handlers.iter().find(|one| one.name == "on_left" || one.name == "on_right") {
        diagnostics.error(&side.name, message::broadcast_side(&side.name.to_string()));
        return false;
    }
    let missing = [
        (block.shared.is_some(), message::broadcast_state_missing as fn() -> _),
        (block.has("on_event"), message::no_event_handler),
        (block.has("on_broadcast"), message::broadcast_handler_missing),
    ];
    let missing = missing.into_iter().find(|(has, _)| !has).map(|(_, message)| message());
    let is_whole = missing.is_none();
    if let Some(message) = missing {
        diagnostics.error(process, message);
    }
    is_whole
}

/// A state or a side that no closure mentions.
fn used(block: &Block, diagnostics: &mut Diagnostics) {
    for state in block.states.iter().chain(&block.shared) {
        if !block.mentions(&state.name.to_string()) {
            diagnostics.warning(&state.name, message::state_unused(&state.name));
        }
    }
    for side in &block.sides {
        if !block.mentions(&side.name.to_string()) {
            diagnostics.warning(&side.name, message::side_unused(&side.name));
        }
    }
}

/// `#[ttl(0s)]`, `#[ttl(5)]`, `#[ttl(1h, on = watermark)]` where there is none.
fn lives(block: &Block, time: Domain, diagnostics: &mut Diagnostics) {
    for ttl in block.states.iter().filter_map(|state| state.ttl.as_ref()) {
        let length = &ttl.length;
        match duration::argument(length) {
            Argument::Bare(digits) => diagnostics.error(length, message::duration_without_unit(digits)),
            Argument::Millis(millis) if millis <= 0 => {
                let text = crate::text::text(quote::quote!(#length));
                diagnostics.error(length, message::not_positive("the time to live of a state", &text));
            }
            _ if ttl.on_watermark && time == Domain::None => {
                diagnostics.error(length, message::ttl_without_event_time());
            }
            _ => {}
        }
    }
}

const SETTERS: &[&str] = &["set_timer", "set_interval"];
const CLOCK_SETTERS: &[&str] = &["set_processing_timer", "set_processing_interval"];

/// Timers without event time, timers that are never set, and timers that nobody waits for.
fn timers(process: &Ident, block: &Block, time: Domain, diagnostics: &mut Diagnostics) {
    let sets = |setters: &[&str]| setters.iter().any(|setter| block.mentions(setter));
    for handler in &block.handlers {
        if handler.name == "on_timer" && time == Domain::None {
            diagnostics.error(&handler.name, message::timer_without_event_time());
        } else if handler.name == "on_timer" && !sets(SETTERS) {
            diagnostics.warning(&handler.name, message::timer_never_set("on_timer", SETTERS));
        } else if handler.name == "on_processing_timer" && !sets(CLOCK_SETTERS) {
            let message = message::timer_never_set("on_processing_timer", CLOCK_SETTERS);
            diagnostics.warning(&handler.name, message);
        }
    }
    if sets(SETTERS) && !block.has("on_timer") {
        diagnostics.warning(process, message::timer_for_nothing());
    }
    if sets(CLOCK_SETTERS) && !block.has("on_processing_timer") {
        diagnostics.error(process, message::clock_timer_for_nothing());
    }
}
