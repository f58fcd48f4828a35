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
        struct Toll(u64);
        let tolls = source(from_iter(0..5)).map(|n| Toll(n)).event_time(|t| t.0 as i64, disorder = 0s);
        rides.key_by(|r| r.id).join(tolls.key_by(|t| t.0)).window(tumbling(1h)).for_each(|x| println!("{:?}", x.value.0));
    }
}

fn main() {}
