use flow_core::prelude::*;

#[derive(Clone, Debug)]
struct Ride {
    id: u64,
    at: i64,
    fare: f64,
}

fn rides() -> Vec<Ride> {
    Vec::new()
}

dataflow! {
    pub fn p() {
        let rides = source(from_vec(rides())).event_time(|r| r.at, disorder = 0s);
        let (large, a, b, c, d) = rides.key_by(|r| r.id).process({
            let a: Side<u64> = side();
            let b: Side<u64> = side();
            let c: Side<u64> = side();
            let d: Side<u64> = side();
            on_event(|ride, ctx| {
                ctx.output(a, 1);
                ctx.output(b, 1);
                ctx.output(c, 1);
                ctx.output(d, 1);
                ctx.emit(ride);
            });
        });
        large.for_each(|x| println!("{x:?}"));
        a.for_each(|x| println!("{x:?}"));
        b.for_each(|x| println!("{x:?}"));
        c.for_each(|x| println!("{x:?}"));
        d.for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
