"""What attention does in corpora of sentences, as Markdown tables: the figures of EXPERIMENTS.md.

    cargo run --release -p headlight-experiment --example attention_study -- negation 1000 > negation.jsonl
    python3 crates/experiment/examples/attention_study.py negation.jsonl ...
    python3 crates/experiment/examples/attention_study.py --documents negation.jsonl ...    # the documents' sentences
    python3 crates/experiment/examples/attention_study.py --others pronoun.jsonl ...        # the seeds that did not learn

A column per file, a number per seed: its median over seeds, and its quartiles. A seed's number is a mean over 64 held-out
sentences. Measures that need integrated gradients are means over all sentences that have them. A seed learned if its
held-out F1 reaches 0.99 and ends there. Needs NumPy.
"""

import argparse
import json
import pathlib

import numpy as np

KINDS_OF_CLS = ["deciding words", "rival deciding words", "asked", "marker", "rival", "[CLS]", "rest"]
BLOCKS = ["first block", "last block"]
NAMES_OF_QUERIES = {"asked": "marked word", "deciding": "deciding words", "rival deciding": "rival deciding words"}
MEASURES = ["attention", "largest_head", "rollout", "removal_last", "removal", "gradients"]
NAMES = {
    "attention": "attention (mean of heads)",
    "largest_head": "attention (largest head)",
    "rollout": "attention rollout",
    "removal_last": "removal in the last block",
    "removal": "removal",
    "gradients": "integrated gradients",
}


class Runs:
    def __init__(self, path: str, others: bool) -> None:
        self.name = pathlib.Path(path).stem
        with open(path) as file:
            rows = [json.loads(line) for line in file]
        self.diverged = sum("error" in row for row in rows)
        rows = [row for row in rows if "error" not in row]
        self.count = len(rows)
        learned = [row["learned_at_step"] is not None and row["f1"] >= 0.99 for row in rows]
        self.reached = [row["learned_at_step"] for row in rows if row["learned_at_step"] is not None]
        self.learned = sum(learned)
        self.f1 = [row["f1"] for row in rows]
        self.rows = [row for row, good in zip(rows, learned) if good != others]
        first = rows[0]
        self.kinds, self.queries = first["kinds"], first["queries"]
        self.even = dict(zip(self.kinds, first["even"]))
        # [seed, layer, head, query, kind]
        self.attention = np.array([row["attention"] for row in self.rows])
        self.layers, self.heads = np.shape(first["attention"])[:2]

    def of(self, key: str) -> list[float]:
        return [row["means"][key] for row in self.rows if key in row["means"]]

    def mean(self, key: str) -> str:
        """For measures that only a few sentences of a seed have."""
        values = self.of(key)
        return f"{np.mean(values):.3f}" if values else "–"

    def spread(self, key: str) -> str:
        if "gradients" in key:
            return self.mean(key)
        return spread(self.of(key))

    def looked(self, layer: int, query: str, kind: str) -> np.ndarray:
        """`[seed, head]`"""
        rows = self.attention[:, layer, :, self.queries.index(query)]
        parts = {"deciding words": ["not", "deciding"], "rival deciding words": ["rival not", "rival deciding"]}
        return sum(rows[..., self.kinds.index(part)] for part in parts.get(kind, [kind]))

    def even_on(self, kind: str) -> float:
        parts = {"deciding words": ["not", "deciding"], "rival deciding words": ["rival not", "rival deciding"]}
        return sum(self.even[part] for part in parts.get(kind, [kind]))


def spread(values) -> str:
    values = np.asarray(values, float)
    if not len(values):
        return "–"
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def table(title: str, runs: list[Runs], rows: list[tuple]) -> None:
    """Rows of a name and a function of runs; rows without any number are left out."""
    print(f"**{title}**\n")
    print("| | " + " | ".join(f"`{run.name}`" for run in runs) + " |")
    print("|---|" + "---|" * len(runs))
    for name, cell in rows:
        cells = [cell(run) for run in runs]
        if any(cell not in ("–", "") for cell in cells):
            print(f"| {name} | " + " | ".join(cells) + " |")
    print()


