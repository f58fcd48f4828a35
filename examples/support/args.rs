//! Arguments and exit codes, the same for every example: 0, 1 for an error of the job, 2 for bad arguments; errors are one line.

use flow_core::prelude::{ErrorKind, Report};
use pico_args::Arguments;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

/// There are 256 key groups, so more instances than that would have nothing to do.
const PARALLELISM_MAX: usize = 256;

/// Why an example stops before its end.
#[derive(Debug)]
pub enum Stop {
    /// `--help` was asked for.
    Help,
    /// The arguments are wrong.
    Arguments(String),
    /// The job failed.
    Failed(String),
    /// Nobody reads the result any more, as behind `| head`: no failure.
    Closed,
}

impl From<flow_core::prelude::Error> for Stop {
    fn from(error: flow_core::prelude::Error) -> Self {
        match error.kind() {
            ErrorKind::Closed => Stop::Closed,
            _ => Stop::Failed(error.to_string()),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Failed(error.to_string())
    }
}

/// Prints the report of a job on standard error, if somebody reads it.
pub fn tell(report: &Report) {
    let _ = writeln!(io::stderr(), "{report}");
}

/// Runs `body` and turns how it ends into words and an exit code.
pub fn main(help: &str, body: impl FnOnce(Args) -> Result<(), Stop>) -> ExitCode {
    match body(Args(Arguments::from_env())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Help) => {
            // Who looks at the beginning only closes the pipe before its end.
            let _ = writeln!(io::stdout(), "{}", help.trim());
            ExitCode::SUCCESS
        }
        Err(Stop::Closed) => ExitCode::SUCCESS,
        Err(Stop::Failed(why)) => fail(&why, 1),
        Err(Stop::Arguments(why)) => fail(&format!("{why} (see --help)"), 2),
    }
}

fn fail(why: &str, code: u8) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {}", why.replace('\n', ": "));
    ExitCode::from(code)
}

/// A file of `examples/data`, wherever the program is started.
pub fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

/// The arguments not yet taken. Options (`--n v` or `--n=v`) are taken by name first, then [`inputs`](Args::inputs) takes the rest.
pub struct Args(Arguments);

impl Args {
    /// Whether help is asked for: then nothing else is done.
    pub fn help(&mut self) -> Result<(), Stop> {
        if self.0.contains(["-h", "--help"]) { Err(Stop::Help) } else { Ok(()) }
    }

    /// `-p N`: how many instances stand behind an exchange; 1 unless said.
    pub fn parallelism(&mut self) -> Result<usize, Stop> {
        self.help()?;
        match self.value::<usize>("-p")?.unwrap_or(1) {
            n @ 1..=PARALLELISM_MAX => Ok(n),
            n => Err(Stop::Arguments(format!(
                "-p: {n} instances are not possible: give a number from 1 to {PARALLELISM_MAX}"
            ))),
        }
    }

