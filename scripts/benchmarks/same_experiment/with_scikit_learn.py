import numpy as np
from sklearn.metrics import f1_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

np.random.seed(0)
tokens = np.random.randint(1, 51, size=(8000, 6))
labels = tokens[:, 2] == 42

network = MLPClassifier((8,), batch_size=16, max_iter=3, random_state=0)
model = make_pipeline(OneHotEncoder(), network)
model.fit(tokens, labels)
print("f1", f1_score(labels, model.predict(tokens)))
