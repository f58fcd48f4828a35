//! W2: map, filter, map, count and sum.

use std::cell::RefCell;
use std::rc::Rc;

use dfir_rs::dfir_syntax;
use peer_common::elements::{m1, m2, mix, p1};
use peer_common::{Answer, Run};

/// All of it in one tick.
pub fn run(run: &Run) -> Answer {
    let n = run.n;
    let answer: Rc<RefCell<Answer>> = Rc::default();
    let out = answer.clone();
    let mut graph = dfir_syntax! {
        source_iter(0..n) -> map(mix) -> map(m1) -> filter(p1) -> map(m2) -> for_each(|x| out.borrow_mut().add(x));
    };
    graph.run_available_sync();
    answer.take()
}
