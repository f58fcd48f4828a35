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
    #[max_shuffles(1)]
    pub fn p() {
        let counts = source(from_vec(rides())).key_by(|r| r.id).count();
        counts.rebalance().for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
