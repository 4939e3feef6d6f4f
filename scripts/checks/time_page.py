"""Prints how long a reader of the notebook's page waits, in milliseconds, as medians with the machine's load.

Needs Debian's chromium and chromium-driver, and requirements-browser.txt.

    python scripts/checks/time_page.py target/release/headlight [LOADS]
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy
from check_live_page import settled, train
from check_page import Page

# Until the browser has painted what a change led to.
TIMED = """
    const [change, done] = arguments;
    const start = performance.now();
    headlight.change(change);
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
SEEDS = """
    const done = arguments[0];
    const start = performance.now();
    document.querySelector("#train-seeds").click();
    const wait = () => /^200 of 200|of 200 seeds learned/.test(document.querySelector("#swarm-sum")?.textContent) && !document.querySelector("#stop-seeds") ? done(performance.now() - start) : setTimeout(wait, 5);
    wait();
"""
LONG_TASKS = "globalThis.longTasks = []; new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true });"


def main():
    program = Path(sys.argv[1]).resolve()
    loads = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    times = {}

    def note(name, milliseconds):
        times.setdefault(name, []).append(float(milliseconds))

    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run = folder / "notebook"
        train(program, run, "notebook")
        page = Page(folder, folder)
        try:
            page.resize(1280, 800)
            page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LONG_TASKS})
            page.url = (run / "inspector.html").as_uri()
            run_async = page.driver.execute_async_script
            page.driver.set_script_timeout(120)
            for at in range(loads):
                settled(page)
                data = page.js("return { ...document.documentElement.dataset }")
                note("the first sight stands", data["ready"])
                note("live: trained again, compared", data["settled"])
                note("longest task of the main thread until then", max([0, *page.js("return longTasks")]))
                page.js("headlight.change({ tab: 'evidence' })")
                note("another step", run_async(TIMED, {"step": 700 + at}))
                note("other tokens", run_async(TIMED, {"sample": f"own-1-2-42-9-42-{at + 1}"}))
                note("a position left out", run_async(TIMED, {"changes": {"keys": [2]}, "sample": "10"}))
                page.js("headlight.change({ changes: {} })")
                note("another seed, trained and shown", run_async(TRAINED, {"seed": 100 + at}))
                page.js("headlight.change({ settings: {}, tab: 'seeds' })")
                if at < 3:
                    note("200 seeds in two workers", run_async(SEEDS))
        finally:
            page.driver.quit()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; medians of {loads} loads")
    for name, values in times.items():
        print(f"{numpy.median(values):8.0f} ms  {name} (from {min(values):.0f} to {max(values):.0f})")


if __name__ == "__main__":
    main()
