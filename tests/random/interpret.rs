//! The naive interpreter: what an operator makes of what is known of its inputs.
//!
//! It keeps everything in vectors and computes anew. It gives `None` where the outcome depends on timing, and the graph then
//! does without that operator:
//!
//! * `take`, `skip` and whatever looks at the order of all records behind more than one sender;
//! * an operator that looks at the order of a key's records where they come from more than one sender;
//! * a window where elements may be behind their own sender's watermark and there is more than one sender.

use super::function::*;
use super::plan::{Form, Op, Source};
use super::port::{El, Event, Port, Strand, scatter, scatter_all};
use super::{counted, joins, keyed, sessions, windows};
use crate::mode::IS_BATCH;

/// What an operator gives.
pub struct Outcome {
    pub ports: Vec<Port>,
    /// How many elements were late.
    pub late: usize,
    /// Whether what lies before may end early.
    pub cuts: bool,
}

impl From<Port> for Outcome {
    fn from(port: Port) -> Self {
        Outcome { ports: vec![port], late: 0, cuts: false }
    }
}

/// Graphs are kept small.
const ELEMENTS_MAX: usize = 4000;

/// What comes out of `op` at parallelism `p`, or `None` where that depends on timing.
pub fn apply(op: &Op, inputs: &[&Port], p: usize) -> Option<Outcome> {
    let outcome = match op {
        Op::Take(n) | Op::Skip(n) => count_off(*n, matches!(op, Op::Take(_)), inputs[0])?,
        Op::Rebalance | Op::Shuffle(_) | Op::Broadcast | Op::Global | Op::PartitionBy => {
            route(op, inputs[0], p).into()
        }
        Op::EventTime(disorder) => event_time(inputs[0], *disorder)?.into(),
        Op::Partition(_) | Op::Split(_) | Op::SplitResult(_) | Op::OrDead(_) => split(op, inputs[0]),
        Op::UnionEnds | Op::Union => union(inputs[0], inputs[1])?.into(),
        Op::Beside(n) => keyed::beside(inputs[0], inputs[1], *n, p)?.into(),
        Op::Roll(form, roll) => keyed::roll(&keyed::keyed(inputs[0], Some(*form)), *roll, p)?.into(),
        Op::Distinct => keyed::distinct(inputs[0], p)?.into(),
        Op::Window(window) => windows::window(&keyed::keyed(inputs[0], window.form), window, p)?,
        Op::Session(window) => sessions::sessions(&keyed::keyed(inputs[0], window.form), window, p)?,
        Op::Counted(counts) => counted::counted(&keyed::keyed(inputs[0], counts.form), counts, p)?.into(),
        Op::GlobalWindow(form, agg) => {
            let instances = if form.is_some() { p } else { 1 };
            windows::global(&keyed::keyed(inputs[0], *form), *agg, instances)?.into()
        }
        // There are no parts of a window in a batch: it is refused.
        Op::Fired(_, _, true, _) if IS_BATCH => return None,
        Op::Fired(form, _, _, agg) if IS_BATCH => {
            let instances = if form.is_some() { p } else { 1 };
            windows::global(&keyed::keyed(inputs[0], *form), *agg, instances)?.into()
        }
        Op::Fired(form, after, purging, agg) => {
            let instances = if form.is_some() { p } else { 1 };
            counted::fired(&keyed::keyed(inputs[0], *form), usize::from(*after), *purging, *agg, instances)?
                .into()
        }
        Op::Join(join) => joins::joined(inputs[0], inputs[1], join, p)?.into(),
        Op::Clocked(by, agg) => {
            let instances = if by.is_some() { p } else { 1 };
            windows::clocked(&keyed::keyed(inputs[0], by.map(Form::By)), *agg, instances)?.into()
        }
        Op::Total(total) => windows::total(inputs[0], *total)?.into(),
        _ => one_to_one(op, inputs[0])?.into(),
    };
    let size: usize = outcome.ports.iter().map(Port::len).sum();
    (size <= ELEMENTS_MAX).then_some(outcome)
}

/// The strands of a source.
pub fn source(source: &Source) -> Port {
    let parts: Vec<Vec<Rec>> = match source {
        Source::FromIter(records) => vec![records.clone()],
        Source::FromVec(records, n) => {
            let bound = |i: usize| records.len() * i / n;
            (0..*n).map(|i| records[bound(i)..bound(i + 1)].to_vec()).collect()
        }
        Source::Generate(count, 1) => vec![(0..u64::from(*count)).map(generated).collect()],
        Source::Generate(count, n) => {
            let all: Vec<Rec> = (0..u64::from(*count)).map(generated).collect();
            let blocks: Vec<&[Rec]> = all.chunks(1024).collect();
            (0..*n).map(|i| blocks.iter().skip(i).step_by(*n).copied().flatten().copied().collect()).collect()
        }
    };
    let event = |rec: Rec| Event::El(El { rec, time: 0, key: 0 });
    let strands: Vec<Strand> = parts.into_iter().map(|part| part.into_iter().map(event).collect()).collect();
    Port { alone: true, ..Port::new(false, strands.len(), strands, true) }
}

