//! Windows of processing time, and triggers by the clock: elements that come at random ticks of the simulation's clock, which moves
//! only when nobody has anything left to do, against a model that keeps every element.

use crate::random::config;
use flow_core::op::kind::{Bounded, Once};
use flow_core::prelude::*;
use flow_core::source::{Poll, Reader, Source};
use flow_core::stage::OpenCx;
use flow_core::time::Clock;
use proptest::prelude::*;
use std::sync::Arc;

/// Key, name and the tick at which it comes.
type El = (u8, usize, i64);

/// A source that waits for the tick of each of its elements.
#[derive(Clone)]
struct Paced(Arc<Vec<El>>);

struct PacedReader {
    els: Arc<Vec<El>>,
    at: usize,
    clock: Arc<dyn Clock>,
}

impl Source for Paced {
    type Item = El;
    type Split = ();
    type Reader = PacedReader;
    type Bounds = Bounded;
    type Replay = Once;
    fn name(&self) -> &'static str {
        "paced"
    }
    fn splits(&self) -> Result<Vec<()>> {
        Ok(vec![()])
    }
    fn open(&self, (): (), cx: &mut OpenCx) -> Result<PacedReader> {
        Ok(PacedReader { els: Arc::clone(&self.0), at: 0, clock: Arc::clone(cx.clock()) })
    }
}

impl Reader<El> for PacedReader {
    fn poll<O: FnMut(El)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for _ in 0..budget {
            match self.els.get(self.at) {
                None => return Ok(Poll::End),
                Some(el) if el.2 > self.clock.ticks() => return Ok(Poll::WaitUntil(el.2)),
                Some(el) => {
                    out(*el);
                    self.at += 1;
                }
            }
        }
        Ok(Poll::More)
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Size and offset.
    Tumbling(i64, i64),
    /// Size and slide.
    Sliding(i64, i64),
    Session(i64),
    /// Each element has a gap of its own, by its name.
    SessionBy,
    /// Everything, with what is new or all of it at each multiple.
    Global(i64, bool),
}

/// Key, start and end of a window, and the names of its elements.
type Row = (u8, i64, i64, Vec<usize>);

fn gap(el: &El) -> i64 {
    1 + (el.1 as i64 * 7) % 9
}

fn run(kind: Kind, els: &[El], parallelism: usize, batch: usize, seed: u64) -> Vec<Row> {
    let out = Collected::new();
    let job = Job::build("clocked", |job| {
        let keyed = source(Paced(Arc::new(els.to_vec()))).key_by(|el| el.0);
        macro_rules! collected {
            ($windows:expr) => {{
                let rows = $windows.aggregate(|a| a.collect());
                let row = |w: Windowed<u8, Vec<El>>| {
                    (w.key, w.start.0, w.end.0, w.value.iter().map(|el| el.1).collect::<Vec<_>>())
                };
                job.add(rows.map(row).collect(&out));
            }};
        }
        match kind {
            Kind::Tumbling(size, offset) => {
                collected!(keyed.window(tumbling(Millis(size)).offset(Millis(offset)).time(processing)))
            }
            Kind::Sliding(size, slide) => {
                let windows = sliding(Millis(size), Millis(slide)).gaps(true);
                collected!(keyed.window(windows.time(processing)))
            }
            Kind::Session(gap) => collected!(keyed.window(session(Millis(gap)).time(processing))),
            Kind::SessionBy => {
                collected!(keyed.window(session_by(|el: &El| Millis(gap(el))).time(processing)))
            }
            Kind::Global(every, true) => {
                let windows = keyed.window(global());
                collected!(windows.trigger(|t| t.early_by_clock(Millis(every)).purging()))
            }
            Kind::Global(every, false) => {
                collected!(keyed.window(global()).trigger(|t| t.early_by_clock(Millis(every))))
            }
        }
    });
    let job = job.parallelism(parallelism).batch_size(batch);
    job.simulate(seed).expect("the job ends well");
    out.take()
}

/// Of each window its end, the arrival of its first element, and what comes out.
fn windows(kind: Kind, els: &[El]) -> Vec<(i64, usize, Row)> {
    let mut windows: Vec<(i64, usize, Row)> = Vec::new();
    for (arrived, el) in els.iter().enumerate() {
        let (key, name, t) = *el;
        let bounds: Vec<(i64, i64)> = match kind {
            Kind::Tumbling(size, offset) => {
                let start = t - (t - offset).rem_euclid(size);
                vec![(start, start + size)]
            }
            Kind::Sliding(size, slide) => {
                let starts = (t - size + 1..=t).filter(|s| s.rem_euclid(slide) == 0);
                starts.map(|s| (s, s + size)).collect()
            }
            Kind::Session(gap) => vec![(t, t + gap)],
            Kind::SessionBy => vec![(t, t + gap(el))],
            Kind::Global(..) => unreachable!("it has a model of its own"),
        };
        let merges = matches!(kind, Kind::Session(_) | Kind::SessionBy);
        for (start, end) in bounds {
            let reached = |w: &&mut (i64, usize, Row)| {
                w.2.0 == key && if merges { t <= w.0 } else { (w.2.1, w.0) == (start, end) }
            };
            match windows.iter_mut().find(reached) {
                Some(window) => {
                    window.2.3.push(name);
                    window.0 = window.0.max(end);
                }
                None => windows.push((end, arrived, (key, start, end, vec![name]))),
            }
        }
    }
    windows.iter_mut().for_each(|window| window.2.2 = window.0);
    windows
}

