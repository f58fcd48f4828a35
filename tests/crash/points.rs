//! A process that is killed at each step of a checkpoint, and of a start from one, twice in a row.

use super::runner::{Case, all};
use flow_tests::crashing::{PIPELINES, Pipeline};

/// Whether a pipeline comes to a point: one without an exchange has no stage with inputs.
fn comes_to(pipeline: Pipeline, point: &str) -> bool {
    pipeline != Pipeline::Linear || !["P2", "P3", "R2"].contains(&point)
}

/// On which coming to the point the process dies: at the first, the second and a late checkpoint. Where each instance comes to it, there are two or more
/// for each checkpoint.
fn times(point: &str) -> Vec<u32> {
    let late = if ["P1", "P2", "P3", "P5", "P6a", "P6b", "P6c"].contains(&point) { 16 } else { 9 };
    if all() { vec![1, 2, late] } else { vec![2] }
}

/// A pipeline, and whether its state is on the disk.
type Chosen = (Pipeline, bool);

/// Each pipeline by itself, side by side, windows also with their state on the disk; that with a broker where it is about what the broker knows.
fn in_each(point: &'static str, check: fn(Chosen, &'static str)) {
    let broker = ["P8b", "P8c", "P9", "P10", "R3", "R4"].contains(&point).then_some(Pipeline::Queue);
    let chosen = PIPELINES.into_iter().filter(|pipeline| comes_to(*pipeline, point)).chain(broker);
    let chosen = chosen.map(|pipeline| (pipeline, pipeline == Pipeline::Sums));
    let chosen = chosen.chain([(Pipeline::Windows, true), (Pipeline::Join, true)]);
    let threads: Vec<_> = chosen.map(|chosen| std::thread::spawn(move || check(chosen, point))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Dies at a step of a checkpoint, goes on at another parallelism, dies there again, and comes to the end.
fn dies_at((pipeline, spills): Chosen, point: &'static str) {
    for times in times(point) {
        let case = Case::short(pipeline).on_the_disk(spills);
        let disk = if spills { " on the disk" } else { "" };
        let (what, fail) = (format!("{pipeline:?}{disk} at {point}:{times}"), format!("{point}:{times}"));
        if !case.run(2, Some(&fail)).is_killed() {
            too_slow(&case, &what, times);
            continue;
        }
        case.check_so_far(&what);
        let before = case.newest();
        let again = case.run(if times == 2 { 3 } else { 2 }, Some(&fail)).is_killed();
        case.check_so_far(&what);
        // A start removes what nobody needs, too.
        if again && times > 2 && point != "P10" {
            assert!(case.newest() > before, "{what}: nothing was done between two deaths");
        }
        assert!(!case.run(1, None).is_killed(), "{what}");
        case.check(&what);
    }
}

/// A machine that is busy with other things may have too few checkpoints for a late one, and for no other.
fn too_slow(case: &Case, what: &str, times: u32) {
    assert!(times > 2, "{what} was not come to");
    println!("{what} was not come to: {} checkpoints", case.newest());
    case.check(what);
}

/// Dies at a step of a start, after a death with outputs that are staged and not committed.
fn dies_starting((pipeline, spills): Chosen, point: &'static str) {
    for times in if all() { vec![1, 2, 9] } else { vec![2] } {
        let case = Case::short(pipeline).on_the_disk(spills);
        let disk = if spills { " on the disk" } else { "" };
        let what = format!("{pipeline:?}{disk} at {point} after P8a:{times}");
        if !case.run(2, Some(&format!("P8a:{times}"))).is_killed() {
            too_slow(&case, &what, times);
            continue;
        }
        let before = case.newest();
        for parallelism in [2, 2, 4] {
            assert!(case.run(parallelism, Some(point)).is_killed(), "{what} was not come to");
            case.check_so_far(&what);
            assert_eq!(case.newest(), before, "{what}");
        }
        assert!(!case.run(2, None).is_killed(), "{what}");
        case.check(&what);
    }
}

macro_rules! points {
    ($check:ident: $($name:ident $point:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            in_each($point, $check);
        })*
    };
}

points! { dies_at:
    f_k_p1_position_recorded "P1",
    f_k_p2_some_inputs "P2",
    f_k_p3_written_at_once "P3",
    f_k_p4a_state_before "P4a",
    f_k_p4b_state_half_written "P4b",
    f_k_p4c_state_written "P4c",
    f_k_p4d_state_synced "P4d",
    f_k_p4e_names_not_synced "P4e",
    f_k_p5_saved "P5",
    f_k_p6a_before_staging "P6a",
    f_k_p6b_staged_not_synced "P6b",
    f_k_p6c_staged "P6c",
    f_k_p7a_manifest_before "P7a",
    f_k_p7b_manifest_half_written "P7b",
    f_k_p7c_manifest_synced "P7c",
    f_k_p7d_manifest_renamed "P7d",
    f_k_p8a_before_commits "P8a",
    f_k_p8b_some_committed "P8b",
    f_k_p8c_all_committed "P8c",
    f_k_p9_acknowledged "P9",
    f_k_p10_garbage_half_gone "P10",
}

points! { dies_starting:
    f_k22_manifest_read "R1",
    f_k23_state_loaded "R2",
    f_k24_committing_again "R3",
    f_k25_source_seeks "R4",
}

/// A run that nobody kills; and what is read after a death is what no checkpoint has.
#[test]
fn nothing_is_read_twice_but_since_the_last_checkpoint() {
    let case = Case::short(Pipeline::Linear);
    assert!(case.run(2, Some("P8c:3")).is_killed());
    let committed = case.lines("rows").len() as u64;
    let super::runner::End::Done(told) = case.run(2, None) else { panic!("it ends") };
    assert!(committed > 0);
    assert_eq!(told.read, case.count - committed);
    case.check("read once");
}
