//! What a checkpointed pipeline asks of names: its state is found again by them.

use crate::ast::{Line, Pipeline, Statement};
use crate::diag::Diagnostics;
use crate::graph::{Graph, Op};
use crate::message;
use proc_macro2::Ident;
use syn::spanned::Spanned;

/// `a.key_by(f).count().key_by(g).count()`: which of the two is `count`, and which `count-2`, depends on the order in which they stand. Sinks
/// are left out: what they have staged says where it belongs.
pub(super) fn states_have_names_of_their_own(ast: &Pipeline, graph: &Graph, diagnostics: &mut Diagnostics) {
    if ast.wishes.checkpointed.is_none() {
        return;
    }
    for node in &graph.nodes {
        let name = node.op.name();
        if node.id.rsplit('/').next() == Some(name.as_str()) || node.input.tainted {
            continue;
        }
        let (at, other) = match &node.op {
            Op::Source(call) => (call.func.span(), "source".to_owned()),
            Op::Call { call, row } if row.is_kept() => (call.name.span(), format!("{}.{name}", node.stream)),
            _ => continue,
        };
        diagnostics.error_at(at, at, message::same_identity(&name, &node.stream, &other));
    }
}

/// `#[was(old)]` stands on a `let` of a checkpointed pipeline, and no two say something of the same name.
pub(super) fn renamed_once(ast: &Pipeline, diagnostics: &mut Diagnostics) {
    let mut known: Vec<(&Ident, &Ident)> = Vec::new();
    for statement in &ast.statements {
        let Statement::Stream(line) = statement else { continue };
        let Some(before) = &line.was else { continue };
        match renamed(line) {
            _ if ast.wishes.checkpointed.is_none() => diagnostics.error(before, message::was_for_nothing()),
            None => diagnostics.error(before, message::was_without_name()),
            Some((now, _)) => known.push((now, before)),
        }
    }
    for (n, (now, before)) in known.iter().enumerate() {
        if known.iter().any(|other| other.0 == *before) || known[..n].iter().any(|other| other.1 == *before) {
            diagnostics.error(before, message::was_twice(now, before));
        }
    }
}

/// The name under which the operators of a line stand, and which it had.
pub(crate) fn renamed(line: &Line) -> Option<(&Ident, &Ident)> {
    Some((line.binding.names().next()?, line.was.as_ref()?))
}
