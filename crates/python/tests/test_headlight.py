"""The module from outside: what it computes is what the command line computes."""

import json
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import headlight as hl
import numpy as np
import pandas as pd
import pytest
from ten import TEN

ROOT = Path(__file__).parents[3]
CONFIGS = ROOT / "configs"

# The causal mask of one config hides all tokens from [CLS], so Headlight warns.
@pytest.mark.filterwarnings("ignore:the mask lets")
@pytest.mark.parametrize(("name", "sections"), TEN)
def test_the_command_line_has_the_same_weights(program, tmp_path, name, sections):
    changes = [f"{section}.{key}={value}" for section, keys in sections.items() for key, value in keys.items()]
    sets = [word for change in [*changes, "seed=11"] for word in ("--set", change)]
    subprocess.run([program, "train", name, "--run", tmp_path / "run", "--quiet", *sets], check=True, capture_output=True)
    theirs = hl.Run.open(tmp_path / "run")
    ours = hl.train(name, seed=11, **sections)
    assert ours.weights_sha256 == theirs.weights_sha256
    assert (ours.loss == theirs.loss).all()
    assert ours.report == theirs.report
    assert not ours.verify()


def test_a_sweep_has_the_rows_of_the_command_line(program, tmp_path):
    grid = {"training.learning_rate": [1e-3, 3e-3]}
    out = tmp_path / "rows.jsonl"
    subprocess.run(
        [program, "sweep", "quick", "--seeds", "5..9", "--grid", "training.learning_rate=1e-3,3e-3", "--out", out],
        check=True,
        capture_output=True,
    )
    theirs = [json.loads(line) for line in out.read_text().splitlines()]
    ours = hl.sweep("quick", seeds=range(5, 9), grid=grid, out=tmp_path / "ours.jsonl")
    assert ours.rows == theirs
    assert (tmp_path / "ours.jsonl").read_bytes() == out.read_bytes()
    # Nothing is left to train.
    assert hl.sweep("quick", seeds=range(5, 9), grid=grid, out=out).rows == theirs
    assert out.with_suffix(".svg").read_text().startswith("<svg") and ours.svg.startswith("<svg")


def test_a_run_has_what_a_notebook_asks_for(run):
    assert len(run.loss) == run.steps == 1500
    assert run.loss.dtype == np.float32
    metrics = run.metrics
    assert list(metrics["step"]) == [0, 500, 1000, 1500]
    assert metrics["f1"].iloc[-1] == 1
    weights = run.attention(step=900)
    assert weights.shape == (16, 1, 1, 7, 7)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
    assert (run.attention() == run.attention(step=1500)).all()
    assert run.at(1500).weights_sha256 == run.weights_sha256 == run.model.weights_sha256
    assert run.at(0).weights_sha256 != run.weights_sha256


def test_the_dump_of_the_run_has_the_same_numbers(run):
    dump = np.load(max((run.path / "attention").glob("*.npz")))
    out = run.model(run.samples)
    # Attention of many samples takes much memory: it is computed when it is asked for.
    assert set(out._arrays) == {"logits", "probabilities"}
    arrays = set(dump.files) - {"tokens", "labels", "meta"}
    for name in arrays:
        np.testing.assert_array_equal(getattr(out, name), dump[name])
    assert arrays == set(run.model._model.array_names())


def test_an_output_lists_the_arrays_of_its_model(run):
    listed = set(dir(run.model(run.samples)))
    assert {"scores", "weights", "query", "output"} <= listed and "feed_forward_hidden" not in listed
    # The docstring and the types name every array of every model.
    names = {name.removeprefix("attention_") for name in hl.fit("quick", model={"d_ff": 4})._model.array_names()}
    assert names | {"mask"} == set(hl.Output.__annotations__) - {"_names"}
    assert all(re.search(rf"\b{name}\b.*:", hl.Output.__doc__ or "") for name in names), names


def test_interventions_have_the_values_of_numpy(run):
    out = run.model(run.samples)
    assert (out.without(head=(0, 0)).context == 0).all()
    without = out.without(key=3)
    assert (without.weights[..., 3] == 0).all()
    np.testing.assert_allclose(without.weights.sum(-1), 1, atol=1e-6)
    even = out.with_weights(0, 0, 0, np.full(7, 1 / 7))
    np.testing.assert_allclose(even.context[:, 0, 0, 0], out.value[:, 0, 0].mean(-2), atol=1e-6)
    patched = out.patched("embeddings", 3, out.embeddings[1, 3])
    np.testing.assert_array_equal(patched.embeddings[0, 3], out.embeddings[1, 3])


