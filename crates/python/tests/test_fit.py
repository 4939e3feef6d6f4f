"""Training in memory, callbacks, and the models of a sweep."""

import pickle
import subprocess
import sys
from pathlib import Path

import headlight as hl
import numpy as np
import pytest
from ten import TEN

ROOT = Path(__file__).parents[3]


# The causal mask of one config hides all tokens from [CLS], so Headlight warns.
@pytest.mark.filterwarnings("ignore:the mask lets")
@pytest.mark.parametrize(("name", "sections"), TEN)
def test_a_fit_is_the_model_of_a_run(name, sections):
    fitted = hl.fit(name, seed=11, **sections)
    run = hl.train(name, seed=11, **sections)
    assert fitted.weights_sha256 == hl.Model.open(run.path).weights_sha256
    assert fitted.step == len(fitted.loss) == run.steps
    np.testing.assert_array_equal(fitted.loss, run.loss)
    assert fitted.metrics.equals(run.metrics)


def test_a_fit_writes_no_file(tmp_path):
    code = "import headlight as hl, os; hl.fit('quick'); assert not os.listdir('.') and not os.listdir(os.environ['TMPDIR'])"
    (tmp_path / "own").mkdir()
    (tmp_path / "tmp").mkdir()
    environment = {"TMPDIR": str(tmp_path / "tmp"), "PYTHONPATH": str(Path(hl.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path / "own", env=environment)


def test_a_fit_is_the_best_model_if_one_is_kept():
    config = dict(training=dict(epochs=6, keep_best="held_out_accuracy", learning_rate=0.05), data=dict(held_out=50))
    fitted = hl.fit("quick", **config)
    rows = fitted.metrics.to_dict("records")
    best = max(rows, key=lambda row: row["held_out_accuracy"])
    assert fitted.step == best["step"] < len(fitted.loss)
    run = hl.train("quick", **config)
    assert fitted.weights_sha256 == hl.Model.open(run.path, "best.safetensors").weights_sha256


def test_a_callback_stops_the_training(tmp_path):
    def heard(training, stop, **more):
        rows = []

        def callback(step, metrics):
            rows.append((step, metrics["accuracy"]))
            return step >= stop

        return training("notebook", callback=callback, **more), rows

    whole, rows = heard(hl.fit, 9999)
    assert rows == list(zip(whole.metrics["step"], whole.metrics["accuracy"]))
    fitted, rows = heard(hl.fit, 1000)
    assert [step for step, _ in rows] == [0, 500, 1000] and fitted.step == 1000
    run, again = heard(hl.train, 1000, run=tmp_path / "run")
    assert again == rows and run.weights_sha256 == fitted.weights_sha256 and run.steps == 1000
    with pytest.raises(ValueError, match="resume"):
        run.verify()
    assert hl.train("notebook", run=tmp_path / "run", resume=True).weights_sha256 == whole.weights_sha256
    # The start cannot be stopped before a step.
    assert heard(hl.fit, 0)[0].weights_sha256 == heard(hl.train, 0)[0].weights_sha256
    assert heard(hl.fit, 0)[0].step == 1


@pytest.mark.parametrize("training", [hl.fit, hl.train])
def test_errors_of_a_callback_are_raised(training):
    def fails(step, metrics):
        raise LookupError("its own")

    with pytest.raises(LookupError, match="its own"):
        training("quick", callback=fails)
    with pytest.raises(TypeError, match="True"):
        training("quick", callback=lambda step, metrics: 3)
    with pytest.raises(TypeError, match="callback"):
        training("quick", callback=3)


def test_a_sweep_gives_the_model_of_a_seed(tmp_path, monkeypatch):
    grid = {"training.learning_rate": [1e-3, 3e-3]}
    sweep = hl.sweep("quick", seeds=range(5, 7), grid=grid, training=dict(epochs=2), out=tmp_path / "rows.jsonl")
    for row in sweep.rows:
        model = sweep.model(row["seed"], point=row["point"])
        assert model.weights_sha256 == row["weights_sha256"]
    opened = hl.Sweep.open(tmp_path / "rows.jsonl", "quick", training=dict(epochs=2))
    assert opened.rows == sweep.rows
    assert opened.svg.startswith("<svg")
    assert pickle.loads(pickle.dumps(opened)).model(6, 1).weights_sha256 == sweep.model(6, 1).weights_sha256
    # A folder has the name of a built-in config, and a config is named without its ending.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "quick").mkdir()
    (tmp_path / "apple.toml").write_text((ROOT / "configs" / "quick.toml").read_text())
    named, found = hl.sweep("quick", seeds=1), hl.sweep("apple", seeds=1)
    monkeypatch.chdir(tmp_path / "quick")
    assert named.model(0).weights_sha256 == found.model(0).weights_sha256 == found.rows[0]["weights_sha256"]
    for call, word in [
        (lambda: sweep.model(5), "point"),
        (lambda: sweep.model(5, 7), "point"),
        (lambda: sweep.model(99), "seed"),
        (lambda: hl.Sweep.open(tmp_path / "rows.jsonl").model(5, 0), "config"),
        (lambda: hl.Sweep.open(tmp_path / "rows.jsonl", "quick").model(5, 0), "SHA-256"),
    ]:
        with pytest.raises(ValueError, match=word):
            call()
    with pytest.raises((ValueError, OSError), match="nothing.jsonl"):
        hl.Sweep.open(tmp_path / "nothing.jsonl")


def test_a_sweep_says_which_runs_failed():
    with pytest.warns(UserWarning, match="3 of 3 runs failed.*seed 0.*diverged"):
        sweep = hl.sweep("quick", seeds=3, training=dict(learning_rate=1e30))
    assert "3 runs, 3 failed, 0 learned" in repr(sweep)
    whole = hl.sweep("quick", seeds=2)
    assert "failed" not in repr(whole)
    with pytest.raises(ValueError, match="no grid"):
        whole.model(1, point=3)
