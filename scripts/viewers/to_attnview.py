"""Writes the attention of one sample of a dump, all layers and heads, as attnview's page.

    python scripts/viewers/to_attnview.py runs/notebook-1 --sample 10 --out page.html

The page needs no network. attnview takes layers as TransformerLens names them
(`blocks.0.attn.hook_pattern`) and one sample at a time.
"""

import attnview

import dumps
from dumps import Dump


def cache(dump: Dump, sample: int) -> dict:
    """Attention weights `[1, head, query, key]` by TransformerLens's name."""
    layers = dump["attention_weights"][sample]
    return {f"blocks.{i}.attn.hook_pattern": layer[None] for i, layer in enumerate(layers)}


def html(dump: Dump, sample: int) -> str:
    study = attnview.from_cache(cache(dump, sample), tokens=dump.token_strings(sample))
    return attnview.render_html(study, title=f"Headlight: {dump.title(sample)}")


def main() -> None:
    parser = dumps.parser(__doc__, "the page to write")
    dumps.add_sample(parser)
    args = parser.parse_args()
    dump, row = dumps.open_sample(args)
    row = row or 0
    dumps.write(args.out, html(dump, row))


if __name__ == "__main__":
    main()
