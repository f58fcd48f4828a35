//! Text sinks: lines, CSV and (with the feature `json`) JSON lines, into files that appear when they are whole, and standard output.

mod columns;
mod files;
#[cfg(feature = "json")]
mod json;
#[cfg(not(feature = "json"))]
mod json_off;
mod rows;
mod staged;
mod stdout;
mod writers;

pub use files::{CsvFile, TextFile, csv_file, text_file};
#[cfg(feature = "json")]
pub use json::{JsonFile, JsonWriter, json_file};
#[cfg(not(feature = "json"))]
#[doc(hidden)]
pub use json_off::json_file;
pub use stdout::{Stdout, StdoutWriter, stdout};
pub use writers::{LineWriter, RowWriter};
