//! Pipelines that are killed: what they are given, and what has to come out, computed without them.

pub mod graphs;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::str::FromStr;

/// Keys of the records.
const KEYS: u64 = 50;
/// How long windows are; records are 1 ms apart.
pub const WINDOW_MS: i64 = 100;

/// Whether everything is asked for, and not the short selection of an ordinary test.
pub fn all_faults() -> bool {
    std::env::var("FLOW_FAULTS").is_ok_and(|value| value == "all")
}

/// Which pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipeline {
    /// Source to sink, in two instances.
    Linear,
    /// Two sources, windows for each key.
    Windows,
    /// Two streams joined by key and window into two sinks.
    Join,
    /// As linear, from a broker that forgets what is acknowledged.
    Queue,
    /// Two sources, a sum for each key, whose state is on the disk.
    Sums,
    /// Sums along the edges of a graph, by a loop.
    Loop,
    /// Distances along them, by a delta loop.
    Delta,
}

/// The loops: the count is that of vertices.
pub const LOOPS: [Pipeline; 2] = [Pipeline::Loop, Pipeline::Delta];

/// All but those and that with a broker.
pub const PIPELINES: [Pipeline; 4] = [Pipeline::Linear, Pipeline::Windows, Pipeline::Join, Pipeline::Sums];

impl FromStr for Pipeline {
    type Err = String;
    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = PIPELINES.into_iter().chain(LOOPS).chain([Pipeline::Queue]);
        all.find(|p| p.name() == name).ok_or_else(|| format!("no pipeline {name}"))
    }
}

impl Pipeline {
    /// What it is called on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Pipeline::Linear => "linear",
            Pipeline::Windows => "windows",
            Pipeline::Join => "join",
            Pipeline::Queue => "queue",
            Pipeline::Sums => "sums",
            Pipeline::Loop => "loop",
            Pipeline::Delta => "delta",
        }
    }

    /// The folders of its sinks.
    pub fn outputs(self) -> &'static [&'static str] {
        if self == Pipeline::Join { &["rows", "sums"] } else { &["rows"] }
    }

    /// What stands in the folders in the end, after `count` records: lines, sorted by their first field, else in order.
    pub fn expected(self, count: u64) -> Vec<Vec<String>> {
        match self {
            Pipeline::Linear | Pipeline::Queue => {
                vec![by_key((0..count).map(|i| format!("{},{i}", key(i))))]
            }
            Pipeline::Windows => vec![by_key(windows(count))],
            Pipeline::Sums => {
                let mut sums = BTreeMap::new();
                let sum = |i| {
                    let sum = sums.entry(key(i)).or_insert(0);
                    *sum += i;
                    format!("{},{sum}", key(i))
                };
                vec![by_key((0..count).map(sum))]
            }
            Pipeline::Join => {
                let (rows, sums) = joined(count);
                vec![by_key(rows), by_key(sums)]
            }
            Pipeline::Loop => vec![graphs::sums(count)],
            Pipeline::Delta => vec![graphs::distances(count)],
        }
    }
}

/// The key of record `i`. Its last bit is that of `i`: each key is in one of two partitions.
pub fn key(i: u64) -> u64 {
    (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % (KEYS / 2) * 2 + i % 2
}

/// When record `i` was.
pub fn time(i: u64) -> i64 {
    i64::try_from(i).unwrap_or(i64::MAX)
}

/// Every `THIN`th record is in the other stream too.
const THIN: u64 = 10;

/// The other stream of the join, as CSV.
pub fn other_csv(count: u64) -> String {
    let mut text = String::from("n\n");
    for n in (0..count).step_by(usize::try_from(THIN).unwrap_or(1)) {
        let _ = writeln!(text, "{n}");
    }
    text
}

/// Lines, sorted by their first field; those of one key stay in their order.
pub fn by_key(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = lines.into_iter().collect();
    lines.sort_by_key(|line| first(line));
    lines
}

fn first(line: &str) -> u64 {
    line.split(',').next().and_then(|key| key.parse().ok()).unwrap_or(u64::MAX)
}

fn start(i: u64) -> i64 {
    time(i).div_euclid(WINDOW_MS) * WINDOW_MS
}

fn windows(count: u64) -> Vec<String> {
    let mut sums = BTreeMap::new();
    for i in 0..count {
        let sum: &mut (u64, u64) = sums.entry((start(i), key(i))).or_default();
        *sum = (sum.0 + 1, sum.1 + i);
    }
    sums.iter().map(|((start, key), (n, sum))| format!("{key},{start},{n},{sum}")).collect()
}

/// Each pair of a window, and for each window and key the sum of the pairs' products, that of its first pairs, and so on.
fn joined(count: u64) -> (Vec<String>, Vec<String>) {
    let mut of_window: BTreeMap<(i64, u64), (Vec<u64>, Vec<u64>)> = BTreeMap::new();
    for i in 0..count {
        let sides = of_window.entry((start(i), key(i))).or_default();
        sides.0.push(i);
        if i.is_multiple_of(THIN) {
            sides.1.push(i);
        }
    }
    let (mut rows, mut sums) = (Vec::new(), Vec::new());
    for ((start, key), (left, right)) in of_window {
        let pairs = left.iter().flat_map(|l| right.iter().map(move |r| (l, r)));
        rows.extend(pairs.map(|(l, r)| format!("{key},{start},{l},{r}")));
        if !right.is_empty() {
            let (n, sum) = (left.len() * right.len(), left.iter().sum::<u64>() * right.len() as u64);
            sums.push(format!("{key},{start},{n},{sum}"));
        }
    }
    (rows, sums)
}

/// What the program `large` keeps for a key: so many bytes.
pub fn large_text(key: u64, bytes: u64) -> String {
    let mut text = format!("{key},").repeat(usize::try_from(bytes / 2).unwrap_or(0).max(1));
    text.truncate(usize::try_from(bytes).unwrap_or(0).max(1));
    text
}

/// A number that tells texts apart, computed from some of its bytes.
pub fn sum_of(text: &str) -> u64 {
    let step = text.len() / 64 + 1;
    text.bytes()
        .step_by(step)
        .fold(text.len() as u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
}