def learning(runs: list[Runs]) -> None:
    def steps(run: Runs) -> str:
        return ", ".join(f"{step:.0f}" for step in np.percentile(run.reached, [5, 50, 95])) if run.reached else "–"

    table(
        "Learning",
        runs,
        [
            ("seeds", lambda run: f"{run.count}"),
            ("diverged", lambda run: f"{run.diverged}"),
            ("held-out F1 reaches 0.99", lambda run: f"{len(run.reached)}"),
            ("and ends there: learned", lambda run: f"{run.learned}"),
            ("at step (5%, median, 95%)", steps),
            ("final F1, median", lambda run: f"{np.median(run.f1):.3f}"),
            ("seeds below", lambda run: f"{len(run.rows)}"),
        ],
    )


def looking(runs: list[Runs]) -> None:
    def cell(layer: int, query: str, kind: str, largest: bool):
        def of(run: Runs) -> str:
            if layer >= run.layers or run.even_on(kind) == 0:
                return "–"
            if layer == 0 and run.layers == 1:
                return "–"
            heads = run.looked(layer, query, kind)
            weight = spread(heads.max(axis=1) if largest else heads.mean(axis=1))
            return f"{weight}; uniform {run.even_on(kind):.3f}"

        return of

    for query, name in [("[CLS]", "[CLS]"), ("asked", "the marked word")]:
        rows = []
        for layer, block in [(0, "first block"), (-1, "last block")]:
            for kind in KINDS_OF_CLS + ["answer", "other answer"]:
                rows.append((f"{block}: {kind}", cell(layer, query, kind, False)))
            rows.append((f"{block}: deciding words, head with most", cell(layer, query, "deciding words", True)))
        table(f"Where {name} looks (weights, mean of heads)", runs, rows)


def most_important(runs: list[Runs]) -> None:
    kinds = {
        "a deciding word": ["any deciding"],
        "a rival deciding word": ["rival deciding", "rival not"],
        "the marked word": ["asked"],
        "the rival": ["rival"],
        "the marker": ["marker"],
        "another word": ["rest", "answer", "other answer"],
    }
    rows = []
    for measure in ["attention", "rollout", "removal", "gradients"]:
        for name, parts in kinds.items():

            def share(run: Runs, measure=measure, parts=parts) -> str:
                return f"{sum(np.mean(run.of(f'top.{measure}.{part}')) for part in parts):.3f}"

            rows.append((f"{NAMES[measure]}: {name}", share))
    rows.append(("a deciding word, by chance", lambda run: run.mean("chance.deciding")))
    table("What the top word is (means over seeds and sentences)", runs, rows)


def agreement(runs: list[Runs]) -> None:
    pairs = [
        ("attention", "removal"),
        ("largest_head", "removal"),
        ("rollout", "removal"),
        ("attention", "removal_last"),
        ("removal", "gradients"),
        ("attention", "gradients"),
        ("rollout", "gradients"),
    ]
    for title, prefix in [("The same top word", "same"), ("Rank correlation over the words of a sentence", "rank")]:
        rows = [
            (f"{NAMES[a]}, {NAMES[b]}", lambda run, key=f"{prefix}.{a}.{b}": run.spread(key)) for a, b in pairs
        ]
        if prefix == "same":
            rows.append(("chance", lambda run: run.mean("chance.same")))
        table(title, runs, rows)
    turns = [
        ("some word", "any"),
        ("some word but the marker", "any_but_marker"),
        ("the marker", "marker"),
        ("a deciding word", "a_deciding"),
        ("all deciding words", "all_deciding"),
        ("all rival deciding words", "all_rival_deciding"),
        ("the word with most attention", "attention"),
        ("the word with most attention of a head", "largest_head"),
        ("the word with most rollout", "rollout"),
        ("the word with most integrated gradients", "gradients"),
    ]
    table(
        "Share of sentences whose answer turns without",
        runs,
        [(name, lambda run, key=f"turns.{key}": run.spread(key)) for name, key in turns],
    )
    table(
        "Misled: share of the sentences that some word's removal turns, where the top word's removal does not",
        runs,
        [(NAMES[m], lambda run, key=f"misses.{m}": run.spread(key)) for m in MEASURES],
    )
    table(
        "Share of answers kept",
        runs,
        [
            ("[CLS] attends uniformly in the last block", lambda run: run.spread("kept.cls_even")),
            ("[CLS] attends as in the mean sentence", lambda run: run.spread("kept.cls_usual")),
            ("all attend uniformly in the first block", lambda run: run.spread("kept.first_even")),
        ],
    )
    rows = [
        (BLOCKS[layer], lambda run, key=f"heads_apart.{layer}": run.spread(key)) for layer in range(2)
    ]
    rows = rows if any(run.heads > 1 for run in runs) else []
    table("How far two heads are apart (share of attention that one would have to move)", runs, rows)


