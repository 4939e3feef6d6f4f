"""Checks the wheel for Pyodide in Chromium: each result is that of the native module and of the program.

    python3 scripts/release/check_browser_wheel.py WHEEL [--program target/release/headlight] [--picture FILE]

Needs Debian's chromium and chromium-driver, requirements-browser.txt, Headlight's native module, and Pyodide:
npm ci --prefix scripts/release/browser. With --picture, a picture of the page in its cell goes there.
"""

import argparse
import functools
import http.server
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

import numpy
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/checks"))
from check_live_page import hashes  # noqa: E402
from check_page import Page, check  # noqa: E402

import headlight  # noqa: E402

from browser_cases import CLOSE, LACKING, SAME, SETUP  # noqa: E402

PYODIDE = ROOT / "scripts/release/browser/node_modules/pyodide"
SEEDS = 200
PATIENCE = 120
# V8 computes vectors with instructions of SSE 4.1, and has no WebAssembly SIMD without them.
WITHOUT_SIMD = "--js-flags=--no-enable-sse4-1"
REMEDY = "pip install headlight-attention"

HTML = """<!doctype html><title>Pyodide</title><div id="cell"></div>
<script type="module">
import { loadPyodide } from "./pyodide/pyodide.mjs";
try {
  const start = performance.now();
  globalThis.pyodide = await loadPyodide();
  pyodide.unpackArchive(await (await fetch("./WHEEL")).arrayBuffer(), "wheel");
  globalThis.ready = performance.now() - start;
} catch (error) {
  globalThis.failed = String(error);
}
</script>
"""

# Values as JSON has them; what no JSON number can say is text.
PLAIN = """
import json, math
def plain(value):
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(own) for own in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
"""


class Files(http.server.SimpleHTTPRequestHandler):
    """The page, and Pyodide below it."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm", ".mjs": "text/javascript"}

    def translate_path(self, path):
        if path.startswith("/pyodide/"):
            return str(PYODIDE / pathlib.PurePosixPath(path).name)
        return super().translate_path(path)

    def log_message(self, *_arguments):
        pass


class Python:
    """The Python of a page in a browser."""

    def __init__(self, driver, address):
        self.driver = driver
        driver.set_script_timeout(PATIENCE)
        driver.get(address)
        deadline = time.monotonic() + PATIENCE
        while not (ready := driver.execute_script("return globalThis.ready ?? globalThis.failed")):
            assert time.monotonic() < deadline, "Pyodide does not load"
            time.sleep(0.05)
        assert not isinstance(ready, str), ready
        self.run(PLAIN)

    def run(self, code):
        """Runs statements. Raises the last line of Python's message."""
        script = """
            const [code, done] = arguments;
            pyodide.runPythonAsync(code).then((value) => done([value?.toString() ?? null, null]), (error) => done([null, error.message]));"""
        value, error = self.driver.execute_async_script(script, code)
        if error is not None:
            raise RuntimeError(error.strip().splitlines()[-1])
        return value

    def value(self, expression):
        return json.loads(self.run(f"json.dumps(plain({expression}))"))

    def timed(self, code):
        """Milliseconds that statements take."""
        return 1000 * float(self.run(f"import time\nstart = time.perf_counter()\n{code}\ntime.perf_counter() - start"))


def worst(one, other):
    """The largest difference of numbers; infinite if anything else differs."""
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = sorted(one.items()), sorted(other.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return max(map(worst, one, other), default=0.0) if len(one) == len(other) else math.inf
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other)
    return 0.0 if one == other else math.inf


def check_cases(python):
    """Expressions have the same values here and there."""
    native = {"hl": headlight}
    exec(PLAIN, native)
    exec(SETUP, native)
    python.run(SETUP)
    for expression in SAME + CLOSE:
        expected, found = json.loads(json.dumps(eval(f"plain({expression})", native))), python.value(expression)
        difference = worst(expected, found)
        check(expression, difference == 0 if expression in SAME else difference < 2e-6, f"worst difference {difference:.1e}")


def check_lacking(python):
    for expression in LACKING:
        try:
            python.run(expression)
            said = "nothing"
        except RuntimeError as error:
            said = str(error)
        check(f"`{expression}` says what is missing", "NotInTheBrowser: headlight in the browser has no " in said and REMEDY in said, said)


