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

fn hourly<K: Kind>(s: Stream<Ride, K, impl Flow<Ride, K>>) -> Stream<Windowed<(), u64>, K, impl Flow<Windowed<(), u64>, K>> {
    s.window(tumbling(Millis(3_600_000))).aggregate(|a| a.count())
}

dataflow! {
    pub fn p() {
        let rides = source(from_vec(rides()));
        let counts = hourly(rides);
        counts.for_each(|w| println!("{w:?}"));
    }
}

fn main() {}
