//! For tests of pipelines and of your own operators: a stream that follows a script, and a disk that fails ([`SimFs`]).
//!
//! A script says what comes and in which order: records with their event times, watermarks and idleness at exact places, and
//! points at which an input waits for something else to happen. Everything behind it is as behind `event_time`.
//!
//! Run the job with [`Job::simulate`](crate::job::Job::simulate): the same seed gives the same run, and a wait is looked at only
//! when nobody else has anything left to do.

mod map_backend;
mod nothing_in_memory;
mod sim_fs;

pub use map_backend::MapBackend;
pub use nothing_in_memory::NothingInMemory;
pub use sim_fs::{Crash, CrashPoint, Failure, SimFs};
#[cfg(test)]
mod by_hand;

use crate::batch::Mark;
use crate::error::{Error, ErrorKind, Result};
use crate::op::kind::{Bounded, Durable, Is, Kind, Replayable, Volatile};
use crate::op::{Chain, Stream, Visit};
use crate::source::unpack::{Unpack, foreign};
use crate::source::{AtSource, Lasting, Poll, Reader, Source, Src, source};
use crate::stage::own::Own;
use crate::stage::own::take;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Meta, OpenCx, Push, Tail};
use crate::time::{Clock, Grid, Millis, Timestamp};
use std::sync::Arc;

/// How long an input waits for an [`Step::Until`] before the job fails: a test must not hang.
const PATIENCE: Millis = Millis(20_000);

/// A step of a script.
#[derive(Clone)]
pub enum Step<T> {
    /// A record and when it happened. It ends idleness.
    Item(T, Timestamp),
    /// The watermark rises; one that does not rise changes nothing. It ends idleness.
    Watermark(Timestamp),
    /// The input holds back nobody from here on.
    Idle,
    /// It does again.
    Active,
    /// The input goes on once this says so. It is asked every millisecond from the next on, and the job fails after 20 s.
    Until(Arc<dyn Fn() -> bool + Send + Sync>),
    /// The process dies here, if this says so: the job ends with an error of kind [`ErrorKind::Crash`], and nothing is committed or
    /// taken back any more. When the job goes on from a checkpoint before it, it is asked again.
    Dies(Arc<dyn Fn() -> bool + Send + Sync>),
}

/// The kind of a scripted stream, of a pipeline in mode `M`.
pub type ScriptKind<M = Volatile> = Is<Timestamp, Bounded, Replayable, M>;

/// A scripted stream.
pub type Scripted<T> = Stream<T, ScriptKind, Play<Src<Script<T>>>>;

/// A stream that follows `steps`, in one partition.
///
/// ```
/// use flow_core::prelude::*;
/// use flow_core::testing::{Step, script};
/// use flow_core::window::aggregate::side;
///
/// let (rows, late) = (Collected::new(), Collected::new());
/// let steps = vec![
///     Step::Item('a', Timestamp(1)),
///     Step::Watermark(Timestamp(9)),
///     Step::Item('b', Timestamp(9)),
/// ];
/// let job = Job::build("late", |job| {
///     let windows = script(steps).window(tumbling(Millis(10))).late(side).aggregate(|a| a.collect());
///     let (on_time, too_late) = windows.roots();
///     let ends = (on_time.map(|w| w.value).collect(&rows), too_late.map(|l| l.value).collect(&late));
///     job.add(windows.fork(ends));
/// });
/// job.simulate(7).unwrap();
/// assert_eq!((rows.take(), late.take()), (vec![vec!['a']], vec!['b']));
/// ```
#[track_caller]
pub fn script<T: Clone + Send + Sync + 'static>(steps: impl IntoIterator<Item = Step<T>>) -> Scripted<T> {
    scripts([steps])
}

/// A stream of several partitions, each of which follows its own script.
#[track_caller]
pub fn scripts<T, P>(partitions: impl IntoIterator<Item = P>) -> Scripted<T>
where
    T: Clone + Send + Sync + 'static,
    P: IntoIterator<Item = Step<T>>,
{
    let partitions = partitions.into_iter().map(|steps| steps.into_iter().collect()).collect();
    play(source(Script::of(partitions)))
}

