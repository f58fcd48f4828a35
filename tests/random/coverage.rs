//! What the cases have covered.

use super::graph::Graph;
use super::plan::{Form, Op, Source};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Coverage {
    cases: usize,
    exchanges: usize,
    late: usize,
    exact: usize,
    operators: BTreeMap<String, usize>,
}

/// Every name that has to be covered.
const EXPECTED: &[&str] = &[
    "aggregate",
    "apply",
    "beside",
    "boundary",
    "boxed",
    "broadcast",
    "collect",
    "count",
    "clocked",
    "cut",
    "distinct",
    "event_time",
    "evict",
    "filter",
    "filter_map",
    "flat_map",
    "fold",
    "for_each",
    "from_iter",
    "from_vec",
    "fused",
    "generate",
    "global",
    "inspect",
    "join, as_of",
    "join, forever",
    "join, lookup",
    "join, session",
    "join, sliding",
    "join, tumbling",
    "join, within",
    "key_by",
    "key_by_ref",
    "keyed count",
    "keyed filter",
    "keyed fold",
    "keyed dedup_first",
    "keyed top_n",
    "keyed map_with_state",
    "keyed max",
    "keyed min",
    "keyed process",
    "keyed reduce",
    "keyed scan",
    "keyed sum",
    "keyed wrapping_sum",
    "lateness",
    "map",
    "map_init",
    "map_values",
    "max",
    "min",
    "or_dead",
    "partition",
    "partition_by",
    "rate_limit",
    "requests",
    "rebalance",
    "reduce",
    "shuffle",
    "side",
    "skip",
    "split",
    "split_result",
    "sum",
    "take",
    "tee",
    "through",
    "try_map",
    "union",
    "union_ends",
    "window(count)",
    "window(global)",
    "window(global), fired",
    "window(session)",
    "window(sliding)",
    "window(tumbling)",
    "window without key",
    "wrapping_sum",
];

impl Coverage {
    pub fn add(&mut self, graph: &Graph) {
        self.cases += 1;
        let mut names = BTreeSet::new();
        let mut exchange = false;
        for node in &graph.nodes {
            names.extend(names_of(&node.op));
            exchange |= is_exchange(&node.op);
        }
        for source in &graph.sources {
            names.insert(match source {
                Source::FromIter(_) => "from_iter".to_owned(),
                Source::FromVec(..) => "from_vec".to_owned(),
                Source::Generate(..) => "generate".to_owned(),
            });
        }
        for port in 0..graph.ports.len() {
            let shown = usize::from(graph.is_shown(port));
            names.extend((graph.uses(port) + shown > 1).then(|| "tee".to_owned()));
            let sink = if port.is_multiple_of(2) { "collect" } else { "for_each" };
            names.extend((shown == 1).then(|| sink.to_owned()));
        }
        for name in names {
            *self.operators.entry(name).or_default() += 1;
        }
        self.exchanges += usize::from(exchange && graph.run.parallelism > 1);
        self.late += usize::from(graph.late > 0);
        let exact = (0..graph.ports.len()).any(|port| graph.is_shown(port) && graph.ports[port].single());
        self.exact += usize::from(exact);
    }

    /// Enough of everything, once there are enough cases to say so.
    pub fn check(&self) {
        for name in EXPECTED {
            let graphs = self.operators.get(*name).copied().unwrap_or(0);
            assert!(graphs >= 50, "{name} is in {graphs} graphs only");
        }
        assert!(self.exchanges * 100 >= self.cases * 30, "too few graphs with an exchange: {self}");
        // In a batch there are none.
        let late = if crate::mode::IS_BATCH { self.late == 0 } else { self.late * 100 >= self.cases * 20 };
        assert!(late, "too few or too many graphs with late elements: {self}");
    }
}

fn is_exchange(op: &Op) -> bool {
    use Op::*;
    matches!(
        op,
        Rebalance
            | Shuffle(_)
            | Broadcast
            | Global
            | PartitionBy
            | Roll(..)
            | Distinct
            | Beside(_)
            | Window(_)
            | Session(_)
            | Counted(_)
            | GlobalWindow(..)
            | Fired(..)
            | Clocked(..)
            | Join(_)
    )
}

/// The operators an entry of a graph stands for.
fn names_of(op: &Op) -> Vec<String> {
    let snake = |text: String| {
        let word: String = text.chars().take_while(|c| c.is_alphanumeric()).collect();
        let split = |c: char| if c.is_uppercase() { format!("_{}", c.to_lowercase()) } else { c.to_string() };
        word.chars().map(split).collect::<String>().trim_start_matches('_').to_owned()
    };
    let form = |form: &Form| match form {
        Form::By(_) => vec!["key_by".to_owned()],
        Form::Ref => vec!["key_by_ref".to_owned()],
        Form::Filtered(_) => vec!["key_by".to_owned(), "keyed filter".to_owned()],
        Form::Mapped(_) => vec!["key_by".to_owned(), "map_values".to_owned()],
    };
    let mut names = match op {
        Op::Roll(by, _) => form(by),
        Op::Counted(counts) => counts.form.as_ref().map_or(vec!["window without key".to_owned()], form),
        Op::Window(window) | Op::Session(window) => {
            window.form.as_ref().map_or(vec!["window without key".to_owned()], form)
        }
        Op::GlobalWindow(by, _) | Op::Fired(by, ..) => {
            by.as_ref().map_or(vec!["window without key".to_owned()], form)
        }
        _ => Vec::new(),
    };
    match op {
        Op::Roll(_, roll) => names.push(format!("keyed {}", snake(format!("{roll:?}")))),
        Op::Counted(_) => names.push("window(count)".to_owned()),
        Op::Window(window) | Op::Session(window) => {
            let kind = match op {
                Op::Session(_) => "session",
                _ if window.slide == window.size => "tumbling",
                _ => "sliding",
            };
            names.push(format!("window({kind})"));
            names.extend((window.lateness > 0).then(|| "lateness".to_owned()));
            names.extend(window.side.then(|| "side".to_owned()));
            names.extend(window.last.map(|_| "evict".to_owned()));
        }
        Op::GlobalWindow(..) => names.push("window(global)".to_owned()),
        Op::Fired(..) => names.push("window(global), fired".to_owned()),
        Op::Total(total) => names.push(snake(format!("{total:?}"))),
        Op::Join(join) => names.push(format!("join, {}", snake(format!("{:?}", join.how)))),
        Op::Partition(_) => names.push("partition".to_owned()),
        other => names.push(snake(format!("{other:?}"))),
    }
    names
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |n: usize| 100 * n / self.cases.max(1);
        write!(
            f,
            "{} graphs; {} % with an exchange between instances, {} % with late elements, {} % with rows in an exact order",
            self.cases,
            share(self.exchanges),
            share(self.late),
            share(self.exact)
        )?;
        for (name, graphs) in &self.operators {
            write!(f, "; {name} {graphs}")?;
        }
        Ok(())
    }
}
