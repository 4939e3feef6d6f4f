"""Opens pages in Chromium, and checks what a reader shares of them, and the surprises.

The picture is a PNG whose text is whole, the film a WebM that plays, the saved page opens on the same view, also with the
reader's own samples; each surprise says the numbers that are shown. Needs Debian's chromium and chromium-driver, and
requirements-browser.txt.

    python scripts/checks/check_sharing.py target/release/headlight
"""

import base64
import html.parser
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from check_experiments import CSV, check_axe, check_fits, paste, wait_for
from check_live_page import settled, train
from check_page import Page, check
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

SIZE = (1200, 630)
SHOWN = """
const { run, sample, step, layer, head, one, at } = headlight.here.value;
return [sample, step, layer, head, run.samples.length, one && run.source.results("probabilities", at, one), document.title, location.hash];
"""
# What is shown, as raw numbers: the attention of [CLS] in each block and head, of all samples of the page.
NUMBERS = """
const { run, one, at, layer, head } = headlight.here.value;
const { layers, heads, cls } = run.facts;
const each = (count) => [...Array(count).keys()];
const of = (sample) => ({ key: sample.key, label: sample.label, marked: sample.marked, texts: sample.tokens.map((_, position) => run.tokenText(sample, position)),
  probability: run.source.results("probabilities", at, sample)[0], keys: run.keys(sample, cls).length,
  rows: each(layers).map((block) => each(heads).map((one) => Array.from(run.source.row("weights", at, sample, block, one, cls)))) });
return { cls, layer, head, positions: run.positions, one: of(one), all: run.samples.map(of), held_out: run.facts.ended.held_out.accuracy };
"""
# Every text of the picture that is not whole: beyond the picture, or beyond its tile.
CUT = """
const [svg, done] = arguments;
const drawn = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
document.body.append(drawn);
const [width, height] = [drawn.viewBox.baseVal.width, drawn.viewBox.baseVal.height];
const boxes = [...drawn.querySelectorAll(":scope > rect[rx='7']")].map((rect) => rect.getBBox());
const cut = [...drawn.querySelectorAll("text")].filter((text) => {
  const box = text.getBBox();
  const tile = boxes.find(({ y, height }) => box.y >= y - 6 && box.y + box.height <= y + height + 6) && boxes.find(({ x, width }) => box.x + box.width / 2 > x && box.x + box.width / 2 < x + width);
  const [from, to] = tile ? [tile.x, tile.x + tile.width] : [0, width];
  return box.x < from - 1 || box.x + box.width > to + 1 || box.y < 0 || box.y + box.height > height;
}).map((text) => text.textContent);
const words = [...drawn.querySelectorAll("text")].map((text) => text.textContent);
drawn.remove();
done([width, height, cut, words]);
"""


