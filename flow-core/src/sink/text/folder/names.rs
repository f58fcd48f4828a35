//! What the files of a sink and its sub-folders are called. Nothing with another name is ever touched.

use std::fmt::Write;

/// What comes before the numbers, and behind all of a staged name.
const PART: &str = "part-";
const STAGED: &str = ".staged";

/// How long the name of a sub-folder may be, in bytes; file systems take 255.
const PARTITION_BYTES_MAX: usize = 200;

/// A file of a sink: what belongs to a checkpoint, of an instance, the how manieth of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PartName {
    pub checkpoint: u64,
    pub instance: u32,
    pub number: u32,
}

impl PartName {
    /// Its final name. Names sort by checkpoint, as long as there are fewer than 10¹⁰.
    pub fn last(self, extension: &str) -> String {
        let PartName { checkpoint, instance, number } = self;
        format!("{PART}{checkpoint:010}-{instance:03}-{number:05}.{extension}")
    }

    /// Its name before: hidden, with another end, and with what no other opening of the folder has. So a process from which another has taken
    /// the folder away, and which goes on all the same, cannot remove or write into a file of its successor's.
    pub fn staged(self, extension: &str, opening: u64) -> String {
        format!(".{}.{opening:016x}{STAGED}", self.last(extension))
    }
}

/// A file that a sink has left in its folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Staged(PartName),
    Final(PartName),
}

/// Whether a name is one of a sink's.
pub(super) fn recognize(name: &str) -> Option<Found> {
    let staged = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(STAGED));
    let written_as = staged.map_or(name, without_opening);
    let (numbers, extension) = written_as.strip_prefix(PART)?.split_once('.')?;
    let mut numbers = numbers.split('-');
    let part = PartName {
        checkpoint: numbers.next()?.parse().ok()?,
        instance: numbers.next()?.parse().ok()?,
        number: numbers.next()?.parse().ok()?,
    };
    // Only as it is written here: `part-1-2-3.csv` is somebody else's.
    let written = !extension.is_empty() && part.last(extension) == written_as;
    written.then_some(if staged.is_some() { Found::Staged(part) } else { Found::Final(part) })
}

/// A staged name without what says which opening of the folder wrote it.
pub(super) fn without_opening(staged: &str) -> &str {
    let is_opening = |last: &str| last.len() == 16 && last.bytes().all(|b| b.is_ascii_hexdigit());
    staged.rsplit_once('.').filter(|parts| is_opening(parts.1)).map_or(staged, |parts| parts.0)
}

/// Whether names may end in this. What is staged has to end otherwise.
pub(super) fn is_extension(extension: &str) -> bool {
    let known = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let ends = extension.starts_with('.') || extension.ends_with('.') || extension.is_empty();
    !ends && extension.chars().all(known) && !format!(".{extension}").ends_with(STAGED)
}

/// The name of the sub-folder of a value that is shown as `shown`: each value has another, and none leaves the folder.
///
/// # Errors
/// When it would be too long.
pub(super) fn partition(shown: &str) -> Result<String, String> {
    if shown.is_empty() {
        return Ok("%empty".to_owned());
    }
    let mut name = String::with_capacity(shown.len());
    for (at, c) in shown.char_indices() {
        let (first, last) = (at == 0, at + c.len_utf8() == shown.len());
        let apart = match c {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | '%' => true,
            '.' => first || last,
            ' ' => last,
            _ => c.is_control(),
        };
        if apart {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing into a `String` does not fail.
                let _ = write!(name, "%{byte:02X}");
            }
        } else {
            name.push(c);
        }
    }
    if name.len() > PARTITION_BYTES_MAX {
        let begins: String = name.chars().take(40).collect();
        return Err(format!(
            "the partition `{begins}…` would be a folder whose name has {} bytes; at most {PARTITION_BYTES_MAX} are possible",
            name.len()
        ));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_sort_and_are_recognized() {
        let part = |checkpoint, number| PartName { checkpoint, instance: 7, number };
        assert_eq!(part(12, 3).last("csv"), "part-0000000012-007-00003.csv");
        assert_eq!(part(12, 3).staged("csv", 10), ".part-0000000012-007-00003.csv.000000000000000a.staged");
        assert!(part(9, 8).last("csv") < part(10, 7).last("csv"));
        assert_eq!(recognize(&part(12, 3).last("tar.gz")), Some(Found::Final(part(12, 3))));
        assert_eq!(recognize(&part(12, 3).staged("csv", u64::MAX)), Some(Found::Staged(part(12, 3))));
        for foreign in [
            "part-12-7-3.csv",
            "part-0000000012-007-00003",
            "part-0000000012-007-00003.",
            "part-0000000012-007.csv",
            "part-0000000012-007-00003-1.csv",
            "part-+000000012-007-00003.csv",
            "xpart-0000000012-007-00003.csv",
            ".part-0000000012-007-00003.csv",
            ".lock",
            "",
        ] {
            assert_eq!(recognize(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn extensions_stay_in_the_name() {
        assert!(["csv", "tar.gz", "tsv-1_a"].into_iter().all(is_extension));
        assert!(
            !["", ".csv", "a/b", "..", "a\\b", "staged", "csv.staged", "a b", "csv."]
                .into_iter()
                .any(is_extension)
        );
    }

    #[test]
    fn partitions_stay_in_the_folder() {
        for (shown, name) in [
            ("", "%empty"),
            ("JFK", "JFK"),
            ("..", "%2E%2E"),
            ("../../etc", "%2E.%2F..%2Fetc"),
            (".lock", "%2Elock"),
            ("a.b", "a.b"),
            ("12:30", "12%3A30"),
            ("100%", "100%25"),
            ("Zürich ", "Zürich%20"),
            ("a\0\n", "a%00%0A"),
        ] {
            assert_eq!(partition(shown).unwrap(), name, "{shown:?}");
        }
        let error = partition(&"/".repeat(100)).unwrap_err();
        assert!(error.contains("`%2F%2F") && error.contains("300 bytes"), "{error}");
    }

    proptest! {
        #[test]
        fn no_two_partitions_share_a_folder(a in "[a/%. E2F]{0,4}", b in "[a/%. E2F]{0,4}") {
            let (one, other) = (partition(&a).unwrap(), partition(&b).unwrap());
            prop_assert_eq!(a == b, one == other);
            prop_assert!(!one.contains('/') && one != "." && one != ".." && !one.is_empty());
        }
    }
}