    /// An option's value, if it is there: once, and in the form of its type.
    pub fn value<T: Value>(&mut self, name: &'static str) -> Result<Option<T>, Stop> {
        let mut text = || self.0.opt_value_from_str::<_, String>(name);
        let missing = |_| Stop::Arguments(format!("{name} needs a value"));
        let Some(first) = text().map_err(missing)? else { return Ok(None) };
        if text().map_err(missing)?.is_some() {
            return Err(Stop::Arguments(format!("{name} is given twice")));
        }
        match first.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(Stop::Arguments(format!("{name}: \"{first}\" is not {}", T::WHAT))),
        }
    }

    /// Whether a flag is there.
    pub fn flag(&mut self, name: &'static str) -> bool {
        self.0.contains(name)
    }

    /// An option that takes a duration, written as in the macro: `500ms`, `5s`, `15min`, `1h`, `1d`.
    pub fn duration(&mut self, name: &'static str, default: &str) -> Result<Duration, Stop> {
        let text = self.value::<String>(name)?.unwrap_or_else(|| default.into());
        parse_duration(&text).ok_or_else(|| {
            Stop::Arguments(format!(
                "{name}: \"{text}\" is not a duration, for example 10s (units: ms, s, min, h, d)"
            ))
        })
    }

    /// An option that says how many a second, as `N` or `N/s`; at least 1.
    pub fn rate(&mut self, name: &'static str) -> Result<Option<u64>, Stop> {
        let Some(text) = self.value::<String>(name)? else { return Ok(None) };
        match text.strip_suffix("/s").unwrap_or(&text).parse() {
            Ok(rate @ 1..) => Ok(Some(rate)),
            _ => Err(Stop::Arguments(format!(
                "{name}: \"{text}\" is not a number a second, for example 1000/s"
            ))),
        }
    }

    /// An option that names a file to write.
    pub fn output(&mut self, name: &'static str, default: &str) -> Result<PathBuf, Stop> {
        Ok(self.value(name)?.unwrap_or_else(|| default.into()))
    }

    /// Whether everything has been taken: there are no inputs.
    pub fn nothing_else(self) -> Result<(), Stop> {
        self.inputs(0, "").map(drop)
    }

    /// What is left, as the one input file; the sample `default` when nothing is.
    pub fn input(self, default: &str) -> Result<PathBuf, Stop> {
        Ok(self.inputs(1, default)?.swap_remove(0))
    }

    /// What is left, as two input files; the samples when nothing is.
    pub fn two_inputs(self, first: &str, second: &str) -> Result<(PathBuf, PathBuf), Stop> {
        let mut given = self.inputs(2, first)?.into_iter();
        match (given.next(), given.next()) {
            (Some(one), Some(two)) => Ok((one, two)),
            (Some(one), None) if one == sample(first) => Ok((one, sample(second))),
            _ => Err(Stop::Arguments("give both inputs or none".to_owned())),
        }
    }

    /// What is left, as input files; the sample `default` when nothing is. More than `max` are refused. `-` is standard input.
    pub fn inputs(self, max: usize, default: &str) -> Result<Vec<PathBuf>, Stop> {
        let rest = self.0.finish();
        let is_stdin = |text: &OsStr| text == "-";
        let is_option = |text: &OsStr| text.to_string_lossy().starts_with('-') && !is_stdin(text);
        if let Some(unknown) = rest.iter().find(|rest| is_option(rest)) {
            return Err(Stop::Arguments(format!("unknown option {}", unknown.display())));
        }
        if rest.iter().filter(|rest| is_stdin(rest)).count() > 1 {
            return Err(Stop::Arguments("- is given twice, but standard input can be read once".to_owned()));
        }
        match rest.get(max) {
            Some(extra) => Err(Stop::Arguments(format!("unexpected argument {}", extra.display()))),
            None if rest.is_empty() => Ok(vec![sample(default)]),
            None => Ok(rest.into_iter().map(PathBuf::from).collect()),
        }
    }
}

/// What an option may take, in words.
pub trait Value: FromStr {
    /// `--size: "x" is not …`
    const WHAT: &'static str;
}

impl Value for String {
    const WHAT: &'static str = "text";
}
impl Value for PathBuf {
    const WHAT: &'static str = "a path";
}
impl Value for i64 {
    const WHAT: &'static str = "a whole number, for example 10";
}
impl Value for u64 {
    const WHAT: &'static str = "a whole number from 0, for example 10";
}
impl Value for usize {
    const WHAT: &'static str = u64::WHAT;
}

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let unit_ms = match &text[digits..] {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let ms = text[..digits].parse::<i64>().ok()?.checked_mul(unit_ms)?;
    u64::try_from(ms).ok().map(Duration::from_millis)
}

#[test]
fn durations_are_those_of_the_macro() {
    let ms = |text| parse_duration(text).map(|d| d.as_millis());
    assert_eq!(
        [ms("500ms"), ms("5s"), ms("15min"), ms("1h"), ms("2d"), ms("0ms")].map(Option::unwrap),
        [500, 5_000, 900_000, 3_600_000, 172_800_000, 0]
    );
    for wrong in ["", "5", "h", "-1h", "1 h", "1hour", "1d12h", "99999999999999d"] {
        assert_eq!(ms(wrong), None, "{wrong}");
    }
}