class Head(html.parser.HTMLParser):
    """The meta elements of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = {}
        self.feed(text[:20000])

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "meta" and (name := attributes.get("name") or attributes.get("property")):
            self.found[name] = attributes["content"]


def check_meta(path, *expected):
    found = Head(path.read_text(encoding="utf-8")).found
    check("og:title asks the question", found["og:title"] == expected[0], found["og:title"])
    for name in ["description", "og:description"]:
        check(f"{name} has the question and the result", all(part in found[name] for part in expected), found[name])


def open_share(page):
    page.find("#share").send_keys(Keys.ENTER)
    wait_for(page, "return document.querySelector('#share-dialog')?.open", "the dialog does not open")


def check_dialog(page):
    """The keyboard opens and closes it; it says what an address cannot do."""
    open_share(page)
    check("the focus is in the dialog", page.js("return document.getElementById('share-dialog').contains(document.activeElement)"))
    check("a page of a file says so", "only on this computer" in page.find("#share-local").text)
    check("and offers the file first", page.find("#share-dialog li button").get_attribute("id") == "share-page-file")
    wait_for(page, "return document.querySelector('#share-dialog img')?.naturalWidth", "there is no picture")
    check_fits(page, [390, 1280], ", the dialog", 800, element="#share-dialog")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    wait_for(page, "return !document.getElementById('share-dialog')", "Escape does not close it")
    check("the focus is back", page.js("return document.activeElement.id") == "share")


def check_picture(page, *words):
    page.js("if (!window.made) { window.made = []; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { window.made.push(blob); return make.call(URL, blob); }; }")
    open_share(page)
    svg = page.driver.execute_async_script("const done = arguments[0]; window.made.findLast(({ type }) => type === 'image/svg+xml').text().then(done)")
    width, height, cut, texts = page.driver.execute_async_script(CUT, svg)
    check("the picture's size", (width, height) == SIZE, (width, height))
    check("no text is cut", not cut, cut)
    check("tiles and question are there", all(word in " ".join(texts) for word in words), texts)
    png = page.download("#share-picture", "png")
    size = struct.unpack(">II", png[16:24])
    check("a PNG", png.startswith(b"\x89PNG") and size[0] >= SIZE[0] and size[1] >= SIZE[1], size)
    page.find("#share-close").click()


def check_film(page):
    open_share(page)
    film = page.download("#share-film", "webm", 40)
    wait_for(page, "return document.getElementById('share-film-text').textContent.startsWith('Saved')", "the film does not end")
    check("a WebM", film.startswith(b"\x1aE\xdf\xa3") and len(film) > 20_000, len(film))
    page.driver.get("about:blank")
    play = """
        const [data, done] = arguments;
        const video = Object.assign(document.createElement("video"), { muted: true, src: `data:video/webm;base64,${data}` });
        // A recording does not say how long it is before its end was looked for.
        video.onloadedmetadata = () => { video.currentTime = 1e6; };
        video.onseeked = () => done([video.videoWidth, video.videoHeight, video.currentTime]);
        video.onerror = () => done([0, 0, 0]);"""
    width, height, seconds = page.driver.execute_async_script(play, base64.b64encode(film).decode())
    check("it plays", (width, height) == SIZE and 3 <= seconds <= 6, (width, height, seconds))


def check_without_films(page):
    """A browser that cannot record says so."""
    page.js("delete window.MediaRecorder")
    open_share(page)
    check("a browser without a recorder says so", not page.find("#share-film").is_enabled() and "cannot record" in page.find("#share-film-text").text)
    page.find("#share-close").click()


def check_saved(page, name):
    """The saved page opens on the same view."""
    shown = page.js(SHOWN)
    open_share(page)
    saved = page.download("#share-page-file", "html")
    page.find("#share-close").click()
    path = page.downloads / "saved.htm"
    path.write_bytes(saved)
    before, page.url = page.url, path.as_uri()
    page.open()
    wait_for(page, "return document.documentElement.dataset.run", "it does not settle")
    wait_for(page, f"return document.title === {json.dumps(shown[-2])}", "its experiment does not end")
    again = page.js(SHOWN)
    check(f"the saved page opens on the same view, {name}", again == shown, f"{again} and {shown}")
    check("it is the same document", abs(len(saved) - len(Path(before.removeprefix("file://")).read_bytes())) < 20_000, len(saved))
    open_share(page)
    once_more = page.download("#share-page-file", "html")
    check("saved again, it is the same", once_more == saved, f"{len(once_more)} and {len(saved)} bytes")
    page.url = before
    path.unlink()
    for file in page.downloads.glob("*.html"):
        file.unlink()


def percent(share):
    return f"{100 * share:.1f}%" if 0 < share < 0.0995 else f"{int(100 * share + 0.5)}%"


def marked(sample, layer, head):
    return sum(sample["rows"][layer][head][position] for position in sample["marked"])


def most_marked(sample, layer):
    return max(marked(sample, layer, head) for head in range(len(sample["rows"][layer])))


def is_right(sample):
    return (sample["probability"] > 0.5) == bool(sample["label"])


def expected_of(key, now):
    """The numbers that a surprise must say, and whether what it says holds."""
    one, layer, head = now["one"], now["layer"], now["head"]
    even = len(one["marked"]) / one["keys"]
    chance, held_out = f"is {one['probability']:.3f}", f"{100 * now['held_out']:.1f}%"
    others = [sample for sample in now["all"] if sample["label"] != one["label"] and sample["marked"] and is_right(sample)]
    if key == "elsewhere":
        last = most_marked(one, len(one["rows"]) - 1)
        return [percent(last), percent(even), chance], last < even / 3 and is_right(one)
    if key == "away":
        share = marked(one, layer, head)
        mean = sum(marked(sample, layer, head) for sample in others) / len(others)
        return [percent(share), percent(even), percent(mean), chance], share < even < mean and is_right(one)
    if key == "positions":
        answers = {sample["probability"] > 0.5 for sample in now["all"]}
        return [chance, held_out], len(answers) == 1
    if key == "causal":
        return ["100%", chance, held_out], one["rows"][layer][head][now["cls"]] > 0.9999 and len({f"{sample['probability']:.3f}" for sample in now["all"]}) == 1
    if key == "causal-last":
        return [percent(marked(one, layer, head)), chance, held_out], one["keys"] == now["positions"] and now["cls"] == now["positions"] - 1 and is_right(one)
    if key == "uniform":
        most = max(weight for block in one["rows"] for row in block for weight in row)
        return [percent(most), percent(1 / one["keys"]), chance, held_out], most < 1.5 / one["keys"] and is_right(one)
    assert key == "only-not", key
    own, other = [], []
    for sample in now["all"]:
        texts = sample["texts"]
        if "not" in texts:
            not_, star, comma = [texts.index(word) for word in ["not", "*", ","]]
            (own if (not_ < comma) == (star < comma) else other).append(sample["rows"][layer][head][not_])
    share = one["rows"][layer][head][one["texts"].index("not")]
    means = [sum(own) / len(own), sum(other) / len(other)]
    return [percent(share), percent(marked(one, layer, head)), *map(percent, means)], min(share, *means) > 1.5 / one["keys"] and is_right(one)


def check_surprises(page, least):
    page.js("headlight.change({ tab: 'experiment' })")
    page.find("#experiment .surprises-open").click()
    keys = page.js("return [...document.querySelectorAll('#surprises .list [aria-pressed]')].map(({ id }) => id.slice(9))")
    check("as many surprises as promised", len(keys) >= least, keys)
    for key in keys:
        page.find(f"#surprise-{key}").click()
        said = wait_for(page, "const said = document.querySelector('#surprises [role=status]').textContent; return said.includes('Seen:') && said", f"{key} does not end")
        numbers, holds = expected_of(key, page.js(NUMBERS))
        check(f"the surprise {key} holds", holds, said)
        check(f"and says what is shown: {', '.join(numbers)}", all(number in said for number in numbers), said)
        check("the address holds it", f"surprise={key}" in page.driver.current_url, page.driver.current_url)
    address = page.driver.current_url
    page.driver.get("about:blank")
    page.driver.get(address)
    again = wait_for(page, "const said = document.querySelector('#surprises [role=status]')?.textContent; return said?.includes('Seen:') && said", "the address does not lead back")
    check("the address leads back", again == said, again)
    check_axe(page, "a surprise")
    page.find("#surprise-back").click()
    check("the way back", page.js("return JSON.stringify(headlight.view.value.settings)") == "{}")
    page.find("#surprises-close").click()
    check("the guide is there again", page.find("#guide-start").is_displayed())


def check_own_samples(page):
    """An address does not hold the reader's own samples; the saved page does."""
    page.js("headlight.change({ tab: 'experiment' })")
    paste(page, CSV)
    wait_for(page, "return document.querySelector('#take-data')", "the samples are not trained on")
    open_share(page)
    told = page.find("#share-address-text").text
    check("it says that an address does not hold own samples", "not hold your own samples" in told, told)
    page.find("#share-close").click()
    check_saved(page, "own samples")


