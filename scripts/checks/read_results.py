"""Reads a sweep's results from Parquet, with DuckDB and with Polars, and compares them with the JSON lines.

    headlight merge part-*.jsonl --out all.jsonl
    headlight merge part-*.jsonl --out all.parquet
    python scripts/checks/read_results.py all.parquet all.jsonl

Every value of every row must be there, and equal, in both; exits with 1 if one is not.
"""

import json
import sys

import duckdb
import polars


def rows_of_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def compare(name, rows, expected):
    """All rows as dictionaries; what a row does not have is null in the table."""
    rows = iter(rows)
    for number, (row, line) in enumerate(zip(rows, expected, strict=True), 1):
        missing = {key for key in line if key not in row}
        wrong = {key for key in row if row[key] != line.get(key)} | missing
        if wrong:
            key = sorted(wrong)[0]
            sys.exit(f"{name}, row {number}: {key} is {row.get(key)!r}, not {line.get(key)!r}")


def main():
    parquet, lines = sys.argv[1:]
    expected = rows_of_lines(lines)

    table = duckdb.sql(f"select * from '{parquet}' ")
    compare("DuckDB", [dict(zip(table.columns, row)) for row in table.fetchall()], expected)

    frame = polars.read_parquet(parquet)
    compare("Polars", frame.to_dicts(), expected)

    # Typed columns are what it is for: numbers are numbers, lists are lists.
    learned = duckdb.sql(f"select count(learned_at_step) from '{parquet}'").fetchall()[0][0]
    attention = frame.select(polars.col("attention_positive").list.get(3, null_on_oob=True).mean())
    print(f"{len(expected)} rows are the same in DuckDB, in Polars and in {lines}; "
          f"{learned} learned, mean attention on position 3: {attention.item():.3f}")


if __name__ == "__main__":
    main()
