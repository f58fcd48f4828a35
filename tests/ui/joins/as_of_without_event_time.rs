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
        let rides = source(from_vec(rides()));
        let fares = source(from_vec(fares()));
        rides.key_by(|r| r.id).join(fares.key_by(|f| f.ride)).as_of().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
