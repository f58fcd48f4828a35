//! Queries for the last and the highest of each key, final at the end of the input.

use super::source::Events;
use flow_core::prelude::*;
use std::path::PathBuf;

dataflow! {
    /// Last bid of each bidder for each auction.
    pub fn q18(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let last = bids
            .key_by(|b| (b.bidder, b.auction))
            .window(global())
            .aggregate(|a| a.top_k(1, |b| (b.date_time, b.number)));
        last.flat_map(|w| w.value)
            .map(|b| (b.auction, b.bidder, b.price, b.date_time))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "date_time"]));
    }

    /// The ten highest bids for each auction.
    pub fn q19(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let highest = bids
            .key_by(|b| b.auction)
            .window(global())
            .aggregate(|a| a.top_k(10, |b| (b.price, (-b.date_time, -b.number))));
        highest
            .flat_map(|w| (1..).zip(w.value))
            .map(|(rank, b)| (b.auction, rank, b.price, b.bidder, b.date_time))
            .sink(csv_file(output).header(&["auction", "rank", "price", "bidder", "date_time"]));
    }
}
