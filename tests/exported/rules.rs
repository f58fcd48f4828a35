//! What an exported batch may be made of, and what is refused.

use crate::bootstrap::{World, events};
use crate::pipelines::{Event, Out};
use flow_core::prelude::*;
use std::path::{Path, PathBuf};

dataflow! {
    /// In no order of time: nothing is late, since it is sorted first.
    #[batch(exported)]
    fn sorted_history(file: PathBuf, out: Out) {
        let sorted = source(csv::<Event>(file)).sort_by_key(|e| e.at);
        let events = sorted.event_time(|e| e.at, disorder = 40ms);
        let counts = events.key_by(|e| e.key.clone()).window(tumbling(100ms), late = fail).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn live(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 40ms);
        let counts = events.key_by(|e| e.key.clone()).window(tumbling(100ms), late = fail).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    /// Operators that need all their input, and any source and sink.
    #[batch(exported)]
    fn names(events: Vec<Event>, names: Vec<(u64, String)>, report: PathBuf) {
        let events = source(from_vec(events));
        let names = source(from_vec(names));
        let pairs = events.key_by(|e| e.n).join(names.key_by(|n| n.0)).hash();
        let named = pairs.map(|(_, (e, name))| (name.1, e.at));
        let grouped = named.key_by(|n| n.0.clone()).reduce_group(|_, times| times.count() as u64);
        let counts = grouped.key_by(|g| g.0.clone()).sum(|g| g.1);
        counts.map(|c| format!("{} {}", c.0, c.1)).sink(text_file(report));
    }

    #[checkpointed]
    fn more_names(names: Vec<(String, u64)>, out: Collected<(String, u64)>) {
        let grouped = source(from_vec(names));
        let counts = grouped.key_by(|g| g.0.clone()).sum(|g| g.1);
        counts.collect(&out);
    }

    /// The same pipeline is both.
    #[checkpointed]
    fn per_key(file: PathBuf, folder: PathBuf) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 5ms);
        let counts = events.key_by(|e| e.key.clone()).window(tumbling(50ms), late = drop).count();
        counts.map(|c| (c.key, c.start.millis(), c.value)).sink(csv_files(folder));
    }
}

fn rows(folder: &Path) -> Vec<String> {
    let mut rows = Vec::new();
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_some_and(|end| end == "csv") {
            rows.extend(std::fs::read_to_string(path).expect("a text").lines().map(str::to_owned));
        }
    }
    rows.sort_unstable();
    rows
}

#[test]
fn history_in_no_order_is_sorted_first() {
    let world = World::new();
    let mut all = events(900, 3);
    all.sort_by_key(|event| event.at);
    let (before, after) = all.split_at(500);
    let mut shuffled = before.to_vec();
    shuffled.sort_by_key(|event| (event.n, event.at));
    let files = [("before", &shuffled[..]), ("after", after), ("all", &all[..])];
    let [before, after, all] = files.map(|(name, events)| world.file(name, events));
    let expected = Out::new();
    live(all, expected.clone()).run().unwrap();
    let mut expected = expected.take();
    expected.sort_unstable();
    for instances in [1, 2, 4] {
        let (old, new) = (Out::new(), Out::new());
        let savepoint = world.path(&format!("savepoint {instances}"));
        let job = sorted_history(before.clone(), old.clone()).parallelism(instances).memory(1);
        job.savepoint_to(&savepoint).run().unwrap();
        let checkpoints = Checkpoints::to(savepoint.join("live")).begin_from(&savepoint);
        live(after.clone(), new.clone()).parallelism(5 - instances).checkpoints(checkpoints).run().unwrap();
        let mut rows = [old.take(), new.take()].concat();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{instances}");
    }
}

