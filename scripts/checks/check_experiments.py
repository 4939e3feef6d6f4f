"""Opens pages in Chromium, and checks what a reader does with them beyond looking: other trainings, other computations with
the same weights, many seeds, samples of their own, and what they take out.

Each result is compared with what the program gives for the same input, or with NumPy. Needs Debian's chromium and
chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_experiments.py target/release/headlight
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
from check_live_page import hashes, settled, train
from check_page import Page, check, npz_dumps

WIDTHS = [360, 768, 1280, 1920]
TABS = ["explore", "steps", "experiment", "seeds", "evidence"]
CSV = """label,token_0,token_1,token_2,token_3,split
spam,7,3,9,,train
ham,2,5,,,train
spam,4,7,1,8,train
ham,1,2,6,3,train
ham,8,8,4,,train
spam,5,7,,,train
ham,3,9,1,,test
spam,7,7,2,6,test
"""


def wait_for(page, script, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not (found := page.js(script)):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return found


def paste(page, text):
    """Pastes texts or samples, and has the page train on them."""
    page.js(
        "const area = document.querySelector('#own-csv'); area.value = arguments[0];"
        "area.dispatchEvent(new Event('input', { bubbles: true })); area.form.requestSubmit()",
        text,
    )


def check_fits(page, widths, what="", height=900, schemes=("light", "dark"), element="main"):
    """Nothing is wider than the window, the element among it, and axe finds nothing."""
    for width in widths:
        page.resize(width, height)
        time.sleep(0.2)
        name = f"{width} pixels{what}"
        wide = page.js("return Math.max(document.documentElement.scrollWidth, document.querySelector(arguments[0]).scrollWidth)", element)
        check(f"{name}: nothing is wider", wide <= width, wide)
        check_axe(page, name, schemes)


def check_axe(page, what, schemes=("light", "dark")):
    """No finding of axe."""
    for scheme in schemes:
        found = page.violations(scheme)
        check(f"axe, {what}, {scheme}", not found, json.dumps(found, indent=1) if found else "")


def trained(page, settings):
    """Trains an experiment, and returns the hash of its weights."""
    page.js("headlight.change({ settings: arguments[0], tab: 'evidence' })", settings)
    wait_for(page, "return document.querySelector('#departure-title')", "the experiment does not end")
    return hashes(page)["its weights"]


def check_experiment(page, program, folder):
    """Another training has the weights of `headlight train`, and its name stands wherever it is shown."""
    run = folder / "experiment"
    expected = train(program, run, "notebook", "seed=5", "model.d_model=12", "model.n_heads=2")
    found = trained(page, {"seed": 5, "model.d_model": 12, "model.n_heads": 2})
    check("an experiment has the weights of `headlight train`", found == expected, found)
    check("its title", "seed 5" in page.find("#grid-now caption").text, page.find("#grid-now caption").text)
    check("its address", "set=" in page.driver.current_url, page.driver.current_url)
    address = page.driver.current_url
    page.open()
    settled(page)
    page.driver.get("about:blank")
    page.driver.get(address)
    wait_for(page, "return document.querySelector('#departure-title')", "the address does not lead back")
    check("the address leads back", hashes(page)["its weights"] == expected)
    page.js("headlight.change({ settings: {}, tab: 'experiment' })")
    page.js("headlight.change({ settings: { 'model.n_heads': 3 } })")
    wait_for(page, "return document.querySelector('#settings .failed')", "a wrong setting is not refused")
    check("a wrong setting is refused", "n_heads" in page.all_text("#settings .failed")[0], page.all_text("#settings .failed"))
    page.js("headlight.change({ settings: {} })")


def tensors(path):
    """The arrays of a safetensors file."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    entries = json.loads(data[8 : 8 + length])
    entries.pop("__metadata__", None)
    flat = {name: data[8 + length :][slice(*entry["data_offsets"])] for name, entry in entries.items()}
    return {name: numpy.frombuffer(flat[name], "<f4").reshape(entries[name]["shape"]).astype(float) for name in entries}


