"""Times a training of the notebook's model in Keras, PyTorch, JAX and Headlight, side by side.

One file, because each peer is a function beside the others.

    python3 -m venv .venv
    .venv/bin/pip install --no-deps -r scripts/benchmarks/requirements-bench.txt
    .venv/bin/python scripts/pytorch/pytorch_without_cuda.py
    cargo build --release
    .venv/bin/python scripts/benchmarks/bench_peers.py --json peers.json      # everything, under ten minutes
    .venv/bin/python scripts/benchmarks/bench_peers.py --peers jax,headlight-fused --repeat 5
    .venv/bin/python scripts/benchmarks/bench_peers.py --quick --skip-cargo   # tests the script

One training: 777 parameters, 8,000 samples, batches of 16, 3 epochs, 1,500 steps of Adam. Tables in
Markdown go to stdout, progress to stderr. Each peer runs in a process of its own, once per
repetition and in turn, so that other load on the machine affects all alike. Figures are medians.

cold            from the start of the process to the trained weights, including imports, data and compilation
                (torch.compile starts with an empty cache); for Headlight all of `headlight train`: data,
                training, evaluation, dumps and report
warm            another whole training in the same process, already compiled, from fresh weights. The batch
                order is prepared before (Keras shuffles by itself), and nothing is evaluated. For Headlight:
                the wall time of `headlight sweep` divided by its seeds, including start, data, order and
                evaluation
step            warm divided by the steps; for Headlight steps alone, as criterion measures them
one core        bound to one core, and limited to one thread
all cores       no restriction. Keras, PyTorch and JAX without vmap still train one model; vmap's seeds
                are divided over one device per core, the sweep's over one thread per core

All peers train the same model on the same samples, each with random numbers of its own. They compute
attention for all 7 positions, as the notebook does, except Headlight's fused engine: it computes only
what [CLS] needs, without keys and values (crates/fused derives it). The "folded" peers are JAX with the
same algebra: compared with the other peers they show the gain of the algebra, compared with Headlight the
gain of the code. PyTorch and JAX use Adam as published, the others the embeddings' second moments of Keras
on TensorFlow. A peer whose mean accuracy over the training samples ends at 0.99 or below is reported as
failed.
"""

import argparse
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = "configs/notebook.toml"
VOCAB_SIZE, SEQ_LEN, SAMPLES, D_MODEL, BATCH_SIZE = 51, 6, 8_000, 8, 16
STEPS_PER_EPOCH = SAMPLES // BATCH_SIZE
RATE, BETA_1, BETA_2, EPSILON = 1e-3, 0.9, 0.999, 1e-7
LEARNED = 0.99
LIMIT = 300  # seconds for one process

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "NPROC": "1",  # XLA's thread pool
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
}


CRITERION = {"headlight-burn": "flex", "headlight-fused": "fused"}


@dataclass
class Result:
    """The measurements of one peer on one core or on all."""

    seeds: int = 1
    cold: list[float] = field(default_factory=list)  # seconds
    warm: list[float] = field(default_factory=list)  # seconds per seed
    accuracy: list[float] = field(default_factory=list)
    step: float | None = None  # seconds
    versions: str = ""
    failure: str = ""


@dataclass
class Training:
    """A peer, ready to train."""

    train: Callable[[], object]  # from fresh weights; returns once the last weights are computed
    accuracy: Callable[[], float]  # after it
    versions: str


# The peers. Each runs in a process of its own and imports what it needs.


def dataset():
    """Tokens [sample, position] int64 and labels [sample] float32: the notebook's."""
    import numpy as np

    np.random.seed(0)
    tokens = np.random.randint(1, VOCAB_SIZE, size=(SAMPLES, SEQ_LEN))
    tokens = np.concatenate([np.zeros((SAMPLES, 1), dtype=int), tokens], axis=1)
    return tokens, (tokens[:, 3] == 42).astype("float32")


def batches(seed: int, epochs: int):
    """Indices of samples [step, batch], in a new order each epoch."""
    import numpy as np

    random = np.random.default_rng(seed)
    order = np.concatenate([random.permutation(SAMPLES) for _ in range(epochs)])
    return order.reshape(-1, BATCH_SIZE)


