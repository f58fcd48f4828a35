//! What a process knows about itself, and runs that may not hang.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One test at a time, so that what is measured is its own.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of `f`, and how long it took.
///
/// # Panics
/// When it takes longer than `limit`, or panics.
pub fn timed<R: Send + 'static>(
    what: &str,
    limit: Duration,
    f: impl FnOnce() -> R + Send + 'static,
) -> (R, Duration) {
    let (done, wait) = sync_channel(1);
    let thread = std::thread::spawn(move || {
        let begun = Instant::now();
        let result = f();
        // Nobody listens after a timeout.
        let _ = done.send((result, begun.elapsed()));
    });
    match wait.recv_timeout(limit) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("{what} hangs"),
        Err(RecvTimeoutError::Disconnected) => panic!("{what} panics: {:?}", thread.join().err()),
    }
}

/// One file of every thread, with the thread's number.
fn of_threads(file: &str) -> Vec<(OsString, String)> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    // A thread may end between the two looks.
    let read =
        |task: fs::DirEntry| Some((task.file_name(), fs::read_to_string(task.path().join(file)).ok()?));
    tasks.filter_map(read).collect()
}

/// The names of the threads that step stages.
pub fn stage_threads() -> Vec<String> {
    let names = of_threads("comm").into_iter().map(|(_, name)| name.trim().to_owned());
    names.filter(|name| name.contains('[') || name.starts_with("flow-worker")).collect()
}

/// The processor time that each thread has used.
pub struct Cpu(HashMap<OsString, u64>);

impl Cpu {
    /// Until now.
    pub fn now() -> Self {
        let used = |stat: String| stat.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0);
        Cpu(of_threads("schedstat").into_iter().map(|(thread, stat)| (thread, used(stat))).collect())
    }

    /// What the threads that live have used since `self`.
    pub fn elapsed(&self) -> Duration {
        let since = |(thread, used): (OsString, u64)| used - self.0.get(&thread).copied().unwrap_or(0);
        Duration::from_nanos(Cpu::now().0.into_iter().map(since).sum())
    }
}

/// How many files are open.
pub fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// The memory in use, in bytes.
pub fn memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<usize>().ok()).unwrap_or(0) * 1024
}
