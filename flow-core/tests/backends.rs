//! Jobs with a state backend.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

#[path = "backends/harness.rs"]
mod harness;
#[path = "backends/slices.rs"]
mod slices;
#[path = "backends/slots.rs"]
mod slots;

use flow_core::checkpoint::Storage;
use flow_core::prelude::*;
use flow_core::process::states::{Held, Plain, Timed, TimedEntries};
use flow_core::process::{ListState, MapState, Ttl};
use flow_core::stage::split_mix;
use flow_core::testing::{MapBackend, NothingInMemory, SimFs, script};
use harness::{
    COUNT, backends, disordered, in_order, key, last_of_each, same_with_all, same_with_all_but, steps, timed,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// State of any type cannot leave the memory.
#[test]
fn a_volatile_pipeline_has_no_use_for_a_backend() {
    let out = Collected::new();
    let job = Job::build("volatile", |job| {
        job.add(source(from_iter(1..=4)).key_by(|n| n % 2).sum(|n| *n).collect(&out));
    });
    let error = job.state_backend(MapBackend::with_limit(0)).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Plan);
    let text = error.to_string();
    assert!(
        text.contains("#[checkpointed]") && text.contains("from_iter") && text.contains("backends.rs"),
        "{text}"
    );
}

#[test]
fn rolling_operators_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable();
        job.add(numbers.key_by(|n| key(*n)).sum(|n| *n).collect(out));
    });
    same_with_all(|job, out| {
        let names = source(generate(COUNT, |n| n)).durable().key_by(|n| format!("key {}", key(*n)));
        let texts = names.fold(String::new(), |text, n| {
            text.push_str(&n.to_string());
            text.drain(..text.len().saturating_sub(40));
        });
        job.add(texts.collect(out));
    });
}

#[test]
fn the_first_and_the_last_are_the_same() {
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable();
        job.add(numbers.key_by(|n| key(*n)).dedup_first().collect(out));
    });
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable();
        job.add(numbers.key_by(|n| key(*n)).dedup_last().collect(out));
    });
}

/// The order in which keys first came is that of the results also where their state had gone.
#[test]
fn the_last_come_in_the_order_of_their_keys() {
    for (name, backend) in backends().1.into_iter().take(2) {
        let out = Collected::new();
        let job = Job::build("ordered", |job| {
            let numbers = source(generate(COUNT, |n| n)).durable();
            job.add(numbers.key_by(|n| key(*n)).dedup_last().collect(&out));
        });
        job.state_backend(backend).run().unwrap();
        let mut seen = std::collections::HashSet::new();
        let order: Vec<u64> = (0..COUNT).map(key).filter(|key| seen.insert(*key)).collect();
        assert!(out.take().iter().map(|row| row.0).eq(order), "{name}");
    }
}

#[test]
fn state_of_whole_window_functions_is_the_same() {
    same_with_all(|job, out| {
        let numbers =
            source(generate(COUNT, |n| n)).durable().event_time(|n| Timestamp(*n as i64)).monotonic();
        let windows = numbers.key_by(|n| key(*n)).window(tumbling(Millis(500)));
        let totals = windows.aggregate_window(
            |a| a.sum(|n| *n),
            0u64,
            |w, sum| {
                *w.state() += sum;
                let row = (*w.key(), w.start().millis(), *w.state());
                w.emit(row);
                if *w.key() % 7 == 0 {
                    w.forget();
                }
            },
        );
        job.add(totals.collect(out));
    });
}

/// States, timers of keys that are not in memory, and keys that are cleared.
#[test]
fn processes_are_the_same() {
    same_with_all(|job, out| {
        let numbers = script(steps(COUNT)).durable();
        let states = (Plain(|| 0u64), (Plain(String::new), (Plain(ListState::<u64>::new), ())));
        let counted = numbers.key_by(|n| key(*n)).declare(states).on_event(
            |(count, (text, (list, ()))): (&mut u64, (&mut String, (&mut ListState<u64>, ()))),
             n: u64,
             ctx| {
                *count += 1;
                text.push_str(&(n % 10).to_string());
                list.push(n);
                if *count % 7 == 1 {
                    ctx.set_timer(ctx.timestamp() + Millis(900));
                }
                if n.is_multiple_of(101) {
                    ctx.emit((key(n), 0, text.clone(), list.iter().sum::<u64>()));
                    ctx.clear();
                } else if list.len() > 600 {
                    ctx.emit((key(n), 1, text.clone(), list.pop_front().unwrap_or_default()));
                }
            },
        );
        let counted = counted.on_timer(|(count, (text, (list, ()))), at, ctx| {
            ctx.emit((list.iter().sum(), at.0 as u64, text.clone(), *count));
        });
        job.add(counted.done().collect(out));
    });
}

