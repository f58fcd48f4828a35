//! Cases that read a file: `lines`, `json`, or `csv` with its records as `column=value`, each row as a Rust literal would be written.

use crate::case::{Case, number};
use crate::mode::source;
use crate::pipeline::Probe;
use flow_core::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use tempfile::NamedTempFile;

/// A file of these bytes, which lives as long as the handle.
pub fn write(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a folder for temporary files");
    file.write_all(bytes).expect("room for a small file");
    file
}

/// `lines lossy splits 3 limit 100`, `csv no_header`.
pub fn build(job: &mut Job, case: &Case, path: &Path, probe: &Probe) {
    let words = &case.steps[0];
    let has = |word: &str| words.iter().any(|w| w == word);
    let option = |name: &str, default: usize| {
        let at = words.iter().position(|w| w == name);
        at.map_or(default, |at| usize::try_from(number(&words[at + 1])).expect("a size"))
    };
    let (splits, limit) = (option("splits", 1), option("limit", 1 << 20));
    let rows = probe.rows.clone();
    match (words[0].as_str(), has("no_header")) {
        ("lines", _) => {
            let mut from = lines(path).splits(splits).line_limit(limit);
            if has("lossy") {
                from = from.lossy();
            }
            job.add(source(from).map(|line| format!("{line:?}")).sink(rows));
        }
        ("csv", true) => {
            let from = csv::<Vec<String>>(path).no_header().splits(splits).line_limit(limit);
            job.add(source(from).map(|fields| format!("{fields:?}")).sink(rows));
        }
        ("csv", false) => {
            let from = csv::<BTreeMap<String, String>>(path).splits(splits).line_limit(limit);
            job.add(source(from).map(|record| format!("{record:?}")).sink(rows));
        }
        ("json", _) => {
            let from = json_lines::<BTreeMap<String, Option<i64>>>(path).splits(splits).line_limit(limit);
            let from = if has("lossy") { from.lossy() } else { from };
            if has("results") {
                let broken =
                    |record: Result<_, Broken>| format!("{:?}", record.map_err(|broken| broken.record));
                job.add(source(from.results()).map(broken).sink(rows));
            } else {
                job.add(source(from).map(|record| format!("{record:?}")).sink(rows));
            }
        }
        (other, _) => panic!("`{other}` does not read a file"),
    }
}
