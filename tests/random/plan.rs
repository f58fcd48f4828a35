//! What proptest makes: a plan, which becomes a graph by leaving out steps whose outcome would depend on timing.

use super::function::{KEYS, Rec, VALUES};
use super::joins::{Join, join};
use proptest::prelude::*;

/// How a stream gets its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `key_by(|r| r.key % n)`.
    By(u8),
    /// `key_by_ref(|r| &r.key)`.
    Ref,
    /// `key_by(|r| r.key).filter(…).inspect(…)`.
    Filtered(u8),
    /// `key_by(|r| r.key).map_values(…)`.
    Mapped(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roll {
    Count,
    Sum,
    WrappingSum,
    Min,
    Max,
    Reduce,
    Fold,
    Scan,
    MapWithState,
    Process,
    DedupFirst,
    TopN,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agg {
    Count,
    Sum,
    /// `(min, max, mean, count_distinct)`.
    Spread,
    /// `(first, last, collect, top_k)`.
    Order,
    Fold,
    Reduce,
}

/// An aggregate without key or window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    Count,
    Sum,
    WrappingSum,
    Min,
    Max,
    Fold,
    Reduce,
    Aggregate(Agg),
}

/// A window: a tumbling one if its slide is its size; or a session with a gap of this size. Without a form it has no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub form: Option<Form>,
    pub size: i64,
    pub slide: i64,
    pub offset: i64,
    pub lateness: i64,
    pub side: bool,
    /// So many of its records, the last ones, are kept.
    pub last: Option<u8>,
    pub agg: Agg,
}

/// A count window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub form: Option<Form>,
    pub size: u64,
    pub every: Option<u64>,
    pub exact: bool,
    pub agg: Agg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Map(u8),
    Filter(u8),
    FlatMap(u8),
    FilterMap(u8),
    Inspect,
    MapInit(u8),
    TryMap(u8),
    /// An operator of the user's own that remembers the record before.
    Apply,
    Through(u8),
    Boxed,
    /// So many thousand records a second.
    RateLimit(u8),
    /// A request for each record, so many at once.
    Requests(u8),
    /// `map`, `filter`, `flat_map` without a box between.
    Fused(u8),
    Boundary,
    Cut,
    Rebalance,
    Shuffle(u8),
    Broadcast,
    Global,
    PartitionBy,
    Take(u8),
    Skip(u8),
    EventTime(i64),
    Roll(Form, Roll),
    Distinct,
    Window(Window),
    Session(Window),
    Counted(Counts),
    GlobalWindow(Option<Form>, Agg),
    /// The same with a trigger at so many elements, purging or not.
    Fired(Option<Form>, u8, bool, Agg),
    Total(Total),
    Partition(u8),
    Split(u8),
    SplitResult(u8),
    OrDead(u8),
    /// Both inputs end in edges that hang on what they come from.
    UnionEnds,
    /// `a.union(b)`, which owns both.
    Union,
    /// `a.key_by(|r| r.key % n).connect_broadcast(b)`, and a process that adds up both and tells it at the end.
    Beside(u8),
    Join(Join),
    /// One window of the clock, which is as long as there are clocks; by `key % n`, or without a key.
    Clocked(Option<u8>, Agg),
}

/// Where records come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    FromIter(Vec<Rec>),
    FromVec(Vec<Rec>, usize),
    Generate(u16, usize),
}

/// An operator, which streams it takes (see [`pick`]), and the disorder where it needs event time and has none.
#[derive(Debug, Clone)]
pub struct Step {
    pub op: Op,
    pub from: u8,
    pub other: u8,
    pub disorder: i64,
}

/// All that is random about a case.
#[derive(Debug, Clone)]
pub struct Plan {
    pub sources: Vec<Source>,
    pub steps: Vec<Step>,
    pub run: Run,
}

#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub parallelism: usize,
    pub batch: usize,
    pub ring: usize,
    pub seed: u64,
}

