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
    pub fn p(out: Collected<Ride>) {
        let rides = source(from_vec(rides()));
        rides.sort_by_key(|r| r.at as f64).collect(&out);
    }
}

fn main() {}
