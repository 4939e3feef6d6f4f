"""Times training steps of several architectures in JAX and Headlight, side by side, on one core.

    .venv/bin/python scripts/benchmarks/bench_shapes.py target/release/headlight --json shapes.json

The environment is that of bench_peers.py. All peers train `configs/equal_positions.toml` with the changes of a
shape, from the same weights on the same samples. Peers take turns, so that other load affects all alike; figures
are medians of the repetitions, and ratios are medians of the ratios within a turn.

Headlight    a training of many epochs less one of few, divided by the steps between; nothing is held out or dumped
JAX, scan    jit over `lax.scan` over the steps, already compiled
JAX, vmap    the same with `vmap` over eight models, divided by eight

Before it is timed, JAX's model must have Headlight's logits within 1e-4.

Operations are the multiplications and additions of matrix products: those of the forward pass, as the fused engine
needs them, three times. The last block then has one query, and neither keys nor values. Norms, softmax, embeddings
and Adam are not counted. The peak is that of separate multiplications and additions (peak.rs).
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"]:
    os.environ[variable] = "1"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import safetensors.numpy  # noqa: E402
from jax.flatten_util import ravel_pytree  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = "configs/equal_positions.toml"
SAMPLES, BATCH_SIZE, HEADS, EPSILON = 8_000, 16, 2, 1e-6
STEPS_PER_EPOCH = SAMPLES // BATCH_SIZE
RATE, BETA_1, BETA_2, ADAM_EPSILON = 3e-3, 0.9, 0.999, 1e-7
VMAP = 8

# Name: changes of the config, and epochs of the long training of the fused engine; Burn takes a tenth.
SHAPES = {
    "equal_positions": ({}, 20),
    "d_ff 64": ({"model.d_ff": 64}, 20),
    "d_model 64, four blocks": ({"model.d_model": 64, "model.n_layers": 4}, 3),
    "64 positions": ({"data.seq_len": 63}, 3),
}


def headlight(program: str, folder: pathlib.Path, changes: dict, *more: str) -> float:
    """Trains; returns the seconds."""
    given = {"data.held_out": 0, "dump.positives": 0, "dump.negatives": 0, "dump.samples": "[]"} | changes
    sets = [part for key, value in given.items() for part in ["--set", f"{key}={value}"]]
    with tempfile.TemporaryDirectory(dir=folder) as run:
        path = pathlib.Path(run) / "run"
        command = [program, "train", CONFIG, "--run", path, *sets, *more]
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        seconds = time.perf_counter() - start
        (path / "model.safetensors").replace(folder / "model.safetensors")
    return seconds


def headlight_step(program: str, folder: pathlib.Path, changes: dict, engine: str, epochs: int) -> float:
    """Seconds per step."""
    few = max(1, epochs // 10)
    seconds = [
        headlight(program, folder, changes, "--engine", engine, "--set", f"training.epochs={count}")
        for count in [few, epochs]
    ]
    return (seconds[1] - seconds[0]) / ((epochs - few) * STEPS_PER_EPOCH)


def norm(x, gamma, beta):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + EPSILON) * gamma + beta


def logits(weights: dict, tokens):
    """Logits [sample] of tokens [sample, position]."""
    stream = weights["token_embedding"][tokens] + weights["position_embedding"]
    blocks = sum(name.endswith("attention.query.bias") for name in weights)
    for index in range(blocks):

        def linear(x, name):
            return x @ weights[f"blocks.{index}.{name}.weight"] + weights[f"blocks.{index}.{name}.bias"]

        def normed(x, name):
            return norm(x, weights[f"blocks.{index}.{name}.gamma"], weights[f"blocks.{index}.{name}.beta"])

        def heads(x):
            return x.reshape(*x.shape[:-1], HEADS, -1)

        # As in Headlight, only [CLS] is a query in the last block.
        queries = stream if index + 1 < blocks else stream[:, :1]
        query = heads(linear(queries, "attention.query"))
        key, value = heads(linear(stream, "attention.key")), heads(linear(stream, "attention.value"))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * query.shape[-1] ** -0.5
        context = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value)
        attended = linear(context.reshape(queries.shape), "attention.output")
        stream = normed(queries + attended, "norm")
        if f"blocks.{index}.feed_forward.hidden.bias" in weights:
            hidden = jax.nn.relu(linear(stream, "feed_forward.hidden"))
            stream = normed(stream + linear(hidden, "feed_forward.output"), "feed_forward.norm")
    return stream[:, 0] @ weights["classifier.weight"][:, 0] + weights["classifier.bias"][0]


class Jax:
    """A compiled training of many steps, of one model or of several at once."""

    def __init__(self, weights: dict, tokens: np.ndarray, labels: np.ndarray, steps: int, models: int):
        vector, unravel = ravel_pytree(weights)
        tokens, labels = jnp.asarray(tokens), jnp.asarray(labels)

        def loss(vector, batch):
            found = logits(unravel(vector), tokens[batch])
            return jnp.mean(jax.nn.softplus(found) - labels[batch] * found)

        def step(state, batch):
            vector, mean, square, count = state
            gradient = jax.grad(loss)(vector, batch)
            count = count + 1
            rate = RATE * jnp.sqrt(1 - BETA_2**count) / (1 - BETA_1**count)
            mean = mean + (1 - BETA_1) * (gradient - mean)
            square = square + (1 - BETA_2) * (gradient * gradient - square)
            vector = vector - rate * mean / (jnp.sqrt(square) + ADAM_EPSILON)
            return (vector, mean, square, count), None

        def whole(vector, order):
            start = (vector, jnp.zeros_like(vector), jnp.zeros_like(vector), jnp.zeros(()))
            return jax.lax.scan(step, start, order)[0][0]

        random = np.random.default_rng(0)
        order = np.stack([random.permutation(len(tokens)) for _ in range(-(-steps // STEPS_PER_EPOCH))])
        order = order.reshape(-1, BATCH_SIZE)[:steps].astype(np.int32)
        self.steps = steps * models
        if models > 1:
            whole, vector = jax.vmap(whole), jnp.stack([vector] * models)
            order = np.stack([order] * models)
        self.run, self.arguments = jax.jit(whole), (vector, jnp.asarray(order))
        self.seconds_per_step()

    def seconds_per_step(self) -> float:
        start = time.perf_counter()
        self.run(*self.arguments).block_until_ready()
        return (time.perf_counter() - start) / self.steps


def data(program: str, folder: pathlib.Path, changes: dict) -> tuple[np.ndarray, np.ndarray]:
    path = folder / "data.npz"
    given = {"data.held_out": 0} | {key: value for key, value in changes.items() if key.startswith("data")}
    sets = [part for key, value in given.items() for part in ["--set", f"{key}={value}"]]
    subprocess.run([program, "data", CONFIG, *sets, "--out", path], check=True, capture_output=True, cwd=ROOT)
    with np.load(path) as archive:
        return archive["tokens"].astype(np.int32), archive["labels"].astype(np.float32)


def check_logits(program: str, folder: pathlib.Path, changes: dict, weights: dict, tokens: np.ndarray) -> None:
    """Whether JAX's model is Headlight's."""
    np.savetxt(folder / "tokens.txt", tokens[:100], fmt="%d")
    sets = [part for key, value in changes.items() for part in ["--set", f"{key}={value}"]]
    given = ["--weights", folder / "model.safetensors", "--tokens", folder / "tokens.txt"]
    command = [program, "dump", CONFIG, *sets, *given, "--out", folder / "out.npz"]
    subprocess.run([str(part) for part in command], check=True, capture_output=True, cwd=ROOT)
    with np.load(folder / "out.npz") as dump:
        difference = np.abs(dump["logits"] - np.asarray(logits(weights, tokens[:100]))).max()
    assert difference < 1e-4, f"{changes}: logits differ by {difference}"


def operations(changes: dict, tokens: np.ndarray) -> float:
    """Multiplications and additions of the matrix products of a step."""
    width, blocks = changes.get("model.d_model", 16), changes.get("model.n_layers", 2)
    hidden, positions = changes.get("model.d_ff", 0), tokens.shape[1]
    row = 2 * width * hidden
    whole = positions * (4 * width**2 + 2 * positions * width + row)
    # Query, query times key weights, scores and averages of each head, value, output.
    last = 4 * width**2 + 2 * HEADS * positions * width + row
    return 6.0 * BATCH_SIZE * ((blocks - 1) * whole + last + width)


def peak(folder: pathlib.Path) -> float:
    """Operations per second without fused multiply-add."""
    program = folder / "peak"
    source = ROOT / "scripts" / "benchmarks" / "peak.rs"
    subprocess.run(["rustc", "-O", "-C", "target-feature=+avx2", "-o", program, source], check=True)
    return 1e9 * float(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="Headlight's binary")
    parser.add_argument("--repeat", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--shapes", help="part of the names of the shapes to time")
    parser.add_argument("--json", type=pathlib.Path, help="also write all figures here")
    args = parser.parse_args()
    args.program = str(pathlib.Path(args.program).resolve())
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        most = peak(pathlib.Path(folder))
    print(f"Peak: {most / 1e9:.1f}e9 operations per second.\n")
    print("| shape | operations | fused | Burn | JAX, scan | JAX, vmap | fused / scan | fused / vmap | fused / Burn | fused, 1e9 operations/s | of the peak |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, (changes, epochs) in SHAPES.items():
        if args.shapes and args.shapes not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            tokens, labels = data(args.program, folder, changes)
            headlight(args.program, folder, changes, "--set", "training.epochs=1")
            weights = safetensors.numpy.load_file(folder / "model.safetensors")
            check_logits(args.program, folder, changes, weights, tokens)
            jax_steps = 1000 if epochs == 20 else 50
            scan = Jax(weights, tokens, labels, jax_steps, 1)
            vmap = Jax(weights, tokens, labels, max(50, jax_steps // 10), VMAP)
            turns = []
            for _ in range(args.repeat):
                turns.append({
                    "fused": headlight_step(args.program, folder, changes, "fused", epochs),
                    "burn": headlight_step(args.program, folder, changes, "burn", max(2, epochs // 10)),
                    "scan": scan.seconds_per_step(),
                    "vmap": vmap.seconds_per_step(),
                })
                print(f"{name}: {turns[-1]}", file=sys.stderr)
        count = operations(changes, tokens)
        steps = {peer: statistics.median(turn[peer] for turn in turns) for peer in turns[0]}
        ratios = {
            peer: statistics.median(turn["fused"] / turn[peer] for turn in turns) for peer in ["scan", "vmap", "burn"]
        }
        figures[name] = {"operations": count, "steps": steps, "ratios": ratios, "turns": turns}
        times = " | ".join(f"{1e6 * steps[peer]:,.0f} µs" for peer in ["fused", "burn", "scan", "vmap"])
        parts = " | ".join(f"{ratios[peer]:.3f}" for peer in ["scan", "vmap", "burn"])
        rate = count / steps["fused"]
        print(f"| {name} | {count / 1e6:.2f} million | {times} | {parts} | {rate / 1e9:.1f} | {rate / most:.0%} |", flush=True)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
