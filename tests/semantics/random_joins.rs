//! Random inputs through joins of every form, against models that keep everything and compare each element with each.

use crate::case::{Arrival, Case, El, instant};
use crate::random::{arrivals, config, on_time};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The elements of an input, named apart from those of the other; some without a key.
pub fn elements(input: &[Arrival]) -> Vec<El> {
    let element = |arrival: &Arrival| match arrival {
        Arrival::Item(el) => Some(el.clone()),
        _ => None,
    };
    input.iter().filter_map(element).collect()
}

/// Where the key 2 is, there is none.
fn nothing_for_two(mut input: Vec<Arrival>) -> Vec<Arrival> {
    for arrival in &mut input {
        if let Arrival::Item(el) = arrival
            && el.key == "k2"
        {
            el.key = "nothing".into();
        }
    }
    input
}

/// The highest watermark of an input.
fn highest(input: &[Arrival]) -> i64 {
    let watermarks = input.iter().filter_map(|arrival| match arrival {
        Arrival::Watermark(w) => Some(*w),
        _ => None,
    });
    watermarks.max().unwrap_or(i64::MIN)
}

/// Where an input says that it holds back nobody: behind so many arrivals, and again behind some more.
type Idle = Option<(usize, usize)>;

/// The input, idle in some places. Meanwhile the other may go on to its `highest` watermark, so what comes from the first place on is
/// behind that: then nothing is late, whatever meets when. If both are idle neither has watermarks from there on, since what the other
/// has would have to be behind these.
fn with_idle(mut input: Vec<Arrival>, idle: Idle, both: bool, highest: i64) -> Vec<Arrival> {
    let Some((first, more)) = idle else { return input };
    let mut rest = input.split_off(first.min(input.len()));
    let time = |arrival: &Arrival| match arrival {
        Arrival::Item(el) => Some(el.time),
        Arrival::Watermark(w) => Some(*w),
        _ => None,
    };
    rest.retain(|arrival| !(both && matches!(arrival, Arrival::Watermark(_))));
    let least = rest.iter().filter_map(time).min().unwrap_or(i64::MAX);
    let later = if least > highest { 0 } else { highest - least + 1 };
    for arrival in &mut rest {
        match arrival {
            Arrival::Watermark(w) => *w += later,
            Arrival::Item(el) => {
                el.time += later;
                el.name = el.time.to_string();
            }
            _ => {}
        }
    }
    rest.insert(more.min(rest.len()), Arrival::Idle);
    input.push(Arrival::Idle);
    input.extend(rest);
    input
}

/// Two inputs whose elements respect their own watermarks, and that are idle now and then.
pub fn inputs() -> impl Strategy<Value = [Vec<Arrival>; 2]> {
    let input = || arrivals(true).prop_map(on_time).prop_map(nothing_for_two);
    let idle = || prop::option::weighted(0.3, (0usize..20, 0usize..10));
    (input(), input(), idle(), idle()).prop_map(|(left, right, idle_left, idle_right)| {
        let both = idle_left.is_some() && idle_right.is_some();
        let to_place = |input: &[Arrival], idle: Idle| match idle {
            Some((first, _)) if both => highest(&input[..first.min(input.len())]),
            _ => highest(input),
        };
        let highest = [to_place(&left, idle_left), to_place(&right, idle_right)];
        [with_idle(left, idle_left, both, highest[1]), with_idle(right, idle_right, both, highest[0])]
    })
}

/// The case of a join: `words` say which, the rows are those of a model.
pub fn case(words: String, inputs: [Vec<Arrival>; 2], rows: Vec<String>) -> Case {
    let steps = vec![words.split(' ').map(str::to_owned).collect()];
    let id = format!("random: {steps:?} {inputs:?}");
    Case { id, steps, inputs: inputs.into(), rows, ..Case::default() }
}

/// The elements of both sides.
type Sides = (Vec<El>, Vec<El>);

fn list(els: &[El]) -> String {
    let mut names: Vec<&str> = els.iter().map(|el| el.name.as_str()).collect();
    names.sort_unstable();
    if names.is_empty() { "-".into() } else { names.join(",") }
}

/// The rows of the elements of one key, without what stands before them.
fn rows_of(form: &str, key: &str, (lefts, rights): &Sides) -> Vec<String> {
    let meet = key != "nothing";
    let alone = |els: &Vec<El>, others: &Vec<El>| !meet || others.is_empty() || els.is_empty();
    if form == "group" {
        return if meet || lefts.is_empty() || rights.is_empty() {
            vec![format!("{}+{}", list(lefts), list(rights))]
        } else {
            vec![format!("{}+-", list(lefts)), format!("-+{}", list(rights))]
        };
    }
    let mut rows = Vec::new();
    if meet {
        for left in lefts {
            rows.extend(rights.iter().map(|right| format!("{}+{}", left.name, right.name)));
        }
    }
    if alone(lefts, rights) && ["left", "full"].contains(&form) {
        rows.extend(lefts.iter().map(|left| format!("{}+-", left.name)));
    }
    if alone(rights, lefts) && ["right", "full"].contains(&form) {
        rows.extend(rights.iter().map(|right| format!("-+{}", right.name)));
    }
    rows
}

