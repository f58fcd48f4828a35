//! Random inputs under each watermark strategy: the watermark of the model is found anew from all elements so far, behind each of them.

use crate::case::{Arrival, Case, El};
use crate::random::{Made, Shape, arrivals, case, config, tumbling};
use crate::strategies::carried;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Rule {
    Disorder(i64),
    Monotonic,
    MaxAhead(i64, i64),
    Punctuated,
    Thirds,
}

impl Rule {
    fn words(self) -> String {
        match self {
            Rule::Disorder(d) => format!("disorder {d}"),
            Rule::Monotonic => "monotonic".into(),
            Rule::MaxAhead(d, a) => format!("disorder {d} max_ahead {a}"),
            Rule::Punctuated => "punctuated".into(),
            Rule::Thirds => "thirds".into(),
        }
    }

    /// The watermark behind the last of `els`, if they say anything; how many of them are not believed, or not yet.
    fn watermark(self, els: &[El]) -> (Option<i64>, usize) {
        let highest = |els: &[El]| els.iter().map(|el| el.time).max();
        let less = |highest: Option<i64>, d| highest.map(|h| h - d - 1);
        match self {
            Rule::Disorder(d) => (less(highest(els), d), 0),
            Rule::Monotonic => (less(highest(els), 0), 0),
            Rule::Punctuated => (els.iter().filter_map(carried).max(), 0),
            Rule::Thirds => (less(highest(&els[..els.len() / 3 * 3]), 0), 0),
            Rule::MaxAhead(d, ahead) => {
                let (top, ignored) = believed(els, ahead);
                (less(top, d), ignored)
            }
        }
    }
}

/// The highest timestamp that is not too far ahead of the one before, or the middle one of three in a row; how many raised nothing.
fn believed(els: &[El], ahead: i64) -> (Option<i64>, usize) {
    let (mut top, mut far, mut ignored): (Option<i64>, Vec<i64>, usize) = (None, vec![], 0);
    for el in els {
        if top.is_some_and(|top| el.time <= top + ahead) {
            ignored += far.len();
            far.clear();
            top = top.max(Some(el.time));
            continue;
        }
        far.push(el.time);
        if let [a, b, c] = far[..] {
            let middle = a.max(b).min(a.min(b).max(c));
            top = top.max(far.iter().copied().filter(|t| *t <= middle + ahead).max());
            ignored += far.iter().filter(|t| **t > middle + ahead).count();
            far.clear();
        }
    }
    (top, ignored + far.len())
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        (0i64..12).prop_map(Rule::Disorder),
        Just(Rule::Monotonic),
        (0i64..6, 0i64..12).prop_map(|(d, a)| Rule::MaxAhead(d, a)),
        Just(Rule::Punctuated),
        Just(Rule::Thirds),
    ]
}

/// The case of this input, answered by the model of windows that is told each watermark.
fn answered(shape: Shape, keyed: bool, strategy: Rule, input: Vec<Arrival>) -> Case {
    let mut els: Vec<El> = Vec::new();
    let mut told = Vec::new();
    for arrival in input {
        let el = match arrival {
            Arrival::Item(el) => el,
            // In place of a watermark an element that carries it.
            Arrival::Watermark(w) => El { key: String::new(), name: format!("w{w}"), time: w, window: None },
            _ => continue,
        };
        told.push(Arrival::Item(el.clone()));
        els.push(el);
        told.extend(strategy.watermark(&els).0.map(Arrival::Watermark));
    }
    let mut case = case(shape, Made::Collect, keyed, None, told);
    case.inputs = vec![els.iter().cloned().map(Arrival::Item).collect()];
    case.steps.insert(0, strategy.words().split(' ').map(str::to_owned).collect());
    case.ahead = i64::try_from(strategy.watermark(&els).1).expect("few elements");
    case.id = format!("random: {:?} {els:?}", case.steps);
    case
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn watermarks_are_those_of_the_model(
        shape in tumbling(),
        strategy in rule(),
        (keyed, input) in any::<bool>().prop_flat_map(|keyed| (Just(keyed), arrivals(keyed))),
    ) {
        let answer = crate::runner::check(&answered(shape, keyed, strategy, input));
        prop_assert!(answer.is_ok(), "{}", answer.unwrap_err());
    }
}
