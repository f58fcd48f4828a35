//! Text sinks: lines and CSV, into files that appear when they are whole, and standard output.

mod columns;
mod files;
mod rows;
mod staged;
mod stdout;
mod writers;

pub use files::{CsvFile, TextFile, csv_file, text_file};
pub use stdout::{Stdout, StdoutWriter, stdout};
pub use writers::{LineWriter, RowWriter};
