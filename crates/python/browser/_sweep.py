"""Sweeps: many seeds of one config."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

from ._config import Config, resolve
from ._engine import Diverged, Engine
from ._lacking import absent, lacking
from ._model import Plan
from ._page import document
from ._plan import points_of, seeds_of
from ._progress import progress as shown
from ._rows import Rows
from ._run import Fit
from ._training import Schedule, measured, trained
from ._values import Source

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .keys import Sections


def sweep(
    config: Source = "notebook",
    *,
    seeds: range | int | tuple[int, int] = range(100),
    grid: Mapping[str, Sequence[Any]] | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
    **sections: Unpack[Sections],
) -> Sweep:
    """Trains many runs of a config, and keeps their results.

    Args:
        config: The name of a built-in config, a path of a TOML file, or a dict.
        seeds: A range with step 1, a pair `(first, end)` without `end`, or the number of seeds, from 0.
        grid: Values by key, such as `{"training.learning_rate": [1e-3, 3e-3]}`; each seed is trained with each combination.
        threads: Without effect: one thread trains.
        out: Not in the browser, which writes no results files.
        progress: As in `train`.
        **sections: Changes to the config by section.

    Raises:
        ValueError: The config, the seeds or the grid are invalid.
        NotInTheBrowser: Only the native module can do it.
    """
    first, end = seeds_of(seeds)
    if out is not None:
        raise lacking("results files: leave out= out, and take sweep.rows")
    keys = points_of({} if grid is None else grid)
    # A sweep keeps final models.
    base = resolve(config, sections).without("training", "keep_best", "patience")
    points = [dict(zip((key for key, _ in keys), values, strict=True)) for values in product(*(values for _, values in keys))]
    swept = Sweep([], base)
    engine = Engine(base.module)
    with shown(progress, "run") as report:
        for seed in range(first, end):
            for number, point in enumerate(points):
                row = {"seed": seed, **({"point": number} if keys else {}), **point}
                swept.rows.append({**row, **_results(engine, _at(base, seed, point))})
                if report is not None:
                    report(len(swept.rows), (end - first) * len(points))
    failed = swept._failed
    if failed:
        warnings.warn(f"{len(failed)} of {len(swept)} runs failed; the first, of seed {failed[0]['seed']}: {failed[0]['error']}", stacklevel=2)
    return swept


def _at(base: Config, seed: int, point: Mapping[str, Any]) -> Config:
    """The config of a run."""
    for key, value in point.items():
        section, *names = key.split(".")
        # A key may lie deeper than a section: its neighbours stay.
        for name in reversed(names[1:]):
            value = {name: value}
        if len(names) > 1:
            value = {**base.keys.get(section, {}).get(names[0], {}), **value}
        base = base.changed({section: {names[0]: value}} if names else {section: value})
    return base.changed({"seed": seed})


def _results(engine: Engine, config: Config) -> dict[str, Any]:
    """The fields of a row, as `headlight sweep` writes them; or why the run failed."""
    begun, _ = engine.ask(config.request("begin", tokens=[]))
    schedule = Schedule.of(Plan.of(config, begun).resolved, begun)
    try:
        _, losses = engine.ask({"operation": "advance"}, most=begun["steps"])
        results, _ = engine.ask({"operation": "end"})
    except Diverged as error:
        return {"error": str(error)}
    return {
        "epoch_loss": schedule.epoch_losses(losses),
        **measured(results, "final_loss"),
        "attention_positive": results["attention"]["positive"],
        "attention_negative": results["attention"]["negative"],
        "learned": results["learned"],
        "weights_sha256": results["weights_sha256"],
    }


class Sweep(Rows):
    """The results of many runs.

    Attributes:
        rows: A dict per run, with the fields of `headlight sweep` that the engine measures; `learned` is whether the final
            model learned its task.
    """

    open = absent("Sweep.open")
    svg = property(absent("Sweep.svg"))

    def __init__(self, rows: list[dict[str, Any]], base: Config) -> None:
        self.rows = rows
        self._base = base

    def model(self, seed: int, point: int | None = None) -> Fit:
        """The model of a seed, trained again.

        Args:
            seed: A seed of the sweep.
            point: The point of the grid: the value of `point` in the seed's rows. Needed if the sweep has a grid.

        Raises:
            ValueError: The sweep has no such row, or its run failed.
        """
        row = self._row(seed, point)
        return Fit(trained(_at(self._base, int(seed), {key: value for key, value in row.items() if "." in key}), None, None))

    @staticmethod
    def _is_learned(row: dict[str, Any]) -> bool:
        return bool(row.get("learned"))

    def html(self) -> str:
        """The rows as an HTML file of its own."""
        return document(repr(self)[1:-1], self._repr_html_())

    def _repr_html_(self) -> str:
        names = dict.fromkeys(name for row in self.rows for name, value in row.items() if not isinstance(value, list))
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        cells = ("".join(f"<td>{escape(_short(row.get(name)))}</td>" for name in names) for row in self.rows)
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        return f'<div style="max-height: 400px; overflow: auto"><table><caption>{escape(repr(self)[1:-1])}</caption><tr>{head}</tr>{body}</table></div>'


def _short(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)[:12]
