//! Staging, committing, taking back and recovering, part by part and with every crash between.

mod model;
mod protocol;

use super::names::without_opening;
use super::*;
use crate::stage::tests::open_cx;
use std::fs;
use std::path::Path;

/// The same without what says which opening staged them.
fn names(folder: &Path) -> Vec<String> {
    let plain = |name: String| match name.strip_suffix(".staged") {
        Some(staged) => format!("{}.staged", without_opening(staged)),
        None => name,
    };
    let mut names: Vec<String> = names_as_they_are(folder).into_iter().map(plain).collect();
    names.sort();
    names
}

/// What stands below a folder, without the lock, sorted.
fn names_as_they_are(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            names.extend(names_as_they_are(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
            names.push(format!("{name}/"));
        } else if name != ".lock" {
            names.push(name);
        }
    }
    names.sort();
    names
}

/// A writer in an instance of a job that starts from checkpoint `newest`.
fn writer<F: Format, P: Clone>(
    files: &Files<F, P>,
    partitioned: bool,
    newest: u64,
    instance: usize,
) -> FilesWriter<F, P> {
    let mut cx = open_cx(1);
    cx.context.instance = instance;
    let parts = files.parts(partitioned, newest, &cx).unwrap();
    FilesWriter::new(&files.format, files.partition.clone(), parts)
}

fn write<T: 'static, W: Writer<T>>(writer: &mut W, records: impl IntoIterator<Item = T>) {
    records.into_iter().for_each(|record| writer.write(record, Timestamp::MIN).unwrap());
}

fn committer<F, P>(files: &Files<F, P>) -> FolderCommitter {
    FolderCommitter::new(Arc::clone(&files.place))
}
