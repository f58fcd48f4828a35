#!/usr/bin/env python3
"""The answer of examples/flight_delays.rs, computed without it.

    flight_delays.py INPUT [--disorder DUR] [--late FILE]

Prints one line per airport and event-time hour, in the order of parallelism 1: windows fire in order of their end, and inside
one firing the airports come in the order in which they first appeared in that window. `--late` gets the late flights in order of
arrival. The last line on standard error is `late: N`.

The rules, in short: rows whose dep_delay is NA are skipped before event time. Event time is `time_hour` plus `minute` minutes.
The watermark is the largest event time so far, less the disorder, less 1 ms, and rises right after the element that raised it.
An element is late when the last millisecond of its hour is at or behind the watermark it meets.
"""

import argparse
import csv
import datetime
import sys

HOUR_MS = 3_600_000
UNITS_MS = (("ms", 1), ("min", 60_000), ("s", 1_000), ("h", HOUR_MS), ("d", 86_400_000))
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def duration_ms(text):
    for unit, factor in UNITS_MS:
        number = text.removesuffix(unit)
        if number != text and number.isdecimal():
            return int(number) * factor
    raise argparse.ArgumentTypeError(f"{text!r} is not a duration such as 500ms, 5s, 15min, 1h, 1d")


def event_time_ms(row):
    hour = datetime.datetime.strptime(row["time_hour"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    return (hour - EPOCH) // datetime.timedelta(milliseconds=1) + int(row["minute"]) * 60_000


class Hour:
    """Flights, sum and maximum of the delays of one airport in one hour."""

    def __init__(self):
        self.flights, self.total, self.largest = 0, 0, None

    def add(self, delay):
        self.flights += 1
        self.total += delay
        self.largest = delay if self.largest is None else max(self.largest, delay)


def compute(rows, disorder):
    """Returns the result lines and the late lines."""
    open_windows = {}  # start -> {origin -> Hour}; both keep the order of insertion
    lines, late, max_ts = [], [], None

    def fire(start):
        for origin, hour in open_windows.pop(start).items():
            mean = hour.total / hour.flights
            lines.append(f"{origin},{start},{start + HOUR_MS},{hour.flights},{mean:.3f},{hour.largest}\n")

    for row in rows:
        if row["dep_delay"] == "NA":
            continue
        ts = event_time_ms(row)
        start = ts - ts % HOUR_MS
        if max_ts is not None and start + HOUR_MS - 1 <= max_ts - disorder - 1:
            late.append(f"{row['origin']},{ts},{row['carrier']},{row['flight']}\n")
            continue
        open_windows.setdefault(start, {}).setdefault(row["origin"], Hour()).add(int(row["dep_delay"]))
        if max_ts is None or ts > max_ts:
            max_ts = ts
            for ripe in sorted(s for s in open_windows if s + HOUR_MS - 1 <= max_ts - disorder - 1):
                fire(ripe)
    for rest in sorted(open_windows):
        fire(rest)
    return lines, late


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--disorder", type=duration_ms, default=duration_ms("1d"))
    parser.add_argument("--late")
    args = parser.parse_args()

    with open(args.input, encoding="utf-8-sig", newline="") as source:
        lines, late = compute(csv.DictReader(source), args.disorder)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.write("origin,window_start,window_end,flights,mean_delay,max_delay\n")
    sys.stdout.writelines(lines)
    if args.late:
        with open(args.late, "w", encoding="utf-8", newline="\n") as sink:
            sink.write("origin,event_time,carrier,flight\n")
            sink.writelines(late)
    print(f"late: {len(late)}", file=sys.stderr)


if __name__ == "__main__":
    main()