def test_cls_may_be_left_out(run):
    tokens = run.samples
    np.testing.assert_array_equal(run.model(tokens[:, 1:]).logits, run.model(tokens).logits)
    assert run.model(tokens[0, 1:]).logits.shape == (1,)
    assert len(run.model(np.empty((0, 6), dtype=int))) == 0
    last = hl.fit("quick", data={"cls": "last"})
    assert last([[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7]]).words[1][-2:] == ["7", "[CLS]"]
    np.testing.assert_array_equal(last([[1, 2, 3, 4, 5, 6, 0]]).logits, last([[1, 2, 3, 4, 5, 6]]).logits)
    for model, tokens, word in [
        (run.model, [[0, 2, 3, 4, 5, 6]], "seq_len"),
        (run.model, [[1, 2, 0, 4, 5, 6]], "sample 0.*only be first"),
        (run.model, [[0, 1, 2, 3, 4, 5, 0]], "only be first"),
        (run.model, [[0, 1, 2, 3, 4, 5, 6], [7, 1, 2, 3, 4, 5, 6]], "sample 1.*first sample"),
        (run.model, [[1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5, 6]], "sample 1.*first sample"),
        (last, [[0, 1, 2, 3, 4, 5, 6]], "first"),
        (run.model, [[1, 2, 3, 4, 5, 6], [1, 2]], "sample 1.*padding_token"),
    ]:
        with pytest.raises(ValueError, match=word):
            model(tokens)


@pytest.mark.filterwarnings("ignore:samples hold token")
def test_shorter_samples_get_padding():
    for place in ("first", "last"):
        padded = hl.fit("quick", data={"cls": place}, model={"attention": {"padding_token": 9}}, training={"epochs": 1})
        whole = padded([[1, 2, 9, 9, 9, 9], [3, 9, 9, 9, 9, 9]])
        for samples in ([[1, 2], [3]], [[1, 2, 9, 9, 9, 9], [3]], [np.array([1, 2]), np.array([3])]):
            np.testing.assert_array_equal(padded(samples).logits, whole.logits)
        np.testing.assert_array_equal(padded([[1, 2]]).tokens, whole.tokens[:1])


def test_objects_are_pickled(run):
    again = pickle.loads(pickle.dumps(run))
    assert again.path != run.path
    assert again.weights_sha256 == run.weights_sha256
    assert not again.verify()
    model = pickle.loads(pickle.dumps(run.model))
    np.testing.assert_array_equal(model(run.samples).logits, run.model(run.samples).logits)
    changed = run.model(run.samples).without(key=3)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(changed)).logits, changed.logits)
    sweep = hl.sweep("quick", seeds=3)
    assert pickle.loads(pickle.dumps(sweep)).rows == sweep.rows
    fitted = hl.fit("quick")
    again = pickle.loads(pickle.dumps(fitted))
    assert again.weights_sha256 == fitted.weights_sha256 and again.step == fitted.step
    assert again.metrics.equals(fitted.metrics) and (again.loss == fitted.loss).all()


def test_a_cell_shows_the_page(run):
    html = run._repr_html_()
    assert html.startswith("<iframe")
    assert "allow-scripts" in html
    assert run.html().startswith("<!")
    for thing in (run, run.model, run.model(run.samples), hl.sweep("quick", seeds=2)):
        assert "\n" not in repr(thing)


def test_a_run_is_kept_resumed_and_saved(tmp_path):
    kept = hl.train("quick", run=tmp_path / "run")
    with pytest.raises(ValueError, match="run"):
        hl.train("quick", run=tmp_path / "run")
    resumed = hl.train("quick", run=tmp_path / "run", resume=True)
    assert resumed.weights_sha256 == kept.weights_sha256
    assert kept.save(tmp_path / "copy").weights_sha256 == kept.weights_sha256
    temporary = hl.train("quick")
    path = temporary.path
    assert path.exists()
    del temporary
    assert not path.exists()


