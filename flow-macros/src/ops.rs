//! The operator table: one row an operator. `docs/operators.md` is the same table for users.
//!
//! The macro knows an operator by its row alone; no other file of this crate compares an operator's name with a
//! literal, except where an operator has a syntax of its own (`union`, `named`).

pub(crate) use crate::op_kinds::{EdgeKind, Input, Output, Shape, Time};
pub(crate) use crate::window_kinds::{
    GAPS, OVERLAPPING_MAX, PROCESSING, Takes, WINDOWS, WindowKind, described, is_clocked, window,
};

/// What a named argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A duration ≥ 0.
    Duration,
    /// A duration > 0.
    PositiveDuration,
    /// A duration, also below 0.
    SignedDuration,
    /// `side`, `drop` or `fail`.
    Late,
    /// `processing`.
    Clock,
    /// A number of elements > 0.
    Elements,
    /// A number of parallel instances.
    Instances,
    /// A number of requests.
    Requests,
    /// A number of calls.
    Tries,
    /// `true`, and nothing else: the builder's method takes no argument.
    Flag,
    /// Any expression.
    Expression,
}

impl Value {
    pub fn is_duration(self) -> bool {
        matches!(self, Value::Duration | Value::PositiveDuration | Value::SignedDuration)
    }
}

/// A named argument: `op(…, name = value)`.
#[derive(Debug)]
pub(crate) struct Named {
    pub name: &'static str,
    pub value: Value,
    /// What to ask when it is missing.
    pub required: Option<&'static str>,
    /// The builder takes it as an argument, not by a method of its name.
    pub positional: bool,
}

/// Whether a closure among the arguments runs on the records or builds the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closures {
    /// It runs on every instance, so it owns clones of what it mentions.
    Owned,
    /// It runs once, while the pipeline is built; only the closures inside it are owned.
    Builder,
    /// They stand in a block with the states that they share.
    Block,
    /// That of the first argument is a builder, the others are owned.
    FirstBuilds,
    /// That of the last argument, which is this one, is the body of a loop: it builds, and may name streams from outside.
    BodyAt(usize),
}

impl Closures {
    /// Whether a closure that is argument `at` builds.
    pub fn builds(self, at: usize) -> bool {
        self == Closures::Builder || self == Closures::FirstBuilds && at == 0 || self.is_body(at)
    }

    /// Whether argument `at` is the body of a loop.
    pub fn is_body(self, at: usize) -> bool {
        self == Closures::BodyAt(at)
    }
}

/// What a closure of an operator may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    Anything,
    /// A record, so no error: there is an operator of the name with `try_` before it for those.
    Record,
    /// What it is given a reference to outlives no call.
    Owned,
    /// It changes what it is given.
    Nothing,
}

/// One row.
#[derive(Debug)]
pub(crate) struct Operator {
    pub name: &'static str,
    pub min_args: usize,
    pub max_args: usize,
    pub named: &'static [Named],
    /// Named arguments of which one has to be given, and no two.
    pub one_of: &'static [&'static str],
    /// What its argument counts, which is never none.
    pub counts: Option<&'static str>,
    pub input: Input,
    pub output: Output,
    pub time: Time,
    /// How records reach what lies behind it.
    pub edge: EdgeKind,
    pub closures: Closures,
    pub returns: Returns,
    /// The method that takes a closure, where that of the operator's name takes any implementation of a trait, so that
    /// rustc would not know the closure's parameters.
    pub of_closure: Option<&'static str>,
    pub stateful: bool,
    pub sets_key: bool,
    /// The joins that it can stand behind, where it can stand behind any.
    pub behind: &'static [&'static str],
    /// Streams among its arguments.
    pub fan_in: bool,
    /// How a call looks, for messages.
    pub usage: &'static str,
}

const fn row(name: &'static str, args: usize, usage: &'static str) -> Operator {
    Operator {
        name,
        min_args: args,
        max_args: args,
        named: &[],
        one_of: &[],
        counts: None,
        input: Input::Stream,
        output: Output::Plain,
        time: Time::Keeps,
        edge: EdgeKind::Fused,
        closures: Closures::Owned,
        returns: Returns::Anything,
        of_closure: None,
        stateful: false,
        sets_key: false,
        behind: &[],
        fan_in: false,
        usage,
    }
}

