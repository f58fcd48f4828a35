//! Which event is what, when it happens, and whom it may name: functions of the number of the event alone.
//!
//! Of 50 events one is a person, the next three are auctions and the others bids.

use super::random::Random;

/// The first event happens at 2015-07-15T00:00:00Z.
const BASE_MS: i64 = 1_436_918_400_000;

const AUCTIONS: i64 = 3;
const EVENTS: i64 = 50;
const AUCTIONS_IN_FLIGHT: i64 = 100;
const PERSONS_ACTIVE: i64 = 1000;
/// How far ahead of the newest one an id may be: of what does not exist yet.
const LEAD: i64 = 10;
/// Of so many sellers, bidders, auctions one is hot.
const HOT: i64 = 100;
/// Ids and categories do not begin with 0.
pub const FIRST_ID: i64 = 1000;
pub const FIRST_CATEGORY: i64 = 10;
pub const CATEGORIES: i64 = 5;

pub enum Kind {
    Person,
    Auction,
    Bid,
}

pub fn kind(event: i64) -> Kind {
    match event % EVENTS {
        0 => Kind::Person,
        1..=AUCTIONS => Kind::Auction,
        _ => Kind::Bid,
    }
}

/// When an event happens, at so many events per second.
pub fn timestamp(event: i64, per_second: u64) -> i64 {
    BASE_MS + (i128::from(event) * 1000 / i128::from(per_second)) as i64
}

/// How long auctions take about half of the time, in ms: until the auctions in flight are those that follow.
pub fn horizon(event: i64, per_second: u64) -> i64 {
    let later = event + AUCTIONS_IN_FLIGHT * EVENTS / AUCTIONS;
    timestamp(later, per_second) - timestamp(event, per_second)
}

/// The newest person (from 0), the event's own included.
pub fn last_person(event: i64) -> i64 {
    event / EVENTS
}

/// The newest auction (from 0), the event's own included; −1 before the first.
pub fn last_auction(event: i64) -> i64 {
    let (epoch, place) = (event / EVENTS, event % EVENTS);
    epoch * AUCTIONS + place.min(AUCTIONS) - 1
}

fn random_person(event: i64, random: &mut Random) -> i64 {
    let persons = last_person(event) + 1;
    let active = persons.min(PERSONS_ACTIVE);
    persons - active + random.below(active + LEAD)
}

fn random_auction(event: i64, random: &mut Random) -> i64 {
    let newest = last_auction(event);
    let oldest = (newest - AUCTIONS_IN_FLIGHT).max(0);
    oldest + random.below(newest - oldest + 1 + LEAD)
}

/// Three of four auctions are sold by a hot seller.
pub fn seller(event: i64, random: &mut Random) -> i64 {
    let hot = last_person(event) / HOT * HOT;
    FIRST_ID + if random.is_usual(4) { hot } else { random_person(event, random) }
}

/// Three of four bids are made by a hot bidder. (The Java program adds the first id twice, so that its bidders begin at 2000.)
pub fn bidder(event: i64, random: &mut Random) -> i64 {
    let hot = last_person(event) / HOT * HOT + 1;
    FIRST_ID + if random.is_usual(4) { hot } else { random_person(event, random) }
}

/// Half of the bids are for a hot auction.
pub fn auction_of_bid(event: i64, random: &mut Random) -> i64 {
    let hot = last_auction(event) / HOT * HOT;
    FIRST_ID + if random.is_usual(2) { hot } else { random_auction(event, random) }
}
