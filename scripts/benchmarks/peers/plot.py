"""Draws the figures of the benchmark as dots on a logarithmic axis, one row per shape.

    .venv/bin/python scripts/benchmarks/peers/plot.py peers.json peers.svg

The JSON file is that of `peers --json`. Needs matplotlib.
"""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

# By peer: marker, colour, whether it is filled, and size. Headlight's are red. The crate microgpt, thousands of times slower, is
# in the table alone.
STYLES = {
    "PyTorch, eager": ("s", "#5a5a5a", True, 5),
    "PyTorch, compiled": ("s", "#5a5a5a", False, 5),
    "JAX, scan": ("o", "#2f6db3", True, 5.5),
    "JAX, vmap": ("o", "#2f6db3", False, 5.5),
    "Headlight on Burn": ("D", "#c8322b", False, 5.5),
    "Headlight, fused": ("D", "#c8322b", True, 7.5),
    "Headlight, steps": ("d", "#c8322b", False, 5),
    "Headlight, all cores": ("|", "#c8322b", True, 15),
}


def draw(figures: dict, path: pathlib.Path) -> None:
    """`figures`: what `__main__.py` writes as JSON."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "peers", "font.size": 9, "font.family": "sans-serif"})
    shapes = figures["shapes"]
    figure, plot = plt.subplots(figsize=(8.2, 1.5 + 0.36 * len(shapes)))
    rows = range(len(shapes), 0, -1)
    for row, shape in zip(rows, shapes.values()):
        times = [1e6 * time for peer, time in shape["steps"].items() if peer in STYLES]
        plot.plot([min(times), max(times)], [row, row], color="0.85", linewidth=1, zorder=1)
    for peer, (marker, color, is_filled, size) in STYLES.items():
        points = [(1e6 * shape["steps"][peer], row) for row, shape in zip(rows, shapes.values()) if peer in shape["steps"]]
        if points:
            face = color if is_filled else "white"
            style = {"color": color, "markerfacecolor": face, "markersize": size, "markeredgewidth": 1.3}
            plot.plot(*zip(*points), marker, label=peer, zorder=3 if peer.startswith("Headlight") else 2, **style)
    plot.set(xscale="log", xlabel="µs per step, on one core except “all cores”", ylim=(0.4, len(shapes) + 0.6))
    plot.set_yticks(list(rows), list(shapes))
    plot.tick_params(axis="y", length=0)
    plot.xaxis.set_major_formatter(lambda value, _: f"{value:,g}" if value < 1e6 else f"{value / 1e6:g} million")
    plot.grid(axis="x", color="0.9", linewidth=0.6)
    plot.set_axisbelow(True)
    plot.spines[["top", "right", "left"]].set_visible(False)
    handles, labels = plot.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncol=4, frameon=False, handletextpad=0.2, columnspacing=1.4)
    legend = 0.55 if len(labels) > 4 else 0.32
    figure.tight_layout(rect=(0, 0, 1, 1 - legend / figure.get_figheight()))
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2]))