def keras_peer(epochs: int, cores: int, tuned: bool) -> Training:
    warnings.filterwarnings("ignore", message="`shuffle=True` was passed")
    sys.path.append(str(ROOT / "scripts" / "keras"))
    from notebook_keras import build_model, keras, tf

    threads = 1 if cores == 1 else 0  # 0: TensorFlow's choice
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    tokens, labels = dataset()
    samples = tf.data.Dataset.from_tensor_slices((tokens.astype("int32"), labels))
    keras.utils.set_random_seed(0)
    model = build_model()
    options = {"steps_per_execution": STEPS_PER_EPOCH, "jit_compile": True} if tuned else {}
    model.compile(optimizer="adam", loss="binary_crossentropy", **options)
    # XLA needs shapes that do not change.
    data = samples.shuffle(SAMPLES).batch(BATCH_SIZE, drop_remainder=tuned)
    data = data.prefetch(tf.data.AUTOTUNE) if tuned else data
    initial = model.get_weights()

    def train() -> None:
        # The same model: a new one would be traced and compiled again.
        model.set_weights(initial)
        for variable in model.optimizer.variables:
            if variable is not model.optimizer._learning_rate:
                variable.assign(tf.zeros_like(variable))
        model.fit(data, epochs=epochs, verbose=0)

    def accuracy() -> float:
        return float(((model(tokens).numpy()[:, 0] > 0.5) == (labels == 1)).mean())

    return Training(train, accuracy, f"Keras {keras.__version__}, TensorFlow {tf.__version__}")


def torch_model():
    import torch
    from torch import nn

    class Model(nn.Module):
        """notebook_pytorch's without its dump, and queries, keys and values in one matrix."""

        def __init__(self):
            super().__init__()
            self.token = nn.Embedding(VOCAB_SIZE, D_MODEL)
            self.position = nn.Parameter(torch.empty(SEQ_LEN + 1, D_MODEL))
            self.projections = nn.Linear(D_MODEL, 3 * D_MODEL)
            self.output = nn.Linear(D_MODEL, D_MODEL)
            self.norm = nn.LayerNorm(D_MODEL, eps=1e-6)
            self.classifier = nn.Linear(D_MODEL, 1)
            for embedding in [self.token.weight, self.position]:
                nn.init.uniform_(embedding, -0.05, 0.05)
            for matrix in [*self.projections.weight.chunk(3), self.output.weight, self.classifier.weight]:
                nn.init.xavier_uniform_(matrix.data)
            for linear in [self.projections, self.output, self.classifier]:
                nn.init.zeros_(linear.bias)

        def forward(self, tokens):
            embeddings = self.token(tokens) + self.position
            query, key, value = self.projections(embeddings).chunk(3, dim=-1)
            scores = torch.bmm(query, key.transpose(1, 2)) * D_MODEL**-0.5
            attended = self.output(torch.bmm(torch.softmax(scores, dim=-1), value))
            return self.classifier(self.norm(embeddings + attended)[:, 0])[:, 0]

    torch.manual_seed(0)
    model = Model()
    assert sum(parameter.numel() for parameter in model.parameters()) == 777
    return model


def torch_data(epochs: int):
    """All samples, and the batches of a run, tokens and labels."""
    import torch

    tokens, labels = map(torch.from_numpy, dataset())
    order = torch.from_numpy(batches(0, epochs))
    return tokens, labels, list(zip(tokens[order].unbind(), labels[order].unbind()))


def torch_accuracy(model, tokens, labels) -> float:
    import torch

    with torch.no_grad():
        return float(((model(tokens) > 0) == (labels == 1)).double().mean())


