//! A graph of operators with what the interpreter says of each stream in it.

use super::interpret::{apply, source};
use super::plan::{Agg, Op, Plan, Roll, Run, Source, Step, pick};
use super::port::Port;
use crate::mode::IS_BATCH;
use std::fmt;

/// An operator; streams are numbers.
#[derive(Debug, Clone)]
pub struct Node {
    pub op: Op,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
}

/// Sources give the first streams, each node the next ones.
pub struct Graph {
    pub sources: Vec<Source>,
    pub nodes: Vec<Node>,
    pub ports: Vec<Port>,
    pub run: Run,
    /// How many elements are late in all.
    pub late: usize,
    /// Whether a `take` may end what lies before it early, so that not all of it is seen.
    pub cuts: bool,
}

/// More disorder than there is.
const ANY_DISORDER: i64 = 1 << 40;

impl Graph {
    /// The graph of a plan, without the steps whose outcome would depend on timing.
    pub fn new(plan: &Plan) -> Self {
        let mut graph = Graph {
            sources: plan.sources.clone(),
            nodes: Vec::new(),
            ports: plan.sources.iter().map(source).collect(),
            run: plan.run,
            late: 0,
            cuts: false,
        };
        if plan.run.seed.is_multiple_of(2) {
            plan.steps.first().map(|step| graph.timed(0, step.disorder));
        }
        plan.steps.iter().for_each(|step| graph.step(step));
        graph
    }

    /// Whether its rows are the same after a restart. Then the order in which the keys of a window fire is another one, so nothing
    /// behind one may depend on the order of keys.
    pub fn survives(&self) -> bool {
        let mut shuffled = vec![false; self.ports.len()];
        self.nodes.iter().all(|node| {
            let behind = node.inputs.iter().any(|port| shuffled[*port]);
            node.outputs.iter().for_each(|port| shuffled[*port] = behind || fires_by_key(&node.op));
            !behind || !sees_order(&node.op)
        })
    }

    /// The same operators at another parallelism, where nothing that they give depends on it.
    pub fn at(&self, parallelism: usize) -> Option<Graph> {
        let mut graph = Graph {
            sources: self.sources.clone(),
            nodes: Vec::new(),
            ports: self.sources.iter().map(source).collect(),
            run: Run { parallelism, ..self.run },
            late: 0,
            cuts: false,
        };
        let built = self.nodes.iter().all(|node| graph.add(node.op, &node.inputs));
        let alike = |a: &Port, b: &Port| a.sorted() == b.sorted();
        let same = || self.ports.iter().zip(&graph.ports).all(|(a, b)| alike(a, b));
        (built && self.late + graph.late == 0 && same()).then_some(graph)
    }

    /// The operator of a step, or its plainer form, or nothing.
    fn step(&mut self, step: &Step) {
        let mut from = pick(step.from, self.ports.len());
        if is_judged(&step.op) {
            // Where elements are late is where windows are hard.
            let lossy = |port: &Port| port.timed && port.single() && !port.punctual();
            let lossy = self.ports.iter().rposition(lossy).filter(|_| step.other.is_multiple_of(2));
            from = lossy.unwrap_or_else(|| self.timed(from, step.disorder));
        }
        let mut inputs = vec![from];
        if matches!(step.op, Op::Union | Op::UnionEnds | Op::Beside(_)) {
            let mut other = usize::from(step.other) % self.ports.len();
            if self.ports[from].timed != self.ports[other].timed {
                inputs[0] = self.timed(from, step.disorder);
                other = self.timed(other, step.disorder);
            }
            inputs.push(other);
        }
        if matches!(step.op, Op::Join(_)) {
            inputs = self.for_join(from, usize::from(step.other) % self.ports.len(), step.disorder);
        }
        if self.add(step.op, &inputs) || is_judged(&step.op) && self.anywhere(step.op) {
            return;
        }
        self.add(plainer(step.op), &inputs);
    }

    /// Two streams of which no element is late, if there are any: these, or others.
    fn for_join(&mut self, left: usize, right: usize, disorder: i64) -> Vec<usize> {
        let sides = [left, right].map(|port| self.timed(port, disorder));
        let known = |port: &Port| port.timed && port.punctual();
        let other = self.ports.iter().rposition(known);
        sides.map(|port| other.filter(|_| !known(&self.ports[port])).unwrap_or(port)).to_vec()
    }

    /// The operator where its outcome does not depend on timing.
    fn anywhere(&mut self, op: Op) -> bool {
        (0..self.ports.len()).any(|port| self.add(op, &[port]))
    }

