"""Fetches the UCI Sentiment Labelled Sentences and writes them as a dataset file for Headlight.

    python studies/sentences/fetch.py sentences.csv

The columns are `text`, `label` (negative or positive) and `site` (imdb, amazon or yelp), 1,000 sentences of each site:
Kotzias et al. 2015, "From Group to Individual Labels using Deep Features". The npm package `sentiment` 5.0.2 holds them as
fixtures of its tests; each of its files ends with an empty record, which is left out.
"""

import csv
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

PACKAGE = "sentiment@5.0.2"
SITES = ["imdb", "amazon", "yelp"]
SHA256 = "bcb1f184018e98a94b6bc781a44eb1c1baa69e4be5c17970833bc1fb777a1aba"


def sentences() -> str:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        with tarfile.open(next(pathlib.Path(folder).glob("*.tgz"))) as archive:
            files = {site: json.load(archive.extractfile(f"package/test/fixtures/{site}.json")) for site in SITES}
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["text", "label", "site"])
    for site, records in files.items():
        found = [record for record in records if record["text"]]
        assert len(found) == 1_000, f"{site} has {len(found)} sentences"
        rows.writerows([record["text"], ["negative", "positive"][record["class"]], site] for record in found)
    return text.getvalue()


def main() -> None:
    text = sentences()
    found = hashlib.sha256(text.encode()).hexdigest()
    if found != SHA256:
        sys.exit(f"the sentences have SHA-256 {found}, not {SHA256}: the package has changed")
    path = pathlib.Path(sys.argv[1])
    path.write_text(text, encoding="utf-8")
    print(f"{path}: 3000 sentences")


if __name__ == "__main__":
    main()