/// Which of `n` streams a number means: mostly one of the last two, so that graphs are deep.
pub fn pick(choice: u8, n: usize) -> usize {
    match usize::from(choice) {
        c @ 0..160 => n - 1 - (c % 2).min(n - 1),
        c => c % n,
    }
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![
        (1..=KEYS).prop_map(Form::By),
        Just(Form::Ref),
        (0..4u8).prop_map(Form::Filtered),
        (0..4u8).prop_map(Form::Mapped),
    ]
}

fn agg() -> impl Strategy<Value = Agg> {
    use Agg::*;
    prop::sample::select(vec![Count, Sum, Spread, Order, Fold, Reduce])
}

fn window() -> impl Strategy<Value = Window> {
    let lateness = prop_oneof![3 => Just(0), 2 => 1..40i64];
    let size = prop_oneof![3 => 1..12i64, 1 => 12..60i64];
    let slide = prop::option::weighted(0.5, 1..20i64);
    let last = prop::option::weighted(0.2, 1..5u8);
    let side = (any::<bool>(), last);
    (prop::option::weighted(0.75, form()), size, slide, any::<i8>(), lateness, side, agg()).prop_map(
        |(form, size, slide, offset, lateness, (side, last), agg)| {
            // The other forms make no difference to a window, and would be as much code again.
            let slides = matches!(form, None | Some(Form::By(_)));
            let slide = slide.filter(|_| slides).unwrap_or(size);
            let last = last.filter(|_| slides && slide == size);
            Window { form, size, slide, offset: i64::from(offset) % slide, lateness, side, last, agg }
        },
    )
}

/// An aggregate that merges, and to which the order does not matter.
fn merging() -> impl Strategy<Value = Agg> {
    prop::sample::select(vec![Agg::Count, Agg::Sum, Agg::Spread])
}

fn session() -> impl Strategy<Value = Window> {
    (window(), merging()).prop_map(|(window, agg)| Window {
        slide: window.size,
        offset: 0,
        last: None,
        agg,
        ..window
    })
}

fn counts() -> impl Strategy<Value = Counts> {
    let form = prop::option::weighted(0.75, form());
    (form, 1..9u64, prop::option::of(1..12u64), any::<bool>(), agg())
        .prop_map(|(form, size, every, exact, agg)| Counts { form, size, every, exact, agg })
}

fn disorder() -> impl Strategy<Value = i64> {
    prop_oneof![5 => Just(0), 4 => 1..10i64, 1 => Just(100), 1 => Just(100_000)]
}

fn one_to_one() -> impl Strategy<Value = Op> {
    let c = || 0..4u8;
    prop_oneof![
        1 => c().prop_map(Op::Map),
        1 => c().prop_map(Op::Filter),
        1 => c().prop_map(Op::FlatMap),
        1 => c().prop_map(Op::FilterMap),
        1 => Just(Op::Inspect),
        1 => c().prop_map(Op::MapInit),
        1 => c().prop_map(Op::TryMap),
        1 => Just(Op::Apply),
        1 => c().prop_map(Op::Through),
        1 => Just(Op::Boxed),
        1 => (1..9u8).prop_map(Op::RateLimit),
        1 => (0..4u8).prop_map(Op::Requests),
        1 => c().prop_map(Op::Fused),
        2 => (0..60u8).prop_map(Op::Take),
        2 => (0..30u8).prop_map(Op::Skip),
    ]
}

fn routes() -> impl Strategy<Value = Op> {
    prop_oneof![
        1 => Just(Op::Boundary),
        1 => Just(Op::Cut),
        1 => Just(Op::Rebalance),
        1 => any::<u8>().prop_map(Op::Shuffle),
        1 => Just(Op::Broadcast),
        1 => Just(Op::Global),
        1 => Just(Op::PartitionBy),
        1 => (0..4u8).prop_map(Op::Partition),
        1 => (2..5u8).prop_map(Op::Split),
        1 => (0..4u8).prop_map(Op::SplitResult),
        1 => (0..4u8).prop_map(Op::OrDead),
        2 => Just(Op::UnionEnds),
        2 => Just(Op::Union),
        2 => (1..=KEYS).prop_map(Op::Beside),
    ]
}

