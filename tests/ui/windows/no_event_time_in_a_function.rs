use flow_core::op::kind::Volatile;
use flow_core::prelude::*;

#[derive(Clone, Debug)]
struct Ride {
    id: u64,
    at: i64,
    fare: f64,
    city: String,
}

fn hourly<K: Kind<Mode = Volatile>>(
    s: Stream<Ride, K, impl Flow<Ride, K>>,
) -> Stream<Windowed<(), u64>, K, impl Flow<Windowed<(), u64>, K>> {
    s.window(tumbling(Millis(3_600_000))).aggregate(|a| a.count())
}

fn main() {}
