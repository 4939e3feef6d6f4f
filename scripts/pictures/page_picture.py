"""Takes the README's picture of a run's page, in Chromium.

    python scripts/pictures/page_picture.py docs/page.png target/release/headlight

Trains the notebook's run, opens its page at sample 10, and waits until the page has trained it again. Needs Debian's
chromium and chromium-driver, and scripts/checks/requirements-browser.txt.
"""

import pathlib
import subprocess
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

SIZE = (1200, 900)


def main() -> None:
    out, headlight = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "notebook"
        subprocess.run([headlight, "train", "--run", str(run)], check=True, stdout=subprocess.DEVNULL)
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ["--headless=new", "--no-sandbox", "--hide-scrollbars"]:
            options.add_argument(argument)
        driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        try:
            # The inner size: without a frame.
            metrics = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            driver.get((run / "inspector.html").resolve().as_uri() + "#sample=10&step=900&query=0")
            state = "return document.documentElement.dataset.run"
            WebDriverWait(driver, 60).until(lambda driver: driver.execute_script(state) == "live")
            driver.save_screenshot(str(pathlib.Path(out).resolve()))
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
