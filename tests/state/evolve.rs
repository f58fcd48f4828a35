//! State of types that have changed: with a function from the old one to the new one a job goes on exactly, without it is refused.

use crate::pipelines::Case;
use crate::running::{begin_with, check, complete, copied};
use flow_core::ErrorKind;
use flow_core::prelude::*;
use std::path::Path;

/// Rows of the input.
pub const ROWS: u64 = 600;

mod v1;
mod v2;
mod v3;

/// What `v1::types::Row` was, as the program of later has it.
#[derive(serde::Deserialize)]
struct RowV1 {
    n: u64,
}

fn to_v2(old: RowV1) -> v2::types::Row {
    v2::types::Row { text: old.n.to_string(), tag: Some(v2::types::Tag::Upgraded) }
}

fn to_v3(old: v2::types::Row) -> v3::types::Row {
    v3::types::Row(-i128::from(v2::types::n_of(&old)))
}

fn case((name, job): &(&'static str, fn(u64, Collected<String>) -> Job)) -> Case {
    Case { name, job: *job }
}

fn go_on(case: &Case, checkpoints: Checkpoints, parallelism: usize) -> Result<Vec<String>> {
    crate::running::go_on(case, checkpoints, parallelism)
}

/// The name of the operator with the rows.
fn operator(refused: &Error) -> String {
    refused.stage().expect("a stage").to_owned()
}

fn at(folder: &Path) -> Checkpoints {
    Checkpoints::to(folder)
}

#[test]
fn with_an_upgrade_it_goes_on_exactly() {
    let versions = v1::pipelines::CASES.iter().zip(v2::pipelines::CASES).zip(v3::pipelines::CASES);
    for (n, ((one, two), three)) in versions.enumerate() {
        let (one, two, three) = (case(one), case(two), case(three));
        let name = format!("pipeline {n}, `{}`", one.name);
        let folder = tempfile::tempdir().expect("a folder");
        let before = begin_with(&one, at(folder.path()), 2, ROWS / 3);
        let expected = complete(&one);
        let refused = go_on(&two, at(folder.path()), 2).expect_err("it has no upgrade");
        assert_eq!(refused.kind(), ErrorKind::State, "{name}: {refused}");
        let of = operator(&refused);
        let text = refused.to_string();
        for part in ["Row { n: u64 }", "Row { text: string, tag: option<Tag> }", "Checkpoints::upgrade(", &of]
        {
            assert!(text.contains(part), "{name}: {part}: {text}");
        }
        for parallelism in [1, 3, 4] {
            let copy = copied(folder.path());
            let rest = go_on(&two, at(copy.path()).upgrade(&*of, to_v2), parallelism);
            let rest = rest.unwrap_or_else(|error| panic!("{name}: {error}"));
            check(&name, [before.clone(), rest].concat(), &expected);
        }
        // From the first checkpoint on the state is of the new types: nothing is left to be upgraded.
        let upgrading = at(folder.path()).upgrade(&*of, to_v2);
        let more = begin_with(&two, upgrading.deltas(100), 3, ROWS / 3);
        let so_far = [before, more].concat();
        let copy = copied(folder.path());
        let rest = go_on(&two, at(copy.path()), 2).unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&name, [so_far.clone(), rest].concat(), &expected);
        // The next version knows of both; what it does not need does nothing.
        let chain = at(folder.path()).upgrade(&*of, to_v2).upgrade(&*of, to_v3);
        let rest = go_on(&three, chain, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
        check(&name, [so_far, rest].concat(), &expected);
    }
}

#[test]
fn several_versions_are_gone_through() {
    let (one, three) = (case(&v1::pipelines::CASES[0]), case(&v3::pipelines::CASES[0]));
    let folder = tempfile::tempdir().expect("a folder");
    let before = begin_with(&one, at(folder.path()), 1, ROWS / 2);
    // In any order.
    let chain = at(folder.path()).upgrade("scans", to_v3).upgrade("scans/scan", to_v2);
    let rest = go_on(&three, chain, 2).expect("it goes on");
    check("scans", [before, rest].concat(), &complete(&one));
}

#[test]
fn what_cannot_be_upgraded_is_told() {
    let (one, two) = (case(&v1::pipelines::CASES[0]), case(&v2::pipelines::CASES[0]));
    let folder = tempfile::tempdir().expect("a folder");
    begin_with(&one, at(folder.path()), 1, ROWS / 2);
    let refused = |checkpoints| go_on(&two, checkpoints, 2).expect_err("it does not start").to_string();
    let fails = at(folder.path()).try_upgrade("scans/scan", |old: RowV1| {
        if old.n % 7 == 3 { Err("not a three") } else { Ok(to_v2(old)) }
    });
    let text = refused(fails);
    for part in ["`scans/scan` cannot be upgraded", "not a three", "key group", "key 3"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = refused(at(folder.path()).upgrade("scan/scan", to_v2));
    assert!(text.contains("no operator of this name") && text.contains("scans/scan"), "{text}");
    let text = refused(at(folder.path()).upgrade("scans/scan", |old: RowV1| old.n));
    assert!(text.contains("leads to `u64`, which is not in its state"), "{text}");
    let text = refused(at(folder.path()).upgrade("scans/scan", |_: u8| to_v2(RowV1 { n: 0 })));
    assert!(text.contains("was `u64 -> option<Row { n: u64 }>`"), "{text}");
}
