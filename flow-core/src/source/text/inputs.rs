//! Which files a source reads: a path names a file, a directory or a glob, or `-` standard input.

use super::broken::ReadError;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The paths given to a text source, as they were given. Every file becomes a source partition.
///
/// ```
/// use flow_core::source::text::Inputs;
///
/// let one = Inputs::from("flights.csv");
/// let several = Inputs::from(vec!["2013/*.csv", "2014/january.csv"]);
/// let standard_input = Inputs::from("-");
/// ```
#[derive(Debug)]
pub struct Inputs(Vec<PathBuf>);

// Not derived: what is derived is compiled again in every crate that uses it.
impl Clone for Inputs {
    fn clone(&self) -> Self {
        Inputs(self.0.clone())
    }
}

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Standard input, which cannot be cut.
    Stdin,
    /// A regular file, or something that reads like one (a pipe, a device).
    File(PathBuf),
}

impl Inputs {
    /// Standard input.
    pub fn stdin() -> Self {
        Inputs(vec![PathBuf::from("-")])
    }

    /// Finds the inputs: a directory stands for its regular files and a glob for what it matches, each
    /// sorted by name; the order between the paths given is kept.
    ///
    /// # Errors
    /// When a path does not exist, or a directory or glob holds no file: before any record is read.
    pub fn find(&self) -> Result<Vec<Input>, ReadError> {
        if self.0.is_empty() {
            return Err(nothing("the list of input paths", "is empty"));
        }
        let mut found = Vec::new();
        for path in &self.0 {
            find_one(path, &mut found)?;
        }
        Ok(found)
    }

    /// The files that are there now, as [`find`](Self::find) finds them, except that what is missing is none.
    ///
    /// # Errors
    /// When a path or a folder cannot be looked into.
    pub(super) fn find_what_is_there(&self) -> Result<Vec<PathBuf>, ReadError> {
        let mut found = Vec::new();
        for path in &self.0 {
            match find_one(path, &mut found) {
                Err(error) if is_missing(&error) => {}
                other => other?,
            }
        }
        let path = |input| match input {
            Input::Stdin => PathBuf::from("-"),
            Input::File(path) => path,
        };
        Ok(found.into_iter().map(path).collect())
    }

    /// The paths, as they were given.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// The files that are there now, by name within each path; none is no mistake, but a folder that does not exist is.
    ///
    /// # Errors
    /// When a path without a glob does not exist, or cannot be looked into.
    pub(super) fn look(&self) -> Result<Vec<PathBuf>, ReadError> {
        if self.0.is_empty() {
            return Err(nothing("the list of input paths", "is empty"));
        }
        let mut files = Vec::new();
        for path in &self.0 {
            if path == Path::new("-") {
                return Err(nothing("standard input", "cannot be watched: files can"));
            }
            look_at(path, &mut files)?;
        }
        // A file that two of the paths stand for is one.
        let mut seen = HashSet::new();
        files.retain(|file| seen.insert(file.clone()));
        Ok(files)
    }
}

fn look_at(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    let mut found = Vec::new();
    match std::fs::metadata(path) {
        Ok(entry) if entry.is_dir() => {
            for entry in std::fs::read_dir(path).map_err(|error| failed(path, error))? {
                found.push(entry.map_err(|error| failed(path, error))?.path());
            }
        }
        // Whatever its name is: it was said.
        Ok(_) => {
            files.extend(path.is_file().then(|| path.to_path_buf()));
            return Ok(());
        }
        Err(error) => match path.to_str() {
            Some(pattern) if pattern.contains(['*', '?', '[']) => found = matches(pattern)?,
            _ => return Err(failed(path, error)),
        },
    }
    found.retain(|file| file.is_file() && !is_left_over(file));
    found.sort();
    files.append(&mut found);
    Ok(())
}

