"""Commands, what disturbs them, and how they may end."""

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field

SECONDS_LIMIT = 60
"""No command of the soak works for longer than about a second, so one that does waits for something."""

SIGNALS = {
    "SIGKILL": {0, -signal.SIGKILL},
    # A process that does not listen to signals yet, or has nothing to save, dies of them.
    "SIGINT": {0, 130, -signal.SIGINT},
    "SIGTERM": {0, 143, -signal.SIGTERM},
    "SIGUSR1": {0, 138, -signal.SIGUSR1},
}
"""Signals, and the exit codes of commands that get them."""

LIMITS = {
    "file-size": (resource.RLIMIT_FSIZE, 512, 400_000),
    "descriptors": (resource.RLIMIT_NOFILE, 4, 12),
    "memory": (resource.RLIMIT_AS, 64 << 20, 400 << 20),
}
"""Limits of a process: the resource, and the range that a disturbance draws from.

With less memory than this, Rust ends a process whose allocation fails, at any place.
"""

READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
"""Runs a command in the folder `$0`, where nothing can be written; also for root, whom permissions do not stop."""

FULL_DISK = (
    'disk=$0; size=$1; saved=$2; shift 2; shift; mount -t tmpfs -o "size=${size}k" tmpfs "$disk" || exit 99\n'
    '"$@"; code=$?; cp -a "$disk/." "$saved"; exit $code'
)
"""Runs a command with a small disk at the folder `$0`, and copies what is on the disk then."""


STOPS = ["SIGKILL", "SIGKILL", "SIGINT", "SIGTERM", "SIGUSR1", "twice"]
ANY = ["none", "none", "none", "none", *STOPS, *LIMITS]
WITHOUT_STOPS = ["none", "none", "none", *LIMITS]
"""Kinds of disturbances to choose from; a kind that is listed twice is chosen twice as often."""

LEFT_OUT: set[str] = set()
"""The kinds of disturbances that the user does not want."""


@dataclass
class Disturbance:
    """What happens to a command: signals after a delay, or a limit; nothing by default."""

    name: str = "none"
    signals: list[str] = field(default_factory=list)
    """Sent one after another."""
    moment: float = 0.0
    """When the first signal comes, as a share of the time that such a command usually takes."""
    limit: tuple[int, int] | None = None
    wrapper: list[str] = field(default_factory=list)
    """The command that starts the command."""

    def codes(self, undisturbed: set[int]) -> set[int]:
        """The right exit codes under this disturbance, for a command that ends with `undisturbed` without it."""
        if self.signals:
            return undisturbed | set().union(*(SIGNALS[name] for name in self.signals))
        if self.name == "none":
            return undisturbed
        return undisturbed | {1}

    @property
    def is_kill(self) -> bool:
        """Whether the process could not tidy up."""
        return bool(self.signals)

    def __str__(self) -> str:
        told = self.name
        if self.signals:
            told = f"{'+'.join(self.signals)} at {self.moment:.2f} of the usual time"
        if self.limit:
            told += f" of {self.limit[1]}"
        return told


def disturbance(random_: random.Random, kinds: list[str]) -> Disturbance:
    """A disturbance of one of `kinds`: names of signals and limits, and `twice`."""
    kind = random_.choice([kind for kind in kinds if kind not in LEFT_OUT] or ["none"])
    if kind in LIMITS:
        which, low, high = LIMITS[kind]
        # Small limits are as likely as large ones.
        return Disturbance(kind, limit=(which, int(low * (high / low) ** random_.random())))
    if kind == "none":
        return Disturbance()
    chosen = [kind]
    if kind == "twice":
        chosen = [random_.choice(["SIGINT", "SIGTERM"]), random_.choice(["SIGINT", "SIGTERM"])]
    return Disturbance(kind, signals=chosen, moment=1.2 * random_.random())


def can_mount() -> bool:
    """Whether this user may mount disks in a namespace of their own."""
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(probe, stderr=subprocess.DEVNULL, check=False).returncode == 0


def in_namespace(script: str, *arguments: str) -> list[str]:
    """The start of a command that `script` runs in a mount namespace; `$0` and `$1`... are the arguments."""
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, *arguments]


@dataclass
class Finished:
    """How a command ended."""

    code: int
    stdout: bytes
    stderr: str
    seconds: float
    timed_out: bool

    def errors(self) -> list[str]:
        """The lines that say why the command failed."""
        return [line for line in self.stderr.splitlines() if line.startswith("error: ")]


class Process:
    """A command under way."""

    def __init__(self, argv: list[str], folder: str, what: Disturbance, environment: dict[str, str] | None = None):
        def limit() -> None:
            if what.limit:
                which, value = what.limit
                resource.setrlimit(which, (value, value))

        self.began = time.monotonic()
        self.child = subprocess.Popen(
            [*what.wrapper, *argv],
            cwd=folder,
            env={**clean_environment(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=limit,
        )

    def send(self, name: str) -> None:
        """Sends a signal, if the process has not ended."""
        if self.child.poll() is None:
            os.kill(self.child.pid, getattr(signal, name))

    def disturb(self, what: Disturbance, usual: float) -> None:
        """Sends the signals of a disturbance, in time."""
        delay = what.moment * usual
        for name in what.signals:
            try:
                self.child.wait(delay)
                return
            except subprocess.TimeoutExpired:
                self.send(name)
            delay = what.moment * 0.004

    def wait(self) -> Finished:
        """Waits for the end."""
        timed_out = False
        try:
            stdout, stderr = self.child.communicate(timeout=SECONDS_LIMIT)
        except subprocess.TimeoutExpired:
            timed_out = True
            self.child.kill()
            stdout, stderr = self.child.communicate()
        seconds = time.monotonic() - self.began
        return Finished(self.child.returncode, stdout, stderr.decode(errors="replace"), seconds, timed_out)


def clean_environment() -> dict[str, str]:
    """The environment without the variables of schedulers, which name shards."""
    schedulers = ("SLURM_", "HQ_", "JOB_COMPLETION_INDEX", "PARALLEL_")
    return {name: value for name, value in os.environ.items() if not name.startswith(schedulers)}
