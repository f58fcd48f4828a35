//! The aggregates of the suite's windows, totals and rolling operators, by name.

use crate::case::El;
use crate::pipeline::{Elements, Probe, Windows, named};
use crate::rows::Rows;
use flow_core::op::KeyFn;
use flow_core::prelude::*;
use flow_core::window::WindowCx;
use flow_core::window::aggregate::{fail, side};
use flow_core::window::count::{Counted, Lifting};
use flow_core::window::late::DropLate;
use flow_core::window::session::{Gap, Session};
use flow_core::window::spec::{Assign, Global};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A key as it is written: that of a window without key as nothing.
pub trait KeyText: Serialize + DeserializeOwned {
    fn text(&self) -> String;
}
impl KeyText for () {
    fn text(&self) -> String {
        String::new()
    }
}
impl KeyText for String {
    fn text(&self) -> String {
        self.clone()
    }
}

/// A window's result as an element, its value written as text.
pub fn element<K: KeyText, V>(w: Windowed<K, V>, text: impl Fn(V) -> String) -> El {
    let (start, end) = (w.start.millis(), w.end.millis());
    El { key: w.key.text(), name: text(w.value), time: end.saturating_sub(1), window: Some((start, end)) }
}

pub fn names(els: Vec<El>) -> String {
    els.into_iter().map(|el| el.name).collect::<Vec<_>>().join(",")
}

/// For windows whose order inside is not what is tested.
pub fn sorted(mut els: Vec<El>) -> String {
    els.sort_by(|a, b| a.name.cmp(&b.name));
    names(els)
}

pub fn joined(mut a: El, b: El) -> El {
    a.name = format!("{}+{}", a.name, b.name);
    a
}

fn best(v: Option<i64>) -> String {
    v.map_or("none".into(), |v| v.to_string())
}

fn stats((n, sum, mean): (u64, i64, Option<f64>)) -> String {
    format!("{n},{sum},{}", mean.map_or("none".into(), |m| m.to_string()))
}

/// The elements of a window, numbered through all windows of the key.
fn numbered<K: KeyText>(w: &mut WindowCx<'_, K, usize, El>, els: Vec<El>) {
    let window = Some((w.start().millis(), w.end().millis()));
    for el in els {
        *w.state() += 1;
        let name = format!("{}#{}", el.name, w.state());
        w.emit(El { key: w.key().text(), name, time: w.end().millis().saturating_sub(1), window });
    }
}

/// The kinds of windows, each a function that closes its windows: rustc can prove that a pipeline is complete only where it knows
/// the operator.
macro_rules! kinds {
    ($($kind:ident: $windows:ty, [$($parameter:ident: $bound:path)?], $($only:literal)?;)*) => {$(
        pub fn $kind<F $(, $parameter)?>(
            job: &mut Job,
            windows: Windows<F, $windows, DropLate>,
            late: &str,
            aggregate: &str,
            probe: &Probe,
        ) -> Elements
        where
            F: KeyFn<El, Value = El, Key: KeyText>,
            $($parameter: $bound,)?
        {
            let forking = Forking { job, late: probe.late.clone() };
            match (late, aggregate) {
                ("drop", "collect") => windows.aggregate(|a| a.collect()).map(|w| element(w, names)).boxed(),
                ("drop", "sum") => {
                    windows.aggregate(|a| a.sum(El::number)).map(|w| element(w, |v| v.to_string())).boxed()
                }
                ("drop", "count") => windows.count().map(|w| element(w, |v| v.to_string())).boxed(),
                ("drop", "max") => windows.aggregate(|a| a.max(El::number)).map(|w| element(w, best)).boxed(),
                ("drop", "narrow") => windows
                    .aggregate(|a| a.sum(|el| el.number().map(|n| n as i8)))
                    .map(|w| element(w, |v| v.to_string()))
                    .boxed(),
                ("drop", "ends") => windows
                    .aggregate(|a| (a.first(), a.last()))
                    .map(|w| element(w, |(first, last)| format!("{}..{}", first.name, last.name)))
                    .boxed(),
                ("drop", "stats") => windows
                    .aggregate(|a| (a.count(), a.sum(El::number), a.mean(El::number)))
                    .map(|w| element(w, stats))
                    .boxed(),
                ("drop", "process") => windows.process_window(0, numbered).boxed(),
                ("drop", "growth") => windows
                    .aggregate_window(|a| a.sum(El::number), 0, |w, sum| {
                        let before = std::mem::replace(w.state(), sum);
                        w.emit(El { key: w.key().text(), window: None, time: w.end().0 - 1, name: (sum - before).to_string() });
                    })
                    .boxed(),
                ("side", "process") => {
                    let processed = windows.late(side).process_window(0, numbered);
                    let (rows, late) = processed.roots();
                    let (end, rows) = rows.cut();
                    let late = late.map(|l| format!("{} by {}", l.value, l.late_by.0)).sink(probe.late.clone());
                    forking.job.add(processed.fork((end, late)));
                    rows.boxed()
                }
                $(("drop", $only) => windows.reduce(joined).map(|w| element(w, |v| v.name)).boxed(),)?
                ("fail", "collect") => {
                    windows.late(fail).aggregate(|a| a.collect()).map(|w| element(w, names)).boxed()
                }
                ("side", "collect") => forking.fork(windows.late(side).aggregate(|a| a.collect()), names),
                ("side", "sorted") => forking.fork(windows.late(side).aggregate(|a| a.collect()), sorted),
                ("side", "sum") => {
                    forking.fork(windows.late(side).aggregate(|a| a.sum(El::number)), |v| v.to_string())
                }
                ("side", "max") => forking.fork(windows.late(side).aggregate(|a| a.max(El::number)), best),
                other => panic!("{other:?} is not what becomes of late elements and windows"),
            }
        }
    )*};
}
kinds! {
    aligned: W, [W: Assign], "reduce";
    whole: Global, [], "reduce";
    sessions: Session<G>, [G: Gap<El>], ;
    counted: Counted<L>, [L: Lifting], "reduce";
}

