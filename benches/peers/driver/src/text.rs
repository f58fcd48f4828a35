//! The text of W1 and W1B: 200 MB of real English, made once from the repository's sample.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::args::Args;
use crate::build;
use crate::process::Failure;

const SAMPLE: &str = "../../../examples/data/kjv.txt";
const BYTES: usize = 200_000_000;

/// The path of the text, which is there where the workload needs it.
pub fn ready(args: &Args) -> Result<PathBuf, Failure> {
    if let Some(text) = &args.text {
        return Ok(text.clone());
    }
    let text = build::target()?.join("peers").join("text.txt");
    if matches!(args.workload.as_str(), "w1" | "w1b") && !text.exists() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join(SAMPLE);
        make(&sample, &text).map_err(|e| {
            let (sample, text) = (sample.display(), text.display());
            Failure::Other(format!("cannot make {text} from {sample}: {e}; give another with --text"))
        })?;
    }
    Ok(text)
}

/// Repeats the sample, made ASCII. It is written beside and renamed, so that half a text is never taken for a whole one.
fn make(sample: &Path, text: &Path) -> std::io::Result<()> {
    if let Some(folder) = text.parent() {
        fs::create_dir_all(folder)?;
    }
    let part = fs::read(sample)?.into_iter().map(ascii).collect::<Vec<_>>();
    if part.is_empty() {
        return Err(std::io::Error::other("the sample is empty"));
    }
    let beside = text.with_extension("part");
    let mut out = BufWriter::new(File::create(&beside)?);
    let mut left = BYTES;
    while left > 0 {
        let part = &part[..part.len().min(left)];
        out.write_all(part)?;
        left -= part.len();
    }
    out.write_all(b"\n")?;
    out.into_inner()?.sync_all()?;
    fs::rename(beside, text)
}

fn ascii(byte: u8) -> u8 {
    if byte == b'\n' || (b' '..0x7f).contains(&byte) { byte } else { b' ' }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_printable_ascii_becomes_a_space() {
        let made: Vec<u8> = "a\r\n\u{e9}~\x7f".bytes().map(ascii).collect();
        assert_eq!(made, b"a \n  ~ ");
    }
}
