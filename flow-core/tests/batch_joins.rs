//! Joins of two streams that end, as jobs: on every host, at parallelism 1, 2 and 4, they give the rows of two loops.

use flow_core::prelude::*;
use proptest::prelude::*;

type Side = Vec<(Option<u8>, u32)>;

/// What two loops make of both sides; elements alone have `None` on the other.
fn naive(lefts: &Side, rights: &Side) -> [Vec<(Option<u32>, Option<u32>)>; 3] {
    let matches = |a: Option<u8>, b: Option<u8>| a.is_some() && a == b;
    let mut pairs = Vec::new();
    for (key, left) in lefts {
        pairs.extend(rights.iter().filter(|r| matches(*key, r.0)).map(|r| (Some(*left), Some(r.1))));
    }
    let alone = |one: &Side, other: &Side| -> Vec<u32> {
        one.iter().filter(|e| !other.iter().any(|o| matches(e.0, o.0))).map(|e| e.1).collect()
    };
    let lefts_alone = alone(lefts, rights).into_iter().map(|left| (Some(left), None)).collect();
    let rights_alone = alone(rights, lefts).into_iter().map(|right| (None, Some(right))).collect();
    [pairs, lefts_alone, rights_alone]
}

/// Runs a join on each host, and compares.
macro_rules! check {
    ($lefts:expr, $rights:expr, $seed:expr, $join:ident, $how:ident, |$row:ident| $pair:expr, $parts:expr) => {
        for parallelism in [1, 2, 4] {
            let build = |out: &Collected<(Option<u32>, Option<u32>)>| {
                Job::build("join", |job| {
                    let lefts = source(from_vec($lefts.clone()).splits(2)).batch();
                    let rights = source(from_vec($rights.clone()).splits(3)).batch();
                    let both = lefts.key_by(|l| l.0).$join(rights.key_by(|r| r.0)).$how();
                    job.add(both.map(|(_, $row)| $pair).collect(out));
                })
                .parallelism(parallelism)
            };
            let mut expected = $parts;
            expected.sort_unstable();
            for host in [None, Some(HostKind::Threads), Some(HostKind::Workers(2))] {
                let out = Collected::new();
                let report = match host {
                    None => build(&out).batch_size(3).ring_batches(1).simulate($seed).unwrap(),
                    Some(host) => build(&out).host(host).run().unwrap(),
                };
                let mut rows = out.take();
                rows.sort_unstable();
                prop_assert_eq!(&rows, &expected, "{} {} on {:?}", stringify!($join), stringify!($how), host);
                prop_assert_eq!(report.counter(concat!(stringify!($how), ".spilled")), 0);
            }
        }
    };
}

fn side() -> impl Strategy<Value = Side> {
    let keys = prop::collection::vec(prop::option::weighted(0.9, 0u8..12), 0..40);
    keys.prop_map(|keys| keys.into_iter().zip(0..).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn rows_are_those_of_two_loops(lefts in side(), rights in side(), seed in any::<u64>()) {
        let [pairs, lefts_alone, rights_alone] = naive(&lefts, &rights);
        let met: Vec<_> =
            lefts.iter().map(|l| (Some(l.1), None)).filter(|l| !lefts_alone.contains(l)).collect();
        macro_rules! both {
            ($join:ident, |$row:ident| $pair:expr, $parts:expr) => {
                check!(lefts, rights, seed, $join, hash, |$row| $pair, $parts);
                check!(lefts, rights, seed, $join, sort_merge, |$row| $pair, $parts);
            };
        }
        both!(join, |row| (Some(row.0.1), Some(row.1.1)), pairs.clone());
        both!(left_join, |row| (Some(row.0.1), row.1.map(|r| r.1)), [pairs.clone(), lefts_alone.clone()].concat());
        both!(right_join, |row| (row.0.map(|l| l.1), Some(row.1.1)), [pairs.clone(), rights_alone.clone()].concat());
        both!(full_join, |row| (row.0.map(|l| l.1), row.1.map(|r| r.1)), [pairs.clone(), lefts_alone.clone(), rights_alone.clone()].concat());
        both!(semi_join, |row| (Some(row.1), None), met.clone());
        both!(anti_join, |row| (Some(row.1), None), lefts_alone.clone());
    }
}

/// More than the memory holds, in a whole job: the rows are the same, and elements were written.
#[test]
fn beyond_the_memory() {
    const N: u64 = 60_000;
    for how in ["hash", "sort_merge"] {
        let (out, folder) = (Collected::new(), tempfile::tempdir().unwrap());
        let job = Job::build("join", |job| {
            let lefts = source(generate(N, |n| (n, format!("left {n:060}")))).batch();
            let rights = source(generate(N, |n| (n * 2, format!("right {n:060}")))).batch();
            let both = lefts.key_by(|l| l.0).full_join(rights.key_by(|r| r.0));
            let sums = |(key, (left, right)): (u64, (Option<(u64, String)>, Option<(u64, String)>))| {
                let right_of = |r: &(u64, String)| r.1 == format!("right {:060}", key / 2);
                assert!(left.as_ref().is_none_or(|l| l.1 == format!("left {key:060}")));
                assert!(right.as_ref().is_none_or(right_of));
                (left.is_some(), right.is_some())
            };
            if how == "hash" {
                job.add(both.hash().map(sums).collect(&out));
            } else {
                job.add(both.sort_merge().map(sums).collect(&out));
            }
        });
        let report = job.memory(1 << 20).spill_to(folder.path()).parallelism(2).run().unwrap();
        let rows = out.take();
        let count = |is: (bool, bool)| rows.iter().filter(|row| **row == is).count() as u64;
        assert_eq!([count((true, true)), count((true, false)), count((false, true))], [N / 2; 3]);
        assert!(report.counter(&format!("{how}.spilled")) > N as i64, "{how}");
    }
}
