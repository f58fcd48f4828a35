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
        source(from_vec(rides())).key_by(|r| r.id).process(|ride, ctx| ctx.emit(ride.id)).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
