//! What is written slice by slice, and of later checkpoints only what has changed, is what was there at the barrier: a second run, the same up to there,
//! writes it whole and at once.

use super::*;

/// By stage, key group, section and key: the value, its bytes in order of size. Sets of the user's have no order.
type Entries = BTreeMap<(String, usize, Vec<u8>, Vec<u8>), Vec<u8>>;

/// Takes the bytes before which a length stands, to which `more` has been added; none where that is 0.
fn framed<'a>(bytes: &mut &'a [u8], more: usize) -> Option<&'a [u8]> {
    let (mut length, mut shift) = (0, 0);
    loop {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        length |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if *byte < 0x80 {
            break;
        }
    }
    let (taken, rest) = bytes.split_at(length.checked_sub(more)?);
    *bytes = rest;
    Some(taken)
}

/// What there is, after all that has been written one after the other; see `checkpoint/records.rs`. `exact` says whether values are compared,
/// and not only how long they are.
fn entries(state: &State, exact: bool) -> Entries {
    let mut entries = Entries::new();
    for ((stage, group), history) in state {
        for bytes in history {
            let (mut rest, mut section) = (&bytes[..], Vec::new());
            while !rest.is_empty() {
                if let Some(key) = framed(&mut rest, 1) {
                    let at = (stage.clone(), *group, section.clone(), key.to_vec());
                    match framed(&mut rest, 1) {
                        Some(value) => {
                            let mut value = if exact { value.to_vec() } else { vec![0; value.len()] };
                            value.sort_unstable();
                            entries.insert(at, value);
                        }
                        None => drop(entries.remove(&at)),
                    }
                    continue;
                }
                section = framed(&mut rest, 0).unwrap().to_vec();
                if framed(&mut rest, 1).is_none() {
                    entries
                        .retain(|(s, g, name, _), _| s != stage || g != group || !name.starts_with(&section));
                }
            }
        }
    }
    entries
}

/// The states of all checkpoints that a run of `pipeline` takes; or only that of number `at`, written at once, where there is one.
fn checkpoints(
    pipeline: Pipeline,
    parallelism: usize,
    records: &[Record],
    every: usize,
    at: Option<usize>,
) -> Vec<State> {
    let (sender, source) = channel(records.len().max(1));
    records.iter().for_each(|record| sender.send(*record).unwrap());
    let host = Saving { every, at, ..Saving::default() };
    let job = Job::build("saved", |job| pipeline(job, Fed(source.clone()), Shown::default()));
    job.parallelism(parallelism).batch_size(7).host_with(host.clone()).run().unwrap();
    drop(sender);
    std::mem::take(&mut *host.checkpoints.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_what_was_there_at_the_barrier(
        records in records(),
        p in 1usize..4,
        every in 2usize..9,
        at in 0usize..6,
    ) {
        // What hangs on the clock is not the same in two runs.
        let by_the_clock = [firsts_for_long as Pipeline, lasting, joined::for_long];
        for (number, pipeline) in PIPELINES.into_iter().enumerate() {
            let exact = by_the_clock.iter().all(|other| !std::ptr::fn_addr_eq(*other, pipeline));
            let all = checkpoints(pipeline, p, &records, every, None);
            let Some(state) = all.get(at) else { continue };
            let whole = checkpoints(pipeline, p, &records, every, Some(at));
            let (written, there) = (entries(state, exact), entries(&whole[0], exact));
            prop_assert!(written == there, "pipeline {}: {:?}", number, differences(&written, &there));
        }
    }
}

/// A few keys of which the entries differ, and how.
fn differences<'a>(
    written: &'a Entries,
    there: &'a Entries,
) -> Vec<(&'a (String, usize, Vec<u8>, Vec<u8>), Option<&'a [u8]>, Option<&'a [u8]>)> {
    let keys = written.keys().chain(there.keys().filter(|key| !written.contains_key(key)));
    let of = |entries: &'a Entries, key| entries.get(key).map(|value| &value[..]);
    let each = keys.map(|key| (key, of(written, key), of(there, key)));
    each.filter(|(_, written, there)| written != there).take(3).collect()
}
