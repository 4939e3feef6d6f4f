"""What the pages of the studies share: rows, statistics, Markdown and figures.

    python -m studies.first.page             # from the repository's root: writes docs/findings/first.md and first.svg
    python -m studies.first.page FOLDER      # of your own rows: FOLDER has PART.jsonl, and gets first.md and first.svg
"""

import json
import lzma
import pathlib
import sys
import tomllib

import matplotlib
import numpy as np
import pandas as pd
from scipy import stats

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "headlight"
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plt  # noqa: E402


class Study:
    """A plan, and the rows of its parts."""

    def __init__(self, page: str) -> None:
        self.home = pathlib.Path(page).parent
        self.folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else self.home
        self.page = (self.folder if len(sys.argv) > 1 else pathlib.Path("docs/findings")) / self.home.name
        self.plan = tomllib.loads((self.home / "plan.toml").read_text(encoding="utf-8"))
        self.parts = {part["name"]: self._rows(part["name"]) for part in self.plan["part"]}

    def _rows(self, part: str) -> pd.DataFrame:
        """The rows of a part, with those columns of its table that they lack; the table alone if there are no rows."""
        paths = [self.folder / "rows" / f"{part}.jsonl.xz", self.folder / f"{part}.jsonl"]
        table = next((path for path in self.folder.glob(f"{part}.csv*")), None)
        table = pd.read_csv(table) if table else pd.DataFrame()
        rows = next((read_rows(path) for path in paths if path.exists()), pd.DataFrame())
        if len(table) < len(rows) and len(table):
            raise SystemExit(f"{part}.csv has {len(table)} runs, and the rows are of {len(rows)}")
        return table if len(table) > len(rows) else rows.join(table[table.columns.difference(rows.columns)])

    def write(self, findings: list[str], how: list[str], compared: list[list[str]], panels: list) -> None:
        """Writes the page and its figures. `compared` is empty if nothing was published."""
        counts = [(part["name"], len(self.parts[part["name"]]), runs(part)) for part in self.plan["part"]]
        source = [self.plan["source"] + "."]
        if any(found < planned for _, found, planned in counts):
            source.append("This page is not of all runs of the plan, so what it says can change.")
        trained = ", ".join(f"{found:,} of `{name}`" for name, found, _ in counts)
        name = self.plan["name"]
        repeat = f"`headlight reproduce {name}` trains these runs: {trained}. In a clone, `python -m studies.{name}.page` makes this page of the committed rows."
        beside = ["## Published and ours", table(["quantity", "published", "ours", "95% interval"], compared)] if compared else []
        blocks = [
            "# " + self.plan["question"],
            *source,
            "## Findings",
            *findings,
            f"![The figures]({self.page.name}.svg)",
            *beside,
            "## How to repeat it",
            repeat,
            *how,
        ]
        self.page.with_suffix(".md").write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
        figure, axes = plt.subplots(len(panels), figsize=(7, 3 * len(panels)), layout="constrained")
        for axis, panel in zip(np.atleast_1d(axes), panels, strict=True):
            panel(axis)
        figure.savefig(self.page.with_suffix(".svg"), metadata={"Date": None, "Creator": None})


def read_rows(path: pathlib.Path) -> pd.DataFrame:
    """The rows of a results file, without those of failed runs."""
    opened = lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8")
    with opened as file:
        rows = [json.loads(line) for line in file]
    return pd.DataFrame([row for row in rows if "error" not in row])


def runs(part: dict) -> int:
    """How many runs a part of a plan has."""
    return part["seeds"] * int(np.prod([len(grid.split(",")) for grid in part.get("grid", [])], dtype=int))


def numbers(rows: pd.DataFrame, path: str) -> np.ndarray:
    """A number of each run, NaN where it is not defined. A path names a column, or an entry of its lists or objects, such as
    `deciding_attention/1/0`."""
    name, *inner = [path] if path in rows else path.split("/")
    if name not in rows:
        raise SystemExit(f"the rows have no `{name}`; the study's measures.py computes what they lack")
    values = rows[name]
    for key in inner:
        values = [None if value is None else value[int(key) if isinstance(value, list) else key] for value in values]
    return np.array(pd.to_numeric(pd.Series(list(values), dtype=object)), dtype=float)


def known(values: np.ndarray) -> np.ndarray:
    """The values that are not NaN."""
    return values[np.isfinite(values)]


def quantile(values: np.ndarray, share: float) -> float:
    """A quantile of the known values."""
    return float(np.quantile(known(values), share)) if len(known(values)) else float("nan")


def median(values: np.ndarray) -> float:
    """The median of the known values."""
    return quantile(values, 0.5)


def wilson(count: int, of: int) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    if of == 0:
        return 0.0, 1.0
    interval = stats.binomtest(int(count), int(of)).proportion_ci(method="wilson")
    return interval.low, interval.high


