"""DuckDB and Polars read a sweep's results as docs/reference/sweeps.md says, value for value.

The statements of docs/reference/sweeps.md run on each file: DuckDB writes it as Parquet, Polars reads it. Each value of each row is compared with
the JSON, in the Parquet file as DuckDB and as Polars read it, and in Polars's frame.
"""

import json
import re
import tempfile
from pathlib import Path

import duckdb
import polars as pl
from common import ROOT

PAGE = ROOT / "docs/reference/sweeps.md"
LISTS = ("epoch_loss", "attention_positive", "attention_negative")


def statement(pattern: str) -> str:
    """The one place in the page that matches `pattern`."""
    found = re.findall(pattern, PAGE.read_text(), flags=re.S)
    assert len(found) == 1, f"{PAGE.name} has {len(found)} statements like {pattern!r}, not one"
    return found[0]


TO_PARQUET = statement(r"COPY \(SELECT[^;]*;")
READ_NDJSON = statement(r"pl\.read_ndjson\([^\n]*\)")


def compare(name: str, rows: list[dict], expected: list[dict]) -> None:
    """`rows` are a table's; a key that a JSON object lacks must be null there."""
    for number, (row, line) in enumerate(zip(rows, expected, strict=True), 1):
        for key in sorted(row.keys() | line.keys()):
            if key not in row or row[key] != line.get(key):
                raise AssertionError(f"{name}, row {number}: {key} is {row.get(key)!r}, not {line.get(key)!r}")


def check(path: Path) -> None:
    """Runs both statements of the page on `path` and compares all that comes of them."""
    with path.open() as file:
        expected = [json.loads(line) for line in file]
    with tempfile.TemporaryDirectory() as folder:
        parquet = Path(folder) / "seeds.parquet"
        duckdb.sql(TO_PARQUET.replace("seeds.jsonl", str(path)).replace("seeds.parquet", str(parquet)))
        table = duckdb.sql(f"SELECT * FROM '{parquet}'")
        kinds = dict(zip(table.columns, map(str, table.types)))
        rows = [dict(zip(table.columns, row)) for row in table.fetchall()]
        from_parquet = pl.read_parquet(parquet)
    frame = eval(READ_NDJSON.replace("seeds.jsonl", str(path)), {"pl": pl})

    compare("Parquet, read by DuckDB", rows, expected)
    compare("Parquet, read by Polars", from_parquet.to_dicts(), expected)
    compare("Polars", frame.to_dicts(), expected)
    assert kinds["seed"] == "UBIGINT" and from_parquet.schema["seed"] == pl.UInt64, kinds
    for key in set(LISTS) & {key for line in expected for key, value in line.items() if value}:
        assert kinds[key] == "DOUBLE[]", f"DuckDB: {key} is {kinds[key]}"
        assert from_parquet.schema[key] == frame.schema[key] == pl.List(pl.Float64), f"Polars: {key}"


def made_up(path: Path) -> None:
    """Rows that a reader which looks at the first few alone, or counts in doubles, would change."""
    hashes = {"weights_sha256": "1e5", "config_sha256": "0" * 64}
    seeds = [*range(30_000), 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    rows = [
        {"seed": seed, "training.learning_rate": 1e37 if seed % 3 else 1}
        | {"epoch_loss": [1, 0.30000000000000004, 5e-324][: 1 + seed % 3]}
        | {"accuracy": 1.0 if seed % 2 else 0, "precision": None, "f1": 0.1 + seed if seed > 25_000 else None}
        | {"attention_positive": [0.25, 1e-320] if seed % 5 else None, "learned_at_step": seed % 1500 or None}
        | hashes
        for seed in seeds
    ]
    failed = {"seed": 30_000, "error": 'training diverged: "é"', "config_sha256": "0" * 64}
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in [*rows, failed]))


def test_rows_that_a_hasty_reader_would_change(tmp_path):
    made_up(tmp_path / "made-up.jsonl")
    check(tmp_path / "made-up.jsonl")


def test_a_sweep(thousand_seeds):
    check(thousand_seeds)


def test_a_sweep_whose_runs_fail_by_half(headlight):
    out = headlight.folder / "grid.jsonl"
    grid = ["--seeds", "0..200", "--grid", "training.learning_rate=1e-3,1e37"]
    headlight("sweep", "quick", *grid, "--out", out, status=3)
    check(out)
