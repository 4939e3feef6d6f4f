"""Opens pages of runs in Chromium, and checks that they train their runs again.

For runs of 20 configs and seeds, of all kinds of architectures, the page must find the hash of `model.safetensors`, and
at the dumped steps it must compute the numbers of the npz dumps, bit by bit. Then it checks what a reader sees of it, and
the runs that stay recorded. Needs Debian's chromium and chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_live_page.py target/release/headlight
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
from check_page import Page, check, npz_dumps
from selenium.webdriver.common.keys import Keys

MOST_BYTES = 440_000  # Of the page of the notebook's run.
SHORT = ["data.samples=400", "data.held_out=50", "training.epochs=1", "dump.every_steps=5", 'dump.formats=["npz"]']
MODELS = {
    "notebook": [[], ["model.d_model=4"], ["model.d_model=12", "model.n_heads=3"], ["model.d_model=32", "model.n_heads=2"]],
    "quick": [
        ["model.n_layers=2"],
        ["model.n_layers=3", "model.n_heads=2", "model.d_ff=12"],
        ['model.norm="pre"', "model.d_ff=8", 'model.activation="gelu"', 'model.positions="rotary"', 'training.optimizer="adamw"', 'training.token_second_moment="per-token"'],
        ['data.cls="none"', "model.attention.rate=0.7", 'model.pooling="mean"', 'model.logits="per-class"', 'model.norm="none"'],
    ],
    "token_anywhere": [[], ['model.attention.projections="shared"']],
    "token_before_token": [[], ['model.attention.mask="causal"', 'data.cls="last"']],
    "count": [[], ["model.n_layers=2", "model.d_ff=8", 'model.attention.mask="causal"', 'data.cls="last"']],
}
# What a dump has beside the arrays that the page computes for each step.
KEPT = ["attention_scores", "attention_weights", "logits", "probabilities"]
BESIDE = ["tokens", "labels", "attention_mask", "meta"]


def train(program, run, config, *sets):
    """Trains a run, and returns the hash of its weights."""
    flags = [word for pair in sets for word in ("--set", pair)]
    subprocess.run([program, "train", config, "--run", run, "--quiet", *flags], check=True, stdout=subprocess.DEVNULL)
    return hashlib.sha256((run / "model.safetensors").read_bytes()).hexdigest()


def settled(page):
    """How the page's numbers came about; waits until it says so."""
    page.open()
    deadline = time.monotonic() + 60
    while not (state := page.js("return document.documentElement.dataset.run")):
        assert time.monotonic() < deadline, "the page does not settle"
        time.sleep(0.01)
    return state


def hashes(page):
    """The hashes of weights in the tab Evidence, by what the tab says that they are of."""
    page.js("headlight.change({ tab: 'evidence' })")
    script = """
        const names = [...document.querySelectorAll('#evidence dt')].filter((name) => name.textContent.startsWith('SHA-256 of '));
        return names.map((name) => [name.textContent.slice('SHA-256 of '.length), name.nextElementSibling.textContent]);"""
    deadline = time.monotonic() + 20
    while not (found := page.js(script)):
        assert time.monotonic() < deadline, "the tab Evidence has no hashes"
        time.sleep(0.01)
    return dict(found)