def probability(weights, dump, row, attention):
    """The probability of a sample of the notebook's model, if [CLS] has these attention weights."""
    block = "blocks.0."
    context = attention @ dump["value"][row, 0, 0].astype(float)
    output = context @ weights[block + "attention.output.weight"] + weights[block + "attention.output.bias"]
    residual = dump["embeddings"][row, 0].astype(float) + output
    normed = (residual - residual.mean()) / numpy.sqrt(residual.var() + 1e-6)
    normed = normed * weights[block + "norm.gamma"] + weights[block + "norm.beta"]
    return 1 / (1 + numpy.exp(-(normed @ weights["classifier.weight"][:, 0] + weights["classifier.bias"][0])))


def check_changes(page, run):
    """Changes of the computation, against NumPy on the dump's arrays."""
    weights = tensors(run / "model.safetensors")
    dumps = npz_dumps(run)
    dump = dumps[max(dumps)]
    row = json.loads(str(dump["meta"]))["samples"].index(10)
    scores = dump["attention_scores"][row, 0, 0, 0].astype(float)
    even = numpy.full(len(scores), 1 / len(scores))
    without = numpy.exp(scores) * (numpy.arange(len(scores)) != 3)
    cooled = numpy.exp(scores / 2)
    nothing = numpy.zeros(len(scores))
    cases = {
        "nothing": ({}, numpy.exp(scores) / numpy.exp(scores).sum()),
        "a position left out": ({"keys": [3]}, without / without.sum()),
        "temperature": ({"temperature": 2}, cooled / cooled.sum()),
        "weights set": ({"rows": [{"layer": 0, "head": 0, "query": 0, "weights": list(even)}]}, even),
        "a head that gives nothing": ({"heads": [[0, 0]]}, nothing),
    }
    for name, (changes, attention) in cases.items():
        page.js("headlight.change({ changes: arguments[0], sample: '10', step: 1500, tab: 'experiment' })", changes)
        found = page.js("const { run, one, at } = headlight.here.value; return run.source.results('probabilities', at, one)[0]")
        expected = probability(weights, dump, row, attention)
        check(f"changed: {name}", abs(found - expected) < 1e-6, f"{found} and {expected}")
        shown = page.all_text("#effect output")[0]
        check(f"changed: {name}, as shown", abs(float(shown) - expected) < 0.51e-4, shown)
        title = page.find("#grid-now caption").text
        check(f"changed: {name}, in the title", title.startswith("WHAT IF ") == bool(changes), title)
    page.js("headlight.change({ changes: {} })")


def check_seeds(page, program, folder):
    """What the page says of 200 seeds is what a sweep says."""
    results = folder / "seeds.jsonl"
    subprocess.run([program, "sweep", "--seeds", "0..200", "--out", results], check=True, capture_output=True)
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    learned = [row for row in rows if row["held_out_f1"] >= 0.99]
    positive, negative = [numpy.array([row[f"attention_{name}"][3] for row in learned]) for name in ["positive", "negative"]]
    expected = [len(learned), 200, (positive < 1 / 7).sum(), (negative > 1 / 7).sum(), (negative > positive).sum()]
    page.js("headlight.change({ tab: 'seeds' })")
    wait_for(page, "return document.querySelector('#train-seeds')", "no seeds to train")
    page.find("#train-seeds").click()
    told = wait_for(page, "const told = document.querySelector('#swarm-sum')?.textContent; return /of 200 seeds learned/.test(told) && !document.querySelector('#stop-seeds') && told", "the seeds do not end")
    words = re.search(r"(\d+) of (\d+) seeds learned.*?(\d+) of these look at .*? (\d+|None) looks? away\. (\d+) look there .*?(\d+|none) of them more", told).groups()
    found = [0 if word.lower() == "none" else int(word) for word in words]
    expected.insert(2, expected[0] - expected[2])
    check("200 seeds as a sweep has them", found == [int(number) for number in expected], f"{found} and {expected}")


