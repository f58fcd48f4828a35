//! Text: lines, CSV and (with the feature `json`) JSON lines, from files, directories, globs, byte ranges of files, standard input and TCP.
//!
//! The readers are plain objects over [`std::io::Read`]: `frame` cuts bytes into records, [`LineReader`]
//! and [`CsvReader`] make values of them, `cut` divides files. Nothing in them knows of stages.

mod broken;
mod csv;
mod cut;
mod fields;
mod files;
mod format;
mod frame;
mod inputs;
#[cfg(feature = "json")]
mod json;
#[cfg(not(feature = "json"))]
mod json_off;
mod lines;
mod part;
mod position;
mod pump;
mod queue;
mod reading;
mod record_ends;
mod reopen;
mod tcp;
mod wanted;
mod watch;

pub use broken::{Broken, Cause, ReadError};
pub use csv::{CsvOptions, CsvRange, CsvReader};
pub use cut::{csv_ranges, line_ranges, lines_before};
pub use files::{Csv, Lines, TextFiles, csv, lines, stdin_lines};
pub use format::CsvRecord;
pub use inputs::{Input, Inputs};
#[cfg(feature = "json")]
pub use json::{JsonLines, JsonOptions, JsonReader, JsonRecord, json_lines};
#[cfg(not(feature = "json"))]
#[doc(hidden)]
pub use json_off::{WithJson, json_lines};
pub use lines::{LineOptions, LineReader};
pub use reading::{Fail, Results, TextReader};
pub use tcp::{TcpLines, tcp_lines};
pub use watch::{Interval, WatchReader, Watched};

#[cfg(test)]
mod tests;
