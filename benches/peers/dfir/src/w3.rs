//! W3: a running sum per key, every update emitted.

use std::cell::RefCell;
use std::rc::Rc;

use dfir_rs::dfir_syntax;
use peer_common::elements::keyed;
use peer_common::{Answer, Run};

use crate::Table;

/// With a `scan` whose state is a table: the library's keyed fold emits at the end only.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    let answer: Rc<RefCell<Answer>> = Rc::default();
    let out = answer.clone();
    let mut graph = dfir_syntax! {
        source_iter(0..n)
            -> map(keyed)
            -> scan::<'static>(Table::<u64, u64>::default, |sums: &mut Table<u64, u64>, (key, value): (u64, u64)| {
                let sum = sums.entry(key).or_insert(0);
                *sum += value;
                Some(*sum)
            })
            -> for_each(|x| out.borrow_mut().add(x));
    };
    graph.run_available_sync();
    answer.take()
}
