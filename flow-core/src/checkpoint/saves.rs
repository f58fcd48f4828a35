//! What a stage instance gives at a barrier, on its way to the coordinator.
//!
//! A barrier passes through a stage as a mark, and every operator that keeps something writes it down at that moment, under its own id. When all
//! of a stage has done so the stage says that it has [`saved`](Saves::saved). Nobody waits: what is given lies in an inbox.
//!
//! **Room.** The inbox holds no more bytes than it may, but for what cannot wait: who writes state between two batches goes on with it only where
//! there [is room](Saves::has_room), and with the data in any case. Whoever takes news out makes room, and wakes those that wait.

use super::failpoint::point;
use super::{Orders, Slot};
use std::collections::VecDeque;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The checkpoint of a part that stands for this and all later ones: what is left of an operator that has ended.
pub(crate) const FROM_NOW_ON: u64 = u64::MAX;

/// What stages tell the coordinator.
#[derive(Debug)]
pub(crate) enum News {
    /// A piece of an operator's state at a checkpoint; pieces of one slot follow each other.
    Part { id: u64, state: String, slot: Slot, bytes: Vec<u8> },
    /// How an operator's keyed state is written at a checkpoint: whole, or what has changed since the one before.
    Keyed { id: u64, state: String, whole: bool },
    /// What a sink has made ready, to be committed when the checkpoint is complete.
    Staged { id: u64, sink: String, instance: u32, bytes: Vec<u8> },
    /// A stage instance has given all of a checkpoint.
    Saved { id: u64, task: usize },
    /// A stage instance has ended.
    Ended { task: usize },
}

impl News {
    /// How many bytes of state there are in it.
    fn bytes(&self) -> usize {
        match self {
            News::Part { bytes, .. } | News::Staged { bytes, .. } => bytes.len(),
            News::Keyed { .. } | News::Saved { .. } | News::Ended { .. } => 0,
        }
    }
}

/// Where the news lie until the coordinator takes them. A clone is the same one.
#[derive(Clone)]
pub(crate) struct Inbox(Arc<(Mutex<Lying>, Condvar)>);

/// Wakes whoever waits for room.
type Wake = Arc<dyn Fn() + Send + Sync>;

struct Lying {
    news: VecDeque<News>,
    bytes: usize,
    /// How many there may be.
    room: usize,
    /// There have been more, and are still more than half of that.
    full: bool,
    /// Whoever waits, or is about to, is not to.
    woken: bool,
    wake: Option<Wake>,
}

/// Bytes that may lie in an inbox, unless said otherwise.
pub(super) const ROOM: usize = 64 << 20;

impl Default for Inbox {
    fn default() -> Self {
        Self::of(ROOM)
    }
}

impl Inbox {
    /// With room for so many bytes.
    pub fn of(room: usize) -> Self {
        let lying = Lying { news: VecDeque::new(), bytes: 0, room, full: false, woken: false, wake: None };
        Inbox(Arc::new((Mutex::new(lying), Condvar::new())))
    }

    /// What wakes those that wait for room.
    pub fn on_room(&self, wake: impl Fn() + Send + Sync + 'static) {
        self.lock().wake = Some(Arc::new(wake));
    }

    fn lock(&self) -> MutexGuard<'_, Lying> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, news: News) {
        let mut lying = self.lock();
        lying.bytes += news.bytes();
        lying.full |= lying.bytes > lying.room;
        lying.news.push_back(news);
        drop(lying);
        self.0.1.notify_one();
    }

    /// The first that has not been taken.
    pub fn take(&self) -> Option<News> {
        let mut lying = self.lock();
        let news = lying.news.pop_front()?;
        lying.bytes -= news.bytes();
        if lying.full && lying.bytes <= lying.room / 2 {
            lying.full = false;
            let wake = lying.wake.clone();
            drop(lying);
            wake.iter().for_each(|wake| wake());
        }
        Some(news)
    }

    /// Whether whoever can wait may put something in.
    fn has_room(&self) -> bool {
        !self.lock().full
    }

    /// How many bytes of state lie in it.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Waits for news, at most so long.
    pub fn wait(&self, limit: Duration) {
        let mut lying = self.lock();
        if lying.news.is_empty() && !lying.woken {
            lying = self.0.1.wait_timeout(lying, limit).unwrap_or_else(PoisonError::into_inner).0;
        }
        lying.woken = false;
    }

    /// Ends a wait although there is nothing new.
    pub fn wake(&self) {
        self.lock().woken = true;
        self.0.1.notify_one();
    }
}

