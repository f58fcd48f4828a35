//! Queries for the bids that won their auctions.

use super::closing::Closing;
use super::columns::Thousandths;
use super::source::Events;
use flow_core::prelude::*;
use std::path::PathBuf;

dataflow! {
    /// Average price of each category: the mean of what won its auctions.
    pub fn q4(events: Events, output: PathBuf) {
        let events = source(events).event_time(|event| event.date_time(), disorder = 4s);
        let (auctions, bids, _persons) = events.split(|event| event.apart());
        let won = auctions.key_by(|a| a.id).connect(bids.key_by(|b| b.auction)).process(Closing);
        let categories = won
            .key_by(|(auction, _)| auction.category)
            .window(global())
            .aggregate(|a| (a.sum(|(_, bid)| bid.price), a.count()));
        categories
            .map(|w| (w.key, Thousandths::ratio(w.value.0, w.value.1)))
            .sink(csv_file(output).header(&["category", "mean_price"]));
    }

    /// Average selling price of each seller: the mean of what won the last ten auctions.
    pub fn q6(events: Events, output: PathBuf) {
        let events = source(events).event_time(|event| event.date_time(), disorder = 4s);
        let (auctions, bids, _persons) = events.split(|event| event.apart());
        let won = auctions.key_by(|a| a.id).connect(bids.key_by(|b| b.auction)).process(Closing);
        let sellers = won
            .key_by(|(auction, _)| auction.seller)
            .window(global())
            .aggregate(|a| a.top_k(10, |(auction, _)| (auction.expires, auction.id)));
        sellers
            .map(|w| {
                let sum = w.value.iter().map(|(_, bid)| bid.price).sum();
                (w.key, Thousandths::ratio(sum, w.value.len() as u64))
            })
            .sink(csv_file(output).header(&["seller", "mean_price"]));
    }

    /// Winning bids, when auctions close.
    pub fn q9(events: Events, output: PathBuf) {
        let events = source(events).event_time(|event| event.date_time(), disorder = 4s);
        let (auctions, bids, _persons) = events.split(|event| event.apart());
        let won = auctions.key_by(|a| a.id).connect(bids.key_by(|b| b.auction)).process(Closing);
        won.map(|(_, b)| (b.auction, b.bidder, b.price, b.date_time))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "date_time"]));
    }
}
