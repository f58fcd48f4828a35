#!/usr/bin/env python3
"""The answer of examples/fraud.rs, computed without it.

    fraud.py INPUT
    fraud.py --sample

Prints a line for each payment above 500.00 whose previous payment of the account, by time and then by place in the file, was below 1.00
and at most 60,000 ms earlier; in order of time, and at equal times account by account as they first come. `--sample` prints the sample
input of the example instead.
"""

import argparse
import csv
import random
import sys
from decimal import Decimal


def sample():
    """Six hours of payments of 40 accounts, up to ten minutes out of order."""
    dice = random.Random(20130101)
    payments = []
    for _ in range(3000):
        at, account = dice.randrange(6 * 3_600_000), f"A{dice.randrange(40):03}"
        payments.append((at, account, f"{dice.lognormvariate(3, 1.5):.2f}"))
        if dice.random() < 0.3:
            gap = dice.choice([dice.randrange(60_000), 60_000, 60_001, 0, dice.randrange(600_000)])
            amounts = dice.choice([("0.99", "500.01"), ("1.00", "900.00"), ("0.01", "500.00"), ("0.50", "1200.00")])
            payments += [(at + 7, account, amounts[0]), (at + 7 + gap, account, amounts[1])]
    payments.sort(key=lambda one: (one[0] + dice.randrange(600_000), one))
    print("ts,account,amount")
    for payment in payments:
        print(",".join(map(str, payment)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("input", nargs="?")
    parser.add_argument("--sample", action="store_true")
    args = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if args.sample:
        return sample()

    with open(args.input, encoding="utf-8-sig", newline="") as source:
        payments = [(int(row["ts"]), row["account"], row["amount"]) for row in csv.DictReader(source)]
    found = {}
    for account in {payment[1] for payment in payments}:
        own = [payment for payment in payments if payment[1] == account]
        own.sort(key=lambda payment: payment[0])
        for before, payment in zip(own, own[1:]):
            close = payment[0] - before[0] <= 60_000
            if Decimal(payment[2]) > 500 and Decimal(before[2]) < 1 and close:
                found.setdefault((payment[0], account), []).append(payment[2])
    print("account,ts,amount")
    # Which account comes first at a time: the order of the file.
    places = {}
    for ts, account, _ in payments:
        places.setdefault((ts, account), len(places))
    for ts, account in sorted(found, key=lambda one: (one[0], places[one])):
        for amount in found[ts, account]:
            print(f"{account},{ts},{amount}")


if __name__ == "__main__":
    main()
