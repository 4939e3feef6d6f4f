"""The experiments and sweeps of the soak, and what undisturbed ones give, computed once for each."""

import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .processes import clean_environment
from .snapshots import run_files

GENERATED = """
[data]
generator = "chacha"
positive_rate = 0.5
samples = {samples}
held_out = 32
vocab_size = 51
seq_len = 6
rule = {{ kind = "token-at-position", token = 42, position = 3 }}
[model]
d_model = 8
[training]
epochs = {epochs}
learning_rate = 1e-2
"""

FROM_A_FILE = """
[data]
file = "{file}"
[model]
d_model = 8
n_heads = 2
[training]
epochs = {epochs}
batch_size = 4
"""

COUNTED = """
[data]
generator = "chacha"
samples = 200
held_out = 32
vocab_size = 11
seq_len = 5
n_classes = 3
cls = "last"
rule = {{ kind = "count", token = 7 }}
[model]
d_model = 8
n_layers = 2
n_heads = 2
d_ff = 8
[model.attention]
mask = "causal"
[training]
epochs = {epochs}
"""

DENSE = """evaluate_every = 5
keep_best = "held_out_loss"
[dump]
every_steps = 7
formats = ["npz", "json", "csv"]
[checkpoint]
every_steps = 3
"""

LABELLED = "label,split,token_0,token_1,token_2\n" + "".join(
    f"{'spam' if first % 3 else 'ham'},{'test' if first % 5 == 0 else 'train'},{first},{first % 7 + 1},"
    f"{first % 4 + 1 if first % 2 else ''}\n"
    for first in range(1, 25)
)


@dataclass(frozen=True)
class Experiment:
    """A config. With more epochs it is the same run, trained for longer."""

    text: str
    epochs: int
    can_be_longer: bool = True
    """Whether it may be trained for longer: not one that patience stops, which then stays as it is."""

    def toml(self) -> str:
        """The config file."""
        return self.text.replace("{epochs}", str(self.epochs)).replace("{{", "{").replace("}}", "}")


def generated(samples: int, more: str = "", **rest) -> Experiment:
    return Experiment(GENERATED.replace("{samples}", str(samples)) + more, **rest)


EXPERIMENTS = {
    "tiny": generated(64, epochs=1),
    "dense": generated(160, DENSE, epochs=2),
    "long": generated(1600, "[dump]\nevery_epochs = 20\n[checkpoint]\nevery_steps = 200\n", epochs=40),
    "patient": generated(
        160,
        'evaluate_every = 10\nkeep_best = "held_out_accuracy"\npatience = 3\n[checkpoint]\nevery_steps = 20\n',
        epochs=40,
        can_be_longer=False,
    ),
    "counted": Experiment(COUNTED + "[checkpoint]\nevery_epochs = 1\n", epochs=3),
    "labelled": Experiment(FROM_A_FILE.replace("{file}", "data/labelled.csv"), epochs=5),
    "archived": Experiment(FROM_A_FILE.replace("{file}", "data/samples.npz"), epochs=2),
}

SWEEPS = {
    "plain": ("tiny", [], {0}),
    "grid": ("tiny", ["--grid", "training.learning_rate=1e-3,1e-1", "--grid", "model.n_heads=1,2"], {0}),
    "failing": ("tiny", ["--grid", "training.learning_rate=1e-3,1e37"], {3}),
    "slow": ("counted", ["--set", "training.epochs=20"], {0}),
}
"""Experiment, flags, and the exit codes of the whole sweep."""


class References:
    """Undisturbed runs and sweeps."""

    def __init__(self, binary: str, work: Path, folder: Path):
        self.binary, self.work, self.folder = binary, work, folder
        folder.mkdir()

    def headlight(self, codes: set[int], *arguments: str) -> None:
        """Runs a command that must end with one of `codes`."""
        argv = [self.binary, *arguments]
        done = subprocess.run(
            argv, cwd=self.work, env=clean_environment(), capture_output=True, text=True, check=False, timeout=60
        )
        if done.returncode not in codes:
            raise SystemExit(f"an undisturbed command ended with {done.returncode}: {argv}\n{done.stderr}")

    @functools.cache
    def run(self, experiment: str, epochs: int) -> dict[str, str]:
        """The files of an undisturbed run."""
        folder = self.folder / f"{experiment}-{epochs}"
        epochs_set = f"training.epochs={epochs}"
        self.headlight({0}, "train", f"configs/{experiment}.toml", "--set", epochs_set, "--run", str(folder))
        return run_files(folder)

    @functools.cache
    def rows(self, sweep: str, seeds: int) -> list[bytes]:
        """The rows of an undisturbed sweep."""
        out = self.folder / f"{sweep}-{seeds}.jsonl"
        experiment, flags, codes = SWEEPS[sweep]
        config = f"configs/{experiment}.toml"
        self.headlight(codes, "sweep", config, *flags, "--seeds", f"0..{seeds}", "--out", str(out))
        return out.read_bytes().splitlines()