def check_program(python, program, folder):
    """The default config has the program's weights and attention, and a sweep its rows."""
    subprocess.run([program, "train", "--quiet", "--run", folder / "run"], check=True, stdout=subprocess.DEVNULL)
    digest = subprocess.run(["sha256sum", folder / "run/model.safetensors"], check=True, capture_output=True, text=True).stdout.split()[0]
    duration = python.timed('run = hl.train("notebook")')
    check("the notebook's run has the program's weights", python.run("run.weights_sha256") == digest, f"{digest}, {duration:.0f} ms")
    dumps = sorted((folder / "run/attention").glob("step-*.npz"))
    for path in dumps:
        with numpy.load(path) as dump:
            step = json.loads(str(dump["meta"]))["step"]
            check(f"step {step}: the samples are those of the dump", python.value("run.samples") == dump["tokens"].tolist())
            check(f"step {step}: the attention is that of the dump", python.value(f"run.attention(step={step})") == dump["attention_weights"].tolist())
    subprocess.run([program, "sweep", "--quiet", "--seeds", f"0..{SEEDS}", "--out", folder / "rows.jsonl"], check=True, stdout=subprocess.DEVNULL)
    expected = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    duration = python.timed(f'sweep = hl.sweep("notebook", seeds=range({SEEDS}))')
    rows = python.value("sweep.rows")
    names = [name for name in rows[0] if name != "learned"]
    check("a row has the names of the program's", set(names) < set(expected[0]), " ".join(names))
    same = all(row[name] == other[name] for row, other in zip(rows, expected, strict=True) for name in names)
    check(f"{SEEDS} rows are the program's", same, f"{duration:.0f} ms")
    check("the table has these columns", python.value("{name: list(column)[7] for name, column in sweep.table.items()}") == rows[7])
    configs = python.value("hl.configs()")
    for name in configs:
        subprocess.run([program, "lab", name, "--quiet", "--force", "--html", folder / "lab.html"], check=True, stdout=subprocess.DEVNULL)
        text = (folder / "lab.html").read_text(encoding="utf-8").split('id="facts">')[1].split("</script>")[0]
        modules = "import headlight._config as c, headlight._engine as e"
        python.run(f'{modules}\nk = c.resolve("{name}", {{}})\nb, _ = e.Engine(k.module).ask(dict(operation="begin", config=k.keys, tokens=[]))')
        found, resolved = python.value('k.resolved(b["inputs"])'), json.loads(text)["lab"]["config"]
        # How many samples a run directory dumps follows from their size.
        found.pop("dump"), resolved.pop("dump")
        check(f"{name}: the resolved config is the program's", found == resolved)


def check_page(python, page, run, picture):
    """The page of a run trains it again, in its cell."""
    driver = python.driver
    driver.execute_script("document.getElementById('cell').innerHTML = arguments[0]", python.run(f"{run}._repr_html_()"))
    driver.switch_to.frame(driver.find_element("tag name", "iframe"))
    deadline = time.monotonic() + PATIENCE
    while not (state := driver.execute_script("return document.documentElement.dataset.run")):
        assert time.monotonic() < deadline, "the page in the cell does not train"
        time.sleep(0.05)
    check(f"{run}: the page in the cell has trained it", state == "live", state)
    found = hashes(page)
    driver.switch_to.default_content()
    if picture:
        driver.save_screenshot(str(picture))
    check(f"{run}: the page has its weights", found["the weights that this page trained"] == python.run(f"{run}.weights_sha256"), found)


def check_elsewhere(wheel, address, folder):
    """Where the module cannot work, importing it says why."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    outside = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(folder / 'site')!r}); import headlight"], capture_output=True, text=True)
    said = outside.stderr.strip().splitlines()[-1]
    check("outside Pyodide, importing it says what to do", said.startswith("ImportError: ") and "--no-binary" in said, said)
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ["--headless=new", "--no-sandbox", WITHOUT_SIMD]:
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        Python(driver, address).run("import headlight")
        said = "nothing"
    except (RuntimeError, AssertionError) as error:
        said = str(error)
    finally:
        driver.quit()
    check("without WebAssembly SIMD, importing it says so", "ImportError: headlight needs WebAssembly SIMD" in said, said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("--program", default=ROOT / "target/release/headlight", type=pathlib.Path)
    parser.add_argument("--picture", type=pathlib.Path)
    arguments = parser.parse_args()
    wheel, program = arguments.wheel.resolve(), arguments.program.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        served = folder / "served"
        served.mkdir()
        (served / "index.html").write_text(HTML.replace("WHEEL", wheel.name))
        (served / wheel.name).write_bytes(wheel.read_bytes())
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        page = Page(served / "index.html", folder)
        try:
            python = Python(page.driver, address)
            loaded = python.driver.execute_script("return globalThis.ready")
            check("the module can be imported", True, f"Pyodide and the wheel {loaded:.0f} ms, import {python.timed('import headlight as hl'):.0f} ms")
            both = "import sys, headlight._engine as e\none = e.unpacked('lab').to_bytes()\nsys.modules['lzma'] = None\n"
            check("without Python's lzma, the engine has the same bytes", python.run(f"{both}e.unpacked('lab').to_bytes() == one") == "true")
            check_program(python, program, folder)
            check_cases(python)
            check_lacking(python)
            for run in ["own", "films", "sentences", "run"]:
                check_page(python, page, run, arguments.picture)
        finally:
            page.driver.quit()
        check_elsewhere(wheel, address, folder)
        server.shutdown()


if __name__ == "__main__":
    main()
