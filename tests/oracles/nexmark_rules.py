#!/usr/bin/env python3
"""Whether events that examples/nexmark.rs wrote down (`--dump`) keep the rules of the generator.

    nexmark_rules.py DUMP RATE         exit code 0, or the first event that breaks a rule
"""

import json
import re
import sys

BASE_MS = 1_436_918_400_000
FIELDS = {
    "Person": "id name email_address credit_card city state date_time extra",
    "Auction": "id item_name description initial_bid reserve date_time expires seller category extra",
    "Bid": "auction bidder price channel url date_time extra",
}
FIRST_NAMES = "Peter Paul Luke John Saul Vicky Kate Julie Sarah Deiter Walter".split()
LAST_NAMES = "Shultz Abrams Spencer White Bartels Walton Smith Jones Noris".split()
CITIES = "Phoenix,Los Angeles,San Francisco,Boise,Portland,Bend,Redmond,Seattle,Kent,Cheyenne".split(",")
STATES = "AZ CA ID OR WA WY".split()
HOT_CHANNELS = "Google Facebook Baidu Apple".split()
URL = re.compile(r"https://www\.nexmark\.com/(?:[a-z_]{3,4}/){3}item\.htm\?query=1(?:&channel_id=(\d+))?")
PAGES = {}  # channel -> its page


def kind_of(number):
    place = number % 50
    return "Person" if place == 0 else "Auction" if place <= 3 else "Bid"


def last_person(number):
    return number // 50


def last_auction(number):
    epoch, place = divmod(number, 50)
    if place == 0:
        return (epoch - 1) * 3 + 2
    return epoch * 3 + (place - 1 if place <= 3 else 2)


def time_of(number, rate):
    return BASE_MS + number * 1_000_000 // rate // 1000


def is_person(person, number):
    """Whether a person may be named by this event: one of the active ones, or up to 9 ids ahead; or the hot one."""
    count = last_person(number) + 1
    hot = last_person(number) // 100 * 100
    return max(count - 1000, 0) <= person < count + 10 or person in (hot, hot + 1)


def is_auction(auction, number):
    newest = last_auction(number)
    return max(newest - 100, 0) <= auction <= newest + 10 or auction == newest // 100 * 100


def has_size(record, fixed, average):
    missing = average - fixed
    spread = round(missing * 0.2)
    length = len(record["extra"])
    return length == 0 if missing <= 0 else missing - spread <= length < missing + max(spread, 1)


def person(p, number, rate):
    yield p["id"] == 1000 + last_person(number)
    first, last = p["name"].split(" ")
    yield first in FIRST_NAMES and last in LAST_NAMES
    yield p["city"] in CITIES and p["state"] in STATES
    yield re.fullmatch(r"\d{4}( \d{4}){3}", p["credit_card"])
    yield re.fullmatch(r"[a-z ]{0,6}@[a-z ]{0,4}\.com", p["email_address"])
    texts = ("name", "email_address", "credit_card", "city", "state")
    yield has_size(p, 8 + sum(len(p[text]) for text in texts), 200)


def auction(a, number, rate):
    yield a["id"] == 1000 + last_auction(number)
    yield len(a["item_name"]) < 20 and len(a["description"]) < 100
    yield all(re.fullmatch("[a-z ]*", text) and text == text.strip() for text in (a["item_name"], a["description"]))
    yield 100 <= a["initial_bid"] <= 10**8 and 100 <= a["reserve"] - a["initial_bid"] <= 10**8
    horizon = time_of(number + 1666, rate) - time_of(number, rate)
    yield 0 <= a["expires"] - a["date_time"] - 1 < max(2 * horizon, 1)
    yield is_person(a["seller"] - 1000, number)
    yield 10 <= a["category"] < 15
    yield has_size(a, 8 + len(a["item_name"]) + len(a["description"]) + 40, 500)


def bid(b, number, rate):
    yield is_auction(b["auction"] - 1000, number) and is_person(b["bidder"] - 1000, number)
    yield 100 <= b["price"] <= 10**8
    yield has_size(b, 32, 100)
    page = URL.fullmatch(b["url"])
    yield page
    yield PAGES.setdefault(b["channel"], b["url"]) == b["url"]
    if b["channel"] in HOT_CHANNELS:
        yield page[1] is None
    else:
        index = int(b["channel"].removeprefix("channel-"))
        yield 0 <= index < 10_000
        reversed_bits = int(f"{index:032b}"[::-1], 2)
        signed = reversed_bits - 2**32 if reversed_bits >= 2**31 else reversed_bits
        yield page[1] is None or int(page[1]) == abs(signed)


RULES = {"Person": person, "Auction": auction, "Bid": bid}


def near(what, share, wanted, count):
    """Whether a share is what it should be, as far as so many events can tell."""
    if count >= 1000 and abs(share - wanted) > 3 / count**0.5:
        sys.exit(f"{what}: {share:.4f}, should be about {wanted}")


def main():
    path, rate = sys.argv[1], int(sys.argv[2])
    found = {kind: [] for kind in RULES}
    with open(path, encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            ((kind, record),) = json.loads(line).items()
            whole = kind == kind_of(number) and " ".join(record) == FIELDS[kind]
            if not whole or record["date_time"] != time_of(number, rate):
                sys.exit(f"event {number}: not what it should be: {line}")
            for index, kept in enumerate(RULES[kind](record, number, rate)):
                if not kept:
                    sys.exit(f"event {number}: rule {index} of {kind} is broken: {line}")
            found[kind].append(record)
    auctions, bids = found["Auction"], found["Bid"]
    if bids:
        share = lambda records, holds: sum(map(holds, records)) / len(records)
        near("hot sellers", share(auctions, lambda a: a["seller"] % 100 == 0), 0.755, len(auctions))
        near("hot auctions", share(bids, lambda b: b["auction"] % 100 == 0), 0.505, len(bids))
        near("hot bidders", share(bids, lambda b: b["bidder"] % 100 == 1), 0.753, len(bids))
        near("hot channels", share(bids, lambda b: b["channel"] in HOT_CHANNELS), 0.5, len(bids))
        cached = [b for b in bids if b["channel"] not in HOT_CHANNELS]
        near("pages with an id", share(cached, lambda b: "channel_id" in b["url"]), 0.9, len(cached) / 2)
        near("prices below 100,000", share(bids, lambda b: b["price"] < 100_000), 0.5, len(bids))


if __name__ == "__main__":
    main()
