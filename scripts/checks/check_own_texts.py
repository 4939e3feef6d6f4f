"""Trains texts of a reader's own in the page of `headlight lab negation`, in Chromium: pasted as lines, pasted as CSV, and
as files. Each gives the weights of `headlight train FILE`, and so does the config that the page gives to take out.

Needs Debian's chromium and chromium-driver, and requirements-browser.txt.

    python scripts/checks/check_own_texts.py target/release/headlight
"""

import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check_experiments import check_fits, paste, wait_for
from check_live_page import settled
from check_page import Page, check

SUBJECTS = ["the film", "this book", "the soup", "our room", "the concert", "her speech", "the game"]
PARTS = ["from start to end", "on a rainy evening", "for the whole family", "after a long wait", "with two old friends", "in the old town", "as I remember it"]
OPINIONS = {"good": ["a quiet joy", "well made", "worth every minute", "warm and clever"], "bad": ["a dull mess", "badly made", "a waste of money", "cold and loud"]}
SEMICOLONS = '''\ufeffId;Sentiment;Review;split
1;"Très bon";"Un film ""ÉMOUVANT""; je l'ai
vu deux fois";train
2;mauvais;ENNUYEUX et trop long, hélas;train
3;"Très bon";Quelle joie !;train
4;mauvais;;train
5;mauvais;"Perdu; perdu; PERDU";train
6;"Très bon";Ça m’a plu, du début à la fin;train
7;mauvais;Trop long pour moi;train
8;"Très bon";"Un BON
film, vraiment";train
9;"Très bon";Quel film ÉMOUVANT !;test
10;mauvais;Ennuyeux, hélas;test
'''.replace("\n10", "\r\n10")

REFUSED = [
    ("", "nothing to train on"),
    ("text\nI liked it very much\nIt was far too long\n", "label"),
    ("label,text\ngood,I liked it very much\ngood,It was fun to see\n", "two classes"),
    ("good, I liked it very much\nbad, It was far too long\n", "needs two"),
    ("good, I liked it\ngood, I loved it\nbad, I hated it\nbad, I left\n", "5 or more"),
    ("no comma in this line\n", "Line 1"),
    ('label,text\ngood,"never closed\nbad,text\n', "quote"),
    ("good, " + "very " * 500_000, "2 MB"),
]


def sentences():
    """About 200 sentences, as lines of a label, a comma and a text."""
    draw = random.Random(7)
    lines = set()
    while len(lines) < 200:
        said, label = draw.choice(list(OPINIONS)), draw.choice(list(OPINIONS))
        # A third says nothing about the label, so that training stops early.
        label = said if draw.random() < 2 / 3 else label
        text = f"{draw.choice(SUBJECTS).capitalize()}, {draw.choice(PARTS)}, was {draw.choice(OPINIONS[said])}"
        lines.add(f"{label}, {text}{draw.choice(['.', '!', '', ' ...'])}\n")
    return sorted(lines, key=lambda line: hashlib.sha256(line.encode()).digest())


def program_hash(program, folder, source):
    """The hash of the weights that the program trains from a file of texts or a config."""
    run = folder / f"run-{source.name}"
    subprocess.run([program, "train", source.name, "--run", run, "--quiet", "--set", "dump.every_epochs=10000"], check=True, cwd=folder, stdout=subprocess.DEVNULL)
    return hashlib.sha256((run / "model.safetensors").read_bytes()).hexdigest()


def drop(page, text, name):
    script = """
const data = new DataTransfer(); data.items.add(new File([arguments[0]], arguments[1]));
document.getElementById('own-data').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))"""
    page.js(script, text, name)


def outcome(page, what):
    """The hash that the page shows, once it has trained; what it showed before is gone."""
    wait_for(page, "return document.querySelector('#own-outcome .hash')", what)
    return page.all_text("#own-outcome .hash")[0]


def begin_again(page):
    page.js("headlight.change({ settings: {}, changes: {} })")
    wait_for(page, "return !document.querySelector('#own-outcome')", "the page's own training")


