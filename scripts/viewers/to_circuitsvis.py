"""Writes the attention of one sample of a dump, all layers and heads, as CircuitsVis's page.

    python scripts/viewers/to_circuitsvis.py runs/notebook-1 --sample 10 --out page.html
    python scripts/viewers/to_circuitsvis.py runs/notebook-1 --sample 10 --online --out page.html

By default CircuitsVis masks the upper triangle, which would grey out everything that [CLS] looks at.
`attention_patterns` has no option against that; this script uses `attention_heads`, which has one.
The page contains CircuitsVis's code (1.3 MB) and needs no network. With --online it is small and
loads the code from unpkg.com.
"""

import circuitsvis.attention

import dumps
from dumps import Dump


def html(dump: Dump, sample: int, online: bool = False) -> str:
    attention = dump["attention_weights"][sample]
    layers, heads = attention.shape[:2]
    rendered = circuitsvis.attention.attention_heads(
        attention=attention.reshape(layers * heads, *attention.shape[2:]),
        tokens=dump.token_strings(sample),
        attention_head_names=[
            f"L{layer}H{head}" for layer in range(layers) for head in range(heads)
        ],
        min_value=0.0,
        max_value=1.0,
        mask_upper_tri=False,
    )
    # Not its notebook form, which first tests for a network.
    return rendered.cdn_src if online else rendered.local_src


def main() -> None:
    parser = dumps.parser(__doc__, "the page to write")
    dumps.add_sample(parser)
    parser.add_argument("--online", action="store_true", help="load CircuitsVis's code from a CDN")
    args = parser.parse_args()
    dump, row = dumps.open_sample(args)
    row = row or 0
    body = html(dump, row, args.online)
    dumps.write(args.out, dumps.page(f"Headlight: {dump.title(row)}", body))


if __name__ == "__main__":
    main()
