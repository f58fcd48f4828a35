//! A case as it stands in a suite file: what comes in, through which pipeline, and what has to come out.

use serde::{Deserialize, Serialize};

/// What comes on an input.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    Item(El),
    Watermark(i64),
    Idle,
    /// Waits until so many rows have left: then it has to be exactly so many.
    Rows(usize),
    /// Waits until so many elements have passed the pipeline's beginning.
    Seen(usize),
    /// Waits until a checkpoint is complete in which all is that came before.
    Checkpoint,
    /// The same with a savepoint.
    Savepoint,
    /// The process dies, once.
    Crash,
}

/// What flows through the pipelines of the suite: an element, or a result that has taken its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct El {
    pub key: String,
    pub name: String,
    pub time: i64,
    /// The window, of a window's result.
    pub window: Option<(i64, i64)>,
}

impl El {
    pub fn number(&self) -> Option<i64> {
        self.name.parse().ok()
    }
}

impl std::fmt::Display for El {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some((start, end)) = self.window {
            write!(f, "[{},{}) ", instant(start), instant(end))?;
        }
        let slash = if self.key.is_empty() { "" } else { "/" };
        write!(f, "{}{slash}{}", self.key, self.name)
    }
}

/// A point in time as the suite writes it.
pub fn instant(t: i64) -> String {
    match t {
        i64::MAX => "max".into(),
        i64::MIN => "min".into(),
        t => t.to_string(),
    }
}

#[derive(Debug, Clone, Default)]
pub struct Case {
    pub id: String,
    /// The steps of the pipeline, each a list of words.
    pub steps: Vec<Vec<String>>,
    pub inputs: Vec<Vec<Arrival>>,
    /// The file that is read, instead of inputs.
    pub bytes: Option<Vec<u8>>,
    pub rows: Vec<String>,
    pub late: Vec<String>,
    /// Late elements that are counted and nothing else.
    pub dropped: i64,
    /// Timestamps that were too far ahead to be believed.
    pub ahead: i64,
    /// Elements that windows did not keep, as they are counted.
    pub evicted: Option<i64>,
    /// What has expired of states, as it is counted; where the case says how much.
    pub expired: Option<i64>,
    /// What the error says; empty where the run succeeds.
    pub fails: Vec<String>,
    /// Whether its rows are compared in any order.
    pub any_order: bool,
    /// What else a case of checkpoints says.
    pub says: Vec<(String, String)>,
}

impl Case {
    /// Whether the order of rows is not defined even at parallelism 1.
    pub fn fan_in(&self) -> bool {
        self.any_order || self.inputs.len() > 1 || self.has("sides")
    }

    /// Whether every receiver has a single sender: one input, one exchange.
    pub fn has_single_senders(&self) -> bool {
        let windows = ["tumbling", "days", "sliding", "session", "session_by", "count", "global"];
        let exchanges = ["timers", "ttl", "rolling", "total", "floats", "lists", "distinct", "rebalance"];
        let exchanges = [&windows[..], &exchanges].concat();
        let exchange = |words: &&Vec<String>| exchanges.contains(&words[0].as_str());
        !self.fan_in() && self.steps.iter().filter(exchange).count() <= 1
    }

    /// What a case of checkpoints says by this name.
    #[allow(dead_code, reason = "other cases say nothing")]
    pub fn said(&self, name: &str) -> Option<&str> {
        self.says.iter().find(|says| says.0 == name).map(|says| &*says.1)
    }

    pub fn has(&self, step: &str) -> bool {
        self.steps.iter().any(|words| words[0] == step)
    }
}

/// Reads a suite file; see its head for the notation.
pub fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        if !line.starts_with(' ') {
            let id = line.to_owned();
            cases.push(Case { id, ..Case::default() });
            continue;
        }
        let case = cases.last_mut().expect("a case begins with its name, at the beginning of a line");
        let (what, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let rest = rest.trim();
        match what {
            "pipe" => case.steps = rest.split('|').map(words).collect(),
            "in" => case.inputs.push(words(rest).iter().flat_map(|w| arrivals(w)).collect()),
            "bytes" => case.bytes = Some(bytes(rest)),
            "row" => case.rows.push(rest.to_owned()),
            "late" => case.late.push(rest.to_owned()),
            "dropped" => case.dropped = number(rest),
            "ahead" => case.ahead = number(rest),
            "evicted" => case.evicted = Some(number(rest)),
            "expired" => case.expired = Some(number(rest)),
            "fails" => case.fails.push(rest.to_owned()),
            "lives" | "every" | "retained" | "commits" | "checkpoints" => {
                case.says.push((what.to_owned(), rest.to_owned()));
            }
            other => panic!("{}: `{other}` is not a line of a case", case.id),
        }
    }
    cases
}

/// The bytes of a file: as they stand, with `\n`, `\r`, `\\` and `\xff`; or `zeros 100`.
fn bytes(text: &str) -> Vec<u8> {
    if let Some(n) = text.strip_prefix("zeros ") {
        return vec![0; n.parse().expect("a number of bytes")];
    }
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let (byte, after) = match &escaped[..1] {
            "n" => (b'\n', 1),
            "r" => (b'\r', 1),
            "x" => (u8::from_str_radix(&escaped[1..3], 16).expect("two hexadecimal digits"), 3),
            _ => (escaped.as_bytes()[0], 1),
        };
        bytes.push(byte);
        rest = &escaped[after..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().filter(|w| *w != "|").map(str::to_owned).collect()
}

/// `a@5`, `k/a@5`, `@5` (named 5), `0..25` (each at its own number), `W9`, `idle`, `rows=1`, `seen=2`.
fn arrivals(word: &str) -> Vec<Arrival> {
    match word {
        "idle" => return vec![Arrival::Idle],
        "checkpoint" => return vec![Arrival::Checkpoint],
        "savepoint" => return vec![Arrival::Savepoint],
        "crash" => return vec![Arrival::Crash],
        _ => {}
    }
    if let Some(n) = word.strip_prefix("rows=") {
        return vec![Arrival::Rows(n.parse().expect("a number of rows"))];
    }
    if let Some(n) = word.strip_prefix("seen=") {
        return vec![Arrival::Seen(n.parse().expect("a number of elements"))];
    }
    if let Some(w) = word.strip_prefix('W') {
        return vec![Arrival::Watermark(number(w))];
    }
    if let Some((first, last)) = word.split_once("..") {
        let range = number(first)..=number(last);
        return range.map(|t| Arrival::Item(element(&t.to_string(), t))).collect();
    }
    let (name, time) = word.split_once('@').unwrap_or_else(|| panic!("`{word}` is not an arrival"));
    vec![Arrival::Item(element(if name.is_empty() { time } else { name }, number(time)))]
}

fn element(name: &str, time: i64) -> El {
    let (key, name) = name.split_once('/').unwrap_or(("", name));
    El { key: key.to_owned(), name: name.to_owned(), time, window: None }
}

/// A number, `max`, `min`, or one of these with `+n` or `-n` behind.
pub fn number(text: &str) -> i64 {
    if let Some(rest) = text.strip_prefix("max") {
        return i64::MAX + if rest.is_empty() { 0 } else { number(rest) };
    }
    if let Some(rest) = text.strip_prefix("min") {
        return i64::MIN + if rest.is_empty() { 0 } else { number(rest) };
    }
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}