/// Which windows.
#[derive(Debug, Clone, Copy)]
enum Windows {
    Sliding { size: i64, slide: i64 },
    Session { gap: i64 },
    Global,
}

impl Windows {
    fn words(self) -> String {
        match self {
            Windows::Sliding { size, slide } if size == slide => format!("tumbling {size}"),
            Windows::Sliding { size, slide } => {
                format!("sliding {size} {slide}{}", if slide > size { " gaps" } else { "" })
            }
            Windows::Session { gap } => format!("session {gap}"),
            Windows::Global => "global".into(),
        }
    }

    /// The windows of one key's elements, which are sorted by time.
    fn of(self, times: &[i64]) -> Vec<(i64, i64)> {
        match self {
            Windows::Sliding { size, slide } => {
                let starts =
                    times.iter().flat_map(|t| (t - size + 1..=*t).filter(|s| s.rem_euclid(slide) == 0));
                let mut windows: Vec<_> = starts.map(|s| (s, s + size)).collect();
                windows.sort_unstable();
                windows.dedup();
                windows
            }
            Windows::Session { gap } => {
                let chains = times.chunk_by(|a, b| b - a <= gap);
                chains.map(|chain| (chain[0], chain[chain.len() - 1] + gap)).collect()
            }
            Windows::Global => vec![(i64::MIN, i64::MAX)],
        }
    }

    fn holds(self, (start, end): (i64, i64), t: i64) -> bool {
        match self {
            // An element at exactly the gap would belong to it.
            Windows::Session { .. } => (start..=end).contains(&t),
            _ => (start..end).contains(&t),
        }
    }
}

/// The rows of elements without a key: each is in a session of its own.
fn sessions_of_nothing(form: &str, gap: i64, lefts: &[El], rights: &[El]) -> Vec<String> {
    let left = lefts.iter().map(|el| (el.time, (vec![el.clone()], Vec::new())));
    let right = rights.iter().map(|el| (el.time, (Vec::new(), vec![el.clone()])));
    let rows = left.chain(right).flat_map(|(start, sides)| {
        let rows = rows_of(form, "nothing", &sides).into_iter();
        rows.map(move |row| format!("[{start},{}) nothing/{row}", start + gap))
    });
    rows.collect()
}

fn window_case(form: &str, windows: Windows, inputs: [Vec<Arrival>; 2]) -> Case {
    let mut keys: BTreeMap<String, Sides> = BTreeMap::new();
    for el in elements(&inputs[0]) {
        keys.entry(el.key.clone()).or_default().0.push(el);
    }
    for el in elements(&inputs[1]) {
        keys.entry(el.key.clone()).or_default().1.push(el);
    }
    let mut rows = Vec::new();
    for (key, (lefts, rights)) in &keys {
        if let Windows::Session { gap } = windows
            && key == "nothing"
        {
            rows.extend(sessions_of_nothing(form, gap, lefts, rights));
            continue;
        }
        let mut times: Vec<i64> = lefts.iter().chain(rights).map(|el| el.time).collect();
        times.sort_unstable();
        for window in windows.of(&times) {
            let within =
                |els: &[El]| els.iter().filter(|el| windows.holds(window, el.time)).cloned().collect();
            let of_window = rows_of(form, key, &(within(lefts), within(rights)));
            let (start, end) = (instant(window.0), instant(window.1));
            rows.extend(of_window.into_iter().map(|row| format!("[{start},{end}) {key}/{row}")));
        }
    }
    case(format!("join {form} {} sorted", windows.words()), inputs, rows)
}

fn windows() -> impl Strategy<Value = Windows> {
    prop_oneof![
        2 => (1i64..12).prop_map(|size| Windows::Sliding { size, slide: size }),
        1 => (1i64..12, 1i64..9).prop_map(|(size, slide)| Windows::Sliding { size, slide }),
        2 => (1i64..9).prop_map(|gap| Windows::Session { gap }),
        1 => Just(Windows::Global),
    ]
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn window_joins_are_those_of_the_model(
        form in prop::sample::select(vec!["inner", "left", "right", "full", "group"]),
        windows in windows(),
        inputs in inputs(),
    ) {
        let answer = crate::runner::check(&window_case(form, windows, inputs));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}
