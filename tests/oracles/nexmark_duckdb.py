#!/usr/bin/env python3
"""The answers of examples/nexmark.rs, computed by DuckDB from the events that it wrote down (`--dump`).

    nexmark_duckdb.py DUMP FOLDER         writes FOLDER/qN.csv for each query but q10 and q12

Needs the package `duckdb` (`pip install duckdb`); without it the exit code is 3. The order of rows is free.
"""

import csv
import pathlib
import sys

try:
    import duckdb
except ImportError:
    print("duckdb is missing: pip install duckdb", file=sys.stderr)
    sys.exit(3)

PERSON = """id BIGINT, name VARCHAR, email_address VARCHAR, credit_card VARCHAR, city VARCHAR, state VARCHAR,
    date_time BIGINT, extra VARCHAR"""
AUCTION = """id BIGINT, item_name VARCHAR, description VARCHAR, initial_bid BIGINT, reserve BIGINT, date_time BIGINT,
    expires BIGINT, seller BIGINT, category BIGINT, extra VARCHAR"""
BID = """auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR, date_time BIGINT, extra VARCHAR"""

SETUP = f"""
    CREATE TABLE events AS SELECT row_number() OVER () AS number, *
        FROM read_json($dump, format = 'newline_delimited',
            columns = {{Person: 'STRUCT({PERSON})', Auction: 'STRUCT({AUCTION})', Bid: 'STRUCT({BID})'}});
"""

VIEWS = """
    CREATE TABLE person AS SELECT unnest(Person) FROM events WHERE Person IS NOT NULL;
    CREATE TABLE auction AS SELECT unnest(Auction) FROM events WHERE Auction IS NOT NULL;
    CREATE TABLE bid AS SELECT number, unnest(Bid) FROM events WHERE Bid IS NOT NULL;

    CREATE MACRO thousandths(n) AS printf('%d.%03d', n // 1000, n % 1000);
    CREATE MACRO mean(total, n) AS thousandths(((2000 * total::HUGEINT + n) // (2 * n))::BIGINT);
    CREATE MACRO utc(ms) AS make_timestamp(ms * 1000);
    CREATE MACRO day(ms) AS strftime(utc(ms), '%Y-%m-%d');

    CREATE TABLE winner AS
        SELECT a.id, a.seller, a.category, a.expires, b.bidder, b.price, b.date_time
        FROM auction a JOIN bid b ON b.auction = a.id AND b.date_time BETWEEN a.date_time AND a.expires
        QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time, b.bidder) = 1;
"""


def ranked(count):
    """A count of all bids, and one for each rank."""
    conditions = ["true", "price < 10000", "price >= 10000 AND price < 1000000", "price >= 1000000"]
    return ", ".join(f"{count} FILTER (WHERE {condition})" for condition in conditions)


TALLIES = ", ".join(ranked(count) for count in ("count(*)", "count(DISTINCT bidder)", "count(DISTINCT auction)"))
TALLY_NAMES = ",".join(name + rank for name in ("bids", "bidders", "auctions") for rank in ("", "1", "2", "3"))

