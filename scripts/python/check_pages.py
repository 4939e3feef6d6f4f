"""Looks at the pages of the Python module in Chromium, and runs notebooks in JupyterLab there.

Needs Debian's chromium and chromium-driver, requirements.txt, and Headlight's module.

    python scripts/python/check_pages.py notebooks/*.ipynb [--pictures FOLDER]

With --pictures, a picture of each page in its notebook goes there.
"""

import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import numpy as np

from browser import Page, check, same

import headlight as hl

ROOT = pathlib.Path(__file__).parents[2]
# A notebook with a thousand seeds on a slow machine.
PATIENCE = 600


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(folder):
    """JupyterLab over a folder, and its address."""
    port = free_port()
    options = ["--no-browser", f"--port={port}", "--IdentityProvider.token=", "--LabApp.expose_app_in_browser=True", "--allow-root"]
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTER_DATA_DIR": str(folder / "data")}
    server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *options], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/lab"
    deadline = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(address, timeout=5)
            return server, address
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            assert server.poll() is None and time.monotonic() < deadline, "JupyterLab does not start"
            time.sleep(0.3)


def run_notebook(page, address, path, pictures):
    name = path.name
    page.driver.get(f"{address}/tree/notebooks/{name}?reset")
    page.wait_for("return globalThis.jupyterapp?.shell.currentWidget?.content?.widgets?.length > 0 && jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'", "the notebook's kernel", 120)
    page.js("jupyterapp.commands.execute('notebook:run-all-cells').then(() => { globalThis.hasRun = true; }, (error) => { globalThis.hasRun = String(error); })")
    page.wait_for("return globalThis.hasRun", "the end of the notebook", PATIENCE)
    failed = page.js("return jupyterapp.shell.currentWidget.content.widgets.flatMap((cell) => cell.model.toJSON().outputs ?? []).filter((output) => output.output_type === 'error').map((output) => output.evalue)")
    check(f"{name}: no cell fails", not failed, failed)
    held = page.js("return jupyterapp.shell.currentWidget.content.widgets.flatMap((cell) => cell.model.toJSON().outputs ?? []).flatMap((output) => Object.keys(output.data ?? {}))")
    check(f"{name}: no output is a widget, which a saved notebook would show as an error", not [kind for kind in held if "widget" in kind], held)
    check(f"{name}: no cell styles the pictures of the whole page", page.js("return [...document.querySelectorAll('.jp-OutputArea style')].filter((style) => style.textContent.includes('svg')).length") == 0)
    # Cells out of sight are not drawn.
    page.js("const { content } = jupyterapp.shell.currentWidget; content.activeCellIndex = content.widgets.length - 1; content.scrollToItem(content.widgets.length - 1)")
    frame = page.wait_for("return [...document.querySelectorAll('.jp-OutputArea iframe')].at(-1)", "a page in a cell", 60)
    page.js("arguments[0].scrollIntoView({ block: 'start' })", frame)
    page.driver.switch_to.frame(frame)
    page.wait_for("return document.documentElement.dataset.ready", "the page in the cell", 60)
    if page.js("return 'again' in JSON.parse(document.getElementById('facts').textContent).runs[0] && document.getElementById('lab') !== null"):
        state = page.wait_for("return document.documentElement.dataset.run", "the page's own training", 120)
        check(f"{name}: the page has trained the run again", state == "live", state)
    check(f"{name}: it shows a matrix", page.grid().size > 0)
    wide = page.js("return [document.documentElement.scrollWidth, innerWidth]")
    check(f"{name}: nothing is wider than the cell", wide[0] <= wide[1], wide)
    page.driver.switch_to.default_content()
    if pictures:
        page.driver.save_screenshot(str(pictures / f"{path.stem}.png"))


def look_at_attention(folder):
    """The page of attention from anywhere has the numbers that it was given."""
    rng = np.random.default_rng(5)
    scores = np.where(np.tril(np.ones((6, 6), dtype=bool)), rng.normal(size=(2, 3, 2, 6, 6)), -np.inf)
    weights = np.exp(scores)
    weights /= weights.sum(-1, keepdims=True)
    tokens = [["<b>", "the", "שלום", "x" * 40, "&amp;", " "], list("abcdef")]
    hl.show(weights, tokens, scores=scores, title="</title>").save(folder / "shown.html")
    page = Page(folder / "shown.html")
    try:
        page.open()
        for sample, layer, head in np.ndindex(2, 3, 2):
            page.js("headlight.change({ sample: arguments[0], layer: arguments[1], head: arguments[2], show: 'weights' })", str(sample), layer, head)
            time.sleep(0.1)
            same(f"weights of sample {sample}, layer {layer}, head {head}", page.grid(), weights[sample, layer, head])
        check("masked cells", len(page.all_text("#grid-now td.masked")) == 15)
        page.js("headlight.change({ show: 'scores' })")
        time.sleep(0.1)
        same("scores", page.grid(), np.where(np.isfinite(scores), scores, 0)[1, 2, 1])
        check("tokens are text", page.all_text("#card .tile") == tokens[1])
        page.find("#card li:nth-child(3) .tile").click()
        check("a token becomes the query", page.js("return headlight.view.value.query") == 2)
        # The query at position 2 may look at three keys; the others have no band.
        check("bands", page.js("return document.querySelectorAll('#card .band').length") == 3)
        said = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
        check("the console is silent", not said, said)
    finally:
        page.driver.quit()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("notebooks", nargs="+", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        look_at_attention(folder)
        # As in the repository, whose rows of studies a notebook reads.
        (folder / "notebooks").mkdir()
        shutil.copytree(ROOT / "studies", folder / "studies")
        for path in arguments.notebooks:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            check(f"{path.name} is committed without outputs", not any(cell.get("outputs") for cell in cells))
            shutil.copy(path, folder / "notebooks")
        server, address = serve(folder)
        page = Page(folder / "none")
        try:
            page.resize(1400, 1000)
            for path in arguments.notebooks:
                run_notebook(page, address, path, arguments.pictures)
        finally:
            page.driver.quit()
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    main()
