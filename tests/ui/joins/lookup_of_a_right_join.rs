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

dataflow! {
    pub fn p() {
        let rides = source(from_vec(rides()));
        let fares = source(from_vec(rides()));
        rides.key_by(|r| r.id).right_join(fares.key_by(|f| f.id)).lookup().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
