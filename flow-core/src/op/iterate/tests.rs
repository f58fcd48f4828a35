//! What an operator might do in a body: those that are there do not.

use crate::batch::Mark;
use crate::op::{Chain, Stream, Visit};
use crate::prelude::*;
use crate::stage::push::forward_tail;
use crate::stage::{BuildCx, Push, Stamp, Tail};

/// Keeps the last record, and gives it again when its input ends.
#[derive(Clone)]
struct Again<C>(C);

impl<C: Chain<Out: Copy + Send>> Chain for Again<C> {
    type Out = C::Out;
    type Stamp = C::Stamp;
    type Root = C::Root;
    fn build<N: Push<C::Out, C::Stamp>, V: Visit>(self, cx: &mut BuildCx, next: N, visit: V) {
        self.0.build(cx, AgainPush { last: None, next }, visit);
    }
}

struct AgainPush<T, S, N> {
    last: Option<(T, S)>,
    next: N,
}

impl<T: Copy + Send + 'static, S: Stamp, N: Push<T, S>> Push<T, S> for AgainPush<T, S, N> {
    fn push(&mut self, item: T, stamp: S) {
        self.last = Some((item, stamp));
        self.next.push(item, stamp);
    }
}

impl<T: Copy + Send + 'static, S: Stamp, N: Push<T, S>> Tail for AgainPush<T, S, N> {
    fn mark(&mut self, mark: Mark) {
        if mark == Mark::End
            && let Some((item, stamp)) = self.last.take()
        {
            self.next.push(item, stamp);
        }
        self.next.mark(mark);
    }
    forward_tail!(next: open grid room flush enough deadline tick);
}

fn again<T, K, C>(n: Stream<T, K, C>) -> Stream<T, K, Again<C>> {
    Stream::of(Again(n.chain))
}

/// It belongs to no superstep: the job fails, and the record is not lost in silence.
#[test]
fn what_leaves_the_body_behind_its_last_superstep_is_told() {
    for seed in 0..10 {
        let out = Collected::new();
        let job = Job::build("late", |job| {
            let numbers = source(from_iter(0..9u64)).iterate(3, again);
            job.add(numbers.collect(&out));
        });
        let error = job.parallelism(1 + seed as usize % 3).simulate(seed).unwrap_err().to_string();
        assert!(error.contains("behind its last superstep") && error.contains("tests.rs"), "{error}");
    }
}
