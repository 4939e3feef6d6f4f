"""A page in Debian's Chromium, for check_pages.py."""

import time

import numpy
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By


class Page:
    """The page in a browser."""

    def __init__(self, path):
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # The checks change addresses faster than the last argument's protection allows.
        for argument in ["--headless=new", "--no-sandbox", "--window-size=1400,1400", "--force-prefers-reduced-motion", "--disable-ipc-flooding-protection"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.url = path.resolve().as_uri()

    def open(self):
        self.driver.get(self.url)
        self.wait_for("return document.documentElement.dataset.ready", "the page", 20)

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

    def resize(self, width, height):
        """The size of the window's content, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def check(name, holds, detail=""):
    print(f"{'ok  ' if holds else 'FAIL'} {name} {detail}")
    assert holds, f"{name}: {detail}"


def same(name, shown, recorded):
    """Four decimals that are those of float32 numbers."""
    rounded = numpy.round(numpy.asarray(recorded, dtype=float), 4)
    worst = float(numpy.abs(numpy.asarray(shown, dtype=float) - rounded).max())
    check(name, worst < 1e-9, f"worst difference {worst:.1e}")
