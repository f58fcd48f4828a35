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
        let (good, bad) = rides.try_map_or_dead(|r| r.fare, tries = 3);
        good.for_each(|x| println!("{x:?}"));
        bad.for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
