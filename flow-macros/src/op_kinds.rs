//! What the table of operators says of streams: before an operator, behind it, and between the two.

/// What kind of stream runs along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Plain,
    Keyed,
    /// Behind `.window(…)`: not a stream yet.
    Windowed,
    /// Behind `.join(…)` and its like: not a stream yet.
    Joined,
    /// Behind `connect`: not a stream yet either.
    Connected,
    /// Behind `connect_broadcast`: the same.
    Beside,
    /// Behind a sub-pipeline or a user's own operator: only the types know.
    Unknown,
}

/// What an operator can stand behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Plain or keyed.
    Stream,
    /// Behind `key_by` only.
    Keyed,
    /// Behind `join` and its like only.
    Joined,
    /// Behind a window only.
    Window,
    /// Any of them.
    Any,
}

/// What comes out of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    Plain,
    Keyed,
    /// The input's shape: the key is kept.
    Same,
    /// Of two joined streams: a stream.
    Window,
    /// Two keyed streams together.
    Joined,
    /// Two streams by key, for one process.
    Connected,
    /// One stream by key, one for all, for one process.
    Beside,
    /// Nothing: it ends the stream.
    Terminal,
    /// Several streams, taken apart by a tuple `let`.
    Sides {
        min: usize,
        max: usize,
    },
    Unknown,
}

/// What an operator does to event time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    Keeps,
    Sets,
    /// Without a key the result comes at the end of input and has no timestamp.
    DropsUnkeyed,
    /// The result comes at the end of input and has no timestamp.
    Drops,
    Unknown,
}

/// How records reach what lies behind an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeKind {
    Fused,
    KeyBy,
    Global,
    Rebalance,
    Shuffle,
    Broadcast,
    Custom,
    Merge,
    Boundary,
}
