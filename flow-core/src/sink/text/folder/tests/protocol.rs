//! One rule after the other.

use super::super::staged::{StagedPart, commit, decode, encode};
use super::{committer, names, open_cx, write, writer};
use crate::checkpoint::Committer;
use crate::sink::text::folder::{csv_files, text_files};
use crate::sink::{StagingWriter, Writer};
use crate::stage::Commit;
use crate::time::VirtualClock;
use proptest::prelude::*;
use std::fs::{self, File};
use std::sync::Arc;

#[test]
fn a_file_appears_with_its_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let files = csv_files(folder.path());
    let mut committer = committer(&files);
    committer.recover(0).unwrap();
    let mut writer = writer(&files, false, 0, 3);
    assert_eq!(StagingWriter::<(u8, u8)>::stage(&mut writer, 1).unwrap(), None, "nothing was written");
    write(&mut writer, [(1, 2)]);
    assert_eq!(names(folder.path()), [".part-0000000002-003-00000.csv.staged"]);
    let staged = StagingWriter::<(u8, u8)>::stage(&mut writer, 5).unwrap().unwrap();
    write(&mut writer, [(3, 4)]);
    committer.commit(5, 3, &staged).unwrap();
    let expected = [".part-0000000006-003-00000.csv.staged", "part-0000000005-003-00000.csv"];
    assert_eq!(names(folder.path()), expected, "named by the barrier");
    committer.commit(5, 3, &staged).unwrap();
    assert_eq!(names(folder.path()), expected, "once more changes nothing");
    assert_eq!(fs::read_to_string(folder.path().join(expected[1])).unwrap(), "1,2\n");
    drop(writer);
    assert_eq!(names(folder.path()), expected[1..], "what was not staged is taken back");
}

#[test]
fn a_crash_between_two_renames() {
    for done in 0..=3 {
        let folder = tempfile::tempdir().unwrap();
        let files = text_files(folder.path()).roll_bytes(1);
        let mut committer = committer(&files);
        committer.recover(0).unwrap();
        let mut writer = writer(&files, false, 0, 0);
        write(&mut writer, ["a", "b", "c"]);
        let staged = StagingWriter::<&str>::stage(&mut writer, 1).unwrap().unwrap();
        let (_, parts) = decode(&staged).unwrap();
        commit(folder.path(), "", 1, &parts[..done]).unwrap();
        committer.recover(1).map(|()| unreachable!("an instance is writing")).unwrap_err();
        drop(writer);
        committer.recover(1).unwrap();
        committer.commit(1, 0, &staged).unwrap();
        let expected = [0, 1, 2].map(|n| format!("part-0000000001-000-0000{n}.txt"));
        assert_eq!(names(folder.path()), expected, "after {done}");
    }
}

#[test]
fn nothing_is_left_of_what_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let files = text_files(folder.path()).partition_by(|n: &u8| n % 2);
    let mut committer = committer(&files);
    committer.recover(0).unwrap();
    let mut writer = writer(&files, true, 0, 0);
    write(&mut writer, [1, 2]);
    let staged = StagingWriter::<u8>::stage(&mut writer, 1).unwrap().unwrap();
    write(&mut writer, [3]);
    assert_eq!(names(folder.path()).len(), 5);
    committer.abort(1, 0, &staged);
    committer.abort(1, 0, &staged);
    assert_eq!(names(folder.path()), ["1/", "1/.part-0000000002-000-00000.txt.staged"]);
    drop(writer);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

