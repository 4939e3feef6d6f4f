"""Writes the attention of one sample of a dump as one of BertViz's pages.

    python scripts/viewers/to_bertviz.py runs/notebook-1 --sample 10 --view head --out page.html

`head` draws a line from each query (left) to each key (right), `model` all layers and heads small,
`neuron` queries times keys, number by number. BertViz shows the last only for its own models; this
script writes the same page from the dump's queries and keys, with BertViz's JavaScript. That
JavaScript knows only the scale 1 / sqrt(d_head) and only the causal mask. For a model with another
scale or mask it draws other scores than the dump's, and this script prints the difference. The weights
are always the dump's. All pages load RequireJS, jQuery and D3 from cdnjs.cloudflare.com.
"""

import sys
from unittest import mock

import bertviz
import numpy as np
import torch
from bertviz import neuron_view

import dumps
from dumps import Dump


def attention(dump: Dump, sample: int) -> tuple[torch.Tensor, ...]:
    """A tensor `[1, head, query, key]` for each layer."""
    return tuple(torch.from_numpy(layer)[None] for layer in dump["attention_weights"][sample])


def head_html(dump: Dump, sample: int) -> str:
    return bertviz.head_view(
        attention(dump, sample),
        dump.token_strings(sample),
        prettify_tokens=False,
        html_action="return",
    ).data


def model_html(dump: Dump, sample: int) -> str:
    return bertviz.model_view(
        attention(dump, sample),
        dump.token_strings(sample),
        prettify_tokens=False,
        display_mode="light",
        html_action="return",
    ).data


def neuron_data(dump: Dump, sample: int) -> dict:
    """The data that `bertviz.neuron_view.get_attention` returns for a model and one sentence."""
    tokens = dump.token_strings(sample)
    return {
        "all": {
            "attn": dump["attention_weights"][sample].tolist(),
            "left_text": tokens,
            "right_text": tokens,
            "queries": dump["query"][sample].tolist(),
            "keys": dump["key"][sample].tolist(),
        }
    }


def is_causal(dump: Dump, sample: int) -> bool:
    if "attention_mask" not in dump:
        return False
    mask = dump["attention_mask"][sample]
    return np.array_equal(mask, np.tri(len(mask), dtype=bool))


def neuron_differences(dump: Dump, sample: int) -> list[str]:
    """The settings for which BertViz computes other scores than the model."""
    result = []
    if "attention_mask" in dump and not (
        dump["attention_mask"][sample].all() or is_causal(dump, sample)
    ):
        result.append(
            "the mask is neither none nor causal: BertViz shows scores of masked keys too"
        )
    query, key = dump["query"][sample], dump["key"][sample]
    theirs = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    scores = dump["attention_scores"][sample]
    if not np.allclose(theirs, scores, rtol=1e-4, atol=1e-5):
        result.append("the model does not scale by 1 / sqrt(d_head): BertViz's scores do")
    return result


def neuron_html(dump: Dump, sample: int) -> str:
    """The page of `bertviz.neuron_view.show`, for a model's data in place of a model."""
    model_type = "gpt2" if is_causal(dump, sample) else "bert"  # only selects the mask
    with mock.patch.object(neuron_view, "get_attention", return_value=neuron_data(dump, sample)):
        return neuron_view.show(
            None, model_type, None, "-", display_mode="light", html_action="return"
        ).data


VIEWS = {"head": head_html, "model": model_html, "neuron": neuron_html}


def main() -> None:
    parser = dumps.parser(__doc__, "the page to write")
    dumps.add_sample(parser)
    parser.add_argument("--view", choices=VIEWS, default="head", help="default: %(default)s")
    args = parser.parse_args()
    dump, row = dumps.open_sample(args)
    row = row or 0
    if args.view == "neuron":
        for difference in neuron_differences(dump, row):
            print(difference, file=sys.stderr)
    body = VIEWS[args.view](dump, row)
    dumps.write(args.out, dumps.page(f"Headlight: {dump.title(row)}", body))


if __name__ == "__main__":
    main()
