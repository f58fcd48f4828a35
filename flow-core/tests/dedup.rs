//! `dedup_first` with a time to live, on the virtual clock, against a model that keeps every record; and the counters.

use flow_core::prelude::*;
use proptest::prelude::*;

fn config() -> ProptestConfig {
    let cases = std::env::var("FLOW_RANDOM_CASES").map_or(100, |text| text.parse().expect("a number"));
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// The records that are first ones, and how many keys were forgotten before they came again.
fn naive(keys: &[u8], rate: i64, ttl: i64) -> (Vec<usize>, usize) {
    let tick = |i: usize| (i as i64 * 1000 + rate - 1) / rate;
    let mut firsts: Vec<usize> = Vec::new();
    let mut again = 0;
    for i in 0..keys.len() {
        let before = firsts.iter().rfind(|first| keys[**first] == keys[i]).copied();
        if before.is_none_or(|before| tick(before) + ttl <= tick(i)) {
            again += usize::from(before.is_some());
            firsts.push(i);
        }
    }
    (firsts, again)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_key_is_new_again_when_its_time_is_over(
        keys in proptest::collection::vec(0u8..6, 1..80), rate in 1u64..2_000, ttl in 1i64..400,
        parallelism in 1usize..4, batch in 1usize..9, seed in any::<u64>(),
    ) {
        let out = Collected::new();
        let all = keys.clone();
        let job = Job::build("dedup", |job| {
            let records = source(generate(keys.len() as u64, move |i| (keys[i as usize], i as usize)).rate(rate));
            job.add(records.key_by(|r| r.0).dedup_first().ttl(Millis(ttl)).map(|(_, r)| r.1).collect(&out));
        });
        let report = job.parallelism(parallelism).batch_size(batch).simulate(seed).expect("it ends");
        let (firsts, again) = naive(&all, rate as i64, ttl);
        let mut rows = out.take();
        rows.sort_unstable();
        prop_assert_eq!(&rows, &firsts);
        prop_assert_eq!(report.counter("dedup_first.duplicates"), (all.len() - firsts.len()) as i64);
        // Some keys were forgotten and did not come again.
        let expired = report.counter("dedup_first.expired");
        prop_assert!(expired >= again as i64 && expired <= firsts.len() as i64, "{expired}, {again} of them came again");
    }

    #[test]
    fn the_counters_are_what_is_not_shown(keys in proptest::collection::vec((0u8..6, 0i64..9), 0..80), n in 1usize..4) {
        let (first, last, top) = (Collected::new(), Collected::new(), Collected::new());
        let all = keys.clone();
        let job = Job::build("counters", |job| {
            let records = source(from_vec(keys));
            let firsts = records.root().key_by(|r| r.0).dedup_first().collect(&first);
            let lasts = records.root().key_by(|r| r.0).dedup_last().collect(&last);
            let tops = records.root().key_by(|r| r.0).top_n(n, |r| r.1).collect(&top);
            job.add(records.tee(|o| o.both(firsts, o.both(lasts, tops))));
        });
        let report = job.run().expect("it ends");
        let (first, last) = (first.take(), last.take());
        prop_assert_eq!(report.counter("dedup_first.duplicates"), (all.len() - first.len()) as i64);
        prop_assert_eq!(report.counter("dedup_last.duplicates"), (all.len() - last.len()) as i64);
        let mut kept = std::collections::BTreeMap::new();
        top.take().into_iter().for_each(|(key, top)| { kept.insert(key, top.len()); });
        let kept: usize = kept.values().sum();
        prop_assert_eq!(report.counter("top_n.outranked"), (all.len() - kept) as i64);
        let naive = |r: &(u8, i64)| (r.0, all.iter().rfind(|other| other.0 == r.0).copied().expect("it came"));
        prop_assert_eq!(last, first.iter().map(|(_, r)| naive(r)).collect::<Vec<_>>());
    }
}

#[test]
fn what_cannot_be_is_told_before_any_record_is_read() {
    let refused =
        |build: fn(&mut Job)| Job::build("refused", build).run().expect_err("it cannot be").to_string();
    let ttl = refused(|job| {
        job.add(source(from_iter(0..9)).key_by(|i| *i).dedup_first().ttl(Millis(0)).for_each(|_| ()))
    });
    assert!(
        ttl.contains("dedup_first") && ttl.contains("a ttl of 0ms: it has to be longer than zero"),
        "{ttl}"
    );
    let top =
        refused(|job| job.add(source(from_iter(0..9)).key_by(|i| *i).top_n(0, |i| *i).for_each(|_| ())));
    assert!(top.contains("top_n") && top.contains("the first 0 records: it has to be at least 1"), "{top}");
}
