//! A Rust file as the rules look at it: its text, its code without comments and literals, and its code without tests.
//! Text is enough for house rules; nothing here understands Rust beyond its lexical grammar and matching braces.

use std::path::Path;

/// One file of the workspace.
pub struct Source {
    /// Relative to the workspace, with forward slashes.
    pub path: String,
    /// As it stands on disk.
    pub text: String,
    /// The text with comments and literals blanked: equal length in characters, equal lines.
    pub code: Vec<char>,
    /// `code` with test modules and test items blanked too; blank altogether for a file of tests.
    pub shipped: Vec<char>,
}

impl Source {
    pub fn read(root: &Path, path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a listed file is readable UTF-8");
        let relative = path.strip_prefix(root).expect("files are listed below the root");
        Self::new(relative.to_string_lossy().replace('\\', "/"), text)
    }

    pub fn new(path: String, text: String) -> Self {
        let code = blank_comments_and_literals(&text);
        let is_test_file =
            path.ends_with("/tests.rs") || path.contains("/tests/") || path.starts_with("tests/");
        let shipped = if is_test_file { vec![' '; code.len()] } else { blank_test_items(&code) };
        Self { path, text, code, shipped }
    }

    /// The files of modules that this file declares for tests only: `#[cfg(test)] mod models;`.
    pub fn test_modules(&self) -> Vec<String> {
        let folder = match self.path.strip_suffix("/mod.rs").or(self.path.strip_suffix("/lib.rs")) {
            Some(folder) => folder,
            None => self.path.trim_end_matches(".rs"),
        };
        let names = test_items(&self.code).into_iter().filter(|(_, end)| self.code[*end] == ';').filter_map(
            |(start, end)| {
                let item: Vec<(usize, String)> = words(&self.code[start..end]).collect();
                let [.., (_, keyword), (_, name)] = item.as_slice() else { return None };
                (keyword == "mod").then(|| name.clone())
            },
        );
        names.flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]).collect()
    }

    /// Says that all of it is for tests.
    pub fn is_test(&mut self) {
        blank(&mut self.shipped);
    }

    /// `path:line` of a position in `code` or `shipped`.
    pub fn place(&self, position: usize) -> String {
        format!("{}:{}", self.path, line_of(&self.code, position))
    }
}

/// The line (from 1) of a position.
pub fn line_of(code: &[char], position: usize) -> usize {
    code[..position].iter().filter(|c| **c == '\n').count() + 1
}

/// Every word (identifier, keyword) with its position.
pub fn words(code: &[char]) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < code.len() && !is_word(code[at]) {
            at += 1;
        }
        let start = at;
        while at < code.len() && is_word(code[at]) {
            at += 1;
        }
        (start < at).then(|| (start, code[start..at].iter().collect()))
    })
}

/// The positions at which `pattern` stands in `code`, white space in `code` not ignored.
pub fn find_all<'a>(code: &'a [char], pattern: &str) -> impl Iterator<Item = usize> + 'a {
    let pattern: Vec<char> = pattern.chars().collect();
    (0..code.len()).filter(move |at| code[*at..].starts_with(&pattern))
}

/// The position of the bracket that closes the one at `open`; the end of the code if none does.
pub fn matching(code: &[char], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, c) in code.iter().enumerate().skip(open) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at;
        }
    }
    code.len().saturating_sub(1)
}

