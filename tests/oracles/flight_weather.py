#!/usr/bin/env python3
"""The answer of examples/flight_weather.rs, computed without it.

    flight_weather.py FLIGHTS WEATHER

Prints every flight that left (dep_delay is neither NA nor empty) with each weather of its origin and time_hour, or with three
empty fields. Values stand as in the input; event time is `time_hour` plus `minute` minutes, in ms.
"""

import collections
import csv
import datetime
import sys


def milliseconds(row):
    hour = datetime.datetime.fromisoformat(row["time_hour"].replace("Z", "+00:00"))
    return int(hour.timestamp()) * 1000 + int(row["minute"]) * 60_000


def main(flights, weather):
    table = collections.defaultdict(list)
    with open(weather, newline="") as rows:
        for row in csv.DictReader(rows):
            table[row["origin"], row["time_hour"]].append([row["temp"], row["wind_speed"], row["precip"]])
    print("origin,event_time,carrier,flight,dep_delay,temp,wind_speed,precip")
    with open(flights, newline="") as rows:
        for row in csv.DictReader(rows):
            if row["dep_delay"] in ("NA", ""):
                continue
            own = [row["origin"], str(milliseconds(row)), row["carrier"], row["flight"], row["dep_delay"]]
            for found in table.get((row["origin"], row["time_hour"]), [["", "", ""]]):
                print(",".join(own + found))


main(*sys.argv[1:])
