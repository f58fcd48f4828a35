//! Builds the programs that a comparison needs.
//!
//! `cargo run` builds the driver alone. Each program is then built by itself (`cargo build -p`), so that cargo does not
//! unite the features that different peers ask of a crate they share, and nobody waits for a peer that is not asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::args::Args;
use crate::contender::FLOW;
use crate::process::Failure;

/// Where each package's program is; packages that do not have the workload are not there.
pub type Programs = BTreeMap<&'static str, PathBuf>;

/// Builds flow and the peers it is compared with.
pub fn programs(args: &Args) -> Result<Programs, Failure> {
    let mut programs = Programs::new();
    for program in args.against.iter().map(|peer| peer.program).chain([&FLOW]) {
        if !programs.contains_key(program.package)
            && let Some(binary) = program.binary(&args.workload)
        {
            programs.insert(program.package, build(program.package, &binary)?);
        }
    }
    Ok(programs)
}

/// Builds flow alone.
pub fn flow(workload: &str) -> Result<PathBuf, Failure> {
    match FLOW.binary(workload) {
        Some(binary) => build(FLOW.package, &binary),
        None => Err(Failure::NoSuchWorkload(format!("flow has no {workload} yet"))),
    }
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
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml"))
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