fn stateful() -> impl Strategy<Value = Op> {
    use Roll::*;
    let roll = prop::sample::select(vec![
        Count,
        Sum,
        WrappingSum,
        Min,
        Max,
        Reduce,
        Fold,
        Scan,
        MapWithState,
        Process,
        DedupFirst,
        TopN,
    ]);
    let total = prop_oneof![
        Just(Total::Count),
        Just(Total::Sum),
        Just(Total::WrappingSum),
        Just(Total::Min),
        Just(Total::Max),
        Just(Total::Fold),
        Just(Total::Reduce),
        agg().prop_map(Total::Aggregate),
    ];
    prop_oneof![
        9 => (form(), roll).prop_map(|(form, roll)| Op::Roll(form, roll)),
        1 => Just(Op::Distinct),
        1 => disorder().prop_map(Op::EventTime),
        11 => window().prop_map(Op::Window),
        4 => session().prop_map(Op::Session),
        2 => counts().prop_map(Op::Counted),
        1 => (prop::option::weighted(0.75, form()), agg()).prop_map(|(form, agg)| Op::GlobalWindow(form, agg)),
        6 => total.prop_map(Op::Total),
        6 => join().prop_map(Op::Join),
        1 => (prop::option::weighted(0.75, 1..=KEYS), merging())
            .prop_map(|(by, agg)| Op::Clocked(by, agg)),
        1 => (prop::option::weighted(0.75, form()), 1u8..7, any::<bool>(), agg())
            .prop_map(|(form, after, purging, agg)| Op::Fired(form, after, purging, agg)),
    ]
}

/// Events whose times rise by up to 5, and lie up to `late` behind.
fn records() -> impl Strategy<Value = Vec<Rec>> {
    let record = || (0..6i64, 0..60i64, 0..KEYS, 0..VALUES);
    let raw = prop_oneof![
        12 => prop::collection::vec(record(), 0..40),
        2 => prop::collection::vec(record(), 0..400),
        1 => prop::collection::vec(record(), 0..1200),
    ];
    (raw, prop_oneof![1 => Just(0i64), 4 => 10..60i64], -60..60i64).prop_map(|(raw, late, begin)| {
        let mut now = begin;
        let made = raw.into_iter().map(|(step, behind, key, val)| {
            now += step;
            Rec { ts: now - behind % (late + 1), key, val }
        });
        made.collect()
    })
}

fn source() -> impl Strategy<Value = Source> {
    let splits = || prop_oneof![4 => Just(1usize), 1 => 2..4usize];
    prop_oneof![
        4 => records().prop_map(Source::FromIter),
        4 => (records(), splits()).prop_map(|(records, n)| Source::FromVec(records, n)),
        1 => (prop_oneof![4 => 0..50u16, 1 => 1000..2500u16], splits())
            .prop_map(|(count, n)| Source::Generate(count, n)),
    ]
}

pub fn plan() -> impl Strategy<Value = Plan> {
    let op = prop_oneof![4 => one_to_one(), 4 => routes(), 6 => stateful()];
    let step = (op, any::<u8>(), any::<u8>(), disorder()).prop_map(|(op, from, other, disorder)| Step {
        op,
        from,
        other,
        disorder,
    });
    let run = (1..=4usize, prop_oneof![1..20usize, Just(1024)], 1..9usize, any::<u64>())
        .prop_map(|(parallelism, batch, ring, seed)| Run { parallelism, batch, ring, seed });
    (prop::collection::vec(source(), 1..4), prop::collection::vec(step, 1..16), run)
        .prop_map(|(sources, steps, run)| Plan { sources, steps, run })
}
