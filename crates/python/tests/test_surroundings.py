"""The module beside other things: missing libraries, forks, notebooks, files that go."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from itertools import product
from types import ModuleType

import headlight as hl
import numpy as np
import pandas as pd
import polars as pl
import pytest


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_needs_a_library_says_so():
    python(
        """
import sys
for name in ("sklearn", "pandas", "polars", "torch"):
    sys.modules[name] = None
import headlight as hl
from headlight import *
run = hl.train("quick")
def message(call):
    try:
        call()
    except (AttributeError, ImportError) as error:
        return str(error)
def imported():
    from headlight import AttentionClassifier
for call, package in [
    (lambda: hl.AttentionClassifier, "scikit-learn"),
    (imported, "scikit-learn"),
    (lambda: run.metrics.iloc, "pandas"),
    (lambda: hl.sweep("quick", seeds=2).table.columns, "pandas"),
    (run.model.to_torch, "torch"),
]:
    found = message(call)
    assert found and f"pip install {package}" in found, (package, found)
assert run.metrics["f1"].dtype == float
"""
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_worker_leaves_the_run():
    python(
        """
import gc, multiprocessing
import headlight as hl
run = hl.train("quick")
def work():
    global run
    run.model(run.samples)
    del run
    gc.collect()
worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
worker.join()
assert worker.exitcode == 0
assert run.path.is_dir() and run.attention().size and not run.verify()
path = run.path.parent
del run
assert not path.exists()
"""
    )


@pytest.mark.filterwarnings("ignore:.*test set `more`")
@pytest.mark.parametrize("kind", ["tokens", "texts"])
def test_a_run_holds_its_samples(tmp_path, kind):
    rng = np.random.default_rng(0)
    # Each row occurs once, since Headlight warns of repeated texts.
    tokens = np.unique(rng.integers(1, 9, (60, 4)), axis=0)
    labels = tokens[:, 1] > 4
    if kind == "tokens":
        file = hl.datasets.from_arrays(tokens, labels, path=tmp_path / "mine.npz")
    else:
        file = hl.datasets.from_texts([" ".join(f"w{token}" for token in row) for row in tokens], labels, path=tmp_path / "mine.csv")
    # No step needs the samples of a test set.
    tests = [{"name": "more", "file": str(shutil.copy(file, tmp_path / f"more-{os.path.basename(file)}"))}]
    config = {"data": {"file": file}, "model": {"d_model": 8}, "training": {"epochs": 2}, "tests": tests}
    run, kept = hl.train(config), hl.train(config, run=tmp_path / "kept")
    expected = [run.at(step).weights_sha256 for step in (0, 3, run.steps)]
    assert expected[-1] == run.weights_sha256 == kept.weights_sha256

    def steps(run):
        return [run.at(step).weights_sha256 for step in (0, 3, run.steps)]

    # A training that is refused changes nothing in the run.
    other = hl.datasets.from_arrays(tokens[::-1], labels[::-1], path=tmp_path / "other.npz")
    with pytest.raises(ValueError, match="kept"):
        hl.train({**config, "data": {"file": other}, "tests": []}, run=kept.path)
    # Other samples are there now, then none.
    os.remove(tests[0]["file"])
    os.rename(file, tmp_path / f"old-{os.path.basename(file)}")
    for remains in (True, False):
        if remains:
            for ending in ("npz", "csv"):
                (tmp_path / f"mine.{ending}").write_bytes(b"text,label\nall,1\nother,0\n")
        else:
            os.remove(file)
        assert steps(pickle.loads(pickle.dumps(run))) == expected
        assert steps(hl.Run.open(kept.path)) == expected
        assert steps(kept.save(tmp_path / f"saved-{remains}")) == expected
    again = pickle.loads(pickle.dumps(run.model))
    assert again.weights_sha256 == run.weights_sha256
    assert not kept.verify()


COLUMNS = [list, tuple, np.array, pd.Series, pl.Series, lambda own: pd.Series(own, dtype="category"), lambda own: pd.Series(own, dtype=object, index=range(5, 5 + len(own)))]


@pytest.fixture(scope="module")
def of_texts():
    texts, labels = ["a good film", "a bad film", "good", "bad"] * 10, ["pos", "neg"] * 20
    return texts, labels, hl.AttentionClassifier(epochs=10, learning_rate=1e-2).fit(texts, labels)


@pytest.mark.parametrize("column", COLUMNS)
def test_texts_may_be_a_column(of_texts, column, tmp_path):
    texts, labels, classifier = of_texts
    assert list(classifier.predict(column(texts))) == labels
    np.testing.assert_array_equal(classifier.model_(column(texts)).logits, classifier.model_(texts).logits)
    again = hl.AttentionClassifier(epochs=10, learning_rate=1e-2).fit(column(texts), column(labels))
    assert again.run_.weights_sha256 == classifier.run_.weights_sha256
    one, other = (hl.datasets.from_texts(own(texts), own(labels), path=tmp_path / f"{own.__name__}.csv") for own in (list, column))
    with open(one, "rb") as first, open(other, "rb") as second:
        assert first.read() == second.read()


@pytest.mark.parametrize("column", [*COLUMNS[:2], *COLUMNS[3:], lambda own: pd.Series(own, dtype="string"), lambda own: np.array(own, dtype=object)])
@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_missing_text_is_refused_with_its_number(of_texts, column, missing):
    texts, labels, classifier = of_texts
    if column is pl.Series and missing is not None:
        pytest.skip("polars has None alone")
    given = column([*texts[:7], missing, *texts[8:]])
    for call in (
        lambda: classifier.fit(given, labels),
        lambda: classifier.predict(given),
        lambda: classifier.model_(given),
        lambda: classifier.model_.attribute(given),
        lambda: hl.datasets.from_texts(given, labels),
    ):
        with pytest.raises(ValueError, match="text 7 is missing"):
            call()


def test_progress_in_a_notebook_leaves_nothing(monkeypatch):
    """What a saved notebook holds of a display is its last update."""
    shown = []

    class Display:
        def __init__(self, content):
            shown.append(content)

        def update(self, content, raw):
            assert raw
            shown.append(content)

    module = ModuleType("IPython.display")
    module.display = lambda content, raw, display_id: Display(content)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    hl.sweep("notebook", seeds=60)
    assert any("of 60 runs" in content["text/plain"] for content in shown)
    assert set(shown[-1].values()) == {""}
    assert "widget" not in json.dumps(shown)


def test_a_run_stays_where_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    run = hl.train("quick", run="x")
    monkeypatch.chdir(tmp_path / "other")
    assert pickle.loads(pickle.dumps(run)).weights_sha256 == run.weights_sha256
    shutil.rmtree(tmp_path / "x")
    names = ("metrics", "loss", "report", "samples", "weights_sha256", "last_model")
    for call in (run.attention, run.html, lambda: run.save("copy"), lambda: pickle.dumps(run), *(partial(getattr, run, name) for name in names)):
        with pytest.raises(FileNotFoundError, match="folder of this run is gone"):
            call()
    assert "\n" not in repr(run)


def test_messages_name_what_the_user_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my--text.csv").write_text("a,b\n1,2\n")
    hl.train("quick", run="exp--run2")
    one = hl.datasets.from_texts(["a", "b"], ["x", "x"])
    for call, words in [
        (lambda: hl.train("my--text.csv"), ["my--text.csv: ", "data=dict(label=NAME)"]),
        (lambda: hl.train("quick", run="exp--run2"), ["directory exp--run2 already", "run=, ", "resume=True"]),
        (lambda: hl.sweep("quick", out="--out x.csv"), ["out=--out x.csv: "]),
        (lambda: hl.sweep("quick", grid={"seed": [1]}), ["seeds="]),
        (lambda: hl.sweep("quick", grid={"training.epochs": [0]}), ["grid: training.epochs=0: "]),
        (lambda: hl.train("0"), ["hl.configs()"]),
        (lambda: hl.train(one), ["texts: the column `label` has one label, `x`"]),
        (lambda: hl.train("quick", training={"learning_rate": 1e30}), ["diverged", "are deleted; with run=, they stay"]),
    ]:
        with pytest.raises((ValueError, hl.Diverged)) as raised:
            call()
        message = str(raised.value)
        assert all(word in message for word in words) and tempfile.gettempdir() not in message, message


def test_each_training_says_what_became_of_its_texts(tmp_path):
    for path, count in product((tmp_path / "same.csv", None), (20, 30)):
        file = hl.datasets.from_texts(["word " * 130, "good film", "bad film"] * count, [1, 0, 0] * count, path=path)
        for training in (hl.fit, hl.train, partial(hl.sweep, seeds=2)):
            with pytest.warns(UserWarning) as told:
                training({"data": {"file": file}, "model": {"d_model": 8}, "training": {"epochs": 1}})
            leaks, cut = (str(own.message) for own in told)
            assert leaks.startswith(f"{path or 'texts'}: Held-out texts") and leaks.endswith(f": {count * 3 // 5}.")
            assert cut == f"{path or 'texts'}: Texts cut to the first 128 words: {count}. Dropped words: {2 * count}."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="locks of POSIX")
def test_temporary_folders_end_with_their_owner(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    fitted = "import gc, glob, os, headlight as hl; fitted = hl.AttentionClassifier(epochs=1).fit([[1, 2], [2, 1]] * 4, [0, 1] * 4)"
    with pytest.raises(AssertionError):
        python(f"{fitted}; os.kill(os.getpid(), 9)")
    assert list(tmp_path.glob("headlight-*/*/samples.npz"))
    (tmp_path / "headlight-mine").mkdir()
    # The next process takes away what is left of the killed one; only the lock of its own folder stays.
    python(f"{fitted}; fitted.run_.html(); del fitted; gc.collect(); assert len(glob.glob('{tmp_path}/headlight-*/*')) == 1")
    # A system may delete the folder of a process that lives: the process makes another one.
    python(f"{fitted}; import shutil; shutil.rmtree(fitted.run_.path.parents[1]); hl.train('quick').html()")
    assert os.listdir(tmp_path) == ["headlight-mine"]


def test_all_names_are_listed():
    assert set(hl.__all__) <= set(dir(hl))
