// Pages of texts: typed sentences, texts of the reader's own, the vectors of words, and what a model of names continues.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { checkLook, headlight, openLive, paste, place, save, show, texts, train } from "./browser.mjs";

headlight("lab", "negation", "--quiet", "--html", "lab.html");

const SUBJECTS = ["The film", "This book", "The soup", "Our room", "The concert", "Her speech", "The game"];
const PARTS = ["from start to end", "on a rainy evening", "for the whole family", "after a long wait", "with two old friends"];
const OPINIONS = { good: ["a quiet joy", "well made", "worth every minute"], bad: ["a dull mess", "badly made", "cold and loud"] };
// Two of three sentences say what their label is, so that training stops early.
const SENTENCES = SUBJECTS.flatMap((subject, one) => PARTS.flatMap((part, two) => Object.entries(OPINIONS).flatMap(([label, opinions], three) => opinions.map((opinion, four) => {
  const said = (one + two + four) % 3 ? label : ["bad", "good"][three];
  return [said, `${subject}, ${part}, was ${opinion}${["!", ".", ""][(one + four) % 3]}`];
}))));
const SEMICOLONS = `\ufeffId;Sentiment;Review;split
1;"Très bon";"Un film ""ÉMOUVANT""; je l'ai
vu deux fois";train
2;mauvais;ENNUYEUX et trop long, hélas;train
3;"Très bon";Quelle joie !;train
4;mauvais;;train
5;mauvais;"Perdu; perdu; PERDU";train
6;"Très bon";Ça m’a plu, du début à la fin;train
7;mauvais;Trop long pour moi;train
8;"Très bon";Quel film ÉMOUVANT !;test
9;mauvais;Ennuyeux, hélas;test
`;

