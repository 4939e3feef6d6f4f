// Samples of the reader as CSV, as `docs/reference/datasets.md` describes it: the core reads it.

import { COLUMNS } from "./described";
import { shorten } from "./numbers";
import type { CarriedSamples } from "./types";

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

/** Samples as CSV. */
export function csvOf({ tokens, labels, splits, classes = [] }: CarriedSamples) {
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
