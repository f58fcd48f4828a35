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
    #[batch]
    pub fn p() {
        let (_, rides) = channel::<Ride>(8);
        let rides = source(rides);
        rides.key_by(|r| r.id).count().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
