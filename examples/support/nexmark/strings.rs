//! Texts as the rules have them.

use super::random::Random;
use std::fmt::Write;

/// Shorter than `longest`, of at least 3 characters before it is trimmed: letters, and for one of 13 the special one.
pub fn text(random: &mut Random, longest: i64, special: char) -> String {
    let length = 3 + random.below(longest - 3);
    let any = |_| if random.is_usual(13) { letter(random) } else { special };
    let all: String = (0..length).map(any).collect();
    all.trim().to_owned()
}

fn letter(random: &mut Random) -> char {
    char::from(b'a' + random.below(26) as u8)
}

/// Fills a record of `fixed` bytes up to `average`, give or take a fifth of what is missing.
pub fn extra(random: &mut Random, fixed: usize, average: i64) -> String {
    let missing = average - fixed as i64;
    let spread = (missing as f64 * 0.2).round() as i64;
    let length = missing - spread + random.below(2 * spread);
    (0..length).map(|_| letter(random)).collect()
}

/// A page of the auction house.
pub fn url(random: &mut Random) -> String {
    let directories = [(); 3].map(|()| text(random, 5, '_'));
    format!("https://www.nexmark.com/{}/item.htm?query=1", directories.join("/"))
}

pub fn email(random: &mut Random) -> String {
    format!("{}@{}.com", text(random, 7, ' '), text(random, 5, ' '))
}

/// Four groups of four digits.
pub fn credit_card(random: &mut Random) -> String {
    let mut card = format!("{:04}", random.below(10_000));
    for _ in 1..4 {
        // writing to a string cannot fail
        let _ = write!(card, " {:04}", random.below(10_000));
    }
    card
}

/// From 100 to 100,000,000; as many between 100 and 1,000 as between 1,000 and 10,000.
pub fn price(random: &mut Random) -> i64 {
    (10f64.powf(6.0 * random.unit()) * 100.0).round() as i64
}
