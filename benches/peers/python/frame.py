"""The frame of the peers in Python: `SCRIPT WORKLOAD THREADS N TEXT OUT`, one run, one line of JSON.

It is that of `common/src/frame.rs`, with the same elements and the same checksums. A workload is a function of the run that
prepares its input, takes the time itself, and gives `(seconds, Answer)`: neither the start of Python and its packages nor
the checksum, which NumPy or a loop in Python makes behind the clock, is in the time.
"""

import json
import sys
from dataclasses import dataclass

NO_SUCH_WORKLOAD = 2
BITS = (1 << 64) - 1
KEYED_KEYS = 1_000_000


@dataclass(frozen=True)
class Run:
    """What is asked for."""

    workload: str
    threads: int
    n: int
    text: str
    out: str


@dataclass(frozen=True)
class Answer:
    """How many results there were, and the wrapping sum of their hashes."""

    count: int
    checksum: int


def from_args():
    """The run that the arguments name. It has to be known before a package is imported that looks for threads then."""
    try:
        workload, threads, n, text, out = sys.argv[1:]
        return Run(workload, int(threads), int(n), text, out)
    except ValueError:
        sys.exit(f"usage: {sys.argv[0]} WORKLOAD THREADS N TEXT OUT")


def main(peer, run, workloads):
    """Runs the workload, and prints its time and its answer."""
    if run.workload not in workloads:
        print(f"{peer} has no {run.workload}", file=sys.stderr)
        sys.exit(NO_SUCH_WORKLOAD)
    secs, answer = workloads[run.workload](run)
    print(json.dumps({"secs": round(secs, 6), "count": answer.count, "checksum": f"{answer.checksum:016x}"}))


def mix(i):
    """The finalizer of SplitMix64, of an array."""
    import numpy as np

    z = (i + np.uint64(1)) * np.uint64(0x9E37_79B9_7F4A_7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return z ^ (z >> np.uint64(31))


def keyed(n):
    """The columns of W10: keys and values, a part at a time."""
    import numpy as np

    keys, values = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for start in range(0, n, 1 << 16):
        end = min(start + (1 << 16), n)
        key = ((mix(np.arange(start, end, dtype=np.uint64)) >> np.uint64(32)) * np.uint64(KEYED_KEYS)) >> np.uint64(32)
        keys[start:end] = key
        values[start:end] = (key * np.uint64(31) + np.uint64(7)) & np.uint64(0xFFFF)
    return keys, values


def of_groups(keys, counts, sums):
    """The answer of W10, of three arrays."""
    import numpy as np

    keys, counts, sums = (np.asarray(column).astype(np.uint64) for column in (keys, counts, sums))
    rows = keys * np.uint64(0x9E37_79B9) + counts * np.uint64(0xC2B2_AE35) + sums * np.uint64(0x27D4_EB2F)
    return Answer(len(keys), int(mix(rows).sum(dtype=np.uint64)))


def of_words(path):
    """The answer of W1B, of the counts in the file that the run has written. They have to be sorted."""
    import numpy as np

    words, hashes, total = [], [], 0
    with open(path, "rb") as lines:
        for line in lines:
            word, count = line.split()
            hashed = 0xCBF2_9CE4_8422_2325
            for byte in word:
                hashed = ((hashed ^ byte) * 0x100_0000_01B3) & BITS
            words.append(word)
            hashes.append(int(count) ^ hashed)
            total += int(count)
    assert words == sorted(words), "the counts are written in the order of the words"
    return Answer(total, int(mix(np.array(hashes, dtype=np.uint64)).sum(dtype=np.uint64)))
