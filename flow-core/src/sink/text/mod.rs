//! Text sinks: lines and CSV, into files that appear when they are whole.

mod columns;
mod files;
mod rows;
mod staged;
mod writers;

pub use files::{CsvFile, TextFile, csv_file, text_file};
