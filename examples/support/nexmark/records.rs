//! What happens at the auction house: persons come, auctions are opened, bids are made.

use flow_core::prelude::*;
use serde::Serialize;

/// Somebody who may sell and bid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Person {
    pub id: i64,
    pub name: String,
    pub email_address: String,
    pub credit_card: String,
    pub city: String,
    pub state: String,
    pub date_time: i64,
    pub extra: String,
}

/// Something for sale, until it expires.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Auction {
    pub id: i64,
    pub item_name: String,
    pub description: String,
    pub initial_bid: i64,
    pub reserve: i64,
    pub date_time: i64,
    pub expires: i64,
    pub seller: i64,
    pub category: i64,
    pub extra: String,
}

/// An offer for an auction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bid {
    pub auction: i64,
    pub bidder: i64,
    pub price: i64,
    pub channel: String,
    pub url: String,
    pub date_time: i64,
    pub extra: String,
    /// The number of the event: it tells apart what happened in the same millisecond.
    #[serde(skip)]
    pub number: i64,
}

/// One of the three. As JSON: `{"Bid":{…}}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Event {
    Person(Person),
    Auction(Auction),
    Bid(Bid),
}

impl Event {
    /// When it happened, in milliseconds since the epoch.
    pub fn date_time(&self) -> i64 {
        match self {
            Event::Person(person) => person.date_time,
            Event::Auction(auction) => auction.date_time,
            Event::Bid(bid) => bid.date_time,
        }
    }

    /// The bid, if it is one.
    pub fn bid(self) -> Option<Bid> {
        if let Event::Bid(bid) = self { Some(bid) } else { None }
    }

    /// On a side for each of the three.
    pub fn apart(self) -> Either3<Auction, Bid, Person> {
        match self {
            Event::Auction(auction) => Either3::A(auction),
            Event::Bid(bid) => Either3::B(bid),
            Event::Person(person) => Either3::C(person),
        }
    }

    /// As a line of JSON.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }
}
