//! What an operator makes of the stream before it: shape and time, from its row of the table.

use super::{Domain, Flow, Node, Op};
use crate::ast::{Arg, Call};
use crate::ops::{self, Closures, EdgeKind, Input, Operator, Output, Shape, Time};
use crate::text::text;
use syn::{Expr, ExprCall, Lit};

/// The stream behind an operator.
pub(super) fn output(row: &Operator, call: &Call, input: Flow) -> Flow {
    Flow {
        shape: shape(row, input.shape),
        time: time(row, call, input),
        late_side: input.shape != Shape::Joined && late_side(row, call, input),
        // `late = side` of a window without late elements is reported by itself; how many streams are meant is not known then.
        tainted: input.tainted || (row.output == Output::Window && says_side(call) && is_timeless(call)),
        ..input
    }
}

fn shape(row: &Operator, input: Shape) -> Shape {
    match row.output {
        Output::Plain | Output::Sides { .. } | Output::Terminal => Shape::Plain,
        Output::Keyed => Shape::Keyed,
        Output::Same => input,
        Output::Window if input == Shape::Joined => Shape::Plain,
        Output::Window => Shape::Windowed,
        Output::Joined => Shape::Joined,
        Output::Connected => Shape::Connected,
        Output::Beside => Shape::Beside,
        Output::Unknown => Shape::Unknown,
    }
}

fn time(row: &Operator, call: &Call, input: Flow) -> Domain {
    match row.time {
        Time::Keeps if is_on_the_clock(row, call) => Domain::None,
        Time::Keeps if row.output == Output::Window && is_clocked(call) => Domain::None,
        Time::Keeps => input.time,
        Time::Sets => Domain::Event { disordered: !call.named("disorder").is_none_or(is_zero) },
        Time::DropsUnkeyed if input.shape == Shape::Plain => Domain::None,
        Time::Drops => Domain::None,
        Time::DropsUnkeyed => input.time,
        Time::Unknown => Domain::Unknown,
    }
}

/// What a process emits from timers of the clock has no event time.
pub(crate) fn is_on_the_clock(row: &Operator, call: &Call) -> bool {
    block_of(row, call).is_some_and(|block| block.has("on_processing_timer"))
}

fn block_of(row: &Operator, call: &Call) -> Option<crate::ast::Block> {
    call.args.iter().find_map(|arg| match arg {
        Arg::Value(expr) if row.closures == Closures::Block => crate::ast::block(expr),
        _ => None,
    })
}

/// Whether the block of a process has a mistake, which is told by itself.
pub(crate) fn is_mistaken(row: &Operator, call: &Call) -> bool {
    block_of(row, call).is_some_and(|block| !block.mistakes.is_empty())
}

/// The sides of a process, by name.
pub(crate) fn side_names(row: &Operator, call: &Call) -> Vec<String> {
    block_of(row, call)
        .map_or_else(Vec::new, |block| block.sides.iter().map(|one| one.name.to_string()).collect())
}

/// `late = side` holds from the window up to the operator that closes it.
fn late_side(row: &Operator, call: &Call, input: Flow) -> bool {
    let stays_window = row.output == Output::Same;
    match call.named("late") {
        // `global()` and `count(…)` have no late elements
        Some(_) => says_side(call) && !is_timeless(call),
        None => input.late_side && input.shape == Shape::Windowed && stays_window,
    }
}

fn says_side(window: &Call) -> bool {
    matches!(window.named("late"), Some(Expr::Path(path)) if path.path.is_ident("side"))
}

fn is_timeless(window: &Call) -> bool {
    let needs_none = |expr| ops::described(expr).is_some_and(|window| !window.needs_event_time);
    descriptions(window).any(needs_none) || is_clocked(window)
}

fn is_clocked(window: &Call) -> bool {
    descriptions(window).any(ops::is_clocked)
}

fn descriptions(window: &Call) -> impl Iterator<Item = &Expr> {
    window.args.iter().filter_map(|arg| match arg {
        Arg::Value(description) => Some(description),
        Arg::Stream(_) => None,
    })
}

/// How records reach `to`. A key takes effect where something keeps state by it.
pub(super) fn edge(from: &Node, to: &Node) -> EdgeKind {
    match (&from.op, &to.op) {
        (Op::Call { row, .. }, _) if row.is_exchange() => row.edge,
        (_, Op::Call { row, .. }) if row.output == Output::Beside && from.output.shape != Shape::Keyed => {
            EdgeKind::Broadcast
        }
        (_, Op::Call { row, .. }) if row.pairs() => EdgeKind::KeyBy,
        (_, Op::Call { row, .. }) if row.fan_in => EdgeKind::Merge,
        (_, Op::Call { row, .. }) if by_key(row, to.input.shape) => EdgeKind::KeyBy,
        (_, Op::Call { row, .. }) if on_one_instance(row, to.input.shape) => EdgeKind::Global,
        _ => EdgeKind::Fused,
    }
}

