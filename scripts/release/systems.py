"""Python of another system, for wheels that the Python of this machine cannot load. It is kept in the target folder."""

from __future__ import annotations

import os
import subprocess

from targets import ROOT


def arm_python() -> list[str]:
    """Debian's Python for ARM64, under qemu."""
    folder = ROOT / "target/release-systems/arm64"
    if not (folder / "complete").exists():
        for name in ["lists/partial", "cache/archives/partial", "root"]:
            (folder / name).mkdir(parents=True, exist_ok=True)
        # A state of its own: the packages of this machine stay as they are.
        options = {
            "APT::Architecture": "arm64",
            "APT::Architectures": "arm64",
            "Dir::State::lists": folder / "lists",
            "Dir::Cache": folder / "cache",
            "Dir::State::status": os.devnull,
        }
        apt = ["apt-get", "-qq", *(part for key, value in options.items() for part in ("-o", f"{key}={value}"))]
        subprocess.run([*apt, "update"], check=True)
        wanted = ["--yes", "--download-only", "--no-install-recommends", "python3-minimal", "libpython3-stdlib", "libstdc++6"]
        subprocess.run([*apt, "install", *wanted], check=True, stdout=subprocess.DEVNULL)
        for package in sorted((folder / "cache/archives").glob("*.deb")):
            subprocess.run(["dpkg", "--extract", package, folder / "root"], check=True)
        (folder / "complete").touch()
    root = folder / "root"
    return ["qemu-aarch64-static", "-L", str(root), str((root / "usr/bin/python3").resolve())]
