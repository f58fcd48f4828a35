//! The house rules but for the layers, one function each: what a file does against the rule, as `path:line: what and what instead`.

use crate::source::{Source, find_all, first_at_depth_0, line_of, matching, words};

/// Files never grow past this, tests included.
const FILE_LINES_MAX: usize = 500;
/// A function fits a screen.
const FUNCTION_LINES_MAX: usize = 70;
/// How far above an `unsafe` its SAFETY sentence may begin, in lines.
const SAFETY_LINES_MAX: usize = 12;

pub fn file_length(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    let too_long = lines > FILE_LINES_MAX;
    too_long
        .then(|| format!("{}: {lines} lines, at most {FILE_LINES_MAX}: split it by concern", source.path))
        .into_iter()
        .collect()
}

pub fn function_length(source: &Source) -> Vec<String> {
    let code = &source.code;
    let mut found = Vec::new();
    for (position, name) in functions(code) {
        let Some(open) = first_at_depth_0(code, position, &['{', ';']) else { continue };
        let lines = line_of(code, matching(code, open)) - line_of(code, position) + 1;
        if code[open] == '{' && lines > FUNCTION_LINES_MAX {
            found.push(format!(
                "{}: `{name}` has {lines} lines, at most {FUNCTION_LINES_MAX}: move a step into a function of its own",
                source.place(position)
            ));
        }
    }
    found
}

fn functions(code: &[char]) -> Vec<(usize, String)> {
    let all: Vec<(usize, String)> = words(code).collect();
    let named = all.windows(2).filter(|pair| pair[0].1 == "fn");
    // `fn(…)` is a type: there the next word does not follow a single space.
    let after_space = |pair: &&[(usize, String)]| code[pair[0].0 + 2] == ' ' && pair[1].0 == pair[0].0 + 3;
    named.filter(after_space).map(|pair| (pair[0].0, pair[1].1.clone())).collect()
}

/// `unsafe` stands in the ring; every other home is an exemption that argues with a measurement.
pub fn unsafe_home(source: &Source) -> Vec<String> {
    if source.path == "flow-core/src/channel/ring.rs" {
        return Vec::new();
    }
    at_word(source, &source.code, "unsafe", "`unsafe` belongs into flow-core/src/channel/ring.rs")
}

/// Each `unsafe` has its `SAFETY:` sentence, or `# Safety` section, right above it.
pub fn safety_sentence(source: &Source) -> Vec<String> {
    let lines: Vec<&str> = source.text.lines().collect();
    let argued = |position: usize| {
        let line = line_of(&source.code, position);
        let above = &lines[line.saturating_sub(SAFETY_LINES_MAX)..line];
        above.iter().any(|l| l.contains("SAFETY:") || l.contains("# Safety"))
    };
    let sites = words(&source.code).filter(|(_, word)| word == "unsafe");
    let bare = sites.filter(|(position, _)| !argued(*position));
    bare.map(|(position, _)| {
        format!("{}: say above it why this `unsafe` is sound (SAFETY: …)", source.place(position))
    })
    .collect()
}

/// No unfinished or forgotten matter.
pub fn dead_matter(source: &Source) -> Vec<String> {
    let notes = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
    let mut found = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        for note in notes.iter().filter(|note| line.contains(**note)) {
            found.push(format!(
                "{}:{}: `{note}`: do it, or file it and say so in words",
                source.path,
                number + 1
            ));
        }
    }
    for name in ["todo", "unimplemented", "dbg"] {
        let calls = words(&source.code)
            .filter(|(at, word)| word == name && source.code.get(at + name.len()) == Some(&'!'));
        found.extend(calls.map(|(at, _)| format!("{}: `{name}!` in committed code", source.place(at))));
    }
    found
}

/// Shipped code says what it expected: no bare `unwrap`.
pub fn unwrap_outside_tests(source: &Source) -> Vec<String> {
    if !source.path.starts_with("flow-core/src/") && !source.path.starts_with("flow-macros/src/") {
        return Vec::new();
    }
    let sites = find_all(&source.shipped, ".unwrap()");
    sites
        .map(|at| {
            format!(
                "{}: `unwrap` outside tests: return an error, or `expect` with the reason",
                source.place(at)
            )
        })
        .collect()
}