/// Exactly what is staged for later checkpoints goes; nobody else's files do.
#[test]
fn what_a_dead_process_has_staged_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let stay = [
        ".part-0000000004-000-00000.csv.staged",
        ".part-1-0-0.csv.staged",
        "notes.staged",
        "part-0000000004-000-00001.csv",
        "x/mine.csv",
    ];
    let go = [
        ".part-0000000005-000-00000.csv.staged",
        "y/.part-0000000009-001-00007.tsv.staged",
        ".part-0000000000-000-00000.csv.staged",
    ];
    for name in stay.into_iter().chain(go) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    committer(&csv_files(folder.path())).recover(4).unwrap();
    let mut expected: Vec<_> = stay.into_iter().chain(["x/"]).collect();
    expected.sort_unstable();
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn results_of_later_checkpoints_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (result, staged) = ("part-0000000004-000-00001.csv", ".part-0000000006-000-00000.csv.staged");
    fs::write(folder.path().join(result), "mine").unwrap();
    fs::write(folder.path().join(staged), "mine").unwrap();
    for (start, says) in [(0, "the job starts from the beginning"), (3, "the job starts from checkpoint 3")] {
        let error = committer(&csv_files(folder.path())).recover(start).unwrap_err().to_string();
        assert!(
            error.contains(result)
                && error.contains("a result of checkpoint 4 is there")
                && error.contains(says),
            "{error}"
        );
    }
    let error = csv_files(folder.path()).parts(false, 0, &open_cx(1)).err().unwrap().to_string();
    assert!(
        error.contains("0000000006-000-00000.csv.staged: staged output of checkpoint 6 is there"),
        "{error}"
    );
    assert_eq!(names(folder.path()), [staged, result], "nothing was removed");
    committer(&csv_files(folder.path())).recover(4).unwrap();
    assert_eq!(names(folder.path()), [result]);
    let error = csv_files(folder.path()).parts(false, 0, &open_cx(1)).err().unwrap().to_string();
    assert!(error.contains(&format!("{result}: results are there already")), "{error}");
}

#[test]
fn what_cannot_be_committed_says_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let part = StagedPart {
        bytes: 2,
        staged: ".part-0000000001-000-00000.csv.staged".to_owned(),
        last: "part-0000000001-000-00000.csv".to_owned(),
    };
    let (staged, last) = (folder.path().join(&part.staged), folder.path().join(&part.last));
    let bytes = encode("/former".as_ref(), &[part]);
    let files = csv_files(folder.path());
    let error = |says: &[&str]| {
        let error = committer(&files).commit(1, 0, &bytes).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{error}");
    };
    error(&[last.to_str().unwrap(), "rows of checkpoint 1 are lost", staged.to_str().unwrap(), "in /former"]);
    fs::write(&staged, "1").unwrap();
    error(&[staged.to_str().unwrap(), "the file has 1 bytes, and 2 were staged"]);
    fs::write(&staged, "1\n").unwrap();
    fs::write(&last, "theirs").unwrap();
    error(&[
        last.to_str().unwrap(),
        "it is not this sink's",
        "it was not overwritten",
        staged.to_str().unwrap(),
    ]);
    assert_eq!(fs::read_to_string(&last).unwrap(), "theirs");
    fs::remove_file(&last).unwrap();
    committer(&files).commit(1, 0, &bytes).unwrap();
    assert_eq!(fs::read_to_string(&last).unwrap(), "1\n");
    let unread = committer(&files).commit(1, 0, b"\x07").unwrap_err().to_string();
    assert!(unread.contains("version 7 is not known"), "{unread}");
}

#[test]
fn one_sink_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let files = csv_files(folder.path());
    let another = |result: Option<crate::error::Error>| {
        let error = result.unwrap().to_string();
        assert!(error.contains(": another sink is writing into this folder; give each sink"), "{error}");
    };
    let first = writer(&files, false, 0, 0);
    let second = writer(&files.clone(), false, 0, 1);
    another(files.clone().parts(false, 0, &open_cx(1)).err());
    another(text_files(folder.path().join(".")).parts(false, 0, &open_cx(1)).err());
    another(committer(&csv_files(folder.path())).recover(0).err());
    drop((first, second));
    drop(writer(&files, false, 0, 0));
    committer(&csv_files(folder.path())).recover(0).unwrap();

    let mut other = File::options().write(true).open(folder.path().join(".lock")).unwrap();
    other.try_lock().unwrap();
    std::io::Write::write_all(&mut other, b"process 4242424242\n").unwrap();
    let error = committer(&files).recover(0).unwrap_err().to_string();
    assert!(error.contains("process 4242424242 is writing into this folder"), "{error}");
}

