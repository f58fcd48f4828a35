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
        let rides = source(from_vec(rides())).event_time(|r| r.at, disorder = 5s);
        let fares = source(from_vec(self::rides())).event_time(|r| r.at, disorder = 5s);
        rides.key_by(|r| r.id).interval_join(fares.key_by(|r| r.id)).between(-5s, 5s).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
