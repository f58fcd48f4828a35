//! Queries for totals of each day, final at the end of the input.

use super::columns::{Thousandths, day, day_text, minute, minute_text};
use super::records::Bid;
use super::source::Events;
use flow_core::prelude::*;
use std::collections::HashSet;
use std::path::PathBuf;

/// The columns of [`Tallies`].
const TALLIES: [&str; 12] = [
    "bids",
    "bids1",
    "bids2",
    "bids3",
    "bidders",
    "bidders1",
    "bidders2",
    "bidders3",
    "auctions",
    "auctions1",
    "auctions2",
    "auctions3",
];

dataflow! {
    /// Bidding statistics of each day.
    pub fn q15(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let days = bids.key_by(|b| day(b.date_time)).window(global()).fold(Tallies::default(), |all, b| all.add(&b));
        days.map(|w| (day_text(w.key), w.value.columns()))
            .sink(csv_file(output).header(&[&["day"], &TALLIES[..]].concat()));
    }

    /// Bidding statistics of each channel and day.
    pub fn q16(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let days = bids
            .key_by(|b| (ShortString::from(b.channel.as_str()), day(b.date_time)))
            .window(global())
            .aggregate(|a| (a.max(|b| minute(b.date_time)), a.fold(Tallies::default(), |all, b| all.add(&b))));
        days.map(|w| (w.key.0, day_text(w.key.1), minute_text(w.value.0), w.value.1.columns()))
            .sink(csv_file(output).header(&[&["channel", "day", "minute"], &TALLIES[..]].concat()));
    }

    /// Auction statistics of each day.
    pub fn q17(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let days = bids.key_by(|b| (b.auction, day(b.date_time))).window(global()).aggregate(|a| {
            let bids = |wanted| a.sum(move |b| u64::from(rank(b.price) == wanted));
            let prices = (a.min(|b| b.price), a.max(|b| b.price), a.sum(|b| b.price));
            (a.count(), (bids(1), bids(2), bids(3)), prices)
        });
        days.map(|w| {
            let ((auction, day), (count, ranks, (min, max, sum))) = (w.key, w.value);
            (auction, day_text(day), count, ranks, min, max, Thousandths::ratio(sum, count), sum)
        })
        .sink(csv_file(output).header(&[
            "auction", "day", "bids", "bids1", "bids2", "bids3", "min_price", "max_price", "mean_price", "sum_price",
        ]));
    }
}

/// Bids are told apart by how high they are.
fn rank(price: i64) -> usize {
    match price {
        ..10_000 => 1,
        10_000..1_000_000 => 2,
        1_000_000.. => 3,
    }
}

/// Bids, and how many bidders made them for how many auctions.
#[derive(Clone, Default)]
struct Tally {
    bids: u64,
    bidders: HashSet<i64>,
    auctions: HashSet<i64>,
}

/// A tally of all bids, and one for each rank.
#[derive(Clone, Default)]
struct Tallies([Tally; 4]);

impl Tallies {
    fn add(&mut self, bid: &Bid) {
        for of in [0, rank(bid.price)] {
            let tally = &mut self.0[of];
            tally.bids += 1;
            tally.bidders.insert(bid.bidder);
            tally.auctions.insert(bid.auction);
        }
    }

    fn columns(&self) -> [[u64; 4]; 3] {
        let counts = |count: fn(&Tally) -> u64| [0, 1, 2, 3].map(|of| count(&self.0[of]));
        [counts(|t| t.bids), counts(|t| t.bidders.len() as u64), counts(|t| t.auctions.len() as u64)]
    }
}
