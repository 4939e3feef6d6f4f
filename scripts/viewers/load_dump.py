"""Prints an attention dump with NumPy alone.

    python scripts/viewers/load_dump.py runs/notebook-1/attention/step-001500.npz
"""

import json
import sys

import numpy as np

dump = np.load(sys.argv[1])
meta = json.loads(str(dump["meta"]))
print(f"step {meta['step']}, samples {meta['samples']}")
for name in dump.files:
    if name != "meta":
        print(f"{name:18} {str(dump[name].shape):20} {' '.join(meta['axes'][name])}")
np.set_printoptions(precision=4, suppress=True)
print(f"\nattention weights, sample {meta['samples'][0]}, layer 0, head 0 (query by key):")
print(dump["attention_weights"][0, 0, 0])
