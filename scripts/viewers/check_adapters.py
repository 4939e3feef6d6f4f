"""Checks that the adapters pass the numbers of a dump on unchanged to the packages they write for.

    python scripts/viewers/check_adapters.py --headlight target/release/headlight

Trains two small runs of two blocks with two heads, one of them with a causal mask and feed-forward
layers, calls each adapter as its user would, reads tokens and numbers back from the pages and arrays,
and compares them with the dump: pages must hold the same float32 numbers. TransformerLens also
computes the activations itself, from Headlight's weights, under its own names and axes.
"""

import argparse
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import types
from importlib.metadata import version

import numpy as np
import safetensors.numpy
import torch
from bertviz import neuron_view
from transformer_lens import ActivationCache
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources import native

import to_attnview
import to_bertviz
import to_transformer_lens
from dumps import Dump, open_dump

SCRIPTS = pathlib.Path(__file__).resolve().parent
SMALL = {
    "model.n_layers": 2,
    "model.n_heads": 2,
    "training.epochs": 1,
    "training.learning_rate": 0.01,
    "dump.positives": 2,
    "dump.negatives": 2,
}
RUNS = {"plain": SMALL, "masked": SMALL | {"model.d_ff": 12, "model.attention.mask": '"causal"'}}
SAMPLE = 1
# For what TransformerLens computes itself: absolute, and relative above 1.
TOLERANCE = 2e-6


def call(*command: object, expect: int = 0) -> subprocess.CompletedProcess:
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == expect, (command, result.stdout, result.stderr)
    return result


def adapter(name: str, run: pathlib.Path, out: pathlib.Path, *options: object) -> pathlib.Path:
    call(sys.executable, SCRIPTS / f"{name}.py", run, "--out", out, *options)
    return out


def value_after(text: str, start: str) -> dict:
    """The JSON that follows the only occurrence of `start`."""
    assert text.count(start) == 1, (start, text.count(start))
    return json.JSONDecoder().raw_decode(text, text.index(start) + len(start))[0]


def same(found: object, expected: np.ndarray, what: str) -> None:
    found = np.asarray(found, dtype=np.float32)
    assert found.shape == expected.shape, (what, found.shape, expected.shape)
    difference = np.nonzero(found != expected)
    assert not difference[0].size, (what, "first differs at", [int(axis[0]) for axis in difference])


def loads(page: str) -> list[str]:
    """The addresses that a page loads scripts and styles from."""
    tags = r'(?:<script[^>]* src="|<link[^>]* href="|(?:d3|jquery): \'|from ")(https?://[^"\']+)'
    return sorted(set(re.findall(tags, page)))


def report(package: str, what: str, path: pathlib.Path) -> None:
    page = path.read_text("utf-8") if path.suffix == ".html" else ""
    hosts = ", ".join(address.split("/")[-1] for address in loads(page)) or "nothing"
    kind = f", gets {hosts} from the network" if page else ""
    print(f"  {package} {version(package)}, {what}: {path.stat().st_size:,} bytes{kind}")


def check_bertviz(dump: Dump, run: pathlib.Path, out: pathlib.Path) -> None:
    weights, tokens = dump["attention_weights"][SAMPLE], dump.token_strings(SAMPLE)
    for view in ["head", "model"]:
        path = adapter(
            "to_bertviz", run, out, "--sample", dump.meta["samples"][SAMPLE], "--view", view
        )
        params = value_after(path.read_text("utf-8"), "const params = ")
        (data,) = params["attention"]
        assert data["left_text"] == data["right_text"] == tokens, data
        same(data["attn"], weights, f"BertViz, {view} view")
        assert params["include_layers"] == list(range(len(weights)))
        report("bertviz", f"{view} view, [layer, head, query, key]", path)

    path = adapter(
        "to_bertviz", run, out, "--sample", dump.meta["samples"][SAMPLE], "--view", "neuron"
    )
    params = value_after(path.read_text("utf-8"), "window.bertviz_params = ")
    data = params["attention"]["all"]
    assert data["left_text"] == data["right_text"] == tokens, data
    same(data["attn"], weights, "BertViz, neuron view's attn")
    same(data["queries"], dump["query"][SAMPLE], "BertViz, queries")
    same(data["keys"], dump["key"][SAMPLE], "BertViz, keys")
    assert params["bidirectional"] == ("attention_mask" not in dump)
    # The page computes the model's scores from them.
    query, key = (np.asarray(data[name]) for name in ["queries", "keys"])
    theirs = query @ key.swapaxes(-2, -1) / math.sqrt(query.shape[-1])
    close(theirs, dump["attention_scores"][SAMPLE], "BertViz's scores")
    assert data == bertviz_of_model(dump), "BertViz makes other data of a model"
    report("bertviz", "neuron view, attn, queries and keys", path)