def median_interval(values: np.ndarray) -> tuple[float, float] | None:
    """The 95% interval of the median, from the binomial distribution; none of fewer than six values."""
    ordered = np.sort(known(values))
    cuts = np.arange(len(ordered) // 2)
    cuts = cuts[stats.binom.cdf(cuts, len(ordered), 0.5) <= 0.025]
    return (ordered[cuts[-1]], ordered[-1 - cuts[-1]]) if len(cuts) else None


def spearman(a: np.ndarray, b: np.ndarray) -> tuple[float, tuple[float, float]]:
    """Spearman's correlation and its 95% interval: Fisher's z with the variance of Bonett and Wright 2000."""
    both = np.isfinite(a) & np.isfinite(b)
    correlation = stats.spearmanr(a[both], b[both]).statistic
    spread = 1.96 * np.sqrt((1 + correlation**2 / 2) / (both.sum() - 3))
    return correlation, tuple(np.tanh(np.arctanh(correlation) + [-spread, spread]))


def roc_area(scores: np.ndarray, labels: np.ndarray) -> tuple[float, tuple[float, float]]:
    """The area under the ROC curve and its 95% interval (Hanley and McNeil 1982)."""
    ones, zeros = labels.sum(), (~labels).sum()
    area = (stats.rankdata(scores)[labels].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (area * (1 - area) + (ones - 1) * (q1 - area**2) + (zeros - 1) * (q2 - area**2)) / (ones * zeros)
    half = 1.96 * np.sqrt(max(variance, 0))
    return area, (area - half, min(area + half, 1.0))


def one_mode(values: np.ndarray, samples: int = 500) -> float:
    """The probability of so large a critical bandwidth of a density with one mode (Silverman 1981)."""
    values = np.sort(known(values))
    mean, variance = values.mean(), values.var()
    low, high = 1e-4 * np.sqrt(variance), 2 * np.sqrt(variance)
    for _ in range(30):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if modes(values, middle) == 1 else (middle, high)
    shrink = 1 / np.sqrt(1 + high**2 / variance)
    random = np.random.default_rng(0)
    drawn = random.choice(values, (samples, len(values))) - mean + high * random.standard_normal((samples, len(values)))
    return float(np.mean([modes(mean + sample * shrink, high) > 1 for sample in drawn]))


def modes(values: np.ndarray, bandwidth: float) -> int:
    """The modes of a density of Gaussian kernels, counted on a grid."""
    grid = np.linspace(values.min() - 3 * bandwidth, values.max() + 3 * bandwidth, 400)
    density = np.exp(-0.5 * ((grid[:, None] - values) / bandwidth) ** 2).sum(axis=1)
    return int(np.sum((density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])))


def probability(value: float) -> str:
    """A probability of `one_mode` in words."""
    return f"p = {value:.2f}" if value > 0 else "p < 0.002"


def percents(interval: tuple[float, float], decimals: int = 1) -> str:
    """An interval of a share, in percent."""
    return " to ".join(f"{100 * end:.{decimals}f}%" for end in interval)


def between(interval: tuple[float, float] | None, form: str = ".3f") -> str:
    """An interval, or a dash."""
    return "–" if interval is None else " to ".join(format(end, form) for end in interval)


def table(header: list[str], rows: list[list]) -> str:
    """A table in Markdown: the first column to the left, numbers to the right."""
    lines = [list(map(str, line)) for line in [header, *rows]]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    cells = [[line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines]
    texts = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([texts[0], "|" + "|".join(rule) + "|", *texts[1:]])


def histogram(values: np.ndarray, label: str, mark: tuple[float, str] | None = None):
    """A panel: how many runs have which value."""

    def draw(axis: plt.Axes) -> None:
        axis.hist(known(values), bins=50, histtype="stepfilled")
        axis.set(xlabel=label, ylabel="runs")
        if mark:
            axis.axvline(mark[0], color="black", linewidth=1)
            axis.annotate(mark[1], (mark[0], 0.95), xycoords=("data", "axes fraction"), va="top")

    return draw


def scatter(x: np.ndarray, y: np.ndarray, labels: tuple[str, str], limit: int = 1000):
    """A panel: one number of each run beside another one, of the first runs."""

    def draw(axis: plt.Axes) -> None:
        axis.plot(x[:limit], y[:limit], ".", markersize=3)
        axis.set(xlabel=labels[0], ylabel=labels[1])

    return draw


def lines(sets: dict[str, tuple], labels: tuple[str, str], groups: list | None = None):
    """A panel: curves of x and y, or of x and a range (low, middle, high)."""

    def draw(axis: plt.Axes) -> None:
        for name, (x, y) in sets.items():
            y = np.array(y, dtype=float)
            if y.ndim == 2:
                axis.errorbar(x, y[:, 1], [y[:, 1] - y[:, 0], y[:, 2] - y[:, 1]], fmt="o", capsize=3, label=name)
            else:
                axis.plot(x, y, "o-", label=name)
        axis.set(xlabel=labels[0], ylabel=labels[1])
        if groups:
            axis.set_xticks(range(len(groups)), groups)
        if len(sets) > 1:
            axis.legend()

    return draw
