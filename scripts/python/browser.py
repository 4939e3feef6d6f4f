"""A page in Debian's Chromium, for check_pages.py."""

import time
from pathlib import Path

import numpy
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "crates/inspector/page/node_modules/axe-core/axe.min.js"


class Page:
    """The page in a browser."""

    def __init__(self, path):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # The checks change addresses faster than the last argument's protection allows.
        for argument in ["--headless=new", "--no-sandbox", "--window-size=1400,1400", "--disable-ipc-flooding-protection"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.url = path.resolve().as_uri()
        self.emulate("light")

    def open(self):
        self.driver.get(self.url)
        self.wait_for("return document.documentElement.dataset.ready", "the page", 20)

    def settled(self):
        """How the page's numbers came about, once it says so."""
        return self.wait_for("return document.documentElement.dataset.run", "the page's own training", 60)

    def wait_for(self, script, what, seconds):
        deadline = time.monotonic() + seconds
        while not (found := self.js(script)):
            assert time.monotonic() < deadline, f"{what} does not come"
            time.sleep(0.05)
        return found

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all_text(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def grid(self):
        """The numbers of the shown matrix; 0 where the mask forbids the key."""
        cells = self.all_text("#grid-now td[role=gridcell]")
        side = round(len(cells) ** 0.5)
        return numpy.array([cell or 0 for cell in cells], dtype=float).reshape(side, side)

    def emulate(self, scheme):
        """A colour scheme; the page may not move by itself."""
        features = [("prefers-color-scheme", scheme), ("prefers-reduced-motion", "reduce")]
        named = [{"name": name, "value": value} for name, value in features]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": named})

    def resize(self, width, height):
        """The size of the window's content, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def violations(self, scheme):
        """What axe finds."""
        self.emulate(scheme)
        # Through the protocol: the page's own policy lets no other script in.
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
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
