use flow_core::prelude::*;

#[derive(Debug)]
struct Ride {
    fare: f64,
}

dataflow! {
    pub fn p() {
        let rides = source(generate(5, |i| Ride { fare: i as f64 }));
        rides.filter(|r| r.fare > 2.0).for_each(|r| println!("{r:?}"));
        rides.for_each(|r| println!("{r:?}"));
    }
}

fn main() {}
