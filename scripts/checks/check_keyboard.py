"""Walks through the page of a run in Chromium with the keyboard alone: the guide, a tile, the matrix, playing, an
experiment, a head left out, the seeds. Whatever has the focus must show it.

Needs Debian's chromium and chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_keyboard.py target/release/headlight
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from check_experiments import wait_for
from check_live_page import settled
from check_page import Page, check
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

# A page of seven tokens has fewer stops.
MOST_STOPS = 140
# The focused element, or one around it, has a visible outline or shadow.
SEEN = """
let element = document.activeElement;
for (let up = 0; element && up < 3; up++, element = element.parentElement) {
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  if ((outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none") return true;
}
return false;
"""


class Reader:
    """Somebody without a mouse."""

    def __init__(self, page):
        self.page = page

    def press(self, *keys):
        ActionChains(self.page.driver).send_keys(*keys).perform()

    def focused(self, selector):
        return self.page.js("return document.activeElement?.matches(arguments[0]) ?? false", selector)

    def go(self, selector, key=Keys.TAB):
        """Tabs until something has the focus, and checks that one sees it."""
        for _ in range(MOST_STOPS):
            if self.focused(selector):
                check(f"{selector} shows its focus", self.page.js(SEEN))
                return
            self.press(key)
        check(f"the keyboard reaches {selector}", False)

    def back(self, selector):
        for _ in range(MOST_STOPS):
            if self.focused(selector):
                return
            ActionChains(self.page.driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
        check(f"the keyboard reaches {selector}, backwards", False)


def walk(page):
    reader = Reader(page)
    # What the reader has not chosen follows the run.
    view = lambda name: page.js("const name = arguments[0]; return (headlight.here.value[name] ?? headlight.view.value[name])", name)
    reader.go("#guide-start")
    reader.press(Keys.ENTER)
    wait_for(page, "return document.activeElement.id === 'guide-next'", "the guide takes the focus")
    hidden = lambda: page.js("return getComputedStyle(document.querySelector('.arcs')).visibility") == "hidden"
    check("the answer is hidden before the guess", hidden())
    reader.go("#card .tiles li:nth-child(4) button")
    reader.press(Keys.ENTER)
    wait_for(page, "return document.activeElement.id === 'guide-next'", "a guess goes on in the guide")
    check("and is answered", not hidden() and "%" in page.find("#guide p").text, page.find("#guide p").text)
    captions = len(page.all_text("#guide ol button"))
    seen = []
    for number in range(1, captions + 1):
        seen.append((view("guide"), view("step")))
        check(f"caption {number} keeps the focus", reader.focused("#guide-next"))
        reader.press(Keys.ENTER)
    check("captions at several steps", [at for at, _ in seen] == [1, 2, 3, 4, 5, 6] and len({step for _, step in seen}) > 2, seen)
    reader.go("#guide-close")
    reader.press(Keys.SPACE)
    wait_for(page, "return document.activeElement.id === 'guide-start'", "the focus comes back from the guide")

    reader.go("#sample-next")
    reader.press(Keys.ENTER)
    reader.go("#tile-2")
    reader.press("9", Keys.ENTER)
    wait_for(page, "return headlight.view.value.sample.startsWith('own-')", "a typed token is computed")
    check("a typed token", page.js("return headlight.here.value.one.tokens[2]") == 9)
    reader.go("#grid-now [tabindex='0'], #grid-now td[tabindex='0']")
    before = view("query")
    reader.press(Keys.ARROW_DOWN)
    check("arrow keys move in the matrix", view("query") == before + 1, view("query"))

    reader.go("#play")
    reader.press(Keys.SPACE)
    wait_for(page, "return headlight.here.value.step > 0 && document.querySelector('#play').textContent === 'Pause'", "it plays")
    reader.press(Keys.SPACE)
    wait_for(page, "return document.querySelector('#play').textContent === 'Play'", "it stops")
    reader.go("#slider")
    reader.press(Keys.END)
    check("the slider's end", page.js("return headlight.here.value.step") == 1500)

    reader.go("[role=tab]")
    reader.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    check("arrow keys move between tabs", view("tab") == "experiment" and reader.focused("#tab-experiment"), view("tab"))
    reader.go("#settings input[type=number]")
    ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys("0.003", Keys.ENTER).perform()
    wait_for(page, "return headlight.here.value.run.facts.config?.training.learning_rate === 0.003", "the experiment is trained")
    check("the setting keeps the focus", reader.focused("#settings input[type=number]"))
    reader.back("#head-switch")
    reader.press(Keys.SPACE)
    wait_for(page, "return headlight.view.value.changes.heads?.length === 1 && headlight.here.value.isWhatIf", "a head is off")
    check("the head's switch keeps the focus", reader.focused("#head-switch"))
    reader.back(".tiles .eye")
    reader.press(Keys.SPACE)
    wait_for(page, "return headlight.view.value.changes.keys?.length === 1 && document.querySelector('.gauge .was')", "a position is closed, and the gauge shows what was")
    check("the eye keeps the focus", reader.focused(".tiles .eye[aria-pressed=true]"))
    reader.back("#back-to-run")
    reader.press(Keys.ENTER)
    wait_for(page, "return !headlight.here.value.isWhatIf && Object.keys(headlight.view.value.settings).length === 0", "back to the run")

    reader.go("[role=tab]")
    reader.press(Keys.ARROW_RIGHT)
    check("the seeds' tab", view("tab") == "seeds")
    reader.go("#train-seeds")
    reader.press(Keys.ENTER)
    wait_for(page, "return /200 seeds/.test(document.querySelector('#swarm-sum')?.textContent) && !document.querySelector('#stop-seeds')", "200 seeds are trained")
    # The dots are a picture; its table has the same seeds.
    reader.go(".seed-table summary")
    reader.press(Keys.ENTER)
    reader.go(".seed-table tbody tr:nth-child(3) button")
    reader.press(Keys.ENTER)
    wait_for(page, "return headlight.view.value.settings.seed === 2 && headlight.here.value.run.facts.seed === 2", "the table opens a seed")
    check("nothing in the console", not page.driver.get_log("browser"))


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run = folder / "notebook"
        subprocess.run([program, "train", "--run", run, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        page = Page(run / "inspector.html", folder)
        try:
            page.open()
            settled(page)
            walk(page)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
