//! Sorting and grouping as jobs: on every host, at parallelism 1, 2 and 4, with rings that are full most of the time.

use flow_core::prelude::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Runs a job over these records in every way, and checks what comes of each.
macro_rules! each_way {
    ($records:expr, $seed:expr, |$stream:ident| $rest:expr, |$rows:ident| $check:expr) => {
        for (parallelism, host) in [(1, 0), (2, 0), (4, 0), (1, 1), (2, 1), (4, 1), (2, 2), (4, 2)] {
            let out = Collected::new();
            let job = Job::build("sorted", |job| {
                let $stream = source(from_vec($records.clone()).splits(3)).batch();
                // The collection is behind a ring of its own.
                job.add($rest.boundary().collect(&out));
            });
            let job = job.parallelism(parallelism).batch_size(3).ring_batches(1);
            match host {
                0 => job.simulate($seed),
                1 => job.host(HostKind::Threads).run(),
                _ => job.host(HostKind::Workers(2)).run(),
            }
            .unwrap();
            let $rows = out.take();
            $check
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn it_is_sorted_whatever_room_there_is(records in prop::collection::vec((0u8..9, any::<u16>()), 0..2_000), seed in any::<u64>()) {
        let mut expected = records.clone();
        expected.sort_unstable();
        each_way!(records, seed, |s| s.sort_by_key(|r| *r), |rows| prop_assert!(rows == expected));
        expected.reverse();
        each_way!(records, seed, |s| s.sort_by(|a, b| b.cmp(a)), |rows| prop_assert!(rows == expected));
    }

    #[test]
    fn groups_are_whole(records in prop::collection::vec((0u16..700, any::<u16>()), 0..2_000), seed in any::<u64>()) {
        let mut groups: BTreeMap<u16, Vec<u16>> = BTreeMap::new();
        records.iter().for_each(|(key, value)| groups.entry(*key).or_default().push(*value));
        groups.values_mut().for_each(|values| values.sort_unstable());
        let expected: Vec<(u16, Vec<u16>)> = groups.into_iter().collect();
        let values = |_: &u16, records: &mut flow_core::op::reduce_group::Group<'_, (u16, u16)>| {
            let mut values: Vec<u16> = records.map(|r| r.1).collect();
            values.sort_unstable();
            values
        };
        each_way!(records, seed, |s| s.key_by(|r| r.0).reduce_group(values), |rows| {
            let mut rows = rows;
            rows.sort();
            prop_assert!(rows == expected);
        });
    }
}

/// From one sender the records of a group, and equal ones of a sort, are in the order in which they came.
#[test]
fn equal_ones_stay_in_order() {
    let records: Vec<(u8, u32)> = (0..5_000).map(|n| ((n % 7) as u8, n)).collect();
    let (sorted, firsts) = (Collected::new(), Collected::new());
    let job = Job::build("order", |job| {
        let records = || source(from_vec(records.clone())).batch();
        job.add(records().sort_by_key(|r| r.0).collect(&sorted));
        let grouped = records().key_by(|r| r.0).reduce_group(|_, group| group.map(|r| r.1).is_sorted());
        job.add(grouped.collect(&firsts));
    });
    let report = job.parallelism(2).run().unwrap();
    let mut expected = records;
    expected.sort_by_key(|r| r.0);
    assert_eq!(sorted.take(), expected);
    assert!(firsts.take().iter().all(|group| group.1));
    assert_eq!(report.counter("reduce_group.spilled") + report.counter("sort_by_key.spilled"), 0);
}

/// However many runs there are, few of their files are open at a time.
#[cfg(target_os = "linux")]
#[test]
fn few_files_are_open() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().canonicalize().unwrap();
    let open = move || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        files.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to.starts_with(&here))).count()
    };
    let most = std::sync::Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    let out = Collected::new();
    let job = Job::build("runs", |job| {
        // Runs of about a hundred records.
        let records = source(generate(6_000, |n| (n ^ 0xaaa, "x".repeat(4_000)))).batch();
        job.add(
            records
                .sort_by_key(|r| r.0)
                .inspect(move |_| {
                    seen.fetch_max(open(), Relaxed);
                })
                .count()
                .collect(&out),
        );
    });
    let report = job.parallelism(1).memory(0).spill_to(folder.path()).run().unwrap();
    assert!(report.counter("sort_by_key.spilled") > 5_000);
    let most = most.load(Relaxed);
    assert!((1..=32).contains(&most), "{most} files are open");
}

/// A number that can be written, but of which one cannot be read.
#[derive(Clone)]
struct Brittle(u32);

impl serde_core::Serialize for Brittle {
    fn serialize<S: serde_core::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'d> serde_core::Deserialize<'d> for Brittle {
    fn deserialize<D: serde_core::Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        match u32::deserialize(from)? {
            77_777 => Err(serde_core::de::Error::custom("this place of the disk is broken")),
            n => Ok(Brittle(n)),
        }
    }
}

/// A group that cannot be read whole ends early for the function; what it says to that is not what the job says.
#[test]
fn a_broken_file_is_the_error_and_not_what_follows_from_it() {
    let out = Collected::new();
    let job = Job::build("broken", |job| {
        let records = source(generate(200_000, |n| Brittle(n as u32))).batch();
        let groups = records.key_by(|_| 0u8).reduce_group(|_, group| {
            assert_eq!(group.count(), 200_000, "records are missing");
        });
        job.add(groups.collect(&out));
    });
    let error = job.parallelism(1).memory(0).run().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("this place of the disk is broken") && !text.contains("are missing"), "{text}");
    assert!(text.contains("reduce_group"), "{text}");
}