#[test]
fn operators_that_need_all_their_input_have_it() {
    let world = World::new();
    let records = events(500, 9);
    let known: Vec<(u64, String)> = (0..300).map(|n| (n, format!("name {}", n % 7))).collect();
    for instances in [1, 2, 4] {
        let savepoint = world.path(&format!("savepoint {instances}"));
        let report = world.path(&format!("report {instances}"));
        let job = names(records.clone(), known.clone(), report.clone()).parallelism(instances);
        job.savepoint_to(&savepoint).run().unwrap();
        let mut found: Vec<String> =
            std::fs::read_to_string(&report).unwrap().lines().map(str::to_owned).collect();
        found.sort_unstable();
        let count =
            |name: &str| records.iter().filter(|e| e.n < 300 && format!("name {}", e.n % 7) == name).count();
        let expected: Vec<String> =
            (0..7).map(|n| format!("name {n}")).map(|name| format!("{name} {}", count(&name))).collect();
        assert_eq!(found, expected);
        let out = Collected::new();
        let job =
            more_names(vec![("name 3".into(), 1), ("new".into(), 2)], out.clone()).parallelism(5 - instances);
        // What was only of the batch keeps nothing, and needs no word.
        job.checkpoints(Checkpoints::to(savepoint.join("live")).begin_from(&savepoint)).run().unwrap();
        let mut found = out.take();
        found.sort_unstable();
        assert_eq!(found, [("name 3".to_owned(), count("name 3") as u64 + 1), ("new".to_owned(), 2)]);
    }
}

dataflow! {
    /// Fails behind the end of its input, as its file cannot be put in its place: that of the history is there then.
    #[batch(exported)]
    fn reported(events: Vec<Event>, report: PathBuf, folder: PathBuf, blocked: PathBuf) {
        let events = source(from_vec(events)).inspect(move |_| if blocked.exists() { drop(std::fs::create_dir_all(&folder)) });
        events.key_by(|e| e.key.clone()).count().map(|c| format!("{} {}", c.0, c.1)).sink(text_file(report));
    }
}

/// An output that cannot be made final leaves no savepoint: the stream would go on behind a history of which the rows are missing. The batch is run again.
#[test]
fn no_savepoint_without_the_output() {
    let world = World::new();
    let [savepoint, report, blocked] = ["savepoint", "report.txt", "blocked"].map(|name| world.path(name));
    std::fs::write(&blocked, "").unwrap();
    for p in [1, 2] {
        let ran = reported(events(200, 3), report.clone(), report.join("in the way"), blocked.clone())
            .parallelism(p)
            .savepoint_to(&savepoint)
            .run();
        let error = ran.unwrap_err().to_string();
        assert!(error.contains("report.txt"), "{error}");
        let mut left = std::fs::read_dir(&savepoint).unwrap().map(|file| file.unwrap().file_name());
        assert!(left.all(|name| !name.to_string_lossy().ends_with(".manifest")), "a savepoint is there");
    }
    std::fs::remove_file(&blocked).unwrap();
    std::fs::remove_dir_all(&report).unwrap();
    reported(events(200, 3), report.clone(), report.join("in the way"), blocked)
        .savepoint_to(&savepoint)
        .run()
        .unwrap();
    assert_eq!(std::fs::read_to_string(&report).unwrap().lines().count(), 200);
    let read = flow_core::checkpoint::read(&savepoint);
    assert!(read.is_ok(), "{:?}", read.err().map(|error| error.to_string()));
}

#[test]
fn both_write_into_one_folder() {
    let world = World::new();
    let all = events(800, 5);
    let (before, after) = all.split_at(300);
    let (before, after) = (world.file("before.csv", before), world.file("after.csv", after));
    let all = world.file("all.csv", &all);
    let [one, two] = ["one", "two"].map(|name| world.path(name));
    let checkpoints = Checkpoints::to(world.path("checkpoints of one"));
    per_key(all, one.clone()).checkpoints(checkpoints).run().unwrap();
    let savepoint = world.path("savepoint");
    per_key(before, two.clone()).parallelism(2).savepoint_to(&savepoint).run().unwrap();
    let so_far = rows(&two).len();
    assert!(so_far > 20, "{so_far}");
    let checkpoints = Checkpoints::to(world.path("checkpoints")).begin_from(&savepoint);
    per_key(after, two.clone()).parallelism(3).checkpoints(checkpoints).run().unwrap();
    assert_eq!(rows(&two), rows(&one));
}

