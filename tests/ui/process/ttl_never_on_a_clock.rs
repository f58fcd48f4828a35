use flow_core::prelude::*;

dataflow! {
    pub fn p(clicks: Vec<u64>) {
        let counts = source(from_vec(clicks)).key_by(|user| *user).process({
            #[ttl(never, on = clock)]
            let mut count: u64 = 0;
            on_event(|_, ctx| {
                *count += 1;
                ctx.emit(*count);
            });
        });
        counts.for_each(|n| println!("{n}"));
    }
}

fn main() {}
