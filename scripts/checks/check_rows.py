"""Compares rows that `headlight reproduce` wrote with the first ones that are committed: all committed columns but the hash of the config,
which names more measures there.

    python3 scripts/checks/check_rows.py STUDY FOLDER    # each PART.jsonl or PART-I-of-N.jsonl there with studies/STUDY/rows/PART.jsonl.xz
"""

import json
import lzma
import pathlib
import re
import sys

STUDIES = pathlib.Path(__file__).resolve().parents[2] / "studies"


def main() -> None:
    study, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    count = 0
    for path in sorted(folder.glob("*.jsonl")):
        committed = STUDIES / study / "rows" / (re.sub(r"-\d+-of-\d+$", "", path.stem) + ".jsonl.xz")
        if not committed.exists():
            continue
        found = path.read_text(encoding="utf-8").splitlines()
        with lzma.open(committed, "rt", encoding="utf-8") as file:
            expected = [line.rstrip("\n") for line, _ in zip(file, found)]
        for number, (own, other) in enumerate(zip(found, expected), start=1):
            own, other = json.loads(own, parse_float=str), json.loads(other, parse_float=str)
            del other["config_sha256"]
            assert {key: own.get(key) for key in other} == other, f"{path}: line {number} is not that of {committed}"
        count += len(expected)
    assert count > 0, f"{folder} has no row to compare"
    print(f"{study}: {count} rows are those that are committed")


if __name__ == "__main__":
    main()
