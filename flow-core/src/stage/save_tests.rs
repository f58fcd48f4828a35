//! [`HeadStage`] with a checkpoint that it writes while it goes on.

use super::tests::open_cx;
use super::{Head, HeadStage, OpenCx, Stage, Step, Tail};
use crate::batch::{Batch, Mark};
use crate::checkpoint::records::Part;
use crate::checkpoint::{Groups, Inbox, News, Orders, Saves};
use crate::error::Result;
use crate::exchange::hash_key;
use crate::state::{Durable, KeyTable};
use crate::time::Grid;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// The barriers that have come behind the head, and how many items it has taken.
type Log = Arc<Mutex<(Vec<u64>, usize)>>;

struct Behind(Log);

impl Tail for Behind {
    fn open(&mut self, _: &mut OpenCx) -> Result<()> {
        Ok(())
    }
    fn mark(&mut self, mark: Mark) {
        if let Mark::Barrier(id) = mark {
            self.0.lock().expect("a log").0.push(id);
        }
    }
    fn grid(&self) -> Grid {
        Grid::none()
    }
    fn room(&mut self) -> bool {
        true
    }
    fn flush(&mut self) {}
    fn enough(&self) -> bool {
        false
    }
}

/// Counts keys.
struct Counting {
    table: KeyTable<u64, u64, Durable>,
    behind: Behind,
}

impl Head<u64> for Counting {
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.behind
    }
    fn tail_ref(&self) -> &dyn Tail {
        &self.behind
    }
    fn items(&mut self, _: usize, items: &mut std::vec::IntoIter<u64>, n: usize) {
        self.table.reserve(n, hash_key);
        for key in items.by_ref().take(n) {
            self.table.entry(hash_key(&key), |k| *k == key, |a, b| a == b, || key, || 0).1 += 1;
            self.behind.0.lock().expect("a log").1 += 1;
        }
    }
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.table.begin_save(out, Part::Head, hash_key)
    }
    fn save_more(&mut self, left: &mut usize) -> bool {
        self.table.save_more(left)
    }
}

/// Keeps a value of so many bytes of each key, all in one key group.
struct Hoarding {
    table: KeyTable<u64, Vec<u8>, Durable>,
    behind: Behind,
}

fn in_one_group(key: &u64) -> u64 {
    hash_key(key) & !0xff
}

impl Head<u64> for Hoarding {
    type Part = Infallible;
    fn tail(&mut self) -> &mut dyn Tail {
        &mut self.behind
    }
    fn tail_ref(&self) -> &dyn Tail {
        &self.behind
    }
    fn items(&mut self, _: usize, items: &mut std::vec::IntoIter<u64>, n: usize) {
        self.table.reserve(n, in_one_group);
        for key in items.by_ref().take(n) {
            self.table.entry(in_one_group(&key), |k| *k == key, |a, b| a == b, || key, || vec![7; 1024]);
            self.behind.0.lock().expect("a log").1 += 1;
        }
    }
    fn begin_save(&mut self, out: &Groups) -> Result<()> {
        self.table.begin_save(out, Part::Head, in_one_group)
    }
    fn save_more(&mut self, left: &mut usize) -> bool {
        self.table.save_more(left)
    }
}

/// What has been said since: bytes of key groups, and which checkpoints are saved.
fn heard(inbox: &Inbox) -> (usize, Vec<u64>) {
    let (mut bytes, mut saved) = (0, Vec::new());
    while let Some(news) = inbox.take() {
        match news {
            News::Part { state, bytes: more, .. } if state == "tested" => bytes += more.len(),
            News::Saved { id, .. } => saved.push(id),
            _ => {}
        }
    }
    (bytes, saved)
}

const KEYS: u64 = 20_000;

