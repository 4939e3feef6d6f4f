"""Opens pages of models that answer at each position in Chromium, and checks that they follow the position that is asked.

Trains runs of the rules `histogram`, `sort` and `repeat` and of a text of names, live and recorded, and compares what their pages
show with the npz dumps, and what the page generates with `headlight generate`. Needs Debian's chromium and
chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_positions_page.py target/release/headlight
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from check_live_page import check_same_bytes, settled, train
from check_page import ROOT, Page, check, npz_dumps, same
from selenium.webdriver.common.keys import Keys

SEQUENCES = """
data = {{ task = "token-classification", generator = "chacha", samples = 2000, held_out = 200, vocab_size = 8, seq_len = 7, rule = {rule} }}
model = {{ d_model = 16, n_heads = 2, n_layers = 2, d_ff = 32, attention = {{ padding_token = 7 }} }}
training = {{ epochs = 4, batch_size = 32, learning_rate = 0.003 }}
dump = {{ every_steps = 50, formats = ["npz"] }}
"""
NEXT = """
data = {{ task = "next-token", {data} }}
model = {{ d_model = 16, n_heads = 2, n_layers = 2, attention = {{ mask = "causal" }} }}
training = {{ steps = 150, batch_size = 16, learning_rate = 0.005 }}
dump = {{ every_steps = 50, formats = ["npz"] }}
"""
REPEAT = 'generator = "chacha", samples = 500, held_out = 50, vocab_size = 12, seq_len = 12, cls = "none", rule = { kind = "repeat", period = 5 }'


def configs(folder):
    """The configs, by the names of their runs."""
    names = (ROOT / "data/names.txt").read_text().splitlines()[:1500]
    texts = folder / "names.txt"
    texts.write_text("\n".join(names) + "\n")
    written = {
        "histogram": SEQUENCES.format(rule='{ kind = "histogram", padding = 7 }'),
        "sort": SEQUENCES.format(rule='{ kind = "sort", padding = 7, end = 6 }'),
        "repeat": NEXT.format(data=REPEAT),
        "names": NEXT.format(data=f'file = "{texts}", held_out = 150, words = {{ level = "character" }}'),
    }
    for name, text in written.items():
        path = folder / f"{name}.toml"
        path.write_text(text)
        yield name, path


def check_answers(page, run, name):
    """Each tile's answer is the dump's, and what is shown is of the position that is asked."""
    dumps = npz_dumps(run)
    dump = dumps[max(dumps)]
    meta = json.loads(str(dump["meta"]))
    labels, logits = dump["labels"], dump["logits"]
    answers = logits.argmax(axis=-1)
    shown = page.js("return headlight.shown.value.samples.map(({ number }) => number)")
    for number in shown[:4]:
        row = meta["samples"].index(number)
        page.js("headlight.change({ sample: String(arguments[0]), query: Infinity })", number)
        counts = numpy.flatnonzero(~numpy.isnan(labels[row]))
        marks = [label == answer for label, answer in zip(labels[row, counts], answers[row, counts])]
        names = page.js("return arguments[0].map((label) => headlight.shown.value.shortClass(label))", answers[row, counts].tolist())
        expected = [f"{own} {'✓' if is_right else '✗'}" for own, is_right in zip(names, marks)]
        found = page.all_text("#card .answers")
        check(f"{name}, sample {number}: answers", found == expected, f"{found} and {expected}")
        whole = page.all_text(".verdict")[0]
        right = "all are" if all(marks) else "1 is" if sum(marks) == 1 else f"{sum(marks)} are"
        check(f"{name}, sample {number}: how many are right", f"Of the {len(marks)} positions with a label, {right} right." in whole, whole)
        entry = page.find(f"#list [data-sample='{number}'] .outcome").text
        check(f"{name}, sample {number}: in the list", entry == f"{sum(marks)} of {len(marks)} right", entry)
        for place in [0, len(counts) - 1]:
            position = int(counts[place])
            page.js("document.querySelectorAll('#card .answers')[arguments[0]].click()", place)
            check_asked(page, dump, row, position, f"{name}, sample {number}, position {position}")
    return dump


def check_asked(page, dump, row, position, name):
    """The row of attention, the probabilities and the label of a position."""
    layer, head, query = page.js("const { layer, head, query } = headlight.here.value; return [layer, head, query]")
    check(f"{name}: asked", query == position, query)
    weights = dump["attention_weights"][row, layer, head, position]
    length = len(page.all_text("#card .share"))
    shares = page.js("const { run, one, at, layer, head, query } = headlight.here.value; return Array.from(run.row(one, at, layer, head, query, 'weights'))")
    check(f"{name}: weights", numpy.abs(numpy.array(shares) - weights).max() < 1.01e-4)
    same(f"{name}: the matrix", page.grid()[position], weights[:length])
    chosen = page.all_text("#grid-now th.chosen .at")
    check(f"{name}: the chosen row", chosen == [str(position)], chosen)
    label = int(dump["labels"][row, position])
    what = page.find("#what").text
    check(f"{name}: its probability", f"probability of its class {dump['probabilities'][row, position, label]:.4f}" in what, what)
    result = page.js("const { run, one, at } = headlight.here.value; return run.source.results('logits', at, one)")
    check(f"{name}: logits", numpy.abs(numpy.array(result) - dump["logits"][row, position]).max() < 1.01e-4)
    sentence = page.find("#sentence").text
    reader = "the last position" if position + 1 == dump["tokens"].shape[1] else "[CLS]" if position == 0 and dump["tokens"][row, 0] == 0 and "[CLS]" in page.all_text(".tile.cls bdi") else f"position {position}"
    check(f"{name}: the sentence", reader in sentence, sentence)


def check_deciding(page, name):
    """For a histogram, the marked tiles are those of the token that is asked."""
    tokens, asked, marked = page.js("const { one } = headlight.here.value; return [one.tokens, one.asked, one.marked]")
    expected = [at for at, token in enumerate(tokens) if token == tokens[asked]]
    check(f"{name}: what decides", marked == expected, f"{marked} of {tokens}")
    tiles = page.js("return [...document.querySelectorAll('#card .tiles .marked')].map((tile) => Number(tile.dataset.position))")
    check(f"{name}: marked tiles", tiles == expected, tiles)


def check_keyboard(page, name):
    """An answer is a button, and the arrow keys ask the next one."""
    several = "({ each }) => each.filter(([label]) => label !== null).length > 1"
    page.js(f"headlight.change({{ sample: headlight.shown.value.samples.find({several}).key }})")
    answers = page.driver.find_elements("css selector", "#card .answers")
    answers[0].send_keys(Keys.ENTER)
    first = page.js("return headlight.here.value.query")
    answers[0].send_keys(Keys.ARROW_RIGHT)
    check(f"{name}: the right arrow asks the next position", page.js("return headlight.here.value.query") == first + 1)
    pressed = page.js("return [...document.querySelectorAll('#card .answers')].map((a) => a.ariaPressed)")
    check(f"{name}: one is pressed, and has the focus", pressed.count("true") == 1 and page.js("return document.activeElement.ariaPressed") == "true", pressed)


def check_own(page, program, run, name):
    """Tokens of the reader have the answers of `headlight predict`, and labels by the rule."""
    tokens = "1 2 2 3 1 5 2"
    field = page.find("#own-tokens")
    field.clear()
    field.send_keys(tokens, Keys.ENTER)
    said = subprocess.run([program, "predict", run, "--tokens", tokens, "--json"], check=True, capture_output=True, text=True)
    expected = [each["predicted"] for each in json.loads(said.stdout)["predicted"][-7:]]
    found = page.js("const { run, one, at } = headlight.here.value; return one.each.map((_, asked) => run.predicted({ ...one, asked }, at))")
    check(f"{name}: answers to own tokens", found[-7:] == expected, f"{found} and {expected}")
    labels = page.js("return headlight.here.value.one.each.map(([label]) => label)")
    check(f"{name}: labels of own tokens", labels[-7:] == [2, 3, 3, 1, 2, 1, 3], labels)


def check_generated(page, program, run, name, prompt):
    """What the page generates is what `headlight generate` prints."""
    page.js("headlight.change({ tab: 'generate' })")
    flag = "--prompt" if name == "names" else "--tokens"
    for temperature, top_k, seed in [("1", "", "0"), ("0.7", "5", "3"), ("0", "", "9")]:
        for field, text in {"prompt": prompt, "temperature": temperature, "top_k": top_k, "seed": seed}.items():
            box = page.find(f"#generate [name={field}]")
            box.clear()
            box.send_keys(text)
        page.find("#generate form button").click()
        told = [program, "generate", run, flag, prompt, "--temperature", temperature, "--seed", seed, *(["--top-k", top_k] if top_k else [])]
        expected = subprocess.run(told, check=True, capture_output=True, text=True).stdout.splitlines()
        found = page.all_text("#generate li button")
        check(f"{name}: generated with temperature {temperature}, top-k {top_k or 'all'}, seed {seed}", found == expected, f"{found} and {expected}")
    box = page.find("#generate [name=prompt]")
    box.clear()
    box.send_keys("%%")
    page.find("#generate form button").click()
    check(f"{name}: a wrong prompt is refused", "%" in page.find("#generate .failed").text, page.all_text("#generate [role=status]"))


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        page = Page(folder, folder)
        try:
            for name, config in configs(folder):
                run = folder / name
                train(program, run, config)
                page.url = (run / "inspector.html").as_uri()
                check(f"{name}: live", settled(page) == "live", page.all_text("#origin"))
                check_same_bytes(page, run, name)
                check_answers(page, run, name)
                check_keyboard(page, name)
                if name == "histogram":
                    check_deciding(page, name)
                    check_own(page, program, run, name)
                if name in ("repeat", "names"):
                    check_generated(page, program, run, name, "3 4 5" if name == "repeat" else "ma")
                found = page.violations("light")
                check(f"{name}: axe", not found, json.dumps(found, indent=1) if found else "")
                recorded = folder / f"{name}-recorded"
                train(program, recorded, config, "compute.engine=burn")
                page.url = (recorded / "inspector.html").as_uri()
                check(f"{name}: recorded", settled(page) == "recorded", page.all_text("#origin"))
                check_answers(page, recorded, f"{name}, recorded")
                for tab in page.js("return [...document.querySelectorAll('[role=tab]')].map(({ id }) => id.slice(4))"):
                    page.js("headlight.change({ tab: arguments[0] })", tab)
            log = page.driver.get_log("browser")
            check("console is empty", not log, log)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
