//! Joins: what is random about one, and what the interpreter makes of it: it compares each element with each.

use super::function::*;
use super::port::{El, Event, Port};
use super::windows::shown;
use proptest::prelude::*;

/// Which elements that match nothing give a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outer {
    Neither,
    Left,
    Right,
    Both,
}

/// Which elements of a key belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Tumbling(i64),
    Sliding(i64, i64),
    Session(i64),
    Within(i64, i64),
    AsOf,
    Lookup,
    Forever,
}

/// A join by `key % by`, where one of the keys is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Join {
    pub by: u8,
    pub outer: Outer,
    pub how: How,
}

/// Those that there are: not each outer form with each way, which would be as much code again.
pub fn join() -> impl Strategy<Value = Join> {
    use Outer::*;
    let any = || prop::sample::select(vec![Neither, Left, Right, Both]);
    let leading = || prop::sample::select(vec![Neither, Left]);
    let how = prop_oneof![
        2 => (any(), 1..30i64).prop_map(|(outer, size)| (outer, How::Tumbling(size))),
        2 => (1..30i64, 1..12i64).prop_map(|(size, slide)| (Both, How::Sliding(size, slide))),
        2 => (1..12i64).prop_map(|gap| (Left, How::Session(gap))),
        2 => (any(), -20..20i64, 0..20i64)
            .prop_map(|(outer, lower, more)| (outer, How::Within(lower, lower + more))),
        2 => leading().prop_map(|outer| (outer, How::AsOf)),
        2 => leading().prop_map(|outer| (outer, How::Lookup)),
        2 => Just((Neither, How::Forever)),
    ];
    (1..=KEYS, how).prop_map(|(by, (outer, how))| Join { by, outer, how })
}

/// The key of both sides.
pub fn key(by: u8, r: &Rec) -> Option<u8> {
    Some(r.key % by).filter(|key| *key != 3)
}

/// A row of two elements, of which one may be missing.
pub fn pair(left: Option<Rec>, right: Option<Rec>) -> i64 {
    let value = |r: Option<Rec>| r.map_or(7, |r| code(&r));
    value(left) * 3 + value(right) * 5
}

/// More pairs than are compared.
const PAIRS_MAX: usize = 200_000;

/// The rows of a join of two inputs of which no element is late, in any order.
pub fn joined(left: &Port, right: &Port, join: &Join, p: usize) -> Option<Port> {
    let known = |port: &Port| port.timed && port.punctual();
    // Of versions of one time that hold at once the last to arrive.
    let ordered = join.how != How::AsOf || right.ordered(|el| (key(join.by, &el.rec), el.time));
    if !known(left) || !known(right) || !ordered || left.len() * right.len() > PAIRS_MAX {
        return None;
    }
    let mut rows = Rows { join, made: Vec::new() };
    let lefts: Vec<El> = left.elements().copied().collect();
    let rights: Vec<El> = right.elements().copied().collect();
    match join.how {
        How::Tumbling(size) => rows.aligned(&lefts, &rights, size, size),
        How::Sliding(size, slide) => rows.aligned(&lefts, &rights, size, slide),
        How::Session(gap) => rows.sessions(&lefts, &rights, gap),
        _ => rows.each(&lefts, &rights),
    }
    // Nothing is known of their order.
    Some(Port::new(true, p, rows.made.into_iter().map(|el| vec![Event::El(el)]).collect(), false))
}

struct Rows<'a> {
    join: &'a Join,
    made: Vec<El>,
}