/// A result at each multiple of the clock, of the keys that have something new; and at the end.
fn everything(every: i64, purging: bool, els: &[El]) -> Vec<Row> {
    let mut keys: Vec<(u8, Vec<usize>, bool)> = Vec::new();
    let mut rows = Vec::new();
    let mut fire = |keys: &mut Vec<(u8, Vec<usize>, bool)>, ends: bool| {
        for (key, names, new) in keys {
            if *new || (ends && !purging) {
                rows.push((*key, i64::MIN, i64::MAX, names.clone()));
                *new = false;
                if purging {
                    names.clear();
                }
            }
        }
    };
    let mut clock = 0;
    for (key, name, t) in els {
        while clock < *t {
            clock += 1;
            if clock % every == 0 {
                fire(&mut keys, false);
            }
        }
        match keys.iter_mut().find(|k| k.0 == *key) {
            Some(known) => {
                known.1.push(*name);
                known.2 = true;
            }
            None => keys.push((*key, vec![*name], true)),
        }
    }
    fire(&mut keys, true);
    rows
}

fn expected(kind: Kind, els: &[El]) -> Vec<Row> {
    match kind {
        Kind::Global(every, purging) => everything(every, purging, els),
        _ => {
            let mut all = windows(kind, els);
            all.sort_by_key(|(end, arrived, _)| (*end, *arrived));
            all.into_iter().map(|(_, _, row)| row).collect()
        }
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    let sliding = (1i64..20, 1i64..9).prop_map(|(size, slide)| Kind::Sliding(size, slide));
    let tumbling = (1i64..12).prop_flat_map(|size| (Just(size), 1 - size..size));
    prop_oneof![
        tumbling.prop_map(|(size, offset)| Kind::Tumbling(size, offset)),
        sliding,
        (1i64..9).prop_map(Kind::Session),
        Just(Kind::SessionBy),
        (1i64..9, any::<bool>()).prop_map(|(every, purging)| Kind::Global(every, purging)),
    ]
}

prop_compose! {
    fn els()(steps in proptest::collection::vec((0u8..3, prop_oneof![Just(0i64), 0i64..9]), 0..30)) -> Vec<El> {
        let mut now = 0;
        let el = |(name, (key, pause)): (usize, (u8, i64))| {
            now += pause;
            (key, name, now)
        };
        steps.into_iter().enumerate().map(el).collect()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn windows_of_processing_time_are_those_of_the_model(kind in kind(), els in els(), seed in any::<u64>()) {
        let want = expected(kind, &els);
        for batch in [1, 7, 1024] {
            prop_assert_eq!(run(kind, &els, 1, batch, seed), want.clone(), "{:?} {:?}", kind, els);
            for parallelism in [2, 4] {
                let mut rows = run(kind, &els, parallelism, batch, seed);
                let mut want = want.clone();
                rows.sort();
                want.sort();
                prop_assert_eq!(rows, want, "{:?} {:?} at {}", kind, els, parallelism);
            }
        }
    }
}

/// On the machine's clock only the sum is known: every element is in one window, and windows lie on their grid.
#[test]
fn on_threads_and_workers_nothing_is_lost() {
    for host in [HostKind::Threads, HostKind::Workers(2)] {
        let out = Collected::new();
        let job = Job::build("real", |job| {
            let paced = source(generate(200, |n| n).rate(4_000));
            let counts = paced.key_by(|n| n % 3).window(tumbling(Millis(5)).time(processing)).count();
            job.add(counts.map(|w| (w.key, w.start.0, w.end.0, w.value)).collect(&out));
        });
        job.parallelism(2).host(host).run().expect("the job ends well");
        let rows = out.take();
        assert_eq!(rows.iter().map(|row| row.3).sum::<u64>(), 200);
        assert!(rows.iter().all(|row| row.1.rem_euclid(5) == 0 && row.2 == row.1 + 5), "{rows:?}");
        let windows: std::collections::BTreeSet<_> = rows.iter().map(|row| (row.0, row.1)).collect();
        assert_eq!(windows.len(), rows.len(), "each window of a key has one result: {rows:?}");
        assert!(rows.len() > 3, "windows fire while elements still come: {rows:?}");
    }
}
