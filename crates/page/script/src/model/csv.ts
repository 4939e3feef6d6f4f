// Samples of a CSV file that a reader gives, as `docs/reference/datasets.md` describes it.

import { COLUMNS } from "./described";
import { shorten } from "./numbers";
import type { UserData } from "./types";

/** The most characters that a page takes. */
const MAX_CHARACTERS = 4e6;

/** The cells of a CSV text, by line. Throws an error with a sentence. */
export function cellsOf(text: string): { line: number; cells: string[] }[] {
  if (text.length > MAX_CHARACTERS)
    throw new Error(
      `The text has ${text.length} characters; the page takes ${MAX_CHARACTERS} at most. \`headlight train\` has no such limit`,
    );
  const rows = [];
  let [line, at] = [1, text.startsWith("\ufeff") ? 1 : 0];
  while (at < text.length) {
    const start = line;
    const cells = [];
    for (let more = true; more;) {
      let cell = "";
      if (text[at] === '"') {
        for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
          if (at >= text.length) throw new Error(`Line ${start}: a quote is not closed`);
          if (text[at] === '"') at++;
          if (text[at] === "\n") line++;
          cell += text[at];
        }
        at++;
      }
      while (at < text.length && !",\r\n".includes(text[at])) cell += text[at++];
      cells.push(cell.trim());
      more = text[at] === ",";
      if (more) at++;
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    line++;
    if (cells.length > 1 || cells[0] !== "") rows.push({ line: start, cells });
  }
  return rows;
}