class SomeModel:
    """A model and its tokenizer as `bertviz.neuron_view.get_attention` calls them."""

    def __init__(self, dump: Dump) -> None:
        self.dump = dump

    def eval(self) -> None:
        pass

    def __call__(self, tokens: torch.Tensor) -> tuple:
        assert tokens.tolist() == self.dump["tokens"][SAMPLE : SAMPLE + 1].tolist()
        names = {"attn": "attention_weights", "queries": "query", "keys": "key"}
        part = {name: self.dump[ours][SAMPLE] for name, ours in names.items()}
        layers = range(len(part["attn"]))
        return ([{name: torch.tensor(part[name][i])[None] for name in part} for i in layers],)

    def tokenize(self, _: str) -> list[str]:
        return self.dump.token_strings(SAMPLE)

    def convert_tokens_to_ids(self, _: list[str]) -> list[int]:
        return self.dump["tokens"][SAMPLE].tolist()


def bertviz_of_model(dump: Dump) -> dict:
    model = SomeModel(dump)
    data = neuron_view.get_attention(model, "gpt2", model, "-", include_queries_and_keys=True)
    assert data == to_bertviz.neuron_data(dump, SAMPLE)
    return data["all"]


def check_circuitsvis(dump: Dump, run: pathlib.Path, out: pathlib.Path) -> None:
    weights, tokens = dump["attention_weights"][SAMPLE], dump.token_strings(SAMPLE)
    layers, heads, *matrix = weights.shape
    for options in [[], ["--online"]]:
        path = adapter(
            "to_circuitsvis", run, out, "--sample", dump.meta["samples"][SAMPLE], *options
        )
        page = path.read_text("utf-8")
        # This is the last call in the page; the package's own code precedes it.
        call_at = re.search(r"AttentionHeads,\s+(?=\{)", page[page.rindex("render(") :])
        props = json.JSONDecoder().raw_decode(page[page.rindex("render(") + call_at.end() :])[0]
        assert props["tokens"] == tokens, props["tokens"]
        assert props["maskUpperTri"] is False, "CircuitsVis would grey out what [CLS] looks at"
        names = [f"L{layer}H{head}" for layer in range(layers) for head in range(heads)]
        assert props["attentionHeadNames"] == names
        same(props["attention"], weights.reshape(layers * heads, *matrix), "CircuitsVis")
        assert bool(options) == bool(loads(page)), loads(page)
        report("circuitsvis", "attention_heads, [layer and head, query, key]", path)


def check_attnview(dump: Dump, run: pathlib.Path, out: pathlib.Path) -> None:
    weights, tokens = dump["attention_weights"][SAMPLE], dump.token_strings(SAMPLE)
    path = adapter("to_attnview", run, out, "--sample", dump.meta["samples"][SAMPLE])
    page = path.read_text("utf-8")
    layers = value_after(page, "const data=")["layers"]
    assert [layer["name"] for layer in layers] == [f"Layer {i}" for i in range(len(weights))]
    assert all(layer["queries"] == layer["keys"] == tokens for layer in layers)
    same([layer["values"] for layer in layers], weights, "attnview")
    assert not loads(page), loads(page)
    # Its names are TransformerLens's, so it also reads what to_transformer_lens.py writes.
    ours = to_transformer_lens.cache(dump, slice(SAMPLE, SAMPLE + 1))
    assert to_attnview.attnview.from_cache(ours, tokens=tokens).head_count == weights.shape[1]
    report("attnview", "blocks.N.attn.hook_pattern, [1, head, query, key]", path)


