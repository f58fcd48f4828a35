//! A fresh crate: a folder with a manifest and one file, as a user begins, and the time that cargo takes with it.

use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A crate in a folder of its own, with a target folder of its own.
#[derive(Debug)]
pub struct Fresh {
    folder: PathBuf,
}

impl Fresh {
    /// Writes the crate, or takes up the one of an earlier run.
    pub fn new(root: &Path, name: &str, dependencies: &str) -> Result<Fresh> {
        let folder = root.join(name);
        fs::create_dir_all(folder.join("src"))?;
        // The empty workspace table keeps cargo from looking for one in the folders above.
        let manifest = format!(
            "[package]\nname = '{name}'\nversion = '0.0.0'\nedition = '2024'\n\n[workspace]\n\n[dependencies]\n{dependencies}\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        Ok(Fresh { folder })
    }

    /// Gives `src/main.rs` a new text.
    pub fn write(&self, text: &str) -> Result<()> {
        fs::write(self.folder.join("src/main.rs"), text)
    }

    /// Downloads what the crate needs, so that no figure depends on the network. Without a network what is there has to do.
    pub fn fetch(&self) -> Result<()> {
        match self.cargo(&["fetch"]) {
            Err(e) => self.cargo(&["fetch", "--offline"]).map(drop).map_err(|_| e),
            Ok(_) => Ok(()),
        }
    }

    /// Removes everything that was built for release.
    pub fn clean(&self) -> Result<()> {
        match fs::remove_dir_all(self.folder.join("target/release")) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// `cargo build --release`, in seconds.
    pub fn build(&self) -> Result<f64> {
        self.cargo(&["build", "--release", "--offline"])
    }

    /// `cargo check`, in seconds.
    pub fn check(&self) -> Result<f64> {
        self.cargo(&["check", "--offline"])
    }

    fn cargo(&self, args: &[&str]) -> Result<f64> {
        let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
        let start = Instant::now();
        let output = Command::new(cargo)
            .args(args)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .output()?;
        let secs = start.elapsed().as_secs_f64();
        if output.status.success() {
            return Ok(secs);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(std::io::Error::other(format!("cargo {} in {}: {said}", args.join(" "), self.folder.display())))
    }
}
