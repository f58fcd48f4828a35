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
    #[strict]
    pub fn p() {
        let rides = source(from_vec(rides())).event_time(|r| r.at, disorder = 0s);
        rides.key_by(|r| r.id).process({
            on_event(|ride, ctx| ctx.emit(ride.fare));
            on_timer(|_, ctx| ctx.emit(0.0));
        }).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
