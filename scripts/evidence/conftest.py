"""Fixtures for what others prove.

    pytest scripts/evidence --ignore scripts/evidence/pytorch    # with scripts/requirements.txt and the Python module
    pytest scripts/evidence/pytorch                              # with scripts/evidence/pytorch/requirements.txt

The program is target/release/headlight, or what HEADLIGHT names. UPDATE_GOLDEN=1 writes the committed expectations.
"""

import os
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).parent))
from common import ROOT, Program  # noqa: E402


@pytest.fixture(scope="session")
def headlight(tmp_path_factory: pytest.TempPathFactory) -> Program:
    path = pathlib.Path(os.environ.get("HEADLIGHT", ROOT / "target/release/headlight"))
    assert path.is_file(), f"{path} is missing: build it with `cargo build --release`"
    return Program(path.resolve(), tmp_path_factory.mktemp("headlight"))


@pytest.fixture(scope="session")
def thousand_seeds(headlight: Program) -> pathlib.Path:
    """The results file of a sweep of the notebook."""
    path = headlight.folder / "seeds.jsonl"
    headlight("sweep", "--seeds", "0..1000", "--out", path)
    return path


@pytest.fixture
def float64():
    """PyTorch computes in float64, so that only Headlight rounds."""
    import torch

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