def test_a_run_that_keeps_its_best_model_uses_it(program, tmp_path):
    data = {"samples": 80, "held_out": 200, "positive_rate": 0.5}
    training = {"learning_rate": 0.03, "keep_best": "held_out_loss", "patience": 6, "evaluate_every": 7, "epochs": 60}
    place = tmp_path / "run"
    run = hl.train(CONFIGS / "quick.toml", run=place, data=data, training=training)
    rows = [json.loads(line) for line in (place / "metrics.jsonl").read_text().splitlines()]
    best = min(rows, key=lambda row: row["held_out_loss"])["step"]
    assert run.step == best < run.steps == rows[-1]["step"]
    assert run.model.weights_sha256 == run.at(best).weights_sha256 == hl.Model.open(place).weights_sha256
    assert run.last_model.weights_sha256 == run.at(run.steps).weights_sha256 == run.weights_sha256
    dump = np.load(place / "attention" / "best.npz")
    assert np.array_equal(run.attention(), dump["attention_weights"])
    assert np.array_equal(run.samples, dump["tokens"])
    tokens = " ".join(str(token) for token in run.samples[0])
    said = subprocess.run([program, "predict", place, "--json", "--tokens", tokens], check=True, capture_output=True)
    said = json.loads(said.stdout)
    assert said["step"] == best
    assert np.float32(said["logits"][0]) == run.model(run.samples).logits[0]


def test_texts(tmp_path):
    texts = ["a good film", "a bad film", "good", "bad", "the film was good", "the film was bad"] * 10
    file = hl.datasets.from_texts(texts, ["pos", "neg"] * 30)
    config = {"data": {"file": file, "held_out": 0}, "model": {"d_model": 8}, "training": {"epochs": 30}}
    with_words = hl.train(config)
    assert list(with_words.model.predict(["the good film", "the bad film"])) == [1, 0]
    with pytest.warns(UserWarning, match="1 of"):
        with_words.model("a zebra")


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"], ["2", "10"]])
def test_samples_of_arrays(names):
    tokens = np.random.default_rng(0).integers(1, 9, (400, 5))
    labels = np.array(names)[(tokens[:, 1] == 4).astype(int)]
    file = hl.datasets.from_arrays(tokens[:300], labels[:300], held_out_tokens=tokens[300:], held_out_labels=labels[300:])
    trained = hl.train({"data": {"file": file}, "model": {"d_model": 8}, "training": {"epochs": 20, "learning_rate": 1e-2}})
    assert trained.metrics["held_out_accuracy"].iloc[-1] > 0.95
    assert trained.config["data"].get("classes", [0, 1]) == names
    assert list(trained.model.predict([[2, 4, 1, 1, 1], [4, 1, 2, 2, 2]])) == [1, 0]
    # Types and orders in memory do not count.
    given = [np.asfortranarray(tokens.astype(np.uint64)), labels if labels.dtype.kind == "U" else labels.astype(np.uint8)]
    columns = [pd.DataFrame(tokens, dtype="Int64"), labels.astype(np.dtypes.StringDType() if labels.dtype.kind == "U" else object)]
    for own in (given, columns):
        assert Path(hl.datasets.from_arrays(*own)).read_bytes() == Path(hl.datasets.from_arrays(tokens, labels)).read_bytes()
    assert trained.model(columns[0]).logits.tolist() == trained.model(tokens).logits.tolist()
    # Held-out samples may lack a class.
    hl.datasets.from_arrays(tokens, labels, held_out_tokens=tokens[:9], held_out_labels=names[:1] * 9)


def test_a_rule_is_any_function():
    def ends_alike(tokens):
        return "yes" if tokens[0] == tokens[-1] else "no"

    file = hl.datasets.from_rule(ends_alike, vocab_size=5, seq_len=4, samples=150, held_out=40)
    again = hl.datasets.from_rule(ends_alike, vocab_size=5, seq_len=4, samples=150, held_out=40)
    other = hl.datasets.from_rule(ends_alike, vocab_size=5, seq_len=4, samples=150, held_out=40, seed=1)
    assert Path(file).read_bytes() == Path(again).read_bytes() != Path(other).read_bytes()
    with np.load(file) as arrays:
        tokens, held_out = arrays["tokens"], arrays["held_out_tokens"]
        assert (tokens.shape, held_out.shape) == ((150, 4), (40, 4))
        assert set(tokens.ravel()) == {1, 2, 3, 4}
        assert not {tuple(row) for row in tokens} & {tuple(row) for row in held_out}
        names = arrays["classes"][arrays["labels"]]
        assert (names == np.where(tokens[:, 0] == tokens[:, -1], "yes", "no")).all()
    with np.load(hl.datasets.from_rule(lambda tokens: tokens.max(), vocab_size=3, seq_len=2, samples=50, cls=False)) as arrays:
        assert set(arrays["tokens"].ravel()) == {0, 1, 2} and (arrays["labels"] == arrays["tokens"].max(1)).all()
    run = hl.train(dict(data=dict(file=file), model=dict(d_model=4), training=dict(epochs=1)))
    assert run.config["data"]["classes"] == ["no", "yes"]


