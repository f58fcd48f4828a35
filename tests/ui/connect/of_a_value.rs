use flow_core::prelude::*;

#[derive(Clone, Debug)]
struct Ride {
    id: u64,
    at: i64,
    city: String,
}

#[derive(Clone, Debug)]
struct Fare {
    ride: u64,
    at: i64,
    cents: u64,
}

fn rides() -> Vec<Ride> {
    Vec::new()
}

fn fares() -> Vec<Fare> {
    Vec::new()
}

dataflow! {
    pub fn p() {
        let rides = source(from_vec(rides())).event_time(|r| r.at, disorder = 0s);
        let fares = source(from_vec(fares())).event_time(|f| f.at, disorder = 0s);
        fares.for_each(|x| println!("{x:?}"));
        rides.key_by(|r| r.id).connect(3).process({
            on_left(|ride, ctx| ctx.emit(ride.id));
            on_right(|fare, ctx| ctx.emit(fare.cents));
        }).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
