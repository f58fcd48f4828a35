use flow_core::prelude::*;

#[derive(Clone, Debug)]
struct Ride {
    id: u64,
    at: i64,
}

fn rides() -> Vec<Ride> {
    Vec::new()
}

dataflow! {
    #[batch]
    pub fn p(out: Collected<Ride>) {
        let rides = source(from_vec(rides()));
        rides.sort_by_key(|r| r.at).collect(&out);
    }
}

fn main() {}