def torch_eager(epochs: int, cores: int) -> Training:
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    tokens, labels, run = torch_data(epochs)
    model = torch_model()
    initial = {name: value.clone() for name, value in model.state_dict().items()}

    def train() -> None:
        model.load_state_dict(initial)
        adam = torch.optim.Adam(model.parameters(), RATE, (BETA_1, BETA_2), EPSILON, fused=True)
        for batch_tokens, batch_labels in run:
            adam.zero_grad()
            binary_cross_entropy_with_logits(model(batch_tokens), batch_labels).backward()
            adam.step()

    return Training(train, lambda: torch_accuracy(model, tokens, labels), f"PyTorch {torch.__version__}")


def torch_compile(epochs: int, cores: int) -> Training:
    """Gradients and Adam in one graph, over one vector of all parameters: one kernel call per step."""
    if not shutil.which(os.environ.get("CXX", "g++")):
        sys.exit("torch.compile needs a C++ compiler; install g++ or set CXX")
    import torch
    from torch._inductor import config
    from torch.nn.functional import binary_cross_entropy_with_logits
    from torch.nn.utils import parameters_to_vector, vector_to_parameters

    config.cpp_wrapper = True  # its launcher in C++ too, which measured faster
    tokens, labels, run = torch_data(epochs)
    model = torch_model()
    names, shapes = zip(*((name, value.shape) for name, value in model.named_parameters()))
    sizes = [shape.numel() for shape in shapes]
    initial = parameters_to_vector(model.parameters()).detach()
    vector, mean, square = (torch.zeros_like(initial) for _ in range(3))
    count = torch.zeros(())

    def loss(vector, tokens, labels):
        parts = (part.view(shape) for part, shape in zip(vector.split(sizes), shapes))
        logits = torch.func.functional_call(model, dict(zip(names, parts)), (tokens,))
        return binary_cross_entropy_with_logits(logits, labels)

    @torch.compile(fullgraph=True, dynamic=False)
    def step(vector, mean, square, count, tokens, labels):
        gradient = torch.func.grad(loss)(vector, tokens, labels)
        count.add_(1)
        rate = RATE * torch.sqrt(1 - BETA_2**count) / (1 - BETA_1**count)
        mean.lerp_(gradient, 1 - BETA_1)
        square.lerp_(gradient * gradient, 1 - BETA_2)
        vector.sub_(rate * mean / (square.sqrt() + EPSILON))

    def train() -> None:
        vector.copy_(initial)
        for state in [mean, square, count]:
            state.zero_()
        with torch.no_grad():
            for batch_tokens, batch_labels in run:
                step(vector, mean, square, count, batch_tokens, batch_labels)

    def accuracy() -> float:
        vector_to_parameters(vector, model.parameters())
        return torch_accuracy(model, tokens, labels)

    return Training(train, accuracy, f"PyTorch {torch.__version__}")


def jax_weights(seed: int):
    """Fresh weights, drawn as Keras does."""
    import numpy as np

    random = np.random.default_rng(seed)

    def uniform(limit: float, *shape: int):
        return random.uniform(-limit, limit, shape).astype(np.float32)

    weights = {
        "token": uniform(0.05, VOCAB_SIZE, D_MODEL),
        "position": uniform(0.05, SEQ_LEN + 1, D_MODEL),
        "gamma": np.ones(D_MODEL, np.float32),
        "beta": np.zeros(D_MODEL, np.float32),
        "classifier": uniform(math.sqrt(6 / (D_MODEL + 1)), D_MODEL),
        "classifier_bias": np.zeros((), np.float32),
    }
    for part in ["query", "key", "value", "output"]:
        weights[part] = uniform(math.sqrt(6 / (2 * D_MODEL)), D_MODEL, D_MODEL)
        weights[f"{part}_bias"] = np.zeros(D_MODEL, np.float32)
    assert sum(value.size for value in weights.values()) == 777
    return weights


