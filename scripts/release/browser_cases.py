"""What `check_browser_wheel.py` compares: expressions whose values are the same in the browser and in the native module."""

SETUP = """
run = hl.train("notebook", seed=3, training=dict(epochs=3))
out = run.model(run.samples)
sentences = hl.train("negation", training=dict(epochs=1))
words = sentences.model
text = "the * movie was not good , but the soundtrack was amazing"
read = words([text, "The * food was GREAT!"])
kept = hl.train("quick", training=dict(keep_best="f1", evaluate_every=40, patience=2))
deep = hl.fit("equal_positions", training=dict(steps=50), model=dict(n_layers=2, n_heads=2, d_ff=8))
deep_out = deep([[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1]])
heard = []
stopped = hl.fit("notebook", callback=lambda step, metrics: heard.append([step, metrics["f1"]]) or step == 500)
first = hl.fit("notebook", callback=lambda step, metrics: True)
grid = hl.sweep("quick", seeds=2, grid={"training.learning_rate": [1e-3, 3e-3], "model.n_heads": [1, 2]})
fresh = hl.fit(dict(
    data=dict(samples="fresh", vocab_size=9, seq_len=4, held_out=50, rule=dict(kind="token-anywhere", token=3)),
    model=dict(d_model=8), training=dict(steps=40, evaluate_every=10),
))
each = hl.fit(dict(
    data=dict(task="token-classification", samples=200, vocab_size=6, seq_len=4, rule=dict(kind="reverse"), cls="none"),
    model=dict(d_model=8), training=dict(epochs=1),
))
# So large that not all steps are kept.
grown = hl.train("grokking", training=dict(steps=40, batch_size=32), model=dict(d_ff=4096))
own = hl.train(dict(
    data=dict(file=hl.datasets.from_arrays(
        [[1 + (i * 7 + j * j) % 5 for j in range(4)] for i in range(60)], [("no", "yes", "maybe")[i % 3] for i in range(60)],
        held_out_tokens=[[1, 2, 3, 4], [5, 4, 3, 2]], held_out_labels=["yes", "no"],
    )),
    model=dict(d_model=8), training=dict(epochs=2),
))
numbers = hl.fit(dict(data=dict(file=hl.datasets.from_arrays([[1, 2], [2, 1]] * 8, [0, 1] * 8)), model=dict(d_model=8), training=dict(epochs=2)))
films = [f"a {word} film number {i}" for i in range(20) for word in ("good", "bad", "lovely", "dull")]
films = hl.train(dict(
    data=dict(file=hl.datasets.from_texts(films, ["good", "bad"] * 40)), model=dict(d_model=8), training=dict(epochs=3)
))
ROW = ["epoch", "step", "train_loss", "loss", "accuracy", "f1"]
table = lambda model: {name: list(model.metrics[name]) for name in ROW}
FIELDS = ["seed", "point", "training.learning_rate", "model.n_heads", "epoch_loss", "final_loss", "f1", "attention_positive", "weights_sha256"]
"""

# Equal in all digits.
SAME = [
    "hl.__version__",
    "run.weights_sha256",
    "run.steps",
    "run.loss",
    "run.samples",
    "table(run)",
    "list(run.metrics['held_out_loss'])",
    "run.attention()",
    "run.attention(step=900)",
    "run.attention()[0, 0, 0]",
    "run.at(0).weights_sha256",
    "run.at(1).weights_sha256",
    "run.at(1500).weights_sha256 == run.weights_sha256",
    "run.model.weights",
    *(f"out.{name}" for name in ("tokens", "logits", "probabilities", "scores", "weights", "query", "key", "value", "context", "embeddings", "residual", "output")),
    "out.predicted",
    "out.words",
    "out.without(head=(0, 0)).logits",
    "out.without(block=0).logits",
    "out.without(key=3).logits",
    "out.without(key=(0, 3)).weights",
    "out.with_weights(0, 0, 0, [0, 0, 0, 1, 0, 0, 0]).logits",
    "out.with_weights(0, 0, 0, [0.1] * 7).logits",
    "out.patched('embeddings', 3, out.embeddings[1, 3]).logits",
    "out.patched('output', 0, [0.25] * 8).logits",
    "out.patched('residual', 0, out.residual[:, 0, 3]).logits",
    "out.without(key=3).without(key=4).logits",
    "run.model([16, 5, 42, 43, 32, 2]).logits",
    "run.model.predict(run.samples)",
    "hl.Model.from_weights('notebook', run.model.weights).weights_sha256",
    "words.weights_sha256",
    "read.words",
    "read.tokens",
    "read.probabilities",
    "read.mask",
    "[kept.step, kept.steps, kept.weights_sha256, kept.model.weights_sha256]",
    "table(kept)",
    "deep_out.feed_forward_hidden",
    "deep_out.patched('context', 1, deep_out.context[0, 0, 1, 1], layer=0, head=1).logits",
    "deep_out.patched('context', 1, [[0.5] * 4, [1.0] * 4], layer=1, head=0).logits",
    "[heard, stopped.step, stopped.weights_sha256]",
    "[first.step, table(first)]",
    "[{name: row[name] for name in FIELDS} for row in grid.rows]",
    "grid.model(1, point=2).weights_sha256",
    "[fresh.weights_sha256, table(fresh)]",
    "[each.weights_sha256, each([[1, 2, 3, 4]]).predicted]",
    "table(grown)",
    "[grown.at(step).weights_sha256 for step in (0, 17, 40)]",
    "[own.weights_sha256, table(own), own.config['data']['n_classes'], own.config['data']['classes']]",
    "numbers.weights_sha256",
    "[films.weights_sha256, table(films), films.at(3).weights_sha256]",
    "films.model('a lovely, good film').probabilities",
]

# Sums in another order.
CLOSE = ["run.model.attribute(run.samples)", "deep.attribute(deep_out.tokens)"]

# What the browser's module lacks.
LACKING = [
    "hl.show([[1.0]], ['a'])",
    "hl.trace(None, None)",
    "hl.datasets.from_rule(max, vocab_size=3, seq_len=2, samples=4)",
    "hl.train(dict(data=dict(file='samples.npz'), model=dict(d_model=8)))",
    "hl.train('notebook', tests=[dict(samples=10)])",
    "hl.AttentionClassifier()",
    "hl.train('notebook', run='runs/x')",
    "hl.train('notebook', compute=dict(engine='burn'))",
    "hl.train('keras_reference')",
    "hl.sweep('notebook', out='rows.jsonl')",
    "hl.Run.open('runs/x')",
    "hl.Model.from_keras(None)",
    "run.model.to_torch()",
    "run.model.to_transformer_lens()",
    "run.explain([1, 2, 3, 4, 5, 6])",
    "run.verify()",
    "out.cache",
    "out.logit_attribution()",
]
