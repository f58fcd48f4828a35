//! What a stage instance gives at a barrier, on its way to the coordinator.
//!
//! A barrier passes through a stage as a mark, and every operator that keeps something writes it down at that moment, under its own id. When all
//! of a stage has done so the stage says that it has [`saved`](Saves::saved). Nobody waits: what is given lies in an inbox.

use super::failpoint::point;
use super::{Orders, Slot};
use std::collections::VecDeque;
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

/// Where the news lie until the coordinator takes them. A clone is the same one.
#[derive(Clone, Default)]
pub(crate) struct Inbox(Arc<(Mutex<Waiting>, Condvar)>);

/// What lies there, and how many bytes of keyed state are in it.
#[derive(Default)]
struct Waiting {
    news: VecDeque<News>,
    bytes: usize,
}

/// With so many bytes of keyed state nobody gives more before some have been taken, where it can wait.
const CROWD: usize = 8 << 20;

impl News {
    /// Bytes of keyed state.
    fn bytes(&self) -> usize {
        if let News::Part { slot: Slot::Group(_), bytes, .. } = self { bytes.len() } else { 0 }
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, news: News) {
        let mut waiting = self.lock();
        waiting.bytes += news.bytes();
        waiting.news.push_back(news);
        drop(waiting);
        self.0.1.notify_one();
    }

    /// The first that has not been taken.
    pub fn take(&self) -> Option<News> {
        let mut waiting = self.lock();
        let news = waiting.news.pop_front()?;
        waiting.bytes -= news.bytes();
        Some(news)
    }

    /// Waits for news, at most so long.
    pub fn wait(&self, limit: Duration) {
        let waiting = self.lock();
        if waiting.news.is_empty() {
            drop(self.0.1.wait_timeout(waiting, limit).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Ends a wait although there is nothing new.
    pub fn wake(&self) {
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
}

impl Saves {
    pub(crate) fn new(inbox: Inbox, orders: Orders, task: usize, instance: usize) -> Self {
        let instance = u32::try_from(instance).unwrap_or(u32::MAX);
        Saves(Some(Arc::new(Way { inbox, orders, task, instance })))
    }

    /// Whether the job takes checkpoints.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Whether keyed state has to be written whole at checkpoint `id`, and not what has changed since the one before.
    pub fn wants_whole(&self, id: u64) -> bool {
        self.0.as_ref().is_none_or(|way| way.orders.wants_whole(id))
    }

    fn put(&self, news: impl FnOnce(&Way) -> News) {
        if let Some(way) = &self.0 {
            way.inbox.put(news(way));
        }
    }

    /// Whether so much keyed state lies there that who can wait gives no more of it now.
    pub(crate) fn are_crowded(&self) -> bool {
        self.0.as_ref().is_some_and(|way| way.inbox.lock().bytes > CROWD)
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
