use flow_core::prelude::*;

fn main() {
    let job = Job::build("limits", |job| {
        let limits = source(from_vec(vec![10u32]));
        let numbers = source(from_vec(vec![5u32])).key_by(|n| *n).connect_broadcast(limits);
        let below = numbers.declare_beside((), || 0).on_event(|((), limit), n: u32, ctx| {
            if n < *limit {
                ctx.emit(n);
            }
        });
        job.add(below.done().for_each(|_| ()));
    });
    job.run().unwrap();
}