impl Rows<'_> {
    fn key(&self, el: &El) -> Option<u8> {
        key(self.join.by, &el.rec)
    }

    fn push(&mut self, key: Option<u8>, time: i64, rec: Rec) {
        self.made.push(El { rec, time, key: key.unwrap_or(0) });
    }

    /// The rows of the elements of one window and key.
    fn window(&mut self, lefts: &[&El], rights: &[&El], bounds: (i128, i128), time: i128) {
        let Some(any) = lefts.iter().chain(rights).next() else { return };
        let (key, outer) = (self.key(any), self.join.outer);
        let mut add = |left: Option<&&El>, right: Option<&&El>| {
            let value = pair(left.map(|el| el.rec), right.map(|el| el.rec));
            self.push(key, shown(time), row(key.unwrap_or(0), shown(bounds.0), shown(bounds.1), value));
        };
        if key.is_some() && !lefts.is_empty() && !rights.is_empty() {
            return lefts
                .iter()
                .for_each(|left| rights.iter().for_each(|right| add(Some(left), Some(right))));
        }
        if matches!(outer, Outer::Left | Outer::Both) {
            lefts.iter().for_each(|left| add(Some(left), None));
        }
        if matches!(outer, Outer::Right | Outer::Both) {
            rights.iter().for_each(|right| add(None, Some(right)));
        }
    }

    fn aligned(&mut self, lefts: &[El], rights: &[El], size: i64, slide: i64) {
        let [size, slide] = [size, slide].map(i128::from);
        let starts = |el: &El| {
            let time = i128::from(el.time);
            (time - size + 1..=time).filter(|start| start.rem_euclid(slide) == 0).collect::<Vec<_>>()
        };
        let all = || lefts.iter().chain(rights);
        let mut windows: Vec<_> =
            all().flat_map(|el| starts(el).into_iter().map(|start| (self.key(el), start))).collect();
        windows.sort_unstable();
        windows.dedup();
        for (key, start) in windows {
            let within =
                |el: &&El| self.key(el) == key && (start..start + size).contains(&i128::from(el.time));
            let (lefts, rights): (Vec<&El>, Vec<&El>) =
                (lefts.iter().filter(within).collect(), rights.iter().filter(within).collect());
            self.window(&lefts, &rights, (start, start + size), start + size - 1);
        }
    }

    fn sessions(&mut self, lefts: &[El], rights: &[El], gap: i64) {
        let mut all: Vec<(Option<u8>, i64, bool, &El)> =
            lefts.iter().map(|el| (self.key(el), el.time, true, el)).collect();
        all.extend(rights.iter().map(|el| (self.key(el), el.time, false, el)));
        all.sort_by_key(|(key, time, ..)| (*key, *time));
        // Those without a key are each alone.
        let together = |a: &(Option<u8>, i64, bool, &El), b: &(Option<u8>, i64, bool, &El)| {
            a.0.is_some() && a.0 == b.0 && i128::from(b.1) - i128::from(a.1) <= i128::from(gap)
        };
        for session in all.chunk_by(together) {
            let end = i128::from(session[session.len() - 1].1) + i128::from(gap);
            let side = |left| session.iter().filter(|(.., l, _)| *l == left).map(|one| one.3).collect();
            let (lefts, rights): (Vec<&El>, Vec<&El>) = (side(true), side(false));
            self.window(&lefts, &rights, (session[0].1.into(), end), end);
        }
    }

    /// Joins without windows.
    fn each(&mut self, lefts: &[El], rights: &[El]) {
        let mut matched = vec![false; rights.len()];
        for left in lefts {
            let found = self.of(left, rights);
            for at in &found {
                let right = &rights[*at];
                matched[*at] = true;
                let time = match self.join.how {
                    How::AsOf | How::Lookup => left.time,
                    _ => left.time.max(right.time),
                };
                self.row(Some(left), Some(right), time);
            }
            if found.is_empty() && matches!(self.join.outer, Outer::Left | Outer::Both) {
                self.row(Some(left), None, left.time);
            }
        }
        for (right, _) in rights.iter().zip(matched).filter(|(_, matched)| !matched) {
            if matches!(self.join.outer, Outer::Right | Outer::Both) {
                self.row(None, Some(right), right.time);
            }
        }
    }

    fn row(&mut self, left: Option<&El>, right: Option<&El>, time: i64) {
        let key = left.or(right).and_then(|el| self.key(el));
        let value = pair(left.map(|el| el.rec), right.map(|el| el.rec));
        self.push(key, time, rec(key.unwrap_or(0), value));
    }

    /// Which of the right elements belong to a left one.
    fn of(&self, left: &El, rights: &[El]) -> Vec<usize> {
        let Some(key) = self.key(left) else { return Vec::new() };
        let same = (0..rights.len()).filter(|i| self.key(&rights[*i]) == Some(key));
        match self.join.how {
            How::Within(lower, upper) => {
                let bounds = i128::from(lower)..=i128::from(upper);
                let apart = |i: &usize| i128::from(rights[*i].time) - i128::from(left.time);
                same.filter(|i| bounds.contains(&apart(i))).collect()
            }
            How::AsOf => {
                let before = same.filter(|i| rights[*i].time <= left.time);
                before.max_by_key(|i| (rights[*i].time, *i)).into_iter().collect()
            }
            _ => same.collect(),
        }
    }
}
