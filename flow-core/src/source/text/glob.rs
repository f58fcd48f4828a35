//! Paths with wildcards, as a shell has them.
//!
//! ```text
//! ?        any character            [a-c_]   one of these        **   any folders, also none;
//! *        any characters           [!a-c_]  none of these            a component of its own
//! ```
//!
//! By hand: the crate `glob` took 0.7 s of each clean build, for which the library waits. The tests compare with it.

use std::io;
use std::path::{Path, PathBuf};

/// The paths that match a pattern, in no particular order, or what is wrong with it.
pub(super) fn matches(pattern: &str) -> Result<Vec<PathBuf>, Bad> {
    let mut parts = Vec::new();
    for part in pattern.split(std::path::is_separator).filter(|part| !part.is_empty()) {
        parts.push(Part::of(part).map_err(Bad::Pattern)?);
    }
    let rooted = pattern.starts_with(std::path::is_separator);
    let mut found = Vec::new();
    let begin = if rooted { PathBuf::from("/") } else { PathBuf::new() };
    // Behind a last separator only folders could match.
    if !pattern.ends_with(std::path::is_separator) {
        walk(&begin, &parts, &mut found).map_err(|(path, error)| Bad::Folder(path, error))?;
    }
    Ok(found)
}

/// Why there are no matches.
#[derive(Debug)]
pub(super) enum Bad {
    /// It is not a pattern.
    Pattern(&'static str),
    /// A folder cannot be read.
    Folder(PathBuf, io::Error),
}

/// What stands between two separators.
enum Part {
    /// Nothing but a name; it may be `..`, and need not be searched for.
    Name(String),
    Like(Vec<Token>),
    /// `**`
    Folders,
}

/// What a character is asked.
enum Token {
    Any,
    /// Any number of any characters.
    Many,
    Is(char),
    /// Whether it is within one of the ranges, or within none.
    Within(bool, Vec<(char, char)>),
}

impl Part {
    fn of(text: &str) -> Result<Part, &'static str> {
        if text == "**" {
            return Ok(Part::Folders);
        }
        if text.contains("**") {
            return Err("`**` has to stand alone between two separators");
        }
        if !text.contains(['?', '*', '[']) {
            return Ok(Part::Name(text.to_owned()));
        }
        let (mut tokens, mut rest) = (Vec::new(), text.chars());
        while let Some(c) = rest.next() {
            tokens.push(match c {
                '?' => Token::Any,
                '*' => Token::Many,
                '[' => {
                    let (class, behind) = class(rest.as_str()).ok_or("a `[` is not closed")?;
                    rest = behind.chars();
                    class
                }
                c => Token::Is(c),
            });
        }
        Ok(Part::Like(tokens))
    }
}

/// The class at the beginning of `text`, and what is behind its `]`. A `]` that comes first is one of the class.
fn class(text: &str) -> Option<(Token, &str)> {
    let (within, text) = text.strip_prefix('!').map_or((true, text), |text| (false, text));
    let first = text.chars().next()?.len_utf8();
    let end = first + text.get(first..)?.find(']')?;
    let chars: Vec<char> = text[..end].chars().collect();
    let (mut ranges, mut chars) = (Vec::new(), &chars[..]);
    loop {
        chars = match chars {
            [low, '-', high, rest @ ..] => {
                ranges.push((*low, *high));
                rest
            }
            [c, rest @ ..] => {
                ranges.push((*c, *c));
                rest
            }
            [] => return Some((Token::Within(within, ranges), &text[end + 1..])),
        }
    }
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Token::Any | Token::Many => true,
            Token::Is(own) => *own == c,
            Token::Within(within, ranges) => {
                *within == ranges.iter().any(|(low, high)| (*low..=*high).contains(&c))
            }
        }
    }
}

/// Whether all of `name` matches. A `*` is made longer only when what is behind it has failed, and only the last one has to be.
fn is_like(tokens: &[Token], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut t, mut n) = (0, 0);
    let mut last_many = None;
    loop {
        match (tokens.get(t), name.get(n)) {
            (None, None) => return true,
            (Some(Token::Many), _) => {
                last_many = Some((t, n));
                t += 1;
                continue;
            }
            (Some(token), Some(c)) if token.takes(*c) => {
                (t, n) = (t + 1, n + 1);
                continue;
            }
            _ => {}
        }
        match last_many {
            Some((many, from)) if from < name.len() => {
                last_many = Some((many, from + 1));
                (t, n) = (many + 1, from + 1);
            }
            _ => return false,
        }
    }
}

