//! The house rules, as a test: layers, lengths, homes of `unsafe`, no dead matter, no pasted code.

#[path = "tidy/counters.rs"]
mod counters;
#[path = "tidy/documented.rs"]
mod documented;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/repeats.rs"]
mod repeats;
#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/source.rs"]
mod source;

use source::Source;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

type Rule = fn(&Source) -> Vec<String>;

const RULES: &[(&str, Rule)] = &[
    ("layers", layers::violations),
    ("file length", rules::file_length),
    ("function length", rules::function_length),
    ("unsafe home", rules::unsafe_home),
    ("safety sentence", rules::safety_sentence),
    ("dead matter", rules::dead_matter),
    ("unwrap", rules::unwrap_outside_tests),
    ("quote", rules::algorithm_in_quote),
    ("allow", rules::allow_without_reason),
    ("outside data", rules::outside_data),
];

/// Files that a rule leaves alone: rule, file, why. One that is not needed any more fails the test too.
const EXEMPT: &[(&str, &str, &str)] = &[
    // The table of rolling operators: look-ups of a batch are prefetched, which doubles W3; argued and measured in its head.
    ("unsafe home", "flow-core/src/state/slots.rs", "slots that may be uninitialized"),
];

#[test]
fn house_rules_hold() {
    let sources = workspace();
    assert!(sources.len() > 5, "the walk found the workspace");
    let mut complaints = Vec::new();
    let mut unused: Vec<_> = EXEMPT.to_vec();
    for source in &sources {
        for (name, rule) in RULES {
            let found = rule(source);
            let exempt = EXEMPT.iter().any(|(rule, path, _)| rule == name && *path == source.path);
            if exempt && !found.is_empty() {
                unused.retain(|(rule, path, _)| rule != name || *path != source.path);
            } else {
                complaints.extend(found.into_iter().map(|complaint| format!("[{name}] {complaint}")));
            }
        }
    }
    complaints.extend(
        unused.iter().map(|(rule, path, _)| format!("[exemptions] {rule} of {path} is not needed any more")),
    );
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn nothing_is_pasted() {
    let found = repeats::violations(&workspace());
    assert!(found.is_empty(), "{} repeats:\n{}", found.len(), found.join("\n"));
}

#[test]
fn every_operator_is_documented() {
    let found = documented::differences(root());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_counter_is_documented_and_read_by_a_test() {
    let found = counters::unread(root(), &workspace());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Not a limit: prints the files to look at. `cargo test --test tidy -- --nocapture longest`
#[test]
fn longest_files() {
    let mut sizes: Vec<(usize, String)> =
        workspace().into_iter().map(|source| (source.text.lines().count(), source.path)).collect();
    sizes.sort();
    let median = sizes[sizes.len() / 2].0;
    println!("{} files, median {median} lines; above 350:", sizes.len());
    sizes.iter().filter(|(lines, _)| *lines > 350).for_each(|(lines, path)| println!("{lines:5} {path}"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

/// Every Rust file of the workspace, by path.
fn workspace() -> Vec<Source> {
    let root = root();
    let mut files = Vec::new();
    for member in ["flow-macros", "flow-core", "examples", "tests", "benches"] {
        list(&root.join(member), &mut files);
    }
    files.sort();
    let mut sources: Vec<Source> = files.iter().map(|file| Source::read(root, file)).collect();
    let for_tests: HashSet<String> = sources.iter().flat_map(Source::test_modules).collect();
    sources.iter_mut().filter(|source| for_tests.contains(&source.path)).for_each(Source::is_test);
    sources
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a workspace folder is readable") {
        let path = entry.expect("a folder's entry is readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The inputs of the UI tests are wrong on purpose.
        if path.is_dir() && name != "target" && name != "ui" && name != "wip" {
            list(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