#[test]
fn a_stream_that_dies_begins_from_the_history_until_it_has_a_checkpoint() {
    let world = World::new();
    let all = events(300, 11);
    let (before, after) = all.split_at(150);
    let (before, after) = (world.file("before", before), world.file("after", after));
    let all = world.file("all", &all);
    let complete = Out::new();
    live(all, complete.clone()).run().unwrap();
    let mut expected = complete.take();
    expected.sort_unstable();
    let [mut from_history, mut from_own] = [0, 0];
    for steps in (1..200).step_by(7) {
        let folder = tempfile::tempdir().unwrap();
        let savepoint = folder.path().join("savepoint");
        let out = Out::new();
        let job = counted_history(before.clone(), out.clone()).parallelism(2);
        job.savepoint_to(&savepoint).simulate(steps).unwrap();
        let checkpoints = Checkpoints::to(folder.path().join("live")).every(Millis(1)).begin_from(&savepoint);
        for attempt in 0.. {
            let job = live(after.clone(), out.clone()).parallelism(3).checkpoints(checkpoints.clone());
            let job = if attempt < 3 { job.crash_at(steps * (attempt + 1)) } else { job };
            match job.simulate(steps + attempt) {
                Ok(report) if report.restored == Some(1) => from_history += 1,
                Ok(_) => from_own += 1,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Crash, "{error}");
                    continue;
                }
            }
            break;
        }
        let mut rows = out.take();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{steps}");
    }
    assert!(from_history > 0 && from_own > 0, "{from_history} and {from_own}");
}

