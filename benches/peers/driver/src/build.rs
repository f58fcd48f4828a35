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

/// Where each package's program is.
pub type Programs = BTreeMap<&'static str, PathBuf>;

/// Builds flow and the peers it is compared with.
pub fn programs(args: &Args) -> Result<Programs, Failure> {
    let mut packages: Vec<_> = args.against.iter().map(|peer| peer.program.package).collect();
    packages.push(FLOW.package);
    packages.sort_unstable();
    packages.dedup();
    packages.into_iter().map(|package| Ok((package, program(package)?))).collect()
}

/// The workspace's target folder: this program is `target/release/peers`.
pub fn target() -> Result<PathBuf, Failure> {
    let me = std::env::current_exe().map_err(|e| Failure::Other(format!("where is this program? {e}")))?;
    let target = me.ancestors().nth(2).unwrap_or(Path::new("target"));
    Ok(target.to_owned())
}

/// Builds one package and gives the path of its program.
pub fn program(package: &'static str) -> Result<PathBuf, Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let target = target()?;
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--locked", "--package", package])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .map_err(|e| Failure::Other(format!("cargo does not run: {e}")))?;
    if status.success() {
        Ok(target.join("release").join(package))
    } else {
        Err(Failure::Other(format!("{package} does not build")))
    }
}
