"""Opens a dump, or the last dump of a run, for the scripts that convert it for other packages."""

import argparse
import json
import pathlib
import sys

import numpy as np


class Dump:
    """The arrays of a dump by name, and its `meta`."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        with np.load(path) as archive:
            self.meta = json.loads(str(archive["meta"]))
            self.arrays = {name: archive[name] for name in archive.files if name != "meta"}
        if self.meta["version"] != 1:
            raise ValueError(f"{path}: unknown format version {self.meta['version']}; this script reads version 1")

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[name]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def __len__(self) -> int:
        return len(self["tokens"])

    def row(self, sample: int) -> int:
        """The row of a sample, given by its index in the training set or, in dumps of other
        samples, by its row: the numbers that `headlight inspect --sample` takes."""
        numbers = [
            row if index is None else index for row, index in enumerate(self.meta["samples"])
        ]
        if sample not in numbers:
            raise ValueError(f"{self.path} has no sample {sample}; it holds {numbers}")
        return numbers.index(sample)

    def token_strings(self, sample: int) -> list[str]:
        """The strings that stand for the tokens of a sample."""
        strings = self.meta["token_strings"]
        tokens = [str(token) for token in self["tokens"][sample].tolist()]
        # A dump is foreign input: its strings must not end the script element that holds them.
        return [strings.get(token, token).replace("<", "\u2039") for token in tokens]

    def title(self, sample: int) -> str:
        """The step and the sample, in words."""
        index, step = self.meta["samples"][sample], self.meta["step"]
        parts = [f"sample {sample}" if index is None else f"training sample {index}"]
        parts += [] if step is None else [f"step {step}"]
        parts.append(f"probability {self['probabilities'][sample]:.4f}")
        return ", ".join(parts)


def open_dump(path: str | pathlib.Path) -> Dump:
    """A dump, or the last dump of a run directory."""
    path = pathlib.Path(path)
    if path.is_dir():
        dumps = sorted((path / "attention").glob("step-*.npz"))
        if not dumps:
            raise FileNotFoundError(f"{path} holds no attention/step-*.npz")
        path = dumps[-1]
    return Dump(path)


def parser(documentation: str, out: str) -> argparse.ArgumentParser:
    """The arguments of every adapter."""
    result = argparse.ArgumentParser(description=documentation.splitlines()[0])
    result.add_argument("dump", help="a run directory, for its last dump, or a dump")
    result.add_argument("--out", required=True, type=pathlib.Path, help=out)
    return result


def add_sample(to: argparse.ArgumentParser) -> None:
    to.add_argument(
        "--sample",
        type=int,
        help="its index in the training set, or its row where the dump is of other samples; "
        "default: the dump's first",
    )


def open_sample(args: argparse.Namespace) -> tuple[Dump, int | None]:
    """The dump, and the row of the requested sample if there is one. Exits if the dump lacks the sample."""
    try:
        dump = open_dump(args.dump)
        return dump, None if args.sample is None else dump.row(args.sample)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(str(error))


def page(title: str, body: str) -> str:
    """A whole document around the HTML that a package writes for a notebook's cell."""
    title = title.replace("&", "&amp;").replace("<", "&lt;")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def write(path: pathlib.Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {path.stat().st_size:,} bytes")
