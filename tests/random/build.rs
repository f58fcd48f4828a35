//! From a graph to a job, through boxes: every stream hangs on a root, every operator ends in a boxed end.
//!
//! It goes from the last operator to the first. What takes a stream is known before what makes it, and is put together with
//! `tee` where there are several.

use super::function::*;
use super::graph::{Graph, Node};
use super::interpret::generated;
use super::plan::{Op, Source};
use super::{joined, rolling, windowed};
use crate::mode::{Bounds, begun};
use flow_core::op::boxed::{BoxedEnd, OpenRoot};
use flow_core::op::kind::{AtLeastOnce, Ends, Is, Repeats, Replayable};
use flow_core::op::operator::{OpError, Operator};
use flow_core::op::tee::Root;
use flow_core::op::{Chain, Forked, Terminal};
use flow_core::prelude::*;
use flow_core::stage::Stamp;
use std::sync::{Arc, Mutex};

/// What takes a stream.
pub type End<S> = BoxedEnd<OpenRoot<Rec, S>>;
/// The kind of a stream without event time.
pub type Plain = Is<(), Bounds, Replayable, AtLeastOnce>;
/// The kind of a stream with event time.
pub type Timed = Is<Timestamp, Bounds, Replayable, AtLeastOnce>;
/// A stream of kind `K` as the operator behind it sees it.
pub type Branch<K> = Stream<Rec, K, Root<Rec, <K as Kind>::Stamp>>;
/// Records that were seen in passing.
pub type Seen = Arc<Mutex<Vec<Rec>>>;

/// The two kinds of streams of a graph.
pub trait Time: Kind<Mode = AtLeastOnce> + Repeats + Ends + Sized {
    /// Where an operator begins.
    fn branch() -> Branch<Self>;
    /// The ends that wait for their stream, by stream.
    fn ends(waiting: &mut Waiting) -> &mut Vec<Vec<End<Self::Stamp>>>;
}

impl Time for Plain {
    fn branch() -> Branch<Plain> {
        begun!(source(from_vec(Vec::new()))).root()
    }
    fn ends(waiting: &mut Waiting) -> &mut Vec<Vec<End<()>>> {
        &mut waiting.plain
    }
}

impl Time for Timed {
    fn branch() -> Branch<Timed> {
        begun!(source(from_vec(Vec::new()))).event_time(|r: &Rec| r.ts).root()
    }
    fn ends(waiting: &mut Waiting) -> &mut Vec<Vec<End<Timestamp>>> {
        &mut waiting.timed
    }
}

#[derive(Default)]
pub struct Waiting {
    plain: Vec<Vec<End<()>>>,
    timed: Vec<Vec<End<Timestamp>>>,
}

/// Where a stream's records end up.
pub enum Shown {
    Collected(Collected<Rec>),
    ForEach(Seen),
}

/// A job, and where its records go.
pub struct Built {
    pub job: Job,
    /// By stream; `None` where nothing is collected.
    pub shown: Vec<Option<Shown>>,
    /// By node; what `inspect` saw.
    pub inspected: Vec<Seen>,
}

impl Shown {
    pub fn rows(&self) -> Vec<Rec> {
        match self {
            Shown::Collected(out) => out.take(),
            Shown::ForEach(seen) => std::mem::take(&mut seen.lock().expect("no closure panics")),
        }
    }
}

/// A stream whose end is `out`, as an end of what it hangs on.
pub fn join<K, C>(stream: Stream<Rec, K, C>, out: End<K::Stamp>) -> End<K::Stamp>
where
    K: Kind,
    C: Chain<Out = Rec, Stamp = K::Stamp>,
{
    BoxedEnd::new(stream.tee(|_| out))
}

/// Builds the job of a graph.
pub fn build(graph: &Graph) -> Built {
    build_into(graph, &[])
}

