"""The recorded run of TransformerLens is the one that it trains."""

import numpy as np
import pytest
import safetensors.numpy
import torch
from transformer_lens_run import PATH, record

# Absolute, and relative for what is larger than 1: before training, and for what 300 steps of AdamW make of rounding,
# which is another one on another processor.
TOLERANCE, AFTER = 1e-5, 1e-3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fresh_run_is_the_recorded_one():
    torch.set_num_threads(1)
    fresh, committed = record(0), safetensors.numpy.load_file(PATH)
    assert set(fresh) == set(committed)
    for name, values in fresh.items():
        assert (values.shape, values.dtype) == (committed[name].shape, committed[name].dtype), name
        if values.dtype != np.float32:
            assert np.array_equal(values, committed[name]), name
            continue
        is_late = name.startswith("final.") or name == "losses"
        # The softmax ignores the biases of the keys: their gradients are rounding errors, and AdamW makes steps of them.
        if not (is_late and ("key" in name or "scores" in name)):
            bound = (AFTER if is_late else TOLERANCE) * max(1.0, np.abs(values).max())
            assert np.abs(values - committed[name]).max() <= bound, name
