"""Commands that read runs, and those that need none."""

from .outputs import launch_with_output, output
from .processes import WITHOUT_STOPS, Disturbance, Process, disturbance
from .world import Run, World


def codes_of(run: Run) -> set[int]:
    """How a command may end that reads this run."""
    return {0} if run.has_ended and not run.is_damaged else {0, 2}


def sample_of(run: Run) -> str:
    """Tokens that suit the run's model."""
    return {"counted": "1 2 3 4 7", "labelled": "3 2 1"}.get(run.experiment, "45 48 42 4 4 40")


def inspect(world: World) -> None:
    """A run's attention as text, picture or page, with flags that may be wrong."""
    run = world.run()
    if run is None:
        return
    form = world.random.choice(["", "--html", "--svg", "--png"])
    wrong = world.random.random() < 0.2
    flags = ["--head", "7"] if wrong else world.random.choice([[], ["--scores"], ["--layer", "all"]])
    if form == "--html":
        flags = []
    codes = {2} if flags[:1] == ["--head"] and codes_of(run) == {0} else codes_of(run)
    dump = world.path(run.name) / "attention/step-000000.npz"
    inputs = [f"{run.name}/attention/step-000000.npz"] if dump.exists() else [f"{run.name}/config.toml"]
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
    launch_with_output(world, ["inspect", run.name, *flags], form, inputs, codes, what)


def predict(world: World) -> None:
    """One sample, classified by a run's model."""
    run = world.run()
    if run is None:
        return
    tokens, codes = sample_of(run), codes_of(run)
    if world.random.random() < 0.3:
        tokens = world.random.choice(["", "x", "0", "-1 2 3", "1 2 3 4 5 6 7 8 9", "99999999999999999999", "\x1b[2J"])
        codes = {2}
    more = world.random.choice([[], ["--json"]])
    what = disturbance(world.random, WITHOUT_STOPS)
    world.launch(["predict", run.name, "--tokens", tokens, *more], codes=codes, what=what)


def evaluate(world: World) -> None:
    """A run's model, evaluated."""
    run = world.run()
    if run:
        form = world.random.choice(["", "--json", "--html", "--svg"])
        what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
        inputs = [f"{run.name}/model.safetensors", f"{run.name}/config.toml"]
        launch_with_output(world, ["evaluate", run.name], form, inputs, codes_of(run), what)


def dump(world: World) -> None:
    """Weights of a run on samples of a file."""
    run = world.run(lambda run: run.experiment in ("tiny", "dense", "long", "patient"))
    if run is None:
        return
    weights = f"{run.name}/model.safetensors"
    arguments = ["dump", f"configs/{run.experiment}.toml", "--weights", weights, "--tokens", "data/tokens.txt"]
    form = world.random.choice([".npz", ".json", ".csv"])
    out, extra, right = output(world, form, [weights, "data/tokens.txt"])
    codes = codes_of(run) if right == {0} else right
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL"])
    outputs = (out,) if right == {0} else ()
    world.launch([*arguments, "--out", out, *extra], codes=codes, outputs=outputs, what=what)


def compare(world: World) -> None:
    """Runs side by side."""
    if world.runs:
        chosen = world.random.choices(world.runs, k=world.random.randrange(1, 4))
        codes = {0} if all(codes_of(run) == {0} for run in chosen) else {0, 2}
        more = world.random.choice([[], ["--json"]])
        world.launch(["compare", *(run.name for run in chosen), *more], codes=codes)


def walkthrough(world: World) -> None:
    """A worked example, where the binary has them."""
    if "walkthrough" not in world.usual:
        probe = Process([world.binary, "walkthrough", "she-did-not"], str(world.work), Disturbance()).wait()
        world.usual["walkthrough"] = probe.seconds if probe.code == 0 else -1.0
    if world.usual["walkthrough"] > 0:
        form = world.random.choice(["", "--html", "--svg"])
        what = disturbance(world.random, WITHOUT_STOPS)
        launch_with_output(world, ["walkthrough", "she-did-not"], form, [], {0}, what)


def data(world: World) -> None:
    """A dataset as a file."""
    experiment = world.random.choice(["tiny", "counted", "labelled"])
    extension = world.random.choice([".csv", ".npz", ".jsonl"])
    inputs = [f"configs/{experiment}.toml"] + ["data/labelled.csv"] * (experiment == "labelled")
    out, extra, codes = output(world, extension, inputs)
    what = disturbance(world.random, [*WITHOUT_STOPS, "SIGKILL", "SIGTERM"])
    arguments = ["data", f"configs/{experiment}.toml", "--out", out, *extra]
    world.launch(arguments, codes=codes, outputs=(out,) if codes == {0} else (), what=what)


def init(world: World) -> None:
    """A built-in config, written into the folder."""
    name = world.random.choice(["quick", "count", "notebook", "token_anywhere"])
    exists = world.path(f"{name}.toml").exists()
    extra = world.random.choice([[], ["--force"]])
    codes = {2} if exists and not extra else {0}
    world.launch(["init", name, *extra], codes=codes, outputs=(f"{name}.toml",))
