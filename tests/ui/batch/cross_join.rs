use flow_core::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ride {
    id: u64,
    city: String,
}

#[derive(Clone, Debug)]
struct Fare {
    ride: u64,
    price: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct City(String);

fn rides() -> Vec<Ride> {
    Vec::new()
}

fn fares() -> Vec<Fare> {
    Vec::new()
}

dataflow! {
    #[batch]
    pub fn p() {
        let rides = source(from_vec(rides()));
        rides.cross_join(rides).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
