//! Places at which a test lets the process die: the feature `failpoints`. Without it they are nothing.
//!
//! `FLOW_FAIL=P4b:2` kills the process with `SIGKILL` the second time it comes to `P4b`: no destructor runs and nothing is flushed, as when
//! the kernel kills it. That needs no `unsafe` and no dependency: the shell, which every system that has signals has, is asked for it, and
//! the thread stands still meanwhile. Its other threads go on for the millisecond that this takes, as they do in any kill.
//!
//! | point | where the process dies |
//! |---|---|
//! | `P1` | a source has recorded its position, and has not passed on the barrier |
//! | `P2` | a stage has seen the barrier on some of its inputs, and not on all |
//! | `P3` | a stage has written down what it writes at once; slices of its keyed state may be missing |
//! | `P4a` | the state file has its name, and nothing is in it |
//! | `P4b` | half of a piece of the state file is written |
//! | `P4c` | the state file is written, and not on the disk |
//! | `P4d` | the state file is on the disk; its name may not be |
//! | `P4e` | both files are on the disk, and their names may not be. State files have their last name from the beginning: nothing is renamed |
//! | `P5` | a stage instance is about to say that it has saved |
//! | `P6a` | a sink is about to stage |
//! | `P6b` | a file of a sink is written, and not on the disk |
//! | `P6c` | a sink has staged and said so |
//! | `P7a` | nothing of the manifest is written |
//! | `P7b` | half of the manifest is written, beside its place |
//! | `P7c` | the manifest is on the disk, and has not its name |
//! | `P7d` | the manifest has its name, which may not be on the disk |
//! | `P8a` | the checkpoint is complete, and no sink has committed |
//! | `P8b` | some outputs are committed, and others are not; at a restart too |
//! | `P8c` | all outputs are committed, and no source knows |
//! | `P9` | the sources have been told what is safe |
//! | `P10` | a file that nobody needs is removed, and others are not |
//! | `R1` | the manifest to start from is read |
//! | `R2` | a stage has its state back |
//! | `R3` | before what was staged is committed again |
//! | `R4` | a source is about to go to its position |

/// The process dies here if it was asked to.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) fn point(_: &'static str) {}

/// Of `bytes` what is written before the point and what after it: all and nothing, unless the process is to die in between.
#[cfg(not(feature = "failpoints"))]
#[inline(always)]
pub(crate) fn cut<'a>(_: &'static str, bytes: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    (bytes, &[])
}

#[cfg(feature = "failpoints")]
pub(crate) use armed::{cut, point};

#[cfg(feature = "failpoints")]
mod armed {
    use std::process::{Command, abort, id};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::thread::sleep;
    use std::time::Duration;

    /// The variable that says where to die: `POINT:TIMES`.
    const VARIABLE: &str = "FLOW_FAIL";

    struct Armed {
        at: String,
        /// How often it is still passed by, and once more.
        left: AtomicU32,
    }

    fn armed() -> Option<&'static Armed> {
        static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
        let read = || {
            let text = std::env::var(VARIABLE).ok()?;
            let (at, times) = text.split_once(':').unwrap_or((&text, "1"));
            let left = AtomicU32::new(times.parse().ok()?);
            Some(Armed { at: at.to_owned(), left })
        };
        ARMED.get_or_init(read).as_ref()
    }

    pub(crate) fn point(name: &'static str) {
        if let Some(armed) = armed().filter(|armed| armed.at == name)
            && armed.left.fetch_sub(1, SeqCst) == 1
        {
            die();
        }
    }

    pub(crate) fn cut<'a>(name: &'static str, bytes: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let at = if armed().is_some_and(|armed| armed.at == name) { bytes.len() / 2 } else { bytes.len() };
        bytes.split_at(at)
    }

    #[cold]
    fn die() -> ! {
        let killed = Command::new("sh").args(["-c", &format!("kill -9 {}", id())]).status();
        // The signal comes before the answer; without a shell this is as sudden.
        if killed.is_ok() {
            sleep(Duration::from_secs(1));
        }
        abort()
    }
}
