//! Keys that are whole numbers have tables of their own in loops: what these hold is what maps do, also where keys come that have no place in them.

#![allow(clippy::unwrap_used, reason = "a test that unwraps fails where it should")]

use flow_core::host::HostKind;
use flow_core::prelude::*;
use flow_core::testing::SimFs;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Below it are most keys: so many that their table is dense where an instance has half of them.
const KEYS: i64 = 12_000;
const ROUNDS: u64 = 6;

/// A key and what there is of it.
type Row = (i64, u64);

/// Where a row goes in a superstep: to two others, of which some are negative and some huge, and those come back.
fn next(row: Row) -> [Row; 2] {
    let (key, sum) = row;
    let near = (key.rem_euclid(KEYS) * 7 + 1) % KEYS;
    let far = match key.rem_euclid(1_000) {
        3 => i64::MAX - key.rem_euclid(KEYS),
        5 => -1 - key.rem_euclid(KEYS) / 1_000,
        8 => 10 * KEYS,
        _ => (key.rem_euclid(KEYS) + 1) % KEYS,
    };
    [(near, sum % 1_000_003), (far, sum % 1_009 + 1)]
}

fn model(rounds: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..KEYS).map(|key| (key, 1)).collect();
    for _ in 0..rounds {
        let mut sums = BTreeMap::new();
        for (key, n) in rows.into_iter().flat_map(next) {
            *sums.entry(key).or_insert(0) += n;
        }
        rows = sums.into_iter().collect();
    }
    rows
}

/// The same loop, with keys of the type that `key` makes.
fn check<K, F, G>(key: F, number: G)
where
    K: std::hash::Hash + Eq + Clone + Send + serde::Serialize + serde::de::DeserializeOwned + 'static,
    F: Fn(i64) -> K + Clone + Send + 'static,
    G: Fn(&K) -> i64 + Clone + Send + 'static,
{
    let expected = model(ROUNDS);
    assert!(expected.iter().any(|row| row.0 < 0) && expected.iter().any(|row| row.0 > i64::MAX / 2));
    for p in [1, 2, 4] {
        for host in [None, Some(HostKind::Threads), Some(HostKind::Workers(2))] {
            let out = Collected::new();
            let job = Job::build("numbers", |job| {
                let (key, number, back) = (key.clone(), number.clone(), number.clone());
                let first = key.clone();
                let rows = source(from_iter(0..KEYS)).batch().map(move |k| (first(k), 1u64));
                let summed = rows.iterate(ROUNDS, move |rows| {
                    let sent = rows.flat_map(move |(k, n)| next((number(&k), n)).map(|(k, n)| (key(k), n)));
                    sent.key_by(|row| row.0.clone()).fold(0u64, |sum, row| *sum += row.1)
                });
                job.add(summed.map(move |(k, n)| (back(&k), n)).collect(&out));
            });
            let job = job.parallelism(p);
            match host {
                None => job.simulate(p as u64).unwrap(),
                Some(host) => job.host(host).run().unwrap(),
            };
            let mut rows = out.take();
            rows.sort_unstable();
            assert!(rows == expected, "{} rows, {} expected, at {p} on {host:?}", rows.len(), expected.len());
        }
    }
}

#[test]
fn rows_by_number_and_rows_by_text() {
    check(|k| k, |k| *k);
    check(|k| k.cast_unsigned(), |k| k.cast_signed());
    // No number: the same through hash tables.
    check(|k| k.to_string(), |k| k.parse().unwrap());
}

/// The tables of an inner loop begin anew, with whatever keys come then.
#[test]
fn rows_by_number_in_a_loop_in_a_loop() {
    for p in [1, 2, 4] {
        let out = Collected::new();
        let job = Job::build("numbers", |job| {
            let rows = source(from_iter(0..KEYS)).batch().map(|k| (k, 1u64));
            let summed = rows.iterate(ROUNDS / 2, |rows| {
                rows.iterate(2, |rows| {
                    rows.flat_map(next).key_by(|row| row.0).fold(0u64, |sum, row| *sum += row.1)
                })
            });
            job.add(summed.collect(&out));
        });
        job.parallelism(p).run().unwrap();
        let mut rows = out.take();
        rows.sort_unstable();
        assert!(rows == model(ROUNDS), "{} rows at {p}", rows.len());
    }
}

