//! Random inputs through windows with random triggers, against a model that lets the watermark rise by single milliseconds.

use crate::case::{Arrival, Case, El, instant};
use crate::random::{arrivals, config};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Size, slide, offset.
    Aligned(i64, i64, i64),
    Session(i64),
    Global,
}

#[derive(Debug, Clone, Copy)]
struct Triggers {
    kind: Kind,
    early: Option<i64>,
    at: Option<usize>,
    asks: bool,
    purging: bool,
    lateness: i64,
    keyed: bool,
}

impl Triggers {
    fn words(&self) -> String {
        let window = match self.kind {
            Kind::Aligned(size, slide, offset) if size == slide => format!("tumbling {size} offset {offset}"),
            Kind::Aligned(size, slide, offset) => {
                let gaps = if slide > size { " gaps" } else { "" };
                format!("sliding {size} {slide}{gaps} offset {offset}")
            }
            Kind::Session(gap) => format!("session {gap}"),
            Kind::Global => "global".to_owned(),
        };
        let early = self.early.map_or(String::new(), |every| format!(" early {every}"));
        let at = self.at.map_or(String::new(), |n| format!(" at {n}"));
        let asks = if self.asks { " asking" } else { "" };
        let purging = if self.purging { " purging" } else { "" };
        let keyed = if self.keyed { " keyed" } else { "" };
        let made = if matches!(self.kind, Kind::Session(_)) { "sorted" } else { "collect" };
        format!(
            "{window}{keyed} lateness {} trigger{early}{at}{asks}{purging} late side {made}",
            self.lateness
        )
    }

    /// The windows of an element: start, end, and the watermark at which it ends.
    fn windows(&self, t: i64) -> Vec<(i128, i128, i128)> {
        let t = i128::from(t);
        match self.kind {
            Kind::Aligned(size, slide, offset) => {
                let (size, slide, offset) = (i128::from(size), i128::from(slide), i128::from(offset));
                let starts = (t - size + 1..=t).filter(|s| (s - offset).rem_euclid(slide) == 0);
                starts.map(|s| (s, s + size, s + size - 1)).collect()
            }
            Kind::Session(gap) => vec![(t, t + i128::from(gap), t + i128::from(gap))],
            Kind::Global => vec![(i64::MIN.into(), i64::MAX.into(), i64::MAX.into())],
        }
    }
}

struct Window {
    key: String,
    bounds: (i128, i128, i128),
    /// With their numbers of arrival, and whether a firing has shown them.
    els: Vec<(usize, El, bool)>,
}

struct Model {
    of: Triggers,
    watermark: i128,
    windows: Vec<Window>,
    arrived: usize,
    rows: Vec<String>,
    late: Vec<String>,
}

impl Model {
    fn until(&self, due: i128) -> i128 {
        due + i128::from(self.of.lateness)
    }