/// The same, where every stream that is shown goes into the collection of its number, if there are any.
pub fn build_into(graph: &Graph, collections: &[Collected<Rec>]) -> Built {
    let mut building = Building {
        graph,
        job: Job::new("random"),
        waiting: Waiting::default(),
        shown: Vec::new(),
        collections,
        inspected: graph.nodes.iter().map(|_| Seen::default()).collect(),
    };
    building.waiting.plain.resize_with(graph.ports.len(), Vec::new);
    building.waiting.timed.resize_with(graph.ports.len(), Vec::new);
    for (port, known) in graph.ports.iter().enumerate() {
        let shown = graph
            .is_shown(port)
            .then(|| if known.timed { building.show::<Timed>(port) } else { building.show::<Plain>(port) });
        building.shown.push(shown);
    }
    for at in (0..graph.nodes.len()).rev() {
        let timed = graph.ports[graph.nodes[at].inputs[0]].timed;
        if timed { building.node::<Timed>(at) } else { building.node::<Plain>(at) }
    }
    for (port, source) in graph.sources.iter().enumerate() {
        building.source(port, source);
    }
    let run = graph.run;
    let job = building.job.parallelism(run.parallelism).batch_size(run.batch).ring_batches(run.ring);
    Built { job, shown: building.shown, inspected: building.inspected }
}

struct Building<'a> {
    graph: &'a Graph,
    job: Job,
    waiting: Waiting,
    shown: Vec<Option<Shown>>,
    collections: &'a [Collected<Rec>],
    inspected: Vec<Seen>,
}

