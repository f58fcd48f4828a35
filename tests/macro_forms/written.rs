//! Text that is written in an unusual way, but rightly, is no warning: what the macro makes of it stands in the user's own
//! braces. Each form here was a warning that a user could not follow.

#![deny(warnings, clippy::all)]

use flow_core::prelude::*;

dataflow! {
    fn braces(numbers: Vec<u64>, out: Collected<u64>, more: Collected<u64>) {
        let numbers = source(from_vec(numbers)).event_time(|n| { *n as i64 }, disorder = 0s);
        let (sums, small) = numbers.key_by(|_| { 0 }).process({
            let mut sum: u64 = 0;
            let small: Side<u64> = side();
            on_event(|n, ctx| { if n > 1 { ctx.set_timer(ctx.timestamp() + 1min) } else { ctx.output(small, n) } });
            on_timer(|_, ctx| { ctx.emit(*sum + 1) });
        });
        sums.filter(|n| { *n > 0 }).collect(&out);
        small.map(|n| { n }).collect(&more);
    }

    fn on_one_line(numbers: Vec<u64>, out: Collected<u64>) { source(from_vec(numbers)).partition_by(|n, all| { *n as usize % all }).key_by(|n| *n % 2).reduce(|a, b| { a + b }).map(|(_, n)| { n }).collect(&out); }
}

#[test]
fn braces_of_the_user_are_no_warning() {
    let (sums, small) = (Collected::new(), Collected::new());
    braces(vec![1, 2, 3], sums.clone(), small.clone()).run().expect("it runs");
    assert_eq!((sums.take(), small.take()), (vec![1, 1], vec![1]));
    let out = Collected::new();
    on_one_line(vec![1, 2, 3, 4], out.clone()).run().expect("it runs");
    assert_eq!(out.take(), [1, 2, 4, 6]);
}