impl Operator {
    /// Does it hand its records to other instances, or to another thread? (A key does so where state is kept by it.)
    pub const fn is_exchange(&self) -> bool {
        !matches!(self.edge, EdgeKind::Fused | EdgeKind::Merge)
    }
    const fn named(self, named: &'static [Named]) -> Self {
        Operator { named, ..self }
    }
    const fn one_of(self, one_of: &'static [&'static str]) -> Self {
        Operator { one_of, ..self }
    }
    const fn counts(self, counts: &'static str) -> Self {
        Operator { counts: Some(counts), ..self }
    }
    const fn input(self, input: Input) -> Self {
        Operator { input, ..self }
    }
    const fn output(self, output: Output) -> Self {
        Operator { output, ..self }
    }
    const fn sides(self, min: usize, max: usize) -> Self {
        Operator { output: Output::Sides { min, max }, ..self }
    }
    const fn time(self, time: Time) -> Self {
        Operator { time, ..self }
    }
    const fn edge(self, edge: EdgeKind) -> Self {
        Operator { edge, ..self }
    }
    const fn returns(self, returns: Returns) -> Self {
        Operator { returns, ..self }
    }
    const fn of_closure(self, method: &'static str) -> Self {
        Operator { of_closure: Some(method), ..self }
    }
    const fn builder(self) -> Self {
        Operator { closures: Closures::Builder, ..self }
    }
    const fn block(self) -> Self {
        Operator { closures: Closures::Block, ..self }
    }
    const fn first_builds(self) -> Self {
        Operator { closures: Closures::FirstBuilds, ..self }
    }
    const fn body_at(self, at: usize) -> Self {
        Operator { closures: Closures::BodyAt(at), ..self }
    }
    const fn sets_key(self) -> Self {
        Operator { sets_key: true, output: Output::Keyed, ..self }
    }
    const fn stateful(self) -> Self {
        Operator { stateful: true, ..self }
    }
    /// Says of two joined streams what belongs together.
    const fn joined(self, behind: &'static [&'static str]) -> Self {
        self.input(Input::Joined).behind(behind).stateful()
    }
    const fn behind(self, behind: &'static [&'static str]) -> Self {
        Operator { behind, ..self }
    }
    /// Per key rolling, per window, or once at the end of bounded input.
    const fn folds(self) -> Self {
        Operator { input: Input::Any, time: Time::DropsUnkeyed, stateful: true, ..self }
    }
    /// Two streams by key, of which what follows says what belongs together.
    const fn joins(self) -> Self {
        let both = self.input(Input::Keyed).output(Output::Joined).edge(EdgeKind::Merge);
        Operator { fan_in: true, ..both }
    }
    /// Two streams by key, for one process.
    const fn connects(self) -> Self {
        self.joins().output(Output::Connected)
    }
    /// One stream by key, and one for every instance.
    const fn connects_all(self) -> Self {
        self.joins().output(Output::Beside)
    }
    /// All pairs of two streams.
    const fn crosses(self) -> Self {
        Operator { max_args: 1, ..self.fan_in().time(Time::Drops).stateful() }
    }
    const fn fan_in(self) -> Self {
        Operator { fan_in: true, edge: EdgeKind::Merge, max_args: 16, ..self }
    }
}

pub(crate) const fn optional(name: &'static str, value: Value) -> Named {
    Named { name, value, required: None, positional: false }
}

