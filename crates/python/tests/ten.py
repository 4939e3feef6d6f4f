"""Ten configs, small and of every kind: engines, rules, masks, positions, words, classes; each with changes."""

TEN = [
    ("notebook", {"training": {"epochs": 1}}),
    ("quick", {}),
    ("token_anywhere", {"training": {"epochs": 1}}),
    ("token_before_token", {"training": {"epochs": 1}}),
    ("equal_positions", {"training": {"epochs": 1}}),
    ("count", {"training": {"epochs": 1}}),
    ("negation", {"data": {"samples": 400}, "training": {"epochs": 1}}),
    ("bank", {"data": {"samples": 400}, "training": {"epochs": 1, "token_dropout": 0.1}}),
    ("claims/causal_mask", {"training": {"epochs": 1}}),
    ("claims/without_positions", {"training": {"epochs": 1}}),
]
