//! Queries that bring two kinds of events together, whichever came first.

use super::source::Events;
use flow_core::prelude::*;
use std::path::PathBuf;

/// The category that q3 and q20 ask for.
const WANTED: i64 = 10;
/// Entries of the side input of q13.
const SIDE_ENTRIES: i64 = 10_000;

dataflow! {
    /// Local item suggestion: who sells what in three states.
    pub fn q3(events: Events, output: PathBuf) {
        let (auctions, _bids, persons) = source(events).split(|event| event.apart());
        let people = persons.filter(|p| ["OR", "ID", "CA"].contains(&&*p.state));
        let listed = auctions.filter(|a| a.category == WANTED);
        let sellers = people.key_by(|p| p.id).join(listed.key_by(|a| a.seller)).forever();
        sellers
            .map(|(_, (person, auction))| (person.name, person.city, person.state, auction.id))
            .sink(csv_file(output).header(&["name", "city", "state", "auction"]));
    }

    /// Monitor new users: who came and opened an auction in the same window.
    pub fn q8(events: Events, output: PathBuf) {
        let events = source(events).event_time(|event| event.date_time(), disorder = 4s);
        let (auctions, _bids, persons) = events.split(|event| event.apart());
        let arrivals = persons.key_by(|p| p.id).co_group(auctions.key_by(|a| a.seller));
        arrivals
            .window(tumbling(10s), late = drop)
            .filter(|w| !w.value.1.is_empty())
            .flat_map(|w| w.value.0.into_iter().map(move |person| (w.start, person.id, person.name)))
            .sink(csv_file(output).header(&["window_start", "person", "name"]));
    }

    /// Bounded side input: bids with the entry that belongs to their auction.
    pub fn q13(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let entries = source(generate(SIDE_ENTRIES as u64, |key| (key as i64, format!("side-{key}"))));
        let found = bids.key_by(|b| b.auction % SIDE_ENTRIES).join(entries.key_by(|e| e.0)).lookup();
        found
            .map(|(_, (b, (_, value)))| (b.auction, b.bidder, b.price, b.date_time, value))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "date_time", "value"]));
    }

    /// Expand bid with auction: the bids for auctions of a category.
    pub fn q20(events: Events, output: PathBuf) {
        let (auctions, bids, _persons) = source(events).split(|event| event.apart());
        let wanted = auctions.filter(|a| a.category == WANTED);
        let pairs = wanted.key_by(|a| a.id).join(bids.key_by(|b| b.auction)).forever();
        pairs
            .map(|(_, (auction, b))| (b.auction, b.bidder, b.price, b.date_time, auction.seller, auction.category))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "date_time", "seller", "category"]));
    }
}
