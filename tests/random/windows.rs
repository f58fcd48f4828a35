//! The interpreter's windows and aggregates of everything.

use super::function::*;
use super::interpret::Outcome;
use super::keyed::{by_key, folded, push};
use super::plan::{Agg, Total, Window};
use super::port::{El, Event, Port, Strand};
use std::collections::{BTreeMap, HashSet};

/// A result as a number; `None` where there is none. `records` in order of arrival.
pub fn aggregate(agg: Agg, records: &[Rec]) -> Option<i64> {
    let values = || records.iter().map(|r| r.val);
    let n = records.len() as i64;
    Some(match agg {
        Agg::Count => n,
        Agg::Sum => values().sum(),
        Agg::Spread => {
            let mean = values().sum::<i64>() as f64 / n as f64;
            let distinct = values().map(|v| v % 10).collect::<HashSet<i64>>().len() as i64;
            spread(values().min()?, values().max()?, mean, distinct as u64)
        }
        Agg::Order => {
            let mut best = records.to_vec();
            best.sort_by_key(|r| std::cmp::Reverse(r.val % 50));
            best.truncate(3);
            order(*records.first()?, *records.last()?, records, &best)
        }
        Agg::Fold => folded(records),
        Agg::Reduce => code(&records.iter().copied().reduce(reduce)?),
    })
}

/// `(min, max, mean, count_distinct)` as a number.
pub fn spread(min: i64, max: i64, mean: f64, distinct: u64) -> i64 {
    min * 3 + max * 5 + mean.floor() as i64 * 7 + distinct as i64 * 11
}

/// `(first, last, collect, top_k)` as a number.
pub fn order(first: Rec, last: Rec, all: &[Rec], best: &[Rec]) -> i64 {
    code(&first) * 3 + code(&last) * 5 + folded(all) * 7 + folded(best) * 11
}

/// Whether the order of records does not matter to it.
fn commutes(agg: Agg) -> bool {
    matches!(agg, Agg::Count | Agg::Sum | Agg::Spread)
}

/// Where the windows of `t` begin: none in a gap.
fn starts(window: &Window, t: i64) -> Vec<i128> {
    let [t, size, slide, offset] = [t, window.size, window.slide, window.offset].map(i128::from);
    (t - size + 1..=t).filter(|start| (start - offset).rem_euclid(slide) == 0).collect()
}

pub fn shown(t: i128) -> i64 {
    t.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Results and late elements of a window over a keyed stream.
pub fn window(input: &Port, window: &Window, p: usize) -> Option<Outcome> {
    if !input.timed {
        return None;
    }
    let single = input.single();
    let tumbling = window.slide == window.size;
    let settled = commutes(window.agg) && window.last.is_none()
        || input.ordered(|el| (el.key, if tumbling { starts(window, el.time) } else { Vec::new() }));
    let known = single || input.punctual() && settled;
    if !known {
        return None;
    }
    let mut run = Run { window, panes: BTreeMap::new(), now: i128::MIN, results: vec![], late: vec![] };
    // More than one sender, nobody late: as if nothing fired before the end.
    let strand = if single { input.strands.first().cloned().unwrap_or_default() } else { input.heap() };
    for event in strand {
        match event {
            Event::El(el) => run.element(el)?,
            Event::Watermark(w) => run.watermark(w)?,
        }
    }
    run.fire(i128::MAX)?;
    // In which order the keys of a sliding window come is not defined.
    let apart = !single || window.form.is_some() && !tumbling;
    Some(judged(window, p, (single, apart), run.results, run.late))
}

/// What comes of a window that judges its elements; its results come `apart` where the order of keys is not defined.
pub fn judged(
    window: &Window,
    p: usize,
    (single, apart): (bool, bool),
    results: Strand,
    late: Strand,
) -> Outcome {
    let instances = if window.form.is_some() { p } else { 1 };
    let count = late.iter().filter(|event| matches!(event, Event::El(_))).count();
    let results = by_key(true, instances, vec![results], apart, single);
    let late = by_key(true, instances, vec![late], !single, single);
    let ports = if window.side { vec![results, late] } else { vec![results] };
    Outcome { ports, late: count, cuts: false }
}

/// A window operator at work: for each open window its keys, as they first came, with their records.
struct Run<'a> {
    window: &'a Window,
    panes: BTreeMap<i128, Pane>,
    now: i128,
    results: Strand,
    late: Strand,
}

#[derive(Default)]
struct Pane {
    fired: bool,
    keys: Vec<(u8, Vec<Rec>)>,
}