fn find_one(path: &Path, found: &mut Vec<Input>) -> Result<(), ReadError> {
    if path == Path::new("-") {
        found.push(Input::Stdin);
        return Ok(());
    }
    match std::fs::metadata(path) {
        Ok(entry) if entry.is_dir() => find_in_directory(path, found),
        Ok(_) => {
            found.push(Input::File(path.to_path_buf()));
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match path.to_str() {
            Some(pattern) if pattern.contains(['*', '?', '[']) => find_matches(pattern, found),
            _ => Err(failed(path, error)),
        },
        Err(error) => Err(failed(path, error)),
    }
}

fn find_in_directory(path: &Path, found: &mut Vec<Input>) -> Result<(), ReadError> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| failed(path, error))? {
        let file = entry.map_err(|error| failed(path, error))?.path();
        if file.is_file() && !is_left_over(&file) {
            files.push(file);
        }
    }
    add_sorted(files, path.display().to_string(), "is a directory without regular files", found)
}

/// Whether a file of a folder is hidden, or what a killed run had staged beside its result.
fn is_left_over(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name.contains(".part-")
}

fn find_matches(pattern: &str, found: &mut Vec<Input>) -> Result<(), ReadError> {
    let files = matches(pattern)?.into_iter().filter(|file| file.is_file()).collect();
    add_sorted(files, pattern.to_string(), "matches no file", found)
}

/// What a glob matches.
fn matches(pattern: &str) -> Result<Vec<PathBuf>, ReadError> {
    let paths = glob::glob(pattern).map_err(|error| nothing(pattern, &format!("is not a glob: {error}")))?;
    let found = paths.map(|path| {
        path.map_err(|error| {
            let path = error.path().to_path_buf();
            failed(&path, error.into())
        })
    });
    found.collect()
}

fn add_sorted(
    mut files: Vec<PathBuf>,
    path: String,
    if_none: &str,
    found: &mut Vec<Input>,
) -> Result<(), ReadError> {
    if files.is_empty() {
        return Err(nothing(&path, if_none));
    }
    files.sort();
    found.extend(files.into_iter().map(Input::File));
    Ok(())
}

fn failed(path: &Path, source: io::Error) -> ReadError {
    ReadError::Io { file: path.display().to_string().into(), source: source.into() }
}

/// Whether it is for want of a file.
pub(super) fn is_missing(error: &ReadError) -> bool {
    let ReadError::Io { source, .. } = error else { return false };
    source.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

fn nothing(path: &str, what: &str) -> ReadError {
    ReadError::Io { file: path.into(), source: io::Error::new(io::ErrorKind::NotFound, what).into() }
}

impl Input {
    /// Its name in errors.
    pub fn name(&self) -> Arc<str> {
        match self {
            Input::Stdin => "standard input".into(),
            Input::File(path) => path.display().to_string().into(),
        }
    }

    /// Opens the file and tells its length.
    pub(super) fn open(path: &Path) -> Result<(File, u64), ReadError> {
        let file = File::open(path).map_err(|error| failed(path, error))?;
        let len = file.metadata().map_err(|error| failed(path, error))?.len();
        Ok((file, len))
    }
}

impl From<&str> for Inputs {
    fn from(path: &str) -> Self {
        Inputs(vec![path.into()])
    }
}

impl From<String> for Inputs {
    fn from(path: String) -> Self {
        Inputs(vec![path.into()])
    }
}

impl From<&String> for Inputs {
    fn from(path: &String) -> Self {
        Inputs(vec![path.into()])
    }
}

impl From<&Path> for Inputs {
    fn from(path: &Path) -> Self {
        Inputs(vec![path.into()])
    }
}

impl From<PathBuf> for Inputs {
    fn from(path: PathBuf) -> Self {
        Inputs(vec![path])
    }
}

impl From<&PathBuf> for Inputs {
    fn from(path: &PathBuf) -> Self {
        Inputs(vec![path.clone()])
    }
}

impl<P: Into<PathBuf>> From<Vec<P>> for Inputs {
    fn from(paths: Vec<P>) -> Self {
        Inputs(paths.into_iter().map(Into::into).collect())
    }
}

impl<P: Into<PathBuf>, const N: usize> From<[P; N]> for Inputs {
    fn from(paths: [P; N]) -> Self {
        Inputs(paths.into_iter().map(Into::into).collect())
    }
}
