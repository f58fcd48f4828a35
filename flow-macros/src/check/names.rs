//! Streams by name: each is consumed, none hides in a closure, no two operators share an id.

use super::calls;
use crate::diag::Diagnostics;
use crate::graph::{Graph, InBody, Origin};
use crate::message;
use std::collections::HashSet;

/// `let a = source(…);` and nothing reads `a`: what it computes would be thrown away. A side may be ignored by
/// name: `let (even, _odd) = …`.
pub(super) fn every_stream_is_consumed(graph: &Graph, diagnostics: &mut Diagnostics) {
    for stream in &graph.streams {
        let is_side = matches!(stream.made_by, Origin::Side(_));
        let ignored = is_side && stream.name.to_string().starts_with('_');
        // a `let` of a sink, and a stream that a closure holds, have messages of their own
        let ended = stream.node.is_some_and(|node| graph.node(node).is_terminal());
        let held = graph.in_closures.iter().any(|(name, _)| *name == stream.name);
        let meant = graph.meant.iter().any(|name| stream.name == name);
        let used = !stream.uses.is_empty() || stream.elsewhere || !stream.is_users();
        if used || stream.flow.tainted || ignored || ended || held || meant {
            continue;
        }
        let message = if is_side { message::side_never_consumed } else { message::never_consumed };
        diagnostics.error(&stream.name, message(&stream.name));
    }
}

/// `.named("x")` twice: metrics, errors and state could not tell the two apart.
pub(super) fn ids_are_unique(graph: &Graph, diagnostics: &mut Diagnostics) {
    let mut given: HashSet<String> = HashSet::new();
    for (_, call, _) in calls(graph).filter(|(_, _, row)| row.name == "named") {
        if let Some(id) = crate::graph::literal_text(call)
            && !given.insert(id.clone())
        {
            diagnostics.error_at(call.name.span(), call.name.span(), message::duplicate_id(&id));
        }
    }
}

/// `a.filter(|x| b.contains(x))` with a stream `b`: a closure sees one record, never another stream.
pub(super) fn closures_hold_no_streams(graph: &Graph, diagnostics: &mut Diagnostics) {
    for (name, operator) in &graph.in_closures {
        diagnostics.error(name, message::stream_in_closure(name, operator));
    }
    for InBody { name, stream, operator, .. } in &graph.in_bodies {
        if graph.stream(*stream).uses.len() > 1 {
            diagnostics.error(name, message::shared_in_body(name, operator));
        }
    }
}