impl Building<'_> {
    fn show<K: Time>(&mut self, port: usize) -> Shown {
        let (end, shown) = if port.is_multiple_of(2) || !self.collections.is_empty() {
            let out = self.collections.get(port).cloned().unwrap_or_default();
            (BoxedEnd::new(K::branch().collect(&out)), Shown::Collected(out))
        } else {
            let seen = Seen::default();
            let copy = Arc::clone(&seen);
            let end = K::branch().for_each(move |r| copy.lock().expect("no closure panics").push(r));
            (BoxedEnd::new(end), Shown::ForEach(seen))
        };
        K::ends(&mut self.waiting)[port].push(end);
        shown
    }

    /// All that takes a stream.
    fn end<K: Time>(&mut self, port: usize) -> End<K::Stamp> {
        let mut ends = std::mem::take(&mut K::ends(&mut self.waiting)[port]);
        let last = ends.pop().expect("what nothing takes is shown");
        let both = |a, b| BoxedEnd::new(K::branch().tee(|o| o.both(b, a)));
        ends.into_iter().rev().fold(last, both)
    }

    fn give<K: Time>(&mut self, port: usize, end: End<K::Stamp>) {
        K::ends(&mut self.waiting)[port].push(end);
    }

    fn source(&mut self, port: usize, from: &Source) {
        let out = self.end::<Plain>(port);
        match from.clone() {
            Source::FromIter(records) => {
                self.job.add(begun!(source(from_iter(records))).boxed().tee(|_| out))
            }
            Source::FromVec(records, n) => {
                self.job.add(begun!(source(from_vec(records).splits(n))).tee(|_| out))
            }
            Source::Generate(count, n) => {
                self.job.add(begun!(source(generate(count.into(), generated).splits(n))).tee(|_| out));
            }
        }
    }

    fn node<K: Time>(&mut self, at: usize) {
        let node = &self.graph.nodes[at];
        let input = node.inputs[0];
        match node.op {
            Op::UnionEnds | Op::Union => self.union::<K>(node),
            Op::Partition(_) | Op::Split(_) | Op::SplitResult(_) | Op::OrDead(_) => self.split::<K>(node),
            Op::Beside(n) => {
                let out = self.end::<Plain>(node.outputs[0]);
                let (keyed, all, sums) = rolling::beside::<K>(n, out);
                self.job.add(sums);
                self.give::<K>(input, keyed);
                self.give::<K>(node.inputs[1], all);
            }
            Op::EventTime(disorder) => {
                let out = self.end::<Timed>(node.outputs[0]);
                let timed = K::branch().event_time(|r| r.ts).disorder(Millis(disorder));
                self.give::<K>(input, BoxedEnd::new(timed.tee(|_| out)));
            }
            Op::Join(join) => {
                let out = self.end::<Timed>(node.outputs[0]);
                let [left, right] = joined::join(&mut self.job, join, out);
                self.give::<Timed>(node.inputs[0], left);
                self.give::<Timed>(node.inputs[1], right);
            }
            Op::Clocked(by, agg) => {
                let out = self.end::<Plain>(node.outputs[0]);
                self.give::<K>(input, windowed::clocked(K::branch(), by, agg, out));
            }
            Op::Total(total) => {
                let out = self.end::<Plain>(node.outputs[0]);
                self.give::<K>(input, windowed::total(K::branch(), total, out));
            }
            Op::Window(window) => {
                let results = self.end::<Timed>(node.outputs[0]);
                let late = window.side.then(|| self.end::<Timed>(node.outputs[1]));
                self.give::<Timed>(input, windowed::window(&window, results, late));
            }
            Op::Session(window) => {
                let results = self.end::<Timed>(node.outputs[0]);
                let late = window.side.then(|| self.end::<Timed>(node.outputs[1]));
                self.give::<Timed>(input, windowed::session(&window, results, late));
            }
            Op::Inspect => {
                let (seen, out) = (Arc::clone(&self.inspected[at]), self.end::<K>(node.outputs[0]));
                let s = K::branch().inspect(move |r| seen.lock().expect("no closure panics").push(*r));
                self.give::<K>(input, join(s, out));
            }
            Op::Cut => {
                let (end, behind) = K::branch().cut();
                let out = self.end::<K>(node.outputs[0]);
                self.job.add(behind.tee(|_| out));
                self.give::<K>(input, BoxedEnd::new(end));
            }
            op => {
                let out = self.end::<K>(node.outputs[0]);
                self.give::<K>(input, one_output::<K>(op, node.outputs[0], out));
            }
        }
    }

    fn union<K: Time>(&mut self, node: &Node) {
        let out = self.end::<K>(node.outputs[0]);
        let (a, b) = if node.op == Op::UnionEnds {
            let (a, b, merged) = K::branch().union_ends(K::branch());
            self.job.add(merged.boxed().tee(|_| out));
            (a, b)
        } else {
            let ((a, behind_a), (b, behind_b)) = (K::branch().cut(), K::branch().cut());
            self.job.add(behind_a.boxed().union(behind_b).tee(|_| out));
            (a, b)
        };
        self.give::<K>(node.inputs[0], BoxedEnd::new(a));
        self.give::<K>(node.inputs[1], BoxedEnd::new(b));
    }

    fn split<K: Time>(&mut self, node: &Node) {
        let mut outs: Vec<End<K::Stamp>> = node.outputs.iter().map(|port| self.end::<K>(*port)).collect();
        outs.reverse();
        let mut next = || outs.pop().expect("as many outputs as sides");
        let s = K::branch();
        let end = match node.op {
            Op::Partition(c) => fork(s.partition(move |r| keep(c, r)), (next(), next())),
            Op::SplitResult(c) => {
                let results = s.map(move |r| if keep(c, &r) { Ok(r) } else { Err(r) });
                fork(results.split_result(), (next(), next()))
            }
            Op::OrDead(c) => or_dead(s, c, (next(), next())),
            Op::Split(2) => {
                let sides = s.split(|r| if side(2, &r) == 0 { Either::A(r) } else { Either::B(r) });
                fork(sides, (next(), next()))
            }
            Op::Split(3) => {
                let sides = s.split(|r| match side(3, &r) {
                    0 => Either3::A(r),
                    1 => Either3::B(r),
                    _ => Either3::C(r),
                });
                BoxedEnd::new(sides.fork((next(), next(), next())))
            }
            _ => {
                let sides = s.split(|r| match side(4, &r) {
                    0 => Either4::A(r),
                    1 => Either4::B(r),
                    2 => Either4::C(r),
                    _ => Either4::D(r),
                });
                BoxedEnd::new(sides.fork((next(), next(), next(), next())))
            }
        };
        self.give::<K>(node.inputs[0], end);
    }
}

/// Two sides of one type, each with an operator in front of its end.
fn fork<K: Time, C>(
    sides: Forked<Either<Rec, Rec>, K, C>,
    (a, b): (End<K::Stamp>, End<K::Stamp>),
) -> End<K::Stamp>
where
    C: Chain<Out = Either<Rec, Rec>, Stamp = K::Stamp>,
{
    let (left, right) = sides.roots();
    let ends = (left.tee(|_| a), right.filter(|_| true).tee(|_| b));
    BoxedEnd::new(sides.fork(ends))
}

