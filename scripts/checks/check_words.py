"""Texts become the same tokens in Headlight and in Hugging Face's `tokenizers`, which opens a run's tokenizer.json.

    python scripts/checks/check_words.py target/release/headlight

Trains on texts with odd characters, predicts others, and compares the token ids of each. Needs
scripts/requirements.txt.
"""

import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
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


def main() -> None:
    headlight = sys.argv[1]
    rng = random.Random(7)
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for case, (cls, lowercase, seq_len) in enumerate(
            [("first", "true", 40), ("last", "true", 40), ("first", "false", 7)]
        ):
            train = work / f"train{case}.csv"
            with train.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["sentence", "kind"])
                writer.writerows([text(rng), f"class {index % 3}"] for index in range(300))
            config = work / "config.toml"
            config.write_text(
                f'data = {{ file = "{train}", text = "sentence", label = "kind", seq_len = {seq_len}, cls = "{cls}",'
                f" words = {{ lowercase = {lowercase}, min_count = 2 }} }}\nmodel = {{ d_model = 4 }}\ntraining = {{ epochs = 1 }}\n"
            )
            run = work / f"run{case}"
            subprocess.run([headlight, "train", config, "--run", run, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            texts = PIECES + [text(rng) for _ in range(1000)]
            samples = work / f"new{case}.jsonl"
            samples.write_text("".join(json.dumps({"sentence": text}) + "\n" for text in texts))
            out = work / f"out{case}.npz"
            dump = [headlight, "dump", run / "config.toml", "--weights", run / "model.safetensors", "--tokens", samples, "--out", out]
            subprocess.run(dump, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            rows = np.load(out)["tokens"].tolist()
            tokenizer = Tokenizer.from_file(str(run / "tokenizer.json"))
            assert len(rows) == len(texts)
            for own, sample in zip(rows, texts):
                theirs = tokenizer.encode(sample).ids
                if cls == "last":
                    # Headlight's padding comes before [CLS].
                    own = [token for token in own if token != 1]
                words = [token for token in theirs if token > 1]
                if words:
                    assert own == theirs, (sample, own, theirs)
                else:
                    # A sample needs a token.
                    assert [token for token in own if token > 1] == [2], (sample, own)
                compared += 1
    print(f"{compared} texts have the same tokens in Hugging Face's tokenizers")


if __name__ == "__main__":
    main()