def check_own_data(page, program, folder):
    """The reader's own samples: what is taken out gives the same weights, predictions and attention at the command line."""
    page.js("headlight.change({ tab: 'experiment' })")
    paste(page, CSV.replace("7,3,9", "7,x,9"))
    told = page.all_text("#own-csv-said")[0]
    check("a wrong file is refused, with its line and column", "Line 2" in told and "token_1" in told, told)
    paste(page, CSV)
    wait_for(page, "return document.querySelector('#take-data')", "the samples are not trained on")
    files = {name: page.download(f"#take-{name}", ending) for name, ending in [("config", "toml"), ("data", "csv"), ("model", "safetensors"), ("dump", "npz")]}
    out = folder / "taken"
    out.mkdir()
    name = re.search(r'file = "([^"]*)"', files["config"].decode()).group(1)
    (out / "config.toml").write_bytes(files["config"])
    (out / name).write_bytes(files["data"])
    (out / "dump.npz").write_bytes(files["dump"])
    command = [program, "train", "config.toml", "--run", "run", "--quiet", "--set", "dump.every_epochs=10000"]
    subprocess.run(command, check=True, cwd=out, stdout=subprocess.DEVNULL)
    check("the config and the samples give the same weights", (out / "run/model.safetensors").read_bytes() == files["model"])
    subprocess.run([program, "inspect", out / "dump.npz"], check=True, stdout=subprocess.DEVNULL)
    dumps = npz_dumps(out / "run")
    last = dumps[max(dumps)]
    taken = numpy.load(out / "dump.npz")
    rows = [json.loads(str(last["meta"]))["samples"].index(number) for number in json.loads(str(taken["meta"]))["samples"]]
    for array in sorted(set(last) - {"meta"}):
        check(f"the dump's {array}", numpy.array_equal(taken[array], last[array][rows], equal_nan=array == "labels"))
        check("its type", taken[array].dtype == last[array].dtype, taken[array].dtype)
    page.js("headlight.change({ settings: {}, changes: {} })")


def check_widths(page):
    """No finding of axe, and nothing wider than the window."""
    for tab in TABS:
        page.js("headlight.change({ tab: arguments[0], guide: 0 })", tab)
        is_first = tab == TABS[0]
        check_fits(page, WIDTHS if is_first else [1280], f", {tab}", 800, ("light", "dark") if is_first else ("light",))


def check_first_sight(page):
    """What a reader sees first fits a small window, and begins with the question."""
    page.resize(1280, 800)
    settled(page)
    bottom = page.js("return Math.max(...['card', 'attention', 'time'].map((id) => document.getElementById(id).getBoundingClientRect().bottom))")
    check("the first sight needs no scrolling", bottom <= 800, bottom)
    text = page.js("return document.body.innerText")
    check("the question comes first", "is token 42 at position 3?" in text[:400], text[:400])


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        page = Page(folder, folder)
        try:
            run = folder / "notebook"
            train(program, run, "notebook")
            page.url = (run / "inspector.html").as_uri()
            check("live", settled(page) == "live")
            check_first_sight(page)
            check_experiment(page, program, folder)
            check_changes(page, run)
            check_seeds(page, program, folder)
            check_own_data(page, program, folder)
            check_widths(page)
            lab = folder / "lab.html"
            subprocess.run([program, "lab", "count", "--html", lab], check=True, stdout=subprocess.DEVNULL)
            page.url = lab.as_uri()
            check("a page without a run", settled(page) == "live", page.all_text("#origin"))
            expected = train(program, folder / "count", "count")
            check("it has the weights of `headlight train`", hashes(page)["the weights that this page trained"] == expected)
            log = page.driver.get_log("browser")
            check("console is empty", not log, log)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