const drop = (page, name, text) => page.locator("#own-data").evaluate((form, [name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  form.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, text]);
const outcome = (page) => page.locator("#own-outcome .hash").textContent({ timeout: 60_000 });
const beginAgain = async (page) => {
  await show(page, { settings: {}, changes: {} });
  await page.waitForSelector("#own-outcome", { state: "detached" });
};

test("what cannot be trained on is refused with its remedy, and stays", async (t) => {
  const page = await openLive(t, place("lab.html"));
  await page.click("#open-texts");
  await page.waitForFunction(() => document.activeElement?.id === "own-csv");
  for (const [text, words] of [
    ["", "nothing to train on"], ["text\nI liked it very much\nIt was far too long\n", "label"], ["label,text\ngood,I liked it very much\ngood,It was fun to see\n", "two classes"],
    ["no comma in this line\n", "Line 1"], ['label,text\ngood,"never closed\nbad,text\n', "quote"], [`good, ${"very ".repeat(500_000)}`, "2 MB"],
  ]) {
    await paste(page, text);
    await page.waitForFunction((words) => document.getElementById("own-csv-said")?.textContent.includes(words), words, { timeout: 20_000 });
    assert.doesNotMatch(await page.textContent("#own-csv-said"), /--|`/);
    assert.equal((await page.inputValue("#own-csv")).length, text.length);
  }
});

test("pasted and dropped texts give the weights of `headlight train FILE`", async (t) => {
  const page = await openLive(t, place("lab.html"));
  await page.click("#open-texts");
  const table = `text,label\n${SENTENCES.map(([label, text]) => `"${text}",${label}\n`).join("")}`;
  writeFileSync(place("opinions.csv"), table);
  const { hash } = train("opinions", "opinions.csv");
  const ways = [() => paste(page, SENTENCES.map(([label, text]) => `${label}, ${text}`).join("\n")), () => paste(page, table), () => drop(page, "opinions.csv", table)];
  for (const [way, give] of ways.entries()) {
    if (way) await beginAgain(page);
    await give();
    assert.equal(await outcome(page), hash, String(way));
  }
  await page.waitForFunction(() => [...document.querySelectorAll("#chart-loss > .tick")].at(-1)?.textContent === String(globalThis.headlight.here.value.run.last));
  assert.match(await page.textContent("#own-outcome"), new RegExp(`${SENTENCES.length} texts of 2 classes`));
  await page.click("#save");
  const [config, data] = [await save(page, "#save-config"), await save(page, "#save-data")];
  await page.click("#save-close");
  for (const { name, bytes } of [config, data]) writeFileSync(place(name), bytes);
  assert.equal(train("taken", "config.toml").hash, hash);
  await page.click("#own-outcome button");
  assert.equal(await page.textContent("#card-title"), "Held-out text");
  for (const [name, text] of [["avis.csv", SEMICOLONS], ["avis.tsv", SEMICOLONS.replace("; je", ", je").replaceAll(";", "\t")]]) {
    await beginAgain(page);
    writeFileSync(place(name), text);
    await drop(page, name, text);
    assert.equal(await outcome(page), train(`run-${name}`, name).hash, name);
  }
  await checkLook(page);
  await paste(page, "no comma");
  await page.waitForSelector("#own-outcome", { state: "detached" });
});

test("a typed sentence is what `predict --text` makes of it, and a word's plane that of `embed`", async (t) => {
  const run = train("bank", "bank");
  const page = await openLive(t, run.page);
  const [row, band] = await page.locator(".token-row, .band[data-key='7']").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
  assert.ok(row.left <= band.left && band.right <= row.right, "where the model looks most is in sight");
  const sentence = "the * bank that charged the fee was beside the zeppelin";
  await page.fill("#own-tokens", sentence.replace("the *", "The  *"));
  await page.press("#own-tokens", "Enter");
  await page.waitForFunction(() => globalThis.headlight.here.value.one?.key.startsWith("own"));
  const expected = JSON.parse(headlight("predict", "bank", "--text", sentence, "--json"));
  const [tokens, probabilities] = await page.evaluate(() => {
    const { run, one, at } = globalThis.headlight.here.value;
    return [one.tokens, run.source.results("probabilities", at, one)];
  });
  assert.deepEqual(tokens, expected.tokens);
  assert.ok(probabilities.every((value, at) => Math.abs(value - expected.probabilities[at]) < 1e-6));
  assert.match(await page.textContent(".answer .hint"), /zeppelin/);
  assert.match(page.url(), /zeppelin/);
  await show(page, { tab: "words", word: "bank" });
  await page.waitForFunction(() => document.querySelectorAll("#words svg").length === 4);
  await page.fill("#word", "zeppelin");
  await page.press("#word", "Enter");
  assert.match(await page.textContent("#word-said"), /zeppelin/);
  await page.click("#words details summary");
  await page.locator("#words .sentences button").first().click();
  await checkLook(page);
});

test("the page continues a prompt as `headlight generate` does", async (t) => {
  const names = readFileSync(new URL("../../../../../data/names.txt", import.meta.url), "utf8").split("\n").slice(0, 1500);
  writeFileSync(place("names.txt"), `${names.join("\n")}\n`);
  writeFileSync(place("names.toml"), `data = { task = "next-token", file = "names.txt", held_out = 150, words = { level = "character" } }
model = { d_model = 16, n_heads = 2, n_layers = 2, attention = { mask = "causal" } }
training = { steps = 150, batch_size = 16, learning_rate = 0.005 }
`);
  const page = await openLive(t, train("names", "names.toml").page);
  await page.click("#tab-generate");
  for (const [temperature, top_k, seed] of [["1", "", "0"], ["0.7", "5", "3"], ["0", "", "9"]]) {
    for (const [name, text] of Object.entries({ prompt: "ma", temperature, top_k, seed })) await page.fill(`#generate [name=${name}]`, text);
    await page.click("#generate form button");
    const words = ["generate", "names", "--prompt", "ma", "--temperature", temperature, "--seed", seed, ...(top_k ? ["--top-k", top_k] : [])];
    assert.deepEqual(await texts(page, "#generate li button"), headlight(...words).trimEnd().split("\n"));
  }
});
