// What the page computes from its numbers: statistics, the what-if, outcomes, addresses, colours and exports.

import assert from "node:assert/strict";
import test from "node:test";
import { difference, fixture, load } from "./page.mjs";

const page = await load();
const P = page("P");
const rowOf = (values, row) => values.slice(row * P, row * P + P);

test("the mean and the standard deviation over runs", () => {
  const values = [1, 2, 4.5];
  assert.equal(page(`statistic("mean", ${JSON.stringify(values)})`), 2.5);
  // numpy.std([1, 2, 4.5], ddof=1)
  assert.ok(Math.abs(page(`statistic("deviation", ${JSON.stringify(values)})`) - 1.8027756377319946) < 1e-12);
  assert.equal(page("String(runKeys())"), "0,1,2");
  assert.match(page("page.apart"), /differ/);
});

test("the what-if is the softmax of the recorded scores", () => {
  const shown = Array.from(page(`
    Object.assign(view, { temperature: 2, causal: true });
    const whatIf = within(0, () => rowOf(0, 3, 2, "weights"));
    Object.assign(view, { temperature: 1, causal: false });
    whatIf`));
  const shares = rowOf(fixture.runs[0][3].scores, 2).map((score) => Math.exp(score / 2));
  const sum = shares.reduce((total, share) => total + share, 0);
  assert.ok(difference(shown, shares.map((share) => share / sum)) < 1e-12);
});

test("the difference from uniform is over the allowed keys", () => {
  const shown = Array.from(page('within(0, () => rowOf(0, 3, 1, "uniform"))'));
  const weights = rowOf(fixture.runs[0][3].weights, 1);
  assert.ok(difference(shown, [weights[0] - 0.5, weights[1] - 0.5, 0]) < 1e-12);
});

test("a sample without a label has no outcome", () => {
  const outcomes = page("within(0, () => facts.samples.map((_, sample) => outcome(sample, 0)))");
  assert.deepEqual(Array.from(outcomes), ["right", ""]);
});

test("an address leads back to its view", () => {
  const address = "#sample=12&step=3&query=1&key=2&layer=0&head=1&show=scores&run=2&pin=10%3A0%3A0&temperature=2.000&causal=1";
  assert.equal(page(`location.hash = "${address}"; readAddress(); address()`), address);
  assert.equal(page('location.hash = "#run=9&sample=x&step=77&query=99&show=no&pin=1:2"; readAddress(); address()'),
    "#sample=10&step=11&query=0&key=2&layer=0&head=0&show=weights&run=0");
});

test("colours and black or white text are those of the pictures", () => {
  const cells = fixture.heatmap.matchAll(/<rect fill="#(\w{6})"[^>]*><title>.*\n<text class="middle on-(\w+)"/g);
  const drawn = Array.from(cells, ([, fill, on]) => [parseInt(fill, 16), on === "light" ? "#000000" : "#ffffff"]);
  const shown = fixture.shares.map((share) => {
    const { fill, ink } = page(`colours(${share}, { from: 0, to: 1, diverging: false })`);
    const [r, g, b] = fill.match(/\d+/g).map(Number);
    return [r * 65536 + g * 256 + b, ink];
  });
  assert.deepEqual(shown, drawn);
});

test("text is shortened by characters, not by halves of them", () => {
  assert.equal(page('shorten("abcdefgh", 8)'), "abcdefgh");
  assert.equal(page('shorten("👩👩👩👩👩👩👩👩👩", 8)'), `${"👩".repeat(7)}…`);
});

test("exports hold the matrix in view", () => {
  const csv = page('location.hash = "#sample=10&step=3"; readAddress(); exportCsv()').trimEnd().split("\n");
  assert.equal(csv[0], "panel,run,sample,step,layer,head,show,query,query_token,key,key_token,value");
  const weights = fixture.runs[0][3].weights.slice(0, P * P);
  assert.deepEqual(csv.slice(1).map((line) => Number(line.split(",").at(-1))), weights);
  assert.ok(csv[2].includes(',"[CLS]",1,"</script><script>alert(1)</script>",'), csv[2]);
  const [panel] = JSON.parse(page("exportJson()")).panels;
  assert.deepEqual([panel.values.flat(), panel.label_positions, panel.step], [weights, [2], 3]);
});