def taken(page, program, folder, name):
    """The hash of the weights that the program trains from what the page gives to take out."""
    out = folder / name
    out.mkdir()
    (out / "config.toml").write_bytes(page.download("#take-config", "toml"))
    file = re.search(r'^file = "([^"]*)"', (out / "config.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)
    (out / file).write_bytes(page.download("#take-data", file.rpartition(".")[2]))
    return program_hash(program, out, out / "config.toml")


def look(page, program, folder):
    check("live", settled(page) == "live")
    page.find("#open-texts").click()
    wait_for(page, "return document.activeElement.id === 'own-csv'", "the form has the focus")

    for text, words in REFUSED:
        paste(page, text)
        wait_for(page, f"return document.getElementById('own-csv-said').textContent.includes({json.dumps(words)})", f"{words}; it says {page.all_text('#own-csv-said')}", 20)
        told = page.all_text("#own-csv-said")[0]
        check(f"refused: {words}", words in told and "--" not in told and "`" not in told, told)
        check("nothing is lost", page.js("return document.getElementById('own-csv').value.length") == len(text))

    lines = sentences()
    table = folder / "opinions.csv"
    table.write_text("text,label\n" + "".join('"{1}",{0}\n'.format(*line.strip().split(", ", 1)) for line in lines), encoding="utf-8")
    expected = program_hash(program, folder, table)
    for what, give in [("pasted as lines", lambda: paste(page, "\n".join(lines))), ("pasted as CSV", lambda: paste(page, table.read_text(encoding="utf-8"))), ("dropped", lambda: drop(page, table.read_text(encoding="utf-8"), table.name))]:
        give()
        check(f"{what}: the weights of `headlight train FILE`", outcome(page, what) == expected, expected)
        check(f"{what}: the config that is taken out gives them", taken(page, program, folder, what.replace(" ", "-")) == expected)
        if what != "dropped":
            begin_again(page)
    told = page.find("#own-outcome").text
    report = (folder / "run-opinions.csv/report.md").read_text(encoding="utf-8")
    always, accuracy = re.search(r'always "(\w+)".*?accuracy ([\d.]+)', report, re.IGNORECASE).groups()
    check("it says how many texts, and what the majority gives", "200 texts of 2 classes" in told and f"Always answering “{always}” gives {accuracy}" in told, told)
    said = page.js("return headlight.here.value.run.facts.ended.best.outcome")
    check("the outcome is that of the report", said in " ".join(report.split()) and said in told, said)
    rows = [json.loads(row) for row in (folder / "run-opinions.csv/metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    best = min(rows, key=lambda row: row["held_out_loss"])
    ended, last = page.js("const { facts, last } = headlight.here.value.run; return [facts.ended, last]")
    check("training stops early, where the run does", last == rows[-1]["step"] < 50 * 10, last)
    check("the best model is the run's", ended["best"]["step"] == best["step"], best["step"])
    check("so is its held-out accuracy", ended["best"]["held_out"]["accuracy"] == best["held_out_accuracy"] and f"{best['held_out_accuracy']:.3f}" in told, told)
    page.find("#own-outcome button").click()
    check("a held-out text is shown", page.all_text("#card-title") == ["Held-out text"])
    page.js("const field = document.getElementById('own-tokens'); field.value = 'The zebra was a dull mess'; field.form.requestSubmit()")
    wait_for(page, "return headlight.here.value.one?.key.startsWith('own')", "a sentence of the reader's")
    check("its words are known, but one", page.js("return headlight.here.value.one.tokens.filter((token) => token === 2).length") == 1)
    check("the address holds no texts", "dull" not in page.js("return JSON.stringify(headlight.view.value.settings)"))

    # What a spreadsheet may write.
    for name, text in [("avis.csv", SEMICOLONS), ("avis.tsv", SEMICOLONS.replace(";", "\t"))]:
        table = folder / name
        table.write_bytes(text.encode())
        begin_again(page)
        drop(page, text, name)
        found = outcome(page, name)
        check(f"{name}: the weights of `headlight train FILE`", found == program_hash(program, folder, table), found)
        check(f"{name}: what is cut or unknown", "no words" in page.find("#own-outcome").text and "not in the vocabulary" in page.find("#own-outcome").text)
    check_fits(page, [360, 768, 1280])
    check("nothing in the console", not page.driver.get_log("browser"))

    # The address leads back to where texts can be given again.
    address = page.driver.current_url
    page.driver.get("about:blank")
    page.driver.get(address)
    wait_for(page, "return document.querySelector('#settings .failed')", "an address without its texts says so")


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run([program, "lab", "negation", "--quiet", "--html", folder / "lab.html"], check=True)
        page = Page(folder / "lab.html", folder)
        try:
            page.open()
            look(page, program, folder)
        finally:
            page.driver.quit()


if __name__ == "__main__":
    main()
