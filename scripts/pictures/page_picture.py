"""Takes the documents' pictures of a run's page, in Chromium.

    python scripts/pictures/page_picture.py docs target/release/headlight

Trains the notebook's run, opens its page, waits until the page has trained it again, and writes page.png, the first
sight, and the folder page: other sizes, dark, an experiment, the seeds. Needs Debian's chromium and chromium-driver, and
scripts/requirements.txt.
"""

import io
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

SHOWN = "#sample=10&step=900&query=0"
EXPERIMENT = '#sample=10&tab=experiment&set={"training.learning_rate":0.003}'
# Names, widths and heights in CSS pixels, colour schemes, addresses, and what to scroll to.
PICTURES = [
    ("page", 1280, 800, "light", SHOWN, None),
    ("page/wide", 1920, 1080, "light", SHOWN, None),
    ("page/tablet", 768, 1024, "light", SHOWN, None),
    ("page/phone", 360, 740, "light", SHOWN, None),
    ("page/dark", 1280, 800, "dark", SHOWN, None),
    ("page/experiment", 1280, 800, "light", EXPERIMENT, None),
    ("page/what-if", 1280, 800, "light", '#sample=10&changes={"keys":[3]}', None),
    ("page/seeds", 1280, 800, "light", "#sample=10&tab=seeds", "#more"),
]


def wait(driver, script):
    WebDriverWait(driver, 60).until(lambda driver: driver.execute_script(f"return {script}"))


def take(driver, page, out, picture):
    name, width, height, scheme, address, place = picture
    # The inner size: without a frame.
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get("about:blank")
    driver.get(page.as_uri() + address)
    wait(driver, "document.documentElement.dataset.run === 'live'")
    if "set=" in address:
        wait(driver, "headlight.here.value.run.facts.config?.training.learning_rate === 0.003")
    if "seeds" in address:
        wait(driver, "document.querySelector('#train-seeds')")
        driver.execute_script("document.querySelector('#train-seeds').click()")
        wait(driver, "/of 200 seeds learned/.test(document.querySelector('#swarm-sum')?.textContent) && !document.querySelector('#stop-seeds')")
    if place:
        driver.execute_script("document.querySelector(arguments[0]).scrollIntoView()", place)
    driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 500))")
    file = out / f"{name}.png"
    file.parent.mkdir(exist_ok=True)
    # A palette makes the file a third as large, and nobody sees it.
    Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB").quantize(200, method=Image.Quantize.MAXCOVERAGE).save(file, optimize=True)


def main() -> None:
    out, headlight = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "notebook"
        subprocess.run([headlight, "train", "--run", str(run)], check=True, stdout=subprocess.DEVNULL)
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ["--headless=new", "--no-sandbox", "--hide-scrollbars"]:
            options.add_argument(argument)
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        try:
            for picture in PICTURES:
                take(driver, (run / "inspector.html").resolve(), out, picture)
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
