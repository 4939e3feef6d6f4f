import headlight as hl
import numpy as np

run = hl.train("notebook", seed=0)
print("f1", run.metrics["f1"].iloc[-1])
sample = np.flatnonzero(run.samples[:, 3] == 42)[0]
print("attention", run.attention()[sample, 0, 0, 0].round(3).tolist())