/// Keys of eight bits: all places there are.
#[test]
fn keys_of_a_byte() {
    let out = Collected::new();
    let job = Job::build("bytes", |job| {
        let rows = source(from_iter(0..10_000u32)).batch().map(|n| ((n % 256) as u8, u64::from(n)));
        let summed = rows.iterate(3, |rows| rows.key_by(|row| row.0).fold(0u64, |sum, row| *sum += row.1));
        job.add(summed.map(|(k, sum)| (u32::from(k), sum)).collect(&out));
    });
    job.parallelism(2).run().unwrap();
    let mut rows = out.take();
    rows.sort_unstable();
    let sum = |k: u32| (0..10_000u32).filter(|n| n % 256 == k).map(u64::from).sum::<u64>();
    assert_eq!(rows, (0..256).map(|k| (k, sum(k))).collect::<Vec<_>>());
}

/// What a key has in a superstep, put together in several ways.
type Known = (i64, (u64, u64, Option<u64>, Option<u64>));

/// Each row goes to five others: in a while to few places beyond the others, and some that are none.
fn many(step: u64, (key, (count, sum, least, most)): Known) -> [(i64, u64); 5] {
    let values = [count, sum, least.unwrap_or(0), most.unwrap_or(0), step];
    std::array::from_fn(|i| {
        let to = (key.rem_euclid(KEYS) * 3 + 17 * i as i64) % KEYS;
        let to = match (step, i) {
            (3, 4) if to % 7 == 0 => -to - 1,
            (4, 4) => to + KEYS / 2,
            (5, 4) if to == 0 => i64::MAX,
            _ => to,
        };
        (to, values[i].wrapping_mul(31) % 10_007)
    })
}

fn start(key: i64) -> Known {
    (key, (1, 2, Some(3), Some(key.cast_unsigned())))
}

fn known(rounds: u64) -> Vec<Known> {
    let mut all: Vec<Known> = (0..KEYS).map(start).collect();
    for step in 1..=rounds {
        let mut next: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
        for (key, n) in all.into_iter().flat_map(|row| many(step, row)) {
            next.entry(key).or_default().push(n);
        }
        let of = |values: Vec<u64>| {
            let (least, most) = (values.iter().min().copied(), values.iter().max().copied());
            (values.len() as u64, values.into_iter().sum(), least, most)
        };
        all = next.into_iter().map(|(key, values)| (key, of(values))).collect();
    }
    all
}

/// Several aggregates in one operator, whatever keys come, and where a job dies and goes on.
#[test]
fn aggregates_of_rows_by_number() {
    const STEPS: u64 = 7;
    let expected = known(STEPS);
    macro_rules! job {
        ($out:expr $(, $kept:ident)?) => {
            Job::build("numbers", |job| {
                let rows = source(generate(KEYS as u64, |k| start(k.cast_signed())).splits(2))$(.$kept())?;
                let rows = rows.iterate(STEPS, |rows| {
                    let sent = rows.superstep().flat_map(|(step, row)| many(step, row));
                    let all = sent.key_by(|row| row.0);
                    all.aggregate(|a| (a.count(), a.sum(|n| n.1), a.min(|n| Some(n.1)), a.max(|n| Some(n.1))))
                });
                job.add(rows.collect($out));
            })
        };
    }
    for p in [1, 2, 4] {
        for host in [None, Some(HostKind::Threads), Some(HostKind::Workers(2))] {
            let out = Collected::new();
            let job = job!(&out).parallelism(p);
            match host {
                None => job.simulate(p as u64).unwrap(),
                Some(host) => job.host(host).run().unwrap(),
            };
            let mut rows = out.take();
            rows.sort_unstable();
            assert!(rows == expected, "{} rows, {} expected, at {p} on {host:?}", rows.len(), expected.len());
        }
    }
    let (mut deaths, mut later) = (0, 0);
    for seed in 0..12u64 {
        let (storage, out) = (Arc::new(SimFs::new()), Collected::new());
        for life in 0.. {
            let p = [1, 2, 4][(seed + life) as usize % 3];
            let checkpoints = Checkpoints::in_storage(Arc::clone(&storage) as _).every(Millis(1));
            let job = job!(&out, durable).parallelism(p).checkpoints(checkpoints);
            let job = if life < 3 { job.crash_at(200 + (577 * seed + 901 * life) % 1_500) } else { job };
            match job.simulate(seed * 10 + life) {
                Ok(report) => {
                    later += u64::from(report.counter("iterate.resumed") > 1);
                    break;
                }
                Err(error) => {
                    assert!(error.to_string().contains("has died"), "{error}");
                    storage.break_lock();
                    deaths += 1;
                }
            }
        }
        let mut rows = out.take();
        rows.sort_unstable();
        assert!(rows == expected, "{} rows, {} expected, seed {seed}", rows.len(), expected.len());
    }
    println!("{deaths} deaths, {later} runs had begun in a later superstep");
    assert!(deaths > 12 && later > 2, "{deaths} {later}");
}
