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
        struct Toll(u64);
        source(from_iter(0..5)).map(|n| Toll(n)).key_by(|t| t.0).window(global()).aggregate(|a| a.collect()).for_each(|x| println!("{}", x.value.len()));
    }
}

fn main() {}