dataflow! {
    #[batch(exported)]
    fn counted_history(file: PathBuf, out: Out) {
        let events = source(csv::<Event>(file)).event_time(|e| e.at, disorder = 40ms);
        let counts = events.key_by(|e| e.key.clone()).window(tumbling(100ms), late = drop).aggregate(|a| (a.count(), a.sum(|e| e.n)));
        counts.map(|x| format!("{x:?}")).collect(&out);
    }

    #[batch(exported)]
    fn sums(out: Out) {
        let numbers = source(generate(100, |n| n));
        let sums = numbers.key_by(|n| n % 3).sum(|n| *n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn more_sums(out: Out) {
        let numbers = source(generate(100, |n| n));
        let sums = numbers.key_by(|n| n % 3).sum(|n| *n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn other_sums(out: Out) {
        let numbers = source(generate(100, |n| n));
        let totals = numbers.key_by(|n| n % 3).sum(|n| *n);
        totals.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn text_sums(out: Out) {
        let numbers = source(generate(100, |n| n));
        let sums = numbers.key_by(|n| format!("{n}")).sum(|n| *n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    fn volatile(out: Out) {
        let numbers = source(generate(100, |n| n));
        numbers.map(|x| format!("{x:?}")).collect(&out);
    }

    #[batch]
    #[checkpointed]
    fn last_rows(out: Out) {
        let numbers = source(generate(100, |n| n));
        let sums = numbers.key_by(|n| n % 3).sum(|n| *n);
        sums.map(|x| format!("{x:?}")).collect(&out);
    }

    #[batch(exported)]
    fn asks(out: Out) {
        let numbers = source(generate(100, |n| n));
        let answers = numbers.async_map(|n| async move { n + 1 }, capacity = 4, timeout = 1s);
        answers.map(|x| format!("{x:?}")).collect(&out);
    }

    #[checkpointed]
    fn loops(out: Out) {
        let numbers = source(generate(100, |n| n));
        let larger = numbers.iterate(rounds = 3, |n| n.map(|n| n + 1));
        larger.map(|x| format!("{x:?}")).collect(&out);
    }

    #[batch(exported)]
    fn slow(out: Out) {
        let numbers = source(generate(1_000_000, |n| n)).rate_limit(1_000);
        numbers.key_by(|n| n % 3).sum(|n| *n).map(|x| format!("{x:?}")).collect(&out);
    }
}

/// A job that does not start, or does not come to its end; what it says.
fn refused(job: Job) -> String {
    job.run().expect_err("it is refused").to_string()
}

fn says(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing: {error}");
    }
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let (world, out) = (World::new(), Out::new());
    let none = world.path("none");
    says(&refused(sums(out.clone())), &["nobody has said where its savepoint goes", "savepoint_to(folder)"]);
    let both = sums(out.clone()).checkpoints(Checkpoints::to(&none)).savepoint_to(&none);
    says(&refused(both), &["either takes checkpoints or writes a savepoint"]);
    let checkpointed = sums(out.clone()).checkpoints(Checkpoints::to(&none));
    says(&refused(checkpointed), &["nobody has said where its savepoint goes", "and no `checkpoints`"]);
    let keeps_nothing = volatile(out.clone()).savepoint_to(&none);
    says(
        &refused(keeps_nothing),
        &["the pipeline's state cannot be written down", "#[batch(exported)]", "rules.rs"],
    );
    let rows = last_rows(out.clone()).savepoint_to(&none);
    says(&refused(rows), &["sums/sum", "one row for each key, at the end of a batch", "#[batch(exported)]"]);
    says(&refused(asks(out.clone()).savepoint_to(&none)), &["answers/async_map", "requests under way"]);
    says(&refused(loops(out.clone()).savepoint_to(&none)), &["larger/iterate", "supersteps"]);
    assert!(out.take().is_empty());
    let left: Vec<_> = std::fs::read_dir(&none).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("manifest")), "{left:?}");
}

#[test]
fn a_part_of_the_history_is_none() {
    let (world, out) = (World::new(), Out::new());
    let handle = slow(out.clone()).savepoint_to(world.path("none")).start().unwrap();
    while handle.metrics().iter().all(|stage| stage.records_in == 0) {
        std::thread::yield_now();
    }
    handle.stop();
    says(
        &handle.join().unwrap_err().to_string(),
        &["asked to end before all its input had been read", "no savepoint"],
    );
    assert!(out.take().is_empty(), "what was staged was taken back");
    let job = more_sums(out).checkpoints(Checkpoints::to(world.path("live")).begin_from(world.path("none")));
    says(&refused(job), &["has no checkpoint"]);
}

#[test]
fn state_finds_its_operator_or_is_refused_by_name() {
    let (world, out) = (World::new(), Out::new());
    let savepoint = world.path("savepoint");
    let live = |name: &str| Checkpoints::to(world.path(name)).begin_from(&savepoint);
    says(&refused(more_sums(out.clone()).checkpoints(live("a"))), &["there is no folder", "to begin from"]);
    sums(out.clone()).savepoint_to(&savepoint).run().unwrap();
    says(
        &refused(sums(out.clone()).savepoint_to(&savepoint)),
        &["has checkpoint 1 already", "a folder of its own"],
    );
    out.take();
    let other = other_sums(out.clone());
    says(
        &refused(other.checkpoints(live("b"))),
        &["operators that are not in the pipeline: sums/sum", "drop_state"],
    );
    let other = text_sums(out.clone()).checkpoints(live("c"));
    says(&refused(other), &["the state of `sums/sum`", "was `u64 -> u64` and is `string -> u64` now"]);
    let anew =
        other_sums(out.clone()).checkpoints(live("d").drop_state("sums/sum").drop_state("sums/collect"));
    anew.run().unwrap();
    assert_eq!(out.take().last().unwrap(), "(0, 1683)");
    more_sums(out.clone()).checkpoints(live("e")).run().unwrap();
    assert_eq!(out.take().last().unwrap(), "(0, 3366)");
}
