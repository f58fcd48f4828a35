#!/usr/bin/env python3
"""The answer of examples/components.rs, computed without it.

    components.py INPUT

Prints each vertex with the smallest one that it is connected with, in numeric order.
"""

import csv
import sys


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        edges = [(int(row["from"]), int(row["to"])) for row in csv.DictReader(file)]
    parent = {vertex: vertex for edge in edges for vertex in edge}

    def root(vertex):
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]
            vertex = parent[vertex]
        return vertex

    for start, end in edges:
        start, end = root(start), root(end)
        parent[max(start, end)] = min(start, end)
    print("vertex,component")
    for vertex in sorted(parent):
        print(f"{vertex},{root(vertex)}")


main()