/// A script in a pipeline that takes checkpoints.
pub type DurableScript<T> = Stream<T, ScriptKind<Durable>, Play<Lasting<Src<Script<T>>>>>;

impl<T: Clone + Send + Sync + 'static> Scripted<T> {
    /// The same script as the beginning of a checkpointed pipeline, as [`durable`](Stream::durable) says it behind a source. When the job
    /// goes on from a checkpoint so does the script: behind the last step that was taken, and a wait begins anew.
    ///
    /// ```
    /// use flow_core::prelude::*;
    /// use flow_core::testing::{SimFs, Step, script};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    ///
    /// let (sums, disk) = (Collected::new(), Arc::new(SimFs::new()));
    /// let alive = Arc::new(AtomicBool::new(true));
    /// let run = |seed| {
    ///     let alive = Arc::clone(&alive);
    ///     let dies = Step::Dies(Arc::new(move || alive.swap(false, SeqCst)));
    ///     let steps = [Step::Item(1, Timestamp(1)), Step::Item(2, Timestamp(2)), dies, Step::Item(3, Timestamp(3))];
    ///     let job = Job::build("sums", |job| {
    ///         job.add(script(steps).durable().key_by(|_| ()).sum(|n| *n).map(|sum| sum.1).collect(&sums));
    ///     });
    ///     job.checkpoints(Checkpoints::in_storage(disk.clone())).simulate(seed)
    /// };
    /// assert_eq!(run(1).unwrap_err().kind(), ErrorKind::Crash);
    /// run(2).unwrap();
    /// assert_eq!(sums.take(), [1, 3, 6]);
    /// ```
    pub fn durable(self) -> DurableScript<T> {
        let Play { prev, meta } = self.chain;
        let lasting = Stream::<Step<T>, Is<(), Bounded, Replayable, Volatile>, _>::of(prev).durable();
        Stream::of(Play { prev: lasting.chain, meta })
    }
}

/// What the steps say.
#[track_caller]
pub(crate) fn play<T, K: Kind, C>(steps: Stream<Step<T>, K, C>) -> Stream<T, K::Timed, Play<C>> {
    Stream::of(Play { prev: steps.chain, meta: Meta::new("script") })
}

/// The source of a scripted stream.
#[derive(Clone)]
pub struct Script<T> {
    partitions: Arc<Vec<Vec<Step<T>>>>,
}

impl<T> Script<T> {
    pub(crate) fn of(partitions: Vec<Vec<Step<T>>>) -> Self {
        Script { partitions: Arc::new(partitions) }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Clone + Send + Sync + 'static> Source for Script<T> {
    type Item = Step<T>;
    type Split = usize;
    type Reader = ScriptReader<T>;
    type Bounds = Bounded;
    type Replay = Replayable;
    fn name(&self) -> &'static str {
        "script"
    }
    fn splits(&self) -> Result<Vec<usize>> {
        Ok((0..self.partitions.len()).collect())
    }
    fn open(&self, split: usize, cx: &mut OpenCx) -> Result<ScriptReader<T>> {
        let partitions = Arc::clone(&self.partitions);
        Ok(ScriptReader { partitions, split, at: 0, clock: Arc::clone(cx.clock()), waits: None })
    }
    fn resume(&self, split: usize, position: &[u8], cx: &mut OpenCx) -> Result<ScriptReader<T>> {
        let at = Unpack::all(position, |bytes| usize::try_from(bytes.u64()?).ok());
        let at = at.ok_or_else(|| foreign("a position that no script has written"))?;
        Ok(ScriptReader { at, ..self.open(split, cx)? })
    }
}

/// Reads one partition's script.
pub struct ScriptReader<T> {
    partitions: Arc<Vec<Vec<Step<T>>>>,
    split: usize,
    at: usize,
    clock: Arc<dyn Clock>,
    /// Since when it has waited, and when it will ask again.
    waits: Option<(i64, i64)>,
}

