#!/usr/bin/env python3
"""The answer of examples/page_rank.rs, computed without it.

    page_rank.py INPUT [--rounds N]
    page_rank.py --sample

Prints each vertex with its rank after N rounds, with 12 decimals, in no order that means anything. `--sample` prints the sample input of
the examples of graphs instead.
"""

import argparse
import csv
import math
import random


def sample():
    """300 pages that link to a few others, popular ones more often, and a few islands."""
    dice = random.Random(20130101)
    print("from,to")
    for page in range(300):
        for _ in range(dice.choice([0, 1, 1, 2, 3, 5])):
            print(f"{page},{min(dice.randrange(300), dice.randrange(300))}")
    for page in range(1000, 1030):
        print(f"{page},{page + 1 if page % 7 else page}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input", nargs="?")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--sample", action="store_true")
    args = parser.parse_args()
    if args.sample:
        return sample()
    with open(args.input, newline="", encoding="utf-8") as file:
        edges = [(row["from"], row["to"]) for row in csv.DictReader(file)]
    vertices = sorted({vertex for edge in edges for vertex in edge})
    out = {vertex: [] for vertex in vertices}
    for start, end in edges:
        out[start].append(end)
    n = len(vertices)
    ranks = {vertex: 1 / n for vertex in vertices}
    for _ in range(args.rounds):
        parts = {vertex: [] for vertex in vertices}
        for vertex, ends in out.items():
            for end in ends:
                parts[end].append(ranks[vertex] / len(ends))
        dangling = math.fsum(ranks[vertex] for vertex, ends in out.items() if not ends)
        ranks = {v: 0.15 / n + 0.85 * (math.fsum(parts[v]) + dangling / n) for v in vertices}
    print("vertex,rank")
    for vertex in vertices:
        print(f"{vertex},{ranks[vertex]:.12f}")


main()
