//! Text sinks: lines, CSV and (with the feature `json`) JSON lines, into a file that appears when it is whole or into a folder of files that
//! appear with checkpoints, and standard output.

mod columns;
mod files;
pub mod folder;
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
pub use folder::json_files;
pub use folder::{Files, csv_files, text_files};
#[cfg(feature = "json")]
pub use json::{JsonFile, JsonWriter, json_file};
#[cfg(not(feature = "json"))]
#[doc(hidden)]
pub use json_off::json_file;
pub use stdout::{Stdout, StdoutWriter, stdout};
pub use writers::{LineWriter, RowWriter};
