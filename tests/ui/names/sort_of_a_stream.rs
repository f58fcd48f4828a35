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
        let rides = source(from_vec(rides()));
        rides.sort(|r| r.at).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
