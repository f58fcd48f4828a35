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
        let (_, fares) = channel::<Fare>(8);
        let fares = source(fares);
        rides.key_by(|r| r.id).join(fares.key_by(|f| f.ride)).lookup().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
