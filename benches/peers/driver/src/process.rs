//! One run of one program.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::build::Called;

/// The exit code of a program that has no such workload, and of the driver where that program is flow.
pub const NO_SUCH_WORKLOAD: u8 = 2;

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// The program does not have the workload; what it said.
    NoSuchWorkload(String),
    /// Anything else.
    Other(String),
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Failure::Other(error.to_string())
    }
}

/// What a program reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The time it took, by its own clock.
    pub secs: f64,
    /// How many results there were.
    pub count: u64,
    /// A checksum over them.
    pub checksum: String,
}

impl Measured {
    /// Whether two programs computed the same.
    pub fn agrees_with(&self, other: &Measured) -> bool {
        (self.count, &self.checksum) == (other.count, &other.checksum)
    }
}

/// What a program is to do.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// `w1` to `w10`, or `w1b`.
    pub workload: &'a str,
    /// The parallelism.
    pub threads: usize,
    /// How many elements there are.
    pub n: u64,
    /// The text of W1 and W1B.
    pub text: &'a Path,
}

/// Runs a program once.
pub fn run(called: &Called, task: Task<'_>) -> Result<Measured, Failure> {
    let file = called.script.as_ref().unwrap_or(&called.program);
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(folder) = called.out.parent() {
        fs::create_dir_all(folder)
            .map_err(|e| Failure::Other(format!("cannot make {}: {e}", folder.display())))?;
    }
    let output = Command::new(&called.program)
        .args(&called.script)
        .arg(task.workload)
        .arg(task.threads.to_string())
        .arg(task.n.to_string())
        .args([task.text, &called.out])
        .output()
        .map_err(|e| Failure::Other(format!("`{}` does not run: {e}", called.program.display())))?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.code() == Some(i32::from(NO_SUCH_WORKLOAD)) {
        return Err(Failure::NoSuchWorkload(said));
    }
    if !output.status.success() {
        return Err(Failure::Other(format!("{name} ended with {}: {said}", output.status)));
    }
    let line = String::from_utf8_lossy(&output.stdout);
    parse(&line)
        .ok_or_else(|| Failure::Other(format!("{name} printed `{}` instead of its result", line.trim())))
}

fn parse(line: &str) -> Option<Measured> {
    let value: Value = serde_json::from_str(line).ok()?;
    Some(Measured {
        secs: value["secs"].as_f64()?,
        count: value["count"].as_u64()?,
        checksum: value["checksum"].as_str()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whole_or_not_at_all() {
        let measured = parse(r#"{"secs":0.5,"count":3,"checksum":"00ff"}"#).expect("it is whole");
        assert_eq!(measured, Measured { secs: 0.5, count: 3, checksum: "00ff".into() });
        assert_eq!(parse(r#"{"secs":0.5,"count":3}"#), None);
        assert_eq!(parse(""), None);
    }
}
