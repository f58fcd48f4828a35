//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::contender::{self, Peer};
use crate::process::Failure;

/// What `--help` prints.
pub const USAGE: &str = "\
usage: cargo run --release -- WORKLOAD [options]

WORKLOAD       w1 … w10, w1b (see README.md)
-p N           the parallelism of flow and of every peer (default 1)
--against A,B  the peers: hand1, hand, timely, renoir, dfir, polars, duckdb (default: all of them);
               hand1 is the hand-written loop on one thread whatever N
--pairs K      how many pairs are run against each peer (default 11)
--n ITEMS      how many elements there are (default: see README.md; w1 and w1b take a text)
--text FILE    the text of w1 and w1b (default: made from the repository's sample, 200 MB)
--json         one line of JSON for each peer
";

/// What the user asks for.
#[derive(Debug, PartialEq)]
pub struct Args {
    /// `w1` to `w10`, or `w1b`.
    pub workload: String,
    /// The parallelism.
    pub parallelism: usize,
    /// Against whom.
    pub against: Vec<&'static Peer>,
    /// How many pairs.
    pub pairs: usize,
    /// How many elements.
    pub n: u64,
    /// The text of W1 and W1B, where it is not the usual one.
    pub text: Option<PathBuf>,
    /// Whether to print JSON.
    pub json: bool,
}

impl Args {
    /// Reads the command line; `None` asks for help.
    pub fn from_env() -> Result<Option<Args>, Failure> {
        Args::parse(std::env::args_os().skip(1))
    }

    fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Option<Args>, Failure> {
        use lexopt::prelude::*;
        let mut parser = lexopt::Parser::from_args(args);
        let (mut workload, mut n) = (None, None);
        let mut all = Args {
            workload: String::new(),
            parallelism: 1,
            against: contender::PEERS.iter().collect(),
            pairs: 11,
            n: 0,
            text: None,
            json: false,
        };
        while let Some(arg) = parser.next()? {
            match arg {
                Short('p') | Long("parallelism") => {
                    all.parallelism = positive(parser.value()?.parse()?, "-p")?
                }
                Long("pairs") => all.pairs = positive(parser.value()?.parse()?, "--pairs")?,
                Long("against") => all.against = peers(&parser.value()?.string()?)?,
                Long("n") => n = Some(parser.value()?.parse()?),
                Long("text") => all.text = Some(parser.value()?.into()),
                Long("json") => all.json = true,
                Short('h') | Long("help") => return Ok(None),
                Value(name) if workload.is_none() => workload = Some(name.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        let workload = workload.ok_or_else(|| Failure::Other(format!("which workload?\n\n{USAGE}")))?;
        let default = contender::default_n(&workload).ok_or_else(|| {
            Failure::Other(format!("there is no workload `{workload}`: w1 to w10 are, and w1b"))
        })?;
        Ok(Some(Args { workload, n: n.unwrap_or(default), ..all }))
    }
}

fn positive(value: usize, option: &str) -> Result<usize, Failure> {
    if value == 0 { Err(Failure::Other(format!("{option} has to be at least 1"))) } else { Ok(value) }
}

fn peers(names: &str) -> Result<Vec<&'static Peer>, Failure> {
    let find = |name: &str| {
        contender::PEERS.iter().find(|peer| peer.name == name).ok_or_else(|| {
            let known: Vec<_> = contender::PEERS.iter().map(|peer| peer.name).collect();
            Failure::Other(format!("there is no peer `{name}`: there are {}", known.join(", ")))
        })
    };
    names.split(',').map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Args>, Failure> {
        Args::parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn the_usual_line_is_understood() {
        let args = parse("w3 -p 2 --against timely,hand1 --json").expect("no mistake").expect("no help");
        assert_eq!((args.workload.as_str(), args.parallelism, args.pairs), ("w3", 2, 11));
        assert_eq!(args.against.iter().map(|peer| peer.name).collect::<Vec<_>>(), ["timely", "hand1"]);
        assert!(args.json && args.n == 50_000_000);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, says) in [
            ("", "which workload"),
            ("w99", "no workload `w99`"),
            ("w2 -p 0", "-p has to be at least 1"),
            ("w2 --against spark", "no peer `spark`"),
            ("w2 --fast", "--fast"),
        ] {
            match parse(line) {
                Err(Failure::Other(message)) => assert!(message.contains(says), "{line}: {message}"),
                other => panic!("{line}: {other:?}"),
            }
        }
    }
}
