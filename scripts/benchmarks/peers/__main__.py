"""Times training steps of several architectures in Headlight, JAX and PyTorch, side by side, on one core.

    python3 -m venv .venv
    .venv/bin/pip install --no-deps -r scripts/benchmarks/requirements-bench.txt
    .venv/bin/python scripts/evidence/pytorch/without_cuda.py
    cargo build --release
    .venv/bin/python scripts/benchmarks/peers target/release/headlight --json peers.json --svg peers.svg
    .venv/bin/python scripts/benchmarks/peers target/release/headlight --shapes names --peers fused,scan --repeat 1
    .venv/bin/python scripts/benchmarks/peers target/release/headlight --repeat 0      # only compares logits

A table in Markdown goes to stdout, progress to stderr. All peers train the model of a shape (shapes.py) from the same weights on
the same samples, in batches of the same size. Before JAX and PyTorch are timed, their logits must agree with Headlight's within
1e-4. Peers take turns, so that other load affects all alike; figures are medians of the turns, and ratios are medians of the
ratios within a turn. All run on one core, except "all cores".

Headlight, fused      a training of many steps less one of a tenth, divided by the steps between; nothing is held out or dumped.
                      The batch order, the samples of shapes whose steps draw their own, and the evaluations at the ends of the
                      epochs between are included; for names and a + b, none lies between.
Headlight, steps      the same with next to no evaluations: as JAX and PyTorch, which have none
Headlight, all cores  the same with as many threads as Headlight chooses
Headlight on Burn     the same with Burn's tensors, and fewer steps
JAX, scan             `jit` over `lax.scan` over 96 steps, already compiled, called for half a second
JAX, vmap             the same over 12 steps of eight models at once, divided by eight
PyTorch, eager        one step after another, with the optimizer in one kernel
PyTorch, compiled     `torch.compile` of the whole step
microgpt              the crate of that name, where a program of it is given and the model is its own. It takes a step per name, so
                      the figure is that of 16 steps: `cargo install microgpt@0.1.1 --root FOLDER --quiet`, then
                      `--microgpt FOLDER/bin/microgpt`

Where the classifier reads one position, JAX computes its query alone in the last block, as Headlight does; PyTorch's model
computes all. JAX and PyTorch compute padding, and Headlight computes as little of it as it can. Adam's second moments of tokens
are per token in JAX and PyTorch, and PyTorch's Adam adds epsilon as published, not as Keras does. A peer that cannot run is left
out, and stderr says why.

The operations are those of matrix products (shapes.operations). The peak is that of separate multiplications and additions on one
core (peak.rs).
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ALL_CORES = os.sched_getaffinity(0)
# Before JAX and PyTorch make threads.
for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC", "TORCHINDUCTOR_COMPILE_THREADS"]:
    os.environ[variable] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.sched_setaffinity(0, {max(ALL_CORES)})

import numpy as np  # noqa: E402

from headlight import Failed, Headlight, run  # noqa: E402
from shapes import EVALUATE_LITTLE, ROOT, SHAPES, Shape, operations  # noqa: E402

FUSED, STEPS, ALL, BURN = "Headlight, fused", "Headlight, steps", "Headlight, all cores", "Headlight on Burn"
SCAN, VMAP = "JAX, scan", "JAX, vmap"
EAGER, COMPILED = "PyTorch, eager", "PyTorch, compiled"
MICROGPT = "microgpt"
PEERS = [FUSED, STEPS, ALL, BURN, SCAN, VMAP, EAGER, COMPILED, MICROGPT]
MODELS = 8  # of vmap
LEAST = 0.5  # seconds of a measurement of JAX or PyTorch
TOLERANCE = 1e-4

Peer = Callable[[], float]  # seconds per step


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def check(name: str, wanted: np.ndarray, found: np.ndarray) -> float:
    """Whether a peer's model is Headlight's; returns how far its logits are from Headlight's."""
    if wanted.shape != found.shape:
        sys.exit(f"{name}: logits have axes {found.shape}, and Headlight's {wanted.shape}")
    difference = float(np.abs(wanted - found).max())
    if not difference < TOLERANCE:
        sys.exit(f"{name}: logits differ by {difference}")
    return difference