    fn item(&mut self, el: &El) {
        let windows = self.of.windows(el.time);
        let Some(last) = windows.last().copied() else { return };
        let merges = matches!(self.of.kind, Kind::Session(_));
        let reached = |w: &Window, one: (i128, i128, i128)| {
            w.key == el.key
                && if merges { w.bounds.0 <= one.1 && one.0 <= w.bounds.1 } else { w.bounds == one }
        };
        let joins = merges && self.windows.iter().any(|w| reached(w, last));
        if !joins && self.until(last.2) <= self.watermark {
            self.late.push(format!("{el} by {}", self.watermark - self.until(last.2)));
            return;
        }
        self.arrived += 1;
        for one in windows {
            if !joins && self.until(one.2) <= self.watermark {
                continue;
            }
            let (parts, others): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.windows).into_iter().partition(|w| reached(w, one));
            self.windows = others;
            let mut whole = Window { key: el.key.clone(), bounds: one, els: Vec::new() };
            for part in parts {
                whole.bounds.0 = whole.bounds.0.min(part.bounds.0);
                whole.bounds.1 = whole.bounds.1.max(part.bounds.1);
                whole.bounds.2 = whole.bounds.2.max(part.bounds.2);
                whole.els.extend(part.els);
            }
            whole.els.push((self.arrived, el.clone(), false));
            let unshown = whole.els.iter().filter(|e| !e.2).count();
            let asks = self.of.asks && el.number().is_some_and(|n| n % 3 == 0);
            if whole.bounds.2 <= self.watermark || asks || self.of.at.is_some_and(|n| unshown >= n) {
                self.show(&mut whole);
            }
            self.windows.push(whole);
        }
    }

    fn show(&mut self, window: &mut Window) {
        let shown = window.els.iter().filter(|e| !(self.of.purging && e.2));
        let mut names: Vec<String> = shown.map(|e| e.1.name.clone()).collect();
        if matches!(self.of.kind, Kind::Session(_)) {
            names.sort();
        }
        window.els.iter_mut().for_each(|e| e.2 = true);
        let bound = |t: i128| instant(i64::try_from(t).expect("small windows"));
        let slash = if window.key.is_empty() { "" } else { "/" };
        let (start, end) = (bound(window.bounds.0), bound(window.bounds.1));
        self.rows.push(format!("[{start},{end}) {}{slash}{}", window.key, names.join(",")));
    }

    /// The watermark is `w`, one more than before; or the end of all.
    fn step(&mut self, w: i128) {
        self.watermark = w;
        let mut windows = std::mem::take(&mut self.windows);
        windows.sort_by_key(|w| (w.els.iter().map(|e| e.0).min(), w.bounds.1));
        for window in &mut windows {
            let (start, _, due) = window.bounds;
            let unshown = window.els.iter().any(|e| !e.2);
            let early = self.of.early.is_some_and(|every| (w + 1) % i128::from(every) == 0 && start < w + 1);
            let ends = w == due && !self.of.purging;
            if ends || unshown && (w == due || early && w < due) {
                self.show(window);
            }
        }
        windows.retain(|window| self.until(window.bounds.2) > w);
        self.windows = windows;
    }

    fn watermark(&mut self, w: i128) {
        if self.watermark == i64::MIN.into() {
            // Before the first one nothing has been passed.
            let first = self.windows.iter().map(|w| w.bounds.0.max(-100)).min().unwrap_or(w).min(w) - 1;
            self.watermark = first.max(self.watermark).max(-100);
        }
        for now in self.watermark + 1..=w {
            self.step(now);
        }
    }

    fn end(&mut self) {
        self.watermark(200);
        self.step(i64::MAX.into());
    }
}

fn case(of: Triggers, disorder: Option<i64>, input: Vec<Arrival>) -> Case {
    let watermark = i64::MIN.into();
    let (windows, rows, late) = (Vec::new(), Vec::new(), Vec::new());
    let mut model = Model { of, watermark, windows, arrived: 0, rows, late };
    for arrival in &input {
        match (arrival, disorder) {
            (Arrival::Item(el), None) => model.item(el),
            (Arrival::Item(el), Some(disorder)) => {
                model.item(el);
                model.watermark(i128::from(el.time) - i128::from(disorder) - 1);
            }
            (Arrival::Watermark(w), None) => model.watermark((*w).into()),
            _ => {}
        }
    }
    model.end();
    let from = disorder.map(|d| format!("disorder {d}"));
    let window = of.words();
    let steps = from.iter().chain([&window]).map(|s| s.split(' ').map(str::to_owned).collect()).collect();
    let id = format!("random: {steps:?} {input:?}");
    Case { id, steps, inputs: vec![input], rows: model.rows, late: model.late, ..Case::default() }
}

fn kind() -> impl Strategy<Value = Kind> {
    let aligned = (1i64..12, 1i64..20).prop_flat_map(|(slide, size)| {
        let sizes = prop_oneof![Just(slide), Just(size)];
        (sizes, Just(slide), 1 - slide..slide)
            .prop_map(|(size, slide, offset)| Kind::Aligned(size, slide, offset))
    });
    prop_oneof![4 => aligned, 2 => (1i64..12).prop_map(Kind::Session), 1 => Just(Kind::Global)]
}

prop_compose! {
    fn triggers()(
        kind in kind(),
        early in proptest::option::of(1i64..9),
        at in proptest::option::of(1usize..5),
        asks in any::<bool>(),
        purging in any::<bool>(),
        lateness in prop_oneof![2 => Just(0), 1 => 0i64..15],
        keyed in any::<bool>(),
    ) -> Triggers {
        Triggers { kind, early, at, asks, purging, lateness, keyed }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn triggered_windows_are_those_of_the_model(
        (triggers, input) in triggers().prop_flat_map(|t| (Just(t), arrivals(t.keyed))),
        disorder in proptest::option::of(0i64..12),
    ) {
        let answer = crate::runner::check(&case(triggers, disorder, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}
