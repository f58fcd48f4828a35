//! What the interpreter knows of a stream.
//!
//! A stream is a number of *strands*: the order within a strand is known, that between strands is not. A source partition is
//! one strand; behind an exchange a strand is cut into those parts that certainly stay together. Watermarks lie in the
//! strands, in their exact place. What runs where is known only as far as the semantics say it: never which instance has a key.

use super::function::Rec;
use std::collections::HashMap;
use std::hash::Hash;

/// A record, its event time (0 on a stream without), and its key behind a [`super::plan::Form`].
#[derive(Debug, Clone, Copy)]
pub struct El {
    pub rec: Rec,
    pub time: i64,
    pub key: u8,
}

#[derive(Debug, Clone, Copy)]
pub enum Event {
    El(El),
    Watermark(i64),
}

pub type Strand = Vec<Event>;

#[derive(Debug, Clone)]
pub struct Port {
    /// Whether it has event time.
    pub timed: bool,
    /// In how many instances it runs.
    pub instances: usize,
    /// Whether each instance has at most one strand, and the watermark is that of its strand.
    pub alone: bool,
    pub strands: Vec<Strand>,
}

impl Port {
    /// Strands behind an exchange; `one_sender` says that all of them come from one sender without fan-in.
    pub fn new(timed: bool, instances: usize, strands: Vec<Strand>, one_sender: bool) -> Self {
        let port = Port { timed, instances, alone: false, strands };
        // Other senders hold the watermark back: that makes no difference to elements that are before it anyway.
        let alone = instances == 1 && port.strands.len() <= 1 && (one_sender || port.punctual());
        Port { alone, ..port }
    }

    /// Whether the order of all its elements is known, and which of them are late for whatever follows: it is a function of the
    /// input.
    pub fn single(&self) -> bool {
        self.instances == 1 && self.alone
    }

    /// Whether no element is behind the watermark of its own strand: then none is late, however strands come together.
    pub fn punctual(&self) -> bool {
        self.strands.iter().all(|strand| {
            let mut w = i64::MIN;
            strand.iter().all(|event| match event {
                Event::El(el) => w == i64::MIN || el.time > w,
                Event::Watermark(new) => {
                    w = *new;
                    true
                }
            })
        })
    }

    pub fn elements(&self) -> impl Iterator<Item = &El> {
        self.strands.iter().flatten().filter_map(|event| match event {
            Event::El(el) => Some(el),
            Event::Watermark(_) => None,
        })
    }

    /// Its records, in no order of theirs.
    pub fn sorted(&self) -> Vec<Rec> {
        let mut records: Vec<Rec> = self.elements().map(|el| el.rec).collect();
        records.sort();
        records
    }

    pub fn len(&self) -> usize {
        self.elements().count()
    }

    /// Whether the order of elements of equal `group` is known.
    pub fn ordered<G: Hash + Eq>(&self, group: impl Fn(&El) -> G) -> bool {
        let mut homes: HashMap<G, usize> = HashMap::new();
        self.strands.iter().enumerate().all(|(home, strand)| {
            strand.iter().all(|event| match event {
                Event::El(el) => *homes.entry(group(el)).or_insert(home) == home,
                Event::Watermark(_) => true,
            })
        })
    }

    /// The same strands with other elements.
    pub fn each<I: IntoIterator<Item = El>>(&self, mut f: impl FnMut(El) -> I) -> Port {
        let mut strand = |strand: &Strand| {
            let mut made = Strand::new();
            for event in strand {
                match event {
                    Event::El(el) => made.extend(f(*el).into_iter().map(Event::El)),
                    watermark => made.push(*watermark),
                }
            }
            made
        };
        Port { strands: self.strands.iter().map(&mut strand).collect(), ..*self }
    }

    /// The same strands with other records.
    pub fn records<I: IntoIterator<Item = Rec>>(&self, mut f: impl FnMut(Rec) -> I) -> Port {
        self.each(|el| f(el.rec).into_iter().map(move |rec| El { rec, ..el }).collect::<Vec<_>>())
    }

    /// Its elements as one strand without watermarks.
    pub fn heap(&self) -> Strand {
        self.elements().map(|el| Event::El(*el)).collect()
    }
}

/// The parts of a strand, each with the watermarks before its elements.
pub fn scatter<G: Hash + Eq>(strand: &Strand, mut group: impl FnMut(&El) -> G) -> Vec<Strand> {
    let mut places: HashMap<G, usize> = HashMap::new();
    let mut parts: Vec<(i64, Strand)> = Vec::new();
    let mut now = i64::MIN;
    for event in strand {
        match event {
            Event::Watermark(w) => now = *w,
            Event::El(el) => {
                let place = *places.entry(group(el)).or_insert_with(|| {
                    parts.push((i64::MIN, Strand::new()));
                    parts.len() - 1
                });
                let (told, part) = &mut parts[place];
                if std::mem::replace(told, now) != now {
                    part.push(Event::Watermark(now));
                }
                part.push(Event::El(*el));
            }
        }
    }
    parts.into_iter().map(|(_, part)| part).collect()
}

/// `scatter` for all strands.
pub fn scatter_all<G: Hash + Eq>(strands: &[Strand], group: impl Fn(&El) -> G) -> Vec<Strand> {
    strands.iter().flat_map(|strand| scatter(strand, &group)).collect()
}
