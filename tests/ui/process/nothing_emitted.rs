use flow_core::prelude::*;

#[derive(Debug, Clone)]
struct Bid {
    auction: u32,
    price: u32,
}

dataflow! {
    fn prices(bids: Vec<Bid>, out: Collected<u32>) {
        let largest = source(from_vec(bids)).key_by(|b| b.auction).process({
            let mut largest: u32 = 0;
            on_event(|b, _| *largest = b.price.max(*largest));
        });
        largest.collect(&out);
    }
}

fn main() {}
