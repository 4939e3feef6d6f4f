"""A model that counts words does not answer the questions of the built-in corpora.

    python scripts/checks/bag_of_words.py target/release/headlight

Lets the program write the sentences of each corpus, fits logistic regressions on their word counts, and exits with 1 if
one is right on more than 60% of the held-out sentences. Needs scripts/requirements.txt.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

CORPORA = ["negation", "pronoun", "bank", "apple", "sentiment"]
MOST = 0.6
# Weak and strong regularisation.
STRENGTHS = [0.01, 1.0, 100.0]
# The marker and the comma are words too.
WORDS = r"\S+"


def split(path: pathlib.Path, name: str) -> tuple[list[str], np.ndarray]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == name]
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


def main() -> None:
    headlight = sys.argv[1]
    failed = False
    print("| corpus | classes | held-out sentences | right by the most frequent class | by word counts | in training |")
    print("|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for corpus in CORPORA:
            path = pathlib.Path(folder) / f"{corpus}.csv"
            subprocess.run([headlight, "data", corpus, "--out", path], check=True, stdout=subprocess.DEVNULL)
            texts, labels = split(path, "train")
            new_texts, new_labels = split(path, "held_out")
            if not new_texts:
                sys.exit(f"{corpus}: no sentence is held out")
            counter = CountVectorizer(token_pattern=WORDS)
            counts, new_counts = counter.fit_transform(texts), counter.transform(new_texts)
            if ("*" in counter.vocabulary_) == (corpus == "sentiment"):
                sys.exit(f"{corpus}: a marker is missing, or there is one too many")
            models = [LogisticRegression(C=strength, max_iter=5000).fit(counts, labels) for strength in STRENGTHS]
            best = max(model.score(new_counts, new_labels) for model in models)
            seen = max(model.score(counts, labels) for model in models)
            classes, numbers = np.unique(labels, return_counts=True)
            usual = float(np.mean(new_labels == classes[numbers.argmax()]))
            failed |= best > MOST
            print(f"| {corpus} | {len(classes)} | {len(new_texts)} | {usual:.1%} | {best:.1%} | {seen:.1%} |")
    print()
    print(f"The last two columns are the best of logistic regressions with C = {', '.join(map(str, STRENGTHS))}.")
    print("In `bank` the counts tell the word, so of four classes two are left. A guess between the two is right half of the time.")
    if failed:
        sys.exit(f"A bag of words is right more often than {MOST:.0%}.")


if __name__ == "__main__":
    main()
