#!/usr/bin/env python3
"""The answer of examples/windows.rs, computed without it.

    windows.py [INPUT…] [--kind KIND] [--size N] [--slide N] [--gaps] [--exact] [--gap N] [--offset N] [--lateness N]
               [--disorder N] [--late FILE]

Prints `key,start,end,count,sum,min,max` in the order of parallelism 1. Several inputs are read one after the other, each with a
watermark of its own; the watermark of the whole is the smallest of those that have not ended, so this is one of the runs that
may be. (Those agree where no element is behind the watermark of its own input; of count windows where no key is in two inputs.)

The rules, in short. The watermark is the largest timestamp so far, less the disorder, less 1, and rises right after the element
that raised it; at the end it is past everything. An element is judged by the watermark it meets. It is late for a window when
the last instant of that, plus the lateness, is at or behind the watermark. A window fires when the watermark reaches its last
instant (a session: its end), and after that once more for each element that joins it, for the key of that element only.
"""

import argparse
import csv
import sys

INFINITY = float("inf")
LOWEST, HIGHEST = -(2**63), 2**63 - 1


class Values:
    """Count, sum, smallest and largest."""

    def __init__(self, *values):
        self.all = list(values)

    def line(self, key, start, end):
        shown = [min(max(bound, LOWEST), HIGHEST) for bound in (start, end)]
        values = self.all
        return [key, *shown, len(values), sum(values), min(values), max(values)]


class Aligned:
    """Tumbling and sliding windows: all that there are, whole, by their bounds."""

    def __init__(self, size, slide, offset, lateness):
        self.size, self.slide, self.offset, self.lateness = size, slide, offset, lateness
        self.windows = {}  # start -> {key -> Values}; both keep the order of insertion
        self.rows = []

    def add(self, ts, key, value, watermark):
        """Whether it was on time for one of its windows, or in a gap."""
        first = ts - (ts - self.offset) % self.slide
        starts = sorted(start for start in range(first, ts - self.size, -self.slide))
        joined = [start for start in starts if start + self.size - 1 + self.lateness > watermark]
        for start in joined:
            keys = self.windows.setdefault(start, {})
            keys.setdefault(key, Values()).all.append(value)
            if start + self.size - 1 <= watermark:
                self.rows.append(keys[key].line(key, start, start + self.size))
        return bool(joined) or not starts

    def advance(self, before, watermark):
        due = (start for start in self.windows if before < start + self.size - 1 <= watermark)
        for start in sorted(due):
            for key, values in self.windows[start].items():
                self.rows.append(values.line(key, start, start + self.size))


class Sessions:
    """Elements of a key that are at most the gap apart: `[first, last, number of the first to arrive, values]`."""

    def __init__(self, gap, lateness):
        self.gap, self.lateness = gap, lateness
        self.keys = {}
        self.arrived = 0
        self.soon = INFINITY  # before this watermark nothing happens
        self.rows = []

    def add(self, ts, key, value, watermark):
        self.arrived += 1
        kept = self.keys.setdefault(key, [])
        reached = [one for one in kept if one[0] - self.gap <= ts <= one[1] + self.gap]
        reached.sort(key=lambda one: one[2])
        merged = [
            min([ts, *(one[0] for one in reached)]),
            max([ts, *(one[1] for one in reached)]),
            min([self.arrived, *(one[2] for one in reached)]),
            Values(*(v for one in reached for v in one[3].all), value),
        ]
        if merged[1] + self.gap + self.lateness <= watermark:
            return False
        self.keys[key] = [one for one in kept if one not in reached] + [merged]
        if merged[1] + self.gap <= watermark:
            self.fire(key, merged)
        self.soon = min(self.soon, merged[1] + self.gap)
        return True

    def advance(self, before, watermark):
        if watermark < self.soon:
            return
        due = []
        for key, kept in self.keys.items():
            due += [(one[1] + self.gap, one[2], key, one) for one in kept if before < one[1] + self.gap <= watermark]
        for _, _, key, one in sorted(due, key=lambda it: it[:2]):
            self.fire(key, one)
        for key, kept in self.keys.items():
            self.keys[key] = [one for one in kept if one[1] + self.gap + self.lateness > watermark]
        ends = [one[1] + self.gap for kept in self.keys.values() for one in kept]
        self.soon = min([INFINITY, *(end if end > watermark else end + self.lateness for end in ends)])

    def fire(self, key, session):
        first, last, _, values = session
        self.rows.append(values.line(key, first, last + self.gap))


class Counted:
    """Windows of so many elements of a key; all elements are kept."""

    def __init__(self, size, every, exact):
        self.size, self.every, self.exact = size, every, exact
        self.keys = {}
        self.rows = []

    def add(self, ts, key, value, watermark):
        arrived = self.keys.setdefault(key, [])
        arrived.append((ts, value))
        begin = len(arrived) - self.size
        if begin >= 0 and begin % self.every == 0:
            self.fire(key, arrived[begin:])
        return True

    def advance(self, before, watermark):
        if watermark < INFINITY or self.exact:
            return
        for key, arrived in self.keys.items():
            begin = 0
            while begin + self.size <= len(arrived):
                begin += self.every
            shown = begin - self.every + self.size if begin > 0 else 0
            if len(arrived) > max(begin, shown):
                self.fire(key, arrived[begin:])

    def fire(self, key, elements):
        values = Values(*(value for _, value in elements))
        self.rows.append(values.line(key, elements[0][0], elements[-1][0]))


def run(windows, inputs, disorder):
    """Gives the elements of each input, as (ts, key, value), to the windows; returns the late ones."""
    late, ends = [], [-INFINITY] * len(inputs)
    whole = -INFINITY

    def rise():
        nonlocal whole
        before, whole = whole, min(ends)
        if whole > before:
            windows.advance(before, whole)

    for number, elements in enumerate(inputs):
        for element in elements:
            if not windows.add(*element, whole):
                late.append(element)
            ends[number] = max(ends[number], element[0] - disorder - 1)
            rise()
        ends[number] = INFINITY
        rise()
    return late


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as source:
        return [(int(row["ts"]), row["key"], int(row["value"])) for row in csv.DictReader(source)]


def write(sink, header, rows):
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input", nargs="+")
    parser.add_argument("--kind", default="tumbling")
    parser.add_argument("--size", type=int, default=1000)
    for name in ("--slide", "--gap"):
        parser.add_argument(name, type=int)
    for name in ("--offset", "--lateness", "--disorder"):
        parser.add_argument(name, type=int, default=0)
    for name in ("--gaps", "--exact"):
        parser.add_argument(name, action="store_true")
    parser.add_argument("--late")
    args = parser.parse_args()

    windows = {
        "tumbling": lambda: Aligned(args.size, args.size, args.offset, args.lateness),
        "sliding": lambda: Aligned(args.size, args.slide, args.offset, args.lateness),
        "session": lambda: Sessions(args.gap, args.lateness),
        "count": lambda: Counted(args.size, args.slide or args.size, args.exact),
    }[args.kind]()
    late = run(windows, [read(path) for path in args.input], args.disorder)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    write(sys.stdout, "key,start,end,count,sum,min,max", windows.rows)
    if args.late:
        with open(args.late, "w", encoding="utf-8", newline="\n") as sink:
            write(sink, "ts,key,value", late)
    print(f"late: {len(late)}", file=sys.stderr)


if __name__ == "__main__":
    main()
