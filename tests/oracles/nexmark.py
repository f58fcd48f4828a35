#!/usr/bin/env python3
"""The answers of examples/nexmark.rs, computed without it from the events that it wrote down (`--dump`).

    nexmark.py DUMP FOLDER         writes FOLDER/qN.csv for each query but q10 and q12

All events are kept and looked at as often as a query likes: a line of the rules is a line here. The order of rows is free.
"""

import csv
import datetime
import json
import pathlib
import re
import sys
from collections import defaultdict

KINDS = ("Person", "Auction", "Bid")
CHANNELS = {"apple": 0, "google": 1, "facebook": 2, "baidu": 3}


def read(path):
    """Lists of persons, auctions and bids; each bid knows its event's number."""
    events = {kind: [] for kind in KINDS}
    with open(path, encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            ((kind, record),) = json.loads(line).items()
            events[kind].append(record | {"number": number})
    return tuple(events[kind] for kind in KINDS)


def thousandths(number):
    return f"{number // 1000}.{number % 1000:03}"


def euros(price):
    return thousandths(price * 908)


def mean(values):
    """Rounded half away from zero; nothing here is negative."""
    return thousandths((2 * 1000 * sum(values) + len(values)) // (2 * len(values)))


def utc(ms):
    return datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)


def day(ms):
    return utc(ms).strftime("%Y-%m-%d")


def grouped(records, key):
    groups = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


def columns(record, names):
    return [record[name] for name in names.split(",")]


def q0(persons, auctions, bids):
    yield "auction,bidder,price,date_time,extra"
    for b in bids:
        yield columns(b, "auction,bidder,price,date_time,extra")


def q1(persons, auctions, bids):
    yield "auction,bidder,price,date_time,extra"
    for b in bids:
        yield [b["auction"], b["bidder"], euros(b["price"]), b["date_time"], b["extra"]]


def q2(persons, auctions, bids):
    yield "auction,price"
    for b in bids:
        if b["auction"] % 123 == 0:
            yield columns(b, "auction,price")


def q3(persons, auctions, bids):
    yield "name,city,state,auction"
    by_id = {p["id"]: p for p in persons}
    for a in auctions:
        seller = by_id.get(a["seller"])
        if a["category"] == 10 and seller and seller["state"] in ("OR", "ID", "CA"):
            yield [*columns(seller, "name,city,state"), a["id"]]


def winners(auctions, bids):
    """Auctions with the bid that won them."""
    offers = grouped(bids, lambda b: b["auction"])
    for a in auctions:
        valid = [b for b in offers[a["id"]] if a["date_time"] <= b["date_time"] <= a["expires"]]
        if valid:
            yield a, min(valid, key=lambda b: (-b["price"], b["date_time"], b["bidder"]))


def q4(persons, auctions, bids):
    yield "category,mean_price"
    for category, won in grouped(winners(auctions, bids), lambda w: w[0]["category"]).items():
        yield [category, mean([b["price"] for _, b in won])]


def q5(persons, auctions, bids):
    yield "window_start,window_end,auction,bids"
    counts = defaultdict(lambda: defaultdict(int))
    for b in bids:
        newest = b["date_time"] // 2000 * 2000
        for start in range(newest, newest - 10_000, -2000):
            counts[start][b["auction"]] += 1
    for start, auctions_of in counts.items():
        most = max(auctions_of.values())
        for auction, count in auctions_of.items():
            if count == most:
                yield [start, start + 10_000, auction, count]


def q6(persons, auctions, bids):
    yield "seller,mean_price"
    for seller, won in grouped(winners(auctions, bids), lambda w: w[0]["seller"]).items():
        last = sorted(won, key=lambda w: (w[0]["expires"], w[0]["id"]))[-10:]
        yield [seller, mean([b["price"] for _, b in last])]


def q7(persons, auctions, bids):
    yield "window_start,window_end,auction,bidder,price,date_time"
    for start, inside in grouped(bids, lambda b: b["date_time"] // 10_000 * 10_000).items():
        highest = max(b["price"] for b in inside)
        for b in inside:
            if b["price"] == highest:
                yield [start, start + 10_000, *columns(b, "auction,bidder,price,date_time")]


def q8(persons, auctions, bids):
    yield "window_start,person,name"
    selling = {(a["date_time"] // 10_000, a["seller"]) for a in auctions}
    for p in persons:
        window = p["date_time"] // 10_000
        if (window, p["id"]) in selling:
            yield [window * 10_000, p["id"], p["name"]]


def q9(persons, auctions, bids):
    yield "auction,bidder,price,date_time"
    for _, b in winners(auctions, bids):
        yield columns(b, "auction,bidder,price,date_time")


def q11(persons, auctions, bids):
    yield "bidder,bids,start,end"
    for bidder, own in grouped(bids, lambda b: b["bidder"]).items():
        times = sorted(b["date_time"] for b in own)
        begins = [i for i in range(len(times)) if i == 0 or times[i] - times[i - 1] > 10_000]
        for begin, end in zip(begins, [*begins[1:], len(times)]):
            yield [bidder, end - begin, times[begin], times[end - 1] + 10_000]


def q13(persons, auctions, bids):
    yield "auction,bidder,price,date_time,value"
    for b in bids:
        yield [*columns(b, "auction,bidder,price,date_time"), f"side-{b['auction'] % 10_000}"]


def q14(persons, auctions, bids):
    yield "auction,bidder,price,kind,date_time,c_count"
    for b in bids:
        if 1_000_000_000 < b["price"] * 908 < 50_000_000_000:
            hour = utc(b["date_time"]).hour
            kind = "dayTime" if 8 <= hour <= 18 else "nightTime" if hour <= 6 or hour >= 20 else "otherTime"
            row = [b["auction"], b["bidder"], euros(b["price"]), kind, b["date_time"]]
            yield [*row, b["extra"].count("c")]


TALLIES = ",".join(name + rank for name in ("bids", "bidders", "auctions") for rank in ("", "1", "2", "3"))


def ranked(bids):
    """All bids, and those of each rank."""
    low = [b for b in bids if b["price"] < 10_000]
    middle = [b for b in bids if 10_000 <= b["price"] < 1_000_000]
    high = [b for b in bids if b["price"] >= 1_000_000]
    return [bids, low, middle, high]


def tallies(bids):
    ranks = ranked(bids)
    different = [len({b[name] for b in rank}) for name in ("bidder", "auction") for rank in ranks]
    return [*(len(rank) for rank in ranks), *different]


def q15(persons, auctions, bids):
    yield "day," + TALLIES
    for date, own in grouped(bids, lambda b: day(b["date_time"])).items():
        yield [date, *tallies(own)]


def q16(persons, auctions, bids):
    yield "channel,day,minute," + TALLIES
    for (channel, date), own in grouped(bids, lambda b: (b["channel"], day(b["date_time"]))).items():
        minute = max(utc(b["date_time"]).strftime("%H:%M") for b in own)
        yield [channel, date, minute, *tallies(own)]


def q17(persons, auctions, bids):
    yield "auction,day,bids,bids1,bids2,bids3,min_price,max_price,mean_price,sum_price"
    for (auction, date), own in grouped(bids, lambda b: (b["auction"], day(b["date_time"]))).items():
        prices = [b["price"] for b in own]
        counts = [len(rank) for rank in ranked(own)]
        yield [auction, date, *counts, min(prices), max(prices), mean(prices), sum(prices)]


def q18(persons, auctions, bids):
    yield "auction,bidder,price,date_time"
    for own in grouped(bids, lambda b: (b["bidder"], b["auction"])).values():
        last = max(own, key=lambda b: (b["date_time"], b["number"]))
        yield columns(last, "auction,bidder,price,date_time")


def q19(persons, auctions, bids):
    yield "auction,rank,price,bidder,date_time"
    for auction, own in grouped(bids, lambda b: b["auction"]).items():
        best = sorted(own, key=lambda b: (-b["price"], b["date_time"], b["number"]))[:10]
        for rank, b in enumerate(best, 1):
            yield [auction, rank, *columns(b, "price,bidder,date_time")]


def q20(persons, auctions, bids):
    yield "auction,bidder,price,date_time,seller,category"
    by_id = {a["id"]: a for a in auctions if a["category"] == 10}
    for b in bids:
        if b["auction"] in by_id:
            yield columns(by_id[b["auction"]] | b, "auction,bidder,price,date_time,seller,category")


def q21(persons, auctions, bids):
    yield "auction,bidder,price,channel,channel_id"
    for b in bids:
        named = re.search("channel_id=([^&]*)", b["url"])
        channel_id = CHANNELS.get(b["channel"].lower(), named and named[1])
        if channel_id is not None:
            yield [*columns(b, "auction,bidder,price,channel"), channel_id]


def q22(persons, auctions, bids):
    yield "auction,bidder,price,channel,dir1,dir2,dir3"
    for b in bids:
        yield [*columns(b, "auction,bidder,price,channel"), *b["url"].split("/")[3:6]]


QUERIES = [q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q11, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: nexmark.py DUMP FOLDER")
    events, folder = read(sys.argv[1]), pathlib.Path(sys.argv[2])
    for query in QUERIES:
        header, *rows = query(*events)
        with open(folder / f"{query.__name__}.csv", "w", encoding="utf-8", newline="\n") as sink:
            sink.write(header + "\n")
            csv.writer(sink, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