const EVENT_TIME: &[Named] = &[
    Named {
        name: "disorder",
        value: Value::Duration,
        required: Some("how far behind the newest event may one come?"),
        positional: false,
    },
    optional("monotonic", Value::Flag),
    optional("max_ahead", Value::Duration),
    optional("punctuated", Value::Expression),
    optional("watermarks", Value::Expression),
    optional("idle", Value::PositiveDuration),
    optional("align", Value::Duration),
];
/// What says how the watermark follows the records.
const STRATEGIES: &[&str] = &["disorder", "monotonic", "punctuated", "watermarks"];
const TTL: &[Named] = &[optional("ttl", Value::PositiveDuration)];
const ROUNDS: &[Named] = &[Named {
    name: "rounds",
    value: Value::Expression,
    required: Some(
        "after how many supersteps does it end at the latest? `u64::MAX`: when nothing comes back",
    ),
    positional: true,
}];
const AT_MOST: &[Named] = &[optional("rounds", Value::Expression)];
const WINDOW: &[Named] = &[optional("lateness", Value::Duration), optional("late", Value::Late)];
const WITHIN: &[Named] = &[
    optional("lower_bound_exclusive", Value::Expression),
    optional("upper_bound_exclusive", Value::Expression),
    optional("late", Value::Late),
];
const AS_OF: &[Named] = &[optional("late", Value::Late)];
const WINDOW_JOINS: &[&str] = &["join", "left_join", "right_join", "full_join", "co_group"];
const WHOLE_JOINS: &[&str] = &["join", "left_join", "right_join", "full_join", "semi_join", "anti_join"];
const PARALLELISM: Named = optional("parallelism", Value::Instances);
const EXCHANGE: &[Named] = &[PARALLELISM];
const SHUFFLE: &[Named] = &[
    Named {
        name: "seed",
        value: Value::Expression,
        required: Some("the same seed gives the same choice in every run"),
        positional: true,
    },
    PARALLELISM,
];
const ASYNC: &[Named] = &[
    Named {
        name: "timeout",
        value: Value::PositiveDuration,
        required: Some("how long may a request take?"),
        positional: true,
    },
    optional("capacity", Value::Requests),
    optional("retries", Value::Expression),
    optional("unordered", Value::Flag),
    optional("instead", Value::Expression),
];
const OR_DEAD: &[Named] = &[optional("tries", Value::Tries)];
/// Calls of a closure for one record, at most.
pub(crate) const TRIES_MAX: u64 = 100;
/// Requests of an instance that are under way at once, at most.
pub(crate) const REQUESTS_MAX: u64 = 1 << 16;
/// Parallel instances of an operator, at most.
pub(crate) const INSTANCES_MAX: u64 = 256;