/// What expires is found where it lies.
#[test]
fn states_that_expire_are_the_same() {
    same_with_all(|job, out| {
        let numbers = script(steps(COUNT)).durable();
        let ttl = Ttl::new(Millis(700)).on_watermark();
        let states = (
            Timed::new(|| 0u64, ttl),
            (
                TimedEntries::new(ListState::<u64>::new, ttl),
                (TimedEntries::new(MapState::<u64, u64>::new, ttl), ()),
            ),
        );
        type Seen<'a> = (Held<'a, u64>, (&'a mut ListState<u64>, (&'a mut MapState<u64, u64>, ())));
        let counted = numbers.key_by(|n| key(*n)).declare(states).on_event(
            |(mut count, (list, (map, ()))): Seen<'_>, n: u64, ctx| {
                *count += 1;
                list.push(n);
                *map.or_insert_with(n % 5, || 0) += 1;
                let mut all: Vec<u64> = map.iter().map(|entry| *entry.0 * 100 + entry.1).collect();
                all.sort_unstable();
                let listed = list.len();
                ctx.emit((n, *count, listed, all));
            },
        );
        job.add(counted.done().collect(out));
    });
}

#[test]
fn processes_beside_a_broadcast_and_of_two_streams_are_the_same() {
    same_with_all(|job, out| {
        let left = source(generate(COUNT, |n| n)).durable().key_by(|n| key(*n));
        let right = source(generate(COUNT / 2, |n| n)).durable().key_by(|n| key(*n));
        let both = left.connect(right).declare((Plain(|| 0u64), (Plain(|| 0u64), ())));
        let both = both.on_left(|(left, (right, ())), n: u64, ctx| {
            *left += 1;
            ctx.emit((key(n), *left + *right));
        });
        let both = both.on_right(|(left, (right, ())), n: u64, ctx| {
            *right += 1;
            ctx.emit((key(n), *left + *right));
        });
        job.add(both.done().collect(out));
    });
    same_with_all(|job, out| {
        let numbers = source(generate(COUNT, |n| n)).durable().key_by(|n| key(*n));
        let rules = source(generate(0, |n| n)).durable();
        let counted = numbers
            .connect_broadcast(rules)
            .declare_beside((Plain(|| 0u64), ()), || 0u64)
            .on_event(|((count, ()), _), n: u64, ctx| {
                *count += n;
                ctx.emit((key(n), *count));
            });
        job.add(counted.on_broadcast(|shared, rule: u64, _| *shared += rule).done().collect(out));
    });
}

/// Long lists of few keys: pages that are in memory, with a backend and in checkpoints, in a process that dies now and then.
#[test]
fn long_lists_come_through_deaths() {
    let (mut died, mut restored) = (0, 0);
    for seed in 0..30u64 {
        let (storage, out, mut drawn) = (Arc::new(SimFs::new()), Collected::new(), seed);
        for start in 0..=5 {
            let random = split_mix(&mut drawn);
            restored += usize::from(storage.list().unwrap().iter().any(|name| name.ends_with(".manifest")));
            let job = Job::build("lists", |job| {
                let numbers = script(steps(4_000)).durable();
                let ttl = Ttl::new(Millis(2_500)).on_watermark();
                let states =
                    (Plain(ListState::<u64>::new), (TimedEntries::new(ListState::<String>::new, ttl), ()));
                let lists = numbers.key_by(|n| n % 3).declare(states).on_event(
                    |(numbers, (texts, ())): (&mut ListState<u64>, (&mut ListState<String>, ())),
                     n: u64,
                     ctx| {
                        numbers.push(n);
                        texts.push(format!("text {n}"));
                        match n % 500 {
                            499 => ctx.clear(),
                            400 => numbers.retain(|n| n % 3 != 1),
                            200..300 => ctx.emit((n, numbers.pop_front(), texts.len() as u64)),
                            0 => ctx.emit((
                                n,
                                Some(numbers.iter().sum()),
                                texts.iter().map(|t| t.len() as u64).sum(),
                            )),
                            _ => {}
                        }
                    },
                );
                job.add(lists.done().collect(&out));
            });
            let checkpoints =
                Checkpoints::in_storage(Arc::clone(&storage) as _).deltas((random >> 8) as u32 % 6);
            let job =
                job.checkpoints(checkpoints).parallelism(1 + (random >> 16) as usize % 3).batch_size(32);
            let job = match random >> 24 & 3 {
                0 => job,
                n => job.state_backend(MapBackend::with_limit([0, 3_000, 30_000][n as usize - 1])),
            };
            let job = if start < 5 { job.crash_at(20 + (random >> 32) % 500) } else { job };
            match job.simulate(random) {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::Crash => died += 1,
                Err(error) => panic!("seed {seed}: {error}"),
            }
        }
        let mut rows = out.take();
        rows.sort();
        assert_eq!(rows, lists_by_hand(4_000), "seed {seed}");
    }
    assert!(died > 30 && restored > 30, "{died} deaths, {restored} starts from a checkpoint");
}