/// The records of `generate`.
pub fn generated(i: u64) -> Rec {
    let n = i as i64;
    Rec { ts: 2 * n - 7 * n % 5, key: (n % i64::from(KEYS)) as u8, val: small(13 * n) }
}

fn one_to_one(op: &Op, input: &Port) -> Option<Port> {
    Some(match *op {
        Op::Map(c) | Op::TryMap(c) | Op::Through(c) => input.records(|r| [map(c, r)]),
        Op::Requests(c) => input.records(|r| [map(c, r)]),
        Op::MapInit(c) => input.records(|r| [map(c + 1, r)]),
        Op::Filter(c) => input.records(|r| keep(c, &r).then_some(r)),
        Op::FlatMap(c) => input.records(|r| expand(c, r)),
        Op::FilterMap(c) => input.records(|r| maybe(c, r)),
        Op::Fused(c) => input.records(|r| maybe(c, r)).records(|r| expand(c, r)),
        Op::Inspect | Op::Boxed | Op::RateLimit(_) | Op::Boundary | Op::Cut => input.clone(),
        Op::Apply if input.alone => {
            let strands = input.strands.iter().map(|strand| {
                let mut before = 0;
                let one = Port::new(input.timed, 1, vec![strand.clone()], true);
                one.records(|r| [Rec { val: with_state(&mut before, r), ..r }]).strands.remove(0)
            });
            Port { strands: strands.collect(), ..*input }
        }
        _ => return None,
    })
}

/// `take` and `skip`.
fn count_off(n: u8, take: bool, input: &Port) -> Option<Outcome> {
    let (n, all) = (usize::from(n), input.len());
    if !input.single() && n < all && n > 0 {
        return None;
    }
    let mut seen = 0;
    let port = input.each(|el| {
        seen += 1;
        ((seen <= n) == take).then_some(el)
    });
    Some(Outcome { ports: vec![port], late: 0, cuts: take && n <= all })
}

/// The exchanges without a key.
fn route(op: &Op, input: &Port, p: usize) -> Port {
    let (timed, strands) = (input.timed, &input.strands);
    if p == 1 || matches!(op, Op::Global) {
        return Port::new(timed, 1, strands.clone(), input.single());
    }
    let one_sender = input.single();
    let parts: Vec<Strand> = match op {
        Op::Broadcast => (0..p).flat_map(|_| strands.iter().cloned()).collect(),
        Op::PartitionBy => scatter_all(strands, |el| usize::from(el.rec.key) % p),
        Op::Rebalance if input.alone => strands.iter().flat_map(|strand| in_turn(strand, p)).collect(),
        _ => strands.iter().flat_map(|strand| in_turn(strand, usize::MAX)).collect(),
    };
    let alone = one_sender && !matches!(op, Op::Shuffle(_));
    Port { alone, ..Port::new(timed, p, parts, one_sender) }
}

/// One part of a strand for each of `n` receivers in turn.
fn in_turn(strand: &Strand, n: usize) -> Vec<Strand> {
    let mut next = 0;
    scatter(strand, |_| {
        next += 1;
        (next - 1) % n
    })
}

/// Watermarks where the order within each instance is known, or where no order makes an element late.
fn event_time(input: &Port, disorder: i64) -> Option<Port> {
    let times = || input.elements().map(|el| el.rec.ts);
    let spread = times().max().unwrap_or(0) - times().min().unwrap_or(0);
    if !IS_BATCH && !input.alone && spread > disorder {
        return None;
    }
    let stamp = |strand: &Strand| {
        let mut highest: Option<i64> = None;
        let mut made = Strand::new();
        for event in strand {
            let Event::El(el) = event else { continue };
            made.push(Event::El(El { time: el.rec.ts, ..*el }));
            if highest.is_none_or(|h| el.rec.ts > h) {
                highest = Some(el.rec.ts);
                made.extend((input.alone && !IS_BATCH).then_some(Event::Watermark(el.rec.ts - disorder - 1)));
            }
        }
        made
    };
    Some(Port { timed: true, strands: input.strands.iter().map(stamp).collect(), ..*input })
}

fn split(op: &Op, input: &Port) -> Outcome {
    let sides = if let Op::Split(sides) = op { *sides } else { 2 };
    let side_of = |r: &Rec| match op {
        Op::Partition(c) | Op::SplitResult(c) | Op::OrDead(c) => i64::from(!keep(*c, r)),
        _ => side(sides, r),
    };
    let ports = (0..i64::from(sides)).map(|s| input.records(|r| (side_of(&r) == s).then_some(r)));
    Outcome { ports: ports.collect(), late: 0, cuts: false }
}

fn union(a: &Port, b: &Port) -> Option<Port> {
    let strands = a.strands.iter().chain(&b.strands).cloned().collect();
    let port = Port::new(a.timed, a.instances.max(b.instances), strands, false);
    (a.timed == b.timed).then_some(port)
}