/// The macro emits calls, not algorithms: no loop and no `match` in a `quote!`.
pub fn algorithm_in_quote(source: &Source) -> Vec<String> {
    if !source.path.starts_with("flow-macros/src/") {
        return Vec::new();
    }
    let code = &source.shipped;
    let mut found = Vec::new();
    for (at, word) in words(code) {
        let after = at + word.len();
        if !matches!(word.as_str(), "quote" | "quote_spanned" | "parse_quote")
            || code.get(after) != Some(&'!')
        {
            continue;
        }
        let Some(open) = first_at_depth_0(code, after, &['(', '[', '{', ';']) else { continue };
        let body = &code[open..=matching(code, open)];
        let control = words(body).filter(|(inner, word)| is_control(body, *inner, word));
        found.extend(control.map(|(inner, word)| {
            format!(
                "{}: `{word}` in a `quote!`: put the algorithm into flow-core and emit a call",
                source.place(open + inner)
            )
        }));
    }
    found
}

fn is_control(body: &[char], at: usize, word: &str) -> bool {
    let interpolated = at > 0 && body[at - 1] == '#';
    let in_front_of_block = || {
        let end = first_at_depth_0(body, at, &['{', ';', '}']).unwrap_or(body.len());
        words(&body[at..end]).any(|(_, word)| word == "in")
    };
    match word {
        "while" | "loop" | "match" => !interpolated,
        // `impl A for B` and `for<'a>` are no loops.
        "for" => !interpolated && in_front_of_block(),
        _ => false,
    }
}

/// Each `#[allow(…)]` and `#[expect(…)]` gives its reason.
pub fn allow_without_reason(source: &Source) -> Vec<String> {
    let code = &source.code;
    let mut found = Vec::new();
    for (at, word) in words(code).filter(|(_, word)| word == "allow" || word == "expect") {
        let before: String = code[at.saturating_sub(3)..at].iter().collect();
        let open = at + word.len();
        if (before.ends_with("#[") || before.ends_with("#![")) && code.get(open) == Some(&'(') {
            let body = &code[open..matching(code, open)];
            if !words(body).any(|(_, word)| word == "reason") {
                found.push(format!("{}: `#[{word}]` without a `reason = \"…\"`", source.place(at)));
            }
        }
    }
    found
}

/// What is not in the repository is read by tests only, and those say that they skip.
pub fn outside_data(source: &Source) -> Vec<String> {
    let folder = concat!("../", "shared");
    let Some(number) = source.text.lines().position(|line| line.contains(folder)) else { return Vec::new() };
    let skips = source.path.starts_with("tests/") && source.text.contains("skip");
    let message =
        format!("{}:{}: only a test that skips without it may read {folder}", source.path, number + 1);
    (!skips).then_some(message).into_iter().collect()
}

fn at_word(source: &Source, code: &[char], wanted: &str, message: &str) -> Vec<String> {
    let sites = words(code).filter(|(_, word)| word == wanted);
    sites.map(|(at, _)| format!("{}: {message}", source.place(at))).collect()
}

#[test]
fn each_rule_can_fail() {
    let long = format!("fn long() {{{}}}", "\n".repeat(FUNCTION_LINES_MAX));
    let cases: &[(fn(&Source) -> Vec<String>, &str)] = &[
        (function_length, &long),
        (unsafe_home, "fn f() { unsafe { g() } }"),
        (safety_sentence, "fn f() { unsafe { g() } }"),
        (dead_matter, "fn f() { dbg!(1); }"),
        (unwrap_outside_tests, "fn f() { g().unwrap() }"),
        (algorithm_in_quote, "fn f() { quote! { for x in y { } } }"),
        (algorithm_in_quote, "fn f() { quote_spanned!(s=> match x { }) }"),
        (allow_without_reason, "#[allow(dead_code)] fn f() {}"),
        (outside_data, concat!("// ../", "shared/data")),
    ];
    for (rule, text) in cases {
        let found = rule(&Source::new("flow-macros/src/a.rs".into(), text.to_string()));
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
    let fine = "#[allow(dead_code, reason = \"x\")]\n// SAFETY: y\nfn f() { quote! { impl<T> A for B where for<'a> T: C { } } }";
    let fine = Source::new("flow-macros/src/a.rs".into(), fine.into());
    assert!(cases.iter().all(|(rule, _)| rule(&fine).is_empty()));
}
