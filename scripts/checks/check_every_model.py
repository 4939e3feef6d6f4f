"""Opens pages in Chromium, trains models of every part in them, and checks what is shown of each.

For models of all kinds, each stage of the step-by-step computation and each table of the chain must agree with the engine's
numbers, and no text may hold a number that is none. Then it chooses a model by the page's controls, and looks at a model
without [CLS]. Needs Debian's chromium and chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_every_model.py target/release/headlight [FOLDER FOR PICTURES]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from check_experiments import check_fits, wait_for
from check_live_page import hashes, settled, train
from check_page import Page, check

SHORT = ["data.samples=200", "data.held_out=40", "training.epochs=2", "model.n_layers=2", "model.n_heads=2"]
ATTENTION = "model.attention."
MODELS = {
    "post-norm": {"model.d_ff": 12},
    "pre-norm, GELU, rotary": {"model.norm": "pre", "model.d_ff": 12, "model.activation": "gelu", "model.positions": "rotary", "training.optimizer": "adamw"},
    "pre-norm, RMS, causal": {"model.norm": "pre", "model.norm_kind": "rms", "model.d_ff": 12, "model.activation": "silu", ATTENTION + "mask": "causal", "data.cls": "last"},
    "pre-norm without feed-forward layer": {"model.norm": "pre", "model.positions": "sinusoidal", "model.norm_gain": False},
    "no norm, no biases": {
        "model.norm": "none", "model.d_ff": 12, "model.activation": "gelu-tanh", "model.positions": "first", "model.feed_forward_bias": False, "model.classifier_bias": False,
        ATTENTION + "bias": False, ATTENTION + "output_bias": False,
    },
    "post-norm, norms that learn nothing": {"model.norm_gain": False, "model.norm_bias": False, "model.final_norm": True, "model.embedding_norm": True, "model.d_ff": 12},
    "rate and ln of the keys": {ATTENTION + "rate": 0.7, ATTENTION + "log_length": True, ATTENTION + "mask": "causal", "data.cls": "last"},
    "no softmax": {ATTENTION + "softmax": False, "model.norm": "none", "model.positions": False},
    "identity projections": {ATTENTION + "value_projection": False, ATTENTION + "output_projection": False, "model.positions": "rotary"},
    "no projections, pre-norm": {ATTENTION + "projections": "none", "model.norm": "pre"},
    "shared projection, rotary": {ATTENTION + "projections": "shared", "model.positions": "rotary", "training.optimizer": "sgd", "training.momentum": 0.9},
    "wide heads, mean, hidden classifier": {"model.d_head": 6, "model.pooling": "mean", "model.classifier_hidden": 5, "model.activation": "gelu", "model.norm": "pre"},
    "no [CLS], two logits": {"data.cls": "none", "model.logits": "per-class", "model.norm": "pre", "model.d_ff": 8},
    "no [CLS], mean": {"data.cls": "none", "model.pooling": "mean"},
    "no [CLS], position 1": {"data.cls": "none", "model.pooling": 1, ATTENTION + "rate": 0.5},
    "last position beside [CLS]": {"model.pooling": "last"},
}


def experiment(page, settings):
    """Trains an experiment to its end."""
    page.js("headlight.change({ settings: arguments[0], changes: {}, query: Infinity, tab: 'steps', stage: 1 })", settings)
    state = wait_for(page, "return document.querySelector('#experiment-state.failed') || document.querySelector('#experiment-state .badge')?.textContent === 'Experiment'", f"{settings} does not end")
    check("it is trained", state is True, settings)


def sound(page, what, element):
    """No check has failed, and no text holds a number that is none."""
    text = page.js("return document.querySelector(arguments[0]).innerText", element)
    wrong = [word for word in ["NaN", "undefined", "Infinity", "null", "[object"] if word in text]
    check(f"{what}: its numbers", not wrong, f"{wrong}: {text}" if wrong else "")
    failed = page.all_text(f"{element} .check.failed")
    check(f"{what}: as the engine has them", not failed, failed)


def check_computation(page, name):
    """The stages of both blocks, and the chain."""
    count = 0
    for layer in [0, 1]:
        page.js("headlight.change({ layer: arguments[0], stage: 1, tab: 'steps' })", layer)
        stages = wait_for(page, "return document.querySelectorAll('#stepper .stages button').length", "no stages")
        for stage in range(1, stages + 1):
            page.js("headlight.change({ stage: arguments[0] })", stage)
            sound(page, f"{name}, layer {layer}, {page.find('#stage-title').text}", "#stepper")
            count += len(page.all_text("#stepper .check"))
        page.js("headlight.change({ tab: 'explore' })")
        wait_for(page, "return document.querySelector('#stage-decision')", "no chain")
        for query in [0, 2]:
            page.js("headlight.change({ query: arguments[0] })", query)
            sound(page, f"{name}, layer {layer}, query {query}, chain", "#chain")
            count += len(page.all_text("#chain .check"))
    check(f"{name}: it is compared with the engine", count >= 30, count)
    sound(page, f"{name}, first sight", "#sight")


def choose(page, control, value):
    """Chooses a value, as a reader does."""
    page.js(
        "const control = document.getElementById(arguments[0]); control.closest('details').open = true; control.value = arguments[1];"
        "control.dispatchEvent(new Event('change', { bubbles: true }))",
        control,
        value,
    )


def check_controls(page, program, folder):
    """A pre-norm model with AdamW, by the controls: it has the weights of `headlight train`, and its curves differ."""
    page.js("headlight.change({ settings: {}, tab: 'experiment' })")
    before = wait_for(page, "return document.querySelector('#loss path, #time svg path')?.getAttribute('d')", "no curve")
    choose(page, "set-model-norm", "pre")
    choose(page, "set-training-optimizer", "adamw")
    wait_for(page, "return document.querySelector('#departure-title, #experiment-state .badge')?.textContent.startsWith('Experiment')", "the experiment does not end")
    check("its title", "norm pre, optimizer adamw" in page.find("#experiment-state").text, page.find("#experiment-state").text)
    after = page.js("return document.querySelector('#loss path, #time svg path').getAttribute('d')")
    check("the curves change", before != after)
    check_fits(page, [360, 1280], ", controls", element="#experiment")
    page.resize(1400, 1000)
    # The page's config, as the notebook's, has the values of Keras's Adam; in the page they follow the optimizer.
    sets = ['model.norm="pre"', 'training.optimizer="adamw"', 'training.token_second_moment="per-token"', "training.epsilon=1e-8"]
    expected = train(program, folder / "pre", "notebook", *SHORT, *sets)
    check("a pre-norm model with AdamW has the weights of `headlight train`", hashes(page)["its weights"] == expected)
    page.js("headlight.change({ tab: 'experiment' })")
    choose(page, "set-training-weight_decay", "0.5")
    wait_for(page, "return headlight.view.value.settings['training.weight_decay'] === 0.5", "weight decay is not set")
    choose(page, "set-training-weight_decay", "")
    check("a key can be unset", "training.weight_decay" not in page.js("return headlight.view.value.settings"))
    choose(page, "set-training-momentum", "0.9")
    told = wait_for(page, "return document.querySelector('#settings .failed')?.textContent", "momentum with adamw is not refused")
    check("what cannot be trained is refused by name", "This cannot be trained: " in told and "Momentum" in told, told)


def check_without_cls(page, folder, pictures):
    """The page of grokking speaks of no [CLS]."""
    for tab in ["explore", "steps", "experiment", "seeds", "evidence"]:
        page.js("headlight.change({ tab: arguments[0], guide: 0 })", tab)
        wait_for(page, f"return document.querySelector('#tab-{tab}')?.getAttribute('aria-selected') === 'true'", "no tab")
        picture(page, pictures, f"grokking-{tab}")
        # The control of [CLS] is there.
        text = page.js("const main = document.querySelector('main').cloneNode(true); main.querySelector('label[for=set-data-cls]')?.remove(); main.querySelectorAll('option').forEach((option) => option.remove()); return main.textContent")
        check(f"without [CLS], {tab}", "[CLS]" not in text, text[max(0, text.find("[CLS]") - 200) :][:400])
    page.js("headlight.change({ tab: 'explore', guide: 1 })")
    for number in range(1, 9):
        page.js("headlight.change({ guide: arguments[0] })", number)
        text = page.find("#guide").text
        check(f"without [CLS], caption {number}", "[CLS]" not in text and "NaN" not in text, text)
    page.js("headlight.change({ guide: 0, tab: 'explore' })")
    page.js("const field = document.querySelector('#own-tokens'); field.value = '0 58'; field.form.requestSubmit()")
    wait_for(page, "return headlight.here.value.sample.startsWith('own-0-58') || headlight.here.value.one.tokens.join() === '0,58'", "token 0 is not taken")
    check("token 0 is a token", page.js("return headlight.here.value.one.tokens") == [0, 58])
    picture(page, pictures, "grokking-own")


def picture(page, folder, name):
    if folder:
        page.driver.save_screenshot(str(folder / f"{name}.png"))


def main():
    program = Path(sys.argv[1]).resolve()
    pictures = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        page = Page(folder, folder)
        try:
            page.resize(1400, 1000)
            flags = [word for pair in SHORT for word in ("--set", pair)]
            lab = folder / "lab.html"
            subprocess.run([program, "lab", "notebook", *flags, "--html", lab], check=True, stdout=subprocess.DEVNULL)
            page.url = lab.as_uri()
            check("live", settled(page) == "live", page.all_text("#origin"))
            check_controls(page, program, folder)
            for name, settings in MODELS.items():
                experiment(page, settings)
                check_computation(page, name)
                picture(page, pictures, name.replace(" ", "-").replace(",", ""))
            grokking = folder / "grokking.html"
            subprocess.run([program, "lab", "grokking", "--set", "training.steps=12", "--html", grokking], check=True, stdout=subprocess.DEVNULL)
            page.url = grokking.as_uri()
            check("grokking is live", settled(page) == "live", page.all_text("#origin"))
            check_without_cls(page, folder, pictures)
            log = page.driver.get_log("browser")
            check("console is empty", not log, log)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