def norm(values: np.ndarray, weights: dict[str, np.ndarray], name: str, eps: float) -> np.ndarray:
    centred = values - values.mean(-1, keepdims=True)
    scaled = centred / np.sqrt(values.var(-1, keepdims=True) + eps)
    return scaled * weights[f"{name}.gamma"] + weights[f"{name}.beta"]


def close(found: np.ndarray, expected: np.ndarray, what: str) -> float:
    """The largest difference over the larger of 1 and the largest value; -inf equals -inf."""
    assert found.shape == expected.shape, (what, found.shape, expected.shape)
    finite = np.isfinite(expected)
    assert np.array_equal(found[~finite], expected[~finite]), (what, "masked elsewhere")
    difference = np.abs(found[finite] - expected[finite]).max()
    difference /= max(1.0, np.abs(expected[finite]).max())
    assert difference <= TOLERANCE, (what, difference)
    return float(difference)


@torch.no_grad()
def computed_by_transformer_lens(
    dump: Dump, layer: int, weights: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The activations that its own model of one block computes from a layer's weights, as `blocks.0`."""
    config = dump.meta["config"]["model"]
    _, _, heads, positions, d_head = dump["query"].shape
    d_ff, masked = config["d_ff"], "attention_mask" in dump
    bridge = native.boot(
        TransformerBridgeConfig(
            d_model=config["d_model"],
            n_heads=heads,
            d_head=d_head,
            n_layers=1,
            n_ctx=positions,
            d_vocab=len(weights["token_embedding"]),
            d_mlp=d_ff or 1,
            act_fn="relu",
            normalization_type=None,
            attention_dir="causal" if masked else "bidirectional",
        )
    )
    block, parts = bridge.blocks[0], {"q": "query", "k": "key", "v": "value"}
    ours = {getattr(block.attn, part): f"attention.{name}" for part, name in parts.items()}
    if d_ff:
        ours[getattr(block.mlp, "in")] = "feed_forward.hidden"
    for linear, name in ours.items():
        linear.weight.copy_(torch.from_numpy(weights[f"blocks.{layer}.{name}.weight"]).T)
        linear.bias.copy_(torch.from_numpy(weights[f"blocks.{layer}.{name}.bias"]))
    bridge.embed.weight.copy_(torch.from_numpy(weights["token_embedding"]))
    bridge.pos_embed.weight.copy_(torch.from_numpy(weights["position_embedding"]))

    # It normalises before attention and feed-forward or not at all, Headlight after them. So NumPy
    # computes the norms, and hooks insert them where the next part begins.
    eps = config["layer_norm_eps"]
    hooks = []
    if layer > 0:
        before = f"blocks.{layer - 1}"
        name, sums = (
            ("feed_forward.norm", "feed_forward_residual") if d_ff else ("norm", "residual")
        )
        given = norm(dump[sums][:, layer - 1], weights, f"{before}.{name}", eps)
        hooks.append(("blocks.0.hook_in", torch.from_numpy(given)))
    if d_ff:
        given = norm(dump["residual"][:, layer], weights, f"blocks.{layer}.norm", eps)
        hooks.append(("blocks.0.mlp.hook_in", torch.from_numpy(given)))
    for name, given in hooks:
        bridge.add_hook(name, lambda values, hook, given=given: given)
    _, cache = bridge.run_with_cache(torch.from_numpy(dump["tokens"]))
    # What it calls scores here are the weights again, although its documents say "pre-softmax".
    # So the scores are its queries times its keys.
    attention = "blocks.0.attn.hook_"
    query, key = (cache[f"{attention}{name}"].transpose(1, 2) for name in "qk")
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_head)
    if masked:
        scores = torch.where(torch.ones(positions, positions).tril() > 0, scores, -torch.inf)
    assert torch.allclose(torch.softmax(scores, -1), cache[f"{attention}pattern"], atol=TOLERANCE)
    own = cache.cache_dict | {f"{attention}attn_scores": scores}
    return {name: values.numpy() for name, values in own.items()}


