//! Random inputs through random windows, against a model that a reader can check by eye.

use crate::case::{Arrival, Case, El, instant};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What is made of a window's elements.
#[derive(Debug, Clone, Copy)]
pub enum Made {
    Collect,
    Sum,
    Max,
    /// The last so many.
    Last(usize),
    /// Those that are less than so much older than the newest.
    LastMs(i64),
    /// Each, numbered through all windows of its key.
    Process,
}

/// Elements of a window in order of arrival.
pub fn listed<'a>(els: impl IntoIterator<Item = &'a El>) -> String {
    els.into_iter().map(|el| el.name.as_str()).collect::<Vec<_>>().join(",")
}

impl Made {
    /// Those of a window's elements that it keeps.
    pub fn kept(self, els: &[El]) -> Vec<&El> {
        let newest = els.iter().map(|el| el.time).max().unwrap_or(0);
        match self {
            Made::Last(n) => els.iter().skip(els.len().saturating_sub(n)).collect(),
            Made::LastMs(d) => els.iter().filter(|el| el.time + d > newest).collect(),
            _ => els.iter().collect(),
        }
    }

    fn of(self, els: &[El]) -> String {
        let numbers = || els.iter().filter_map(El::number);
        match self {
            Made::Process => String::new(),
            Made::Collect | Made::Last(_) | Made::LastMs(_) => listed(self.kept(els)),
            Made::Sum => numbers().sum::<i64>().to_string(),
            Made::Max => numbers().max().map_or("none".into(), |n| n.to_string()),
        }
    }

    pub fn word(self) -> String {
        match self {
            Made::Last(n) => format!("evict {n} collect"),
            Made::LastMs(d) => format!("evict {d}ms collect"),
            made => format!("{made:?}").to_lowercase(),
        }
    }
}

/// Windows of `size`, one each `slide`; tumbling ones if that is the same.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    size: i64,
    slide: i64,
    offset: i64,
    lateness: i64,
}

impl Shape {
    fn words(&self) -> String {
        let Shape { size, slide, offset, lateness } = self;
        let gaps = if slide > size { " gaps" } else { "" };
        let kind =
            if size == slide { format!("tumbling {size}") } else { format!("sliding {size} {slide}{gaps}") };
        format!("{kind} offset {offset} lateness {lateness}")
    }

    /// The beginnings of the windows of `t`: none in a gap.
    fn starts(&self, t: i64) -> Vec<i128> {
        let since = |start: &i128| i128::from(t) - start;
        let aligned = |start: &i128| (start - i128::from(self.offset)).rem_euclid(self.slide.into()) == 0;
        (i128::from(t) - i128::from(self.size) + 1..=t.into())
            .filter(|s| aligned(s) && since(s) >= 0)
            .collect()
    }
}

/// A window operator as the rules describe it: one key after the other, all elements kept in all of their windows.
struct Model {
    shape: Shape,
    made: Made,
    watermark: i128,
    /// By start: whether the watermark has passed it, and its keys in order of appearance with their elements.
    windows: BTreeMap<i128, (bool, Vec<(String, Vec<El>)>)>,
    rows: Vec<String>,
    late: Vec<String>,
    evicted: usize,
    /// How many elements of each key a whole-window function has seen.
    seen: BTreeMap<String, usize>,
}

impl Model {
    fn last(&self, start: i128) -> i128 {
        start + i128::from(self.shape.size) - 1
    }

    /// The last instant, with the lateness.
    fn until(&self, start: i128) -> i128 {
        self.last(start) + i128::from(self.shape.lateness)
    }

    fn item(&mut self, el: &El) {
        let starts = self.shape.starts(el.time);
        let Some(last) = starts.last() else { return };
        if self.until(*last) <= self.watermark {
            self.late.push(format!("{el} by {}", self.watermark - self.until(*last)));
            return;
        }
        for start in starts {
            if self.until(start) > self.watermark {
                self.join(start, el);
            }
        }
    }

