//! What a closure may do to its process beside panicking, once: the file `misdeed` in the folder says that it is done.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Which one, at which record. A clone is the same.
#[derive(Clone)]
pub struct Misdeed {
    kind: Option<Arc<str>>,
    folder: PathBuf,
    record: u64,
}

/// Allocated at once, and never touched, so that a limit of addresses is met and not the memory of the machine.
const BYTES: usize = 64 << 20;

impl Misdeed {
    /// That of the environment, in the middle of the input.
    pub fn new(folder: &Path, count: u64) -> Self {
        let kind = std::env::var("FLOW_MISDEED").ok().map(Arc::from);
        Misdeed { kind, folder: folder.to_owned(), record: count / 2 }
    }

    /// Record `i` has come.
    pub fn at(&self, i: u64) {
        if let Some(kind) = self.kind.as_deref()
            && i >= self.record
        {
            self.commit(kind);
        }
    }

    fn commit(&self, kind: &str) {
        let done = self.folder.join("misdeed");
        if kind == "stand" {
            while self.folder.join("stand").exists() {
                // Whoever looks for this file waits for somebody who stands.
                let _ = std::fs::write(&done, "");
                std::thread::sleep(Duration::from_millis(20));
            }
            return;
        }
        if done.exists() || std::fs::write(&done, "").is_err() {
            return;
        }
        match kind {
            "abort" => std::process::abort(),
            "stack" => drop(black_box(deep(0))),
            "memory" => hoard(),
            other => panic!("no misdeed `{other}`"),
        }
    }
}

fn deep(n: u64) -> u64 {
    let frame = black_box([n; 64]);
    if black_box(true) { deep(n + 1) + frame[0] } else { n }
}

fn hoard() {
    let mut all = Vec::new();
    loop {
        all.push(black_box(Vec::<u8>::with_capacity(BYTES)));
    }
}
