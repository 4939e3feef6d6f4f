"""Texts become the same tokens in Headlight and in Hugging Face's `tokenizers`, which opens a run's tokenizer.json; and a model that
counts words does not answer the questions of the built-in corpora."""

import csv
import json
import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer

PIECES = [
    "The", "movie", "was", "NOT", "good", "didn't", "it’s", "rock'n'roll", "'quoted'", "well-made", "snake_case", "3.14",
    "€5", "50%", "a@b.org", "[CLS]", "[PAD]", "[UNK]", "<b>", "\\n", "naïve", "nai\u0308ve", "ÉTÉ", "Straße", "İstanbul", "ΣΊΣΥΦΟΣ",
    "ǅ", "ﬁne", "Ⅷ", "²", "½", "映画は", "面白い。", "영화", "ภาพยนตร์", "फ़िल्म", "हिन्दी", "می‌خواهم", "فيلم", "سيئ!", "שלום", "😀", "👍🏽", "👨‍👩‍👧",
    "❤️", "🇫🇷", "…", "—", "“so”", "\u00a0", "\u2003", "\u200b", "\ufeff", "\u00ad", "\t", "e\u0301", "\u0301", "_", "__init__", "𝕏", "𐍈",
]


def text(rng: random.Random) -> str:
    words = rng.choices(PIECES, k=rng.randrange(1, 12))
    return rng.choice([" ", " ", "", ","]).join(words)


@pytest.mark.parametrize(("cls", "lowercase", "seq_len"), [("first", "true", 40), ("last", "true", 40), ("first", "false", 7)])
def test_texts_have_the_tokens_of_tokenizers(headlight, cls, lowercase, seq_len):
    rng = random.Random(7)
    train = headlight.folder / f"{cls}-{seq_len}.csv"
    with train.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sentence", "kind"])
        writer.writerows([text(rng), f"class {index % 3}"] for index in range(300))
    config = train.with_suffix(".toml")
    config.write_text(
        f'data = {{ file = "{train}", text = "sentence", label = "kind", seq_len = {seq_len}, cls = "{cls}",'
        f" words = {{ lowercase = {lowercase}, min_count = 2 }} }}\nmodel = {{ d_model = 4 }}\ntraining = {{ epochs = 1 }}\n"
    )
    run = headlight.train(config).path
    texts = PIECES + [text(rng) for _ in range(1000)]
    samples, out = train.with_suffix(".jsonl"), train.with_suffix(".out.npz")
    samples.write_text("".join(json.dumps({"sentence": text}) + "\n" for text in texts))
    headlight("dump", run / "config.toml", "--weights", run / "model.safetensors", "--samples", samples, "--out", out)
    rows = np.load(out)["tokens"].tolist()
    tokenizer = Tokenizer.from_file(str(run / "tokenizer.json"))
    assert len(rows) == len(texts)
    for own, sample in zip(rows, texts):
        theirs = tokenizer.encode(sample).ids
        if cls == "last":
            # Headlight's padding comes before [CLS].
            own = [token for token in own if token != 1]
        if [token for token in theirs if token > 1]:
            assert own == theirs, sample
        else:
            # A sample needs a token.
            assert [token for token in own if token > 1] == [2], sample


def split(path, name: str) -> tuple[list[str], np.ndarray]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["split"] == name]
    return [row["text"] for row in rows], np.array([row["label"] for row in rows])


@pytest.mark.parametrize("corpus", ["negation", "pronoun", "bank", "apple", "sentiment"])
def test_a_bag_of_words_is_right_on_at_most_60_percent(headlight, corpus):
    path = headlight.folder / f"{corpus}.csv"
    headlight("data", corpus, "--out", path)
    texts, labels = split(path, "train")
    new_texts, new_labels = split(path, "held_out")
    assert new_texts
    # The marker and the comma are words too.
    counter = CountVectorizer(token_pattern=r"\S+")
    counts, new_counts = counter.fit_transform(texts), counter.transform(new_texts)
    assert ("*" in counter.vocabulary_) == (corpus != "sentiment")
    # Weak and strong regularisation.
    for strength in [0.01, 1.0, 100.0]:
        assert LogisticRegression(C=strength, max_iter=5000).fit(counts, labels).score(new_counts, new_labels) <= 0.6