def check_frame(page, path, folder):
    """A page within another has no address, and saves itself."""
    outer = folder / "outer.html"
    text = path.read_text(encoding="utf-8").replace("&", "&amp;").replace('"', "&quot;")
    outer.write_text(f'<!doctype html><title>outer</title><iframe srcdoc="{text}" sandbox="allow-scripts allow-downloads" width="1200" height="900"></iframe>', encoding="utf-8")
    page.driver.get(outer.as_uri())
    page.driver.switch_to.frame(page.driver.find_element(By.TAG_NAME, "iframe"))
    wait_for(page, "return document.documentElement.dataset.run === 'live'", "the page in a frame does not train")
    open_share(page)
    check("a page in a frame says so", "part of another one" in page.find("#share-local").text, page.find("#share-local").text)
    check("and offers no address", not page.driver.find_elements(By.ID, "share-address"))
    saved = page.download("#share-page-file", "html")
    check("and saves itself", saved.count(b'id="kept"') == 1)


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        run, lab = folder / "notebook", folder / "negation.html"
        train(program, run, "notebook")
        subprocess.run([program, "lab", "negation", "--html", lab, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        check_meta(run / "inspector.html", "Is it true that token 42 is at position 3?", "Learned: held-out F1 1.000")
        check_meta(lab, "Is the thing after * said to be good?", "where its attention looks")
        downloads = folder / "downloads"
        downloads.mkdir()
        page = Page(run / "inspector.html", downloads)
        try:
            check("live", settled(page) == "live")
            check_dialog(page)
            check_picture(page, "is token 42 at", "[CLS]", "Attention of notebook")
            page.js("headlight.change({ sample: 'own-16-5-42-43-42-2', step: 900, settings: { seed: 3 }, changes: { keys: [5] }, tab: 'seeds' })")
            wait_for(page, "return document.title.includes('seed 3')", "the experiment does not end")
            check_saved(page, "an experiment, a change, own tokens")
            settled(page)
            check_own_samples(page)
            settled(page)
            check_surprises(page, 4)
            check_film(page)
            check_frame(page, run / "inspector.html", folder)
            page.driver.switch_to.default_content()
            page.url = lab.as_uri()
            check("a page without a run", settled(page) == "live")
            check_picture(page, "after", "movie", "[CLS]", "Headlight lab: negation")
            check_saved(page, "texts")
            settled(page)
            check_surprises(page, 3)
            check_without_films(page)
            log = [entry for entry in page.driver.get_log("browser") if "favicon" not in entry["message"]]
            check("nothing in the console", not log, log)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