def jax_logits(weights, tokens, folded: bool):
    """Logits [sample]. `folded`: by the algebra of Headlight's fused engine."""
    import jax
    import jax.numpy as jnp

    embeddings = weights["token"][tokens] + weights["position"]
    if folded:
        # Only [CLS] is a query, the same for all samples; keys and values are never computed. The key's bias
        # adds the same to all scores of a row.
        first = weights["token"][0] + weights["position"][0]
        query = first @ weights["query"] + weights["query_bias"]
        attention = jax.nn.softmax(embeddings @ (weights["key"] @ query) * D_MODEL**-0.5)
        mixed = jnp.einsum("bk,bkd->bd", attention, embeddings)
        context = mixed @ weights["value"] + weights["value_bias"]
    else:
        parts, first = ["query", "key", "value"], embeddings
        matrix = jnp.concatenate([weights[part] for part in parts], axis=1)
        bias = jnp.concatenate([weights[f"{part}_bias"] for part in parts])
        query, key, value = jnp.split(embeddings @ matrix + bias, 3, axis=-1)
        scores = jnp.einsum("bqd,bkd->bqk", query, key) * D_MODEL**-0.5
        context = jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(scores), value)
    residual = first + context @ weights["output"] + weights["output_bias"]
    centred = residual - residual.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    normed = centred * jax.lax.rsqrt(variance + 1e-6) * weights["gamma"] + weights["beta"]
    normed = normed if folded else normed[:, 0]
    return normed @ weights["classifier"] + weights["classifier_bias"]


def jax_peer(epochs: int, cores: int, seeds: int = 1, scan: bool = True, folded: bool = False) -> Training:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.flatten_util import ravel_pytree

    devices = math.gcd(seeds, cores)
    if devices > 1:
        jax.config.update("jax_num_cpu_devices", devices)
    tokens, labels = dataset()
    tokens, labels = jnp.asarray(tokens, jnp.int32), jnp.asarray(labels)
    # One vector of all parameters, so that Adam is one kernel.
    unravel = ravel_pytree(jax_weights(0))[1]

    def loss(vector, batch):
        logits = jax_logits(unravel(vector), tokens[batch], folded)
        return jnp.mean(jax.nn.softplus(logits) - labels[batch] * logits)

    def step(state, batch):
        vector, mean, square, count = state
        gradient = jax.grad(loss)(vector, batch)
        count = count + 1
        rate = RATE * jnp.sqrt(1 - BETA_2**count) / (1 - BETA_1**count)
        mean = mean + (1 - BETA_1) * (gradient - mean)
        square = square + (1 - BETA_2) * (gradient * gradient - square)
        return (vector - rate * mean / (jnp.sqrt(square) + EPSILON), mean, square, count)

    def start(vector):
        # Copies, because the jitted step reuses the memory of its state.
        return (vector, jnp.zeros_like(vector), jnp.zeros_like(vector), jnp.zeros(()))

    def whole(vector, order):
        return jax.lax.scan(lambda state, batch: (step(state, batch), None), start(vector), order)[0][0]

    vectors = np.stack([ravel_pytree(jax_weights(seed))[0] for seed in range(seeds)])
    orders = np.stack([batches(seed, epochs) for seed in range(seeds)]).astype(np.int32)
    if seeds > 1:
        run = jax.vmap(whole)
        where = None
        if devices > 1:
            mesh = jax.make_mesh((devices,), ("seeds",))
            part = jax.sharding.PartitionSpec("seeds")
            run = jax.shard_map(run, mesh=mesh, in_specs=part, out_specs=part, check_vma=False)
            where = jax.NamedSharding(mesh, part)
        run = jax.jit(run)
    elif scan:
        run, where, vectors, orders = jax.jit(whole), None, vectors[0], orders[0]
    else:
        one, where, vectors = jax.jit(step, donate_argnums=0), None, vectors[0]
        orders = list(orders[0])

        def run(vector, order):
            state = start(jnp.array(vector))
            for batch in order:
                state = one(state, batch)
            return state[0]

    vectors, orders = jax.device_put(vectors, where), jax.device_put(orders, where)
    trained = vectors

    def train() -> None:
        nonlocal trained
        trained = jax.block_until_ready(run(vectors, orders))

    def accuracy() -> float:
        right = [
            (jax_logits(unravel(vector), tokens, folded) > 0) == (labels == 1)
            for vector in np.asarray(trained).reshape(seeds, -1)
        ]
        return float(np.mean(right))

    return Training(train, accuracy, f"JAX {jax.__version__}")


