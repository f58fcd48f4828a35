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
    pub fn p(out: Collected<u64>) {
        let rides = source(from_vec(rides())).event_time(|r| r.at, disorder = 0s);
        rides.sort_by_key(|r| r.at).window(tumbling(1h)).count().map(|w| w.value).collect(&out);
    }
}

fn main() {}
