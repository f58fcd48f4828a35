#!/usr/bin/env python3
"""The answer of examples/ledger.rs, computed without it.

    ledger.py INPUT
    ledger.py --sample
    ledger.py --random SEED COUNT

Prints `key,seq,balance` for each entry, in the order of the file. `--sample` prints the sample input of the example instead, `--random`
another one.
"""

import argparse
import csv
import random
import sys


def entries(seed, count):
    """Entries of 200 accounts: a few have most of them."""
    dice = random.Random(seed)
    print("key,amount")
    for _ in range(count):
        print(f"K{int(dice.paretovariate(0.5)) % 200:03},{dice.randrange(-50_000, 100_000)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input", nargs="?")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--random", nargs=2, type=int, metavar=("SEED", "COUNT"))
    args = parser.parse_args()
    if args.sample:
        return entries(20130101, 3_000)
    if args.random:
        return entries(*args.random)
    accounts = {}
    lines = []
    with open(args.input, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            seq, balance = accounts.get(row["key"], (0, 0))
            accounts[row["key"]] = seq, balance = seq + 1, balance + int(row["amount"])
            lines.append(f"{row['key']},{seq},{balance}\n")
    sys.stdout.write("".join(lines))


if __name__ == "__main__":
    main()