/// Windows whose late elements go to a side.
pub struct Forking<'a> {
    pub job: &'a mut Job,
    pub late: Rows,
}

impl Forking<'_> {
    pub fn fork<K, V, C>(
        self,
        forked: flow_core::op::Forked<Either<Windowed<K, V>, Late<El>>, crate::mode::ScriptKind, C>,
        text: impl Fn(V) -> String + Clone + Send + 'static,
    ) -> Elements
    where
        K: KeyText + Send + 'static,
        V: Send + 'static,
        C: flow_core::op::Chain<Out = Either<Windowed<K, V>, Late<El>>, Stamp = Timestamp>,
    {
        let (rows, late) = forked.roots();
        let (end, rows) = rows.map(move |w| element(w, &text)).cut();
        let late = late.map(|l| format!("{} by {}", l.value, l.late_by.0)).sink(self.late);
        self.job.add(forked.fork((end, late)));
        rows.boxed()
    }
}

/// A rolling operator over the elements' keys.
pub fn rolling(stream: Elements, op: &str) -> Elements {
    fn keyed<V: ToString>((key, value): (String, V)) -> El {
        El { key, ..named(value) }
    }
    let by_key = stream.key_by(|el| el.key.clone());
    match op {
        "count" => by_key.count().map(keyed).boxed(),
        "sum" => by_key.sum(El::number).map(keyed).boxed(),
        "narrow" => by_key.sum(|el| el.number().map(|n| n as i8)).map(keyed).boxed(),
        "wrapping" => by_key.wrapping_sum(|el| el.number().map(|n| n as i8)).map(keyed).boxed(),
        "min" => by_key.min(El::number).map(keyed).boxed(),
        "max" => by_key.max(El::number).map(keyed).boxed(),
        "reduce" => by_key.reduce(joined).map(|(key, el)| El { key, ..named(el.name) }).boxed(),
        "fold" => by_key.fold(String::from("^"), |all, el| all.push_str(&el.name)).map(keyed).boxed(),
        "dedup_first" => by_key.dedup_first().map(|(key, el)| El { key, ..named(el.name) }).boxed(),
        "dedup_last" => timed(by_key.dedup_last().map(|(key, el)| El { key, ..named(el.name) })),
        "top2" => {
            let top = by_key.top_n(2, El::number);
            let names = |top: Vec<El>| top.into_iter().map(|el| el.name).collect::<Vec<_>>().join(",");
            top.map(move |(key, top)| El { key, ..named(names(top)) }).boxed()
        }
        // The rises against the element before.
        "scan" => by_key
            .scan(None, |last, el| {
                let (before, now) = (std::mem::replace(last, el.number()), el.number()?);
                before.filter(|b| *b < now).map(|b| now - b)
            })
            .map(keyed)
            .boxed(),
        other => panic!("`{other}` is not a rolling operator"),
    }
}

/// A result of everything has no event time; steps behind it have.
pub fn timed<K, C>(stream: Stream<El, K, C>) -> Elements
where
    K: Kind<Stamp = (), Timed = crate::mode::ScriptKind>,
    C: Flow<El, K, Root = flow_core::op::boxed::NoRoot>,
{
    stream.event_time(|el| el.time).disorder(Millis(0)).boxed()
}

/// An aggregate of everything.
pub fn total(stream: Elements, op: &str) -> Elements {
    match op {
        "count" => timed(stream.count().map(named)),
        "sum" => timed(stream.sum(El::number).map(named)),
        "narrow" => timed(stream.sum(|el| el.number().map(|n| n as i8)).map(named)),
        "min" => timed(stream.min(|el| el.name.clone()).map(named)),
        "max" => timed(stream.max(|el| el.name.clone()).map(named)),
        "least" => timed(stream.min(El::number).map(named)),
        "fold" => timed(stream.fold(0u32, |n, _| *n += 1).map(named)),
        "reduce" => timed(stream.reduce(joined).map(|el| named(el.name))),
        "collect" => timed(stream.aggregate(|a| a.collect()).map(|els| named(format!("({})", names(els))))),
        "distinct" => timed(stream.aggregate(|a| a.count_distinct(|el| el.name.clone())).map(named)),
        "first" => timed(stream.aggregate(|a| a.first()).map(|el| named(el.name))),
        "last" => timed(stream.aggregate(|a| a.last()).map(|el| named(el.name))),
        "mean" => timed(stream.aggregate(|a| a.mean(|el| el.time)).map(named)),
        other => panic!("`{other}` is not an aggregate of everything"),
    }
}
