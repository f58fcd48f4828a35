use flow_core::prelude::*;

#[derive(Clone, Debug)]
struct Ride {
    id: u64,
    at: i64,
    fare: f64,
    city: String,
}

fn rides() -> Vec<Ride> {
    Vec::new()
}

dataflow! {
    pub fn p() {
        let rides = source(from_vec(rides())).event_time(|r| r.at, disorder = 5s);
        rides.key_by(|r| r.id).process({
            on_event(|ride, ctx| {
                ctx.emit(ride.fare);
                ctx.register_event_time_timer(ctx.timestamp() + 1min);
            });
        }).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
