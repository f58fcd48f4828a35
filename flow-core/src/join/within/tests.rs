//! Random elements and watermarks in a random order against a model that compares each element with each, late ones included.

use super::bounds::Bounds;
use super::way::Interval;
use crate::join::form::{Form, Full, Inner, LeftOuter, RightOuter};
use crate::join::testing::{Arrival, Shown, arrivals, cases, drive};
use crate::join::timed::TimedHead;
use crate::op::kind::Volatile;
use crate::stage::meta::Meta;
use crate::time::{Millis, Timestamp};
use crate::window::late::SideLate;
use proptest::prelude::*;
use std::ops::RangeInclusive;

/// What the rules say of `arrivals`: rows and marks as [`drive`] shows them.
fn model(bounds: Bounds, form: &str, arrivals: &[Arrival]) -> Vec<String> {
    let (from, to) =
        (bounds.lower.0 + i64::from(bounds.above_lower), bounds.upper.0 - i64::from(bounds.below_upper));
    let wide = i128::from;
    let outer = |left: bool| form == "full" || form == if left { "left" } else { "right" };
    let (mut shown, mut kept, mut watermark) = (Vec::new(), Vec::<(Arrival, bool, bool)>::new(), i64::MIN);
    let mut passed = i64::MIN;
    for arrival in arrivals.iter().copied().chain([Arrival::Watermark(i64::MAX)]) {
        let gone = |time: i64, left: bool, w: i64| {
            if left { wide(time) + wide(to) <= wide(w) } else { wide(time) - wide(from) <= wide(w) }
        };
        match arrival {
            Arrival::Element { left, time, name, .. } => {
                if watermark != i64::MIN && time <= watermark {
                    shown.push(format!("late {name} at {time} by {}", watermark.saturating_sub(time)));
                    continue;
                }
                let (matched, pairs) = meet(arrival, &mut kept, wide(from)..=wide(to));
                shown.extend(pairs);
                // What can match nothing that comes leaves at once.
                let at_once = watermark != i64::MIN && gone(time, left, watermark);
                if at_once && !matched && outer(left) {
                    shown.push(alone(arrival));
                }
                kept.push((arrival, matched, at_once));
            }
            Arrival::Watermark(w) if w > watermark => {
                watermark = w;
                let mut leaving = Vec::new();
                for (born, (element, matched, left_already)) in kept.iter_mut().enumerate() {
                    let Arrival::Element { left, time, .. } = *element else { continue };
                    let over = if w == i64::MAX { true } else { gone(time, left, w) };
                    if over
                        && !std::mem::replace(left_already, *left_already || over)
                        && !*matched
                        && outer(left)
                    {
                        leaving.push((time, born, alone(*element)));
                    }
                }
                leaving.sort();
                shown.extend(leaving.into_iter().map(|row| row.2));
                let held_left = if outer(true) { to.max(0) } else { 0 };
                let held_right = if outer(false) { (-from).max(0) } else { 0 };
                let passes = if w == i64::MAX { w } else { w.saturating_sub(held_left.max(held_right)) };
                if passes > passed {
                    passed = passes;
                    shown.push(format!("W{passes}"));
                }
            }
            Arrival::Watermark(_) | Arrival::Other => {}
        }
    }
    shown
}

/// Whether an element matches others, and the rows of its pairs, by the time and arrival of the others.
fn meet(
    element: Arrival,
    kept: &mut [(Arrival, bool, bool)],
    bounds: RangeInclusive<i128>,
) -> (bool, Vec<String>) {
    let Arrival::Element { left, key, time, name } = element else { return (false, Vec::new()) };
    let mut pairs = Vec::new();
    for (born, (other, has_matched, _)) in kept.iter_mut().enumerate() {
        let Arrival::Element { left: on_left, key: of, time: at, name: called } = *other else { continue };
        let (l, r) = if left { (time, at) } else { (at, time) };
        if left != on_left && key == of && key.is_some() && bounds.contains(&(i128::from(r) - i128::from(l)))
        {
            *has_matched = true;
            let (l, r) = if left { (name, called) } else { (called, name) };
            pairs.push((at, born, format!("{key:?} {l}+{r} at {}", time.max(at))));
        }
    }
    pairs.sort();
    (!pairs.is_empty(), pairs.into_iter().map(|pair| pair.2).collect())
}

fn alone(element: Arrival) -> String {
    match element {
        Arrival::Element { left: true, key, time, name } => format!("{key:?} {name}+- at {time}"),
        Arrival::Element { key, time, name, .. } => format!("{key:?} -+{name} at {time}"),
        mark => format!("{mark:?}"),
    }
}

fn check<F: Form<u32, u32, Out: Shown + Send>>(
    form: &str,
    bounds: Bounds,
    arrivals: &[Arrival],
) -> Result<(), TestCaseError> {
    let shown = drive(arrivals, |next| {
        let way = Interval::<F>::new(bounds);
        TimedHead::<Option<u8>, u32, u32, _, SideLate, Timestamp, _, Volatile>::new(
            way,
            next,
            Meta::new("within"),
        )
    });
    prop_assert_eq!(shown, model(bounds, form, arrivals));
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn interval_joins_are_those_of_the_model(
        form in prop::sample::select(vec!["inner", "left", "right", "full"]),
        (lower, length) in (-9i64..9, 0i64..12),
        (above_lower, below_upper) in any::<(bool, bool)>(),
        arrivals in arrivals(),
    ) {
        let (lower, upper) = (Millis(lower), Millis(lower + length));
        let bounds = Bounds { lower, upper, above_lower, below_upper };
        prop_assume!(bounds.check().is_ok());
        match form {
            "inner" => check::<Inner>(form, bounds, &arrivals)?,
            "left" => check::<LeftOuter>(form, bounds, &arrivals)?,
            "right" => check::<RightOuter>(form, bounds, &arrivals)?,
            _ => check::<Full>(form, bounds, &arrivals)?,
        }
    }
}

#[test]
fn bounds_that_nothing_is_within_are_refused() {
    let check = |lower, upper, above_lower, below_upper| {
        Bounds { lower: Millis(lower), upper: Millis(upper), above_lower, below_upper }.check().is_ok()
    };
    assert!(check(3, 3, false, false) && check(-1, 1, true, true) && check(i64::MIN, i64::MAX, false, false));
    assert!(!check(1, 0, false, false) && !check(3, 3, true, false) && !check(3, 4, true, true));
}
