"""Random arguments, and arguments at the ends of their ranges."""

from .snapshots import changes
from .world import World

WORDS = ["", "-", "0", "1", "-1", "1e999", "nan", "18446744073709551615", "18446744073709551616", "../x", "\x1b[31m",
         "ü", "a\nb", "'", "all", "x" * 5000, "0..2", "2..0", "1/2", "3/2", "0/0", "train", "held-out", "uniform"]

KEYS = ["seed", "data.seed", "data.samples", "data.held_out", "data.seq_len", "data.vocab_size", "data.positive_rate",
        "data.rule.token", "data.file", "data.classes", "model.d_model", "model.n_heads", "model.attention.mask",
        "training.batch_size", "training.learning_rate", "training.keep_best", "training.patience", "dump.samples",
        "dump.formats", "dump.every_steps", "checkpoint.every_seconds", "compute.engine", "compute.device", "x.y"]

VALUES = ["0", "1", "2", "-1", "1.5", "nan", "inf", "true", "[]", "[0]", "[[1]]", '"x"', "x", "9223372036854775807",
          "9223372036854775808", "18446744073709551615", "{}", "", "1e-300", '"\\u001b[31m"', '["csv"]', "'a\nb'"]

FLAGS = {
    "train": ["--set", "--device", "--engine", "--run", "--resume", "--json"],
    "data": ["--set", "--out", "--force"],
    "sweep": ["--seeds", "--grid", "--shard", "--shards", "--list", "--threads", "--out", "--set"],
    "predict": ["--tokens", "--out", "--weights", "--json"],
    "evaluate": ["--weights", "--split", "--json", "--svg", "--html"],
    "inspect": ["--sample", "--step", "--layer", "--head", "--query", "--range", "--scores", "--svg", "--html"],
    "lab": ["--set", "--html", "--force"],
    "report": ["--by", "--position", "--svg", "--html", "--json"],
    "merge": ["--out", "--force"],
    "compare": ["--json"],
    "dump": ["--weights", "--tokens", "--out", "--set"],
    "init": ["--list", "--force"],
    "man": [],
    "devices": ["--json"],
    "completions": [],
}


def value_of(world: World, flag: str) -> list[str]:
    """A random value for a flag, if it takes one."""
    if flag in ("--resume", "--json", "--force", "--list", "--scores"):
        return []
    if flag in ("--set", "--grid"):
        return [f"{world.random.choice(KEYS)}={world.random.choice(VALUES)}"]
    if flag in ("--out", "--html", "--svg", "--run"):
        extension = world.random.choice([".csv", ".npz", ".jsonl", ".json", ".html", ".svg", "", ".txt"])
        return [world.new("out", extension)]
    if flag == "--threads":
        return [world.random.choice(["0", "1", "2", "-1", "x"])]
    if flag == "--seeds":
        return [world.random.choice(["0..2", "2..0", "0..0", "x", "9223372036854775807..9223372036854775809"])]
    return [world.random.choice(WORDS)]


def random_usage(world: World) -> None:
    """A command with random arguments: refused with one sentence, or done."""
    command = world.random.choice(list(FLAGS))
    arguments = [command]
    if world.random.random() < 0.8:
        names = [run.name for run in world.runs] + [results.name for results in world.results]
        names += [f"configs/{name}.toml" for name in ("tiny", "counted", "labelled")] + ["quick", "out", *WORDS]
        arguments.append(world.random.choice(names))
    for flag in world.random.choices(FLAGS[command], k=world.random.randrange(4)) if FLAGS[command] else []:
        arguments += [flag, *value_of(world, flag)]
    writes = ("out", "runs/notebook-1")
    if command == "init":
        writes = tuple(f"{name}.toml" for name in ("quick", "notebook", "count", "token_anywhere"))
    if command == "lab":
        writes += ("lab.html",)
    # A run that the flags name is resumed as it should be, or not at all.
    if command == "train" and "--resume" in arguments:
        arguments.remove("--resume")
    if command == "train" and "--run" not in arguments:
        arguments += ["--run", world.new("out")]
    if command == "sweep" and "--seeds" not in arguments:
        arguments += ["--seeds", "0..2"]
    before = world.snapshots.take()
    finished = world.launch(arguments, codes={0, 2, 3}, writes=writes)
    changed = sorted(changes(before, world.snapshots.take()))
    if finished.code == 2 and changed:
        world.problem("output", f"{arguments} was refused, and changed {changed}")


def large_seeds(world: World) -> None:
    """Seeds up to the largest are like any other; a larger one is refused everywhere."""
    largest = 2**63 - 1
    seed = world.random.choice([2**53 + 1, largest, largest + 1, 2**64 - 1])
    run, out = world.new("out"), world.new("out", ".jsonl")
    train = ["train", "configs/tiny.toml", "--set", f"seed={seed}", "--run", run]
    sweep_ = ["sweep", "configs/tiny.toml", "--seeds", f"{seed - 2}..{seed}", "--out", out]
    if seed > largest:
        world.launch(train, codes={2})
        if seed > largest + 1:
            world.launch(sweep_, codes={2})
        return
    world.launch(train, writes=(run,))
    world.launch(["predict", run, "--tokens", "1 2 3 4 5 6"])
    world.launch(["train", "--resume", "--run", run], writes=(run,))
    world.launch(sweep_, writes=(out, out.replace(".jsonl", ".svg")))
    world.launch(["report", out, "--json"])


def strange_names(world: World) -> None:
    """Names of files with spaces, quotes and control characters."""
    name = world.random.choice(["a b", "it's", "ü", "a\x1b[31mb", "a\nb", "-x", "$HOME", "a\x07"])
    out = f"out/{name}{world.new('x').replace('/', '')}.csv"
    codes = {0} if name == "a b" else {0, 2}
    world.launch(["data", "configs/tiny.toml", "--out", out], codes=codes, outputs=(out,))
    if world.path(out).exists():
        world.launch(["data", "configs/tiny.toml", "--out", out], codes={2})
        world.launch(["report", out], codes={2})
        run = world.new("out")
        world.launch(["train", out, "--run", run], codes={0}, writes=(run,))