#[test]
fn a_checkpoint_is_saved_when_its_last_slice_is_written() {
    let (log, inbox) = (Log::default(), Inbox::default());
    let head = Counting { table: KeyTable::default(), behind: Behind(Arc::clone(&log)) };
    let mut stage = HeadStage::new::<u64, _>(head);
    let mut cx = open_cx(1);
    cx.saves = Saves::new(inbox.clone(), Orders::default(), 0, 0);
    stage.open(&mut cx).expect("it opens");
    let (barriers, items) = (|| log.lock().expect("a log").0.clone(), || log.lock().expect("a log").1);
    let keys = |n| (0..n).collect::<Vec<u64>>();
    stage.offer(0, Batch::new(keys(KEYS), vec![(KEYS as usize, Mark::Barrier(1))]));
    while barriers().is_empty() {
        assert_ne!(stage.step().expect("a step"), Step::Hungry);
    }
    // The barrier has passed, and most of the state is not written.
    assert_eq!(heard(&inbox), (0, vec![]));
    while stage.spent().is_some() {}
    stage.offer(0, Batch::new(keys(100), vec![]));
    assert_eq!((stage.step().expect("a step"), items()), (Step::Worked, KEYS as usize + 100));
    assert_eq!(heard(&inbox).1, [] as [u64; 0]);
    // Nothing arrives: it goes on all the same.
    let mut steps = 0;
    while stage.step().expect("a step") == Step::Worked {
        steps += 1;
    }
    let (whole, saved) = heard(&inbox);
    assert_eq!(saved, [1]);
    assert!((10..100).contains(&steps) && whole > 2 * KEYS as usize, "{steps} {whole}");
    // What has changed meanwhile is in the next one, of which the rest is written before the stage ends.
    let marks = vec![(0, Mark::Barrier(2)), (0, Mark::End)];
    while stage.spent().is_some() {}
    stage.offer(0, Batch::new(Vec::<u64>::new(), marks));
    while stage.step().expect("a step") != Step::Done {}
    let (changes, saved) = heard(&inbox);
    assert_eq!((saved, barriers()), (vec![2], vec![1, 2]));
    assert!(changes > 200 && changes < whole / 20, "{changes} of {whole}");
}

/// A slow disk: what is not taken lies in memory, but no more of it than may.
#[test]
fn what_there_is_no_room_for_is_written_later() {
    let (log, room) = (Log::default(), 256 << 10);
    let inbox = Inbox::of(room);
    let head = Hoarding { table: KeyTable::default(), behind: Behind(Arc::clone(&log)) };
    let mut stage = HeadStage::new::<u64, _>(head);
    let mut cx = open_cx(1);
    cx.saves = Saves::new(inbox.clone(), Orders::default(), 0, 0);
    stage.open(&mut cx).expect("it opens");
    let items = || log.lock().expect("a log").1;
    let keys = 8_000;
    stage.offer(0, Batch::new((0..keys).collect::<Vec<u64>>(), vec![(keys as usize, Mark::Barrier(1))]));
    while stage.step().expect("a step") != Step::Hungry {}
    // A slice of a thousand entries may be written before it is seen that there is no room.
    let most = room + 1100 * 1100;
    assert!((room..most).contains(&inbox.bytes()), "{}", inbox.bytes());
    assert!(stage.is_saving() && !cx.saves.has_room());
    // The stage goes on with what arrives.
    while stage.spent().is_some() {}
    stage.offer(0, Batch::new((0..50).collect::<Vec<u64>>(), vec![]));
    while stage.step().expect("a step") != Step::Hungry {}
    assert_eq!(items(), keys as usize + 50);
    let (mut bytes, mut saved, mut rounds) = (0, vec![], 0);
    while saved.is_empty() {
        let (more, done) = heard(&inbox);
        (bytes, saved, rounds) = (bytes + more, done, rounds + 1);
        while stage.step().expect("a step") != Step::Hungry {
            assert!(inbox.bytes() <= most, "{}", inbox.bytes());
        }
    }
    assert!(bytes > keys as usize * 1024 && saved == [1] && rounds > 4, "{bytes} {saved:?} {rounds}");
    // One that ends waits too, and is not done before all is written.
    let other: Vec<u64> = (keys..2 * keys).collect();
    while stage.spent().is_some() {}
    stage.offer(0, Batch::new(other, vec![(keys as usize, Mark::Barrier(2)), (keys as usize, Mark::End)]));
    let mut last = Step::Worked;
    while last != Step::Hungry {
        last = stage.step().expect("a step");
    }
    assert!((room..most).contains(&inbox.bytes()), "{}", inbox.bytes());
    saved.clear();
    while last != Step::Done {
        saved.extend(heard(&inbox).1);
        last = stage.step().expect("a step");
    }
    saved.extend(heard(&inbox).1);
    assert_eq!(saved, [2]);
}