    fn join(&mut self, start: i128, el: &El) {
        let passed = self.last(start) <= self.watermark;
        let (_, keys) = self.windows.entry(start).or_insert((passed, Vec::new()));
        let at = keys.iter().position(|(key, _)| *key == el.key).unwrap_or_else(|| {
            keys.push((el.key.clone(), Vec::new()));
            keys.len() - 1
        });
        keys[at].1.push(el.clone());
        if passed {
            self.fire(start, at);
        }
    }

    fn watermark(&mut self, w: i128) {
        self.watermark = self.watermark.max(w);
        let due: Vec<i128> = self.windows.keys().copied().filter(|s| self.last(*s) <= w).collect();
        for start in due {
            if !std::mem::replace(&mut self.windows.get_mut(&start).expect("it is there").0, true) {
                (0..self.windows[&start].1.len()).for_each(|at| self.fire(start, at));
            }
        }
        let windows = std::mem::take(&mut self.windows);
        let ends = w == i64::MAX.into();
        let (kept, gone): (Vec<_>, Vec<_>) =
            windows.into_iter().partition(|(start, _)| !ends && self.until(*start) > w);
        self.windows = kept.into_iter().collect();
        let keys = gone.iter().flat_map(|(_, (_, keys))| keys);
        self.evicted += keys.map(|(_, els)| els.len() - self.made.kept(els).len()).sum::<usize>();
    }

    fn fire(&mut self, start: i128, at: usize) {
        let (key, els) = self.windows[&start].1[at].clone();
        let end = i64::try_from(self.last(start) + 1).expect("small windows");
        let slash = if key.is_empty() { "" } else { "/" };
        let window = format!("[{start},{}) {key}{slash}", instant(end));
        let Made::Process = self.made else {
            return self.rows.push(format!("{window}{}", self.made.of(&els)));
        };
        let seen = self.seen.entry(key).or_default();
        for el in els {
            *seen += 1;
            self.rows.push(format!("{window}{}#{seen}", el.name));
        }
    }
}

/// Elements around a watermark that rises by small steps: most boundaries are met exactly.
pub fn arrivals(keyed: bool) -> impl Strategy<Value = Vec<Arrival>> {
    let rise = prop_oneof![3 => Just(None), 1 => (0i64..9).prop_map(Some)];
    proptest::collection::vec((rise, 0..3, -12i64..12), 0..30).prop_map(move |steps| {
        let mut now = -10;
        let arrival = |(rise, key, distance): (Option<i64>, i32, i64)| {
            if let Some(rise) = rise {
                now += rise;
                return Arrival::Watermark(now);
            }
            let (key, time) = (if keyed { format!("k{key}") } else { String::new() }, now + distance);
            Arrival::Item(El { key, name: time.to_string(), time, window: None })
        };
        steps.into_iter().map(arrival).collect()
    })
}

fn lateness() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), 0i64..15, Just(i64::MAX)]
}

prop_compose! {
    pub fn tumbling()(size in 1i64..12)(
        size in Just(size),
        offset in 1 - size..size,
        lateness in lateness(),
    ) -> Shape {
        Shape { size, slide: size, offset, lateness }
    }
}

prop_compose! {
    fn sliding()(slide in 1i64..9)(
        slide in Just(slide),
        size in prop_oneof![1 => 1i64..9, 3 => 1i64..40],
        offset in 1 - slide..slide,
        lateness in lateness(),
    ) -> Shape {
        Shape { size, slide, offset, lateness }
    }
}

/// The case of this input, answered by the model. With `disorder` the watermarks of the input are left out.
pub fn case(shape: Shape, made: Made, keyed: bool, disorder: Option<i64>, input: Vec<Arrival>) -> Case {
    let (windows, rows, late) = (BTreeMap::new(), Vec::new(), Vec::new());
    let mut model =
        Model { shape, made, watermark: i128::MIN, windows, rows, late, evicted: 0, seen: BTreeMap::new() };
    for arrival in &input {
        match (arrival, disorder) {
            (Arrival::Item(el), None) => model.item(el),
            (Arrival::Item(el), Some(disorder)) => {
                model.item(el);
                model.watermark(model.watermark.max(i128::from(el.time) - i128::from(disorder) - 1));
            }
            (Arrival::Watermark(w), None) => model.watermark(model.watermark.max((*w).into())),
            _ => {}
        }
    }
    model.watermark(i64::MAX.into());
    let by_key = if keyed { " keyed" } else { "" };
    let window = format!("{}{by_key} late side {}", shape.words(), made.word());
    let from = disorder.map(|d| format!("disorder {d}"));
    let steps = from.iter().chain([&window]).map(|s| s.split(' ').map(str::to_owned).collect()).collect();
    let id = format!("random: {steps:?} {input:?}");
    let evicted = Some(i64::try_from(model.evicted).expect("few elements"));
    Case { id, steps, inputs: vec![input], rows: model.rows, late: model.late, evicted, ..Case::default() }
}