impl Run<'_> {
    fn element(&mut self, el: El) -> Option<()> {
        let starts = starts(self.window, el.time);
        let Some(last) = starts.last() else { return Some(()) };
        if self.until(*last) <= self.now {
            let late_by = i64::try_from(self.now - self.until(*last)).ok()?;
            push(&mut self.late, El { rec: late_row(el.rec, el.time, late_by), ..el });
            return Some(());
        }
        let open: Vec<i128> = starts.into_iter().filter(|start| self.until(*start) > self.now).collect();
        open.into_iter().try_for_each(|start| self.join(start, el))
    }

    /// The last instant at which a window takes elements.
    fn until(&self, start: i128) -> i128 {
        start + i128::from(self.window.size) - 1 + i128::from(self.window.lateness)
    }

    fn join(&mut self, start: i128, el: El) -> Option<()> {
        let keys = &mut self.panes.entry(start).or_default().keys;
        let at = keys.iter().position(|(key, _)| *key == el.key).unwrap_or_else(|| {
            keys.push((el.key, Vec::new()));
            keys.len() - 1
        });
        keys[at].1.push(el.rec);
        if start + i128::from(self.window.size) - 1 <= self.now {
            self.panes.get_mut(&start)?.fired = true;
            self.emit(start, at)?;
        }
        Some(())
    }

    /// The result of a key of a window.
    fn emit(&mut self, start: i128, at: usize) -> Option<()> {
        let end = start + i128::from(self.window.size);
        let (key, records) = &self.panes[&start].keys[at];
        let gone = self.window.last.map_or(0, |last| records.len().saturating_sub(last.into()));
        let records = &records[gone..];
        let rec = row(*key, shown(start), shown(end), aggregate(self.window.agg, records)?);
        push(&mut self.results, El { rec, time: shown(end - 1), key: *key });
        Some(())
    }

    fn watermark(&mut self, w: i64) -> Option<()> {
        self.fire(w.into())?;
        self.now = w.into();
        self.results.push(Event::Watermark(w));
        self.late.push(Event::Watermark(w));
        Some(())
    }

    /// All windows that `w` has passed, by their ends.
    fn fire(&mut self, w: i128) -> Option<()> {
        let size = i128::from(self.window.size);
        let due = |(start, pane): &(&i128, &Pane)| !pane.fired && **start + size - 1 <= w;
        let due: Vec<i128> = self.panes.iter().filter(due).map(|(start, _)| *start).collect();
        for start in due {
            self.panes.get_mut(&start)?.fired = true;
            (0..self.panes[&start].keys.len()).try_for_each(|at| self.emit(start, at))?;
        }
        Some(())
    }
}

/// The window of everything, over a keyed stream.
pub fn global(input: &Port, agg: Agg, instances: usize) -> Option<Port> {
    whole(input, agg, instances, (i64::MIN, i64::MAX), input.timed)
}

/// A window of the clock that holds everything: its results have no event time.
pub fn clocked(input: &Port, agg: Agg, instances: usize) -> Option<Port> {
    whole(input, agg, instances, (0, i64::MAX), false)
}

fn whole(input: &Port, agg: Agg, instances: usize, (start, end): (i64, i64), timed: bool) -> Option<Port> {
    if !commutes(agg) && !input.ordered(|el| el.key) {
        return None;
    }
    let mut keys: Vec<(u8, Vec<Rec>)> = Vec::new();
    for el in input.elements() {
        match keys.iter_mut().find(|(key, _)| *key == el.key) {
            Some((_, records)) => records.push(el.rec),
            None => keys.push((el.key, vec![el.rec])),
        }
    }
    let mut rows = Strand::new();
    for (key, records) in keys {
        let rec = row(key, start, end, aggregate(agg, &records)?);
        push(&mut rows, El { rec, time: if timed { i64::MAX } else { 0 }, key });
    }
    Some(by_key(timed, instances, vec![rows], !input.single(), input.single()))
}

/// One result of everything, without event time.
pub fn total(input: &Port, total: Total) -> Option<Port> {
    let agg = match total {
        Total::Aggregate(agg) => agg,
        Total::Fold => Agg::Fold,
        Total::Reduce => Agg::Reduce,
        _ => Agg::Sum,
    };
    if !commutes(agg) && !input.single() {
        return None;
    }
    let records: Vec<Rec> = input.elements().map(|el| el.rec).collect();
    let value = match total {
        Total::Count => Some(records.len() as i64),
        Total::Min => records.iter().map(|r| r.val).min(),
        Total::Max => records.iter().map(|r| r.val).max(),
        _ => aggregate(agg, &records),
    };
    let row = value.map(|value| Event::El(El { rec: rec(0, value), time: 0, key: 0 }));
    Some(Port::new(false, 1, vec![row.into_iter().collect()], true))
}
