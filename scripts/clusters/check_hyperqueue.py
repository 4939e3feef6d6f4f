"""Runs a sweep as tasks of a real HyperQueue, with its server and a worker in this process. One task is killed
and one is outside the array. The merged file must have the bytes of the unsplit sweep.

    pip install --requirement scripts/clusters/requirements-clusters.txt
    python scripts/clusters/check_hyperqueue.py target/release/headlight
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hyperqueue import Job, LocalCluster
from hyperqueue.client import FailedJobsException
from hyperqueue.cluster import WorkerConfig

ROOT = Path(__file__).resolve().parents[2]
SHARDS = 8
SWEEP = ["sweep", "configs/notebook.toml", "--set", "training.epochs=5", "--seeds", "0..2000"]


def job(headlight: Path, folder: Path, tasks: int) -> Job:
    """As `hq submit --array 1-TASKS`: this interface numbers tasks from 0, so the first one does nothing."""
    out = ["--shards", str(SHARDS), "--out", str(folder / "seeds.jsonl")]
    array = Job(default_workdir=ROOT, max_fails=None)
    array.program(["true"], stdout=None, stderr=None)
    for task in range(1, tasks + 1):
        array.program(
            [str(headlight), *SWEEP, *out, "--threads", "1"],
            stdout=None,
            stderr=str(folder / f"task-{task}.err"),
        )
    return array


def kill_one(headlight: Path, folder: Path) -> str:
    """Kills a process whose shard has some rows and lacks others; returns its task."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "exe").resolve() != headlight:
                    continue
                environment = (process / "environ").read_bytes().split(b"\0")
                if str(folder).encode() not in (process / "cmdline").read_bytes():
                    continue
            except OSError:
                continue
            task = next(word[11:].decode() for word in environment if word.startswith(b"HQ_TASK_ID="))
            rows = folder / f"seeds-{task}-of-{SHARDS}.jsonl"
            if rows.exists() and 20 < rows.read_bytes().count(b"\n") < 200:
                subprocess.run(["kill", "-9", process.name], check=True)
                return task
        time.sleep(0.05)
    raise AssertionError("no task was in progress for a minute")


def main() -> None:
    headlight = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name, LocalCluster() as cluster:
        folder = Path(name)
        cluster.start_worker(WorkerConfig(cores=2))
        client = cluster.client()

        submitted = client.submit(job(headlight, folder, SHARDS + 1))
        killed = kill_one(headlight, folder)
        try:
            client.wait_for_jobs([submitted])
        except FailedJobsException as failed:
            (tasks,) = failed.failed_tasks.values()
            assert sorted(tasks) == sorted([int(killed), SHARDS + 1]), tasks
        else:
            raise AssertionError("HyperQueue did not notice that a task was killed")
        outside = (folder / f"task-{SHARDS + 1}.err").read_text()
        assert re.search(rf"HQ_TASK_ID\b.*\b{SHARDS + 1}\b.*\b{SHARDS}\b", outside), outside
        print(f"task {killed} killed, task {SHARDS + 1} refused; all submitted again")
        client.wait_for_jobs([client.submit(job(headlight, folder, SHARDS))])

        parts = sorted(folder.glob("seeds-*.jsonl"))
        merged, single = folder / "merged.jsonl", folder / "single.jsonl"
        subprocess.run([headlight, "merge", *parts, "--out", merged], check=True)
        subprocess.run([headlight, *SWEEP, "--out", single], check=True, cwd=ROOT, capture_output=True)
        assert merged.read_bytes() == single.read_bytes()
        print("HyperQueue: the same bytes")


main()
