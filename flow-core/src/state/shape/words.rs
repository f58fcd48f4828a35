//! The words of schemas, which are made wherever state is written down.

/// Which operator writes the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Table,
    Windows,
    SlidingWindows,
    CountWindows,
    TriggeredWindows,
    Sessions,
    Last,
    LastRows,
    Process,
    BroadcastProcess,
    TimedJoin,
    LookupJoin,
    Join,
    Total,
}

/// The words of each, and what its values are called where there are several.
const KINDS: &[(Kind, &str, &[&str])] = &[
    (Kind::Table, "", &[""]),
    (Kind::Windows, "windows", &[""]),
    (Kind::SlidingWindows, "sliding windows", &[""]),
    (Kind::CountWindows, "count windows", &[""]),
    (Kind::TriggeredWindows, "windows with a trigger", &[""]),
    (Kind::Sessions, "sessions", &[""]),
    (Kind::Last, "last records", &[""]),
    (Kind::LastRows, "last rows", &[""]),
    (Kind::Process, "process", &[""]),
    (Kind::BroadcastProcess, "process with a broadcast", &["", "shared"]),
    (Kind::TimedJoin, "join in time", &["left", "right"]),
    (Kind::LookupJoin, "lookup join", &["left", "right"]),
    (Kind::Join, "join", &["left", "right"]),
    (Kind::Total, "total", &[""]),
];

impl Kind {
    fn row(self) -> &'static (Kind, &'static str, &'static [&'static str]) {
        KINDS.iter().find(|row| row.0 == self).unwrap_or(&KINDS[0])
    }

    /// What its values are called.
    #[cfg(feature = "state-processor")]
    pub(crate) fn parts(self) -> &'static [&'static str] {
        self.row().2
    }

    /// The kind that a schema begins with, what else it says of it, and what follows.
    #[cfg(feature = "state-processor")]
    pub(super) fn before(schema: &str) -> (Kind, &str, &str) {
        let of = |row: &(Kind, &'static str, _)| {
            let rest = schema.strip_prefix(row.1)?;
            let (which, rest) = match rest.strip_prefix(" [") {
                Some(rest) => rest.split_once(']')?,
                None => ("", rest),
            };
            Some((row.0, which, rest.strip_prefix(" of ")?))
        };
        KINDS.iter().skip(1).find_map(of).unwrap_or((Kind::Table, "", schema))
    }

    /// A schema of this kind; of what has none there is none.
    pub(crate) fn of(self, schema: String) -> String {
        self.which("", schema)
    }

    /// The same of windows of which it makes a difference which they are, in words without square brackets.
    pub(crate) fn in_windows(self, windows: &str, schema: String) -> String {
        self.which(&format!(" [{windows}]"), schema)
    }

    fn which(self, which: &str, schema: String) -> String {
        if schema.is_empty() { schema } else { format!("{}{which} of {schema}", self.row().1) }
    }
}

/// The schema of the same windows, by the host's clock.
pub(crate) fn on_the_clock(schema: String) -> String {
    let Some((kind, rest)) = schema.split_once(" of ") else { return schema };
    match kind.strip_suffix(']') {
        Some(which) => format!("{which} on the clock] of {rest}"),
        None => format!("{kind} [on the clock] of {rest}"),
    }
}

/// The schema of a process's states, pairs in pairs, with their names; as it is where names are not known, or it does not say all.
pub(crate) fn states_of(schema: String, names: &[String]) -> String {
    named(&schema, names).unwrap_or(schema)
}

fn named(schema: &str, names: &[String]) -> Option<String> {
    if names.is_empty() || schema.contains('…') {
        return None;
    }
    let mut defs = split(schema, "; ");
    let (mut node, mut fields) = (defs.next()?, Vec::new());
    for name in names {
        // `name (how long it lives)`
        let name = name.split(" (").next().unwrap_or(name);
        let mut pair = split(node.strip_prefix('(')?.strip_suffix(')')?, ", ");
        let (Some(state), Some(rest), None) = (pair.next(), pair.next(), pair.next()) else { return None };
        fields.push(format!("{}: {state}", name_text(name)));
        node = rest;
    }
    let defs: String = defs.map(|def| format!("; {def}")).collect();
    (node == "()").then(|| format!("{{ {} }}{defs}", fields.join(", ")))
}

/// The parts of a schema between what stands neither in brackets nor in quotes.
fn split<'a>(text: &'a str, between: &'a str) -> impl Iterator<Item = &'a str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let all = rest?;
        let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
        for (at, c) in all.char_indices() {
            if quoted {
                quoted = c != '"' || escaped;
                escaped = c == '\\' && !escaped;
            } else if depth == 0 && all[at..].starts_with(between) {
                rest = Some(&all[at + between.len()..]);
                return Some(&all[..at]);
            } else {
                match c {
                    '"' => quoted = true,
                    '(' | '<' | '{' => depth += 1,
                    ')' | '>' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
        }
        rest = None;
        Some(all)
    })
}

/// Whether two schemas differ in the order alone in which they say what the enums are.
#[cfg(not(feature = "state-processor"))]
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let parts = |schema| {
        let mut parts: Vec<String> = split(schema, "; ").map(str::to_owned).collect();
        parts.sort_unstable();
        parts
    };
    parts(one) == parts(other)
}

/// The words that are types by themselves.
const PLAIN: &[&str] = &[
    "bool", "f32", "f64", "char", "string", "bytes", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32",
    "i64", "i128",
];

/// A name as it stands in a schema: in quotes where it would be taken for something else.
pub(crate) fn name_text(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(is_of_name) && !name.starts_with('-');
    if bare && !PLAIN.contains(&name) { name.to_owned() } else { format!("{name:?}") }
}

/// Whether a name may have this character without quotes.
pub(super) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '#')
}
