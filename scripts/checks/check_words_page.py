"""Looks at the page of a run of sentences in Chromium: its words, typed sentences, and the tab of vectors.

Needs Debian's chromium and chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_words_page.py target/release/headlight
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

from check_bands import check_bands
from check_experiments import check_fits, wait_for
from check_live_page import settled
from check_page import Page, check
from selenium.webdriver import ActionChains

SENTENCE = "the * bank that charged the fee was beside the zeppelin"


def predicted(program, run, text):
    command = [program, "predict", run, "--text", text, "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def look(page, program, folder):
    run = folder / "bank"
    check("live", settled(page) == "live")
    tiles = page.js("return [...document.querySelectorAll('#card input.tile')].map((tile) => tile.value)")
    check("tiles are words", "the" in tiles and "*" in tiles, tiles)

    # A typed sentence is what `predict --text` makes of it, unknown words among them.
    page.js(
        "const field = document.getElementById('own-tokens'); field.value = arguments[0];"
        "field.form.dispatchEvent(new Event('submit', { cancelable: true, bubbles: true }))",
        SENTENCE.replace("the *", "The  *"),
    )
    expected = predicted(program, run, SENTENCE)
    tokens = wait_for(page, "const own = headlight.here.value.one; return own && own.key.startsWith('own') && own.tokens", "the sentence")
    check("the words' tokens are the program's", tokens == expected["tokens"], tokens)
    tiles = page.js("return [...document.querySelectorAll('#card input.tile')].map((tile) => tile.value)")
    check("an unknown word stays, and is named", "zeppelin" in tiles and "zeppelin" in page.find(".answer .hint").text, tiles)
    check("also in the address", page.js("return location.hash.includes('zeppelin')"))
    shown = page.js("const { run, one, at } = headlight.here.value; return run.source.results('probabilities', at, one)")
    check("so are its probabilities", numpy.abs(numpy.array(shown) - expected["probabilities"]).max() < 1e-6, shown)

    # The planes are those of `headlight embed`.
    table = folder / "vectors.csv"
    subprocess.run([program, "embed", run, "--word", "bank", "--occurrences", "60", "--csv", table, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    page.js("headlight.change({ tab: 'words', word: 'bank' })")
    wait_for(page, "return document.querySelectorAll('#words svg').length === 4", "a plane for each level")
    planes = page.js(
        "const { source, times } = headlight.shown.value; const token = headlight.shown.value.words.vocabulary.indexOf('bank') + 3;"
        "const { levels, floats } = source.planes(token, times.length - 1); return [levels, [...floats]]"
    )
    points = numpy.array(planes[1]).reshape(len(planes[0]), -1, 2)
    for level, found in zip(planes[0], points, strict=True):
        recorded = numpy.array([[float(row["pc1"]), float(row["pc2"])] for row in rows if row["level"] == level])
        # The page may show sentences whole where the program ends at 60 occurrences.
        check(f"{level}: as many dots", abs(len(found) - len(recorded)) <= 1)
        if len(found) == len(recorded):
            check(f"{level}: the program's plane", numpy.abs(found - recorded).max() < 1e-4)
    check("a dot for each occurrence", len(page.all_text("#words svg:last-of-type circle")) > 0)
    page.find("#words details summary").click()
    page.find("#words .sentences button").click()
    wait_for(page, "return headlight.here.value.one?.tokens.includes(headlight.shown.value.words.vocabulary.indexOf('bank') + 3)", "a sentence of the list is shown")
    field = page.find("#word")
    field.clear()
    field.send_keys("zeppelin\n")
    wait_for(page, "return document.getElementById('word-said').textContent !== ''", "an unknown word is refused")
    check("and nothing changes", page.js("return headlight.view.value.word") == "bank")
    page.js("headlight.change({ word: 'constructor' })")
    check("a hostile address says so", page.js("return document.querySelector('#words .hint')?.textContent").find("constructor") > 0)
    page.js("headlight.change({ word: 'bank' })")

    field = page.find("#own-tokens")
    field.clear()
    field.send_keys("the bank " * 15 + "\n")
    wait_for(page, "return document.getElementById('own-said').textContent.includes('bank the bank')", "words that have no place are said")
    check_what_if(page)
    check_bands(page, "words", page.js("const { run, sample } = headlight.here.value; return run.length(sample)"))
    check_fits(page, [360, 768, 1280, 1920])
    check("nothing in the console", not page.driver.get_log("browser"))


def check_what_if(page):
    """Short samples end without padding; heads show their numbers and can be switched off; a closed position changes the answer."""
    page.js("headlight.change({ sample: arguments[0] })", page.js("const { run } = headlight.here.value; return run.samples.reduce((one, other) => run.length(one.key) < run.length(other.key) ? one : other).key"))
    length, positions = page.js("const { run, sample } = headlight.here.value; return [run.length(sample), run.positions]")
    check("a sample shorter than others", length < positions, (length, positions))
    check("tiles without padding", len(page.all_text("#card .tiles li")) == length)
    check("a matrix without padding", page.grid().shape == (length, length))
    ActionChains(page.driver).move_to_element(page.find("#head-0-1")).perform()
    most = page.js("const { run, one, at, query } = headlight.here.value; return Math.max(...run.source.row('weights', at, one, 0, 1, query)).toFixed(4)")
    check("the numbers of the head under the pointer", most in page.find("#head-numbers").text, most)
    probability = "const { run, one, at } = headlight.here.value; return run.probability(one, at)"
    before = page.js(probability)
    page.find("#head-switch").click()
    check("the head is off", page.js("return headlight.here.value.isWhatIf") and page.find("#heads .off").get_attribute("aria-checked") == "true")
    page.find("#head-switch").click()
    check("and on again", page.js(probability) == before)
    page.find("#card .tiles li:nth-child(4) .eye").click()
    changed = page.js("const { run, one, at, query, layer, head } = headlight.here.value; return [run.source.row('weights', at, one, layer, head, query)[3], run.probability(one, at)]")
    check("a closed position gets nothing", changed[0] == 0 and changed[1] != before, changed)
    check("a mark shows what was", page.js("return document.querySelectorAll('.before').length") > 0)
    page.js("headlight.change({ changes: {} })")


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        train = [program, "train", "--quiet", "--run"]
        many = ["quick", "--set", "data.seq_len=39", "--set", "training.epochs=1"]
        for name, config in [("bank", ["bank"]), ("many", many)]:
            subprocess.run([*train, folder / name, *config], check=True, stdout=subprocess.DEVNULL)
        page = Page(folder / "bank/inspector.html", folder)
        try:
            look(page, program, folder)
            page.url = (folder / "many/inspector.html").as_uri()
            page.open()
            check_bands(page, "40 positions", 40)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