def check_transformer_lens(dump: Dump, run: pathlib.Path, out: pathlib.Path) -> None:
    path = adapter("to_transformer_lens", run, out.with_suffix(".npz"))
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    layers, heads = dump["attention_weights"].shape[1:3]
    model = types.SimpleNamespace(cfg=types.SimpleNamespace(n_layers=layers))
    cache = ActivationCache({name: torch.from_numpy(arrays[name]) for name in arrays}, model)

    # By its short names; -1 is the last layer.
    for layer in [*range(layers), -1]:
        same(cache["pattern", layer], dump["attention_weights"][:, layer], "pattern")
        shown = dump["attention_scores"][:, layer].copy()
        if "attention_mask" in dump:
            shown[~np.repeat(dump["attention_mask"][:, None], heads, axis=1)] = -np.inf
        same(cache["attn_scores", layer], shown, "attn_scores")
        pattern = torch.softmax(cache["attn_scores", layer], -1).numpy()
        close(pattern, dump["attention_weights"][:, layer], "softmax of attn_scores")
        for short, ours in {"q": "query", "k": "key", "v": "value", "z": "context"}.items():
            same(cache[short, layer].permute(0, 2, 1, 3), dump[ours][:, layer], short)
        if "feed_forward_hidden" in dump:
            same(cache["post", layer], dump["feed_forward_hidden"][:, layer], "post")
    same(cache["resid_pre", 0], dump["embeddings"], "resid_pre")
    stacked = cache.stack_activation("pattern")
    assert stacked.shape == dump["attention_weights"].swapaxes(0, 1).shape, stacked.shape

    weights = safetensors.numpy.load_file(run / "model.safetensors")
    largest, compared = 0.0, 0
    for layer in range(layers):
        theirs = computed_by_transformer_lens(dump, layer, weights)
        for name in (name for name in arrays if name.startswith(f"blocks.{layer}.")):
            found = theirs[name.replace(f"blocks.{layer}.", "blocks.0.")]
            largest = max(largest, close(arrays[name], found, name))
            compared += 1
    assert compared == len(arrays), (compared, len(arrays))
    report("transformer-lens", f"ActivationCache of {len(arrays)} activations", path)
    print(
        f"    its own model computes the same by the same weights: largest difference {largest:.1e}"
    )


def check_refusals(run: pathlib.Path, out: pathlib.Path) -> None:
    """A sample or a dump that does not exist is reported in one line."""
    for name in ["to_bertviz", "to_circuitsvis", "to_attnview", "to_transformer_lens"]:
        script = SCRIPTS / f"{name}.py"
        result = call(sys.executable, script, run, "--sample", 99, "--out", out, expect=1)
        assert "has no sample 99; it holds [" in result.stderr, result.stderr
        result = call(sys.executable, script, run / "none", "--out", out, expect=1)
        assert "Traceback" not in result.stderr, result.stderr


CHECKS = [check_bertviz, check_circuitsvis, check_attnview, check_transformer_lens]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headlight", required=True, help="the binary")
    args = parser.parse_args()
    torch.set_num_threads(1)
    config = SCRIPTS.parents[1] / "configs" / "notebook.toml"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, settings in RUNS.items():
            changes = [
                part for key, value in settings.items() for part in ["--set", f"{key}={value}"]
            ]
            run = folder / name
            call(args.headlight, "train", config, *changes, "--run", run)
            dump = open_dump(run)
            print(f"{name}: {len(dump)} samples, attention {dump['attention_weights'].shape[1:]}")
            for check in CHECKS:
                check(dump, run, folder / f"{name}.html")
        check_refusals(run, folder / "refused.html")
    print("the adapters write the numbers of the dumps")


if __name__ == "__main__":
    main()
