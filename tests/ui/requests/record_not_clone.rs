use flow_core::prelude::*;

struct Ride {
    id: u64,
}

fn rides() -> impl Iterator<Item = Ride> + Clone + Send + 'static {
    (0..3).map(|id| Ride { id })
}

dataflow! {
    pub fn p() {
        source(from_iter(rides())).async_map(|r| async move { r.id }, timeout = 5s).for_each(|x| println!("{x:?}"));
    }
}

fn main() {}