/// From `from` on, the first of `wanted` outside any bracket opened on the way.
pub fn first_at_depth_0(code: &[char], from: usize, wanted: &[char]) -> Option<usize> {
    let mut at = from;
    while at < code.len() {
        if wanted.contains(&code[at]) {
            return Some(at);
        }
        at = if matches!(code[at], '(' | '[' | '{') { matching(code, at) + 1 } else { at + 1 };
    }
    None
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn blank_comments_and_literals(text: &str) -> Vec<char> {
    let source: Vec<char> = text.chars().collect();
    let mut code = source.clone();
    let mut at = 0;
    while at < source.len() {
        let end = match source[at] {
            '/' if source.get(at + 1) == Some(&'/') => end_of_line(&source, at),
            '/' if source.get(at + 1) == Some(&'*') => end_of_block_comment(&source, at),
            '"' => end_of_string(&source, at),
            'r' if !follows_word(&source, at) || source[at - 1] == 'b' => end_of_raw_string(&source, at),
            '\'' => end_of_char(&source, at),
            _ => at,
        };
        blank(&mut code[at..end]);
        at = end.max(at + 1);
    }
    code
}

fn follows_word(source: &[char], at: usize) -> bool {
    at > 0 && is_word(source[at - 1])
}

fn blank(code: &mut [char]) {
    code.iter_mut().filter(|c| **c != '\n').for_each(|c| *c = ' ');
}

fn end_of_line(source: &[char], at: usize) -> usize {
    source[at..].iter().position(|c| *c == '\n').map_or(source.len(), |length| at + length)
}

fn end_of_block_comment(source: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < source.len() {
        match (source[at], source.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    source.len()
}

fn end_of_string(source: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < source.len() && source[at] != '"' {
        at += if source[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(source.len())
}

/// `r"…"`, `r#"…"#`; where no raw string begins, `at` itself.
fn end_of_raw_string(source: &[char], at: usize) -> usize {
    let hashes = source[at + 1..].iter().take_while(|c| **c == '#').count();
    let open = at + 1 + hashes;
    if source.get(open) != Some(&'"') {
        return at;
    }
    let mut close = vec!['"'];
    close.resize(1 + hashes, '#');
    let length = source[open + 1..].windows(close.len()).position(|w| w == close);
    length.map_or(source.len(), |length| open + 1 + length + close.len())
}

/// A character literal; for a lifetime, `at` itself.
fn end_of_char(source: &[char], at: usize) -> usize {
    match (source.get(at + 1), source.get(at + 2)) {
        (Some('\\'), _) => {
            let length = source[at + 3..].iter().position(|c| *c == '\'');
            length.map_or(source.len(), |length| at + 4 + length)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

/// Blanks each item under a `#[cfg(…test…)]`, and each `#[test]` function.
fn blank_test_items(code: &[char]) -> Vec<char> {
    let mut shipped = code.to_vec();
    test_items(code).into_iter().for_each(|(start, end)| blank(&mut shipped[start..=end]));
    shipped
}

/// First and last position of each item for tests only, attribute included.
fn test_items(code: &[char]) -> Vec<(usize, usize)> {
    let is_test = |start: &usize| {
        let attribute = &code[*start + 2..matching(code, *start + 1)];
        let names: Vec<String> = words(attribute).map(|(_, word)| word).collect();
        match names.first().map(String::as_str) {
            Some("test") => true,
            Some("cfg") => names.iter().any(|n| n == "test") && !names.iter().any(|n| n == "not"),
            _ => false,
        }
    };
    let end_of_item = |start: usize| {
        let end = first_at_depth_0(code, start, &['{', ';']).unwrap_or(code.len() - 1);
        if code[end] == '{' { matching(code, end) } else { end }
    };
    find_all(code, "#[").filter(is_test).map(|start| (start, end_of_item(start))).collect()
}

#[test]
fn comments_literals_and_tests_are_blanked() {
    let text = "let a = \"x // y\"; // unwrap\nlet b = r#\"\"q\"\"#; let c: &'a char = &'\\''; /* /* */ z */ d\n\
                #[cfg(test)]\nmod tests { fn f() {} }\nfn g<'a>() {}\n";
    let source = Source::new("a/src/b.rs".into(), text.into());
    let found = |code: &[char]| words(code).map(|(_, w)| w).collect::<Vec<_>>().join(" ");
    assert_eq!(found(&source.code), "let a let b let c a char d cfg test mod tests fn f fn g a");
    assert_eq!(found(&source.shipped), "let a let b let c a char d fn g a");
    assert_eq!(line_of(&source.code, source.code.len()), 5 + 1);
}

#[test]
fn files_of_test_modules_are_known() {
    let text = "#[cfg(all(test, loom))]\nmod models;\n#[cfg(test)]\nuse x;\nmod other;";
    let source = Source::new("a/src/b/mod.rs".into(), text.into());
    assert_eq!(source.test_modules(), ["a/src/b/models.rs", "a/src/b/models/mod.rs"]);
}
