//! Where the rows of cases of checkpoints go, and commits of which nobody hears.

use crate::pipeline::Elements;
use crate::rows::Rows;
use flow_core::checkpoint::Committer;
use flow_core::prelude::*;
use flow_core::sink::{CommittingSink, Sink, text_files};
use flow_core::stage::OpenCx;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// A sink whose rows count once.
#[derive(Clone, Default)]
pub enum Place {
    /// That of the other cases.
    #[default]
    Memory,
    Collected(Collected<String>),
    Files(PathBuf),
}

impl Place {
    /// Ends the pipeline there; `faults` says what becomes of commits.
    pub fn end(&self, job: &mut Job, stream: Elements, rows: &Rows, faults: &Faults) {
        let faults = faults.clone();
        match self {
            Place::Memory => job.add(stream.sink(Faulty { sink: rows.clone(), faults })),
            Place::Files(folder) => job.add(stream.sink(Faulty { sink: text_files(folder), faults })),
            Place::Collected(rows) => job.add(stream.map(|el| el.to_string()).collect(rows)),
        }
    }

    /// What is there at the end.
    pub fn take(&self, rows: &Rows) -> Vec<String> {
        match self {
            Place::Memory => rows.take(),
            Place::Collected(rows) => rows.take(),
            Place::Files(folder) => {
                let files = std::fs::read_dir(folder).expect("the sink has made it");
                let files = files.map(|file| file.expect("it is there").path());
                let files = files.filter(|path| path.extension().is_some_and(|end| end == "txt"));
                let text: String = files.map(|path| std::fs::read_to_string(path).expect("a text")).collect();
                text.lines().map(str::to_owned).collect()
            }
        }
    }
}

/// What becomes of commits: `lost`, `unheard`, `slow` or nothing.
#[derive(Clone, Default)]
pub struct Faults {
    pub kind: String,
    pub commits: Arc<AtomicUsize>,
}

/// A sink with faults.
#[derive(Clone)]
struct Faulty<X> {
    sink: X,
    faults: Faults,
}

impl<T, X: Sink<T>> Sink<T> for Faulty<X> {
    type Writer = X::Writer;
    const SINGLE: bool = X::SINGLE;
    fn name(&self) -> &'static str {
        self.sink.name()
    }
    fn open(&self, cx: &mut OpenCx) -> Result<X::Writer> {
        self.sink.open(cx)
    }
}

impl<T, X: CommittingSink<T>> CommittingSink<T> for Faulty<X> {
    fn committer(&self) -> Box<dyn Committer> {
        Box::new(FaultyCommitter { committer: self.sink.committer(), faults: self.faults.clone() })
    }
}

struct FaultyCommitter {
    committer: Box<dyn Committer>,
    faults: Faults,
}

impl Committer for FaultyCommitter {
    fn commit(&mut self, checkpoint: u64, instance: u32, staged: &[u8]) -> Result<()> {
        self.committer.commit(checkpoint, instance, staged)?;
        let first = self.faults.commits.fetch_add(1, SeqCst) == 0;
        match &*self.faults.kind {
            "lost" if first => Err(Error::new(ErrorKind::Crash, "the process has died after a commit")),
            "unheard" if first => Err(Error::new(ErrorKind::Sink, "no answer")),
            "slow" => {
                std::thread::sleep(Duration::from_millis(2));
                Ok(())
            }
            _ => Ok(()),
        }
    }
    fn abort(&mut self, checkpoint: u64, instance: u32, staged: &[u8]) {
        self.committer.abort(checkpoint, instance, staged);
    }
    fn recover(&mut self, checkpoint: u64) -> Result<()> {
        self.committer.recover(checkpoint)
    }
}
