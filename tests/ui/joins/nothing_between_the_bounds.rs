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
    city: &'static str,
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
        rides.key_by(|r| r.id).join(fares.key_by(|f| f.ride)).within(5s, 5s, lower_bound_exclusive = true).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
