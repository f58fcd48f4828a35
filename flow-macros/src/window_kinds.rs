//! The window descriptions: what `window` is told. `docs/operators.md` has the same table for users.

use crate::ops::{Named, Value, optional};

/// What a window description is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    /// A size, or a size and a slide.
    Lengths,
    /// How far from UTC a day begins.
    UtcOffset,
    Gap,
    /// A closure over the records that gives each its gap.
    GapOf,
    Elements,
}

/// The window descriptions: their names, what they take and what that is called, and their named arguments.
pub(crate) struct WindowKind {
    pub name: &'static str,
    pub takes: Takes,
    /// What its arguments are called; the last is the distance from one window to the next.
    pub lengths: &'static [&'static str],
    pub named: &'static [Named],
    pub needs_event_time: bool,
    pub usage: &'static str,
}

/// Says that a slide may be longer than its size.
pub(crate) const GAPS: &str = "gaps";

const OFFSET: Named = optional("offset", Value::SignedDuration);
const TIME: Named = optional("time", Value::Clock);

const COUNT: &[Named] = &[
    optional("every", Value::Elements),
    optional("exact", Value::Expression),
    optional("gaps", Value::Expression),
];

/// Windows that an element may be in at most.
pub(crate) const OVERLAPPING_MAX: u64 = 100_000;

#[rustfmt::skip]
pub(crate) static WINDOWS: &[WindowKind] = &[
    WindowKind {
        name: "tumbling",
        takes: Takes::Lengths,
        lengths: &["size"],
        named: &[OFFSET, TIME],
        needs_event_time: true,
        usage: "tumbling(1h)",
    },
    WindowKind { name: "days", takes: Takes::UtcOffset, lengths: &["offset"], named: &[TIME], needs_event_time: true, usage: "days(8h)" },
    WindowKind {
        name: "sliding",
        takes: Takes::Lengths,
        lengths: &["size", "slide"],
        named: &[OFFSET, optional(GAPS, Value::Expression), TIME],
        needs_event_time: true,
        usage: "sliding(1h, 5min)",
    },
    WindowKind { name: "session", takes: Takes::Gap, lengths: &["gap"], named: &[TIME], needs_event_time: true, usage: "session(30min)" },
    WindowKind { name: "session_by", takes: Takes::GapOf, lengths: &["gap"], named: &[TIME], needs_event_time: true, usage: "session_by(|record| …)" },
    WindowKind { name: "count", takes: Takes::Elements, lengths: &["size"], named: COUNT, needs_event_time: false, usage: "count(100)" },
    WindowKind { name: "global", takes: Takes::Nothing, lengths: &[], named: &[], needs_event_time: false, usage: "global()" },
];

pub(crate) fn window(name: &str) -> Option<&'static WindowKind> {
    WINDOWS.iter().find(|window| window.name == name)
}

/// The description that an expression is: the row of `tumbling` for `tumbling(1h)`.
pub(crate) fn described(expr: &syn::Expr) -> Option<&'static WindowKind> {
    let syn::Expr::Call(call) = expr else { return None };
    let syn::Expr::Path(path) = &*call.func else { return None };
    window(&path.path.segments.last()?.ident.to_string())
}

/// The word for the time of the clock.
pub(crate) const PROCESSING: &str = "processing";

/// Does the description say `time = …`, so that its windows lie on the clock?
pub(crate) fn is_clocked(expr: &syn::Expr) -> bool {
    let syn::Expr::Call(call) = expr else { return false };
    let Some(window) = described(expr) else { return false };
    let is_clock =
        |name: &syn::Ident| window.named.iter().any(|one| name == one.name && one.value == Value::Clock);
    call.args.iter().any(|arg| match arg {
        syn::Expr::Assign(assign) => {
            matches!(&*assign.left, syn::Expr::Path(path) if path.path.get_ident().is_some_and(is_clock))
        }
        _ => false,
    })
}
