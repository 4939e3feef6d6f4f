// Texts of the reader's own, before the lab has them.

import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./page.mjs";
const [{ givenOf, stepsOf }, { csvOfLines, isTable }] = await load("model/config", "model/csv");

test("lines become a table: a label, a comma or tab, and a text", () => {
  assert.equal(csvOfLines("good, I liked it, all of it\n\n bad\tShe said: \"no\"\r\nso; so,1;2\n"), 'label,text\ngood,"I liked it, all of it"\nbad,"She said: ""no"""\n"so; so","1;2"\n');
  assert.throws(() => csvOfLines("good, I liked it\nbad\n"), /Line 2 is not a label, a comma and a text: “bad”/);
  assert.equal(csvOfLines("good,"), "label,text\ngood,\n");
  for (const [text, why] of [[", a text", /Line 1/], ["\ta text", /Line 1/], ["a nice day,good\na wet day,bad\nrain,bad\nsun,good", /“a nice day”: write the label before/]]) assert.throws(() => csvOfLines(text), why);
});

test("a pasted table has a first line that names columns", () => {
  for (const table of ["label,text\na,b", "\ufeffId;\"Sentiment\";Kommentar\n1;a;b", "\nText\tClass\nx\ty"]) assert.ok(isTable(table), table);
  for (const lines of ["good, a film\nbad, a book", "question, where is it?\nanswer, over there\nquestion, when?", ""]) assert.ok(!isTable(lines), lines);
});

test("the lab takes the file itself, and steps are those of its training texts", () => {
  const data = { table: "label,text\n", count: 33, config: {}, brief: {} };
  assert.deepEqual(givenOf(data), { table: data.table });
  assert.equal(stepsOf({ training: { epochs: 2, batch_size: 16 }, data: {} }, data), 6);
});
