//! What can go wrong, in the user's words: the stage, the place in the source, the cause.

use std::fmt;
use std::panic::Location;

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kinds of [`Error`], for a caller who has to tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The job is not well formed; found before any record is read.
    Plan,
    /// A source could not be opened or read, or a record of it is broken.
    Source,
    /// A sink could not be opened, written or committed.
    Sink,
    /// Whoever read what a sink writes, standard output or a pipe, has gone. Of a program in a shell that is no failure:
    /// `program | head` ends so.
    Closed,
    /// A closure of the pipeline returned an error.
    Operator,
    /// A closure of the pipeline panicked.
    Panic,
    /// An integer aggregate left the range of its type.
    Overflow,
    /// An element was late and the pipeline says `late = fail`.
    Late,
    /// State could not be written or read back.
    State,
    /// The simulated process has died, as the test asked.
    Crash,
    /// The job stood still: no stage could make progress, none was waiting. A bug of this crate or of a user's own operator.
    Stuck,
}

impl ErrorKind {
    fn words(self) -> &'static str {
        match self {
            Self::Plan => "the job cannot start",
            Self::Source => "source failed",
            Self::Sink | Self::Closed => "sink failed",
            Self::Operator => "operator failed",
            Self::Panic => "operator panicked",
            Self::Overflow => "integer overflow",
            Self::Late => "late element",
            Self::State => "state failed",
            Self::Crash => "the process died",
            Self::Stuck => "the job is stuck",
        }
    }
}

/// Why a job could not start or had to stop: what happened, in which stage, and where the pipeline says so.
///
/// ```
/// use flow_core::prelude::*;
/// let job = Job::build("parse", |job| {
///     let words = source(from_vec(vec!["1", "two"]));
///     job.add(words.try_map(|w| w.parse::<i32>()).for_each(|n| println!("{n}")));
/// });
/// let error = job.run().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Operator);
/// assert!(error.to_string().contains("try_map"), "{error}");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    what: String,
    stage: Option<String>,
    at: Option<String>,
    notes: Vec<String>,
}

impl Error {
    /// An error of `kind`; `what` says what happened (lower case, no full stop).
    pub fn new(kind: ErrorKind, what: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, what: what.into(), stage: None, at: None, notes: Vec::new() }))
    }

    /// Its kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The stage or operator it happened in, where it is known.
    pub fn stage(&self) -> Option<&str> {
        self.0.stage.as_deref()
    }

    /// What happened, without stage and place.
    pub fn message(&self) -> &str {
        &self.0.what
    }

    /// Names the stage or operator, unless one closer to the cause has been named.
    #[must_use]
    pub fn in_stage(self, stage: impl Into<String>) -> Self {
        self.in_stage_text(stage.into())
    }

    fn in_stage_text(mut self, stage: String) -> Self {
        self.0.stage.get_or_insert(stage);
        self
    }

    /// Names the place in the user's source, unless one closer to the cause has been named.
    #[must_use]
    pub fn at(self, place: &Location<'_>) -> Self {
        self.at_text(format!("{}:{}:{}", place.file(), place.line(), place.column()))
    }

    #[must_use]
    pub(crate) fn at_text(mut self, place: String) -> Self {
        self.0.at.get_or_insert(place);
        self
    }

    /// Adds a line that says more, or what to do.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.kind.words())?;
        if let Some(stage) = &self.0.stage {
            write!(f, " in `{stage}`")?;
        }
        if let Some(at) = &self.0.at {
            write!(f, " ({at})")?;
        }
        write!(f, ": {}", self.0.what)?;
        for note in &self.0.notes {
            write!(f, "; {note}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    // `fn main() -> Result<()>` prints an error with `Debug`: it has to read as well as `Display`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
