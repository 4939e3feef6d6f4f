"""Times a run's page in Chromium: until it is ready, and each redraw for another sample, head or cell.

    python scripts/benchmarks/page_speed.py RUN/inspector.html

Each figure is a median in milliseconds; a redraw ends when the next frame is painted. Needs
Debian's chromium and chromium-driver, and scripts/checks/requirements-browser.txt.
"""

import statistics
import sys
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

REDRAW = """
const [name, done] = [arguments[0], arguments[1]];
const select = document.getElementById("head-list");
const acts = {
  sample: (turn) => document.querySelectorAll("#list [data-sample]")[2 + turn % 10].click(),
  head: (turn) => { select.value = turn % select.length; select.dispatchEvent(new Event("change")); },
  cell: () => document.querySelector("#matrices [tabindex='0']:is(canvas, td)").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true })),
};
const times = [];
const turn = () => {
  const start = performance.now();
  acts[name](times.length);
  const script = performance.now() - start;
  requestAnimationFrame(() => setTimeout(() => {
    times.push([script, performance.now() - start]);
    if (times.length < 20) turn(); else done(times);
  }));
};
turn();
"""


def main() -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ["--headless=new", "--no-sandbox", "--window-size=1400,1400"]:
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    ready = []
    for _ in range(5):
        driver.get("about:blank")
        driver.get(Path(sys.argv[1]).resolve().as_uri())
        while not (at := driver.execute_script("return document.documentElement.dataset.ready")):
            time.sleep(0.05)
        ready.append(float(at))
    print(f"ready: {statistics.median(ready):.0f}")
    driver.set_script_timeout(60)
    for name in ["sample", "head", "cell"]:
        times = driver.execute_async_script(REDRAW, name)
        script, painted = (statistics.median(column) for column in zip(*times))
        print(f"{name}: script {script:.1f}, painted after {painted:.1f}")
    driver.quit()


if __name__ == "__main__":
    main()