const quoted = (text: string) => (/[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Whether the first line of a text names columns: a cell has a usual name, and no other line begins as this one does. */
export function isTable(text: string) {
  const [head, ...others] = text
    .replace("\ufeff", "")
    .split(/[\r\n]+/)
    .filter((line) => line.trim())
    .map((line) => line.split(/[,;\t]/).map((cell) => cell.replaceAll('"', "").trim()));
  return head?.some((cell) => COLUMNS.includes(cell.toLowerCase())) && !others.some(([first]) => first === head[0]);
}

/** Lines of a label, a comma or tab, and a text, as CSV. Throws an error with a sentence. */
export function csvOfLines(text: string) {
  const lines = text
    .split(/\r\n?|\n/)
    .map((line, at) => ({ line: line.trim(), number: at + 1 }))
    .filter(({ line }) => line);
  const rows = lines.map(({ line, number }) => {
    const at = line.search(line.includes("\t") ? /\t/ : /,/);
    const [label, sample] = [line.slice(0, Math.max(at, 0)).trim(), line.slice(at + 1).trim()];
    if (!label || at < 0) throw new Error(`Line ${number} is not a label, a comma and a text: “${shorten(line, 40)}”`);
    return [label, sample];
  });
  if (rows.length > 3 && new Set(rows.map(([label]) => label)).size === rows.length)
    throw new Error(
      `Each line begins with another label, such as “${shorten(rows[0][0], 40)}”: write the label before the text`,
    );
  return `label,text\n${rows.map((cells) => `${cells.map(quoted)}\n`).join("")}`;
}

const SPLITS = ["train", "held_out", "val", "validation", "test"];

/** The samples of a CSV text. Throws an error with a sentence that names line and column. @param least the smallest token: 0 where samples have no [CLS] */
export function samplesOf(text: string, least = 1): UserData {
  const [head, ...rows] = cellsOf(text);
  const check: (isRight: unknown, why: string) => void = (isRight, why) => {
    if (!isRight) throw new Error(why);
  };
  check(head, "The text is empty; its first line names the columns: label, token_0, token_1, …");
  const names = head.cells;
  const twice = names.find((name, at) => name !== "" && names.indexOf(name) !== at);
  check(!twice, `Line 1: two columns have the name “${twice?.slice(0, 30)}”`);
  const columns = names.filter((name) => /^token_\d+$/.test(name)).map((name) => Number(name.slice(6)));
  columns.sort((one, other) => one - other);
  check(
    columns.length,
    "Line 1 names no token columns; they are called token_0, token_1, …; for texts, `headlight lab negation` writes a page",
  );
  const gap = columns.find((number, at) => number !== columns[0] + at);
  check(gap === undefined, `Line 1: before the column token_${gap}, token_${Number(gap) - 1} is missing`);
  const [label, split] = [names.indexOf("label"), names.indexOf("split")];
  check(label >= 0, "Line 1 names no column “label”");
  const [labels, splits] = [[] as string[], [] as string[]];
  const tokens = rows.map(({ line, cells }) => {
    check(
      cells.length <= names.length,
      `Line ${line} has ${cells.length} cells, and line 1 names ${names.length} columns`,
    );
    const words = columns.map((number) => cells[names.indexOf(`token_${number}`)] ?? "");
    while (words.at(-1) === "") words.pop();
    check(words.length, `Line ${line} has no tokens`);
    check(cells[label], `Line ${line}, column label: the cell is empty`);
    labels.push(cells[label]);
    splits.push(cells[split] || "train");
    check(
      SPLITS.includes(splits[splits.length - 1]),
      `Line ${line}, column split: “${cells[split]?.slice(0, 30)}” is none of ${SPLITS.join(", ")}`,
    );
    return words.map((word, at) => {
      const where = `Line ${line}, column token_${columns[at]}`;
      const isToken = /^\d+$/.test(word) && Number(word) < 2 ** 16;
      check(isToken, `${where}: “${word.slice(0, 30)}” is not a token; use a whole number from ${least} to 65535`);
      check(Number(word) >= least, `${where}: 0 is [CLS], which Headlight adds itself`);
      return Number(word);
    });
  });
  check(tokens.length > 1, "There are fewer than two samples");
  const numbered = labels.every((text) => /^\d{1,3}$/.test(text));
  return {
    tokens,
    // Names, since some of them may be numbers.
    labels: numbered ? labels.map(Number) : labels,
    classes: numbered ? [] : [...new Set(labels)].sort(),
    splits: splits.some((named) => named !== "train") ? splits : undefined,
  };
}

/** Samples as CSV. */
export function csvOf({ tokens, labels, splits, classes = [] }: UserData) {
  const most = Math.max(...tokens.map(({ length }) => length));
  const textOf = (label: number | string) => String(typeof label === "number" ? (classes[label] ?? label) : label);
  const head = [...(splits ? ["split"] : []), "label", ...Array.from({ length: most }, (_, at) => `token_${at}`)];
  const lines = tokens.map((row, at) => [
    ...(splits ? [splits[at]] : []),
    quoted(textOf(labels[at])),
    ...row,
    ...Array(most - row.length).fill(""),
  ]);
  return `${[head, ...lines].map((line) => line.join(",")).join("\n")}\n`;
}

/** The config keys that samples determine. */
export function settingsFor(data: UserData, name: string, batchSize: number) {
  const lengths = data.tokens.map(({ length }) => length);
  const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
  const largest = data.tokens.reduce((found, row) => Math.max(found, ...row), 0);
  const count = data.classes?.length || Math.max(...data.labels.map(Number)) + 1;
  const heldOut = data.splits ? 0 : Math.floor(data.tokens.length / 5);
  const train = data.splits ? data.splits.filter((split) => split === "train").length : data.tokens.length - heldOut;
  return {
    "data.file": name,
    "data.seq_len": most,
    "data.vocab_size": largest + (least < most ? 2 : 1),
    "data.n_classes": Math.max(count, 2),
    ...(data.classes?.length ? { "data.classes": data.classes } : {}),
    ...(heldOut ? { "data.held_out": heldOut } : {}),
    // A token of its own fills up shorter samples.
    ...(least < most ? { "model.attention.padding_token": largest + 1 } : {}),
    "training.epochs": Math.min(1000, Math.max(3, Math.ceil(1000 / Math.ceil(train / batchSize)))),
  };
}