    /// The stream with event time.
    fn timed(&mut self, port: usize, disorder: i64) -> usize {
        let has = self.ports[port].timed;
        if !has
            && (self.add(Op::EventTime(disorder), &[port]) || self.add(Op::EventTime(ANY_DISORDER), &[port]))
        {
            return self.ports.len() - 1;
        }
        port
    }

    fn add(&mut self, op: Op, inputs: &[usize]) -> bool {
        let known: Vec<&Port> = inputs.iter().map(|i| &self.ports[*i]).collect();
        let Some(outcome) = apply(&op, &known, self.run.parallelism) else { return false };
        let first = self.ports.len();
        self.ports.extend(outcome.ports);
        self.nodes.push(Node { op, inputs: inputs.to_vec(), outputs: (first..self.ports.len()).collect() });
        self.late += outcome.late;
        self.cuts |= outcome.cuts;
        true
    }

    /// How many operators take a stream.
    pub fn uses(&self, port: usize) -> usize {
        self.nodes.iter().flat_map(|node| &node.inputs).filter(|i| **i == port).count()
    }

    /// Whether a stream's records are collected: those that nothing else takes, and some others.
    pub fn is_shown(&self, port: usize) -> bool {
        self.uses(port) == 0 || (port as u64 ^ self.run.seed).is_multiple_of(5)
    }
}

/// Whether elements may be late for it.
fn is_judged(op: &Op) -> bool {
    matches!(op, Op::Window(_) | Op::Session(_))
}

/// Whether results of several keys leave at once.
fn fires_by_key(op: &Op) -> bool {
    matches!(
        op,
        Op::Window(_)
            | Op::Session(_)
            | Op::Counted(_)
            | Op::GlobalWindow(..)
            | Op::Fired(..)
            | Op::Join(_)
            | Op::Clocked(..)
            | Op::Beside(_)
    ) || IS_BATCH && matches!(op, Op::Roll(..))
}

/// Whether its rows depend on the order of its input.
fn sees_order(op: &Op) -> bool {
    let merges = |agg: &Agg| matches!(agg, Agg::Count | Agg::Sum | Agg::Spread);
    match op {
        Op::Apply
        | Op::Take(_)
        | Op::Skip(_)
        | Op::EventTime(_)
        | Op::Roll(..)
        | Op::Counted(_)
        | Op::Fired(..) => true,
        Op::Join(_) | Op::Beside(_) | Op::Clocked(..) => true,
        Op::Window(window) | Op::Session(window) => {
            !merges(&window.agg) || window.lateness > 0 || window.side
        }
        Op::GlobalWindow(_, agg) | Op::Total(super::plan::Total::Aggregate(agg)) => !merges(agg),
        Op::Total(total) => matches!(total, super::plan::Total::Fold | super::plan::Total::Reduce),
        _ => false,
    }
}

/// The same operator with less to ask of its input.
fn plainer(op: Op) -> Op {
    match op {
        Op::Roll(form, _) => Op::Roll(form, Roll::Count),
        Op::Window(window) => Op::Window(super::plan::Window { agg: Agg::Count, last: None, ..window }),
        Op::Counted(counts) => Op::GlobalWindow(counts.form, Agg::Spread),
        Op::GlobalWindow(form, _) | Op::Fired(form, ..) => Op::GlobalWindow(form, Agg::Spread),
        Op::Total(_) => Op::Total(super::plan::Total::Aggregate(Agg::Spread)),
        Op::EventTime(_) => Op::EventTime(ANY_DISORDER),
        Op::Take(_) => Op::Take(u8::MAX),
        other => other,
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.run)?;
        for (i, source) in self.sources.iter().enumerate() {
            match source {
                Source::FromIter(records) | Source::FromVec(records, _) => {
                    let splits = if let Source::FromVec(_, n) = source { *n } else { 1 };
                    let records: Vec<_> = records.iter().map(|r| (r.ts, r.key, r.val)).collect();
                    writeln!(f, "s{i} = source of {splits} partitions: (ts, key, val) = {records:?}")?;
                }
                generate => writeln!(f, "s{i} = {generate:?}")?,
            }
        }
        for node in &self.nodes {
            writeln!(f, "s{:?} = {:?} of s{:?}", node.outputs, node.op, node.inputs)?;
        }
        let shown: Vec<usize> = (0..self.ports.len()).filter(|port| self.is_shown(*port)).collect();
        write!(f, "collected: s{shown:?}")
    }
}
