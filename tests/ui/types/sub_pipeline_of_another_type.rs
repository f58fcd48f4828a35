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

fn clean<K: Kind>(s: Stream<Ride, K, impl Flow<Ride, K>>) -> Stream<Ride, K, impl Flow<Ride, K>> {
    s.filter(|r| r.fare > 0.0)
}

dataflow! {
    pub fn p() {
        let numbers = source(from_iter(0..5u64));
        clean(numbers).for_each(|r| println!("{r:?}"));
    }
}

fn main() {}