def claims(runs: list[Runs]) -> None:
    rows = []
    for layer in range(2):
        for which, name in [("own", "the quality behind `not`"), ("rival", "the other quality")]:

            def of(run: Runs, layer=layer, which=which) -> str:
                heads = [run.of(f"quality_to_not.{which}.{layer}.{head}") for head in range(run.heads)]
                if not heads[0]:
                    return "–"
                heads = np.array(heads)
                return f"{spread(heads.mean(axis=0))}; largest head {np.median(heads.max(axis=0)):.3f}"

            rows.append((f"{BLOCKS[layer]}: {name}", of))
    rows.append(("uniform", lambda run: run.mean("quality_to_not.even")))
    table("Attention on `not`", runs, rows)

    rows = []
    for layer in range(2):

        def wins(run: Runs, layer=layer) -> str:
            if layer >= run.layers or run.even_on("answer") == 0:
                return "–"
            answer, other = (run.looked(layer, "asked", kind) for kind in ["answer", "other answer"])
            most = (answer >= 0.5).any(axis=1).mean()
            return f"{np.mean(answer.mean(axis=1) > other.mean(axis=1)):.3f}; at least 0.5 in a head: {most:.3f}"

        rows.append((f"{BLOCKS[layer]}: seeds whose marked `it` looks at its noun more than at the other noun", wins))
    table("`it` and its noun", runs, rows)


def documents(runs: list[Runs]) -> None:
    for run in runs:
        for number, document in enumerate(run.rows[0]["documents"]):
            all_rows = [row["documents"][number] for row in run.rows]
            right = np.mean([row["right"] for row in all_rows])
            print(f"`{run.name}`: {' '.join(document['words'])} ({right:.1%} of {len(all_rows)} seeds are right)\n")
            words = ["[CLS]", *document["words"]]
            print("| from | " + " | ".join(words) + " |")
            print("|---|" + "---:|" * len(words))
            for query in ["[CLS]", "asked", "deciding", "rival deciding"]:
                # [seed, layer, head, key]
                rows = np.array([row["rows"][query] for row in all_rows])
                for layer in range(run.layers):
                    mean = rows[:, layer].mean(axis=(0, 1))
                    print(f"| {NAMES_OF_QUERIES.get(query, query)}, {BLOCKS[layer]} | " + " | ".join(f"{weight:.2f}" for weight in mean) + " |")
            print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--others", action="store_true", help="the seeds that did not learn")
    parser.add_argument("--documents", action="store_true", help="mean attention in the documents' sentences")
    options = parser.parse_args()
    runs = [Runs(path, options.others) for path in options.files]
    if not options.documents:
        learning(runs)
    # The other tables are of such seeds.
    runs = [run for run in runs if run.rows]
    if not runs:
        return
    if options.documents:
        documents(runs)
        return
    for part in [looking, most_important, agreement, claims]:
        part(runs)


if __name__ == "__main__":
    main()
