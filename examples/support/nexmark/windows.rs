//! Queries over windows of event time.

use super::source::Events;
use flow_core::prelude::*;
use std::path::PathBuf;

dataflow! {
    /// Hot items: in each window the auctions with the most bids.
    pub fn q5(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid()).event_time(|b| b.date_time, disorder = 4s);
        let counts = bids.key_by(|b| b.auction).window(sliding(10s, 2s), late = drop).count();
        // A result has the time of its window's end, so each of these windows has those of one that slid.
        let hottest = counts.window(tumbling(2s), late = drop).fold(Vec::new(), |best, w| keep_largest(best, w, |w| w.value));
        hottest
            .flat_map(|w| w.value)
            .map(|w| (w.start, w.end, w.key, w.value))
            .sink(csv_file(output).header(&["window_start", "window_end", "auction", "bids"]));
    }

    /// Highest bids: in each window those of the highest price.
    pub fn q7(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid()).event_time(|b| b.date_time, disorder = 4s);
        let highest = bids.window(tumbling(10s), late = drop).fold(Vec::new(), |best, bid| keep_largest(best, bid, |b| b.price));
        highest
            .flat_map(|w| w.value.into_iter().map(move |b| (w.start, w.end, b)))
            .map(|(start, end, b)| (start, end, b.auction, b.bidder, b.price, b.date_time))
            .sink(csv_file(output).header(&["window_start", "window_end", "auction", "bidder", "price", "date_time"]));
    }

    /// User sessions: the bids of each bidder without a pause of more than 10 s.
    pub fn q11(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid()).event_time(|b| b.date_time, disorder = 4s);
        let sessions = bids.key_by(|b| b.bidder).window(session(10s), late = drop).count();
        sessions
            .map(|w| (w.key, w.value, w.start, w.end))
            .sink(csv_file(output).header(&["bidder", "bids", "start", "end"]));
    }

    /// Windows of the clock: the bids of each bidder in every 10 s in which they arrived.
    pub fn q12(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let counts = bids.key_by(|b| b.bidder).window(tumbling(10s, time = processing)).count();
        counts
            .map(|w| (w.key, w.value, w.start, w.end))
            .sink(csv_file(output).header(&["bidder", "bids", "start", "end"]));
    }
}

/// Keeps `new` if none is larger, and of the others those that are as large.
fn keep_largest<T, N: Ord>(best: &mut Vec<T>, new: T, size: fn(&T) -> N) {
    if best.first().is_some_and(|old| size(old) < size(&new)) {
        best.clear();
    }
    if best.first().is_none_or(|old| size(old) == size(&new)) {
        best.push(new);
    }
}