#[test]
fn files_roll_by_size_and_by_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        text_files(folder.path()).header("#").roll_bytes(6).roll_every(std::time::Duration::from_millis(10));
    let clock = Arc::new(VirtualClock::new());
    let mut cx = open_cx(1);
    cx.clock = clock.clone();
    let mut writer =
        super::FilesWriter::new(&files.format, files.partition, files.parts(false, 0, &cx).unwrap());
    for (at, record) in [(0, "a"), (0, "b"), (9, "c"), (18, "d"), (19, "e"), (40, "f")] {
        clock.advance_to(at);
        write(&mut writer, [record]);
    }
    let commit: Option<Box<dyn Commit>> = Writer::<&str>::finish(writer).unwrap();
    assert!(names(folder.path()).iter().all(|name| name.ends_with(".staged")));
    commit.unwrap().commit().unwrap();
    let read = |name: &String| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        names(folder.path()).iter().map(read).collect::<Vec<_>>(),
        ["#\na\nb\n", "#\nc\nd\n", "#\ne\n", "#\nf\n"]
    );
}

#[test]
fn options_that_cannot_be_meant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (files, says) in [
        (text_files(path).roll_bytes(0), "`roll_bytes(0)`"),
        (text_files(path).roll_every(crate::time::Millis(0)), "`roll_every`"),
        (text_files(path).max_open(0), "`max_open(0)`"),
        (text_files(path).extension("a/b"), "`extension(\"a/b\")`"),
    ] {
        let error = files.parts(false, 0, &open_cx(1)).err().unwrap().to_string();
        assert!(error.contains(says) && error.contains(path.to_str().unwrap()), "{error}");
    }
}

#[test]
fn a_partition_that_cannot_be_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("taken"), "").unwrap();
    let files = text_files(folder.path()).partition_by(|name: &String| name.clone());
    let mut writer = writer(&files, true, 0, 0);
    let mut error =
        |name: &str| writer.write(name.to_owned(), crate::time::Timestamp::MIN).unwrap_err().to_string();
    let taken = error("taken");
    assert!(taken.contains("taken/.part-0000000000-000-00000.txt."), "{taken}");
    assert!(taken.contains(".staged: cannot be created: "), "{taken}");
    assert!(error(&"x".repeat(201)).contains("has 201 bytes; at most 200"));
}

proptest! {
    #[test]
    fn foreign_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..60), cut in any::<prop::sample::Index>()) {
        prop_assert!(decode(&bytes).is_err());
        let part = |n| StagedPart {
            bytes: n,
            staged: "k/.part-0000000001-000-00000.csv.staged".to_owned(),
            last: format!("k/part-0000000001-000-{n:05}.csv"),
        };
        let whole = encode("/x".as_ref(), &[part(1), part(2)]);
        prop_assert_eq!(decode(&whole), Ok(("/x".to_owned(), vec![part(1), part(2)])));
        prop_assert!(decode(&whole[..cut.index(whole.len())]).is_err());
    }
}

/// Whatever stands in a checkpoint, only files of a sink in its folder are renamed.
#[test]
fn names_that_leave_the_folder_are_refused() {
    let (staged, last) = (".part-0000000001-000-00000.csv.staged", "part-0000000001-000-00000.csv");
    for (staged, last) in [
        (format!("../{staged}"), last.to_owned()),
        (staged.to_owned(), format!("/{last}")),
        (staged.to_owned(), format!("a/b/{last}")),
        (staged.to_owned(), "notes.csv".to_owned()),
        (last.to_owned(), last.to_owned()),
    ] {
        let bytes = encode("/x".as_ref(), &[StagedPart { bytes: 0, staged, last }]);
        assert!(decode(&bytes).unwrap_err().contains("are no names of staged and final files"));
    }
}
