//! Builds the programs that a comparison needs, and finds those in Python.
//!
//! `cargo run` builds the driver alone. Each program is then built by itself (`cargo build -p`), so that cargo does not
//! unite the features that different peers ask of a crate they share, and nobody waits for a peer that is not asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::Args;
use crate::contender::{Code, FLOW, Program};
use crate::process::Failure;

/// How a program is called.
#[derive(Debug)]
pub struct Called {
    /// What is run.
    pub program: PathBuf,
    /// Its first argument, where it is Python.
    pub script: Option<PathBuf>,
    /// Where it writes the counts of words.
    pub out: PathBuf,
}

/// How each package's program is called; packages that do not have the workload are not there.
pub type Programs = BTreeMap<&'static str, Called>;

/// Builds flow and the peers it is compared with.
pub fn programs(args: &Args) -> Result<Programs, Failure> {
    let mut programs = Programs::new();
    for program in args.against.iter().map(|peer| peer.program).chain([&FLOW]) {
        if !programs.contains_key(program.package)
            && let Some(code) = program.code(&args.workload)
        {
            programs.insert(program.package, ready(program, &code)?);
        }
    }
    Ok(programs)
}

/// Builds flow alone.
pub fn flow(workload: &str) -> Result<Called, Failure> {
    match FLOW.code(workload) {
        Some(code) => ready(&FLOW, &code),
        None => Err(Failure::NoSuchWorkload(format!("flow has no {workload} yet"))),
    }
}

/// Builds one program, or finds it.
fn ready(of: &Program, code: &Code) -> Result<Called, Failure> {
    let (program, script) = match code {
        Code::Binary(binary) => (build(of.package, binary)?, None),
        Code::Script(file) => (python()?, Some(workspace().join("python").join(file))),
    };
    let out = target()?.join("peers").join(format!("{}.counts.txt", of.package));
    Ok(Called { program, script, out })
}

/// The Python that has the packages of `python/requirements.txt`.
fn python() -> Result<PathBuf, Failure> {
    let venv = target()?.join("peers").join("venv");
    let python = venv.join("bin").join("python");
    if python.exists() {
        return Ok(python);
    }
    let (venv, requirements) = (venv.display(), workspace().join("python/requirements.txt"));
    Err(Failure::Other(format!(
        "polars and duckdb need their packages in {venv}; make it, or leave them out with --against:\n    \
         python3 -m venv {venv} && {venv}/bin/pip install -r {}",
        requirements.display()
    )))
}

/// The folder of this workspace.
fn workspace() -> &'static Path {
    let driver = Path::new(env!("CARGO_MANIFEST_DIR"));
    driver.parent().unwrap_or(driver)
}

/// The workspace's target folder: this program is `target/release/peers`.
pub fn target() -> Result<PathBuf, Failure> {
    let me = std::env::current_exe().map_err(|e| Failure::Other(format!("where is this program? {e}")))?;
    let target = me.ancestors().nth(2).unwrap_or(Path::new("target"));
    Ok(target.to_owned())
}

/// Builds one program and gives its path.
fn build(package: &'static str, binary: &str) -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let target = target()?;
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--locked", "--package", package, "--bin", binary])
        .arg("--manifest-path")
        .arg(workspace().join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .map_err(|e| Failure::Other(format!("cargo does not run: {e}")))?;
    if status.success() {
        Ok(target.join("release").join(binary))
    } else {
        Err(Failure::Other(format!("{binary} does not build")))
    }
}