def check_same_bytes(page, run, name):
    """The page's numbers at the dumped steps are those of the dumps, each float32."""
    dumps = npz_dumps(run)
    chosen = sorted(dumps)[:: max(1, len(dumps) // 10)]
    for step in chosen:
        dump = dumps[step]
        # JSON keeps each float32, which is a float64 in JavaScript.
        script = """
            const run = headlight.runs.value[0];
            const { trained } = run.source;
            const at = run.times.indexOf(arguments[0]);
            const kept = {};
            let { floats, start } = trained.steps[at];
            for (const [name, length] of trained.row) kept[name] = Array.from(floats.subarray(start, start += length));
            const found = run.samples.map((sample) => run.source.arrays(at, sample));
            return [run.samples.map(({ number }) => number), ...arguments[1].map((name) => kept[name]),
                ...arguments[2].map((name) => found.flatMap((arrays) => Array.from(arrays[name])))];"""
        computed = [array for array in dump if array not in [*KEPT, *BESIDE]]
        numbers, *arrays = page.js(script, step, KEPT, computed)
        samples = json.loads(str(dump["meta"]))["samples"]
        rows = [samples.index(number) for number in numbers]
        for array, found in zip([*KEPT, *computed], arrays, strict=True):
            same = numpy.array_equal(numpy.float32(found), dump[array][rows].ravel())
            assert same, f"{name}, step {step}: {array} differs from the dump"
    print(f"ok   {name}: {len(chosen)} dumps, bit by bit")


def check_hashes(page, program, folder):
    """20 configs and seeds."""
    seed = 0
    for config, models in MODELS.items():
        for model in models:
            for _ in range(2):
                seed += 1
                run = folder / f"run-{seed}"
                expected = train(program, run, config, *SHORT, f"seed={seed}", *model)
                page.url = (run / "inspector.html").as_uri()
                state = settled(page)
                name = f"{config} {' '.join(model)} seed {seed}"
                check(f"{name}: live", state == "live", page.all_text("#origin"))
                found = hashes(page)
                check(f"{name}: the hash of the run", found["the run's weights"] == expected, found)
                check(f"{name}: the page's own", found["the weights that this page trained"] == f"{expected} (the same)", found)
                if seed % 2:
                    check_same_bytes(page, run, name)


def check_notebook(page, program, folder):
    """What a reader of the notebook's page sees."""
    run = folder / "notebook"
    train(program, run, "notebook")
    html = run / "inspector.html"
    check("size", html.stat().st_size <= MOST_BYTES, f"{html.stat().st_size} bytes")
    page.url = html.as_uri()
    page.open("#step=899")
    check("recorded at first, without step 899", page.js("return document.documentElement.dataset.run") in (None, "live"))
    check("live", settled(page) == "live")
    page.driver.get("about:blank")
    page.driver.get(page.url + "#step=899")
    deadline = time.monotonic() + 60
    while page.js("return document.documentElement.dataset.run") != "live":
        assert time.monotonic() < deadline, "the page does not become live"
        time.sleep(0.01)
    check("shows step 899", page.all_text("#now") == ["step 899"], page.all_text("#now"))
    check("has every step", page.js("return headlight.shown.value.times.length") == 1501)
    page.find("#play").click()
    deadline = time.monotonic() + 20
    while page.all_text("#now") != ["step 1500"]:
        assert time.monotonic() < deadline, "playing does not end"
        time.sleep(0.05)
    for scheme in ["light", "dark"]:
        found = page.violations(scheme)
        check(f"axe, live, {scheme}", not found, json.dumps(found, indent=1) if found else "")


def check_name(page, program, folder):
    """The name of a run is a name: no share of attention turns into a standard deviation."""
    run = folder / "standard-1"
    train(program, run, "notebook", *SHORT)
    page.url = (run / "inspector.html").as_uri()
    settled(page)
    shares = page.all_text("#card .share")
    check("a run called standard-1 has shares in percent", shares and all(share.endswith("%") for share in shares), shares)


def check_own(page, program, folder):
    """A sample that the reader types has the model's answer, and is in the address."""
    run = folder / "notebook"
    page.url = (run / "inspector.html").as_uri()
    settled(page)

    def type_tokens(text):
        field = page.find("#own-tokens")
        field.clear()
        field.send_keys(text + Keys.ENTER)
        return page.all_text("#own-said")[0]

    for text, word in [("1 2 3", "6 tokens"), ("1 2 x 4 5 6", "x"), ("1 2 3 4 5 99", "99"), ("0 1 2 3 4 5", "[CLS]")]:
        check(f"{text}: refused", word in type_tokens(text), page.all_text("#own-said"))
    tokens = "1 2 42 9 42 7"
    check("a sample of the reader", type_tokens(tokens) == "", page.all_text("#own-said"))
    predicted = subprocess.run([program, "predict", run, "--tokens", tokens, "--json"], check=True, capture_output=True)
    predicted = json.loads(predicted.stdout)
    shown = page.js("const { run, one, at } = headlight.here.value; return [...run.source.results('probabilities', at, one), ...run.source.row('weights', at, one, 0, 0, 0)]")
    expected = [predicted["probabilities"][0], *predicted["attention_of_cls"][0][0]]
    worst = max(abs(one - other) for one, other in zip(shown, expected, strict=True))
    check("as `headlight predict` has it", worst < 1e-6, f"worst difference {worst:.1e}")
    check("in the address", "sample=own-1-2-42-9-42-7" in page.driver.current_url, page.driver.current_url)
    address = f"{page.driver.current_url}&step=700"
    page.driver.get("about:blank")
    page.driver.get(address)
    deadline = time.monotonic() + 60
    while page.js("return document.documentElement.dataset.run") != "live":
        assert time.monotonic() < deadline, "the page does not become live"
        time.sleep(0.01)
    told = page.all_text("#what")[0]
    check("from the address, at another step", told.startswith("Your sample") and page.all_text("#now") == ["step 700"], told)
    found = page.violations("light")
    check("axe, own sample", not found, json.dumps(found, indent=1) if found else "")


def check_long(page, program, folder):
    """A long training waits for the reader, and can be stopped."""
    run = folder / "long"
    sets = ["training.epochs=200", "dump.every_epochs=100", 'dump.formats=["npz"]']
    train(program, run, "notebook", *sets)
    page.url = (run / "inspector.html").as_uri()
    button = "#origin button"
    for end in ["recorded", "live"]:
        page.open()
        time.sleep(0.5)
        check("a long training waits", page.js("return document.documentElement.dataset.run") is None)
        page.find(button).click()
        if end == "recorded":
            page.find(button).click()
        deadline = time.monotonic() + 60
        while not (state := page.js("return document.documentElement.dataset.run")):
            assert time.monotonic() < deadline, "the page does not settle"
            time.sleep(0.01)
        check(f"then it is {end}", state == end, page.all_text("#origin"))
    # The page keeps as many steps as fit, and the last.
    steps = page.js("return headlight.shown.value.times")
    check("some steps of many", steps[0] == 0 and steps[-1] == 100_000 and len(steps) < 100_001, len(steps))


def check_recorded(page, program, folder):
    """Runs that the page cannot train stay as they were recorded, and the page says why."""
    run = folder / "burn"
    train(program, run, "notebook", *SHORT, "compute.engine=burn")
    page.url = (run / "inspector.html").as_uri()
    check("another engine: recorded", settled(page) == "recorded", page.all_text("#origin"))
    # Its script has no part that needs the engine: every tab does without.
    for tab in ["explore", "steps", "experiment", "seeds", "evidence"]:
        page.js("headlight.change({ tab: arguments[0] })", tab)
        page.find(f"#panel[aria-labelledby='tab-{tab}'] > *")
    page.js("headlight.change({ settings: { seed: 3 } })")
    told = page.find("#experiment-state").text
    check("no other training, and why", "holds no engine" in told and page.js("return headlight.here.value !== null"), told)
    page.js("headlight.change({ settings: {}, changes: { temperature: 2 } })")
    check("another softmax of what is recorded", page.js("return headlight.here.value.isWhatIf"))
    run = folder / "changed"
    train(program, run, "notebook", *SHORT)
    html = run / "inspector.html"
    expected = hashlib.sha256((run / "model.safetensors").read_bytes()).hexdigest()
    html.write_text(html.read_text().replace(expected, "0" * 64))
    page.url = html.as_uri()
    check("other weights: differs", settled(page) == "differs", page.all_text("#origin"))
    found = hashes(page)
    check("both hashes", found["the run's weights"] == "0" * 64 and found["the weights that this page trained"] == f"{expected} (different)", found)
    check("recorded numbers stay", page.js("return headlight.shown.value.isLive") is False)


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        page = Page(folder, folder)
        try:
            check_notebook(page, program, folder)
            check_name(page, program, folder)
            check_own(page, program, folder)
            check_long(page, program, folder)
            check_hashes(page, program, folder)
            check_recorded(page, program, folder)
            log = page.driver.get_log("browser")
            check("console is empty", not log, log)
            # A browser without WebAssembly shows the recording.
            source = {"source": "delete globalThis.WebAssembly"}
            page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", source)
            page.url = (folder / "notebook" / "inspector.html").as_uri()
            check("no WebAssembly: recorded", settled(page) == "recorded", page.all_text("#origin"))
            check("its last step", page.all_text("#now") == ["step 1500"], page.all_text("#now"))
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
