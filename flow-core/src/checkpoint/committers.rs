//! What makes the outputs of sinks final.

use super::failpoint::point;
use super::manifest::StagedOutput;
use crate::error::{Error, ErrorKind, Result};
use crate::time::Millis;
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
    /// How long after it was staged an output can be committed, where it is for a while only, as in Kafka, whose transactions time out.
    /// A committer that says so has to fail when it is asked to commit what may have been lost: then the job does not start, and says so.
    fn transaction_timeout(&self) -> Option<Millis> {
        None
    }
}

/// Does what may fail for a while: tries it several times, unless the process that it is simulated in has died.
///
/// # Errors
/// The last failure, and how often it was tried.
pub(super) fn insist(mut f: impl FnMut() -> Result<()>) -> Result<(), (Error, u32)> {
    let mut pause = PAUSE;
    for _ in 1..TRIES {
        match f() {
            Ok(()) => return Ok(()),
            Err(dead) if dead.kind() == ErrorKind::Crash => return Err((dead, 1)),
            Err(_) => {}
        }
        sleep(pause);
        pause *= 2;
    }
    f().map_err(|error| (error, TRIES))
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
            Error::new(ErrorKind::Sink, what).note(format!(
                "a sink with a new name says which it had: `#[was(old)] let new = …` or `job.was(\"new\", \"old\")`; to remove one, let the pipeline with it come to its end or stop it \
                 with `stop_with_savepoint`, so that all is committed, and say `Checkpoints::drop_state(\"{sink}\")` in the one without"
            ))
        })
    }

    /// What is to be committed of `staged`: without that of sinks that are gone and may be `dropped`.
    ///
    /// # Errors
    /// When a sink is gone.
    pub fn due(&mut self, staged: &[StagedOutput], dropped: &[String]) -> Result<Vec<StagedOutput>> {
        let mut due = Vec::new();
        for output in staged {
            match self.of(&output.sink) {
                Ok(_) => due.push(output.clone()),
                Err(_) if dropped.contains(&output.sink) => {}
                Err(gone) => return Err(gone),
            }
        }
        Ok(due)
    }

    /// Commits all of `staged`, trying several times; what is done is taken out.
    ///
    /// # Errors
    /// The last failure.
    pub fn commit(&mut self, staged: &mut Vec<StagedOutput>) -> Result<()> {
        while let Some(output) = staged.first() {
            let StagedOutput { sink, instance, checkpoint, bytes } = output;
            let committer = self.of(sink)?;
            insist(|| committer.commit(*checkpoint, *instance, bytes)).map_err(|(error, tried)| {
                if error.kind() == ErrorKind::Crash {
                    return error;
                }
                let note = format!(
                    "tried {tried} times; checkpoint {checkpoint} is complete, and the next start commits it before it reads anything"
                );
                error.in_stage(sink.clone()).note(note)
            })?;
            staged.remove(0);
            if !staged.is_empty() {
                point("P8b");
            }
        }
        Ok(())
    }

    /// Whether transactions stay open as long as a checkpoint may take.
    ///
    /// # Errors
    /// Names a sink whose transactions do not.
    pub fn check_timeouts(&self, every: Millis, timeout: Millis) -> Result<()> {
        for (sink, committer) in &self.0 {
            let needed = Millis(every.0.saturating_add(timeout.0));
            if let Some(open) = committer.transaction_timeout().filter(|open| *open <= needed) {
                let what = format!(
                    "the transactions of this sink end after {open}, and a checkpoint may be complete {needed} after they begin: every {every}, with a timeout of {timeout}"
                );
                let note = "let transactions live longer, or checkpoints be taken more often and fail earlier: `Checkpoints::every`, `Checkpoints::timeout`";
                return Err(Error::new(ErrorKind::Plan, what).in_stage(sink.clone()).note(note));
            }
        }
        Ok(())
    }

    /// Commits what a process before has staged and, as far as is known, not committed; that was so long ago. Of the sinks `given_up` what
    /// cannot be committed is left.
    ///
    /// # Errors
    /// The last failure; where the transactions of the sink have ended since, it says that they may be lost.
    pub fn commit_again(&mut self, staged: &[StagedOutput], ago: Millis, given_up: &[String]) -> Result<()> {
        for output in staged {
            let (sink, checkpoint) = (&output.sink, output.checkpoint);
            let open = self.of(sink)?.transaction_timeout();
            let ended = open.filter(|open| ago > *open);
            let Err(error) = self.commit(&mut vec![output.clone()]) else { continue };
            let Some(open) = ended else { return Err(error) };
            if given_up.contains(sink) {
                continue;
            }
            return Err(error.note(format!(
                "what this sink staged for checkpoint {checkpoint} may be lost: its transactions end after {open}, and the checkpoint was taken {ago} ago; to go on without it say `Checkpoints::give_up(\"{sink}\")`"
            )));
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