/// Every operator, in the order of `docs/operators.md`.
#[rustfmt::skip]
pub(crate) static OPERATORS: &[Operator] = &[
    row("map", 1, ".map(|record| …)").returns(Returns::Record),
    row("map_values", 1, ".map_values(|record| …)").input(Input::Keyed).output(Output::Keyed),
    row("filter", 1, ".filter(|record| …)").output(Output::Same),
    row("inspect", 1, ".inspect(|record| …)").output(Output::Same),
    row("filter_map", 1, ".filter_map(|record| …)"),
    row("flat_map", 1, ".flat_map(|record| …)"),
    row("map_init", 2, ".map_init(|ctx| …, |resource, record| …)"),
    row("try_map", 1, ".try_map(|record| …)"),
    row("try_filter_map", 1, ".try_filter_map(|record| …)"),
    row("try_flat_map", 1, ".try_flat_map(|record| …)"),
    row("map_or_dead", 1, ".map_or_dead(|record| …)").named(OR_DEAD).sides(2, 2).returns(Returns::Record),
    row("try_map_or_dead", 1, ".try_map_or_dead(|record| …)").named(OR_DEAD).sides(2, 2),
    row("async_map", 1, ".async_map(|record| …, timeout = 5s)").named(ASYNC),
    row("try_async_map", 1, ".try_async_map(|record| …, timeout = 5s)").named(ASYNC),
    row("take", 1, ".take(n)"),
    row("skip", 1, ".skip(n)"),
    row("rate_limit", 1, ".rate_limit(100)").counts("the rate of `rate_limit`"),
    row("event_time", 1, ".event_time(|record| …, disorder = 5s)").named(EVENT_TIME).one_of(STRATEGIES).time(Time::Sets),

    row("union", 1, ".union(other)").fan_in(),
    row("cross", 1, ".cross(other)").crosses(),
    row("join", 1, ".join(other.key_by(|record| …))").joins(),
    row("left_join", 1, ".left_join(other.key_by(|record| …))").joins(),
    row("right_join", 1, ".right_join(other.key_by(|record| …))").joins(),
    row("full_join", 1, ".full_join(other.key_by(|record| …))").joins(),
    row("semi_join", 1, ".semi_join(other.key_by(|record| …))").joins(),
    row("anti_join", 1, ".anti_join(other.key_by(|record| …))").joins(),
    row("co_group", 1, ".co_group(other.key_by(|record| …))").joins(),

    row("within", 2, ".within(-5s, 5s)").named(WITHIN).joined(&["join", "left_join", "right_join", "full_join"]),
    row("forever", 0, ".forever()").named(TTL).joined(&["join"]),
    row("lookup", 0, ".lookup()").joined(&["join", "left_join"]),
    row("as_of", 0, ".as_of()").named(AS_OF).joined(&["join", "left_join"]),
    row("hash", 0, ".hash()").time(Time::Drops).joined(WHOLE_JOINS),
    row("sort_merge", 0, ".sort_merge()").time(Time::Drops).joined(WHOLE_JOINS),

    row("split", 1, ".split(|record| …)").sides(2, 4),
    row("partition", 1, ".partition(|record| …)").sides(2, 2),
    row("split_result", 0, ".split_result()").sides(2, 2),

    row("key_by", 1, ".key_by(|record| …)").named(EXCHANGE).sets_key().returns(Returns::Owned),
    row("key_by_ref", 1, ".key_by_ref(|record| …)").named(EXCHANGE).sets_key(),
    row("rebalance", 0, ".rebalance()").named(EXCHANGE).edge(EdgeKind::Rebalance),
    row("shuffle", 0, ".shuffle(seed = 1)").named(SHUFFLE).edge(EdgeKind::Shuffle),
    row("broadcast", 0, ".broadcast()").named(EXCHANGE).edge(EdgeKind::Broadcast),
    row("global", 0, ".global()").edge(EdgeKind::Global),
    row("partition_by", 1, ".partition_by(|record, n| …)").named(EXCHANGE).edge(EdgeKind::Custom).of_closure("partition_by_closure"),
    row("boundary", 0, ".boundary()").output(Output::Same).edge(EdgeKind::Boundary),
    row("boxed", 0, ".boxed()").output(Output::Same),

    row("reduce", 1, ".reduce(|acc, record| …)").folds(),
    row("fold", 2, ".fold(init, |acc, record| …)").folds().returns(Returns::Nothing),
    row("scan", 2, ".scan(init, |acc, record| …)").input(Input::Keyed).stateful(),
    row("count", 0, ".count()").folds(),
    row("sum", 1, ".sum(|record| …)").folds(),
    row("wrapping_sum", 1, ".wrapping_sum(|record| …)").folds(),
    row("min", 1, ".min(|record| …)").folds(),
    row("max", 1, ".max(|record| …)").folds(),
    row("map_with_state", 2, ".map_with_state(init, |state, record| …)").input(Input::Keyed).stateful(),
    row("dedup_first", 0, ".dedup_first()").named(TTL).input(Input::Keyed).stateful(),
    row("dedup_last", 0, ".dedup_last()").input(Input::Keyed).time(Time::Drops).stateful(),
    row("top_n", 2, ".top_n(10, |record| …)").counts("the number of records of `top_n`").input(Input::Keyed).stateful(),
    row("distinct", 0, ".distinct()").stateful(),
    row("reduce_group", 1, ".reduce_group(|key, records| …)").input(Input::Keyed).time(Time::Drops).stateful(),
    row("sort_by", 1, ".sort_by(|a, b| …)").time(Time::Drops).stateful(),
    row("sort_by_key", 1, ".sort_by_key(|record| …)").time(Time::Drops).stateful(),
    row("connect", 1, ".connect(other.key_by(|record| …))").connects(),
    row("connect_broadcast", 1, ".connect_broadcast(rules)").connects_all(),
    row("process", 1, ".process({ on_event(|event, ctx| …); })").input(Input::Keyed).stateful().block(),

    row("iterate", 1, ".iterate(rounds = 20, |records| …)").named(ROUNDS).time(Time::Drops).stateful().body_at(0),
    row("iterate_delta", 2, ".iterate_delta(|kept, came| …, |changed| …)").named(AT_MOST).time(Time::Drops).stateful().body_at(1),
    row("until", 2, ".until(|a| …, |result| …)").first_builds(),
    row("superstep", 0, ".superstep()"),

    row("window", 1, ".window(tumbling(1h))").named(WINDOW).output(Output::Window).behind(WINDOW_JOINS).stateful(),
    row("trigger", 1, ".trigger(|t| t.count(100))").input(Input::Window).output(Output::Same).builder(),
    row("evict", 1, ".evict(last(10))").input(Input::Window).output(Output::Same),
    row("process_window", 2, ".process_window(init, |w, records| …)").input(Input::Window).stateful(),
    row("aggregate_window", 3, ".aggregate_window(|a| …, init, |w, value| …)").input(Input::Window).stateful().first_builds(),
    row("aggregate", 1, ".aggregate(|a| …)").folds().builder(),

    row("for_each", 1, ".for_each(|record| …)").output(Output::Terminal),
    row("try_for_each", 1, ".try_for_each(|record| …)").output(Output::Terminal),
    row("collect", 1, ".collect(&collected)").output(Output::Terminal),
    row("sink", 1, ".sink(sink)").output(Output::Terminal),

    row("named", 1, ".named(\"…\")").input(Input::Any).output(Output::Same),
    row("through", 1, ".through(f)").output(Output::Unknown).time(Time::Unknown).builder(),
    row("apply", 1, ".apply(op)").output(Output::Unknown).time(Time::Unknown).builder(),
];

