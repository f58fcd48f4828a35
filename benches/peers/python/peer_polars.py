"""The batch workloads on polars, as its users write them, on the faster of its two engines."""

import os
import time

import frame

run = frame.from_args()
os.environ["POLARS_MAX_THREADS"] = str(run.threads)

import polars as pl  # noqa: E402  (it looks for its threads when it is imported)


def w1b(run):
    """The words of a text, counted, sorted and written. The only white space in the text is spaces and line ends."""
    start = time.perf_counter()
    word = pl.col("line").str.to_lowercase().str.split(" ").explode()
    lines = pl.scan_lines(run.text)
    counts = lines.select(word.alias("word")).filter(pl.col("word") != "").group_by("word").len().sort("word")
    counts = counts.collect(engine="streaming")
    counts.write_csv(run.out, include_header=False, separator=" ", quote_style="never")
    secs = time.perf_counter() - start
    return secs, frame.of_words(run.out)


def w10(run):
    """A frame of two columns in memory, which is there before the clock starts; the groups are another."""
    keys, values = frame.keyed(run.n)
    table = pl.DataFrame({"key": keys, "value": values})
    start = time.perf_counter()
    groups = table.lazy().group_by("key").agg(pl.len().alias("count"), pl.col("value").sum().alias("sum"))
    groups = groups.collect(engine="streaming")
    secs = time.perf_counter() - start
    return secs, frame.of_groups(groups["key"], groups["count"], groups["sum"])


frame.main("polars", run, {"w1b": w1b, "w10": w10})