/// Every other one that is not kept panics, the others fail.
fn or_dead<K: Time, C>(s: Stream<Rec, K, C>, c: u8, (a, b): (End<K::Stamp>, End<K::Stamp>)) -> End<K::Stamp>
where
    C: Chain<Out = Rec, Stamp = K::Stamp>,
{
    let sides = s.try_map_or_dead(move |r| match (keep(c, r), r.val % 2) {
        (true, _) => Ok(*r),
        (false, 0) => Err("not kept"),
        (false, _) => panic!("not kept"),
    });
    let (good, dead) = sides.roots();
    let ends = (good.tee(|_| a), dead.map(|letter| letter.value).tee(|_| b));
    BoxedEnd::new(sides.fork(ends))
}

/// The operators of one input and one output of the same kind.
fn one_output<K: Time>(op: Op, at: usize, out: End<K::Stamp>) -> End<K::Stamp> {
    let s = K::branch();
    match op {
        Op::Map(c) => join(s.map(move |r| map(c, r)), out),
        Op::Filter(c) => join(s.filter(move |r| keep(c, r)), out),
        Op::FlatMap(c) => join(s.flat_map(move |r| expand(c, r)), out),
        Op::FilterMap(c) => join(s.filter_map(move |r| maybe(c, r)), out),
        Op::MapInit(c) => {
            join(s.map_init(move |cx| c + u8::from(cx.instance() < cx.parallelism()), |c, r| map(*c, r)), out)
        }
        Op::TryMap(c) => join(s.try_map(move |r| Ok::<_, std::fmt::Error>(map(c, r))), out),
        Op::Apply => join(s.apply(Before(0)), out),
        Op::Through(c) => {
            join(s.through(|s| s.map(move |r| map(c, r))).named(format!("through{at}").leak()), out)
        }
        Op::Fused(c) => join(
            s.map(move |r| maybe(c, r))
                .filter(Option::is_some)
                .flat_map(move |r| r.into_iter().flat_map(move |r| expand(c, r))),
            out,
        ),
        Op::Boxed => join(s.boxed(), out),
        Op::RateLimit(n) => join(s.rate_limit(u64::from(n) * 1_000), out),
        Op::Requests(c) => {
            let asked = s.async_map(move |r| answered(map(c, r)), Millis(1_000)).capacity(usize::from(c) + 1);
            join(asked, out)
        }
        Op::Boundary => join(s.boundary(), out),
        Op::Rebalance => join(s.rebalance(), out),
        Op::Shuffle(seed) => join(s.shuffle(seed.into()), out),
        Op::Broadcast => join(s.broadcast(), out),
        Op::Global => join(s.global(), out),
        Op::PartitionBy => join(s.partition_by(|r: &Rec, _: usize| r.key.into()), out),
        Op::Take(n) => join(s.take(n.into()), out),
        Op::Skip(n) => join(s.skip(n.into()), out),
        Op::Distinct => join(s.distinct(), out),
        Op::Roll(form, roll) => rolling::roll(s, form, roll, out),
        Op::GlobalWindow(form, agg) => windowed::global(s, form, agg, out),
        Op::Fired(form, after, purging, agg) => windowed::fired(s, form, after.into(), purging, agg, out),
        Op::Counted(counts) => windowed::counted(s, counts, out),
        other => unreachable!("{other:?} is built elsewhere"),
    }
}

/// The user's own operator: it remembers the record before.
#[derive(Clone)]
struct Before(i64);

impl Operator<Rec> for Before {
    type Out = Rec;
    const KEEPS: bool = true;
    fn name(&self) -> &'static str {
        "before"
    }
    fn item<O: FnMut(Rec)>(&mut self, r: Rec, out: &mut O) -> Result<(), OpError> {
        out(Rec { val: with_state(&mut self.0, r), ..r });
        Ok(())
    }
    fn save(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }
    fn restore(&mut self, states: Vec<Vec<u8>>) -> Result<(), OpError> {
        for state in states {
            self.0 = i64::from_le_bytes(state.as_slice().try_into()?);
        }
        Ok(())
    }
}

/// An end as this file needs it.
pub fn boxed_end<S: Stamp>(end: impl Terminal) -> End<S> {
    BoxedEnd::new(end)
}
