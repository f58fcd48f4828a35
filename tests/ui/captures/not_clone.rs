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

struct Limit(u64);

dataflow! {
    pub fn p() {
        let limit = Limit(5);
        let rides = source(from_vec(rides()));
        rides.filter(|r| r.id > limit.0).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
