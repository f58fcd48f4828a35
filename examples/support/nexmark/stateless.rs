//! Queries on one bid at a time.

use super::columns::{Thousandths, minute};
use super::source::Events;
use flow_core::prelude::*;
use std::path::PathBuf;

dataflow! {
    /// Pass through: the bids as they are.
    pub fn q0(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        bids.map(|b| (b.auction, b.bidder, b.price, b.date_time, b.extra))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "date_time", "extra"]));
    }

    /// Currency conversion: the bids in euros.
    pub fn q1(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        bids.map(|b| (b.auction, b.bidder, Thousandths::euros(b.price), b.date_time, b.extra))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "date_time", "extra"]));
    }

    /// Selection: the bids for some auctions.
    pub fn q2(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        bids.filter(|b| b.auction % 123 == 0)
            .map(|b| (b.auction, b.price))
            .sink(csv_file(output).header(&["auction", "price"]));
    }

    /// Calculation: the dear bids in euros, with their time of day and a count of letters.
    pub fn q14(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        let dear = bids.filter(|b| (1_000_000_001..50_000_000_000).contains(&Thousandths::euros(b.price).0));
        dear.map(|b| {
            let letters = b.extra.matches('c').count();
            (b.auction, b.bidder, Thousandths::euros(b.price), time_of_day(b.date_time), b.date_time, letters)
        })
        .sink(csv_file(output).header(&["auction", "bidder", "price", "kind", "date_time", "c_count"]));
    }

    /// Channel id: by the channel's name, or else out of the page's address.
    pub fn q21(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        bids.filter_map(|b| channel_id(&b.channel, &b.url).map(|id| (b.auction, b.bidder, b.price, b.channel, id)))
            .sink(csv_file(output).header(&["auction", "bidder", "price", "channel", "channel_id"]));
    }

    /// Directories: the parts of the page's address.
    pub fn q22(events: Events, output: PathBuf) {
        let bids = source(events).filter_map(|event| event.bid());
        bids.map(|b| {
            let directories = [3, 4, 5].map(|part| b.url.split('/').nth(part).unwrap_or_default().to_owned());
            (b.auction, b.bidder, b.price, b.channel, directories)
        })
        .sink(csv_file(output).header(&["auction", "bidder", "price", "channel", "dir1", "dir2", "dir3"]));
    }
}

fn time_of_day(date_time: i64) -> &'static str {
    match minute(date_time) / 60 {
        8..=18 => "dayTime",
        ..=6 | 20.. => "nightTime",
        _ => "otherTime",
    }
}

fn channel_id(channel: &str, url: &str) -> Option<String> {
    let known = ["apple", "google", "facebook", "baidu"];
    if let Some(id) = known.iter().position(|name| channel.eq_ignore_ascii_case(name)) {
        return Some(id.to_string());
    }
    let (_, behind) = url.split_once("channel_id=")?;
    behind.split('&').next().map(str::to_owned)
}
