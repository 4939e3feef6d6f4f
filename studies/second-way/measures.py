"""How much of the answer is left without attention to the other positions: the table seeds.csv.xz beside the rows. It also has the numbers
of the rows that the page needs, since all 100,000 rows would be too large for the repository.

    headlight reproduce second-way --save-weights
    python -m studies.second-way.measures headlight seeds second-way/seeds.jsonl second-way/seeds.csv.xz    # from the repository's root
"""

import numpy as np

from studies.model import measure

MOST_PAIRS = 64


def measures(config, model, held_out):
    """The difference of the logits of pairs, with attention to [CLS] and the deciding position alone, as a share of the whole."""
    token, position = (config["data"]["rule"][key] for key in ("token", "position"))
    places = np.flatnonzero(held_out[:, position] == token)[:MOST_PAIRS]
    with_token = held_out[places]
    without = with_token.copy()
    for row, place in zip(without, places, strict=True):
        # The token of the next sample that has another one there.
        others = np.roll(held_out[:, position], -place)
        row[position] = others[others != token][0]
    others = tuple(place for place in range(held_out.shape[1]) if place not in (model.read, position))
    gap, alone = ((model.log_odds(with_token, **change) - model.log_odds(without, **change)).mean() for change in ({}, {"left_out": others}))
    return {"gap_without_others": alone / gap}


if __name__ == "__main__":
    fields = ("held_out_f1", "attention_positive/3", "attention_negative/3", "gap_by_weights", "gap_by_values")
    measure(__file__, measures, keep=fields)