/// Adds what matches `parts` in the folder `at`, or is it.
fn walk(at: &Path, parts: &[Part], found: &mut Vec<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    match parts {
        [] => found.push(at.to_path_buf()),
        [Part::Name(name), rest @ ..] => {
            let path = at.join(name);
            if path.exists() {
                walk(&path, rest, found)?;
            }
        }
        [Part::Like(tokens), rest @ ..] => {
            for (name, path) in inside(at)? {
                if is_like(tokens, &name) {
                    walk(&path, rest, found)?;
                }
            }
        }
        [Part::Folders, rest @ ..] => {
            let rest = if let [Part::Folders, ..] = rest { &[] } else { rest };
            let again = if rest.is_empty() { &parts[1..] } else { parts };
            if !rest.is_empty() {
                walk(at, rest, found)?;
            }
            for (_, path) in inside(at)?.into_iter().filter(|(_, path)| path.is_dir()) {
                walk(&path, again, found)?;
            }
        }
    }
    Ok(())
}

/// What is in a folder, by name; nothing in a file. A name that is not Unicode is like none.
fn inside(at: &Path) -> Result<Vec<(String, PathBuf)>, (PathBuf, io::Error)> {
    let folder = if at.as_os_str().is_empty() { Path::new(".") } else { at };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |error| (folder.to_path_buf(), error);
    let mut inside = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        inside.extend(name.to_str().map(|text| (text.to_owned(), at.join(&name))));
    }
    Ok(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn tree() -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for folder in ["a/b/a", "a/ab", "b", "ä-]", "ab/b"] {
            fs::create_dir_all(tree.path().join(folder)).unwrap();
            for file in ["a", "b.a", "ab", ".a", "-]", "a-b", "ä", "bb[a"] {
                fs::write(tree.path().join(folder).join(format!("{file}.f")), "").unwrap();
            }
        }
        tree
    }

    /// The files that match, as the crate finds them; none where it finds the pattern wrong.
    fn expected(pattern: &str) -> Option<Vec<PathBuf>> {
        let found = glob::glob(pattern).ok()?.map(Result::unwrap).filter(|path| path.is_file());
        Some(found.collect())
    }

    fn files(pattern: &str) -> Option<Vec<PathBuf>> {
        let mut found = matches(pattern).ok()?;
        found.retain(|path| path.is_file());
        found.sort();
        Some(found)
    }

    fn check(pattern: &str) {
        let tree = tree();
        let pattern = format!("{}/{pattern}", tree.path().display());
        let mut expected = expected(&pattern);
        expected.iter_mut().for_each(|paths| paths.sort());
        assert_eq!(files(&pattern), expected, "{pattern}");
    }

    #[test]
    fn the_same_files_as_the_crate() {
        for pattern in [
            "*/*",
            "**/*.f",
            "**/a*",
            "a/**/b/*",
            "**",
            "a/**",
            "**/**/a.f",
            "*/../b/*",
            "a/./[!a]*",
            "*/?.f",
            "*/[]-]*",
            "*/[!]]*",
            "*/[a-b]?*",
            "*/*[[]*",
            "*/[",
            "a**/b",
            "***",
            "*/[]",
            "*/[!]",
            "*/*/",
            "b/ab.f",
            "*/.*",
            "[ä]*/*",
            "*/*-*",
            "*/[a-]*",
            "none/*",
            "b/ab.f/*",
            "*b/**/*b*",
            "[z-a]/*",
            "//*//*",
            "**/a/**/*",
            "**/*/**/a*",
        ] {
            check(pattern);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]
        #[test]
        fn the_same_files_as_the_crate_at_random(
            parts in prop::collection::vec(prop_oneof![4 => "[ab*?.f\\[\\]!ä-]{1,6}", 1 => Just("**".to_owned())], 1..4)
        ) {
            check(&parts.join("/"));
        }
    }
}
