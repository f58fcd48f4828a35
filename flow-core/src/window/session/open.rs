//! The open sessions of one key, in order of time, and how an element joins them. Pure: no edges, no clock.

use crate::aggregate::Overflow;
use crate::state::{KeySlots, Mode, Volatile};
use crate::time::Timestamp;
use crate::window::spec::Span;
use std::collections::VecDeque;
use std::ops::Range;

/// The open windows of each key that has some, in order of time, in a pipeline of mode `M`.
pub type Keys<K, W, M = Volatile> = KeySlots<K, VecDeque<W>, M>;

/// A slot for a key that has none yet, or for one element of a key whose sessions are all apart.
pub fn insert<K, W, M: Mode>(keys: &mut Keys<K, W, M>, hash: u64, key: K, apart: bool) -> u32 {
    let sessions = VecDeque::with_capacity(1);
    if apart { keys.insert_apart(hash, key, sessions) } else { keys.insert(hash, key, sessions) }
}

/// A session that elements may still join. Its bounds are exact.
#[derive(Debug)]
pub struct Open<A> {
    /// The time of its first element.
    pub start: Timestamp,
    /// How far it reaches: an element at this very time belongs to it.
    pub end: i128,
    /// The number of the element that arrived first, of the instance's: who the session is.
    pub born: u64,
    /// Whether the watermark has passed its end: an element that joins it has to be shown at once.
    pub fired: bool,
    /// When it is looked at next: the time of its entry in the queue.
    pub queued: i128,
    /// What its elements have become.
    pub acc: A,
}

impl<A> Open<A> {
    /// A session of no element yet, but of the stretch of one.
    pub fn new(start: Timestamp, end: i128, born: u64, acc: A) -> Self {
        Open { start, end, born, fired: false, queued: i128::MAX, acc }
    }

    /// The same session of another accumulator.
    pub fn with<B>(self, acc: B) -> Open<B> {
        let Open { start, end, born, fired, queued, .. } = self;
        Open { start, end, born, fired, queued, acc }
    }

    /// Stretches it over an element at `time` that reaches to `end`.
    pub fn stretch(&mut self, time: Timestamp, end: i128) {
        self.start = self.start.min(time);
        self.end = self.end.max(end);
    }

    /// Its bounds.
    pub fn span(&self) -> Span {
        Span { start: self.start.0.into(), end: self.end }
    }

    /// When something is to be done about it: it fires, or can be forgotten.
    pub fn due(&self, lateness: i64) -> i128 {
        if self.fired { self.end + i128::from(lateness) } else { self.end }
    }
}

/// Which sessions an element at `time` joins that reaches to `end`: those that it reaches, and those that reach it. Where none is
/// joined, the range says where its own belongs.
pub fn joined<A>(sessions: &VecDeque<Open<A>>, time: Timestamp, end: i128) -> Range<usize> {
    let from = sessions.partition_point(|s| s.end < time.0.into());
    let to = sessions.partition_point(|s| i128::from(s.start.0) <= end);
    from..to
}

/// The place of a session that `is` the one which was queued for `time`. It was queued for what was its end, or for that and the
/// lateness; its stretch can only have grown since, and sessions lie apart: so there are two places where it can be.
pub fn find<A>(
    sessions: &VecDeque<Open<A>>,
    time: i128,
    lateness: i64,
    is: impl Fn(&Open<A>) -> bool,
) -> Option<usize> {
    let ends = [time, time - i128::from(lateness)];
    let places = ends.map(|end| sessions.partition_point(|s| s.end < end));
    places.into_iter().find(|place| sessions.get(*place).is_some_and(&is))
}

/// Makes one session of neighbours: that of the element that arrived first takes the others in, in the order in which their
/// first elements arrived.
///
/// # Errors
/// When the aggregate leaves its range.
#[cold]
pub fn unite<A>(
    sessions: &mut VecDeque<Open<A>>,
    neighbours: Range<usize>,
    mut merge: impl FnMut(&mut A, A) -> Result<(), Overflow>,
) -> Result<(), Overflow> {
    let at = neighbours.start;
    let mut parts: Vec<Open<A>> = sessions.drain(neighbours).collect();
    parts.sort_by_key(|part| part.born);
    let mut parts = parts.into_iter();
    let Some(mut whole) = parts.next() else { return Ok(()) };
    let merged = parts.try_for_each(|part| {
        whole.stretch(part.start, part.end);
        merge(&mut whole.acc, part.acc)
    });
    sessions.insert(at, whole);
    merged
}
