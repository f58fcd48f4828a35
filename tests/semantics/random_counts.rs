//! Random inputs through count windows, against a model that keeps every element.

use crate::case::{Arrival, Case, El};
use crate::random::{Made, arrivals, config, kept, listed};
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
struct Counts {
    size: usize,
    every: usize,
    exact: bool,
    keyed: bool,
    /// What of a window is kept.
    made: Option<Made>,
}

/// The elements of a window, those that are kept.
fn row(els: &[El], made: Option<Made>) -> String {
    let names = listed(made.map_or(els.iter().collect(), |made| made.kept(els)));
    let (first, last) = (&els[0], &els[els.len() - 1]);
    let slash = if first.key.is_empty() { "" } else { "/" };
    format!("[{},{}) {}{slash}{}", first.time, last.time, first.key, names)
}

fn case(of: Counts, input: Vec<Arrival>) -> Case {
    let Counts { size, every, .. } = of;
    let mut keys: Vec<Vec<El>> = Vec::new();
    let mut rows = Vec::new();
    for arrival in &input {
        let Arrival::Item(el) = arrival else { continue };
        let at = keys.iter().position(|els| els[0].key == el.key).unwrap_or_else(|| {
            keys.push(Vec::new());
            keys.len() - 1
        });
        let els = &mut keys[at];
        els.push(el.clone());
        if els.len() >= size && (els.len() - size).is_multiple_of(every) {
            rows.push(row(&els[els.len() - size..], of.made));
        }
    }
    for els in keys.iter().filter(|_| !of.exact) {
        let next = (0..).map(|k| size + k * every).find(|full| *full > els.len()).expect("there is one");
        let shown = if next > size { next - every } else { 0 };
        let left = els.get(next - size..).filter(|left| !left.is_empty() && els.len() > shown);
        rows.extend(left.map(|left| row(left, of.made)));
    }
    let by_key = if of.keyed { " keyed" } else { "" };
    let exact = if of.exact { " exact" } else { "" };
    let window = format!(
        "count {size} every {every} gaps{exact}{by_key} {}",
        of.made.map_or("collect".into(), Made::word)
    );
    let steps = vec![window.split(' ').map(str::to_owned).collect()];
    let id = format!("random: {steps:?} {input:?}");
    Case { id, steps, inputs: vec![input], rows, ..Case::default() }
}

prop_compose! {
    fn counts()(
        size in 1usize..7,
        every in 1usize..9,
        exact in any::<bool>(),
        keyed in any::<bool>(),
        made in proptest::option::of(kept()),
    ) -> Counts {
        Counts { size, every, exact, keyed, made }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn count_windows_are_those_of_the_model(
        (counts, input) in counts().prop_flat_map(|c| (Just(c), arrivals(c.keyed))),
    ) {
        let answer = crate::runner::check(&case(counts, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}