/// What an evictor keeps.
pub fn kept() -> impl Strategy<Value = Made> {
    prop_oneof![(1usize..5).prop_map(Made::Last), (1i64..9).prop_map(Made::LastMs)]
}

/// Without the elements that do not respect their own input's watermark.
pub fn on_time(input: Vec<Arrival>) -> Vec<Arrival> {
    let mut watermark = i64::MIN;
    let keep = |arrival: &Arrival| match arrival {
        Arrival::Watermark(w) => {
            watermark = watermark.max(*w);
            true
        }
        Arrival::Item(el) => el.time > watermark,
        _ => true,
    };
    input.into_iter().filter(keep).collect()
}

/// Counts by key and window: whatever meets when, nothing is late.
fn counts(size: i64, union: bool, inputs: Vec<Vec<Arrival>>) -> Case {
    let mut counts: BTreeMap<(i64, String), usize> = BTreeMap::new();
    for arrival in inputs.iter().flatten() {
        if let Arrival::Item(el) = arrival {
            *counts.entry((el.time.div_euclid(size) * size, el.key.clone())).or_default() += 1;
        }
    }
    let row = |((start, key), n): ((i64, String), usize)| format!("[{start},{}) {key}/{n}", start + size);
    let rows = counts.into_iter().map(row).collect();
    let window = format!("tumbling {size} keyed count");
    let steps = union.then_some("union").into_iter().chain([window.as_str()]);
    let steps = steps.map(|s| s.split(' ').map(str::to_owned).collect()).collect();
    let id = format!("random: {steps:?} {inputs:?}");
    Case { id, steps, inputs, rows, ..Case::default() }
}

/// Few cases, each of which runs in many ways; `FLOW_RANDOM_CASES` says how many others.
pub fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(20, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn windows_are_those_of_the_model(
        shape in tumbling(),
        made in prop::sample::select(vec![Made::Collect, Made::Process]),
        (keyed, input) in any::<bool>().prop_flat_map(|keyed| (Just(keyed), arrivals(keyed))),
        disorder in proptest::option::of(0i64..12),
    ) {
        let answer = crate::runner::check(&case(shape, made, keyed, disorder, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }

    #[test]
    fn sliding_windows_are_those_of_the_model(
        shape in sliding(),
        made in prop::sample::select(vec![Made::Collect, Made::Process, Made::Sum, Made::Sum, Made::Max, Made::Max]),
        (keyed, input) in any::<bool>().prop_flat_map(|keyed| (Just(keyed), arrivals(keyed))),
        disorder in proptest::option::of(0i64..12),
    ) {
        let answer = crate::runner::check(&case(shape, made, keyed, disorder, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }

    #[test]
    fn evicted_windows_are_those_of_the_model(
        shape in prop_oneof![tumbling(), sliding()],
        made in kept(),
        (keyed, input) in any::<bool>().prop_flat_map(|keyed| (Just(keyed), arrivals(keyed))),
        disorder in proptest::option::of(0i64..12),
    ) {
        let answer = crate::runner::check(&case(shape, made, keyed, disorder, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }

    #[test]
    fn whatever_meets_when_nothing_is_lost(
        size in 1i64..12,
        union in any::<bool>(),
        inputs in proptest::collection::vec(arrivals(true).prop_map(on_time), 2..4),
    ) {
        let answer = crate::runner::check(&counts(size, union, inputs));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}
