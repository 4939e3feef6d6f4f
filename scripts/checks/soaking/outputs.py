"""Places for outputs, right and wrong ones."""

from .processes import Disturbance, Finished
from .world import World


def output(world: World, extension: str, inputs: list[str]) -> tuple[str, list[str], set[int]]:
    """A place for an output: its name, more arguments, and the exit codes that are right for it."""
    found = world.path("out").glob(f"*{extension}")
    existing = sorted(path.name for path in found if path.is_file() and not path.is_symlink())
    kind = world.random.choice(["new"] * 4 + ["exists", "forced", "input", "run", "folder", "nowhere", "link", "-"])
    if kind == "exists" and existing:
        return f"out/{world.random.choice(existing)}", [], {2}
    if kind == "forced" and existing:
        return f"out/{world.random.choice(existing)}", ["--force"], {0}
    if kind == "input" and inputs:
        return world.random.choice(inputs), ["--force"], {2}
    run = world.run(lambda run: (world.path(run.name) / "environment.json").is_file())
    if kind == "run" and run:
        own = ["config.toml", "metrics.jsonl", "inspector.html", f"attention/x{extension}", f"checkpoint/x{extension}"]
        return f"{run.name}/{world.random.choice(own)}", ["--force"], {2}
    if kind == "folder":
        return "out", ["--force"], {2}
    if kind == "nowhere":
        return f"nowhere/x{extension}", [], {2}
    if kind == "link" and existing:
        link = world.new("out", extension)
        world.path(link).symlink_to(world.random.choice(existing))
        return link, [], {2}
    if kind == "-" and extension in (".jsonl", ".html", ".svg"):
        return "-", [], {0}
    return world.new("out", extension), [], {0}


def launch_with_output(
    world: World, arguments: list[str], form: str, inputs: list[str], codes: set[int], what: Disturbance
) -> Finished:
    """Runs a command that prints, or writes the file that the flag `form` names."""
    outputs: tuple[str, ...] = ()
    if form == "--json":
        arguments = [*arguments, "--json"]
    elif form:
        out, extra, right = output(world, "." + form.removeprefix("--"), inputs)
        arguments = [*arguments, form, out, *extra]
        codes = codes if right == {0} else right
        outputs = (out,) if right == {0} else ()
    if world.mounts and world.random.random() < 0.05:
        # What only prints works in a folder that cannot be written.
        what = world.read_only()
    return world.launch(arguments, codes=codes, outputs=outputs, what=what)