@dataclass
class Peer:
    label: str
    warm: int  # trainings after the first in each process; for Headlight seeds of a sweep
    prepare: Callable[..., Training] | None = None  # from epochs and cores; None for Headlight
    seeds: int = 1  # models trained at once


PEERS = {
    "keras-notebook": Peer("Keras, as in the notebook", 2, partial(keras_peer, tuned=False)),
    "keras-tuned": Peer("Keras, XLA, 500 steps per execution", 3, partial(keras_peer, tuned=True)),
    "torch-eager": Peer("PyTorch, eager", 3, torch_eager),
    "torch-compile": Peer("PyTorch, torch.compile of the whole step", 5, torch_compile),
    "jax-jit": Peer("JAX, a jitted step", 5, partial(jax_peer, scan=False)),
    "jax-scan": Peer("JAX, jit over lax.scan", 10, jax_peer),
    "jax-scan-folded": Peer("JAX, the scan, folded", 10, partial(jax_peer, folded=True)),
    "jax-vmap-8": Peer("JAX, vmap over 8 seeds", 3, partial(jax_peer, seeds=8), 8),
    "jax-vmap-64": Peer("JAX, vmap over 64 seeds", 1, partial(jax_peer, seeds=64), 64),
    "jax-vmap-folded-8": Peer("JAX, vmap over 8 seeds, folded", 5, partial(jax_peer, seeds=8, folded=True), 8),
    "jax-vmap-folded-64": Peer("JAX, vmap over 64 seeds, folded", 1, partial(jax_peer, seeds=64, folded=True), 64),
    "headlight-burn": Peer("Headlight on Burn (flex)", 8),
    "headlight-fused": Peer("Headlight, fused", 512),
}


def work(name: str, epochs: int, cores: int, warm: int, started: float) -> None:
    """The process of a peer. Prints its measurements as JSON."""
    training = PEERS[name].prepare(epochs, cores)
    training.train()
    cold = time.monotonic() - started
    times = []
    for _ in range(warm):
        start = time.monotonic()
        training.train()
        times.append((time.monotonic() - start) / PEERS[name].seeds)
    found = {"cold": cold, "warm": times, "accuracy": training.accuracy(), "versions": training.versions}
    print(json.dumps(found))


# The parent.


class Failed(Exception):
    pass


@dataclass
class Bench:
    headlight: str
    epochs: int
    quick: bool
    cores: list[int]  # that this process may use
    core: int  # that "one core" means

    def run(self, command: list[str], one: bool, **extra: str) -> tuple[str, float]:
        """A command's stdout and its wall time, on one core or on all."""
        environment = {key: value for key, value in os.environ.items() if key not in ONE_THREAD}
        environment |= extra | (ONE_THREAD if one else {})

        def bind() -> None:
            os.sched_setaffinity(0, {self.core})

        start = time.monotonic()
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                preexec_fn=bind if one else None,
            )
        except FileNotFoundError:
            raise Failed(f"there is no {command[0]}") from None
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {LIMIT} s") from None
        wall = time.monotonic() - start
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise Failed(lines[-1])
        return done.stdout, wall

    def python(self, name: str, one: bool) -> dict:
        cores = 1 if one else len(self.cores)
        warm = 1 if self.quick else PEERS[name].warm
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--worker", name, str(self.epochs), str(cores), str(warm)]
            started = repr(time.monotonic())  # one clock for all processes
            out, _ = self.run(
                [*command, started], one, JAX_PLATFORMS="cpu", TORCHINDUCTOR_CACHE_DIR=folder
            )
        return json.loads(out.splitlines()[-1])

    def rust(self, name: str, one: bool) -> dict:
        engine = name.removeprefix("headlight-")
        common = [CONFIG, "--engine", engine, "--set", f"training.epochs={self.epochs}"]
        seeds = 4 if self.quick else PEERS[name].warm
        threads = 1 if one else len(self.cores)
        with tempfile.TemporaryDirectory() as folder:
            _, cold = self.run([self.headlight, "train", *common, "--run", f"{folder}/run"], one)
            out = pathlib.Path(folder, "seeds.jsonl")
            sweep = ["sweep", *common, "--seeds", f"0..{seeds}", "--threads", str(threads), "--out", str(out)]
            _, wall = self.run([self.headlight, *sweep], one)
            rows = [json.loads(line) for line in out.read_text().splitlines()]
        if len(rows) != seeds or any("error" in row for row in rows):
            raise Failed(f"{sum('accuracy' in row for row in rows)} of {seeds} seeds were trained")
        accuracy = statistics.mean(row["accuracy"] for row in rows)
        version, _ = self.run([self.headlight, "--version"], one)
        return {"cold": cold, "warm": [wall / seeds], "accuracy": accuracy, "versions": version.strip()}

    def measure(self, name: str, one: bool, result: Result) -> None:
        """One repetition, added to the result."""
        try:
            found = self.rust(name, one) if name in CRITERION else self.python(name, one)
        except Failed as failed:
            result.failure = str(failed)
            return
        result.cold.append(found["cold"])
        result.warm.extend(found["warm"])
        result.accuracy.append(found["accuracy"])
        result.versions = found["versions"]
        if not self.quick and found["accuracy"] <= LEARNED:
            result.failure = f"learned too little: accuracy {found['accuracy']:.4f}"

    def criterion(self) -> None:
        """Runs criterion's benchmark of steps on the one core; `step_of` reads its estimates."""
        bench = ["bench", "-p", "headlight-trainer", "--bench", "step"]
        subprocess.run(["cargo", *bench, "--no-run", "--quiet"], cwd=ROOT, check=True)
        self.run(["cargo", *bench, "--", "training step"], one=True)


