#!/usr/bin/env python3
"""The answer of examples/aircraft_days.rs, computed without it.

    aircraft_days.py INPUT [--gap DUR] [--disorder DUR]

Prints one line for each session of an aircraft, in the order of parallelism 1. Cancelled flights (dep_delay is NA) and those without
tailnum are skipped before event time. What a session is stands in windows.py. The last line on standard error is `late: N`.
"""

import argparse
import csv
import sys

from flight_delays import duration_ms, event_time_ms
from windows import Sessions, run


def departures(rows):
    for row in rows:
        if row["dep_delay"] not in ("NA", "") and row["tailnum"] not in ("NA", ""):
            yield event_time_ms(row), row["tailnum"], int(row["distance"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input")
    parser.add_argument("--gap", type=duration_ms, default=duration_ms("6h"))
    parser.add_argument("--disorder", type=duration_ms, default=duration_ms("1d"))
    args = parser.parse_args()

    sessions = Sessions(args.gap, 0)
    with open(args.input, encoding="utf-8-sig", newline="") as source:
        late = run(sessions, [departures(csv.DictReader(source))], args.disorder)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.write("tailnum,start,end,flights,distance\n")
    csv.writer(sys.stdout, lineterminator="\n").writerows(row[:5] for row in sessions.rows)
    print(f"late: {len(late)}", file=sys.stderr)


if __name__ == "__main__":
    main()
