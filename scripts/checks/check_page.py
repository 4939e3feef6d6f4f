"""Opens the page of `headlight inspect RUN --html FILE` in Chromium and checks what it shows.

Trains the notebook's run with 100 recorded steps on Burn, so that its page shows what was recorded, makes the page,
opens it from a file, clicks, types and moves in it, and compares the numbers that it shows with those of the npz dumps.
check_live_page.py has the pages that train their runs again. Needs Debian's chromium and chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_page.py target/release/headlight [RUN]
"""

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "crates/inspector/page/node_modules/axe-core/axe.min.js"
MOST_BYTES = 240_000
MOST_MILLISECONDS = 3000  # On a busy machine; on a quiet one it is below 300.


class Page:
    """The page in a browser."""

    def __init__(self, path, downloads):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # The checks change addresses faster than the last argument's protection allows.
        for argument in ["--headless=new", "--no-sandbox", "--window-size=1400,1400", "--disable-ipc-flooding-protection"]:
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.url = path.resolve().as_uri()
        self.downloads = downloads
        self.emulate("light")

    def open(self, fragment=""):
        self.driver.get("about:blank")
        self.driver.get(self.url + fragment)
        deadline = time.monotonic() + 20
        while not self.js("return document.documentElement.dataset.ready"):
            assert time.monotonic() < deadline, "the page does not become ready"
            time.sleep(0.02)
        return float(self.js("return document.documentElement.dataset.ready"))

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all_text(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return self.js(script, selector)

    def grid(self, name="now"):
        """The numbers of a matrix; 0 where the mask forbids the key."""
        cells = self.all_text(f"#grid-{name} td[role=gridcell]")
        side = round(len(cells) ** 0.5)
        return numpy.array([cell or 0 for cell in cells], dtype=float).reshape(side, side)

    def download(self, button, ending, seconds=10):
        before = set(self.downloads.glob(f"*.{ending}"))
        self.find(button).click()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            files = list(set(self.downloads.glob(f"*.{ending}")) - before)
            if files and files[0].stat().st_size:
                return files[0].read_bytes()
            time.sleep(0.05)
        raise AssertionError(f"{button} saved no .{ending}")

    def emulate(self, scheme, motion="reduce"):
        """A colour scheme, and whether the page may move by itself."""
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        named = [{"name": name, "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": named})

    def resize(self, width, height):
        """The size of the window's content, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def violations(self, scheme):
        self.emulate(scheme)
        # Through the protocol: the page's own policy lets no other script in.
        source = AXE.read_text(encoding="utf-8")
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": source})
        run = "const done = arguments[0]; axe.run(document).then((result) => done(result.violations))"
        found = self.driver.execute_async_script(run)
        return [(f["id"], f["impact"], [n["html"][:120] for n in f["nodes"]][:3]) for f in found]


def check(name, holds, detail=""):
    print(f"{'ok  ' if holds else 'FAIL'} {name} {detail}")
    assert holds, f"{name}: {detail}"


def same(name, shown, recorded):
    """Four decimals that are those of float32 numbers."""
    rounded = numpy.round(numpy.asarray(recorded, dtype=float), 4)
    worst = float(numpy.abs(numpy.asarray(shown, dtype=float) - rounded).max())
    check(name, worst < 1e-9, f"worst difference {worst:.1e}")


def check_numbers(page, dumps):
    last = dumps[max(dumps)]
    numbers = json.loads(str(last["meta"]))["samples"]
    for step in [0, 15, 750, 1000, max(dumps)]:
        for number in [numbers[0], 10, numbers[-1]]:
            dump, row = dumps[step], numbers.index(number)
            for show, name in [("weights", "attention_weights"), ("scores", "attention_scores")]:
                page.open(f"#sample={number}&step={step}&layer=0&head=0&show={show}")
                same(f"{show}, sample {number}, step {step}", page.grid(), dump[name][row, 0, 0])
    page.open("#sample=positives&step=750")
    mean = dumps[750]["attention_weights"].astype(float)[dumps[750]["labels"] == 1].mean(axis=0)[0, 0]
    check("mean over positives", numpy.abs(page.grid() - mean).max() < 1.01e-4)
    page.open("#sample=10&step=900&pin=10:0")
    row = numbers.index(10)
    change = dumps[900]["attention_weights"][row, 0, 0] - dumps[0]["attention_weights"][row, 0, 0]
    check("difference of two steps", numpy.abs(page.grid("difference") - change).max() < 1.01e-4)


def check_chain(page, last, row):
    page.open("#sample=10&query=2")
    cells = page.js(
        "return [...document.querySelectorAll('#stage-softmax tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    )[:-1]
    products = last["key"][row, 0, 0].astype(float) @ last["query"][row, 0, 0, 2].astype(float)
    same("query · key", [line[1] for line in cells], products)
    same("scaled", [line[2] for line in cells], products / numpy.sqrt(last["key"].shape[-1]))
    same("weights of the row", [line[-1] for line in cells], last["attention_weights"][row, 0, 0, 2])
    context = page.all_text("#stage-context tbody tr:last-child td")[1:]
    same("context", context, last["context"][row, 0, 0, 2])
    decision = page.all_text("#stage-decision tbody td")
    same("logit and probability", decision[0::2][:2], [last["logits"][row], last["probabilities"][row]])
    check("decision", decision[3] == "positive", decision[3])
    page.open("#sample=10&step=15")
    check("what is not recorded is said", "for steps 0 and 1500 only" in page.find("#stages").text)


def check_moves(page, dumps):
    page.open("#sample=10&step=1500&query=0&key=3")
    cell = page.find("#grid-now td[tabindex='0']")
    label = cell.get_attribute("aria-label")
    check("label of a cell", label == f"query 0: [CLS], key 3: 42, {cell.text}", label)
    check("one cell in the tab order", page.js("return document.querySelectorAll('#grid-now td[tabindex=\"0\"]').length") == 1)
    cell.send_keys(Keys.ARROW_DOWN, Keys.NULL)
    page.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    check("arrow keys", page.driver.switch_to.active_element.get_attribute("aria-label").startswith("query 1: 16, key 4: 43, "))
    check("the address follows", "query=1&key=4" in page.driver.current_url, page.driver.current_url)
    page.find("#search").send_keys("16 5 42")
    check("search", page.all_text("#list button .number")[2:] == ["10"], page.all_text("#list button .number"))
    page.find("#search").clear()
    page.find("#search").send_keys(Keys.SPACE)
    Select(page.find("#class")).select_by_value("0")
    listed = [float(text) for text in page.all_text("#list .probability")]
    check("negatives by probability", len(listed) == 8 and listed == sorted(listed, reverse=True), listed)
    page.find("#list li:nth-child(3) button").click()
    chosen = page.find("#list button[aria-current] .number").text
    check("a click chooses a sample", f"sample={chosen}&" in page.driver.current_url)
    page.driver.back()
    check("back", "sample=10&" in page.driver.current_url and "Sample 10 " in page.find("#what").text)
    Select(page.find("#step-list")).select_by_visible_text("900")
    check("a step from the list", page.find("#now").text == "step 900")
    row = json.loads(str(dumps[900]["meta"]))["samples"].index(10)
    values = page.all_text("#time .value")
    same("curve of the sample", [values[-1]], [dumps[900]["attention_weights"][row, 0, 0, 0, 3]])
    page.find("#slider").send_keys(Keys.ARROW_RIGHT)
    check("slider", page.find("#now").text == "step 915", page.find("#now").text)
    page.find("#play").click()
    deadline = time.monotonic() + 20
    while int(page.find("#now").text.split()[1]) <= 915:
        assert time.monotonic() < deadline, "it does not play"
        time.sleep(0.02)
    # On a busy machine, it may have come to its end.
    page.js("const play = document.querySelector('#play'); if (play.textContent === 'Pause') play.click()")


def check_what_if(page, last, row):
    page.open("#sample=10&temperature=2&causal=1&tab=experiment")
    scores = last["attention_scores"][row, 0, 0].astype(float) / 2
    scores[numpy.triu_indices(len(scores), 1)] = -numpy.inf
    weights = numpy.exp(scores) / numpy.exp(scores).sum(axis=1, keepdims=True)
    check("what if", numpy.abs(page.grid() - weights).max() < 1.01e-4)
    check("what if is marked", "temperature × 2.00, causal mask" in page.find("#grid-now caption").text, page.find("#grid-now caption").text)
    page.find("#reset").click()
    same("reset", page.grid(), last["attention_weights"][row, 0, 0])


def check_exports(page, last, row):
    page.open("#sample=10")
    weights = numpy.round(last["attention_weights"][row, 0, 0].astype(float), 4)
    lines = page.download("#save-csv", "csv").decode().splitlines()[1:]
    same("CSV", [float(line.rsplit(",", 1)[1]) for line in lines], weights.ravel())
    same("JSON", json.loads(page.download("#save-json", "json"))["panels"][0]["values"], weights)
    svg = page.download("#save-svg", "svg").decode()
    check("SVG", all(f">{weight:.4f}</text>" in svg for weight in weights.ravel()))
    check("PNG", page.download("#save-png", "png").startswith(b"\x89PNG"))


def check_copy(page, last, row):
    """What the copy button leaves on the clipboard is the table."""
    page.open("#sample=10&query=2")
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.driver.execute_cdp_cmd("Browser.grantPermissions", allowed)
    page.find("#stage-softmax button").click()
    time.sleep(0.3)
    check("the copy is announced", page.find("#said").text.startswith("Copied: "), page.find("#said").text)
    read = "const done = arguments[0]; navigator.clipboard.readText().then(done, (e) => done(String(e)))"
    lines = page.driver.execute_async_script(read).splitlines()
    weights = [line.split("\t")[-1] for line in lines[1:-1]]
    same("copied", [float(weight) for weight in weights], last["attention_weights"][row, 0, 0, 2])


def npz_dumps(run):
    return {int(p.stem[5:]): numpy.load(p) for p in sorted((run / "attention").glob("*.npz"))}


def check_runs(page, program, folder):
    """Three seeds in one page, among those of a sweep."""
    run, *others = [folder / f"seed-{seed}" for seed in range(3)]
    for seed, other in enumerate([run, *others]):
        train = ["train", "--set", "dump.every_steps=15", "--set", f"seed={seed}", "--run", other]
        subprocess.run([program, *train], check=True, capture_output=True)
    results, html = folder / "seeds.jsonl", folder / "runs.html"
    subprocess.run([program, "sweep", "--seeds", "1..9", "--out", results], check=True, capture_output=True)
    subprocess.run([program, "inspect", run, *others, "--html", html, "--sweep", results], check=True)
    page.url = html.resolve().as_uri()
    all_dumps = [npz_dumps(path) for path in [run, *others]]
    row = json.loads(str(all_dumps[0][900]["meta"]))["samples"].index(10)

    def weights(step, name="attention_weights"):
        return numpy.array([numpy.round(dumps[step][name][row].astype(float), 4) for dumps in all_dumps])

    page.open("#sample=10&step=900&run=1")
    same("second run", page.grid(), weights(900)[1, 0, 0])
    Select(page.find("#run")).select_by_visible_text("seed-2 (seed 2)")
    same("third run, chosen", page.grid(), weights(900)[2, 0, 0])
    check("sample, step and run are in the address", all(part in page.driver.current_url for part in ["sample=10", "step=900", "run=2"]))
    page.find("#pin").send_keys(Keys.ENTER)
    page.find("#run").send_keys(Keys.HOME)
    change = weights(900)[0, 0, 0] - weights(900)[2, 0, 0]
    check("difference of two runs", numpy.abs(page.grid("difference") - change).max() < 1e-9)
    same("the pinned one", page.grid("pinned"), weights(900)[2, 0, 0])
    boxes = [page.find(f"#grid-{name}").rect for name in ["now", "pinned"]]
    check("side by side", boxes[0]["y"] == boxes[1]["y"], boxes)
    values = page.all_text("#time .value")
    same("its curve", [values[-1]], [weights(900)[2, 0, 0, 0, 3]])
    found = page.violations("light") + page.violations("dark")
    check("axe, two runs", not found, json.dumps(found, indent=1) if found else "")
    address = page.driver.current_url
    page.driver.back()
    page.open(address[address.index("#"):])
    check("a link reopens them", page.driver.current_url == address, page.driver.current_url)
    check("with the same numbers", numpy.abs(page.grid("difference") - change).max() < 1e-9)

    page.open("#sample=10&step=900&run=mean")
    check("mean over the runs", numpy.abs(page.grid() - weights(900)[:, 0, 0].mean(axis=0)).max() < 0.51e-4)
    chances = weights(900, "probabilities")
    shown = float(page.find("#what").text.split("probability ")[1].split(":")[0])
    check("its probability", abs(shown - chances.mean()) < 0.51e-4, page.find("#what").text)
    check("it has no vectors", "choose a run" in page.find("#stages").text)
    page.open("#sample=10&step=900&run=deviation&pin=10:900:1")
    deviation = weights(900)[:, 0, 0].std(axis=0, ddof=1)
    check("standard deviation over the runs", numpy.abs(page.grid() - deviation).max() < 0.51e-4)
    check("and no difference from a weight", not page.driver.find_elements(By.ID, "grid-difference"))
    page.open("#run=7&sample=none&pin=10:900:9")
    check("an address of no run is the first", page.find("#grid-now caption").text.startswith(f"{run.name} (seed 0)"))
    csv = page.download("#save-csv", "csv").decode().splitlines()
    check("CSV names the run", csv[1].split(",")[1] == f'"{run.name} (seed 0)"', csv[1])

    page.find("#tab-seeds").click()
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    cells = numpy.array(page.js("return [...document.querySelectorAll('#stage-seeds tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"))
    for start, name in [(1, "attention_positive"), (7, "attention_negative")]:
        values = numpy.array([line[name] for line in rows])
        same(f"{name}, mean", cells[:, start].astype(float), values.mean(axis=0))
        same(f"{name}, standard deviation", cells[:, start + 1].astype(float), values.std(axis=0, ddof=1))
        most = numpy.bincount(values.argmax(axis=1), minlength=values.shape[1]) / len(rows)
        check(f"{name}, shares", [f"{100 * share:.1f}%" for share in most] == list(cells[:, start + 2]))
        same(f"{name}, own", cells[:, start + 4].astype(float), values[0])
    harder = sum(line["attention_positive"][3] > line["attention_negative"][3] for line in rows)
    check("share of seeds", f"{harder} ({100 * harder / len(rows):.1f}%) attend to it more" in page.find("#seeds").text)
    page.find("#tab-evidence").click()
    facts = page.find("#evidence").text
    for path in [run, *others]:
        hashes = [hashlib.sha256((path / name).read_bytes()).hexdigest() for name in ["model.safetensors", "config.toml"]]
        check(f"hashes of {path.name}", all(value in facts for value in hashes))
    log = page.driver.get_log("browser")
    check("console is empty with runs", not log, log)


def check_long(page, program, folder):
    """More positions than cells with numbers have room for."""
    run = folder / "long"
    changes = ["data.seq_len=39", "data.samples=200", "data.held_out=0", "training.epochs=1", "model.n_heads=2"]
    train = ["train", *(part for change in changes for part in ["--set", change]), "--run", run]
    subprocess.run([program, *train], check=True, capture_output=True)
    page.url = (run / "inspector.html").resolve().as_uri()
    page.open("#query=5&key=3&head=1")
    shown = page.find(".picture .reading").text
    dump = npz_dumps(run)
    last = dump[max(dump)]
    number = int(page.find("#list button[aria-current] .number").text)
    row = json.loads(str(last["meta"]))["samples"].index(number)
    same("a cell of a large map", [shown.rsplit(", ", 1)[1]], [last["attention_weights"][row, 0, 1, 5, 3]])
    names = page.all_text(".plot text")
    check("its axes", {"query ↓", "key →", "◆3"} <= set(names) and any(name.startswith("◆3: ") for name in names))
    page.find(".picture canvas").send_keys(Keys.ARROW_RIGHT)
    check("its arrow keys", "key 4: " in page.find(".picture .reading").text)
    box = page.find(".picture canvas").rect
    actions = webdriver.ActionChains(page.driver)
    cell = box["width"] / 40
    actions.move_to_element_with_offset(page.find(".picture canvas"), cell * 7.5 - box["width"] / 2, cell * 2.5 - box["height"] / 2)
    actions.click().perform()
    check("a click in it", page.find(".picture .reading").text.startswith("query 2: "), page.find(".picture .reading").text)
    check("and its column", "key 7: " in page.find(".picture .reading").text)
    found = page.violations("light") + page.violations("dark")
    check("axe, large map", not found, json.dumps(found, indent=1) if found else "")


def check_parity(page, program, run):
    """A run beside a recorded one shows how far it is from it."""
    train = ["train", f"configs/{run.name}.toml", "--run", run]
    subprocess.run([program, *train], check=True, capture_output=True, cwd=ROOT)
    page.url = (run / "inspector.html").resolve().as_uri()
    page.open("#tab=evidence")
    text = page.find("#evidence").text
    for comparison in json.loads((run / "reference.json").read_text()):
        check(f"parity of {comparison['what']}", f"{comparison['what']}" in text and comparison["bound"] in text)
    check("all within", "BEYOND" not in text and "within" in text)
    log = page.driver.get_log("browser")
    check("console is empty with parity", not log, log)


def check_classes(page, run):
    """Three classes: names, filters, outcomes, the decision, curves."""
    dump = npz_dumps(run)[250]
    numbers = json.loads(str(dump["meta"]))["samples"]
    labels, probabilities = dump["labels"].astype(int), dump["probabilities"]
    page.url = (run / "inspector.html").resolve().as_uri()
    row = list(labels).index(2)
    page.open(f"#sample={numbers[row]}")
    own = probabilities[row, 2]
    check("class of a sample", f"(class 2), probability of its class {own:.4f}" in page.find("#what").text, page.find("#what").text)
    cells = page.all_text("#stage-decision tbody td")
    lines = [cells[start : start + 3] for start in range(0, len(cells), 3)]
    same("logits of the classes", lines[0], dump["logits"][row])
    same("softmax of the logits", lines[1], probabilities[row])
    same("probabilities of the classes", lines[2], probabilities[row])
    chosen = probabilities[row].argmax()
    check("decision among classes", lines[3][0] == f"class {chosen}", lines[3])
    check("outcome", lines[5][0] == ("right" if chosen == 2 else "wrong"), lines[5])
    Select(page.find("#class")).select_by_visible_text("class 1")
    listed = page.js("return [...document.querySelectorAll('#list [data-sample]')].map((b) => b.dataset.sample)")
    expected = {str(number) for number, label in zip(numbers, labels) if label == 1}
    check("filter by class", {name for name in listed if name.isdigit()} == expected, listed)
    page.open("#sample=class+1&step=250")
    mean = dump["attention_weights"].astype(float)[labels == 1].mean(axis=0)[1, 0]
    check("mean over a class", numpy.abs(page.grid() - mean).max() < 1.01e-4)
    lines = page.js("return [...document.querySelectorAll('#time .line.several')].map((l) => getComputedStyle(l).stroke)")
    check("classes have colours of their own", len(set(lines)) == 2, lines)
    log = page.driver.get_log("browser")
    check("console is empty with classes", not log, log)
    found = page.violations("light") + page.violations("dark")
    check("axe, classes", not found, json.dumps(found, indent=1) if found else "")


HOSTILE = "</script><script>document.title='run'</script><img src=x onerror=alert(1)>"


def check_hostile(page, program, dump, folder):
    """Tokens are text, whatever they say."""
    path = folder / "hostile.npz"
    with numpy.load(dump) as archive:
        arrays = dict(archive)
    meta = json.loads(str(arrays["meta"]))
    meta["token_strings"]["42"] = HOSTILE
    meta["token_strings"]["16"] = "\u05e9\u05dc\u05d5\u05dd \U0001f469"
    numpy.savez(path, **arrays | {"meta": json.dumps(meta)})
    html = folder / "hostile.html"
    subprocess.run([program, "inspect", path, "--html", html], check=True)
    page.url = html.resolve().as_uri()
    page.open("#sample=10")
    label = page.find("#grid-now td[tabindex='0']").get_attribute("aria-label")
    check("hostile tokens are text", HOSTILE in label and page.driver.title == "Attention of hostile.npz", label)
    check("and make no elements", not page.driver.find_elements(By.CSS_SELECTOR, "img"))
    log = page.driver.get_log("browser")
    check("console is empty with them", not log, log)


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run = Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "run"
        if not run.exists():
            train = ["train", "--engine", "burn", "--set", "dump.every_steps=15", "--run", run]
            subprocess.run([program, *train], check=True, stdout=subprocess.DEVNULL)
        html = folder / "page.html"
        subprocess.run([program, "inspect", run, "--html", html], check=True)
        size = html.stat().st_size
        check("size", size < MOST_BYTES, f"{size} bytes")
        dumps = npz_dumps(run)
        last = dumps[max(dumps)]
        row = json.loads(str(last["meta"]))["samples"].index(10)
        page = Page(html, folder)
        try:
            page.open()
            ready = sorted(page.open() for _ in range(5))
            check("ready", ready[2] < MOST_MILLISECONDS, f"median {ready[2]} ms of {ready}")
            check_numbers(page, dumps)
            check_chain(page, last, row)
            check_moves(page, dumps)
            check_what_if(page, last, row)
            check_exports(page, last, row)
            check_copy(page, last, row)
            events = [json.loads(entry["message"])["message"] for entry in page.driver.get_log("performance")]
            sent = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
            others = {u for u in sent if not u.startswith((page.url, "about:", "data:", "blob:"))}
            check("no requests", bool(sent) and not others, others)
            log = page.driver.get_log("browser")
            check("console is empty", not log, log)
            for scheme in ["light", "dark"]:
                page.open("#sample=10&step=15")
                found = page.violations(scheme)
                check(f"axe, {scheme}", not found, json.dumps(found, indent=1) if found else "")
            check_hostile(page, program, max((run / "attention").glob("*.npz")), folder)
            check_long(page, program, folder)
            for name in ["keras_reference", "keras_classes"]:
                check_parity(page, program, folder / name)
            check_classes(page, folder / "keras_classes")
            check_runs(page, program, folder)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
