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
    pub fn p() {
        let rides = source(from_vec(rides()));
        let (_, others) = channel::<Ride>(8);
        let others = source(others);
        rides.cross(others).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