/// The way from the operators of a stage instance to the coordinator; in a job without checkpoints it leads nowhere.
#[derive(Clone, Default)]
pub struct Saves(Option<Arc<Way>>);

struct Way {
    inbox: Inbox,
    orders: Orders,
    task: usize,
    instance: u32,
    /// Bytes that have gone to the state backend.
    spilled: Arc<AtomicUsize>,
}

impl Saves {
    pub(crate) fn new(inbox: Inbox, orders: Orders, task: usize, instance: usize) -> Self {
        let instance = u32::try_from(instance).unwrap_or(u32::MAX);
        Saves(Some(Arc::new(Way { inbox, orders, task, instance, spilled: Arc::default() })))
    }

    /// Whether the job takes checkpoints.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The checkpoint that is taken where the input ends, in a job that takes only that one: a stream goes on from there, so it is not the end of time. Behind
    /// its barrier comes the end, at which nothing fires.
    pub fn cut(&self) -> Option<u64> {
        self.0.as_ref()?.orders.cut_at()
    }

    /// Whether keyed state has to be written whole at checkpoint `id`, and not what has changed since the one before.
    pub fn wants_whole(&self, id: u64) -> bool {
        self.0.as_ref().is_none_or(|way| way.orders.wants_whole(id))
    }

    /// Whether what can wait may be given now: see the module.
    pub(crate) fn has_room(&self) -> bool {
        self.0.as_ref().is_none_or(|way| way.inbox.has_room())
    }

    /// Counts bytes that go to the state backend.
    pub(crate) fn spilled(&self) -> Arc<AtomicUsize> {
        self.0.as_ref().map_or_else(Arc::default, |way| Arc::clone(&way.spilled))
    }

    fn put(&self, news: impl FnOnce(&Way) -> News) {
        if let Some(way) = &self.0 {
            way.inbox.put(news(way));
        }
    }

    /// What operator `state` keeps beside keyed state, in this instance.
    pub fn operator(&self, id: u64, state: &str, bytes: Vec<u8>) {
        self.put(|way| Self::part(id, state, Slot::Instance(way.instance), bytes));
    }

    /// The same of one that has ended: it stands in this and all later checkpoints.
    pub fn last(&self, state: &str, bytes: Vec<u8>) {
        self.operator(FROM_NOW_ON, state, bytes);
    }

    /// Before the first key group of `state`: whether it is written whole.
    pub fn keyed(&self, id: u64, state: &str, whole: bool) {
        self.put(|_| News::Keyed { id, state: state.to_owned(), whole });
    }

    /// A piece of one key group of `state`.
    pub fn group(&self, id: u64, state: &str, group: usize, bytes: Vec<u8>) {
        let group = u16::try_from(group).unwrap_or(u16::MAX);
        self.put(|_| Self::part(id, state, Slot::Group(group), bytes));
    }

    fn part(id: u64, state: &str, slot: Slot, bytes: Vec<u8>) -> News {
        News::Part { id, state: state.to_owned(), slot, bytes }
    }

    /// What `sink` has made ready of the records between two barriers.
    pub fn staged(&self, id: u64, sink: &str, bytes: Vec<u8>) {
        self.put(|way| News::Staged { id, sink: sink.to_owned(), instance: way.instance, bytes });
    }

    /// The stage instance has given all of checkpoint `id`.
    pub fn saved(&self, id: u64) {
        point("P5");
        self.put(|way| News::Saved { id, task: way.task });
    }

    /// The stage instance has ended.
    pub(crate) fn ended(&self) {
        self.put(|way| News::Ended { task: way.task });
    }
}
