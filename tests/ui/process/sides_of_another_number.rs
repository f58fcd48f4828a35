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
        let (large, small, rest) = rides.key_by(|r| r.id).process({
            let small: Side<Ride> = side();
            on_event(|ride, ctx| {
                if ride.fare < 1.0 {
                    ctx.output(small, ride);
                } else {
                    ctx.emit(ride);
                }
            });
        });
        large.for_each(|x| println!("{x:?}"));
        small.for_each(|x| println!("{x:?}"));
        rest.for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