def step_of(name: str) -> float | None:
    """Criterion's median of one of Headlight's steps, in seconds."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    path = target / "criterion" / CRITERION[name] / "training step" / "new" / "estimates.json"
    if not path.exists():
        return None
    return json.loads(path.read_text())["median"]["point_estimate"] * 1e-9


def machine() -> str:
    names = [platform.processor()]
    if pathlib.Path("/proc/cpuinfo").exists():
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    system, python = platform.system(), platform.python_version()
    return f"{(names or ['?'])[0]}, {os.cpu_count()} cores, {system}, Python {python}"


def number(value: float | None) -> str:
    """Three significant digits."""
    if value is None:
        return "–"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(value)))}f}" if value > 0 else "0"


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def medians(results: dict[str, Result]) -> str:
    rows = []
    for name, result in results.items():
        if result.failure:
            reason = result.failure.replace("|", "/")[:200]
            rows.append([PEERS[name].label, f"failed: {reason}", "", "", "", ""])
            continue
        warm = statistics.median(result.warm)
        rows.append(
            [
                PEERS[name].label,
                number(statistics.median(result.cold)),
                number(warm * 1e3),
                number(result.step and result.step * 1e6),
                number(1 / warm),
                f"{min(result.accuracy):.4f}",
            ]
        )
    return table(["peer", "cold, s", "warm, ms per seed", "step, µs", "seeds per second", "accuracy"], rows)


def ratios(one: dict[str, Result], all_cores: dict[str, Result]) -> dict[str, list[float | None]]:
    """Each quotient on one core and on all cores; `None` where a side is missing."""

    def warm(results: dict[str, Result], name: str) -> float | None:
        result = results.get(name)
        return statistics.median(result.warm) if result and not result.failure else None

    def best(results: dict[str, Result], names: list[str]) -> float | None:
        return min(filter(None, (warm(results, name) for name in names)), default=None)

    def step(results: dict[str, Result], name: str) -> float | None:
        result = results.get(name)
        return result.step if result and not result.failure else None

    def quotient(above: float | None, below: float | None) -> float | None:
        return above / below if above and below else None

    both = [one, all_cores]
    fused = "headlight-fused"
    found = {
        f"warm per seed: {PEERS[name].label} / Headlight, fused": [
            quotient(warm(results, name), warm(results, fused)) for results in both
        ]
        for name in one
        if name != fused
    }
    for names, label in [
        (["jax-vmap-8", "jax-vmap-64"], "JAX vmap at its best"),
        (["jax-vmap-folded-8", "jax-vmap-folded-64"], "JAX vmap, folded, at its best"),
    ]:
        found[f"seeds per second: Headlight's sweep, fused / {label}"] = [
            quotient(best(results, names), warm(results, fused)) for results in both
        ]
    for name in ["jax-scan", "jax-scan-folded", "headlight-burn"]:
        label = f"step: {PEERS[name].label} / Headlight, fused"
        found[label] = [quotient(step(one, name), step(one, fused)), None]
    return {label: values for label, values in found.items() if any(values)}


def select(text: str) -> list[str]:
    """Names of peers, from whole names or the beginnings of names."""
    wanted = text.split(",")
    for part in wanted:
        if not any(name == part or name.startswith(f"{part}-") for name in PEERS):
            raise argparse.ArgumentTypeError(f"unknown peer {part}; choose from {', '.join(PEERS)}")
    # A whole name selects only itself.
    exact = {part for part in wanted if part in PEERS}
    starts = tuple(f"{part}-" for part in wanted if part not in PEERS)
    return [name for name in PEERS if name in exact or name.startswith(starts)]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=select, default=list(PEERS), help="of " + ", ".join(PEERS))
    parser.add_argument("--repeat", type=int, default=3, help="processes per peer (default: %(default)s)")
    parser.add_argument("--core", type=int, help="the core to use for \"one core\" (default: the last)")
    parser.add_argument("--json", type=pathlib.Path, help="file for all measurements")
    parser.add_argument("--headlight", type=pathlib.Path, default=ROOT / "target" / "release" / "headlight")
    parser.add_argument("--skip-cargo", action="store_true", help="use criterion's existing estimates")
    parser.add_argument("--quick", action="store_true", help="one epoch and one repetition, unchecked")
    return parser.parse_args()


def main() -> None:
    if sys.argv[1:2] == ["--worker"]:
        name, epochs, cores, warm, started = sys.argv[2:]
        return work(name, int(epochs), int(cores), int(warm), float(started))
    args = parse()
    cores = sorted(os.sched_getaffinity(0))
    core = cores[-1] if args.core is None else args.core
    bench = Bench(str(args.headlight.resolve()), 1 if args.quick else 3, args.quick, cores, core)
    rust = [name for name in args.peers if name in CRITERION]
    if rust and not args.skip_cargo:
        print("cargo bench", file=sys.stderr)
        try:
            bench.criterion()
        except (Failed, OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"cargo bench failed: {error}")

    modes = {"one core": True, "all cores": False}
    results = {mode: {name: Result(PEERS[name].seeds) for name in args.peers} for mode in modes}
    for repetition in range(1 if args.quick else args.repeat):
        for mode, one in modes.items():
            for name in args.peers:
                result = results[mode][name]
                if not result.failure:
                    print(f"repetition {repetition + 1}, {mode}: {name}", file=sys.stderr)
                    bench.measure(name, one, result)
    steps = STEPS_PER_EPOCH * bench.epochs
    for mode, one in modes.items():
        for name, result in results[mode].items():
            if name in CRITERION:
                result.step = step_of(name) if one else None
            elif result.warm:
                result.step = statistics.median(result.warm) / steps

    versions = {result.versions: 0 for found in results.values() for result in found.values()}
    versions = [version for version in versions if version]
    quotients = ratios(results["one core"], results["all cores"])
    print(f"{machine()}\n\n{'; '.join(versions)}; {steps} steps per training\n")
    for mode, heading in zip(modes, ["One core", f"All cores ({len(cores)})"]):
        print(f"## {heading}\n\n{medians(results[mode])}")
    rows = [[label, *map(number, row)] for label, row in quotients.items()]
    print(f"## Ratios\n\n{table(['', *modes], rows)}")
    if args.json:
        found = {
            "machine": machine(),
            "cores": len(cores),
            "versions": versions,
            "steps": steps,
            "results": {
                mode: {name: asdict(result) for name, result in by_name.items()}
                for mode, by_name in results.items()
            },
            "ratios": quotients,
        }
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