/// `distinct` has the record itself as its key. Where the key is dropped, the records of a key are together first.
fn by_key(row: &Operator, input: Shape) -> bool {
    input == Shape::Keyed && (row.stateful || row.drops_key()) || row.name == "distinct"
}

/// Without a key, what sees every record runs once.
fn on_one_instance(row: &Operator, input: Shape) -> bool {
    let folds = row.input == Input::Any && row.stateful;
    row.is_of_all() || input == Shape::Plain && (folds || row.output == Output::Window)
}

/// How many streams come out: (fewest, most) names that a tuple `let` may have.
pub(crate) fn sides(node: &Node) -> Option<(usize, usize)> {
    match &node.op {
        Op::Call { call, row } => match row.output {
            Output::Sides { min, max } => Some((min, max)),
            _ if row.closures == Closures::Block => {
                let sides = side_names(row, call).len();
                (sides > 0).then_some((sides + 1, sides + 1))
            }
            _ if node.input.shape == Shape::Joined => late_side(row, call, node.input).then_some((2, 2)),
            _ if node.input.late_side && node.output.shape != Shape::Windowed => Some((2, 2)),
            _ => None,
        },
        _ => None,
    }
}

/// The source text of the closure that gives the key.
pub(crate) fn key_text(node: &Node) -> Option<String> {
    match &node.op {
        Op::Call { call, row } if row.sets_key => match call.args.first() {
            Some(Arg::Value(expr)) => Some(text(quote::quote!(#expr))),
            _ => None,
        },
        _ => None,
    }
}

/// The source text of a window's description.
pub(crate) fn window_text(node: &Node) -> Option<String> {
    match &node.op {
        Op::Call { call, row } if row.output == Output::Window => match call.args.first() {
            Some(Arg::Value(expr)) => Some(text(quote::quote!(#expr))),
            _ => None,
        },
        _ => None,
    }
}

/// The names of the states of a process, each with what stands in its `#[ttl(…)]`.
pub(crate) fn states(node: &Node) -> Vec<(String, Option<String>)> {
    let Op::Call { call, row } = &node.op else { return Vec::new() };
    let states = block_of(row, call).map(|block| block.states).unwrap_or_default();
    states.into_iter().map(|state| (state.name.to_string(), state.ttl.map(|ttl| text(ttl.text)))).collect()
}

/// A literal zero, whatever its unit.
fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(lit) if matches!(&lit.lit, Lit::Int(int) if int.base10_digits() == "0"))
}

impl Call {
    /// The value of a named argument.
    pub fn named(&self, name: &str) -> Option<&Expr> {
        self.named.iter().find(|one| one.name == name).map(|one| &one.value)
    }
}

/// What a fan-in knows of its result. Of two joined streams the times stand beside each other.
pub(super) fn together(row: &Operator, left: Flow, right: Flow) -> Flow {
    if row.output == Output::Joined {
        return Flow { right: right.time, tainted: left.tainted || right.tainted, ..left };
    }
    if row.time == Time::Drops {
        return Flow { tainted: left.tainted || right.tainted, ..left };
    }
    merged(left, right)
}

/// What a union knows of its result: what both inputs agree on.
fn merged(left: Flow, right: Flow) -> Flow {
    let time = match (left.time, right.time) {
        (Domain::Event { disordered: a }, Domain::Event { disordered: b }) => {
            Domain::Event { disordered: a || b }
        }
        (a, b) if a == b => a,
        _ => Domain::Unknown,
    };
    Flow { time, tainted: left.tainted || right.tainted, ..left }
}

/// The text of `.named("text")`.
pub(crate) fn literal_text(call: &Call) -> Option<String> {
    match call.args.first() {
        Some(Arg::Value(Expr::Lit(lit))) => match &lit.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// `csv` in `source(csv::<Flight>(path).lossy())`.
pub(super) fn source_name(call: &ExprCall) -> String {
    let mut at = call.args.first();
    while let Some(Expr::MethodCall(method)) = at {
        at = Some(&method.receiver);
    }
    let name = match at {
        Some(Expr::Call(call)) => match &*call.func {
            Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        },
        _ => None,
    };
    name.unwrap_or_else(|| "source".to_owned())
}
