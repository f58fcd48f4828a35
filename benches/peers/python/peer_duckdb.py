"""The batch workloads on DuckDB, as its users write them."""

import time

import duckdb

import frame

COUNTS = r"""
    COPY (
        SELECT word, count(*)
        FROM (SELECT unnest(string_split(lower(line), ' ')) AS word
              FROM read_csv($text, columns = {'line': 'VARCHAR'}, header = false, delim = '\x01', quote = '', escape = ''))
        WHERE word <> '' GROUP BY word ORDER BY word
    ) TO $out (FORMAT csv, HEADER false, DELIMITER ' ', QUOTE '', ESCAPE '')
"""


def connect(run):
    """A database in memory, with as many threads as the run has."""
    return duckdb.connect(":memory:", config={"threads": run.threads})


def quoted(path):
    """A path as it stands in a statement."""
    return "'" + path.replace("'", "''") + "'"


def w1b(run):
    """The words of a text, counted, sorted and written. The only white space in the text is spaces and line ends."""
    database = connect(run)
    start = time.perf_counter()
    database.execute(COUNTS.replace("$text", quoted(run.text)).replace("$out", quoted(run.out)))
    secs = time.perf_counter() - start
    return secs, frame.of_words(run.out)


def w10(run):
    """A table of the database, in memory, which is there before the clock starts; the groups are another."""
    database = connect(run)
    keys, values = frame.keyed(run.n)
    columns = {"key": keys, "value": values}  # noqa: F841  (the statement names it)
    # Signed, as its integers usually are: sums of those are faster.
    database.execute("CREATE TABLE elements AS SELECT key::BIGINT AS key, value::BIGINT AS value FROM columns")
    del columns, keys, values
    start = time.perf_counter()
    groups = 'SELECT key, count(*) AS "count", sum(value) AS "sum" FROM elements GROUP BY key'
    database.execute(f"CREATE TABLE groups AS {groups}")
    secs = time.perf_counter() - start
    found = database.execute('SELECT key, "count", "sum"::UBIGINT AS "sum" FROM groups').fetchnumpy()
    return secs, frame.of_groups(found["key"], found["count"], found["sum"])


frame.main("duckdb", frame.from_args(), {"w1b": w1b, "w10": w10})