impl<T: Clone + Send + Sync + 'static> Reader<Step<T>> for ScriptReader<T> {
    fn poll<O: FnMut(Step<T>)>(&mut self, out: &mut O, budget: usize) -> Result<Poll> {
        for _ in 0..budget {
            match self.partitions[self.split].get(self.at) {
                None => return Ok(Poll::End),
                Some(Step::Until(come)) => {
                    let now = self.clock.ticks();
                    let (since, ask) = self.waits.unwrap_or((now, now + 1));
                    if now < ask || !come() {
                        return self.wait(now, since, ask);
                    }
                    self.waits = None;
                }
                Some(Step::Dies(now)) if now() => {
                    let what = format!("step {} of script {}: the process has died", self.at, self.split);
                    return Err(Error::new(ErrorKind::Crash, what));
                }
                Some(Step::Dies(_)) => {}
                Some(step) => out(step.clone()),
            }
            self.at += 1;
        }
        Ok(Poll::More)
    }
    fn position(&self) -> Option<Vec<u8>> {
        Some((self.at as u64).to_le_bytes().to_vec())
    }
}

impl<T> ScriptReader<T> {
    fn wait(&mut self, now: i64, since: i64, ask: i64) -> Result<Poll> {
        if now - since < PATIENCE.0 {
            let ask = ask.max(now + 1);
            self.waits = Some((since, ask));
            return Ok(Poll::WaitUntil(ask));
        }
        let what = format!("step {} of script {} waited {PATIENCE} in vain", self.at, self.split);
        Err(Error::new(ErrorKind::Source, what))
    }
}

/// A chain of steps as the chain of what they say.
#[derive(Clone)]
pub struct Play<C> {
    prev: C,
    meta: Meta,
}

/// `.batch()` behind a script: its watermarks and waits are for whoever writes it to leave out.
impl<C> AtSource for Play<C> {}

impl<T: 'static, C: Chain<Out = Step<T>>> Chain for Play<C> {
    type Out = T;
    type Stamp = Timestamp;
    type Root = C::Root;
    fn build<N: Push<T, Timestamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        let meta = cx.op(&self.meta, "watermarks as the script says");
        let (watermark, own) = (Timestamp::MIN, Own::part(meta, "played"));
        self.prev.build(cx, PlayPush { next, watermark, idle: false, own }, visit);
    }
}

/// Plays steps: the counterpart of `event_time`, which finds watermarks by itself. In a checkpoint: the watermark, as a little-endian
/// `i64`, and a byte that is 1 where the input is idle, which no step will say again.
struct PlayPush<N> {
    next: N,
    watermark: Timestamp,
    idle: bool,
    own: Own,
}

impl<N: Tail> PlayPush<N> {
    fn wake(&mut self) {
        if std::mem::replace(&mut self.idle, false) {
            self.next.mark(Mark::Active);
        }
    }
}

impl<T: 'static, S: crate::stage::Stamp, N: Push<T, Timestamp>> Push<Step<T>, S> for PlayPush<N> {
    fn push(&mut self, step: Step<T>, _: S) {
        match step {
            Step::Item(item, time) => {
                self.wake();
                self.next.push(item, time);
            }
            Step::Watermark(w) if w > self.watermark => {
                self.wake();
                self.watermark = w;
                self.next.mark(Mark::Watermark(w));
            }
            Step::Idle if !self.idle => {
                self.idle = true;
                self.next.mark(Mark::Idle);
            }
            Step::Active => self.wake(),
            Step::Watermark(_) | Step::Idle | Step::Until(_) | Step::Dies(_) => {}
        }
    }
}

impl<N: Tail> Tail for PlayPush<N> {
    fn open(&mut self, cx: &mut OpenCx) -> Result<()> {
        let PlayPush { watermark, idle, .. } = self;
        self.own.open_with(cx, &mut |bytes| {
            *watermark = Timestamp(i64::from_le_bytes(take(bytes)?));
            *idle = take::<1>(bytes)? == [1];
            Ok(())
        })?;
        self.next.open(cx)?;
        if self.watermark > Timestamp::MIN {
            self.next.mark(Mark::Watermark(self.watermark));
        }
        if self.idle {
            self.next.mark(Mark::Idle);
        }
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        if let Some(id) = self.own.at(mark) {
            let mut state = self.watermark.0.to_le_bytes().to_vec();
            state.push(u8::from(self.idle));
            self.own.put(id, state);
        }
        self.next.mark(mark);
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    forward_tail!(next: room flush enough deadline tick);
}
