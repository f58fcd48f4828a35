//! Queries for the bids that won their auctions: bids are looked at together with their auction, whichever came first.

use super::columns::Thousandths;
use super::records::{Auction, Bid, Event};
use super::source::Events;
use flow_core::prelude::*;
use std::path::PathBuf;

dataflow! {
    /// Average price of each category: the mean of what won its auctions.
    pub fn q4(events: Events, output: PathBuf) {
        let sales = source(events).filter_map(auction_of);
        let won = sales.key_by(|s| s.0).window(global()).fold(Sale::default(), |sale, s| sale.add(s.1));
        let prices = won.filter_map(|w| w.value.won()).map(|(auction, bid)| (auction.category, bid.price));
        let categories = prices.key_by(|p| p.0).window(global()).aggregate(|a| (a.sum(|p| p.1), a.count()));
        categories
            .map(|w| (w.key, Thousandths::ratio(w.value.0, w.value.1)))
            .sink(csv_file(output).header(&["category", "mean_price"]));
    }

    /// Average selling price of each seller: the mean of what won the last ten auctions.
    pub fn q6(events: Events, output: PathBuf) {
        let sales = source(events).filter_map(auction_of);
        let won = sales.key_by(|s| s.0).window(global()).fold(Sale::default(), |sale, s| sale.add(s.1));
        let sold = won.filter_map(|w| w.value.won());
        let sellers = sold
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

    /// Winning bids.
    pub fn q9(events: Events, output: PathBuf) {
        let sales = source(events).filter_map(auction_of);
        let won = sales.key_by(|s| s.0).window(global()).fold(Sale::default(), |sale, s| sale.add(s.1));
        won.filter_map(|w| w.value.won())
            .map(|(_, b)| (b.auction, b.bidder, b.price, b.date_time))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "date_time"]));
    }
}

/// An auction or a bid, with the auction's id.
fn auction_of(event: Event) -> Option<(i64, Either<Auction, Bid>)> {
    match event {
        Event::Person(_) => None,
        Event::Auction(auction) => Some((auction.id, Either::A(auction))),
        Event::Bid(bid) => Some((bid.auction, Either::B(bid))),
    }
}

/// What became of an auction so far.
#[derive(Clone, Default)]
struct Sale {
    auction: Option<Auction>,
    /// Of the bids that count the one that wins.
    best: Option<Bid>,
    /// Bids that came before their auction did.
    early: Vec<Bid>,
}

impl Sale {
    fn add(&mut self, new: Either<Auction, Bid>) {
        match new {
            Either::A(auction) => {
                self.auction = Some(auction);
                std::mem::take(&mut self.early).into_iter().for_each(|bid| self.bid(bid));
            }
            Either::B(bid) => self.bid(bid),
        }
    }

    fn bid(&mut self, bid: Bid) {
        let wins_over = |old: &Bid| {
            let value = |b: &Bid| (-b.price, b.date_time, b.bidder);
            value(&bid) < value(old)
        };
        match &self.auction {
            None => self.early.push(bid),
            Some(auction) => {
                let counts = (auction.date_time..=auction.expires).contains(&bid.date_time);
                if counts && self.best.as_ref().is_none_or(wins_over) {
                    self.best = Some(bid);
                }
            }
        }
    }

    /// The auction and the bid that won it, if there is one.
    fn won(self) -> Option<(Auction, Bid)> {
        self.auction.zip(self.best)
    }
}