/// What the job above should give.
fn lists_by_hand(count: u64) -> Vec<(u64, Option<u64>, u64)> {
    let mut lists: Vec<(VecDeque<u64>, VecDeque<(u64, i64)>)> = vec![Default::default(); 3];
    let (mut rows, mut watermark) = (Vec::new(), i64::MIN);
    for n in 0..count {
        let (numbers, texts) = &mut lists[n as usize % 3];
        texts.retain(|text| text.1 + 2_500 > watermark);
        let written = if watermark == i64::MIN { n as i64 } else { watermark };
        numbers.push_back(n);
        texts.push_back((format!("text {n}").len() as u64, written));
        match n % 500 {
            499 => (numbers.clear(), texts.clear()).0,
            400 => numbers.retain(|n| n % 3 != 1),
            200..300 => rows.push((n, numbers.pop_front(), texts.len() as u64)),
            0 => rows.push((n, Some(numbers.iter().sum()), texts.iter().map(|text| text.0).sum())),
            _ => {}
        }
        if n.is_multiple_of(100) {
            watermark = n as i64;
        }
    }
    rows.sort();
    rows
}

#[test]
fn tumbling_windows_are_the_same() {
    same_with_all(|job, out| {
        let numbers = in_order!(COUNT);
        let windows = numbers.window(tumbling(Millis(700)));
        let lists = windows.aggregate(|a| (a.count(), a.sum(|n| *n), a.collect()));
        job.add(lists.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
    // All of them open at once, and shown before they go.
    same_with_all(|job, out| {
        let numbers = disordered!(COUNT, Millis(COUNT as i64));
        let windows = numbers.window(tumbling(Millis(300))).lateness(Millis(10_000));
        job.add(windows.aggregate(|a| a.collect()).map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// What comes late gets a window's state back and updates its result: the last one has everything.
#[test]
fn late_updates_are_the_same() {
    same_with_all_but(
        |job, out| {
            let numbers = disordered!(COUNT, Millis(10));
            let windows = numbers.window(tumbling(Millis(300)));
            let counts = windows.lateness(Millis(2 * COUNT as i64)).aggregate(|a| (a.count(), a.sum(|n| *n)));
            job.add(counts.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
        },
        last_of_each,
    );
}

#[test]
fn sliding_windows_that_have_nothing_in_common_are_the_same() {
    same_with_all(|job, out| {
        let numbers = in_order!(COUNT / 4);
        let windows = numbers.window(sliding(Millis(600), Millis(200)));
        let pairs = windows.fold(0u64, |sum, n| *sum = sum.wrapping_mul(31).wrapping_add(n));
        job.add(pairs.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

#[test]
fn joins_in_windows_are_the_same() {
    same_with_all(|job, out| {
        let left = source(generate(COUNT, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
        let right = source(generate(COUNT / 5, |n| n * 5)).durable().event_time(|n| timed(*n)).monotonic();
        let pairs = left.key_by(|n| key(*n)).join(right.key_by(|n| key(*n))).window(tumbling(Millis(500)));
        job.add(pairs.map(|w| (w.key, w.start.millis(), w.value)).collect(out));
    });
}

/// What has to stay in memory has no share of the limit.
#[test]
fn the_limit_is_divided_among_what_can_leave() {
    let tables = |pipeline: &dyn Fn(&mut Job)| {
        let backend = NothingInMemory::of(MapBackend::with_limit(0));
        let job = Job::build("tested", |job| pipeline(job)).parallelism(3);
        job.state_backend(backend.clone()).simulate(1).unwrap();
        backend.tables()
    };
    let stream = || source(generate(10, |n| n)).durable().event_time(|n| timed(*n)).monotonic();
    assert_eq!(tables(&|job| job.add(stream().key_by(|n| n % 2).sum(|n| *n).collect(&Collected::new()))), 3);
    let keyed = || stream().key_by(|n| n % 2);
    assert_eq!(
        tables(&|job| job.add(keyed().window(tumbling(Millis(5))).count().collect(&Collected::new()))),
        3
    );
    assert_eq!(
        tables(&|job| job.add(keyed().window(session(Millis(5))).count().collect(&Collected::new()))),
        3
    );
    let both = |job: &mut Job| {
        let sums = keyed().window(sliding(Millis(4), Millis(2))).count().key_by(|w| w.key).count();
        job.add(sums.collect(&Collected::new()));
    };
    assert_eq!(tables(&both), 6);
    assert_eq!(tables(&|job| job.add(stream().take(5).collect(&Collected::new()))), 0);
}
