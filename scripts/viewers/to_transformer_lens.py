"""Writes a dump under TransformerLens's names, as an .npz for its ActivationCache.

    python scripts/viewers/to_transformer_lens.py runs/notebook-1 --out cache.npz

    from transformer_lens import ActivationCache
    arrays = np.load("cache.npz")
    cache = ActivationCache({name: torch.from_numpy(arrays[name]) for name in arrays}, model=None)
    cache["pattern", 1]     # [batch, head, query, key]
    cache["q", 0]           # [batch, position, head, d_head]

It writes only the arrays that mean the same under both names:

    query, key, value     blocks.N.attn.hook_q, hook_k, hook_v
    context               blocks.N.attn.hook_z
    attention_scores      blocks.N.attn.hook_attn_scores   -inf where the mask hides a key
    attention_weights     blocks.N.attn.hook_pattern
    embeddings            blocks.0.hook_resid_pre          for the first block only
    feed_forward_hidden   blocks.N.mlp.hook_post

Headlight normalises after attention and after the feed-forward layer, as BERT does. Its sums before the
norm (`residual`, `feed_forward_residual`) are left out: TransformerLens called the first one
hook_resid_mid for its encoder, and since version 4 gives that name to the second one for BERT. A
dump adds up token and position embeddings, so there is no hook_embed and no hook_pos_embed. Scores
are what its documents call attn_scores; a model of version 4 with separate projections stores the
weights there once more. Needs only NumPy.
"""

import sys

import numpy as np

import dumps
from dumps import Dump

# [layer, head, position, d_head] to [position, head, d_head] for each layer
BY_POSITION = {"query": "hook_q", "key": "hook_k", "value": "hook_v", "context": "hook_z"}


def scores(dump: Dump) -> np.ndarray:
    """`[sample, layer, head, query, key]` with the mask applied; a dump's scores are without it."""
    found = dump["attention_scores"]
    if "attention_mask" not in dump:
        return found
    return np.where(dump["attention_mask"][:, None, None], found, np.float32(-np.inf))


def cache(dump: Dump, samples: slice = slice(None)) -> dict[str, np.ndarray]:
    """Activations of all samples by TransformerLens's names; samples are its batch."""
    result = {"blocks.0.hook_resid_pre": dump["embeddings"][samples]}
    for layer in range(dump["attention_weights"].shape[1]):
        attention = f"blocks.{layer}.attn"
        for name, hook in BY_POSITION.items():
            result[f"{attention}.{hook}"] = dump[name][samples, layer].swapaxes(1, 2)
        result[f"{attention}.hook_attn_scores"] = scores(dump)[samples, layer]
        result[f"{attention}.hook_pattern"] = dump["attention_weights"][samples, layer]
        if "feed_forward_hidden" in dump:
            result[f"blocks.{layer}.mlp.hook_post"] = dump["feed_forward_hidden"][samples, layer]
    return {name: np.ascontiguousarray(values) for name, values in result.items()}


def main() -> None:
    parser = dumps.parser(__doc__, "the .npz to write")
    parser.add_argument("--sample", type=int, help="one sample, numbered as in the other scripts (default: all)")
    args = parser.parse_args()
    dump, row = dumps.open_sample(args)
    samples = slice(None) if row is None else slice(row, row + 1)
    arrays = cache(dump, samples)
    if args.out.suffix != ".npz":
        sys.exit(f"{args.out}: unknown file extension; the name must end in .npz")
    np.savez(args.out, **arrays)
    print(f"{args.out}: {args.out.stat().st_size:,} bytes, {len(arrays)} activations")


if __name__ == "__main__":
    main()
