use flow_core::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ride {
    id: u64,
    at: i64,
    city: String,
}

fn rides() -> Vec<Ride> {
    Vec::new()
}

dataflow! {
    pub fn p() {
        let (_, rides) = channel::<Ride>(8);
        let rides = source(rides);
        rides.sort_by_key(|r| r.at).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
