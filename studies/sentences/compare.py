"""Compares Headlight with Keras, logistic regression and naive Bayes on the UCI sentences, in ten folds.

    python studies/sentences/fetch.py sentences.csv
    python studies/sentences/compare.py target/release/headlight sentences.csv [--folds N] [--without-keras]

All methods get the same folds: stratified by label and site, and shuffled with seed 0. Headlight's vocabulary, like those of
the others, comes from the training sentences of the fold. An interval is that of Student's t over the folds, 95%. "With a
negation" are the sentences with "not", "no", "never" or a word that ends in "n't".

The sizes of Headlight's model, its epochs and the dropout were chosen by five folds within the training sentences of the
first fold. These are the test sentences of the other nine folds, so that Headlight's figures may be slightly too high.
"""

import argparse
import csv
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

CONFIG = """
[data]
file = "fold.csv"
seq_len = 40
words = {{}}

[model]
d_model = 16
n_heads = 2
n_layers = {blocks}
attention = {{ padding_token = 1 }}

[training]
epochs = 3
batch_size = 32
learning_rate = 3e-3
token_dropout = {dropout}
"""
SEEDS = [1, 5, 20, 100]
NEGATION = re.compile(r"\b(not|no|never)\b|n't\b", re.IGNORECASE)
T_OF_95_PERCENT = {2: 12.71, 3: 4.303, 5: 2.776, 10: 2.262}


def headlight(binary: str, folder: pathlib.Path, dropout: float, blocks: int) -> dict[str, np.ndarray]:
    """The probability of "positive" for each test sentence: of one seed, and of the mean of several."""

    def run(*arguments: str) -> None:
        force = ["--force"] * (arguments[0] == "predict")
        subprocess.run([binary, *arguments, "--quiet", *force], cwd=folder, check=True, stdout=subprocess.DEVNULL)

    (folder / "config.toml").write_text(CONFIG.format(dropout=dropout, blocks=blocks))
    each = []
    for seed in range(SEEDS[-1]):
        run("train", "config.toml", "--set", f"seed={seed}", "--run", f"run-{seed}")
        run("predict", f"run-{seed}", "test.csv", "--out", "predictions.jsonl")
        shutil.rmtree(folder / f"run-{seed}")
        predictions = (folder / "predictions.jsonl").read_text().splitlines()
        each.append([json.loads(row)["probabilities"]["positive"] for row in predictions])
    found = {}
    for seeds in SEEDS:
        name = f"Headlight, {blocks} block{'s' * (blocks > 1)}, token_dropout {dropout}, {seeds} seed{'s' * (seeds > 1)}"
        found[name] = np.mean(each[:seeds], axis=0)
    return found


def keras_model(binary: str, folder: pathlib.Path, seed: int) -> np.ndarray:
    """The same for the model of one block in Keras, without dropout, with Headlight's tokens."""
    import sys

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "evidence"))
    from notebook_keras import build_model, keras

    subprocess.run(
        [binary, "data", "config.toml", "--out", "fold.npz", "--force", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    fold = np.load(folder / "fold.npz")
    keras.utils.set_random_seed(seed)
    tokens = fold["tokens"].astype("int32")
    model = build_model(
        vocab_size=int(tokens.max()) + 1, d_model=16, seq_len=tokens.shape[1] - 1, n_heads=2, padding_token=1
    )
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy")
    model.fit(tokens, fold["labels"].astype("float32"), batch_size=32, epochs=3, verbose=0)
    return model.predict(fold["held_out_tokens"].astype("int32"), verbose=0)[:, 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("sentences")
    parser.add_argument("--folds", type=int, default=10, help="take the first of the ten folds only")
    parser.add_argument("--without-keras", action="store_true")
    args = parser.parse_args()
    binary = str(pathlib.Path(args.binary).resolve())
    with open(args.sentences, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = np.array([row["text"] for row in rows], dtype=object)
    labels = np.array([row["label"] == "positive" for row in rows])
    negated = np.array([bool(NEGATION.search(text)) for text in texts])
    kinds = [row["label"] + row["site"] for row in rows]
    folds = list(StratifiedKFold(10, shuffle=True, random_state=0).split(texts, kinds))[: args.folds]

    right: dict[str, list[np.ndarray]] = {}

    def note(name: str, probabilities: np.ndarray, test: np.ndarray) -> None:
        right.setdefault(name, []).append((probabilities > 0.5) == labels[test])

    for number, (train, test) in enumerate(folds):
        print(f"fold {number}", flush=True)
        for pairs in [False, True]:
            for name, method in [("logistic regression", LogisticRegression(max_iter=1_000)), ("naive Bayes", MultinomialNB())]:
                counts = CountVectorizer(token_pattern=r"\w+(?:['’]\w+)*", ngram_range=(1, 2 if pairs else 1))
                model = make_pipeline(counts, method).fit(texts[train], labels[train])
                note(f"{name}, {'words and pairs' if pairs else 'words'}", model.predict_proba(texts[test])[:, 1], test)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for file, splits in [("fold.csv", [("train", train), ("val", test)]), ("test.csv", [("val", test)])]:
                with open(folder / file, "w", encoding="utf-8", newline="") as out:
                    written = csv.writer(out)
                    written.writerow(["text", "label", "split"] if file == "fold.csv" else ["text", "label"])
                    for split, chosen in splits:
                        for index in chosen:
                            cells = [texts[index], rows[index]["label"], split]
                            written.writerow(cells if file == "fold.csv" else cells[:2])
            for dropout, blocks in [(0.0, 1), (0.3, 1), (0.3, 2)]:
                for method, probabilities in headlight(binary, folder, dropout, blocks).items():
                    note(method, probabilities, test)
            if not args.without_keras:
                note("Keras, 1 block, one seed", keras_model(binary, folder, number), test)

    print(f"{len(texts)} sentences, {negated.sum()} with a negation, {len(folds)} folds\n")
    print("| method | right, % | with a negation, % |\n|---|---:|---:|")
    for name, of_folds in right.items():
        cells = []
        for chosen in [np.ones(len(texts), bool), negated]:
            shares = np.array([100 * found[chosen[test]].mean() for found, (_, test) in zip(of_folds, folds)])
            t = T_OF_95_PERCENT.get(len(shares), 1.96)
            cells.append(f"{shares.mean():.1f} ± {t * shares.std(ddof=1) / np.sqrt(len(shares)):.1f}")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
