//! Random elements and watermarks in a random order against a model that keeps every version, late elements included.

use super::way::Versions;
use crate::join::form::{Inner, Leading, LeftOuter};
use crate::join::testing::{Arrival, Shown, arrivals, cases, drive};
use crate::join::timed::TimedHead;
use crate::op::kind::Volatile;
use crate::stage::meta::Meta;
use crate::time::Timestamp;
use crate::window::late::SideLate;
use proptest::prelude::*;

fn model(outer: bool, arrivals: &[Arrival]) -> Vec<String> {
    let (mut shown, mut watermark) = (Vec::new(), i64::MIN);
    let (mut waiting, mut versions) = (Vec::new(), Vec::new());
    for arrival in arrivals.iter().copied().chain([Arrival::Watermark(i64::MAX)]) {
        match arrival {
            Arrival::Element { time, name, .. } if watermark != i64::MIN && time <= watermark => {
                shown.push(format!("late {name} at {time} by {}", watermark.saturating_sub(time)));
            }
            Arrival::Element { left: true, key, time, name } => waiting.push((time, name, key)),
            Arrival::Element { key, time, name, .. } => versions.push((time, name, key)),
            Arrival::Watermark(w) if w > watermark => {
                watermark = w;
                waiting.sort_by_key(|(time, ..)| *time);
                let due: Vec<(i64, u32, Option<u8>)> =
                    waiting.extract_if(.., |(time, ..)| *time <= w).collect();
                for (time, name, key) in due {
                    let held = versions.iter().filter(|(at, _, k)| *k == key && k.is_some() && *at <= time);
                    // Of equal times the last to arrive: names are numbers in the order of arrival.
                    match held.max_by_key(|(at, version, _)| (*at, *version)) {
                        Some((_, version, _)) => shown.push(format!("{key:?} {name}+{version} at {time}")),
                        None if outer => shown.push(format!("{key:?} {name}+- at {time}")),
                        None => {}
                    }
                }
                shown.push(format!("W{w}"));
            }
            Arrival::Watermark(_) | Arrival::Other => {}
        }
    }
    shown
}

fn check<F: Leading<u32, u32, Out: Shown + Send>>(arrivals: &[Arrival]) -> Result<(), TestCaseError> {
    let shown = drive(arrivals, |next| {
        let way = Versions::<F>::new();
        TimedHead::<Option<u8>, u32, u32, _, SideLate, Timestamp, _, Volatile>::new(
            way,
            next,
            Meta::new("as_of"),
        )
    });
    prop_assert_eq!(shown, model(F::LEFT, arrivals));
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn temporal_joins_are_those_of_the_model(outer in any::<bool>(), arrivals in arrivals()) {
        if outer { check::<LeftOuter>(&arrivals)? } else { check::<Inner>(&arrivals)? }
    }
}