def test_weights_go_out_and_in(run):
    again = hl.Model.from_weights({**run.config, "compute": {}}, run.model.weights, check=(run.samples, run.model(run.samples).logits))
    assert again.weights_sha256 == run.weights_sha256


def test_polars_has_the_table_where_it_is_imported():
    code = "import polars, sys, headlight as hl; assert isinstance(hl.train('quick').metrics, polars.DataFrame); assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_other_threads_run_while_a_model_trains(tmp_path):
    thread = threading.Thread(target=lambda: hl.train("notebook", training={"epochs": 30}, dump={"every_epochs": 0}))
    thread.start()
    time.sleep(0.05)
    # If training held the interpreter, this thread would get here only after its end.
    assert thread.is_alive()
    thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_stops_and_the_run_goes_on(tmp_path):
    # Where this runs in the background, SIGINT is ignored, and so it would be in the child.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}; import headlight as hl; hl.train('notebook', run={str(tmp_path / 'run')!r}, training=dict(epochs=100000), dump=dict(every_epochs=0))"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        try:
            while not (tmp_path / "run" / "metrics.jsonl").exists() and process.poll() is None:
                time.sleep(0.05)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in complaint
    stopped = hl.Run.open(tmp_path / "run").steps
    resumed = hl.train("notebook", run=tmp_path / "run", resume=True, dump={"every_epochs": 0}, training={"epochs": stopped // 500 + 1})
    assert resumed.steps > stopped > 0


def test_a_sweep_may_take_the_name_of_one_that_was_read(tmp_path):
    out = tmp_path / "seeds.jsonl"
    hl.sweep("quick", seeds=2, out=out, progress=False)
    hl.Sweep.open(out, "quick")._repr_html_()
    out.unlink()
    again = hl.sweep("quick", seeds=2, out=out, training={"epochs": 2}, progress=False)
    assert len(again.table) == 2
    assert "epochs = 2" in (tmp_path / "seeds.config.toml").read_text()


def test_answers_at_each_position(tmp_path):
    """The label of each token is its parity; a model learns it, and says so at each position."""
    path = hl.datasets.from_rule(lambda tokens: tokens % 2, vocab_size=9, seq_len=4, samples=400, held_out=50)
    with np.load(path) as file:
        assert file["labels"].shape == (400, 4)
    config = dict(data=dict(task="token-classification", file=path), model=dict(d_model=8), training=dict(epochs=8, learning_rate=0.02))
    model = hl.fit(config)
    samples = [[1, 2, 3, 4], [8, 8, 7, 1]]
    out = model(samples)
    assert out.logits.shape == out.probabilities.shape == (2, 5)
    assert (model.predict(samples)[:, 1:] == np.array(samples) % 2).all()
    for refused in (lambda: model.attribute(samples), lambda: model.generate([1])):
        with pytest.raises(ValueError, match="position|next-token"):
            refused()
    labels = np.array([[0, -100], [-100, 1], [1, 0]])
    path = hl.datasets.from_arrays([[1, 2], [2, 1], [3, 3]], labels)
    hl.fit(dict(data=dict(task="token-classification", file=path), model=dict(d_model=4), training=dict(epochs=1)))


def test_a_model_goes_on_with_a_text(tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("abab\nababab\nab\n" * 40)
    data = dict(task="next-token", file=str(texts), held_out=0, words=dict(level="character"))
    model = dict(d_model=16, attention=dict(mask="causal"))
    fitted = hl.fit(dict(data=data, model=model, training=dict(epochs=20, learning_rate=0.01)))
    made = fitted.generate("ab", count=5, seed=3)
    assert made == fitted.generate("ab", count=5, seed=3)
    assert len(made) == 5 and all(set(text) == {"a", "b"} and text.startswith("ab") for text in made)
    assert fitted.generate(temperature=0, count=1)[0].startswith("ab")
    with pytest.raises(ValueError, match="prompt"):
        fitted.generate("ab" * 40)
