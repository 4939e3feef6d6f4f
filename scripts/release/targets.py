"""The systems that a release is built for, and the names of its files."""

from __future__ import annotations

import dataclasses
import pathlib
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]


@dataclasses.dataclass(frozen=True)
class Target:
    """A system as Rust names it, and what is built for it."""

    triple: str
    # The tag of the wheel: what `maturin --compatibility` takes, and the end of the file's name.
    wheel: tuple[str, str] | None
    binary: bool
    # What links it: zig brings the libraries of other systems, rust-lld needs none, and for Windows there is MinGW.
    linker: str

    @property
    def is_windows(self) -> bool:
        return "windows" in self.triple

    @property
    def program(self) -> str:
        return "headlight.exe" if self.is_windows else "headlight"

    def wheel_name(self) -> str:
        assert self.wheel is not None
        return f"headlight_attention-{VERSION}-cp310-abi3-{self.wheel[1]}.whl"

    def archive_name(self, flavour: str) -> str:
        return f"{flavour}-{VERSION}-{self.triple}.{'zip' if self.is_windows else 'tar.gz'}"


TARGETS = {
    target.triple: target
    for target in [
        Target("x86_64-unknown-linux-gnu", ("manylinux2014", "manylinux2014_x86_64.manylinux_2_17_x86_64"), False, "zig"),
        Target("x86_64-unknown-linux-musl", ("musllinux_1_2", "musllinux_1_2_x86_64"), True, "zig"),
        Target("aarch64-unknown-linux-gnu", ("manylinux2014", "manylinux2014_aarch64.manylinux_2_17_aarch64"), False, "zig"),
        Target("aarch64-unknown-linux-musl", ("musllinux_1_2", "musllinux_1_2_aarch64"), True, "zig"),
        Target("x86_64-pc-windows-gnu", ("pypi", "win_amd64"), True, "mingw"),
        Target("x86_64-apple-darwin", ("pypi", "macosx_10_12_x86_64"), True, "zig"),
        Target("aarch64-apple-darwin", ("pypi", "macosx_11_0_arm64"), True, "zig"),
    ]
}

# The two builds of the binary: the name of the archive, and cargo's options.
FLAVOURS = {"headlight": [], "headlight-without-burn": ["--no-default-features"]}

SOURCE = f"headlight_attention-{VERSION}.tar.gz"


def files() -> dict[str, tuple]:
    """The files of a release in the order in which they are built: the kind of each, and what it is for."""
    found: dict[str, tuple] = {SOURCE: ("source",)}
    found |= {target.wheel_name(): ("wheel", target) for target in TARGETS.values() if target.wheel}
    for flavour in FLAVOURS:
        found |= {target.archive_name(flavour): ("archive", target, flavour) for target in TARGETS.values() if target.binary}
    return found
