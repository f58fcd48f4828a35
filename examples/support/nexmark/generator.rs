//! Makes events: each from the seed and its number, so that any partition can make any of them.

use super::random::Random;
use super::records::{Auction, Bid, Event, Person};
use super::rules::{self, Kind};
use super::strings::{credit_card, email, extra, price, text, url};

const FIRST_NAMES: [&str; 11] =
    ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"];
const LAST_NAMES: [&str; 9] =
    ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];
const CITIES: [&str; 10] = [
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
];
const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];
const HOT_CHANNELS: [&str; 4] = ["Google", "Facebook", "Baidu", "Apple"];
const CHANNELS: i64 = 10_000;

/// Bytes of a record on average, and of its numbers.
const PERSON_BYTES: (i64, usize) = (200, 8);
const AUCTION_BYTES: (i64, usize) = (500, 48);
const BID_BYTES: (i64, usize) = (100, 32);

/// What random numbers are for: see [`Random::new`].
const OF_EVENT: u64 = 1;
const OF_HOT_CHANNEL: u64 = 2;
const OF_CHANNEL: u64 = 3;

/// Makes the events of one time line.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    pub seed: u64,
    /// Events per second of event time.
    pub rate: u64,
}

impl Generator {
    /// The event of this number, from 0.
    pub fn event(&self, number: u64) -> Event {
        let random = &mut Random::new(self.seed, OF_EVENT, number);
        let event = number as i64;
        match rules::kind(event) {
            Kind::Person => Event::Person(self.person(event, random)),
            Kind::Auction => Event::Auction(self.auction(event, random)),
            Kind::Bid => Event::Bid(self.bid(event, random)),
        }
    }

    fn person(&self, event: i64, random: &mut Random) -> Person {
        let name = format!("{} {}", random.one_of(&FIRST_NAMES), random.one_of(&LAST_NAMES));
        let (email_address, credit_card) = (email(random), credit_card(random));
        let (city, state) = (random.one_of(&CITIES).to_owned(), random.one_of(&STATES).to_owned());
        let strings = [&name, &email_address, &credit_card, &city, &state].map(|text| text.len());
        let (average, fixed) = PERSON_BYTES;
        Person {
            id: rules::FIRST_ID + rules::last_person(event),
            name,
            email_address,
            credit_card,
            city,
            state,
            date_time: rules::timestamp(event, self.rate),
            extra: extra(random, fixed + strings.iter().sum::<usize>(), average),
        }
    }

    fn auction(&self, event: i64, random: &mut Random) -> Auction {
        let date_time = rules::timestamp(event, self.rate);
        let (item_name, description) = (text(random, 20, ' '), text(random, 100, ' '));
        let initial_bid = price(random);
        let longest = (2 * rules::horizon(event, self.rate)).max(1);
        let (average, fixed) = AUCTION_BYTES;
        Auction {
            id: rules::FIRST_ID + rules::last_auction(event),
            initial_bid,
            reserve: initial_bid + price(random),
            date_time,
            expires: date_time + 1 + random.below(longest),
            seller: rules::seller(event, random),
            category: rules::FIRST_CATEGORY + random.below(rules::CATEGORIES),
            extra: extra(random, fixed + item_name.len() + description.len(), average),
            item_name,
            description,
        }
    }

    fn bid(&self, event: i64, random: &mut Random) -> Bid {
        let (channel, url) = if random.is_usual(2) { self.hot_channel(random) } else { self.channel(random) };
        let (average, fixed) = BID_BYTES;
        Bid {
            auction: rules::auction_of_bid(event, random),
            bidder: rules::bidder(event, random),
            price: price(random),
            channel,
            url,
            date_time: rules::timestamp(event, self.rate),
            extra: extra(random, fixed, average),
            number: event,
        }
    }

    /// One of four, each with its page.
    fn hot_channel(&self, random: &mut Random) -> (String, String) {
        let index = random.below(HOT_CHANNELS.len() as i64) as usize;
        let page = url(&mut Random::new(self.seed, OF_HOT_CHANNEL, index as u64));
        (HOT_CHANNELS[index].to_owned(), page)
    }

    /// One of many, each with its page, which nine of ten times names the channel.
    fn channel(&self, random: &mut Random) -> (String, String) {
        let index = random.below(CHANNELS) as i32;
        let own = &mut Random::new(self.seed, OF_CHANNEL, index as u64);
        let mut page = url(own);
        if own.is_usual(10) {
            page += &format!("&channel_id={}", index.reverse_bits().unsigned_abs());
        }
        (format!("channel-{index}"), page)
    }
}
