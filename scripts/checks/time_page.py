"""Prints how long a reader of a page waits, in milliseconds, as medians with the machine's load.

Needs Debian's chromium and chromium-driver, and requirements-browser.txt. With --firefox, it times Debian's firefox-esr by
geckodriver, too; with --heads, pages of attention from the Python module (`pip install .`).

    python scripts/checks/time_page.py target/release/headlight [--loads N] [--firefox GECKODRIVER] [--heads]
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy
from check_live_page import settled, train
from check_page import Page
from selenium import webdriver

# Until the browser has painted what a change led to.
TIMED = """
    const [change, done] = arguments;
    const start = performance.now();
    headlight.change(change);
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""
EMPTY = """
    const done = arguments[0];
    const start = performance.now();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""
# Until the experiment is shown.
TRAINED = """
    const [settings, done] = arguments;
    const before = headlight.shown.value;
    const start = performance.now();
    const stop = headlight.shown.subscribe((run) => { if (run !== before) setTimeout(() => { stop(); done(performance.now() - start); }); });
    headlight.change({ settings });
"""
# Frames per second while the training plays for some milliseconds.
FRAMES = """
    const [milliseconds, done] = arguments;
    headlight.change({ step: 0 });
    document.querySelector("#play").click();
    const start = performance.now();
    const next = (frames) => () => performance.now() - start < milliseconds ? requestAnimationFrame(next(frames + 1)) : done(1000 * frames / (performance.now() - start));
    requestAnimationFrame(next(1));
"""
SEEDS = """
    const done = arguments[0];
    const start = performance.now();
    document.querySelector("#train-seeds").click();
    const wait = () => /^200 of 200|of 200 seeds learned/.test(document.querySelector("#swarm-sum")?.textContent) && !document.querySelector("#stop-seeds") ? done(performance.now() - start) : setTimeout(wait, 5);
    wait();
"""
LONG_TASKS = "globalThis.longTasks = []; new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true });"
SLOWED = 6
HEADS = [(12, 12), (32, 32)]
POSITIONS = 128


class Firefox(Page):
    """The page in Firefox."""

    def __init__(self, folder, geckodriver):
        options = webdriver.FirefoxOptions()
        options.binary_location = "/usr/bin/firefox-esr"
        options.add_argument("-headless")
        options.set_preference("ui.prefersReducedMotion", 1)
        service = webdriver.FirefoxService(executable_path=str(geckodriver))
        self.driver = webdriver.Firefox(options=options, service=service)
        self.downloads = folder

    def resize(self, width, height):
        self.driver.set_window_size(width, height + 86)


class Times:
    """Times by name, in the order in which they were first noted."""

    def __init__(self):
        self.all = {}

    def note(self, name, value):
        self.all.setdefault(name, []).append(float(value))

    def show(self, title):
        print(f"{title}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for name, values in self.all.items():
            unit = "  " if "frames" in name else "ms"
            print(f"{numpy.median(values):8.0f} {unit}  {name} (from {min(values):.0f} to {max(values):.0f})")


def time_changes(page, times, at):
    """What a reader does with the shown sample and the steps; the page remembers what it has computed for another `at`."""
    ask = page.driver.execute_async_script
    times.note("an empty frame", ask(EMPTY))
    times.note("another step", ask(TIMED, {"step": 700 + at}))
    times.note("other tokens", ask(TIMED, {"sample": f"own-1-2-42-9-42-{at + 1}"}))
    times.note("a position left out", ask(TIMED, {"changes": {"keys": [1 + at % 6]}, "sample": "10"}))
    page.js("headlight.change({ changes: {} })")
    times.note("frames per second while it plays", ask(FRAMES, 2000))
    page.js("document.querySelector('#play').textContent === 'Pause' && document.querySelector('#play').click()")
    times.note("another seed, trained and shown", ask(TRAINED, {"seed": 100 + at}))
    page.js("headlight.change({ settings: {} })")


def time_notebook(page, html, loads):
    is_chromium = not isinstance(page, Firefox)
    times, slowed = Times(), Times()
    page.resize(1280, 800)
    page.driver.set_script_timeout(120)
    page.url = html.as_uri()
    if is_chromium:
        page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LONG_TASKS})
    for at in range(loads):
        settled(page)
        data = page.js("return { ...document.documentElement.dataset }")
        times.note("the first sight stands", data["ready"])
        times.note("live: trained again, compared", data["settled"])
        if is_chromium:
            times.note("longest task of the main thread until then", max([0, *page.js("return longTasks")]))
        time_changes(page, times, at)
        page.js("headlight.change({ tab: 'seeds' })")
        if at < 3:
            times.note("200 seeds in two workers", page.driver.execute_async_script(SEEDS))
        page.js("headlight.change({ tab: 'explore' })")
        if is_chromium:
            page.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
            time_changes(page, slowed, loads + at)
            page.driver.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": 1})
    times.show("Chromium" if is_chromium else "Firefox")
    if is_chromium:
        slowed.show(f"Chromium, slowed {SLOWED} times")


def time_heads(page, folder, loads):
    import headlight

    page.driver.set_script_timeout(120)
    for layers, heads in HEADS:
        drawn = numpy.exp(numpy.random.default_rng(1).uniform(0, 6, (layers, heads, POSITIONS, POSITIONS)))
        weights = (drawn / drawn.sum(axis=-1, keepdims=True)).astype("float32")
        html = folder / f"heads-{layers}.html"
        headlight.show(weights, [f"t{at}" for at in range(POSITIONS)]).save_html(html)
        page.url = html.as_uri()
        page.open()
        times = Times()
        for at in range(loads):
            times.note("an empty frame", page.driver.execute_async_script(EMPTY))
            times.note("another layer", page.driver.execute_async_script(TIMED, {"layer": at % layers}))
            times.note("another head", page.driver.execute_async_script(TIMED, {"head": at % heads}))
        times.show(f"{layers} layers of {heads} heads, {POSITIONS} positions")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=Path)
    parser.add_argument("--loads", type=int, default=7)
    parser.add_argument("--firefox", type=Path, metavar="GECKODRIVER")
    parser.add_argument("--heads", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run = folder / "notebook"
        train(given.program.resolve(), run, "notebook")
        pages = [lambda: Page(folder, folder)]
        if given.firefox:
            pages.append(lambda: Firefox(folder, given.firefox))
        for opened in pages:
            page = opened()
            try:
                time_notebook(page, run / "inspector.html", given.loads)
                if given.heads:
                    time_heads(page, folder, given.loads)
            finally:
                page.driver.quit()


if __name__ == "__main__":
    main()
