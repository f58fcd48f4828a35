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

fn fares(numbers: Collected<u64>) -> Job {
    dataflow!({
        let rides = source(from_vec(rides()));
        rides.map(|r| r.fare).collect(&numbers);
    })
}

fn main() {}