QUERIES = {
    "q0": ("auction,bidder,price,date_time,extra", "SELECT auction, bidder, price, date_time, extra FROM bid"),
    "q1": (
        "auction,bidder,price,date_time,extra",
        "SELECT auction, bidder, thousandths(price * 908), date_time, extra FROM bid",
    ),
    "q2": ("auction,price", "SELECT auction, price FROM bid WHERE auction % 123 = 0"),
    "q3": (
        "name,city,state,auction",
        """SELECT p.name, p.city, p.state, a.id FROM auction a JOIN person p ON a.seller = p.id
           WHERE a.category = 10 AND p.state IN ('OR', 'ID', 'CA')""",
    ),
    "q4": ("category,mean_price", "SELECT category, mean(sum(price), count(*)) FROM winner GROUP BY category"),
    "q5": (
        "window_start,window_end,auction,bids",
        """WITH counts AS (
               SELECT date_time // 2000 * 2000 - back AS start, auction, count(*) AS bids
               FROM bid, unnest([0, 2000, 4000, 6000, 8000]) AS slides(back) GROUP BY ALL)
           SELECT start, start + 10000, auction, bids FROM counts
           QUALIFY rank() OVER (PARTITION BY start ORDER BY bids DESC) = 1""",
    ),
    "q6": (
        "seller,mean_price",
        """WITH last AS (
               SELECT seller, price FROM winner
               QUALIFY row_number() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) <= 10)
           SELECT seller, mean(sum(price), count(*)) FROM last GROUP BY seller""",
    ),
    "q7": (
        "window_start,window_end,auction,bidder,price,date_time",
        """WITH windows AS (SELECT date_time // 10000 * 10000 AS start, * FROM bid)
           SELECT start, start + 10000, auction, bidder, price, date_time FROM windows
           QUALIFY price = max(price) OVER (PARTITION BY start)""",
    ),
    "q8": (
        "window_start,person,name",
        """SELECT DISTINCT p.date_time // 10000 * 10000, p.id, p.name FROM person p JOIN auction a
               ON p.id = a.seller AND p.date_time // 10000 = a.date_time // 10000""",
    ),
    "q9": ("auction,bidder,price,date_time", "SELECT id, bidder, price, date_time FROM winner"),
    "q11": (
        "bidder,bids,start,end",
        """WITH steps AS (
               SELECT bidder, date_time, date_time - lag(date_time) OVER own > 10000 AS begins
               FROM bid WINDOW own AS (PARTITION BY bidder ORDER BY date_time)),
           sessions AS (
               SELECT bidder, date_time,
                   count(*) FILTER (WHERE begins) OVER (PARTITION BY bidder ORDER BY date_time) AS session
               FROM steps)
           SELECT bidder, count(*), min(date_time), max(date_time) + 10000 FROM sessions GROUP BY bidder, session""",
    ),
    "q13": (
        "auction,bidder,price,date_time,value",
        """WITH side AS (SELECT key, 'side-' || key AS value FROM range(10000) AS keys(key))
           SELECT auction, bidder, price, date_time, value FROM bid JOIN side ON key = auction % 10000""",
    ),
    "q14": (
        "auction,bidder,price,kind,date_time,c_count",
        """SELECT auction, bidder, thousandths(price * 908),
               CASE WHEN hour(utc(date_time)) BETWEEN 8 AND 18 THEN 'dayTime'
                    WHEN hour(utc(date_time)) <= 6 OR hour(utc(date_time)) >= 20 THEN 'nightTime'
                    ELSE 'otherTime' END,
               date_time, len(extra) - len(replace(extra, 'c', ''))
           FROM bid WHERE price * 0.908 > 1000000 AND price * 0.908 < 50000000""",
    ),
    "q15": ("day," + TALLY_NAMES, f"SELECT day(date_time) AS d, {TALLIES} FROM bid GROUP BY d"),
    "q16": (
        "channel,day,minute," + TALLY_NAMES,
        f"""SELECT channel, day(date_time) AS d, max(strftime(utc(date_time), '%H:%M')), {TALLIES}
            FROM bid GROUP BY channel, d""",
    ),
    "q17": (
        "auction,day,bids,bids1,bids2,bids3,min_price,max_price,mean_price,sum_price",
        f"""SELECT auction, day(date_time) AS d, {ranked("count(*)")}, min(price), max(price),
                mean(sum(price), count(*)), sum(price)
            FROM bid GROUP BY auction, d""",
    ),
    "q18": (
        "auction,bidder,price,date_time",
        """SELECT auction, bidder, price, date_time FROM bid
           QUALIFY row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC, number DESC) = 1""",
    ),
    "q19": (
        "auction,rank,price,bidder,date_time",
        """SELECT auction, row_number() OVER best AS rank, price, bidder, date_time FROM bid
           WINDOW best AS (PARTITION BY auction ORDER BY price DESC, date_time, number) QUALIFY rank <= 10""",
    ),
    "q20": (
        "auction,bidder,price,date_time,seller,category",
        """SELECT b.auction, b.bidder, b.price, b.date_time, a.seller, a.category
           FROM bid b JOIN auction a ON b.auction = a.id WHERE a.category = 10""",
    ),
    "q21": (
        "auction,bidder,price,channel,channel_id",
        """SELECT * FROM (SELECT auction, bidder, price, channel,
               CASE lower(channel) WHEN 'apple' THEN '0' WHEN 'google' THEN '1' WHEN 'facebook' THEN '2'
                   WHEN 'baidu' THEN '3' ELSE nullif(regexp_extract(url, 'channel_id=([^&]*)', 1), '') END AS id
           FROM bid) WHERE id IS NOT NULL""",
    ),
    "q22": (
        "auction,bidder,price,channel,dir1,dir2,dir3",
        """SELECT auction, bidder, price, channel, split_part(url, '/', 4), split_part(url, '/', 5), split_part(url, '/', 6)
           FROM bid""",
    ),
}


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: nexmark_duckdb.py DUMP FOLDER")
    folder = pathlib.Path(sys.argv[2])
    database = duckdb.connect()
    database.execute(SETUP, {"dump": sys.argv[1]})
    database.execute(VIEWS)
    for name, (header, query) in QUERIES.items():
        rows = database.execute(query).fetchall()
        with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="\n") as sink:
            sink.write(header + "\n")
            csv.writer(sink, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