def orders(samples: int, batch_size: int, steps: int) -> np.ndarray:
    """The samples of each step, `[step, sample]`; each epoch has a new order and leaves out what fills no batch."""
    random = np.random.default_rng(0)
    per_epoch = samples // batch_size
    epochs = [random.permutation(samples)[: per_epoch * batch_size] for _ in range(-(-steps // per_epoch))]
    return np.concatenate(epochs).reshape(-1, batch_size)[:steps].astype(np.int32)


def jax_peers(name: str, own: Headlight, data: tuple, wanted: np.ndarray, peers: list[str]) -> tuple[dict[str, Peer], float]:
    import jax_model

    tokens, labels = data
    found = np.asarray(jax_model.Model(own.config).logits(own.weights, tokens[: len(wanted)]))
    difference = check(f"{name}: {SCAN}", wanted, found)

    def peer(models: int) -> Peer:
        order = orders(len(tokens), own.config["training.batch_size"], jax_model.STEPS // models)
        training = jax_model.Training(own.config, own.weights, tokens, labels, order, models)

        def measure() -> float:
            calls, start = 0, time.perf_counter()
            while time.perf_counter() < start + LEAST:
                training.run()
                calls += 1
            return (time.perf_counter() - start) / (calls * training.steps)

        return measure

    return {key: peer(models) for key, models in [(SCAN, 1), (VMAP, MODELS)] if key in peers}, difference


def pytorch_peers(name: str, own: Headlight, data: tuple, wanted: np.ndarray, peers: list[str]) -> tuple[dict[str, Peer], float]:
    import pytorch_model

    tokens, labels = data
    order = orders(len(tokens), own.config["training.batch_size"], 200)
    make = lambda compiled: pytorch_model.Training(own.config, own.weights, tokens, labels, order, compiled)
    eager = make(False)
    found, difference = {}, check(f"{name}: {EAGER}", wanted, pytorch_model.logits(own.config, own.weights, tokens[: len(wanted)]))
    if EAGER in peers:
        found[EAGER] = lambda: eager.seconds_per_step(LEAST)
    if COMPILED in peers:
        try:
            compiled = make(True)
            found[COMPILED] = lambda: compiled.seconds_per_step(LEAST)
        except Exception as error:  # whatever its compiler raises
            note(f"{name}: without {COMPILED}: {(str(error).splitlines() or [type(error).__name__])[0]}")
    return found, difference


def microgpt_step(program: str, folder: pathlib.Path) -> float:
    few, many = (run([program, "train", str(folder / "microgpt.weights"), str(steps)]) for steps in [3, 33])
    return 16 * (many - few) / 30


def headlight_peers(own: Headlight, shape: Shape, peers: list[str]) -> dict[str, Peer]:
    found = {
        FUSED: lambda: own.step(shape.steps, "--engine", "fused", "--threads", "1"),
        STEPS: lambda: own.step(shape.steps, "--engine", "fused", "--threads", "1", changes=EVALUATE_LITTLE),
        ALL: lambda: own.step(shape.steps, "--engine", "fused", cores=ALL_CORES),
        BURN: lambda: own.step(shape.burn_steps, "--engine", "burn"),
    }
    return {key: peer for key, peer in found.items() if key in peers}


def time_shape(name: str, shape: Shape, args: argparse.Namespace, folder: pathlib.Path) -> dict:
    own = Headlight(args.program, shape, folder)
    data = own.samples()
    wanted = own.logits(data[0][:100])
    timed = args.peers if args.repeat else []
    peers, differences = headlight_peers(own, shape, timed), {}
    if BURN in peers:
        try:
            own.train(1, "--engine", "burn")
        except Failed as failed:
            note(f"{name}: without {BURN}: {failed}")
            del peers[BURN]
    for prepare, library, keys in [(jax_peers, "JAX", [SCAN, VMAP]), (pytorch_peers, "PyTorch", [EAGER, COMPILED])]:
        if not set(keys) & set(args.peers):
            continue
        try:
            more, differences[library] = prepare(name, own, data, wanted, timed)
            peers |= more
        except (ImportError, ValueError) as error:
            note(f"{name}: without {library}: {error}")
    if args.microgpt and MICROGPT in timed and name == "names, width 16":
        peers[MICROGPT] = lambda: microgpt_step(args.microgpt, folder)
    found = ", ".join(f"{library}'s by {difference:.1e}" for library, difference in differences.items())
    note(f"{name}, logits differ from Headlight's: {found or 'not compared'}")
    turns = []
    for turn in range(args.repeat):
        turns.append({key: peer() for key, peer in peers.items()})
        times = ", ".join(f"{key} {1e6 * seconds:,.1f}" for key, seconds in turns[-1].items())
        note(f"{name}, turn {turn + 1}, µs: {times}")
    if not turns:
        return {"differences": differences}
    steps = {key: statistics.median(turn[key] for turn in turns) for key in peers}
    ratio = lambda key, other: statistics.median(turn[key] / turn[other] for turn in turns)
    ratios = {key: {other: ratio(key, other) for other in peers} for key in [FUSED, STEPS] if key in peers}
    count = operations(own.config, data[0])
    return {"operations": count, "steps": steps, "ratios": ratios, "differences": differences, "turns": turns}


def peak(folder: pathlib.Path) -> tuple[float, str]:
    """Operations per second of one core without fused multiply-add, and on which vectors."""
    program = folder / "peak"
    subprocess.run(["rustc", "-O", "-o", program, ROOT / "scripts" / "benchmarks" / "peak.rs"], check=True)
    out = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    number, vectors = out.strip().split(" ", 1)
    return 1e9 * float(number), vectors


def machine() -> str:
    names = [platform.processor()]
    if pathlib.Path("/proc/cpuinfo").exists():
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")] or names
    return f"{names[0] or '?'}, {len(ALL_CORES)} cores, {platform.system()}"


def versions(program: str) -> str:
    found = [subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip()]
    for label, package in [("JAX", "jax"), ("PyTorch", "torch")]:
        try:
            found.append(f"{label} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"no {label}")
    return ", ".join([*found, f"Python {platform.python_version()}"])


def microseconds(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    time = 1e6 * seconds
    return f"{time:.2f}" if time < 10 else f"{time:.1f}" if time < 100 else f"{time:,.0f}"


def row(name: str, shape: dict, peers: list[str], most: float) -> list[str]:
    steps = shape["steps"]
    ratios = [f"{shape['ratios'][key][SCAN]:.3f}" if {key, SCAN} <= steps.keys() else "–" for key in [FUSED, STEPS]]
    rate = shape["operations"] / steps[STEPS] if STEPS in steps else None
    shares = [f"{rate / 1e9:.1f}", f"{rate / most:.0%}"] if rate else ["–", "–"]
    times = [microseconds(steps.get(peer)) for peer in peers]
    return [name, f"{shape['operations'] / 1e6:.3g} million", *times, *ratios, *shares]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def select(text: str) -> list[str]:
    parts = text.split(",")
    found = [peer for peer in PEERS if any(part in peer for part in parts)]
    if not found:
        raise argparse.ArgumentTypeError(f"no peer's name holds {text}; they are: {'; '.join(PEERS)}")
    return found


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="peers", description=__doc__.splitlines()[0])
    parser.add_argument("program", help="Headlight's binary")
    parser.add_argument("--shapes", default="", metavar="PART", help="part of the names of the shapes to time")
    parser.add_argument("--peers", type=select, default=PEERS, metavar="PARTS", help="parts of the names of the peers, with commas")
    parser.add_argument("--repeat", type=int, default=5, help="turns of all peers; 0 only compares logits (default: %(default)s)")
    parser.add_argument("--microgpt", help="the program of the crate microgpt")
    parser.add_argument("--json", type=pathlib.Path, help="also write all figures here")
    parser.add_argument("--svg", type=pathlib.Path, help="also draw them here")
    args = parser.parse_args()
    if not any(args.shapes in name for name in SHAPES):
        parser.error(f"no shape's name holds {args.shapes}; they are: {'; '.join(SHAPES)}")
    args.program = str(pathlib.Path(args.program).resolve())
    args.microgpt = args.microgpt and str(pathlib.Path(args.microgpt).resolve())
    return args


def main() -> None:
    args = parse()
    peers = [peer for peer in args.peers if peer != MICROGPT or args.microgpt]
    with tempfile.TemporaryDirectory() as folder:
        most, vectors = peak(pathlib.Path(folder))
    figures = {"machine": machine(), "versions": versions(args.program), "peak": most, "vectors": vectors, "shapes": {}}
    print(f"{figures['machine']}; {figures['versions']}. Times are in µs per step.")
    print(f"Peak of one core without fused multiply-add: {most / 1e9:.1f}e9 operations per second ({vectors}).\n")
    head = ["shape", "operations", *peers, "fused / scan", "steps / scan", "steps, 1e9 operations/s", "of the peak"]
    if args.repeat:
        print(line(head) + "\n" + line(["---"] + ["---:"] * (len(head) - 1)), flush=True)
    for name, shape in SHAPES.items():
        if args.shapes not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = figures["shapes"][name] = time_shape(name, shape, args, pathlib.Path(folder))
        if args.repeat:
            print(line(row(name, found, peers, most)), flush=True)
        if args.json:
            args.json.write_text(json.dumps(figures, indent=1) + "\n")
    differences = [shape["differences"] for shape in figures["shapes"].values()]
    for library in sorted(set().union(*differences)):
        most_different = max(found[library] for found in differences if library in found)
        print(f"\nLogits of {library} differ from Headlight's by at most {most_different:.1e}.")
    if args.svg and args.repeat:
        import plot

        plot.draw(figures, args.svg)


if __name__ == "__main__":
    main()
