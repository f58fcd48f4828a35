#!/usr/bin/env python3
"""The answer of examples/word_count.rs, computed without it.

    word_count.py INPUT            lines `word,count`, by count descending, then by word

A word is a maximal run of characters that Rust's `char::is_alphanumeric` accepts, lower-cased as `str::to_lowercase` does it.

Rust's notion is the Unicode property Alphabetic or one of the categories Nd, Nl, No. Python's `isalnum` is another one, and the
standard library has no Alphabetic: it is the letters (L*), Nl, and a list called Other_Alphabetic, which holds marks (Mn, Mc)
and a few symbols (So). Where this script would have to know that list, or where the character is unassigned in Python's tables,
it stops and says so instead of guessing. Python's `str.lower` and Rust's `str::to_lowercase` both apply Unicode's full mapping,
with the final sigma as its one rule that looks at neighbours.
"""

import sys
import unicodedata

NUMBERS = {"Nd", "Nl", "No"}
UNDECIDED = {"Mn", "Mc", "So", "Cn"}


def is_alphanumeric(char):
    category = unicodedata.category(char)
    if category in UNDECIDED and ord(char) > 0x7F:
        sys.exit(f"word_count.py: cannot tell whether U+{ord(char):04X} ({category}) belongs to a word")
    return category.startswith("L") or category in NUMBERS


def words(text):
    word = []
    for char in text:
        if is_alphanumeric(char):
            word.append(char)
        elif word:
            yield "".join(word).lower()
            word.clear()
    if word:
        yield "".join(word).lower()


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: word_count.py INPUT")
    # utf-8-sig drops a BOM at offset 0, as the library does; no word crosses a line end in either.
    with open(sys.argv[1], encoding="utf-8-sig", newline="") as source:
        text = source.read()
    counts = {}
    for word in words(text):
        counts[word] = counts.get(word, 0) + 1
    # Code points order strings as their UTF-8 bytes do, which is Rust's order.
    lines = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.writelines(f"{word},{count}\n" for word, count in lines)


if __name__ == "__main__":
    main()
