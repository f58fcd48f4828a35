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
        rides.key_by(|r| r.id).process({
            on_event(|ride, ctx| {
                let soon = ctx.now() + 5s;
                ctx.set_processing_timer(soon);
                ctx.emit(ride.fare);
            });
            on_processing_timer(|_, ctx| ctx.emit(0.0));
        }).window(tumbling(1h)).count().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
