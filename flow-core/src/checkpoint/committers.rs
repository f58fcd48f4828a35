//! What makes the outputs of sinks final.

use super::failpoint::point;
use super::manifest::StagedOutput;
use crate::error::{Error, ErrorKind, Result};
use std::thread::sleep;
use std::time::Duration;

/// How often a commit is tried, and how long is waited after the first time; then twice as long each time.
const TRIES: u32 = 8;
const PAUSE: Duration = Duration::from_millis(20);

/// Makes what a sink has staged final. It belongs to the job and not to an instance: after a restart it is given what a process
/// that is dead has staged.
pub trait Committer: Send {
    /// Makes it final. It may have been done already: then nothing happens.
    ///
    /// # Errors
    /// When it could not be done; it will be tried again.
    fn commit(&mut self, checkpoint: u64, instance: u32, staged: &[u8]) -> Result<()>;
    /// Takes it back.
    fn abort(&mut self, checkpoint: u64, instance: u32, staged: &[u8]);
    /// Before anything is opened: `checkpoint` and everything before it is final, so whatever else a process that is dead has staged
    /// is removed.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn recover(&mut self, checkpoint: u64) -> Result<()> {
        let _ = checkpoint;
        Ok(())
    }
}

/// The committers of all sinks, by id.
#[derive(Default)]
pub(crate) struct Committers(Vec<(String, Box<dyn Committer>)>);

impl Committers {
    pub fn add(&mut self, sink: String, committer: Box<dyn Committer>) {
        self.0.push((sink, committer));
    }

    fn of(&mut self, sink: &str) -> Result<&mut Box<dyn Committer>> {
        let found = self.0.iter_mut().find(|known| known.0 == sink);
        found.map(|known| &mut known.1).ok_or_else(|| {
            let what =
                format!("a checkpoint has staged output of the sink `{sink}`, which is not in the pipeline");
            Error::new(ErrorKind::Sink, what)
                .note("run the pipeline once with this sink, so that it can commit what it has staged")
        })
    }

    /// Whether the sink is there.
    ///
    /// # Errors
    /// When it is not.
    pub fn check(&mut self, staged: &[StagedOutput]) -> Result<()> {
        staged.iter().try_for_each(|output| self.of(&output.sink).map(drop))
    }

    /// Commits all of `staged`, trying several times; what is done is taken out.
    ///
    /// # Errors
    /// The last failure.
    pub fn commit(&mut self, staged: &mut Vec<StagedOutput>) -> Result<()> {
        while let Some(output) = staged.first() {
            let StagedOutput { sink, instance, checkpoint, bytes } = output;
            let committer = self.of(sink)?;
            let mut pause = PAUSE;
            let mut tried = 1;
            while let Err(error) = committer.commit(*checkpoint, *instance, bytes) {
                if error.kind() == ErrorKind::Crash {
                    // The simulated process has died: nobody is left to try again.
                    return Err(error);
                }
                if tried == TRIES {
                    let note = format!(
                        "tried {TRIES} times; checkpoint {checkpoint} is complete, and the next start commits it before it reads anything"
                    );
                    return Err(error.in_stage(sink.clone()).note(note));
                }
                tried += 1;
                sleep(pause);
                pause *= 2;
            }
            staged.remove(0);
            if !staged.is_empty() {
                point("P8b");
            }
        }
        Ok(())
    }

    /// Takes back what will never be committed.
    pub fn abort(&mut self, staged: &[StagedOutput]) {
        for output in staged {
            if let Ok(committer) = self.of(&output.sink) {
                committer.abort(output.checkpoint, output.instance, &output.bytes);
            }
        }
    }

    /// See [`Committer::recover`].
    pub fn recover(&mut self, checkpoint: u64) -> Result<()> {
        for (sink, committer) in &mut self.0 {
            committer.recover(checkpoint).map_err(|error| error.in_stage(sink.clone()))?;
        }
        Ok(())
    }
}
