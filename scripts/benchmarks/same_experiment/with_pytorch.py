import numpy as np
import torch
from torch import nn

np.random.seed(0)
tokens = torch.from_numpy(np.random.randint(1, 51, size=(8000, 6)))
tokens = torch.cat([torch.zeros(8000, 1, dtype=torch.long), tokens], dim=1)
labels = (tokens[:, 3] == 42).float()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(51, 8)
        self.positions = nn.Embedding(7, 8)
        for embedding in (self.tokens, self.positions):
            nn.init.uniform_(embedding.weight, -0.05, 0.05)
        self.attention = nn.MultiheadAttention(8, num_heads=1, batch_first=True)
        self.norm = nn.LayerNorm(8, eps=1e-6)
        self.classifier = nn.Linear(8, 1)

    def forward(self, tokens):
        embedded = self.tokens(tokens) + self.positions.weight
        attended, weights = self.attention(embedded, embedded, embedded)
        stream = self.norm(embedded + attended)
        return self.classifier(stream[:, 0])[:, 0], weights


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), eps=1e-7)
loss = nn.BCEWithLogitsLoss()
for _ in range(3):
    for batch in torch.randperm(8000).split(16):
        optimizer.zero_grad()
        loss(model(tokens[batch])[0], labels[batch]).backward()
        optimizer.step()

with torch.no_grad():
    logits, weights = model(tokens)
predicted, actual = logits > 0, labels > 0
print("f1", float(2 * (predicted & actual).sum() / (predicted.sum() + actual.sum())))
print("attention", weights[actual][0, 0].numpy().round(3).tolist())
