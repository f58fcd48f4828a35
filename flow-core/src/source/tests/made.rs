//! Sources whose records are made and not read.

use super::super::{from_iter, from_vec, generate};
use super::{Run, config};
use crate::source::{Reader, Source};
use crate::testing::{Script, Step};
use crate::time::Timestamp;
use proptest::prelude::*;
use proptest::sample::Index;
use std::fmt::Debug;

/// Polls and crashes, then reads to the end: what comes is what comes without a crash.
fn check<S>(source: S, ops: &[(Index, usize, bool)]) -> Result<(), TestCaseError>
where
    S: Source<Item: Debug + PartialEq>,
{
    let whole = Run::start(source.clone()).unwrap().drain().unwrap();
    let mut run = Run::start(source).unwrap();
    for (partition, budget, crash) in ops {
        run.poll(partition.index(run.readers.len()), *budget).unwrap();
        if *crash {
            run = run.crash().unwrap();
        }
    }
    prop_assert_eq!(run.drain().unwrap(), whole);
    Ok(())
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn they_go_on(
        count in 0u64..6000, splits in 1usize..5,
        ops in proptest::collection::vec((any::<Index>(), 1usize..1500, any::<bool>()), 0..20),
    ) {
        check(generate(count, |i| i).splits(splits), &ops)?;
        check(from_iter(0..count), &ops)?;
        check(from_vec((0..count).collect()).splits(splits), &ops)?;
    }

    #[test]
    fn foreign_bytes_are_refused_or_go_on_somewhere(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let clock = std::sync::Arc::new(crate::time::VirtualClock::new());
        let mut cx = super::cx(&clock);
        let several = generate(100, |i| i).splits(3);
        prop_assert!(several.resume(1, &bytes, &mut cx).is_err() || bytes.len() == 16);
        let _ = generate(100, |i| i).resume(0, &bytes, &mut cx);
        let _ = from_iter(0..10).resume((), &bytes, &mut cx);
        let _ = from_vec(vec![1, 2, 3]).resume(0, &bytes, &mut cx);
        let _ = Script::of(vec![vec![Step::Item(1, Timestamp(1))]]).resume(0, &bytes, &mut cx);
    }
}

/// It goes on where it has the numbers that have been read, and with no fewer.
#[test]
fn a_generator_of_fewer_numbers_than_were_read_is_refused() {
    let clock = std::sync::Arc::new(crate::time::VirtualClock::new());
    let mut cx = super::cx(&clock);
    for (splits, split, read) in
        [(1, 0, 0), (1, 0, 700), (3, 1, 0), (3, 0, 700), (3, 1, 1_024), (3, 2, 1_500)]
    {
        let mut reader = generate(20_000, |i| i).splits(splits).open(split, &mut cx).unwrap();
        let mut all = 0;
        reader.poll(&mut |i| all = i + 1, read).unwrap();
        let position = reader.position().unwrap();
        let mut resume = |n| generate(n, |i| i).splits(splits).resume(split, &position, &mut cx).map(drop);
        resume(all).unwrap();
        if all > 0 {
            let error = resume(all - 1).unwrap_err().to_string();
            let text = format!("had given {all} numbers at the checkpoint, and has {} now", all - 1);
            assert!(error.contains(&text), "{error}");
        }
    }
}

#[test]
fn a_script_goes_on() {
    let steps =
        (0..10).map(|i| if i % 3 == 2 { Step::Watermark(Timestamp(i)) } else { Step::Item(i, Timestamp(i)) });
    let mut run = Run::start(Script::of(vec![steps.collect()])).unwrap();
    for _ in 0..7 {
        run.poll(0, 1).unwrap();
        run = run.crash().unwrap();
    }
    let shown = |step: Step<i64>| match step {
        Step::Item(item, _) => item,
        Step::Watermark(w) => -w.0,
        _ => panic!("not in the script"),
    };
    let found: Vec<_> = run.drain().unwrap().remove(0).into_iter().map(shown).collect();
    assert_eq!(found, [0, 1, -2, 3, 4, -5, 6, 7, -8, 9]);
}

#[test]
fn a_rate_begins_again_where_it_goes_on() {
    let mut run = Run::start(generate(100, |i| i).rate(10)).unwrap();
    run.clock.advance_to(4_000);
    while run.given[0].len() < 41 {
        run.poll(0, 7).unwrap();
    }
    run = run.crash().unwrap();
    // The next is due at once, and the one behind it 100 ticks later.
    run.poll(0, 7).unwrap();
    assert_eq!(run.given[0].len(), 42);
    assert_eq!(run.poll(0, 7).unwrap(), super::Poll::WaitUntil(4_100));
}

#[test]
fn other_records_than_at_the_checkpoint_are_refused_where_it_shows() {
    let refused = |run: Run<_>, other| {
        let error = Run::go_on(other, &run.positions(), run.given, run.clock).err().unwrap();
        error.to_string()
    };
    let mut run = Run::start(from_iter(0..10)).unwrap();
    run.poll(0, 5).unwrap();
    let error = refused(run, from_iter(0..4));
    assert!(error.contains("the iterator had given 5 records at the checkpoint, and has 4 now"), "{error}");

    let mut run = Run::start(from_vec((0..10).collect())).unwrap();
    run.poll(0, 5).unwrap();
    let positions = run.positions();
    let error = Run::go_on(from_vec((0..11).collect()), &positions, run.given, run.clock).err().unwrap();
    let error = error.to_string();
    assert!(error.contains("the vector had 10 records at the checkpoint, and has 11 now"), "{error}");
}

#[test]
fn a_generator_does_not_go_on_in_another_partition() {
    let clock = std::sync::Arc::new(crate::time::VirtualClock::new());
    let mut cx = super::cx(&clock);
    let source = generate(10_000, |i| i).splits(3);
    let of = |at: u64, left: u64| [at.to_le_bytes(), left.to_le_bytes()].concat();
    for (at, left) in [(0, 1024), (1024, 0), (1024, 1025), (1030, 1024), (u64::MAX, 7)] {
        assert!(source.resume(1, &of(at, left), &mut cx).is_err(), "{at} {left}");
    }
    assert!(source.resume(1, &of(1030, 1018), &mut cx).is_ok());
}
