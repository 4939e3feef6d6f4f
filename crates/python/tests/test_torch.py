"""Tensors of PyTorch: those in main memory are arrays, all others are refused."""

import headlight as hl
import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_tensors_are_samples_and_attention():
    run = hl.train("quick")
    tokens = torch.from_numpy(run.samples.astype(np.int64))
    np.testing.assert_array_equal(run.model(tokens).logits, run.model(run.samples).logits)
    weights = torch.softmax(torch.zeros(2, 3, 3, requires_grad=True), dim=-1)
    assert hl.show(weights, ["a", "b", "c"]).html() == hl.show(np.full((2, 3, 3), 1 / 3, np.float32), ["a", "b", "c"]).html()
    # NumPy has no bfloat16, whose sums of weights are near 1.
    assert "2 heads" in repr(hl.show(weights.bfloat16(), ["a", "b", "c"]))
    tensors = run.model.to_torch()
    again = hl.Model.from_weights(run.config, tensors)
    assert again.weights_sha256 == run.weights_sha256
    # An array is a tensor without a copy, too.
    assert torch.from_dlpack(run.model(run.samples).weights).shape == run.attention().shape


@pytest.mark.parametrize("tensor", [torch.zeros(3, 3, device="meta"), torch.zeros(3, 3).to_sparse()], ids=["without memory", "sparse"])
def test_tensors_elsewhere_are_refused(tensor):
    with pytest.raises(TypeError, match="weights"):
        hl.show(tensor, ["a", "b", "c"])
    with pytest.raises(TypeError, match="tokens"):
        hl.train("quick").model(tensor)