/// The late policies.
pub(crate) const LATE: &[&str] = &["side", "drop", "fail"];

/// Operators that keep something of their records, beside those that are stateful.
const KEEPS: &[&str] =
    &["async_map", "try_async_map", "take", "skip", "rate_limit", "event_time", "partition_by", "apply"];

/// Operators of later versions: a name that is not here yet, but is not a slip either.
pub(crate) const RESERVED: &[&str] = &[];

impl Operator {
    /// Whether it brings two keyed streams together, of which what follows says more.
    pub fn pairs(&self) -> bool {
        matches!(self.output, Output::Joined | Output::Connected | Output::Beside)
    }

    /// Whether it says of two joined streams what belongs together.
    pub fn closes_join(&self) -> bool {
        self.output == Output::Window || self.input == Input::Joined
    }

    /// Whether it needs all records of a stream at once, keyed or not.
    pub fn is_of_all(&self) -> bool {
        self.input == Input::Stream && self.time == Time::Drops
    }

    /// Whether a checkpoint has something of it.
    pub fn is_kept(&self) -> bool {
        self.stateful || !self.behind.is_empty() || KEEPS.contains(&self.name)
    }

    /// Which of its arguments is a closure, as its usage shows it.
    pub fn closure_at(&self) -> Option<usize> {
        let args = self.usage.split_once('(')?.1;
        let (at, _) = args.match_indices('|').next()?;
        match &args[..at] {
            "" => Some(0),
            before if before.ends_with(", ") && !before.contains(['(', '{']) => Some(1),
            _ => None,
        }
    }

    /// Whether it stands on a plain stream only: behind a key, the key is dropped before it.
    pub fn drops_key(&self) -> bool {
        let plain =
            matches!(self.output, Output::Plain | Output::Sides { .. } | Output::Terminal | Output::Keyed);
        self.input == Input::Stream && (plain || self.name == "apply")
    }
}

pub(crate) fn operator(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.name == name)
}

/// The word for a time that does not come: as if nothing were said.
pub(crate) const NEVER: &str = "never";

/// The operator that has a named argument of this name, for text that calls it as a method.
pub(crate) fn owner_of(named: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.named.iter().any(|one| one.name == named))
}
