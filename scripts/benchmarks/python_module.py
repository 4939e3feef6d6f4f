"""Measures the Python module: against the command line, a call of a model, training and tracing in memory, and the same
experiment in four libraries.

    python scripts/benchmarks/python_module.py target/release/headlight [--keras PYTHON] [--pytorch PYTHON] [--repeat N]

Needs scripts/python/requirements-python.txt, and Headlight's module. --keras and --pytorch name interpreters of environments
with Keras and with PyTorch; without them, the figures of these two are left out. Tables in Markdown go to stdout. Each figure is
a median; programs that are compared take turns, so that other load affects them alike.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import headlight as hl

PROGRAMS = pathlib.Path(__file__).parent / "same_experiment"
TITLES = {"headlight": "Headlight", "scikit_learn": "scikit-learn", "keras": "Keras", "pytorch": "PyTorch"}


def seconds(call):
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def sweeps(program, repeat):
    """A thousand seeds, from Python and on the command line, in turn."""
    times = {"command line": [], "Python": []}
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.jsonl"
            command = [program, "sweep", "notebook", "--seeds", "0..1000", "--out", out, "--quiet"]
            times["command line"].append(seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))[0])
            took, _ = seconds(lambda: hl.sweep("notebook", seeds=1000, progress=False))
            times["Python"].append(took)
    ratios = [ours / theirs for ours, theirs in zip(times["Python"], times["command line"])]
    print("| a thousand seeds | seconds |\n|---|---:|")
    for name, took in times.items():
        print(f"| {name} | {statistics.median(took):.2f} |")
    print(f"\nPython takes {statistics.median(ratios):.3f} of the command line's time (median of {repeat} pairs).\n")


def calls(repeat):
    """A model's call on a thousand samples, and the copies of its arrays alone."""
    model = hl.train("notebook", progress=False).model
    tokens = np.random.default_rng(0).integers(1, 51, (1000, 6))
    count = 50 * repeat
    own = statistics.median(seconds(lambda: model(tokens))[0] for _ in range(count))
    out = model(tokens)
    arrays = [out.scores, out.weights, out.logits, out.probabilities]
    copies = statistics.median(seconds(lambda: [array.copy() for array in arrays])[0] for _ in range(count))
    everything = statistics.median(seconds(lambda: model(tokens).context)[0] for _ in range(count))
    print("| call of the notebook's model on 1,000 samples | ms |\n|---|---:|")
    print(f"| predictions, scores and weights | {1e3 * own:.2f} |\n| all arrays | {1e3 * everything:.2f} |")
    print(f"| a copy of the first four arrays | {1e3 * copies:.2f} |\n")


def same_experiment(interpreters, repeat):
    """The program of each library, in a process of its own."""
    times = {name: [] for name in interpreters}
    said = {}
    for _ in range(repeat):
        for name, interpreter in interpreters.items():
            command = [interpreter, PROGRAMS / f"with_{name}.py"]
            took, done = seconds(lambda: subprocess.run(command, check=True, capture_output=True, text=True))
            times[name].append(took)
            said[name] = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    print("| library | lines of code | seconds | F1 | attention of [CLS] |\n|---|---:|---:|---:|---|")
    for name, took in times.items():
        lines = (PROGRAMS / f"with_{name}.py").read_text(encoding="utf-8").splitlines()
        count = sum(bool(line.strip()) for line in lines)
        f1 = float(said[name]["f1"])
        looks = [f"{weight:.2f}" for weight in json.loads(said[name].get("attention", "[]"))]
        print(f"| {TITLES[name]} | {count} | {statistics.median(took):.2f} | {f1:.3f} | {' '.join(looks) or 'none'} |")


def in_memory(repeat):
    """A training with and without a run directory, and what explains predictions: processor time, by the process's own clock."""

    def processor(call, count):
        took = []
        for number in range(count):
            began = time.process_time()
            call(number)
            took.append(time.process_time() - began)
        return 1e3 * statistics.median(took), 1e3 * min(took)

    run = hl.train("negation", progress=False)
    sentences, model = run.samples[:32], run.model
    half = len(sentences) // 2
    clean, corrupted = model(sentences[:half]), model(sentences[half : 2 * half])
    rows = {
        "`hl.fit` of the notebook": (lambda seed: hl.fit("notebook", seed=seed), 10 * repeat),
        "`hl.train` of the notebook": (lambda seed: hl.train("notebook", seed=seed, progress=False), 2 * repeat),
        f"`attribute` of {len(sentences)} sentences of `negation`": (lambda _: model.attribute(sentences), repeat),
        f"`hl.trace` of {half} pairs of them": (lambda _: hl.trace(clean, corrupted), 2 * repeat),
    }
    print("| in memory | processor time, ms: median | least |\n|---|---:|---:|")
    for name, (call, count) in rows.items():
        median, least = processor(call, count)
        print(f"| {name} | {median:.1f} | {least:.1f} |")
    print()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--keras")
    parser.add_argument("--pytorch")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    sweeps(arguments.program, arguments.repeat)
    calls(arguments.repeat)
    in_memory(arguments.repeat)
    interpreters = {"headlight": sys.executable, "scikit_learn": sys.executable, "keras": arguments.keras, "pytorch": arguments.pytorch}
    same_experiment({name: path for name, path in interpreters.items() if path}, arguments.repeat)


if __name__ == "__main__":
    main()
